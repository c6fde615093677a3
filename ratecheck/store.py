"""runs.sqlite: finished runs, one transaction per unit of work, and what a report needs to know about them.

A run is named by its series (all that determines it apart from replicate and horizon, see `engine.series_of`), its
replicate and its horizon, so the same run is never stored twice, and runs of other settings are never mixed up.
Durability is SQLite's: a write-ahead log that is synchronised at every commit.
"""

from __future__ import annotations

import hashlib
import json
import os
import socket
import sqlite3
from contextlib import contextmanager, suppress
from dataclasses import astuple
from datetime import UTC, datetime
from pathlib import Path

from .claims import Series

FILE = "runs.sqlite"
LOCK = "runs.sqlite-lock"
APPLICATION = 0x72617465  # "rate", in the header of every store
FORMAT = 1
WAIT = 30.0  # seconds for a reader of the same file

SCHEMA = """
CREATE TABLE series (
    series TEXT PRIMARY KEY, cost TEXT NOT NULL, dim INTEGER NOT NULL, algorithm TEXT NOT NULL, noise TEXT NOT NULL,
    alignment TEXT NOT NULL, seed INTEGER NOT NULL, semantics INTEGER NOT NULL, period REAL
) STRICT;
CREATE TABLE sessions (id INTEGER PRIMARY KEY, started TEXT NOT NULL, details TEXT NOT NULL) STRICT;
CREATE TABLE units (
    id INTEGER PRIMARY KEY, series TEXT NOT NULL REFERENCES series, session INTEGER NOT NULL REFERENCES sessions,
    steps INTEGER NOT NULL, seconds REAL NOT NULL, finished TEXT NOT NULL, complaint TEXT NOT NULL
) STRICT;
CREATE TABLE runs (
    series TEXT NOT NULL REFERENCES series, replicate INTEGER NOT NULL, horizon INTEGER NOT NULL, regret REAL NOT NULL,
    cells INTEGER NOT NULL, side REAL NOT NULL, anytime INTEGER NOT NULL, stream TEXT NOT NULL,
    unit INTEGER NOT NULL REFERENCES units, PRIMARY KEY (series, replicate, horizon)
) STRICT, WITHOUT ROWID;
CREATE TABLE audits (cost TEXT PRIMARY KEY, rows TEXT NOT NULL) STRICT;
CREATE TABLE notes (key TEXT PRIMARY KEY, value TEXT NOT NULL) STRICT;
"""
SERIES = ("series", "cost", "dim", "algorithm", "noise", "alignment", "seed", "semantics", "period")  # the digest first
RUN = ("replicate", "horizon", "regret", "cells", "side", "anytime", "stream")


class StoreError(RuntimeError):
    """The store cannot be used; the message says why, and what was left as it was."""


class StoreFull(StoreError):
    """There is no room for another unit."""


def now() -> str:
    return datetime.now(UTC).strftime("%Y-%m-%dT%H:%M:%SZ")


@contextmanager
def _explained(path):
    """SQLite's errors in words."""
    try:
        yield
    except sqlite3.Error as error:
        text = str(error)
        if getattr(error, "sqlite_errorname", "").startswith(("SQLITE_FULL", "SQLITE_IOERR")):
            raise StoreFull(
                f"{path} cannot grow ({text}); finished units are kept, and the same command goes on from there once "
                "there is room"
            ) from error
        if "readonly" in text or (not os.access(Path(path).parent, os.W_OK)):
            raise StoreError(f"{Path(path).parent} cannot be written to ({text})") from error
        raise StoreError(f"{path} cannot be read as a store of runs ({text}); it was left untouched") from error


