"""The error of the recommended point against T, by several rules."""

from __future__ import annotations

from matplotlib.lines import Line2D

from ratecheck.figures import INK, MARKERS, colour_of, ticks
from studies.claims.exploration.experiment import RULES, rules_of
from studies.shared.figures import grid

RATE = (0, (4, 2.5))


def errors(table, window):
    """A panel for each cost."""
    rules = [rule for rule in rules_of(table) if rule != "average"]
    handles = [
        Line2D([], [], color=INK, linewidth=1.8, label=RULES["average"]),
        Line2D([], [], color=INK, linestyle=RATE, linewidth=1.2, label="T^(-α/D)"),
        *(
            Line2D([], [], color=colour_of(i), marker=MARKERS[i], markersize=4, linewidth=0.9, label=RULES[rule])
            for i, rule in enumerate(rules)
        ),
    ]
    names = list(table["cost"].unique())
    figure, axes = grid(names, handles, "T", "f - f*")
    for axis, name in zip(axes, names, strict=False):
        own = table[table["cost"] == name]
        means = own.groupby("horizon")[["average", *rules]].mean()
        for i, rule in enumerate(rules):
            axis.plot(means.index, means[rule], color=colour_of(i), marker=MARKERS[i], markersize=3, linewidth=0.9)
        axis.plot(means.index, means["average"], color=INK, linewidth=1.8)
        inside = means.index[means.index >= window[0]].to_numpy(dtype=float)
        rate = (inside / inside[0]) ** -own["exponent"].iloc[0] * means["average"].loc[inside[0]]
        axis.plot(inside, rate, color=INK, linestyle=RATE, linewidth=1.2)
        low, high = float(means.to_numpy().min()), float(means.to_numpy().max())
        axis.set(xscale="log", yscale="log", ylim=(0.6 * low, 1.6 * high))
        ticks(axis.xaxis, means.index[0], means.index[-1])
        ticks(axis.yaxis, low, high)
    return figure
