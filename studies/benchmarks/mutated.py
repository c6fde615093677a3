"""Algorithms 1 and 2 once more, line by line, with a switch for each mistake that is tried.

All switches off, a run is that of the engine to the last bit; a mutant has the same partitions and random numbers.
"""

from __future__ import annotations

import math
from concurrent.futures import ThreadPoolExecutor
from typing import NamedTuple

import numpy as np

import ratecheck as rc
from ratecheck.algorithms import partition
from ratecheck.algorithms.run import values
from ratecheck.arguments import available_cores
from ratecheck.engine.simulate import Job
from ratecheck.kernels import normal, uniform
from ratecheck.sampling import seeding
from ratecheck.sampling.generator import open_state
from ratecheck.sampling.jit import compiled, inlined

FRESH = -1e12  # the key of a cell that was never queried; small priorities come first
BLOCK, SLACK = 16, 0.001
ROOM, NO_ROOM = 2**17, -1
DEEPEST = 40

NOW, LAST_UPDATE, HORIZON, NOTHING, OWN = range(5)  # which t stands in the bonus; OWN: the queries of the cell
UNIFORM, CENTRE, CORNER, DRAWN = range(4)  # where a cell is queried; DRAWN: at a point that is drawn once
TRUE, NOISY, AT_CENTRE, ABOVE_BEST_BIN = range(4)  # what is counted as regret
# children start empty, with the data of the cell, with the query all, none, with the sum of the cell but not its n
EMPTY, COPIED, SHARED, DROPPED, SUMMED = range(5)


class Switches(NamedTuple):
    """What a mutant does otherwise; the defaults are the paper's (Algorithm 1 queries centres)."""

    bonus: float = 1.0  # a factor
    root: float = 0.5  # the bonus falls like n^-root
    clock: int = NOW
    other_bonus: bool = False  # ln t in Algorithm 1, sqrt(8 ln t) in Algorithm 2
    bias: float = 1.0  # a factor
    bias_power: float = 1.0  # a factor on alpha, in the bias alone
    growth: float = 2.0  # the capacity is 2^(growth alpha k) ...
    extra: int = 0  # ... plus this
    eager: bool = False  # cells are split when they are full, not when a full one is picked
    children: int = EMPTY
    where: int = UNIFORM
    skewed: bool = False  # along the first axis, cells that came from a split are queried over twice their length
    untried: float = FRESH  # the key of a cell without queries
    in_order: bool = False  # of several fresh cells the first is picked, not a random one
    width: float = 1.0  # a factor on the length of the initial cells ...
    width_power: float = 0.0  # ... and T to this power another one
    flat: bool = False  # along the last axis, children all begin where the cell does
    beyond: float = 0.0  # is added to n in the mean
    remembered: float = math.inf  # the mean is that of so many queries
    seen: float = 1.0  # the share of the cells, in their order, from which one is picked
    counted: int = TRUE
    uncounted: int = 0  # queries at the end
    free_split: bool = False  # the query that splits a cell is not counted
    free_start: bool = False  # nor is the first one of each cell
    noise: float = 1.0  # a factor
    place: int = 0  # the partition is that of the replicate so many places on
    one_stream: bool = False  # all replicates have the random numbers of the first


