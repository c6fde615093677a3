"""From an algorithm, a cost, horizons and a seed to a table of regrets, on the threads of this machine."""

from __future__ import annotations

import math
import threading
import warnings
from collections.abc import Iterable, Sequence
from concurrent.futures import FIRST_EXCEPTION, ThreadPoolExecutor, wait
from dataclasses import asdict, dataclass, field
from functools import cached_property
from typing import TYPE_CHECKING

import numpy as np

from function_zoo.speaking import Speaking, lines

from . import seeding
from .algorithms.protocol import Algorithm, Run, check_algorithm
from .algorithms.run import HIGHEST, bad_value, lowest, values
from .checks import (
    MOST_WORKERS,
    available_cores,
    check_alignment,
    check_horizons,
    check_is_cost,
    check_replicates,
    whole,
)
from .claims import Series
from .noise import Gaussian, Noise, check_noise

if TYPE_CHECKING:
    from function_zoo import Cost

SLICE = 2**20  # steps between two looks at the stop flag: half a second at most
PROBES = 512
STANDARD = Gaussian(1.0)
SEMANTICS = 2  # of kernels, streams and zoo: raised whenever the same names give other regrets than before


class EngineError(RuntimeError):
    """A run broke an identity that always holds; the message says which run and which identity."""


@dataclass(frozen=True, repr=False)
class Runs(Speaking):
    """Regret at every horizon of every replicate.

    `frame`: replicate, horizon, regret (cumulative pseudo-regret), cells, side (a0 or the width of this
    replicate), anytime (True where the rows of a replicate come from one run), stream (the name of its random
    numbers), and what all rows share: cost, dim, algorithm, noise, alignment, seed, semantics, series (a digest of
    these) and period (the factor in T after which theory expects the regret to repeat itself, nan if none).
    With diagnostics also: exceeded (steps after which the algorithm's optimistic bound contradicted f*), error (f - f*
    at the point that it recommends) and x0, x1, ... (that point); and
    `levels`: replicate, horizon, level, pulls, cells, regret.

    For example

        print(runs)                 # in six lines; runs.plot() draws them
        rc.fit_rate(runs)           # the exponent of R, with an interval
    """

    algorithm: Algorithm
    cost: Cost
    rows: list[dict] = field(repr=False)
    level_rows: list[dict] = field(repr=False)
    shared: dict = field(default_factory=dict)

    @cached_property
    def frame(self):
        import pandas as pd

        return pd.DataFrame(self.rows).assign(**self.shared)

    @cached_property
    def levels(self):
        import pandas as pd

        return pd.DataFrame(self.level_rows, columns=["replicate", "horizon", "level", "pulls", "cells", "regret"])

    def plot(self):
        """The regret of every run and their mean against T: a Matplotlib figure."""
        from .figures.runs import Regrets, regrets_figure

        return regrets_figure(Regrets.of(self))

    def __str__(self):
        return lines(self._facts())

    def __repr__(self):
        horizons, replicates = self.frame["horizon"].nunique(), self.frame["replicate"].nunique()
        return f"<Runs of {self.algorithm} on {self.cost}: {horizons} horizons, {replicates} replicates>"

    def _facts(self):
        regrets = self.frame.groupby("horizon")["regret"].agg(["mean", "sem", "size"])
        T = regrets.index
        ends = [f"{m:.5g} ± {e:.3g} at T = {t}" for t, m, e, _ in regrets.iloc[[0, -1]].itertuples()]
        once = "each seen at every horizon" if self.algorithm.anytime else "new ones at every horizon"
        return {
            "algorithm": self.algorithm,
            "cost": self.cost,
            "horizons": f"{len(T)}, T = {T[0]} ... {T[-1]}",
            "replicates": f"{regrets['size'].min()}, {once}",
            "noise": f"{self.shared.get('noise')}, seed {self.shared.get('seed')}",
            "mean regret": ", ".join(dict.fromkeys(ends)),
        }


def simulate(
    algorithm: Algorithm,
    cost: Cost,
    horizons: Sequence[int],
    replicates: int | Iterable[int] = 64,
    seed: int = 0,
    noise: Noise = STANDARD,
    alignment: str = "random",
    workers: int | None = None,
    diagnostics: bool = False,
) -> Runs:
    """Run an algorithm on a cost and record its cumulative pseudo-regret at the horizons.

    An anytime algorithm runs once per replicate; one that depends on T runs once per replicate and horizon.
    `replicates` is a number or the indices of the replicates to run.  A replicate's result depends on the
    seed and on names (cost, algorithm, horizon where it matters, index) alone; runs that differ only in the
    noise law or in the alignment share their random numbers.

    alignment="random" gives each replicate its own origin of the partition and, where the algorithm leaves it open, its
    own length of the initial cells, log-uniform over an octave and stratified over the replicates; "fixed" starts the
    partition at the lower corner of the box.

    For example

        runs = rc.simulate(rc.AdaptiveBins(), zoo.get("cone", dim=1), horizons=[100, 200, 400], replicates=8)
    """
    check_algorithm(algorithm)
    check_is_cost(cost)
    horizons = check_horizons(horizons)
    replicates = check_replicates(replicates)
    seed = whole("seed", seed, 0)
    check_noise(noise)
    check_alignment(alignment)
    workers = available_cores() if workers is None else whole("workers", workers, 1, MOST_WORKERS)
    algorithm = algorithm.settle(cost)
    for horizon in horizons:
        algorithm.check(cost, horizon, alignment == "random")
    check_cost(cost)

    blocks = [horizons] if algorithm.anytime else [[horizon] for horizon in horizons]
    stop = threading.Event()

    def unit(replicate, block):
        return run_replicate(algorithm, cost, block, replicate, seed, noise, alignment, diagnostics, stop)

    with ThreadPoolExecutor(min(workers, len(blocks) * len(replicates))) as pool:
        # the longest runs first, so that no worker is left with one at the end
        futures = {(r, b[-1]): pool.submit(unit, r, b) for b in reversed(blocks) for r in replicates}
        try:
            wait(futures.values(), return_when=FIRST_EXCEPTION)
            results = [futures[r, b[-1]].result() for r in replicates for b in blocks]
        finally:
            stop.set()
            pool.shutdown(cancel_futures=True)
    rows = [row for rows, _, _ in results for row in rows]
    level_rows = [row for _, rows, _ in results for row in rows]
    for complaint in sorted({complaint for _, _, complaint in results if complaint}):
        warnings.warn(complaint, RuntimeWarning, stacklevel=2)
    shared = asdict(series_of(algorithm, cost, seed, noise, alignment))
    period, shared["series"] = shared.pop("period"), shared.pop("digest")
    shared["period"] = math.nan if period is None else period
    return Runs(algorithm, cost, rows, level_rows, shared)


