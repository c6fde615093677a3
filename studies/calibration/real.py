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
from ratecheck.sampling.generator import normal, open_state, uniform
from ratecheck.sampling.jit import compiled, inlined
from ratecheck.sampling.seeding import stream
from studies.calibration.scenarios import means

HORIZONS = 2 ** np.arange(9, 20)
SIZE = 512
SEED = 0


# Bandits.  Arm k is gaps[k] worse than the best; n[k] counts its pulls and total[k] sums its rewards, which are normal
# with variance 1 or, where so said, Bernoulli with mean 1/2 - gaps[k].  Every arm is pulled once to begin with, unless
# there is a proper prior.


@inlined
def pseudo_regret(gaps, n):
    R = 0.0
    for k in range(gaps.size):
        R += gaps[k] * n[k]
    return R


@inlined
def start(n, total):
    for k in range(n.size):
        n[k] = 0
        total[k] = 0.0


@inlined
def bernoulli(p, s0, s1, s2, s3):
    u, s0, s1, s2, s3 = uniform(s0, s1, s2, s3)
    return 1.0 if u < p else 0.0, s0, s1, s2, s3


@compiled
def thompson_gaussian(state, gaps, n, total, horizons, seen):
    """theta_k ~ N(total_k / n_k, 1 / n_k), the posterior under Jeffreys' prior; pull the arm with the highest."""
    s0, s1, s2, s3 = state[0], state[1], state[2], state[3]
    start(n, total)
    t = 0
    for j in range(horizons.size):
        while t < horizons[j]:
            best, highest = t, math.inf
            if t >= gaps.size:
                highest = -math.inf
                for k in range(gaps.size):
                    z, s0, s1, s2, s3 = normal(s0, s1, s2, s3)
                    theta = total[k] / n[k] + z / math.sqrt(n[k])
                    if theta > highest:
                        best, highest = k, theta
            z, s0, s1, s2, s3 = normal(s0, s1, s2, s3)
            total[best] += z - gaps[best]
            n[best] += 1
            t += 1
        seen[j] = pseudo_regret(gaps, n)


@inlined
def gamma(a, s0, s1, s2, s3):
    """Gamma with shape a >= 1 (Marsaglia and Tsang 2000, "A simple method for generating gamma variables")."""
    d = a - 1.0 / 3.0
    c = 1.0 / math.sqrt(9.0 * d)
    while True:
        x, s0, s1, s2, s3 = normal(s0, s1, s2, s3)
        v = 1.0 + c * x
        if v <= 0.0:
            continue
        v = v * v * v
        u, s0, s1, s2, s3 = uniform(s0, s1, s2, s3)
        u = 1.0 - u
        if u < 1.0 - 0.0331 * (x * x) * (x * x) or math.log(u) < 0.5 * x * x + d * (1.0 - v + math.log(v)):
            return d * v, s0, s1, s2, s3


@compiled
def thompson_beta(state, gaps, n, total, horizons, seen):
    """Bernoulli arms, theta_k ~ Beta(1 + successes, 1 + failures); pull the arm with the highest."""
    s0, s1, s2, s3 = state[0], state[1], state[2], state[3]
    start(n, total)
    t = 0
    for j in range(horizons.size):
        while t < horizons[j]:
            best, highest = 0, -1.0
            for k in range(gaps.size):
                a, s0, s1, s2, s3 = gamma(1.0 + total[k], s0, s1, s2, s3)
                b, s0, s1, s2, s3 = gamma(1.0 + (n[k] - total[k]), s0, s1, s2, s3)
                theta = a / (a + b)
                if theta > highest:
                    best, highest = k, theta
            y, s0, s1, s2, s3 = bernoulli(0.5 - gaps[best], s0, s1, s2, s3)
            total[best] += y
            n[best] += 1
            t += 1
        seen[j] = pseudo_regret(gaps, n)


