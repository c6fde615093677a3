"""Code that somebody names: a module, a file, or an object in one of them.  To load it executes it."""

from __future__ import annotations

import importlib
import importlib.util
import os
import re
import sys
from contextlib import contextmanager
from pathlib import Path
from types import ModuleType

from function_zoo.formula import HERE_ONLY

from .arguments import meant


def load_object(text: str):
    """The object that MODULE:NAME or PATH.py:NAME names."""
    source, _, attribute = text.rpartition(":")
    found = load_file(source) if source.endswith(".py") or "/" in source else load_module(source)
    for part in attribute.split("."):
        if not hasattr(found, part):
            names = [name for name in dir(found) if not name.startswith("_")]
            raise ValueError(f"{source} has no {part}{meant(part, names)}")
        found = getattr(found, part)
    return found


def load_module(name: str) -> ModuleType:
    """The module of this name, also one of the current folder if that is on sys.path."""
    with _executing(name):
        try:
            return importlib.import_module(name)
        except ModuleNotFoundError as error:
            if error.name is None or name.partition(".")[0] != error.name.partition(".")[0]:
                raise
    here = sorted(path.stem for path in Path.cwd().glob("*.py"))
    raise ValueError(f"there is no module {name}{meant(name, here)}")


def load_file(given: str | Path, package: bool = False) -> ModuleType:
    """The module of a file, under a name by which other processes find it too, where it can have one.

    `package`: the name begins with that of the folder, as in bowls.study, and the folder that holds both comes last on
    sys.path; else the file's folder comes first, as for a script.
    """
    path = Path(os.path.abspath(given))  # the folder has a name of its own, even if it was called ..
    if not path.is_file():
        near = [str(other) for other in sorted(Path(given).parent.glob("*.py"))]
        raise ValueError(f"there is no file {given}{meant(str(given).removeprefix('./'), near)}")
    parts = [path.parent.name, path.stem] if package else [path.stem]
    root = str(path.parents[len(parts) - 1])
    if root not in sys.path:
        sys.path.insert(len(sys.path) if package else 0, root)
    with _executing(given):
        if all(part.isidentifier() for part in parts) and _finds(parts, path):
            return importlib.import_module(".".join(parts))
        # another module has that name, or none can have it
        name = re.sub(r"\W", "_", "_".join(["_file", *parts]))
        spec = importlib.util.spec_from_file_location(name, path)
        sys.modules[name] = module = importlib.util.module_from_spec(spec)
        HERE_ONLY.add(name)
        spec.loader.exec_module(module)
    return module


def _finds(parts: list[str], path: Path) -> bool:
    """Whether an import of this name finds this file."""
    try:
        spec = importlib.util.find_spec(".".join(parts))
    except (ModuleNotFoundError, ValueError) as error:  # the folder is another module, or one without a file
        if getattr(error, "name", None) not in (None, *parts):
            raise
        return False
    return spec is not None and spec.origin is not None and Path(spec.origin).resolve() == path.resolve()


@contextmanager
def _executing(what):
    try:
        yield
    except (Exception, SystemExit) as error:
        raise ValueError(f"{what} cannot be loaded ({type(error).__name__}: {error})") from error
