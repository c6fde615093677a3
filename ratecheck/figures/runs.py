"""A table of runs: the regret of each against T, their mean, and the middle 80 % of them."""

from __future__ import annotations

import textwrap
from dataclasses import dataclass

import numpy as np
from matplotlib import rc_context
from matplotlib.patches import Patch

from .base import STYLE, Drawing, colour_of, entry, lettered, plain_panel

LONGEST_TITLE = 75  # letters over one panel
MOST_LINES = 100  # of single runs; more are one grey cloud


@dataclass(frozen=True)
class Regrets:
    """What the figure of runs shows; a run that is seen at every horizon is a line."""

    title: str
    horizons: np.ndarray
    mean: np.ndarray
    middle: np.ndarray  # (2, n): the quantiles of 10 and 90 %
    lines: np.ndarray  # (replicates, n), empty where every horizon has runs of its own

    @classmethod
    def of(cls, runs) -> Regrets:
        table = runs.frame.pivot(index="replicate", columns="horizon", values="regret")
        regrets = table.to_numpy(dtype=float)
        anytime = bool(runs.frame["anytime"].iloc[0])
        return cls(
            title=f"{runs.algorithm.label} on {runs.cost.name}, d = {runs.cost.dim}",
            horizons=table.columns.to_numpy(dtype=float),
            mean=np.nanmean(regrets, axis=0),
            middle=np.nanquantile(regrets, [0.1, 0.9], axis=0),
            lines=regrets[:MOST_LINES] if anytime else regrets[:0],
        )


def regrets_figure(shown: Regrets) -> Drawing:
    colour = colour_of(0)
    keys = [
        entry(color=colour, marker="o", markersize=5, label="mean of the runs"),
        Patch(color=colour, alpha=0.22, linewidth=0, label="middle 80 % of the runs"),
    ]
    if len(shown.lines):
        keys.append(entry(color="0.6", linewidth=0.6, label="single runs"))
    with rc_context(STYLE):
        figure, axis = plain_panel(
            keys, shown.horizons, curves=[shown.mean, *shown.middle, *shown.lines], xlabel="T", ylabel="R"
        )
        axis.set_title(lettered(textwrap.shorten(shown.title, LONGEST_TITLE, placeholder=" …")))
        axis.plot(shown.horizons, shown.lines.T, color="0.6", linewidth=0.6, alpha=0.6, zorder=1)
        axis.fill_between(shown.horizons, *shown.middle, color=colour, alpha=0.22, linewidth=0, zorder=2)
        axis.plot(shown.horizons, shown.mean, color=colour, marker="o", markersize=4.5, linewidth=1.3, zorder=3)
    return figure
