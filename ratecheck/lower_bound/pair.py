"""Bound B: two functions, f0 and f0 with one dent, and a strategy that must pay under f0 for finding out which it is.

With rho0 and rho1 the regrets of a query under either, s <= rho0 + rho1 everywhere, and kappa >= (f0 - f1)^2 / rho0:
KL(P_0, P_1) <= kappa R_0/(2 sigma^2) =: I, and R_0 + R_1 >= s times the sum of 1 - TV(P_0, P_1) over the steps.
1 - TV >= gamma(I) = max{1 - sqrt(I/2), 1 - sqrt(1 - exp(-I))} (Pinsker; Bretagnolle and Huber).  So R = max(R_0, R_1)
satisfies 2 R >= s T gamma(kappa R / (2 sigma^2)), and a number for which this fails is a lower bound: gamma falls.

s and kappa come from a grid of cells over the dent, with bounds of f0 and psi on each; elsewhere rho0 + rho1 is at
least the depth less f0(place) - f0*.
"""

import itertools
import math
from dataclasses import dataclass

import numpy as np

from function_zoo.dented import dent, mean_error

from .enclosure import enclosure
from .expression import trace
from .many import SLACK

CELLS = {1: 96, 2: 24, 3: 10}  # per coordinate


@dataclass(frozen=True)
class OneDent:
    """The parameters of bound B, and what it is worth."""

    length: float
    depth: float
    place: np.ndarray
    gap: float  # f0(place) - m, or more
    s: float
    kappa: float
    regret: float

    kind = "two"


def telling(information):
    """gamma(I): 1 - TV is at least this."""
    pinsker = 1 - np.sqrt(np.minimum(information / 2, 1.0))
    return np.maximum(pinsker, 1 - np.sqrt(-np.expm1(-information)))


def least_regret(s, kappa, horizon, sigma) -> float:
    """The largest R with 2 R < s T gamma(kappa R / (2 sigma^2)), or slightly less."""
    low, high = 0.0, s * horizon / 2
    for _ in range(80):
        middle = (low + high) / 2
        if 2 * middle < s * horizon * telling(kappa * middle / (2 * sigma**2)):
            low = middle
        else:
            high = middle
    return low


def best(enclose, cost, *, horizon, sigma, M) -> OneDent | None:
    """The parameters with the largest bound; None where no pair of this kind has one.  `enclose` bounds f0 - m."""
    c, dim = cost.constants, cost.dim
    steepness = (M - c.M_b) / mean_error(c.alpha, dim)
    deepest = M - c.M_a
    if not (steepness > 0 and deepest > 0) or dim not in CELLS:
        return None
    start = cost.minimisers[0]
    cells = np.array(list(itertools.product(range(CELLS[dim]), repeat=dim))) / CELLS[dim] - 0.5
    shape = enclosure(trace(dent(c.alpha, np.zeros(dim), 1.0), dim))(cells, cells + 1 / CELLS[dim])[1]
    axes = [sign * np.eye(dim)[i] for i in range(dim) for sign in (1.0, -1.0)]

    def attempt(log_depth, distance, axis) -> OneDent:
        depth = math.exp(log_depth)
        length = (depth / steepness) ** (1 / c.alpha)
        place = start + axis * distance * length
        inside = np.all(place >= cost.lower) and np.all(place <= cost.upper)
        gap = max(0.0, float(enclose(place[None], place[None])[1][0]))
        nothing = OneDent(length, depth, place, gap, 0.0, 0.0, 0.0)
        if not inside or gap >= depth * (1 - 3 * SLACK):
            return nothing
        least = enclose(place + length * cells, place + length * (cells + 1 / CELLS[dim]))[0]
        paid = least - SLACK * depth  # rho0 at least: the minimum of f0 may lie so much higher than it is annotated
        if not np.all(paid > 0):
            return nothing
        kappa = float(np.max((depth * shape) ** 2 / paid))
        inside = paid + np.maximum(0.0, least - depth * shape + depth - gap)
        s = min(depth * (1 - 3 * SLACK) - gap, float(np.min(inside)))
        return OneDent(length, depth, place, gap, s, kappa, least_regret(s, kappa, horizon, sigma))

    top = math.log(min(deepest, steepness * cost.side**c.alpha))
    depths = top - np.arange(0.0, 3.0 + math.log(max(horizon, 2.0)), 0.5)
    distances = 0.52 * 1.25 ** np.arange(18)
    tried = [attempt(x, t, axis) for axis in axes for x in depths for t in distances]
    found = max(tried, key=lambda b: b.regret)
    return found if found.regret > 0 else None
