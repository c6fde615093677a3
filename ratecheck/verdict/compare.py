"""Two declared algorithms compared on one cost: the difference of their slopes, and the ratio of their regrets."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from ..claims import NEVER
from ..fit.fit import Estimate, fit_rate, slope_difference
from ..fit.log_means import FitError, LogMeans
from .rules import log_worth

if TYPE_CHECKING:
    from .analyse import Result

SAME_EXPONENT = 1e-9  # promises that differ by less are one


@dataclass(frozen=True)
class Gap:
    """Slope of the first algorithm minus slope of the second on one cost, raw, over their common window."""

    family: str
    dim: int
    cost: str
    first: str  # labels
    second: str
    predicted: float  # from the exponents
    log_powers: float  # what the theorems' log powers add to that over the window
    measured: Estimate | None
    reason: str  # why it is not measured, or does not count
    window: tuple[float, float] | None
    ratios: tuple[tuple[float, Estimate], ...]  # (T, ln of the ratio of mean regrets) at common horizons

    @property
    def promised(self) -> bool:
        """Theory promises the first algorithm a worse exponent than the second."""
        return self.predicted > SAME_EXPONENT

    @property
    def counts(self) -> bool:
        return self.measured is not None and not self.reason


def gap_of(first: Result, second: Result) -> Gap:
    rates = first.own.claim.rate, second.own.claim.rate
    predicted = rates[0].slope - rates[1].slope
    low = max(first.case.window[0], second.case.window[0])
    high = min(first.case.window[1], second.case.window[1])
    measured, ratios, log_powers = None, (), 0.0
    if first.fit is None or second.fit is None:
        reason = first.problem or second.problem
    elif low > high:
        reason = f"the two windows do not overlap: one ends at {high:.3g}, the other starts at {low:.3g}"
        ratios = log_ratios(first.data, second.data)
    else:
        ratios = log_ratios(first.data, second.data)
        try:
            fits = [fit_rate(r.fit.data, window=(low, high), period=r.case.period) for r in (first, second)]
            problem = fits[0].problem or fits[1].problem
            reason = early(low, first, second) or problem
            log_powers = (rates[0].log_power - rates[1].log_power) * log_worth(fits[0].data.horizons)
            measured = None if problem else slope_difference(*fits)
        except FitError as error:
            reason = str(error)
    case = first.case
    names = case.family, case.dim, case.cost, case.algorithm, second.case.algorithm
    window = (low, high) if low <= high else None
    return Gap(*names, predicted, log_powers, measured, reason, window, ratios)


def early(start, *results: Result) -> str:
    """Whether a window starts before an onset, so that no theorem says anything about a difference of slopes."""
    late = max(results, key=lambda r: r.case.onset).case
    if start >= late.onset:
        return ""
    when = f"only from T = {late.onset:.3g} on" if late.onset < NEVER else "at no T that its prediction reaches"
    return f"theory expects the rate of {late.algorithm} {when}, and the window starts at {start:.3g}"


def log_ratios(first: LogMeans, second: LogMeans):
    """(T, ln of the ratio of mean regrets) at common horizons; the two were run on streams of their own."""
    common, i, j = np.intersect1d(first.horizons, second.horizons, return_indices=True)
    value = first.y[i] - second.y[j]
    se = np.sqrt(first.covariance[i, i] + second.covariance[j, j])
    df = min(first.replicates, second.replicates) - 1
    return tuple((float(t), Estimate(float(v), float(e), df)) for t, v, e in zip(common, value, se, strict=True))
