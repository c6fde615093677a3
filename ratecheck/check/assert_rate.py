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

import math
import re
import tempfile
from collections.abc import Iterator
from dataclasses import replace
from functools import partial
from numbers import Real
from pathlib import Path

from ..arguments import check_workers, shown
from ..claims import Claim, Outcome
from ..engine.simulate import STANDARD, Job, Limit, check_cost, finished, gathered
from ..sampling.noise import Noise
from ..verdict.judging import irrefutable, judge_case
from ..verdict.rules import Verdict, decide
from . import assertion
from .assertion import Assertion, CannotTell, CurveChanged, RateRefuted, Rules, Rung
from .budget import FEWEST_DOUBLINGS, LAST, SHORTEST, Planner, duration, seconds_of
from .meaning import settled, size_of, with_lowest
from .pin import Pin, check_writable, load_pin, write_pin
from .run import OVERRUN

NOMINAL = 1.0  # seconds of the first rung on a machine as fast as algorithms say
INTERPRETED = 2e-5  # seconds per step that are said of what needs the interpreter
FEWEST = 32  # runs of the first rung
PATIENCE = 3  # rungs between two refutations that need no further one
MOST_RUNGS = 30
DEARER = 1.5  # times as long as before may a step of the next rung take


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
    seconds, rules = seconds_of(budget), _rules(tolerance, false_alarms, power)
    horizons, replicates = size_of(horizons, replicates)
    given = {"rate": rate, "kind": kind, "noise": noise, "seed": seed, "anytime": anytime, "maximise": maximise}
    job, claim, _ = settled(algorithm, cost, **given, box=box, dim=dim, minimum=minimum, maximum=maximum)
    if why := irrefutable(claim):
        raise ValueError(f"there is nothing to assert: {why}")
    if agreement and not hasattr(job.algorithm, "level_rule"):
        raise ValueError(f"agreement=True, but no curve is predicted for {job.algorithm.label}; leave it out")
    workers = 1 if job.plain and workers is None else check_workers(workers)
    asked = {"rules": rules, "seconds": seconds, "workers": workers, "agreement": agreement, "replicates": replicates}
    return _pinned(job, claim, pinned=pinned, anew=pin, figures=figures, horizons=horizons, **asked)


def _pinned(job, claim, *, pinned, anew, figures, horizons, replicates, **asked) -> Assertion:
    """The assertion, against an earlier curve or to become one; an error shows a figure."""
    __tracebackhide__ = True
    before = None if pinned is None or anew else load_pin(pinned)
    if before is not None:
        if horizons not in (None, before.horizons):
            raise ValueError(f"horizons are given, but the curve in {pinned} has others; leave them out")
        horizons, replicates = before.horizons, replicates or before.replicates
    elif pinned is not None:
        check_writable(pinned, anew)
    try:
        try:
            found = asserted(job, claim, horizons=horizons, replicates=replicates, **asked)
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
    limits = ("tolerance", tolerance, 0, 1), ("false_alarms", false_alarms, 0, 0.5), ("power", power, 0.5, 1)
    for name, value, low, high in limits:
        if isinstance(value, bool) or not isinstance(value, Real) or not low < value < high:
            raise ValueError(f"{name} = {shown(value)} must lie between {low:g} and {high:g}")
    return Rules(float(tolerance), float(false_alarms), float(power))


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

    def seconds_of_next(last):
        grid = planner.grid(2 * last)
        pace = INTERPRETED if job.plain else job.algorithm.seconds_per_step(job.cost, last)
        return runs * pace * (grid[-1] if job.algorithm.anytime else sum(grid))

    last = SHORTEST << FEWEST_DOUBLINGS
    while last < LAST and seconds_of_next(last) <= NOMINAL:
        last *= 2
    return last


