"""What all figures share: the style, files that repeat, panels over a legend, axes and points."""

import hashlib
import io
import math
import re
import textwrap
from dataclasses import dataclass
from pathlib import Path

import numpy as np
import seaborn as sns
from matplotlib import rc_context
from matplotlib.axes import Axes
from matplotlib.backends.backend_agg import FigureCanvasAgg
from matplotlib.figure import Figure  # not pyplot: no window, and nobody else's backend is changed
from matplotlib.lines import Line2D
from matplotlib.patches import Patch
from matplotlib.ticker import FixedLocator, FuncFormatter, LogLocator, NullFormatter, NullLocator
from PIL import Image  # comes with Matplotlib

from ..display import one_line
from ..files import Drafts
from ..fit.log_means import within

MARKERS = ("o", "s", "^", "D", "v", "P", "X")
STYLE = {
    **sns.axes_style("ticks"),
    "font.size": 10,
    "axes.titlesize": 10,
    "axes.labelsize": 10,
    "xtick.labelsize": 9,
    "ytick.labelsize": 9,
    "legend.fontsize": 9,
    "figure.dpi": 120,
    "svg.hashsalt": "ratecheck",  # the same names of clip paths every time
}
FOLDER = "figures"  # beside the page that shows them
COLOURS = 256
LONGEST_NAME, LONGEST_TEXT = 50, 400  # letters of a file's name, and of a text in a figure
SHADE = "0.93"
INK = "0.15"
PREDICTED = "#a50f15"  # a deep red: no algorithm has this colour, and none is as dark
CERTIFIED = sns.color_palette("colorblind")[9]  # nor this one
ANY = "0.5"  # in a legend: whatever the colour of the panel


class Drawing(Figure):
    """A figure that a notebook shows, also where nobody has asked for Matplotlib's own display."""

    def _repr_png_(self) -> bytes:
        file = io.BytesIO()
        self.savefig(file, format="png", facecolor="white")  # on a dark page, too
        return file.getvalue()


@dataclass(frozen=True)
class WrittenFigure:
    """A figure that was written, and what a report says about it."""

    name: str  # of its file
    title: str
    caption: str

    @property
    def link(self) -> str:
        alt = f"{self.title}: {Path(self.name).stem}"
        return f"![{alt}]({FOLDER}/{self.name})"


def slug(family) -> str:
    """A name for files and links: cusp-power=0.7 for cusp(power=0.7)."""
    name = re.sub(r"[^\w.=-]+", "-", one_line(family)).strip("-")
    if len(name) <= LONGEST_NAME:
        return name
    return f"{name[:LONGEST_NAME]}-{hashlib.sha256(name.encode()).hexdigest()[:8]}"


def lettered(text) -> str:
    """A text as Matplotlib draws it letter by letter: no formula, no name that a legend leaves out, no novel."""
    text = one_line(text)
    text = text if len(text) <= LONGEST_TEXT else f"{text[:LONGEST_TEXT]}…"
    return " " * text.startswith("_") + text.replace("$", r"\$")


def save(figure, drafts: Drafts, name, svg) -> str:
    """Write a figure without dates and versions, so that the same data give the same bytes."""
    canvas = FigureCanvasAgg(figure)
    canvas.draw()
    picture = Image.fromarray(np.asarray(canvas.buffer_rgba())).convert("RGB")
    few = picture.quantize(COLOURS, dither=Image.Dither.NONE)  # a third of the size, and nobody sees it
    with drafts.open(f"{FOLDER}/{name}.png", "wb") as file:
        few.save(file, "PNG", optimize=True)
    if svg:
        with drafts.open(f"{FOLDER}/{name}.svg", "wb") as file:
            figure.savefig(file, format="svg", metadata={"Date": None, "Creator": None})
    return f"{name}.png"


def save_pdf(figure, drafts: Drafts, *, name, title, parameters):
    said = {"Title": f"{one_line(title)}: {name}", "Subject": parameters[0], "Keywords": "; ".join(parameters[1:])}
    said |= {"Creator": "ratecheck", "Producer": None, "CreationDate": None}
    with drafts.open(f"{FOLDER}/{name}.pdf", "wb") as file, rc_context({"pdf.fonttype": 42}):
        figure.savefig(file, format="pdf", metadata=said)


