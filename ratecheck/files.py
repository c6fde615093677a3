"""Files that are whole, whatever happens while they are written."""

from __future__ import annotations

import os
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
