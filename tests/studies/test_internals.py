"""What studies still need of the tool's insides, beside what it offers to everybody: one list, which is to shrink."""

import ast
from pathlib import Path

import function_zoo as zoo
import ratecheck as rc
from ratecheck import kernels, peers, study, testing

ROOT = Path(__file__).parents[2]
PUBLIC = {"function_zoo": zoo, "ratecheck": rc, "ratecheck.kernels": kernels, "ratecheck.study": study}
PUBLIC |= {"ratecheck.peers": peers, "ratecheck.testing": testing}

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
    "ratecheck.engine.simulate": "Job STANDARD begin",
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
    "ratecheck.study.run": "run_units units_of",
    "ratecheck.verdict.agreement": "compare variance",
    "ratecheck.verdict.analyse": "fit_of judge_bound",
    "ratecheck.verdict.judging": "held_back irrefutable",
    "ratecheck.verdict.rules": "LEVEL LOG_MARGIN MARGIN Outcome RESOLUTION Verdict decide decide_log_power",
}


def imported() -> dict[str, set[str]]:
    """By module: what files below studies/ import of it that is not public."""
    found = {}
    for path in sorted((ROOT / "studies").rglob("*.py")):
        for node in ast.walk(ast.parse(path.read_text("utf-8"))):
            for module, name in names(node):
                if module.partition(".")[0] in ("ratecheck", "function_zoo") and not public(module, name):
                    found.setdefault(module, set()).add(name)
    return found


def names(node) -> list[tuple[str, str]]:
    if isinstance(node, ast.ImportFrom):
        return [(node.module or "", alias.name) for alias in node.names]
    if isinstance(node, ast.Import):
        return [(alias.name, "") for alias in node.names]
    return []


def public(module, name) -> bool:
    home = PUBLIC.get(module)
    offered = name in home.__all__ if hasattr(home, "__all__") else hasattr(home, name) and not name.startswith("_")
    return home is not None and (not name or offered or f"{module}.{name}" in PUBLIC)


def test_studies_need_no_more_of_the_insides_than_is_listed_here():
    assert imported() == {module: set(listed.split()) for module, listed in INTERNALS.items()}
