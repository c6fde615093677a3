"""What experiments share: jackknifed ratios, two constants of the paper, and slopes of predicted curves far out."""

from __future__ import annotations

import math

import numpy as np

import ratecheck as rc
from ratecheck.predict.far import slopes

FAR_LOG_MARGIN = 0.25  # of the log power of a predicted curve
PERIOD = 16.0  # the factor in T over which a slope is taken where theory expects no period


def D(alpha: float, beta: float, dim: int) -> float:
    """The dimension that governs adaptive bins and the lower bound; with min(beta, 1) for beta, uniform bins."""
    return dim + 2 * alpha - alpha * beta


def least_mu(cost) -> float:
    """The limit that mu must exceed in Theorem 2."""
    return (1 + 2 ** (cost.dim + cost.constants.alpha)) * cost.constants.M


def jackknife(whole: float, left_out: np.ndarray) -> rc.Estimate:
    """A statistic of n runs, from its value and those with one run left out."""
    n = len(left_out)
    return rc.Estimate(float(whole), math.sqrt((n - 1) / n * float(((left_out - np.mean(left_out)) ** 2).sum())), n - 1)


def ratio_of_means(above: np.ndarray, below: np.ndarray) -> rc.Estimate:
    return jackknife(above.mean() / below.mean(), (above.sum() - above) / (below.sum() - below))


CURVE_ERROR = 0.02  # of predicted curves; cells and alignments that are declared are those of the kept tables


def far_out(algorithm, cost, claim: rc.Claim, first, seed) -> tuple[dict, list[dict]]:
    """The limit of the slopes of the predicted curve with its limits, and the local slopes by horizon."""
    curve = rc.predicted_curve(algorithm, cost, first=first, error=CURVE_ERROR, seed=seed)
    period = algorithm.period(cost)
    found = rc.far(
        curve,
        claim,
        period=period,
        log_margin=FAR_LOG_MARGIN,
        shift=algorithm.shift(cost),
        onset=algorithm.onset(cost, first),
    )
    limit = found.exponent
    row = {
        "last": found.last,
        "slope": math.nan if found.slope is None else found.slope,
        "limit": limit.value if limit else math.nan,
        "low": limit.low if limit else math.nan,
        "high": limit.high if limit else math.nan,
        "visible": math.nan if found.visible is None else found.visible,
        "verdict": str(found.on_exponent.name),
    }
    return row, [{"horizon": float(T), "slope": float(s)} for T, s in zip(*slopes(curve, period), strict=True)]


def window_slope(curve: rc.Curve, first: float, last: float, log_power: float = 0.0) -> float:
    """The least-squares slope of ln R - log_power ln ln T against ln T between two horizons."""
    L = np.linspace(math.log(first), math.log(last), 129)
    return float(np.polyfit(L, curve.log_regret(L) - log_power * np.log(L), 1)[0])
