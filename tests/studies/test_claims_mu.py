"""The bias constant: onsets, locked runs against every single query, and what the verdict on claim 23 hangs on."""

import math

import numpy as np
import pandas as pd
import pytest

import function_zoo as zoo
import ratecheck as rc
from ratecheck.algorithms.run import STAR
from ratecheck.sampling import seeding
from studies.claims.ledger import Effort, Verdict
from studies.claims.ledger.keeping import read
from studies.claims.mu import experiment as mu
from studies.claims.mu import rules, words
from studies.claims.mu import tables as measure

HORIZONS = 2.0 ** np.arange(4, 21)


def bent(onset):
    """Linear up to the onset, then like the square root of T."""
    return np.where(onset > HORIZONS, HORIZONS, np.sqrt(onset * HORIZONS))


def test_the_onset_is_where_a_curve_bends():
    for onset in (2.0**9, 2.0**12):
        assert measure.onset(HORIZONS, bent(onset), 16.0, 0.5) == pytest.approx(onset)
    assert measure.onset(HORIZONS, bent(1.0), 16.0, 0.5) == 0.0
    assert measure.onset(HORIZONS, bent(1e9), 16.0, 0.5) == math.inf


def test_powers_of_the_onset_are_those_of_mu():
    factor = np.array([8.0, 16.0, 32.0, 64.0])
    known = {"family": "cone", "dim": 1, "exponent": 3.0, "factor": factor, "mu": 5 * factor, "key": 1e9 * factor}
    onsets = pd.DataFrame(known | {"onset": factor**3, "onset_foretold": 2 * factor**2.5})
    onsets.loc[3, "onset"] = math.inf
    (found,) = words.onset_powers(onsets).itertuples()
    assert found.count == 3
    assert (found.onset_mu, found.onset_foretold_mu) == pytest.approx((3.0, 2.5))
    assert found.onset_key == pytest.approx(3.0, abs=1e-6)


def queried(algorithm, cost, horizon, replicate):
    """Whether the cell that holds x* is queried after horizon / 16, step by step from the list of all queries."""
    length, offset = seeding.alignment(algorithm, cost, horizon=horizon, replicate=replicate, seed=0)
    rng = seeding.stream(0, *seeding.names_of(algorithm, cost, horizon), replicate, "run")
    trace = np.full(horizon, -1)
    run = algorithm.start(cost, length, offset, rng, rc.Gaussian(1.0), trace=trace, horizon=horizon)
    found = False
    for t in range(horizon):
        star = run.state[STAR]
        while run.t <= t:
            run.advance(t + 1)
        found |= t >= horizon // measure.STRETCH and run.trace[t] == star
    return found, run.regret


def test_locked_runs_never_query_the_cell_of_the_minimiser_again():
    cost = zoo.get("quadratic", 2)
    algorithm = rc.AdaptiveBins(mu=0.0).settle(cost)
    seen = set()
    for replicate in range(24):
        away, _, R = measure.last_stretch(algorithm, cost, 512, 0, "random", replicate)
        back, regret = queried(algorithm, cost, 512, replicate)
        assert (away, R) == (not back, regret)
        seen.add(bool(away))
    assert seen == {True, False}


def rates(**changed):
    """Two costs, mu = 0 to 8 mu_min, all as the claim says."""
    rows = []
    for dim in (1, 2):
        for i, factor in enumerate((0.0, 1.0, 2.0, 4.0, 8.0)):
            rows.append({"family": "cone", "dim": dim, "factor": factor, "runs": 20, "onset_foretold": 0.0}
                        | {"rise": 0.5 if i else math.nan, "rise_se": 0.02, "window_first": 1e4, "window_last": 1e6}
                        | {"apart": 0.03, "drift": 0.003, "drift_se": 0.002, "drift_df": 19})  # fmt: skip
    return altered(pd.DataFrame(rows), changed)


def far(**changed):
    known = {"family": "cone", "dim": 1, "factor": [0.0, 2.0, 8.0], "last": 1e60, "promised": 0.5}
    return altered(pd.DataFrame(known | {"limit": 0.5, "limit_low": 0.48, "limit_high": 0.51}), changed)


