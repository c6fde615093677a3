"""What the bias constant of adaptive bins does: regret with its tails, invalid bounds, lock-in, onset, far slopes."""

from __future__ import annotations

import numpy as np
import seaborn as sns
from matplotlib.figure import Figure
from matplotlib.lines import Line2D
from matplotlib.ticker import FixedFormatter, FixedLocator, NullLocator
from scipy import special

from ratecheck.figures import INK, MARKERS, PREDICTED, colour_of, number, panels, ticks
from studies.claims.mu.tables import CASE
from studies.shared.figures import label_outer, room

STYLES = ("-", "--", "-.", ":", (0, (6, 1, 1, 1, 1, 1)))
NOTHING_LEFT_OF = 0.6  # mu = 0 stands at this share of the smallest other mu
FAR = (1e3, 1e15, 1e30, 1e45, 1e60)


def tails_by_mu(regrets) -> Figure:
    """Regret at the last horizon against mu."""
    last = regrets[regrets["horizon"] == regrets["horizon"].max()]
    handles = [
        Line2D([], [], color=colour_of(0), marker="o", markersize=4.5, linestyle="", label="mean, 95 % interval"),
        Line2D([], [], color="0.6", linewidth=4, label="middle 80 % of the runs"),
        Line2D([], [], color=INK, marker="_", markersize=8, linestyle="", label="largest run"),
        Line2D([], [], color=PREDICTED, linewidth=1.6, label="predicted mean"),
    ]
    groups = list(last.groupby(CASE, sort=False))
    figure, axes = panels(-(-len(groups) // 2), 2, handles, sharex=True)
    for axis, ((family, dim), rows) in zip(axes.flat, groups, strict=False):
        unit = float(rows.loc[rows["factor"] == 1, "mean"].iloc[0])
        x = _places(rows["factor"])
        mean, reach = rows["mean"] / unit, special.stdtrit(rows["runs"] - 1, 0.975) * rows["se"] / unit
        axis.vlines(x, rows["lower"] / unit, rows["upper"] / unit, color="0.6", linewidth=4)
        axis.plot(x, rows["largest"] / unit, marker="_", markersize=8, color=INK, linestyle="")
        reach = np.array([np.minimum(reach, 0.9 * mean), reach])
        axis.errorbar(x, mean, reach, fmt="o", color=colour_of(0), markersize=4.5, elinewidth=1)
        axis.plot(x, rows["foretold"] / unit, color=PREDICTED, linewidth=1.4)
        axis.set(xscale="log", yscale="log", title=f"{family}, d = {dim}")
        low, high = float((rows["lower"] / unit).min()), float((rows["largest"] / unit).max())
        ticks(axis.yaxis, low, high)
        room(axis, low, high, share=0.06)
        _mu_axis(axis, rows)
        sns.despine(ax=axis)
    label_outer(axes, r"$\mu/\mu_{min}$", r"R, that at $\mu_{min}$ = 1")
    return figure


def bounds(invalid, locked) -> Figure:
    """Shares of steps with an invalid bound, and of runs that lock in, against mu."""
    names = [f"{family}, d = {dim}" for (family, dim), _ in invalid.groupby(CASE, sort=False)]
    handles = [
        Line2D([], [], color=colour_of(i), marker=MARKERS[i], linestyle=STYLES[i % len(STYLES)], label=name)
        for i, name in enumerate(names)
    ]
    figure, axes = panels(1, 2, handles)
    free = locked[locked["alignment"] == "random"]
    for i, (_, rows) in enumerate(invalid.groupby(CASE, sort=False)):
        rows = rows[rows["steps"] > 0]
        reach = 1.96 * rows["steps_se"].to_numpy()
        steps = rows["steps"].to_numpy()
        _marks(axes[0, 0], rows["factor"], steps, np.array([np.minimum(reach, 0.9 * steps), reach]), i)
    for i, (_, rows) in enumerate(free.groupby(CASE, sort=False)):
        share = rows["locked"].to_numpy() / rows["runs"].to_numpy()
        seen = share > 0
        rows, share = rows[seen], share[seen]
        reach = np.array([share - rows["locked_low"], rows["locked_high"] - share])
        _marks(axes[0, 1], rows["factor"], share, reach, i)
    for axis, what in zip(axes[0], ("steps with an invalid bound", "runs that lock in"), strict=True):
        axis.set(xscale="log", yscale="log", title=what)
        ticks(axis.yaxis, *axis.dataLim.intervaly.clip(1e-9))
        axis.set_xlabel(r"$\mu/\mu_{min}$")
        sns.despine(ax=axis)
    _mu_axis(axes[0, 0], invalid[~invalid["theorem"]])
    _mu_axis(axes[0, 1], free.assign(theorem=False))
    axes[0, 0].set_ylabel("share")
    return figure


def _marks(axis, factors, y, reach, i):
    axis.errorbar(
        _places(factors) * 1.03**i,
        y,
        reach,
        color=colour_of(i),
        marker=MARKERS[i],
        linestyle=STYLES[i % len(STYLES)],
        markersize=4.5,
        linewidth=1,
        elinewidth=1,
    )


def onsets(rows) -> Figure:
    """The end of the linear start against mu."""
    handles = [
        Line2D([], [], color=colour_of(0), marker="o", markersize=4.5, linestyle="", label="measured"),
        Line2D([], [], color=PREDICTED, marker="x", linewidth=1.4, label="predicted curve"),
        Line2D([], [], color=INK, linestyle="--", linewidth=1, label="slope (d + 2α)/α"),
    ]
    groups = list(rows.groupby(CASE, sort=False))
    figure, axes = panels(max(1, -(-len(groups) // 2)), 2, handles, sharex=True)
    for axis, ((family, dim), mine) in zip(axes.flat, groups, strict=False):
        x, foretold = mine["factor"].to_numpy(), mine["onset_foretold"].to_numpy()
        law = foretold[-1] * (x / x[-1]) ** mine["exponent"].iloc[0]
        axis.plot(x, law, color=INK, linestyle="--", linewidth=1)
        axis.plot(x, foretold, color=PREDICTED, marker="x", linewidth=1.4)
        axis.plot(x, mine["onset"], color=colour_of(0), marker="o", markersize=4.5, linestyle="")
        axis.set(xscale="log", yscale="log", title=f"{family}, d = {dim}")
        low, high = min(law[0], foretold.min()), 1.5 * foretold.max()
        ticks(axis.yaxis, low, high)
        room(axis, low, high, share=0.08)
        places = sorted(rows["factor"].unique())
        axis.xaxis.set_major_locator(FixedLocator(places))
        axis.xaxis.set_major_formatter(FixedFormatter([f"{f:g}" for f in places]))
        axis.xaxis.set_minor_locator(NullLocator())
        sns.despine(ax=axis)
    label_outer(axes, r"$\mu/\mu_{min}$", "onset, in T")
    return figure


def far_slopes(rows) -> Figure:
    """Slopes over whole periods of the predicted curve, to far horizons."""
    given = sorted(rows.loc[~rows["theorem"], "factor"].unique())
    handles = [
        Line2D([], [], color=colour_of(i), linestyle=STYLES[i % len(STYLES)], label=rf"$\mu/\mu_{{min}}$ = {factor:g}")
        for i, factor in enumerate(given)
    ]
    handles.append(Line2D([], [], color=PREDICTED, label="Theorem 2's $\\mu$"))
    handles.append(Line2D([], [], color=INK, linewidth=0.8, label="promised exponent"))
    groups = list(rows.groupby(CASE, sort=False))
    figure, axes = panels(-(-len(groups) // 2), 2, handles, sharex=True)
    for axis, ((family, dim), mine) in zip(axes.flat, groups, strict=False):
        axis.axhline(mine["promised"].iloc[0], color=INK, linewidth=0.8)
        for (factor, theorem), curve in mine.groupby(["factor", "theorem"]):
            i = 0 if theorem else given.index(factor)
            axis.plot(
                curve["horizon"],
                curve["slope"],
                color=PREDICTED if theorem else colour_of(i),
                linestyle="-" if theorem else STYLES[i % len(STYLES)],
                linewidth=1.3,
            )
        axis.set(xscale="log", title=f"{family}, d = {dim}", ylim=(0.4, 1.05))
        axis.xaxis.set_major_locator(FixedLocator(FAR))
        axis.xaxis.set_major_formatter(FixedFormatter([number(T) for T in FAR]))
        axis.xaxis.set_minor_locator(NullLocator())
        sns.despine(ax=axis)
    label_outer(axes, "T", "slope of ln R")
    return figure


def _places(factors):
    """On a logarithmic axis, mu = 0 a little left of all others."""
    x = np.asarray(factors, float).copy()
    return np.where(x > 0, x, NOTHING_LEFT_OF * 0.125)


def _mu_axis(axis, rows):
    """Labels at the multiples that were chosen, and a dotted line at Theorem 2's mu."""
    shown = sorted(rows.loc[~rows["theorem"], "factor"].unique())
    names = {0.0: "0", 0.125: "1/8", 0.25: "1/4", 0.5: "1/2"}
    axis.xaxis.set_major_locator(FixedLocator(list(_places(shown))))
    axis.xaxis.set_major_formatter(FixedFormatter([names.get(f, f"{f:g}") for f in shown]))
    axis.xaxis.set_minor_locator(NullLocator())
    for factor in rows.loc[rows["theorem"], "factor"].unique():
        axis.axvline(factor, color=INK, linestyle=":", linewidth=1, zorder=0)
