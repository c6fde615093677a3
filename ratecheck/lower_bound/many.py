"""Bound A: many functions, each f0 with a dent, and no time to look at all the places where the dent may be.

Let g = f0 - m >= 0 on the box and its margin.  A member has its dent at a point y of a lattice, of depth
H(y) = eta + g(y), so that its minimum is at most m - eta.  Draw the member with probability proportional to H(y)^-2.
Whatever the strategy does, write P_0 for the law of its history under f0 and P_y for that under a member.  With
phi_y(x) = max(0, H(y) psi_y(x) - g(x))/eta the regret at x is at least eta (1 - min(phi_y(x), 1)).

Averages over y, with N = sum of (eta/H(y))^2, and S1, S2 the overlaps of psi and psi^2:
    E_0 phi_y(X_t) <= S1/N =: p;
    KL(P_0, P_y) up to time t <= t eta^2 S2 / (2 sigma^2 N) =: b(t), for Gaussian noise.
The data-processing inequality for variables in [0, 1] (Garivier, Ménard and Stoltz, 2019) and the convexity of
kl(p, q) = p ln(p/q) + (1-p) ln((1-p)/(1-q)) give kl(p, q) <= b(t) for the average q of E_y phi_y(X_t), so q <= Q(t),
where kl(p, Q(t)) = b(t).  The average regret is at least eta times the sum of 1 - Q(t).  That is convex in t, so its
values at the middles of equal pieces of [0, T] bound the sum from below.
"""

import math
from dataclasses import dataclass

import numpy as np
from scipy.optimize import minimize_scalar

from function_zoo.dented import mean_error

from .overlap import overlap
from .paving import Blocks, Lattice, pave

PER_LENGTH = 4  # lattice points per length of a dent
PIECES = 8  # of [0, T]
MOST_BLOCKS = 30_000
FEW_BLOCKS = 1000
SLACK = 1e-3  # m lies so much of eta below the annotated minimum, so that a finite search can prove f0 >= m
SHARES = np.linspace(0.1, 0.95, 35)  # of eta in the depth of the deepest dent


@dataclass(frozen=True)
class ManyDents:
    """The parameters of bound A, and what it is worth."""

    length: float  # r, of a dent
    eta: float  # every member's minimum is at least so far below f0's
    depth: float  # H of the deepest dent: the family lies within this distance of f0
    effective: float  # N
    shared: float  # p
    information: float  # b(T)
    regret: float
    lattice: Lattice
    blocks: Blocks

    kind = "many"


def divergence(p, q):
    with np.errstate(divide="ignore", invalid="ignore"):
        return p * np.log(p / q) + (1 - p) * np.log((1 - p) / (1 - q))


def farthest(p, budget):
    """The largest q with kl(p, q) <= budget, or slightly more."""
    low, high = np.broadcast_to(p, np.shape(budget)).copy(), np.ones(np.shape(budget))
    for _ in range(60):
        middle = (low + high) / 2
        inside = divergence(p, middle) < budget
        low, high = np.where(inside, middle, low), np.where(inside, high, middle)
    return high


def missed(p, information):
    """The mean of 1 - Q(t) over [0, T], or less."""
    middles = (np.arange(PIECES)[:, None] + 0.5) / PIECES
    return np.mean(1 - farthest(p, middles * information), axis=0)


def best(enclose, cost, *, horizon, sigma, M, most_blocks=MOST_BLOCKS) -> ManyDents | None:
    """The parameters with the largest bound; None where no family of this kind has one."""
    c, dim = cost.constants, cost.dim
    steepness = (M - c.M_b) / mean_error(c.alpha, dim)  # (b): depth <= steepness * length^alpha
    deepest = M - c.M_a  # (a)
    if not (steepness > 0 and deepest > 0):
        return None
    overlaps = [overlap(c.alpha, dim, PER_LENGTH, power) for power in (1, 2)]

    finest = 64 * PER_LENGTH * np.finfo(float).eps * float(np.max(np.abs([cost.lower, cost.upper])))

    def attempt(log_depth, tolerance, most_blocks):
        depth = math.exp(log_depth)
        length = (depth / steepness) ** (1 / c.alpha)
        if length < finest:
            return None
        lattice = Lattice.within(cost.lower, cost.upper, cost.minimisers[0], length / PER_LENGTH)
        if np.any(lattice.first > lattice.last):
            return None

        def worth(gap):
            return np.where(gap <= 0.9 * depth, (0.4 / (0.4 + np.maximum(gap, 0) / depth)) ** 2, 0.0)

        blocks = pave(enclose, lattice, worth=worth, tolerance=tolerance, most_blocks=most_blocks)
        return _best_eta(depth, length, lattice=lattice, blocks=blocks, overlaps=overlaps, horizon=horizon, sigma=sigma)

    top = math.log(min(deepest, steepness * cost.side**c.alpha))
    scan = top - np.arange(0.0, 3.0 + math.log(max(horizon, 2.0)), 3.0)
    x = max(scan, key=lambda x: worth_of(attempt(x, 0.5, most_blocks)))
    how = {"bounds": (x - 3.0, min(x + 3.0, top)), "method": "bounded", "options": {"xatol": 0.03, "maxiter": 14}}
    found = minimize_scalar(lambda x: -worth_of(attempt(x, 0.2, most_blocks)), **how)
    final = attempt(found.x, 0.05, most_blocks)
    if final is not None and len(final.blocks) < FEW_BLOCKS:  # a lattice of few points: the bound jumps with its pitch
        near = found.x + np.linspace(-0.4, 0.4, 9)
        final = max((attempt(x, 0.01, most_blocks) for x in near[near <= top]), key=worth_of)
    return final if worth_of(final) > 0 else None


def worth_of(found) -> float:
    return found.regret if found else 0.0


def _best_eta(depth, length, *, lattice, blocks, overlaps, horizon, sigma):
    eta = SHARES * depth
    dents = eta * (1 + SLACK) + np.maximum(blocks.most, 0.0)[:, None]
    effective = np.sum(blocks.counts[:, None] * np.where(dents <= depth, (eta / dents) ** 2, 0.0), axis=0)
    p = np.minimum(1 - 1e-12, overlaps[0] / np.maximum(effective, 1e-9))
    information = horizon * eta**2 * overlaps[1] / (2 * sigma**2 * np.maximum(effective, 1e-9))
    regret = np.where(effective > overlaps[0], eta * horizon * missed(p, information), 0.0)
    i = int(np.argmax(regret))
    numbers = [float(v[i]) for v in (effective, p, information, regret)]
    return ManyDents(length, float(eta[i]), depth, *numbers, lattice, blocks)
