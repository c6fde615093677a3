"""Code that is named by a module or by a path: the one place that imports it, which executes it."""

import importlib
import importlib.util
import os
import re
import sys
from pathlib import Path
from types import ModuleType

from function_zoo.formula import HERE_ONLY


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


def module_at(path, *roots) -> ModuleType:
    """Import the file at a path by its name below one of `roots`, by default its folder, so that processes find it too.

    The roots are put on `sys.path`, behind what is there.  Where other modules have these names, or none can have them,
    the file is loaded under a name of its own, and what it holds is sent to other processes by value.
    """
    path = Path(os.path.abspath(path))  # with names of its own, even if it was called ../x.py
    roots = [Path(os.path.abspath(root)) for root in roots] or [path.parent]
    for root in roots:
        if str(root) not in sys.path:
            sys.path.append(str(root))
    try:
        for root in roots:
            parts = path.relative_to(root).with_suffix("").parts
            if all(part.isidentifier() for part in parts) and _is_name_of(path, ".".join(parts)):
                return importlib.import_module(".".join(parts))
        name = re.sub(r"\W", "_", f"_file_{path.parent.name}_{path.stem}")
        spec = importlib.util.spec_from_file_location(name, path)
        sys.modules[name] = module = importlib.util.module_from_spec(spec)
        HERE_ONLY.add(name)
        spec.loader.exec_module(module)
    except (Exception, SystemExit) as error:
        raise _failed(path, error) from error
    return module


def _is_name_of(path, name) -> bool:
    """Whether this file is what an import of that name would find; the packages around it are imported for that."""
    try:
        spec = importlib.util.find_spec(name)
    except (ModuleNotFoundError, ValueError) as error:  # one of them is no package, or was made without a file
        if not f"{name}.".startswith(f"{getattr(error, 'name', None) or name}."):
            raise
        return False
    return spec is not None and spec.origin is not None and Path(spec.origin).resolve() == path.resolve()


def _failed(what, error) -> CannotLoad:
    return CannotLoad(f"{what} cannot be loaded ({type(error).__name__}: {error})")
