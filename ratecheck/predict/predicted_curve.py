"""The curve of predicted mean regrets, from a horizon to T = 1e60 or further, with its errors."""

from __future__ import annotations

import math
from dataclasses import dataclass
from fractions import Fraction
from functools import lru_cache
from typing import TYPE_CHECKING

import numpy as np

from ..algorithms.protocol import Algorithm
from ..arguments import check_horizons, check_replicates, check_whole, shown
from ..claims import Curve
from ..sampling import seeding
from .cells import CELLS, REGRET, Tree
from .far import PERIOD, QUARTERS
from .prediction import LAST_HORIZON, check_partition, check_predictable, pool
from .water_level import ROUGHLY, OutOfReach, on_scale, settled

if TYPE_CHECKING:
    from function_zoo import Cost

FAR = 1e60  # the last horizon of a curve, unless another is named
ERROR = 0.005  # of a curve, unless another is asked for
BEYOND_FLOATS = 1e303  # queries of a horizon are summed, and levels tried for more
NEAR, AFAR = 24, 40  # horizons of a curve: side by side at first, then in every 60 decades of what is left
ROUGH = 0.02  # an error for which a few alignments may do
GROUPS = 4  # of alignments, independent of each other: their differences tell the error
FEWEST, FEW, MOST = 3, 7, 511  # alignments of a group: at first, for a rough curve and for others, and at last
MOST_CELLS = 2**24  # of all trees of a curve, after which its error is what it is
SPENT = 0.8  # of what is left of them, at once
NEIGHBOURS = 4  # horizons on both sides that share the estimate of an error
GAIN = 0.8  # the error of a group of n falls like n^-0.8: evenly spread alignments do better than random ones
PER_SHELL = 0.06  # cells kept of a shell, times the error that is asked for
FEWEST_KEPT = 8
TYPICAL = 0.75  # slope of regret, with which it is carried from a horizon to one nearby; that it is wrong cancels


def predicted_curve(
    algorithm: Algorithm,
    cost: Cost,
    *,
    first: float,
    last: float = FAR,
    error: float = ERROR,
    alignments: int | None = None,
    seed: int = 0,
    kind: str = "random",
) -> Curve:
    """Predict the mean regret from one horizon to another.

    Parameters
    ----------
    algorithm : Algorithm
        With a `level_rule`: UniformBins or AdaptiveBins.
    cost : Cost
        With a known minimiser.
    first, last : float
        Ends of the curve.  It ends earlier where the rounding errors of the cost's formula show.
    error : float
        Half the width of a 95 % interval of the predicted mean, as a share of it, that is aimed at.  Groups of
        alignments of the partition are added until their differences are that small; more cells of a tree are kept
        for a smaller error.
    alignments : int, optional
        The curve at the partitions of the first replicates of `simulate`, in place of the mean over all partitions.
    seed : int
        Of partitions and of the choice of cells.
    kind : str
        "random", or "fixed" for the partition of alignment="fixed".

    Returns
    -------
    Curve
        Its horizons are quarters of a period apart at first; then an odd number of quarters, so that every fourth
        horizon lies a whole number of periods later.

    Examples
    --------
    >>> import function_zoo as zoo, ratecheck as rc
    >>> curve = rc.predicted_curve(rc.AdaptiveBins(), zoo.get("cone", dim=1), first=2**10, last=1e6, error=0.05)
    >>> max(curve.error) < 0.1
    True
    """
    check_predictable(algorithm, cost)
    first, last = (float(check_horizons([end], LAST_HORIZON)[0]) for end in (first, last))
    seed = check_whole("seed", seed, 0)
    if not 0 < error < 1:
        raise ValueError(f"error = {shown(error)} must lie between 0 and 1")
    if kind not in ("random", "fixed"):
        raise ValueError(f"kind = {shown(kind)} must be 'random' or 'fixed'")
    algorithm = algorithm.settle(cost)
    period = algorithm.period(cost)
    horizons = grid(first, last, PERIOD if math.isnan(period) else period)
    work = _Work(algorithm, cost, horizons, max(FEWEST_KEPT, math.ceil(PER_SHELL / error)), seed)
    if kind == "fixed" or alignments is not None:
        replicates = [0] if kind == "fixed" else list(check_replicates(alignments))
        return work.at_replicates(replicates, kind)
    return work.over_all(error)


