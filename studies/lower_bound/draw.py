"""Certified lower bounds under measured regrets, a panel for every cost of one dimension."""

from __future__ import annotations

import numpy as np
import seaborn as sns
from matplotlib import rc_context
from matplotlib.lines import Line2D
from matplotlib.ticker import NullLocator

from studies.shared.figures import INK, MARKERS, PREDICTED, STYLE, colour_of, panels, save

COLUMNS = 4


def draw_sandwiches(drafts, factors, theory, dim) -> str:
    """The name of the figure of a dimension."""
    with rc_context(STYLE):
        return save(sandwiches(factors, theory, dim), drafts, f"sandwich-d{dim}", svg=False)


def sandwiches(factors, theory, dim):
    """`factors` is Measured.factors without the oracle, `theory[family]` the slope of Theorem 3."""
    shown = factors[factors["dim"] == dim]
    families = list(dict.fromkeys(shown["family"]))
    names = list(dict.fromkeys(shown["algorithm"]))
    columns = min(COLUMNS, len(families))
    rows = -(-len(families) // columns)
    figure, axes = panels(rows, columns, _keys(names), sharex=True)
    for axis, family in zip(axes.flat, families, strict=False):
        part = shown[shown["family"] == family]
        for i, name in enumerate(names):
            mine = part[part["algorithm"] == name]
            look = {"color": colour_of(i), "marker": MARKERS[i % len(MARKERS)], "markersize": 4, "linewidth": 0.8}
            axis.errorbar(mine["horizon"], mine["mean"], yerr=mine["error"], **look)
            axis.plot(mine["horizon"], mine["predicted"], "x", color=PREDICTED, markersize=4)
        bound = part.drop_duplicates("horizon").sort_values("horizon")
        T = bound["horizon"].to_numpy(float)
        axis.plot(T, bound["bound"], color=INK, linewidth=1.8)
        axis.plot(
            T, bound["bound"].iloc[0] * (T / T[0]) ** theory[family], color=INK, linestyle=(0, (4, 2.5)), linewidth=1
        )
        axis.set(xscale="log", yscale="log", title=f"{family}, d = {dim}")
        axis.xaxis.set_minor_locator(NullLocator())
        axis.yaxis.set_minor_locator(NullLocator())
        sns.despine(ax=axis)
    for axis in list(axes.flat)[len(families) :]:
        axis.set_axis_off()
    for axis in list(axes.flat)[max(0, len(families) - columns) : len(families)]:  # the lowest of each column
        axis.set_xlabel("T")
        axis.tick_params(labelbottom=True)
    for axis in np.atleast_2d(axes)[:, 0]:
        axis.set_ylabel("R")
    return figure


def _keys(names):
    algorithms = [
        Line2D([], [], color=colour_of(i), marker=MARKERS[i % len(MARKERS)], markersize=4, linewidth=0.8, label=name)
        for i, name in enumerate(names)
    ]
    return [
        *algorithms,
        Line2D([], [], color=PREDICTED, marker="x", linestyle="none", markersize=4, label="predicted"),
        Line2D([], [], color=INK, linewidth=1.8, label="certified lower bound"),
        Line2D([], [], color=INK, linestyle=(0, (4, 2.5)), linewidth=1, label="Theorem 3's slope"),
    ]
