"""How often a cell is queried until its own mean has risen to a level, without draws of points and noise and with them.

Given the level, cells are independent.  Each is queried until the mean of what was seen in it, less its bias and its
bonus, has risen to the level, and is split if that has not happened after as many queries as it takes.  So a cell has a
path: its mean after one query, two, and so on, drawn once and kept, for all trial levels and all horizons.  Up to
SINGLE queries each is drawn by itself, its point and its noise; from there on means are drawn, by the normal law, at
numbers of queries that grow by a factor, and the passage between two of them is interpolated.
"""

from __future__ import annotations

import math
from typing import NamedTuple

import numpy as np

from ..sampling.generator import normal, uniform
from ..sampling.jit import compiled
from ..sampling.noise import sample
from .means import AT_CENTRE, place, variance_within

SINGLE = 48  # queries that are drawn one by one
GROWTH = 1.02  # of the number of queries from there on
SPLIT, NO_ROOM = -1.0, 0.0  # in place of a number of queries: they do not suffice; there is no room for more means
FIRST_ROOM = 16  # means of a new path


class Paths(NamedTuple):
    """The paths of all cells of a tree; without any where `counts` is empty."""

    counts: np.ndarray  # of queries, at which means are known
    roots: np.ndarray  # 1 / sqrt(count)
    before: np.ndarray  # by level: how many of these counts lie below what a cell takes
    start: np.ndarray  # by cell: where its means begin, how many are known, and for how many there is room
    last: np.ndarray  # by cell: the bonus and the level of the last passage and of one below it, the places of counts
    means: np.ndarray
    used: np.ndarray  # of `means`, a single number
    law: int
    scale: float
    dof: float
    sigma: float


def paths_for(noise, capacity, most, size) -> Paths:
    """Paths for cells that take so many queries by level, none of them more than `most`."""
    if noise is None:
        counts = np.empty(0)
    else:
        count = max(0, math.ceil(math.log(max(1.0, most / SINGLE)) / math.log(GROWTH)))
        counts = np.unique(np.concatenate([np.arange(1, SINGLE), SINGLE * GROWTH ** np.arange(count + 1)]).round())
    before = np.searchsorted(counts, capacity) if len(counts) else np.zeros(len(capacity), dtype=np.int64)
    law, scale, dof = (0, 0.0, 0.0) if noise is None else noise.numbers
    sigma = 0.0 if noise is None else float(noise.sigma)
    rows = size if len(counts) else 0
    return Paths(
        counts, 1 / np.sqrt(counts), before, np.zeros((rows, 3), dtype=np.int64), np.full((rows, 6), math.nan),
        np.empty(FIRST_ROOM * rows), np.zeros(1, dtype=np.int64), law, scale, dof, sigma,
    )  # fmt: skip


def with_room(paths, size) -> Paths:
    """The same paths, for so many cells and with twice the room for means."""
    if not len(paths.counts):
        return paths
    rows = len(paths.start)
    start, last = np.zeros((size, 3), dtype=np.int64), np.full((size, 6), math.nan)
    start[:rows], last[:rows] = paths.start, paths.last
    means = np.empty(max(2 * len(paths.means), FIRST_ROOM * size))
    means[: paths.used[0]] = paths.means[: paths.used[0]]
    return paths._replace(start=start, last=last, means=means)


@compiled
def asked(
    i, k, level, bonus, paths, capacity, inverse_root, bias, sort, f, origin, minimum, side, phase, z, x, index,
    anchor, gap, variance, state,
):  # fmt: skip
    """How often a cell is queried at a level; SPLIT if that is more than it takes, NO_ROOM for its path."""
    if paths.counts.size:
        return passage(
            i, k, level, bonus, paths, capacity, bias, sort == AT_CENTRE, f, origin, minimum, side, phase, z, x, index,
            anchor, gap, variance, state,
        )  # fmt: skip
    b = gap[i] - bias[k]
    if b - bonus * inverse_root[k] < level:  # it was picked once more, and split
        return SPLIT
    return min(capacity[k], max(1.0, np.ceil((bonus / (b - level)) ** 2)))