class Store:
    """The runs of a study folder.  Made with `create=True` where there is none."""

    def __init__(self, folder, create: bool = False):
        self.path = Path(folder) / FILE
        with _explained(self.path):
            fresh = not self.path.exists() or self.path.stat().st_size == 0
            if fresh and not create:
                raise StoreError(f"there is no {FILE} in {folder}; run the study first")
            if not fresh:
                self._recognise()
            if fresh:
                self._make()
            self.connection = sqlite3.connect(self.path, timeout=WAIT, isolation_level=None)
            if create:
                self.connection.execute("PRAGMA journal_mode = WAL")
            self.connection.execute("PRAGMA foreign_keys = ON")
            self.connection.execute("PRAGMA synchronous = FULL")

    def _make(self):
        """Whole or not at all: a store that carries its name is one."""
        draft = self.path.with_name(f"{FILE}.{os.getpid()}.new")
        draft.unlink(missing_ok=True)
        connection = sqlite3.connect(draft, isolation_level=None)
        try:
            connection.executescript(
                f"BEGIN; PRAGMA application_id = {APPLICATION}; PRAGMA user_version = {FORMAT}; {SCHEMA} COMMIT;"
            )
        finally:
            connection.close()
        os.replace(draft, self.path)

    def _recognise(self):
        """Refuse, without a write, what is no sound store of this format."""
        connection = sqlite3.connect(f"{self.path.absolute().as_uri()}?mode=ro", uri=True, timeout=WAIT)
        try:
            application = connection.execute("PRAGMA application_id").fetchone()[0]
            version = connection.execute("PRAGMA user_version").fetchone()[0]
            sound = connection.execute("PRAGMA quick_check").fetchone()[0]
        finally:
            connection.close()
        if application != APPLICATION:
            raise StoreError(f"{self.path} is a database of another program; it was left untouched")
        if version != FORMAT:
            raise StoreError(
                f"{self.path} has format {version}, this version of ratecheck reads format {FORMAT}; it was left "
                "untouched, take another --out or --fresh"
            )
        if sound != "ok":
            raise StoreError(f"{self.path} is damaged ({sound}); it was left untouched, take another --out or --fresh")

    def close(self):
        self.connection.close()

    def __enter__(self):
        return self

    def __exit__(self, *_):
        self.close()

    @contextmanager
    def _transaction(self):
        with _explained(self.path):
            self.connection.execute("BEGIN IMMEDIATE")
            try:
                yield self.connection
                self.connection.execute("COMMIT")
            except BaseException:
                if self.connection.in_transaction:
                    self.connection.execute("ROLLBACK")
                raise

    # Writing

    def begin_session(self, details: dict) -> int:
        with self._transaction() as db:
            return db.execute(
                "INSERT INTO sessions (started, details) VALUES (?, ?)", (now(), json.dumps(details))
            ).lastrowid

    def end_session(self, session: int, details: dict):
        with self._transaction() as db:
            db.execute("UPDATE sessions SET details = ? WHERE id = ?", (json.dumps(details), session))

    def add(self, series: Series, rows, session: int, steps: int, seconds: float, complaint: str = ""):
        """A finished unit, in one transaction."""
        with self._transaction() as db:
            db.execute(f"INSERT OR IGNORE INTO series VALUES ({', '.join('?' * len(SERIES))})", astuple(series))
            unit = db.execute(
                "INSERT INTO units (series, session, steps, seconds, finished, complaint) VALUES (?, ?, ?, ?, ?, ?)",
                (series.digest, session, steps, seconds, now(), complaint),
            ).lastrowid
            # A replicate that ran again to reach further horizons meets the rows it left behind: the same bits.
            db.executemany(
                f"INSERT OR IGNORE INTO runs (series, {', '.join(RUN)}, unit) VALUES ({', '.join('?' * 9)})",
                [(series.digest, *(row[k] for k in RUN), unit) for row in rows],
            )

    def add_audit(self, cost: str, rows: list[dict]):
        with self._transaction() as db:
            db.execute("INSERT OR REPLACE INTO audits VALUES (?, ?)", (cost, json.dumps(rows)))

    def note(self, key: str, value):
        """Remember something about the study; noting what is known already writes nothing."""
        text = json.dumps(value)
        if json.dumps(self.noted(key)) != text:
            with self._transaction() as db:
                db.execute("INSERT OR REPLACE INTO notes VALUES (?, ?)", (key, text))

    # Reading

    def _all(self, query, *arguments):
        with _explained(self.path):
            return self.connection.execute(query, arguments).fetchall()

    def noted(self, key: str):
        found = self._all("SELECT value FROM notes WHERE key = ?", key)
        return json.loads(found[0][0]) if found else None

    def empty(self) -> bool:
        return not self._all("SELECT 1 FROM runs LIMIT 1")

    def known(self, series: str) -> set[tuple[int, int]]:
        """(replicate, horizon) of every stored run of a series."""
        return set(self._all("SELECT replicate, horizon FROM runs WHERE series = ?", series))

    def audits(self) -> dict[str, list[dict]]:
        return {cost: json.loads(rows) for cost, rows in self._all("SELECT cost, rows FROM audits")}

    def sessions(self) -> list[dict]:
        """What ran when.  A session that was killed could not say how long it took: its last unit says it."""
        rows = self._all(
            "SELECT s.started, s.details, COUNT(u.id), SUM(u.steps), "
            "ROUND(86400 * (julianday(MAX(u.finished)) - julianday(s.started))) "
            "FROM sessions s JOIN units u ON u.session = s.id GROUP BY s.id ORDER BY s.id"
        )
        return [
            {"started": started, "seconds": seconds, "units": units, "steps": steps, **json.loads(details)}
            for started, details, units, steps, seconds in rows
        ]

    def complaints(self) -> list[str]:
        return [text for (text,) in self._all("SELECT DISTINCT complaint FROM units WHERE complaint != '' ORDER BY 1")]

    def speeds(self) -> dict[str, float]:
        """Measured seconds per step of each series."""
        return dict(self._all("SELECT series, SUM(seconds) / SUM(steps) FROM units GROUP BY series"))

    def table(self):
        """All runs, one row per replicate and horizon with all that determines it."""
        import pandas as pd

        columns = [f"r.{c}" for c in RUN] + [f"s.{c}" for c in SERIES]
        rows = self._all(
            f"SELECT {', '.join(columns)} FROM runs r JOIN series s USING (series) "
            "ORDER BY s.cost, s.algorithm, s.series, r.replicate, r.horizon"
        )
        frame = pd.DataFrame(rows, columns=[*RUN, *SERIES])
        return frame.assign(anytime=frame["anytime"].astype(bool), period=frame["period"].astype(float))

    def digest(self) -> str:
        """Of all runs, to the last bit, whatever their order of arrival."""
        total = hashlib.sha256()
        for row in self._all("SELECT series, replicate, horizon, regret FROM runs ORDER BY 1, 2, 3"):
            total.update(repr(row).encode())
        return total.hexdigest()[:16]


