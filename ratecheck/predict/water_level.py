"""The regret that finite-horizon theory predicts, without a free parameter: the water level.

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
from typing import TYPE_CHECKING, NamedTuple

import numpy as np

from ..algorithms import partition
from ..algorithms.protocol import Algorithm, check_algorithm
from ..arguments import LONGEST as EXACT
from ..arguments import available_cores, check_horizons, check_is_cost, check_replicates, check_whole, items, shown
from ..display import html_table
from ..sampling import seeding
from .cells import CELLS, ERROR, HEADROOM, PASSED, PULLS, REGRET, UNRESOLVED, Tree
from .means import AT_CENTRE

if TYPE_CHECKING:
    import pandas as pd

    from function_zoo import Cost

LAST_HORIZON = 1e300
MOST_ROOTS = 2**20
STANDARD_ERROR = 1e-3  # of a prediction, unless another is asked for
PER_SHELL = 0.3  # cells kept of a shell, times the error that is asked for


class Accuracy(NamedTuple):
    """How closely a level is searched for."""

    shared: float  # of all pulls; where two levels differ by no more, what is between them is shared in proportion
    resolution: float  # of a level; where pulls jump within it, cells were released


EXACTLY = Accuracy(1e-4, 1e-13)
ROUGHLY = Accuracy(2e-2, 1e-6)  # for curves: what is shared errs by less than a thousandth of itself
STEP = math.log(2)  # of a search: levels are halved or doubled
SMALL = 2**13  # cells of a small one, which has fewer points
MOST_DIM = 6  # a mean over a cube takes 3^d points


@dataclass(frozen=True)
class Prediction:
    """The predicted regret at every horizon and alignment of the partition.

    `frame`: horizon, alignment (the index of the replicate that the engine gives it to, or the place in the given
    list), side (a0 or the width), regret (cumulative), cells, key (to which the keys of all cells have risen) and error
    (an estimate of what inaccurate cell means and a sample of cells can do to it, as a share of it).  Two more shares
    of the regret say what the theory leaves open, since it takes means for what is seen: `noise`, the variance of the
    noise in units of the squared bonus if it is 1, and `within`, that of f within cells.
    `levels`: horizon, alignment, level, pulls, cells, regret.

    See `predict`.
    """

    algorithm: Algorithm
    cost: Cost
    rows: list[dict] = field(repr=False)
    level_rows: list[dict] = field(repr=False)
    seed: int = 0
    partitions: str = "random"  # those of the engine with this seed; "fixed", or "given" by the caller

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

    def _repr_html_(self):
        means = self.mean()
        return html_table(
            f"Predicted regret of {self.algorithm} on {self.cost}", means.columns, means.itertuples(index=False)
        )


def predict(
    algorithm: Algorithm,
    cost: Cost,
    horizons: Sequence[float],
    *,
    alignments: int | str | Sequence = 32,
    seed: int = 0,
    error: float = STANDARD_ERROR,
) -> Prediction:
    """The regret that theory predicts for an algorithm with a `level_rule`, at horizons up to 1e300.

    `alignments`: a number or the indices of replicates, whose partitions are those that `simulate` gives them with this
    seed; "fixed", the partition of alignment="fixed"; or a list of pairs (length, offset), the offset as a fraction of
    a cell, one for all axes or one for each.  `error` is that of a regret, as a share of it, where so many cells are
    alike that a sample stands for them: the larger it is, the fewer are kept.

    For example

        rc.predict(rc.AdaptiveBins(), cost, horizons=[2**10, 1e30], alignments=4).mean()
    """
    check_predictable(algorithm, cost)
    horizons = check_horizons(horizons, LAST_HORIZON)
    seed = check_whole("seed", seed, 0)
    if not 0 < error < 1:
        raise ValueError(f"error = {shown(error)} must lie between 0 and 1")
    kept = math.ceil(PER_SHELL / error)
    algorithm = algorithm.settle(cost)
    kind = "fixed" if isinstance(alignments, str) and alignments == "fixed" else "random"
    places = [(0, None)] if kind == "fixed" else _places(cost, alignments)
    blocks = [horizons] if algorithm.anytime else [[horizon] for horizon in horizons]

    def unit(block, name, given):
        length, offset = given or seeding.alignment(
            algorithm, cost, horizon=block[-1], replicate=name, seed=seed, kind=kind
        )
        check_partition(algorithm, cost, horizon=block[-1], length=length, offset=offset)
        rule = algorithm.level_rule(cost, length)

        def sampled(draw):
            tree = Tree(cost, rule, length=length, offset=offset, horizon=block[-1], kept=kept, seed=draw)
            return tree, [_rows(tree, rule.bonus(T), horizon=T, alignment=name, length=length) for T in block]

        tree, found = sampled(0)
        if tree.thinned:
            for (row, _), (other, _) in zip(found, sampled(1)[1], strict=True):
                row["error"] += abs(row["regret"] - other["regret"]) / (row["regret"] or 1.0)
        return found

    with pool(algorithm.cells(cost, horizons[-1])) as threads:
        units = [threads.submit(unit, block, *place) for block in blocks for place in places]
        try:
            found = sorted((pair for u in units for pair in u.result()), key=lambda pair: pair[0]["horizon"])
        finally:
            threads.shutdown(cancel_futures=True)
    if kind == "random" and any(given for _, given in places):
        kind = "given"
    return Prediction(
        algorithm, cost, [row for row, _ in found], [row for _, rows in found for row in rows], seed, kind
    )


def check_predictable(algorithm, cost):
    check_algorithm(algorithm)
    check_is_cost(cost)
    if not hasattr(algorithm, "level_rule"):
        raise ValueError(f"{algorithm.label} has no level_rule, without which its regret cannot be predicted")
    cost.constants.need("a prediction", "alpha")
    if not len(cost.minimisers):
        raise ValueError(f"a prediction needs a minimiser of {cost}; give function_zoo.cost(..., minimisers=...)")
    if cost.dim > MOST_DIM:
        raise ValueError(f"{cost} has {cost.dim} dimensions; regrets can be predicted in up to {MOST_DIM}")


def pool(cells):
    """Threads hinder each other where walks are short: what is around them needs the interpreter's lock."""
    return ThreadPoolExecutor(available_cores() if cells > SMALL else 1)


