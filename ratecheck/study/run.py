"""Runs what a study lacks: units of work from missing runs, handed to an executor, each stored when it is done."""

from __future__ import annotations

import math
import os
import platform
import threading
import time
from collections.abc import Callable
from concurrent.futures import CancelledError
from dataclasses import dataclass
from importlib.metadata import version
from pathlib import Path

import function_zoo as zoo
from function_zoo import Cost

from ..algorithms.protocol import Algorithm
from ..claims import VERSION, Case, Planned
from ..engine.errors import NotLoaded, UnitTimeout
from ..engine.pool import completed
from ..engine.simulate import EngineError, Job, check_cost
from ..planning import forecast as estimate
from ..sampling.noise import Noise
from ..store import Store
from .determinism import Repeats

TRIES = 3
REPEATED = 0  # in place of the number of a try: a short run of a plug-in, made twice and not stored
LIGHT, HEAVY = 0.25, 2.0  # seconds that a unit should take: overhead stays small, and so does the wait for the last one
PACKAGES = ("ratecheck", "numpy", "scipy", "numba", "pandas")

# How long a unit may take before it counts as hanging
LEAST = 60.0  # seconds
GENEROUS = 20  # times what units of its series took
ASIDE = 600.0  # seconds, for an audit or a prediction; they are made of a few
GUESS = 1000  # times an estimate that knows nothing of a plug-in: what a step of it takes may be anything


@dataclass(frozen=True)
class Unit:
    """Some runs of one series: (replicate, horizons) each."""

    case: Case
    cost: Cost
    algorithm: Algorithm
    noise: Noise
    runs: tuple[tuple[int, tuple[int, ...]], ...]
    seconds: float  # estimated

    @property
    def steps(self) -> int:
        return sum(horizons[-1] for _, horizons in self.runs)

    def __str__(self):
        first, last = min(r for r, _ in self.runs), max(r for r, _ in self.runs)
        longest = max(horizons[-1] for _, horizons in self.runs)
        return f"{self.case.name}, replicates {first} to {last}, T up to {longest}"


@dataclass(frozen=True)
class Aside:
    """Work beside the runs, whose result the store keeps, and which may bring further units; a failure is said."""

    name: str
    function: Callable
    arguments: tuple
    keep: Callable  # (store, result) -> units, or None
    seconds: float = 0.0  # estimated
    brings: float = 0.0  # the same of the units that it is expected to bring


def perform(runs, cost, algorithm, seed, noise, alignment, stop=None):
    """What a worker does with a unit: rows, a complaint, seconds, and its ratecheck's version; None if it must stop."""
    start = time.perf_counter()
    stop = stop or threading.Event()
    rows, complaints = [], set()
    job = Job(algorithm, cost, seed, noise, alignment)
    for replicate, horizons in runs:
        found, _, complaint = job.run((replicate, horizons), stop)
        if len(found) < len(horizons):
            return None
        rows += found
        complaints.add(complaint or "")
    return rows, "; ".join(sorted(complaints - {""})), time.perf_counter() - start, VERSION


def audit(cost, stop=None):
    table = zoo.audit(cost)
    return table.to_dict("records")


def audit_of(cost) -> Aside:
    def keep(store, rows):
        store.add_audit(str(cost), rows)

    return Aside(f"the audit of {cost}", audit, (cost,), keep, estimate.AUDIT)


# What is missing


def missing_runs(case: Case, store: Store):
    """(replicate, horizons) of every run that the store lacks; an anytime run is repeated if one horizon is missing."""
    known = store.known(case.series.digest)
    begun, stored = next(known, (None, ()))
    for replicate in range(case.replicates):
        lacking = case.horizons
        if replicate == begun:
            lacking = tuple(h for h in case.horizons if h not in stored)
            begun, stored = next(known, (None, ()))
        if lacking and case.anytime:
            yield replicate, case.horizons
        else:
            yield from ((replicate, (h,)) for h in lacking)


def units_of(planned: list[Planned], store: Store, noise: Noise, slots: int) -> list[Unit]:
    """Units of similar duration, the longest runs first, so that no slot is left with one at the end."""
    speeds = store.speeds()
    todo = []
    for case, cost, algorithm in planned:
        measured = speeds.get(case.series.digest)
        for replicate, horizons in missing_runs(case, store):
            pace = algorithm.seconds_per_step(cost, horizons[-1]) if measured is None else measured
            todo.append((case, cost, algorithm, (replicate, horizons), horizons[-1] * pace))
    target = min(max(sum(t[-1] for t in todo) / (16 * slots), LIGHT), HEAVY)
    units, pending, weight = [], [], 0.0

    def close():
        nonlocal pending, weight
        if pending:
            case, cost, algorithm = pending[0][:3]
            units.append(Unit(case, cost, algorithm, noise, tuple(p[3] for p in pending), weight))
        pending, weight = [], 0.0

    for item in todo:
        if pending and (item[0] is not pending[0][0] or weight + item[-1] > target):
            close()
        pending.append(item)
        weight += item[-1]
    close()
    return sorted(units, key=lambda u: -max(h[-1] for _, h in u.runs))


# Running


def run_units(units, store: Store, *, executor, progress, asides=(), **how) -> Work:
    """Run and store all units; a unit that failed three times is given up, the rest goes on.

    Units that failed once wait until the others are done.  Where units share a process they then run alone, so that one
    that kills its worker takes no other with it twice.  A plug-in that is not deterministic, or an engine whose numbers
    break an identity, ends it all.  `how` is the number of the session, and perhaps the limit of the time of a unit.
    """
    _announce(units, executor)
    for aside in asides:
        for thing in aside.arguments[:2]:
            executor.expect(thing)
    work = Work(units, store, executor=executor, progress=progress, asides=asides, **how)
    for ended in completed(executor, work.next_task, lambda: progress.patience):
        if ended is not None:
            work.finish(*ended)
        progress.show()
    work.failed.sort()
    return work