def set_aside(folder) -> Path | None:
    """Rename the store, so that a fresh one can be made; whatever it is, it is not deleted."""
    path = Path(folder) / FILE
    if not path.exists():
        return None
    with suppress(sqlite3.Error):  # a store that was killed has runs in its log: one file is safer to rename than two
        connection = sqlite3.connect(path, isolation_level=None)
        try:
            if connection.execute("PRAGMA application_id").fetchone()[0] == APPLICATION:
                connection.execute("PRAGMA wal_checkpoint(TRUNCATE)")
        finally:
            connection.close()
    number = 1
    while (aside := path.with_name(f"{FILE}.{number}.old")).exists():
        number += 1
    for suffix in ("", "-wal", "-shm"):
        part = path.with_name(path.name + suffix)
        if part.exists():
            part.rename(aside.with_name(aside.name + suffix))
    return aside


@contextmanager
def sole_writer(folder):
    """Hold the folder, or say who does.

    The lock is SQLite's own on a file beside the store: it works wherever SQLite works, and a killed process holds
    nothing.
    """
    path = Path(folder) / LOCK
    with _explained(path):
        connection = sqlite3.connect(path, timeout=0, isolation_level=None)
    try:
        with _explained(path):
            _hold(connection, folder)
        yield
    finally:
        connection.close()


def _hold(connection, folder):
    me = f"process {os.getpid()} on {socket.gethostname()} since {now()}"
    try:
        connection.execute("BEGIN IMMEDIATE")
        connection.execute("CREATE TABLE IF NOT EXISTS holder (who TEXT)")
        connection.execute("DELETE FROM holder")
        connection.execute("INSERT INTO holder VALUES (?)", (me,))
        connection.execute("COMMIT")
        connection.execute("BEGIN IMMEDIATE")  # others can still read who it is
    except sqlite3.OperationalError as error:
        if "locked" not in str(error):
            raise
        try:
            who = connection.execute("SELECT who FROM holder").fetchone()[0]
        except (sqlite3.Error, TypeError):
            who = "another process"
        raise StoreError(f"{folder} is in use by {who}; wait for it to end, or take another --out") from None
