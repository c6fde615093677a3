"""The arithmetic behind verdicts against direct computation; starts and logarithms that explain runs; pairs."""

import math

import numpy as np
import pytest
from scipy import stats

from ratecheck.fit.fit import fit_rate
from ratecheck.fit.log_means import LogMeans
from ratecheck.rates import Rate
from ratecheck.verdict.alternatives import Bend, log_powers, starts
from ratecheck.verdict.evidence import BEND, END, LATE, WHOLE, envelope, evidence, normal, refined
from ratecheck.verdict.excluded_rates import _ordered, pairs_of
from ratecheck.verdict.rules import Outcome, decide
from studies.calibration.scenarios import CLAIM, HORIZONS, named
from tests.synthetic import exact, runs

X = np.log(HORIZONS)


def noiseless(mean, spread=0.01):
    """Runs that differ by a factor alone."""
    R = np.linspace(1 - spread, 1 + spread, 20)[:, None] * mean
    return fit_rate(LogMeans.of(HORIZONS, tuple(R.T), True))


@pytest.mark.parametrize("kind", ["upper", "lower"])
def test_values_and_errors_of_the_probes(kind, any_seed):
    fit = fit_rate(runs(named("I1"), seed=any_seed))
    found = evidence(fit, CLAIM, kind=kind, margin=0.05)
    sign = 1 if kind == "upper" else -1
    at = fit.at(CLAIM.log_power)
    assert found.value[WHOLE] == pytest.approx(sign * (at.slope - CLAIM.slope))
    assert found.value[LATE] == pytest.approx(sign * (at.last_half.value - CLAIM.slope))
    assert found.se[[WHOLE, LATE]] == pytest.approx([at.whole.se, at.last_half.se])
    assert found.value[BEND] == pytest.approx(sign * 2 * at.curvature().value)
    assert found.value[END] == pytest.approx(sign * (at.straight()[3].value - CLAIM.slope))


def test_p_values_are_those_of_t_tests(any_seed):
    found = evidence(fit_rate(runs(named("I1"), seed=any_seed)), CLAIM, kind="upper", margin=0.05)
    t = (found.value - 0.05) / found.se
    below = max(stats.t.cdf(t[probe], found.df) for probe in (WHOLE, LATE, END))
    assert found.consistent() in (pytest.approx(below), 1.0)
    assert found.exceeds() == pytest.approx(stats.t.sf(t[WHOLE], found.df))
    assert found.refuted() >= max(found.exceeds(), found.scatters(), found.starting()) - 1e-12


@pytest.mark.parametrize("kind", ["upper", "lower"])
@pytest.mark.parametrize("claim", [Rate(0.5), Rate(0.5, 1.0), Rate(1.0, 1.0), Rate(0.2, 3.0), Rate(1.5)], ids=str)
def test_starts_tend_to_the_promised_rate(claim, kind):
    """Far beyond its bend a start has the promised growth; in the window it grows faster (a lower bound: less)."""
    weights = fit_rate(exact(CLAIM)).probes()[WHOLE]
    for family in starts(X, claim, kind, weights):
        assert family.curves.shape == (len(family.starts), len(X))
        assert np.all(np.isfinite(family.curves))
        assert np.all(family.curves @ weights > -1e-9)
    far = np.log(np.geomspace(1e40, 1e44, 12))  # of a window there, most bends lie behind
    for family in starts(far, claim, kind, weights):
        if family.endless is None:  # corrections are given at an end of the window, and fade in it
            assert abs(family.curves[0, -1] - family.curves[0, -2]) < abs(family.curves[0, 1] - family.curves[0, 0])
            continue
        slopes = family.curves @ (far - far.mean()) / ((far - far.mean()) @ (far - far.mean()))
        assert slopes.min() < 0.06


@pytest.mark.parametrize("softness", [1.0, 1.5, 3.0])
@pytest.mark.parametrize("share", [0.2, 0.5, 0.8])
def test_a_linear_start_without_noise_is_explained(softness, share):
    bend = HORIZONS[0] ** (1 - share) * HORIZONS[-1] ** share
    mean = ((HORIZONS / bend) ** -softness + (HORIZONS / bend) ** (-softness / 2)) ** (-1 / softness)
    found = evidence(noiseless(mean), Rate(0.5), kind="upper", margin=0.05)
    assert found.starting() > 0.5
    assert found.refuted() > 0.05
    if found.exceeds() < 0.05:
        assert found.nearest.bend in (Bend.LINEAR, Bend.FADING)


def test_growth_that_never_bends_is_no_start():
    assert evidence(noiseless(HORIZONS), Rate(0.5), kind="upper", margin=0.05).starting() < 0.01
    assert evidence(noiseless(np.ones_like(HORIZONS)), Rate(0.5), kind="lower", margin=0.05).starting() < 0.01


