"""Wrong arguments of what is imported: a ValueError with one sentence, whatever they are."""

import math
from dataclasses import fields

import numpy as np
import pytest

import function_zoo as zoo
import ratecheck as rc
from function_zoo.registry import lookup
from ratecheck.study import Grid, Study
from ratecheck.study.plan import cases, no_curve
from tests.strategies import RandomSearch

pytestmark = pytest.mark.slow


class Thing:
    """Of no use to anybody."""


WRONG = (Thing(), Thing, b"x", 1j, {"a": 1}, [Thing()], [[1]], ["a", None], "a\nb", np.ones((2, 2)), math.nan)
ODD = ("junk", "", None, [], {}, [1], (1, 2, 3), True, 0, -1, 0.5, 1e300, 1e-320, 10**400, -(10**400), math.inf, len)

CONE = zoo.get("cone", 1)
RUNS = rc.simulate(rc.AdaptiveBins(), CONE, [8, 16, 32, 64, 128], replicates=4)
FIT, RATE = rc.fit_rate(RUNS), rc.Rate(0.3, 1.0)
JUDGED = {"fit": FIT, "rate": RATE, "kind": "upper", "margin": 0.05, "level": 0.95, "look": 2}
KNOWN = {"constants": CONE.constants, "dim": 1}
STUDY = {
    "name": "x",
    "question": "?",
    "costs": [CONE],
    "algorithms": [rc.AdaptiveBins(), rc.UniformBins()],
    "horizons": [8, 16, 32],
    "replicates": 2,
    "seed": 0,
    "noise": rc.Gaussian(),
    "alignment": "random",
    "margin": 0.05,
    "resolution": 0.25,
    "theorems": (rc.theorem2,),
    "compare": (("adaptive", "uniform"),),
    "command": "",
}
GRID = {"first": 8, "last": 64, "ratio": 1.5, "periods": 2.5, "cap": 2**10}


def values(thing, *but):
    return {f.name: getattr(thing, f.name) for f in fields(thing) if f.name not in but}


def run(algorithm):
    return rc.simulate(algorithm, CONE, [8], 1)


def plan(**given):
    return cases(Study(**STUDY | given), curves=no_curve)


