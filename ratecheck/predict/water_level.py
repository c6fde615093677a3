"""The water level: to which the keys of all cells have risen by a horizon, and the regret that goes with it.

The bonus of an optimistic algorithm is many standard deviations of its noise.  So at time T every cell has been queried
just often enough to lift its key to a level that all share, and the level is the one at which the queries add up to T.
"""

from __future__ import annotations

import math
from typing import NamedTuple

import numpy as np

from .cells import CELLS, ERROR, HEADROOM, PASSED, PULLS, REGRET, UNRESOLVED


class Accuracy(NamedTuple):
    """How closely a level is searched for."""

    shared: float  # of all pulls; where two levels differ by no more, what is between them is shared in proportion
    resolution: float  # of a level; where pulls jump within it, cells were released


EXACTLY = Accuracy(1e-4, 1e-13)
ROUGHLY = Accuracy(2e-2, 1e-6)  # for curves: what is shared errs by less than a thousandth of itself
STEP = math.log(2)  # of a search: levels are halved or doubled


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
    if not tree.resolved:
        raise OutOfReach(0.0)
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
    if high.pulls < pulls:  # all that these cells take: they stand for others that were left out
        return low.level, low.sums * (pulls / low.pulls)
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
    held = tree.asked(released, low.level, bonus)
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
