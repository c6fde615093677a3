"""From a study to the cases it consists of: one per cost and algorithm, with all that theory says beforehand.

A case is plain data.  What comes after the runs (fits, verdicts, reports) sees cases and a table of runs, and no
algorithm.
"""

from __future__ import annotations

import math
from collections import Counter
from dataclasses import asdict, replace
from itertools import product, takewhile
from typing import NamedTuple

from function_zoo import Cost

from ..algorithms.protocol import Algorithm
from ..arguments import MOST_HORIZONS
from ..claims import NEVER, Case, Claim, Control, Curve, Planned, Series, own_of
from ..engine.simulate import series_of
from ..predict.far import visible
from ..study.declare import Grid, Study
from ..study.hard import hard_of
from ..study.run import HEAVY, LIGHT
from .expectations import UNCATCHABLE, catchable

CELLS = (2**13, 2**15, 2**18)  # with which a curve is tried to take beyond the last horizon
FEW_STEPS, FEW_CELLS = 2**22, 2**11  # of a study that takes a moment, and of its curves
MOST_ROWS = 10**7  # of a study: a report of so many takes a minute


def cases(study: Study, curves=None) -> list[Planned]:
    """Every case with its cost and its settled algorithm.

    `curves(series, algorithm, cost, span, steps)` gives the predicted curve of a case over a span of horizons or
    further, or None; by default it is computed, as befits a case of so many steps.
    """
    curves = curves or foreseen
    found, rows = [], 0
    for cost, algorithm in product(study.costs, study.algorithms):
        try:
            found.append(planned(study, cost, algorithm, curves))
        except ArithmeticError:
            raise ValueError(
                f"{algorithm.label} on {cost}: its settings lead beyond the numbers that a computer reckons with"
            ) from None
        rows += len(found[-1].case.horizons) * study.replicates
        if rows > MOST_ROWS:
            raise ValueError(
                f"study {study.name!r} asks for more than {MOST_ROWS:,} regrets ({study.replicates:,} replicates at "
                f"every horizon of every case); take fewer replicates or horizons, or several studies"
            )
    return controlled(study, found)


def controlled(study: Study, plans: list[Planned]) -> list[Planned]:
    """The same cases with their negative controls; all claims of a study share its error."""
    claims = sum(parts_of(claim) for plan in plans for claim in plan.case.claims)
    found = []
    for plan in plans:
        by = None
        if any(control.by is None for control in study.controls):
            by = catchable(plan.case, study.margin, claims)
        controls = tuple(Control(control.by or by or UNCATCHABLE) for control in study.controls)
        found.append(plan._replace(case=replace(plan.case, controls=controls)))
    return found


def parts_of(claim: Claim) -> int:
    """How many verdicts there will be on a claim."""
    return 1 if not claim.per_cost else 2 + (claim.corrected is not None)


def planned(study: Study, cost: Cost, algorithm: Algorithm, curves) -> Planned:
    settled = algorithm.settle(cost)
    claims = claims_of(study, cost, algorithm, settled)
    grid = study.horizons
    first, last = (grid.first, grid.last) if isinstance(grid, Grid) else (grid[0], grid[-1])
    series = series_of(settled, cost, study.seed, study.noise, study.alignment)
    curve = curves(series, settled, cost, (first, last), study.replicates * last)
    onset = settled.onset(cost, last) if curve is None else onset_of(curve, own_of(claims), series.period, study.margin)
    horizons = horizons_of(study.horizons, scale_of(study, cost), onset, series.period)
    for horizon in horizons:
        settled.check(cost, horizon, study.alignment == "random")
    case = Case(
        family=cost.name,
        parameters={k: str(v) for k, v in cost.parameters.items()},
        constants={k: v for k, v in asdict(cost.constants).items() if not isinstance(v, tuple)},
        algorithm=algorithm.label,
        anytime=settled.anytime,
        plain=not settled.compiled,
        series=series,
        horizons=horizons,
        replicates=study.replicates,
        window=study.window or window_of(horizons, onset),
        onset=onset,
        shift=settled.shift(cost),
        claims=claims,
        controls=(),
        curve=curve,
        hard=hard_of(study, cost, algorithm, claims, series, horizons),
    )
    return Planned(case, cost, settled)


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


