"""What else a growth faster than promised may be: starts that have not yet bent into the rate, or a larger logarithm.

A curve is given as c(T) = ln(R / g), g the promised rate (its negative for a lower bound), at the horizons of a window.
Four families tend to the promised rate.  R is linear in T up to some T0 and turns into g there, more or less softly (a
lower bound: constant in T); g is reduced by a power of T that fades away; or its logarithm starts late, ln(1 + (T /
T0)^a) / a in place of ln T, within the window where that means linear growth before T0 or nearly so, or else before it.
In each, T0 or the size of the correction is free, and is varied in small steps.
"""

from enum import Enum, auto
from itertools import product
from typing import NamedTuple

import numpy as np

from ..rates import Rate

SOFTNESS = (1.0, 1.5, 2.0, 3.0, 20.0)  # of a bend: two curves as the k-norm of both, from very soft to hard
FADING = (0.2, 0.3, 0.5)  # powers of 1/T
BEGINNING = (1.0, 0.8)  # powers of T with which a late logarithm starts
NEARLY = 0.75  # linear growth
BENDS = np.linspace(-0.5, 2.0, 101)  # places of T0 in the window, 0 its first and 1 its last horizon
HARDEST = 0.96  # the last of them for a hard bend
REDUCTIONS = np.concatenate([np.linspace(0.02, 0.9, 45), np.linspace(0.91, 0.99, 17)])  # of g at the first horizon
ADDITIONS = np.geomspace(0.05, 1.0, 40)  # to g at the last horizon, of a lower bound
LOG_POWERS = np.linspace(0.0, 10.0, 101)  # beyond the promised one


class Bend(Enum):
    """How a regret may come to its rate."""

    LINEAR = auto()
    LEVEL = auto()  # no growth before it
    LATE_LOGARITHM = auto()
    FADING = auto()  # a correction


class Start(NamedTuple):
    """A start, and where it ends in ln T; of a correction the power of 1/T with which it fades."""

    bend: Bend
    at: float


class Family(NamedTuple):
    """Curves in the order of their parameter, a row each, and the start that each of them is."""

    curves: np.ndarray
    starts: list[Start]
    endless: np.ndarray | None = None  # the curve of a regret that never bends


def starts(x: np.ndarray, rate: Rate, kind: str, whole: np.ndarray) -> list[Family]:
    """Curves that tend to the promised rate, at x = ln T; `whole` are the weights of a slope over the window."""
    length = x[-1] - x[0]
    found = [*_bent(x, length, rate=rate, kind=kind, whole=whole), *_faded(x, kind)]
    if kind == "upper" and rate.log_power > 0:
        found += _late_logarithm(x, length, rate, whole)
    return [family for family in found if len(family.curves)]


def log_powers(x: np.ndarray, margin: float) -> np.ndarray:
    """Curves with an exponent that is off by no more than the margin and a log power that is off by anything."""
    return margin * x + LOG_POWERS[:, None] * np.log(x)


def _beginnings(rate: Rate, kind: str) -> list[Rate]:
    """How the regret may grow before it bends: not at all, or linearly, with the promised logarithm or without."""
    if kind == "lower":
        return [Rate.of_regret(0.0)]
    found = [Rate.of_regret(1.0, power) for power in sorted({0.0, max(rate.log_power, 0.0)})]
    if rate.slope < 0:
        found.append(Rate.of_regret(0.0))  # what is to fall may have stood still
    return found


def _log_rate(x, rate):
    return rate.slope * x + rate.log_power * np.log(x) if rate.log_power else rate.slope * x


def _bent(x, length, *, rate, kind, whole):
    g = _log_rate(x, rate)
    sign = 1 if kind == "upper" else -1
    for trivial, softness in product(_beginnings(rate, kind), SOFTNESS):
        room = float(whole @ (_log_rate(x, trivial) - g)) * sign
        if room <= 0:
            continue
        places = BENDS if softness < SOFTNESS[-1] else BENDS[BENDS <= HARDEST]
        bend = x[0] + places[:, None] * length
        if x[0] > 1:
            bend = bend[bend[:, 0] > 0.1]  # T0 > 1, so that ln T0 has a logarithm
        start = _log_rate(x, trivial) + _log_rate(bend, rate) - _log_rate(bend, trivial)
        curves = -np.logaddexp(-sign * softness * start, -sign * softness * g) / softness - sign * g
        before = Bend.LINEAR if trivial.slope else Bend.LEVEL
        found = [Start(before, at) for at in bend[:, 0].tolist()]
        yield Family(curves, found, sign * (_log_rate(x, trivial) - g))


def _faded(x, kind):
    for power in FADING:
        if kind == "upper":
            curves = np.log1p(-REDUCTIONS[:, None] * np.exp(-power * (x - x[0])))
        else:
            curves = -np.log1p(ADDITIONS[:, None] * np.exp(power * (x[-1] - x)))
        yield Family(curves, [Start(Bend.FADING, power)] * len(curves))


def _late_logarithm(x, length, rate, whole):
    before = np.linspace(0.0, x[0] - 1, 40)
    within = np.linspace(x[0] - 1, x[0] + 2 * length, 120)
    for power in BEGINNING:
        growth = power * rate.log_power  # beyond T^slope, before T0
        places = np.concatenate([before, within]) if NEARLY <= rate.slope + growth <= 1 else before
        begin = places[:, None]
        curves = rate.log_power * (np.log(np.logaddexp(0.0, power * (x - begin)) / power) - np.log(x))
        rising = curves @ whole > 0
        found = [Start(Bend.LATE_LOGARITHM, at) for at in begin[rising, 0].tolist()]
        yield Family(curves[rising], found, growth * x - rate.log_power * np.log(x))
