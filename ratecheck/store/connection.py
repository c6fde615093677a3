"""Connections to a store: to read it, as hostile input and without a trace, or to write it."""

import os
import shutil
import sqlite3
import stat
import tempfile
import time
from pathlib import Path

from .errors import StoreError

WAIT = 30.0  # seconds for another connection to the same file
LONGEST_TEXT = 2**26  # bytes of one value or row
PATIENCE, BYTES_PER_SECOND = 60.0, 2e6  # how long one query may take: a slow disk reads faster
MOST_COPIED = 2**33  # bytes
AT_ONCE = 1000  # rows: fewer cost calls, more no longer fit into a cache
BESIDE = ("-wal", "-shm", "-journal")  # what SQLite keeps beside a database
NAMED = bytes.fromhex("d9d505f920a163d7")  # how a journal ends that names another one


class Connection:
    """SQLite's connection to a store, with bounds on what a query may take."""

    def __init__(self, path: Path, how: str, watch: bool = False):
        self.path = path
        self.raw = sqlite3.connect(f"{path.absolute().as_uri()}?{how}", uri=True, timeout=WAIT, isolation_level=None)
        self.seen = _identity(path, watch)
        self.watch = watch
        self.longest = PATIENCE + os.path.getsize(path) / BYTES_PER_SECOND
        self.deadline = time.monotonic() + self.longest
        self.raw.set_progress_handler(lambda: time.monotonic() > self.deadline, 100_000)
        self.raw.setlimit(sqlite3.SQLITE_LIMIT_LENGTH, LONGEST_TEXT)
        if hasattr(self.raw, "setconfig"):  # from Python 3.12 on
            self.raw.setconfig(sqlite3.SQLITE_DBCONFIG_DEFENSIVE, True)
        self.raw.execute("PRAGMA trusted_schema = OFF")
        self.raw.execute("PRAGMA cell_size_check = ON")

    def in_place(self):
        """Refuse to go on where the file is gone, was exchanged, or changes under a reader that takes no locks."""
        try:
            same = _identity(self.path, self.watch) == self.seen
        except OSError:
            same = False
        if not same and self.watch:
            raise StoreError(f"{self.path} was written to or removed while it was read; try again")
        if not same:
            raise StoreError(
                f"{self.path} was removed or moved away while the study ran; finished units are in it, and once it is "
                "back the same command goes on from there"
            )

    def execute(self, query, arguments=()):
        self.deadline = time.monotonic() + self.longest
        return self.raw.execute(query, arguments)

    def chunks(self, query, arguments=(), size=AT_ONCE):
        cursor = self.execute(query, arguments)
        while rows := cursor.fetchmany(size):
            yield rows
            if self.watch:
                self.in_place()
            self.deadline = time.monotonic() + self.longest

    def close(self):
        self.raw.close()


class Copy(Connection):
    """A connection to a store in a folder that goes with it; `write` makes the store, given the path of the original
    and its own."""

    def __init__(self, path: Path, write):
        self.folder = tempfile.TemporaryDirectory(prefix="ratecheck-")
        try:
            inside = Path(self.folder.name) / "runs.sqlite"
            write(path, inside)
            super().__init__(inside, "mode=rw")
        except BaseException:
            self.folder.cleanup()
            raise
        self.execute("PRAGMA query_only = ON")

    def close(self):
        super().close()
        self.folder.cleanup()


def _copy_with_log(path: Path, target: Path):
    parts = [suffix for suffix in ("", "-wal", "-journal") if os.path.exists(f"{path}{suffix}")]
    if sum(os.path.getsize(f"{path}{suffix}") for suffix in parts) > MOST_COPIED:
        raise StoreError(
            f"{path} and its log are too large to be copied, as a store must be that a killed study left half written; "
            "start the study again, and it is mended"
        )
    for suffix in parts:
        shutil.copyfile(f"{path}{suffix}", f"{target}{suffix}")


def to_read(path: Path) -> Connection:
    """A connection that changes nothing.

    A store without a log is read as it lies there, which needs no locks and leaves no files, on any disk; one that
    changes meanwhile is noticed.  A log belongs to a study that runs or was killed: SQLite reads it by its own rules;
    where it would have to write beside the store for that, it reads a copy.
    """
    path = path.resolve()
    if filled(path, "-journal") or (filled(path, "-wal") and not os.access(path.parent, os.W_OK)):
        connection = Copy(path, _copy_with_log)
    elif filled(path, "-wal"):
        connection = Connection(path, "mode=ro")
    else:
        connection = Connection(path, "mode=ro&immutable=1", watch=True)
    connection.execute("PRAGMA query_only = ON")
    connection.execute("BEGIN")  # all that is read belongs to one moment
    return connection


def to_write(path: Path) -> Connection:
    connection = Connection(path, "mode=rw")
    for pragma in ("journal_mode = WAL", "foreign_keys = ON", "synchronous = FULL"):
        connection.execute(f"PRAGMA {pragma}")
    return connection


def check_plain(path: Path, links=False):
    """A store and what SQLite keeps beside it are files of this folder alone; a store that is only read may be a link.

    A file with a second name (a hard link) would be written to in another place as well.
    """
    path = Path(os.path.realpath(path)) if links else path
    for part in (path, *(Path(f"{path}{suffix}") for suffix in BESIDE)):
        try:
            found = part.lstat()
        except OSError:
            continue
        what = {stat.S_IFREG: "", stat.S_IFLNK: "a link to another place"}.get(stat.S_IFMT(found.st_mode), "no file")
        if not what and found.st_nlink > 1 and not (links and part == path):
            what = "a file that has another name elsewhere"
        if what:
            raise StoreError(f"{part} is {what}, where a store has a file of its own; it was left untouched")
    _check_journal(Path(f"{path}-journal"))


def _check_journal(path: Path):
    """SQLite removes a file that the end of a journal names, for transactions over several databases; we have none."""
    try:
        with open(path, "rb") as file:
            file.seek(-len(NAMED), os.SEEK_END)
            named = file.read() == NAMED
    except OSError:  # none, or a shorter one
        return
    if named:
        raise StoreError(f"{path} names another file, which SQLite would remove; it was left untouched")


def filled(path: Path, suffix: str = "") -> bool:
    try:
        return os.path.getsize(f"{path}{suffix}") > 0
    except OSError:
        return False


def _identity(path: Path, contents: bool) -> tuple:
    found = os.stat(path)
    return (found.st_dev, found.st_ino, *((found.st_size, found.st_mtime_ns) if contents else ()))
