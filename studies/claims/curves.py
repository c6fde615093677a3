"""What experiments say of predicted curves: where the slope of R tends to far out."""

from __future__ import annotations

import math

import ratecheck as rc
from ratecheck import Claim
from ratecheck.predict.far import slopes


def far_out(algorithm, cost, claim: Claim, first, cells, alignments, seed) -> tuple[dict, list[dict]]:
    """The limit of the slopes of the predicted curve with its limits, and the local slopes by horizon."""
    curve = rc.foretell(algorithm, cost, first=first, cells=cells, alignments=alignments, seed=seed)
    period = algorithm.period(cost)
    found = rc.far(curve, claim, period, algorithm.shift(cost), algorithm.onset(cost, first))
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
