"""runs.jsonl.xz: a whole store in one compact file, so that a study travels with its runs.

Compressed lines of JSON.  The first tells what follows; every other one starts with the name of its table.  Runs come
by series, a list per column.  Checksums of records are left out, since they follow from the records, and so are names
of random streams that follow from the names of a series; the seal over all of them is kept and checked.  The same store
gives the same bytes.  A packed file may be a stranger's: what it may take to read it is bounded, and what was read is
checked as every store is.
"""

import json
import lzma
import os
import sqlite3
import stat
from collections import defaultdict
from collections.abc import Iterator
from itertools import groupby
from operator import itemgetter
from pathlib import Path

from ..claims import VERSION
from ..files import replacing
from ..sampling import seeding
from . import checksums, records
from .errors import Altered, StoreError, explained, shown
from .schema import PACKED, RUN, SERIES, TEXTS, UNIT, check_version, made

ROWS = 1000  # of runs on a line
LONGEST_LINE = 2**24  # bytes
LARGEST_FILE = 2**28  # bytes
SMALL, RATIO = 2**26, 200  # bytes that any file may unpack to, and how many times its size: regrets hardly shrink
MEMORY = 2**27  # bytes that unpacking may take
PIECE = 2**20  # bytes unpacked at once
COLUMNS = ("unit", *RUN)
AGAIN = "get it again, or remove it and run the study"


HEAD = records.fields(
    packed=records.one_of("runs of a study"),
    version=records.whole(),
    digest=records.text,
    runs=records.whole(),
    units=records.whole(),
    total=records.text,
)


# Writing


def pack(store, path: Path) -> Path:
    """Write what a store holds into one file, whole or not at all."""
    with replacing(path, "wb") as file:
        _compress(_lines(store), file, store.path)
    return path


def _compress(lines, file, source):
    packer = lzma.LZMACompressor(preset=6)
    size = 0
    for line in lines:
        data = json.dumps(line, separators=(",", ":"), allow_nan=False).encode() + b"\n"
        size += len(data)
        if len(data) > LONGEST_LINE:
            raise StoreError(f"{source} cannot be packed: a record takes {len(data):,} bytes, above {LONGEST_LINE:,}")
        file.write(packer.compress(data))
    file.write(packer.flush())
    if size > _most(file.tell()) or file.tell() > LARGEST_FILE:
        raise StoreError(f"{source} cannot be packed: it takes {size:,} bytes, which nobody would unpack; export it")


def _lines(store) -> Iterator:
    names = {row[0]: row for row in store._all(f"SELECT {', '.join(SERIES)} FROM series ORDER BY 1")}
    ((units, total),) = store._all("SELECT units, total FROM seal")
    head = {"packed": "runs of a study", "version": VERSION, "digest": store.digest()}
    yield head | {"runs": len(store), "units": units, "total": total}
    for row in names.values():
        yield ["series", *row]
    for table, columns in {**TEXTS, "units": UNIT}.items():
        for row in store._all(f"SELECT {', '.join(columns)} FROM {table} ORDER BY 1"):
            yield [table, *row]
    for series in names.values():
        for rows in store.runs(series[0], COLUMNS, ROWS):
            *columns, streams = map(list, zip(*rows, strict=True))
            usual = streams == _streams(series, *(columns[COLUMNS.index(name)] for name in _NAMING))
            yield ["runs", series[0], *columns, [] if usual else streams]


_NAMING = ("replicate", "horizon", "anytime")


def _streams(series: tuple, replicates, horizons, anytime) -> list[str]:
    of = dict(zip(SERIES, series, strict=True))
    known = of["seed"], of["cost"], of["algorithm"]
    return [
        seeding.name(*known, *(() if whole else (horizon,)), replicate)
        for replicate, horizon, whole in zip(replicates, horizons, anytime, strict=True)
    ]


# Reading


def header(path: Path) -> dict:
    """What a packed file says about itself: a digest of its runs, and how many there are."""
    lines = _unpacked(path)
    try:
        return _head(path, next(lines, b""))
    finally:
        lines.close()


def differs(store) -> bool:
    """Whether a packed file beside a store holds other runs."""
    path = store.path.with_name(PACKED)
    try:
        return path != store.path and path.exists() and header(path)["digest"] != store.digest()
    except StoreError:
        return True


