"""How a few of many cells with about the same gap are drawn, so that they stand for all with their weights."""

from functools import partial

import numpy as np

from ..sampling.generator import uniform
from ..sampling.jit import compiled

UNDECIDED = -1.0
SHELLS_PER_OCTAVE, SHELLS = 2, 48  # of the gap; what lies below the last shell belongs to it
DEPTHS_PER_OCTAVE, DEPTHS = 1, 16  # of the lowest value within a cell, as a share of its gap
SORTS = SHELLS * DEPTHS  # of cells of a level
allocating = partial(compiled, counted=True)


@compiled
def shell_of(gap, highest):
    if gap <= 0.0:
        return SHELLS - 1
    return min(SHELLS - 1, max(0, int(SHELLS_PER_OCTAVE * np.log2(highest / gap))))


@compiled
def shell_within(gap, highest, lowest):
    """The shell of cells with about the same gap and about the same lowest value, as a share of the gap."""
    depth = DEPTHS - 1
    if lowest > 0.0:
        depth = min(DEPTHS - 1, max(0, int(DEPTHS_PER_OCTAVE * np.log2(gap / lowest))))
    return shell_of(gap, highest) * DEPTHS + depth


@allocating
def decide(cells, shells, taken, kept, gap, weight, heirs, state):
    """Choose which of some cells of one level have children, shell by shell; whether any has none.

    `taken` counts, by shell, those of the level that were chosen before: cells come in one after the other, and a shell
    of which few are undecided at a time would never be thinned.  Of those that come late a quarter of `kept` is chosen.
    """
    order = np.argsort(gap[cells])
    order = order[np.argsort(shells[order], kind="mergesort")]
    thinned, first = 0, 0
    while first < order.size:
        last, total = first, 0.0
        while last < order.size and shells[order[last]] == shells[order[first]]:
            total += weight[cells[order[last]]]
            last += 1
        shell = shells[order[first]]
        most = max(kept - taken[shell], (kept + 3) // 4)
        taken[shell] += min(most, last - first)
        if last - first <= most:
            for i in cells[order[first:last]]:
                heirs[i] = weight[i]
        else:
            thinned = 1
            u, s0, s1, s2, s3 = uniform(state[0], state[1], state[2], state[3])
            state[0], state[1], state[2], state[3] = s0, s1, s2, s3
            step, passed, hits = total / most, 0.0, 0
            for i in cells[order[first:last]]:
                passed += weight[i]
                before = hits
                while (hits + u) * step < passed and hits < most:
                    hits += 1
                heirs[i] = (hits - before) * step
        first = last
    return thinned
