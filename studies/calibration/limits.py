"""`python -m studies.calibration.limits`: false settlements of the limits that `rc.far` tells, on synthetic curves.

The curves were written down before the rule: drawn by seed, with a limit that is known, the horizons of a predicted
curve, errors as they are stated there, and waves of the period that the rule is told.
"""

from __future__ import annotations

import argparse
import math
import sys
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path

import numpy as np
import pandas as pd

import ratecheck as rc

FIRST = 2.0**10
ENDS = (1e12, 1e20, 1e30, 1e60, 1e60, 1e60)  # of which one is drawn
POWERS = (0.0, 2 / 3, 1.0, 1.25, 1.5, 2.0, 3.0, 4.0)  # that a theorem promises
FILE = Path(__file__).parent / "limits.csv"


def horizons(end, period) -> np.ndarray:
    """Like those of a predicted curve: quarters of a period apart at first, then an odd number of quarters."""
    quarter = math.log(period) / 4
    count, step = math.floor(math.log(end / FIRST) / quarter), 1
    while count - 24 > 40 * step:
        step += 2
    return FIRST * np.exp(quarter * np.array([*range(min(24, count)), *range(24, count + 1, step)]))


@dataclass(frozen=True)
class Drawn:
    """A curve, what the rule is told beside it, and the truth."""

    curve: rc.Curve
    claim: rc.Claim
    period: float
    shift: float | None
    limit: float
    beyond: bool  # it bends at a horizon that the curve does not reach
    end: float

    def far(self) -> rc.Far:
        return rc.far(self.curve, self.claim, period=self.period, shift=self.shift)


@dataclass(frozen=True)
class Setting:
    """What all classes of curves share: a slope, the promised log power, a shift, and ln T of the horizons."""

    slope: float
    most: float
    shift: float
    L: np.ndarray

    @classmethod
    def drawn(cls, rng, L):
        shift = rng.choice([0.0, 10 ** rng.uniform(0, 2), 10 ** rng.uniform(2, 4)])
        return cls(rng.uniform(0.4, 0.8), rng.choice(POWERS), shift, L)

    def logs(self, rng):
        """ln R with some of the promised power of ln T + shift."""
        return self.slope * self.L + rng.uniform(0, self.most) * np.log(self.L + self.shift)

    def bend(self, rng):
        """ln T of a bend anywhere, also beyond the end, and whether it is there."""
        at = rng.uniform(self.L[0], 1.5 * self.L[-1])
        return at, at > self.L[-1]


# Each returns ln R, its limiting slope and whether it bends beyond the end


def power_of_logarithm(rng, s: Setting):
    """T^s (ln T + c)^p, p at most as promised"""
    return s.logs(rng), s.slope, False


def two_logarithms(rng, s: Setting):
    """T^s (ln T + c)^p (ln T + c')^q, c' from 50 to 5000, p + q at most as promised"""
    p = rng.uniform(0, s.most)
    q = rng.uniform(0, s.most - p)
    return s.slope * s.L + p * np.log(s.L + s.shift) + q * np.log(s.L + 50 * 100 ** rng.random()), s.slope, False


def logarithm_of_logarithm(rng, s: Setting):
    """T^s (ln T + c)^p (ln ln T)^q, q from -1 to 1"""
    return s.logs(rng) + rng.uniform(-1, 1) * np.log(np.log(s.L)), s.slope, False


def constant_and_logarithm(rng, s: Setting):
    """T^s (1 + B (ln T + c)^p), p as promised"""
    share = 10 ** rng.uniform(-3, 2) * ((s.L + s.shift) / (s.L[-1] + s.shift)) ** s.most
    return s.slope * s.L + np.log1p(share), s.slope, False


def slow_correction(rng, s: Setting):
    """T^s (ln T + c)^p (1 + A T^-g), g from .01 to .3, A from -.9 to 100 at the first horizon"""
    g = 0.01 * 30 ** rng.random()
    size = 10 ** rng.uniform(-2, 2) if rng.random() < 0.5 else -rng.uniform(0, 0.9)
    beyond = size > np.exp(g * (s.L[-1] - s.L[0]))  # where both terms are equal
    return s.logs(rng) + np.log1p(size * np.exp(-g * (s.L - s.L[0]))), s.slope, beyond


def late_bend(rng, s: Setting):
    """T^s (ln T + c)^p (1 + (T/T')^g), g from .02 to .4"""
    g = 0.02 * 20 ** rng.random()
    at, beyond = s.bend(rng)
    return s.logs(rng) + np.logaddexp(0, g * (s.L - at)), s.slope + g, beyond


