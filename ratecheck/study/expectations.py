"""What theory expects of a case before it runs, and what a verdict on it will be able to exclude."""

from __future__ import annotations

import math

import numpy as np
from scipy import special

from ..claims import Case, Planned
from ..curve import visible, window_slope
from ..fit import fit_rate, too_short
from ..means import FitError, LogMeans, within
from ..verdicts import LEVEL

ALIGNMENTS, MOST_HORIZONS = 8, 8  # so many show about what comes of all
POWER = 0.9


def unjudged(case: Case, margin: float) -> str:
    """A sentence about a case whose slope will not be judged, empty if it will be."""
    why = _obstacle(case, margin)
    return f"{case.name}: its slope will not be judged, since {why}" if why else ""


def _obstacle(case: Case, margin: float) -> str:
    """What is known beforehand to forbid a verdict on the slope."""
    if case.window[0] < case.onset:
        return f"theory {_expects(case, margin) if case.curve else f'expects the rate from T = {case.onset:.2g} on'}"
    return too_short(inside(case), case.period) if len(inside(case)) > 2 else "its window holds too few horizons"


def inside(case: Case) -> list[int]:
    """The horizons of the window."""
    return np.array(case.horizons)[within(case.horizons, case.window)].tolist()


def expected(plan: Planned, margin: float) -> str:
    """The predicted slope, when the theorem becomes visible, and what will pass and what will be caught."""
    case = plan.case
    why = _obstacle(case, margin)
    if case.curve is None:
        start = "no regret is predicted, the window starts at a rough onset"
        return f"its slope will not be judged, since {why}" if why else start
    said = f"theory {_expects(case, margin)}"
    if why:
        return f"{said}; its slope will not be judged{'' if why in said else f', since {why}'}"
    found = force(plan, margin)
    if found is None:
        return said
    passes, caught = found
    return (
        f"{said}; a regret that grows faster by T^{passes:.2f} would still pass, by T^{caught:.2f} it would be caught"
    )


def _expects(case: Case, margin: float) -> str:
    slope = window_slope(case.curve, *case.window)
    seen = visible(case.curve, case.own.rate, case.period, margin, case.own.kind)
    promise = f"the promised {case.own.rate.slope:.3g} (its logarithm included)"
    when = (
        f"{promise} is not visible by T = {case.curve.horizons[-1]:.2g}, where the prediction ends"
        if seen is None
        else f"{promise} is visible from T = {seen:.2g} on"
    )
    return f"expects the slope {slope:.3f} in this window, and {when}"


def force(plan: Planned, margin: float) -> tuple[float, float] | None:
    """By which power of T a regret may grow faster than predicted and be CONSISTENT, and from which on it is REFUTED.

    From the scatter over partitions; that of the noise comes on top of it, so that both are about so.
    """
    from ..prediction import predict

    case = plan.case
    horizons = np.array(inside(case))
    places = np.linspace(0, len(horizons) - 1, min(len(horizons), MOST_HORIZONS))
    horizons = horizons[np.unique(np.round(places).astype(int))].tolist()
    if case.series.alignment == "fixed":
        return None
    try:
        frame = predict(plan.algorithm, plan.cost, horizons, ALIGNMENTS, case.series.seed).frame
        samples = tuple(group["regret"].to_numpy() for _, group in frame.groupby("horizon"))
        data = LogMeans.of(horizons, samples, case.anytime)
        fit = fit_rate(data, case.own.rate.log_power, period=None)
    except (ValueError, FitError):
        return None
    shrunk = math.sqrt(len(samples[0]) / case.replicates) * fit.whole.se
    excess = fit.slope - case.own.rate.slope
    if case.own.kind == "lower":
        excess = -excess
    reach, power = (float(special.stdtrit(max(1, case.replicates - 1), p)) for p in (LEVEL, POWER))
    return max(0.0, margin - excess - reach * shrunk), max(0.0, margin - excess + (reach + power) * shrunk)