@compiled
def passage(
    i, k, level, bonus, paths, capacity, bias, at_centre, f, origin, minimum, side, phase, z, x, index, anchor, gap,
    variance, state,
):  # fmt: skip
    """How often a cell is queried until its key has risen to the level, SPLIT if it takes fewer queries, or NO_ROOM."""
    counts, start, last = paths.counts, paths.start[i], paths.last[i]
    end = paths.before[k] + 1 if capacity[k] < math.inf else counts.size
    g, key = 0, -math.inf
    if last[0] <= bonus and last[1] <= level:  # a higher level is not reached before a lower one
        last[3], last[4], last[5] = last[0], last[1], last[2]
    if last[3] <= bonus and last[4] <= level:
        g = int(last[5])
    while g < end:
        n = counts[g] if g < paths.before[k] else min(capacity[k], counts[counts.size - 1])
        if g == start[1]:
            if g == start[2] and not more_room(paths, start, end):
                return NO_ROOM
            mean = 0.0 if g == 0 else paths.means[start[0] + g - 1] * counts[g - 1]
            fewer = 0.0 if g == 0 else counts[g - 1]
            mean += drawn(
                i, k, fewer, n, paths, at_centre, f, origin, minimum, side, phase, z, x, index, anchor, gap, variance,
                state,
            )  # fmt: skip
            paths.means[start[0] + g] = mean / n
            start[1] += 1
        root = paths.roots[g] if g < paths.before[k] else 1 / math.sqrt(n)
        key = paths.means[start[0] + g] - bias[k] - bonus * root
        if key >= level:
            break
        g += 1
    last[0], last[1], last[2] = bonus, level, g
    if g == end:
        return SPLIT if capacity[k] < math.inf else counts[end - 1]
    if n <= SINGLE or g == 0:
        return n
    fewer = counts[g - 1]
    before = paths.means[start[0] + g - 1] - bias[k] - bonus * paths.roots[g - 1]
    return n if before >= level else math.ceil(fewer + (level - before) / (key - before) * (n - fewer))


@compiled
def more_room(paths, start, end):
    """Give a path twice its room, at most that for all its means; whether there was enough."""
    room = min(end, max(FIRST_ROOM, 2 * start[2]))
    first = paths.used[0]
    if first + room > paths.means.size:
        return False
    for j in range(start[1]):
        paths.means[first + j] = paths.means[start[0] + j]
    start[0], start[2] = first, room
    paths.used[0] += room
    return True


@compiled
def drawn(i, k, fewer, n, paths, at_centre, f, origin, minimum, side, phase, z, x, index, anchor, gap, variance, state):
    """What is seen in a cell from one number of queries to another, in all."""
    s0, s1, s2, s3 = state[0], state[1], state[2], state[3]
    total = 0.0
    if n <= SINGLE:
        place(z, x, side[k], phase[anchor[i], k], index[i], anchor[i])
        for _ in range(int(n - fewer)):
            w, s0, s1, s2, s3 = sample(paths.law, paths.scale, paths.dof, s0, s1, s2, s3)
            if at_centre:
                total += gap[i] + w
                continue
            for q in range(z.size):
                u, s0, s1, s2, s3 = uniform(s0, s1, s2, s3)
                x[q] = origin[q] + z[q] + u * side[k]
            total += f(x) - minimum + w
    else:
        if variance[i] == 0.0 and not at_centre:
            place(z, x, side[k], phase[anchor[i], k], index[i], anchor[i])
            variance[i] = variance_within(f, origin, side[k], z, x)
        w, s0, s1, s2, s3 = normal(s0, s1, s2, s3)
        m = n - fewer
        total = m * gap[i] + math.sqrt(m * (paths.sigma**2 + variance[i])) * w
    state[0], state[1], state[2], state[3] = s0, s1, s2, s3
    return total


@compiled
def spread(
    starts, level, bonus, capacity, inverse_root, bias, f, origin, side, phase, z, x,
    index, anchor, gap, weight, child, variance, front,
):  # fmt: skip
    d = index.shape[1]
    total = 0.0
    waiting, here, there = starts.shape[0], 0, 1
    for w in range(waiting):
        front[here, w] = starts[w, 0]
    k = 0
    while waiting:
        followed = 0
        for w in range(waiting):
            i = front[here, w]
            b = gap[i] - bias[k]
            n = capacity[k]
            if b - bonus * inverse_root[k] >= level:
                n = min(n, max(1.0, np.ceil((bonus / (b - level)) ** 2)))
            elif child[i] > 0:
                for part in range(2**d):
                    front[there, followed] = child[i] + part
                    followed += 1
            if variance[i] == 0.0:
                place(z, x, side[k], phase[anchor[i], k], index[i], anchor[i])
                variance[i] = variance_within(f, origin, side[k], z, x)
            total += weight[i] * n * gap[i] * min(1.0, variance[i] / bonus**2)
        here, there, waiting = there, here, followed
        k += 1
    return total
