"""The bootstrap: a second opinion on the jackknife's intervals, by resampling runs."""

import math

import numpy as np

from .log_means import LogMeans

MOST_DRAWS, FEWEST_RESAMPLES = 5 * 10**6, 400  # at a horizon
CACHED_NUMBERS, MOST_NUMBERS = 2**17, 2**20  # drawn at once: few where that is faster, many where sums depend on it
MANY_RUNS = 500  # at a horizon: beyond, resamples are counted in ways that cost less and draw other random numbers


@np.errstate(all="ignore")  # resamples of no regret at all, or of next to none, are left out
def studentised(data: LogMeans, weights, *, value, level, size, seed):
    """Bootstrap-t for weights @ y: runs are resampled, each resample has its own linearised standard error."""
    rng = np.random.default_rng(seed)
    means = np.exp(data.y)
    most = max(map(len, data.samples))
    size = bounded(size, most)
    resampled, variance = np.empty((size, len(means))), np.zeros(size)
    if data.anytime:
        R = np.column_stack(data.samples)
        n = len(R)
        for piece in pieces(size, n, MOST_NUMBERS):
            counts = _counts(rng, n, piece.stop - piece.start)
            resampled[piece], variance[piece] = _shared(counts, R, weights)
        own = R @ (weights / means)
        own_variance = own.var(ddof=1) / n
    else:
        own_variance = 0.0
        moments = (_separate if most <= MANY_RUNS else _reordered)(rng, data.samples, size)
        for j, (R, w, (mean, spread)) in enumerate(zip(data.samples, weights, moments, strict=True)):
            n = len(R)
            resampled[:, j] = mean
            variance += (w / mean) ** 2 * spread / n
            own_variance += (w / means[j]) ** 2 * R.var(ddof=1) / n
    good = np.isfinite(variance) & (variance > 0) & np.all(resampled > 0, axis=1)
    if not good.any():
        return value, value
    t = ((np.log(resampled[good]) - data.y) @ weights) / np.sqrt(variance[good])
    low, high = np.quantile(t, [0.5 - level / 2, 0.5 + level / 2])
    se = math.sqrt(own_variance)
    return value - high * se, value - low * se


def _counts(rng, n, size):
    if n <= MANY_RUNS:
        return rng.multinomial(n, np.full(n, 1 / n), size).astype(float)
    drawn = rng.integers(n, size=(size, n))
    drawn += n * np.arange(size)[:, None]
    return np.bincount(drawn.ravel(), minlength=size * n).reshape(size, n).astype(float)


def _shared(counts, R, weights):
    n = len(R)
    resampled = counts @ R / n
    influence = R @ (weights / np.maximum(resampled, 1e-300)).T
    centre = np.einsum("bi,ib->b", counts, influence) / n
    spread = np.einsum("bi,ib->b", counts, influence**2) / n - centre**2
    return resampled, np.maximum(spread, 0) / (n - 1)


def _separate(rng, samples, size):
    for R in samples:
        n = len(R)
        means, variances = np.empty(size), np.empty(size)
        for piece in pieces(size, n, CACHED_NUMBERS):
            draws = R.take(rng.integers(n, size=(piece.stop - piece.start, n)))
            mean = draws.mean(axis=1, keepdims=True)
            draws -= mean
            draws *= draws
            means[piece], variances[piece] = mean[:, 0], draws.sum(axis=1) / (n - 1)
        yield means, variances


def _reordered(rng, samples, size):
    """Means and variances of resampled regrets where there are many runs, from counts that all horizons share.

    Each horizon takes the resamples in an order of its own.  So what belongs together is independent, as it has to be,
    and random numbers are drawn once instead of once per horizon.
    """
    lengths = np.array([len(R) for R in samples])
    means, variances = np.empty((2, len(samples), size))
    for n in np.unique(lengths).tolist():
        same = np.flatnonzero(lengths == n)
        R = np.array([samples[j] for j in same])
        centre = R.mean(axis=1, keepdims=True)
        R -= centre  # or squares would cancel
        for piece in pieces(size, n, MOST_NUMBERS):
            counts = _counts(rng, n, piece.stop - piece.start)
            shift = R @ counts.T / n
            means[same, piece] = centre + shift
            variances[same, piece] = np.maximum(R**2 @ counts.T / n - shift**2, 0) * n / (n - 1)
    for j in range(len(samples)):
        order = rng.permutation(size)
        yield means[j, order], variances[j, order]


def bounded(size, n) -> int:
    """How many resamples: of very many runs fewer, for they differ less and take longer."""
    return min(size, max(FEWEST_RESAMPLES, MOST_DRAWS // n))


def pieces(size, n, most):
    rows = max(1, most // n)
    return [slice(first, min(first + rows, size)) for first in range(0, size, rows)]
