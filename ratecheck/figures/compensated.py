"""Regret divided by the promised rate: flat where theory and runs agree."""

from __future__ import annotations

import numpy as np
from matplotlib.lines import Line2D

from ..markdown import formula
from ..means import within
from .base import ANY, INK, log_ticks, note, points, room, window_key
from .grid import Kind

CAPTION = (
    "Agreement is a flat line; a falling line is a regret that grows more slowly than an upper bound allows, a line "
    "steeper than the dotted one exceeds the margin. Bars are 95 % intervals of the means. Curves are scaled to 1 in "
    "the middle of the window."
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
        points(axis, T, np.exp(y), np.array(ends), shade, shape, inside)
        lows.append(float(np.exp(y - reach).min()))
        highs.append(float(np.exp(y + reach).max()))
        words.append(f"{word} {formula(rate)}")
    middle = np.exp(np.mean(np.log(T[inside])))
    axis.axhline(1.0, color=INK, linewidth=0.8)
    window = T[inside]
    axis.plot(window, (window / middle) ** margin, color=INK, linestyle=":", linewidth=1.3)
    axis.set_yscale("log")
    log_ticks(axis, min(lows), max(highs))
    room(axis, min(lows), max(highs), below=0.06, above=0.42 if len(words) > 1 else 0.32)
    note(axis, "\n".join(words), "upper right")


def keys(results):
    return [
        Line2D([], [], color=ANY, marker="o", markersize=5, label="R / g(T), the rate theory stands by"),
        Line2D([], [], color="0.45", marker="x", linestyle=(0, (4, 2)), label="R / g(T), the printed rate"),
        Line2D([], [], color=INK, linestyle=":", linewidth=1.3, label="slope of the margin"),
        window_key(),
    ]


COMPENSATED = Kind(
    stem="compensated",
    title="Regret divided by the promised rate",
    caption=CAPTION,
    panel=panel,
    keys=keys,
    ylabel="R / g(T), scaled",
    needs_fit=True,
)
