"""Other libraries beside ours: regret, and time per step, against the horizon."""

from __future__ import annotations

from matplotlib.lines import Line2D
from matplotlib.ticker import FuncFormatter, LogLocator

from ratecheck.figures import INK, MARKERS, colour_of
from studies.shared.figures import against_horizons

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
    keys = [_key(name, look) for name, look in looks.items()]
    titles = [f"{family}, d = {dim}" for family, dim in costs]
    figure, axes = against_horizons(titles, keys, COLUMNS, label)
    for axis, (family, dim) in zip(axes, costs, strict=True):
        part = means[(means["family"] == family) & (means["dim"] == dim)]
        for name, look in looks.items():
            mine = part[part["algorithm"] == name]
            error = mine["error"] if column == "mean" else None
            axis.errorbar(mine["horizon"], mine[column], yerr=error, **look)
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
