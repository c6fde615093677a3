"""Both algorithms with a look at every cell at every step, compiled: for horizons out of reference.py's reach.

At t = 10^6 the leading bounds differ by 10^-6 and less, which no short run can put to the test.
"""

import math

import numpy as np
from numba import njit

from ratecheck.sampling.generator import fill
from studies.benchmarks.randomness import fill_normal


@njit
def leader(mean_minus_bias, inverse_root, priority, m, tau):
    best = 0
    best_g = np.inf
    for j in range(m):
        g = mean_minus_bias[j] - tau * inverse_root[j] if inverse_root[j] > 0 else -np.inf
        if j == 0 or g < best_g or (g == best_g and priority[j] < priority[best]):
            best, best_g = j, g
    return best


@njit
def random(rng, one):
    fill(rng, one)
    return one[0]


@njit
def standard_normal(rng, one):
    fill_normal(rng, one)
    return one[0]


@njit
def uniform(value, f_min, T, rng):
    m = value.size
    one = np.empty(1)
    priority = np.empty(m)
    fill(rng, priority)
    n, total, mean, root = np.zeros(m), np.zeros(m), np.zeros(m), np.zeros(m)
    picks = np.empty(T, np.int64)
    R = 0.0
    tau = 0.0
    for t in range(1, T + 1):
        j = leader(mean, root, priority, m, tau)
        R += value[j] - f_min
        n[j] += 1
        total[j] += value[j] + standard_normal(rng, one)
        mean[j] = total[j] / n[j]
        root[j] = 1.0 / math.sqrt(n[j])
        tau = math.sqrt(8.0 * math.log(t))
        picks[t - 1] = j
    return picks, R


@njit
def adaptive(f, f_min, grid, side, bias, alpha, T, rng, room):
    m, d = grid.shape
    lo = np.empty((room, d))
    lo[:m] = grid
    priority = np.empty(room)
    one = np.empty(1)
    fill(rng, priority[:m])
    k = np.zeros(room, np.int64)
    n, total, mean, root = np.zeros(room), np.zeros(room), np.zeros(room), np.zeros(room)
    picks = np.empty(T, np.int64)
    x = np.empty(d)
    R = 0.0
    tau = 0.0
    for t in range(1, T + 1):
        B = leader(mean, root, priority, m, tau)
        receiver = B
        if n[B] < math.ceil(2.0 ** (2 * alpha * k[B])):
            for q in range(d):
                x[q] = lo[B, q] + side[k[B]] * random(rng, one)
        else:
            level = k[B] + 1
            corner = lo[B].copy()
            middle = corner + side[level]
            for part in range(2**d):
                place = B if part == 0 else m + part - 1
                for q in range(d):
                    lo[place, q] = middle[q] if (part >> q) & 1 else corner[q]
                priority[place] = random(rng, one)
                k[place], n[place], total[place], root[place] = level, 0, 0.0, 0.0
            part = 0
            for q in range(d):
                x[q] = corner[q] + side[level - 1] * random(rng, one)
                if x[q] >= middle[q]:
                    part += 2**q
            receiver = B if part == 0 else m + part - 1
            m += 2**d - 1
        value = f(x)
        R += value - f_min
        n[receiver] += 1
        total[receiver] += value + standard_normal(rng, one)
        mean[receiver] = total[receiver] / n[receiver] - bias[k[receiver]]
        root[receiver] = 1.0 / math.sqrt(n[receiver])
        tau = math.log(t)
        picks[t - 1] = B
    return picks, R
