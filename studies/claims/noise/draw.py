"""Regrets and invalid bounds against the size of the noise."""

from __future__ import annotations

import numpy as np
import seaborn as sns
from matplotlib.figure import Figure
from matplotlib.lines import Line2D
from matplotlib.ticker import FuncFormatter

from ratecheck.figures import INK, MARKERS, PREDICTED, colour_of, number, panels, ticks
from studies.shared.figures import label_outer


def regrets(means, scaled) -> Figure:
    """A panel for each cost and algorithm: points by law over sigma, at the last horizon."""
    last = means[means["horizon"] == means["horizon"].max()]
    laws = list(last["law"].unique())
    cases = list(last.groupby(["family", "dim", "algorithm"], sort=False))
    figure, axes = panels(-(-len(cases) // 2), 2, _law_keys(laws), sharex=True)
    for axis, ((family, dim, algorithm), mine) in zip(axes.flat, cases, strict=False):
        axis.axhline(mine["predicted"].iloc[0], color=PREDICTED, linewidth=1.6)
        if (family, dim) == tuple(last[["family", "dim"]].iloc[0]):
            end = scaled[(scaled["algorithm"] == algorithm) & (scaled["horizon"] == scaled["horizon"].max())]
            axis.plot(end["sigma"], end["predicted"], color=PREDICTED, linestyle="--", linewidth=1.6)
            axis.errorbar(end["sigma"], end["regret"], 2 * end["error"], fmt="o", color=INK, mfc="white", markersize=5)
        for law, part in mine.groupby("law", sort=False):
            i = laws.index(law)
            place = part["sigma"] * 1.06 ** (i - 1)
            axis.errorbar(place, part["regret"], 2 * part["error"], fmt=MARKERS[i], color=colour_of(i), markersize=5)
        axis.set(xscale="log", yscale="log", title=f"{family}, d = {dim}, {algorithm}")
        _sigma_axis(axis, mine["sigma"])
        _in_thousands(axis, [*mine["regret"], *mine["predicted"]])
        sns.despine(ax=axis)
    label_outer(axes, "σ", "R / 1000")
    return figure


def _in_thousands(axis, values):
    """At least two labels on a short logarithmic axis, none of them long."""
    low, high = min(values) * 0.8, max(values) * 1.25
    axis.set_ylim(min(low, axis.get_ylim()[0]), max(high, axis.get_ylim()[1]))
    ticks(axis.yaxis, *axis.get_ylim())
    axis.yaxis.set_major_formatter(FuncFormatter(lambda y, _: f"{y / 1000:g}"))


def _sigma_axis(axis, sigmas):
    values = sorted(set(sigmas))
    axis.set_xticks(values, [f"{s:g}" for s in values])
    axis.minorticks_off()


def _law_keys(laws):
    points = [
        Line2D([], [], color=colour_of(i), marker=MARKERS[i], linestyle="none", label=law) for i, law in enumerate(laws)
    ]
    return [
        *points,
        Line2D([], [], color=INK, marker="o", mfc="white", linestyle="none", label="Gaussian, bonus times σ"),
        Line2D([], [], color=PREDICTED, linewidth=1.6, label="predicted, no noise"),
        Line2D([], [], color=PREDICTED, linewidth=1.6, linestyle="--", label="predicted, bonus times σ"),
    ]


def invalid_bounds(means, arms) -> Figure:
    """Invalid bounds against T for each algorithm on the first cost, and the regret of two bins alone."""
    first = means[(means["family"] == means["family"].iloc[0]) & (means["dim"] == means["dim"].iloc[0])]
    gauss = first[first["law"] == "Gaussian"]
    sigmas = sorted(gauss["sigma"].unique())
    keys = [
        Line2D([], [], color=colour_of(i), marker=MARKERS[i], markersize=4.5, label=f"σ = {s:g}")
        for i, s in enumerate(sigmas)
    ]
    figure, axes = panels(1, 3, keys)
    for axis, algorithm in zip(axes[0], ("uniform", "adaptive"), strict=False):
        for i, sigma in enumerate(sigmas):
            mine = gauss[(gauss["sigma"] == sigma) & (gauss["algorithm"] == algorithm)]
            axis.plot(mine["horizon"], mine["lately"], color=colour_of(i), marker=MARKERS[i], markersize=4.5)
        axis.set(xscale="log", title=f"{first['family'].iloc[0]}, {algorithm}", xlabel="T")
        axis.set_yscale("symlog", linthresh=1e-4, linscale=0.5)
        axis.set_yticks([0, 1e-4, 1e-3, 1e-2, 1e-1, 1], ["0", *(number(y) for y in (1e-4, 1e-3, 1e-2, 1e-1, 1.0))])
        axis.set_ylim(-2e-5, 1.5)
        axis.minorticks_off()
    axes[0, 0].set_ylabel("share of invalid bounds")
    axis = axes[0, 2]
    for i, sigma in enumerate(sorted(arms["sigma"].unique())):
        mine = arms[arms["sigma"] == sigma]
        axis.errorbar(
            mine["horizon"], mine["regret"], 2 * mine["error"], color=colour_of(i), marker=MARKERS[i], markersize=4.5
        )
        if sigma > 2:
            T = mine["horizon"].to_numpy(float)
            shape = T ** (1 - 4 / sigma**2)
            height = np.exp(np.mean(np.log(mine["regret"] / shape)))
            axis.plot(T, height * shape, color=INK, linestyle="--", linewidth=1.2)
    axis.set(xscale="log", yscale="log", title="two bins alone, R", xlabel="T")
    ticks(axis.yaxis, arms["regret"].min(), arms["regret"].max())
    for axis in axes[0]:
        ticks(axis.xaxis, 10.0, 1e6)
        sns.despine(ax=axis)
    return figure
