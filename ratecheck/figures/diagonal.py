"""Fitted against promised slopes of all costs, a panel per algorithm."""

from __future__ import annotations

import numpy as np
import seaborn as sns
from matplotlib.figure import Figure
from matplotlib.lines import Line2D
from matplotlib.patches import Patch

from .base import ANY, INK, MARKERS, colour_of, excuse, legend_columns, lettered

TITLE = "Fitted against promised slopes"
CAPTION = (
    "Every family, dimension and algorithm: the fitted slope of R, the log power that theory stands by divided out, "
    "against the slope that the algorithm's theorem promises, with 95 % intervals. Costs with the same promise stand "
    "side by side, in the order of their names, over a bar at the promise; the grey above it is the margin. At the bar "
    "a bound is attained, below it the regret grows more slowly than the bound allows, beyond the margin faster. Named "
    "are the costs beyond the margin and the lowest, where there is room. The table says which verdicts have no force."
)
VERDICT_FACE = {"CONSISTENT": "full", "REFUTED": "none", "INCONCLUSIVE": "left"}


def diagonal_figure(fits, names):
    """A panel per name of an algorithm that has a fit."""
    own = fits[fits["kind"] == "upper"].drop_duplicates(["family", "dim", "algorithm"], keep="last")
    own = own[own["algorithm"].isin(list(names))].dropna(subset=["slope"])
    algorithms = [a for a in names if (own["algorithm"] == a).any()]
    width, height, handles = 5.2 * max(1, len(algorithms)) + 0.6, 6.0, keys(own)
    per_line = min(4, legend_columns(handles, width))
    bottom = 0.7 + 0.19 * -(-len(handles) // per_line)
    figure = Figure(figsize=(width, height))
    figure.subplots_adjust(
        left=0.77 / width,
        right=1 - 0.165 / width,
        top=0.94,
        bottom=bottom / height,
        wspace=0.06,
    )
    figure.legend(handles=handles, loc="lower center", ncols=per_line, frameon=False)
    if not algorithms:
        excuse(figure.subplots(), "no case has a fit")
        return figure
    axes = figure.subplots(1, len(algorithms), squeeze=False, sharex=True, sharey=True)[0]
    ends = np.array([own["theory_slope"].min() - 0.12, own["theory_slope"].max() + 0.12])
    reach = float(own["high"].max() - own["low"].min())
    for axis, algorithm in zip(axes, algorithms, strict=True):
        axis.plot(ends, ends, color="0.6", linewidth=0.8)
        axis.set(title=lettered(algorithm), xlabel="promised slope of R", xlim=ends)
        axis.set_ylim(own["low"].min() - 0.06 * reach, max(own["high"].max(), ends[1]) + 0.04 * reach)
        sns.despine(ax=axis)
        part = own[own["algorithm"] == algorithm].sort_values(["family", "dim"])
        groups = [group for _, group in part.groupby(part["theory_slope"].round(6))]
        labels(axis, [mark for group in groups for mark in promise_group(axis, group, part["slope"].min())])
    axes[0].set_ylabel("fitted slope of R")
    return figure


def keys(own):
    dims = [
        Line2D(
            [],
            [],
            color=colour_of(d - 1),
            marker=MARKERS[(d - 1) % len(MARKERS)],
            linestyle="none",
            markersize=6,
            label=f"d = {d}",
        )
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
            marker=MARKERS[(row.dim - 1) % len(MARKERS)],
            fillstyle=VERDICT_FACE[row.exponent_verdict],
            markersize=4.5,
            elinewidth=0.9,
        )
        remarkable = row.slope > promise + margin or row.slope == lowest
        named.append((x, row.slope, lettered(f"{row.family} {row.dim}") if remarkable else ""))
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