def linear_start(rng, s: Setting):
    """T until T', then T^s (ln T + c)^p, over a bend of any softness"""
    soft = 0.2 * 15 ** rng.random()
    at, beyond = s.bend(rng)
    return s.logs(rng) + (1 - s.slope) * (s.L - np.logaddexp(0, soft * (s.L - at)) / soft), s.slope, beyond


def broken_exponent(rng, s: Setting):
    """T^s (ln T + c)^p that breaks by .02 to .3, up or down"""
    by = rng.choice([-1, 1]) * rng.uniform(0.02, 0.3)
    at, beyond = s.bend(rng)
    return s.logs(rng) + by * np.maximum(0, s.L - at), s.slope + by, beyond


def regimes(rng, s: Setting):
    """Three to five powers of T one after the other, slopes within .1"""
    ends = np.sort(rng.uniform(s.L[0], s.L[-1], rng.integers(2, 5)))
    by = rng.uniform(-0.1, 0.1, len(ends))
    return s.logs(rng) + np.maximum(0, s.L[:, None] - ends) @ by, s.slope + by.sum(), False


def other_wave(rng, s: Setting):
    """T^s (ln T + c)^p and a wave of another period, a factor of 2 to 1e4, that may die away"""
    step = math.log(2) * (math.log(1e4) / math.log(2)) ** rng.random()
    size = rng.uniform(0, 0.3) * np.exp(-rng.choice([0.0, 0.1]) * rng.random() * (s.L - s.L[0]))
    return s.logs(rng) + size * np.sin(2 * np.pi * (s.L / step + rng.random())), s.slope, False


CLASSES = (
    power_of_logarithm,
    two_logarithms,
    logarithm_of_logarithm,
    constant_and_logarithm,
    slow_correction,
    late_bend,
    linear_start,
    broken_exponent,
    regimes,
    other_wave,
)


def drawn(kind: Callable, rng) -> Drawn:
    """A curve of a class: its law, waves of the known period, which may die away, and sampling errors."""
    period = 4 * 12 ** rng.random()
    end = rng.choice(ENDS)
    T = horizons(end, period)
    L = np.log(T)
    setting = Setting.drawn(rng, L)
    y, limit, beyond = kind(rng, setting)
    size = rng.uniform(0, 0.2) * np.exp(-rng.choice([0.0, 0.1]) * rng.random() * (L - L[0]))
    drift = rng.choice([0.0, rng.uniform(0, 4)]) * np.log(L + setting.shift)  # of its phase, with that of a level
    y = y + size * np.sin(2 * np.pi * ((L - drift) / math.log(period) + rng.random()))
    error = rng.uniform(0.001, 0.005)
    y = y + error / 2 * rng.standard_normal(len(L))
    curve = rc.Curve(tuple(T.tolist()), tuple(np.exp(y).tolist()), (1.0,) * len(L), "nothing more", (error,) * len(L))
    claim = rc.Claim("drawn", "a rate", "upper", rc.Rate.of_regret(round(limit, 6), setting.most))
    return Drawn(curve, claim, period, setting.shift or None, limit, beyond, end)


def settlements(kinds, repeats: int, seed: int) -> pd.DataFrame:
    """By class, and whether curves bend beyond their end: how many there are, are settled, and settled falsely."""
    rows = []
    for kind in kinds:
        rng = np.random.default_rng([seed, *kind.__name__.encode()])
        for _ in range(repeats):
            one = drawn(kind, rng)
            found = one.far()
            known = found.exponent
            rows.append(
                {
                    "R": kind.__doc__,
                    "bends": "beyond its end" if one.beyond else "before or not",
                    "end": one.end,
                    "settled": found.settled,
                    "false": found.settled and not known.low <= one.limit <= known.high,
                }
            )
    return pd.DataFrame(rows)


def main(argv=None) -> int:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--repeats", type=int, default=1000)
    parser.add_argument("--seed", type=int, default=0)
    arguments = parser.parse_args(argv)
    found = settlements(CLASSES, arguments.repeats, arguments.seed)
    columns = {"curves": ("settled", "size"), "settled": ("settled", "sum"), "false": ("false", "sum")}
    by_class = found.groupby(["R", "bends"], sort=False).agg(**columns).reset_index()
    by_class.to_csv(FILE, index=False, lineterminator="\n")
    print(by_class.to_string(), found.groupby(["bends", "end"]).agg(**columns).to_string(), sep="\n\n")
    return 0


if __name__ == "__main__":
    sys.exit(main())
