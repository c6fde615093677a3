"""What theory expects of a case before it runs, and what a verdict on it will be able to exclude."""

from __future__ import annotations

import math
from dataclasses import replace

import numpy as np

from ..claims import Case
from ..fit.fit import Fit, too_short
from ..fit.log_means import LogMeans, within
from ..predict.far import visible, window_slope
from ..verdict.evidence import WHOLE, Evidence, evidence
from ..verdict.rules import LEVEL, looks_cost

SCATTER = 0.25  # of the regrets of single runs, relative to their mean, before any has run
UNCATCHABLE = 1.0  # a growth in place of one that would be caught, where none would be


def unjudged(case: Case, margin: float) -> str:
    """A sentence about a case whose slope will not be judged, empty if it will be."""
    why = _obstacle(case, margin)
    if why:
        return f"{case.name}: its slope will not be judged, since {why}"
    if catchable(case, margin) is None:
        return f"{case.name}: its verdict will have no force, since no growth of the regret would be refuted"
    return ""


def _obstacle(case: Case, margin: float) -> str:
    """What is known beforehand to forbid a verdict on the slope."""
    if case.window[0] < case.onset:
        return f"theory {_expects(case, margin) if case.curve else f'expects the rate from T = {case.onset:.2g} on'}"
    return too_short(inside(case), case.period) if len(inside(case)) > 2 else "its window holds too few horizons"


def inside(case: Case) -> list[int]:
    """The horizons of the window."""
    return np.array(case.horizons)[within(case.horizons, case.window)].tolist()


def expected(case: Case, margin: float) -> str:
    """The predicted slope, when the theorem becomes visible, and what will pass and what will be caught."""
    why = _obstacle(case, margin)
    if why and case.curve is None:
        return f"its slope will not be judged, since {why}"
    said = f"theory {_expects(case, margin)}" if case.curve else "no regret is predicted, the window has a rough onset"
    if why:
        return f"{said}; its slope will not be judged{'' if why in said else f', since {why}'}"
    caught = catchable(case, margin)
    passes = expected_evidence(case, margin).tolerates
    slope, sign = case.own.rate.slope, 1 if case.own.kind == "upper" else -1
    catch = "no growth would be caught" if caught is None else f"runs that grow by T^{caught:.2f} more would be caught"
    return f"{said}; T^{slope + sign * passes:.2f} could pass for the promise, {catch}"


def _expects(case: Case, margin: float) -> str:
    slope = window_slope(case.curve, *case.window)
    seen = visible(case.curve, case.own.rate, period=case.period, margin=margin, kind=case.own.kind)
    promise = f"the promised {case.own.rate.slope:.3g} (its logarithm included)"
    when = (
        f"{promise} is not visible by T = {case.curve.horizons[-1]:.2g}, where the prediction ends"
        if seen is None
        else f"{promise} is visible from T = {seen:.2g} on"
    )
    return f"expects the slope {slope:.3f} in this window, and {when}"


def expected_evidence(case: Case, margin: float) -> Evidence | None:
    """What the runs will say if they follow theory and scatter by a quarter; None where the window is too short."""
    horizons = np.array(inside(case), float)
    if len(horizons) < 3 or too_short(horizons, case.period):
        return None
    x, rate = np.log(horizons), case.own.rate
    y = case.curve.log_regret(x) if case.curve else rate.slope * x + rate.log_power * np.log(x)
    runs = max(case.replicates, 3)
    data = LogMeans(horizons, y, np.eye(len(x)) * SCATTER**2 / runs, runs, case.anytime, (), None)
    found = evidence(Fit(data, rate.log_power, case.period), rate, kind=case.own.kind, margin=margin)
    (se, df), of_noise = found.scatter, float(found.se[WHOLE])
    return replace(found, scatter=(math.hypot(se, of_noise), df))  # points off the line: by theory, and by noise


def catchable(case: Case, margin: float, claims: int = 1) -> float | None:
    """By which power of T the runs must grow faster than expected, so that their first look refutes the claim.

    With a power of 90 %, among so many claims; None where nothing does.
    """
    found = expected_evidence(case, margin)
    return None if found is None else found.catches((1 - LEVEL) / looks_cost(1) / claims, of=found.value)
