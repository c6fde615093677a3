"""A store of an earlier version, made one of today: checksums of what it holds, in one transaction."""

from __future__ import annotations

from pathlib import Path

from . import checksums
from .connection import Connection
from .integrity import checked
from .schema import FORMAT, SEALED, TEXTS, UNIT


def upgrade(connection: Connection, path: Path):
    """Give every record its checksum; from then on alterations are noticed."""
    connection.execute("PRAGMA foreign_keys = OFF")
    connection.execute("BEGIN IMMEDIATE")
    try:
        found = {}
        units, total = checked(connection, path, False, found.__setitem__)[1:]
        for table, columns in (("units", UNIT), *TEXTS.items()):
            rows = connection.execute(f"SELECT {', '.join(columns)} FROM {table}").fetchall()
            connection.execute(f"DROP TABLE {table}")
            connection.execute(SEALED[table])
            marks = ", ".join("?" * (len(columns) + 1))
            sums = (found[row[0]] if table == "units" else checksums.of_text(table, row) for row in rows)
            sealed = [(*row, checksum) for row, checksum in zip(rows, sums, strict=True)]
            connection.raw.executemany(f"INSERT INTO {table} VALUES ({marks})", sealed)
        connection.execute(SEALED["seal"])
        connection.execute("INSERT INTO seal VALUES (1, ?, ?)", (units, total))
        connection.execute(f"PRAGMA user_version = {FORMAT}")
        connection.execute("COMMIT")
    except BaseException:
        if connection.raw.in_transaction:
            connection.execute("ROLLBACK")
        connection.close()
        raise
    connection.execute("PRAGMA foreign_keys = ON")
