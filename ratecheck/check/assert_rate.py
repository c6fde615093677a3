"""For tests: a rate asserted within a tolerance, with a declared chance of a false alarm.

Runs are made rung by rung, each with twice the steps of the one before, until they tell.  With limits of the growth of
R/g, g the promised shape, a rung

passes  where its upper limits over the whole window, over its last half and at T_max stay below the tolerance
        (CONSISTENT, see `verdicts`), the negative control holds, that is, the same runs, tilted to linear growth, fail,
        and no single run carries the mean.  A regret that grows by T^tolerance more passes with a chance of 1 - power
        at most;
fails   where its lower limit over the last half exceeds the tolerance.  Where besides no start that bends into the
        promise explains the runs (REFUTED), and that was so three rungs before, with a quarter of the horizon or half
        of it, this ends the test; else a failure waits until no time is left for a longer rung, which might show the
        bend;
else    the next one is tried.  Where none is left, the test raises CannotTell, which is no failure of the algorithm but
        of the test: its message says what would do.

Rung k takes 1 / (k (k + 1)) of the error, so that all rungs together, however many there are, keep it.  Which runs a
rung has depends on names alone; the clock decides when to give up, and nothing else.
"""

from __future__ import annotations

import math
import re
import tempfile
import time
import warnings
from collections.abc import Iterator
from dataclasses import dataclass, replace
from functools import cached_property
from numbers import Real
from pathlib import Path
from typing import TYPE_CHECKING, NamedTuple

import numpy as np

from function_zoo.own import lowered

from ..algorithms.run import LowerValue
from ..arguments import MOST_REPLICATES, MOST_WORKERS, available_cores, check_horizons, shown, whole
from ..display import Speaking, lines
from ..engine.simulate import STANDARD, Job, Limit, check_cost, finished, gathered
from ..fit.fit import Fit, fit_rate
from ..fit.log_means import FitError
from ..rates import Rate
from ..sampling.noise import Noise
from ..verdict.analyse import irrefutable, premature
from ..verdict.evidence import WHOLE
from ..verdict.rules import Outcome, Verdict, decide, looks_cost
from .budget import FEWEST_DOUBLINGS, LAST, SHORTEST, Planner, duration, seconds_of
from .pin import Change, Pin, check_writable, load_pin, write_pin
from .run import ANEW, OVERRUN, settled

if TYPE_CHECKING:
    from function_zoo import Cost

    from ..claims import Claim
    from ..engine.simulate import Runs
    from ..verdict.agreement import Agreement

NOMINAL = 1.0  # seconds of the first rung on a machine as fast as algorithms say
INTERPRETED = 2e-5  # seconds per step that are said of what needs the interpreter
FEWEST = 32  # runs of the first rung
PATIENCE = 3  # rungs between two refutations that need no further one
MOST_RUNGS = 30
DEARER = 1.5  # times as long as before may a step of the next rung take
RULE_OF_THREE = 3.0  # N runs without an event leave 3/N of it possible, at 95 %
STEP = 0.02  # of a growth that is looked for
FURTHEST = 2.0


class RateRefuted(AssertionError):
    """The regret grows faster (or slower) than promised; `found` is an Assertion."""

    def __init__(self, message, found=None):
        super().__init__(message)
        self.found = found


class CurveChanged(RateRefuted):
    """The regret is significantly another one than the pinned one."""


class CannotTell(RuntimeError):
    """The test has not the size to tell; `found` is an Assertion, None where there is nothing to show."""

    def __init__(self, message, found=None):
        super().__init__(message)
        self.found = found


class Rung(NamedTuple):
    """Horizons and replicates, and the number of the look."""

    number: int | None
    horizons: tuple[int, ...]
    replicates: int


class Rules(NamedTuple):
    """What was declared."""

    tolerance: float
    false_alarms: float
    power: float

    def alarms(self, look) -> float:
        """The error of a refutation at one rung."""
        return self.false_alarms / looks_cost(look)

    def missed(self, look) -> float:
        """The error of a pass at one rung."""
        return (1 - self.power) / looks_cost(look)