def _announce(units, executor):
    for thing in {id(thing): thing for unit in units for thing in (unit.cost, unit.algorithm)}.values():
        executor.expect(thing)


class Work:
    """What is to be done, what is under way, and what became of it."""

    def __init__(self, units, store, *, executor, progress, asides, session: int, unit_timeout: float | None = None):
        self.store, self.executor, self.session = store, executor, session
        self.progress, self.limits = progress, Limits(unit_timeout, store.speeds())
        self.queue = [(unit, 1) for unit in reversed(units)]
        self.asides = list(reversed(asides))
        self.repeats = Repeats(units, store)
        self.to_repeat = list(self.repeats.units)
        self.again, self.failed = [], []  # units, and a sentence about each that was given up
        self.done = self.steps = 0  # units and steps that are stored

    def next_task(self, under_way: int):
        """What keeps a slot busy: name, function, arguments and limit; None where enough is under way."""
        slots = self.executor.slots
        if self.to_repeat and under_way < slots + 2:
            return self._task(self.to_repeat.pop(), REPEATED)
        if self.asides and under_way < slots + 2:
            aside = self.asides.pop()
            return (aside, 0), aside.function, aside.arguments, max(ASIDE, self.limits.given or 0.0)
        if self.queue and under_way < 2 * slots + 2:
            return self._task(*self.queue.pop())
        alone = 1 if self.queue or not self.executor.isolated else 2 * slots + 2
        return self._task(*self.again.pop()) if self.again and under_way < alone else None

    def _task(self, unit, attempt):
        series = unit.case.series
        what = (unit.runs, unit.cost, unit.algorithm, series.seed, unit.noise, series.alignment)
        return (unit, attempt), perform, what, self.limits.of(unit)

    def finish(self, task, future):
        unit, attempt = task
        try:
            error = future.exception()
        except CancelledError as cancelled:
            error = cancelled
            self.executor.check()  # nobody here cancels: the place may be gone
        if isinstance(error, EngineError):  # no number of this engine can be trusted
            raise error
        if not isinstance(unit, Unit):
            self.progress.set_by(unit)
            if error is None:
                self._add(unit.keep(self.store, future.result()) or ())
            else:
                self.progress.say(f"{unit.name} failed ({type(error).__name__}: {error})")
            return
        if error is None:
            rows, complaint, seconds, version = future.result()
            if version != VERSION:
                error = RuntimeError(f"its worker runs another version of ratecheck ({version}, here {VERSION})")
        if error is None:
            self.repeats.compare(unit, rows)
        if attempt == REPEATED:
            if error is not None:
                self.progress.say(f"{unit}: not run twice, as a plug-in should be ({type(error).__name__}: {error})")
        elif error is None:
            what = {"steps": unit.steps, "seconds": seconds, "complaint": complaint}
            self.store.add(unit.case.series, rows, session=self.session, **what)
            self.limits.learn(unit, seconds)
            self.done += 1
            self.steps += unit.steps
            self.progress.add(unit)
        else:
            self._retry(unit, attempt, error)

    def _add(self, units):
        """More to do: what an aside has brought."""
        _announce(units, self.executor)
        self.queue += [(unit, 1) for unit in reversed(units)]
        self.progress.expect(units)

    def _retry(self, unit, attempt, error):
        if attempt < TRIES and not isinstance(error, NotLoaded | ImportError):  # they would come again
            self.again.append((unit, attempt + 1))
            if isinstance(error, UnitTimeout):  # somebody may be waiting for long
                self.progress.say(f"{unit}: {error}; it is tried again")
        else:
            often = "once" if attempt == 1 else f"{attempt} times"
            self.failed.append(f"{unit}: failed {often} ({type(error).__name__}: {error})")
            self.progress.give_up(unit, self.failed[-1])


class Limits:
    """The limit that the user gives; otherwise one from the pace of the finished units of a series, or an estimate."""

    def __init__(self, given: float | None, speeds: dict[str, float]):
        self.given = checked(given)
        self.pace = dict(speeds)  # seconds per step, the slowest that was seen

    def of(self, unit) -> float:
        if self.given is not None:
            return self.given
        pace = self.pace.get(unit.case.series.digest)
        if pace is not None:
            return max(LEAST, GENEROUS * pace * unit.steps)
        return max(LEAST, (GENEROUS if unit.algorithm.compiled else GUESS) * unit.seconds)

    def learn(self, unit, seconds):
        series = unit.case.series.digest
        self.pace[series] = max(self.pace.get(series, 0.0), seconds / unit.steps)


def checked(seconds):
    if seconds is not None and not (isinstance(seconds, int | float) and 0 < seconds < math.inf):
        raise ValueError(f"unit_timeout = {seconds!r} must be a number of seconds above 0")
    return None if seconds is None else float(seconds)


def surroundings(executor) -> dict:
    return {
        "workers": executor.slots,
        "where": executor.where,
        "versions": {"python": platform.python_version(), **{name: version(name) for name in PACKAGES}},
        "machine": f"{platform.system()} {platform.machine()}, {processor()}, {os.cpu_count()} cores",
    }


def processor() -> str:
    try:
        lines = Path("/proc/cpuinfo").read_text(encoding="utf-8").splitlines()
        return next(line.partition(":")[2].strip() for line in lines if line.startswith("model name"))
    except (OSError, StopIteration):
        return platform.processor() or "unknown processor"


def check_costs(planned: list[Planned]):
    """Every cost once, before anything runs."""
    for cost in {id(cost): cost for _, cost, _ in planned}.values():
        check_cost(cost)
