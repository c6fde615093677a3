"""Runs of well-known algorithms with proven rates, to be resampled: real scatter, real starts, real corrections.

Pseudo-regrets of bandits, optimality gaps of stochastic gradients and errors of a running mean, summed over the steps.
All kernels take the state of a stream first; those of anytime algorithms end with the horizons, ascending, and write
the sum at each of them into `seen`.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass
from functools import cache, partial

import numpy as np

import ratecheck as rc
from ratecheck.fit.log_means import LogMeans
from ratecheck.kernels import compiled, generator, inlined, normal, uniform
from ratecheck.study import stream
from studies.calibration.scenarios import means

HORIZONS = 2 ** np.arange(9, 20)
SIZE = 512
SEED = 0


# Bandits.  Arm k is gaps[k] worse than the best; n[k] counts its pulls and total[k] sums its rewards, which are normal
# with variance 1 or, where so said, Bernoulli with mean 1/2 - gaps[k].  Every arm is pulled once to begin with, unless
# there is a proper prior.


@inlined
def play(rng, choose, reward, settings, gaps, n, total, horizons, seen):
    """Pull the arms that `choose` names after t pulls; what is summed is the pseudo-regret."""
    n[:] = 0
    total[:] = 0.0
    t = 0
    for j in range(horizons.size):
        while t < horizons[j]:
            arm = choose(rng, t, n, total, settings)
            total[arm] += reward(rng, gaps[arm])
            n[arm] += 1
            t += 1
        R = 0.0
        for k in range(gaps.size):
            R += gaps[k] * n[k]
        seen[j] = R


@inlined
def normal_reward(rng, gap):
    return normal(rng) - gap


@inlined
def bernoulli_reward(rng, gap):
    return 1.0 if uniform(rng) < 0.5 - gap else 0.0


@inlined
def highest_normal(rng, t, n, total, settings):
    if t < n.size:
        return t
    best, highest = 0, -math.inf
    for k in range(n.size):
        theta = total[k] / n[k] + normal(rng) / math.sqrt(n[k])
        if theta > highest:
            best, highest = k, theta
    return best


@compiled
def thompson_gaussian(rng, gaps, n, total, horizons, seen):
    """theta_k ~ N(total_k / n_k, 1 / n_k), the posterior under Jeffreys' prior; pull the arm with the highest."""
    play(rng, highest_normal, normal_reward, (), gaps, n, total, horizons, seen)


@inlined
def gamma(rng, a):
    """Gamma with shape a >= 1 (Marsaglia and Tsang 2000, "A simple method for generating gamma variables")."""
    d = a - 1.0 / 3.0
    c = 1.0 / math.sqrt(9.0 * d)
    while True:
        x = normal(rng)
        v = 1.0 + c * x
        if v <= 0.0:
            continue
        v = v * v * v
        u = 1.0 - uniform(rng)
        if u < 1.0 - 0.0331 * (x * x) * (x * x) or math.log(u) < 0.5 * x * x + d * (1.0 - v + math.log(v)):
            return d * v


@inlined
def highest_beta(rng, t, n, total, settings):
    best, highest = 0, -1.0
    for k in range(n.size):
        a = gamma(rng, 1.0 + total[k])
        b = gamma(rng, 1.0 + (n[k] - total[k]))
        theta = a / (a + b)
        if theta > highest:
            best, highest = k, theta
    return best


@compiled
def thompson_beta(rng, gaps, n, total, horizons, seen):
    """Bernoulli arms, theta_k ~ Beta(1 + successes, 1 + failures); pull the arm with the highest."""
    play(rng, highest_beta, bernoulli_reward, (), gaps, n, total, horizons, seen)


@inlined
def highest_index(rng, t, n, total, settings):
    if t < n.size:
        return t
    best, highest = 0, -math.inf
    twice = 2.0 * math.log(float(t))
    for k in range(n.size):
        index = total[k] / n[k] + math.sqrt(twice / n[k])
        if index > highest:
            best, highest = k, index
    return best


@compiled
def ucb1(rng, gaps, n, total, horizons, seen):
    """Bernoulli arms; pull the arm with the highest total_k / n_k + sqrt(2 ln t / n_k), t the pulls so far."""
    play(rng, highest_index, bernoulli_reward, (), gaps, n, total, horizons, seen)


@inlined
def any_or_best(rng, t, n, total, settings):
    epsilon, power = settings
    if t < n.size:
        return t
    if uniform(rng) < epsilon * float(t) ** -power:
        return int(uniform(rng) * n.size)
    best = 0
    for k in range(1, n.size):
        if total[k] / n[k] > total[best] / n[best]:
            best = k
    return best