@dataclass(frozen=True, repr=False)
class Assertion(Speaking):
    """What an assertion rests on: `print` it, or look at its parts.

    `passes` and `fails` are what it would have noticed, as slopes: the fastest growth without a logarithm that could
    have passed, and the slowest, beside the promised logarithm, to which these very runs, tilted, fail (None: none).
    """

    claim: Claim
    algorithm: object
    cost: Cost
    runs: Runs
    fit: Fit | None
    verdict: Verdict
    rung: Rung
    rules: Rules
    seconds: float = 0.0
    agreement: Agreement | None = None
    change: Change | None = None

    @property
    def rate(self) -> Rate:
        return self.claim.rate

    @property
    def sign(self) -> int:
        return 1 if self.claim.kind == "upper" else -1

    @property
    def worst(self) -> float:
        """The slope of the worst regret that there is."""
        return 1.0 if self.sign > 0 else 0.0

    @property
    def passes(self) -> float | None:
        return self.verdict.limits[0]

    @cached_property
    def fails(self) -> float | None:
        found = self.verdict.evidence
        if found is None:
            return None
        grown = np.arange(self.rules.tolerance, FURTHEST, STEP)
        tilted = found.value + (grown[:, None] - found.value[WHOLE]) * found.pure
        caught = np.flatnonzero(self._alarming(tilted))
        return self.rate.slope + self.sign * float(grown[caught[0]]) if len(caught) else None

    @property
    def failed(self) -> bool:
        """Whether the growth over the last half of the window exceeds the tolerance."""
        return self.verdict.evidence is not None and bool(self._alarming(self.verdict.evidence.value))

    def _alarming(self, value):
        return self.verdict.evidence.lately(value) < self.rules.alarms(self.rung.number)

    @property
    def passed(self) -> bool:
        """Whether the rate holds within the tolerance; not where a single run carries the mean."""
        return self.verdict.name == Outcome.CONSISTENT and self.forceful and not self.fit.caution

    @property
    def forceful(self) -> bool:
        """Whether linear growth (of a lower bound: a bounded regret) would not pass, and these runs so tilted fail."""
        if self.fails is None:
            return False
        return min(self.sign * (self.worst - self.passes), self.sign * (self.worst - self.fails)) > 0

    def plot(self):
        """The means, the fitted line and the shape of the promised rate: a Matplotlib figure."""
        return self.runs.plot() if self.fit is None else self.fit.plot(self.rate)

    # What it says

    def _title(self):
        return "Assertion"

    @property
    def asserted(self) -> str:
        promised = f"{'at most' if self.sign > 0 else 'at least'} like {shape(self.rate)}"
        return f"the regret of {self.algorithm.label} on {self.cost} grows {promised}"

    def _facts(self):
        facts = {
            "asserted": f"{self.asserted}, within T^{self.rules.tolerance:g}",
            "found": self.verdict.reason,
            "force": self.force,
            "unseen": f"up to {100 * RULE_OF_THREE / self.rung.replicates:.2g} % of all runs that behave otherwise",
            "runs": self.size,
        }
        if self.agreement is not None:
            facts["theory"] = self.agreement
        if self.change is not None:
            facts["pinned"] = self.change
        return facts | {"again": self.again}

    @property
    def force(self) -> str:
        if self.passes is None:
            return "none, since nothing was judged"
        beyond = "no growth beyond" if self.sign > 0 else "no growth below"
        said = f"{beyond} T^{self.passes:.3f} would have passed (power {100 * self.rules.power:g} %)"
        if self.fails is None:
            return f"{said}; however tilted, these runs would not have failed"
        return f"{said}; the same runs, tilted to {self._tilted(self.fails)}, fail"

    def _tilted(self, slope) -> str:
        return shape(Rate.of_regret(round(slope, 3), self.rate.log_power))

    @property
    def size(self) -> str:
        T, once = self.rung.horizons, "" if self.algorithm.anytime else " at each"
        return f"{self.rung.replicates}{once}, T = {T[0]} ... {T[-1]} ({len(T)} horizons), {duration(self.seconds)}"

    @property
    def again(self) -> str:
        """The arguments that repeat the last rung alone."""
        seed = self.runs.shared["seed"]
        return f"horizons={list(self.rung.horizons)}, replicates={self.rung.replicates}, seed={seed}"

    def __str__(self):
        return lines(self._facts())

    def __repr__(self):
        return f"<Assertion {self.verdict.name}: {self.verdict.reason}>"


def shape(rate: Rate) -> str:
    return str(rate).removeprefix("R = ")


