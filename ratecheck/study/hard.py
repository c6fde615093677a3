"""The hard families of a study's costs: certified bounds, members drawn for every case, and their runs in the store.

A bound is computed beside the runs; the members that it draws are then run like any other cost, by the same algorithm,
settled anew on each of them.  What a report needs is noted: the bound, and which runs belong to it.
"""

import math
from collections.abc import Iterator
from dataclasses import replace
from functools import partial
from importlib.util import find_spec
from typing import NamedTuple

from function_zoo import Cost

from ..claims import Claim, Hard, Planned
from ..engine.simulate import Job
from ..lower_bound.members import UNCERTIFIED, bounded, chosen, cost_of, numbered
from ..planning import forecast as estimate
from ..planning.forecast import Forecast
from ..planning.grid import ends_of
from ..sampling import seeding
from ..sampling.noise import GAUSSIAN
from ..store import Store
from .declare import Study
from .run import Aside, units_of

HORIZONS = 4  # with a family of their own
FARTHEST = 2**20  # where they end, or a factor of SPAN beyond the first horizon
SPAN = 2**6
SHARE = 4  # plain Python may spend one part in so many of its own steps on members
LEFT_OUT = "the study leaves out lower bounds and hard families (members = 0)"


# What is planned


def hard_of(study: Study, job: Job, *, claims: tuple[Claim, ...], label: str, horizons) -> Hard:
    """Where the runs of a case meet the hard family of its cost; `label` names the algorithm as declared."""
    cost, algorithm = job.cost, job.algorithm
    if not study.members:
        return Hard(reason=LEFT_OUT)
    if study.noise.law != GAUSSIAN or not study.noise.sigma > 0:
        return Hard(reason=f"lower bounds are known for Gaussian noise, not for {study.noise!r}")
    steps = ladder(study)
    known = [cost, cost.constants.alpha, cost.constants.beta, study.noise.sigma, study.seed]
    known += [] if cost.registered else [cost.fingerprint]
    with_runs, reason = steps, ""
    if all(claim.per_cost for claim in claims):
        with_runs, reason = (), "nothing is claimed here about the worst cost nearby"
    elif not algorithm.compiled:
        own = study.replicates * (horizons[-1] if algorithm.anytime else sum(horizons))
        with_runs = affordable(steps, study.members, own)
        if not with_runs:
            reason = (
                f"plain Python is slow, and runs on members were to take less than 1/{SHARE} of the steps of its own "
                f"runs: that is too little for {study.members} members at three horizons"
            )
    far = (horizons[-1],) if horizons[-1] > 1.5 * steps[-1] else ()
    return Hard(
        key=seeding.digest(["bound", *known]).hex()[:32],
        runs=seeding.digest(["members", job.series.digest, label]).hex()[:32],
        bounds=(*steps, *far),
        horizons=tuple(with_runs),
        members=study.members,
        reason=reason,
    )


def ladder(study: Study) -> tuple[int, ...]:
    """A few horizons of a study, the same for all algorithms, at least a factor of two apart."""
    first, last = ends_of(study.horizons)
    last = min(last, max(FARTHEST, SPAN * first))
    count = min(HORIZONS, 1 + int(math.log2(last / first) + 1e-9))
    ratio = (last / first) ** (1 / max(count - 1, 1))
    return tuple(sorted({round(first * ratio**j) for j in range(count)}))


def affordable(steps: tuple[int, ...], members: int, own: int) -> tuple[int, ...]:
    """As many of the first horizons as plain Python can afford: three at least, or none."""
    for count in range(len(steps), 2, -1):
        if members * sum(steps[:count]) * SHARE <= own:
            return steps[:count]
    return ()


# What is to be computed and run


def lacking(planned: list[Planned], study: Study, store: Store, slots: int = 1) -> list[Aside]:
    """The work of computing every bound that is not known yet; what it brings are units on the members it draws."""
    found = []
    for cost, key, horizon, plans in _needed(planned, store):
        members = study.members if plans else 0
        what = (cost, horizon, members, study.noise.sigma, study.seed)
        keep = partial(_keep, key, horizon, plans, study, slots)
        name = f"the lower bound for {cost} at T = {horizon}"
        runs = sum(estimate.MEMBER * plan.case.hard.members for plan in plans)
        found.append(Aside(name, bounded, what, keep, estimate.bound(cost.dim), runs))
    return found


