"""One call for an algorithm, a cost and a rate: run, fit, judge."""

import math
import sys
import time
from collections.abc import Iterable
from dataclasses import replace
from types import SimpleNamespace
from typing import NamedTuple

from function_zoo.own import reached

from ..arguments import check_workers
from ..claims import Control
from ..engine.simulate import STANDARD, Limit, Overdue, check_cost, ending, finished, gathered
from ..executors.progress import Progress, speak
from ..sampling.noise import Noise
from ..verdict.agreement import Agreement
from ..verdict.judging import held_back, irrefutable, judge_case
from ..verdict.rules import MARGIN, RESOLUTION, Criteria, verdict
from .budget import PILOT, Planner, duration, pilot, seconds_of
from .meaning import settled, size_of, with_lowest
from .result import Check, Tilted

OVERRUN = 1.5  # times the budget: then nobody waits any more
LEAST = 0.5  # of the budget that runs get, whatever the pilot and the compiler took
COMPARED = 32  # runs that are compared with the predicted curve
MOST_CELLS = 1e5  # of a prediction that takes a moment
REPEATED = 16  # steps that are made twice
MUCH = 0.1  # of a regret that a wrong minimum may make


class Asked(NamedTuple):
    """How a check is to be made."""

    rules: dict
    horizons: tuple[int, ...] | None
    replicates: int | None
    seconds: float | None  # of the budget; None where horizons and replicates are given
    workers: int
    quiet: bool
    begun: float

    def say(self, text):
        if not self.quiet:
            speak(text)


def check(
    algorithm,
    cost,
    rate=None,
    kind: str | None = None,
    *,
    budget: float | str | None = None,
    horizons=None,
    replicates: int | None = None,
    seed: int = 0,
    noise: Noise | float = STANDARD,
    anytime: bool | None = None,
    maximise: bool | None = None,
    workers: int | None = None,
    margin: float = MARGIN,
    resolution: float = RESOLUTION,
    box=None,
    dim: int | None = None,
    minimum: float | None = None,
    maximum: float | None = None,
    quiet: bool = False,
) -> Check:
    """Does this algorithm, on this cost, converge at this rate?  Run, fit and judge: a `Check`.

    algorithm   a class (or another factory) of objects with ask() -> x and tell(x, y), made with those of dim, lower,
                upper, horizon, rng, seed, sigma that its parameters name; an AskTell, which says more about them; a
                Compiled; or an algorithm of ratecheck ("adaptive", UniformBins(), ...).
    cost        a Cost, a family of the zoo ("cone", with `dim`), or a function with `box`: (low, high), then with `dim`
                unless it is 1, or such a pair for each coordinate.  A minimum that is not given is searched for.
    rate        a text ("T^(2/3) (ln T)^(1/3)"), a Rate, a Theorem, or a function of (constants, dim) that returns a
                Rate; None: what the algorithm claims itself.  `kind` "upper" (the default) or "lower".
    budget      "1 min" (the default), "30 s", 90, ...: horizons and replicates follow from a measured pilot, so that
                they tell as much as they can in that time.  They may be given instead, one of them or both; with both
                the result depends on nothing else.
    noise       a law, such as Gaussian(0.5), or a standard deviation.
    anytime     that one run serves all horizons; by default it does unless the class asks for `horizon`.
    maximise    tell is given rewards; a function that is given as the cost is one, and `maximum` its largest value.
    quiet       say nothing meanwhile.
    """
    begun = time.monotonic()
    given = {"rate": rate, "kind": kind, "noise": noise, "seed": seed, "anytime": anytime, "maximise": maximise}
    meant = settled(algorithm, cost, **given, box=box, dim=dim, minimum=minimum, maximum=maximum)
    workers = check_workers(workers)
    horizons, replicates = size_of(horizons, replicates)
    seconds = None
    if horizons is None or replicates is None:
        seconds = seconds_of("1 min" if budget is None else budget)
    elif budget is not None:
        raise ValueError("budget, horizons and replicates are given; leave one of them out")
    rules = {"margin": margin, "resolution": resolution}
    Criteria(kind=meant[1].kind, **rules)
    return _checked(*meant, Asked(rules, horizons, replicates, seconds, workers, quiet, begun))