def assert_rate(
    algorithm,
    cost,
    rate=None,
    kind: str | None = None,
    *,
    tolerance: float = 0.1,
    false_alarms: float = 1e-3,
    power: float = 0.95,
    budget: float | str = "20 s",
    horizons=None,
    replicates: int | None = None,
    seed: int = 0,
    noise: Noise | float = STANDARD,
    agreement: bool = False,
    pinned: str | Path | None = None,
    pin: bool = False,
    figures: str | Path | None = None,
    workers: int | None = None,
    anytime: bool | None = None,
    maximise: bool | None = None,
    box=None,
    dim: int | None = None,
    minimum: float | None = None,
    maximum: float | None = None,
) -> Assertion:
    """Assert that the regret grows no faster than promised, within T^tolerance: an `Assertion`.

    algorithm, cost, rate, kind, noise, anytime, maximise, box, dim, minimum and maximum are those of `check`.

    tolerance     the excess exponent that must not pass: it would with a chance of 1 - power at most.
    false_alarms  the chance that it fails where the growth over the last half of the window keeps to the tolerance; of
                  `agreement` and of `pinned` the same, where runs follow the curve.
    budget        how long it may take on this machine, then it gives up with CannotTell.  It never changes a number,
                  and runs that were enough on one machine are enough on a slower one that is given more time.
    horizons, replicates  fix the size instead, one of them or both; with both the budget does not count.
    agreement     assert also that runs follow the predicted curve, two-sided; for algorithms that have one.
    pinned        a small file with the curve of an earlier version: fails on a significant change, better or worse.
                  It is written where it is missing (not where the environment sets CI), or anew with pin=True.  From
                  then on its horizons are those of this test, and its replicates unless they are given.
    figures       the folder for the figure of a failure; None: a temporary one.

    Raises RateRefuted or CurveChanged (both are AssertionErrors) where the algorithm fails, CannotTell where the test
    does.
    """
    __tracebackhide__ = True
    seconds = seconds_of(budget)
    rules = _rules(tolerance, false_alarms, power)
    horizons = None if horizons is None else tuple(check_horizons(horizons))
    if horizons is not None and (len(horizons) < 3 or horizons[0] < 3):
        raise ValueError(f"horizons = {shown(list(horizons))}: a slope needs three of them, the first 3 or larger")
    replicates = None if replicates is None else whole("replicates", replicates, 3, MOST_REPLICATES)
    job, claim, _ = settled(algorithm, cost, rate, kind, anytime, maximise, box, dim, minimum, maximum, noise, seed)
    if why := irrefutable(claim):
        raise ValueError(f"there is nothing to assert: {why}")
    if agreement and not hasattr(job.algorithm, "level_rule"):
        raise ValueError(f"agreement=True, but no curve is predicted for {job.algorithm.label}; leave it out")
    workers = (1 if job.plain else available_cores()) if workers is None else whole("workers", workers, 1, MOST_WORKERS)
    before = None if pinned is None or pin else load_pin(pinned)
    if before is not None:
        if horizons not in (None, before.horizons):
            raise ValueError(f"horizons are given, but the curve in {pinned} has others; leave them out")
        horizons, replicates = before.horizons, replicates or before.replicates
    elif pinned is not None:
        check_writable(pinned, pin)
    try:
        try:
            found = asserted(job, claim, rules, seconds, horizons, replicates, workers, agreement)
        except CannotTell as error:
            if before is not None and error.found is not None:
                error.found = _unchanged(error.found, before, pinned)
            raise
        if before is not None:
            found = _unchanged(found, before, pinned)
    except (RateRefuted, CannotTell) as error:
        raise _illustrated(error, figures) from None
    if pinned is not None and before is None:
        write_pin(pinned, Pin.of(found.runs))
    return found


def _rules(tolerance, false_alarms, power) -> Rules:
    for name, value, low, high in (
        ("tolerance", tolerance, 0, 1),
        ("false_alarms", false_alarms, 0, 0.5),
        ("power", power, 0.5, 1),
    ):
        if isinstance(value, bool) or not isinstance(value, Real) or not low < value < high:
            raise ValueError(f"{name} = {shown(value)} must lie between {low:g} and {high:g}")
    return Rules(float(tolerance), float(false_alarms), float(power))


class _Clock(NamedTuple):
    begun: float
    seconds: float

    @property
    def spent(self) -> float:
        return time.monotonic() - self.begun


# Rungs


