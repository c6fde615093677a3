"""Code that is named by a module or by a path: the one place that imports it, which executes it."""

from __future__ import annotations

import importlib
import importlib.util
import os
import re
import sys
from pathlib import Path
from types import ModuleType


class CannotLoad(ValueError):
    """A module that was found, but failed while it was imported; the cause is what it raised."""


def module_named(name: str) -> ModuleType:
    """Import a module by its name; ModuleNotFoundError where there is none, CannotLoad where its code fails."""
    try:
        return importlib.import_module(name)
    except ModuleNotFoundError as error:
        if error.name and f"{name}.".startswith(f"{error.name}."):
            raise  # it, or a package around it, is not there
        raise _failed(name, error) from error
    except (Exception, SystemExit) as error:
        raise _failed(name, error) from error


def module_at(path, *roots, registered=True) -> ModuleType:
    """Import the file at a path by its name below one of `roots`, by default its folder, so that processes find it too.

    The roots are put on `sys.path`, behind what is there.  Where other modules have these names, or none can have them,
    the file is loaded under a name of its own.  Code in it is then recognised when it is edited, but no other process
    finds it; not `registered`, it is sent there by value, and cannot be recognised.
    """
    path = Path(os.path.abspath(path))  # with names of its own, even if it was called ../x.py
    roots = [Path(os.path.abspath(root)) for root in roots] or [path.parent]
    for root in roots:
        if str(root) not in sys.path:
            sys.path.append(str(root))
    for root in roots:
        parts = path.relative_to(root).with_suffix("").parts
        if all(part.isidentifier() for part in parts) and (module := _the_one(".".join(parts), path)):
            return module
    return _apart(path, registered)


def _the_one(name, path) -> ModuleType | None:
    """The module of that name, if it is this file."""
    try:
        module = module_named(name)
    except ModuleNotFoundError:
        return None
    except CannotLoad as error:
        raise _failed(path, error.__cause__) from error.__cause__
    known = getattr(module, "__file__", None)
    return module if known and Path(known).resolve() == path.resolve() else None


def _apart(path, registered) -> ModuleType:
    name = re.sub(r"\W", "_", f"_file_{path.parent.name}_{path.stem}")
    spec = importlib.util.spec_from_file_location(name, path)
    module = importlib.util.module_from_spec(spec)
    sys.modules[name] = module
    try:
        spec.loader.exec_module(module)
    except (Exception, SystemExit) as error:
        raise _failed(path, error) from error
    finally:
        if not registered:
            del sys.modules[name]
    return module


def _failed(what, error) -> CannotLoad:
    return CannotLoad(f"{what} cannot be loaded ({type(error).__name__}: {error})")