def _needed(planned, store) -> Iterator[tuple[Cost, str, int, list[Planned]]]:
    wanted = {}
    for plan in planned:
        hard = plan.case.hard
        for horizon in hard.bounds if hard.key else ():
            plans = wanted.setdefault((hard.key, horizon), (plan.cost, []))[1]
            plans += [plan] * (horizon in hard.horizons)
    for (key, horizon), (cost, plans) in wanted.items():
        if not _known(store.bound(key, horizon), max((plan.case.hard.members for plan in plans), default=0)):
            yield cost, key, horizon, plans


def _known(record, members: int) -> bool:
    """Whether a stored bound does, with so many members; what was not certified is tried again once it can be."""
    if record is None:
        return False
    if record["problem"] == UNCERTIFIED:
        return find_spec("flint") is None
    return bool(record["problem"]) or len(chosen(record["drawn"], members)) >= members


def _keep(key, horizon, plans, study, slots, store, record):
    store.put_bound(key, horizon, record)
    new = [member for plan in plans for member in enlisted(plan, study, record=record, horizon=horizon, store=store)]
    return [replace(u, seconds=u.seconds + estimate.MEMBER) for u in units_of(new, store, study.noise, slots)]


def unfinished(planned: list[Planned], study: Study, store: Store) -> list[Planned]:
    """Members of stored bounds some of whose runs are missing; no member is made where none is."""
    found = []
    for plan in planned:
        for horizon in plan.case.hard.horizons:
            record = store.bound(plan.case.hard.key, horizon)
            if _known(record, study.members) and not _finished(plan.case, horizon, store):
                found += enlisted(plan, study, record=record, horizon=horizon, store=store)
    return found


def _finished(case, horizon, store) -> bool:
    known = store.members(case.hard.runs, horizon)
    if known is None or known["members"] != case.hard.members:
        return False
    return all(store.regret(series, i, horizon) is not None for series, i, _ in known["series"])


def enlisted(plan: Planned, study: Study, *, record: dict, horizon: int, store: Store) -> list[Planned]:
    """The members of a bound as cases to be run; which runs they are is noted for the case that they belong to."""
    case = plan.case
    algorithm = next(a for a in study.algorithms if a.label == case.algorithm)
    found, listed, problem = {}, [], ""
    try:
        for dent, replicate in numbered(chosen(record["drawn"], study.members)):
            cost = cost_of(plan.cost, dent)
            settled = algorithm.settle(cost)
            job = Job(settled, cost, study.seed, study.noise, study.alignment)
            job.check([horizon])
            series = job.series
            listed.append([series.digest, replicate, dent is not None])
            size = {"horizons": (horizon,), "replicates": replicate + 1, "anytime": settled.anytime}
            member = replace(case, family=f"a member of the hard family of {case.family}", series=series, **size)
            found[series.digest] = Planned(member, cost, settled)
    except ValueError as error:
        found, listed, problem = {}, [], f"it cannot run on the hard family: {error}"
    record = {"members": study.members, "problem": problem, "series": listed}
    store.put_members(case.hard.runs, horizon, record)
    return list(found.values())


# What it takes


class Extra(NamedTuple):
    """Bounds and runs on members that are still to come."""

    bounds: int
    runs: int
    steps: int
    work: Forecast


def workload(planned: list[Planned], store) -> Extra:
    needed = list(_needed(planned, store))
    python = sum(estimate.bound(cost.dim) for cost, *_ in needed)
    runs, steps, kernels = 0, 0, 0.0
    for plan in planned:
        for horizon in plan.case.hard.horizons:
            if not _finished(plan.case, horizon, store):
                members = plan.case.hard.members
                runs, steps = runs + members, steps + members * horizon
                kernels += members * horizon * plan.algorithm.seconds_per_step(plan.cost, horizon)
    return Extra(len(needed), runs, steps, Forecast(kernels, python + estimate.MEMBER * runs))
