"""Fits against theory, against statsmodels and against brute force; verdicts against the truth."""

import math
import re
from dataclasses import replace

import numpy as np
import pandas as pd
import pytest
from scipy import stats
from statsmodels.regression.linear_model import OLS

from ratecheck import calibration
from ratecheck.bootstrap import studentised
from ratecheck.calibration import CLAIM, HORIZONS, SCENARIOS, Scenario, blocks, intervals, separate, waves
from ratecheck.fit import Fit, fit_rate, slope_difference
from ratecheck.means import FitError, LogMeans, log_means
from ratecheck.rates import Rate
from ratecheck.verdicts import (
    Assessment,
    Name,
    Verdict,
    _ahead,
    assess,
    holm,
    judge,
    log_power_verdict,
    resolution,
    tight,
    verdict,
)

BY_NAME = {s.name: s for s in SCENARIOS}


def table(R, horizons=HORIZONS, anytime=True, **columns):
    n, count = R.shape
    return pd.DataFrame(
        {
            "replicate": np.repeat(np.arange(n), count),
            "horizon": np.tile(horizons, n),
            "regret": R.ravel(),
            "anytime": anytime,
            **columns,
        }
    )


def runs(scenario, rate=CLAIM, n=40, seed=0):
    R = scenario.scatter(np.random.default_rng(seed), scenario.mean(rate), n)
    return table(R, anytime=scenario.anytime)


def exact(rate, anytime=True, n=5, factor=1.0):
    """Runs without noise, apart from a factor per run: every log-mean lies on the rate."""
    effect = np.linspace(0.5, 1.5, n)[:, None] if anytime else np.ones((n, 1))
    return table(effect * rate.regret(HORIZONS) * factor, anytime=anytime)


# Fits


@pytest.mark.parametrize("power", [0.0, 1.0, 2.5])
def test_exact_rates_are_recovered(power):
    fit = fit_rate(exact(Rate(0.4, power)), log_power=power)
    assert fit.slope == pytest.approx(0.6, abs=1e-12)
    assert fit.last_half.value == pytest.approx(0.6, abs=1e-12)
    assert fit.log_power_at(0.6).value == pytest.approx(power, abs=1e-10)
    assert fit.joint()[0] == pytest.approx([0.6, power], abs=1e-9)
    assert fit.curvature().value == pytest.approx(0, abs=1e-12)
    assert all(e.value == pytest.approx(0.6, abs=1e-12) for _, e in fit.local_slopes())
    assert all(e.value == pytest.approx(0, abs=1e-10) for _, e in fit.held_out())


@pytest.mark.parametrize("name", ["S1", "I1"])
def test_slope_against_statsmodels(name, any_seed):
    t = runs(BY_NAME[name], seed=any_seed)
    fit = fit_rate(t, log_power=1.0)
    means = t.groupby("horizon")["regret"].mean()
    x = np.log(means.index.to_numpy())
    y = np.log(means.to_numpy()) - np.log(x)
    assert fit.slope == pytest.approx(OLS(y, np.column_stack([np.ones_like(x), x])).fit().params[1], rel=1e-10)


def literal_jackknife(t, statistic):
    """A statistic of the table's log-means, leaving out one run after the other; runs per horizon if they are apart."""

    def of(part):
        means = part.groupby("horizon")["regret"].mean()
        return statistic(np.log(means.index.to_numpy()), np.log(means.to_numpy()))

    variance = 0.0
    for horizons in [HORIZONS] if t.anytime.iloc[0] else HORIZONS[:, None]:
        n = t.replicate.nunique()
        left = [of(t[~t.horizon.isin(horizons) | (t.replicate != i)]) for i in range(n)]
        variance += (n - 1) / n * np.sum((left - np.mean(left)) ** 2)
    return of(t), math.sqrt(variance)


def line(x, y, at=None):
    """A least-squares line with the harmonics that four horizons per period of 16 show."""
    phase = 2 * np.pi * x / np.log(16)
    design = np.column_stack([np.ones_like(x), x, np.cos(phase), np.sin(phase), (-1.0) ** np.arange(len(x))])
    keep = slice(None) if at is None else slice(0, at)
    coefficients = np.linalg.lstsq(design[keep], y[keep])[0]
    return coefficients[1] if at is None else design @ coefficients