BOTH = {
    "none": {},
    "ties: in order": {"in_order": True},
    "no bonus": {"bonus": 0.0},
    "half the bonus": {"bonus": 0.5},
    "the other one's bonus": {"other_bonus": True},
    "bonus without ln t": {"clock": NOTHING},
    "stale ln t": {"clock": LAST_UPDATE},
    "ln T for ln t": {"clock": HORIZON},
    "bonus / n": {"root": 1.0},
    "untried cells have key 0": {"untried": 0.0},
    "last query uncounted": {"uncounted": 1},
    "first queries uncounted": {"free_start": True},
    "regret with noise": {"counted": NOISY},
    "no noise": {"noise": 0.0},
    "noise added twice": {"noise": 2.0},
    "one random stream": {"one_stream": True},
    "another partition": {"place": 1},
    "one point per cell": {"where": DRAWN},
}
FOR_ADAPTIVE = {
    "capacity 2^(alpha k)": {"growth": 1.0},
    "capacity 2^(3 alpha k)": {"growth": 3.0},
    "capacity + 1": {"extra": 1},
    "capacity - 1": {"extra": -1},
    "split when full": {"eager": True},
    "data inherited": {"children": COPIED},
    "a query for all children": {"children": SHARED},
    "splitting query dropped": {"children": DROPPED},
    "splitting query uncounted": {"free_split": True},
    "no bias": {"bias": 0.0},
    "bias 2 mu": {"bias": 2.0},
    "bias mu a^(alpha/2)": {"bias_power": 0.5},
    "centres": {"where": CENTRE},
    "one axis not halved": {"skewed": True},
    "regret at the centre": {"counted": AT_CENTRE},
}
FOR_UNIFORM = {
    "width / 2": {"width": 0.5},
    "2 width": {"width": 2.0},
    "uniform draws": {"where": UNIFORM},
    "lower corners": {"where": CORNER},
    "regret above the best bin": {"counted": ABOVE_BEST_BIN},
}
MUTANTS = {
    "adaptive": {name: Switches(**changed) for name, changed in (BOTH | FOR_ADAPTIVE).items()},
    "uniform": {name: Switches(**{"where": CENTRE} | changed) for name, changed in (BOTH | FOR_UNIFORM).items()},
}


class Levels(NamedTuple):
    """A number per level."""

    side: np.ndarray
    bias: np.ndarray
    capacity: np.ndarray


class Cells(NamedTuple):
    """A row per cell; its key is  c - tau w."""

    corner: np.ndarray
    point: np.ndarray  # where it is queried if it has one point
    level: np.ndarray
    n: np.ndarray
    total: np.ndarray
    c: np.ndarray
    w: np.ndarray
    bound: np.ndarray  # of the keys of a block of cells ...
    valid: np.ndarray  # ... up to this tau


# The algorithms


