"""How a few of many cells with about the same gap are drawn, so that they stand for all with their weights."""

from functools import partial

import numpy as np

from ..sampling.generator import uniform
from ..sampling.jit import compiled

UNDECIDED = -1.0
SHELLS_PER_OCTAVE, SHELLS = 2, 48  # of the gap; what lies below the last shell belongs to it
allocating = partial(compiled, counted=True)


@compiled
def shell_of(gap, highest):
    if gap <= 0.0:
        return SHELLS - 1
    return min(SHELLS - 1, max(0, int(SHELLS_PER_OCTAVE * np.log2(highest / gap))))


@allocating
def decide(cells, highest, kept, gap, weight, heirs, state):
    """Choose which of some cells of one level have children, shell by shell; whether any has none."""
    order = cells[np.argsort(gap[cells])]
    thinned, first = 0, 0
    while first < order.size:
        shell, last, total = shell_of(gap[order[first]], highest), first, 0.0
        while last < order.size and shell_of(gap[order[last]], highest) == shell:
            total += weight[order[last]]
            last += 1
        if last - first <= kept:
            for i in order[first:last]:
                heirs[i] = weight[i]
        else:
            thinned = 1
            u, s0, s1, s2, s3 = uniform(state[0], state[1], state[2], state[3])
            state[0], state[1], state[2], state[3] = s0, s1, s2, s3
            step, passed, hits = total / kept, 0.0, 0
            for i in order[first:last]:
                passed += weight[i]
                before = hits
                while (hits + u) * step < passed and hits < kept:
                    hits += 1
                heirs[i] = (hits - before) * step
        first = last
    return thinned
