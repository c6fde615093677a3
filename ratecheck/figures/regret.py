"""Mean regret against T, its fitted line and the promised shape."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from matplotlib.lines import Line2D
from matplotlib.patches import Patch
from matplotlib.ticker import NullLocator

from ..means import within
from .base import (
    ANY,
    CERTIFIED,
    INK,
    PREDICTED,
    curve_key,
    log_ticks,
    note,
    number,
    onset_key,
    points,
    room,
    window_key,
)
from .grid import Kind

BEYOND = 1e4  # times the last horizon: so far the predicted curve is shown
DEPTH = 0.4  # of the length of the axis: so far it goes down to the lower bound, and no further
CAPTION = (
    "Mean regret, the middle 80 % of the runs, the predicted curve (theory without a free parameter, also where no run "
    "has been), the fitted line with its 95 % interval (log power divided out and put "
    "back), and the promised shape through the middle of the window: only its slope means something, not its height. "
    "The window is shaded, the onset dotted where it lies among the horizons; points outside the window are hollow. "
    "The thin line is the certified lower bound, computed at its dots: on the mean over the hard family of each "
    "horizon no strategy stays below it, though on this cost alone it may. Where it lies far below the axis, the panel "
    "says by how much."
)


def panel(axis, result, colour, marker, margin):
    data, rate = result.data, result.own.claim.rate
    T, shape = data.horizons, Shape.of(result)
    axis.fill_between(T, shape.low, shape.high, color=colour, alpha=0.22, linewidth=0)
    points(axis, T, np.exp(data.y), np.zeros((2, len(T))), colour, marker, within(T, result.case.window))
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
    axis.plot(*shape.predicted, color=PREDICTED, linewidth=1.6, zorder=1.5)
    axis.plot(*shape.promised, color=INK, linestyle=(0, (4, 2.5)), linewidth=1.3)
    bottom = shape.least
    if shape.reaches_bound:
        axis.plot(*shape.bound, color=CERTIFIED, linewidth=0.9, marker=".", markersize=4, zorder=1.2)
        bottom = min(bottom, max(shape.floor, float(shape.bound[1].min())))
    elif shape.bound.size:
        far, least = shape.bound[:, -1]
        above = np.exp(np.interp(np.log(far), data.x, data.y)) / least
        lines.append(f"lower bound {above:.2g} times below, at T = {number(far)}")
    axis.set_yscale("log")
    axis.yaxis.set_minor_locator(NullLocator())
    log_ticks(axis, bottom, shape.most)
    room(axis, bottom, shape.most, below=0.2, above=0.05)
    note(axis, "\n".join(lines), "lower right")


@dataclass(frozen=True)
class Shape:
    """What a panel shows: the middle 80 % of the runs at each horizon, and curves as pairs of rows, T and R."""

    low: np.ndarray
    high: np.ndarray
    predicted: np.ndarray  # through the points and beyond
    promised: np.ndarray
    bound: np.ndarray
    least: float  # of all but the bound
    most: float

    @classmethod
    def of(cls, result) -> Shape:
        data, rate, curve = result.data, result.own.claim.rate, result.case.curve
        T = data.horizons
        low, high = np.array([np.quantile(s, [0.1, 0.9]) for s in data.samples]).T
        predicted = np.array([curve.horizons, curve.regret]) if curve else np.empty((2, 0))
        predicted = predicted[:, predicted[0] <= BEYOND * T[-1]]
        in_window = within(T, result.case.window)
        anchor = in_window if in_window.any() else np.ones(len(T), bool)
        height = np.exp(np.mean(data.y[anchor] - np.log(rate.regret(T[anchor]))))
        wide = np.append(T, predicted[0][predicted[0] > T[-1]])
        promised = np.array([wide, height * rate.regret(wide)])
        everything = np.concatenate([low, high, np.exp(data.y), predicted[1], promised[1]])
        bound = np.array(result.sandwich.curve).reshape(-1, 2).T
        return cls(low, high, predicted, promised, bound, float(everything.min()), float(everything.max()))

    @property
    def floor(self) -> float:
        """Lower than this no axis goes for the sake of the bound."""
        return self.least * (self.least / self.most) ** DEPTH

    @property
    def reaches_bound(self) -> bool:
        return bool((self.bound[1] >= self.floor).any())


def keys(results):
    worst = "certified lower bound, worst cost nearby"
    line = Line2D([], [], color=CERTIFIED, linewidth=0.9, marker=".", markersize=4, label=worst)
    return [
        Line2D([], [], color=ANY, marker="o", linestyle="none", markersize=5, label="mean of the runs"),
        Patch(color=ANY, alpha=0.22, linewidth=0, label="middle 80 % of the runs"),
        curve_key(),
        Line2D([], [], color=INK, linewidth=1.3, label="fit, 95 % interval"),
        Line2D([], [], color=INK, linestyle=(0, (4, 2.5)), linewidth=1.3, label="promised shape"),
        *([line] if any(Shape.of(result).reaches_bound for result in results) else []),
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
