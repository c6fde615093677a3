"""The paper's two pseudo-codes, line by line: slow, obvious, numpy only, nothing from ratecheck.

Where the pseudo-code leaves something open, this is what is agreed, here and in the kernels:

- a lower confidence bound is computed as  (sum / n - mu a^alpha) - ln t (1 / sqrt n)  and  sum / n - sqrt(8
  ln t) (1 / sqrt n), the sum in the order of the queries;
- a bin receives a random priority when it is made (the initial ones in the order of the grid, last axis
  fastest); among equal bounds the smallest priority is picked, then the first bin;
- the 2^d parts of a bin are numbered by their binary digits: digit q says upper or lower half along axis q;
  part 0 takes the place of the bin that is split, the others go to the end of the list;
- random numbers are drawn in this order: priorities of new bins, the coordinates of x_t, the noise of y_t;
- bins of level `deepest` do not split: their sides are too short for floating-point numbers.
"""

import itertools
import math
from types import SimpleNamespace

import numpy as np


def divide(lower, upper, a, offset):
    """Lower corners of bins of length a that cover [lower, upper]; the first starts `offset` bins below."""
    axes = []
    for low, high, u in zip(lower, upper, offset, strict=True):
        start = low - u * a
        m = max(1, math.ceil((high - start) / a - 1e-9))
        axes.append([start + a * k for k in range(m)])
    return [np.array(corner) for corner in itertools.product(*axes)]


def argmin(g, priority):
    """The smallest bound; among equal ones the smallest priority, then the first."""
    ties = np.flatnonzero(g == g.min())
    return int(min(ties, key=lambda j: (priority[j], j)))


def algorithm_1(f, f_min, lower, upper, a, offset, T, rng, noise, x_star):
    """Baseline method.  `exceeded` counts the steps that end with g > f* in the bin that holds x*."""
    c = [corner + a / 2 for corner in divide(lower, upper, a, offset)]
    m = len(c)
    priority = [rng.random() for _ in range(m)]
    n = np.zeros(m, dtype=int)
    total = np.zeros(m)
    g = np.full(m, -np.inf)
    star = next(j for j in range(m) if np.all(c[j] - a / 2 <= x_star) and np.all(x_star < c[j] + a / 2))
    picks, regret, R, exceeded = [], [], 0.0, 0
    for t in range(1, T + 1):
        j = argmin(g, priority)
        value = f(c[j])
        y = value + noise(rng)
        n[j] += 1
        total[j] += y
        some = n > 0
        g[some] = total[some] / n[some] - math.sqrt(8.0 * math.log(t)) * (1.0 / np.sqrt(n[some]))
        R += value - f_min
        exceeded += int(g[star] > f_min)
        picks.append(j)
        regret.append(R)
    return SimpleNamespace(picks=picks, regret=regret, levels=[0] * T, n=n, k=np.zeros(m), exceeded=exceeded)


def algorithm_2(f, f_min, lower, upper, a0, offset, alpha, mu, T, rng, noise, deepest, x_star):
    """Adaptive splitting.  `exceeded` counts the steps that end with g > f* in the bin that holds x*."""
    corner = divide(lower, upper, a0, offset)
    d = len(corner[0])
    m = len(corner)
    priority = [rng.random() for _ in range(m)]
    k = np.zeros(m, dtype=int)
    n = np.zeros(m, dtype=int)
    total = np.zeros(m)
    g = np.full(m, -np.inf)
    length = [a0 * 2.0**-level for level in range(deepest + 1)]
    bias = np.array([mu * a**alpha for a in length])
    star = next(j for j in range(m) if np.all(corner[j] <= x_star) and np.all(x_star < corner[j] + a0))
    picks, levels, regret, R, exceeded = [], [], [], 0.0, 0
    for t in range(1, T + 1):
        B = argmin(g, priority)
        levels.append(int(k[B]))
        a = length[k[B]]
        if n[B] < math.ceil(2.0 ** (2 * alpha * k[B])) or k[B] == deepest:
            x = np.array([corner[B][q] + a * rng.random() for q in range(d)])
            receiver = B
        else:
            places = [B, *range(len(n), len(n) + 2**d - 1)]
            old = corner[B]
            middle = old + a / 2
            corner[B] = None
            corner += [None] * (2**d - 1)
            priority += [None] * (2**d - 1)
            k = np.append(k, np.zeros(2**d - 1, dtype=int))
            n = np.append(n, np.zeros(2**d - 1, dtype=int))
            total = np.append(total, np.zeros(2**d - 1))
            level = k[B] + 1
            for part, place in enumerate(places):
                corner[place] = np.array([middle[q] if (part >> q) & 1 else old[q] for q in range(d)])
                priority[place] = rng.random()
                k[place], n[place], total[place] = level, 0, 0.0
            x = np.array([old[q] + a * rng.random() for q in range(d)])
            receiver = places[sum(2**q for q in range(d) if x[q] >= middle[q])]
            if star == B:
                star = places[sum(2**q for q in range(d) if x_star[q] >= middle[q])]
        value = f(x)
        y = value + noise(rng)
        n[receiver] += 1
        total[receiver] += y
        g = np.full(len(n), -np.inf)
        some = n > 0
        g[some] = total[some] / n[some] - bias[k[some]] - math.log(t) * (1.0 / np.sqrt(n[some]))
        R += value - f_min
        exceeded += int(g[star] > f_min)
        picks.append(B)
        regret.append(R)
    return SimpleNamespace(picks=picks, regret=regret, levels=levels, n=n, k=k, exceeded=exceeded)