def _places(cost, alignments) -> list[tuple[int, tuple | None]]:
    """Pairs of an index and (length, offset), or None: as the engine draws them for the replicate of this index."""
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


def check_partition(algorithm, cost, *, horizon, length, offset):
    """Refuse initial cells that are too many to be walked, unless they are bins, or that leave the cost's domain."""
    cells = math.prod(partition.counts(cost, length, offset))
    if cells > MOST_ROOTS and algorithm.anytime:
        raise ValueError(
            f"{algorithm.label} has {cells:.2g} initial cells on {cost}, and {MOST_ROOTS:,} is the most that a "
            "prediction takes; take longer cells"
        )
    if algorithm.anytime:
        partition.check(cost, length, any(offset), f"length = {length:g}")


def _rows(tree, bonus, *, horizon, alignment, length):
    try:
        key, sums = settled(tree, tree.starts(), pulls=float(horizon), bonus=bonus, horizon=float(horizon))
    except OutOfReach as limit:
        raise ValueError(
            f"T = {horizon:.3g} is out of reach on {tree.cost}: it takes {OutOfReach.WHY}; "
            f"up to about T = {limit.reached:.2g} a prediction is possible"
        ) from None
    names = {"horizon": horizon if horizon <= EXACT else float(horizon), "alignment": alignment}
    _, cells, regret, error = sums.sum(axis=0).tolist()
    row = names | {"side": length, "regret": regret, "cells": cells, "key": key, "error": error / (regret or 1.0)}
    spread = 0.0 if tree.sort == AT_CENTRE or key == -math.inf else tree.spread(key, bonus)
    row |= {"noise": min(1.0, 1 / bonus**2), "within": spread / (regret or 1.0)}
    by_level = [
        names | {"level": k, "pulls": sums[k, PULLS], "cells": sums[k, CELLS], "regret": sums[k, REGRET]}
        for k in np.flatnonzero(sums[:, PULLS]).tolist()
    ]
    return row, by_level


class OutOfReach(Exception):
    """The level cannot be told."""

    WHY = "cells so small that the rounding errors of its formula show"

    def __init__(self, reached):
        self.reached = reached


class _Trial(NamedTuple):
    s: float  # where the level is on the scale of the search
    level: float
    pulls: float
    status: int
    sums: np.ndarray | None
    released: np.ndarray | None = None


