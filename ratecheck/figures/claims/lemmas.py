"""Figures on the lemmas: a constant, a bound on invalid confidence bounds, queries that die out, means over cells."""

from __future__ import annotations

import numpy as np
import seaborn as sns
from matplotlib.figure import Figure
from matplotlib.lines import Line2D

from ...ledger.experiments.lemma_rules import TESTED, limits
from ..base import ANY, INK, MARKERS, colour_of, panels, ticks

MUS = {"theorem": "Theorem 2's mu", "minimum": "mu_min", "half": "mu_min / 2", "none": "mu = 0"}
BOUND = "0.35"


def constants(powers, growth) -> Figure:
    """Shares of both constants, for powers and for the zoo."""
    keys = [
        Line2D([], [], color=colour_of(0), marker="o", label="of the printed constant"),
        Line2D([], [], color=colour_of(1), marker="s", linestyle="--", label="of the corrected constant"),
    ]
    figure, ((left, right),) = panels(1, 2, keys, sharey=True)
    styles = (("printed", "o", "-"), ("corrected", "s", "--"))
    for i, (which, marker, dashes) in enumerate(styles):
        share = powers["ratio"] / powers[which]
        left.plot(powers["power"], share, color=colour_of(i), marker=marker, linestyle=dashes, markersize=4.5)
        sorted_share = np.sort(growth["ratio"] / growth[which])[::-1]
        right.plot(
            range(1, len(sorted_share) + 1), sorted_share, color=colour_of(i), marker=marker, markersize=3, linestyle=""
        )
    left.set(xlabel="p, of |x|^p", ylabel="sup / constant")
    right.set(xlabel="costs of the zoo, by size", yscale="log")
    ticks(right.yaxis, 1e-3, 1.5)
    for axis in (left, right):
        axis.axhline(1, color=INK, linewidth=1)
        sns.despine(ax=axis)
    return figure


def validity(table) -> Figure:
    """Frequencies against time: costs with a small M beside their bounds, and a large M with several mu."""
    largest = table["M"].max()
    small, large = table[table["M"] < largest], table[table["M"] == largest]
    handles, drawn = [], []
    for side, part in enumerate((small, large)):
        for group, one in part.groupby(["cost", "scale", "which", "sigma"], sort=False):
            i = len(drawn)
            cost, scale, which, sigma = group
            noise = f", noise {sigma:g} times" if sigma != 1 else ""
            label = f"M = {one['M'].iloc[0]:.2g}, {MUS[which]}{noise}"
            style = {"color": colour_of(i), "marker": MARKERS[i % len(MARKERS)]}
            handles.append(Line2D([], [], linestyle="", markersize=5, label=label, **style))
            drawn.append((side, one, style))
    handles.append(Line2D([], [], color=BOUND, linewidth=1.4, label="bound of Lemma 2's proof"))
    figure, (axes,) = panels(1, 2, handles, sharey=True)
    for side, one, style in drawn:
        _frequencies(axes[side], one, style)
    for axis, part in zip(axes, (small, large), strict=True):
        for _, one in part.groupby("M"):
            axis.plot(one["t"].unique(), one.drop_duplicates("t")["bound"], color=BOUND, linewidth=1.4, zorder=-1)
        axis.set(xscale="log", yscale="log", xlabel="t", ylim=(0.3 / table["runs"].max(), 2))
        ticks(axis.xaxis, 1, 1e3)
        ticks(axis.yaxis, 1e-4, 1)
        sns.despine(ax=axis)
    axes[0].set(ylabel="frequency of g(x*) > f*", title="small M")
    axes[1].set_title("large M")
    return figure


def _frequencies(axis, one, style):
    t, p = one["t"].to_numpy(float), (one["invalid"] / one["runs"]).to_numpy()
    found = np.array([limits(row.invalid, row.runs) for row in one.itertuples()])
    seen = p > 0
    reach = np.abs(found[seen].T - p[seen])
    axis.errorbar(t[seen], p[seen], reach, fmt=style["marker"], color=style["color"], markersize=4.5, elinewidth=1)
    axis.plot(t[~seen], found[~seen, 1], "v", color=style["color"], markerfacecolor="none", markersize=5)


def decay(table) -> Figure:
    """Queries per run in cells of ever larger gaps, level by level."""
    mine = table[(table["which"] == TESTED) & (table["T"] == table["T"].max()) & table["possible"]]
    groups = list(mine.groupby(["cost", "dim", "cells"], sort=False))
    shares = sorted(mine["share"].unique())
    keys = [
        Line2D([], [], color=colour_of(i), marker=MARKERS[i], markersize=4.5, label=f"{share:g} times")
        for i, share in enumerate(shares)
    ]
    keys.append(Line2D([], [], color=ANY, marker="o", markerfacecolor="none", linestyle="", label="none in any run"))
    columns = 2
    figure, axes = panels(-(-len(groups) // columns), columns, keys, sharey=True)
    floor = 0.2 / mine["runs"].max()
    for axis, ((cost, dim, _), part) in zip(axes.flat, groups, strict=False):
        for i, share in enumerate(shares):
            one = part[part["share"] == share].sort_values("k")
            mean = (one["queries"] / one["runs"]).to_numpy()
            shown = np.where(mean > 0, mean, floor * 1.5**i)
            axis.plot(one["k"], shown, color=colour_of(i), linewidth=1, zorder=1)
            for hit, face in ((mean > 0, colour_of(i)), (mean == 0, "white")):
                style = {"marker": MARKERS[i], "markersize": 4.5, "linestyle": "", "color": colour_of(i)}
                axis.plot(one["k"][hit], shown[hit], markerfacecolor=face, **style)
        axis.set(yscale="log", title=f"{cost}, d = {dim}", xticks=sorted(part["k"].unique()))
        ticks(axis.yaxis, 1e-3, 1e3)
        sns.despine(ax=axis)
    for axis in axes.flat[len(groups) :]:
        axis.set_visible(False)
    for axis in axes[-1]:
        axis.set_xlabel("level k")
    for axis in axes[:, 0]:
        axis.set_ylabel("queries per run")
    return figure


def means(table) -> Figure:
    """Shares of Lemma 5's bound by level, and of the misprinted step by a0^(α-1)."""
    mine = table[table["which"] == TESTED].dropna(subset="ratio")
    groups = list(mine.groupby(["cost", "dim"], sort=False))
    dashes = ("-", "--")
    keys = [
        Line2D(
            [], [], color=colour_of(i), marker=MARKERS[i % 7], linestyle=dashes[i // 7], markersize=4,
            label=f"{cost}, d = {dim}",
        )
        for i, ((cost, dim), _) in enumerate(groups)
    ]  # fmt: skip
    figure, ((left, right),) = panels(1, 2, keys)
    for i, (_, part) in enumerate(groups):
        style = {"color": colour_of(i), "marker": MARKERS[i % 7], "markersize": 4}
        worst = part.groupby("k")["ratio"].max()
        left.plot(worst.index, worst, linestyle=dashes[i // 7], linewidth=1, **style)
        step = part.groupby(["a0", "alpha"])["printed_step"].max().reset_index()
        right.plot(step["a0"] ** (step["alpha"] - 1), step["printed_step"], linestyle="", **style)
    left.set(xlabel="level k", title="of the bound", ylim=(0, 1.08), ylabel="largest share")
    right.set(xlabel=r"$a_0^{\alpha-1}$", title="of the step as printed", xscale="log", ylim=(0, None))
    ticks(right.xaxis, 0.3, 3)
    for axis in (left, right):
        axis.axhline(1, color=INK, linewidth=1)
        sns.despine(ax=axis)
    return figure
