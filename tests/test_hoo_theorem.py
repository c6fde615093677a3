"""HOO's theorem against the formulas and hypotheses of its paper, and what is claimed with which settings."""

from dataclasses import replace

import numpy as np
import pytest

import function_zoo as zoo
import ratecheck as rc
from ratecheck.papers import hoo, zhao_lai
from tests.test_zoo import every_cost


@every_cost
def test_the_exponent_is_that_of_adaptive_bins(name, dim):
    # 1 / (d' + 2) = alpha / D, for d' = d/alpha - beta
    c = zoo.get(name, dim).constants
    rate, other = hoo.theorem.rate(c, dim), zhao_lai.theorem2.rate(c, dim)
    assert rate.exponent == pytest.approx(other.exponent)
    assert rate.log_power == pytest.approx(rate.exponent)
    assert hoo.scale(c.alpha, c.beta, dim) == pytest.approx(zhao_lai.period(c.alpha, c.beta, dim))


@every_cost
def test_the_theorems_nu_makes_a_cost_weakly_lipschitz(name, dim, any_seed):
    """f(y) - f* <= f(x) - f* + max(f(x) - f*, L |x - y|^alpha), near minimisers and far, at all distances."""
    cost = zoo.get(name, dim)
    c, rng = cost.constants, np.random.default_rng(any_seed)
    L = hoo.least_nu(c, dim, cost.side) / hoo.largest_cell(c.alpha, dim, cost.side)
    x = rng.uniform(cost.lower, cost.upper, (4000, dim))
    x[::2] = cost.minimisers[rng.integers(len(cost.minimisers), size=2000)] + cost.side * 2.0 ** -rng.uniform(
        1, 40, (2000, 1)
    ) * rng.uniform(-1, 1, (2000, dim))
    x = np.clip(x, cost.lower, cost.upper)
    y = np.clip(
        x + cost.side * 2.0 ** -rng.uniform(0, 40, (4000, 1)) * rng.uniform(-1, 1, (4000, dim)), cost.lower, cost.upper
    )
    gx, gy = (cost.many(points) - cost.minimum for points in (x, y))
    rounding = 1e-9 * max(1.0, c.M)
    assert np.all(gy <= gx + np.maximum(gx, L * np.max(np.abs(x - y), axis=1) ** c.alpha) + rounding)


def test_cells_are_no_longer_than_the_theorem_counts_on():
    for dim in (1, 2, 3, 5):
        for h in range(30):
            longest = 2.0 * 2.0 ** -(h // dim)
            for alpha in (0.5, 1.0, 2.0):
                bound = hoo.largest_cell(alpha, dim, 2.0) * hoo.least_rho(alpha, dim) ** h
                assert longest**alpha <= bound * (1 + 1e-12)
                assert h % dim != dim - 1 or longest**alpha == pytest.approx(bound)  # attained once in every round


def violations(algorithm, name, dim):
    cost = zoo.get(name, dim)
    (claim,) = algorithm.settle(cost).claims(cost)
    return [violation.name for violation in claim.violated]


@every_cost
def test_the_theorems_settings_meet_its_hypotheses(name, dim):
    assert violations(rc.HOO(nu="theorem"), name, dim) == []
    assert violations(rc.HOO(), name, dim) == ["nu"]


def test_claims_follow_the_settings():
    assert violations(rc.HOO(nu="theorem", rho=0.4), "cone", 1) == ["rho"]  # below 1/2
    assert violations(rc.HOO(nu="theorem", rho=0.6), "cone", 1) == []
    assert violations(rc.HOO(nu=1.0, rho=0.1), "cone", 1) == ["nu", "rho"]
    # a larger rho is a smaller alpha, and its rate: 2^(-1/2) halves the alpha of a cone
    cost = zoo.get("cone", 1)
    (slow,) = rc.HOO(rho=2**-0.5).settle(cost).claims(cost)
    assert slow.rate.exponent == pytest.approx(1 / (1 / 0.5 - 1 + 2))


@pytest.mark.parametrize("name", ["cone", "quadratic"])
def test_the_onset_separates_uniform_exploration_from_the_rate(name, any_seed):
    """At a hundredth of the onset a step costs about as much as a random query, at the onset at most 0.6 times that.

    Means of 16 runs; over 200 seeds they stayed above 1.10 and below 0.30.
    """
    cost, rule = zoo.get(name, 1), rc.HOO(nu="theorem")
    onset = rule.settle(cost).onset(cost, 10**6)
    random = np.mean(cost.many(np.random.default_rng(0).uniform(cost.lower, cost.upper, (10_000, 1))) - cost.minimum)
    horizons = [max(2, round(onset / 100)), round(onset)]
    frame = rc.simulate(rule, cost, horizons, replicates=16, seed=any_seed).frame
    early, late = (frame["regret"] / frame["horizon"] / random).groupby(frame["horizon"]).mean()
    assert early > 0.8
    assert late < 0.6


def test_numbers_against_hand_computation():
    # cone, d = 1: lam = 2 / (1.5 - 1) = 4, near 2 M_b (1.5 * 6 + 4) = 65, far 13.1 * 6 / 2 = 39.3, and s = 2
    c = zoo.get("cone", 1).constants
    assert hoo.least_nu(c, 1, 2.0) == pytest.approx(2 * 65)
    assert hoo.least_nu(replace(c, M_b=1e-6), 1, 2.0) == pytest.approx(2 * c.M_a * 6 / c.A)
    # (10 * 8 / M_a) cells with 8 sigma^2 ln T / (M_a / 8)^2 queries each
    for sigma in (1.0, 3.0):
        expected = (80 / c.M_a) * 512 * sigma**2 * np.log(1000) / c.M_a**2
        assert hoo.onset(c, 1, nu=10.0, sigma=sigma, horizon=1000) == pytest.approx(expected)
    assert hoo.onset(c, 1, nu=1e300, sigma=1.0, horizon=1000) < np.inf
    assert rc.HOO().scale(zoo.get("cone", 1)) == 4.0
    assert rc.HOO().scale(zoo.get("quartic", 1)) == pytest.approx(2 ** (1 + 4 - 0.5))
    (violation,) = hoo.theorem.violated(replace(c, beta=1.5), 1)
    assert violation.name == "beta"
    assert hoo.theorem.violated(c, 1, nu=1.0) == ()  # without a box there is no least nu