LITERAL = {
    "slope": (lambda f: f.whole, lambda x, y: np.polyfit(x, y - np.log(x), 1)[0]),
    "last half": (lambda f: f.last_half, lambda x, y: np.polyfit(x[6:], (y - np.log(x))[6:], 1)[0]),
    "local slope": (lambda f: f.local_slopes()[4][1], lambda x, y: np.diff(y - np.log(x))[4] / np.log(2)),
    "held out": (
        lambda f: f.held_out()[1][1],
        lambda x, y: (y - np.log(x))[11] - np.polyval(np.polyfit(x[:10], (y - np.log(x))[:10], 1), x[11]),
    ),
    "log power": (lambda f: f.log_power_at(0.5), lambda x, y: np.polyfit(np.log(x), y - 0.5 * x, 1)[0]),
    "curvature": (lambda f: f.curvature(), lambda x, y: np.polyfit(x, y - np.log(x), 2)[0]),
    "onset": (
        lambda f: dict(f.sensitivity(2**12))["from the onset 4.1e+03"],
        lambda x, y: np.polyfit(x[4:], (y - np.log(x))[4:], 1)[0],
    ),
    "shift": (
        lambda f: dict(f.sensitivity(shift=7))["ln(ln T + 7) for ln ln T"],
        lambda x, y: np.polyfit(x, y - np.log(x + 7), 1)[0],
    ),
}
WAVY = {
    "slope": (lambda f: f.whole, lambda x, y: line(x, y - np.log(x))),
    "lag": (lambda f: f.lag_slope(), lambda x, y: np.mean((y - np.log(x))[4:] - (y - np.log(x))[:-4]) / np.log(16)),
    "held out": (
        lambda f: f.held_out()[0][1],
        lambda x, y: (y - np.log(x))[10] - line(x, y - np.log(x), at=10)[10],
    ),
}


@pytest.mark.parametrize("name", ["S1", "S4", "I2"])
@pytest.mark.parametrize(("what", "period"), [(w, None) for w in LITERAL] + [(w, 16.0) for w in WAVY])
def test_intervals_against_a_literal_jackknife(name, what, period, any_seed):
    t = runs(BY_NAME[name], n=12, seed=any_seed)
    ours, literal = (WAVY if period else LITERAL)[what]
    estimate = ours(fit_rate(t, log_power=1.0, period=period))
    value, se = literal_jackknife(t, literal)
    assert (estimate.value, estimate.se) == pytest.approx((value, se), rel=1e-8, abs=1e-12)
    reach = stats.t.ppf(0.975, 11) * se
    assert (estimate.low, estimate.high) == pytest.approx((value - reach, value + reach), rel=1e-8, abs=1e-12)


def test_joint_region_holds_the_truth_as_often_as_it_says(any_seed):
    # With four runs and small Gaussian noise Hotelling's T-square is exact, and any other radius is far off.
    repeats, rng, mean = 4000, np.random.default_rng(any_seed), CLAIM.regret(HORIZONS)
    hits = 0
    for _ in range(repeats):
        R = mean * (1 + 0.001 * rng.standard_normal((4, len(mean))))
        fit = Fit(LogMeans.of(HORIZONS, tuple(R.T), True))
        hits += fit.joint_region_holds(CLAIM.slope, CLAIM.log_power)
    assert stats.binomtest(hits, repeats, 0.95).pvalue > 1e-6
    assert fit.joint()[2] == pytest.approx(2 * 3 / 2 * stats.f.ppf(0.95, 2, 2))


@pytest.mark.parametrize("period", [None, 16.0])
def test_chi_square_of_independent_equal_errors_is_the_textbooks(period, any_seed):
    y = CLAIM.slope * np.log(HORIZONS) + 0.1 * np.random.default_rng(any_seed).standard_normal(len(HORIZONS))
    data = replace(log_means(exact(CLAIM)), y=y, covariance=0.01 * np.eye(len(y)))
    fit = Fit(data, period=period)
    design = np.column_stack([np.ones(len(y)), np.log(HORIZONS), fit.harmonics])
    residuals = OLS(y, design).fit()
    observed, expected, p = fit.chi_square()
    assert (observed, expected) == pytest.approx((residuals.ssr / 0.01, residuals.df_resid))
    assert p == pytest.approx(stats.chi2.sf(residuals.ssr / 0.01, residuals.df_resid))


