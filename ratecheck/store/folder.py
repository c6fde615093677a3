"""The folder of a store: one writer at a time, and earlier runs set aside."""

from __future__ import annotations

import os
import socket
import sqlite3
from contextlib import contextmanager, suppress
from pathlib import Path

from .database import now
from .errors import StoreError, explained
from .opening import check_plain
from .schema import APPLICATION, FILE

LOCK = "runs.sqlite-lock"


def set_aside(folder) -> Path | None:
    """Rename the store, so that a fresh one can be made; whatever it is, it is not deleted."""
    path = Path(folder) / FILE
    if not path.exists() and not path.is_symlink():
        return None
    # a store that was killed has runs in its log: one file is safer to rename than two
    with suppress(sqlite3.Error, StoreError):
        check_plain(path)
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
        if part.exists() or part.is_symlink():
            part.rename(aside.with_name(aside.name + suffix))
    return aside


@contextmanager
def sole_writer(folder):
    """Hold the folder, or say who does.

    The lock is SQLite's own on a file beside the store: it works wherever SQLite works, and a killed process holds
    nothing.
    """
    path = Path(folder) / LOCK
    check_plain(path)
    with explained(path, writing=True):
        connection = sqlite3.connect(path, timeout=0, isolation_level=None)
    try:
        with explained(path, writing=True):
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
