"""From an algorithm, a cost, horizons and a seed to a table of regrets, on the cores of this machine."""

import math
import signal
import threading
import time
import warnings
from collections.abc import Iterable, Sequence
from contextlib import contextmanager
from dataclasses import asdict, dataclass
from functools import cached_property

import numpy as np

from function_zoo import Cost

from ..algorithms.asktell import AlgorithmError
from ..algorithms.protocol import Algorithm, check_algorithm
from ..algorithms.run import HIGHEST, Run, bad_value, lowest, values
from ..arguments import check_alignment, check_horizons, check_is_cost, check_replicates, check_whole, check_workers
from ..claims import VERSION, Series
from ..sampling import seeding
from ..sampling.noise import Gaussian, Noise, check_noise
from .errors import ExecutorError, NotLoaded
from .pool import Processes, Threads, completed
from .runs import Runs

SLICE = 2**20  # steps between two looks at the stop flag: half a second at most
LOOK = 0.1  # seconds between two such looks where steps are slow
ALONE = 1.0  # seconds of work before other processes are started, which takes about as long
PROBES = 512
STANDARD = Gaussian(1.0)


class EngineError(RuntimeError):
    """A run broke an identity that always holds; the message says which run and which identity.  See `simulate`."""


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
    seed = check_whole("seed", seed, 0)
    check_noise(noise)
    check_alignment(alignment)
    workers = check_workers(workers)
    job = Job(algorithm.settle(cost), cost, seed, noise, alignment, diagnostics)
    job.check(horizons)
    if diagnostics and not len(cost.minimisers):
        raise ValueError(f"diagnostics follow a minimiser of {cost}; give function_zoo.cost(..., minimisers=...)")
    check_cost(cost, algorithm.compiled)

    units = job.units(horizons, replicates)
    # the longest runs first, so that no worker is left with one at the end
    found = dict(finished(job, sorted(units, key=lambda unit: -unit[1][-1]), workers=workers))
    for complaint in sorted({complaint for _, _, complaint in found.values() if complaint}):
        warnings.warn(complaint, RuntimeWarning, stacklevel=2)
    return gathered(job, [found[unit] for unit in units])


@dataclass(frozen=True)
class Job:
    """All that runs of one series have in common; its algorithm is a settled one."""

    algorithm: Algorithm
    cost: Cost
    seed: int = 0
    noise: Noise = STANDARD
    alignment: str = "random"
    diagnostics: bool = False

    def units(self, horizons, replicates) -> list[tuple[int, tuple[int, ...]]]:
        """(replicate, horizons) of every run."""
        blocks = [tuple(horizons)] if self.algorithm.anytime else [(horizon,) for horizon in horizons]
        return [(replicate, block) for replicate in replicates for block in blocks]

    def check(self, horizons):
        """Refuse, in one sentence and before any work, horizons up to which it cannot run."""
        for horizon in horizons:
            self.algorithm.check(self.cost, horizon, self.alignment == "random")

    def begin(self, horizon: int, replicate: int = 0) -> tuple[Run, float]:
        how = {"seed": self.seed, "noise": self.noise, "alignment": self.alignment, "diagnostics": self.diagnostics}
        return begin(self.algorithm, self.cost, horizon=horizon, replicate=replicate, **how)

    def run(self, unit, stop):
        """The rows of one run (as far as it got before `stop` was set), those of its levels, and a complaint."""
        replicate, horizons = unit
        try:
            return _replicate(self, replicate, horizons, stop)
        except AlgorithmError as error:
            raise AlgorithmError(f"replicate {replicate}: {error}") from error.__cause__

    def __str__(self):
        return f"{self.algorithm} on {self.cost}"

    @cached_property
    def series(self) -> Series:
        """What determines a run, apart from its replicate and its horizon, and a digest of it."""
        algorithm, cost = self.algorithm, self.cost
        names = (str(cost), cost.dim, str(algorithm), repr(self.noise), self.alignment, self.seed)
        period = algorithm.period(cost)
        known = [VERSION, cost.constants.alpha, cost.constants.beta]  # a width that is not given follows from them
        known += [] if cost.registered else [cost.fingerprint]
        known += [] if algorithm.fingerprint is None else [algorithm.fingerprint]
        digest = seeding.digest([*names, *known]).hex()[:32]
        return Series(digest, *names, None if math.isnan(period) else period)

    @property
    def plain(self) -> bool:
        """Whether its runs need the interpreter at every step, so that threads would not help."""
        return not self.algorithm.compiled or self.cost.interpreted


