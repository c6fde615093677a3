"""Figures on the lemmas: a constant, a bound on invalid confidence bounds, queries that die out, means over cells."""

from __future__ import annotations

import numpy as np
import seaborn as sns
from matplotlib.figure import Figure
from matplotlib.lines import Line2D

from ratecheck.figures import INK, MARKERS, colour_of, panels, ticks
from studies.claims.lemmas.rules import TESTED, limits
from studies.shared.figures import ANY, label_outer

MUS = {"theorem": "Theorem 2's mu", "minimum": "mu_min", "half": "mu_min / 2", "none": "mu = 0"}
BOUND = "0.35"
DASHES = ("-", "--", "-.", ":")


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
    sizes = sorted(table["M"].unique())
    ways = list(dict.fromkeys(zip(table["which"], table["sigma"], strict=True)))
    keys = [
        Line2D(
            [], [], color=colour_of(i), linewidth=4, label=MUS[which] + (f", noise × {sigma:g}" if sigma != 1 else "")
        )
        for i, (which, sigma) in enumerate(ways)
    ]
    keys += [
        Line2D([], [], color=BOUND, marker=MARKERS[i], linestyle=DASHES[i], label=f"M = {M:.2g}, its bound")
        for i, M in enumerate(sizes)
    ]
    figure, (axes,) = panels(1, 2, keys, sharey=True)
    for i, M in enumerate(sizes):
        axis, mine = axes[int(sizes[-1] == M)], table[table["M"] == M]
        for (which, sigma), one in mine.groupby(["which", "sigma"], sort=False):
            _frequencies(axis, one, colour_of(ways.index((which, sigma))), MARKERS[i])
        bound = mine.drop_duplicates("t")
        axis.plot(bound["t"], bound["bound"], color=BOUND, linestyle=DASHES[i], linewidth=1.4, zorder=-1)
    for axis, title in zip(axes, ("small M", "large M"), strict=True):
        axis.set(xscale="log", yscale="log", xlabel="t", ylim=(0.3 / table["runs"].max(), 2), title=title)
        ticks(axis.xaxis, 1, 1e3)
        ticks(axis.yaxis, 1e-4, 1)
        sns.despine(ax=axis)
    axes[0].set_ylabel("frequency of g(x*) > f*")
    return figure


def _frequencies(axis, one, colour, marker):
    t, p = one["t"].to_numpy(float), (one["invalid"] / one["runs"]).to_numpy()
    found = np.array([limits(row.invalid, row.runs) for row in one.itertuples()])
    seen = p > 0
    reach = np.abs(found[seen].T - p[seen])
    axis.errorbar(t[seen], p[seen], reach, fmt=marker, color=colour, markersize=4.5, elinewidth=1)
    axis.plot(t[~seen], found[~seen, 1], "v", color=colour, markerfacecolor="none", markersize=5)


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
    label_outer(axes, "level k", "queries per run")
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
