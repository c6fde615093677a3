"""The regret that finite-horizon theory foretells, without a free parameter: the water level.

The bonus of an optimistic algorithm is many standard deviations of its noise.  So at time T every cell has been queried
just often enough to lift its key to a level that all share, and the level is the one at which the queries add up to T.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass, field
from functools import cached_property
from numbers import Integral
from typing import TYPE_CHECKING

import numpy as np

from . import seeding
from .algorithms import partition
from .algorithms.protocol import Algorithm, check_algorithm
from .checks import LARGEST, available_cores, check_alignment, check_horizons, check_replicates, items, shown, whole
from .leveltree import CELLS, ERROR, HEADROOM, MOST_CELLS, NO_ROOM, PULLS, REGRET, UNRESOLVED, LevelTree

if TYPE_CHECKING:
    import pandas as pd

    from function_zoo import Cost

SHARED = 1e-4  # of all pulls: two levels that are this near are near enough, what is between them is shared in proportion
RESOLUTION = 1e-13  # of a level; where pulls jump within it, cells were released
STEP = math.log(2)  # of a search: levels are halved or doubled
MOST_DIM = 6  # a mean over a cube takes 3^d points


@dataclass(frozen=True)
class Prediction:
    """The predicted regret at every horizon and alignment of the partition.

    `frame`: horizon, alignment (the index of the replicate that the engine gives it to, or the place in the given
    list), side (a0 or the width), regret (cumulative), cells, level (the common key), error (a bound on what inaccurate cell means
    add to the regret, as a share of it).  `levels`: horizon, alignment, level, pulls, cells, regret by level of cells.
    """

    algorithm: Algorithm
    cost: Cost
    rows: list[dict] = field(repr=False)
    level_rows: list[dict] = field(repr=False)

    @cached_property
    def frame(self) -> pd.DataFrame:
        import pandas as pd

        return pd.DataFrame(self.rows)

    @cached_property
    def levels(self) -> pd.DataFrame:
        import pandas as pd

        return pd.DataFrame(self.level_rows)

    def mean(self) -> pd.DataFrame:
        """By horizon: regret and cells averaged over the alignments, the spread (standard deviation) of the regret
        over them, and the largest error."""
        groups = self.frame.groupby("horizon", sort=False)
        table = groups[["regret", "cells"]].mean()
        table.insert(1, "spread", groups["regret"].std())
        return table.assign(error=groups["error"].max()).reset_index()

    @property
    def regret(self) -> np.ndarray:
        """The mean regret at each horizon."""
        return self.mean()["regret"].to_numpy()


def predict(
    algorithm: Algorithm,
    cost: Cost,
    horizons: Sequence[float],
    alignments: int | str | Sequence = 32,
    seed: int = 0,
) -> Prediction:
    """The regret of an algorithm on a cost that theory foretells, at horizons as large as floating-point numbers.

    `alignments`: a number or the indices of replicates, whose partitions are those that `simulate` gives them with this
    seed; "fixed", the partition of alignment="fixed"; or a list of pairs (length, offset), the offset as a fraction of a
    cell, one for all axes or one for each.  It takes an algorithm that has a `level_rule`.
    """
    check_algorithm(algorithm)
    if not hasattr(algorithm, "level_rule"):
        raise ValueError(f"{algorithm.label} has no level_rule, without which its regret cannot be predicted")
    if cost.dim > MOST_DIM:
        raise ValueError(f"{cost} has {cost.dim} dimensions; regrets can be predicted in up to {MOST_DIM}")
    horizons = check_horizons(horizons, longest=LARGEST)
    seed = whole("seed", seed, 0)
    algorithm = algorithm.settle(cost)
    places = _places(cost, alignments)
    blocks = [horizons] if algorithm.anytime else [[horizon] for horizon in horizons]

    def unit(block, name, given):
        kind = "fixed" if given == "fixed" else "random"
        drawn = seeding.alignment(algorithm, cost, block[-1], name, seed, kind)
        length, offset = given if isinstance(given, tuple) else drawn
        _check_partition(algorithm, cost, block[-1], length, offset)
        rule = algorithm.level_rule(cost, length)
        tree = LevelTree(cost, rule, length, offset, block[-1])
        return [_rows(tree, rule.bonus(T), T, {"horizon": T, "alignment": name}, length) for T in block]

    with ThreadPoolExecutor(available_cores()) as pool:
        units = [pool.submit(unit, block, name, given) for block in blocks for name, given in places]
        found = sorted((pair for u in units for pair in u.result()), key=lambda pair: pair[0]["horizon"])
    return Prediction(algorithm, cost, [row for row, _ in found], [row for _, rows in found for row in rows])


def _places(cost, alignments) -> list[tuple[int, object]]:
    """Pairs of an index and None (as the engine draws it), "fixed" or (length, offset)."""
    if isinstance(alignments, str):
        return [(0, check_alignment(alignments))] if alignments == "fixed" else [(0, None)]
    if isinstance(alignments, Integral):
        return [(replicate, None) for replicate in check_replicates(alignments)]
    listed = items("alignments", alignments, "replicates or of pairs (length, offset)")
    if all(isinstance(entry, Integral) for entry in listed):
        return [(replicate, None) for replicate in check_replicates(listed)]
    return [(name, _pair(cost, entry)) for name, entry in enumerate(listed)]


def _pair(cost, entry) -> tuple[float, list[float]]:
    try:
        length, offset = entry
        offset = np.broadcast_to(np.asarray(offset, dtype=float), cost.dim).tolist()
        valid = 0 < float(length) < math.inf and all(0 <= u <= 1 for u in offset)
    except (TypeError, ValueError):
        valid = False
    if not valid:
        raise ValueError(
            f"alignment {shown(entry)} must be a pair of a length and an offset in [0, 1], one or {cost.dim} numbers"
        )
    return float(length), offset


def _check_partition(algorithm, cost, horizon, length, offset):
    cells = math.prod(partition.counts(cost, length, offset))
    if cells > MOST_CELLS:
        possible = 1.0
        while algorithm.cells(cost, 1.1 * possible) < MOST_CELLS and possible < horizon:
            possible *= 1.1
        raise ValueError(
            f"{algorithm.label} on {cost} has {cells:.2g} initial cells at T = {horizon:.3g}, more than {MOST_CELLS:,}; "
            + (f"up to T = {possible:.1g} a prediction is possible" if possible < horizon else "take longer cells")
        )
    partition.check(cost, length, any(offset), f"length = {length:g}")


def _rows(tree, bonus, horizon, names, length):
    try:
        level, sums = _settled(tree, tree.starts(), float(horizon), bonus, float(horizon))
    except _OutOfReach as limit:
        raise ValueError(
            f"T = {horizon:.3g} is out of reach on {tree.cost}: {limit.why}; "
            f"up to about T = {horizon - limit.missing:.2g} a prediction is possible"
        ) from None
    pulls, cells, regret, error = sums.sum(axis=0).tolist()
    row = names | {"side": length, "regret": regret, "cells": cells, "level": level, "error": error / (regret or 1.0)}
    by_level = [
        names | {"level": k, "pulls": sums[k, PULLS], "cells": sums[k, CELLS], "regret": sums[k, REGRET]}
        for k in np.flatnonzero(sums[:, PULLS]).tolist()
    ]
    return row, by_level


class _OutOfReach(Exception):
    def __init__(self, status, missing):
        self.why = (
            f"it takes more than {MOST_CELLS:,} cells"
            if status == NO_ROOM
            else "it takes cells so small that the rounding errors of its formula show"
        )
        self.missing = missing


def _settled(tree, starts, pulls, bonus, horizon):
    """The level at which the cells below the starts were queried `pulls` times, and the sums by level.

    Queries grow with the level, from one per cell.  They jump where a full cell is split whose children are better
    than it looked: its children are then queried alone, at levels of their own, until they have caught up.
    """
    if pulls <= len(starts):
        sums, _, _ = tree.walk(starts, -math.inf, bonus, math.inf)
        sums[:, [PULLS, REGRET, ERROR]] *= pulls / len(starts)
        return -math.inf, sums
    unit = bonus / math.sqrt(horizon)  # levels are searched on a scale that is logarithmic beyond this on both sides

    def trial(s):
        sums, status, _ = tree.walk(starts, unit * math.sinh(s), bonus, HEADROOM * horizon)
        return s, math.inf if sums is None else float(sums[:, PULLS].sum()), sums, status

    low = trial(-math.asinh((tree.bias[starts[0, 1]] + 2 * bonus) / unit))
    high = trial(low[0] + STEP)
    while high[1] < pulls:
        low, high = high, trial(high[0] + STEP)
    turn = 0
    while high[1] - low[1] > SHARED * horizon and high[0] - low[0] > RESOLUTION * max(1.0, abs(low[0])):
        turn += 1
        share = 0.5
        if turn % 3 and high[1] < math.inf:
            share = min(0.95, max(0.05, math.log(pulls / low[1]) / math.log(high[1] / low[1])))
        middle = trial(low[0] + share * (high[0] - low[0]))
        low, high = (middle, high) if middle[1] < pulls else (low, middle)
    level = unit * math.sinh(low[0])
    if high[1] - low[1] > SHARED * horizon:
        if high[3] in (NO_ROOM, UNRESOLVED):
            raise _OutOfReach(high[3], pulls - low[1])
        _, _, released = tree.walk(starts, unit * math.sinh(high[0]), bonus, HEADROOM * horizon, before=level)
        if len(released):
            sums = low[2] + _settled(tree, tree.below(released), pulls - low[1], bonus, horizon)[1]
            np.subtract.at(sums, (released[:, 1], CELLS), 1)
            return level, sums
    share = (pulls - low[1]) / (high[1] - low[1])
    return level, low[2] + share * (high[2] - low[2])
