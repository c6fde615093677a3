"""Floors, signed means and deterministic series: against theory, against brute force, and by their coverage."""

import io
from dataclasses import replace

import numpy as np
import pytest
from scipy import optimize, stats

import ratecheck as rc
from ratecheck.fit.fit import Fit
from ratecheck.fit.floors import profile_of
from ratecheck.fit.log_means import FitError
from ratecheck.fit.points import Points
from studies.calibration.tables import SIZES, TABLES, Series, serial, series_named, tabled

ROOT = rc.Rate.of_regret(-0.5)


def losses(floor, n=40, seed=0, scatter=0.05, slope=-0.5):
    """A table of runs about floor + N^slope."""
    rng = np.random.default_rng(seed)
    mean = floor + SIZES**slope
    values = mean * np.exp(scatter * rng.standard_normal((n, len(SIZES))))
    return {"seed": np.repeat(np.arange(n), len(SIZES)), "N": np.tile(SIZES, n), "loss": values.ravel()}


def said(fit):
    return " | ".join(fit.remarks)


# Floors


@pytest.mark.parametrize("floor", [0.0055, (0.0, 0.02), "fit"], ids=["known", "bounded", "fitted"])
def test_a_floor_of_an_exact_curve_is_found(floor):
    fit = rc.fit_rate({"N": SIZES, "loss": 0.0055 + 2 * SIZES**-0.5}, floor=floor)
    assert fit.slope == pytest.approx(-0.5, abs=1e-6)
    assert fit.low < fit.slope < fit.high
    assert rc.verdict(fit, ROOT).name == "CONSISTENT"
    assert rc.verdict(fit, rc.Rate.of_regret(-0.7)).name == "REFUTED"


def test_a_fitted_floor_against_nonlinear_least_squares(any_seed):
    t = losses(0.01, seed=any_seed)
    fit = rc.fit_rate(t, floor="fit", anytime=False)
    means = t["loss"].reshape(40, -1).mean(axis=0)

    def residuals(p):
        return (p[0] + p[1] * (SIZES / SIZES[0]) ** p[2] - means) / means

    found = optimize.least_squares(residuals, [0.01, 0.1, -0.5], x_scale=[0.01, 0.1, 0.5], xtol=1e-12, ftol=1e-12)
    assert fit.slope == pytest.approx(found.x[2], abs=1e-5)
    assert f"E = {found.x[0]:.4g}"[:9] in said(fit)
    # near the best slope the profile is the linearised error
    J = np.column_stack([1 / means, *(_column(found.x, k) / means for k in (1, 2))])
    weights = np.linalg.pinv(J)[2]
    errors = t["loss"].reshape(40, -1).std(axis=0, ddof=1) / np.sqrt(40) / means
    se = np.sqrt(np.sum((weights * errors) ** 2))
    assert fit.whole.se == pytest.approx(se, rel=0.02)
    assert (fit.high - fit.low) / 2 == pytest.approx(stats.t.ppf(0.975, 39) * se, rel=0.15)


def _column(p, k):
    x = SIZES / SIZES[0]
    return x ** p[2] if k == 1 else p[1] * x ** p[2] * np.log(x)


def test_the_test_of_a_slope_is_a_t_test_of_one_more_column(any_seed):
    """With equal independent errors it is the textbook's, for every slope."""
    rng = np.random.default_rng(any_seed)
    means = 0.01 + SIZES**-0.5 + 1e-4 * rng.standard_normal(len(SIZES))
    points = Points(SIZES, means, np.full(len(SIZES), 1e-4), count=0)
    profile = profile_of(points, -np.inf, np.inf)
    for slope in (-0.8, -0.55, -0.4):
        x = SIZES / SIZES[0]
        design = np.column_stack([np.ones(len(x)), x**slope, (x**profile.best - x**slope) / (profile.best - slope)])
        solution = np.linalg.pinv(design)[2]
        assert profile.t(slope) == pytest.approx(solution @ means / (1e-4 * np.linalg.norm(solution)), rel=1e-6)


