"""The folder of a store: one writer at a time, and earlier runs set aside."""

import os
import socket
import sqlite3
from contextlib import contextmanager, suppress
from pathlib import Path

from .connection import BESIDE, Connection, check_plain
from .errors import StoreError, explained, shown
from .pack import header, pack
from .runs import Store, now
from .schema import APPLICATION, FILE, PACKED, check_tables

LOCK = "runs.sqlite-lock"
HOLDER = {"holder": "CREATE TABLE holder (who TEXT)"}


def holds_runs(folder) -> bool:
    """Whether a folder holds a store, or a packed one."""
    return any((Path(folder) / name).exists() for name in (FILE, PACKED))


def set_aside(folder) -> Path | None:
    """Rename the store and the packed one, so that a fresh one can be made; whatever they are, they are not deleted."""
    path = Path(folder) / FILE
    if path.exists():
        _empty_log(path)
    found = [_renamed(path, BESIDE), _renamed(path.with_name(PACKED))]
    return next(filter(None, found), None)


def _empty_log(path: Path):
    """A store that was killed has runs in its log: one file is safer to rename than two."""
    with suppress(sqlite3.Error, StoreError):
        check_plain(path)
        connection = sqlite3.connect(path, isolation_level=None)
        try:
            if connection.execute("PRAGMA application_id").fetchone()[0] == APPLICATION:
                connection.execute("PRAGMA wal_checkpoint(TRUNCATE)")
        finally:
            connection.close()


def _renamed(path: Path, beside=()) -> Path | None:
    if not path.exists() and not path.is_symlink():
        return None
    number = 1
    while (aside := path.with_name(f"{path.name}.{number}.old")).exists():
        number += 1
    for suffix in ("", *beside):
        part = path.with_name(path.name + suffix)
        if part.exists() or part.is_symlink():
            part.rename(aside.with_name(aside.name + suffix))
    return aside


def pack_beside(store: Store) -> tuple[Path, Path | None]:
    """Pack a store into its own folder; also where a packed file went that holds what the store does not.

    A store only grows: a packed file of more runs, or one that cannot be read, comes from elsewhere.
    """
    target, aside = store.path.with_name(PACKED), None
    if target.exists() and store.path.name != PACKED:
        try:
            foreign = header(target)["runs"] > len(store)
        except StoreError:
            foreign = True
        aside = _renamed(target) if foreign else None
    return pack(store, target), aside


@contextmanager
def sole_writer(folder):
    """Hold the folder, or say who does.

    The lock is SQLite's own on a file beside the store: it works wherever SQLite works, and a killed process holds
    nothing.
    """
    path = Path(folder) / LOCK
    check_plain(path)
    with explained(path, writing=True):
        connection = Connection(path, "mode=rwc")
    try:
        with explained(path, writing=True):
            _hold(connection, folder)
        yield
    finally:
        connection.close()


def _hold(connection, folder):
    me = f"process {os.getpid()} on {socket.gethostname()} since {now()}"
    connection.execute("PRAGMA busy_timeout = 0")
    try:
        connection.execute("BEGIN IMMEDIATE")
        if not connection.execute("SELECT 1 FROM sqlite_master LIMIT 1").fetchone():
            connection.execute(HOLDER["holder"])
        check_tables(connection, connection.path, HOLDER)
        connection.execute("DELETE FROM holder")
        connection.execute("INSERT INTO holder VALUES (?)", (me,))
        connection.execute("COMMIT")
        connection.execute("BEGIN IMMEDIATE")  # others can still read who it is
    except sqlite3.OperationalError as error:
        if "locked" not in str(error):
            raise
        who = "another process"
        with suppress(sqlite3.Error, StoreError, TypeError):
            check_tables(connection, connection.path, HOLDER)
            who = shown(connection.execute("SELECT who FROM holder").fetchone()[0])
        raise StoreError(f"{folder} is in use by {who}; wait for it to end, or take another --out") from None
