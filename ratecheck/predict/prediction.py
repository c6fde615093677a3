"""What theory predicts for an algorithm on a cost, at every horizon and every partition.

The deterministic level takes the mean over a cell for what is seen in it.  Where f varies within cells by more than the
bonus, or the noise is large, that is off by up to a fifth.  With a noise law what is seen is drawn (`passage`).
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager
from dataclasses import dataclass, field
from functools import cached_property
from numbers import Integral
from typing import TYPE_CHECKING

import numpy as np

from ..algorithms import partition
from ..algorithms.protocol import Algorithm, check_algorithm
from ..arguments import LONGEST as EXACT
from ..arguments import available_cores, check_horizons, check_is_cost, check_replicates, check_whole, items, shown
from ..display import html_table
from ..sampling import seeding
from ..sampling.noise import Noise, check_noise
from .cells import CELLS, PULLS, REGRET, Tree
from .means import AT_CENTRE
from .water_level import EXACTLY, ROUGHLY, OutOfReach, on_scale, settled

if TYPE_CHECKING:
    import pandas as pd

    from function_zoo import Cost

LAST_HORIZON = 1e300
MOST_ROOTS = 2**20
STANDARD_ERROR = 1e-3  # of a prediction, unless another is asked for
PER_SHELL = 0.3  # cells kept of a shell, times the error that is asked for
DRAWS = 4  # of what is seen, at every partition
PROBES, ENOUGH = 8, 0.005  # so many draws that all differ by no more from the deterministic level: it is taken
MANY, FEW = 2**12, 32  # cells, from which on draws take a smaller sample of them: so many cells of a shell
PRECISE = 5e-4  # standard error of a mean, for which fewer draws may do
SMALL = 2**13  # cells of a small one, which has fewer points
MOST_DIM = 6  # a mean over a cube takes 3^d points


@dataclass(frozen=True)
class Prediction:
    """The predicted regret at every horizon and alignment of the partition.

    `frame`: horizon, alignment (the index of the replicate that the engine gives it to, or the place in the given
    list), draw (of what is seen), side (a0 or the width), regret (cumulative), deterministic (the regret at the
    deterministic level), cells, key (to which the keys of all cells have risen) and error (an estimate of what
    inaccurate cell means and a sample of cells can do to it, as a share of it).  Two more shares of the regret say what
    the deterministic level leaves open, since it takes means for what is seen: `noise`, the variance of the noise in
    units of the squared bonus if it is 1, and `within`, that of f within cells; they are 0 where that was drawn.
    `levels`: horizon, alignment, draw, level, pulls, cells, regret.

    See `predict`.
    """

    algorithm: Algorithm
    cost: Cost
    rows: list[dict] = field(repr=False)
    level_rows: list[dict] = field(repr=False)
    seed: int = 0
    partitions: str = "random"  # those of the engine with this seed; "fixed", or "given" by the caller
    noise: Noise | None = None  # None: the deterministic level

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
        over them, the largest error, and the standard error that the draws leave in the mean, as a share of it."""
        by_place = self.frame.groupby(["horizon", "alignment"], sort=False)[["regret", "cells", "error"]].mean()
        groups = by_place.groupby("horizon", sort=False)
        table = groups[["regret", "cells"]].mean()
        table.insert(1, "spread", groups["regret"].std())
        return table.assign(error=groups["error"].max(), drawn=excess(self.frame)["error"]).reset_index()

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
    noise: Noise | None = None,
    draws: int = DRAWS,
) -> Prediction:
    """The regret that theory predicts for an algorithm, without a free parameter.

    Parameters
    ----------
    algorithm : Algorithm
        With a `level_rule`: UniformBins or AdaptiveBins.
    cost : Cost
        With a known minimiser.
    horizons : sequence of numbers
        Up to 1e300, as far as rounding errors of the cost's formula do not show; with a noise law up to 2^53.
    alignments : int, "fixed" or sequence
        A number or the indices of replicates, for their partitions in `simulate` with this seed; "fixed"; or pairs
        (length, offset), the offset as a fraction of a cell, one for all axes or one for each.
    seed : int
        Of the partitions and of what is drawn.
    error : float
        Of a regret, as a share of it, where a sample stands for many cells.
    noise : Noise, optional
        Points, and noise of this law, are drawn in every cell.  Without it, the level is the deterministic one.
    draws : int
        At every alignment, or fewer where these tell the mean to half a per mille.  The deterministic level is taken
        where the first eight draws all come within half a per cent of it.

    Returns
    -------
    Prediction
        Its `frame` has a row per horizon, alignment and draw; `mean()` a row per horizon.

    Examples
    --------
    >>> import function_zoo as zoo, ratecheck as rc
    >>> found = rc.predict(rc.AdaptiveBins(), zoo.get("branin", dim=2), [2**14], alignments=8, noise=rc.Gaussian())
    >>> bool((found.regret < 0.95 * found.frame["deterministic"].mean()).all())
    True
    """
    check_predictable(algorithm, cost)
    horizons = check_horizons(horizons, LAST_HORIZON if noise is None else EXACT)
    seed, draws = check_whole("seed", seed, 0), check_whole("draws", draws, 1)
    check_asked(error, noise)
    algorithm = algorithm.settle(cost)
    kind = alignments if isinstance(alignments, str) and alignments == "fixed" else "random"
    places = [(0, None)] if kind == "fixed" else _places(cost, alignments)
    work = _Work(algorithm, cost, math.ceil(PER_SHELL / error), seed, kind, noise, draws)
    with pool(algorithm.cells(cost, horizons[-1])) as threads:
        found = work.rows(horizons, places, threads.map)
    kind = "given" if kind == "random" and any(given for _, given in places) else kind
    return Prediction(algorithm, cost, *found, seed, kind, noise)


