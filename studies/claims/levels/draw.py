"""By level: regret, cells that remain, the peak, and the deepest level that there can be."""

from __future__ import annotations

import math
from fractions import Fraction

import numpy as np
import seaborn as sns
from matplotlib.lines import Line2D
from matplotlib.ticker import MaxNLocator

from ratecheck.figures import INK, MARKERS, PREDICTED, colour_of, panels, ticks
from studies.shared.figures import ANY, grid

SHOWN = 3  # horizons of a profile
SHADES = ("0.65", "0.4", "0.0")
LINES = ((0, (1, 1.2)), (0, (4, 2)), "-")


def profiles(table):
    """A panel for each case: measured, predicted and the bound, at some horizons."""
    horizons = _some(sorted(table["horizon"].unique()))
    handles = [
        *(
            Line2D([], [], color=shade, marker=marker, linestyle="none", label=f"runs, T = 2^{int(math.log2(T))}")
            for T, shade, marker in zip(horizons, SHADES, MARKERS, strict=False)
        ),
        *(
            Line2D([], [], color=PREDICTED, linestyle=line, linewidth=1.4, label=f"predicted, 2^{int(math.log2(T))}")
            for T, line in zip(horizons, LINES, strict=False)
        ),
        Line2D([], [], color=colour_of(0), linewidth=1.2, label="the proof's bound, last T"),
        Line2D([], [], color=INK, linestyle=":", linewidth=1.2, label="log2 T / D, last T"),
    ]
    figure, axes = grid(table["case"].unique(), handles, "level k", "R_k")
    for axis, (_, part) in zip(axes, table.groupby("case", sort=False), strict=False):
        for T, shade, marker, line in zip(horizons, SHADES, MARKERS, LINES, strict=False):
            own = part[part["horizon"] == T]
            axis.plot(
                own["level"], own["predicted"].where(own["predicted"] > 0), color=PREDICTED, linestyle=line, lw=1.4
            )
            axis.errorbar(
                own["level"], own["regret"], 2 * own["sem"], fmt=marker, color=shade, markersize=4, elinewidth=1
            )
        own = part[part["horizon"] == horizons[-1]]
        constant = (part["regret"] / part["bound"]).max()
        axis.plot(own["level"], constant * own["bound"], color=colour_of(0), linewidth=1.2, zorder=0)
        axis.axvline(own["log2_by_D"].iloc[0], color=INK, linestyle=":", linewidth=1.2)
        top = max(float((constant * own["bound"]).max()), float(part["regret"].max()))
        least = max(float(part["regret"][part["regret"] > 0].min()), top * 1e-6)
        axis.set(yscale="log", ylim=(0.5 * least, 2 * top))
        ticks(axis.yaxis, least, top)
        _levels(axis)
    return figure


def remaining(table, made):
    """A panel for each case: counts at some ln T, their shape, and what the runs made."""
    logs = sorted(table["log_T"].unique())
    logs = [logs[0], logs[-1]]
    last = made["horizon"].max()
    handles = [
        *(
            Line2D(
                [],
                [],
                color=colour_of(0),
                marker=marker,
                markersize=4,
                linestyle="none",
                label=f"|B_k|, ln T = {log:g}",
            )
            for log, marker in zip(logs, MARKERS, strict=False)
        ),
        Line2D([], [], color=INK, linestyle=(0, (4, 2.5)), linewidth=1.2, label="2^(k(d-αβ)) (ln T)^β"),
        Line2D(
            [],
            [],
            color=colour_of(1),
            marker="^",
            markersize=4,
            linewidth=1,
            label=f"made by runs, T = 2^{int(math.log2(last))}",
        ),
    ]
    figure, axes = grid(table["case"].unique(), handles, "level k", "cells")
    for axis, (name, part) in zip(axes, table.groupby("case", sort=False), strict=False):
        for log, marker in zip(logs, MARKERS, strict=False):
            own = part[part["log_T"] == log]
            axis.plot(own["level"], own["count"], marker, color=colour_of(0), markersize=3.5)
            shape = own["shape"] * own["count"].iloc[-1] / own["shape"].iloc[-1]
            axis.plot(own["level"], shape, color=INK, linestyle=(0, (4, 2.5)), linewidth=1.2)
        own = made[(made["case"] == name) & (made["horizon"] == last)]
        axis.plot(own["level"], own["made"], "^-", color=colour_of(1), markersize=4, linewidth=1)
        axis.set(yscale="log")
        low, high = min(part["count"].min(), own["made"].min()), part["count"].max()
        axis.set_ylim(0.5 * low, 2 * high)
        ticks(axis.yaxis, low, high)
        _levels(axis)
    return figure