def settled(tree, starts, *, pulls, bonus, horizon, elsewhere=0.0, near=None, step=None, accuracy=EXACTLY):
    """The level at which the cells below the starts were queried `pulls` times, and the sums by level.

    `near` is where to look for it first, on the scale of the search, with this step.
    Queries grow with the level, from one per cell.  They jump where a full cell is split whose children are better
    than it looked: its children are then queried alone, at levels of their own, until they have caught up.
    """
    once = float(tree.weight[starts[:, 0]].sum())
    if pulls <= once:
        sums, _, _ = tree.walk(starts, -math.inf, bonus=bonus, most=math.inf)
        sums[:, [PULLS, REGRET, ERROR]] *= pulls / once
        return -math.inf, sums
    unit, shared = _unit(bonus, horizon), accuracy.shared * horizon
    if near is None:  # one query each
        begun = -math.asinh((tree.bias[starts[0, 1]] + 2 * bonus) / unit)
        how = {"step": STEP, "growth": 1.0}
    else:
        begun, how = near, {"step": STEP / 8 if step is None else step, "growth": 2.0}
    how |= {"pulls": pulls, "bonus": bonus, "horizon": horizon, "unit": unit, "shared": shared}
    (below, above), *sums = tree.search(starts, begun, **how, resolution=accuracy.resolution)
    low, high = _Trial(*below, sums[0]), _Trial(*above, sums[1])
    missing = pulls - low.pulls
    if high.pulls - low.pulls > shared:
        if high.status == UNRESOLVED:
            raise OutOfReach(elsewhere + low.pulls)
        how = {"bonus": bonus, "before": low.level, "most": HEADROOM * horizon}
        high, step = _released(tree, starts, s=high.s, unit=unit, how=how), high.s - low.s
        while high.status == PASSED and not len(high.released):  # all but released: one cell can take any number
            step *= 2
            high = _released(tree, starts, s=high.s + step, unit=unit, how=how)
        if len(high.released):
            how = {"bonus": bonus, "horizon": horizon, "accuracy": accuracy, "elsewhere": elsewhere + low.pulls}
            return low.level, low.sums + _caught_up(tree, high.released, pulls=missing, low=low, **how)
    return low.level, low.sums + missing / (high.pulls - low.pulls) * (high.sums - low.sums)


def _released(tree, starts, *, s, unit, how):
    """A trial level, with the cells that are split at it and were not at the level before."""
    level = unit * math.sinh(s)
    sums, status, released = tree.walk(starts, level, **how)
    return _Trial(s, level, math.inf if sums is None else float(sums[:, PULLS].sum()), status, sums, released)


def _unit(bonus, horizon):
    """Levels are searched on a scale that is logarithmic beyond this on both sides."""
    return bonus / math.sqrt(horizon)


def on_scale(level, bonus, horizon):
    return math.asinh(level / _unit(bonus, horizon)) if level > -math.inf else None


def _caught_up(tree, released, *, pulls, bonus, horizon, elsewhere, low, accuracy):
    """What the pulls add to the sums: released cells are filled, if a lower level left room in them, then the children
    of these are queried."""
    cells, k = released.T
    held = np.ceil((bonus / (tree.gap[cells] - tree.bias[k] - low.level)) ** 2)
    room = tree.weight[cells] * (tree.capacity[k] - np.minimum(tree.capacity[k], np.maximum(1.0, held)))
    endless = np.isinf(room)
    below = tree.below(released)
    if endless.any():
        filled = np.where(endless, pulls / endless.sum(), 0.0)
    elif not len(below):
        filled = np.full(len(room), pulls / len(room))
    else:
        filled = room * min(1.0, pulls / room.sum()) if room.sum() > 0 else room
    sums = np.zeros((len(tree.capacity), 4))
    np.add.at(sums, (k, PULLS), filled)
    np.add.at(sums, (k, REGRET), filled * tree.gap[cells])
    rest = pulls - filled.sum()
    if rest > 1e-9 * pulls:
        how = {"bonus": bonus, "horizon": horizon, "elsewhere": elsewhere, "near": low.s, "accuracy": accuracy}
        _, added = settled(tree, below, pulls=rest, **how)
        np.subtract.at(added, (k, CELLS), tree.weight[cells])
        sums += added
    return sums