def excess(frame) -> pd.DataFrame:
    """By horizon: what draws exceed the deterministic level by, as a `factor`, and its relative standard `error`."""
    groups = frame.groupby("horizon", sort=False)
    sums = groups[["regret", "deterministic"]].sum()
    factor = sums["regret"] / sums["deterministic"]
    off = (frame["regret"] - frame["horizon"].map(factor) * frame["deterministic"]) ** 2
    error = np.sqrt(off.groupby(frame["horizon"], sort=False).sum()) / sums["regret"]
    return factor.to_frame("factor").assign(error=error)


@dataclass(frozen=True)
class _Work:
    """Predictions at horizons that share their partitions."""

    algorithm: Algorithm
    cost: Cost
    kept: int  # cells of a shell
    seed: int
    kind: str
    noise: Noise | None
    draws: int

    def rows(self, horizons, places, each):
        """All rows by horizon, and all rows by level."""
        blocks = [horizons] if self.algorithm.anytime else [[horizon] for horizon in horizons]
        found = [pair for block in blocks for pair in self._block(block, places, each)]
        found.sort(key=lambda pair: pair[0]["horizon"])
        return [row for row, _ in found], [row for _, rows in found for row in rows]

    def _block(self, horizons, places, each):
        """Rows at horizons that share their partitions, each with its rows by level."""

        def along(draws, chosen):
            return list(each(lambda place: self._at_place(horizons, place, draws), chosen))

        draws = 0
        if self.noise is not None:
            tried = along(math.ceil(PROBES / len(places)), places[:PROBES])
            apart = np.array([[row["regret"] / row["deterministic"] - 1 for row, _ in pairs] for pairs in tried])
            needed = (apart.reshape(-1, len(horizons)).std(axis=0).max() / PRECISE) ** 2
            enough = min(self.draws, max(1, math.ceil(needed / len(places))))
            draws = enough if np.abs(apart).max() > ENOUGH else 0
        return [pair for pairs in along(draws, places) for pair in pairs]

    def _at_place(self, horizons, place, draws):
        """Rows at one place: by draws, or without any at the deterministic level."""
        tree, bonus, found = self._along(horizons, place, kept=self.kept, sample=0)
        if tree.thinned:  # another sample of cells tells the error
            again = self._along(horizons, place, kept=self.kept, sample=1)[-1]
            for (row, _), (other, _) in zip(found, again, strict=True):
                row["error"] += abs(row["regret"] - other["regret"]) / (row["regret"] or 1.0)
        if self.noise is not None:
            for row, _ in found:
                row |= {"noise": 0.0, "within": 0.0}
        few = found
        if draws and tree.used > MANY:
            tree, bonus, few = self._along(horizons, place, kept=min(self.kept, FEW), sample=2)
        return [
            pair for draw in range(draws) for pair in self._drawn(tree, found, few=few, bonus=bonus, draw=draw)
        ] or found

    def _drawn(self, tree, level, *, few, bonus, draw):
        """The same rows with points and noise drawn in the cells of a tree, by what they exceed its own level by."""
        near, last, name = None, level[-1][0]["horizon"], level[0][0]["alignment"]
        names = (self.cost, self.algorithm, self.noise, name, last, draw)
        tree.draw(self.noise, int(seeding.stream(self.seed, *names).integers(2**62)))
        for (expected, _), (own, _) in zip(level, few, strict=True):
            how = {"horizon": expected["horizon"], "alignment": name, "near": near, "accuracy": ROUGHLY}
            (row, by_level), near = _rows(tree, bonus(expected["horizon"]), **how)
            row |= {column: expected[column] for column in ("deterministic", "error", "noise", "within")}
            row |= {"draw": draw, "regret": row["regret"] * (expected["regret"] or 1.0) / (own["regret"] or 1.0)}
            yield row, [one | {"draw": draw} for one in by_level]

    def _along(self, horizons, place, *, kept, sample):
        """The tree of one partition, the bonus of its algorithm, and rows at growing horizons."""
        algorithm, cost, last, (name, given) = self.algorithm, self.cost, horizons[-1], place
        how = {"horizon": last, "replicate": name, "seed": self.seed, "kind": self.kind}
        length, offset = given or seeding.alignment(algorithm, cost, **how)
        check_partition(algorithm, cost, horizon=last, length=length, offset=offset)
        rule = algorithm.level_rule(cost, length)
        tree = Tree(cost, rule, length=length, offset=offset, horizon=last, kept=kept, seed=sample)
        how = {"alignment": name, "near": None, "accuracy": EXACTLY}
        return tree, rule.bonus, [_rows(tree, rule.bonus(T), horizon=T, **how)[0] for T in horizons]