def _checked(job, claim, cautions, asked: Asked) -> Check:
    def lowered(job):
        end, best = ("maximum", -job.cost.minimum) if job.cost.maximise else ("minimum", job.cost.minimum)
        cautions.append(f"a run went beyond the {end} that was searched for: it is taken for {best:.8g} now")
        asked.say(cautions[-1] + "; starting anew")

    job, (plan, runs, remarks) = with_lowest(job, lambda job: _run(job, claim, asked), lowered)
    return _judged(job, claim, plan=plan, runs=runs, asked=asked, cautions=cautions + remarks)


# Running


def _run(job, claim, asked: Asked):
    begun, seconds = time.monotonic(), asked.seconds
    if seconds is not None:
        seconds = max(seconds - (begun - asked.begun), seconds / 2)
        compiling = "; what must be compiled, once, comes on top" if job.algorithm.compiled else ""
        asked.say(f"a pilot of {job.algorithm.label} on {job.cost}, to see what {duration(seconds)} allow{compiling}")
    try:
        with ending(job, seconds):
            remarks = _tried(job, asked.horizons or ())
            pace = pilot(job, 0.0, 1) if seconds is None else pilot(job, PILOT * seconds, asked.workers)
    except Overdue:
        raise ValueError(
            f"{job.algorithm.label} did not come to the end of its first short runs in {duration(seconds)}: it hangs, "
            "or it needs a larger budget"
        ) from None
    plan, limit = _plan(Planner(job, claim, asked.rules["margin"]), pace, asked=asked, seconds=seconds, begun=begun)
    prepared = time.monotonic() - begun
    if seconds is not None and job.algorithm.compiled and prepared > LEAST * seconds:
        remarks.append(f"{duration(prepared)} went by before the first run, most of them to compile, which is kept")
    asked.say(f"plan: {plan}")
    units = job.units(plan.horizons, range(plan.replicates))
    found = _collected(job, units, workers=plan.workers, limit=limit, pace=pace, quiet=asked.quiet)
    complete = [units for r in range(plan.replicates) if found.keys() >= set(units := job.units(plan.horizons, [r]))]
    if not complete:
        raise ValueError(
            f"no run up to T = {plan.horizons[-1]} was complete after {duration(time.monotonic() - begun)}; give a "
            "larger budget, or shorter horizons"
        )
    if len(complete) < plan.replicates:
        remarks = [f"{len(complete)} of {plan.replicates} planned runs were complete when the time was up", *remarks]
    return plan, gathered(job, [found[unit] for units in complete for unit in units]), remarks


def _plan(planner: Planner, pace, *, asked: Asked, seconds, begun):
    horizons, replicates = asked.horizons, asked.replicates
    if seconds is None:
        forecast = replicates * planner.each(pace, horizons) / asked.workers
        return planner.plan(horizons, replicates, seconds=forecast, workers=asked.workers), Limit()

    def left():
        """Seconds of the budget; half of it at least, for what is compiled once must not leave nothing for runs."""
        return max(seconds - (time.monotonic() - begun), LEAST * seconds)

    plan = planner.within(pace, left(), workers=asked.workers, horizons=horizons, replicates=replicates, budget=seconds)
    plan = replace(plan, seconds=plan.seconds + time.monotonic() - begun)
    return plan, Limit(left(), left() + (OVERRUN - 1) * seconds)


def _tried(job, horizons) -> list[str]:
    """Whether cost and algorithm work at all, and with the same bits when a short run is made again."""
    check_cost(job.cost, job.algorithm.compiled)
    job.check(horizons)
    horizon = min([REPEATED, *horizons])
    runs = [job.begin(horizon)[0] for _ in range(2)]
    for run in runs:
        run.advance(horizon)
    if runs[0].regret == runs[1].regret:
        return []
    return ["it is not deterministic: let it draw from the rng that it is given alone, or nobody can repeat this"]


