"""Regrets that bend: where a window shows another slope than the rate for T to infinity, in either direction."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np
from scipy import special

import ratecheck as rc
from studies.calibration.scenarios import blocks, means, separate

HORIZONS = 2.0 ** np.arange(9, 20)
LENGTH = HORIZONS[-1] / HORIZONS[0]
RUNS = {  # how single runs scatter about the mean, and whether they are seen at all horizons
    "anytime": (blocks, True),
    "separate": (separate(0.5), False),
    "separate, noisy": (separate(1.0), False),
}
ROOT = rc.Rate.of_regret(0.5)


@dataclass(frozen=True)
class Bend:
    """E R over the window, and what is claimed of it."""

    name: str
    mean: Callable[[np.ndarray], np.ndarray]
    claim: rc.Rate
    holds: bool  # the claim, for T to infinity
    exponent: bool  # its exponent
    kind: str = "upper"
    shown: bool = True  # a violation by more than the margin, within the window

    def fit(self, rng, runs: str, n: int) -> rc.Fit:
        scatter, anytime = RUNS[runs]
        R = scatter(rng, self.mean(HORIZONS), n)
        return rc.fit_rate(means(HORIZONS, R, anytime))


def place(share):
    """A horizon within the window: 0 is its first, 1 its last."""
    return HORIZONS[0] * LENGTH**share


def start(share, softness):
    """Linear in T up to a place, then the root of T; the k-norm of both, k the softness."""

    def mean(T):
        bend = place(share)
        return ((T / bend) ** -softness + (T / bend) ** (-softness / 2)) ** (-1 / softness)

    return mean


def broken(share):
    return lambda T: np.where(place(share) > T, T / place(share), np.sqrt(T / place(share)))


def floor(size, slope):
    """A constant of so many times the first term, and a power of T."""
    return lambda T: size * T[0] ** slope + T**slope


def reduced(size):
    return lambda T: np.sqrt(T) - size * np.sqrt(T[0])


def crossover(octave, sharpness=4.0):
    """T^0.5 that turns into T^0.75."""

    def mean(T):
        t = T / 2.0**octave
        return (t ** (sharpness / 2) + t ** (0.75 * sharpness)) ** (1 / sharpness)

    return mean


def power(slope, log_power=0.0):
    return rc.Rate.of_regret(slope, log_power).regret


def late_logarithm(octave):
    return lambda T: np.log1p(T / 2.0**octave)


def starts():
    for share in (0.65, 0.8, 0.95):
        for softness, word in ((1.0, "very soft"), (1.5, "soft")):
            name = f"linear start to T^.5, {word} bend at {100 * share:.0f} % of the window"
            yield Bend(name, start(share, softness), ROOT, True, True)
    for share in (0.65, 0.8):
        yield Bend(f"the same, hard bend at {100 * share:.0f} %", broken(share), ROOT, True, True)


def corrections():
    for size in (0.5, 0.9):
        yield Bend(f"T^.5 less {size:g} times its first term", reduced(size), ROOT, True, True)
    for size in (2, 8):
        name = f"T^.5 and {size} times its first term, claimed as a lower bound T^.5"
        yield Bend(name, floor(size, 0.5), ROOT, True, True, "lower")
    yield Bend("T^.5 (1 - 2 T^-.2)", lambda T: np.sqrt(T) * (1 - 2 * T**-0.2), ROOT, True, True)
    for octave in (12, 15):
        name = f"a logarithm that starts at 2^{octave}, claimed as ln T"
        yield Bend(name, late_logarithm(octave), rc.Rate.of_regret(0.0, 1.0), True, True)
    yield Bend("T^.5 ln T, claimed as T^.5 (ln T)^2", power(0.5, 1.0), rc.Rate.of_regret(0.5, 2.0), True, True)


def rises():
    for size in (1, 8):
        name = f"T^.7 and {size} times its first term, claimed as T^.6"
        yield Bend(name, floor(size, 0.7), rc.Rate.of_regret(0.6), False, False)
    for octave in (12, 14, 16, 19):
        claim = rc.Rate.of_regret(0.65)
        yield Bend(
            f"T^.5 that turns into T^.75 at 2^{octave}, claimed as T^.65",
            crossover(octave),
            claim,
            False,
            False,
            shown=octave < 19,
        )
    yield Bend(
        "T / 200 and 30 ln T, claimed as T^(2/3)",
        lambda T: T / 200 + 30 * np.log(T),
        rc.Rate.of_regret(2 / 3),
        False,
        False,
    )


def logarithms():
    for slope, log_power in ((0.6, 1.0), (0.6, 1.5), (0.65, 2.0), (0.85, 4.0)):
        claim = rc.Rate.of_regret(0.5, log_power)
        yield Bend(f"T^{slope:g}, claimed as T^.5 (ln T)^{log_power:g}", power(slope), claim, False, False, shown=False)
    for true, claimed in ((2.0, 1.0), (3.0, 1.0), (3.0, 0.0)):
        name = f"T^.5 (ln T)^{true:g}, claimed with the log power {claimed:g}"
        yield Bend(name, power(0.5, true), rc.Rate.of_regret(0.5, claimed), False, True)


def pure():
    for log_power in (0.0, 1.0):
        claim = rc.Rate.of_regret(0.5, log_power)
        yield Bend(f"{str(claim)[4:]} itself", power(0.5, log_power), claim, True, True)
        wrong = power(0.65, log_power)
        yield Bend(
            f"{str(rc.Rate.of_regret(0.65, log_power))[4:]}, claimed as {str(claim)[4:]}", wrong, claim, False, False
        )
    yield Bend("T, claimed as T^.5", power(1.0), ROOT, False, False)


BENDS = (*pure(), *starts(), *corrections(), *rises(), *logarithms())


def bend_named(name) -> Bend:
    return next(bend for bend in BENDS if bend.name == name)


def best_power(bend: Bend, runs: str, n: int, error: float = 0.02) -> float:
    """The power against a wrong rate that no rule can exceed which refutes a true one with a chance of `error`.

    By Neyman and Pearson: from the distance between log E R of the wrong regret and that of the nearest start that
    bends into the claim, in standard deviations of the log-means; the true one of all is the best for this.
    """
    x = np.log(HORIZONS)
    wrong = np.log(bend.mean(HORIZONS))
    inverse = np.linalg.inv(true_covariance(bend, runs, n))
    g = np.log(bend.claim.regret(HORIZONS))
    ones = np.ones_like(x)
    nearest = np.inf
    for bent in x[0] + np.linspace(-0.5, 1.0, 301) * (x[-1] - x[0]):
        linear = x - bent + np.log(bend.claim.regret(np.exp(bent)))
        gap = wrong + np.logaddexp(-linear, -g)  # the very soft start, which is the nearest
        gap = gap - ones * (ones @ inverse @ gap) / (ones @ inverse @ ones)
        nearest = min(nearest, float(gap @ inverse @ gap))
    return float(special.ndtr(np.sqrt(nearest) + special.ndtri(error)))


def true_covariance(bend: Bend, runs: str, n: int) -> np.ndarray:
    """Of the log-means of n runs, from very many."""
    scatter, anytime = RUNS[runs]
    R = scatter(np.random.default_rng(1), bend.mean(HORIZONS), 20000)
    cov = np.cov((R / R.mean(axis=0)).T) / n
    return cov if anytime else np.diag(np.diag(cov))
