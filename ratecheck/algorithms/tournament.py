"""A kinetic tournament: the exact argmin of many straight lines in tau, while tau grows and lines change.

Line i is the key  c_i - tau w_i  of cell i, in floating point exactly as written.  Equal keys are decided by
a priority drawn once per cell, then by the smaller index.  So the order of two cells at any tau is a
comparison of numbers, and the winner is defined to the last bit.  A cell that was never queried has
c = FRESH, which stands for -infinity, and w = 0.

The cells are the leaves `size ... 2 size - 1` of a binary tree whose inner node v has the children 2v and
2v + 1.  A node holds the winner of its subtree (c, w and index) and an expiry: no match of the subtree
changes its result for any later tau up to the expiry.  A match is played again when one of its leaves changes
or when tau passes its expiry, and at no other time.

Why this is exact although crossings are computed with rounding errors: for w <= 1 (at least one query) the
rounded key differs from the real number c - tau w by at most u (|key| + 4 tau), u = 2^-53.  So i, ahead of j
by a gap at tau, surely stays ahead at every later tau' with

    gap - e (|key_i| + |key_j| + 4 tau)  >  (tau' - tau) ((w_j - w_i) + 2 e),        e = 2^-48 = 32 u,

since between tau and tau' the two errors grow by less than 8 u (tau' - tau); the surplus covers the roundings
of the inequality itself.  It is linear in tau', hence an expiry.  Where it fails at tau' = tau, the two are
too close to call ahead: the match expires at once and is played, with the keys themselves, at the next tau.

The walks have no unpredictable branches: each choice is a select on a comparison of two floats, and a tie
becomes such a comparison by giving the loser a huge key.
"""

from __future__ import annotations

import math

import numpy as np

from ..jit import compiled, inlined

# Columns of the tree.  A node takes 32 bytes, so the two players of a match share a cache line.
C, W, EXPIRY, CELL = range(4)
EPS = 2.0**-48
# Finite, so that certificates need no special cases; a key in use is below 1e140 in absolute value.
FRESH, VACANT = -1e150, 1e150
STANDSTILL = 1e-150  # a speed at which lines never meet: 1e150 / 1e-150 is still finite
AHEAD = 16  # pulls for which a lead is judged by the mean alone, without a logarithm and a square root
UNDERFLOW = 1e-250  # products smaller than this lose digits
FOREVER = 1e200  # the lead of the winner over an equal line: ties are decided once


def empty(size):
    """A tree with room for `size` cells, all places vacant."""
    tree = np.zeros((2 * size, 4))
    tree[:, C] = VACANT
    tree[:, EXPIRY] = np.inf
    return tree


@compiled
def comes_first(priority, i, j):
    i, j = int(i), int(j)
    if priority[i] != priority[j]:
        return priority[i] < priority[j]
    return i < j


@inlined
def lasts(gap, key, w, other_key, other_w, tau):
    """A tau up to which the line with the smaller key, ahead by `gap`, surely stays ahead of the other."""
    winner_w = w if key < other_key else other_w
    speed = (w + other_w) - 2.0 * winner_w + 2.0 * EPS  # the loser's w minus the winner's, without a branch
    margin = gap - EPS * (abs(key) + abs(other_key) + (4.0 * tau + UNDERFLOW))
    return tau + max(margin, 0.0) / max(speed, STANDSTILL)


@inlined
def play(tree, priority, node, tau):
    """Play the match at an inner node."""
    left = 2 * node
    right = left + 1
    c, w, cell = tree[left, C], tree[left, W], tree[left, CELL]
    other_c, other_w, other_cell = tree[right, C], tree[right, W], tree[right, CELL]
    key = c - tau * w
    other_key = other_c - tau * other_w
    gap = abs(key - other_key)
    if key == other_key:
        gap = FOREVER if w == other_w and c == other_c else 0.0
        if comes_first(priority, cell, other_cell):
            other_key = VACANT
        else:
            key = VACANT
    until = lasts(gap, key, w, other_key, other_w, tau)
    tree[node, C] = c if key < other_key else other_c
    tree[node, W] = w if key < other_key else other_w
    tree[node, CELL] = cell if key < other_key else other_cell
    tree[node, EXPIRY] = min(until, min(tree[left, EXPIRY], tree[right, EXPIRY]))


@inlined
def seat(tree, cell, c, w):
    """Put a line on its leaf, without playing."""
    leaf = tree.shape[0] // 2 + cell
    tree[leaf, C] = c
    tree[leaf, W] = w
    tree[leaf, CELL] = cell