CALLS = {
    "simulate": (
        rc.simulate,
        {"algorithm": rc.AdaptiveBins(), "cost": CONE, "horizons": [8], "replicates": 1, "seed": 0}
        | {"noise": rc.Gaussian(), "alignment": "random", "workers": 1},
    ),
    "fit_rate": (rc.fit_rate, {"runs": RUNS, "log_power": 0.0, "window": (8, 64), "period": None, "level": 0.95}),
    "verdict": (rc.verdict, JUDGED | {"resolution": 0.25}),
    "log_power_verdict": (rc.log_power_verdict, JUDGED),
    "tight": (rc.tight, {name: JUDGED[name] for name in ("fit", "rate", "margin", "level")}),
    "assess": (
        rc.assess,
        {"fit": FIT, "printed": RATE, "corrected": rc.Rate(0.3, 2.0), "kind": "upper", "margin": 0.05, "level": 0.95}
        | {"log_margin": 0.5, "resolution": 0.25, "look": None},
    ),
    "judge": (
        rc.judge,
        {"runs": RUNS, "rate": RATE, "kind": "upper", "margin": 0.05, "window": (8, 64), "level": 0.95}
        | {"resolution": 0.25, "look": 1},
    ),
    "holm": (rc.holm, {"verdicts": [rc.verdict(FIT, RATE)] * 2, "level": 0.95}),
    "slope_difference": (rc.slope_difference, {"first": FIT, "second": FIT}),
    "Rate": (rc.Rate, {"exponent": 0.5, "log_power": 1.0}),
    "Rate.of_regret": (rc.Rate.of_regret, {"slope": 0.5, "log_power": 1.0}),
    "Rate.regret": (RATE.regret, {"horizon": [10, 20]}),
    "Theorem": (rc.Theorem, values(rc.theorem2)),
    "Theorem.rate": (rc.theorem2.rate, KNOWN),
    "Theorem.claim": (rc.theorem2.claim, KNOWN | {"mu": 1.0, "alpha": 1.0}),
    "Theorem.claim, width": (rc.theorem1.claim, KNOWN | {"width": 0.1}),
    "Theorem.violated": (rc.theorem2.violated, KNOWN),
    "Theorem.remarks": (rc.theorem2.remarks, KNOWN),
    "Gaussian": (rc.Gaussian, {"sigma": 1.0}),
    "Uniform": (rc.Uniform, {"sigma": 1.0}),
    "Rademacher": (rc.Rademacher, {"sigma": 1.0}),
    "StudentT": (rc.StudentT, {"sigma": 1.0, "dof": 5.0}),
    "AskTell": (lambda **given: run(rc.AskTell(**given)), {"factory": RandomSearch, "anytime": False, "promise": RATE}),
    "AskTell in a study": (
        lambda **given: plan(algorithms=[rc.AskTell(RandomSearch, **given)], compare=None),
        {"promise": RATE},
    ),
    "AdaptiveBins": (lambda **given: run(rc.AdaptiveBins(**given)), {"alpha": 1.0, "mu": 1.0, "a0": 1.0}),
    "UniformBins": (lambda **given: run(rc.UniformBins(**given)), {"width": 0.5}),
    "HOO": (lambda **given: run(rc.HOO(**given)), {"nu": 1.0, "rho": 0.5, "sigma": 1.0}),
    "Study": (plan, STUDY),
    "Study, one cost": (lambda cost: plan(costs=[cost]), {"cost": ("cone", 1)}),
    "Study, one algorithm": (lambda a: plan(algorithms=[a], compare=None), {"a": rc.AdaptiveBins()}),
    "Study, one theorem": (lambda theorem: plan(theorems=[theorem]), {"theorem": ("adaptive", rc.theorem2)}),
    "Study, one comparison": (lambda pair: plan(compare=[pair]), {"pair": ("adaptive", "uniform")}),
    "Grid": (lambda **given: plan(horizons=Grid(**given)), GRID),
    "zoo.get": (zoo.get, {"name": "cone", "dim": 1, "scale": 10.0, "centre": 0.1}),
    "zoo.lookup": (lookup, {"name": "cone"}),
    "zoo.Cost": (zoo.Cost, values(CONE, "registered")),
    "zoo.Constants": (zoo.Constants, values(CONE.constants, "literal")),
    "Constants.weakened": (CONE.constants.weakened, {"alpha": 0.5}),
    "a cost": (CONE, {"x": [0.1]}),
    "Cost.many": (CONE.many, {"X": [[0.1]]}),
}
HARMLESS = {  # what may be anything, or may be one of WRONG
    *(("AskTell", "anytime"), ("Study, one cost", "cost"), ("zoo.Cost", "parameters"), ("Rate.regret", "horizon")),
    *(("AskTell", "factory"), ("AskTell", "promise"), ("a cost", "x"), ("Cost.many", "X"), ("judge", "runs")),
    *(("Theorem", "formula"), ("Theorem", "hypotheses"), ("Theorem", "unneeded"), ("zoo.Cost", "formula")),
    *(
        ("zoo.Cost", "minimisers"),
        ("zoo.Cost", "gap"),
        ("zoo.Cost", "mean"),
        ("Theorem.claim", "mu"),
        ("Theorem.claim", "alpha"),
        ("Theorem.claim, width", "width"),
    ),
}
EACH = [(call, name) for call, (_, good) in CALLS.items() for name in good]


def outcome(function, given):
    """None if the arguments are taken; a ValueError must hold one sentence."""
    try:
        function(**given)
    except ValueError as error:
        said = str(error)
    else:
        return None
    assert 0 < len(said) < 1500, given
    assert "\n" not in said, given
    return said


@pytest.mark.parametrize("call", CALLS)
def test_the_right_arguments_are_taken(call):
    function, good = CALLS[call]
    assert outcome(function, good) is None


@pytest.mark.parametrize(("call", "name"), EACH, ids=map(", ".join, EACH))
def test_wrong_arguments_are_refused_in_one_sentence(call, name):
    function, good = CALLS[call]
    for value in WRONG:
        error = outcome(function, good | {name: value})
        assert error is not None or (call, name) in HARMLESS, value
    for value in ODD:
        outcome(function, good | {name: value})


SLOW = {
    "audit": (zoo.audit, {"cost": CONE, "seed": 0}),
    "estimate": (
        zoo.estimate,
        {"f": CONE, "lower": CONE.lower, "upper": CONE.upper, "margin": 0.0, "seed": 0, "repeats": 2},
    ),
}


@pytest.mark.parametrize(("call", "name"), [(call, name) for call, (_, good) in SLOW.items() for name in good])
def test_measurements_refuse_them_before_they_begin(call, name):
    function, good = SLOW[call]
    for value in (Thing(), Thing, b"x", 1j, {"a": 1}, [Thing()], ["a", None], "a\nb", math.nan, -(10**400)):
        assert outcome(function, good | {name: value}) is not None, value