def test_chi_square_of_correlated_errors_against_simulation(any_seed):
    rng = np.random.default_rng(any_seed)
    fit = fit_rate(BY_NAME["S1"].data(rng, CLAIM, 200), 1.0)
    noise = rng.multivariate_normal(np.zeros(len(HORIZONS)), fit.data.covariance, 20_000)
    design = np.column_stack([np.ones(len(HORIZONS)), fit.x])
    residuals = noise - noise @ (design @ np.linalg.pinv(design)).T
    simulated = (residuals**2 / np.diag(fit.data.covariance)).sum(axis=1)
    at_five_per_cent = noise[np.argsort(simulated)[-1000]]
    observed, expected, p = replace(fit, data=replace(fit.data, y=at_five_per_cent), log_power=0.0).chi_square()
    assert observed == pytest.approx(np.sort(simulated)[-1000])
    assert expected == pytest.approx(simulated.mean(), rel=0.05)
    assert p == pytest.approx(0.05, abs=0.02)  # two moments do not make a distribution; the simulation adds 0.008


@pytest.mark.parametrize("name", ["S1", "I1"])
def test_bootstrap_agrees_with_the_jackknife_on_easy_data(name, any_seed):
    fit = fit_rate(runs(BY_NAME[name], n=200, seed=any_seed), log_power=1.0)
    low, high = fit.bootstrap(2000)
    width = fit.high - fit.low
    # the two intervals estimate the same thing; a tenth of the width is five Monte Carlo errors of the quantiles
    assert low == pytest.approx(fit.low, abs=0.15 * width)
    assert high == pytest.approx(fit.high, abs=0.15 * width)


def test_bootstrap_of_constant_runs_is_a_point():
    data = log_means(exact(CLAIM, anytime=False))
    weights = np.zeros(len(HORIZONS))
    assert studentised(data, weights, 0.5, 0.95, 50, 0) == (0.5, 0.5)


def test_harmonics_remove_log_periodicity(any_seed):
    wavy = Scenario("wavy", "", blocks, shape=waves, period=16.0)
    rng = np.random.default_rng(any_seed)
    data = wavy.data(rng, CLAIM, 200)
    with_them = fit_rate(data, 1.0, period=16.0)
    truth = LogMeans.of(HORIZONS, tuple(np.tile(wavy.mean(CLAIM), (3, 1)).T), True)
    plain, corrected = fit_rate(truth, 1.0), fit_rate(truth, 1.0, period=16.0)
    # without noise: a sine of amplitude 0.25 biases plain least squares, the harmonics leave its overtones only
    assert abs(corrected.slope - 0.5) < 0.003 < abs(plain.slope - 0.5)
    assert with_them.harmonics.shape[1] == 3  # four horizons per period show one harmonic and what alternates
    names = [name for name, _ in with_them.sensitivity(onset=1000, shift=5.0)]
    assert {"without harmonics", "lag of one period", "whole periods", "with a 1/ln T term"} <= set(names)
    assert with_them.lag_slope().value == pytest.approx(with_them.slope, abs=0.05)


def test_a_window_of_less_than_two_periods_is_inconclusive_and_says_what_would_do():
    fit = fit_rate(exact(CLAIM), 1.0, window=(2**10, 2**15), period=16.0)
    assert "T_max = 1.4e+05 would do" in fit.problem
    v = verdict(fit, CLAIM)
    assert v.name == "INCONCLUSIVE"
    assert "T_max" in v.reason
    assert "3.0 horizons per period of 8 cannot show it; 4 would do" in fit_rate(exact(CLAIM), 1.0, period=8.0).problem
    assert fit_rate(exact(CLAIM), 1.0, window=(2**10, 2**17), period=16.0).problem == ""


def test_slope_difference_uses_common_streams(any_seed):
    rng = np.random.default_rng(any_seed)
    shared = blocks(rng, CLAIM.regret(HORIZONS), 100)
    other = shared * np.exp(0.01 * rng.standard_normal(shared.shape)) * (HORIZONS / HORIZONS[0]) ** 0.1
    names = np.repeat([f"r{i}" for i in range(100)], len(HORIZONS))
    first, second = table(other), table(shared)
    apart = slope_difference(fit_rate(first), fit_rate(second))
    together = slope_difference(fit_rate(first.assign(stream=names)), fit_rate(second.assign(stream=names)))
    assert apart.value == together.value == pytest.approx(0.1, abs=0.01)
    assert together.se < 0.3 * apart.se
    left = np.array(
        [
            slope_difference(fit_rate(first[first.replicate != i]), fit_rate(second[second.replicate != i])).value
            for i in range(100)
        ]
    )
    assert together.se == pytest.approx(math.sqrt(99 / 100 * np.sum((left - left.mean()) ** 2)), rel=1e-6)


