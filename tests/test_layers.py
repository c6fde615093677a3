"""Imports go downward only: what a module may know of the others, read from the sources."""

import ast
import subprocess
import sys
from pathlib import Path

import pytest

import ratecheck as rc

ROOT = Path(__file__).parents[1]
LAYERS = (
    "function_zoo",
    "arguments files display notation rates claims",
    "sampling",
    "papers",
    "algorithms",
    "peers engine",
    "executors",
    "store",
    "predict lower_bound",
    "fit",
    "verdict",
    "planning",
    "figures",
    "report",
    "study",
    "check",
    "cli",
)
LAYER_OF = {name: level for level, names in enumerate(LAYERS) for name in names.split()}
FACADES = {"__init__", "__main__", "kernels", "pytest_plugin", "testing"}  # of the root: they show what lies below
ENTRIES = {"ratecheck.study.__main__"}  # `python -m ratecheck.study` is a command
PLOTTING = {"figures"}  # that `.plot()` draws with, wherever it stands


def modules() -> dict[str, Path]:
    found = {}
    for package in ("function_zoo", "ratecheck"):
        for path in sorted((ROOT / package).rglob("*.py")):
            parts = path.relative_to(ROOT).with_suffix("").parts
            found[".".join(parts[:-1] if parts[-1] == "__init__" else parts)] = path
    return found


MODULES = modules()


def place(module: str) -> str:
    """The layer's name of a module: its package below ratecheck, or itself in the root."""
    parts = module.split(".")
    if parts[0] == "function_zoo":
        return "function_zoo"
    return parts[1] if len(parts) > 1 else "__init__"


def imported(module: str, path: Path):
    """(module that is imported, function in which it is, or None) for every import of the project's own."""
    package = module if path.name == "__init__.py" else module.rpartition(".")[0]
    tree = ast.parse(path.read_text("utf-8"))

    def visit(node, function):
        for child in ast.iter_child_nodes(node):
            if isinstance(child, ast.FunctionDef | ast.AsyncFunctionDef):
                yield from visit(child, child.name)
            elif isinstance(child, ast.If) and ast.unparse(child.test) == "TYPE_CHECKING":
                continue
            elif isinstance(child, ast.Import):
                yield from ((alias.name, function) for alias in child.names)
            elif isinstance(child, ast.ImportFrom):
                base = package.split(".")[: len(package.split(".")) - child.level + 1] if child.level else []
                source = ".".join([*base, *filter(None, [child.module])])
                for alias in child.names:
                    inner = f"{source}.{alias.name}"
                    yield (inner if inner in MODULES else source), function
            else:
                yield from visit(child, function)

    return [(name, function) for name, function in visit(tree, None) if name in MODULES]


def upward(module: str, path: Path) -> list[str]:
    here = place(module)
    if here in FACADES or module in ENTRIES:
        return []
    return [
        f"{module} imports {name}"
        for name, function in imported(module, path)
        if (LAYER_OF[place(name)] if place(name) in LAYER_OF else len(LAYERS)) > LAYER_OF[here]
        and not (function in ("plot", "_plot") and place(name) in PLOTTING)
    ]


def test_every_package_and_root_module_has_its_layer():
    assert {place(module) for module in MODULES} - FACADES == set(LAYER_OF)


@pytest.mark.parametrize("module", MODULES)
def test_imports_go_downward(module):
    assert upward(module, MODULES[module]) == []


def test_the_root_holds_twelve_modules_at_most():
    assert len(list((ROOT / "ratecheck").glob("*.py"))) <= 12


LONGEST_FILE, LONGEST_FUNCTION = 450, 60
KERNELS = {"adaptive_kernel", "hoo_kernel", "uniform_kernel", "walk", "search", "sample"}
DATA = set()  # modules that are tables


@pytest.mark.parametrize("module", MODULES)
def test_files_and_functions_are_short(module):
    text = MODULES[module].read_text("utf-8")
    assert len(text.splitlines()) <= LONGEST_FILE or module in DATA
    long = [
        f"{node.name}: {node.end_lineno - node.lineno + 1} lines"
        for node in ast.walk(ast.parse(text))
        if isinstance(node, ast.FunctionDef)
        and node.end_lineno - node.lineno + 1 > LONGEST_FUNCTION
        and node.name not in KERNELS
    ]
    assert long == []


PROTOCOLS = {"start", "panel", "drive"}  # called by position: of an algorithm, of a figure, of a kernel
MAKERS = ("ratecheck.algorithms.", "ratecheck.peers.")  # what they make gets what `start`, or a factory, was given
TASKS = {"perform", "predicted", "bounded", "_keep", "_many", "_two", "_unpacked", "_table"}  # get a tuple of arguments
PUBLIC = {"simulate", "check", "assert_rate", "predict", "verdict", "log_power_verdict", "assess", "fit_rate"}
PUBLIC |= {"write_report", "estimate", "cost"}  # documented with three arguments in their places, or four
COMPILED = ("compiled", "allocating", "inlined", "cfunc", "family(")  # kernels; families of the zoo get keywords


def positional(function: ast.FunctionDef) -> list[str]:
    names = [argument.arg for argument in (*function.args.posonlyargs, *function.args.args)]
    return names[1:] if names[:1] in (["self"], ["cls"]) else names


@pytest.mark.parametrize("module", MODULES)
def test_of_many_arguments_all_but_two_are_keywords(module):
    tree = ast.parse(MODULES[module].read_text("utf-8"))
    found = [
        node.name
        for node in ast.walk(tree)
        if isinstance(node, ast.FunctionDef)
        and len(positional(node)) > 2
        and len(positional(node)) + len(node.args.kwonlyargs) > 4
        and not (node.name in ("__init__", "__call__") and module.startswith(MAKERS))
        and not any(word in ast.unparse(decorator) for decorator in node.decorator_list for word in COMPILED)
    ]
    allowed = PROTOCOLS | TASKS | PUBLIC
    assert [name for name in found if name not in allowed and not name.endswith("_kernel")] == []


def test_functions_keep_their_names_though_packages_have_them_too():
    """Whatever is imported first: a package that is loaded later, or earlier, does not hide a function of its name."""
    shared = [name for name in rc.__all__ if (ROOT / "ratecheck" / name).is_dir()]
    assert set(shared) >= {"check", "predict", "verdict"}
    code = "import importlib, ratecheck as rc; [importlib.import_module(f'ratecheck.{n}') for n in NAMES]; "
    code += "assert all(callable(getattr(rc, n)) for n in NAMES); from ratecheck import check; assert callable(check)"
    subprocess.run([sys.executable, "-c", code.replace("NAMES", repr(shared))], check=True)
