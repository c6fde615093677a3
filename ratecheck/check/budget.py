"""Horizons and replicates from a time budget: a measured pilot, a forecast, and what the plan will be able to tell."""

import math
import time
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass, replace

import numpy as np
import pandas as pd

from ..arguments import shown
from ..claims import Case, Claim
from ..engine.simulate import Job
from ..planning.case import case_of, onset_of, planned_curve
from ..planning.expectations import catchable, expected_evidence
from ..planning.forecast import machine
from ..planning.grid import Grid, horizons_of
from ..verdict.rules import MARGIN

LONGEST = 30 * 24 * 3600.0  # seconds
PILOT = 0.1  # of the budget
STARTUP = 1.5  # seconds of computing until another process works
JUDGING = 1.0  # the same for fits and verdicts
DEAR = 0.3  # of the time that is left: processes whose start takes more are not worth it
SPARE = 0.9  # of the time that is left is planned: cores are shared with others, and so is memory
ENOUGH, FEW, MOST = 32, 8, 256  # replicates that a plan aims at, that it takes where there is no choice, and the most
SHORTEST, DOUBLINGS, LAST = 2**5, 10, 2**30  # the first horizon at least, doublings of a window, the last at most
FEWEST_DOUBLINGS = 4
NEARLY = 0.02  # of an exponent: plans that tell as much, of which the longest is taken


def seconds_of(budget) -> float:
    """A duration: seconds, or a text such as "2 min", "30 s", "1h 30min"."""
    try:
        value = 0.0 if isinstance(budget, bool) else float(budget)
    except (TypeError, ValueError):
        try:
            value = pd.Timedelta(str(budget).lower()).total_seconds()
        except ValueError:
            value = 0.0
    if not 0 < value <= LONGEST:
        raise ValueError(f"budget = {shown(budget)} must be a time such as '2 min', '30 s', '1h' or 90 (seconds)")
    return value


def duration(seconds: float) -> str:
    if seconds < 99.5:
        return f"{seconds:.2g} s" if seconds < 9.95 else f"{seconds:.0f} s"
    return f"{seconds / 60:.0f} min" if seconds < 5970 else f"{seconds / 3600:.1f} h"


# The pilot


@dataclass(frozen=True)
class Pace:
    """Seconds that a run takes up to some horizons; `load` is how many of them a second of computing took."""

    horizons: tuple[int, ...]
    seconds: tuple[float, ...]
    load: float = 1.0

    def __call__(self, horizon) -> float:
        """Between what was measured a power of T, and beyond it the power of the last factor of four."""
        x, y = np.log(self.horizons), np.log(np.maximum(self.seconds, 1e-9))
        if horizon <= self.horizons[-1]:
            return float(np.exp(np.interp(math.log(horizon), x, y)))
        return math.exp(y[-1] + self.power * (math.log(horizon) - x[-1]))

    @property
    def power(self) -> float:
        """Of T, over the last factor of 16: a machine that is busy with something else disturbs single points."""
        x, y = np.log(self.horizons[-5:]), np.log(np.maximum(self.seconds[-5:], 1e-9))
        return 1.0 if len(x) < 2 else float(np.clip(np.polyfit(x, y, 1)[0], 1.0, 4.0))


def pilot(job: Job, seconds: float, workers: int, clock: Callable[[], float] = time.perf_counter) -> Pace:
    """Time longer and longer runs on as many cores as the runs will take; the first may wait for the compiler."""
    first = 4 if job.algorithm.anytime else 16  # few steps, for they may be slow; but whoever knows T may need some
    _timed(job, 0, horizons=[first], clock=clock, seconds=math.inf)
    horizons = [2**k for k in range(first.bit_length() - 1, _reachable(job).bit_length())]
    if job.plain or workers == 1:  # in this thread, where Ctrl-C reaches it
        slowest = _timed(job, 0, horizons=horizons, clock=clock, seconds=seconds)
    else:
        with ThreadPoolExecutor(workers) as pool:
            paces = pool.map(lambda r: _timed(job, r, horizons=horizons, clock=clock, seconds=seconds), range(workers))
            slowest = min(paces, key=lambda pace: pace.horizons[-1])
    # a process that has just awoken is favoured: how busy the machine is shows afterwards
    return replace(slowest, load=machine().load)


def _timed(job, replicate, *, horizons, clock, seconds) -> Pace:
    """How long a replicate takes to reach horizons, as far as a number of seconds lasts."""
    found, spent, run = [], 0.0, None
    for horizon in horizons:
        begun = clock()
        if run is None or not job.algorithm.anytime:
            run, _ = job.begin(horizons[-1] if job.algorithm.anytime else horizon, replicate)
        run.advance(horizon)
        took = clock() - begun
        before = found[-1] if found and job.algorithm.anytime else 0.0
        found.append(before + took)
        spent += took
        if spent + took * 2.0 ** Pace(tuple(horizons[: len(found)]), tuple(found)).power > seconds:
            break
    return Pace(tuple(horizons[: len(found)]), tuple(found))


def _reachable(job) -> int:
    """The last power of two at which the algorithm can run."""
    last = LAST
    while last > SHORTEST:
        try:
            job.check([last])
            return last
        except ValueError:
            last //= 2
    return last


# The plan


