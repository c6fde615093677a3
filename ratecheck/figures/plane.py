"""The plane of costs, αβ/d against d/α, coloured by the measured gap."""

from __future__ import annotations

import textwrap
from dataclasses import dataclass

import numpy as np
import seaborn as sns
from matplotlib.cm import ScalarMappable
from matplotlib.colors import Normalize
from matplotlib.figure import Figure
from matplotlib.lines import Line2D
from matplotlib.patheffects import withStroke
from matplotlib.ticker import NullLocator

from .base import INK, MARKERS, lettered

TITLE = "The gap over the plane of costs"
CAPTION = (
    "Every cost at its αβ/d and d/α, coloured by the measured gap: the slope of the first algorithm minus that of the "
    "second, both named at the colour bar. αβ/d is at most 1 (Proposition 1), and 1 where β = d/α; what theory "
    "promises there, above the curve β = 1 and below it, is written in the plane. Costs at one place are drawn side by "
    "side, row by row in the order of their names; white: not measured, or before the onset of a rate."
)


@dataclass(frozen=True)
class Regimes:
    """What theory promises in the parts of the plane, and what the colours measure, in the caller's words."""

    above: str  # the curve beta = 1
    on: str  # the line beta = d/alpha
    below: str
    bar: str  # beside the colours


def plane_figure(fits, gaps, regimes: Regimes):
    """Costs in the plane of alpha beta / d and d / alpha."""
    costs = fits[["family", "dim", "alpha", "beta"]].drop_duplicates(["family", "dim"])
    counted = gaps[gaps["reason"].isna()]
    costs = costs.merge(counted[["family", "dim", "gap"]], on=["family", "dim"], how="left")
    costs = costs.assign(x=costs["alpha"] * costs["beta"] / costs["dim"], y=costs["dim"] / costs["alpha"])
    figure = Figure(figsize=(11.0, 7.0))
    figure.subplots_adjust(left=0.06, right=0.88, top=0.98, bottom=0.08)
    axis = figure.subplots()
    low, high = 0.85 * min(0.5, costs["y"].min()), 1.2 * max(2.0, costs["y"].max())
    axis.set(xlim=(-0.06, 1.52), ylim=(low, high), yscale="log", xlabel="αβ/d", ylabel="d/α")
    draw_regimes(axis, low, high, regimes)
    known = costs["gap"].dropna()
    scale = Normalize(min(0.0, known.min()), max(0.1, known.max())) if len(known) else Normalize(0, 0.1)
    colours = sns.color_palette("viridis", as_cmap=True)
    for (x, y), group in costs.groupby([costs["x"].round(6), costs["y"].round(6)]):
        place(axis, x, y, group.sort_values(["family", "dim"]), colours, scale)
    axis.set_xticks([0, 0.25, 0.5, 0.75, 1])
    ticks = [t for t in (0.5, 0.75, 1, 1.5, 2, 3, 4, 6) if low <= t <= high]
    axis.set_yticks(ticks, [f"{t:g}" for t in ticks])
    axis.yaxis.set_minor_locator(NullLocator())
    sns.despine(ax=axis)
    shapes = [
        Line2D(
            [],
            [],
            color="white",
            markeredgecolor=INK,
            marker=MARKERS[(d - 1) % len(MARKERS)],
            linestyle="none",
            label=f"d = {d}",
        )
        for d in sorted(set(costs["dim"]))
    ]
    axis.legend(handles=shapes, loc="lower left", frameon=False)
    bar = figure.colorbar(ScalarMappable(scale, colours), cax=figure.add_axes((0.9, 0.2, 0.015, 0.6)))
    bar.set_label(regimes.bar)
    return figure


def draw_regimes(axis, low, high, regimes):
    """beta < 1, beta > 1 and beta = d/alpha."""
    y = np.geomspace(low, high, 200)
    worse = sns.color_palette("colorblind")[1]
    axis.fill_betweenx(y, np.minimum(1 / y, 1), 1, color=worse, alpha=0.12, linewidth=0)
    above = y >= 1
    axis.plot(1 / y[above], y[above], color=INK, linestyle=(0, (4, 2.5)), linewidth=1.2)
    axis.plot([1, 1], [low, high], color=INK, linewidth=1.2)
    at = high / 1.12
    for x, y, text, letters in (
        (1 / at + 0.02, at, regimes.above, 60),
        (1.02, at, regimes.on, 46),
        (-0.04, 1.22, regimes.below, 34),
    ):
        axis.text(x, y, textwrap.fill(text, letters), va="center", fontsize=9)
    bend = 2.45
    axis.text(1 / bend - 0.01, bend, "β = 1", ha="right", va="center", fontsize=9)


def place(axis, x, y, group, colours, scale):
    """Costs that share a place: dots packed around it, and their names to the right."""
    spots = packed(len(group))
    for (right, up), row in zip(spots, group.itertuples(), strict=True):
        known = not np.isnan(row.gap)
        axis.plot(
            x + right,
            y * np.exp(up),
            marker=MARKERS[(row.dim - 1) % len(MARKERS)],
            markersize=7,
            color=colours(scale(row.gap)) if known else "white",
            markeredgecolor=INK,
            markeredgewidth=0.6,
        )
    names = ", ".join(f"{lettered(row.family)}\N{NO-BREAK SPACE}{row.dim}" for row in group.itertuples())
    look = {
        "fontsize": 7.3,
        "color": INK,
        "linespacing": 1.1,
        "path_effects": [withStroke(linewidth=2, foreground="w")],
    }
    if np.isclose(x, 1.0):  # nothing lies beyond
        axis.text(x + max(r for r, _ in spots) + 0.014, y, textwrap.fill(names, 52), va="center", **look)
    else:
        top = y * np.exp(max(up for _, up in spots) + 0.035)
        axis.text(x, top, textwrap.fill(names, 16), ha="center", va="bottom", **look)


def packed(count):
    """Distances from their common place of a few dots, in rows of at most five; the second in ln(d/alpha)."""
    most, right, down = 5, 0.017, 0.055
    rows = -(-count // most)
    widths = [min(most, count - most * (i // most)) for i in range(count)]
    return [((i % most - (widths[i] - 1) / 2) * right, ((rows - 1) / 2 - i // most) * down) for i in range(count)]
