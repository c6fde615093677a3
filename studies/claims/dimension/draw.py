"""Slopes by dimension far out, and what a dimension costs."""

from __future__ import annotations

import numpy as np
import seaborn as sns
from matplotlib.figure import Figure
from matplotlib.lines import Line2D

from ratecheck.figures import CERTIFIED, INK, MARKERS, colour_of, panels, ticks, towards_infinity


def local_slopes(local, runs) -> Figure:
    families, dims = list(runs["family"].unique()), sorted(runs["dim"].unique())
    keys = [
        Line2D([], [], color=colour_of(i), marker=MARKERS[i], markersize=5, linestyle=_dashes(i), label=f"d = {d}")
        for i, d in enumerate(dims)
    ]
    figure, axes = panels(1, len(families), keys, sharey=True)
    for axis, family in zip(axes[0], families, strict=True):
        axis.axhline(0.5, color=INK, linewidth=1.2)
        for i, dim in enumerate(dims):
            mine = local[(local["family"] == family) & (local["dim"] == dim)]
            axis.plot(mine["horizon"], mine["slope"], color=colour_of(i), linewidth=1.4, linestyle=_dashes(i))
            seen = runs[(runs["family"] == family) & (runs["dim"] == dim)].iloc[0]
            middle = np.sqrt(2.0**10 * seen["horizon"]) * 1.5 ** (i - 2)
            axis.plot(middle, seen["raw"], MARKERS[i], color=colour_of(i), markersize=6, markeredgecolor="white")
        towards_infinity(axis, 2.0**10)
        axis.set(title=family, xlabel="T", ylim=(0.3, 0.85))
        sns.despine(ax=axis)
    axes[0, 0].set_ylabel("d ln R / d ln T")
    return figure


def _dashes(i):
    return ["-", "--", "-.", ":", (0, (5, 1, 1, 1, 1, 1))][i % 5]


def constants(runs, powers, below) -> Figure:
    families = list(runs["family"].unique())
    keys = [
        Line2D([], [], color=colour_of(i), marker=MARKERS[i], markersize=5, label=family)
        for i, family in enumerate(families)
    ]
    keys += [
        Line2D([], [], color=CERTIFIED, marker="_", linestyle="none", markersize=10, label="certified lower bound"),
        Line2D([], [], color=INK, linestyle="--", linewidth=1.2, label="printed, d/α + 1"),
        Line2D([], [], color=INK, linestyle=":", linewidth=1.2, label="sharper, d/(2α) + 1"),
    ]
    figure, axes = panels(1, 2, keys)
    left, right = axes[0]
    for i, family in enumerate(families):
        mine = runs[runs["family"] == family]
        root = np.sqrt(mine["horizon"])
        left.errorbar(
            mine["dim"], mine["regret"] / root, 2 * mine["error"] / root, color=colour_of(i), marker=MARKERS[i]
        )
        here = powers[powers["family"] == family]
        right.plot(here["dim"], here["power"], color=colour_of(i), marker=MARKERS[i], linestyle="none")
        for column, dashes in (("printed", "--"), ("sharper", ":")):
            right.plot(here["dim"], here[column], color=colour_of(i), linestyle=dashes, linewidth=1.2)
    ends = below.groupby("dim")["per_root"].last()
    left.plot(ends.index, ends, color=CERTIFIED, marker="_", linestyle="none", markersize=12, markeredgewidth=2)
    left.set(yscale="log", title="R / √T at the last horizon", xlabel="d")
    right.set(title="power of ln T", xlabel="d", ylim=(0, None))
    ticks(left.yaxis, ends.min(), (runs["regret"] / np.sqrt(runs["horizon"])).max())
    for axis in (left, right):
        axis.set_xticks(sorted(runs["dim"].unique()))
        sns.despine(ax=axis)
    return figure
