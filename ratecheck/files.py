"""Files that are whole, whatever happens while they are written."""

from __future__ import annotations

import os
import secrets
from contextlib import contextmanager
from pathlib import Path


def write_whole(path, text) -> Path:
    """Write a file that is either the old one or the new one, whatever happens on the way."""
    path = Path(path)
    part = path.with_name(f".{path.name}.part")
    try:
        part.write_text(text, encoding="utf-8")
        os.replace(part, path)
    finally:
        part.unlink(missing_ok=True)
    return path


@contextmanager
def replacing(path, mode="w"):
    """An open file that takes the place of another one only when it is complete; a link is refused."""
    path = Path(path)
    if path.is_symlink():
        raise OSError(f"{path} is a link, and what it points to would be overwritten; remove it, or give another file")
    part = path.with_name(f".{secrets.token_hex(8)}.part")
    try:
        with open(
            part, mode.replace("w", "x"), **({} if "b" in mode else {"encoding": "utf-8", "newline": ""})
        ) as file:
            yield file
        os.replace(part, path)
    finally:
        part.unlink(missing_ok=True)
