"""What experiments share: jackknifed ratios, and where the slope of a predicted curve tends to far out."""

from __future__ import annotations

import math

import numpy as np

import ratecheck as rc
from ratecheck.predict.far import slopes


def jackknife(whole: float, left_out: np.ndarray) -> rc.Estimate:
    """A statistic of n runs, from its value and those with one run left out."""
    n = len(left_out)
    return rc.Estimate(float(whole), math.sqrt((n - 1) / n * float(((left_out - np.mean(left_out)) ** 2).sum())), n - 1)


def ratio_of_means(above: np.ndarray, below: np.ndarray) -> rc.Estimate:
    return jackknife(above.mean() / below.mean(), (above.sum() - above) / (below.sum() - below))


def far_out(algorithm, cost, claim: rc.Claim, first, cells, alignments, seed) -> tuple[dict, list[dict]]:
    """The limit of the slopes of the predicted curve with its limits, and the local slopes by horizon."""
    curve = rc.predicted_curve(algorithm, cost, first=first, cells=cells, alignments=alignments, seed=seed)
    period = algorithm.period(cost)
    found = rc.far(curve, claim, period=period, shift=algorithm.shift(cost), onset=algorithm.onset(cost, first))
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
