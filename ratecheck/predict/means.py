"""Means of a cost over cells: in closed form where it is known, by quadrature elsewhere.

A cell is known by its level k and by its index j along each axis, counted from the cell that holds a minimiser: its
lower corner lies (j - phase_k) a_k from the minimiser, where phase_k is the place of the minimiser in its cell.  So a
cell of side 2^-100 has a place, which it would not have in coordinates of the box.
"""

from __future__ import annotations

import math

import numpy as np
from numba import cfunc, float64

from function_zoo.cost import typed

from ..sampling.jit import compiled

AT_CENTRE, CLOSED, BY_SIDES, BY_CUBES = range(4)  # where the gaps of cells come from
TOLERANCE = (1e-6, 1e-4, 2e-3)  # of a mean over one, two, more axes at once, as a share of it
TOLERANCE_AFAR = (1e-6, 2e-4, 5e-3)  # the same for small cells away from x*; they are many, and their errors cancel
DEEP = 3  # levels on which cells are cut into pieces of this level, so that waves are seen
CLOSE = 2.0  # sides from x* to the centre of a cell, beyond which it is away, unless an axis through x* cuts it
MOST_PIECES = 2000  # that a mean is taken from
SMALLEST = 2.0**-40  # piece, as a share of a side
SLOTS = 2**14  # for means over sides, which many cells share

NODES = np.array([-math.sqrt(1 / 3), math.sqrt(1 / 3), -math.sqrt(0.6), 0.0, math.sqrt(0.6)])  # Gauss, 2 and 3 of them
WEIGHTS = np.array([1 / 2, 1 / 2, 5 / 18, 8 / 18, 5 / 18])


@typed
@cfunc(float64(float64[::1], float64))
def no_mean(z, a):
    return math.nan


@compiled
def fill(
    first, last, k, f, mean, sort, origin, minimum, side, phase, pieces, sides, z, x,
    index, anchor, gap, error, parent=math.nan,
):  # fmt: skip
    """The gaps of cells of one level, and their errors; from the parent's gap, too, where all have the same parent."""
    d, a = z.size, side[k]
    afar, difference, cuts = TOLERANCE_AFAR[min(d, 3) - 1], math.inf, 0
    while sort == BY_CUBES and k >= DEEP and d > 1 and cuts < 2 and not difference <= afar * parent:
        cuts += 1
        difference = -parent
        for i in range(first, last):
            place(z, x, a, phase[anchor[i], k], index[i], anchor[i])
            gap[i] = two_nodes(f, origin, minimum, z, a, cuts, x)
            difference += gap[i] / (last - first)
        difference = abs(difference)
    for i in range(first, last):
        distance, across = 0.0, False
        place(z, x, a, phase[anchor[i], k], index[i], anchor[i])
        for q in range(d):
            distance = max(distance, abs(z[q] / a + 0.5))
            across |= z[q] < 0.0 < z[q] + a
        error[i] = 0.0
        if sort == AT_CENTRE:
            for q in range(d):
                x[q] = origin[q] + z[q] + a / 2
            gap[i] = f(x) - minimum
        elif sort == CLOSED:
            gap[i] = mean(z, a)
        elif sort == BY_CUBES:
            away = k >= DEEP and distance > CLOSE and not across
            if away and difference <= afar * gap[i]:  # the children agree with their parent
                error[i] = difference
                continue
            tolerance = afar if away else TOLERANCE[min(d, 3) - 1]
            gap[i], error[i] = quadrature(f, origin, minimum, z, a, 0, d, max(0, DEEP - k), tolerance, pieces, x)
        else:
            gap[i] = 0.0
            for q in range(d):
                j = index[i, q]
                slot = sides[int(j * 7919.0 + k * 104729.0 + q * 31.0) % SLOTS]
                if slot[0] != q or slot[1] != k or slot[2] != j:
                    slot[0], slot[1], slot[2] = q, k, j
                    depth = 1 if k >= DEEP and abs(z[q] / a + 0.5) > CLOSE else 4
                    slot[3], slot[4] = quadrature(f, origin, minimum, z, a, q, q + 1, depth, TOLERANCE[0], pieces, x)
                gap[i] += slot[3]
                error[i] += slot[4]


@compiled
def place(z, x, a, phase, index, anchor):
    """Put the lower corner of a cell, relative to its minimiser, into z; x has an entry more where f asks which one."""
    for q in range(z.size):
        z[q] = (index[q] - phase[q]) * a
    if x.size > z.size:
        x[z.size] = anchor


@compiled
def two_nodes(f, origin, minimum, z, a, cuts, x):
    """The mean of f - f* over the cube at z, from two nodes per axis in each of cuts^d parts."""
    d, per_axis = z.size, 2 * cuts
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
    d, m = z.size, last - first
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


@compiled
def lowest(f, origin, minimum, z, a, x):
    """The lowest of f - f* at the centre of the cube at z and at two nodes per axis."""
    d = z.size
    for q in range(d):
        x[q] = origin[q] + z[q] + a / 2
    least = f(x)
    for point in range(2**d):
        for q in range(d):
            x[q] = origin[q] + (z[q] + 0.5 * a * (1.0 + NODES[(point >> q) & 1]))
        least = min(least, f(x))
    return least - minimum


@compiled
def variance_within(f, origin, a, z, x):
    """The variance of f over the cube at z, from three nodes per axis."""
    d = z.size
    total = squares = 0.0
    for point in range(3**d):
        rest, weight = point, 1.0
        for q in range(d):
            node = rest % 3 + 2
            rest //= 3
            weight *= WEIGHTS[node]
            x[q] = origin[q] + (z[q] + 0.5 * (1.0 + NODES[node]) * a)
        y = f(x)
        total += weight * y
        squares += weight * y * y
    return max(0.0, squares - total * total)