def unpack(packed: Path, target: Path):
    """Make a store of what a packed file holds; it is for its reader to check it as any other store."""
    lines = _unpacked(packed)
    head = _head(packed, next(lines, b""))
    with explained(packed):
        connection = sqlite3.connect(target, isolation_level=None)
        try:
            connection.executescript(f"PRAGMA journal_mode = OFF; PRAGMA synchronous = OFF; {made()}")
            connection.execute("BEGIN")
            seal = _fill(connection, packed, lines)
            connection.execute("INSERT INTO seal VALUES (1, ?, ?)", seal)
            connection.execute("COMMIT")
        finally:
            connection.close()
    if seal != (head["units"], head["total"]):
        raise Altered(packed, "the digest over its records does not match them")


def _head(path, line) -> dict:
    head = _parsed(path, line)
    try:
        records.fields(others=records.anything, version=records.whole())(head, "its first line")
        check_version(path, head["version"])
        HEAD(head, "its first line")
    except records.Wrong as error:
        raise StoreError(f"{path} is no packed study ({error}); {AGAIN}") from None
    return head


def _fill(connection, path, lines) -> tuple[int, str]:
    """Write the records of the lines, each with its checksum, as far as SQLite takes them; returns the seal."""
    series, units, hashed = {}, {}, defaultdict(checksums.Rows)
    total = checksums.EMPTY

    def put(table, *rows):
        connection.executemany(f"INSERT INTO {table} VALUES ({', '.join('?' * len(rows[0]))})", rows)

    for number, line in enumerate(lines, 2):
        row = _parsed(path, line)
        try:
            table, *fields = row
            if table == "runs":
                rows = _runs(fields, series)
                put(table, *rows)
                for unit, found in groupby(rows, itemgetter(-1)):
                    hashed[unit].add([run[1:-1] for run in found])
            elif table == "series":
                put(table, fields)
                series[fields[0]] = fields
            elif table == "units":
                put(table, (*fields, ""))
                units[fields[0]] = fields
            elif table in TEXTS:
                checksum = checksums.of_text(table, fields)
                put(table, (*fields, checksum))
                total = checksums.added(total, checksum)
            else:
                raise ValueError(f"there is no table {table}")
        except (sqlite3.Error, ArithmeticError, LookupError, TypeError, ValueError) as error:
            raise Altered(path, f"line {number} cannot be used ({shown(error)})") from None
    for unit, fields in units.items():
        checksum = checksums.of_unit(fields, series.get(fields[1], ()), hashed[unit])
        connection.execute("UPDATE units SET checksum = ? WHERE id = ?", (checksum, unit))
        total = checksums.added(total, checksum)
    return len(units), total


def _runs(fields, series) -> list[tuple]:
    name, *columns, streams = fields
    named = dict(zip(COLUMNS, columns, strict=False))
    streams = streams or _streams(tuple(series[name]), *(named[column] for column in _NAMING))
    units, *numbers = columns
    return list(zip([name] * len(units), *numbers, streams, units, strict=True))


def _parsed(path, line: bytes):
    try:
        return records.parsed(line.decode())
    except (records.Wrong, UnicodeDecodeError) as error:
        raise StoreError(f"{path} is no packed study (a line: {shown(error)}); {AGAIN}") from None


def _most(size: int) -> int:
    return max(SMALL, RATIO * size)


def _unpacked(path: Path) -> Iterator[bytes]:
    with open(os.open(path, os.O_RDONLY | getattr(os, "O_NONBLOCK", 0) | getattr(os, "O_BINARY", 0)), "rb") as file:
        found = os.fstat(file.fileno())
        if not stat.S_ISREG(found.st_mode):
            raise StoreError(f"{path} is no file")
        if found.st_size > LARGEST_FILE:
            raise StoreError(f"{path} is larger than a packed study may be ({LARGEST_FILE:,} bytes)")
        left, rest = _most(found.st_size), b""
        for data in _pieces(path, file):
            left -= len(data)
            *whole, rest = (rest + data).split(b"\n")
            if left < 0 or len(rest) > LONGEST_LINE:
                raise StoreError(f"{path} would unpack to more than a packed study of its size may hold; {AGAIN}")
            yield from whole
        if rest:
            raise Altered(path, "its last line has no end")


def _pieces(path, file) -> Iterator[bytes]:
    unpacker = lzma.LZMADecompressor(lzma.FORMAT_XZ, MEMORY)
    try:
        while not unpacker.eof:
            data = file.read(PIECE // 16) if unpacker.needs_input else b""
            if unpacker.needs_input and not data:
                raise Altered(path, "its end is missing")
            yield unpacker.decompress(data, PIECE)
    except (lzma.LZMAError, MemoryError) as error:
        raise StoreError(f"{path} is no packed study, or is damaged ({shown(error)}); {AGAIN}") from None
    if unpacker.unused_data or file.read(1):
        raise Altered(path, "something follows its end")