def test_separate_runs_from_the_same_stream_are_no_independent_points(any_seed):
    R = blocks(np.random.default_rng(any_seed), CLAIM.regret(HORIZONS), 20)
    apart, streams = table(R, anytime=False), np.repeat([f"r{i}" for i in range(20)], len(HORIZONS))
    assert fit_rate(apart.assign(stream=streams)).whole == fit_rate(table(R)).whole
    per_horizon = [f"{name} {T}" for name, T in zip(streams, apart.horizon, strict=True)]
    assert fit_rate(apart.assign(stream=per_horizon)).whole == fit_rate(apart).whole != fit_rate(table(R)).whole


def test_slope_difference_of_runs_that_are_partly_common(any_seed):
    # Ten runs and twelve, five of them the same: Var(a - b) = Var a + Var b - 2 (5 / (10 12)) Cov of two runs.
    R = 1 + 1e-4 * np.random.default_rng(any_seed).standard_normal((17, len(HORIZONS)))  # small: linear in the means
    whole = table(R).assign(stream=np.repeat([f"r{i}" for i in range(17)], len(HORIZONS)))
    ours = slope_difference(fit_rate(whole[whole.replicate < 10]), fit_rate(whole[whole.replicate >= 5]))
    slopes = R @ np.linalg.pinv(np.column_stack([np.ones(len(HORIZONS)), np.log(HORIZONS)]))[1]
    variance = slopes[:10].var(ddof=1) / 10 + slopes[5:].var(ddof=1) / 12 - 2 * 5 / 120 * slopes[5:10].var(ddof=1)
    assert ours.se == pytest.approx(math.sqrt(variance), rel=1e-3)


def test_one_fit_with_bootstrap_takes_no_loop_over_resamples():
    # The promise is 0.3 s; the time is taken in a benchmark.  Here: the number of Python calls does not grow.
    data = BY_NAME["S1"].data(np.random.default_rng(0), CLAIM, 50)
    fit = fit_rate(data, 1.0)
    fit.bootstrap(10)

    def calls(size):
        import sys

        count = 0

        def profile(frame, event, argument):
            nonlocal count
            count += event == "call"

        sys.setprofile(profile)
        try:
            fit.bootstrap(size)
        finally:
            sys.setprofile(None)
        return count

    assert calls(2000) <= calls(20) + 5


def test_resolution_limit_against_the_notes():
    # what one ln T is worth over 2^7...2^16 and 2^10...2^20
    assert resolution(2.0 ** np.arange(7, 17)) == pytest.approx(0.130, abs=5e-4)
    assert resolution(2.0 ** np.arange(10, 21)) == pytest.approx(0.099, abs=5e-4)


# Bad tables


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
        bad(lambda t: t.assign(horizon=t.horizon / 128), "does not exceed e"),
        bad(lambda t: t.assign(family=["a", *["b"] * (len(t) - 1)]), "different family"),
        bad(lambda t: pd.concat([t, t]), "appears twice"),
        bad(lambda t: t.iloc[1:], "missing at some horizons"),
        bad(lambda t: t.drop(columns="anytime"), "no column 'anytime'"),
        bad(lambda t: t.iloc[:0], "is empty"),
        bad(lambda t: t.assign(regret="many"), "must be numbers"),
        bad(lambda t: t.assign(horizon=np.inf), "horizon is not finite"),
        bad(lambda t: t.assign(anytime="False"), "must be True or False"),
        bad(lambda t: t.assign(noise=["a", *["b"] * (len(t) - 1)]), "different noise"),
    ],
)
def test_bad_tables_are_refused_and_judged_inconclusive(change, message):
    t = change(runs(BY_NAME["S1"], n=5))
    with pytest.raises(FitError, match=message):
        fit_rate(t)
    v = judge(t, CLAIM)
    assert v.name == Name.INCONCLUSIVE
    assert message in v.reason


