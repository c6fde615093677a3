"""Mean curves of another study in grey, behind the panel of one's own runs."""

from __future__ import annotations

from dataclasses import replace

from matplotlib.lines import Line2D

from .backdrop import Backdrop
from .base import lettered, log_ticks
from .grid import Kind

GREYS = ("0.55", "0.72", "0.4", "0.82")
DASHES = ("-", (0, (5, 1.5)), (0, (1.5, 1.5)), (0, (6, 1.5, 1.5, 1.5)))
MOST_NAMES = 4  # of algorithms, in a legend


def lay(axis, backdrop: Backdrop):
    for curve in backdrop.curves:
        place = _algorithms(backdrop).index(curve.algorithm)
        axis.plot(curve.horizons, curve.means, zorder=0.5, **_style(place))


def keys(backdrop: Backdrop) -> list[Line2D]:
    """An entry per algorithm, or one for all where they are many."""
    if not backdrop.curves:
        return []
    names = _algorithms(backdrop)
    names = names if len(names) <= MOST_NAMES else [f"{len(names)} algorithms"]
    whose = f" ({backdrop.whose})" if backdrop.whose else ""
    called = (lettered(f"{backdrop.study}: {name}{whose}") for name in names)
    return [Line2D([], [], label=label, **_style(i)) for i, label in enumerate(called)]


def _algorithms(backdrop) -> list[str]:
    return list(dict.fromkeys(curve.algorithm for curve in backdrop.curves))


def _style(i) -> dict:
    return {"color": GREYS[i % len(GREYS)], "linestyle": DASHES[i % len(DASHES)], "linewidth": 1.6}


def before(kind: Kind, backdrop: Backdrop) -> Kind:
    """The same kind of figure, with curves behind every panel."""
    if not backdrop.curves:
        return kind

    def panel(axis, result, *others):
        kind.panel(axis, result, *others)
        lay(axis, _behind(backdrop, result))

    def settle(axes, results):
        if kind.settle is not None:
            kind.settle(axes, results)
        seen = [value for r in results for curve in _behind(backdrop, r).curves for value in curve.means]
        if seen:  # the axes of a dimension are one
            low, high = axes[0].get_ylim()
            low, high = min(low, 0.8 * min(seen)), max(high, 1.25 * max(seen))
            axes[0].set_ylim(low, high)
            log_ticks(axes[0], low, high)

    def entries(results):
        found = {}
        for result in results:
            for handle in keys(_behind(backdrop, result)):
                found.setdefault(handle.get_label(), handle)
        return [*kind.keys(results), *found.values()]

    return replace(kind, panel=panel, keys=entries, settle=settle)


def _behind(backdrop, result) -> Backdrop:
    return backdrop.behind(result.case.cost, result.case.family, result.case.dim)