@compiled
def ucb1(state, gaps, n, total, horizons, seen):
    """Bernoulli arms; pull the arm with the highest total_k / n_k + sqrt(2 ln t / n_k), t the pulls so far."""
    s0, s1, s2, s3 = state[0], state[1], state[2], state[3]
    start(n, total)
    t = 0
    for j in range(horizons.size):
        while t < horizons[j]:
            best = t
            if t >= gaps.size:
                best, highest = 0, -math.inf
                twice = 2.0 * math.log(float(t))
                for k in range(gaps.size):
                    index = total[k] / n[k] + math.sqrt(twice / n[k])
                    if index > highest:
                        best, highest = k, index
            y, s0, s1, s2, s3 = bernoulli(0.5 - gaps[best], s0, s1, s2, s3)
            total[best] += y
            n[best] += 1
            t += 1
        seen[j] = pseudo_regret(gaps, n)


@compiled
def epsilon_greedy(state, epsilon, power, gaps, n, total, horizons, seen):
    """With probability epsilon t^-power any arm, otherwise the one with the highest mean; t pulls so far."""
    s0, s1, s2, s3 = state[0], state[1], state[2], state[3]
    start(n, total)
    t = 0
    for j in range(horizons.size):
        while t < horizons[j]:
            best = t
            if t >= gaps.size:
                u, s0, s1, s2, s3 = uniform(s0, s1, s2, s3)
                if u < epsilon * float(t) ** -power:
                    u, s0, s1, s2, s3 = uniform(s0, s1, s2, s3)
                    best = int(u * gaps.size)
                else:
                    best = 0
                    for k in range(1, gaps.size):
                        if total[k] / n[k] > total[best] / n[best]:
                            best = k
            z, s0, s1, s2, s3 = normal(s0, s1, s2, s3)
            total[best] += z - gaps[best]
            n[best] += 1
            t += 1
        seen[j] = pseudo_regret(gaps, n)


@compiled
def explore_then_commit(state, m, horizon, gaps, total):
    """Pull every arm m times, then the one with the highest total for the rest."""
    s0, s1, s2, s3 = state[0], state[1], state[2], state[3]
    best, R = 0, 0.0
    for k in range(gaps.size):
        total[k] = 0.0
        for _ in range(m):
            z, s0, s1, s2, s3 = normal(s0, s1, s2, s3)
            total[k] += z - gaps[k]
        R += m * gaps[k]
        if total[k] > total[best]:
            best = k
    return R + (horizon - m * gaps.size) * gaps[best]


# Stochastic gradients and Monte Carlo


@compiled
def sgd_quadratic(state, c, x, horizons, seen):
    """f(x) = x^2 / 2, gradients with normal noise, steps c / t."""
    s0, s1, s2, s3 = state[0], state[1], state[2], state[3]
    t, R = 0, 0.0
    for j in range(horizons.size):
        while t < horizons[j]:
            t += 1
            R += 0.5 * x * x
            z, s0, s1, s2, s3 = normal(s0, s1, s2, s3)
            x -= c / t * (x + z)
        seen[j] = R


@compiled
def sgd_modulus(state, x, horizons, seen):
    """f(x) = |x| on [-|x_1|, |x_1|], subgradients with normal noise, steps 1 / sqrt(t), projected."""
    s0, s1, s2, s3 = state[0], state[1], state[2], state[3]
    edge = abs(x)
    t, R = 0, 0.0
    for j in range(horizons.size):
        while t < horizons[j]:
            t += 1
            R += abs(x)
            z, s0, s1, s2, s3 = normal(s0, s1, s2, s3)
            x -= (math.copysign(1.0, x) + z) / math.sqrt(t)
            x = min(max(x, -edge), edge)
        seen[j] = R


@compiled
def monte_carlo(state, horizons, seen):
    """|mean of exp(U_1), ..., exp(U_t) - (e - 1)| with uniform U."""
    s0, s1, s2, s3 = state[0], state[1], state[2], state[3]
    t, R, total = 0, 0.0, 0.0
    for j in range(horizons.size):
        while t < horizons[j]:
            u, s0, s1, s2, s3 = uniform(s0, s1, s2, s3)
            total += math.exp(u)
            t += 1
            R += abs(total / t - (math.e - 1.0))
        seen[j] = R


# Pools: the same runs in every process, made when first asked for


def state_of(*names):
    return open_state(stream(SEED, "real", *names).bit_generator.seed_seq)


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
