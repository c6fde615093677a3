"""Mean regret against T, its fitted line and the promised shape."""

from __future__ import annotations

from dataclasses import dataclass
from functools import partial

import numpy as np
from matplotlib.patches import Patch
from matplotlib.ticker import NullLocator

from ..display import fraction
from ..fit.log_means import within
from ..predict.far import BEYOND
from .base import (
    ANY,
    CERTIFIED,
    INK,
    PREDICTED,
    curve_keys,
    entry,
    horizon_axis,
    note,
    number,
    outside_keys,
    points,
    room,
    ticks,
)
from .grid import Kind

DOTTED = (0, (1, 1.2))
FOOT = 0.31  # of a panel's height, for the note under the data
DEPTH = 0.4  # of the length of the axis: so far it goes down to the lower bound, and no further
CAPTION = (
    "Mean regret, the middle 80 % of the runs, the predicted curve (theory without a free parameter, also where no run "
    "has been), the fitted line with its 95 % interval, and the promised shape through the middle of the window: only "
    "its slope means something, not its height. The slope as seen is that of the points; the one after the logarithm "
    "is what is left of it when the theorem's power of ln T is divided out, and it is the one to compare with the "
    "promise. No line is drawn where the window allows none, and it is dotted where curvature or held-out horizons "
    "reject it. The algorithms of a dimension share their axis. "
    "The window is shaded, the onset dotted where it lies among the horizons; points outside the window are hollow. "
    "The thin line is the certified lower bound, computed at its dots: on the mean over the hard family of each "
    "horizon no strategy stays below it, though on this cost alone it may. Where it lies far below, the panel says by "
    "how much, at the last dot."
)


def panel(axis, result, colour, marker, margin):
    data, rate = result.data, result.own.claim.rate
    T, shape = data.horizons, Shape.of(result)
    axis.fill_between(T, shape.low, shape.high, color=colour, alpha=0.22, linewidth=0)
    inside = within(T, result.case.window)
    points(axis, T, y=np.exp(data.y), reach=np.zeros((2, len(T))), colour=colour, marker=marker, filled=inside)
    lines = said(result)
    if fitted(result):
        fit = result.fit.at(rate.log_power)
        line, inside = fit.line(), fit.data.horizons
        factor = np.log(inside) ** rate.log_power
        style = DOTTED if result.bent else "-"
        axis.plot(inside, np.exp(line.value) * factor, color=INK, linewidth=1.3, linestyle=style)
        band = [np.exp(line.value + sign * line.reach) * factor for sign in (-1, 1)]
        axis.fill_between(inside, *band, color=INK, alpha=0.25, linewidth=0)
    axis.plot(*shape.predicted, color=PREDICTED, linewidth=1.6, zorder=1.5)
    axis.plot(*shape.promised, color=INK, linestyle=(0, (4, 2.5)), linewidth=1.3)
    if shape.bound.size:
        axis.plot(*shape.bound, color=CERTIFIED, linewidth=0.9, marker=".", markersize=4, zorder=1.2)
    if shape.bound.size and not shape.reaches_bound:
        far, least = shape.bound[:, -1]
        above = np.exp(np.interp(np.log(far), data.x, data.y)) / least
        lines.append(f"lower bound {number(float(f'{above:.1g}'))} times lower")
    note(axis, "\n".join(lines), "lower right", boxed=False)


def said(result) -> list[str]:
    """The slope that a ruler finds, the one that is judged, and the promise."""
    rate = result.own.claim.rate
    promised = f"promised {'≥ ' if result.own.claim.kind == 'lower' else ''}{rate.slope:.3g}"
    if not fitted(result):
        seen = [f"(slope as seen {result.fit.slope:.3f})"] if result.fit is not None else []
        return ["no line: the window allows none", *seen, promised]
    fit = result.fit.at(rate.log_power)
    logarithm = "$\\ln T$" if rate.log_power == 1 else f"$(\\ln T)^{{{fraction(rate.log_power)}}}$"
    after = f"after {logarithm}: {fit.slope:.3f} [{fit.low:.3f}, {fit.high:.3f}]"
    return [f"slope as seen {result.fit.slope:.3f}", *([after] if rate.log_power else []), promised]


def fitted(result) -> bool:
    return result.fit is not None and not result.problem


def settle(axes, results):
    """One vertical axis for the algorithms of a dimension, wide enough for all of them."""
    shapes = [Shape.of(result) for result in results]
    if not shapes:
        return
    bottom, top = min(shape.bottom for shape in shapes), max(shape.most for shape in shapes)
    for axis in axes:
        axis.set_yscale("log")
        axis.yaxis.set_minor_locator(NullLocator())
        ticks(axis.yaxis, bottom, top)
        room(axis, bottom, high=top, below=FOOT / (1 - FOOT) * 1.05, above=0.05)


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
        data, rate = result.data, result.own.claim.rate
        T = data.horizons
        low, high = np.array([np.quantile(s, [0.1, 0.9]) for s in data.samples]).T
        predicted = np.empty((2, 0)) if result.predicted_regret is None else np.array(result.predicted_regret)
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

    @property
    def bottom(self) -> float:
        if not self.reaches_bound:
            return self.least
        return min(self.least, max(self.floor, float(self.bound[1].min())))


def keys(results):
    worst = "certified lower bound, worst cost nearby"
    line = entry(color=CERTIFIED, linewidth=0.9, marker=".", markersize=4, label=worst)
    return [
        entry(color=ANY, marker="o", linestyle="none", markersize=5, label="mean of the runs"),
        Patch(color=ANY, alpha=0.22, linewidth=0, label="middle 80 % of the runs"),
        *outside_keys(results),
        *curve_keys(results),
        *line_keys(results),
        entry(color=INK, linestyle=(0, (4, 2.5)), linewidth=1.3, label="promised shape"),
        *([line] if any(Shape.of(result).reaches_bound for result in results) else []),
    ]


def line_keys(results) -> list:
    drawn = [result.bent for result in results if fitted(result)]
    whole = entry(color=INK, linewidth=1.3, label="fit, 95 % interval")
    dotted = entry(color=INK, linewidth=1.3, linestyle=DOTTED, label="fit that is rejected: it bends")
    return [whole] * (False in drawn) + [dotted] * (True in drawn)


AXES = {"by_dimension": True, "settle": settle, "horizons": partial(horizon_axis, bottom=FOOT)}
REGRET = Kind("regret", "Regret against T", CAPTION, panel, keys, ylabel="R", **AXES)
