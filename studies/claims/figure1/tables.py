"""Costs, algorithms and contrasts of Figure 1, run by run."""

from __future__ import annotations

import math
from functools import lru_cache

import numpy as np

import function_zoo as zoo
import ratecheck as rc
from ratecheck.study import stream

ERROR = 0.05  # of the six panels of a setting together
PANELS = (("quadratic", 1), ("quadratic", 2), ("quadratic", 3), ("twin_cone", 1), ("twin_cone", 2), ("twin_cone", 3))


@lru_cache(maxsize=1024)  # each is compiled, which takes longer than a run
def cost_of_run(family, dim, run, seed):
    """With a minimiser of its own, at the same place for both functions: the box and its partitions are symmetric."""
    centre = stream(seed, "figure1", dim, run).uniform(-1.0, 1.0, dim)
    return zoo.get(family, dim, centre=tuple(centre.tolist()))


def uniform_bins(width, cost):
    return rc.UniformBins(width)


def adaptive_bins(mu, a0, cost):
    c = cost.constants
    values = {"0": 0.0, "M_b": c.M_b, "mu_min": c.mu_min, "smooth": (1 + 2 ** (cost.dim + c.alpha)) * c.M_b}
    return rc.AdaptiveBins(mu=values.get(mu, "theorem"), a0=a0)


def contrast(uniform: np.ndarray, adaptive: np.ndarray) -> dict:
    """Means with standard errors, the difference run by run, and the share of the largest adaptive run."""
    n = len(uniform)

    def error(x):
        return float(np.std(x, ddof=1) / math.sqrt(n))

    return {
        "runs": n,
        "uniform": float(uniform.mean()),
        "uniform_se": error(uniform),
        "adaptive": float(adaptive.mean()),
        "adaptive_se": error(adaptive),
        "difference": float(np.mean(uniform - adaptive)),
        "difference_se": error(uniform - adaptive),
        "largest_share": float(adaptive.max() / adaptive.sum()),
    }
