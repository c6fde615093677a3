"""Distances from the fitted straight line, and the log-periodic part among them."""

import numpy as np

from .base import ANY, INK, PREDICTED, SPARED, curve_keys, entry, note, points, spared_keys, without_locked
from .grid import Kind

CAPTION = (
    "Distances from the fitted straight line with 95 % intervals, the log power that theory stands by divided out, and "
    "those of the predicted curve, at the partitions of the runs: where it shows the same U, the regret bends as "
    "theory says. Where runs lock in, of which theory knows nothing, crosses leave them out. Dashes show the fitted "
    "log-periodic part at each horizon; vertical lines stand one period apart, where the regret repeats itself."
)
FINE, MANY = 200, 25  # points of a curve, and horizons that leave room for short dashes only
WAVE = {"color": INK, "marker": "_", "linestyle": "none", "markersize": 9, "markeredgewidth": 1.6, "zorder": 4}


def panel(axis, result, colour, marker, margin):
    power = result.own.claim.rate.log_power
    fit = result.fit.at(power)
    line, T = fit.line(), fit.data.horizons
    axis.axhline(0.0, color=INK, linewidth=0.8)
    if result.predicted_regret is not None:
        x = np.linspace(fit.x[0], fit.x[-1], FINE)
        regret = np.interp(x, *np.log(result.predicted_regret))
        foretold = regret - power * np.log(x) - np.interp(x, fit.x, line.value)
        axis.plot(np.exp(x), foretold, color=PREDICTED, linewidth=1.6, zorder=1.5)
    if np.any(line.wave):
        dash = WAVE | {"markersize": 9 if len(T) <= MANY else 4}
        axis.plot(T, line.wave, **dash)
    points(axis, T, y=fit.corrected - line.value, reach=np.array([line.spread] * 2), colour=colour, marker=marker)
    at, spared = without_locked(result, T)
    off = np.log(spared) - power * np.log(np.log(at)) - np.interp(np.log(at), fit.x, line.value)
    axis.plot(at, off, **SPARED)
    if fit.period is not None:
        marks = T[-1] / fit.period ** np.arange(int(np.log(T[-1] / T[0]) / np.log(fit.period) + 1e-6) + 1)
        for mark in marks:
            axis.axvline(mark, color="0.5", linestyle=(0, (1, 2)), linewidth=1.2)
    if result.fit.problem:
        axis.margins(y=0.35)
        note(axis, "too short a window for the period", "upper left")


def keys(results):
    periodic = any(r.fit.period is not None for r in results)
    wave = entry(label="log-periodic part", **WAVE)
    period = entry(color="0.5", linestyle=(0, (1, 2)), linewidth=1.2, label="one period apart")
    waves = any(np.any(r.fit.line().wave) for r in results)
    return [
        entry(color=ANY, marker="o", linestyle="none", markersize=5, label="residual, 95 % interval"),
        *spared_keys(results),
        *curve_keys(results),
        *([wave] if waves else []),
        *([period] if periodic else []),
    ]


RESIDUALS = Kind("residuals", "Residuals", CAPTION, panel, keys, ylabel="ln R − line", needs_fit=True)
