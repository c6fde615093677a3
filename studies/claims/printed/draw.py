"""Figures of uniform bins at several widths: regret per query, and the gap to adaptive bins against beta."""

from __future__ import annotations

import math

import numpy as np
import pandas as pd
import seaborn as sns
from matplotlib.lines import Line2D
from matplotlib.ticker import FixedLocator, NullLocator

from ratecheck.figures import INK, MARKERS, colour_of, panels, ticks

COLUMNS = 3
NAMES = {
    "printed": "uniform bins, printed width",
    "corrected": "corrected width",
    "tuned": "tuned width",
    "adaptive": "adaptive bins",
}
BETWEEN = 0.45  # rows, in heights of a panel: labels of the upper one and a title
BESIDE = 0.03  # in beta, between costs of one beta


def regrets(runs: pd.DataFrame, tuned: pd.DataFrame, curves: pd.DataFrame):
    """R/T against T, a panel per cost."""
    measured = pd.concat([runs, tuned.assign(kind="tuned")])
    costs = list(dict.fromkeys(zip(curves["family"], curves["dim"], strict=True)))
    figure, axes = panels(-(-len(costs) // COLUMNS), COLUMNS, _regret_keys())
    figure.subplots_adjust(hspace=BETWEEN)
    for axis, (family, dim) in zip(axes.flat, costs, strict=False):
        shown = []
        for i, kind in enumerate(NAMES):
            line = _part(curves, family, dim, kind).sort_values("horizon")
            axis.plot(line["horizon"], line["regret"] / line["horizon"], color=colour_of(i), linewidth=1.2)
            points = _part(measured, family, dim, kind).groupby("horizon")["regret"].agg(["mean", "sem"])
            points = points.iloc[::2] if kind == "adaptive" else points
            T = points.index.to_numpy(float)
            look = {
                "fmt": MARKERS[i],
                "color": colour_of(i),
                "markersize": 3.5,
                "elinewidth": 1,
                "markerfacecolor": "white",
            }
            axis.errorbar(T, points["mean"] / T, 1.96 * points["sem"] / T, **look)
            shown += [*(line["regret"] / line["horizon"]), *(points["mean"] / T)]
        axis.set(xscale="log", yscale="log", title=_title(family, dim))
        ticks(axis.yaxis, min(shown), max(shown))
        few_decades(axis, curves["horizon"].min(), curves["horizon"].max())
        sns.despine(ax=axis)
    for axis in list(axes.flat)[len(costs) :]:
        axis.set_axis_off()
    for axis in list(axes.flat)[max(0, len(costs) - COLUMNS) : len(costs)]:
        axis.set_xlabel("T")
    for axis in axes[:, 0]:
        axis.set_ylabel("R / T")
    return figure


def _part(table, family, dim, kind):
    return table[(table["family"] == family) & (table["dim"] == dim) & (table["kind"] == kind)]


def _title(family, dim):
    import function_zoo as zoo

    return f"{family}, d = {dim}, β = {zoo.get(family, dim).constants.beta:.3g}"


def few_decades(axis, low, high):
    first, last = math.ceil(math.log10(low)), math.floor(math.log10(high))
    step = max(1, -(-(last - first) // 4))
    axis.xaxis.set_major_locator(FixedLocator([10.0**k for k in range(first, last + 1, step)]))
    axis.xaxis.set_minor_locator(NullLocator())


def _regret_keys():
    lines = [
        Line2D([], [], color=colour_of(i), marker=MARKERS[i], markerfacecolor="white", markersize=4, linewidth=1.2)
        for i in range(len(NAMES))
    ]
    for line, name in zip(lines, NAMES.values(), strict=True):
        line.set_label(name)
    return [*lines, Line2D([], [], color=INK, linewidth=1.2, label="lines: predicted")]


def gaps(found):
    """The gap on every cost against beta, by runs, on curves, and as promised."""
    families = list(dict.fromkeys(g.family for g in found))
    figure, axes = panels(1, 1, _gap_keys(families))
    axis = axes[0, 0]
    for g in found:
        i = families.index(g.family)
        x = g.beta + BESIDE * (2 * i - len(families) + 1)
        axis.plot([x - BESIDE, x + BESIDE], [g.promised] * 2, color=INK, linewidth=2.5, zorder=0)
        reach = [[g.raw.value - g.raw.low], [g.raw.high - g.raw.value]]
        axis.errorbar([x], [g.raw.value], reach, fmt=MARKERS[i], color=colour_of(i), markersize=5, elinewidth=1.2)
        arrow = {"arrowstyle": "->", "color": colour_of(i), "alpha": 0.6, "shrinkA": 4, "shrinkB": 0}
        axis.annotate("", (x, g.compensated.value), (x, g.raw.value), arrowprops=arrow)
        axis.plot([x], [g.curve_raw], "x", color=colour_of(i), markersize=7)
        side = {"xytext": (-7, 3), "ha": "right"} if i == 0 else {"xytext": (7, 3), "ha": "left"}
        axis.annotate(f"d = {g.dim}", (x, g.promised), textcoords="offset points", fontsize=8, color=INK, **side)
    ends = [end for g in found for end in (g.raw.low, g.raw.high, g.promised, g.curve_raw, g.compensated.value)]
    room = 0.08 * (max(ends) - min(ends))
    axis.set(ylim=(min(ends) - room, max(ends) + room))
    axis.axhline(0.0, color=INK, linewidth=0.8)
    axis.axvline(1.0, color=INK, linestyle=":", linewidth=1)
    betas = np.array([g.beta for g in found])
    axis.set(xlabel="β", ylabel="slope, tuned uniform − adaptive", xlim=(0.05, betas.max() + 0.4))
    sns.despine(ax=axis)
    return figure


def _gap_keys(families):
    points = [
        Line2D(
            [], [], color=colour_of(i), marker=MARKERS[i], linestyle="none", markersize=5, label=f"{family}, runs, raw"
        )
        for i, family in enumerate(families)
    ]
    return [
        *points,
        Line2D([], [], color=INK, marker="x", linestyle="none", markersize=7, label="predicted curves, raw"),
        Line2D([], [], color=INK, linewidth=2.5, label="α/D − α/D1"),
        Line2D([], [], color=INK, linestyle=":", linewidth=1, label="β = 1"),
    ]
