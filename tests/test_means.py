"""Reading tables of runs: what is refused, and what depends on what."""

import numpy as np
import pandas as pd
import pytest

from ratecheck.fit.fit import fit_rate
from ratecheck.fit.log_means import FitError, rounded_up, within
from ratecheck.verdict.rules import Outcome, judge
from studies.calibration.scenarios import CLAIM, HORIZONS, blocks, named
from tests.synthetic import runs, table


def bad(change, message):
    return pytest.param(change, message, id=message.split()[0] + message.split()[-1])


@pytest.mark.parametrize(
    ("change", "message"),
    [
        bad(lambda t: t[t.horizon <= 2**9], "at least 3 are needed"),
        bad(lambda t: t[t.replicate < 2], "give no interval"),
        bad(lambda t: t.assign(regret=0.0), "not positive"),
        bad(lambda t: t.assign(regret=-t.regret), "has no logarithm"),
        bad(lambda t: t.assign(regret=t.regret.where(t.index != 3)), "not finite"),
        bad(lambda t: t.assign(cost=["a", *["b"] * (len(t) - 1)]), "different cost"),
        bad(lambda t: pd.concat([t, t]), "appears twice"),
        bad(lambda t: t.iloc[1:], "missing at some horizons"),
        bad(lambda t: t.iloc[:0], "is empty"),
        bad(lambda t: t.assign(regret="many"), "must be numbers"),
        bad(lambda t: t.assign(horizon=np.inf), "horizon is not finite"),
        bad(lambda t: t.assign(anytime="False"), "must be True or False"),
        bad(lambda t: t.assign(noise=["a", *["b"] * (len(t) - 1)]), "different noise"),
    ],
)
def test_bad_tables_are_refused_and_judged_inconclusive(change, message):
    t = change(runs(named("S1"), n=5))
    with pytest.raises(FitError, match=message):
        fit_rate(t)
    v = judge(t, CLAIM)
    assert v.name == Outcome.INCONCLUSIVE
    assert message in v.reason


def test_horizons_up_to_e_allow_no_logarithm():
    early = runs(named("S1"), n=5)
    early = early.assign(horizon=early.horizon / 128)
    assert fit_rate(early).slope == pytest.approx(fit_rate(runs(named("S1"), n=5)).slope)
    with pytest.raises(FitError, match="horizon 2 does not exceed e"):
        fit_rate(early, log_power=1.0)
    v = judge(early, CLAIM)
    assert v.name == Outcome.INCONCLUSIVE
    assert "does not exceed e" in v.reason
    with pytest.raises(FitError, match="is not positive"):
        fit_rate(early.assign(horizon=early.horizon - 2))


def test_a_table_of_runs_or_an_object_that_has_one():
    t = runs(named("I1"), n=6)

    class Runs:
        frame = t

    assert fit_rate(Runs()).slope == fit_rate(t).slope
    shuffled = t.sample(frac=1, random_state=1)
    assert fit_rate(shuffled).slope == fit_rate(t).slope
    assert fit_rate(t.assign(horizon=t.horizon.astype(str))).slope == fit_rate(t).slope


def test_separate_runs_from_the_same_stream_are_no_independent_points(any_seed):
    R = blocks(np.random.default_rng(any_seed), CLAIM.regret(HORIZONS), 20)
    apart, streams = table(R, anytime=False), np.repeat([f"r{i}" for i in range(20)], len(HORIZONS))
    assert fit_rate(apart.assign(stream=streams)).whole == fit_rate(table(R)).whole
    per_horizon = [f"{name} {T}" for name, T in zip(streams, apart.horizon, strict=True)]
    assert fit_rate(apart.assign(stream=per_horizon)).whole == fit_rate(apart).whole != fit_rate(table(R)).whole


def test_a_window_holds_its_ends_whatever_rounding_does_to_them():
    horizons = [8, 16, 32, 64]
    assert within(horizons, (16, 32)).tolist() == [False, True, True, False]
    assert within(horizons, (16 * (1 + 1e-12), 32 * (1 - 1e-12))).tolist() == [False, True, True, False]
    assert within(np.array([8.0, 16.0]), (8.01, np.inf)).tolist() == [False, True]


def test_rounding_up_gives_two_digits_and_never_less():
    assert [rounded_up(v) for v in (131072, 1.3e5, 0.0991, 10)] == ["1.4e+05", "1.3e+05", "0.1", "10"]