def test_data_that_end_at_the_floor_are_refused_from_where_they_do():
    fit = rc.fit_rate(losses(0.2, scatter=0.3), floor="fit")
    assert "the data end at the floor: from N = " in fit.problem
    v = rc.verdict(fit, ROOT)
    assert v.name == "INCONCLUSIVE"
    assert "end at the floor" in v.reason


def test_without_its_floor_a_loss_is_refuted_and_with_it_not():
    t = losses(0.0055, n=64, scatter=0.02)
    assert rc.verdict(rc.fit_rate(t), ROOT).name == "REFUTED"
    for floor in (0.0055, (0, 0.01), "fit"):
        assert rc.verdict(rc.fit_rate(t, floor=floor), ROOT).name == "CONSISTENT"
        assert rc.verdict(rc.fit_rate(t, floor=floor), rc.Rate.of_regret(-0.7)).name == "REFUTED"


@pytest.mark.parametrize("power", [0.35, 0.5, 1.0])
@pytest.mark.parametrize("factor", [-0.6, 0.6])
def test_a_correction_widens_the_interval_above_a_fitted_floor(factor, power):
    n = 2.0 ** np.arange(3, 12)
    fit = rc.fit_rate({"N": n, "loss": n[-1] ** -0.5 + n**-0.5 * (1 + factor * n**-power)}, floor="fit")
    assert fit.low <= -0.5 <= fit.high


def test_a_floor_under_a_growing_quantity():
    T = 2.0 ** np.arange(4, 14)
    rng = np.random.default_rng(0)
    R = (50 + 3 * T**0.5) * np.exp(0.02 * rng.standard_normal((30, len(T))))
    t = {"run": np.repeat(np.arange(30), len(T)), "T": np.tile(T, 30), "regret": R.ravel()}
    fit = rc.fit_rate(t, floor="fit")
    assert fit.low < 0.5 < fit.high
    assert fit.high - fit.low < 0.1


@pytest.mark.parametrize("floor", ["fitted", (2, 1), (1, 2, 3), np.nan, True, (None,), "1"])
def test_what_is_no_floor(floor):
    with pytest.raises(ValueError, match="floor = "):
        rc.fit_rate({"N": SIZES, "loss": SIZES**-0.5}, floor=floor)


def test_a_curve_that_does_not_level_off_has_no_floor():
    with pytest.raises(FitError, match="no floor fits"):
        rc.fit_rate({"N": SIZES, "loss": 30 - np.log(SIZES)}, floor=(None, None))
    with pytest.raises(FitError, match="at least 4"):
        rc.fit_rate({"N": SIZES[:3], "loss": SIZES[:3] ** -0.5}, floor="fit")


@pytest.mark.parametrize("name", [TABLES[k].name for k in (5, 6, 17, -3, -2)])
def test_intervals_cover(name, any_seed):
    """93 % at least and 98 % at most, each with a false alarm of 1e-6."""
    repeats = 60
    row = tabled(name, 64, repeats, any_seed + 1)
    held = round(row["coverage"] * repeats)
    assert stats.binomtest(held, repeats, 0.93, "less").pvalue > 1e-6
    assert stats.binomtest(held, repeats, 0.98, "greater").pvalue > 1e-6
    assert stats.binomtest(round(row["REFUTED, right"] * repeats), repeats, 0.02, "greater").pvalue > 1e-6
    assert stats.binomtest(round(row["CONSISTENT, wrong"] * repeats), repeats, 0.05, "greater").pvalue > 1e-6


# Signs