def panels(rows, columns, handles, kind=Figure, **options):
    """A figure of equal panels over a legend, and its axes.  Fixed distances in inches: a fitted layout is slow."""
    left, right, top, between = 0.9, 0.25, 0.35, 0.62
    under = 0.42 if options.get("sharex") else 0.68
    wide, high = (2.5, 1.85) if columns > 1 else (4.6, 2.2)
    width = left + right + columns * wide + (columns - 1) * between
    per_line = legend_columns(handles, width)
    bottom = 0.6 + 0.22 * -(-len(handles) // per_line)
    height = top + bottom + rows * high + (rows - 1) * under
    figure = kind(figsize=(width, height))
    sides = {"left": left / width, "right": 1 - right / width, "bottom": bottom / height, "top": 1 - top / height}
    figure.subplots_adjust(**sides, wspace=between / wide, hspace=under / high)
    figure.legend(handles=handles, loc="lower center", ncols=per_line, frameon=False, borderaxespad=0.2)
    axes = figure.subplots(rows, columns, squeeze=False, **options)
    for axis in axes[:, 0]:
        axis.yaxis.set_label_coords((0.2 - left) / wide, 0.5)
    return figure, axes


def plain_panel(handles, x, *, curves, xlabel, ylabel) -> tuple[Drawing, Axes]:
    """One panel with two logarithmic axes, wide enough for these curves, over a legend."""
    figure, axes = panels(1, 1, handles, kind=Drawing)
    axis = axes[0, 0]
    positive = np.concatenate([np.ravel(curve) for curve in curves])
    positive = positive[np.isfinite(positive) & (positive > 0)]
    low, high = (positive.min(), positive.max()) if positive.size else (0.5, 2.0)
    axis.set(xscale="log", yscale="log", xlabel=xlabel, ylabel=ylabel)
    ticks(axis.xaxis, min(x), max(x))
    ticks(axis.yaxis, low, high)
    room(axis, low, high=max(high, 1.02 * low), below=0.05, above=0.05)
    sns.despine(ax=axis)
    return figure, axis


def legend_columns(handles, width):
    """As many as fit a width in inches: 2.4 for each, or fewer columns where the names of algorithms are long."""
    needed = [0.6 + 0.066 * len(handle.get_label()) for handle in handles]  # in inches, for 9 points
    for columns in range(max(2, int(width / 2.4)), 1, -1):
        if sum(max(part, default=0.0) for part in np.array_split(needed, columns)) <= width:
            return columns
    return 1


def colour_of(i):
    palette = sns.color_palette("colorblind")
    return palette[[0, 1, 2, 4, 5, 7, 8][i % 7]]


def excuse(axis, text):
    words, place = textwrap.fill(lettered(text), 30), {"ha": "center", "va": "center", "transform": axis.transAxes}
    axis.text(0.5, 0.5, words, fontsize=9, **place)
    axis.yaxis.set_major_locator(NullLocator())
    if not axis.get_shared_x_axes().get_siblings(axis)[1:]:
        axis.xaxis.set_major_locator(NullLocator())


def horizon_axis(axis, result, bottom=0.0):
    """A logarithmic axis of horizons, the window shaded, the onset marked where it lies among the horizons; both above
    the bottom of the panel, in parts of its height, where a note may stand."""
    axis.set_xscale("log")
    ticks(axis.xaxis, *axis.get_xlim())
    _window(axis, result, bottom)


def _window(axis, result, bottom=0.0):
    axis.axvspan(*result.case.window, ymin=bottom, color=SHADE, zorder=-10, linewidth=0)
    if begins_late(result):
        axis.axvline(result.case.onset, ymin=bottom, **ONSET)


ONSET = {"color": INK, "linestyle": (0, (6, 2, 1, 2)), "linewidth": 1.1}


def begins_late(result) -> bool:
    """Whether the onset lies among the horizons, and is shown."""
    return result.case.horizons[0] < result.case.onset <= result.case.horizons[-1]


def approach_axis(axis, result):
    _window(axis, result)
    towards_infinity(axis, result.data.horizons[0])


def towards_infinity(axis, first):
    """Give a panel an axis of horizons with the scale 1/ln T, from the first horizon on: T = infinity has a place."""
    axis.set_xscale("function", functions=(_approach, _approached))
    axis.xaxis.set_major_locator(FixedLocator(STATIONS))
    axis.xaxis.set_major_formatter(FuncFormatter(lambda T, _: "∞" if STATIONS[-1] <= T else number(T)))
    axis.set_xlim(first * 0.7, STATIONS[-1])


STATIONS = (1e3, 1e4, 1e6, 1e10, 1e25, 1e300)  # labels of such an axis; the last stands for infinity


def _approach(T):
    """Of a horizon; whatever lies below e, where an axis may look, is at the left end."""
    return -1 / np.log(np.maximum(T, math.e))


def _approached(x):
    return np.exp(np.minimum(-1 / np.minimum(x, -1e-9), 700.0))


FEW, SOME, MANY = (1.0,), (1.0, 2.0, 5.0), (1.0, 1.2, 1.5, 2.0, 2.5, 3.0, 4.0, 5.0, 6.0, 8.0)


def number(y):
    """The label of a tick: 1000, but 2 x 10^4."""
    if 1e-3 < y < 9999:
        return f"{y:g}"
    power = int(np.floor(np.log10(y) + 1e-9))
    lead = y / 10.0**power
    return f"$10^{{{power}}}$" if abs(lead - 1) < 1e-6 else f"${lead:g}\\times10^{{{power}}}$"


def ticks(axis, low, high):
    """Give a logarithmic axis from `low` to `high` ticks at powers of 10, and between them where it is short."""
    decades = np.log10(high / low)
    steps = FEW if decades > 2.5 else SOME if decades > 0.6 else MANY
    axis.set_major_locator(LogLocator(subs=steps))
    axis.set_major_formatter(FuncFormatter(lambda y, _: number(y)))
    axis.set_minor_formatter(NullFormatter())
    axis.set_minor_locator(NullLocator())


def room(axis, low, *, high, below, above):
    length = np.log(high / low)
    axis.set_ylim(low * np.exp(-below * length), high * np.exp(above * length))


def points(axis, x, *, y, reach, colour, marker, filled=None):
    """Means with intervals; hollow where they lie outside the window."""
    filled = np.ones(len(x), bool) if filled is None else filled
    look = {"fmt": marker, "color": colour, "markersize": 4.5, "elinewidth": 1}
    for part, face in ((filled, colour), (~filled, "white")):
        axis.errorbar(x[part], y[part], reach[:, part], markerfacecolor=face, **look)


def without_locked(result, horizons) -> tuple[np.ndarray, np.ndarray]:
    """T among these horizons, and the mean regret there without the runs that lock in; empty where none does."""
    found = result.agreement
    if found is None or not 0 < len(found.locked) == found.replicates - found.data.replicates:
        return np.empty(0), np.empty(0)
    shown = found.table[found.table["horizon"].isin(horizons.tolist())]
    return shown["horizon"].to_numpy(float), shown["spared"].to_numpy()


SPARED = {"color": INK, "marker": "+", "linestyle": "none", "markersize": 7, "markeredgewidth": 1.2, "zorder": 5}


def note(axis, text, corner, boxed=True):
    x, y = {"upper left": (0.03, 0.97), "lower right": (0.97, 0.04), "upper right": (0.97, 0.97)}[corner]
    vertical, horizontal = corner.split()
    place = {"ha": horizontal, "va": "top" if vertical == "upper" else "bottom", "transform": axis.transAxes}
    box = {"facecolor": "white", "alpha": 0.8 * boxed, "linewidth": 0, "pad": 1.5}  # no line through the words
    axis.text(x, y, text, fontsize=8.5, color=INK, linespacing=1.35, bbox=box, zorder=9, **place)


# Entries of legends, each only where something of the kind is drawn


def entry(**look) -> Line2D:
    return Line2D([], [], **look)


def curve_keys(results) -> list:
    line = entry(color=PREDICTED, linewidth=1.6, label="predicted, no free parameter")
    return [line] if any(result.predicted_regret is not None for result in results) else []


def spared_keys(results) -> list:
    if not any(len(without_locked(r, r.data.horizons)[0]) for r in results):
        return []
    return [entry(label="without runs that lock in", **SPARED)]


def window_keys(results) -> list:
    onset = entry(label="onset of the rate", **ONSET)
    return [Patch(color=SHADE, label="window"), *([onset] if any(map(begins_late, results)) else [])]


def outside_keys(results) -> list:
    if all(within(r.data.horizons, r.case.window).all() for r in results):
        return []
    label = "outside the window"
    return [entry(color=ANY, marker="o", markerfacecolor="white", linestyle="none", markersize=5, label=label)]
