"""From a study to the cases it consists of: one per cost and algorithm, with all that theory says beforehand.

A case is plain data.  What comes after the runs (fits, verdicts, reports) sees cases and a table of runs, and no
algorithm.
"""

import math
from collections import Counter
from contextlib import contextmanager
from dataclasses import replace
from itertools import product, takewhile
from typing import NamedTuple

from function_zoo import Cost

from ..algorithms.protocol import Algorithm
from ..claims import Case, Claim, Control, Curve, Planned, own_of
from ..engine.simulate import Job
from ..planning.case import case_of, onset_of, planned_curve
from ..planning.expectations import UNCATCHABLE, catchable
from ..planning.grid import ends_of, horizons_of
from .declare import Study
from .hard import hard_of
from .run import HEAVY, LIGHT

FEW_STEPS = 2**22  # of a study that takes a moment
MOST_ROWS = 10**7  # of a study: a report of so many takes a minute


def computed_curve(job: Job, span: tuple[int, int], steps: int) -> Curve | None:
    """The predicted curve over a span of horizons or further; `predictions` computes a longer one beside the runs."""
    return planned_curve(job, span)


def no_curve(job, span, steps) -> None:
    """In place of `computed_curve`, where a plan is not to wait for it."""


def cases(study: Study, curves=computed_curve, drafts: list[Planned] | None = None) -> list[Planned]:
    """Every case with its cost and its settled algorithm.

    `curves(job, span, steps)` gives the predicted curve of a case over a span of horizons or further, or None;
    `drafts` are those of `drafted`, where they are there already.
    """
    found = [_with_curve(study, draft, curves) for draft in (drafts or drafted(study))]
    return controlled(study, _checked(study, found))


def drafted(study: Study) -> list[Planned]:
    """The cases as far as no predicted curve is needed; what is wrong with a study is said here, before it computes."""
    found = []
    for cost, algorithm in product(study.costs, study.algorithms):
        with _in_numbers(algorithm.label, cost):
            settled = algorithm.settle(cost)
            claims = claims_of(study, cost, algorithm, settled)
            found.append(_planned(study, _job(study, settled, cost), claims=claims, label=algorithm.label))
    return _checked(study, found)


@contextmanager
def _in_numbers(label: str, cost: Cost):
    try:
        yield
    except ArithmeticError:
        raise ValueError(f"{label} on {cost}: its settings lead beyond numbers that a computer reckons with") from None


def _job(study: Study, settled: Algorithm, cost: Cost) -> Job:
    return Job(settled, cost, study.seed, study.noise, study.alignment)


def _with_curve(study: Study, draft: Planned, curves) -> Planned:
    job, (first, last) = _job(study, draft.algorithm, draft.cost), ends_of(study.horizons)
    with _in_numbers(draft.case.algorithm, draft.cost):
        curve = curves(job, (first, last), study.replicates * last)
        if curve is None:
            return draft
        return _planned(study, job, claims=draft.case.claims, label=draft.case.algorithm, curve=curve)


def _planned(study: Study, job: Job, *, claims, label: str, curve: Curve | None = None) -> Planned:
    last = ends_of(study.horizons)[1]
    onset = onset_of(job, own_of(claims), curve=curve, last=last, margin=study.margin)
    # the factor in T that the grids of all algorithms of a study divide evenly: the first that one of them names
    scales = (algorithm.settle(job.cost).scale(job.cost) for algorithm in study.algorithms)
    scale = next((scale for scale in scales if not math.isnan(scale)), 2.0**4)
    horizons = horizons_of(study.horizons, scale, onset, job.series.period)
    job.check(horizons)
    size = {"horizons": horizons, "replicates": study.replicates}
    hard = hard_of(study, job, claims=claims, label=label, horizons=horizons)
    case = case_of(job, claims, **size, onset=onset, curve=curve, label=label, hard=hard)
    return Planned(case, job.cost, job.algorithm)


def _checked(study: Study, plans: list[Planned]) -> list[Planned]:
    if sum(len(plan.case.horizons) for plan in plans) * study.replicates > MOST_ROWS:
        raise ValueError(
            f"study {study.name!r} asks for more than {MOST_ROWS:,} regrets ({study.replicates:,} replicates at every "
            f"horizon of every case); take fewer replicates or horizons, or several studies"
        )
    return plans


def controlled(study: Study, plans: list[Planned]) -> list[Planned]:
    """The cases, each with its negative control: the least power of T that is caught, all claims sharing the error."""
    claims = sum(claim.parts for plan in plans for claim in plan.case.claims)
    powers = [catchable(plan.case, study.margin, claims) or UNCATCHABLE for plan in plans]
    controlled = [replace(p.case, controls=(Control(by),)) for p, by in zip(plans, powers, strict=True)]
    return [plan._replace(case=case) for plan, case in zip(plans, controlled, strict=True)]


def claims_of(study: Study, cost: Cost, algorithm: Algorithm, settled: Algorithm) -> tuple[Claim, ...]:
    """What the algorithm claims itself, and what the study adds."""
    if settled.fingerprint == "":
        raise ValueError(
            f"{settled} has no source file, so its runs cannot be told from those of edited code; put it in a module"
        )
    claims = settled.claims(cost)
    known, settings = {claim.theorem for claim in claims}, settled.settings(cost)
    added = {theorem.name: theorem for theorem in study.theorems_for(algorithm) if theorem.name not in known}
    claims += tuple(theorem.claim(cost.constants, cost.dim, **settings) for theorem in added.values())
    if not any(claim.per_cost for claim in claims):
        raise ValueError(
            f"{settled} promises nothing that a study could judge; give it promise=Rate.parse('T^0.5 ln T'), which is "
            "the rate of R, or the study theorems=[...]"
        )
    return claims


# What is left to do, counted and not listed, so that the plan of millions of runs takes a moment


class Workload(NamedTuple):
    units: int  # about
    steps: int
    seconds: float


def workload(planned: list[Planned], store, slots: int) -> Workload:
    """What `runner.units_of` would hand out."""
    speeds = store.speeds()
    parts = []
    for case, cost, algorithm in planned:
        measured = speeds.get(case.series.digest)
        for horizon, runs in lacking(case, store.known(case.series.digest)):
            pace = algorithm.seconds_per_step(cost, horizon) if measured is None else measured
            parts.append((case.series.digest, runs, horizon, horizon * pace))
    seconds = sum(runs * each for _, runs, _, each in parts)
    target = min(max(seconds / (16 * slots), LIGHT), HEAVY)
    units = Counter()  # no unit holds runs of two series
    for series, runs, _, each in parts:
        units[series] += runs * min(1.0, each / target)
    return Workload(sum(map(math.ceil, units.values())), sum(p[1] * p[2] for p in parts), seconds)


def lacking(case: Case, known) -> list[tuple[int, int]]:
    """(horizon, number of runs to it that are missing); an anytime run is missing if one of its horizons is."""
    stored, complete = Counter(), 0
    for _, horizons in takewhile(lambda found: found[0] < case.replicates, known):
        stored.update(horizons)
        complete += horizons.issuperset(case.horizons)
    if case.anytime:
        return [(case.horizons[-1], case.replicates - complete)]
    return [(horizon, case.replicates - stored[horizon]) for horizon in case.horizons]
