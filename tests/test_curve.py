"""Curves with a known truth, and those about which nothing may be decided."""

import math

import numpy as np
import pytest

from ratecheck.claims import Claim
from ratecheck.predict import far as cv
from ratecheck.predict.far import Curve
from ratecheck.rates import Rate
from ratecheck.verdict.rules import Outcome

CONSISTENT, REFUTED, INCONCLUSIVE = Outcome
PLAIN = Claim("plain", "no logarithm", "upper", Rate.of_regret(0.5))
LOGS = Claim("logs", "with two powers", "upper", Rate.of_regret(0.5, 1.5), Rate.of_regret(0.5, 1.25))
FLOOR = Claim("floor", "a lower bound", "lower", Rate.of_regret(0.5))
SHORT, LONG, ENDLESS = 1e12, 1e24, 1e60
every_length = pytest.mark.parametrize("last", [SHORT, LONG, ENDLESS])


def curve(regret, last=LONG, first=1e3, period=16.0, per_period=4):
    count = math.floor(math.log(last / first) / math.log(period) * per_period) + 1
    T = first * period ** (np.arange(count) / per_period)
    return Curve(tuple(T.tolist()), tuple(regret(T).tolist()), tuple(np.ones(count).tolist()), "more cells")


def power(slope, log_power=0.0, shift=0.0):
    return lambda T: 3 * T**slope * (np.log(T) + shift) ** log_power


def wave(T, period=16.0):
    return np.exp(0.3 * np.sin(2 * np.pi * np.log(T) / math.log(period)))


def linear_until(onset, slope=0.5):
    return lambda T: T / (1 + T / onset) ** (1 - slope)


def names(found):
    return [v and v.name for v in (found.on_exponent, found.on_printed, found.on_corrected)]


# Arithmetic


def test_slopes_over_whole_periods_do_not_see_waves():
    middles, found = cv.slopes(curve(lambda T: T**0.6 * wave(T)), 16)
    assert found == pytest.approx(0.6)
    assert middles[0] == pytest.approx(4e3)
    assert middles[-1] * 4 <= LONG * (1 + 1e-9)
    assert len(cv.slopes(curve(power(0.5), last=1e4), 16)[0]) == 0


def test_without_a_period_slopes_are_taken_over_a_factor_of_sixteen():
    one = curve(power(0.5, 1.0))
    for period in (None, math.nan):
        np.testing.assert_array_equal(cv.slopes(one, period), cv.slopes(one, 16.0))


@pytest.mark.parametrize("log_power", [0.0, 1.5])
def test_window_slope_divides_the_logarithm_out(log_power):
    fine = curve(power(0.6, log_power), per_period=32)
    assert cv.window_slope(fine, 1e5, 1e9, log_power) == pytest.approx(0.6, abs=1e-4)
    assert cv.window_slope(fine, 1e5, 1e9) - 0.6 == pytest.approx(log_power / math.log(1e7), abs=0.01)


def test_visible_from_the_horizon_at_which_the_logarithm_is_worth_the_margin():
    at = cv.visible(curve(power(0.5, 1.0), per_period=64), Rate.of_regret(0.5), period=16, margin=0.05)
    assert math.log(at) + math.log(16) / 2 == pytest.approx(1 / 0.05, rel=0.02)
    assert cv.visible(curve(power(0.5, 1.0)), Rate.of_regret(0.5, 1.0), period=16) == pytest.approx(1e3)
    assert cv.visible(curve(power(0.6)), Rate.of_regret(0.5), period=16) is None
    assert cv.visible(curve(power(0.4)), Rate.of_regret(0.5), period=16, kind="lower") is None
    assert cv.visible(curve(power(0.6)), Rate.of_regret(0.5), period=16, kind="lower") == pytest.approx(1e3)


@pytest.mark.parametrize("period", [2.0, 4.0, 16.0, 45.0])
def test_waves_that_a_mean_over_few_partitions_leaves_hide_no_rate(period):
    """4 % of R up and down are worth a slope of 0.08 / ln(period), or more than the margin over a period of 2 or 4."""
    rng = np.random.default_rng(0)
    rough = curve(lambda T: T**0.5 * np.exp(0.04 * rng.uniform(-1, 1, len(T))), ENDLESS, period=period)
    assert cv.visible(rough, Rate.of_regret(0.5), period=period) == pytest.approx(1e3)
    steeper = curve(lambda T: T**0.56 * np.exp(0.001 * rng.uniform(-1, 1, len(T))), period=period)
    assert cv.visible(steeper, Rate.of_regret(0.5), period=period) is None


# Known truth


@every_length
@pytest.mark.parametrize("log_power", [0.0, 0.5, 1.25, 1.5])
@pytest.mark.parametrize("factor", [lambda T: 1.0, wave], ids=["smooth", "wave"])
def test_a_true_rate_is_consistent_and_its_power_found(last, log_power, factor):
    found = cv.far(curve(lambda T: power(0.5, log_power)(T) * factor(T), last), LOGS, period=16)
    assert names(found) == [CONSISTENT, CONSISTENT, CONSISTENT if log_power < 1.5 else INCONCLUSIVE]
    assert found.exponent.low <= 0.5 <= found.exponent.high
    assert found.power.value == pytest.approx(log_power, abs=0.01)
    assert found.on_printed.attained is (log_power == 1.5)
    if log_power < 1.5:
        assert found.on_corrected.attained is (log_power == 1.25)


