"""How fast the engine is."""

from __future__ import annotations

import seaborn as sns
from matplotlib.figure import Figure


def engine_speed(table, promised) -> Figure:
    """Time per step in floors against the number of cells, a panel per algorithm and setting.

    `promised[algorithm]` lists (from cells, to cells, at most).
    """
    table = table.assign(
        panel=table.algorithm + table.settings.where(table.settings == "", ", " + table.settings),
        case=table.cost + ", d = " + table.dim.astype(str),
    )
    panels = list(dict.fromkeys(table.panel))
    figure = Figure(figsize=(4 * len(panels) + 2, 3.8), layout="constrained")
    axes = figure.subplots(1, len(panels), sharey=True)
    for axis, panel in zip(axes, panels, strict=True):
        part = table[table.panel == panel]
        sns.lineplot(part, x="cells", y="ratio", hue="case", marker="o", palette="colorblind", legend=False, ax=axis)
        for start, end, most in promised[part.algorithm.iloc[0]]:
            axis.hlines(most, start, end, color="0.6", linestyle="--", linewidth=1)
        axis.set(
            xscale="log",
            yscale="log",
            title=panel,
            xlabel="cells at the horizon",
            ylabel="time per step / floor",
        )
        axis.set_yticks([1, 2, 5, 10], ["1", "2", "5", "10"])
        axis.minorticks_off()
        sns.despine(ax=axis)
    colours = sns.color_palette("colorblind")
    for colour, case in zip(colours, dict.fromkeys(table.case), strict=False):
        axes[-1].plot([], [], marker="o", color=colour, label=case)
    axes[-1].plot([], [], "--", color="0.6", label="promised at most")
    axes[-1].plot([], [], " ", label="points: T = " + ", ".join(f"{T:.0e}" for T in sorted(set(table["T"]))))
    figure.legend(loc="outside right center", frameon=False)
    return figure
