"""Mistakes in an algorithm against the comparison with the predicted curve: which of them sixteen runs refute."""

from functools import cache

import pytest

import ratecheck as rc
from studies.benchmarks.mutants import cases, judge, main
from studies.benchmarks.mutated import BOTH, FOR_ADAPTIVE, FOR_UNIFORM, MUTANTS, simulate

RUNS = 16
HORIZONS = [2**k for k in range(10, 17)]
CASES = {(case.algorithm.kind, case.name): case for case in cases()}
CAUGHT = {
    ("adaptive", "cone 2, mu_min"): [
        "no bonus",
        "half the bonus",
        "the other one's bonus",
        "bonus without ln t",
        "stale ln t",
        "ln T for ln t",
        "bonus / n",
        "capacity 2^(alpha k)",
        "data inherited",
        "bias 2 mu",
        "bias mu a^(alpha/2)",
    ],
    ("adaptive", "quadratic 1, theorem"): ["untried cells have key 0", "one axis not halved", "another partition"],
    ("adaptive", "quadratic 2, theorem"): ["capacity 2^(3 alpha k)", "no bias"],
    ("adaptive", "ring_cone 2, mu_min"): [
        "centres",
        "one point per cell",
        "regret at the centre",
        "first queries uncounted",
    ],
    ("uniform", "cone 2"): ["no bonus", "2 width"],
    ("uniform", "quadratic 2"): [
        "half the bonus",
        "the other one's bonus",
        "bonus without ln t",
        "stale ln t",
        "bonus / n",
        "untried cells have key 0",
        "first queries uncounted",
        "width / 2",
        "uniform draws",
        "regret above the best bin",
    ],
}
# These leave the mean regret as it is, or change it by less than the comparison allows.
HARMLESS = {
    "adaptive": [
        "ties: in order",
        "last query uncounted",
        "regret with noise",
        "no noise",
        "noise added twice",
        "one random stream",
        "capacity + 1",
        "capacity - 1",
        "split when full",
        "splitting query dropped",
        "splitting query uncounted",
    ],
    "uniform": [
        "ties: in order",
        "ln T for ln t",
        "last query uncounted",
        "regret with noise",
        "no noise",
        "noise added twice",
        "one random stream",
    ],
}
# Neither: what they change depends on the cost and on the partition, and on average it is little.
OPEN = {
    "adaptive": ["a query for all children"],
    "uniform": ["one point per cell", "another partition", "lower corners"],
}


@cache
def prediction_of(place, seed):
    case = CASES[place]
    return rc.predict(case.algorithm, case.cost, HORIZONS, alignments=RUNS, seed=seed)


def outcome_of(place, mutant, seed=0):
    return judge(CASES[place], mutant, prediction_of(place, seed), HORIZONS, RUNS, seed)


def test_every_mutant_is_accounted_for():
    for kind, own in (("adaptive", FOR_ADAPTIVE), ("uniform", FOR_UNIFORM)):
        caught = {mutant for (of, _), found in CAUGHT.items() if of == kind for mutant in found}
        assert sorted([*caught, *HARMLESS[kind], *OPEN[kind], "none"]) == sorted([*BOTH, *own])


@pytest.mark.parametrize("place", CASES, ids=" ".join)
def test_without_a_mistake_it_is_the_engine(place):
    """To the last bit, so that whatever a mutant shows is the mistake's."""
    case = CASES[place]
    own = simulate(case.algorithm, case.cost, HORIZONS, 4, 1, MUTANTS[place[0]]["none"]).frame
    engine = rc.simulate(case.algorithm, case.cost, HORIZONS, 4, seed=1).frame
    names = ["replicate", "horizon", "side", "regret"]
    left, right = (frame.sort_values(names[:2])[names].to_numpy().tolist() for frame in (own, engine))
    assert left == right


@pytest.mark.parametrize(
    ("place", "mutant"), [(place, mutant) for place, found in CAUGHT.items() for mutant in found], ids=str
)
def test_mistakes_are_refuted(place, mutant):
    """By sixteen runs, and with any of four seeds that were tried."""
    assert outcome_of(place, mutant).found.name == rc.Outcome.REFUTED


@pytest.mark.parametrize("place", CASES, ids=" ".join)
def test_the_algorithms_are_not(place, any_seed):
    """False alarms: none in 210 comparisons (30 seeds, 7 cases), so fewer than 1.5 % of them (95 % limit)."""
    assert outcome_of(place, "none", any_seed).found.name != rc.Outcome.REFUTED


@pytest.mark.parametrize("mutant", [(kind, mutant) for kind, found in HARMLESS.items() for mutant in found], ids=str)
def test_harmless_changes_are_not(mutant):
    kind, name = mutant
    place = (kind, "quadratic 2, theorem" if kind == "adaptive" else "quadratic 2")
    assert outcome_of(place, name).found.name != rc.Outcome.REFUTED


def test_table(monkeypatch, capsys):
    monkeypatch.setattr("studies.benchmarks.mutants.HORIZONS", tuple(2**k for k in range(6, 11)))
    monkeypatch.setattr("studies.benchmarks.mutants.cases", lambda: cases()[:1])
    few = {"adaptive": dict(list(MUTANTS["adaptive"].items())[:3])}
    monkeypatch.setattr("studies.benchmarks.mutants.MUTANTS", few)
    assert main(["--replicates", "8"]) == 0
    lines = capsys.readouterr().out.splitlines()
    assert [line[9:35].strip() for line in lines] == ["mutant", *few["adaptive"]]