def test_bad_arguments():
    t = runs(BY_NAME["S1"], n=5)
    with pytest.raises(FitError, match="holds 2 horizons"):
        fit_rate(t, window=(2**8, 2**9))
    with pytest.raises(FitError, match="above 1"):
        fit_rate(t, period=1.0)
    with pytest.raises(FitError, match="above 1"):
        fit_rate(t, period="16")
    with pytest.raises(FitError, match="level = 2"):
        fit_rate(t, level=2)
    with pytest.raises(ValueError, match="must be a Rate"):
        verdict(fit_rate(t), 0.5)
    with pytest.raises(ValueError, match="must not be negative"):
        verdict(fit_rate(t), CLAIM, margin=-1)
    with pytest.raises(ValueError, match="'upper' or 'lower'"):
        verdict(fit_rate(t), CLAIM, kind="exact")


def test_a_table_of_runs_or_an_object_that_has_one():
    t = runs(BY_NAME["I1"], n=6)

    class Runs:
        frame = t

    assert fit_rate(Runs()).slope == fit_rate(t).slope
    shuffled = t.sample(frac=1, random_state=1)
    assert fit_rate(shuffled).slope == fit_rate(t).slope
    assert fit_rate(t.assign(horizon=t.horizon.astype(str))).slope == fit_rate(t).slope


# Verdicts


@pytest.mark.parametrize("kind", ["upper", "lower"])
def test_verdicts_on_noiseless_rates(kind):
    worse = -1 if kind == "upper" else 1  # of the true exponent
    claim = Rate(0.4, 1.0)
    for off, name in ((0.0, Name.CONSISTENT), (0.2, Name.REFUTED), (-0.2, Name.CONSISTENT)):
        v = verdict(fit_rate(exact(Rate(0.4 + worse * off, 1.0))), claim, kind)
        assert v.name == name, str(v)
        assert v.excess.value == pytest.approx(off, abs=1e-9)
        assert f"{claim.slope:.3f}" in v.reason


def test_exponent_consistent_and_printed_log_power_refuted():
    # What Theorem 1 at beta = 1 should give: T^0.5 (ln T)^2 where (ln T)^1 is printed.
    noise = runs(BY_NAME["S1"], Rate(0.5, 2.0), n=200)
    fit = fit_rate(noise)
    assert log_power_verdict(fit, Rate(0.5, 1.0)).name == Name.REFUTED
    assert log_power_verdict(fit, Rate(0.5, 2.0)).name == Name.CONSISTENT
    assert verdict(fit, Rate(0.5, 2.0)).name == Name.CONSISTENT
    assert "log power" in log_power_verdict(fit, Rate(0.5, 1.0)).reason
    assessed = assess(fit, Rate(0.5, 1.0), Rate(0.5, 2.0))
    assert assessed.name == Name.REFUTED
    assert str(assessed).startswith(
        "exponent CONSISTENT, printed log power REFUTED, corrected log power CONSISTENT: exponent: slope 0.5"
    )


def test_an_assessment_judges_the_printed_claim():
    fit = fit_rate(exact(CLAIM))
    right, steep = assess(fit, CLAIM), assess(fit, Rate(0.7, 1.0))
    assert (right.name, steep.name) == (Name.CONSISTENT, Name.REFUTED)
    assert right.corrected_log_power is None
    assert "corrected" not in str(right)
    # A correction that changes nothing is none, a sharper one may fail where the printed power holds.
    assert assess(fit, CLAIM, CLAIM) == right
    sharper = assess(fit, Rate(0.5, 2.0), Rate(0.5, 0.0))
    assert (sharper.log_power.name, sharper.corrected_log_power.name) == (Name.CONSISTENT, Name.REFUTED)
    short = assess(fit_rate(exact(CLAIM), window=(2**10, 2**15), period=16.0), CLAIM)
    assert short.name == Name.INCONCLUSIVE
    assert "T_max" in str(short)
    doubtful = Assessment(right.exponent, Verdict(Name.INCONCLUSIVE, "too few runs"))
    assert doubtful.name == Name.INCONCLUSIVE
    with pytest.raises(ValueError, match="must keep the exponent"):
        assess(fit, CLAIM, Rate(0.4, 2.0))


