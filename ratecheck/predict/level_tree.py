"""The tree of cells that a level asks for: their gaps, computed when first needed, and how often each was queried.

A cell is known by its level k and by its index j along each axis, counted from the cell that holds x*: its lower corner
lies (j - phase_k) a_k from x*, where phase_k is the place of x* in its cell.  So a cell of side 2^-100 beside x* has a
place, which it would not have in coordinates of the box.
"""

from __future__ import annotations

import math
from fractions import Fraction

import numpy as np
from numba import cfunc, float64

from function_zoo.cost import typed

from ..algorithms import partition
from ..sampling.jit import compiled

FINE, PASSED, NO_ROOM, UNRESOLVED = range(4)  # how a walk ended
AT_CENTRE, CLOSED, BY_SIDES, BY_CUBES = range(4)  # where the gaps of cells come from
PULLS, CELLS, REGRET, ERROR = range(4)  # columns of what is summed by level
MOST_CELLS = 2**22  # of one tree, some 200 MB in three dimensions
MOST_RELEASED = 64
HEADROOM = 16.0  # pulls of a trial level that a tree has levels for, as a multiple of the horizon
TOLERANCE = (1e-6, 1e-4, 2e-3)  # of a mean over one, two, more axes at once, as a share of it
TOLERANCE_AFAR = (1e-6, 2e-4, 5e-3)  # the same for small cells away from x*; they are many, and their errors cancel
DEEP = 3  # levels on which cells are cut into pieces of this level, so that waves are seen
CLOSE = 2.0  # sides from x* to the centre of a cell, beyond which it is away, unless an axis through x* cuts it
MOST_PIECES = 2000  # that a mean is taken from
SMALLEST = 2.0**-40  # piece, as a share of a side
SLOTS = 2**14  # for means over sides, which many cells share
SHORTEST = 1e-300  # side
CLEAR = 64  # a cell must be this many times wider than the distance at which roundings show

NODES = np.array([-math.sqrt(1 / 3), math.sqrt(1 / 3), -math.sqrt(0.6), 0.0, math.sqrt(0.6)])  # Gauss, 2 and 3 of them
WEIGHTS = np.array([1 / 2, 1 / 2, 5 / 18, 8 / 18, 5 / 18])


