"""Mean regret against T, its fitted line and the promised shape."""

from __future__ import annotations

import numpy as np
from matplotlib.lines import Line2D
from matplotlib.patches import Patch
from matplotlib.ticker import NullLocator

from ..means import within
from .base import ANY, INK, PREDICTED, curve_key, log_ticks, note, onset_key, points, room, window_key
from .grid import Kind

BEYOND = 1e4  # times the last horizon: so far the predicted curve is shown
CAPTION = (
    "Mean regret, the middle 80 % of the runs, the predicted curve (theory without a free parameter, also where no run "
    "has been), the fitted line with its 95 % interval (log power divided out and put "
    "back), and the promised shape through the middle of the window: only its slope means something, not its height. "
    "The window is shaded, the onset dotted where it lies among the horizons; points outside the window are hollow."
)


def panel(axis, result, colour, marker, margin):
    data, rate = result.data, result.own.claim.rate
    T = data.horizons
    low, high = np.array([np.quantile(s, [0.1, 0.9]) for s in data.samples]).T
    axis.fill_between(T, low, high, color=colour, alpha=0.22, linewidth=0)
    mean = np.exp(data.y)
    in_window = within(T, result.case.window)
    points(axis, T, mean, np.zeros((2, len(T))), colour, marker, in_window)
    lines = [f"promised {'≥ ' if result.own.claim.kind == 'lower' else ''}{rate.slope:.3g}"]
    if result.fit is not None:
        fit = result.fit.at(rate.log_power)
        line, inside = fit.line(), fit.data.horizons
        factor = np.log(inside) ** rate.log_power
        axis.plot(inside, np.exp(line.value) * factor, color=INK, linewidth=1.3)
        band = [np.exp(line.value + sign * line.reach) * factor for sign in (-1, 1)]
        axis.fill_between(inside, *band, color=INK, alpha=0.25, linewidth=0)
        lines.insert(
            0,
            "window allows no verdict" if result.problem else f"slope {fit.slope:.3f} [{fit.low:.3f}, {fit.high:.3f}]",
        )
    anchor = in_window if in_window.any() else np.ones(len(T), bool)
    height = np.exp(np.mean(data.y[anchor] - np.log(rate.regret(T[anchor]))))
    reach, predicted = foretold(axis, result)
    wide = np.append(T, reach)
    shape = height * rate.regret(wide)
    axis.plot(wide, shape, color=INK, linestyle=(0, (4, 2.5)), linewidth=1.3)
    axis.set_yscale("log")
    axis.yaxis.set_minor_locator(NullLocator())
    least, most = (float(end(np.concatenate([low, high, mean, shape, predicted]))) for end in (np.min, np.max))
    log_ticks(axis, least, most)
    room(axis, least, most, below=0.2, above=0.05)
    note(axis, "\n".join(lines), "lower right")


def foretold(axis, result):
    """Draw the predicted curve through the points and beyond: the horizons beyond them, and its regrets."""
    curve, last = result.case.curve, result.data.horizons[-1]
    if curve is None:
        return np.empty(0), np.empty(0)
    T = np.array(curve.horizons)
    shown = BEYOND * last >= T
    regret = np.array(curve.regret)[shown]
    axis.plot(T[shown], regret, color=PREDICTED, linewidth=1.6, zorder=1.5)
    return T[shown & (last < T)], regret


def keys():
    return [
        Line2D([], [], color=ANY, marker="o", linestyle="none", markersize=5, label="mean of the runs"),
        Patch(color=ANY, alpha=0.22, linewidth=0, label="middle 80 % of the runs"),
        curve_key(),
        Line2D([], [], color=INK, linewidth=1.3, label="fit, 95 % interval"),
        Line2D([], [], color=INK, linestyle=(0, (4, 2.5)), linewidth=1.3, label="promised shape"),
        window_key(),
        onset_key(),
    ]


REGRET = Kind(
    stem="regret",
    title="Regret against T",
    caption=CAPTION,
    panel=panel,
    keys=keys,
    ylabel="R",
)
