"""Figures on Assumption 1: exponents of the zoo, a cost that is not smooth, and roughness that does not matter."""

from __future__ import annotations

import numpy as np
import seaborn as sns
from matplotlib.figure import Figure
from matplotlib.lines import Line2D

from ratecheck.figures import INK, MARKERS, colour_of, number, panels, ticks
from studies.shared.figures import ANY

BOWLS = {"plain": ("-", "o"), "rippled": ("--", "s"), "spiked": (":", "^")}


def deficits(found) -> Figure:
    """d/α - β of every cost, a row each."""
    dims = sorted(found["dim"].unique())
    names = list(dict.fromkeys(found["cost"]))[::-1]
    figure = Figure(figsize=(6.4, 0.26 * len(names) + 1.5))
    axis = figure.add_axes((0.27, 0.95 / (0.26 * len(names) + 1.5), 0.68, 1 - 1.2 / (0.26 * len(names) + 1.5)))
    axis.axvspan(-1, 0, color="0.93", zorder=-10, linewidth=0)
    axis.axvline(0, color=INK, linewidth=1)
    for i, dim in enumerate(dims):
        part = found[(found["dim"] == dim) & found["deficit"].notna()]
        y = np.array([names.index(name) for name in part["cost"]]) + 0.22 * (i - (len(dims) - 1) / 2)
        reach = np.abs([part["deficit"] - part["low"], part["high"] - part["deficit"]])
        axis.scatter(part["annotated"], y, marker="D", s=34, facecolor="none", edgecolor="0.6", linewidth=0.9)
        axis.errorbar(
            part["deficit"],
            y,
            xerr=reach,
            fmt=MARKERS[i],
            color=colour_of(i),
            markersize=3.6,
            elinewidth=1.2,
            capsize=2,
        )
    axis.set_yticks(range(len(names)), names)
    high = float(np.nanmax(np.append(found["high"], found["annotated"])))
    axis.set(xlim=(-0.15, 1.08 * high + 0.05), ylim=(-0.7, len(names) - 0.3), xlabel="d/α - β")
    keys = [
        Line2D([], [], marker=MARKERS[i], color=colour_of(i), linestyle="", label=f"measured, d = {dim}")
        for i, dim in enumerate(dims)
    ]
    keys.append(Line2D([], [], marker="D", markerfacecolor="none", color="0.6", linestyle="", label="annotated"))
    figure.legend(handles=keys, loc="lower center", ncols=4, frameon=False)
    sns.despine(ax=axis)
    return figure


def envelope(table) -> Figure:
    """The counter-example, and how its error over a² grows as a falls."""
    some = sorted(table["n"].unique())[::2]
    keys = [Line2D([], [], color="0.6", linestyle="--", label="x² and 2x²")]
    keys += [
        Line2D([], [], color=colour_of(i), marker=MARKERS[i], markersize=4, label=f"at 1/({n}π)" if n > 1 else "at 1/π")
        for i, n in enumerate(some)
    ]
    figure, ((left, right),) = panels(1, 2, keys)
    x = np.linspace(0.01, 0.4, 40_001)
    y = x**2 * (1.5 + 0.5 * np.sign(np.sin(1 / x)))
    jumps = np.flatnonzero(np.abs(np.diff(np.sign(np.sin(1 / x)))) > 0)
    left.plot(x, np.where(np.isin(np.arange(len(x)), jumps), np.nan, y), color=INK, linewidth=2, zorder=3)
    for factor in (1, 2):
        left.plot(x, factor * x**2, color="0.6", linestyle="--", linewidth=1)
    left.set(xlabel="x", title="f(x)")
    for i, n in enumerate(some):
        part = table[table["n"] == n]
        right.plot(
            part["a"], part["ratio"], color=colour_of(i), marker=MARKERS[i], markersize=3.5, markevery=4, linewidth=1
        )
    right.set(xscale="log", yscale="log", xlabel="a", title="|mean - f(x)| / a², at least")
    ticks(right.xaxis, table["a"].min(), table["a"].max())
    ticks(right.yaxis, table["ratio"].min(), table["ratio"].max())
    right.yaxis.get_major_locator().set_params(numticks=8)
    right.xaxis.get_major_locator().set_params(numticks=6)
    for axis in (left, right):
        sns.despine(ax=axis)
    return figure


def rough(runs) -> Figure:
    """Regret of both algorithms on the plain bowl and on the rough ones."""
    keys = [
        Line2D([], [], color=colour_of(i), linestyle=dashes, marker=marker, markersize=4, label=f"{bowl} bowl")
        for i, (bowl, (dashes, marker)) in enumerate(BOWLS.items())
    ]
    keys.append(Line2D([], [], color=ANY, linewidth=0.8, label="$T^{1/2}$ and $T$, for comparison"))
    figure, (axes,) = panels(1, 2, keys, sharey=True)
    means = runs.groupby(["bins", "bowl", "horizon"])["regret"].agg(["mean", "sem"]).reset_index()
    for axis, way in zip(axes, ("adaptive", "uniform"), strict=True):
        mine = means[means["bins"] == way]
        for i, (bowl, (dashes, marker)) in enumerate(BOWLS.items()):
            part = mine[mine["bowl"] == bowl]
            style = {"linestyle": dashes, "marker": marker, "markersize": 4, "linewidth": 1.2, "elinewidth": 1}
            axis.errorbar(part["horizon"], part["mean"], 1.96 * part["sem"], color=colour_of(i), **style)
        T = np.array([mine["horizon"].min(), mine["horizon"].max()], dtype=float)
        for slope in (0.5, 1.0):
            axis.plot(T, mine["mean"].max() * (T / T[1]) ** slope, color=ANY, linewidth=0.8, zorder=-1)
        axis.set(xscale="log", yscale="log", xlabel="T", title=f"{way} bins")
        ticks(axis.xaxis, 1, 1e3)  # decades only
        sns.despine(ax=axis)
    axes[0].set_ylabel("mean regret R")
    axes[0].yaxis.set_major_formatter(lambda y, _: number(y))
    return figure
