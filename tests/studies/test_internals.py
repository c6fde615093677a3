"""What studies still need of the tool's insides, beside what it offers to everybody: one list, which is to shrink."""

import ast
from importlib import import_module
from importlib.util import find_spec
from pathlib import Path

ROOT = Path(__file__).parents[2]
PUBLIC = (
    "function_zoo",
    "ratecheck",
    *(f"ratecheck.{name}" for name in ["display", "figures", "peers", "study", "testing"]),
)
PUBLIC += ("ratecheck.kernels", "ratecheck.kernels.generator", "ratecheck.kernels.tournament")
MOST = 45

INTERNALS = {
    "function_zoo.cubes": "norm_moment",
    "function_zoo.measure": "Target cube_errors",
    "function_zoo.packing": "packings",
    "ratecheck.algorithms.adaptive": "TOTAL",
    "ratecheck.algorithms.partition": "grid",
    "ratecheck.algorithms.run": "STAR",
    "ratecheck.check.assert_rate": "Rules agreeing asserted",
    "ratecheck.claims": "VERSION",
    "ratecheck.cli.parser": "Parser folder guarded",
    "ratecheck.engine.simulate": "Job begin",
    "ratecheck.figures.base": "save",
    "ratecheck.files": "read_below together",
    "ratecheck.fit.deterministic": "log_series",
    "ratecheck.fit.floors": "log_points",
    "ratecheck.fit.log_means": "LogMeans",
    "ratecheck.fit.points": "Points",
    "ratecheck.lower_bound.hard_family": "CERTAIN rung",
    "ratecheck.lower_bound.inequalities": "verify",
    "ratecheck.lower_bound.members": "bounded cost_of",
    "ratecheck.lower_bound.pair": "best",
    "ratecheck.lower_bound.paving": "Lattice pave",
    "ratecheck.predict.far": "slopes",
    "ratecheck.sampling.noise": "sample",
    "ratecheck.sampling.seeding": "alignment names_of",
    "ratecheck.store": "Store sole_writer",
    "ratecheck.study.conduct": "described",
    "ratecheck.study.plan": "cases no_curve",
    "ratecheck.verdict.agreement": "compare",
    "ratecheck.verdict.judging": "held_back irrefutable",
    "ratecheck.verdict.rules": "MARGIN decide",
}


def imported() -> dict[str, set[str]]:
    """By module: what files below studies/ use of it that is not public, also by the module's name (`module.name`)."""
    found = {}
    for path in sorted((ROOT / "studies").rglob("*.py")):
        tree = ast.parse(path.read_text("utf-8"))
        modules = {}
        for node in ast.walk(tree):
            for module, name, alias in names(node):
                inner = f"{module}.{name}" if name else module
                if name and (inner in PUBLIC or (not public(module, name) and is_module(inner))):
                    modules[alias] = inner
                elif not public(module, name):
                    found.setdefault(module, set()).add(name)
        for node in ast.walk(tree):
            home = modules.get(node.value.id) if isinstance(getattr(node, "value", None), ast.Name) else None
            if home and isinstance(node, ast.Attribute) and not public(home, node.attr):
                found.setdefault(home, set()).add(node.attr)
    return found


def names(node) -> list[tuple[str, str, str]]:
    """(module, name, what it is called here) of an import of the project's own."""
    if isinstance(node, ast.ImportFrom):
        every = [(node.module or "", alias.name, alias.asname or alias.name) for alias in node.names]
    else:
        every = [(alias.name, "", "") for alias in node.names] if isinstance(node, ast.Import) else []
    return [one for one in every if one[0].partition(".")[0] in ("ratecheck", "function_zoo")]


def is_module(path) -> bool:
    try:
        return find_spec(path) is not None
    except ModuleNotFoundError:  # a name of a module that is no package
        return False


def public(module, name) -> bool:
    """Whether a module offers a name to everybody, or (no name) may be imported as a whole."""
    if module not in PUBLIC:
        return False
    home, _, last = module.rpartition(".")
    offering = getattr(import_module(home), last) if home == "ratecheck.kernels" else import_module(module)
    offered = name in offering.__all__ if hasattr(offering, "__all__") else hasattr(offering, name) and name[:1] != "_"
    return not name or offered


def test_studies_need_no_more_of_the_insides_than_is_listed_here():
    assert imported() == {module: set(listed.split()) for module, listed in INTERNALS.items()}


def test_the_list_is_short():
    assert sum(len(listed.split()) for listed in INTERNALS.values()) <= MOST
