"""The bootstrap: a second opinion on the jackknife's intervals, by resampling runs."""

from __future__ import annotations

import math

import numpy as np

from .means import LogMeans


def studentised(data: LogMeans, weights, value, level, size, seed):
    """Bootstrap-t for weights @ y: runs are resampled, each resample has its own linearised standard error."""
    rng = np.random.default_rng(seed)
    means = np.exp(data.y)
    if data.anytime:
        R = np.column_stack(data.samples)
        n = len(R)
        counts = rng.multinomial(n, np.full(n, 1 / n), size).astype(float)
        resampled = counts @ R / n
        influence = R @ (weights / np.maximum(resampled, 1e-300)).T
        centre = np.einsum("bi,ib->b", counts, influence) / n
        spread = np.einsum("bi,ib->b", counts, influence**2) / n - centre**2
        variance = np.maximum(spread, 0) / (n - 1)
        own = R @ (weights / means)
        own_variance = own.var(ddof=1) / n
    else:
        resampled = np.empty((size, len(means)))
        variance = np.zeros(size)
        own_variance = 0.0
        for j, (R, w) in enumerate(zip(data.samples, weights, strict=True)):
            n = len(R)
            draws = R[rng.integers(n, size=(size, n))]
            resampled[:, j] = draws.mean(axis=1)
            variance += (w / resampled[:, j]) ** 2 * draws.var(axis=1, ddof=1) / n
            own_variance += (w / means[j]) ** 2 * R.var(ddof=1) / n
    good = (variance > 0) & np.all(resampled > 0, axis=1)
    if not good.any():
        return value, value
    t = ((np.log(resampled[good]) - data.y) @ weights) / np.sqrt(variance[good])
    low, high = np.quantile(t, [0.5 - level / 2, 0.5 + level / 2])
    se = math.sqrt(own_variance)
    return value - high * se, value - low * se