def test_signed_means_that_meet_their_noise():
    rng = np.random.default_rng(1)
    T = 2.0 ** np.arange(9)
    bias = -1 / T + 0.05 * rng.standard_normal((64, 9))
    t = {"run": np.repeat(np.arange(64), 9), "n": np.tile(T, 64), "bias": bias.ravel()}
    fit = rc.fit_rate(t, anytime=False)
    assert fit.low < -1 < fit.high
    assert "bias is negative; its absolute value is fitted" in said(fit)
    assert "on bias meets its noise" in said(fit)
    assert len(fit.data.horizons) < 9
    assert "more runs" in rc.verdict(fit, rc.Rate.of_regret(-1)).reason
    with pytest.raises(FitError, match="clear of its noise"):
        rc.fit_rate(t | {"bias": 0.05 * rng.standard_normal(64 * 9)}, anytime=False)


# Series


def test_signs_that_no_power_law_has_are_named():
    rng = np.random.default_rng(0)
    n = 2.0 ** np.arange(4, 10)
    errors = np.where(n < 20, -1, 1) * n**-0.5 + 0.01 * rng.standard_normal((20, 6))
    with pytest.raises(FitError, match=r"changes its sign at n = 32, clear.*--window"):
        rc.fit_rate({"n": np.tile(n, 20), "error": errors.ravel()})
    assert rc.fit_rate({"n": np.tile(n, 20), "error": errors.ravel()}, window=(17, np.inf)).slope < 0
    with pytest.raises(FitError, match="absolute values or squares"):
        rc.fit_rate({"n": np.tile(n, 20), "error": rng.standard_normal(120)})
    errors[:, :] = rng.standard_normal((20, 6))
    errors[:, 2] = 0.1
    with pytest.raises(FitError, match="all runs agree at n = 64"):
        rc.fit_rate({"n": np.tile(n, 20), "error": errors.ravel()})


def test_an_exact_power_law_has_an_interval_and_a_stated_error():
    h = 0.5 ** np.arange(3, 9)
    fit = rc.fit_rate({"h": h, "error": 3 * h**2})
    assert fit.slope == pytest.approx(2)
    assert fit.low < 2 < fit.high
    assert "±" in str(fit)
    digits = rc.fit_rate(io.StringIO("h,error\n" + "\n".join(f"{a},{3 * a**2:.2e}" for a in h)))
    assert digits.low < 2 < digits.high
    assert digits.high - digits.low > 1e-3
    assert "half a unit of the last digit" in said(digits)


def test_orders_in_steps_and_in_their_number_are_the_same():
    h = 0.5 ** np.arange(3, 9)
    y = h**2 * (1 + h)
    steps, numbers = rc.fit_rate({"h": h, "error": y}), rc.fit_rate({"N": 1 / h, "error": y})
    assert (steps.slope, steps.low, steps.high) == pytest.approx((-numbers.slope, -numbers.high, -numbers.low))
    for kind in ("upper", "lower"):
        for order in (1.5, 2.0, 2.5):
            ours, theirs = rc.Rate.of_regret(order), rc.Rate.of_regret(-order)
            assert rc.verdict(steps, ours, kind).name == rc.verdict(numbers, theirs, kind).name
    assert rc.tight(steps, rc.Rate.of_regret(2)).name == "CONSISTENT"
    v = rc.verdict(steps, rc.Rate.of_regret(2.5))
    assert v.name == "REFUTED"
    assert "order 2.00" in v.reason
    assert "h^2.450 could have passed" in v.reason
    assert rc.fit_rate({"h": h, "error": y}, window=(h[3], 1)).data.horizons[-1] == 1 / h[3]
    assert rc.fit_rate({"h": h, "error": y}, step=False).data.words.inverse is False


def test_a_bend_before_the_rate_widens_the_interval_and_is_not_hidden():
    h = 0.5 ** np.arange(1, 5)
    fit = rc.fit_rate({"h": h, "error": h**2 * (1 + 5 * h)})
    assert fit.low < 2 < fit.high
    assert fit.high - fit.low > 0.3
    last = fit.local_slopes()[-1][1].value
    assert fit.low < -last < fit.high
    assert rc.verdict(fit, rc.Rate.of_regret(2)).name != "REFUTED"


