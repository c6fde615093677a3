"""What studies still need of the tool's insides, beside what it offers to everybody: one list, which is to shrink."""

import ast
from importlib import import_module
from importlib.util import find_spec
from pathlib import Path

ROOT = Path(__file__).parents[2]
PUBLIC = ("function_zoo", "ratecheck", *(f"ratecheck.{name}" for name in "display figures peers study testing".split()))
PUBLIC += ("ratecheck.kernels", "ratecheck.kernels.generator", "ratecheck.kernels.tournament")
MOST = 45

INTERNALS = {
    "function_zoo.audit": "ALPHA BETA OVER",
    "function_zoo.cubes": "generic norm_moment",
    "function_zoo.measure": "Target cube_errors",
    "function_zoo.packing": "packings",
    "function_zoo.registry": "lookup",
    "ratecheck.algorithms": "partition tournament",
    "ratecheck.algorithms.adaptive": "TOTAL capacity",
    "ratecheck.algorithms.protocol": "Algorithm",
    "ratecheck.algorithms.run": "STAR values",
    "ratecheck.algorithms.tournament": "FRESH NODE inverse_root play replay seat winner",
    "ratecheck.arguments": "available_cores",
    "ratecheck.check.assert_rate": "Rules agreeing asserted",
    "ratecheck.claims": "VERSION own_of",
    "ratecheck.cli.parser": (
        "Mistake OWN_CODE Parser folder guarded natural path real_number whole_number workers writable"
    ),
    "ratecheck.display": "MARKS counted estimate fenced fixed fraction general horizon_text interval listing table",
    "ratecheck.engine.simulate": "Job STANDARD begin run_replicate series_of",
    "ratecheck.executors": "executor",
    "ratecheck.executors.progress": "Progress",
    "ratecheck.figures.base": (
        "ANY CERTIFIED INK MARKERS PREDICTED SHADE STYLE colour_of log_ticks number panels room save ticks "
        "towards_infinity"
    ),
    "ratecheck.files": "read_below replacing together write_whole",
    "ratecheck.fit.deterministic": "log_series",
    "ratecheck.fit.diagnostics": "LARGE_SHARE",
    "ratecheck.fit.fit": "Fit",
    "ratecheck.fit.floors": "log_points",
    "ratecheck.fit.interval": "Estimate",
    "ratecheck.fit.log_means": "AxisLabels LogMeans",
    "ratecheck.fit.points": "Points",
    "ratecheck.lower_bound": "inequalities pair",
    "ratecheck.lower_bound.hard_family": "CERTAIN Rung Sandwich rung",
    "ratecheck.lower_bound.members": "bounded cost_of numbered",
    "ratecheck.lower_bound.paving": "Lattice pave",
    "ratecheck.papers": "zhao_lai",
    "ratecheck.papers.hct": "least_c",
    "ratecheck.peers.pyxab": "ALGORITHMS",
    "ratecheck.predict.far": "LOG_MARGIN slopes window_slope",
    "ratecheck.sampling": "generator seeding",
    "ratecheck.sampling.generator": "bits fill normal open_state uniform",
    "ratecheck.sampling.jit": "Kernel NO_POINTER compiled inlined value",
    "ratecheck.sampling.noise": "Noise sample",
    "ratecheck.sampling.seeding": "stream",
    "ratecheck.store": "Store sole_writer",
    "ratecheck.study.conduct": "described",
    "ratecheck.study.declare": "PRESETS",
    "ratecheck.study.plan": "cases no_curve",
    "ratecheck.study.run": "NothingStored missing_runs run_units units_of",
    "ratecheck.verdict.agreement": "compare variance",
    "ratecheck.verdict.analyse": "fit_of judge_bound",
    "ratecheck.verdict.judging": "held_back irrefutable",
    "ratecheck.verdict.rules": "LEVEL LOG_MARGIN MARGIN Outcome RESOLUTION Verdict decide decide_log_power",
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
                if name and (inner in PUBLIC or not public(module, name) and is_module(inner)):
                    modules[alias] = inner
                elif not public(module, name):
                    found.setdefault(module, set()).add(name)
        for node in ast.walk(tree):
            if isinstance(node, ast.Attribute) and isinstance(node.value, ast.Name) and node.value.id in modules:
                if not public(modules[node.value.id], node.attr):
                    found.setdefault(modules[node.value.id], set()).add(node.attr)
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
