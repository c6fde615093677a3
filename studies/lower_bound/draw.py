"""Certified lower bounds under measured regrets, a panel for every cost of one dimension."""

from __future__ import annotations

from matplotlib import rc_context
from matplotlib.lines import Line2D

from ratecheck.figures import INK, MARKERS, PREDICTED, STYLE, colour_of
from studies.shared.figures import against_horizons, save

COLUMNS = 4


def draw_sandwiches(drafts, factors, theory, dim) -> str:
    """The name of the figure of a dimension."""
    with rc_context(STYLE):
        return save(sandwiches(factors, theory, dim), drafts, f"sandwich-d{dim}", svg=False)


def sandwiches(factors, theory, dim):
    """`factors` is Measured.factors without the oracle, `theory[family]` the slope of Theorem 3."""
    shown = factors[factors["dim"] == dim]
    families = list(dict.fromkeys(shown["family"]))
    names = list(dict.fromkeys(shown["algorithm"]))
    titles = [f"{family}, d = {dim}" for family in families]
    figure, axes = against_horizons(titles, _keys(names), COLUMNS, "R")
    for axis, family in zip(axes, families, strict=True):
        part = shown[shown["family"] == family]
        for i, name in enumerate(names):
            mine = part[part["algorithm"] == name]
            look = {"color": colour_of(i), "marker": MARKERS[i % len(MARKERS)], "markersize": 4, "linewidth": 0.8}
            axis.errorbar(mine["horizon"], mine["mean"], yerr=mine["error"], **look)
            axis.plot(mine["horizon"], mine["predicted"], "x", color=PREDICTED, markersize=4)
        bound = part.drop_duplicates("horizon").sort_values("horizon")
        T = bound["horizon"].to_numpy(float)
        axis.plot(T, bound["bound"], color=INK, linewidth=1.8)
        axis.plot(
            T, bound["bound"].iloc[0] * (T / T[0]) ** theory[family], color=INK, linestyle=(0, (4, 2.5)), linewidth=1
        )
    return figure


def _keys(names):
    algorithms = [
        Line2D([], [], color=colour_of(i), marker=MARKERS[i % len(MARKERS)], markersize=4, linewidth=0.8, label=name)
        for i, name in enumerate(names)
    ]
    return [
        *algorithms,
        Line2D([], [], color=PREDICTED, marker="x", linestyle="none", markersize=4, label="predicted"),
        Line2D([], [], color=INK, linewidth=1.8, label="certified lower bound"),
        Line2D([], [], color=INK, linestyle=(0, (4, 2.5)), linewidth=1, label="Theorem 3's slope"),
    ]