@inlined
def argmin(cell, m, tau):
    """The first i < m with the smallest  c[i] - tau w[i].

    A block of cells is passed over where a bound, the smallest of its keys at a somewhat later tau, is not below the
    best so far: keys fall as tau grows, also as rounded.  A changed cell ends the validity of its block's bound.
    """
    best, at = math.inf, 0
    for b in range((m + BLOCK - 1) // BLOCK):
        if tau <= cell.valid[b] and cell.bound[b] >= best:
            continue
        later, bound = tau + SLACK, math.inf
        for i in range(b * BLOCK, min(m, (b + 1) * BLOCK)):
            key = cell.c[i] - tau * cell.w[i]
            if key < best:
                best, at = key, i
            bound = min(bound, cell.c[i] - later * cell.w[i])
        cell.valid[b], cell.bound[b] = later, bound
    return at


@inlined
def tau_of(t, root):
    """What 1 / sqrt n is multiplied with: ln t in Algorithm 2, sqrt(8 ln t) in Algorithm 1."""
    return math.sqrt(8.0 * math.log(float(t))) if root else math.log(float(t))


@inlined
def update(cell, i, level, tau, s):
    """The key of a cell with data."""
    n = cell.n[i]
    if n <= s.remembered:
        cell.c[i] = cell.total[i] / (n + s.beyond) - level.bias[cell.level[i]]
    cell.w[i] = s.bonus * (1.0 / math.sqrt(n) if s.root == 0.5 else 1.0 / n)
    if s.clock == LAST_UPDATE or s.clock == NOTHING or s.clock == OWN:
        cell.c[i] -= (1.0 if s.clock == NOTHING else tau) * cell.w[i]
        cell.w[i] = 0.0
    cell.valid[i // BLOCK] = -1.0


@inlined
def empty(cell, i, k, side, rng, s):
    """A new cell: it is picked before all that have data."""
    cell.level[i], cell.n[i], cell.total[i], cell.w[i] = k, 0.0, 0.0, 0.0
    priority = uniform(rng)
    cell.c[i] = s.untried
    if s.untried == FRESH and not s.in_order:
        cell.c[i] = FRESH * (2.0 - priority)
    if s.where == DRAWN:
        for q in range(cell.corner.shape[1]):
            cell.point[i, q] = cell.corner[i, q] + side[k] * uniform(rng)
    cell.valid[i // BLOCK] = -1.0


@inlined
def split(cell, i, m, level, tau, rng, s):
    """The 2^d halves of a cell: digit q of a half's number says which one along axis q; number 0 takes its place."""
    d = cell.corner.shape[1]
    k, n, total = cell.level[i] + 1, cell.n[i], cell.total[i]
    for part in range(2**d):
        j = i if part == 0 else m + part - 1
        for q in range(d):
            far = (part >> q) & 1 and not (s.flat and q == d - 1)
            cell.corner[j, q] = cell.corner[i, q] + (level.side[k] if far else 0.0)
        empty(cell, j, k, level.side, rng, s)
        if s.children == COPIED:
            cell.n[j], cell.total[j] = n, total
            update(cell, j, level, tau, s)
        elif s.children == SUMMED:
            cell.total[j] = total
    return m + 2**d - 1


@inlined
def query(cell, i, a, k, rng, s, x):
    """A point of cell i, which has length a."""
    for q in range(x.size):
        u = 0.5
        if s.where == UNIFORM:
            u = uniform(rng)
        elif s.where == CORNER:
            u = 0.0
        x[q] = cell.corner[i, q] + a * (2.0 * u if s.skewed and q == 0 and k > 0 else u)
        if s.where == DRAWN:
            x[q] = cell.point[i, q]


@inlined
def part_of(cell, i, half, x):
    """The number of the half of a cell that holds x."""
    part = 0
    for q in range(x.size):
        part |= (1 << q) if x[q] >= cell.corner[i, q] + half else 0
    return part


@inlined
def excess(f, f_min, cell, i, a, y, z, s, centre):
    """What is counted as regret, of a query in cell i."""
    if s.counted == NOISY:
        return y + z - f_min
    if s.counted == AT_CENTRE:
        for q in range(centre.size):
            centre[q] = cell.corner[i, q] + a / 2
        return f(centre) - f_min
    return y - f_min


@compiled
def play(f, f_min, baseline, s, level, cell, m, rng, horizons, regrets, x, centre):
    """Run to the last horizon and note the regret at each; the number of cells, or NO_ROOM."""
    children = 2**x.size
    root = baseline != s.other_bonus
    t, R, tau, looked = 0, 0.0, 0.0, 0
    for i in range(m):
        empty(cell, i, 0, level.side, rng, s)
    for h in range(horizons.size):
        while t < horizons[h] - s.uncounted:
            before, looked = looked, math.ceil(s.seen * m)
            if looked != before:
                cell.valid[before // BLOCK] = -1.0  # cells came into sight
            i = argmin(cell, looked, tau)  # pick B
            k = cell.level[i]
            full, start = cell.n[i] >= level.capacity[k], cell.n[i] == 0.0
            if m + 2 * children > cell.n.size:
                return NO_ROOM
            behind = m
            if full:
                m = split(cell, i, m, level, tau, rng, s)
            query(cell, i, level.side[k], k, rng, s, x)  # x_t, uniform in B
            y = f(x)
            z = s.noise * normal(rng)
            t += 1
            tau = tau_of(horizons[-1] if s.clock == HORIZON else t, root)
            if not ((full and s.free_split) or (start and s.free_start)):
                R += excess(f, f_min, cell, i, level.side[k], y, z, s, centre)
            part = part_of(cell, i, level.side[k + 1], x) if full else 0
            for other in range(children if full and s.children == SHARED else 1):
                part = other if full and s.children == SHARED else part
                j = i if part == 0 else behind + part - 1
                if full and s.children == DROPPED:
                    break
                cell.n[j] += 1.0
                cell.total[j] += y + z
                update(cell, j, level, tau_of(cell.n[j], root) if s.clock == OWN else tau, s)
                if s.eager and cell.n[j] >= level.capacity[cell.level[j]]:
                    m = split(cell, j, m, level, tau, rng, s)
        regrets[h] = R
    return m


# Runs


def levels_of(algorithm, length, s) -> Levels:
    side = length * 2.0 ** -np.arange(DEEPEST + 1)
    if not algorithm.anytime:
        return Levels(side, np.zeros(len(side)), np.full(len(side), np.inf))
    bias = [s.bias * (algorithm.mu * a ** (s.bias_power * algorithm.alpha)) for a in side.tolist()]
    capacity = [math.ceil(2.0 ** (s.growth * algorithm.alpha * k)) + s.extra for k in range(DEEPEST)]
    return Levels(side, np.array(bias), np.array([*capacity, math.inf], dtype=float))


def run(algorithm, cost, horizons, replicate, seed, s) -> list[dict]:
    """The rows of one run; they name the partition that it should have."""
    length, _ = seeding.alignment(algorithm, cost, horizon=horizons[-1], replicate=replicate, seed=seed)
    own, offset = seeding.alignment(algorithm, cost, horizon=horizons[-1], replicate=replicate + s.place, seed=seed)
    own *= s.width * horizons[-1] ** s.width_power
    names = seeding.names_of(algorithm, cost, horizons[-1])
    rng = seeding.stream(seed, *names, 0 if s.one_stream else replicate, "run")
    corners = partition.grid(cost, own, offset)
    m, d = corners.shape
    size = ROOM if algorithm.anytime else m + 2 ** (d + 1)
    cell = Cells(np.zeros((size, d)), np.zeros((size, d)), np.zeros(size, dtype=np.int64), *np.zeros((6, size)))
    cell.corner[:m] = corners
    f_min = cost.minimum
    if s.counted == ABOVE_BEST_BIN:
        f_min = float(values(cost.compiled, corners + own / 2).min())
    regrets = np.empty(len(horizons))
    settings = cost.compiled, f_min, not algorithm.anytime, s, levels_of(algorithm, own, s)
    state = open_state(rng.bit_generator.seed_seq)
    cells = play(*settings, cell, m, state, np.array(horizons), regrets, np.empty(d), np.empty(d))
    if cells == NO_ROOM:
        raise MemoryError(f"{algorithm} needs more than {ROOM} cells on {cost}")
    shared = {"replicate": replicate, "side": length, "anytime": algorithm.anytime}
    return [shared | {"horizon": T, "regret": R} for T, R in zip(horizons, regrets.tolist(), strict=True)]


def simulate(algorithm, cost, horizons, replicates, seed, s: Switches) -> rc.Runs:
    """The runs of a mutant, under the name of the algorithm that it is meant to be."""
    algorithm = algorithm.settle(cost)
    blocks = [horizons] if algorithm.anytime else [[horizon] for horizon in horizons]
    with ThreadPoolExecutor(available_cores()) as pool:
        units = [
            pool.submit(run, algorithm, cost, block, replicate, seed, s)
            for block in reversed(blocks)
            for replicate in range(replicates)
        ]
        rows = [row for unit in units for row in unit.result()]
    series = Job(algorithm, cost, seed).series
    names = ("cost", "dim", "algorithm", "noise", "alignment", "seed")
    shared = {name: getattr(series, name) for name in names}
    shared["period"] = math.nan if series.period is None else series.period
    return rc.Runs(algorithm, cost, rows, [], shared)
