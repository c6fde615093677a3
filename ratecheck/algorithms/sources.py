"""The source code that a plug-in consists of: the file that defines it, and what that imports of its own project."""

import ast
import hashlib
import importlib.util
import inspect
import site
import sysconfig
from collections.abc import Callable
from functools import lru_cache
from pathlib import Path
from types import ModuleType

OURS = ("ratecheck", "function_zoo")  # `claims.VERSION` speaks for them
BY_NAME = ("import_module", "__import__")
INSTALLED = {*site.getsitepackages(), *(sysconfig.get_path(key) for key in ("stdlib", "platstdlib", "purelib"))}


def fingerprint(maker: Callable, made_with=()) -> str:
    """A digest of the code behind a factory (empty where there is none) and of values: other ones make other runs."""
    try:
        module = inspect.getmodule(maker)
        source = inspect.getsource(module)
    except (OSError, TypeError):
        return ""
    helpers = sorted(imported(module, source).items())
    parts = [source, *(f"{name}\x1f{text}" for name, text in helpers), *made_with]
    return hashlib.sha256("\x1e".join(parts).encode()).hexdigest()[:16]


def imported(module: ModuleType, source: str) -> dict[str, str]:
    """Name and source of every module of the same project that a module imports, directly or through others.

    The project is what lies in the folder of the module, or of its outermost package.  Imports are read from the
    source, so that those count too that run later.
    """
    file = getattr(module, "__file__", None)
    if file is None:
        return {}
    root = Path(file).resolve().parents[module.__name__.count(".") if module.__name__ != "__main__" else 0]
    package = module.__package__ or ""
    found, waiting = {}, [(package, source)]
    while waiting:
        package, text = waiting.pop()
        for name in names(text, package):
            spec = specification(name)
            if name in found or name == module.__name__ or not belongs(spec, root):
                continue
            found[name] = Path(spec.origin).read_text(encoding="utf-8", errors="replace")
            inner = name if spec.submodule_search_locations is not None else name.rpartition(".")[0]
            waiting.append((inner, found[name]))
    return found


@lru_cache(maxsize=256)
def names(source: str, package: str) -> tuple[str, ...]:
    return tuple(_names(source, package))  # once for each text: to read it takes longer than many a run


def _names(source: str, package: str):
    """The modules that a source may import; of `from a import b` both a and a.b, for b may be a module."""
    try:
        tree = ast.parse(source)
    except (SyntaxError, ValueError):  # nothing that could be imported
        return
    for node in ast.walk(tree):
        if isinstance(node, ast.Import):
            for alias in node.names:
                yield from prefixes(alias.name)
        elif isinstance(node, ast.ImportFrom):
            base = absolute(node.module or "", node.level, package)
            if base:
                yield from prefixes(base)
                for alias in node.names:
                    yield f"{base}.{alias.name}"
        elif isinstance(node, ast.Call) and ast.unparse(node.func).rpartition(".")[2] in BY_NAME:
            for part in ast.walk(node):
                if isinstance(part, ast.Constant) and isinstance(part.value, str):
                    name = part.value.lstrip(".")
                    yield from prefixes(absolute(name, len(part.value) - len(name), package))


def absolute(name: str, level: int, package: str) -> str:
    """The name of a module that an import in a package gives with so many dots before it."""
    outer = package.split(".")[: len(package.split(".")) - level + 1] if level else []
    return ".".join([*outer, *([name] if name else [])])


def prefixes(name: str):
    """a, a.b and a.b.c of a.b.c: a package runs its own code too."""
    parts = name.split(".")
    return [".".join(parts[: k + 1]) for k in range(len(parts))]


def specification(name: str):
    if name.partition(".")[0] in OURS:
        return None
    try:
        return importlib.util.find_spec(name)
    except (ImportError, AttributeError, ValueError):  # no such module, or its parent is none
        return None


def belongs(spec, root: Path) -> bool:
    """Whether a module is a source file of the project, and not of something that is installed inside its folder."""
    if spec is None or spec.origin is None or not spec.origin.endswith(".py"):
        return False
    path = Path(spec.origin).resolve()
    return path.is_relative_to(root) and not any(path.is_relative_to(place) for place in INSTALLED if place)
