"""The gap between two algorithms: a table of families and dimensions, beside the plane of costs, αβ/d against d/α."""

import textwrap
from dataclasses import dataclass

import numpy as np
import seaborn as sns
from matplotlib.cm import ScalarMappable
from matplotlib.colors import TwoSlopeNorm
from matplotlib.figure import Figure
from matplotlib.patches import Rectangle
from matplotlib.ticker import NullLocator

from .base import INK, lettered

TITLE = "The gap, by family and over the plane of costs"
CAPTION = (
    "Left: the measured gap of every cost, the slope of the first algorithm minus that of the second, both named at "
    "the colour bar; red where the first is worse, blue where it is better, pale at 0. In brackets: its window starts "
    "before the onset of a rate; hatched: not measured; empty: no such cost. Right: where these costs lie in the plane "
    "of αβ/d and d/α, a dot for all costs at one place, with their number and the mean of their gaps as its colour. "
    "αβ/d is at most 1 (Proposition 1), and 1 where β = d/α; what theory promises there, above the curve β = 1 and "
    "below it, is written in the plane."
)
COLOURS = sns.color_palette("vlag", as_cmap=True)
LIGHT = 0.55  # of the span: beyond it letters are white


@dataclass(frozen=True)
class Regimes:
    """What theory promises in the parts of the plane, and what the colours measure, in the caller's words."""

    above: str  # the curve beta = 1
    on: str  # the line beta = d/alpha
    below: str
    bar: str  # beside the colours


def plane_figure(fits, gaps, regimes: Regimes):
    costs = fits[["family", "dim", "alpha", "beta"]].drop_duplicates(["family", "dim"])
    costs = costs.merge(gaps[["family", "dim", "gap", "reason"]], on=["family", "dim"], how="left")
    costs = costs.assign(x=costs["alpha"] * costs["beta"] / costs["dim"], y=costs["dim"] / costs["alpha"])
    families = sorted(set(costs["family"]))
    height = 1.5 + 0.29 * max(14, len(families))
    figure = Figure(figsize=(12.0, height))
    most = float(costs["gap"].abs().max()) if costs["gap"].notna().any() else 0.1
    scale = TwoSlopeNorm(0.0, -max(most, 0.1), max(most, 0.1))
    bottom, top = 0.9 / height, 1 - 0.4 / height
    dims = sorted(set(costs["dim"]))
    table = figure.add_axes((0.11, bottom, 0.075 * len(dims), top - bottom))
    plane = figure.add_axes((0.19 + 0.075 * len(dims), bottom, 0.69 - 0.075 * len(dims), top - bottom))
    heat_table(table, costs, families=families, dims=dims, scale=scale)
    dots(plane, costs, regimes, scale)
    bar = figure.colorbar(ScalarMappable(scale, COLOURS), cax=figure.add_axes((0.92, 0.25, 0.014, 0.5)))
    bar.set_label(regimes.bar)
    return figure


def heat_table(axis, costs, *, families, dims, scale):
    for row in costs.itertuples():
        x, y = dims.index(row.dim), families.index(row.family)
        known = np.isfinite(row.gap)
        look = {"facecolor": COLOURS(scale(row.gap))} if known else {"facecolor": "white", "hatch": "////"}
        axis.add_patch(Rectangle((x - 0.5, y - 0.5), 1.0, 1.0, edgecolor="0.8", linewidth=0.5, **look))
        if known:
            pale = abs(row.gap) < LIGHT * scale.vmax
            text = f"{round(row.gap, 2) + 0.0:+.2f}"
            early = isinstance(row.reason, str) and bool(row.reason)
            look = {"ha": "center", "va": "center", "fontsize": 8, "color": INK if pale else "white"}
            axis.text(x, y, f"({text})" if early else text, **look)
    axis.set(xlim=(-0.5, len(dims) - 0.5), ylim=(len(families) - 0.5, -0.5))
    axis.set_xticks(range(len(dims)), [f"d = {d}" for d in dims])
    axis.set_yticks(range(len(families)), [lettered(family) for family in families])
    axis.xaxis.tick_top()
    axis.tick_params(length=0)
    sns.despine(ax=axis, left=True, bottom=True)


def dots(axis, costs, regimes, scale):
    low, high = 0.85 * min(0.5, costs["y"].min()), 1.25 * max(2.0, costs["y"].max())
    axis.set(xlim=(-0.07, 1.1), ylim=(low, high), yscale="log", xlabel="αβ/d", ylabel="d/α")
    draw_regimes(axis, low, high, regimes)
    for (x, y), group in costs.groupby([costs["x"].round(6), costs["y"].round(6)]):
        mean = group["gap"].mean()
        known = np.isfinite(mean)
        colour = COLOURS(scale(mean)) if known else "white"
        axis.plot(x, y, marker="o", markersize=15, color=colour, markeredgecolor=INK, markeredgewidth=0.7)
        white = known and abs(mean) >= LIGHT * scale.vmax
        axis.text(x, y, str(len(group)), ha="center", va="center_baseline", fontsize=8, color="white" if white else INK)
    axis.set_xticks([0, 0.25, 0.5, 0.75, 1])
    ticks = [t for t in (0.5, 0.75, 1, 1.5, 2, 3, 4, 6) if low <= t <= high]
    axis.set_yticks(ticks, [f"{t:g}" for t in ticks])
    axis.yaxis.set_minor_locator(NullLocator())
    sns.despine(ax=axis)


def draw_regimes(axis, low, high, regimes):
    y = np.geomspace(low, high, 200)
    axis.fill_betweenx(y, np.minimum(1 / y, 1), 1, color="0.94", linewidth=0)
    above = y >= 1
    axis.plot(1 / y[above], y[above], color=INK, linestyle=(0, (4, 2.5)), linewidth=1.2)
    axis.plot([1, 1], [low, high], color=INK, linewidth=1.2)
    at = high / 1.09
    axis.text(0.3, at, textwrap.fill(regimes.above, 34), va="top", fontsize=9)
    axis.text(0.95, low * 1.12, textwrap.fill(regimes.on, 30), va="bottom", ha="right", fontsize=9)
    axis.text(-0.05, 1.22, textwrap.fill(regimes.below, 26), va="center", fontsize=9)
    axis.text(1 / 2.45 - 0.01, 2.45, "β = 1", ha="right", va="center", fontsize=9)
