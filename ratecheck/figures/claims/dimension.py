"""Slopes by dimension far out, and what a dimension costs."""

from __future__ import annotations

import numpy as np
import seaborn as sns
from matplotlib.figure import Figure
from matplotlib.lines import Line2D
from matplotlib.ticker import FixedLocator, FuncFormatter

from ..base import CERTIFIED, INK, MARKERS, STATIONS, _approach, _approached, colour_of, number, panels, ticks

ABOVE = 0.6  # a slope that is 0.1 too large


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
        axis.set_xscale("function", functions=(_approach, _approached))
        axis.xaxis.set_major_locator(FixedLocator(STATIONS))
        axis.xaxis.set_major_formatter(FuncFormatter(lambda T, _: "∞" if STATIONS[-1] <= T else number(T)))
        axis.set_xlim(900, STATIONS[-1])
        axis.set(title=family, xlabel="T", ylim=(0.3, 0.85))
        sns.despine(ax=axis)
    axes[0, 0].set_ylabel("d ln R / d ln T")
    return figure


def _dashes(i):
    return ["-", "--", "-.", ":", (0, (5, 1, 1, 1, 1, 1))][i % 5]


def _onset(local):
    """The last T at which the slope exceeds ABOVE, and whether it comes down again before the curve ends."""
    high = local[local["slope"] > ABOVE]["horizon"]
    at = high.max() if len(high) else local["horizon"].min()
    return at, at < local["horizon"].max()


def constants(runs, local, below) -> Figure:
    families = list(runs["family"].unique())
    keys = [
        Line2D([], [], color=colour_of(i), marker=MARKERS[i], markersize=5, label=family)
        for i, family in enumerate(families)
    ]
    keys.append(
        Line2D([], [], color=CERTIFIED, marker="_", linestyle="none", markersize=10, label="certified lower bound")
    )
    figure, axes = panels(1, 2, keys)
    (left, right), reached = axes[0], []
    for i, family in enumerate(families):
        mine = runs[runs["family"] == family]
        root = np.sqrt(mine["horizon"])
        left.errorbar(
            mine["dim"], mine["regret"] / root, 2 * mine["error"] / root, color=colour_of(i), marker=MARKERS[i]
        )
        found = {d: _onset(part) for d, part in local[local["family"] == family].groupby("dim")}
        seen, later = ({d: at for d, (at, ends) in found.items() if ends == known} for known in (True, False))
        right.plot(list(seen), list(seen.values()), color=colour_of(i), marker=MARKERS[i])
        right.plot(
            list(later), list(later.values()), color=colour_of(i), marker=r"$\uparrow$", markersize=11, linestyle="none"
        )
        reached += [at for at, _ in found.values()]
    ends = below.groupby("dim")["per_root"].last()
    left.plot(ends.index, ends, color=CERTIFIED, marker="_", linestyle="none", markersize=12, markeredgewidth=2)
    left.set(yscale="log", ylabel="R / √T", xlabel="d")
    right.set(yscale="log", xlabel="d")
    right.set_ylabel(f"last T with a slope > {ABOVE}", labelpad=0)
    ticks(left.yaxis, ends.min(), (runs["regret"] / np.sqrt(runs["horizon"])).max())
    ticks(right.yaxis, min(reached), max(reached))
    right.set_ylim(min(reached) / 3, max(reached) * 10)
    for axis in (left, right):
        axis.set_xticks(sorted(runs["dim"].unique()))
        sns.despine(ax=axis)
    return figure