def check_asked(error, noise=None):
    if noise is not None:
        check_noise(noise)
    if not 0 < error < 1:
        raise ValueError(f"error = {shown(error)} must lie between 0 and 1")


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


@contextmanager
def pool(cells):
    """Threads hinder each other where walks are short: what is around them needs the interpreter's lock."""
    with ThreadPoolExecutor(available_cores() if cells > SMALL else 1) as threads:
        try:
            yield threads
        finally:
            threads.shutdown(cancel_futures=True)


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


def _rows(tree, bonus, *, horizon, alignment, near, accuracy):
    """A row and its rows by level, and where the level was found, for the next horizon."""
    how = {"pulls": float(horizon), "bonus": bonus, "horizon": float(horizon)}
    try:
        key, sums = settled(tree, tree.starts(), **how, near=near, accuracy=accuracy)
    except OutOfReach as limit:
        raise ValueError(
            f"T = {horizon:.3g} is out of reach on {tree.cost}: it takes {OutOfReach.WHY}"
            + (f"; up to about T = {limit.reached:.2g} a prediction is possible" if limit.reached else "")
        ) from None
    names = {"horizon": horizon if horizon <= EXACT else float(horizon), "alignment": alignment, "draw": 0}
    _, cells, regret, error = sums.sum(axis=0).tolist()
    row = names | {"side": tree.side[0], "regret": regret, "deterministic": regret, "cells": cells, "key": key}
    known = tree.drawn or tree.sort == AT_CENTRE or key == -math.inf
    within = 0.0 if known else tree.spread(key, bonus) / (regret or 1.0)
    row |= {"error": error / (regret or 1.0), "noise": min(1.0, 1 / bonus**2), "within": within}
    by_level = [
        names | {"level": k, "pulls": sums[k, PULLS], "cells": sums[k, CELLS], "regret": sums[k, REGRET]}
        for k in np.flatnonzero(sums[:, PULLS]).tolist()
    ]
    return (row, by_level), on_scale(key, bonus, float(horizon))
