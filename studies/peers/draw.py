"""Other libraries beside ours: regret, and time per step, against the horizon."""

from __future__ import annotations

import seaborn as sns
from matplotlib.lines import Line2D
from matplotlib.ticker import FuncFormatter, LogLocator, NullLocator

from studies.shared.figures import INK, MARKERS, colour_of, panels

COLUMNS = 3
STYLES = ("-", (0, (4, 2)))  # the second seven of a legend
UNITS = ((1e-9, "ns"), (1e-6, "µs"), (1e-3, "ms"), (1.0, "s"))


def regrets(means, names, references):
    """A panel per cost; `references` are drawn in ink, behind the others."""
    return _drawn(means, names, references, "mean", "R")


def times(means, names, references):
    """The same for the time per step over the last half of the run."""
    figure = _drawn(means, names, references, "late", "time per step")
    for axis in figure.axes:
        axis.yaxis.set_major_locator(LogLocator(base=1000.0))
        axis.yaxis.set_major_formatter(FuncFormatter(_unit))
    return figure


def _unit(seconds, _):
    return next((f"{seconds / unit:.0f} {name}" for unit, name in UNITS if 1 <= seconds / unit < 999), "")


def _drawn(means, names, references, column, label):
    costs = list(dict.fromkeys(zip(means["family"], means["dim"], strict=True)))
    looks = _looks(names, references)
    columns = min(COLUMNS, len(costs))
    keys = [_key(name, look) for name, look in looks.items()]
    figure, axes = panels(-(-len(costs) // columns), columns, keys, sharex=True)
    for axis, (family, dim) in zip(axes.flat, costs, strict=False):
        part = means[(means["family"] == family) & (means["dim"] == dim)]
        for name, look in looks.items():
            mine = part[part["algorithm"] == name]
            error = mine["error"] if column == "mean" else None
            axis.errorbar(mine["horizon"], mine[column], yerr=error, **look)
        axis.set(xscale="log", yscale="log", title=f"{family}, d = {dim}")
        axis.xaxis.set_minor_locator(NullLocator())
        axis.yaxis.set_minor_locator(NullLocator())
        sns.despine(ax=axis)
    for axis in list(axes.flat)[len(costs) :]:
        axis.set_axis_off()
    for axis in list(axes.flat)[max(0, len(costs) - columns) : len(costs)]:
        axis.set_xlabel("T")
    for axis in axes[:, 0]:
        axis.set_ylabel(label)
    return figure


def _looks(names, references):
    looks = {}
    for i, name in enumerate(references):
        looks[name] = {"color": INK, "marker": "", "linestyle": ("-", (0, (4, 2)), ":")[i % 3], "linewidth": 1.4}
    for i, name in enumerate(names):
        marker = MARKERS[(i + i // 7) % len(MARKERS)]
        looks[name] = {"color": colour_of(i), "marker": marker, "linestyle": STYLES[i // 7 % 2]}
        looks[name] |= {"markersize": 3.5, "linewidth": 0.9, "elinewidth": 0.8}
    return looks


def _key(name, look):
    return Line2D([], [], label=name, **{k: v for k, v in look.items() if k != "elinewidth"})