def series_of(algorithm: Algorithm, cost: Cost, seed: int, noise: Noise, alignment: str) -> Series:
    """What determines a run of a settled algorithm, apart from its replicate and its horizon, and a digest of it."""
    names = (str(cost), cost.dim, str(algorithm), repr(noise), alignment, seed, SEMANTICS)
    period = algorithm.period(cost)
    known = [cost.constants.alpha, cost.constants.beta]  # a width that is not given follows from them
    known += [] if cost.registered else [cost.fingerprint]
    known += [] if algorithm.fingerprint is None else [algorithm.fingerprint]
    digest = seeding.digest([*names, *known]).hex()[:32]
    return Series(digest, *names, None if math.isnan(period) else period)


def run_replicate(algorithm, cost, horizons, replicate, seed, noise, alignment, diagnostics, stop):
    """The rows of one run (as far as it got before `stop` was set), those of its levels, and a complaint."""
    run, length = begin(algorithm, cost, horizons[-1], replicate, seed, noise, alignment, diagnostics)
    rows, level_rows = [], []
    stream = seeding.name(seed, *seeding.names_of(algorithm, cost, horizons[-1]), replicate)
    for horizon in horizons:
        while run.t < horizon:
            if stop.is_set():
                return rows, level_rows, None
            run.advance(min(horizon, run.t + SLICE))
        row = {
            "replicate": replicate,
            "horizon": horizon,
            "regret": run.regret,
            "cells": run.cells,
            "side": length,
            "anytime": algorithm.anytime,
            "stream": stream,
        }
        if diagnostics:
            x = run.recommended()
            row |= {
                "exceeded": run.exceeded,
                "error": float(values(cost.compiled, x[None])[0]) - cost.minimum,
            }
            row |= {f"x{q}": float(v) for q, v in enumerate(x)}
            level_rows += [
                {"replicate": replicate, "horizon": horizon, "level": k, "pulls": p, "cells": c, "regret": r}
                for k, p, c, r in run.levels()
            ]
        rows.append(row)
    if broken := run.violation():
        raise EngineError(
            f"{algorithm.label} on {cost}: replicate {replicate} at T = {run.t}, seed {seed}: {broken}; the engine is "
            "at fault, or the memory of this machine.  Nothing was judged"
        )
    return rows, level_rows, run.complaint()


def begin(
    algorithm: Algorithm, cost, horizon, replicate, seed=0, noise=STANDARD, alignment="random", diagnostics=False
) -> tuple[Run, float]:
    """A replicate before its first step, and the length of its initial cells."""
    length, offset = seeding.alignment(algorithm, cost, horizon, replicate, seed, alignment)
    rng = seeding.stream(seed, *seeding.names_of(algorithm, cost, horizon), replicate, "run")
    return algorithm.start(cost, length, offset, rng, noise, diagnostics, horizon=horizon), length


def check_cost(cost):
    """Refuse a cost that is not finite or falls below its minimum at a point of the box or of its margin."""
    rng = np.random.default_rng(0)
    margin = cost.constants.A
    inner = rng.uniform(cost.lower, cost.upper, (PROBES, cost.dim))
    outer = rng.uniform(cost.lower - margin, cost.upper + margin, (PROBES, cost.dim))
    centre = (cost.lower + cost.upper)[None] / 2
    points = np.vstack([cost.minimisers, centre, cost.lower[None], cost.upper[None], inner, outer])
    found = values(cost.compiled, points)
    away = found[: len(cost.minimisers)] - cost.minimum
    outside = np.any((cost.minimisers < cost.lower) | (cost.minimisers > cost.upper), axis=1)
    wrong = np.flatnonzero((away > 1e-9 * max(1.0, abs(cost.minimum), cost.constants.M)) | outside)
    if wrong.size and np.isfinite(away[wrong[0]]):
        raise ValueError(
            f"{cost}: the minimiser {cost.minimisers[wrong[0]].tolist()} is not one: f exceeds its minimum there by "
            f"{away[wrong[0]]:.3g}, or it lies outside the box"
        )
    bad = np.flatnonzero(~((lowest(cost) <= found) & (found < HIGHEST)))
    if bad.size:
        raise ValueError(bad_value(cost, points[bad[0]]))
