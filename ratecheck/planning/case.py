"""A case: one algorithm on one cost, with all that theory says before it runs."""

from __future__ import annotations

from dataclasses import asdict

from ..claims import NEVER, Case, Claim, Curve, Hard
from ..engine.simulate import Job
from ..predict.far import BEYOND, visible
from .grid import window_of

PLANNED_ERROR = 0.05  # of a planned curve


def case_of(
    job: Job,
    claims: tuple[Claim, ...],
    *,
    horizons: tuple[int, ...],
    replicates: int,
    onset: float,
    curve: Curve | None = None,
    label: str | None = None,
    hard: Hard | None = None,
) -> Case:
    """The case of a job; `label` names its algorithm, by default as it is settled."""
    return Case(
        family=job.cost.name,
        parameters={name: str(value) for name, value in job.cost.parameters.items()},
        constants={k: v for k, v in asdict(job.cost.constants).items() if not isinstance(v, tuple)},
        algorithm=job.algorithm.label if label is None else label,
        anytime=job.algorithm.anytime,
        plain=job.plain,
        series=job.series,
        horizons=tuple(horizons),
        replicates=replicates,
        window=window_of(horizons, onset),
        onset=onset,
        shift=job.algorithm.shift(job.cost),
        claims=claims,
        controls=(),
        curve=curve,
        hard=hard or Hard(),
    )


def planned_curve(job: Job, span: tuple[int, int]) -> Curve | None:
    """The predicted regret over a span of horizons and somewhat further, roughly: a curve for which a plan can wait.

    None where there is no theory, or where it does not reach the end of the span.
    """
    if not hasattr(job.algorithm, "level_rule"):
        return None
    from ..predict.predicted_curve import predicted_curve

    how = {"error": PLANNED_ERROR, "seed": job.seed, "kind": job.alignment}
    try:
        curve = predicted_curve(job.algorithm, job.cost, first=span[0], last=BEYOND * span[1], **how)
    except ValueError:  # too many dimensions, or initial cells, or too little is known of the cost
        return None
    return curve if curve.horizons[-1] >= span[1] else None


def onset_of(job: Job, claim: Claim, *, curve: Curve | None, last: int, margin: float) -> float:
    """The T from which on the predicted slope stays within the margin of the promise; a rough one without a curve."""
    if curve is None:
        return job.algorithm.onset(job.cost, last)
    found = visible(curve, claim.rate, period=job.series.period, margin=margin, kind=claim.kind)
    return NEVER if found is None else found