def peak(far, runs):
    """One panel for each case: the peak of the predicted profile and of runs against log2 T / D."""
    handles = [
        Line2D([], [], color=PREDICTED, marker=".", linestyle="none", label="predicted, no free parameter"),
        Line2D([], [], color=INK, marker="o", markerfacecolor="none", linestyle="none", label="runs"),
        Line2D([], [], color=ANY, linewidth=1.2, label="level = log2 T / D"),
    ]
    figure, axes = grid(far["case"].unique(), handles, "log2 T / D", "level of the peak")
    for axis, (name, part) in zip(axes, far.groupby("case", sort=False), strict=False):
        ends = [0, part["log2_by_D"].max()]
        axis.plot(ends, ends, color=ANY, linewidth=1.2)
        axis.plot(part["log2_by_D"], part["peak"], ".", color=PREDICTED, markersize=4)
        own = runs[runs["case"] == name]
        at = own.loc[own.groupby("horizon")["regret"].idxmax()]
        axis.plot(at["log2_by_D"], at["level"], "o", color=INK, markerfacecolor="none", markersize=5)
        _levels(axis)
        axis.yaxis.set_major_locator(MaxNLocator(4, integer=True))
    return figure


def deepest(capacity, reached):
    """A panel for each alpha that runs have."""
    alphas = [a for a in capacity["alpha"].unique() if a in set(reached["alpha"].astype(str))]
    handles = [
        Line2D([], [], color=INK, drawstyle="steps-post", linewidth=1.4, label="the deepest that capacities allow"),
        Line2D([], [], color=colour_of(1), marker="o", markersize=4, linestyle="none", label="runs"),
        Line2D([], [], color=colour_of(0), linestyle=(0, (4, 2)), linewidth=1.3, label="printed limit"),
        Line2D([], [], color=colour_of(2), linestyle="-.", linewidth=1.3, label="corrected limit"),
    ]
    figure, axes = panels(1, len(alphas), handles)
    for axis, alpha in zip(axes[0], alphas, strict=True):
        runs = reached[reached["alpha"].astype(str) == alpha]
        own = capacity[(capacity["alpha"] == alpha) & (capacity["t"] <= 4 * runs["t"].max())]
        t = np.geomspace(1, 2 * float(runs["t"].max()), 200)
        limit = np.log2(t) / (2 * float(Fraction(alpha)))
        axis.plot(t, limit, color=colour_of(0), linestyle=(0, (4, 2)), linewidth=1.3)
        axis.plot(t, limit + 1, color=colour_of(2), linestyle="-.", linewidth=1.3)
        steps = np.append(own["t"], t[-1]), np.append(own["level"], own["level"][own["t"] <= t[-1]].max())
        axis.step(*steps, where="post", color=INK, linewidth=1.4)
        axis.plot(runs["t"], runs["level"], "o", color=colour_of(1), markersize=3)
        axis.set(title=f"α = {alpha}", xscale="log", xlim=(1, t[-1]), ylim=(-0.3, limit[-1] + 1.5), xlabel="t")
        ticks(axis.xaxis, 1, t[-1])
        axis.yaxis.set_major_locator(MaxNLocator(5, integer=True))
        sns.despine(ax=axis)
    axes[0, 0].set_ylabel("level")
    return figure


def _some(horizons):
    """The last one and two before it, evenly."""
    step = max(1, (len(horizons) - 1) // SHOWN)
    return horizons[::-1][::step][:SHOWN][::-1]


def _levels(axis):
    axis.xaxis.set_major_locator(MaxNLocator(6, integer=True))
