"""The exponent of R against the alpha0 that adaptive bins are run with."""

from __future__ import annotations

import numpy as np
import seaborn as sns
from matplotlib.figure import Figure
from matplotlib.lines import Line2D

from ratecheck.figures import INK, PREDICTED, colour_of, panels
from studies.claims.misspecified.experiment import promised

COLUMNS = 3


def exponents(runs, far) -> Figure:
    cases = list(runs.groupby(["family", "dim"], sort=False))
    figure, axes = panels(-(-len(cases) // COLUMNS), COLUMNS, _keys(), sharex=True, sharey=True)
    for axis in axes.flat[len(cases) :]:
        axis.axis("off")
    for axis, ((family, dim), mine) in zip(axes.flat, cases, strict=False):
        _panel(axis, mine, far[(far["family"] == family) & (far["dim"] == dim)])
        axis.set_title(f"{family}, d = {dim}")
        sns.despine(ax=axis)
    for axis in axes.flat[max(0, len(cases) - COLUMNS) : len(cases)]:
        axis.set_xlabel("α0")
    for axis in axes[:, 0]:
        axis.set_ylabel("exponent of R")
    return figure


def _panel(axis, runs, far):
    alpha, beta, dim = runs["alpha"].iloc[0], runs["beta"].iloc[0], runs["dim"].iloc[0]
    low, high = runs["alpha0"].min(), runs["alpha0"].max()
    for ends, dashes in ((np.linspace(min(low, alpha), alpha), "-"), (np.linspace(alpha, max(high, alpha)), "--")):
        axis.plot(ends, [promised(alpha, beta, dim, a) for a in ends], color=INK, linewidth=1.3, linestyle=dashes)
    axis.axvline(alpha, color=INK, linestyle=":", linewidth=1)
    axis.errorbar(
        runs["alpha0"] - 0.02, runs["slope"], _reach(runs, "slope"), fmt="o", color=colour_of(0), markersize=4.5
    )
    axis.errorbar(
        far["alpha0"] + 0.02, far["limit"], _reach(far, "limit"), fmt="D", color=PREDICTED, markersize=4, mfc="white"
    )
    axis.set(xlim=(0.3, 2.2), ylim=(0.38, 1.02))


def _reach(rows, middle):
    return np.abs(np.array([rows[middle] - rows["low"], rows["high"] - rows[middle]]))


def _keys():
    return [
        Line2D([], [], color=INK, linewidth=1.3, label="theory, α0 ≤ α"),
        Line2D([], [], color=INK, linewidth=1.3, linestyle="--", label="argument, α0 > α"),
        Line2D([], [], color=colour_of(0), marker="o", linestyle="none", label="slope of runs, jointly 95 %"),
        Line2D(
            [], [], color=PREDICTED, marker="D", mfc="white", linestyle="none", label="limit of the predicted curve"
        ),
    ]