def test_what_falls_may_have_stood_still():
    still = 1 / (1 + (HORIZONS / 2.0**16) ** 0.5)
    assert decide(noiseless(still), Rate.of_regret(-0.5)).name == Outcome.INCONCLUSIVE
    assert decide(noiseless(HORIZONS**-0.3), Rate.of_regret(-0.5)).name == Outcome.REFUTED


def test_logarithms_explain_logarithms_and_no_powers():
    curves = log_powers(X, 0.05)
    assert curves[10] == pytest.approx(0.05 * X + np.log(X))
    assert evidence(noiseless(HORIZONS**0.5 * X**2.3), Rate(0.5), kind="upper", margin=0.05).logarithmic() > 0.1
    assert evidence(noiseless(HORIZONS**0.9), Rate(0.5), kind="upper", margin=0.05).logarithmic() < 1e-6
    assert evidence(noiseless(HORIZONS**0.5), Rate(0.5), kind="upper", margin=0.05, log_power=True).logs is None


def test_noise_makes_both_p_values_larger(any_seed):
    """The same means with ten times the variance: no decision that was not there."""
    for truth in (Rate(0.5), Rate(0.35)):
        fit = fit_rate(runs(named("I1"), truth, seed=any_seed))
        found = evidence(fit, Rate(0.5), kind="upper", margin=0.05)
        noisier = type(found)(**{**vars(found), "covariance": 10 * found.covariance})
        for p in ("exceeds", "scatters", "starting", "refuted"):
            assert getattr(noisier, p)() >= getattr(found, p)() - 1e-9 or getattr(found, p)() > 0.5, p


def test_odd_inputs_give_numbers():
    """Three horizons, no noise, a margin of zero, claims without room for a start."""
    few = LogMeans.of([100.0, 1e4, 1e6], (np.full(3, 10.0), np.full(3, 100.0), np.full(3, 1000.0)), True)
    for claim in (Rate(0.5), Rate(0.0), Rate(-0.5), Rate(1.5, -2.0), Rate(0.5, 4.0)):
        for kind in ("upper", "lower"):
            for margin in (0.0, 0.05, 10.0):
                with np.errstate(all="raise", under="ignore"):
                    v = decide(fit_rate(few), claim, kind=kind, margin=margin)
                assert math.isfinite(v.tolerates)
                assert 0 <= v.p_value <= 1


def test_helpers():
    pairs = np.array([[0.0, 0.0], [1.0, 8.0]])
    fine = refined(pairs)
    assert len(fine) == 9
    assert fine[4] == pytest.approx([0.5, 4.0])
    assert refined(pairs[:1]).tolist() == [[0.0, 0.0]]
    points = np.array([[0.0, 1.0], [0.001, 3.0], [1.0, 2.0]])
    assert envelope(points).tolist() == [[0.001, 3.0], [1.0, 2.0]]
    assert normal(7).mean(axis=0) == pytest.approx(np.zeros(7), abs=1e-12)


def test_pairs_that_are_excluded_and_supported():
    fit = fit_rate(runs(named("S1"), Rate(0.5), n=64))
    found = pairs_of(fit, [0.0, 1.0, 2.0])
    for power, out, good in zip(found.log_powers, found.excluded, found.supported, strict=True):
        assert out < fit.at(power).slope < good
        assert decide(fit, Rate.of_regret(out, power), words=False).name == Outcome.REFUTED
        assert decide(fit, Rate.of_regret(good, power), resolution=np.inf, words=False).name == Outcome.CONSISTENT
        assert (
            decide(fit, Rate.of_regret(good - 0.02, power), resolution=np.inf, words=False).name != Outcome.CONSISTENT
        )
    assert np.all(np.diff(found.supported) < 0)  # a logarithm is worth an exponent
    lower = pairs_of(fit, [0.0], kind="lower")
    assert lower.supported[0] < fit.slope < lower.excluded[0]


def test_unseen_lock_in():
    fit = fit_rate(exact(Rate(0.5), n=64))
    share, slope = fit.unseen()
    assert (1 - share) ** 64 == pytest.approx(0.05)
    linear = fit.data.y[0] + X - X[0]
    mixed = np.log((1 - share) * np.exp(fit.data.y) + share * np.exp(linear))
    assert slope == pytest.approx(np.polyfit(X, mixed, 1)[0] - fit.slope)


def test_less_of_a_logarithm_is_never_easier_to_keep():
    """Limits fall as the power rises, in whatever order powers come; a missing one is that of its neighbour."""
    excluded, supported = np.array([0.35, 0.3, np.nan]), np.array([0.5, 0.6, 0.65])
    left, right = _ordered(np.array([2.0, 0.0, 1.0]), excluded, supported)
    assert left.tolist() == [0.35, 0.35, 0.35]
    assert right.tolist() == [0.5, 0.6, 0.6]
    assert np.isnan(_ordered(np.array([0.0, 1.0]), np.array([0.3, np.nan]), supported[:2])[0]).tolist() == [False, True]