class LevelTree:
    """The cells of one partition of a cost, for an algorithm with a level rule, up to a horizon."""

    def __init__(self, cost, rule, *, length, offset, horizon, most_cells=None):
        self.cost, self.dim = cost, (d := cost.dim)
        self.most_cells = MOST_CELLS if most_cells is None else most_cells
        levels = 1
        while rule.capacity(levels - 1) <= 2 * HEADROOM * horizon:
            levels += 1
        self.capacity = np.array([float(rule.capacity(k)) for k in range(levels)])
        self.inverse_root = 1 / np.sqrt(self.capacity)
        self.bias = np.array([float(rule.bias(k)) for k in range(levels)])
        self.side = np.array([length * 2.0**-k for k in range(levels + 1)])
        counts = partition.counts(cost, length, offset)
        first, self.phase = phases(cost, length, offset, levels + 1)
        self.sort = AT_CENTRE if rule.at_centre else CLOSED if cost.mean else BY_SIDES if cost.separable else BY_CUBES
        relative = cost.gap is not None and not cost.anchored
        self.f = cost.compiled_gap if relative else cost.compiled
        self.mean = cost.compiled_mean or no_mean
        self.origin = np.zeros(d) if relative else cost.minimisers[0].copy()
        self.minimum = 0.0 if relative else cost.minimum
        self.least = CLEAR**cost.constants.alpha * self._noise(cost)

        axes = [first_q + np.arange(m) for first_q, m in zip(first, counts, strict=True)]
        index = np.stack(np.meshgrid(*axes, indexing="ij"), axis=-1).reshape(-1, d).astype(float)
        self.roots = self.used = len(index)
        self.index, self.gap, self.error = index, np.empty(len(index)), np.empty(len(index))
        self.child = np.zeros(len(index), dtype=np.int64)
        self.variance = np.zeros(len(index))  # 0 where it was not asked for
        self.stack = np.empty(((2**d - 1) * levels + 1, 2), dtype=np.int64)
        self.pieces = np.empty((2**d * 50, 2 * d))  # halved 40 times at most
        self.work = np.empty((2, d))
        self.sides = np.full((SLOTS if self.sort == BY_SIDES else 0, 5), -1.0)
        fill(0, self.used, 0, *self._formula(), self.index, self.gap, self.error)
        self._make_room(4 * self.roots + 64)

    def _noise(self, cost) -> float:
        """What the roundings of coordinates, and those of the formula, make of the gap at the minimisers."""
        z = cost.minimisers - cost.minimisers[0]
        steps = 4 * np.maximum(np.spacing(np.abs(self.origin + z)), np.spacing(np.abs(z)))
        around = np.random.default_rng(0).choice([-1.0, 0.5, 1.0], (16, 1, self.dim))
        points = (self.origin + z + steps * around).reshape(-1, self.dim)
        found = max(abs(float(self.f(x)) - self.minimum) for x in points)
        return max(found, float(np.spacing(abs(self.minimum)))) if self.minimum else found

    def _formula(self):
        return (
            self.f, self.mean, self.sort, self.origin, self.minimum,
            self.side, self.phase, self.pieces, self.sides, self.work,
        )  # fmt: skip

    def _make_room(self, size):
        size = min(size, max(self.most_cells, self.used))
        for name in ("index", "gap", "error", "child", "variance"):
            old = getattr(self, name)
            new = np.zeros((size, *old.shape[1:]), dtype=old.dtype)
            new[: self.used] = old[: self.used]
            setattr(self, name, new)

    def walk(self, starts, level, *, bonus, most, before=-math.inf):
        """The sums by level over the trees below the starts, or None, and a status.

        `before` is a lower level; `released` are then the topmost cells that were full at it and are split at this one.
        """
        sums = np.zeros((len(self.capacity), 4))
        counts = np.zeros(2, dtype=np.int64)
        released = np.empty((MOST_RELEASED, 2), dtype=np.int64)
        used = self.used
        while True:
            sums[:] = 0.0
            counts[:] = self.used, 0
            status = walk(
                starts, level, before, bonus, most, self.capacity, self.inverse_root, self.bias, self.least,
                *self._formula(), self.index, self.gap, self.error, self.child, self.stack, sums, released, counts,
            )  # fmt: skip
            self.used = int(counts[0])
            if status == NO_ROOM and len(self.gap) >= self.most_cells:
                self._forget(used)
            if status != NO_ROOM or len(self.gap) >= self.most_cells:
                return sums if status == FINE else None, status, released[: counts[1]]
            self._make_room(2 * len(self.gap))

    def spread(self, level, bonus):
        """The regret in cells within which f varies, each weighted with its variance in units of the squared bonus."""
        return spread(
            self.starts(), level, bonus, self.capacity, self.inverse_root, self.bias, self.f, self.origin, self.side,
            self.phase, self.work, self.index, self.gap, self.child, self.variance, self.stack,
        )  # fmt: skip

    def _forget(self, used):
        """Drop the cells beyond the first ones: those of a level that is too high would take the place of others."""
        kept = self.child[:used]
        kept[kept >= used] = 0
        self.variance[used:] = 0.0
        self.used = used

    def starts(self):
        """The roots, as pairs of a cell and its level."""
        return np.stack([np.arange(self.roots), np.zeros(self.roots, dtype=np.int64)], axis=1)

    def below(self, cells):
        """The children of some cells."""
        parts = np.arange(2**self.dim)
        return np.array([(self.child[i] + part, k + 1) for i, k in cells for part in parts])


def phases(cost, length, offset, levels):
    """The index of the first root along each axis, and the place of x* in its cell at each level: (levels, d).

    Exact: binary digits of a quotient of floating-point numbers, as many as one likes.
    """
    first, table = [], np.empty((levels, cost.dim))
    for q, (low, x, u) in enumerate(zip(cost.lower.tolist(), cost.minimisers[0].tolist(), offset, strict=True)):
        place = (Fraction(x) - Fraction(low)) / Fraction(length) + Fraction(u)
        first.append(-math.floor(place))
        numerator, denominator = place.numerator % place.denominator, place.denominator
        for k in range(levels):
            table[k, q] = numerator / denominator
            numerator = 2 * numerator % denominator
    return first, table


@typed
@cfunc(float64(float64[::1], float64))
def no_mean(z, a):
    return math.nan