def gathered(job: Job, results) -> Runs:
    """The table of some runs, each with its rows, those of its levels and a complaint."""
    rows = [row for rows, _, _ in results for row in rows]
    level_rows = [row for _, rows, _ in results for row in rows]
    shared = asdict(job.series)
    period, shared["series"] = shared.pop("period"), shared.pop("digest")
    shared["period"] = math.nan if period is None else period
    return Runs(job.algorithm, job.cost, rows, level_rows, shared)


# Where runs go: to threads, or, where the interpreter would keep them from each other, to processes


class Limit:
    """When no further run begins, and when nobody waits any more; both by a clock, and never by a regret."""

    def __init__(self, seconds=math.inf, at_most=math.inf):
        self.begun, self.seconds, self.at_most = time.monotonic(), seconds, at_most

    @property
    def spent(self) -> float:
        return time.monotonic() - self.begun

    @property
    def left(self) -> float | None:
        """Seconds until nobody waits any more, None for ever."""
        return None if math.isinf(self.at_most) else max(0.0, self.at_most - self.spent)

    def over(self) -> bool:
        return self.spent > self.seconds

    def is_set(self) -> bool:
        return self.spent > self.at_most


class Overdue(BaseException):
    """Somebody's code took longer than anybody waits; no `except Exception` of his keeps it from ending."""


@contextmanager
def ending(job: Job, seconds: float | None):
    """Raise Overdue in plain Python that takes longer than this; only the main thread can be interrupted so."""
    able = hasattr(signal, "setitimer") and threading.current_thread() is threading.main_thread()
    if seconds is None or job.algorithm.compiled or not able or signal.getitimer(signal.ITIMER_REAL)[0]:
        yield
        return

    armed = True

    def end(*_):
        if armed:
            raise Overdue

    before = signal.signal(signal.SIGALRM, end)
    try:
        signal.setitimer(signal.ITIMER_REAL, max(seconds, LOOK), LOOK)  # again, should it be swallowed
        try:
            yield
        finally:
            armed = False
    finally:
        signal.setitimer(signal.ITIMER_REAL, 0.0)
        signal.signal(signal.SIGALRM, before)


