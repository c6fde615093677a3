"""All figures; the only module that imports a plotting library."""

from __future__ import annotations

import re
import textwrap
from dataclasses import dataclass
from pathlib import Path

import numpy as np
import seaborn as sns
from matplotlib import rc_context
from matplotlib.backends.backend_agg import FigureCanvasAgg
from matplotlib.cm import ScalarMappable
from matplotlib.colors import Normalize
from matplotlib.figure import Figure  # not pyplot: no window, and nobody else's backend is changed
from matplotlib.lines import Line2D
from matplotlib.patches import Patch
from matplotlib.patheffects import withStroke
from matplotlib.ticker import FuncFormatter, LogLocator, NullFormatter, NullLocator
from PIL import Image  # comes with Matplotlib

from .analysis import line_of
from .markdown import formula

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
COLOURS = 256
SHADE = "0.93"
INK = "0.15"
ANY = "0.5"  # in a legend: whatever the colour of the panel


def engine_speed(table, path):
    """Time per step in floors against the number of cells, a panel per algorithm."""
    table = table.assign(
        panel=table.algorithm + table.mu.where(table.mu == "", ", mu = " + table.mu),
        case=table.cost + ", d = " + table.dim.astype(str),
    )
    panels = list(dict.fromkeys(table.panel))
    figure = Figure(figsize=(4 * len(panels) + 2, 3.8), layout="constrained")
    axes = figure.subplots(1, len(panels), sharey=True)
    for axis, panel in zip(axes, panels, strict=True):
        part = table[table.panel == panel]
        sns.lineplot(part, x="cells", y="ratio", hue="case", marker="o", palette="colorblind", legend=False, ax=axis)
        promised = [(1, 1e3, 5.0), (1e3, 1e6, 12.0)] if panel.startswith("Adaptive") else [(1, 1e6, 12.0)]
        for start, end, most in promised:
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
    figure.savefig(path, dpi=150)


# Studies: one file per kind of figure and family, a panel per algorithm (rows) and dimension (columns)


@dataclass(frozen=True)
class Picture:
    """A figure that was written, and what a report says about it."""

    name: str  # of its file
    title: str
    caption: str

    @property
    def link(self) -> str:
        alt = f"{self.title}: {Path(self.name).stem}"
        return f"![{alt}](figures/{self.name})"


def draw_study(folder, family, analysis, svg=False) -> list[Picture]:
    """The figures of one family."""
    results = [r for r in analysis.of(family) if r.data is not None]
    fitted = [r for r in results if r.fit is not None]
    kinds = [
        ("regret", results, regret_panel, regret_keys, "Regret against T", REGRET),
        (
            "compensated",
            fitted,
            compensated_panel,
            compensated_keys,
            "Regret divided by the promised rate",
            COMPENSATED,
        ),
        ("slopes", results, slopes_panel, slopes_keys, "Local slopes", SLOPES),
        ("residuals", fitted, residuals_panel, residuals_keys, "Residuals", RESIDUALS),
    ]
    drawn = []
    for kind, shown, panel, keys, title, caption in kinds:
        if shown:
            with rc_context(STYLE):
                figure = grid(analysis.of(family), panel, keys, analysis.margin)
                drawn.append(Picture(save(figure, folder, f"{slug(family)}-{kind}", svg), title, caption))
    gaps = [g for g in analysis.gaps if g.family == family and g.ratios]
    if gaps:
        with rc_context(STYLE):
            name = save(gap_figure(gaps), folder, f"{slug(family)}-gap", svg)
        drawn.insert(-1, Picture(name, "Regret of uniform bins over that of adaptive bins", GAP))
    return drawn


def slug(family) -> str:
    """A name for files and links: cusp-power=0.7 for cusp(power=0.7)."""
    return re.sub(r"[^\w.=-]+", "-", family).strip("-")


def save(figure, folder, name, svg) -> str:
    """Write a figure without dates and versions, so that the same data give the same bytes."""
    Path(folder).mkdir(parents=True, exist_ok=True)
    canvas = FigureCanvasAgg(figure)
    canvas.draw()
    picture = Image.fromarray(np.asarray(canvas.buffer_rgba())).convert("RGB")
    few = picture.quantize(COLOURS, dither=Image.Dither.NONE)  # a third of the size, and nobody sees it
    few.save(Path(folder) / f"{name}.png", optimize=True)
    if svg:
        figure.savefig(Path(folder) / f"{name}.svg", metadata={"Date": None, "Creator": None})
    return f"{name}.png"


