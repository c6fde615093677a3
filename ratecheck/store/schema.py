"""The tables of a store, and how one is told from any other file."""

from ..claims import VERSION
from .errors import Altered, StoreError

FILE = "runs.sqlite"
PACKED = "runs.jsonl.xz"  # the same in a file that travels, see `pack`
APPLICATION = 0x72617465  # "rate", in the header of every store

SERIES = ("series", "cost", "dim", "algorithm", "noise", "alignment", "seed", "period")  # the digest first
RUN = ("replicate", "horizon", "regret", "cells", "side", "anytime", "stream")
UNIT = ("id", "series", "session", "steps", "seconds", "finished", "complaint")
TEXTS = {  # tables of texts: the columns that a checksum covers
    "sessions": ("id", "started", "details"),
    "audits": ("cost", "rows"),
    "notes": ("key", "value"),
}

TABLES = {
    "series": """CREATE TABLE series (
    series TEXT PRIMARY KEY, cost TEXT NOT NULL, dim INTEGER NOT NULL, algorithm TEXT NOT NULL, noise TEXT NOT NULL,
    alignment TEXT NOT NULL, seed INTEGER NOT NULL, period REAL
) STRICT""",
    "runs": """CREATE TABLE runs (
    series TEXT NOT NULL REFERENCES series, replicate INTEGER NOT NULL, horizon INTEGER NOT NULL, regret REAL NOT NULL,
    cells INTEGER NOT NULL, side REAL NOT NULL, anytime INTEGER NOT NULL, stream TEXT NOT NULL,
    unit INTEGER NOT NULL REFERENCES units, PRIMARY KEY (series, replicate, horizon)
) STRICT, WITHOUT ROWID""",
    "sessions": """CREATE TABLE sessions (
    id INTEGER PRIMARY KEY, started TEXT NOT NULL, details TEXT NOT NULL, checksum TEXT NOT NULL
) STRICT""",
    "units": """CREATE TABLE units (
    id INTEGER PRIMARY KEY, series TEXT NOT NULL REFERENCES series, session INTEGER NOT NULL REFERENCES sessions,
    steps INTEGER NOT NULL, seconds REAL NOT NULL, finished TEXT NOT NULL, complaint TEXT NOT NULL,
    checksum TEXT NOT NULL
) STRICT""",
    "audits": "CREATE TABLE audits (cost TEXT PRIMARY KEY, rows TEXT NOT NULL, checksum TEXT NOT NULL) STRICT",
    "notes": "CREATE TABLE notes (key TEXT PRIMARY KEY, value TEXT NOT NULL, checksum TEXT NOT NULL) STRICT",
    "seal": """CREATE TABLE seal (
    id INTEGER PRIMARY KEY CHECK (id = 1), units INTEGER NOT NULL, total TEXT NOT NULL
) STRICT""",
}


def made() -> str:
    """What makes an empty store, in one transaction."""
    header = f"PRAGMA application_id = {APPLICATION}; PRAGMA user_version = {VERSION}"
    return "; ".join(["BEGIN", header, *TABLES.values(), "COMMIT;"])


def check_version(path, found):
    """Refuse what another version of this program has written, be it older or newer."""
    if found != VERSION:
        raise StoreError(
            f"{path} was written by another version of ratecheck ({found}, this is {VERSION}); it was left untouched, "
            "run the study again with --fresh or another --out"
        )


def check_schema(connection, path):
    """Refuse what is no sound store of this program, before a table of it is read."""
    application = connection.execute("PRAGMA application_id").fetchone()[0]
    if application != APPLICATION:
        raise StoreError(f"{path} is a database of another program; it was left untouched")
    check_version(path, connection.execute("PRAGMA user_version").fetchone()[0])
    check_tables(connection, path, TABLES)
    # of tables with an index of their own also whether the two agree
    for check in ("quick_check(1)", *(f"integrity_check({name})" for name in ("series", "audits", "notes"))):
        sound = connection.execute(f"PRAGMA {check}").fetchone()[0]
        if sound != "ok":
            raise Altered(path, f"it is damaged ({' '.join(sound.split())})")


def check_tables(connection, path, tables):
    """Nothing but our tables, in our own words: no view, no trigger, nothing that could run."""
    found = {}
    for kind, name, table, sql in connection.execute("SELECT type, name, tbl_name, sql FROM sqlite_master LIMIT 100"):
        if kind == "index" and sql is None and name == f"sqlite_autoindex_{table}_1" and table in tables:
            continue  # of a primary key
        if kind != "table" or name != table or tables.get(name) != sql:
            raise Altered(path, f"it holds a {kind} {str(name)[:40]!r} that ratecheck did not make")
        found[name] = sql
    for name in tables:
        if name not in found:
            raise Altered(path, f"its table {name!r} is missing")