def asserted(
    job: Job, claim: Claim, *, rules: Rules, seconds: float, horizons=None, replicates=None, workers=1, agreement=False
) -> Assertion:
    """The rung that passes; a minimum that was searched for and not found is taken lower, and all begins anew."""
    check_cost(job.cost, job.algorithm.compiled)
    clock = Limit(seconds)

    def climb(job):
        planner = Planner(job, claim, rules.tolerance)
        rungs = _ladder(job, planner, horizons, replicates)
        return _climb(planner, rungs, rules=rules, clock=clock, workers=workers, agreement=agreement)

    return with_lowest(job, climb)[1]


def _climb(planner: Planner, rungs, *, rules: Rules, clock: Limit, workers: int, agreement: bool) -> Assertion:
    job, claim = planner.job, planner.claim
    made, refuted, found, curve, ended, pace = {}, [], None, None, "", 0.0
    for rung in rungs:
        try:
            job.check(rung.horizons)
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
            raise CannotTell(assertion.unfinished(job, rung, made, clock), found)
        pace = (clock.spent - begun) / max(steps, 1)
        if curve is None or curve.horizons[-1] < rung.horizons[-1]:
            curve = planner.curve(rung.horizons[-1])
        case = planner.plan(rung.horizons, rung.replicates, curve=curve).case
        found = _judged(job, claim, rules=rules, case=case, rung=rung, made=made)
        found = replace(found, seconds=clock.spent)
        if found.passed:
            return agreeing(found) if agreement else found
        refuted.append(found.failed and found.verdict.name == Outcome.REFUTED)
        if refuted[-1] and len(refuted) > PATIENCE and refuted[-1 - PATIENCE]:
            break
    if found is not None and found.failed:
        raise RateRefuted(assertion.failure(found), found)
    if found is not None and agreement:
        found = agreeing(found)
    raise CannotTell(assertion.undecided(found, ended), found)


def _made(job, units, workers, limit) -> dict:
    longest_first = sorted(units, key=lambda unit: -unit[1][-1])
    done = finished(job, longest_first, workers=workers, limit=limit)
    return {unit: result for unit, result in done if len(result[0]) == len(unit[1])}


def _judged(job, claim, *, rules, case, rung, made) -> Assertion:
    runs = gathered(job, [made[unit] for unit in job.units(rung.horizons, range(rung.replicates))])
    rule = {"margin": rules.tolerance, "resolution": math.inf, "look": rung.number}
    judgement = judge_case(case, runs, by=partial(_decided, rules), rules=rule)
    fit = None if judgement.fit is None else judgement.fit.at(claim.rate.log_power)
    return Assertion(claim, job.algorithm, job.cost, runs, fit, judgement.verdicts[0][0], rung, rules)


def _decided(errors: Rules, fit, claim, **rules) -> tuple[Verdict]:
    """CONSISTENT with the error of a pass, REFUTED with that of a false alarm."""
    found = decide(fit, claim.rate, kind=claim.kind, level=errors.power, **rules)
    if found.name == Outcome.REFUTED:
        strict = decide(fit, claim.rate, kind=claim.kind, level=1 - errors.false_alarms, **rules)
        kept = strict.name == Outcome.REFUTED
        found = strict if kept else replace(found, name=Outcome.INCONCLUSIVE, clauses=strict.clauses)
    return (found,)


# More to assert


def agreeing(found: Assertion) -> Assertion:
    from ..verdict.agreement import agreement

    compared = replace(agreement(found.runs), level_of_confidence=1 - found.rules.false_alarms)
    found = replace(found, agreement=compared)
    if compared.name == Outcome.REFUTED:
        first = f"the regret of {found.algorithm.label} on {found.cost} does not follow the predicted curve"
        raise CurveChanged(f"{first}\n{found}", found)
    return found


def _unchanged(found: Assertion, before: Pin, pinned) -> Assertion:
    found = replace(found, change=before.change(Pin.of(found.runs), pinned, found.rules.false_alarms))
    if found.change.significant:
        first = f"the regret of {found.algorithm.label} on {found.cost} is another one than in {pinned}"
        raise CurveChanged(f"{first}\n{found}\nIf that is meant, write it anew: pytest --ratecheck-pin", found)
    return found


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
