"""Whether a store still holds what was written: every record against its checksum, all of them against the digest."""

import hashlib
from itertools import pairwise
from pathlib import Path

import numpy as np

from . import checksums
from .connection import Connection
from .errors import Altered, StoreError, shown
from .schema import RUN, SERIES, TEXTS, UNIT

MOST_ROWS = 10**8
LARGEST = 1e150  # regret: its square must not overflow
ROUNDING = 1e-6  # below 0, per step: what rounding may make of a regret


def digest_of(connection: Connection, path: Path) -> str:
    """A digest of all runs as reports print it, after every record was read; what was altered is refused."""
    return _Check(connection, path).result()


class _Check:
    def __init__(self, connection, path):
        self.connection, self.path = connection, path
        self.series = {row[0]: row for row in self._rows("series", SERIES)}
        self.units = {row[0]: row for row in self._rows("units", UNIT)}
        self.checksums = dict(connection.execute("SELECT id, checksum FROM units").fetchall())
        self.rows = {unit: checksums.Rows() for unit in self.units}
        self.count = 0

    def _rows(self, table, columns) -> list:
        found = []
        for rows in self.connection.chunks(f"SELECT {', '.join(columns)} FROM {table} ORDER BY 1"):
            found += rows
            if len(found) > MOST_ROWS:
                raise StoreError(f"{self.path} holds more than {MOST_ROWS} {table}; it was left untouched")
        return found

    def result(self) -> str:
        for unit, fields in self.units.items():
            if fields[1] not in self.series:
                raise Altered(self.path, f"unit {unit} belongs to series {shown(fields[1], 40)!r}, which is not there")
        digest = hashlib.sha256()
        for series in self.series:
            self._scan(series, digest)
        self._strangers()
        self._check_seal(self._sum())
        return digest.hexdigest()[:16]

    def _scan(self, series, digest):
        query = f"SELECT {', '.join(RUN)}, unit, series = ?1 FROM runs WHERE series = ?1 ORDER BY replicate, horizon"
        head = f"({series!r}, "
        for rows in self.connection.chunks(query, (series,)):
            *numbers, streams, units, same = zip(*rows, strict=True)
            if not all(same):  # a damaged key is found among its neighbours
                raise self._altered(units[same.index(0)], "one of its runs belongs to another series")
            packed = checksums.packed(numbers)
            place = implausible(packed)
            if place is not None:
                raise self._altered(units[place], f"it holds a row that no run leaves ({described(rows[place])})")
            lines = [f"{head}{r}, {h}, {regret!r})" for r, h, regret in zip(*numbers[:3], strict=True)]
            digest.update("".join(lines).encode())
            ends = np.flatnonzero(np.diff(np.array(units))) + 1
            for first, last in pairwise([0, *ends.tolist(), len(rows)]):
                if units[first] not in self.units:
                    raise self._altered(units[first], "its runs are there, but the unit is not")
                if self.units[units[first]][1] != series:
                    raise self._altered(units[first], "it holds runs of another series")
                self.rows[units[first]].add_columns(packed[first:last], streams[first:last])
            self.count += len(rows)
            if self.count > MOST_ROWS:
                raise StoreError(f"{self.path} holds more than {MOST_ROWS} runs; it was left untouched")

    def _strangers(self):
        if self.connection.execute("SELECT COUNT(*) FROM runs").fetchone()[0] != self.count:
            found = self.connection.execute(
                "SELECT series, MIN(replicate), MAX(replicate) FROM runs "
                "WHERE series NOT IN (SELECT series FROM series) GROUP BY series"
            ).fetchone()
            what = f"{shown(found[0], 40)!r}, replicates {found[1]} to {found[2]}" if found else "none"
            raise Altered(self.path, f"it holds runs of a series that is not there ({what})")

    def _sum(self) -> str:
        total = checksums.EMPTY
        for unit, fields in self.units.items():
            checksum = checksums.of_unit(fields, self.series[fields[1]], self.rows.pop(unit))
            if self.checksums[unit] != checksum:
                raise self._altered(unit, "it does not match its checksum")
            total = checksums.added(total, checksum)
        for table, columns in TEXTS.items():
            for row in self._rows(table, (*columns, "checksum")):
                checksum = checksums.of_text(table, row[: len(columns)])
                if row[-1] != checksum:
                    what = {"sessions": f"session {row[0]}", "audits": "the audit of", "notes": "the note"}[table]
                    name = "" if table == "sessions" else f" {shown(row[0], 60)!r}"
                    raise Altered(self.path, f"{what}{name} does not match its checksum")
                total = checksums.added(total, checksum)
        return total

    def _check_seal(self, total):
        seal = self.connection.execute("SELECT units, total FROM seal").fetchone()
        if seal is None:
            raise Altered(self.path, "the digest over its records is missing")
        units = seal[0]
        if len(self.units) < units:
            missing = next(number for number in range(1, units + 1) if number not in self.units)
            raise Altered(self.path, f"unit {missing} of {units} is missing")
        if seal != (len(self.units), total):
            raise Altered(self.path, "the digest over its units, sessions, audits and notes does not match them")

    def _altered(self, unit, what) -> Altered:
        return Altered(self.path, f"{self._name(unit)}: {what}")

    def _name(self, unit) -> str:
        query = "SELECT series, MIN(replicate), MAX(replicate) FROM runs WHERE unit = ?"
        series, first, last = self.connection.execute(query, (unit,)).fetchone()
        replicates = "no runs" if first is None else f"replicates {first} to {last}"
        named = (self.units[unit][1] if unit in self.units else None, series)
        row = next((self.series[name] for name in named if name in self.series), None)
        what = f"{shown(row[1])}, {shown(row[3])}" if row else "of no known series"
        return f"unit {unit} of {len(self.units)} ({what}, {replicates})"


def implausible(rows: np.ndarray) -> int | None:
    good = (rows["regret"] <= LARGEST) & np.isfinite(rows["side"]) & (rows["side"] >= 0)
    good &= (rows["replicate"] >= 0) & (rows["horizon"] >= 1) & (rows["cells"] >= 0)
    good &= (rows["regret"] >= -ROUNDING * rows["horizon"]) & (rows["anytime"] >= 0) & (rows["anytime"] <= 1)
    return None if good.all() else int(np.argmin(good))


def described(row) -> str:
    return ", ".join(f"{name} = {value}" for name, value in zip(RUN[:-1], row, strict=False))