@pytest.mark.parametrize("series", [Series(0.5), Series(1.0), Series(2.0), Series(1.0, 0.05, digits=3)], ids=str)
def test_intervals_of_series_hold_the_order(series, any_seed):
    repeats = 40
    for row in serial(series_named(series.name).name, None, repeats, any_seed + 1):
        held, refuted = round(row["coverage"] * repeats), round(row["REFUTED, right"] * repeats)
        assert stats.binomtest(held, repeats, 0.95, "less").pvalue > 1e-6, row
        assert stats.binomtest(refuted, repeats, 0.02, "greater").pvalue > 1e-6, row
        assert row["REFUTED, 1 too high"] > 0.5


def test_values_without_a_limit():
    N = 2.0 ** np.arange(3, 10)
    fit = rc.fit_rate({"N": N, "value": np.pi + 3 * N**-2 * (1 + 1 / N)}, values=True)
    assert fit.low < -2 < fit.high
    assert "Richardson" in said(fit)
    assert "the limit 3.14159" in said(fit)
    with pytest.raises(FitError, match="one ratio"):
        rc.fit_rate({"N": [8, 16, 30, 70, 128], "value": [1, 1.5, 1.75, 1.875, 1.9]}, values=True)
    with pytest.raises(FitError, match="changes sign"):
        rc.fit_rate({"N": N, "value": (-1) ** np.arange(7) / N}, values=True)
    with pytest.raises(FitError, match="is zero at N = 8"):
        rc.fit_rate({"N": N, "error": [0, *N[1:]]})


def test_a_hundred_decades_do_not_overflow():
    n = 10.0 ** np.arange(0, 100, 10)
    fit = rc.fit_rate({"N": n, "loss": 0.1 + n**-0.1}, floor="fit")
    assert fit.slope == pytest.approx(-0.1, abs=1e-3)


def test_a_limit_and_rounding_are_asked_about():
    h = 2.0 ** -np.arange(2, 12)
    asked = {
        "settles": 1.5 + h**2,
        "rises again": h**2 + 1e-6 / h,
        "": h**2 * (1 + h),
    }
    for words, values in asked.items():
        remarks = " ".join(rc.fit_rate({"h": h, "error": values}).remarks)
        assert [w for w in ("settles", "rises again") if w in remarks] == [w for w in (words,) if w]
    slow = 2.0 ** np.arange(2, 12)
    assert "settles" not in " ".join(rc.fit_rate({"n": slow, "error": slow**-0.05}).remarks)


def test_what_is_asked_of_runs_is_refused_without_them():
    fit = rc.fit_rate({"N": SIZES, "error": SIZES**-0.5})
    for ask in (fit.bootstrap, fit.unseen):
        with pytest.raises(FitError):
            ask()
    assert fit.caution == ""
    assert "residuals" in str(fit.summary())
    assert fit.tilted(0.1).slope == pytest.approx(-0.4)
    assert len(fit.sensitivity()) >= 2


def test_weights_of_equal_size_change_nothing():
    fit = rc.fit_rate(losses(0.0))
    same = Fit(replace(fit.data, weights=np.full(len(SIZES), 3.0)))
    for ask in ("whole", "last_half"):
        a, b = getattr(fit, ask), getattr(same, ask)
        assert (a.value, a.se) == pytest.approx((b.value, b.se))
    assert fit.scattered().se == pytest.approx(same.scattered().se)
    assert fit.probes() == pytest.approx(same.probes())


def test_a_known_floor_of_zero_is_no_floor_but_for_the_weights():
    t = losses(0.0, scatter=0.01)
    points = rc.fit_rate(t)
    above = rc.fit_rate(t, floor=0)
    assert above.slope == pytest.approx(points.slope, abs=1e-3)
    assert above.high - above.low == pytest.approx(points.high - points.low, rel=0.05)