def grid(results, panel, keys, margin):
    """Small multiples of one family: a row per algorithm, a column per dimension, one legend for all."""
    algorithms = list(dict.fromkeys(r.case.algorithm for r in results))
    dims = list(dict.fromkeys(r.case.dim for r in results))
    figure, axes = panels(len(algorithms), len(dims), keys(), sharex=True)
    found = {(r.case.algorithm, r.case.dim): r for r in results}
    for i, algorithm in enumerate(algorithms):
        for j, dim in enumerate(dims):
            axis, result = axes[i, j], found.get((algorithm, dim))
            axis.set_title(f"d = {dim}, {algorithm}")
            sns.despine(ax=axis)
            if result is None or result.data is None or (panel in NEED_FIT and result.fit is None):
                excuse(axis, "not part of the study" if result is None else result.problem)
            else:
                panel(axis, result, colour_of(i), MARKERS[i % len(MARKERS)], margin)
                horizon_axis(axis, result)
        axes[i, 0].set_ylabel(YLABEL[panel])
    for axis in axes[-1]:
        axis.set_xlabel("T")
    return figure


def panels(rows, columns, handles, **options):
    """A figure of equal panels over a legend.  Fixed distances in inches: a fitted layout takes twice the time."""
    left, right, top, between, under = 0.9, 0.25, 0.35, 0.62, 0.42
    wide, high = (2.5, 1.85) if columns > 1 else (4.6, 2.2)
    width = left + right + columns * wide + (columns - 1) * between
    per_line = max(2, int(width / 2.4))
    bottom = 0.6 + 0.22 * -(-len(handles) // per_line)
    height = top + bottom + rows * high + (rows - 1) * under
    figure = Figure(figsize=(width, height))
    figure.subplots_adjust(
        left=left / width,
        right=1 - right / width,
        top=1 - top / height,
        bottom=bottom / height,
        wspace=between / wide,
        hspace=under / high,
    )
    figure.legend(handles=handles, loc="lower center", ncols=per_line, frameon=False, borderaxespad=0.2)
    axes = figure.subplots(rows, columns, squeeze=False, **options)
    for axis in axes[:, 0]:
        axis.yaxis.set_label_coords((0.2 - left) / wide, 0.5)
    return figure, axes


def colour_of(i):
    palette = sns.color_palette("colorblind")
    return palette[[0, 1, 2, 4, 5, 7, 8][i % 7]]


def excuse(axis, text):
    axis.text(0.5, 0.5, textwrap.fill(text, 30), ha="center", va="center", transform=axis.transAxes, fontsize=9)
    axis.yaxis.set_major_locator(NullLocator())


def horizon_axis(axis, result):
    """A logarithmic axis of horizons, the window shaded, the onset marked where it lies among the horizons."""
    axis.set_xscale("log")
    axis.xaxis.set_minor_locator(NullLocator())
    axis.axvspan(*result.case.window, color=SHADE, zorder=-10, linewidth=0)
    if result.case.horizons[0] < result.case.onset <= result.case.horizons[-1]:
        axis.axvline(result.case.onset, color=INK, linestyle=":", linewidth=1.2)


FEW, SOME, MANY = (1.0,), (1.0, 2.0, 5.0), (1.0, 1.2, 1.5, 2.0, 2.5, 3.0, 4.0, 5.0, 6.0, 8.0)


def number(y):
    """1000, but 2 x 10^4."""
    if 1e-3 < y < 9999:
        return f"{y:g}"
    power = int(np.floor(np.log10(y) + 1e-9))
    lead = y / 10.0**power
    return f"$10^{{{power}}}$" if abs(lead - 1) < 1e-6 else f"${lead:g}\\times10^{{{power}}}$"


def log_ticks(axis, low, high):
    """1, 2, 5 on a logarithmic axis that covers less than a decade or two, so that it is never without a label."""
    decades = np.log10(high / low)
    steps = FEW if decades > 2.5 else SOME if decades > 0.6 else MANY
    axis.yaxis.set_major_locator(LogLocator(subs=steps))
    axis.yaxis.set_major_formatter(FuncFormatter(lambda y, _: number(y)))
    axis.yaxis.set_minor_formatter(NullFormatter())
    axis.yaxis.set_minor_locator(NullLocator())


def room(axis, low, high, below, above):
    """Space for a note under or over the data of a logarithmic axis, in parts of their length."""
    length = np.log(high / low)
    axis.set_ylim(low * np.exp(-below * length), high * np.exp(above * length))


def in_window(result):
    T = result.data.horizons
    low, high = result.case.window
    return (low * (1 - 1e-9) <= T) & (high * (1 + 1e-9) >= T)


def points(axis, x, y, reach, colour, marker, filled):
    """Means with intervals; hollow where they lie outside the window."""
    for part, face in ((filled, colour), (~filled, "white")):
        axis.errorbar(
            x[part],
            y[part],
            reach[:, part],
            fmt=marker,
            color=colour,
            markerfacecolor=face,
            markersize=4.5,
            elinewidth=1,
        )


def note(axis, text, corner):
    x, y = {"upper left": (0.03, 0.97), "lower right": (0.97, 0.04), "upper right": (0.97, 0.97)}[corner]
    vertical, horizontal = corner.split()
    vertical = "top" if vertical == "upper" else "bottom"
    axis.text(
        x, y, text, ha=horizontal, va=vertical, transform=axis.transAxes, fontsize=8.5, color=INK, linespacing=1.35
    )


# Regret

REGRET = (
    "Mean regret, the middle 80 % of the runs, the fitted line with its 95 % interval (log power divided out and put "
    "back), and the promised shape through the middle of the window: only its slope means something, not its height. "
    "The window is shaded, the onset dotted where it lies among the horizons; points outside the window are hollow."
)


def regret_panel(axis, result, colour, marker, margin):
    data, rate = result.data, result.own.claim.rate
    T = data.horizons
    low, high = np.array([np.quantile(s, [0.1, 0.9]) for s in data.samples]).T
    axis.fill_between(T, low, high, color=colour, alpha=0.22, linewidth=0)
    mean = np.exp(data.y)
    points(axis, T, mean, np.zeros((2, len(T))), colour, marker, in_window(result))
    lines = [f"promised {rate.slope:.3g}"]
    if result.fit is not None:
        fit = result.fit.at(rate.log_power)
        line, inside = line_of(fit), fit.data.horizons
        factor = np.log(inside) ** rate.log_power
        axis.plot(inside, np.exp(line.value) * factor, color=INK, linewidth=1.3)
        band = [np.exp(line.value + sign * line.reach) * factor for sign in (-1, 1)]
        axis.fill_between(inside, *band, color=INK, alpha=0.25, linewidth=0)
        lines.insert(
            0,
            "window allows no verdict" if result.problem else f"slope {fit.slope:.3f} [{fit.low:.3f}, {fit.high:.3f}]",
        )
    anchor = in_window(result) if in_window(result).any() else np.ones(len(T), bool)
    height = np.exp(np.mean(data.y[anchor] - np.log(rate.regret(T[anchor]))))
    shape = height * rate.regret(T)
    axis.plot(T, shape, color=INK, linestyle=(0, (4, 2.5)), linewidth=1.3)
    axis.set_yscale("log")
    axis.yaxis.set_minor_locator(NullLocator())
    least, most = (float(end(np.concatenate([low, high, mean, shape]))) for end in (np.min, np.max))
    log_ticks(axis, least, most)
    room(axis, least, most, below=0.2, above=0.05)
    note(axis, "\n".join(lines), "lower right")


def regret_keys():
    return [
        Line2D([], [], color=ANY, marker="o", linestyle="none", markersize=5, label="mean of the runs"),
        Patch(color=ANY, alpha=0.22, linewidth=0, label="middle 80 % of the runs"),
        Line2D([], [], color=INK, linewidth=1.3, label="fit, 95 % interval"),
        Line2D([], [], color=INK, linestyle=(0, (4, 2.5)), linewidth=1.3, label="promised shape"),
        *_shared_keys(),
    ]


def _shared_keys():
    return [
        Patch(color=SHADE, label="window of the fit"),
        Line2D([], [], color=INK, linestyle=":", linewidth=1.2, label="onset (where in range)"),
    ]


# Compensated regret

COMPENSATED = (
    "Agreement is a flat line; a falling line is a regret that grows more slowly than an upper bound allows, a line "
    "steeper than the dotted one exceeds the margin. Bars are 95 % intervals of the means. Curves are scaled to 1 in "
    "the middle of the window."
)


def compensated_panel(axis, result, colour, marker, margin):
    data, claim = result.data, result.own.claim
    T, inside = data.horizons, in_window(result)
    reach = 1.96 * np.sqrt(np.diag(data.covariance))
    versions = [(claim.rate, colour, marker, "-", "corrected" if claim.corrected else "promised")]
    if claim.corrected:
        versions.append((claim.printed, "0.45", "x", (0, (4, 2)), "printed"))
    lows, highs, words = [1.0], [1.0], []
    for rate, shade, shape, style, word in versions:
        y = data.y - np.log(rate.regret(T))
        y = y - np.mean(y[inside])
        ends = [np.exp(y) - np.exp(y - reach), np.exp(y + reach) - np.exp(y)]
        axis.plot(T, np.exp(y), color=shade, linestyle=style, linewidth=1.2)
        points(axis, T, np.exp(y), np.array(ends), shade, shape, inside)
        lows.append(float(np.exp(y - reach).min()))
        highs.append(float(np.exp(y + reach).max()))
        words.append(f"{word} {formula(rate)}")
    middle = np.exp(np.mean(np.log(T[inside])))
    axis.axhline(1.0, color=INK, linewidth=0.8)
    window = T[inside]
    axis.plot(window, (window / middle) ** margin, color=INK, linestyle=":", linewidth=1.3)
    axis.set_yscale("log")
    log_ticks(axis, min(lows), max(highs))
    room(axis, min(lows), max(highs), below=0.06, above=0.42 if len(words) > 1 else 0.32)
    note(axis, "\n".join(words), "upper right")


def compensated_keys():
    return [
        Line2D([], [], color=ANY, marker="o", markersize=5, label="R / g(T), the rate theory stands by"),
        Line2D([], [], color="0.45", marker="x", linestyle=(0, (4, 2)), label="R / g(T), the printed rate"),
        Line2D([], [], color=INK, linestyle=":", linewidth=1.3, label="slope of the margin"),
        Patch(color=SHADE, label="window of the fit"),
    ]


# Local slopes

SLOPES = (
    "Slopes of ln R between neighbouring horizons with 95 % intervals, nothing divided out. The line is the promised "
    "exponent s; the band reaches from s to s + p / ln T, p the log power that theory stands by; the dashed line shows "
    "the printed p."
)


def slopes_panel(axis, result, colour, marker, margin):
    claim = result.own.claim
    T = np.array([t for t, _ in result.local_slopes()])
    value, low, high = np.array([(e.value, e.low, e.high) for _, e in result.local_slopes()]).T
    ends = result.data.horizons[[0, -1]]
    fine = np.geomspace(*ends, 60)
    axis.fill_between(
        fine,
        claim.rate.slope,
        claim.rate.slope + claim.rate.log_power / np.log(fine),
        color="0.75",
        linewidth=0,
        alpha=0.7,
    )
    if claim.corrected:
        edge = claim.printed.slope + claim.printed.log_power / np.log(fine)
        axis.plot(fine, edge, color="0.4", linestyle=(0, (4, 2)), linewidth=1.1)
    axis.plot(ends, [claim.rate.slope] * 2, color=INK, linewidth=1.3)
    first, last = result.case.window
    inside = (first <= T) & (last >= T)
    axis.plot(T, value, color=colour, linewidth=0.8, alpha=0.7)
    points(axis, T, value, np.array([value - low, high - value]), colour, marker, inside)
    axis.text(fine[-1], claim.rate.slope, f" {claim.rate.slope:.3g}", va="center", fontsize=8.5, color=INK)


def slopes_keys():
    return [
        Line2D([], [], color=ANY, marker="o", markersize=5, linewidth=0.8, label="local slope, 95 % interval"),
        Line2D([], [], color=INK, linewidth=1.3, label="promised exponent s of R"),
        Patch(color="0.75", alpha=0.7, linewidth=0, label="s to s + p / ln T"),
        Line2D([], [], color="0.4", linestyle=(0, (4, 2)), label="s + p / ln T, printed p"),
        *_shared_keys(),
    ]


# Residuals

RESIDUALS = (
    "Distances from the fitted straight line with 95 % intervals, the log power that theory stands by divided out. The "
    "curve is the fitted log-periodic part; vertical lines stand one period apart, where the regret repeats itself."
)


def residuals_panel(axis, result, colour, marker, margin):
    fit = result.fit.at(result.own.claim.rate.log_power)
    line, T = line_of(fit), fit.data.horizons
    axis.axhline(0.0, color=INK, linewidth=0.8)
    if np.any(line.wave):
        axis.plot(T, line.wave, color=INK, linewidth=1.3)
    points(axis, T, fit.corrected - line.value, np.array([line.spread] * 2), colour, marker, np.ones(len(T), bool))
    if fit.period is not None:
        marks = T[-1] / fit.period ** np.arange(int(np.log(T[-1] / T[0]) / np.log(fit.period) + 1e-6) + 1)
        for mark in marks:
            axis.axvline(mark, color="0.5", linestyle=(0, (1, 2)), linewidth=1.2)
    if result.fit.problem:
        axis.margins(y=0.35)
        note(axis, "too short a window for the period", "upper left")


def residuals_keys():
    return [
        Line2D([], [], color=ANY, marker="o", linestyle="none", markersize=5, label="residual, 95 % interval"),
        Line2D([], [], color=INK, linewidth=1.3, label="fitted log-periodic part"),
        Line2D([], [], color="0.5", linestyle=(0, (1, 2)), linewidth=1.2, label="one period apart"),
        Patch(color=SHADE, label="window of the fit"),
    ]


YLABEL = {
    regret_panel: "R",
    compensated_panel: "R / g(T), scaled",
    slopes_panel: "d ln R / d ln T",
    residuals_panel: "ln R − line",
}
NEED_FIT = (compensated_panel, residuals_panel)


# The gap

GAP = (
    "The ratio of mean regrets at common horizons with 95 % intervals, and the growth that the promised exponents "
    "predict (dashed), then with the theorems' log powers (dotted), both through the middle of the common window and "
    "only where the window allows a fit. "
    "Above 1 adaptive bins are better."
)


def gap_figure(gaps):
    """Panels by dimension, a curve per setting of the adaptive method."""
    dims = list(dict.fromkeys(g.dim for g in gaps))
    settings = list(dict.fromkeys(g.adaptive for g in gaps))
    figure, (axes,) = panels(1, len(dims), gap_keys(settings), sharey=True)
    for axis, dim in zip(axes, dims, strict=True):
        shown = [g for g in gaps if g.dim == dim]
        for gap in shown:
            i = settings.index(gap.adaptive)
            gap_curve(axis, gap, colour_of(i + 1), MARKERS[(i + 1) % len(MARKERS)])
        axis.axhline(1.0, color=INK, linewidth=0.8)
        axis.set(xscale="log", yscale="log", xlabel="T", title=f"d = {dim}")
        axis.xaxis.set_minor_locator(NullLocator())
        if shown[0].window:
            axis.axvspan(*shown[0].window, color=SHADE, zorder=-10, linewidth=0)
        sns.despine(ax=axis)
    ends = [np.exp(end) for g in gaps for _, e in g.ratios for end in (e.low, e.high)]
    log_ticks(axes[0], min(ends), max(ends))
    axes[0].set_ylabel("R uniform / R adaptive")
    return figure


def gap_curve(axis, gap, colour, marker):
    T = np.array([t for t, _ in gap.ratios])
    value, low, high = np.exp([(e.value, e.low, e.high) for _, e in gap.ratios]).T
    first, last = gap.window or (np.inf, -np.inf)
    inside = (first <= T) & (last >= T)
    points(axis, T, value, np.array([value - low, high - value]), colour, marker, inside)
    if gap.measured is None:
        return
    height, centre = np.exp(np.mean(np.log(value[inside]))), np.exp(np.mean(np.log(T[inside])))
    for slope, style in ((gap.predicted, (0, (4, 2.5))), (gap.predicted + gap.log_powers, ":")):
        axis.plot(T, height * (T / centre) ** slope, color=colour, linestyle=style, linewidth=1.3)


def gap_keys(settings):
    curves = [
        Line2D([], [], color=colour_of(i + 1), marker=MARKERS[(i + 1) % len(MARKERS)], linestyle="none", markersize=5)
        for i in range(len(settings))
    ]
    for curve, name in zip(curves, settings, strict=True):
        curve.set_label(f"UniformBins / {name}")
    return [
        *curves,
        Line2D([], [], color=INK, linestyle=(0, (4, 2.5)), linewidth=1.3, label="growth by the exponents"),
        Line2D([], [], color=INK, linestyle=":", linewidth=1.3, label="and by the log powers"),
    ]


# The zoo at one glance

DIAGONAL = (
    "Every family, dimension and algorithm: the fitted slope of R, the log power that theory stands by divided out, "
    "against the slope that Theorem 1 or 2 promises, with 95 % intervals. Costs with the same promise stand side by "
    "side, in the order of their names, over a bar at the promise; the grey above it is the margin. At the bar a bound "
    "is attained, below it the regret grows more slowly than the bound allows, beyond the margin faster. Named are "
    "the costs beyond the margin and the lowest, where there is room. The table says which verdicts have no force."
)
PLANE = (
    "Every cost at its αβ/d and d/α, coloured by the measured gap: the slope of uniform minus that of adaptive bins. "
    "αβ/d is at most 1 (Proposition 1); there, at β = d/α, adaptive bins are promised $T^{1/2}$ in every dimension. "
    "Below the curve β = 1 uniform bins are promised the exponent of adaptive bins, above it a worse one. Costs at one "
    "place are drawn side by side, row by row in the order of their names; white: not measured, or "
    "before the onset of a rate."
)
VERDICT_FACE = {"CONSISTENT": "full", "REFUTED": "none", "INCONCLUSIVE": "left"}


def draw_overview(folder, fits, gaps, svg=False) -> list[Picture]:
    """Fitted against promised slopes, and the plane of costs."""
    with rc_context(STYLE):
        diagonal = save(diagonal_figure(fits), folder, "fitted-against-promised", svg)
        plane = save(plane_figure(fits, gaps), folder, "plane", svg)
    return [
        Picture(diagonal, "Fitted against promised slopes", DIAGONAL),
        Picture(plane, "The gap over the plane of costs", PLANE),
    ]


def diagonal_figure(fits):
    """A panel per algorithm."""
    own = fits[fits["kind"] == "upper"].drop_duplicates(["family", "dim", "algorithm"], keep="last")
    own = own.dropna(subset=["slope"])
    algorithms = [a for a in ("UniformBins", "AdaptiveBins") if (own["algorithm"] == a).any()]
    figure = Figure(figsize=(5.2 * len(algorithms) + 0.6, 6.0))
    figure.subplots_adjust(left=0.07, right=0.985, top=0.94, bottom=0.18, wspace=0.06)
    figure.legend(handles=diagonal_keys(own), loc="lower center", ncols=4, frameon=False)
    if not algorithms:
        excuse(figure.subplots(), "no case has a fit")
        return figure
    axes = figure.subplots(1, len(algorithms), squeeze=False, sharex=True, sharey=True)[0]
    ends = np.array([own["theory_slope"].min() - 0.12, own["theory_slope"].max() + 0.12])
    reach = float(own["high"].max() - own["low"].min())
    for axis, algorithm in zip(axes, algorithms, strict=True):
        axis.plot(ends, ends, color="0.6", linewidth=0.8)
        axis.set(title=algorithm, xlabel="promised slope of R", xlim=ends)
        axis.set_ylim(own["low"].min() - 0.06 * reach, max(own["high"].max(), ends[1]) + 0.04 * reach)
        sns.despine(ax=axis)
        part = own[own["algorithm"] == algorithm].sort_values(["family", "dim"])
        groups = [group for _, group in part.groupby(part["theory_slope"].round(6))]
        labels(axis, [mark for group in groups for mark in promise_group(axis, group, part["slope"].min())])
    axes[0].set_ylabel("fitted slope of R")
    return figure


def diagonal_keys(own):
    dims = [
        Line2D([], [], color=colour_of(d - 1), marker=MARKERS[d - 1], linestyle="none", markersize=6, label=f"d = {d}")
        for d in sorted(set(own["dim"]))
    ]
    faces = [
        Line2D([], [], color=ANY, marker="o", fillstyle=face, linestyle="none", markersize=6, label=f"exponent {name}")
        for name, face in VERDICT_FACE.items()
    ]
    return [*dims, *faces, Line2D([], [], color=INK, linewidth=2, label="promise"), Patch(color="0.85", label="margin")]


def promise_group(axis, group, lowest):
    """Costs with one promise, side by side over a bar; returns the places, and the names of the remarkable ones."""
    promise, margin = float(group["theory_slope"].iloc[0]), float(group["margin"].iloc[0])
    step = min(0.006, 0.12 / len(group))
    places = promise + step * (np.arange(len(group)) - (len(group) - 1) / 2)
    ends = [places[0] - 0.004, places[-1] + 0.004]
    axis.fill_between(ends, promise, promise + margin, color="0.85", linewidth=0)
    axis.plot(ends, [promise] * 2, color=INK, linewidth=2, solid_capstyle="butt")
    named = []
    for x, row in zip(places, group.itertuples(), strict=True):
        axis.errorbar(
            x,
            row.slope,
            [[row.slope - row.low], [row.high - row.slope]],
            color=colour_of(row.dim - 1),
            marker=MARKERS[row.dim - 1],
            fillstyle=VERDICT_FACE[row.exponent_verdict],
            markersize=4.5,
            elinewidth=0.9,
        )
        remarkable = row.slope > promise + margin or row.slope == lowest
        named.append((x, row.slope, f"{row.family} {row.dim}" if remarkable else ""))
    return named


def labels(axis, marks):
    """Names beside their points, each at the first of a few places that is free; marks are (x, y, name or nothing).

    Works in pixels, so the limits of the axis and its place must be settled before.
    """
    pixel = axis.figure.dpi / 72
    dots = [(*axis.transData.transform((x, y)), name) for x, y, name in marks]
    taken = [(x - 4 * pixel, y - 4 * pixel, x + 4 * pixel, y + 4 * pixel) for x, y, _ in dots]
    frame = axis.get_window_extent()
    for x, y, name in sorted(dots, key=lambda dot: -dot[1]):
        if not name:
            continue
        wide, high = 4.3 * pixel * len(name), 8.5 * pixel
        for right, up in LABEL_PLACES:
            left = x + (6 * pixel if right > 0 else -6 * pixel - wide)
            low = y + up * pixel - high / 2
            box = (left, low, left + wide, low + high)
            inside = left > frame.x0 and box[2] < frame.x1 and low > frame.y0 and box[3] < frame.y1
            if inside and not any(overlap(box, other) for other in taken):
                break
        else:
            continue  # no room: the table names it
        taken.append(box)
        at = axis.transData.inverted().transform((box[0], y + up * pixel))
        axis.text(*at, name, fontsize=7.5, color=INK, va="center")
        if abs(up) > 9:
            tip = axis.transData.inverted().transform((x, y))
            near = axis.transData.inverted().transform((box[0] if right > 0 else box[2], y + up * pixel))
            axis.plot([tip[0], near[0]], [tip[1], near[1]], color="0.6", linewidth=0.5, zorder=0.5)


LABEL_PLACES = [(side, up) for up in (0, 7, -7, 14, -14, 20, -20) for side in (1, -1)]


def overlap(a, b):
    return a[0] < b[2] and b[0] < a[2] and a[1] < b[3] and b[1] < a[3]


def plane_figure(fits, gaps):
    """Costs in the plane of alpha beta / d and d / alpha."""
    costs = fits[["family", "dim", "alpha", "beta"]].drop_duplicates(["family", "dim"])
    counted = gaps[gaps["reason"].isna()]
    costs = costs.merge(counted[["family", "dim", "gap"]], on=["family", "dim"], how="left")
    costs = costs.assign(x=costs["alpha"] * costs["beta"] / costs["dim"], y=costs["dim"] / costs["alpha"])
    figure = Figure(figsize=(11.0, 7.0))
    figure.subplots_adjust(left=0.06, right=0.88, top=0.98, bottom=0.08)
    axis = figure.subplots()
    low, high = 0.85 * min(0.5, costs["y"].min()), 1.2 * max(2.0, costs["y"].max())
    axis.set(xlim=(-0.06, 1.52), ylim=(low, high), yscale="log", xlabel="αβ/d", ylabel="d/α")
    regimes(axis, low, high)
    known = costs["gap"].dropna()
    scale = Normalize(min(0.0, known.min()), max(0.1, known.max())) if len(known) else Normalize(0, 0.1)
    colours = sns.color_palette("viridis", as_cmap=True)
    for (x, y), group in costs.groupby([costs["x"].round(6), costs["y"].round(6)]):
        place(axis, x, y, group.sort_values(["family", "dim"]), colours, scale)
    axis.set_xticks([0, 0.25, 0.5, 0.75, 1])
    ticks = [t for t in (0.5, 0.75, 1, 1.5, 2, 3, 4, 6) if low <= t <= high]
    axis.set_yticks(ticks, [f"{t:g}" for t in ticks])
    axis.yaxis.set_minor_locator(NullLocator())
    sns.despine(ax=axis)
    shapes = [
        Line2D([], [], color="white", markeredgecolor=INK, marker=MARKERS[d - 1], linestyle="none", label=f"d = {d}")
        for d in sorted(set(costs["dim"]))
    ]
    axis.legend(handles=shapes, loc="lower left", frameon=False)
    bar = figure.colorbar(ScalarMappable(scale, colours), cax=figure.add_axes((0.9, 0.2, 0.015, 0.6)))
    bar.set_label("measured gap: slope of uniform − slope of adaptive bins")
    return figure


def regimes(axis, low, high):
    """beta < 1, beta > 1 and beta = d/alpha."""
    y = np.geomspace(low, high, 200)
    worse = sns.color_palette("colorblind")[1]
    axis.fill_betweenx(y, np.minimum(1 / y, 1), 1, color=worse, alpha=0.12, linewidth=0)
    above = y >= 1
    axis.plot(1 / y[above], y[above], color=INK, linestyle=(0, (4, 2.5)), linewidth=1.2)
    axis.plot([1, 1], [low, high], color=INK, linewidth=1.2)
    at = high / 1.12
    axis.text(1 / at + 0.02, at, "β > 1: uniform bins are promised a worse exponent", va="center", fontsize=9)
    axis.text(1.02, at, "β = d/α: adaptive bins are promised $T^{1/2}$", va="center", fontsize=9)
    axis.text(-0.04, 1.22, "β < 1: uniform bins are promised\nthe exponent of adaptive bins", va="center", fontsize=9)
    bend = 2.45
    axis.text(1 / bend - 0.01, bend, "β = 1", ha="right", va="center", fontsize=9)


def place(axis, x, y, group, colours, scale):
    """Costs that share a place: dots packed around it, and their names to the right."""
    spots = packed(len(group))
    for (right, up), row in zip(spots, group.itertuples(), strict=True):
        known = not np.isnan(row.gap)
        axis.plot(
            x + right,
            y * np.exp(up),
            marker=MARKERS[row.dim - 1],
            markersize=7,
            color=colours(scale(row.gap)) if known else "white",
            markeredgecolor=INK,
            markeredgewidth=0.6,
        )
    names = ", ".join(f"{row.family}\N{NO-BREAK SPACE}{row.dim}" for row in group.itertuples())
    look = {
        "fontsize": 7.3,
        "color": INK,
        "linespacing": 1.1,
        "path_effects": [withStroke(linewidth=2, foreground="w")],
    }
    if np.isclose(x, 1.0):  # nothing lies beyond
        axis.text(x + max(r for r, _ in spots) + 0.014, y, textwrap.fill(names, 52), va="center", **look)
    else:
        top = y * np.exp(max(up for _, up in spots) + 0.035)
        axis.text(x, top, textwrap.fill(names, 16), ha="center", va="bottom", **look)


def packed(count):
    """Distances from their common place of a few dots, in rows of at most five; the second in ln(d/alpha)."""
    most, right, down = 5, 0.017, 0.055
    rows = -(-count // most)
    widths = [min(most, count - most * (i // most)) for i in range(count)]
    return [((i % most - (widths[i] - 1) / 2) * right, ((rows - 1) / 2 - i // most) * down) for i in range(count)]
