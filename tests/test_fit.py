"""Fits against theory, against statsmodels and against brute force."""

import math
import sys
from dataclasses import replace

import numpy as np
import pytest
from scipy import stats
from statsmodels.regression.linear_model import OLS

from ratecheck.fit.bootstrap import studentised
from ratecheck.fit.fit import Fit, fit_rate, slope_difference
from ratecheck.fit.log_means import FitError, LogMeans, log_means
from ratecheck.rates import Rate
from ratecheck.verdict.rules import verdict
from studies.calibration.measure import joint, joint_region_holds
from studies.calibration.scenarios import CLAIM, HORIZONS, Scenario, blocks, named, waves
from tests.synthetic import exact, runs, table


@pytest.mark.parametrize("power", [0.0, 1.0, 2.5])
def test_exact_rates_are_recovered(power):
    fit = fit_rate(exact(Rate(0.4, power)), log_power=power)
    assert fit.slope == pytest.approx(0.6, abs=1e-12)
    assert fit.last_half.value == pytest.approx(0.6, abs=1e-12)
    assert fit.log_power_at(0.6).value == pytest.approx(power, abs=1e-10)
    assert joint(fit)[0] == pytest.approx([0.6, power], abs=1e-9)
    assert fit.curvature().value == pytest.approx(0, abs=1e-12)
    assert all(e.value == pytest.approx(0.6, abs=1e-12) for _, e in fit.local_slopes())
    assert all(e.value == pytest.approx(0, abs=1e-10) for _, e in fit.held_out())


@pytest.mark.parametrize("name", ["S1", "I1"])
def test_slope_against_statsmodels(name, any_seed):
    t = runs(named(name), seed=any_seed)
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
    t = runs(named(name), n=12, seed=any_seed)
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
        hits += joint_region_holds(fit, CLAIM.slope, CLAIM.log_power)
    assert stats.binomtest(hits, repeats, 0.95).pvalue > 1e-6
    assert joint(fit)[2] == pytest.approx(2 * 3 / 2 * stats.f.ppf(0.95, 2, 2))


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
    fit = fit_rate(named("S1").data(rng, CLAIM, 200), 1.0)
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
    fit = fit_rate(runs(named(name), n=200, seed=any_seed), log_power=1.0)
    low, high = fit.bootstrap(2000)
    width = fit.high - fit.low
    # the two intervals estimate the same thing; a tenth of the width is five Monte Carlo errors of the quantiles
    assert low == pytest.approx(fit.low, abs=0.15 * width)
    assert high == pytest.approx(fit.high, abs=0.15 * width)


def test_bootstrap_of_constant_runs_is_a_point():
    data = log_means(exact(CLAIM, anytime=False))
    weights = np.zeros(len(HORIZONS))
    assert studentised(data, weights, value=0.5, level=0.95, size=50, seed=0) == (0.5, 0.5)


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
    data = named("S1").data(np.random.default_rng(0), CLAIM, 50)
    fit = fit_rate(data, 1.0)
    fit.bootstrap(10)

    def calls(size):
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


def test_probes_of_exact_curves():
    """On a rate every slope is the rate's and nothing bends; on a parabola the slopes are its own."""
    fit = fit_rate(exact(Rate(0.4, 2.0)), log_power=2.0)
    assert fit.probes() @ fit.corrected == pytest.approx([0.6] * 6 + [0.0])
    assert fit.probes(log_power=True) @ (fit.data.y - 0.6 * fit.x) == pytest.approx([2.0] * 6 + [0.0])
    x = np.log(HORIZONS)
    bent = fit_rate(table(np.outer(np.linspace(0.9, 1.1, 5), np.exp(0.5 * x + 0.02 * x**2))))
    end, ahead = x[-1], x[-1] + 0.5 * (x[-1] - x[0])
    late = x[x >= 0.5 * (x[0] + x[-1]) - 1e-9]
    last = x[-3:]
    slopes = [0.5 + 0.04 * place for place in (x.mean(), late.mean(), last.mean(), end, ahead, ahead)]
    assert bent.probes() @ bent.data.y == pytest.approx([*slopes, 0.04])
    assert [e.value for e in bent.straight()] == pytest.approx([slopes[0], slopes[1], 0.5 + 0.04 * x[0], slopes[3]])


def test_tilted_runs_grow_faster_and_nothing_else_changes(any_seed):
    fit = fit_rate(runs(named("I1"), seed=any_seed), log_power=1.0)
    tilted = fit.tilted(0.3)
    assert tilted.slope == pytest.approx(fit.slope + 0.3)
    assert tilted.whole.se == fit.whole.se
    means = [s.mean() for s in tilted.data.samples]
    assert np.log(means) == pytest.approx(tilted.data.y)


def test_scatter_about_the_line_against_statsmodels(any_seed):
    t = runs(named("I1"), seed=any_seed)
    fit = fit_rate(t, log_power=1.0)
    design = np.column_stack([np.ones_like(fit.x), fit.x])
    ols = OLS(fit.corrected, design).fit()
    assert fit.scattered().value == pytest.approx(ols.params[1])
    assert fit.scattered().se == pytest.approx(ols.bse[1])
    assert fit.scattered().df == ols.df_resid
    power = OLS(fit.data.y - 0.5 * fit.x, np.column_stack([np.ones_like(fit.x), np.log(fit.x)])).fit()
    assert fit.scattered(0.5).value == pytest.approx(fit.log_power_at(0.5).value)
    assert fit.scattered(0.5).se == pytest.approx(power.bse[1])


def test_bad_arguments():
    t = runs(named("S1"), n=5)
    with pytest.raises(FitError, match="holds 2 horizons"):
        fit_rate(t, window=(2**8, 2**9))
    with pytest.raises(FitError, match="above 1"):
        fit_rate(t, period=1.0)
    with pytest.raises(FitError, match="above 1"):
        fit_rate(t, period="16")
    with pytest.raises(FitError, match="level = 2"):
        fit_rate(t, level=2)