@compiled
def walk(
    starts, level, before, bonus, most, capacity, inverse_root, bias, least,
    f, mean, sort, origin, minimum, side, phase, pieces, sides, work,
    index, gap, error, child, stack, sums, released, counts,
):  # fmt: skip
    d = index.shape[1]
    children = 2**d
    total = 0.0
    for s in range(starts.shape[0]):
        top = 0
        stack[0, 0], stack[0, 1] = starts[s, 0], starts[s, 1]
        beneath = np.int64(0)  # the height of the stack below which a released cell was met
        while top >= 0:
            i, k = stack[top, 0], stack[top, 1]
            if top < beneath - 1:
                beneath = 0
            top -= 1
            b = gap[i] - bias[k]
            full = b - bonus * inverse_root[k]  # the key of a cell that is full
            if full < level:  # it was picked once more, and split
                n = capacity[k]
                total += n
                if full >= before and beneath == 0 and counts[1] < released.shape[0]:
                    released[counts[1], 0], released[counts[1], 1] = i, k
                    counts[1] += 1
                    beneath = top + 2
                if total > most:
                    return PASSED
                if child[i] == 0:
                    if gap[i] < least or side[k + 1] < SHORTEST:
                        return UNRESOLVED
                    used = counts[0]
                    if used + children > gap.size:
                        return NO_ROOM
                    for part in range(children):
                        for q in range(d):
                            upper = (part >> q) & 1
                            digit = 1.0 if phase[k, q] >= 0.5 else 0.0
                            index[used + part, q] = 2.0 * index[i, q] + upper - digit
                        child[used + part] = 0
                    fill(
                        used, used + children, k + 1,
                        f, mean, sort, origin, minimum, side, phase, pieces, sides, work, index, gap, error, gap[i],
                    )  # fmt: skip
                    child[i] = used
                    counts[0] = used + children
                for part in range(children):
                    top += 1
                    stack[top, 0], stack[top, 1] = child[i] + part, k + 1
            else:
                n = min(capacity[k], max(1.0, np.ceil((bonus / (b - level)) ** 2)))
                total += n
                if total > most:
                    return PASSED
                sums[k, CELLS] += 1
            sums[k, PULLS] += n
            sums[k, REGRET] += n * gap[i]
            sums[k, ERROR] += n * error[i]
    return FINE


@compiled
def spread(
    starts, level, bonus, capacity, inverse_root, bias, f, origin, side, phase, work, index, gap, child, variance, stack
):  # fmt: skip
    children = 2 ** index.shape[1]
    total = 0.0
    for s in range(starts.shape[0]):
        top = 0
        stack[0, 0], stack[0, 1] = starts[s, 0], starts[s, 1]
        while top >= 0:
            i, k = stack[top, 0], stack[top, 1]
            top -= 1
            b = gap[i] - bias[k]
            if b - bonus * inverse_root[k] < level:
                n = capacity[k]
                if child[i] > 0:
                    for part in range(children):
                        top += 1
                        stack[top, 0], stack[top, 1] = child[i] + part, k + 1
            else:
                n = min(capacity[k], max(1.0, np.ceil((bonus / (b - level)) ** 2)))
            if variance[i] == 0.0:
                variance[i] = variance_within(f, origin, side[k], phase[k], index[i], work[1])
            total += n * gap[i] * min(1.0, variance[i] / bonus**2)
    return total


@compiled
def variance_within(f, origin, a, phase, index, x):
    """The variance of f over a cell, from three nodes per axis."""
    d = x.size
    total = squares = 0.0
    for point in range(3**d):
        rest, weight = point, 1.0
        for q in range(d):
            node = rest % 3 + 2
            rest //= 3
            weight *= WEIGHTS[node]
            x[q] = origin[q] + (index[q] - phase[q] + 0.5 * (1.0 + NODES[node])) * a
        y = f(x)
        total += weight * y
        squares += weight * y * y
    return max(0.0, squares - total * total)


# Means over cells


