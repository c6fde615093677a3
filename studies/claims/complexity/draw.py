"""The number of cells against T, and what old keys do."""

from __future__ import annotations

import numpy as np
import seaborn as sns
from matplotlib.lines import Line2D
from matplotlib.ticker import NullLocator

from ratecheck.figures import INK, MARKERS, PREDICTED, colour_of, panels, ticks
from studies.shared.figures import ANY, grid


def cells(runs, far):
    """A panel for each cost."""
    handles = [
        Line2D([], [], color=INK, marker="o", markersize=4, linestyle="none", label="mean of the runs"),
        Line2D([], [], color=PREDICTED, linewidth=1.6, label="predicted, no free parameter"),
        Line2D([], [], color=colour_of(0), linestyle=(0, (4, 2)), linewidth=1.3, label="corrected growth"),
        Line2D([], [], color=ANY, linestyle=":", linewidth=1.5, label="ln T, as printed"),
    ]
    names = list(runs["cost"].unique())
    figure, axes = grid(names, handles, "T", "cells")
    for axis, name in zip(axes, names, strict=False):
        curve, own = far[far["cost"] == name], runs[runs["cost"] == name]
        means = own.groupby("horizon")["cells"].mean()
        T = curve["horizon"].to_numpy()
        power, log_power = curve["exponent"].iloc[0], curve["log_power"].iloc[0]
        shapes = {"corrected": T**power * np.log(T) ** log_power, "printed": np.log(T)}
        styles = {"corrected": (colour_of(0), (0, (4, 2)), 1.3), "printed": (ANY, ":", 1.5)}
        for kind, shape in shapes.items():
            colour, line, width = styles[kind]
            axis.plot(T, shape * curve["cells"].iloc[-1] / shape[-1], color=colour, linestyle=line, linewidth=width)
        axis.plot(T, curve["cells"], color=PREDICTED, linewidth=1.6)
        axis.plot(means.index, means, "o", color=INK, markersize=3.5)
        low, high = float(means.min()), float(curve["cells"].max())
        axis.set(xscale="log", yscale="log", ylim=(0.6 * low, 1.6 * high))
        ticks(axis.xaxis, means.index[0], T[-1])
        if np.log10(T[-1] / means.index[0]) > 8:
            axis.set_xticks([10.0**p for p in _powers(T[-1])])
        ticks(axis.yaxis, low, high)
    return figure


def _powers(last):
    step = max(1, round(np.log10(last) / 4))
    return range(step, int(np.log10(last)) + 1, step)


def heap(table):
    """Three panels over all costs."""
    names = list(table["cost"].unique())
    handles = [
        Line2D([], [], color=colour_of(i), marker=MARKERS[i], markersize=5, linewidth=1.2, label=name)
        for i, name in enumerate(names)
    ]
    figure, axes = panels(1, 3, handles)
    share, ratio, matches = axes[0]
    for i, name in enumerate(names):
        own, style = table[table["cost"] == name], {"color": colour_of(i), "marker": MARKERS[i], "markersize": 4}
        share.plot(own["horizon"], own["share"], linewidth=1.2, **style)
        shifted = own["horizon"] * 1.09 ** (i - len(names) / 2)  # side by side
        reach = [own["ratio"] - own["ratio_low"], own["ratio_high"] - own["ratio"]]
        ratio.errorbar(shifted, own["ratio"], reach, linestyle="none", elinewidth=1, **style)
        matches.plot(own["cells"], own["matches"], linewidth=1.2, **style)
    ratio.axhline(1.0, color=INK, linewidth=0.8)
    m = np.geomspace(max(2.0, table["cells"].min()), table["cells"].max(), 50)
    matches.plot(m, np.log2(m), color=INK, linestyle=":", linewidth=1.2)
    matches.text(m[-1], np.log2(m[0]), "dotted: log2 of the cells", ha="right", va="bottom", fontsize=8.5)
    share.set(xscale="log", ylim=(0, 1.03), title="picks that are not the argmin", xlabel="T", ylabel="share")
    ratio.set(xscale="log", title="regret, old keys / argmin", xlabel="T")
    matches.set(xscale="log", title="matches per step", xlabel="cells")
    for axis in (share, ratio):
        at = sorted(table["horizon"].unique())
        axis.set_xticks(at, [f"$2^{{{round(np.log2(T))}}}$" for T in at])
        axis.xaxis.set_minor_locator(NullLocator())
    ticks(matches.xaxis, m[0], m[-1])
    for axis in axes[0]:
        sns.despine(ax=axis)
    return figure
