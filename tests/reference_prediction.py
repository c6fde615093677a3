"""The water level, slowly: plain Python, nothing from ratecheck.

`dig` lets the algorithms run without noise, one query after the other, with ln T in place of ln t and with a cell's gap
as what a query of it shows.  `fill_up` looks for the level by bisection, in exact coordinates, so that it reaches far.
"""

import itertools
import math
from fractions import Fraction


def divide(lower, upper, a, offset):
    """Lower corners of cells of length a that cover the box; the first starts `offset` cells below it."""
    axes = []
    for low, high, u in zip(lower, upper, offset, strict=True):
        start = Fraction(low) - Fraction(u) * Fraction(a)
        m = max(1, math.ceil(float((Fraction(high) - start) / Fraction(a)) - 1e-9))
        axes.append([start + Fraction(a) * k for k in range(m)])
    return list(itertools.product(*axes))


def halves(corner, a):
    return [
        tuple(c + bit * Fraction(a) / 2 for c, bit in zip(corner, bits, strict=True))
        for bits in itertools.product((0, 1), repeat=len(corner))
    ]


def dig(corners, a0, gap, bonus, bias, capacity, T, more):
    """Regret after 0, 1, ..., T + more queries, and after T of them queries by level and present cells."""
    cells = [[corner, 0, 0, gap(corner, a0)] for corner in corners]  # corner, level, queries, gap
    regret, pulls = [0.0], {}

    def key(cell):
        _, k, n, g = cell
        return -math.inf if n == 0 else g - bias(k) - bonus / math.sqrt(n)

    for t in range(1, T + more + 1):
        B = min(cells, key=key)
        corner, k, n, _ = B
        if n >= capacity(k):
            cells.remove(B)
            a = a0 * 2.0**-k
            cells += [[part, k + 1, 0, gap(part, a / 2)] for part in halves(corner, a)]
            B = min(cells, key=key)
        B[2] += 1
        regret.append(regret[-1] + B[3])
        if t <= T:
            pulls[B[1]] = pulls.get(B[1], 0) + 1
            present = len(cells)
    return regret, pulls, present


def fill_up(corners, a0, gap, bonus, bias, capacity, T):
    """Just below the level at which the queries add up to T, and just above: two triples (level, queries, regret)."""
    known = {}

    def sums(level):
        queries = regret = 0.0
        todo = [(corner, 0) for corner in corners]
        while todo and queries <= 4 * T:
            corner, k = todo.pop()
            a = Fraction(a0) / 2**k
            if (corner, k) not in known:
                known[corner, k] = gap(corner, a)
            g = known[corner, k]
            b = g - bias(k)
            if b - bonus / math.sqrt(capacity(k)) < level:
                n = capacity(k)
                todo += [(part, k + 1) for part in halves(corner, a)]
            else:
                n = min(capacity(k), max(1, math.ceil((bonus / (b - level)) ** 2)))
            queries += n
            regret += n * g
        return level, queries, regret

    low, high = sums(-bias(0) - 2 * bonus), sums(-1e-4 * bonus / math.sqrt(T))
    assert low[1] < T <= high[1]
    while high[1] - low[1] > 1e-4 * T and high[0] - low[0] > 1e-13 * abs(low[0]):
        middle = sums(-math.sqrt(low[0] * high[0]))
        low, high = (middle, high) if middle[1] < T else (low, middle)
    return low, high
