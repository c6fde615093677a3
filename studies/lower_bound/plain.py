"""The two bounds as textbooks have them, to say what the sharper ones gain.

A: N dents that do not overlap, all of depth H, Pinsker's inequality at the end:
    R/T >= (H - epsilon) (1 - 1/N - (H/2 sigma) sqrt(T/N));
B: with Bretagnolle and Huber's inequality alone, R >= (2 sigma^2/kappa) W(kappa s T/(8 sigma^2)), W Lambert's function.
The dents have the product of cos^2 for alpha > 1, and of M one half.
"""

from __future__ import annotations

import math

import numpy as np
from scipy.special import lambertw

from ratecheck.lower_bound.paving import Lattice, pave


def plain_bound(enclose, cost, horizon, sigma, M, pair=None) -> float:
    """The better of the two; B for the pair of functions that bound B found, if it did."""
    both = _many(enclose, cost, horizon, sigma, M)
    if pair is not None:
        weight = pair.kappa * pair.s * horizon / (8 * sigma**2)
        both = max(both, 2 * sigma**2 / pair.kappa * float(lambertw(weight).real))
    return both


def _many(enclose, cost, horizon, sigma, M):
    alpha, dim = cost.constants.alpha, cost.dim
    error = dim / (dim + alpha) if alpha <= 1 else (math.pi**2 * dim / 12) ** (alpha / 2)
    best = 0.0
    for depth in M / 2 * np.exp(-np.arange(0.0, 2 + math.log(horizon), 0.25)):
        length = (2 * depth * error / M) ** (1 / alpha)
        if length > cost.side or length < 1e-13 * cost.side:
            continue
        lattice = Lattice.within(cost.lower, cost.upper, cost.minimisers[0], length)
        if np.any(lattice.first > lattice.last):
            continue
        blocks = pave(
            enclose,
            lattice,
            worth=lambda gap, depth=depth: np.where(gap <= 0.8 * depth, 1.0, 0.0),
            tolerance=0.1,
            most_blocks=5000,
        )
        for share in (0.1, 0.2, 0.3, 0.4, 0.5, 0.6):
            count = float(np.sum(blocks.counts[blocks.most <= share * depth]))
            if count >= 2:
                left = 1 - 1 / count - depth / (2 * sigma) * math.sqrt(horizon / count)
                best = max(best, (1 - share) * depth * left * horizon)
    return best
