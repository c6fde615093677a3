"""Files that are whole, whatever happens while they are written, and that stay below the folder they are meant for.

The folder that somebody names may be a link; below it no link is followed, not even one that is planted meanwhile:
folders are held open, and names are looked up in them alone.
"""

from __future__ import annotations

import errno
import os
import secrets
import stat
from contextlib import contextmanager, suppress
from pathlib import Path, PurePath

HELD = os.open in os.supports_dir_fd  # not on Windows: links that are there are refused, links planted later are not
NO_LINK = getattr(os, "O_NOFOLLOW", 0)
BYTES = getattr(os, "O_BINARY", 0)
FORMULA = ("=", "+", "-", "@")  # what a spreadsheet computes starts so, perhaps after blanks
KINDS = ((stat.S_ISLNK, "a symbolic link"), (stat.S_ISDIR, "a folder"), (stat.S_ISREG, "an ordinary file"))


def write_whole(path, text) -> Path:
    """Write a file that is either the old one or the new one, whatever happens on the way."""
    with replacing(path) as file:
        file.write(text)
    return Path(path)


def no_formula(text: str) -> str:
    """A text cell of a CSV file: one that a spreadsheet would compute starts with an apostrophe.

    A carriage return, which csv writes without quotes and others take for the end of a row, becomes a line feed.
    """
    return "'" * (text.startswith(FORMULA) or text[:1].isspace()) + text.replace("\r", "\n")


@contextmanager
def replacing(path, mode="w"):
    """An open file, "w" for UTF-8 or "wb" for bytes, that takes the place of another one only when it is complete."""
    path = Path(path)
    with together(path.parent) as drafts, drafts.open(path.name, mode) as file:
        yield file


def check_way(path, root):
    """Refuse a path that leaves a folder through a link in it; the folder itself may be one."""
    root, path = os.path.realpath(root), Path(path).absolute()
    for place in (path, *path.parents):
        if place.is_symlink() and Path(os.path.realpath(place.parent)).is_relative_to(root):
            raise _refusal(place, "a symbolic link", "a file or folder")


def read_below(root, name) -> bytes:
    """What an ordinary file below a folder holds; nothing is read through a link there, nor from a device."""
    folders = Folders(root)
    try:
        place, leaf = folders.of(name)
        folders.check(place, leaf)
        with open(place.open(leaf, os.O_RDONLY | getattr(os, "O_NONBLOCK", 0)), "rb") as file:
            if not stat.S_ISREG(os.fstat(file.fileno()).st_mode):
                raise _refusal(place.path / leaf, "no ordinary file", "an ordinary file")
            return file.read()
    finally:
        folders.close()


@contextmanager
def together(root):
    """Drafts of files below a folder: they take their places together, or all of the old ones stay."""
    drafts = Drafts(Folders(root))
    try:
        yield drafts
        drafts.settle()
    finally:
        drafts.close()


class Drafts:
    """Files that are written under random names beside their places; see together()."""

    def __init__(self, folders: Folders):
        self.folders = folders
        self._written = []  # (place, temporary name, name)
        self._removed = []  # (place, name)

    @contextmanager
    def open(self, name, mode="w"):
        place, leaf = self.folders.of(name, create=True)
        self.folders.check(place, leaf)
        draft = f".{secrets.token_hex(8)}.part"
        handle = place.open(draft, os.O_WRONLY | os.O_CREAT | os.O_EXCL)
        self._written.append((place, draft, leaf))
        text = {} if "b" in mode else {"encoding": "utf-8", "newline": ""}
        with open(handle, mode, **text) as file:
            yield file
            file.flush()
            os.fsync(handle)  # a full disk may say so only here

    def write(self, name, text):
        with self.open(name) as file:
            file.write(text)

    def remove(self, name):
        """Remove an old file with the others' arrival, if there is one."""
        place, leaf = self.folders.of(name)
        if self.folders.check(place, leaf):
            self._removed.append((place, leaf))

    def settle(self):
        while self._written:
            place, draft, leaf = self._written[0]
            source, target = place.at(draft), place.at(leaf)
            os.replace(source["path"], target["path"], src_dir_fd=source["dir_fd"], dst_dir_fd=target["dir_fd"])
            self._written.pop(0)
        for place, leaf in self._removed:
            with suppress(FileNotFoundError):
                os.unlink(**place.at(leaf))

    def close(self):
        for place, draft, _ in self._written:
            with suppress(OSError):
                os.unlink(**place.at(draft))
        self.folders.close()


class Folders:
    """A folder and those below it, held open."""

    def __init__(self, root):
        self.root = Path(root)
        self._held = {}

    def of(self, name, create=False) -> tuple[Place, str]:
        """The folder of a file, and the file's name there."""
        parts = PurePath(name).parts
        if not parts or PurePath(name).is_absolute() or ".." in parts:
            raise ValueError(f"{name} does not lie below {self.root}; give a name without '..'")
        if not self._held:
            self._held[()] = Place(self.root, os.open(self.root, os.O_RDONLY | os.O_DIRECTORY) if HELD else None)
        for depth in range(1, len(parts)):
            if parts[:depth] not in self._held:
                self._held[parts[:depth]] = _entered(self._held[parts[: depth - 1]], parts[depth - 1], create)
        return self._held[parts[:-1]], parts[-1]

    def check(self, place: Place, leaf) -> bool:
        """Whether there is a file of this name; anything else that has it is refused."""
        try:
            mode = os.lstat(**place.at(leaf)).st_mode
        except FileNotFoundError:
            return False
        if not stat.S_ISREG(mode):
            raise _refusal(place.path / leaf, _kind(mode), "an ordinary file")
        return True

    def close(self):
        for place in self._held.values():
            if place.handle is not None:
                os.close(place.handle)
        self._held = {}


class Place:
    """A folder that is held open, and how the functions of `os` name a file in it."""

    def __init__(self, path: Path, handle: int | None):
        self.path, self.handle = path, handle

    def at(self, leaf) -> dict:
        return {"path": leaf if HELD else self.path / leaf, "dir_fd": self.handle}

    def open(self, leaf, flags) -> int:
        return os.open(flags=flags | NO_LINK | BYTES, mode=0o666, **self.at(leaf))


def _entered(place: Place, part, create) -> Place:
    """A folder in a folder, made where it is missing; a link to one is refused."""
    if create:
        with suppress(FileExistsError):
            os.mkdir(**place.at(part))
    mode = os.lstat(**place.at(part)).st_mode
    path = place.path / part
    if not stat.S_ISDIR(mode):
        raise _refusal(path, _kind(mode), "a folder")
    try:
        return Place(path, place.open(part, os.O_RDONLY | os.O_DIRECTORY) if HELD else None)
    except OSError as error:
        if error.errno in (errno.ELOOP, errno.ENOTDIR):  # since we looked
            raise _refusal(path, "no folder any more", "a folder") from None
        raise


def _kind(mode) -> str:
    return next((name for test, name in KINDS if test(mode)), "no ordinary file")


def _refusal(path, found, expected) -> FileExistsError:
    return FileExistsError(f"{path} is {found}, and {expected} belongs there; remove it, or take another folder")