@every_length
@pytest.mark.parametrize("slope", [0.57, 0.6, 0.8])
def test_a_larger_exponent_is_refuted(last, slope):
    found = cv.far(curve(power(slope), last), PLAIN, period=16, onset=1e3)
    assert names(found) == [REFUTED, INCONCLUSIVE, None]
    assert "exponent is refuted" in found.on_printed.reason


def test_a_slope_closer_to_a_linear_start_than_to_the_promise_refutes_nothing_without_an_onset():
    assert cv.far(curve(power(0.8)), PLAIN, period=16).on_exponent.name is INCONCLUSIVE
    assert cv.far(curve(power(0.7)), PLAIN, period=16).on_exponent.name is REFUTED


@every_length
@pytest.mark.parametrize("slope", [0.57, 0.6, 0.8])
def test_a_larger_exponent_never_passes_for_a_logarithm(last, slope):
    """The promise allows logarithms, which look like the exponent for a while: refuted or open."""
    found = cv.far(curve(power(slope), last), LOGS, period=16, onset=1e3)
    assert CONSISTENT not in names(found)
    if slope == 0.8 or last == ENDLESS:
        assert found.on_exponent.name is REFUTED


@every_length
def test_an_excess_within_the_margin_is_left_open(last):
    assert cv.far(curve(power(0.53), last), PLAIN, period=16).on_exponent.name is INCONCLUSIVE


@every_length
def test_a_larger_log_power_is_refuted(last):
    """Up to T = 1e12 it may as well be a larger exponent."""
    found = names(cv.far(curve(power(0.5, 2.0), last), LOGS, period=16))
    assert found == ([INCONCLUSIVE] * 3 if last == SHORT else [CONSISTENT, REFUTED, REFUTED])


@every_length
@pytest.mark.parametrize("shift", [5.0, 50.0, 618.0])
def test_what_stands_beside_the_logarithm_refutes_nothing(last, shift):
    one = curve(power(0.5, 1.25, shift), last)
    found = cv.far(one, LOGS, period=16, shift=shift)
    assert found.shifted.value == pytest.approx(1.25, abs=0.01)
    assert found.shifted.trend == pytest.approx(0.0, abs=0.01)
    assert found.power.value < 1.25
    assert names(found) == [CONSISTENT] * 3
    assert found.on_corrected.attained is not False
    assert cv.far(one, LOGS, period=16).on_exponent.name is CONSISTENT


@every_length
@pytest.mark.parametrize("claim", [PLAIN, LOGS])
def test_a_start_that_dies_like_a_power_refutes_nothing(last, claim):
    for share in (1.0, 30.0):
        found = cv.far(curve(lambda T, share=share: T**0.5 * (1 + share * T**-0.2), last), claim, period=16)
        assert REFUTED not in names(found)
        assert found.exponent.low <= 0.5 + 1e-9 <= found.exponent.high + 1e-6


@pytest.mark.parametrize("last", [LONG, ENDLESS])
def test_a_linear_start_that_is_over_is_forgotten(last):
    assert cv.far(curve(linear_until(1e6), last), LOGS, period=16).on_exponent.name is CONSISTENT


def test_lower_bounds_are_judged_in_the_other_direction():
    assert names(cv.far(curve(power(0.5, 1.0)), FLOOR, period=16)) == [CONSISTENT, CONSISTENT, None]
    assert names(cv.far(curve(power(0.4)), FLOOR, period=16)) == [REFUTED, INCONCLUSIVE, None]
    assert names(cv.far(curve(power(0.5, -1.0)), FLOOR, period=16))[1] is REFUTED


# Nothing to decide


@every_length
@pytest.mark.parametrize("onset", [1e11, 1e20, 1e58, 1e99])
def test_a_linear_start_refutes_nothing(last, onset):
    found = cv.far(curve(linear_until(onset), last), LOGS, period=16)
    assert REFUTED not in names(found)
    if onset * 1e3 > last:
        assert names(found) == [INCONCLUSIVE] * 3


def test_linear_regret_is_refuted_beyond_the_square_of_the_onset():
    line = curve(power(1.0))
    assert cv.far(line, LOGS, period=16, onset=1e8).on_exponent.name is INCONCLUSIVE
    assert cv.far(line, LOGS, period=16, onset=1e6).on_exponent.name is REFUTED


@every_length
def test_a_wave_of_another_period_leaves_it_open(last):
    """Over very many periods it averages out of the exponent, but which log power is attained stays open."""
    found = cv.far(curve(lambda T: power(0.5, 1.25)(T) * wave(T, 5.3), last), LOGS, period=16)
    assert names(found) == ([CONSISTENT, CONSISTENT, INCONCLUSIVE] if last == ENDLESS else [INCONCLUSIVE] * 3)
    assert found.on_printed.attained is found.on_corrected.attained is None