def _ladder(job: Job, planner: Planner, horizons, replicates) -> Iterator[Rung]:
    """Rungs with twice the steps of the one before: horizons twice as long and twice as many runs take turns."""
    if horizons is not None and replicates is not None:
        yield Rung(None, horizons, replicates)
        return
    last, runs = _first(job, planner, replicates or FEWEST), replicates or FEWEST
    for number in range(1, MOST_RUNGS + 1):
        yield Rung(number, horizons or planner.grid(last), runs)
        longer = horizons is None and (number % 2 == 1 or replicates is not None)
        last, runs = (2 * last, runs) if longer else (last, 2 * runs)


def _first(job: Job, planner: Planner, runs) -> int:
    """The last horizon of the first rung, by the speed that the algorithm says of itself."""
    last = SHORTEST << FEWEST_DOUBLINGS
    while last < LAST and runs * _steps(job, planner.grid(2 * last)) * _pace(job, last) <= NOMINAL:
        last *= 2
    return last


def _pace(job: Job, horizon) -> float:
    return INTERPRETED if job.plain else job.algorithm.seconds_per_step(job.cost, horizon)


def _steps(job: Job, horizons) -> int:
    return horizons[-1] if job.algorithm.anytime else sum(horizons)


def asserted(job, claim, rules, seconds, horizons=None, replicates=None, workers=1, agreement=False) -> Assertion:
    """The rung that passes; a minimum that was searched for and not found is taken lower, and all begins anew."""
    check_cost(job.cost, job.algorithm.compiled)
    clock = _Clock(time.monotonic(), seconds)
    for attempt in range(ANEW + 1):
        try:
            return _climb(job, claim, rules, horizons, replicates, clock, workers, agreement)
        except LowerValue as lower:
            if job.cost.searched is None or attempt == ANEW:
                raise
            job = replace(job, cost=lowered(job.cost, lower.x, lower.y))


def _climb(job, claim, rules, horizons, replicates, clock, workers, agreement) -> Assertion:
    planner = Planner(job, claim, rules.tolerance)
    made, refuted, found, curve, ended, pace = {}, [], None, None, "", 0.0
    for rung in _ladder(job, planner, horizons, replicates):
        try:
            for horizon in rung.horizons:
                job.algorithm.check(job.cost, horizon, job.alignment == "random")
        except ValueError as error:
            ended = str(error)
            break
        units = [unit for unit in job.units(rung.horizons, range(rung.replicates)) if unit not in made]
        steps, begun = sum(unit[1][-1] for unit in units), clock.spent
        needed = DEARER * steps * pace
        if found is not None and begun + needed > clock.seconds:
            told = f"{rung.replicates} runs up to T = {rung.horizons[-1]} may take {duration(needed)} here"
            ended = f"{told}, {duration(begun)} of {duration(clock.seconds)} are gone: raise budget or tolerance"
            break
        limit = Limit() if rung.number is None else Limit(at_most=OVERRUN * clock.seconds - begun)
        made |= _made(job, units, workers, limit)
        if len(made.keys() & set(units)) < len(units):
            raise CannotTell(_unfinished(job, rung, made, clock), found)
        pace = (clock.spent - begun) / max(steps, 1)
        if curve is None or curve.horizons[-1] < rung.horizons[-1]:
            curve = planner.curve(rung.horizons[-1])
        case = planner.plan(rung.horizons, rung.replicates, curve=curve).case
        found = _judged(job, claim, rules, case, rung, made)
        found = replace(found, seconds=clock.spent)
        if found.passed:
            return agreeing(found) if agreement else found
        refuted.append(found.failed and found.verdict.name == Outcome.REFUTED)
        if refuted[-1] and len(refuted) > PATIENCE and refuted[-1 - PATIENCE]:
            break
    if found is not None and found.failed:
        raise RateRefuted(_failure(found), found)
    if found is not None and agreement:
        found = agreeing(found)
    raise CannotTell(_undecided(job, found, ended), found)


def _made(job, units, workers, limit) -> dict:
    """The runs of some units, as far as the limit allows."""
    longest_first = sorted(units, key=lambda unit: -unit[1][-1])
    done = finished(job, longest_first, workers, limit)
    return {unit: result for unit, result in done if len(result[0]) == len(unit[1])}


def _judged(job, claim, rules, case, rung, made) -> Assertion:
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", RuntimeWarning)
        runs = gathered(job, [made[unit] for unit in job.units(rung.horizons, range(rung.replicates))])
    fit = None
    try:
        fit = fit_rate(runs, claim.rate.log_power, window=case.window)
        problem = premature(case, fit.at(0.0), rules.tolerance) or fit.problem
    except FitError as error:
        problem = str(error)
    if problem:
        judged = Verdict(Outcome.INCONCLUSIVE, problem, margin=rules.tolerance)
    else:
        judged = _decided(fit, claim, rules, rung.number)
    return Assertion(claim, job.algorithm, job.cost, runs, fit, judged, rung, rules)