@compiled
def epsilon_greedy(rng, epsilon, power, gaps, n, total, horizons, seen):
    """With probability epsilon t^-power any arm, otherwise the one with the highest mean; t pulls so far."""
    play(rng, any_or_best, normal_reward, (epsilon, power), gaps, n, total, horizons, seen)


@compiled
def explore_then_commit(rng, m, horizon, gaps, total):
    """Pull every arm m times, then the one with the highest total for the rest."""
    best, R = 0, 0.0
    for k in range(gaps.size):
        total[k] = 0.0
        for _ in range(m):
            total[k] += normal(rng) - gaps[k]
        R += m * gaps[k]
        if total[k] > total[best]:
            best = k
    return R + (horizon - m * gaps.size) * gaps[best]


# Stochastic gradients and Monte Carlo


@compiled
def sgd_quadratic(rng, c, x, horizons, seen):
    """f(x) = x^2 / 2, gradients with normal noise, steps c / t."""
    t, R = 0, 0.0
    for j in range(horizons.size):
        while t < horizons[j]:
            t += 1
            R += 0.5 * x * x
            x -= c / t * (x + normal(rng))
        seen[j] = R


@compiled
def sgd_modulus(rng, x, horizons, seen):
    """f(x) = |x| on [-|x_1|, |x_1|], subgradients with normal noise, steps 1 / sqrt(t), projected."""
    edge = abs(x)
    t, R = 0, 0.0
    for j in range(horizons.size):
        while t < horizons[j]:
            t += 1
            R += abs(x)
            x -= (math.copysign(1.0, x) + normal(rng)) / math.sqrt(t)
            x = min(max(x, -edge), edge)
        seen[j] = R


@compiled
def monte_carlo(rng, horizons, seen):
    """|mean of exp(U_1), ..., exp(U_t) - (e - 1)| with uniform U."""
    t, R, total = 0, 0.0, 0.0
    for j in range(horizons.size):
        while t < horizons[j]:
            total += math.exp(uniform(rng))
            t += 1
            R += abs(total / t - (math.e - 1.0))
        seen[j] = R


# Pools: the same runs in every process, made when first asked for


def state_of(*names):
    return generator.open_state(stream(SEED, "real", *names).bit_generator.seed_seq)


@cache
def runs(kernel, *settings, gaps=None, size=SIZE):
    """A row per run of an anytime algorithm, a column per horizon."""
    arms = () if gaps is None else (np.array(gaps), np.zeros(len(gaps), np.int64), np.zeros(len(gaps)))
    seen = np.empty((size, len(HORIZONS)))
    for i, row in enumerate(seen):
        kernel(state_of(kernel.__name__, settings, gaps, i), *settings, *arms, HORIZONS, row)
    seen.flags.writeable = False
    return seen


@cache
def commitments(gaps, size=8 * SIZE):
    """Explore-then-commit with T^(2/3) pulls of each arm: every entry is a run of its own.

    There are more of them, for a regret has but two values and the higher is rare.  Beyond 2^17 it is too rare to be
    seen: all regrets at a horizon are the same.
    """
    arms = np.array(gaps), np.zeros(len(gaps))
    seen = np.empty((size, len(HORIZONS)))
    for (i, j), _ in np.ndenumerate(seen):
        T = HORIZONS[j]
        seen[i, j] = explore_then_commit(state_of("explore_then_commit", gaps, T, i), round(T ** (2 / 3)), T, *arms)
    seen.flags.writeable = False
    return seen


@dataclass(frozen=True)
class Real:
    """A pool of runs whose rate is proven, with upper bounds that hold and upper bounds that do not."""

    name: str
    what: str
    pool: Callable[[], np.ndarray]
    truth: rc.Rate
    right: tuple[rc.Rate, ...]  # never to be REFUTED
    wrong: tuple[rc.Rate, ...]  # never to be CONSISTENT
    anytime: bool = True


def sample(real, rng, n) -> LogMeans:
    """n runs drawn from the pool with replacement: whole rows, or every horizon for itself."""
    pool = real.pool()
    if real.anytime:
        R = pool[rng.integers(len(pool), size=n)]
    else:
        R = np.take_along_axis(pool, rng.integers(len(pool), size=(n, len(HORIZONS))), axis=0)
    return means(HORIZONS, R, real.anytime)


def named(name) -> Real:
    return next(real for real in REAL if real.name == name)


CONSTANT, LOGARITHM, ROOT = (rc.Rate.of_regret(*powers) for powers in ((0.0,), (0.0, 1.0), (0.5,)))
TWO_THIRDS, LINEAR = rc.Rate.of_regret(2 / 3), rc.Rate.of_regret(1.0)
OVER_ALL_GAPS = rc.Rate.of_regret(0.5, 0.5)  # of UCB1 and Thompson sampling
EXPLORING = rc.Rate.of_regret(2 / 3, 1 / 3)  # of explore-then-commit and epsilon-greedy, over all gaps
TWO_FIFTHS = rc.Rate.of_regret(0.4)