@compiled
def fill(
    first, last, k, f, mean, sort, origin, minimum, side, phase, pieces, sides, work, index, gap, error, parent=math.nan
):  # fmt: skip
    """The gaps of cells of one level, and their errors; from the parent's gap, too, where all have the same parent."""
    d = index.shape[1]
    z, a = work[0], side[k]
    afar, difference, cuts = TOLERANCE_AFAR[min(d, 3) - 1], math.inf, 0
    while sort == BY_CUBES and k >= DEEP and d > 1 and cuts < 2 and not difference <= afar * parent:
        cuts += 1
        difference = -parent
        for i in range(first, last):
            for q in range(d):
                z[q] = (index[i, q] - phase[k, q]) * a
            gap[i] = two_nodes(f, origin, minimum, z, a, cuts, work[1])
            difference += gap[i] / (last - first)
        difference = abs(difference)
    for i in range(first, last):
        distance, across = 0.0, False
        for q in range(d):
            z[q] = (index[i, q] - phase[k, q]) * a
            distance = max(distance, abs(z[q] / a + 0.5))
            across |= z[q] < 0.0 < z[q] + a
        error[i] = 0.0
        if sort == AT_CENTRE:
            for q in range(d):
                work[1, q] = origin[q] + z[q] + a / 2
            gap[i] = f(work[1]) - minimum
        elif sort == CLOSED:
            gap[i] = mean(z, a)
        elif sort == BY_CUBES:
            away = k >= DEEP and distance > CLOSE and not across
            if away and difference <= afar * gap[i]:  # the children agree with their parent
                error[i] = difference
                continue
            tolerance = afar if away else TOLERANCE[min(d, 3) - 1]
            gap[i], error[i] = quadrature(f, origin, minimum, z, a, 0, d, max(0, DEEP - k), tolerance, pieces, work[1])
        else:
            gap[i] = 0.0
            for q in range(d):
                j = index[i, q]
                slot = sides[int(j * 7919.0 + k * 104729.0 + q * 31.0) % SLOTS]
                if slot[0] != q or slot[1] != k or slot[2] != j:
                    slot[0], slot[1], slot[2] = q, k, j
                    slot[3], slot[4] = quadrature(f, origin, minimum, z, a, q, q + 1, 4, TOLERANCE[0], pieces, work[1])
                gap[i] += slot[3]
                error[i] += slot[4]


@compiled
def two_nodes(f, origin, minimum, z, a, cuts, x):
    """The mean of f - f* over the cube at z, from two nodes per axis in each of cuts^d parts."""
    d, per_axis = x.size, 2 * cuts
    total = 0.0
    for point in range(per_axis**d):
        rest = point
        for q in range(d):
            part, node = divmod(rest % per_axis, 2)
            rest //= per_axis
            x[q] = origin[q] + (z[q] + a * (part + 0.5 * (1.0 + NODES[node])) / cuts)
        total += f(x)
    return total / per_axis**d - minimum


@compiled
def quadrature(f, origin, minimum, z, a, first, last, depth, tolerance, pieces, x):
    """The mean of f - f* over the cube at z, or over its side along one axis through x*, and an estimate of its error.

    Gauss's rules with two and three nodes per axis.  The cube is cut where it crosses an axis through x*, since that is
    where costs have kinks; then into halves `depth` times, so that waves are seen, and further where the rules differ.
    """
    d, m = x.size, last - first
    top = 0
    for q in range(d):
        x[q] = origin[q]
        pieces[0, q], pieces[0, d + q] = z[q], a
    for q in range(first, last):
        if z[q] < 0.0 < z[q] + a:
            for piece in range(top + 1):
                for r in range(2 * d):
                    pieces[top + 1 + piece, r] = pieces[piece, r]
                pieces[piece, d + q] = -z[q]
                pieces[top + 1 + piece, q], pieces[top + 1 + piece, d + q] = 0.0, z[q] + a
            top = 2 * top + 1
    enough = 1.5 * 2.0 ** (-m * depth)  # of the cube, for a piece
    scale = total = error = 0.0
    count = 0
    while top >= 0:
        coarse = fine = 0.0
        for size in range(2, 4):
            value = 0.0
            for point in range(size**m):
                rest, weight = point, 1.0
                for q in range(first, last):
                    node = rest % size + (0 if size == 2 else 2)
                    rest //= size
                    weight *= WEIGHTS[node]
                    x[q] = origin[q] + (pieces[top, q] + 0.5 * pieces[top, d + q] * (1.0 + NODES[node]))
                value += weight * (f(x) - minimum)
            coarse, fine = fine, value
        share = 1.0
        for q in range(first, last):
            share *= pieces[top, d + q] / a
        scale = max(scale, abs(total + fine * share))
        difference = abs(fine - coarse) * share
        count += 1
        if (share <= enough and difference <= tolerance * scale) or count > MOST_PIECES or share < SMALLEST**m:
            total += fine * share
            error += difference
            top -= 1
            continue
        for q in range(first, last):
            pieces[top, d + q] *= 0.5
        for part in range(2**m - 1, -1, -1):  # the last one takes the place of the whole
            for q in range(d):
                upper = first <= q < last and (part >> (q - first)) & 1
                pieces[top + part, q] = pieces[top, q] + (pieces[top, d + q] if upper else 0.0)
                pieces[top + part, d + q] = pieces[top, d + q]
        top += 2**m - 1
    return total, error
