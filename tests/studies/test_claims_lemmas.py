"""Claims on Lemmas 1 to 5: numbers against closed forms and the transcribed algorithm, rules on altered tables."""

import math
from dataclasses import replace

import numpy as np
import pandas as pd
import pytest

import function_zoo as zoo
import ratecheck as rc
from function_zoo.measure import Target, cube_means
from ratecheck.study.declared import declaration
from studies.claims.ledger import Effort
from studies.claims.lemmas import rules as rules
from studies.claims.lemmas import tables as measure


@pytest.fixture(scope="module")
def tables():
    study = declaration("claims/lemmas")
    small = replace(
        study,
        dims={"quick": (1,)},
        points={"quick": 2000},
        validity=[s for s in study.validity if s[2] < 1],
        validity_runs={"quick": 300},
        times={"quick": (4, 16, 64, 128, 256)},
        bad_cells=[s for s in study.bad_cells if s[0] == "cone" and s[1] == 1],
        horizons={"quick": (2**8, 2**9)},
        bad_runs={"quick": 40},
        deepest={"quick": (4, 2, 1)},
    )
    return {name: part() for name, part in small.parts(Effort("quick")).items()}


def altered(tables, name, **columns):
    return tables | {name: tables[name].assign(**columns)}


def test_the_square_breaks_the_printed_constant_with_one_m(tables):
    row = tables["powers"].query("exact").iloc[0]
    assert row.M_a <= row.M_b
    assert (row.M_b, row.printed, row.ratio) == pytest.approx((1 / 12, 0.75, 1))
    assert rules.printed_constant(tables).verdict == "REFUTED"
    assert rules.printed_constant(altered(tables, "powers", above_printed=False)).verdict == "CONSISTENT"
    assert not measure.power_table([2], half=1)["above_printed"].any()  # there M is M_a


def test_suprema_of_the_search_against_closed_forms():
    # |t|_2² / |t|_∞² is d at most, on a diagonal; the quartic is steepest in the far corner
    assert measure.steepest(zoo.get("quadratic", dim=2), 4000, 0) == pytest.approx(20, rel=0.01)
    quartic = zoo.get("quartic", dim=1)
    assert measure.steepest(quartic, 4000, 0) == pytest.approx(10 * (1 + abs(quartic.minimisers[0, 0])) ** 2)


def test_a_cost_above_the_corrected_constant_refutes_it(tables):
    assert rules.corrected_constant(tables).verdict == "CONSISTENT"
    assert (
        rules.corrected_constant(altered(tables, "growth", ratio=lambda t: 1.01 * t["corrected"])).verdict == "REFUTED"
    )


def test_star_bound_counts_what_the_diagnostics_count(any_seed):
    cost = zoo.get("quadratic", dim=1)
    algorithm = rc.AdaptiveBins(mu=0.0).settle(cost)
    run = algorithm.start(
        cost, algorithm.a0, [0.3], np.random.default_rng(any_seed), rc.Gaussian(1.0), diagnostics=True
    )
    invalid = 0
    for t in range(1, 200):
        run.advance(t)
        invalid += measure.star_bound(run) > cost.minimum
        assert invalid == run.exceeded


def test_the_bound_of_lemma_2_is_the_sum_of_its_proof():
    t, alpha, M = 64, 2.0, 0.2
    one = math.exp(-(math.log(t) ** 2) / (M**2 + 2))
    levels = range(math.floor(math.log2(t) / (2 * alpha)) + 1 + 1)  # from 0, and one more than printed
    assert measure.bound_of(t, alpha, M) == pytest.approx(sum(t * one for _ in levels))
    assert measure.bound_of(4, alpha, 20.0) == 1