# Gaps do not depend on T.  So UCB1 (Auer, Cesa-Bianchi and Fischer 2002, Theorem 1) and Thompson sampling (Korda,
# Kaufmann and Munos 2013; Bernoulli: Kaufmann, Korda and Munos 2012) come to ln T, and not below (Lai and Robbins
# 1985).  After T^(2/3) pulls of every arm, the best is mistaken with a probability that falls faster than any power of
# T.  What costs is exploring: T^(2/3), without the logarithm of the bound over all gaps (Slivkins 2019, "Introduction
# to multi-armed bandits", chapter 1).
#
# With steps c / t and c > 1/2, E x_t^2 ~ c^2 / ((2c - 1) t).  With steps 1 / sqrt(t), Zinkevich (2003, Theorem 1)
# bounds the sum from above, the noise of the latest step from below.  The error of a mean is about sd sqrt(2 / (pi t)).

REAL = (
    Real(
        "thompson",
        "Thompson sampling, normal arms, gap 0.1",
        partial(runs, thompson_gaussian, gaps=(0.0, 0.1)),
        LOGARITHM,
        (LOGARITHM, OVER_ALL_GAPS),
        (CONSTANT,),
    ),
    Real(
        "thompson-small",
        "Thompson sampling, normal arms, gap 0.05",
        partial(runs, thompson_gaussian, gaps=(0.0, 0.05)),
        LOGARITHM,
        (LOGARITHM, OVER_ALL_GAPS),
        (CONSTANT,),
    ),
    Real(
        "thompson-beta",
        "Thompson sampling, Bernoulli arms, gap 0.05",
        partial(runs, thompson_beta, gaps=(0.0, 0.05)),
        LOGARITHM,
        (LOGARITHM, OVER_ALL_GAPS),
        (CONSTANT,),
    ),
    Real(
        "ucb1",
        "UCB1, Bernoulli arms, gap 0.1",
        partial(runs, ucb1, gaps=(0.0, 0.1)),
        LOGARITHM,
        (LOGARITHM, OVER_ALL_GAPS),
        (CONSTANT,),
    ),
    Real(
        "ucb1-small",
        "UCB1, Bernoulli arms, gap 0.05",
        partial(runs, ucb1, gaps=(0.0, 0.05)),
        LOGARITHM,
        (LOGARITHM, OVER_ALL_GAPS),
        (CONSTANT,),
    ),
    Real(
        "commit",
        "explore-then-commit, T^(2/3) pulls of each arm, gap 0.1",
        partial(commitments, (0.0, 0.1)),
        TWO_THIRDS,
        (TWO_THIRDS, EXPLORING),
        (ROOT, LOGARITHM),
        anytime=False,
    ),
    Real(
        "greedy-fixed",
        "epsilon-greedy, epsilon = 0.01, gap 0.5",
        partial(runs, epsilon_greedy, 0.01, 0.0, gaps=(0.0, 0.5)),
        LINEAR,
        (LINEAR,),
        (TWO_THIRDS, ROOT, LOGARITHM),
    ),
    Real(
        "greedy-falling",
        "epsilon-greedy, epsilon = t^(-1/3), gap 0.2",
        partial(runs, epsilon_greedy, 1.0, 1 / 3, gaps=(0.0, 0.2)),
        TWO_THIRDS,
        (TWO_THIRDS, EXPLORING),
        (ROOT, LOGARITHM),
    ),
    Real(
        "sgd-far",
        "stochastic gradients on x^2 / 2 from 10, steps 0.75 / t",
        partial(runs, sgd_quadratic, 0.75, 10.0),
        LOGARITHM,
        (LOGARITHM, ROOT),
        (CONSTANT,),
    ),
    Real(
        "sgd-near",
        "stochastic gradients on x^2 / 2 from 3, steps 0.75 / t",
        partial(runs, sgd_quadratic, 0.75, 3.0),
        LOGARITHM,
        (LOGARITHM, ROOT),
        (CONSTANT,),
    ),
    Real(
        "sgd-modulus",
        "stochastic subgradients on |x| from 5, steps 1 / sqrt(t)",
        partial(runs, sgd_modulus, 5.0),
        ROOT,
        (ROOT, rc.Rate.of_regret(0.5, 1.0)),
        (TWO_FIFTHS, LOGARITHM),
    ),
    Real(
        "monte-carlo",
        "Monte Carlo, absolute error of the running mean",
        partial(runs, monte_carlo),
        ROOT,
        (ROOT,),
        (TWO_FIFTHS, LOGARITHM),
    ),
)
