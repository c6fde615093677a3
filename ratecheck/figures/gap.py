"""The ratio of two algorithms' regrets, and the growth that theory predicts for it."""

import numpy as np
import seaborn as sns

from ..fit.log_means import within
from .base import ANY, INK, MARKERS, SHADE, colour_of, entry, lettered, panels, points, ticks

CAPTION = (
    "The ratio of mean regrets at common horizons with 95 % intervals, and the growth that the promised exponents "
    "predict (dashed), then with the theorems' log powers (dotted), both through the middle of the common window and "
    "only where the window allows a fit; points outside it are hollow. Above 1 the second algorithm is better than the "
    "first."
)
LETTERS = 26  # of an axis label that fits beside a panel


def ratios(gaps, pairs):
    dims = list(dict.fromkeys(g.dim for g in gaps))
    figure, (axes,) = panels(1, len(dims), keys(pairs, gaps), sharey=True)
    for axis, dim in zip(axes, dims, strict=True):
        shown = [g for g in gaps if g.dim == dim]
        for gap in shown:
            curve(axis, gap, *look(pairs.index((gap.first, gap.second))))
        axis.axhline(1.0, color=INK, linewidth=0.8)
        axis.set(xscale="log", yscale="log", xlabel="T", title=f"d = {dim}")
        T = [t for g in shown for t, _ in g.ratios]
        ticks(axis.xaxis, min(T), max(T))
        if shown[0].window:
            axis.axvspan(*shown[0].window, color=SHADE, zorder=-10, linewidth=0)
        sns.despine(ax=axis)
    ends = [1.0, *(np.exp(end) for g in gaps for _, e in g.ratios for end in (e.low, e.high))]
    ticks(axes[0].yaxis, min(ends), max(ends))
    label(axes[0], pairs)
    return figure


def look(i):
    """The colour and the marker of a pair: of the first pair those that its second algorithm has elsewhere."""
    return colour_of(i + 1), MARKERS[(i + 1) % len(MARKERS)]


def label(axis, pairs):
    """Names of algorithms are long, so they stand in two lines, in letters that fit beside a panel."""
    (first, second), *others = [tuple(map(lettered, pair)) for pair in pairs]
    if others:
        axis.set_ylabel("ratio of regrets")
        return
    letters = max(len(first), len(second))
    axis.set_ylabel(f"R {first} /\nR {second}", va="center", fontsize=min(10.0, 10.0 * LETTERS / letters))


def curve(axis, gap, colour, marker):
    T = np.array([t for t, _ in gap.ratios])
    value, low, high = np.exp([(e.value, e.low, e.high) for _, e in gap.ratios]).T
    inside = _inside(gap)
    points(axis, T, y=value, reach=np.array([value - low, high - value]), colour=colour, marker=marker, filled=inside)
    if gap.measured is None:
        return
    height, centre = np.exp(np.mean(np.log(value[inside]))), np.exp(np.mean(np.log(T[inside])))
    for slope, style in ((gap.predicted, (0, (4, 2.5))), (gap.predicted + gap.log_powers, ":")):
        axis.plot(T, height * (T / centre) ** slope, color=colour, linestyle=style, linewidth=1.3)


def keys(pairs, gaps):
    curves = []
    for i, (first, second) in enumerate(pairs):
        colour, marker = look(i)
        name = lettered(f"{first} / {second}")
        curves.append(entry(color=colour, marker=marker, linestyle="none", markersize=5, label=name))
    lines = [
        entry(color=INK, linestyle=(0, (4, 2.5)), linewidth=1.3, label="growth by the exponents"),
        entry(color=INK, linestyle=":", linewidth=1.3, label="and by the log powers"),
    ]
    label = "outside the common window"
    hollow = entry(color=ANY, marker="o", markerfacecolor="white", linestyle="none", markersize=5, label=label)
    outside = any(not _inside(gap).all() for gap in gaps)
    return [*curves, *([hollow] if outside else []), *(lines if any(g.measured is not None for g in gaps) else [])]


def _inside(gap):
    return within(np.array([t for t, _ in gap.ratios]), gap.window or (np.inf, -np.inf))


class Ratios:
    """The kind of figure of gaps; it has a panel per dimension, so it is no grid of results."""

    stem = "gap"
    caption = CAPTION

    def draw(self, family, analysis):
        gaps = [g for g in analysis.gaps if g.family == family and g.ratios]
        pairs = list(dict.fromkeys((g.first, g.second) for g in gaps))
        if not pairs:
            return None
        title = "Regret of {} over that of {}".format(*pairs[0]) if len(pairs) == 1 else "Ratios of regrets"
        return title, ratios(gaps, pairs)


GAP = Ratios()