def test_lemma_2_is_refuted_by_frequencies_above_its_bound(tables):
    # under the null nothing is seen where the bound is below 1: P(invalid) < 1e-4 per run at t = 64, far less beyond
    assert rules.lower_bound_holds(tables).verdict == "CONSISTENT"
    often = altered(tables, "validity", invalid=lambda t: t["runs"] // 10)
    assert rules.lower_bound_holds(often).verdict == "REFUTED"
    blind = altered(tables, "validity", invalid=0)
    assert rules.lower_bound_holds(blind).verdict == "INCONCLUSIVE"
    vacuous = altered(tables, "validity", bound=1.0)
    assert rules.lower_bound_holds(vacuous).verdict == "INCONCLUSIVE"


def test_queries_of_all_cells_that_were_made_add_up(monkeypatch):
    monkeypatch.setattr(measure, "SHARES", (0.0,))  # with mu = 0 every cell has such a gap
    cost = zoo.get("cone", dim=1)
    algorithm = rc.AdaptiveBins(mu=0.0, a0=0.5).settle(cost)
    (run,) = measure._runs(algorithm, cost, 1, 1.0, 0)
    run.advance(500)
    below = sum(queries.sum() for _, _, _, queries in measure._bad_queries(run, algorithm, 500))
    left = run.level[: run.cells] == 0
    assert below + run.n[: run.cells][left].sum() + (run.roots - left.sum()) == 500  # a split root held one query


def cells_with(hits, runs=2000):
    rows = [
        {"cost": "cone", "dim": 1, "cells": 8, "which": which, "T": 4096, "k": k, "share": share, "runs": runs}
        | {"possible": True, "t_k": (4**k - 1) // 3, "weighted": 0.0}
        | {"hit": hit if share == 3 else runs, "queries": float(hit if share == 3 else 9 * runs)}
        for which in ("theorem", "minimum")
        for share in (0.5, 3.0)
        for k, hit in enumerate(hits, 1)
    ]
    return {"cells": pd.DataFrame(rows)}


@pytest.mark.parametrize(
    ("hits", "verdict"),
    [
        ((0, 0, 0, 0), "CONSISTENT"),
        ((5, 0, 0, 0), "CONSISTENT"),
        ((400, 0, 0, 0), "INCONCLUSIVE"),  # it decays, and has not died out
        ((5, 5, 100, 300), "REFUTED"),
        ((0, 0, 0, 100), "REFUTED"),
        ((300, 300, 300, 300), "REFUTED"),
    ],
)
def test_queries_in_bad_cells_must_decay(hits, verdict):
    assert rules.bad_cells_die_out(cells_with(hits)).verdict == verdict


def test_bad_cells_of_a_small_study(tables):
    found = tables["cells"].query("which == 'theorem'")
    assert found.query("share == 0.5")["queries"].sum() > 0
    more = found.pivot_table(index=["T", "k"], columns="share", values="queries").fillna(0.0)
    assert np.all(np.diff(more.to_numpy(), axis=1) <= 0)  # larger gaps, fewer queries
    assert rules.bad_cells_die_out({"cells": found.assign(possible=False)}).verdict == "INCONCLUSIVE"


@pytest.mark.parametrize(("name", "dim"), [("quadratic", 2), ("mixed_powers", 2), ("cusp", 1), ("weierstrass", 1)])
def test_closed_means_against_quadrature(name, dim):
    cost = zoo.get(name, dim=dim)
    corner = np.random.default_rng(0).uniform(-1, 0.5, (20, dim))
    found = measure.closed_means(cost, corner, 0.4)
    expected = cube_means(Target.of(cost), corner + 0.2, 0.4, fine=True) - cost.minimum
    assert found == pytest.approx(expected, rel=2e-3)


def test_means_without_a_closed_form_are_refused():
    with pytest.raises(ValueError, match="no closed form"):
        measure.closed_means(zoo.get("cone", dim=2), np.zeros((1, 2)), 0.1)


def test_a_mean_above_the_bound_refutes_lemma_5(tables):
    assert rules.good_cells_are_cheap(tables).verdict == "CONFIRMED"
    assert tables["means"]["printed_step"].max() > 1  # a0 for a0^α
    dear = altered(tables, "means", ratio=lambda t: 3 * t["ratio"])
    assert rules.good_cells_are_cheap(dear).verdict == "REFUTED"
