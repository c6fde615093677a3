"""Synthetic runs with known E R(T): how they scatter around it, and how it departs from a pure rate."""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass
from functools import lru_cache

import numpy as np

import ratecheck as rc
from ratecheck.fit.log_means import LogMeans

HORIZONS = 2.0 ** np.arange(8, 20)
CLAIM = rc.Rate(0.5, 1.0)
LOCKED = 0.04  # share of the runs that lock in


def means(horizons, regrets, anytime, streams=None) -> LogMeans:
    """What a fit takes of a matrix with a row per run and a column per horizon."""
    return LogMeans.of(horizons, tuple(regrets.T.copy()), anytime, streams=streams)


@dataclass(frozen=True)
class Scenario:
    """How runs scatter around E R(T), and how E R(T) departs from a pure rate."""

    name: str
    what: str
    scatter: Callable  # (rng, mean over horizons, N) -> (N, J) regrets with that mean
    anytime: bool = True
    shape: Callable = None  # horizons -> factor on the pure rate
    period: float | None = None
    pure: bool = True  # E R is a rate exactly, so its slope is known
    lock_in: bool = False

    def mean(self, rate: rc.Rate):
        pure = 3.0 * rate.regret(HORIZONS)
        return pure if self.shape is None else pure * self.shape(HORIZONS)

    def data(self, rng, rate, n) -> LogMeans:
        R = self.scatter(rng, self.mean(rate), n)
        return means(HORIZONS, R, self.anytime)

    def fit(self, rng, rate, n) -> rc.Fit:
        return rc.fit_rate(self.data(rng, rate, n), CLAIM.log_power, None, self.period)

    def truth(self) -> rc.Fit:
        """What the same fit gives on E R(T) itself."""
        data = means(HORIZONS, np.tile(self.mean(CLAIM), (3, 1)), anytime=True)
        return rc.fit_rate(data, CLAIM.log_power, None, self.period)


def lognormal(rng, sigma, size):
    """Mean one."""
    return np.exp(sigma * rng.standard_normal(size) - sigma**2 / 2)


def blocks(rng, mean, n):
    """A run effect and independent block increments: an anytime algorithm seen at all horizons."""
    increments = np.diff(mean, prepend=0.0)
    noise = rng.gamma(4.0, 0.25, (n, len(mean)))
    return lognormal(rng, 0.4, (n, 1)) * np.cumsum(increments * noise, axis=1)


def random_slopes(rng, mean, n):
    x = np.log(HORIZONS / HORIZONS[0])
    tilt = 0.06 * rng.standard_normal((n, 1))
    return mean * np.exp(tilt * x - (0.06 * x) ** 2 / 2)


def locked(rng, mean, n):
    """Four per cent of the runs cost fifteen times as much."""
    factor = np.where(rng.random((n, 1)) < LOCKED, 15.0, 1.0) / (1 + 14 * LOCKED)
    return factor * blocks(rng, mean, n)


def stuck(rng, mean, n):
    """Four per cent of the runs also pay linearly; the whole is scaled back to the mean that was asked for."""
    linear = mean[0] * HORIZONS / HORIZONS[0]
    R = blocks(rng, mean, n) + np.where(rng.random((n, 1)) < LOCKED, linear, 0.0)
    return R * (mean / (mean + LOCKED * linear))


def locked_apart(rng, mean, n):
    factor = np.where(rng.random((n, len(mean))) < LOCKED, 15.0, 1.0) / (1 + 14 * LOCKED)
    return factor * mean * lognormal(rng, 0.5, (n, len(mean)))


def heavy(rng, mean, n):
    """Run effects with a tail like x^-3: no third moment."""
    effect = rng.pareto(3.0, (n, 1)) / 0.5
    return 0.5 * (1 + effect) * blocks(rng, mean, n)


def separate(sigma):
    def scatter(rng, mean, n):
        return mean * lognormal(rng, sigma, (n, len(mean)))

    return scatter


def separate_gamma(rng, mean, n):
    return mean * rng.gamma(0.7, 1 / 0.7, (n, len(mean)))


@lru_cache(maxsize=1)
def ucb_pool(size=6000):
    """Cumulative pseudo-regrets of UCB1 on three Gaussian arms at the horizons, capped at 2^13 steps."""
    rng = np.random.default_rng(20)
    gaps = np.array([0.0, 0.3, 0.6])
    stops = (HORIZONS / 2**6).astype(int)
    counts = np.ones((size, 3))
    sums = -gaps + rng.standard_normal((size, 3))
    regret = np.full(size, gaps.sum())
    everyone = np.arange(size)
    seen = []
    for t in range(1, stops[-1] + 1):
        if t > 3:
            arm = np.argmax(sums / counts + np.sqrt(2 * math.log(t) / counts), axis=1)
            regret = regret + gaps[arm]
            sums[everyone, arm] += -gaps[arm] + rng.standard_normal(size)
            counts[everyone, arm] += 1
        if t in stops:
            seen.append(regret)
    return np.column_stack(seen)


def resampled(rng, mean, n):
    pool = ucb_pool()
    return pool[rng.integers(len(pool), size=n)] * (mean / pool.mean(axis=0))


def resampled_apart(rng, mean, n):
    pool = ucb_pool()
    rows = rng.integers(len(pool), size=(n, pool.shape[1]))
    return np.take_along_axis(pool, rows, axis=0) * (mean / pool.mean(axis=0))


def waves(T):
    return 1 + 0.25 * np.sin(2 * np.pi * np.log(T) / np.log(16.0) + 1.0)


def slow(T):
    return 1 - 0.7 * T**-0.25


def linear_start(onset):
    def shape(T):
        """Linear in T below the onset, smoothly joined."""
        return (1 + (onset / T) ** 1.5) ** (-0.5 / 1.5)

    return shape


SCENARIOS = (
    Scenario("S1", "run effect and block increments", blocks),
    Scenario("S2", "random slopes", random_slopes),
    Scenario("S4", "4 % of runs lock in at 15 times the regret", locked, lock_in=True),
    Scenario("S4b", "4 % of runs lock in and pay linearly", stuck, lock_in=True),
    Scenario("S5", "resampled runs of UCB1", resampled),
    Scenario("S6", "heavy tails, no third moment", heavy),
    Scenario("S7", "log-periodic with factor 16", blocks, shape=waves, period=16.0),
    Scenario("S8", "slow correction 1 - 0.7 T^(-1/4)", blocks, shape=slow, pure=False),
    Scenario("S9", "linear start up to 2^9", blocks, shape=linear_start(2.0**9), pure=False),
    Scenario("S10", "linear start up to 2^13, half of the window", blocks, shape=linear_start(2.0**13), pure=False),
    Scenario("I1", "separate runs, lognormal 0.5", separate(0.5), anytime=False),
    Scenario("I2", "separate runs, lognormal 1", separate(1.0), anytime=False),
    Scenario("I4", "separate runs, 4 % lock in at 15 times", locked_apart, anytime=False, lock_in=True),
    Scenario("I5", "separate runs, gamma 0.7", separate_gamma, anytime=False),
    Scenario("I6", "separate runs of UCB1, resampled", resampled_apart, anytime=False),
)


def named(name):
    return next(s for s in SCENARIOS if s.name == name)


def holds_one(table):
    """The chance that a sample holds a run that locks in (at a horizon, where horizons have their own runs)."""
    pairs = zip(table["N"], map(named, table["scenario"]), strict=True)
    draws = [n * (1 if s.anytime else len(HORIZONS)) for n, s in pairs]
    return 1 - (1 - LOCKED) ** np.array(draws)
