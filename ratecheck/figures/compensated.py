"""Regret divided by the promised rate: flat where theory and runs agree."""

import numpy as np

from ..display import formula
from ..fit.log_means import within
from ..predict.far import BEYOND
from .base import (
    ANY,
    INK,
    PREDICTED,
    SPARED,
    curve_keys,
    entry,
    note,
    outside_keys,
    points,
    room,
    spared_keys,
    ticks,
    without_locked,
)
from .grid import Kind

CAPTION = (
    "Agreement is a flat line; a falling line is a regret that grows more slowly than an upper bound allows, a line "
    "steeper than the dotted one exceeds the margin. Bars are 95 % intervals of the means. Curves are scaled to 1 in "
    "the middle of the window; the red one is the predicted regret divided by the rate that theory stands by, on the "
    "same scale, through the points and beyond them: where it levels off, the theorem becomes visible. Where the "
    "partitions of the runs cannot be followed further it goes on with others, and may start a little higher or lower. "
    "Where runs lock in, of which theory knows nothing, crosses leave them out."
)


def panel(axis, result, colour, marker, margin):
    data, claim = result.data, result.own.claim
    T, inside = data.horizons, within(data.horizons, result.case.window)
    reach = 1.96 * np.sqrt(np.diag(data.covariance))
    versions = [(claim.rate, colour, marker, "-", "corrected" if claim.corrected else "promised")]
    if claim.corrected:
        versions.append((claim.printed, "0.45", "x", (0, (4, 2)), "printed"))
    lows, highs, words = [1.0], [1.0], []
    for rate, shade, shape, style, word in versions:
        y = data.y - np.log(rate.regret(T))
        y = y - np.mean(y[inside])
        ends = [np.exp(y) - np.exp(y - reach), np.exp(y + reach) - np.exp(y)]
        axis.plot(T, np.exp(y), color=shade, linestyle=style, linewidth=1.2)
        points(axis, T, y=np.exp(y), reach=np.array(ends), colour=shade, marker=shape, filled=inside)
        lows.append(float(np.exp(y - reach).min()))
        highs.append(float(np.exp(y + reach).max()))
        words.append(f"{word} {formula(rate)}")
    if result.predicted_regret is not None:
        far, foretold = predicted(result, inside)
        axis.plot(far, foretold, color=PREDICTED, linewidth=1.6, zorder=1.5)
        lows.append(float(foretold.min()))
        highs.append(float(foretold.max()))
    at, spared = without_locked(result, T)
    scale = np.mean((data.y - np.log(claim.rate.regret(T)))[inside])
    axis.plot(at, spared / claim.rate.regret(at) / np.exp(scale), **SPARED)
    middle = np.exp(np.mean(np.log(T[inside])))
    axis.axhline(1.0, color=INK, linewidth=0.8)
    window = T[inside]
    axis.plot(window, (window / middle) ** margin, color=INK, linestyle=":", linewidth=1.3)
    axis.set_yscale("log")
    ticks(axis.yaxis, min(lows), max(highs))
    room(axis, min(lows), high=max(highs), below=0.06, above=0.42 if len(words) > 1 else 0.32)
    note(axis, "\n".join(words), "upper right")


def predicted(result, inside):
    """The predicted regret divided by the rate, scaled as the points are, from their first T to far beyond."""
    data, rate = result.data, result.own.claim.rate
    T, regret = result.predicted_regret
    kept = (data.horizons[0] <= T * (1 + 1e-9)) & (BEYOND * data.horizons[-1] >= T)
    scale = np.mean((data.y - np.log(rate.regret(data.horizons)))[inside])
    return T[kept], np.exp(np.log(regret[kept]) - np.log(rate.regret(T[kept])) - scale)


def keys(results):
    printed = entry(color="0.45", marker="x", linestyle=(0, (4, 2)), label="R / g(T), the printed rate")
    return [
        entry(color=ANY, marker="o", markersize=5, label="R / g(T), the rate theory stands by"),
        *([printed] if any(result.own.claim.corrected for result in results) else []),
        *spared_keys(results),
        *curve_keys(results),
        *outside_keys(results),
        entry(color=INK, linestyle=":", linewidth=1.3, label="slope of the margin"),
    ]


TITLE = "Regret divided by the promised rate"
COMPENSATED = Kind("compensated", TITLE, CAPTION, panel, keys, ylabel="R / g(T), scaled", needs_fit=True)
