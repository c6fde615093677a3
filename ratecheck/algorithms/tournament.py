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

    gap - e (2 max |c| + 6 tau)  >  (tau' - tau) (max(w_j - w_i, 0) + 2 e),        e = 2^-48 = 32 u,

since between tau and tau' the two errors grow by less than 8 u (tau' - tau); the surplus covers the roundings
of the inequality itself.  It is linear in tau', hence an expiry.  Where it fails at tau' = tau, the two are
too close to call ahead: the match expires at once and is played, with the keys themselves, at the next tau.

The walks have no unpredictable branches: each choice is a select on a comparison of two floats, and a tie
becomes such a comparison by giving the loser a huge key.
"""

import math

import numpy as np

from ..sampling.jit import compiled, inlined

__all__ = ["EXPIRY", "FRESH", "NODE", "empty", "play", "refresh", "replace", "replay", "seat", "winner"]

C, W, EXPIRY, CELL, NODE = range(5)  # a node takes 32 bytes, so the two players of a match share a cache line
LARGEST = 0  # the largest |c| that was ever seated, in the tree's first number
EPS = 2.0**-48
# Finite, so that certificates need no special cases; a key in use is below 1e140 in absolute value.
FRESH, VACANT = -1e150, 1e150
SLACK = 2.0**-42
ROUNDED_UP = 1.0 + 2.0**-50  # a computed tau may exceed its bound by a few units in the last place
TABULATED = 1024
INVERSE_ROOT = np.array([0.0, *(1.0 / math.sqrt(n) for n in range(1, TABULATED))])
FEW, MANY = 8.0, 512.0  # pulls for which rivals are looked at, once in the lead and later
UNDERFLOW = 1e-250  # products smaller than this lose digits
FOREVER = 1e200  # the lead of the winner over an equal line: ties are decided once


def empty(size):
    """A tree with room for `size` cells, all places vacant; it is flat, NODE numbers after NODE numbers."""
    tree = np.zeros((2 * size, NODE))
    tree[1:, C] = VACANT
    tree[:, EXPIRY] = np.inf
    return tree.ravel()


@inlined
def leaf(tree, cell):
    """Where the numbers of a cell begin."""
    return tree.size // 2 + NODE * cell


@compiled
def comes_first(priority, i, j):
    i, j = int(i), int(j)
    if priority[i] != priority[j]:
        return priority[i] < priority[j]
    return i < j


@inlined
def uncertain(tree, tau):
    """How far the difference of two keys at tau may be from that of the real numbers, and more."""
    return EPS * ((2.0 * tree[LARGEST] + 6.0 * tau) + UNDERFLOW)


@inlined
def lasts(gap, key, w, other_key, other_w, tau, error):
    """A tau up to which the line with the smaller key, ahead by `gap`, surely stays ahead of the other."""
    winner_w = w if key < other_key else other_w
    speed = max((w + other_w) - 2.0 * winner_w, 0.0)  # the loser's w minus the winner's, without a branch
    return tau + max(gap - error, 0.0) / (speed + 2.0 * EPS)


@inlined
def play(tree, priority, node, tau):
    """Play the match at an inner node."""
    left = 2 * node
    right = left + NODE
    c, w, cell = tree[left + C], tree[left + W], tree[left + CELL]
    other_c, other_w, other_cell = tree[right + C], tree[right + W], tree[right + CELL]
    key = c - tau * w
    other_key = other_c - tau * other_w
    gap = abs(key - other_key)
    if key == other_key:
        gap = FOREVER if w == other_w and c == other_c else 0.0
        if comes_first(priority, cell, other_cell):
            other_key = VACANT
        else:
            key = VACANT
    until = lasts(gap, key, w, other_key, other_w, tau, uncertain(tree, tau))
    tree[node + C] = c if key < other_key else other_c
    tree[node + W] = w if key < other_key else other_w
    tree[node + CELL] = cell if key < other_key else other_cell
    tree[node + EXPIRY] = min(until, min(tree[left + EXPIRY], tree[right + EXPIRY]))


@inlined
def seat(tree, cell, c, w):
    """Put a line on its leaf, without playing."""
    place = leaf(tree, cell)
    tree[place + C] = c
    tree[place + W] = w
    tree[place + CELL] = cell
    if c != FRESH:
        tree[LARGEST] = max(tree[LARGEST], abs(c))


@inlined
def replace(tree, priority, i, c, w, tau):
    """Give cell i a new line and play the matches on its way to the root."""
    seat(tree, i, c, w)
    node = leaf(tree, i)
    cell = float(i)
    expiry = np.inf
    key = c - tau * w
    error = uncertain(tree, tau)
    while node > NODE:  # `play`, with the player that comes up kept in registers
        other = node ^ NODE
        other_c, other_w, other_cell = tree[other + C], tree[other + W], tree[other + CELL]
        other_key = other_c - tau * other_w
        gap = abs(key - other_key)
        best = min(key, other_key)
        if key == other_key:
            gap = FOREVER if w == other_w and c == other_c else 0.0
            if comes_first(priority, cell, other_cell):
                other_key = VACANT
            else:
                key = VACANT
        until = lasts(gap, key, w, other_key, other_w, tau, error)
        c = c if key < other_key else other_c
        w = w if key < other_key else other_w
        cell = cell if key < other_key else other_cell
        key = best
        expiry = min(until, min(expiry, tree[other + EXPIRY]))
        node = parent(node)
        tree[node + C] = c
        tree[node + W] = w
        tree[node + CELL] = cell
        tree[node + EXPIRY] = expiry


@inlined
def parent(node):
    return (node >> 1) & -NODE


@compiled
def replay(tree, priority, first, last, tau):
    """Play all matches above the cells first ... last - 1, after they were seated."""
    low = leaf(tree, first)
    high = leaf(tree, last - 1)
    while low > NODE:
        low = parent(low)
        high = parent(high)
        # downwards: where `size` is no power of 2 a range may hold two generations
        for node in range(high, low - 1, -NODE):
            play(tree, priority, node, tau)


@inlined
def refresh(tree, priority, tau):
    """Play again every match that expired before tau."""
    node = NODE
    while tree[node + EXPIRY] < tau:
        if tree[2 * node + EXPIRY] < tau:
            node = 2 * node
        elif tree[2 * node + NODE + EXPIRY] < tau:
            node = 2 * node + NODE
        else:
            play(tree, priority, node, tau)
            node = max(parent(node), NODE)


@inlined
def winner(tree):
    """The index of the cell with the smallest key, up to the expiry of the root."""
    return int(tree[NODE + CELL])


@inlined
def rivals(tree, i, later):
    """A key that no other cell undercuts up to `later`, and the expiry after which that means nothing.

    Apart from the winner i, only the players it met on its way to the root matter.  Their keys fall with tau, the
    rounded ones too, because rounding is monotone.
    """
    node = leaf(tree, i)
    bound = np.inf
    expiry = np.inf
    while node > NODE:
        other = node ^ NODE
        bound = min(bound, tree[other + C] - later * tree[other + W])
        expiry = min(expiry, tree[other + EXPIRY])
        node = parent(node)
    return bound, expiry


@inlined
def stretch(tree, i, most, tau, slowness):
    """A key that no rival of the winner undercuts for some steps, how many these are, and when that expires.

    tau, concave in t, takes at least `slowness` steps to grow by 1.
    """
    bound, expiry = rivals(tree, i, (tau + most / slowness) * ROUNDED_UP)
    return bound, max(int(min(most, (expiry - tau) * slowness)), 1), expiry


@inlined
def inverse_root(count):
    return INVERSE_ROOT[int(count)] if count < TABULATED else 1.0 / math.sqrt(count)


@inlined
def sure(count, w, tau, bias, bound):
    """A level for the mean of a cell below which its key is surely below the bound, and its fall with each pull.

    tau grows, and w = 1 / sqrt(count), being convex, stays above its tangent.  The level is lowered by more than all
    roundings together, also those of MANY falls and of comparing a sum with the level times a count.
    """
    bonus = tau * w
    level = (bound + bias) + bonus
    return level - SLACK * ((abs(bound) + bias) + bonus), 0.5 * bonus / count
