"""The store itself: what is written to it, and what is read from it."""

import json
import secrets
import sqlite3
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from dataclasses import astuple
from datetime import UTC, datetime
from itertools import chain, groupby
from operator import itemgetter
from pathlib import Path

from ..claims import Case, Series
from . import checksums, records
from .connection import AT_ONCE, Copy, check_plain, filled, to_read, to_write
from .errors import StoreError, explained, shown
from .integrity import described, digest_of, implausible
from .pack import unpack
from .schema import FILE, PACKED, RUN, SERIES, TEXTS, UNIT, check_schema, made


def now() -> str:
    return datetime.now(UTC).strftime("%Y-%m-%dT%H:%M:%SZ")


class Store:
    """The runs of a study folder: to be read, or with `create=True` to be written, made where there is none.

    Where only a packed file is there, it is read, or unpacked before anything is written.  Opening a store checks every
    record; one that was altered, or that is none, is refused and left as it was.
    """

    def __init__(self, folder, create: bool = False):
        self.path = Path(folder) / FILE
        check_plain(self.path, links=not create)
        with explained(self.path, writing=create):
            fresh, packed = not filled(self.path), self.path.with_name(PACKED)
            if fresh and not create:
                if not packed.exists():
                    raise StoreError(f"there is no {FILE} and no {PACKED} in {folder}; run the study first")
                self.path = packed
            elif fresh:
                self._make(packed)
            with explained(self.path):
                self._open()
            if create:
                self._opened.close()
                self._opened = to_write(self.path)
        self.writes = create
        self.connection = self._opened.raw

    def _open(self):
        """Refuse, without a write, what is no sound store."""
        self._opened = Copy(self.path, unpack) if self.path.name == PACKED else to_read(self.path)
        try:
            check_schema(self._opened, self.path)
            self._digest = digest_of(self._opened, self.path)
        except BaseException:
            self._opened.close()
            raise

    def _make(self, packed: Path):
        """Whole or not at all: a store that carries its name is one.  What was packed is in it."""
        draft = self.path.with_name(f".{FILE}.{secrets.token_hex(8)}.new")
        try:
            if packed.exists():
                unpack(packed, draft)
            else:
                _make_empty(draft)
            draft.replace(self.path)
        finally:
            draft.unlink(missing_ok=True)

    def close(self):
        if self.writes:
            with suppress(sqlite3.Error, StoreError):  # a reader may hold it; then its log stays beside it
                self._opened.in_place()
                self.connection.execute("PRAGMA busy_timeout = 0")
                self.connection.execute("PRAGMA journal_mode = DELETE")  # one file, which any disk can hold
        self._opened.close()

    def __enter__(self):
        return self

    def __exit__(self, *_):
        self.close()

    def in_place(self):
        """Refuse to go on where the file was removed, moved or exchanged since it was opened."""
        self._opened.in_place()

    @contextmanager
    def _transaction(self):
        self.in_place()
        with explained(self.path, writing=True):
            self._opened.execute("BEGIN IMMEDIATE")
            try:
                yield self._opened
                self._opened.execute("COMMIT")
            except BaseException:
                if self.connection.in_transaction:
                    self._opened.execute("ROLLBACK")
                raise

    # Writing

    def begin_session(self, details: dict) -> int:
        with self._transaction() as db:
            session = db.execute("SELECT COALESCE(MAX(id), 0) + 1 FROM sessions").fetchone()[0]
            self._put(db, "sessions", session, now(), json.dumps(details))
            return session

    def end_session(self, session: int, details: dict):
        with self._transaction() as db:
            started = db.execute("SELECT started FROM sessions WHERE id = ?", (session,)).fetchone()[0]
            self._put(db, "sessions", session, started, json.dumps(details))

    def add(self, series: Series, rows, *, session: int, steps: int, seconds: float, complaint: str = ""):
        """A finished unit, in one transaction; a run that is there already must have come out the same."""
        with self._transaction() as db:
            self._put_series(db, series)
            new = self._new(db, series, self.plain(rows))
            unit = db.execute("SELECT COALESCE(MAX(id), 0) + 1 FROM units").fetchone()[0]
            fields = (unit, series.digest, int(session), int(steps), float(seconds), now(), complaint)
            hashed = checksums.Rows()
            if new:
                hashed.add(new)
            checksum = checksums.of_unit(fields, astuple(series), hashed)
            db.execute(f"INSERT INTO units VALUES ({_marks(len(UNIT) + 1)})", (*fields, checksum))
            db.raw.executemany(
                f"INSERT INTO runs (series, {', '.join(RUN)}, unit) VALUES ({_marks(len(RUN) + 2)})",
                [(series.digest, *row, unit) for row in new],
            )
            self._seal(db, checksum, units=1)
            self._digest = None

    def _put_series(self, db, series: Series):
        names = astuple(series)
        known = db.execute(f"SELECT {', '.join(SERIES)} FROM series WHERE series = ?", (series.digest,)).fetchone()
        if known is None:
            db.execute(f"INSERT INTO series VALUES ({_marks(len(SERIES))})", names)
        elif known != names:
            name, old, new = next(x for x in zip(SERIES, known, names, strict=True) if x[1] != x[2])
            raise StoreError(f"the series {series.digest} is stored with {name} = {old!r}, and now it has {new!r}")

    def _new(self, db, series: Series, rows: list[tuple]) -> list[tuple]:
        """Rows that are not stored; an anytime replicate that runs on meets those it left behind: the same bits."""
        if not rows:
            return []
        place = implausible(checksums.packed(list(zip(*rows, strict=True))[:-1]))
        if place is not None:
            raise StoreError(f"{_run(series, rows[place])} left a row that no run leaves ({described(rows[place])})")
        query = f"SELECT {', '.join(RUN)} FROM runs WHERE series = ? AND replicate BETWEEN ? AND ?"
        stored = db.execute(query, (series.digest, rows[0][0], rows[-1][0]))
        known = {row[:2]: row for row in stored}
        for row in rows if known else ():
            if found := difference(known.get(row[:2], row), row):
                name, before, after = found
                raise StoreError(
                    f"{_run(series, row)} is stored with {name} = {before!r} and came out with {after!r} when it ran "
                    "again: its algorithm is not deterministic, or was changed; take another --out or --fresh"
                )
        return [row for row in rows if row[:2] not in known]

    def add_audit(self, cost: str, rows: list[dict]):
        with self._transaction() as db:
            self._put(db, "audits", cost, json.dumps(rows))

    def put_prediction(self, series: str, record: dict):
        self.note(f"prediction {series}", record)

    def put_bound(self, cost: str, horizon: int, record: dict):
        self.note(f"bound {cost} {horizon}", record)

    def put_members(self, series: str, horizon: int, record: dict):
        self.note(f"members {series} {horizon}", record)

    def note(self, key: str, value):
        """Remember something about the study; noting what is known already writes nothing."""
        text = json.dumps(value)
        if json.dumps(self.noted(key)) != text:
            with self._transaction() as db:
                self._put(db, "notes", key, text)

    def _put(self, db, table, *fields):
        columns = (*TEXTS[table], "checksum")
        old = db.execute(f"SELECT checksum FROM {table} WHERE {columns[0]} = ?", fields[:1]).fetchone()
        new = checksums.of_text(table, fields)
        updates = ", ".join(f"{column} = excluded.{column}" for column in columns[1:])
        db.execute(
            f"INSERT INTO {table} VALUES ({_marks(len(columns))}) ON CONFLICT ({columns[0]}) DO UPDATE SET {updates}",
            (*fields, new),
        )
        self._seal(db, new, old[0] if old else None)

    @staticmethod
    def _seal(db, new, old=None, units=0):
        total = db.execute("SELECT total FROM seal").fetchone()[0]
        db.execute("UPDATE seal SET units = units + ?, total = ?", (units, checksums.added(total, new, old)))

    # Reading

    def _all(self, query, *arguments):
        with explained(self.path):
            return self._opened.execute(query, arguments).fetchall()

    def noted(self, key: str, check=records.anything):
        """What was noted under a key, after a check; None where nothing was."""
        found = self._all("SELECT value FROM notes WHERE key = ?", key)
        return self._parsed(found[0][0], f"the note {shown(key)!r}", check) if found else None

    def _parsed(self, text, what, check):
        """The value of a text that was written as JSON, and that a stranger may have written."""
        try:
            data = records.parsed(text)
            check(data, "it")
        except records.Wrong as error:
            raise StoreError(f"{self.path}: {what} cannot be used ({error}); it was left untouched") from None
        return data

    def names(self, key: str) -> list[str]:
        return self.noted(key, records.NAMES) or []

    def study(self) -> tuple[dict, list[Case]]:
        """What a report has to know about the study, and its cases."""
        found = self.noted("study")
        if found is None:
            raise StoreError(f"{self.path} holds no study; run one first")
        try:
            cases = records.study(found)
        except records.Wrong as error:
            raise StoreError(
                f"{self.path} does not describe its study as ratecheck does ({error}); start the study again, its runs "
                "will be used as they are"
            ) from None
        stored = {row[0]: Series(*row) for row in self._all(f"SELECT {', '.join(SERIES)} FROM series")}
        for case in cases:
            if stored.get(case.series.digest, case.series) != case.series:
                raise StoreError(
                    f"{self.path} describes its study with another cost or algorithm than its runs have "
                    f"({shown(case.name)}); start the study again, its runs will be used as they are"
                )
        return found, cases

    def known(self, series: str) -> Iterator[tuple[int, set[int]]]:
        """Every stored replicate of a series with its horizons, in order; no more than some are in memory at once."""
        rows = chain.from_iterable(self.runs(series, ("replicate", "horizon")))
        for replicate, found in groupby(rows, itemgetter(0)):
            yield replicate, {horizon for _, horizon in found}

    def audits(self) -> dict[str, list[dict]]:
        found = self._all("SELECT cost, rows FROM audits")
        return {cost: self._parsed(rows, f"the audit of {shown(cost)}", records.AUDIT) for cost, rows in found}

    def prediction(self, series: str) -> dict | None:
        return self.noted(f"prediction {series}", records.prediction)

    def bound(self, cost: str, horizon: int) -> dict | None:
        return self.noted(f"bound {cost} {horizon}", records.bound)

    def members(self, series: str, horizon: int) -> dict | None:
        return self.noted(f"members {series} {horizon}", records.MEMBERS)

    def regret(self, series: str, replicate: int, horizon: int) -> float | None:
        query = "SELECT regret FROM runs WHERE series = ? AND replicate = ? AND horizon = ?"
        found = self._all(query, series, replicate, horizon)
        return found[0][0] if found else None

    def sessions(self) -> list[dict]:
        """What ran when.  A session that was killed could not say how long it took: its last unit says it."""
        rows = self._all(
            "SELECT s.id, s.started, s.details, COUNT(u.id), SUM(u.steps), "
            "ROUND(86400 * (julianday(MAX(u.finished)) - julianday(s.started))) "
            "FROM sessions s JOIN units u ON u.session = s.id GROUP BY s.id ORDER BY s.id"
        )
        return [
            {"started": started, "seconds": seconds, "units": units, "steps": steps}
            | self._parsed(details, f"session {number}", records.session)
            for number, started, details, units, steps, seconds in rows
        ]

    def complaints(self) -> list[str]:
        query = "SELECT DISTINCT complaint FROM units WHERE complaint != '' ORDER BY 1 LIMIT 1000"
        return [text for (text,) in self._all(query)]

    def speeds(self) -> dict[str, float]:
        return dict(self._all("SELECT series, SUM(seconds) / SUM(steps) FROM units GROUP BY series"))

    def units(self) -> list[int]:
        return [number for (number,) in self._all("SELECT id FROM units ORDER BY id")]

    def unit(self, number: int) -> tuple[str, Series, list[tuple]]:
        (names,) = self._all(
            f"SELECT {', '.join(f's.{c}' for c in SERIES)} FROM units u JOIN series s USING (series) WHERE u.id = ?",
            number,
        )
        series = Series(*names)
        query = f"SELECT {', '.join(RUN)} FROM runs WHERE series = ? AND unit = ? ORDER BY replicate, horizon"
        rows = self._all(query, series.digest, number)
        replicates = f"replicates {rows[0][0]} to {rows[-1][0]}" if rows else "no runs"
        return f"{shown(series.cost)}, {shown(series.algorithm)}, {replicates}", series, rows

    @staticmethod
    def plain(rows) -> list[tuple]:
        """Rows of the engine as `unit` gives them, and SQLite gives them back."""
        kinds = dict(zip(RUN, (int, int, float, int, float, int, str), strict=True))
        return sorted(tuple(kind(row[name]) for name, kind in kinds.items()) for row in rows)

    def chunks(self, size: int = AT_ONCE):
        """All runs, as (series, some rows) at a time, in the order of costs, algorithms, replicates and horizons."""
        names = self._all(f"SELECT {', '.join(SERIES)} FROM series ORDER BY cost, algorithm, series")
        for series in names:
            for rows in self.runs(series[0], size=size):
                yield series, rows

    def runs(self, series: str, columns=RUN, size: int = AT_ONCE):
        """The runs of a series, a list of some rows at a time, in the order of replicates and horizons."""
        query = f"SELECT {', '.join(columns)} FROM runs WHERE series = ? ORDER BY replicate, horizon"
        with explained(self.path):
            yield from self._opened.chunks(query, (series,), size)

    def __len__(self) -> int:
        return self._all("SELECT COUNT(*) FROM runs")[0][0]

    def count(self, series: str) -> int:
        return self._all("SELECT COUNT(*) FROM runs WHERE series = ?", series)[0][0]

    def strangers(self, used) -> int:
        known = (series for (series,) in self._all("SELECT series FROM series"))
        return sum(self.count(series) for series in known if series not in used)

    def frame(self, series: str, streams: bool = False):
        """The runs of one series, with the columns that a fit needs; the names of random streams on request."""
        import numpy as np
        import pandas as pd

        kinds = {"replicate": np.int64, "horizon": np.int64, "regret": float, "anytime": bool}
        kinds |= {"stream": object} if streams else {}
        rows = chain.from_iterable(self.runs(series, tuple(kinds)))
        found = np.fromiter(rows, np.dtype(list(kinds.items())))
        period = self._all("SELECT period FROM series WHERE series = ?", series)
        frame = pd.DataFrame({name: found[name] for name in kinds})
        return frame.assign(period=np.nan if not period or period[0][0] is None else period[0][0])

    def digest(self) -> str:
        """Of all runs, to the last bit, whatever their order of arrival."""
        if self._digest is None:
            with explained(self.path):
                self._digest = digest_of(self._opened, self.path)
        return self._digest


def _make_empty(path):
    connection = sqlite3.connect(path, isolation_level=None)
    try:
        connection.executescript(made())
        connection.execute("INSERT INTO seal VALUES (1, 0, ?)", (checksums.EMPTY,))
    finally:
        connection.close()


def difference(old: tuple, new: tuple) -> tuple | None:
    """The first column in which two rows of one run differ, and its two values, to the last bit."""
    return next((x for x in zip(RUN, old, new, strict=True) if ascii(x[1]) != ascii(x[2])), None)


def _run(series: Series, row) -> str:
    return f"{series.cost}, {series.algorithm}, replicate {row[0]}, T = {row[1]},"


def _marks(count: int) -> str:
    return ", ".join("?" * count)
