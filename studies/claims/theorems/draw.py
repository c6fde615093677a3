"""Figures of the theorems: regret over the promised rate, log powers far out, certified bounds under algorithms."""

from __future__ import annotations

import math

import numpy as np
import pandas as pd
import seaborn as sns
from matplotlib.lines import Line2D
from matplotlib.ticker import FixedLocator, NullLocator

from ratecheck.figures import INK, MARKERS, PREDICTED, SHADE, colour_of, panels, ticks
from studies.shared.figures import label_outer

KEYS = ["family", "dim", "mu"]
GREY = "0.45"
DASHES = (0, (4, 2))
STRETCH = 2 / 3  # a log power at T is taken from T^(2/3) to T
BETWEEN = 0.45  # rows, in heights of a panel: labels of the upper one and a title
FEWEST = 6  # points of a curve on such a stretch


def _own(curves: pd.DataFrame, case) -> pd.DataFrame:
    return curves[(curves[KEYS] == [case.family, case.dim, case.mu]).all(axis=1)]


def _grid(count, keys, columns=3, **options):
    rows = -(-count // columns)
    figure, axes = panels(rows, min(columns, count), keys, **options)
    figure.subplots_adjust(hspace=BETWEEN)
    for axis in list(axes.flat)[count:]:
        axis.set_axis_off()
    return figure, axes


def compensated(cases, curves):
    """Means and the predicted curve over the rate, with the printed and with the better log power."""
    figure, axes = _grid(len(cases), _compensated_keys(), columns=2 if cases[0].mu != "-" else 3)
    for axis, case in zip(axes.flat, cases, strict=False):
        data = case.fit.data
        curve = _own(curves, case)
        curve = curve[curve["horizon"] <= 30 * data.horizons[-1]]
        T, R = curve["horizon"].to_numpy(), curve["regret"].to_numpy()
        reach = 1.96 * np.sqrt(np.diag(data.covariance))
        shown = [1.0]
        for rate, colour, marker, style in (
            (case.claim.rate, colour_of(0), "o", "-"),
            (case.claim.printed, GREY, "x", DASHES),
        ):
            if rate == case.claim.rate and colour == GREY:
                continue
            scale = data.y[0] - math.log(rate.regret(data.horizons[0]))
            y = np.exp(data.y - np.log(rate.regret(data.horizons)) - scale)
            axis.errorbar(data.horizons, y, reach * y, fmt=marker, color=colour, markersize=4, elinewidth=1)
            line = np.exp(np.log(R) - np.log(rate.regret(T)) - scale)
            axis.plot(T, line, color=PREDICTED if colour != GREY else GREY, linestyle=style, linewidth=1.3)
            shown += [*y, *line]
        axis.axhline(1.0, color=INK, linewidth=0.8, zorder=0)
        axis.axvspan(data.horizons[0], data.horizons[-1], color=SHADE, zorder=-10, linewidth=0)
        axis.set(xscale="log", yscale="log", title=f"{case}, β = {case.beta:g}" if case.mu == "-" else str(case))
        axis.xaxis.set_minor_locator(NullLocator())
        low, high = min(shown), max(shown)
        ticks(axis.yaxis, low, max(high, 1.6 * low))
        axis.set_ylim(low / 1.1, high * 1.1)
        sns.despine(ax=axis)
    label_outer(axes, "T", "R / rate, scaled")
    return figure


def _compensated_keys():
    return [
        Line2D(
            [], [], color=colour_of(0), marker="o", linestyle="none", markersize=4, label="runs, corrected or sharper"
        ),
        Line2D([], [], color=PREDICTED, linewidth=1.3, label="predicted, the same"),
        Line2D([], [], color=GREY, marker="x", linestyle="none", markersize=4, label="runs, printed log power"),
        Line2D([], [], color=GREY, linestyle=DASHES, linewidth=1.3, label="predicted, the same"),
    ]


def local_powers(T, R, slope, shift=0.0):
    """The slope of ln(R / T^slope) against ln(ln T + shift) over [T^(2/3), T], for every T with enough points."""
    L = np.log(T)
    y, z = np.log(R) - slope * L, np.log(L + shift)
    found = []
    for i, end in enumerate(L):
        part = (STRETCH * end <= L) & (np.arange(len(L)) <= i)
        if part.sum() >= FEWEST and STRETCH * end >= L[0]:
            found.append((T[i], float(np.polyfit(z[part], y[part], 1)[0])))
    return np.array(found).reshape(-1, 2)


def powers(cases, *curves):
    """The log power of every curve as far as it goes, beside the printed and the better one."""
    figure, axes = _grid(len(cases), _power_keys())
    known = pd.concat(curves)
    for axis, case in zip(axes.flat, cases, strict=False):
        mine = _own(known, case)
        T, R = mine["horizon"].to_numpy(), mine["regret"].to_numpy()
        local = local_powers(T, R, case.claim.rate.slope)
        ends = local[[0, -1], 0] if len(local) > 1 else T[[0, -1]]
        axis.set_xscale("log")
        axis.set_xlim(*ends)  # before anything is drawn: margins beyond the longest horizons would be infinite
        axis.plot(*local.T, color=PREDICTED, linewidth=1.4)
        values = [*local[:, 1]]
        if case.far.shifted is not None:
            cost_shift = _shift(case)
            more = local_powers(T, R, case.claim.rate.slope, cost_shift)
            axis.plot(*more.T, color=PREDICTED, linestyle=":", linewidth=1.4)
            values += [*more[:, 1]]
        promises = [case.claim.printed.log_power, case.claim.rate.log_power]
        axis.axhline(promises[1], color=INK, linewidth=1.2)
        axis.axhline(promises[0], color=GREY, linestyle=DASHES, linewidth=1.2)
        middle = np.median(values) if values else 1.0
        low, high = min(*promises, middle - 0.5), max(*promises, middle + 0.5)
        axis.set_ylim(low - 0.25, high + 0.25)
        axis.set_title(f"{'uniform' if case.mu == '-' else 'adaptive'}, {case.cost}")
        _few_ticks(axis, *ends)
        sns.despine(ax=axis)
    label_outer(axes, "T", "power of ln T")
    return figure


def _shift(case):
    import function_zoo as zoo
    from ratecheck import AdaptiveBins

    cost = zoo.get(case.family, case.dim)
    return AdaptiveBins(mu=None if case.mu == "min" else case.mu).settle(cost).shift(cost)


def _few_ticks(axis, low, high):
    """Four labels, however many decades there are."""
    first, last = math.log10(low), math.log10(high)
    step = max(1, math.ceil((last - first) / 4))
    axis.xaxis.set_major_locator(FixedLocator([10.0**k for k in range(math.ceil(first), math.floor(last) + 1, step)]))
    axis.xaxis.set_minor_locator(NullLocator())


def _power_keys():
    return [
        Line2D([], [], color=PREDICTED, linewidth=1.4, label="predicted curve, in ln T"),
        Line2D([], [], color=PREDICTED, linestyle=":", linewidth=1.4, label="in ln T + μ a0^α"),
        Line2D([], [], color=GREY, linestyle=DASHES, linewidth=1.2, label="printed"),
        Line2D([], [], color=INK, linewidth=1.2, label="corrected or sharper"),
    ]


def sandwich(bounds, factors):
    """The certified curve, and the algorithms' means over members above it."""
    costs = list(dict.fromkeys(zip(factors["family"], factors["dim"], strict=True)))
    names = [name for name in dict.fromkeys(factors["algorithm"]) if name != "the oracle"]
    figure, axes = _grid(len(costs), _sandwich_keys(names))
    for axis, (family, dim) in zip(axes.flat, costs, strict=False):
        part = factors[(factors["family"] == family) & (factors["dim"] == dim)]
        shown = []
        for i, name in enumerate(names):
            mine = part[part["algorithm"] == name]
            look = {"color": colour_of(i), "marker": MARKERS[i], "markersize": 4, "linewidth": 0.8}
            axis.errorbar(mine["horizon"], mine["mean"], yerr=mine["error"], **look)
            axis.plot(mine["horizon"], mine["predicted"], "x", color=PREDICTED, markersize=4)
            shown += [*mine["mean"]]
        own = part.drop_duplicates("horizon").sort_values("horizon")
        axis.plot(own["horizon"], own["bound"], color=INK, linewidth=1.8)
        more = bounds[(bounds["family"] == family) & (bounds["dim"] == dim)]
        axis.plot(more["horizon"], more["bound"], color=INK, marker="_", linestyle=DASHES, linewidth=1)
        shown += [*own["bound"], *more["bound"]]
        axis.set(xscale="log", yscale="log", title=f"{family}, d = {dim}")
        far = max([*own["horizon"], *more["horizon"]])
        ticks(axis.xaxis, min(own["horizon"]), far)
        _few_ticks(axis, min(own["horizon"]), far)
        ticks(axis.yaxis, min(shown), max(shown))
        _few_y(axis, min(shown), max(shown))
        sns.despine(ax=axis)
    label_outer(axes, "T", "R")
    return figure


def _few_y(axis, low, high):
    first, last = math.ceil(math.log10(low)), math.floor(math.log10(high))
    if last - first >= 3:
        axis.yaxis.set_major_locator(FixedLocator([10.0**k for k in range(first, last + 1, -(-(last - first) // 4))]))


def _sandwich_keys(names):
    lines = [
        Line2D([], [], color=colour_of(i), marker=MARKERS[i], markersize=4, linewidth=0.8, label=name)
        for i, name in enumerate(names)
    ]
    return [
        *lines,
        Line2D([], [], color=PREDICTED, marker="x", linestyle="none", markersize=4, label="predicted"),
        Line2D([], [], color=INK, linewidth=1.8, label="certified, with runs"),
        Line2D([], [], color=INK, marker="_", linestyle=DASHES, linewidth=1, label="certified, to far T"),
    ]
