"""Figure 1 of the paper, and how it depends on settings that the paper does not state."""

from __future__ import annotations

import textwrap

import numpy as np
import seaborn as sns
from matplotlib.figure import Figure
from matplotlib.lines import Line2D
from matplotlib.ticker import FixedLocator, NullLocator
from scipy import special

from ratecheck.figures import INK, MARKERS, PREDICTED, SHADE, colour_of, panels, ticks
from studies.shared.figures import room

ROWS = (("quadratic", "f1"), ("twin_cone", "f2"))
DIMS = (1, 2, 3)
MUS = {"0": "0", "M_b": "$M_b$", "mu_min": "$μ_{min}$", "smooth": "$(1+2^{d+α})M_b$", "theorem": "Theorem 2's"}


def compared(rows) -> Figure:
    """R/T of uniform bins by width, with the line of adaptive bins."""
    handles = [
        Line2D([], [], color=colour_of(0), marker="o", markersize=4.5, label="uniform bins"),
        Line2D([], [], color=colour_of(1), linestyle="--", label="adaptive bins"),
        Line2D([], [], color=PREDICTED, linewidth=1.6, label="predicted, no free parameter"),
    ]
    figure, axes = panels(2, 3, handles, sharex="col")
    for line, (family, letter) in enumerate(ROWS):
        for column, dim in enumerate(DIMS):
            mine = rows[(rows["family"] == family) & (rows["dim"] == dim)].sort_values("width")
            axis = axes[line, column]
            _panel(axis, mine)
            axis.set_title(f"{letter}, d = {dim}")
            if line == 1:
                axis.set_xlabel("bin width")
        axes[line, 0].set_ylabel("R/T")
    return figure


def _panel(axis, rows):
    reach = special.stdtrit(rows["runs"].iloc[0] - 1, 0.975)
    width, uniform = rows["width"].to_numpy(), rows["uniform"].to_numpy()
    level, error = rows["adaptive"].iloc[0], reach * rows["adaptive_se"].iloc[0]
    axis.errorbar(
        width,
        uniform,
        reach * rows["uniform_se"].to_numpy(),
        color=colour_of(0),
        marker="o",
        markersize=4,
        linewidth=1,
        elinewidth=1,
    )
    axis.axhspan(level - error, level + error, color=colour_of(1), alpha=0.18, linewidth=0)
    axis.axhline(level, color=colour_of(1), linestyle="--", linewidth=1.6)
    axis.plot(width, rows["uniform_foretold"], color=PREDICTED, linewidth=1.4)
    axis.axhline(rows["adaptive_foretold"].iloc[0], color=PREDICTED, linewidth=1.0)
    axis.set(xscale="log", yscale="log")
    everything = np.concatenate([uniform, rows["uniform_foretold"], [max(level - error, level / 2), level + error]])
    low, high = float(everything.min()), float(everything.max())
    ticks(axis.xaxis, width.min(), width.max())
    ticks(axis.yaxis, low, high)
    room(axis, low, high, share=0.08)
    sns.despine(ax=axis)


def dependence(rows, labels, mus, lengths) -> Figure:
    """The ratio of adaptive to uniform bins in each panel, by place and mu, one sign for each a0."""
    handles = [
        Line2D([], [], color=colour_of(i), marker=MARKERS[i], linestyle="", label=f"a0 = {a0:g}")
        for i, a0 in enumerate(lengths)
    ]
    handles.append(Line2D([], [], color=PREDICTED, marker="|", markersize=8, linestyle="", label="predicted"))
    widest = {"low": rows["low"].clip(lower=rows["ratio"] / 100), "high": rows["high"].clip(upper=rows["ratio"] * 100)}
    rows = rows.assign(**widest)  # of a few runs an interval may be endless
    places = [place for place in labels if place in set(rows["place"])]
    figure, axes = _wide(len(places) * len(mus), handles)
    names = [MUS[mu] for mu in mus]
    for line, (family, letter) in enumerate(ROWS):
        for column, dim in enumerate(DIMS):
            axis = axes[line, column]
            mine = rows[(rows["family"] == family) & (rows["dim"] == dim)]
            for i, a0 in enumerate(lengths):
                _ratios(axis, mine[mine["a0"] == a0], places, mus, (i - (len(lengths) - 1) / 2) * 0.3, i)
            for k in range(1, len(places), 2):
                axis.axhspan(k * len(mus) - 0.5, (k + 1) * len(mus) - 0.5, color=SHADE, zorder=-10, linewidth=0)
            axis.axvline(1.0, color=INK, linewidth=1)
            axis.set(xscale="log", ylim=(len(places) * len(mus) - 0.5, -0.5), title=f"{letter}, d = {dim}")
            ticks(axis.xaxis, mine["low"].min(), mine["high"].max())
            axis.yaxis.set_major_locator(FixedLocator(range(len(places) * len(mus))))
            axis.yaxis.set_minor_locator(NullLocator())
            axis.set_yticklabels(names * len(places) if column == 0 else [])
            axis.tick_params(axis="y", length=2, labelsize=7.5)
            if line == 1:
                axis.set_xlabel("R/T, adaptive over best uniform")
            sns.despine(ax=axis)
        for k, place in enumerate(places):
            axes[line, 0].text(
                -0.42,
                1 - (k + 0.5) / len(places),
                textwrap.fill(labels[place], 14),
                transform=axes[line, 0].transAxes,
                ha="right",
                va="center",
                fontsize=8.5,
            )
    return figure


def _ratios(axis, rows, places, mus, shift, i):
    place = rows["place"].map(places.index).to_numpy() * len(mus) + rows["mu"].map(list(mus).index).to_numpy() + shift
    ratio, low, high = (rows[name].to_numpy() for name in ("ratio", "low", "high"))
    axis.errorbar(
        ratio,
        place,
        xerr=[ratio - low, high - ratio],
        fmt=MARKERS[i],
        color=colour_of(i),
        markersize=3.5,
        elinewidth=1,
        linestyle="",
    )
    axis.plot(rows["foretold"], place, marker="|", color=PREDICTED, markersize=7, linestyle="", zorder=4)


def _wide(count, handles):
    """Six tall panels with room for labels of rows."""
    left, right, top, bottom, wide, high, between, under = 2.2, 0.2, 0.35, 0.85, 2.6, 0.13 * count, 0.2, 0.5
    width = left + right + 3 * wide + 2 * between
    height = top + bottom + 2 * high + under
    figure = Figure(figsize=(width, height))
    figure.subplots_adjust(
        left=left / width,
        right=1 - right / width,
        top=1 - top / height,
        bottom=bottom / height,
        wspace=between / wide,
        hspace=under / high,
    )
    figure.legend(handles=handles, loc="lower center", ncols=len(handles), frameon=False, borderaxespad=0.2)
    return figure, figure.subplots(2, 3, squeeze=False)
