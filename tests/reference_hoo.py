"""Truncated HOO (Bubeck, Munos, Stoltz and Szepesvári, 2011), line by line: slow, obvious, nothing from ratecheck.

Where the pseudo-code leaves something open, this is what is agreed, here and in the kernel:

- node (h, i) has the children (h + 1, 2i - 1) and (h + 1, 2i), the lower and the upper half along axis h mod d;
- a reward is minus an observed cost, and a node keeps the sum of its rewards in the order of the queries;
- U = (sum / N + bonus (1 / sqrt N)) + nu rho^h with bonus = sqrt(8 sigma^2 ln n0);
- X has the shape of the box, its longest side is `length`, and it starts u_q (its side - the box's side) below the box
  on axis q; `nu` belongs to the box and is multiplied by (length / longest side)^(d log2(1 / rho));
- a coordinate of a query is  (corner + a index) + a u,  with a the cell's side and u uniform in [0, 1);
- random numbers are drawn in this order: one for each tie on the way down (below 1/2: the lower half), the
  coordinates of the query, the noise;
- no node is deeper than `deepest`: its sides would be too short for floating-point numbers.
"""

import math
from types import SimpleNamespace

import numpy as np


def cell(h, i, corner, lengths):
    """Lower corner and sides of the cell of node (h, i)."""
    d = len(corner)
    index, side = [0] * d, list(lengths)
    for level in range(h):
        upper = (i - 1) >> (h - 1 - level) & 1
        index[level % d] = 2 * index[level % d] + upper
        side[level % d] = side[level % d] / 2
    return [c + a * k for c, a, k in zip(corner, side, index, strict=True)], side


def truncated_hoo(f, f_min, lower, upper, length, offset, nu, rho, sigma, n0, T, rng, noise, deepest):
    """`exceeded` counts the steps that end with the optimistic bound, minus the root's B, above f*."""
    d = len(lower)
    sides = [high - low for low, high in zip(lower, upper, strict=True)]
    lengths = [length * (side / max(sides)) for side in sides]
    corner = [low - u * (long - side) for low, u, long, side in zip(lower, offset, lengths, sides, strict=True)]
    nu = nu * (length / max(sides)) ** (d * math.log2(1 / rho))
    D = math.ceil((math.log(n0) / 2 - math.log(1 / nu)) / math.log(1 / rho))
    D = min(max(1, D), deepest)
    bonus = math.sqrt(8.0 * sigma**2 * math.log(n0))
    tree = [(0, 1)]  # the nodes, in the order in which they joined
    N, total, U, B = {(0, 1): 0}, {(0, 1): 0.0}, {}, {}

    def B_of(h, i):
        return B.get((h, i), math.inf)

    picks, depths, regret, R, exceeded = [], [], [], 0.0, 0
    for _ in range(T):
        h, i = 0, 1
        path = [(h, i)]
        while (h, i) in N and h < D:
            if B_of(h + 1, 2 * i - 1) > B_of(h + 1, 2 * i):
                h, i = h + 1, 2 * i - 1
            elif B_of(h + 1, 2 * i - 1) < B_of(h + 1, 2 * i):
                h, i = h + 1, 2 * i
            else:
                Z = 1 if rng.random() < 0.5 else 0
                h, i = h + 1, 2 * i - Z
            path.append((h, i))
        low, side = cell(h, i, corner, lengths)
        x = np.array([low[q] + side[q] * rng.random() for q in range(d)])
        value = f(x)
        reward = -(value + noise(rng))
        if (h, i) not in N:
            tree.append((h, i))
            N[h, i], total[h, i] = 0, 0.0
        for node in path:
            N[node] += 1
            total[node] += reward
        for node in tree:
            U[node] = (total[node] / N[node] + bonus * (1.0 / math.sqrt(N[node]))) + nu * rho ** node[0]
        for node in sorted(tree, reverse=True):  # from the leaves to the root
            k, j = node
            B[node] = min(U[node], max(B_of(k + 1, 2 * j - 1), B_of(k + 1, 2 * j)))
        R += value - f_min
        exceeded += int(-B[0, 1] > f_min)
        picks.append(tree.index((h, i)))
        depths.append(h)
        regret.append(R)
    return SimpleNamespace(
        picks=picks, depths=depths, regret=regret, exceeded=exceeded, tree=tree, N=N, total=total, B=B, D=D,
        corner=corner,
    )  # fmt: skip