@dataclass(frozen=True)
class Plan:
    """Which runs, how long they will take, and what their verdict will be able to tell."""

    case: Case
    seconds: float  # forecast
    workers: int
    tolerates: float | None  # the slope that could pass for the promise
    catches: float | None  # the slope that would be caught; None: none would be

    @property
    def horizons(self) -> tuple[int, ...]:
        return self.case.horizons

    @property
    def replicates(self) -> int:
        return self.case.replicates

    @property
    def worth(self) -> float:
        """How far from the promise what it cannot tell reaches; smaller is better."""
        if self.catches is None:
            return math.inf
        return max(abs(self.catches - self.case.own.rate.slope), abs(self.tolerates - self.case.own.rate.slope))

    def __str__(self):
        runs = f"{self.replicates} runs{'' if self.case.anytime else ' at each'}"
        grid = f"T = {self.horizons[0]} ... {self.horizons[-1]} ({len(self.horizons)} horizons), {runs}"
        if self.tolerates is None:
            tells = "too short to tell anything"
        else:
            caught = "nothing would be caught" if self.catches is None else f"T^{self.catches:.2f} would be caught"
            tells = f"T^{self.tolerates:.2f} could pass for the promised T^{self.case.own.rate.slope:.2f}, {caught}"
        return f"{grid}, about {duration(self.seconds)}; {tells}"


class Planner:
    """Makes plans for one job and one claim."""

    def __init__(self, job: Job, claim: Claim, margin: float = MARGIN):
        self.job, self.claim, self.margin = job, claim, margin

    def plan(self, horizons, replicates: int, *, seconds: float = 0.0, workers: int = 1, curve=None) -> Plan:
        if curve is not None and not (curve.horizons[0] <= horizons[0] and curve.horizons[-1] >= horizons[-1]):
            curve = None
        onset = onset_of(self.job, self.claim, curve=curve, last=horizons[-1], margin=self.margin)
        claims = (replace(self.claim, per_cost=True),)
        case = case_of(self.job, claims, horizons=horizons, replicates=replicates, onset=onset, curve=curve)
        return Plan(case, seconds, workers, *self._force(case))

    def _force(self, case):
        found = expected_evidence(case, self.margin)
        if found is None:
            return None, None
        slope, sign = case.own.rate.slope, 1 if case.own.kind == "upper" else -1
        caught = catchable(case, self.margin)
        return slope + sign * found.tolerates, None if caught is None else slope + sign * caught

    def grid(self, last: int) -> tuple[int, ...]:
        first = max(SHORTEST, last >> DOUBLINGS)
        period = self.job.series.period
        if period is None:
            step = 0.5 if self.job.algorithm.anytime else 1.0
            count = round(math.log2(last / first) / step)
            return tuple(sorted({round(last * 2.0 ** (-step * j)) for j in range(count + 1)}))
        scale = self.job.algorithm.scale(self.job.cost)
        return horizons_of(Grid(first, last, periods=None), scale, 1.0, period)

    def curve(self, last: int):
        """The predicted regret over all horizons up to the last, None if there is none, or if it takes long."""
        return None if self.job.plain else planned_curve(self.job, (SHORTEST, last))

    def each(self, pace: Pace, horizons) -> float:
        return pace(horizons[-1]) if self.job.algorithm.anytime else sum(map(pace, horizons))

    def gain(self, pace: Pace, hands: int) -> float:
        """How much faster so many workers are than what the pilot saw.

        Threads were all there in the pilot, and processes only one.  On a machine that is idle each of them adds as
        much; on a busy one systems give a group of processes not much more than one of them.
        """
        return 1 + (hands - 1) / pace.load if self.job.plain else hands

    def within(self, pace: Pace, seconds: float, *, workers: int, horizons=None, replicates=None, budget=None) -> Plan:
        """The plan that tells most in so many seconds of a budget; horizons or replicates may be fixed."""
        hands = 1 if self.job.plain and pace.load * STARTUP > DEAR * seconds else workers
        overhead = pace.load * (JUDGING + (STARTUP if self.job.plain and hands > 1 else 0.0))
        room = max(SPARE * (seconds - overhead), 0.1 * seconds) * self.gain(pace, hands)

        def count(grid):
            return replicates or min(MOST, int(room / self.each(pace, grid)))

        def made(grid, number, curve):
            forecast = number * self.each(pace, grid) / self.gain(pace, min(hands, number)) + overhead
            return self.plan(grid, number, seconds=forecast, workers=hands, curve=curve)

        if horizons is not None:
            if count(horizons) < FEW:
                raise ValueError(self._refusal(pace, budget or seconds, horizons=horizons, workers=workers))
            return made(horizons, count(horizons), self.curve(horizons[-1]))
        ends = [2**k for k in range(SHORTEST.bit_length() - 1 + FEWEST_DOUBLINGS, _reachable(self.job).bit_length())]
        numbers = {last: count(self.grid(last)) for last in ends}
        fits = {last: numbers[last] * self.each(pace, self.grid(last)) <= room * 1.001 for last in ends}
        fewest = replicates or (ENOUGH if numbers[ends[0]] >= ENOUGH else FEW)
        possible = [last for last in ends if numbers[last] >= fewest and fits[last]]
        if not possible:
            size = {"horizons": self.grid(ends[0]), "replicates": replicates}
            raise ValueError(self._refusal(pace, budget or seconds, workers=workers, **size))
        curve = self.curve(possible[-1])
        plans = [made(self.grid(last), numbers[last], curve) for last in possible[-6:]]
        best = min(plan.worth for plan in plans)
        return next(plan for plan in reversed(plans) if plan.worth <= best + NEARLY or math.isinf(best))

    def _refusal(self, pace, seconds, *, horizons, workers, replicates=None) -> str:
        number = replicates or ENOUGH
        needed = number * self.each(pace, horizons) / SPARE / self.gain(pace, workers) + pace.load * (JUDGING + STARTUP)
        needed = max(1.2 * needed, 2 * seconds)  # what was too short does not become enough
        return (
            f"a budget of {duration(seconds)} is too short: a run up to T = {horizons[-1]} takes "
            f"{duration(pace(horizons[-1]))}; budget = {duration(needed)!r} allows {number} runs up to there"
        )