def test_tight_is_two_sided():
    assert tight(fit_rate(exact(CLAIM)), CLAIM).name == Name.CONSISTENT
    for off in (-0.2, 0.2):
        assert tight(fit_rate(exact(Rate(0.5 + off, 1.0))), CLAIM).name == Name.REFUTED
    assert verdict(fit_rate(exact(Rate(0.7, 1.0))), CLAIM).name == Name.CONSISTENT
    noisy = runs(Scenario("I", "", separate(2.0), anytime=False), n=5)
    assert tight(fit_rate(noisy), CLAIM).name == Name.INCONCLUSIVE


def test_inconclusive_names_a_number_of_runs_that_settles_it(any_seed):
    settled = asked = 0
    for seed in range(40):
        v = verdict(fit_rate(runs(BY_NAME["I2"], n=30, seed=1000 * any_seed + seed)), CLAIM)
        if v.name == Name.INCONCLUSIVE and "N = " in v.reason:
            needed = int(v.reason.split("N = ")[1].split(" ")[0])
            if needed > 3000:
                continue
            asked += 1
            again = verdict(fit_rate(runs(BY_NAME["I2"], n=needed, seed=10**6 + 1000 * any_seed + seed)), CLAIM)
            settled += again.name == Name.CONSISTENT
    assert asked >= 10
    # The excess that the advice starts from is itself an estimate; half of the advice must work at the least.
    assert stats.binomtest(settled, asked, 0.5, "less").pvalue > 1e-6


@pytest.mark.parametrize("name", ["S1", "S4b", "S7", "S10", "I2"])
@pytest.mark.parametrize("n", [4, 15, 60])
def test_every_inconclusive_verdict_says_what_would_settle_it(name, n, any_seed):
    rng = np.random.default_rng(any_seed)
    for _ in range(10):
        fit = BY_NAME[name].fit(rng, Rate(0.43, 1.5), n)
        assessed = assess(fit, CLAIM, Rate(0.5, 2.0))
        verdicts = [assessed.exponent, assessed.log_power, assessed.corrected_log_power, tight(fit, CLAIM)]
        verdicts += [verdict(fit, CLAIM, "lower"), log_power_verdict(fit, CLAIM, "lower")]
        for v in verdicts + holm(verdicts):
            if v.name == Name.INCONCLUSIVE:
                assert re.search(r"N = \d+ runs would do|T_max = [\d.e+]+ would (show|tell) more", v.reason), v.reason


@pytest.mark.parametrize("end", calibration.STARTS)
def test_a_linear_start_is_not_refuted(end):
    scenario = Scenario("start", "", blocks, shape=calibration.linear_start(2.0**end))
    data = LogMeans.of(HORIZONS, tuple((scenario.mean(CLAIM) * np.linspace(0.99, 1.01, 50)[:, None]).T), True)
    assert verdict(fit_rate(data), CLAIM).name != Name.REFUTED
    assert log_power_verdict(fit_rate(data), CLAIM).name != Name.REFUTED


def test_a_claim_far_off_is_refuted_although_the_slope_drifts():
    # T^0.5 (ln T)^3 without noise: its slope falls for ever, but not to 0.25.
    data = exact(Rate(0.5, 3.0))
    assert verdict(fit_rate(data), Rate(0.75, 1.0)).name == Name.REFUTED
    assert verdict(fit_rate(data), Rate(0.5, 3.0)).name == Name.CONSISTENT


def test_where_a_fall_is_heading():
    assert _ahead(0.1 + 0.3 * 0.5 ** np.arange(3)) == pytest.approx(0.1)  # a geometric series: its limit
    assert _ahead([0.5, 0.4, 0.2]) == pytest.approx(0.2 - 2.75 * 0.2)  # faster and faster: a straight line at best
    assert _ahead([0.3, 0.1, 0.2]) == 0.2


def test_late_pieces_of_exact_rates():
    fit = fit_rate(exact(Rate(0.4, 2.0)), log_power=2.0)
    assert fit.late_slopes() == pytest.approx(np.full(3, 0.6))
    assert fit.late_log_powers_at(0.6) == pytest.approx(np.full(3, 2.0))
    bent = fit_rate(table(np.outer(np.linspace(0.9, 1.1, 5), HORIZONS * (1 + HORIZONS / 2**12))))
    y, ends = bent.data.y, np.linspace(np.log(HORIZONS[0]) + 11 / 3 * np.log(2), np.log(HORIZONS[-1]), 4)
    assert bent.late_slopes() == pytest.approx(np.diff(np.interp(ends, bent.x, y)) / np.diff(ends))