def _collected(job, units, *, workers, limit, pace, quiet) -> dict:
    weights = {unit: SimpleNamespace(seconds=pace(unit[1][-1]), steps=unit[1][-1]) for unit in units}
    progress = Progress([] if quiet else list(weights.values()), None if quiet else sys.stderr)
    typical = max(weight.seconds for weight in weights.values())
    together = max(1, min(len(units) // (4 * workers), int(0.5 / max(typical, 1e-6))))
    found = {}
    try:
        for unit, result in finished(job, units, workers=workers, limit=limit, together=together):
            if len(result[0]) == len(unit[1]):
                found[unit] = result
                progress.add(weights[unit])
            progress.show()
    finally:
        progress.close()
    return found


# Judging


def _judged(job, claim, *, plan, runs, asked: Asked, cautions) -> Check:
    judgement = judge_case(plan.case, runs, by=_in_words, rules=asked.rules, controls=_caught)
    judged, fit, control = judgement.verdicts[0][0], judgement.fit, None
    if fit is not None:
        fit = fit.at(claim.rate.log_power)
        cautions = [*cautions, *_of_fit(fit, judged, judgement.problem)]
    for tilt, found in judgement.controls:
        control = Tilted(fit.tilted(tilt.tilt(claim)).slope, found)
    return Check(
        verdict=judged,
        claim=claim,
        algorithm=job.algorithm,
        cost=job.cost,
        runs=runs,
        fit=fit,
        plan=plan,
        control=control,
        agreement=_agreement(job, runs),
        seconds=time.monotonic() - asked.begun,
        budget=asked.seconds,
        cautions=(*cautions, *_of_minimum(job.cost, runs)),
    )


def _in_words(fit, claim, **rules):
    return (held_back(verdict(fit, claim.rate, claim.kind, **rules), irrefutable(claim)),)


def _caught(judged) -> list[Control]:
    """The smallest power of T with which the same runs, tilted by it, should be caught."""
    by = judged.evidence.catches(judged.error, of=judged.evidence.value)
    return [] if by is None else [Control(by)]


def _of_fit(fit, judged, problem) -> Iterable[str]:
    if fit.caution:
        yield fit.caution
    share, slope = fit.unseen()
    if not fit.caution and abs(slope) > MARGIN:
        yield f"up to {100 * share:.0f} % of all runs may lock in unseen, which would move the slope by {slope:+.2f}"
    if judged.kind == "upper" and judged.catches is not None and judged.promised.slope < 1 < judged.limits[1]:
        yield "a regret that is linear throughout would not surely have been REFUTED: longer runs would tell more"
    if not problem and fit.curvature_p() < 0.05:
        first, last = (end.value for end in fit.straight()[2:])
        yield f"the line is bent: its slope is {first:.2f} at the first horizon and {last:.2f} at the last"


def _of_minimum(cost, runs) -> list[str]:
    """What a minimum may do to the regret that was searched for, or that nobody has seen."""
    last = runs.frame[runs.frame["horizon"] == runs.frame["horizon"].max()]
    mean = float(last["regret"].mean())
    sign, end = (-1, "maximum") if cost.maximise else (1, "minimum")
    if cost.searched is None:
        lowest = None if len(cost.minimisers) else reached(cost)
        if lowest is None or (lowest - cost.minimum) * last["horizon"].iloc[0] < MUCH * mean:
            return []
        return [
            f"the {end} {sign * cost.minimum:.8g} was given, but a short search found nothing beyond "
            f"{sign * lowest:.8g}: if there is nothing, the difference adds a linear regret"
        ]
    part = float(last["horizon"].iloc[0]) * cost.searched / mean if mean > 0 else math.inf
    best = sign * cost.minimum
    effect = f" (its doubt is {100 * part:.2g} % of the regret at T_max)" if 1e-3 < part < math.inf else ""
    return [f"the {end} {best:.8g} was searched for, not given{effect}; a lower one would add a linear regret"]


def _agreement(job, runs) -> Agreement | None:
    """How the first runs compare with the predicted curve, where there is one and it takes a moment."""
    last = int(runs.frame["horizon"].max())
    if not hasattr(job.algorithm, "level_rule") or job.algorithm.cells(job.cost, last) > MOST_CELLS or job.plain:
        return None
    from ..verdict.agreement import agreement

    rows = [row for row in runs.rows if row["replicate"] < COMPARED]
    try:
        return agreement(replace(runs, rows=rows))
    except ValueError:  # no theory for this, or too few runs
        return None