def foreseen(series: Series, algorithm: Algorithm, cost: Cost, span: tuple[int, int], steps: int) -> Curve | None:
    """The predicted curve of a case, computed once; None where there is no theory, or where it takes too many cells.

    A small one, for which a plan can wait; `foretelling` computes a longer one beside the runs.
    """
    sizes = CELLS if steps > FEW_STEPS else (FEW_CELLS, *CELLS)
    key = (series.digest, span, sizes)
    if key not in _FORESEEN and hasattr(algorithm, "level_rule"):
        from ..predict.water_level import foretell

        _FORESEEN[key] = None
        for size in sizes:
            try:
                alignments = max(2, min(4, 2**16 // size))
                curve = foretell(algorithm, cost, span[0], size, alignments, series.seed, series.alignment)
            except ValueError:  # too many dimensions, or initial cells
                continue
            if curve.horizons[-1] >= span[1]:
                _FORESEEN[key] = curve
                break
    return _FORESEEN.get(key)


_FORESEEN = {}


def unforeseen(series, algorithm, cost, span, steps) -> None:
    """In place of `foreseen`, where a plan is not to wait for it."""


def onset_of(curve: Curve, claim: Claim, period: float | None, margin: float) -> float:
    """The T from which on the predicted slope stays within the margin of the promise."""
    found = visible(curve, claim.rate, period, margin, claim.kind)
    return NEVER if found is None else found


def scale_of(study: Study, cost: Cost) -> float:
    """The factor in T that the grids of all algorithms of a study divide evenly: the first that one of them names."""
    scales = (algorithm.settle(cost).scale(cost) for algorithm in study.algorithms)
    return next((scale for scale in scales if not math.isnan(scale)), 2.0**4)


def horizons_of(grid, scale: float, onset: float, period: float | None) -> tuple[int, ...]:
    """The horizons of a case.

    An algorithm without a period takes every n-th horizon of the others, so that neighbours differ by a factor of
    sqrt(2) at least: its runs may be paid for horizon by horizon.
    """
    if not isinstance(grid, Grid):
        return grid
    ratio, last, octaves = grid.ratio, grid.last, math.log2(scale)
    if ratio is None:
        ratio = 2.0 ** (octaves / max(4, math.ceil(octaves - 1e-9)))
        if period is None:
            ratio **= math.ceil(0.5 / math.log2(ratio) - 1e-9)
    if grid.periods is not None:
        start = max(grid.first, onset)
        if period is None:  # two periods of the others, so that slopes can be compared, unless that is far
            needed = min(grid.first * 4.0**octaves, 4 * grid.last)
        elif start * period**2 / ratio > grid.cap:  # two periods are out of reach: not worth the wait
            needed = last
        else:
            needed = start * period**grid.periods
        last = max(last, min(grid.cap, math.ceil(needed)))
    count = math.floor(math.log(last / grid.first) / math.log(ratio) + 1e-6)
    if count >= MOST_HORIZONS:
        raise ValueError(
            f"a ratio of {ratio:.12g} from {grid.first} to {last} makes more than {MOST_HORIZONS:,} horizons; take a "
            "larger ratio"
        )
    return tuple(sorted({round(grid.first * ratio**j) for j in range(count + 1)}))


def window_of(horizons, onset) -> tuple[float, float]:
    """From the onset, or the first horizon if that is later; all horizons where less than three lie beyond it."""
    latest = horizons[max(0, len(horizons) - 3)]
    first = min((h for h in horizons if h >= onset), default=horizons[-1])
    return (first if first <= latest else horizons[0], horizons[-1])


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
