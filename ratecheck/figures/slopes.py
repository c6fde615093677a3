"""Slopes between neighbouring horizons, and those that the promised rate has there."""

import numpy as np
from matplotlib.patches import Patch

from ..fit.log_means import within
from ..predict.far import slopes
from .base import ANY, INK, PREDICTED, STATIONS, approach_axis, curve_keys, entry, note, outside_keys, points
from .grid import Kind

CAPTION = (
    "Slopes of ln R between neighbouring horizons with 95 % intervals, nothing divided out, and those of the "
    "prediction: between the same horizons, and beyond them over whole periods (a factor of 16 where there is none) as "
    "far as it was computed. T is spaced by 1/ln T: "
    "infinity has a place, and the slope of T^s (ln T)^p is a straight line to s. The level line is the promised "
    "exponent s; the band reaches from s to s + p / ln T, p the log power that theory stands by; the dashed line shows "
    "the printed p."
)


def panel(axis, result, colour, marker, margin):
    claim = result.own.claim
    T = np.array([t for t, _ in result.local_slopes()])
    value, low, high = np.array([(e.value, e.low, e.high) for _, e in result.local_slopes()]).T
    ends = np.array([result.data.horizons[0], STATIONS[-1]])
    fine = np.exp(1 / np.linspace(*(1 / np.log(ends)), 60))
    slope, upper = claim.rate.slope, claim.rate.slope + claim.rate.log_power / np.log(fine)
    axis.fill_between(fine, slope, upper, color="0.75", linewidth=0, alpha=0.7)
    if claim.corrected:
        edge = claim.printed.slope + claim.printed.log_power / np.log(fine)
        axis.plot(fine, edge, color="0.4", linestyle=(0, (4, 2)), linewidth=1.1)
    axis.plot(ends, [claim.rate.slope] * 2, color=INK, linewidth=1.3)
    for far, foretold in predicted(result):
        axis.plot(far, foretold, color=PREDICTED, linewidth=1.6, zorder=1.5)
    axis.plot(T, value, color=colour, linewidth=0.8, alpha=0.7)
    inside = within(T, result.case.window)
    points(axis, T, y=value, reach=np.array([value - low, high - value]), colour=colour, marker=marker, filled=inside)
    note(axis, f"s = {claim.rate.slope:.3g}", "upper right")


def predicted(result):
    """T and slopes of the prediction: between the horizons of the runs, and beyond them over whole periods."""
    if result.agreement is not None:
        x, y = np.log(result.agreement.table[["horizon", "predicted"]].to_numpy(float)).T
        yield np.exp((x[1:] + x[:-1]) / 2), np.diff(y) / np.diff(x)
    if result.case.curve is not None:
        far, foretold = slopes(result.case.curve, result.case.period)
        beyond = far > (0.0 if result.agreement is None else result.data.horizons[-1])
        yield far[beyond], foretold[beyond]


def keys(results):
    printed = entry(color="0.4", linestyle=(0, (4, 2)), label="s + p / ln T, printed p")
    return [
        entry(color=ANY, marker="o", markersize=5, linewidth=0.8, label="local slope, 95 % interval"),
        *outside_keys(results),
        *curve_keys(results),
        entry(color=INK, linewidth=1.3, label="promised exponent s of R"),
        Patch(color="0.75", alpha=0.7, linewidth=0, label="s to s + p / ln T"),
        *([printed] if any(result.own.claim.corrected for result in results) else []),
    ]


SLOPES = Kind("slopes", "Local slopes", CAPTION, panel, keys, ylabel="d ln R / d ln T", horizons=approach_axis)