def test_a_log_power_that_still_moves_across_the_promise_is_left_open():
    """T^0.48 (ln T)^2 needs less than T^0.5 (ln T)^1.25, but not before ln T = 200."""
    found = cv.far(curve(power(0.48, 2.0), SHORT), LOGS, period=16)
    assert found.on_corrected.name is INCONCLUSIVE
    assert found.power.trend < 0


def test_estimates_that_disagree_widely_decide_nothing_even_below_the_promise():
    """A slope that has just fallen through the promise may stop anywhere."""
    found = cv.far(curve(linear_until(1e12, slope=0.3), 1e15), LOGS, period=16)
    assert found.slope < 0.5
    assert names(found) == [INCONCLUSIVE] * 3


def test_short_curves_say_why_they_say_nothing():
    for last in (3e3, 1e5, 1e6):
        found = cv.far(curve(power(0.9), last), LOGS, period=16)
        assert names(found) == [INCONCLUSIVE] * 3
        assert "periods" in found.on_exponent.reason
        assert "more cells" in found.on_exponent.reason
        assert found.exponent is None


def test_no_single_cost_refutes_a_supremum():
    claim = Claim("sup", "over costs", "lower", Rate.of_regret(0.5), per_cost=False)
    found = cv.far(curve(power(0.4)), claim, period=16)
    assert found.on_exponent.name is INCONCLUSIVE
    assert "worst cost" in found.on_exponent.reason


# What is settled, and why not


@pytest.mark.parametrize("shift", [None, 10.0, 5000.0])
@pytest.mark.parametrize("log_power", [0.0, 0.75, 1.5])
def test_the_limit_of_a_long_curve_is_settled(log_power, shift):
    found = cv.far(curve(power(0.5, log_power, shift or 0.0), ENDLESS), LOGS, period=16, shift=shift)
    assert found.settled
    assert found.reason == ""
    assert found.exponent.low <= 0.5 <= found.exponent.high
    assert found.exponent.high - found.exponent.low < 0.04


@every_length
@pytest.mark.parametrize("share", [1e-4, 1e-2, 1.0])
@pytest.mark.parametrize("log_power", [0.5, 1.0, 1.5])
def test_a_constant_beside_the_logarithm_is_allowed_for(share, log_power, last):
    """Of the slope that it leaves, the trend is smaller than that of a logarithm alone, or has the other sign."""
    found = cv.far(curve(lambda T: T**0.5 * (1 + share * np.log(T) ** log_power), last), LOGS, period=16)
    assert found.exponent.low <= 0.5 <= found.exponent.high


def test_waves_keep_pace_with_the_levels():
    """A level that holds (ln T + 10)^2 times more cells is reached the later, and so is the next wave."""

    def regret(T):
        L = np.log(T)
        return power(0.5, 1.25, 10.0)(T) * np.exp(0.2 * np.sin(2 * np.pi * (L - 2 * np.log(L + 10)) / math.log(16)))

    found = cv.far(curve(regret, ENDLESS), LOGS, period=16, shift=10.0)
    assert found.settled
    assert found.exponent.value == pytest.approx(0.5, abs=1e-6)
    assert found.shifted.value == pytest.approx(1.25, abs=1e-6)


@pytest.mark.parametrize(
    ("regret", "reason"),
    [
        (linear_until(1e70), "linear start"),
        (lambda T: T**0.5 * (1 + (T / 1e50) ** 0.2), "still rises"),
        (lambda T: T**0.5 + 1e12 * T**0.3, "still rises"),
        (linear_until(1e50, slope=0.3), "still falls"),
        (lambda T: T**0.5 * np.log(T) ** 6, "still falls"),
        (lambda T: T**0.5 * wave(T, 200.0), "waves"),
    ],
)
def test_an_open_limit_has_a_reason(regret, reason):
    found = cv.far(curve(regret, ENDLESS), LOGS, period=16)
    assert not found.settled
    assert reason in found.reason


def test_stated_errors_widen_the_interval():
    exact = curve(power(0.5, 1.0), LONG)
    rough = Curve(exact.horizons, exact.regret, exact.cells, exact.limit, error=(0.05,) * len(exact.horizons))
    (known, found) = (cv.far(one, LOGS, period=16) for one in (exact, rough))
    assert found.exponent.low < known.exponent.low < known.exponent.high < found.exponent.high
    assert "errors" in found.reason


def test_a_limit_below_the_promise_is_settled_at_any_width():
    found = cv.far(curve(power(0.3, 1.5), 1e9), LOGS, period=16)
    assert found.exponent.high - found.exponent.low > 0.04
    assert found.settled


def test_the_least_curve_has_a_limit():
    """Of three periods, where all windows are the same."""
    found = cv.far(curve(power(0.5, 1.25), 1e3 * 16**3 * 1.01), LOGS, period=16)
    assert found.exponent.low <= 0.5 <= found.exponent.high
    assert found.power.value == pytest.approx(1.25)
