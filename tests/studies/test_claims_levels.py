"""By level: counts against brute force, capacities against a literal run, and rules that can come out otherwise."""

import itertools
import math
from fractions import Fraction

import numpy as np
import pandas as pd
import pytest

import function_zoo as zoo
import ratecheck as rc
from ratecheck.algorithms import partition
from studies.claims.ledger import Effort, Verdict
from studies.claims.levels import rules
from studies.claims.levels import tables as measure
from studies.claims.levels.experiment import Levels
from studies.claims.levels.tables import Case

SMALL = Levels(
    "levels",
    "By level",
    "?",
    cases=(("cone", 1, 2, 1e8),),
    horizons={"quick": tuple(2**k for k in range(8, 14))},
    replicates={"quick": 6},
    alignments={"quick": 2},
    depth={1: 16},
    alphas=("1/2", "1"),
    steep=(("cone", 1, 1e9),),
    steepest={"quick": 2**10},
)


@pytest.fixture(scope="module")
def tables():
    return {name: part() for name, part in SMALL.parts(Effort("quick", 0, 1)).items()}


@pytest.mark.parametrize(("family", "dim", "mu"), [("quadratic", 2, 2), ("valley", 2, 1), ("quartic", 1, "theorem")])
def test_remaining_cells_against_all_cells(family, dim, mu):
    case, log = Case(family, dim, mu, 1e8), 8.0
    length, offset = case.alignment(1, 0)
    cost, alpha, k = case.cost, case.alpha, 4
    a = length * 2.0**-k
    corners = partition.grid(cost, length, offset)
    inner = np.array(list(itertools.product(range(2**k), repeat=dim)))
    cells = (corners[:, None] + a * inner).reshape(-1, dim)
    parents = (corners[:, None] + 2 * a * (inner // 2)).reshape(-1, dim)
    own = cost.many(cells + a / 2) - cost.minimum < 3 * case.algorithm.mu * a**alpha
    limit = 3 * 2.0 ** (-alpha * (k - 1)) * max(log, case.algorithm.mu * length**alpha)
    above = cost.many(parents + a) - cost.minimum < limit
    assert measure.remain(case, log, k, length, offset)[k] == (own | above).sum()


@pytest.mark.parametrize("alpha", ["1/4", "2/3", "1", "2"])
def test_capacities_are_those_of_the_engine_and_of_a_straight_descent(alpha):
    alpha = Fraction(alpha)
    n, k, t = 0, 0, 0
    earliest = {}
    while k < 4:  # always the same cell, and the child that holds the query
        t += 1
        n += 1
        if n > math.ceil(2.0 ** (2 * float(alpha) * k)):
            n, k = 1, k + 1
            earliest[k] = t
    table = measure.capacities(alpha)
    assert dict(zip(table["level"], table["t"], strict=True)) | earliest == dict(
        zip(table["level"], table["t"], strict=True)
    )
    assert table["corrected_holds"].all()
    assert table["printed_holds"].all() == (alpha <= Fraction(1, 2))


def test_levels_of_runs_add_up(tables):
    part = tables["profiles"]
    assert (part["made"] <= part["possible"]).all()
    total = part.groupby("horizon")[["regret", "pulls"]].sum()
    assert np.allclose(total["pulls"], total.index)
    algorithm = Case("cone", 1, 2, 1e8).algorithm
    runs = rc.simulate(algorithm, zoo.get("cone", 1), SMALL.horizons["quick"], 6, workers=1)
    assert np.allclose(total["regret"], runs.frame.groupby("horizon")["regret"].mean())


def test_counts_that_grow_faster_refute(tables):
    assert rules.cells_remain(tables).verdict is Verdict.CONSISTENT
    more = tables["remaining"].assign(count=lambda t: t["count"] * 2.0 ** (0.2 * t["level"]))
    assert rules.cells_remain({"remaining": more}).verdict is Verdict.REFUTED
    logs = tables["remaining"].assign(count=lambda t: t["count"] * t["log_T"])
    assert rules.cells_remain({"remaining": logs}).verdict is Verdict.REFUTED


def growing(runs, predicted, se=0.01):
    rows = [("T", runs), ("predicted", predicted), ("k", math.nan)]
    shared = {"case": "cone", "D": 2.0, "df": 20, "se": se}
    return pd.DataFrame([shared | {"along": along, "slope": slope} for along, slope in rows])


def far(slope, in_k=0.0):
    T = 4.0 ** np.arange(6, 40)
    columns = {"horizon": T, "largest": T**slope, "log2_by_D": np.log2(T) / 2, "peak": np.log2(T) / 2 - 1}
    return pd.DataFrame(columns).assign(case="cone", D=2.0, period=4.0, slope_in_k=in_k, levels=9)


@pytest.mark.parametrize(
    ("growth", "beyond", "verdict"),
    [
        (growing(0.0, 0.0), far(-0.01), "CONSISTENT"),
        (growing(0.3, 0.0), far(-0.01), "CONSISTENT"),  # as the short range has it, by the predicted profile too
        (growing(0.3, 0.2), far(-0.01), "REFUTED"),
        (growing(0.0, 0.0), far(0.1), "REFUTED"),
        (growing(0.0, 0.0), far(0.0, in_k=0.2), "REFUTED"),
        (growing(0.0, 0.0, se=0.1), far(0.0), "INCONCLUSIVE"),
        (growing(math.nan, math.nan), far(0.0), "INCONCLUSIVE"),
    ],
)
def test_regret_by_level_is_judged_by_its_growth(growth, beyond, verdict):
    assert rules.regret_by_level({"growth": growth, "far": beyond}).verdict == verdict


def test_the_printed_depth_falls_by_an_explicit_t(tables):
    found = rules.printed_depth(tables)
    assert found.verdict is Verdict.REFUTED
    assert "at t = 2 a run on" in found.evidence
    assert rules.corrected_depth(tables).verdict is Verdict.CONFIRMED
    held = {name: tables[name].assign(printed_holds=True) for name in ("capacity", "reached")}
    assert rules.printed_depth(held).verdict is Verdict.CONFIRMED
    reached = tables["reached"].copy()
    reached.loc[3, "corrected_holds"] = False
    assert rules.corrected_depth(tables | {"reached": reached}).verdict is Verdict.REFUTED


def test_words_and_pictures(tables):
    assert "cone d = 1, 2 μ_min" in "\n".join(SMALL.words(tables))
    for picture in SMALL.pictures(tables):
        assert picture.draw().axes
