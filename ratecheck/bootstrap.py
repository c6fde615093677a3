"""The bootstrap: a second opinion on the jackknife's intervals, by resampling runs."""

from __future__ import annotations

import math

import numpy as np

from .means import LogMeans

DRAWS, FEWEST = 5 * 10**6, 400  # per horizon, and resamples
CACHED, WHOLE = 2**17, 2**22  # numbers that are drawn at once: few where that is faster, many where sums depend on it


def studentised(data: LogMeans, weights, value, level, size, seed):
    """Bootstrap-t for weights @ y: runs are resampled, each resample has its own linearised standard error."""
    rng = np.random.default_rng(seed)
    means = np.exp(data.y)
    if data.anytime:
        R = np.column_stack(data.samples)
        n = len(R)
        size = bounded(size, n)
        resampled, variance = np.empty((size, len(means))), np.empty(size)
        for piece in pieces(size, n, WHOLE):
            resampled[piece], variance[piece] = _shared(rng, R, weights, piece.stop - piece.start)
        own = R @ (weights / means)
        own_variance = own.var(ddof=1) / n
    else:
        size = bounded(size, max(map(len, data.samples)))
        resampled = np.empty((size, len(means)))
        variance = np.zeros(size)
        own_variance = 0.0
        for j, (R, w) in enumerate(zip(data.samples, weights, strict=True)):
            n = len(R)
            resampled[:, j], spread = _separate(rng, R, size)
            variance += (w / resampled[:, j]) ** 2 * spread / n
            own_variance += (w / means[j]) ** 2 * R.var(ddof=1) / n
    good = (variance > 0) & np.all(resampled > 0, axis=1)
    if not good.any():
        return value, value
    t = ((np.log(resampled[good]) - data.y) @ weights) / np.sqrt(variance[good])
    low, high = np.quantile(t, [0.5 - level / 2, 0.5 + level / 2])
    se = math.sqrt(own_variance)
    return value - high * se, value - low * se


def _shared(rng, R, weights, size):
    """Means of resampled runs, and the variance of each resample's slope."""
    n = len(R)
    counts = rng.multinomial(n, np.full(n, 1 / n), size).astype(float)
    resampled = counts @ R / n
    influence = R @ (weights / np.maximum(resampled, 1e-300)).T
    centre = np.einsum("bi,ib->b", counts, influence) / n
    spread = np.einsum("bi,ib->b", counts, influence**2) / n - centre**2
    return resampled, np.maximum(spread, 0) / (n - 1)


def _separate(rng, R, size):
    """Means and variances of resampled regrets at one horizon."""
    n = len(R)
    means, variances = np.empty(size), np.empty(size)
    for piece in pieces(size, n, CACHED):
        draws = R.take(rng.integers(n, size=(piece.stop - piece.start, n)))
        mean = draws.mean(axis=1, keepdims=True)
        draws -= mean
        draws *= draws
        means[piece], variances[piece] = mean[:, 0], draws.sum(axis=1) / (n - 1)
    return means, variances


def bounded(size, n) -> int:
    """How many resamples: of very many runs fewer, for they differ less and take longer."""
    return min(size, max(FEWEST, DRAWS // n))


def pieces(size, n, most):
    """Slices of so many resamples of n runs, none with more numbers than `most`."""
    rows = max(1, most // n)
    return [slice(first, min(first + rows, size)) for first in range(0, size, rows)]