def test_scatter_about_the_line_against_statsmodels(any_seed):
    t = runs(BY_NAME["I1"], seed=any_seed)
    fit = fit_rate(t, log_power=1.0)
    design = np.column_stack([np.ones_like(fit.x), fit.x])
    ols = OLS(fit.corrected, design).fit()
    assert fit.scattered().value == pytest.approx(ols.params[1])
    assert fit.scattered().se == pytest.approx(ols.bse[1])
    assert fit.scattered().df == ols.df_resid
    power = OLS(fit.data.y - 0.5 * fit.x, np.column_stack([np.ones_like(fit.x), np.log(fit.x)])).fit()
    assert fit.scattered(0.5).value == pytest.approx(fit.log_power_at(0.5).value)
    assert fit.scattered(0.5).se == pytest.approx(power.bse[1])


def test_points_off_the_line_hold_a_refutation_back():
    # No noise at all, but steps: whole numbers of bins do that.  The slope exceeds the claim by 0.1.
    steps = np.exp(0.5 * np.sign(np.sin(2.5 * np.arange(len(HORIZONS)))))
    rate = Rate(0.4, 1.0)
    R = np.linspace(0.99, 1.01, 50)[:, None] * rate.regret(HORIZONS)
    assert verdict(fit_rate(table(R)), CLAIM).name == Name.REFUTED
    held = verdict(fit_rate(table(R * steps)), CLAIM)
    assert held.name == Name.INCONCLUSIVE
    assert "scatter about the line" in held.reason or "falling" in held.reason


def test_lock_in_is_flagged(any_seed):
    R = blocks(np.random.default_rng(any_seed), CLAIM.regret(HORIZONS), 60)
    assert fit_rate(table(R)).caution == ""
    R[3] *= 40
    fit = fit_rate(table(R))
    assert "% of a mean regret" in fit.caution
    assert "N >= 200" in verdict(fit, CLAIM).reason


def test_holm_against_statsmodels():
    from statsmodels.stats.multitest import multipletests

    p = [0.001, 0.04, 0.03, 0.2, 0.012]
    verdicts = [Verdict(Name.REFUTED, "r", p_value=v) for v in p[:3]] + [
        Verdict(Name.INCONCLUSIVE, "i", p_value=1.0),
        Verdict(Name.CONSISTENT, "c", p_value=p[4]),
    ]
    keep, adjusted, _, _ = multipletests([0.001, 0.04, 0.03, 1.0, 0.012], 0.05, "holm")
    after = holm(verdicts)
    for i in (0, 1, 2, 4):
        assert (after[i].name != Name.INCONCLUSIVE) == keep[i]
        assert after[i].p_value == pytest.approx(adjusted[i])
    assert "Holm" in after[1].reason
    assert "N = " not in after[1].reason  # nothing is known of the data behind a bare p-value
    assert after[3] == verdicts[3]


def test_what_holm_takes_back_more_runs_bring_again(any_seed):
    demoted = brought = 0
    for seed in range(100):
        alone = verdict(fit_rate(runs(BY_NAME["I1"], Rate(0.42, 1.0), n=40, seed=1000 * any_seed + seed)), CLAIM)
        v = holm([alone] + [Verdict(Name.INCONCLUSIVE, "")] * 19)[0]
        if "but not among 20 claims" in v.reason:
            demoted += 1
            needed = int(v.reason.split("N = ")[-1].split(" ")[0])
            fit = fit_rate(runs(BY_NAME["I1"], Rate(0.42, 1.0), n=needed, seed=10**6 + 1000 * any_seed + seed))
            brought += holm([verdict(fit, CLAIM)] + [Verdict(Name.INCONCLUSIVE, "")] * 19)[0].name == Name.REFUTED
    assert demoted >= 10
    # The advice aims at 90 %, from an excess that is itself an estimate.
    assert stats.binomtest(brought, demoted, 0.75, "less").pvalue > 1e-6


