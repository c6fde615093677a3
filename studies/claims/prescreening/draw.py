"""How often prescreening fails, and what it costs."""

from __future__ import annotations

import numpy as np
import seaborn as sns
from matplotlib.figure import Figure
from matplotlib.lines import Line2D
from scipy.stats import binomtest

from ratecheck.figures import INK, MARKERS, colour_of, panels, ticks

LEAST = 1e-6  # probability that is still shown


def failures(bands, sizes) -> Figure:
    dims = sorted(bands["dim"].unique())
    kinds = {"excluded": "x* excluded", "unbounded": "kept beyond M"}
    keys = [
        *(
            Line2D([], [], color=colour_of(i), marker=MARKERS[i], linestyle="none", label=name)
            for i, name in enumerate(kinds.values())
        ),
        Line2D([], [], color=INK, linestyle="--", label="proved: at most"),
        Line2D([], [], color=INK, linestyle=":", label="at least"),
    ]
    figure, axes = panels(1, len(dims), keys)
    for axis, dim in zip(axes[0], dims, strict=True):
        mine = bands[bands["dim"] == dim]
        for column, dashes in (("bound", "--"), ("floor", ":")):
            axis.plot(mine["queries"], mine[column], color=INK, linestyle=dashes)
        for i, column in enumerate(kinds):
            _frequencies(axis, mine, column, i)
        axis.set(yscale="log", xlabel="random queries", title=f"d = {dim}", ylim=(LEAST, 2))
        ticks(axis.yaxis, LEAST, 1)
        sns.despine(ax=axis)
    axes[0, 0].set_ylabel("probability")
    return figure


def _frequencies(axis, rows, column, i):
    seen = rows[rows[column] > 0]
    share = seen[column] / seen["runs"]
    ends = [binomtest(int(k), int(n)).proportion_ci() for k, n in zip(seen[column], seen["runs"], strict=True)]
    reach = np.array([[s - e.low, e.high - s] for s, e in zip(share, ends, strict=True)]).reshape(-1, 2).T
    axis.errorbar(seen["queries"], share, reach, fmt=MARKERS[i], color=colour_of(i), markersize=5)


def costs(sizes, totals) -> Figure:
    dims = sorted(sizes["dim"].unique())
    keys = [
        *(
            Line2D([], [], color=colour_of(i), marker=MARKERS[i], label=f"d = {d}, with the step")
            for i, d in enumerate(dims)
        ),
        *(
            Line2D(
                [], [], color=colour_of(i), marker=MARKERS[i], mfc="white", linestyle="--", label=f"d = {d}, without"
            )
            for i, d in enumerate(dims)
        ),
    ]
    figure, (axes,) = panels(1, 2, keys)
    left, right = axes
    for i, dim in enumerate(dims):
        mine, runs = sizes[sizes["dim"] == dim], totals[totals["dim"] == dim]
        left.plot(mine["horizon"], mine["cost"] / 1000, color=colour_of(i), marker=MARKERS[i], markersize=4.5)
        style = {"color": colour_of(i), "marker": MARKERS[i], "markersize": 5}
        right.errorbar(runs["horizon"], runs["total"], 2 * runs["error"], **style)
        right.errorbar(
            runs["horizon"], runs["without"], 2 * runs["without_error"], mfc="white", linestyle="--", **style
        )
    left.set(xscale="log", xlabel="T", ylabel="R", title="the step alone, in thousands", ylim=(0, None))
    right.set(xscale="log", yscale="log", xlabel="T", title="total")
    ticks(left.xaxis, sizes["horizon"].min(), sizes["horizon"].max())
    ticks(right.xaxis, totals["horizon"].min() / 20, totals["horizon"].max() * 20)
    ticks(right.yaxis, *np.array([totals[["total", "without"]].min().min(), totals[["total", "without"]].max().max()]))
    for axis in axes:
        sns.despine(ax=axis)
    return figure