def _decided(fit, claim, rules, look) -> Verdict:
    """CONSISTENT with the error of a pass, REFUTED with that of a false alarm."""
    rule = {"margin": rules.tolerance, "resolution": math.inf, "look": look}
    passing = decide(fit, claim.rate, claim.kind, level=rules.power, **rule)
    if passing.name != Outcome.REFUTED:
        return passing
    strict = decide(fit, claim.rate, claim.kind, level=1 - rules.false_alarms, **rule)
    if strict.name == Outcome.REFUTED:
        return strict
    return replace(passing, name=Outcome.INCONCLUSIVE, clauses=strict.clauses)


# More to assert


def agreeing(found: Assertion) -> Assertion:
    """The same with its agreement with the predicted curve, which must not be REFUTED."""
    from ..verdict.agreement import agreement

    compared = replace(agreement(found.runs), level_of_confidence=1 - found.rules.false_alarms)
    found = replace(found, agreement=compared)
    if compared.name == Outcome.REFUTED:
        first = f"the regret of {found.algorithm.label} on {found.cost} does not follow the predicted curve"
        raise CurveChanged(_message(first, found), found)
    return found


def _unchanged(found: Assertion, before: Pin, pinned) -> Assertion:
    """The same with its change from a pinned curve, which must not be significant."""
    found = replace(found, change=before.change(Pin.of(found.runs), pinned, found.rules.false_alarms))
    if found.change.significant:
        first = f"the regret of {found.algorithm.label} on {found.cost} is another one than in {pinned}"
        raise CurveChanged(f"{_message(first, found)}\nIf that is meant, write it anew: pytest --ratecheck-pin", found)
    return found


# What is said


def _message(first: str, found: Assertion) -> str:
    return f"{first}\n{found}"


def _failure(found: Assertion) -> str:
    grows = "faster" if found.sign > 0 else "more slowly"
    promised = f"than {shape(found.rate)}, by more than the tolerance of {found.rules.tolerance:g}"
    first = f"the regret of {found.algorithm.label} on {found.cost} grows {grows} {promised}"
    if found.verdict.name == Outcome.REFUTED:
        return _message(f"REFUTED: {first}", found)
    return _message(f"{first}, over the last half of the window", found)


def _undecided(job, found: Assertion | None, ended) -> str:
    if found is None:
        return f"cannot tell: {ended}"
    first = f"cannot tell whether {found.asserted}"
    if found.verdict.name == Outcome.CONSISTENT and not found.forceful:
        worst = "linear growth" if found.sign > 0 else "a bounded regret"
        could = "could pass for it" if found.sign * (found.worst - found.passes) <= 0 else "would not have failed"
        first += f": {worst} {could} in this window, and a test that nothing fails has no force"
    elif found.verdict.name == Outcome.CONSISTENT:
        first += f": {found.fit.caution}"
    elif found.rung.number is None:
        first += ": these runs are too few or too short"
    return _message(f"{first}; {ended}" if ended else first, found)


def _unfinished(job, rung, made, clock) -> str:
    done = sum(all(unit in made for unit in job.units(rung.horizons, [r])) for r in range(rung.replicates))
    return (
        f"cannot tell: {done} of {rung.replicates} runs of {job.algorithm.label} on {job.cost} up to "
        f"T = {rung.horizons[-1]} were complete after {duration(clock.spent)}; raise budget = "
        f"{duration(clock.seconds)!r}, or give shorter horizons and fewer replicates"
    )


def _illustrated(error, figures):
    """The same error with the path of a figure, drawn in a folder or, without one, in a temporary one."""
    if error.found is None:
        return error
    folder = Path(tempfile.mkdtemp(prefix="ratecheck-") if figures is None else figures)
    folder.mkdir(parents=True, exist_ok=True)
    name = re.sub(r"[^\w.=-]+", "-", f"{error.found.algorithm.label}-{error.found.cost}").strip("-")
    path = folder / f"{name[:80]}.png"
    error.found.plot().savefig(path, facecolor="white")
    return type(error)(f"{error}\nfigure    {path}", error.found)