@inlined
def replace(tree, priority, i, c, w, tau):
    """Give cell i a new line and play the matches on its way to the root."""
    seat(tree, i, c, w)
    node = tree.shape[0] // 2 + i
    cell = float(i)
    expiry = np.inf
    key = c - tau * w
    while node > 1:  # `play`, with the player that comes up kept in registers
        other = node ^ 1
        other_c, other_w, other_cell = tree[other, C], tree[other, W], tree[other, CELL]
        other_key = other_c - tau * other_w
        gap = abs(key - other_key)
        best = min(key, other_key)
        if key == other_key:
            gap = FOREVER if w == other_w and c == other_c else 0.0
            if comes_first(priority, cell, other_cell):
                other_key = VACANT
            else:
                key = VACANT
        until = lasts(gap, key, w, other_key, other_w, tau)
        c = c if key < other_key else other_c
        w = w if key < other_key else other_w
        cell = cell if key < other_key else other_cell
        key = best
        expiry = min(until, min(expiry, tree[other, EXPIRY]))
        node >>= 1
        tree[node, C] = c
        tree[node, W] = w
        tree[node, CELL] = cell
        tree[node, EXPIRY] = expiry


@compiled
def replay(tree, priority, first, last, tau):
    """Play all matches above the cells first ... last - 1, after they were seated."""
    low = tree.shape[0] // 2 + first
    high = tree.shape[0] // 2 + last - 1
    while low > 1:
        low >>= 1
        high >>= 1
        for node in range(
            high, low - 1, -1
        ):  # downwards: where `size` is no power of 2 a range may hold two generations
            play(tree, priority, node, tau)


@inlined
def refresh(tree, priority, tau):
    """Play again every match that expired before tau."""
    node = 1
    while tree[node, EXPIRY] < tau:
        if tree[2 * node, EXPIRY] < tau:
            node = 2 * node
        elif tree[2 * node + 1, EXPIRY] < tau:
            node = 2 * node + 1
        else:
            play(tree, priority, node, tau)
            node = max(node >> 1, 1)


@inlined
def rivals(tree, i, tau, later):
    """A line that no other cell undercuts: key >= at + slope (tau' - tau) for tau <= tau' <= later.

    Apart from the winner i, only the players it met on its way to the root matter.  The smallest of their
    keys is a concave function of tau', so it lies above its chord from tau to `later`; the chord is lowered
    by more than all roundings together.  Also returned is the expiry of those players: later than that, the
    line means nothing.
    """
    node = tree.shape[0] // 2 + i
    start = np.inf
    end = np.inf
    expiry = np.inf
    while node > 1:
        other = node ^ 1
        start = min(start, tree[other, C] - tau * tree[other, W])
        end = min(end, tree[other, C] - later * tree[other, W])
        expiry = min(expiry, tree[other, EXPIRY])
        node >>= 1
    lowered = start - EPS * (abs(start) + abs(end) + (4.0 * later + UNDERFLOW))
    return lowered, (end - start) / max(later - tau, STANDSTILL), expiry


@inlined
def stretch(tree, i, t, tau, pace):
    """For how many steps one look at the winner's rivals serves, and what it says: their line, and its expiry.

    `pace` is how much tau, concave in t, grows per step at most.
    """
    window = min(256, 1 + t // 32)
    start, slope, expiry = rivals(tree, i, tau, tau + window * pace)
    return start, slope, expiry, max(int(min(window, min(expiry - tau, 1.0) / pace)), 1)


@inlined
def ahead(line, tau, w):
    """A c below which the key c - tau' w' surely lies below `line`, whatever tau' >= tau and w' >= w."""
    bonus = tau * w
    return (line + bonus) - EPS * (abs(line) + bonus + UNDERFLOW)


@inlined
def lead(c, count, tau, start, slope, since, pace):
    """Whether a winner with mean key c has fallen behind its rivals' line, its w, and how long its lead is sure.

    Up to the count `known` it stays ahead while c is below `surely_ahead`.
    """
    w = 1.0 / math.sqrt(count)
    if not c - tau * w < start + slope * (tau - since):
        return True, w, count, 0.0
    known = count + AHEAD
    line = start + slope * ((tau - since) + AHEAD * pace)
    return False, w, known, ahead(line, tau, 1.0 / math.sqrt(known))