def finished(job: Job, units, *, workers: int, limit: Limit | None = None, together: int | None = None):
    """(unit, result) of every run as it ends; of those that the limit allows to begin and to end.

    Bits do not depend on where a run is made.  `together` is the number of runs that go to a process at once.
    """
    limit = limit or Limit()
    if not job.plain:
        yield from _in_pool(Threads(min(workers, len(units))), job, [(unit,) for unit in units], limit)
        return
    left = yield from _here(job, units, limit, limit.at_most if min(workers, len(units)) == 1 else limit.spent + ALONE)
    undone, every = (sum(horizons[-1] for _, horizons in some) for some in (left, units))
    if undone <= every / 2:  # by the time that others are ready it is done
        yield from _here(job, left, limit, limit.at_most)
        return
    size, done = together or max(1, len(left) // (16 * workers)), set()
    chunks = [tuple(left[i : i + size]) for i in range(0, len(left), size)]
    try:
        for unit, result in _in_pool(Processes(min(workers, len(chunks))), job, chunks, limit):
            done.add(unit)
            yield unit, result
    except (ExecutorError, NotLoaded) as why:  # no other process can make sense of it
        warnings.warn(f"one process runs it all, since {why}", RuntimeWarning, stacklevel=3)
        yield from _here(job, [unit for unit in left if unit not in done], limit, limit.at_most)


def _here(job, units, limit, until):
    """Runs in this thread until a time; returns those that are left."""
    stop = Limit(limit.seconds, until)
    stop.begun = limit.begun
    for i, unit in enumerate(units):
        if limit.over():
            return []
        try:
            with ending(job, limit.left):
                result = job.run(unit, stop)
        except Overdue:
            return []
        if len(result[0]) < len(unit[1]):
            return units[i:] if not limit.is_set() else []
        yield unit, result
    return []


def _in_pool(pool, job, chunks, limit):
    waiting = chunks[::-1]

    def next_chunk(under_way):
        if waiting and under_way < 2 * pool.slots and not limit.over():
            return waiting[-1], _perform, (job, waiting.pop()), None
        return None

    try:
        pool.expect(job)
        for ended in completed(pool, next_chunk, lambda: limit.left):
            if ended is None:  # nobody waits any more
                return
            units, future = ended
            if not future.cancelled():
                yield from zip(units, future.result(), strict=True)
            if limit.over():
                pool.cancel()
    finally:
        pool.close()


def _perform(job: Job, units, stop=None):
    stop = stop or threading.Event()
    return [job.run(unit, stop) for unit in units]


def _replicate(job: Job, replicate, horizons, stop):
    algorithm, cost = job.algorithm, job.cost
    run, length = job.begin(horizons[-1], replicate)
    rows, level_rows = [], []
    pace = Pace(algorithm.compiled and not cost.interpreted)
    stream = seeding.name(job.seed, *seeding.names_of(algorithm, cost, horizons[-1]), replicate)
    same = {"side": length, "anytime": algorithm.anytime, "stream": stream}
    for horizon in horizons:
        while run.t < horizon:
            if stop.is_set():
                return rows, level_rows, None
            pace.advance(run, horizon)
        row = {"replicate": replicate, "horizon": horizon, "regret": run.regret, "cells": run.cells, **same}
        if job.diagnostics:
            x = run.recommended()
            row |= {"exceeded": run.exceeded, "error": float(values(cost.compiled, x[None])[0]) - cost.minimum}
            row |= {f"x{q}": float(v) for q, v in enumerate(x)}
            level_rows += [
                {"replicate": replicate, "horizon": horizon, "level": k, "pulls": p, "cells": c, "regret": r}
                for k, p, c, r in run.levels()
            ]
        rows.append(row)
    if broken := run.violation():
        raise EngineError(
            f"{algorithm.label} on {cost}: replicate {replicate} at T = {run.t}, seed {job.seed}: {broken}; the engine "
            "is at fault, or the memory of this machine.  Nothing was judged"
        )
    return rows, level_rows, run.complaint()


class Pace:
    """How many steps are made between two looks at the clock."""

    def __init__(self, fast):
        self.steps = SLICE if fast else 1

    def advance(self, run, until):
        begun = time.monotonic()
        run.advance(min(until, run.t + self.steps))
        if time.monotonic() - begun < LOOK:
            self.steps = min(2 * self.steps, SLICE)
        else:
            self.steps = max(1, self.steps // 2)


def begin(
    algorithm: Algorithm, cost, *, horizon, replicate, seed=0, noise=STANDARD, alignment="random", diagnostics=False
) -> tuple[Run, float]:
    length, offset = seeding.alignment(algorithm, cost, horizon=horizon, replicate=replicate, seed=seed, kind=alignment)
    rng = seeding.stream(seed, *seeding.names_of(algorithm, cost, horizon), replicate, "run")
    return algorithm.start(cost, length, offset, rng, noise, diagnostics, horizon=horizon), length


def check_cost(cost, compiled=True):
    """Refuse a cost that is not finite or falls below its minimum at a point of the box or of its margin.

    Its values come from the form that will be used: the compiled one, or Python.
    """
    rng = np.random.default_rng(0)
    probes = PROBES if compiled else PROBES // 8  # somebody's simulator may be slow
    inner = rng.uniform(cost.lower, cost.upper, (probes, cost.dim))
    outer = rng.uniform(cost.lower - cost.margin, cost.upper + cost.margin, (probes if cost.margin else 0, cost.dim))
    centre = (cost.lower + cost.upper)[None] / 2
    points = np.vstack([cost.minimisers, centre, cost.lower[None], cost.upper[None], inner, outer])
    try:
        found = values(cost.compiled, points) if compiled else np.asarray(cost.many(points), dtype=float)
    except ValueError:
        raise
    except Exception as error:
        raise ValueError(f"{cost} cannot be computed on its box ({type(error).__name__}: {error})") from error
    away = found[: len(cost.minimisers)] - cost.minimum
    outside = np.any((cost.minimisers < cost.lower) | (cost.minimisers > cost.upper), axis=1)
    wrong = np.flatnonzero((away > cost.rounding) | outside)
    if wrong.size and np.isfinite(away[wrong[0]]):
        raise ValueError(
            f"{cost}: the minimiser {cost.minimisers[wrong[0]].tolist()} is not one: f exceeds its minimum there by "
            f"{away[wrong[0]]:.3g}, or it lies outside the box"
        )
    bad = np.flatnonzero(~((lowest(cost) <= found) & (found < HIGHEST)))
    if bad.size:
        raise bad_value(cost, points[bad[0]], found[bad[0]])
