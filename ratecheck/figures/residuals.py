"""Distances from the fitted straight line, and the log-periodic part among them."""

from __future__ import annotations

import numpy as np
from matplotlib.lines import Line2D

from .base import ANY, INK, note, points, window_key
from .grid import Kind

CAPTION = (
    "Distances from the fitted straight line with 95 % intervals, the log power that theory stands by divided out. The "
    "curve is the fitted log-periodic part; vertical lines stand one period apart, where the regret repeats itself."
)


def panel(axis, result, colour, marker, margin):
    fit = result.fit.at(result.own.claim.rate.log_power)
    line, T = fit.line(), fit.data.horizons
    axis.axhline(0.0, color=INK, linewidth=0.8)
    if np.any(line.wave):
        axis.plot(T, line.wave, color=INK, linewidth=1.3)
    points(axis, T, fit.corrected - line.value, np.array([line.spread] * 2), colour, marker, np.ones(len(T), bool))
    if fit.period is not None:
        marks = T[-1] / fit.period ** np.arange(int(np.log(T[-1] / T[0]) / np.log(fit.period) + 1e-6) + 1)
        for mark in marks:
            axis.axvline(mark, color="0.5", linestyle=(0, (1, 2)), linewidth=1.2)
    if result.fit.problem:
        axis.margins(y=0.35)
        note(axis, "too short a window for the period", "upper left")


def keys(results):
    return [
        Line2D([], [], color=ANY, marker="o", linestyle="none", markersize=5, label="residual, 95 % interval"),
        Line2D([], [], color=INK, linewidth=1.3, label="fitted log-periodic part"),
        Line2D([], [], color="0.5", linestyle=(0, (1, 2)), linewidth=1.2, label="one period apart"),
        window_key(),
    ]


RESIDUALS = Kind(
    stem="residuals",
    title="Residuals",
    caption=CAPTION,
    panel=panel,
    keys=keys,
    ylabel="ln R − line",
    needs_fit=True,
)
