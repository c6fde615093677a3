"""What studies still need of the tool's insides, beside what it offers to everybody: one list, which is to shrink."""

import ast
from pathlib import Path

import function_zoo as zoo
import ratecheck as rc
from ratecheck import kernels, study, testing

ROOT = Path(__file__).parents[2]
PUBLIC = {"function_zoo": zoo, "ratecheck": rc, "ratecheck.kernels": kernels, "ratecheck.study": study}
PUBLIC |= {"ratecheck.testing": testing}

INTERNALS = {
    "function_zoo.audit": "ALPHA BETA OVER",
    "function_zoo.cubes": "generic norm_moment",
    "function_zoo.measure": "Target cube_errors",
    "function_zoo.packing": "packings",
    "function_zoo.registry": "lookup",
    "ratecheck.algorithms": "AdaptiveBins AskTell Compiled HOO UniformBins partition tournament",
    "ratecheck.algorithms.adaptive": "TOTAL capacity",
    "ratecheck.algorithms.protocol": "Algorithm",
    "ratecheck.algorithms.run": "STAR values",
    "ratecheck.algorithms.tournament": "FRESH NODE inverse_root play replay seat winner",
    "ratecheck.arguments": "available_cores",
    "ratecheck.check.assert_rate": "CannotTell CurveChanged RateRefuted Rules agreeing asserted",
    "ratecheck.claims": "Claim VERSION own_of",
    "ratecheck.cli.options": "number",
    "ratecheck.cli.parser": "Mistake OWN_CODE Parser folder guarded natural path whole workers writable",
    "ratecheck.display": "MARKS counted estimate fenced fixed fraction general interval listing table whole",
    "ratecheck.engine.simulate": "Job Runs STANDARD available_cores begin run_replicate series_of simulate",
    "ratecheck.executors": "executor",
    "ratecheck.executors.progress": "Progress",
    "ratecheck.figures.base": (
        "ANY CERTIFIED INK MARKERS PREDICTED SHADE STYLE colour_of log_ticks number panels room save ticks "
        "towards_infinity"
    ),
    "ratecheck.files": "read_below replacing together write_whole",
    "ratecheck.fit.columns": "Points",
    "ratecheck.fit.deterministic": "log_series",
    "ratecheck.fit.fit": "Fit LARGE_SHARE fit_rate slope_difference",
    "ratecheck.fit.floors": "log_points",
    "ratecheck.fit.interval": "Estimate",
    "ratecheck.fit.log_means": "FitError LogMeans Words",
    "ratecheck.lower_bound": "ball pair",
    "ratecheck.lower_bound.family": "HardFamily",
    "ratecheck.lower_bound.hard_family": "CERTAIN Rung Sandwich rung",
    "ratecheck.lower_bound.members": "bounded cost_of numbered",
    "ratecheck.lower_bound.paving": "Lattice pave",
    "ratecheck.papers": "zhao_lai",
    "ratecheck.papers.hct": "least_c",
    "ratecheck.papers.zhao_lai": "D least_mu theorem1_corrected theorem2_sharper theorem3",
    "ratecheck.peers.cma": "CMA",
    "ratecheck.peers.nevergrad": "Nevergrad",
    "ratecheck.peers.optuna": "Optuna",
    "ratecheck.peers.pyxab": "ALGORITHMS from_pyxab",
    "ratecheck.planning.plan": "cases unforeseen",
    "ratecheck.predict.far": "LOG_MARGIN slopes window_slope",
    "ratecheck.predict.water_level": "Prediction predict",
    "ratecheck.rates": "Rate",
    "ratecheck.sampling": "generator seeding",
    "ratecheck.sampling.generator": "bits fill normal open_state uniform",
    "ratecheck.sampling.jit": "Kernel NO_POINTER compiled inlined value",
    "ratecheck.sampling.noise": "Gaussian Noise sample",
    "ratecheck.sampling.seeding": "stream",
    "ratecheck.store": "Store sole_writer",
    "ratecheck.study.conduct": "described",
    "ratecheck.study.declare": "Grid PRESETS Study",
    "ratecheck.study.run": "NothingStored missing_runs run_units units_of",
    "ratecheck.verdict.agreement": "Agreement agreement compare variance",
    "ratecheck.verdict.analyse": "fit_of held_back irrefutable judge_bound",
    "ratecheck.verdict.rules": (
        "LEVEL LOG_MARGIN MARGIN Outcome RESOLUTION Verdict decide decide_log_power holm tight verdict"
    ),
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
    offered = getattr(home, "__all__", None) or [n for n in dir(home) if not n.startswith("_")]
    return home is not None and (not name or name in offered or f"{module}.{name}" in PUBLIC)


def test_studies_need_no_more_of_the_insides_than_is_listed_here():
    assert imported() == {module: set(listed.split()) for module, listed in INTERNALS.items()}