def test_holm_keeps_the_family_wise_error(any_seed):
    # Twenty claims, the truth of each at the margin: some are refuted by chance, after Holm in 5 % of families at most.
    rng = np.random.default_rng(any_seed)
    at_margin = Rate(CLAIM.exponent - 0.05, CLAIM.log_power)
    errors = 0
    for _ in range(60):
        fits = [fit_rate(BY_NAME["S1"].data(rng, at_margin, 50), 1.0) for _ in range(20)]
        errors += any(v.name == Name.REFUTED for v in holm([verdict(f, CLAIM) for f in fits]))
    assert stats.binomtest(errors, 60, 0.05, "greater").pvalue > 1e-6


# Calibration, reduced.  Each assertion fails by chance with probability 1e-6 if its promise holds.


@pytest.mark.parametrize("name", ["S1", "S2", "S5", "S6", "S7", "I1", "I2", "I6"])
def test_intervals_cover(name, any_seed):
    repeats = 300
    row = intervals(BY_NAME[name], 50, repeats, any_seed + 1)
    promised = {"jackknife": 0.93, "last half": 0.9, "log power": 0.93, "local": 0.9, "lag": 0.93, "held out": 0.88}
    for column, nominal in promised.items():
        hits = round(row[column] * repeats)
        assert stats.binomtest(hits, repeats, nominal, "less").pvalue > 1e-6, (column, row[column])
    hits = round(row["jackknife"] * repeats)
    assert stats.binomtest(hits, repeats, 0.97, "greater").pvalue > 1e-6
    rejected = round(row["curvature"] * repeats)
    assert stats.binomtest(rejected, repeats, 0.08, "greater").pvalue > 1e-6


@pytest.mark.parametrize("name", ["S1", "S6", "S7", "S8", "S10", "I1"])
def test_verdicts_err_rarely(name, any_seed):
    repeats = 150
    row = calibration.decisions(BY_NAME[name], 200, repeats, any_seed + 1)

    def count(column):
        return round(row[column] * repeats)

    assert stats.binomtest(count("REFUTED +0"), repeats, 0.01, "greater").pvalue > 1e-6
    assert stats.binomtest(count("CONSISTENT +0.1"), repeats, 0.05, "greater").pvalue > 1e-6
    assert stats.binomtest(count("REFUTED +0.1"), repeats, 0.9, "less").pvalue > 1e-6


@pytest.mark.parametrize("anytime", [True, False])
def test_slope_differences_cover(anytime, any_seed):
    repeats = 300
    row = calibration.differences(anytime, 50, repeats, any_seed + 1)
    for label in ("common, named", "independent"):
        assert stats.binomtest(round(row[label] * repeats), repeats, 0.93, "less").pvalue > 1e-6, label
        assert stats.binomtest(round(row[label] * repeats), repeats, 0.97, "greater").pvalue > 1e-6, label
    assert row["common, named, half-width"] < 0.5 * row["common, not named, half-width"]


def test_the_report_is_written_from_the_tables():
    some = [BY_NAME["S1"], BY_NAME["S4"], BY_NAME["I1"]]
    tables = calibration.calibrate(some, sizes=(50, 200), repeats=8)
    page = calibration.report(tables, 8, 0)
    for name, rows in tables.intervals.groupby("scenario"):
        assert f"| {name} | " + "/".join(map(calibration.per_cent, rows["jackknife"])) + " |" in page
    assert "| S2 |" not in page
    assert page.count("met.") + page.count("MISSED.") >= 12
    for name, table in vars(tables).items():
        assert len(table) > 0, name
        assert not table.drop(columns=table.columns[table.columns.str.contains("flagged")]).isna().any(axis=None), name


def test_a_target_that_is_missed_is_called_so():
    tables = calibration.calibrate([BY_NAME["S1"]], sizes=(50, 200), repeats=4)
    tables.verdicts["REFUTED +0"] = 0.02
    tables.verdicts["REFUTED +0.1"] = 0.95
    lines = calibration.targets(tables)
    assert "- false REFUTED at most 1 %: 2 % at worst (S1, N = 50), MISSED." in lines
    assert "- power against 0.1 at N = 200 at least 90 %: 95 % at worst (S1, N = 200), met." in lines


def test_the_time_of_a_fit_can_be_asked_for(capsys):
    assert calibration.main(["--time"]) == 0
    assert capsys.readouterr().out.count("2,000 bootstrap replicates") == 2