def altered(table, changed):
    """With other values in the last row."""
    for name, value in changed.items():
        table.loc[len(table) - 1, name] = value
    return table


def judged(rates, far):
    return rules.judge({"rates": rates, "far": far}, needed=2.0).verdict


def test_the_verdict_flips_with_what_it_hangs_on():
    assert judged(rates(), far()) is Verdict.CONSISTENT
    assert judged(rates(rise=-0.5), far()) is Verdict.REFUTED
    assert judged(rates(rise=0.01), far()) is Verdict.INCONCLUSIVE
    assert judged(rates(drift=0.2), far()) is Verdict.REFUTED
    assert judged(rates(drift=-0.2), far()) is Verdict.REFUTED
    assert judged(rates(drift=0.2, onset_foretold=1e5), far()) is Verdict.INCONCLUSIVE
    assert judged(rates(drift_se=0.05), far()) is Verdict.INCONCLUSIVE
    assert judged(rates(), far(limit=0.6, limit_low=0.58, limit_high=0.62)) is Verdict.REFUTED
    assert judged(rates(), far(limit_low=0.3)) is Verdict.INCONCLUSIVE


def test_what_is_below_the_needed_mu_does_not_count():
    table = rates()
    table.loc[table["factor"] < 2, "rise"] = -1.0
    assert judged(table, far()) is Verdict.CONSISTENT


def test_a_share_of_locked_runs_that_was_foretold_otherwise_is_said(tiny):
    study, tables = tiny
    case = {"family": "quadratic", "dim": 1, "alignment": "random", "factor": 1.0}
    rows = [case | measure.counted(hits, 2500, "locked") for hits in (10, 30)]
    rule = study.judgements()["23"].rule
    assert rule(tables | {"locked": pd.DataFrame(rows[:1])}).foretold == ""
    assert "30 of 2500 (0.81 to 1.71 %) in d = 1" in rule(tables | {"locked": pd.DataFrame(rows[1:])}).foretold


def test_tails_show_a_run_that_carries_the_mean():
    found = measure.tails(np.array([1.0] * 9 + [91.0]))
    assert (found["runs"], found["mean"], found["median"], found["largest_share"]) == (10, 10.0, 1.0, 0.91)


@pytest.fixture(scope="module")
def tiny():
    study = mu.Mu(
        name="mu",
        title="mu",
        question="?",
        costs=(("cone", 1),),
        factors=(0.0, 1.0, 2.0, 4.0),
        needed=2.0,
        first=2**4,
        last={"quick": 2**12},
        runs={"quick": 4},
        onset_factors=(4.0, 8.0),
        onset_last={"quick": 2**12},
        onset_runs=2,
        bound_horizon=2**8,
        bound_runs={"quick": 6},
        short_factors=(0.0, 1.0),
        short_horizon=2**10,
        short_runs={"quick": {"random": 30, "fixed": 4}},
        far_factors=(1.0, 2.0),
        far_cells={"quick": 2**8},
        foretold_locked=1 / 250,
    )
    return study, {name: read(part().to_csv(index=False)) for name, part in study.parts(Effort("quick")).items()}


def test_from_runs_to_figures(tiny):
    study, tables = tiny
    assert len(tables["regrets"]) == 5 * 17  # Theorem 2's mu comes on top
    assert tables["far"]["theorem"].sum() == 1
    assert study.judgements()["23"].rule(tables).verdict in Verdict
    assert "## Onset" in list(study.words(tables))
    assert [picture.stem for picture in study.pictures(tables) if picture.draw().axes]


def test_a_valid_bound_and_an_invalid_one(tiny):
    """At Theorem 2's mu the bound of the cell of x* would need 60 standard deviations of noise to fail."""
    bounds = tiny[1]["bounds"].set_index("factor")
    assert bounds.loc[bounds["theorem"], "steps"].item() == 0.0
    assert bounds.loc[0.0, "some"] > 0


def test_workers_change_nothing(tiny):
    study, tables = tiny
    again = study.parts(Effort("quick", workers=2))["locked"]()
    pd.testing.assert_frame_equal(again, tables["locked"], check_dtype=False)
