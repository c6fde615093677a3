"""The exact Bayes regret of tiny bandits, by dynamic programming: two or three functions, few actions.

`functions[j, a]` is the mean of action a under function j, the noise is Gaussian.  The state is the vector of log-odds
against function 0; the expectation over the next observation is a Gauss-Hermite sum, the value function is interpolated
linearly.  It is concave in the posterior, so linear interpolation errs downwards by very little: the regret found is a
hair smaller than the true one, which makes the comparison with a lower bound harder, not easier.
"""

import itertools

import numpy as np


def bayes_regret(functions, prior, horizon, sigma=1.0, reach=14.0, points=161, nodes=25):
    functions = np.asarray(functions, dtype=float)
    count = len(functions)
    gaps = functions - functions.min(axis=1, keepdims=True)
    axis = np.linspace(-reach, reach, points)
    odds = np.stack(np.meshgrid(*[axis] * (count - 1), indexing="ij"), axis=-1)
    logits = np.concatenate([np.zeros((*odds.shape[:-1], 1)), odds], axis=-1)
    posterior = np.exp(logits - np.logaddexp.reduce(logits, axis=-1, keepdims=True))
    z, weights = np.polynomial.hermite_e.hermegauss(nodes)
    weights = weights / weights.sum()
    value = np.zeros(odds.shape[:-1])
    for _ in range(horizon):
        best = np.full(value.shape, np.inf)
        for a in range(functions.shape[1]):
            ahead = posterior @ gaps[:, a]
            for j, (node, weight) in itertools.product(range(count), zip(z, weights, strict=True)):
                seen = functions[j, a] + sigma * node
                # log of the density ratio of every function against function 0
                shift = ((seen - functions[0, a]) ** 2 - (seen - functions[1:, a]) ** 2) / (2 * sigma**2)
                ahead = ahead + weight * posterior[..., j] * _interpolated(value, axis, odds + shift)
            best = np.minimum(best, ahead)
        value = best
    start = np.log(np.asarray(prior[1:]) / prior[0])
    return float(_interpolated(value, axis, start[None])[0])


def _interpolated(value, axis, places):
    step = axis[1] - axis[0]
    place = np.clip((places - axis[0]) / step, 0, len(axis) - 1 - 1e-9)
    low = place.astype(int)
    share = place - low
    total = 0.0
    for corner in itertools.product((0, 1), repeat=value.ndim):
        weight = np.prod(np.where(corner, share, 1 - share), axis=-1)
        total = total + weight * value[tuple(np.moveaxis(low + np.array(corner), -1, 0))]
    return total
