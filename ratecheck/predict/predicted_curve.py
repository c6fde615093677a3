"""The curve of predicted mean regrets, from a horizon as far as trees of so many cells reach."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING

import numpy as np

from ..algorithms import partition
from ..algorithms.protocol import Algorithm
from ..arguments import check_horizons, check_replicates, check_whole, shown
from ..claims import Curve
from ..sampling import seeding
from .far import PERIOD
from .level_tree import CELLS, REGRET, LevelTree
from .water_level import (
    LAST_HORIZON,
    ROUGHLY,
    SMALL,
    OutOfReach,
    check_partition,
    check_predictable,
    on_scale,
    pool,
    settled,
)

if TYPE_CHECKING:
    from function_zoo import Cost

FAR = 1e60  # the last horizon of a curve, unless another is named
PER_PERIOD = 8  # horizons of a curve
LEAST_PER_PERIOD = 4  # fewer see a wave of that period at too few of its phases
POINTS, MOST_POINTS = 128, 4000  # of a curve: as a rule, and where its periods need more
MOST_BINS = 2**17  # of all alignments of a horizon together
SPREAD = 4  # times as many alignments where each horizon has partitions of its own
TYPICAL = 0.75  # slope of regret, with which it is carried from a horizon to one nearby; that it is wrong cancels


def predicted_curve(
    algorithm: Algorithm,
    cost: Cost,
    *,
    first: float,
    cells: int = 2**16,
    alignments: int = 8,
    seed: int = 0,
    kind: str = "random",
    last: float = FAR,
) -> Curve:
    """The predicted mean regret from T = first as far as trees of so many cells reach, or to T = last, with horizons
    that divide a period evenly.

    The alignments are those that `simulate` gives its first replicates; but an algorithm that is started anew for each
    horizon gets more of them, evenly spread, and its regret is averaged over a step between horizons: it is ragged,
    since its bins are a whole number.

    For example

        rc.predicted_curve(rc.AdaptiveBins().settle(cost), cost, first=2**10, cells=2**8).regret
    """
    check_predictable(algorithm, cost)
    first, last = (float(check_horizons([end], LAST_HORIZON)[0]) for end in (first, last))
    seed, cells = check_whole("seed", seed, 0), check_whole("cells", cells, 1)
    if kind not in ("random", "fixed"):
        raise ValueError(f"kind = {shown(kind)} must be 'random' or 'fixed'")
    replicates = [0] if kind == "fixed" else list(check_replicates(alignments))
    algorithm = algorithm.settle(cost)
    if algorithm.anytime:
        return _one_tree_each(
            algorithm, cost, first=first, last=last, cells=cells, replicates=replicates, seed=seed, kind=kind
        )
    return _trees_for_each_horizon(
        algorithm, cost, first=first, last=last, cells=cells, replicates=replicates, seed=seed, kind=kind
    )


class _Growing:
    """One alignment of an anytime algorithm, asked at growing horizons."""

    def __init__(self, algorithm, cost, *, length, offset, cells, last):
        self.rule, self.last = algorithm.level_rule(cost, length), last
        self.tree = LevelTree(cost, self.rule, length=length, offset=offset, horizon=last, most_cells=cells)
        self.limit = f"T = {last:.0e}"

    def along(self, first, ratio):
        """Regret and cells at first, first ratio, first ratio^2 and so on, as far as the tree reaches."""
        near, found, T, starts = None, [], first, self.tree.starts()
        while self.last / T > 1 - 1e-9:
            bonus = self.rule.bonus(T)
            try:
                level, sums = settled(self.tree, starts, pulls=T, bonus=bonus, horizon=T, near=near, accuracy=ROUGHLY)
            except OutOfReach as limit:
                self.limit = limit.why
                break
            near = on_scale(level, bonus, T)
            found.append(sums[:, [REGRET, CELLS]].sum(axis=0))
            T = first * ratio ** len(found)
        return np.array(found).reshape(-1, 2)


def _one_tree_each(algorithm, cost, *, first, last, cells, replicates, seed, kind):
    given = [
        seeding.alignment(algorithm, cost, horizon=first, replicate=name, seed=seed, kind=kind) for name in replicates
    ]
    for length, offset in given:
        check_partition(algorithm, cost, horizon=first, length=length, offset=offset, most=cells)
    period = algorithm.period(cost)
    period = PERIOD if math.isnan(period) else period
    with pool(cells) as threads:
        trees = list(
            threads.map(
                lambda pair: _Growing(algorithm, cost, length=pair[0], offset=pair[1], cells=cells, last=last), given
            )
        )
        periods = 2 * min(map(len, threads.map(lambda tree: tree.along(first, period**2), trees)))
        points = POINTS if cells > SMALL else POINTS // 2
        ratio = period ** (1 / _per_period(max(1, periods), points))
        found = list(threads.map(lambda tree: tree.along(first, ratio), trees))
    shortest = min(range(len(found)), key=lambda i: len(found[i]))
    points = len(found[shortest])
    return _curve(first, ratio, np.mean([values[:points] for values in found], axis=0), trees[shortest].limit)


def _per_period(periods, points):
    """How many horizons of a curve divide a period, if it has so many periods and about so many points."""
    fitting = min(PER_PERIOD, points // periods)
    return max(1, min(max(LEAST_PER_PERIOD, fitting), MOST_POINTS // periods))


def _trees_for_each_horizon(algorithm, cost, *, first, last, cells, replicates, seed, kind):
    def bins(T):
        return math.prod(partition.counts(cost, algorithm.length(cost, T, 0.0), [1.0] * cost.dim))

    end, last = last, _last(lambda T: bins(T) <= cells, first, last)
    many = cells > SMALL and math.log(last / first, PERIOD) * PER_PERIOD <= 60
    ratio = PERIOD ** (1 / (PER_PERIOD if many else PER_PERIOD // 2))
    places = np.array([[0.0] * cost.dim + [0.5]])
    if kind == "random":
        places = _even(SPREAD * len(replicates), cost.dim + 1, seeding.stream(seed, cost, algorithm, "places"))

    def at(T):
        near, found = None, []
        enough = max(len(replicates), MOST_BINS // bins(T))  # many bins see to an even mean themselves
        for *place, share in places[:enough]:
            nearby = min(last, max(first, T * ratio ** (share - 0.5)))
            tree, bonus = _anew(algorithm, cost, horizon=nearby, place=place if kind == "random" else None, cells=cells)
            level, sums = settled(
                tree, tree.starts(), pulls=nearby, bonus=bonus, horizon=nearby, near=near, accuracy=ROUGHLY
            )
            near = on_scale(level, bonus, nearby)
            found.append(sums[:, [REGRET, CELLS]].sum(axis=0) * [(T / nearby) ** TYPICAL, 1.0])
        return np.mean(found, axis=0)

    with pool(cells) as threads:
        count = 1 + math.floor(math.log(last / first) / math.log(ratio) + 1e-9)
        found = list(threads.map(at, [first * ratio**i for i in range(count)]))
    limit = f"T = {end:.0e}" if last == end else f"more than {cells:,} cells"
    return _curve(first, ratio, np.array(found), limit)


def _anew(algorithm, cost, *, horizon, place, cells):
    """The tree of a horizon's own partition, with x* at a place of its cell (None: wherever it is), and the bonus."""
    length, offset = algorithm.length(cost, horizon, 0.0), [0.0] * cost.dim
    if place is not None:
        offset = ((np.array(place) - (cost.minimisers[0] - cost.lower) / length) % 1.0).tolist()
    check_partition(algorithm, cost, horizon=horizon, length=length, offset=offset, most=cells)
    rule = algorithm.level_rule(cost, length)
    return LevelTree(cost, rule, length=length, offset=offset, horizon=horizon, most_cells=cells), rule.bonus(horizon)


def _curve(first, ratio, found, limit):
    if not len(found):
        raise ValueError(f"T = {first:.3g} is out of reach: it takes {limit}")
    horizons = tuple(first * ratio**i for i in range(len(found)))
    return Curve(horizons, *(tuple(column.tolist()) for column in found.T), limit)


def _last(possible, first, last):
    """The last T up to which it is possible, to some per mille."""
    if possible(last):
        return last
    low, high = first, last
    while high > 1.001 * low:
        middle = math.sqrt(low * high)
        low, high = (middle, high) if possible(middle) else (low, middle)
    return low


def _even(count, dim, rng):
    """Points that fill a cube evenly (Kronecker's sequence, with powers of the root of x^(d+1) = x + 1), shifted."""
    root = 2.0
    for _ in range(60):
        root = (1 + root) ** (1 / (dim + 1))
    return (rng.random(dim) + np.outer(np.arange(count), root ** -np.arange(1.0, dim + 1))) % 1.0
