"""Algorithm 2 with its cells in an ordinary heap, whose keys are as old as the last query of each cell.

A heap gives the smallest key that it was given.  But all keys fall with ln t, at different speeds, and it is told of
one of them per step.  Here every pick is compared with the true argmin; with keys that are all up to date, a run is
that of the engine to the last bit.  Beside it, what keeping the true argmin takes: matches of the kinetic tournament.
"""

from __future__ import annotations

import math
from typing import NamedTuple

import numpy as np

from ratecheck.algorithms import partition
from ratecheck.kernels import compiled, generator, normal, tournament
from ratecheck.sampling import seeding
from ratecheck.study import stream
from studies.benchmarks.mutated import (
    FRESH,
    Cells,
    Switches,
    empty,
    levels_of,
    part_of,
    query,
    split,
    update,
)

ROOM = 2**15
PLAIN = Switches()


class Tally(NamedTuple):
    """At each horizon."""

    regret: np.ndarray
    wrong: np.ndarray  # picks that were not the argmin
    matches: np.ndarray  # of a tournament that keeps the argmin
    cells: np.ndarray


def run(algorithm, cost, horizons, replicate, seed, stale) -> Tally:
    """One run of a settled AdaptiveBins: the partition and the random numbers are those that the engine gives it."""
    length, offset = seeding.alignment(algorithm, cost, horizon=horizons[-1], replicate=replicate, seed=seed)
    rng = stream(seed, *seeding.names_of(algorithm, cost, horizons[-1]), replicate, "run")
    corners = partition.grid(cost, length, offset)
    m, d = corners.shape
    cell = Cells(np.zeros((ROOM, d)), np.zeros((ROOM, d)), np.zeros(ROOM, dtype=np.int64), *np.zeros((6, ROOM)))
    cell.corner[:m] = corners
    tally = Tally(*np.zeros((4, len(horizons))))
    state = generator.open_state(rng.bit_generator.seed_seq)
    level = levels_of(algorithm, length, PLAIN)
    work = tournament.empty(ROOM), *np.empty((2, ROOM)), np.empty(d)
    if not steps(cost.compiled, cost.minimum, stale, level, cell, m, state, np.array(horizons), tally, *work):
        raise MemoryError(f"{algorithm} needs more than {ROOM} cells on {cost}")
    return tally


@compiled
def steps(f, f_min, stale, level, cell, m, rng, horizons, tally, tree, key, priority, x):
    """Whether there was room."""
    s, children = PLAIN, 2**x.size
    t, R, tau, wrong, matches = 0, 0.0, 0.0, 0, 0
    for i in range(m):
        empty(cell, i, 0, level.side, rng, s)
        enter(tree, priority, cell, i, tau)
        key[i] = cell.c[i]
    for h in range(horizons.size):
        while t < horizons[h]:
            matches += refresh(tree, priority, tau)
            best = tournament.winner(tree)
            i = best
            if stale:
                i = smallest(key, m)
                # of fresh cells any is an argmin
                if cell.c[i] - tau * cell.w[i] > cell.c[best] - tau * cell.w[best] and cell.n[i] > 0.0:
                    wrong += 1
            k = cell.level[i]
            full = cell.n[i] >= level.capacity[k]
            if m + children > cell.n.size:
                return False
            behind = m
            if full:
                m = split(cell, i, m, level, tau, rng, s)
            query(cell, i, level.side[k], k, rng, s, x)
            y = f(x)
            z = normal(rng)
            t += 1
            tau = math.log(float(t))
            R += y - f_min
            part = part_of(cell, i, level.side[k + 1], x) if full else 0
            j = i if part == 0 else behind + part - 1
            cell.n[j] += 1.0
            cell.total[j] += y + z
            update(cell, j, level, tau, s)
            for part in range(children if full else 1):
                other = i if part == 0 else behind + part - 1
                key[other] = cell.c[other] - tau * cell.w[other]
                enter(tree, priority, cell, other, tau)
                matches += math.ceil(math.log2(float(m)))  # on its way to the root
        tally.regret[h], tally.wrong[h], tally.matches[h], tally.cells[h] = R, wrong, matches, m
    return True


@compiled
def smallest(key, m):
    at = 0
    for i in range(1, m):
        if key[i] < key[at]:
            at = i
    return at


@compiled
def enter(tree, priority, cell, i, tau):
    """Tell the tournament of a changed cell."""
    if cell.n[i] > 0.0:
        tournament.seat(tree, i, cell.c[i], 1.0 / math.sqrt(cell.n[i]))
    else:
        tournament.seat(tree, i, tournament.FRESH, 0.0)
        priority[i] = 2.0 - cell.c[i] / FRESH
    tournament.replay(tree, priority, i, i + 1, tau)


@compiled
def refresh(tree, priority, tau):
    """Play again every match that expired before tau, as the tournament does; how many there were."""
    node, count = tournament.NODE, 0
    while tree[node + tournament.EXPIRY] < tau:
        if tree[2 * node + tournament.EXPIRY] < tau:
            node = 2 * node
        elif tree[2 * node + tournament.NODE + tournament.EXPIRY] < tau:
            node = 2 * node + tournament.NODE
        else:
            tournament.play(tree, priority, node, tau)
            count += 1
            node = max(node >> 1 & -tournament.NODE, tournament.NODE)
    return count