def grid(first, last, period) -> np.ndarray:
    """The horizons of a curve, the last of them at or beyond the end if there are many."""
    quarter = math.log(period) / QUARTERS
    count = math.floor(math.log(last / first) / quarter + 1e-9)
    if count <= NEAR:
        return first * np.exp(quarter * np.arange(count + 1))
    step, most = 1, AFAR * max(1.0, math.log10(last / first) / 60)
    while (count - NEAR) / step > most:
        step += 2
    steps = np.concatenate([np.arange(NEAR), np.arange(NEAR, count + 1 + step, step)])
    found = np.exp(math.log(first) + quarter * steps)
    found[0] = first
    return found[: 1 + min(np.searchsorted(found, last * (1 - 1e-9)), np.searchsorted(found, BEYOND_FLOATS) - 1)]


@dataclass(frozen=True)
class _Work:
    """A curve that is being computed."""

    algorithm: Algorithm
    cost: Cost
    horizons: np.ndarray
    kept: int  # cells of a shell
    seed: int

    def at_replicates(self, replicates, kind):
        """The mean over the partitions of some replicates, twice, with other samples of cells."""

        def one(name, sample):
            names = {"replicate": name, "seed": self.seed, "kind": kind}
            return self._regrets(
                self.horizons,
                lambda T: seeding.alignment(self.algorithm, self.cost, horizon=_whole(T), **names),
                (name, sample),
            )

        with pool(self.algorithm.cells(self.cost, self.horizons[-1])) as threads:
            found = list(threads.map(lambda name: [one(name, sample)[0] for sample in range(2)], replicates))
        shortest = min(len(part) for pair in found for part in pair)
        found = np.array([[part[:shortest] for part in pair] for pair in found])
        mean = found.mean(axis=(0, 1))
        apart = np.sqrt(((found[:, 0, :, 0] - found[:, 1, :, 0]) ** 2).sum(axis=0)) / (2 * len(found))
        return self._curve(mean, 2 * _smooth(apart / mean[:, 0]))

    def over_all(self, error):
        """The mean over partitions, as many as it takes for the error, at those horizons that need so many."""
        reach, open_, left = len(self.horizons), np.arange(len(self.horizons)), MOST_CELLS
        count = FEWEST if error > ROUGH else FEW
        means, errors = np.empty((reach, 2)), np.empty(reach)
        while True:
            groups, cells = self._groups(self.horizons[open_], count)
            if groups.shape[1] < len(open_):
                reach = groups.shape[1]
                open_ = open_[:reach]
            means[open_] = groups.mean(axis=0)
            errors[open_] = 2 * _smooth(groups[:, :, 0].std(axis=0, ddof=1) / math.sqrt(GROUPS) / means[open_, 0])
            wide = np.flatnonzero(errors[:reach] > error)
            left -= cells
            if not len(wide):
                return self._curve(means[:reach], errors[:reach])
            share = len(wide) / len(open_)  # of the cells
            if self.algorithm.anytime:  # a tree has at most as many inner cells as leaves
                share = min(1.0, 2 * GROUPS * count * means[wide[-1], 1] / cells)
            most = min(MOST, int(count * SPENT * left / max(1.0, cells * share)))
            if most <= count:
                return self._curve(means[:reach], errors[:reach])
            open_ = np.arange(wide[-1] + 1) if self.algorithm.anytime else wide  # one tree serves all horizons before
            # near horizons, which take few cells, may need more alignments than far ones: these are done with first
            worst = errors[wide[2 * len(wide) // 3 :]].max() if self.algorithm.anytime else np.median(errors[wide])
            more = 1.1 * float(worst / error) ** (1 / GAIN)
            count = min(most, int(count * min(8.0, max(1.5, more)))) | 1

    def _groups(self, horizons, count):
        def one(pair):
            group, place = pair
            rng = seeding.stream(self.seed, self.cost, self.algorithm, "places", group, count)
            point = (lattice(count, self.cost.dim + 1)[place] + rng.random(self.cost.dim + 1)) % 1.0
            offset, share = point[:-1], float(point[-1])
            return self._regrets(horizons, lambda T: self._alignment(T, offset, share), (group, place, count), share)

        pairs = [(group, place) for group in range(GROUPS) for place in range(count)]
        with pool(self.algorithm.cells(self.cost, horizons[-1])) as threads:
            found = list(threads.map(one, pairs))
        shortest = min(len(part) for part, _ in found)
        means = np.array([part[:shortest] for part, _ in found]).reshape(GROUPS, count, shortest, 2).mean(axis=1)
        return means, sum(cells for _, cells in found)

    def _alignment(self, T, offset, share):
        """The length of cells, and an offset such that the first minimiser has this place in its cell."""
        length = self.algorithm.length(self.cost, T, share)
        ends = zip(self.cost.minimisers[0].tolist(), self.cost.lower.tolist(), strict=True)
        starts = [(Fraction(x) - Fraction(low)) / Fraction(length) for x, low in ends]  # may exceed 1e16
        return length, [float((Fraction(u) - start) % 1) for u, start in zip(offset.tolist(), starts, strict=True)]

    def _regrets(self, horizons, alignment, names, share=0.5):
        """Regret and cells at growing horizons, as far as they can be told, with one partition for all or one each.

        Where each horizon has its own, the regret is averaged over a step between horizons by `share`, since it is
        ragged: bins are a whole number.
        """
        draw = int(seeding.stream(self.seed, self.cost, self.algorithm, "cells", *names).integers(2**62))
        found, tree, guess, cells = [], None, _Guess(), 0
        for T in horizons.tolist():
            at = T
            if not self.algorithm.anytime:
                at = max(2.0, T * PERIOD ** ((share - 0.5) / QUARTERS))
            if tree is None or not self.algorithm.anytime:
                length, offset = alignment(at)
                check_partition(self.algorithm, self.cost, horizon=at, length=length, offset=offset)
                rule = self.algorithm.level_rule(self.cost, length)
                end = horizons[-1] if self.algorithm.anytime else at
                tree = Tree(
                    self.cost, rule, length=length, offset=offset, horizon=end, kept=self.kept, seed=draw + len(found)
                )
            bonus = rule.bonus(at)
            how = {"pulls": at, "bonus": bonus, "horizon": at, "accuracy": ROUGHLY}
            try:
                level, sums = settled(tree, tree.starts(), **how, near=guess.at(at), step=guess.step)
            except OutOfReach:
                break
            cells += 0 if self.algorithm.anytime else tree.used
            guess.add(at, on_scale(level, bonus, at))
            found.append(sums[:, [REGRET, CELLS]].sum(axis=0) * [(T / at) ** TYPICAL, 1.0])
        return np.array(found).reshape(-1, 2), cells + (tree.used if self.algorithm.anytime else 0)

    def _curve(self, found, errors):
        if not len(found):
            raise ValueError(f"T = {self.horizons[0]:.3g} is out of reach on {self.cost}: it takes {OutOfReach.WHY}")
        whole = len(found) == len(self.horizons)
        limit = f"T = {self.horizons[-1]:.0e}" if whole else OutOfReach.WHY
        horizons = tuple(self.horizons[: len(found)].tolist())
        return Curve(horizons, *(tuple(column.tolist()) for column in found.T), limit, tuple(errors.tolist()))


class _Guess:
    """Where to look for a level, on the scale of the search: on the line through the last two."""

    def __init__(self):
        self.known, self.step = [], None

    def at(self, T):
        if not self.known:
            return None
        if len(self.known) == 1 or self.known[-1][1] is None or self.known[-2][1] is None:
            return self.known[-1][1]
        (x, s), (x1, s1) = self.known[-2:]
        return s1 + (s1 - s) / (x1 - x) * (math.log(T) - x1) if x1 > x else s1

    def add(self, T, s):
        expected = self.at(T)
        if expected is not None and s is not None and len(self.known) > 1:
            self.step = min(1.0, max(0.01, 0.5 * abs(s - expected)))
        self.known = [*self.known[-1:], (math.log(T), s)]


def _whole(T):
    return round(T) if T < 2**53 else T


def _smooth(errors):
    """Root mean squares over neighbouring horizons: an error told by four groups alone is off by a third itself."""
    squares = np.asarray(errors) ** 2
    width = min(2 * NEIGHBOURS + 1, len(squares))
    kernel = np.ones(width)
    return np.sqrt(np.convolve(squares, kernel, "same") / np.convolve(np.ones(len(squares)), kernel, "same"))


@lru_cache
def lattice(count: int, dim: int) -> np.ndarray:
    """Points (count, dim) that fill a cube evenly: a lattice of Korobov's form, (1, g, g^2, ...) i / count.

    For an odd count it stays the same set of points when it is halved in scale any number of times, and so do the
    places of a minimiser in the cells of all levels.  g is the one whose points are farthest apart.
    """

    def points(g):
        powers = np.array([pow(g, q, count) for q in range(dim)])
        return np.outer(np.arange(count), powers) % count / count

    def apart(g):
        from_first = points(g)[1:]
        return np.min(np.sum(np.minimum(from_first, 1 - from_first) ** 2, axis=1))

    choices = [g for g in range(2, count) if math.gcd(g, count) == 1] or [1]
    return points(max(choices[:256], key=apart))
