"""What can be wrong with a store, and SQLite's errors in words."""

import errno
import os
import sqlite3
from contextlib import contextmanager
from pathlib import Path

AWAY = "it was left untouched, take another --out or --fresh"


def shown(text, most=200) -> str:
    """A stored text as it may stand in a sentence: no control characters, not too long."""
    clean = "".join(c if c.isprintable() else "\N{REPLACEMENT CHARACTER}" for c in str(text)[: most + 1])
    return clean if len(clean) <= most else f"{clean[:most]}…"


class StoreError(RuntimeError):
    """The store cannot be used; the message says why, and what was left as it was."""


class StoreFull(StoreError):
    """There is no room for another unit."""

    errno = errno.ENOSPC


class Unreadable(StoreError):
    """The disk does not give back what is there."""


class Altered(StoreError):
    """What the store holds is not what was written."""

    def __init__(self, path, what):
        super().__init__(f"{path} was altered after it was written: {what}; {AWAY}")


@contextmanager
def explained(path, writing=False):
    try:
        yield
    except (sqlite3.Error, UnicodeDecodeError) as error:  # the latter: a text that is none
        raise in_words(path, error, writing) from error


def in_words(path, error, writing=False) -> StoreError:
    text, name = " ".join(str(error).split()), getattr(error, "sqlite_errorname", "") or ""
    if name.startswith(("SQLITE_FULL", "SQLITE_IOERR")):
        if not writing or name.endswith("READ"):
            return Unreadable(
                f"{path} could not be read to its end ({text}): its disk fails, or has no room for what SQLite keeps "
                "beside it; it was left untouched"
            )
        return StoreFull(
            f"{path} cannot grow ({text}); finished units are kept, and the same command goes on from there once "
            "there is room"
        )
    if name.startswith("SQLITE_INTERRUPT"):
        return StoreError(f"{path} takes longer to read than a store of its size may; it was left untouched")
    if "readonly" in text or not os.access(Path(path).parent, os.W_OK):
        return StoreError(f"{Path(path).parent} cannot be written to ({text})")
    return StoreError(f"{path} cannot be read as a store of runs ({text}); it was left untouched")
