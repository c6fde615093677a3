"""A sample of the bins of a grid, with weights that make it stand for all of them.

The grid is halved from one block on.  A block within which the cost hardly varies is replaced by one of its bins, drawn
at random, with the number of its bins as weight; of the others that have about the same value some are drawn, as in a
tree of cells, and halved.  Blocks no farther from a minimiser than
their own length are always kept.
"""

from __future__ import annotations

import math

import numpy as np

from ..sampling.generator import uniform
from ..sampling.jit import compiled
from .thinning import SORTS, UNDECIDED, allocating, decide, shell_within

CLEAR = 64  # a cell must be this many times wider than the distance at which roundings show
HARDLY = 0.25  # of the lowest value in a block: what its values differ by at the most, if one bin stands for all
BLOCKS = 64  # at first the grid is cut into so many at least, whatever their values
RANDOM = 2  # bins of a block that are looked at, beside its corners and its middle


@allocating
def sample(low, high, a, f, origin, minimum, home, phase, z, x, kept, state):
    """Indices, anchors, values and weights of bins, for the grid between two corners, and whether a float tells them
    apart."""
    d = z.size
    blocks, bins, weight = np.empty((1, 2 * d)), np.empty(1), np.ones(1)
    anchor = np.zeros(1, dtype=np.int64)
    blocks[0, :d], blocks[0, d:] = low, high
    forced = math.ceil(math.log2(BLOCKS) / d)
    index, value, stands = np.empty((1024, d)), np.empty(1024), np.empty(1024)
    anchors = np.empty(1024, dtype=np.int64)
    found = halvings = 0
    point = np.empty(d)
    while blocks.shape[0]:
        size = blocks.shape[0]
        middle, lowest, heirs, bins = np.empty(size), np.empty(size), np.empty(size), np.empty(size)
        for b in range(size):
            block = blocks[b]
            anchor[b] = approach(block, anchor[b], home, phase)
            bins[b] = weight[b]
            single = guarded = True
            for q in range(d):
                bins[b] *= block[d + q] - block[q]
                single &= block[d + q] - block[q] <= 1.0
                reach = block[d + q] - block[q]
                guarded &= block[q] <= reach and block[d + q] >= -reach
            least, most, total = math.inf, -math.inf, 0.0
            looks = 1 if single else 2**d + 1 + RANDOM
            for look in range(looks):
                for q in range(d):
                    if look < 2**d and not single:
                        point[q] = block[d + q] - 1.0 if (look >> q) & 1 else block[q]
                    elif look <= 2**d:
                        point[q] = np.floor((block[q] + block[d + q]) / 2)
                    else:
                        point[q] = drawn(block[q], block[d + q], state)
                y = at(point, anchor[b], a, f, origin, minimum, phase, z, x)
                least, most, total = min(least, y), max(most, y), total + y
            middle[b], lowest[b] = total / looks, least
            if single:
                for q in range(d):
                    z[q] = (block[q] - phase[anchor[b], 0, q]) * a
                if blurred(f, origin, minimum, z, a, x):
                    return index[:0], anchors[:0], value[:0], stands[:0], False
            if single or (halvings >= forced and not guarded and most - least <= HARDLY * least):
                if not single:  # the last point that was looked at is one at random
                    middle[b] = y
                if found == value.size:
                    index, anchors = np.append(index, index, 0), np.append(anchors, anchors)
                    value, stands = np.append(value, value), np.append(stands, stands)
                index[found], value[found], stands[found], anchors[found] = point, middle[b], bins[b], anchor[b]
                found += 1
                heirs[b] = 0.0
            elif guarded or halvings < forced:
                heirs[b] = bins[b]
            else:
                heirs[b] = UNDECIDED
        undecided = np.flatnonzero(heirs == UNDECIDED)
        if undecided.size:
            highest = np.max(middle[undecided])
            shells = np.empty(undecided.size, dtype=np.int64)
            for b in range(undecided.size):
                shells[b] = shell_within(middle[undecided[b]], highest, lowest[undecided[b]])
            decide(undecided, shells, np.zeros(SORTS, dtype=np.int64), kept, middle, bins, heirs, state)
        chosen = np.flatnonzero(heirs > 0.0)
        parts = np.empty((chosen.size * 2**d, 2 * d))
        shares, of = np.empty(parts.shape[0]), np.empty(parts.shape[0], dtype=np.int64)
        count = 0
        for b in chosen:
            before = count
            for part in range(2**d):
                empty = False
                for q in range(d):
                    half = np.floor((blocks[b, q] + blocks[b, d + q]) / 2)
                    if blocks[b, d + q] - blocks[b, q] <= 1.0:
                        half = blocks[b, d + q]
                    upper = (part >> q) & 1
                    parts[count, q] = half if upper else blocks[b, q]
                    parts[count, d + q] = blocks[b, d + q] if upper else half
                    empty |= parts[count, d + q] <= parts[count, q]
                if not empty:
                    shares[count] = weight[b] * heirs[b] / bins[b]
                    of[count] = anchor[b]
                    count += 1
            if count == before + 1 and np.all(parts[before] == blocks[b]):
                return index[:0], anchors[:0], value[:0], stands[:0], False
        blocks, weight, anchor = parts[:count], shares[:count], of[:count]
        halvings += 1
    return index[:found], anchors[:found], value[:found], stands[:found], True


@compiled
def drawn(low, high, state):
    """A whole number from low on and below high."""
    u, s0, s1, s2, s3 = uniform(state[0], state[1], state[2], state[3])
    state[0], state[1], state[2], state[3] = s0, s1, s2, s3
    return min(high - 1.0, np.floor(low + u * (high - low)))


@compiled
def approach(block, anchor, home, phase):
    """The minimiser that is nearest to the middle of a block, from which its bins are counted from now on."""
    d, nearest, best = block.size // 2, math.inf, anchor
    if home.shape[0] == 1:
        return anchor
    for m in range(home.shape[0]):
        distance = 0.0
        for q in range(d):
            j = (block[q] + block[d + q]) / 2 + home[anchor, 0, q] - home[m, 0, q]
            distance = max(distance, abs(j - phase[m, 0, q]))
        if distance < nearest:
            nearest, best = distance, m
    for q in range(d):
        moved = home[anchor, 0, q] - home[best, 0, q]
        block[q] += moved
        block[d + q] += moved
    return best


@compiled
def at(point, anchor, a, f, origin, minimum, phase, z, x):
    """The gap at the centre of a bin."""
    for q in range(z.size):
        x[q] = origin[q] + (point[q] - phase[anchor, 0, q] + 0.5) * a
    if x.size > z.size:
        x[z.size] = anchor
    return f(x) - minimum


@compiled
def blurred(f, origin, minimum, z, a, x):
    """Whether the roundings of coordinates show at the centre of the cube at z, which may be far from its minimiser."""
    gap = math.nan
    for q in range(z.size):
        rounding = 2.0**-52 * max(abs(z[q]), abs(origin[q] + z[q]))
        if CLEAR * rounding > a:
            if gap != gap:
                for r in range(z.size):
                    x[r] = origin[r] + z[r] + a / 2
                gap = f(x) - minimum
            centre = x[q]
            for sign in (-1.0, 1.0):
                x[q] = centre + sign * rounding
                if CLEAR * abs(f(x) - minimum - gap) > max(gap, 0.0):
                    return True
            x[q] = centre
    return False
