"""Fitted minus promised slopes of all costs, family by family, a panel per algorithm."""

import numpy as np
import seaborn as sns
from matplotlib.figure import Figure
from matplotlib.patches import Patch

from ..verdict.sentences import NOT_JUDGED
from .base import ANY, INK, MARKERS, colour_of, entry, excuse, legend_columns, lettered

TITLE = "Fitted against promised slopes"
CAPTION = (
    "Every family, dimension and algorithm: the fitted slope of R, the log power that theory stands by divided out, "
    "minus the slope that the algorithm's theorem promises, with its 95 % interval. At 0 a bound is attained, left of "
    "it the regret grows more slowly than the bound allows, right of the shaded margin faster. The grey bar beside a "
    "point ends at the worst pure power of T that could have passed as CONSISTENT in its place, in slopes as seen, no "
    "logarithm divided out: the shorter, the more a verdict says. Half-filled points are INCONCLUSIVE, crossed ones "
    "come from windows that allow no verdict."
)
VERDICT_FACE = {"CONSISTENT": "full", "REFUTED": "none", "INCONCLUSIVE": "left"}
ROW = 0.3  # inches for a family
SPREAD = 0.26  # of the dimensions within its row


def diagonal_figure(fits, names):
    own = fits[fits["role"] == "own"].drop_duplicates(["family", "dim", "algorithm"], keep="last")
    own = own[own["algorithm"].isin(list(names))].dropna(subset=["slope"])
    algorithms = [a for a in names if (own["algorithm"] == a).any()]
    families = sorted(set(own["family"]))
    handles = keys(own)
    width = 1.6 + 4.4 * max(1, len(algorithms))
    per_line = min(5, legend_columns(handles, width))
    bottom = 0.75 + 0.2 * -(-len(handles) // per_line)
    height = 0.4 + bottom + ROW * max(4, len(families))
    figure = Figure(figsize=(width, height))
    sides = {"left": 1.45 / width, "right": 1 - 0.15 / width, "bottom": bottom / height, "top": 1 - 0.35 / height}
    figure.subplots_adjust(**sides, wspace=0.05)
    figure.legend(handles=handles, loc="lower center", ncols=per_line, frameon=False)
    if not algorithms:
        excuse(figure.subplots(), "no case has a fit")
        return figure
    axes = figure.subplots(1, len(algorithms), squeeze=False, sharex=True, sharey=True)[0]
    dims = sorted(set(own["dim"]))
    for axis, algorithm in zip(axes, algorithms, strict=True):
        forest(axis, own[own["algorithm"] == algorithm], families, dims)
        axis.set(title=lettered(algorithm), xlabel="fitted minus promised slope of R")
        sns.despine(ax=axis)
    axes[0].set_yticks(range(len(families)), [lettered(family) for family in families])
    axes[0].set_ylim(len(families) - 0.5, -0.5)
    return figure


def forest(axis, rows, families, dims):
    axis.axvspan(0.0, float(rows["margin"].iloc[0]), color="0.93", zorder=-10, linewidth=0)
    axis.axvline(0.0, color=INK, linewidth=1.0)
    axis.grid(axis="y", color="0.92", linewidth=0.6)
    axis.set_axisbelow(True)
    places = np.linspace(-SPREAD, SPREAD, len(dims)) if len(dims) > 1 else [0.0]
    for row in rows.itertuples():
        y = families.index(row.family) + places[dims.index(row.dim)]
        if np.isfinite(row.tolerates):
            axis.plot([0.0, row.tolerates], [y, y], color="0.78", linewidth=2.4, solid_capstyle="butt", zorder=1)
        off = row.slope - row.theory_slope
        unjudged = getattr(row, "changed", "") == NOT_JUDGED
        look = look_of(row.dim) | ({"marker": "x"} if unjudged else {})
        look |= {"fillstyle": VERDICT_FACE[row.exponent_verdict], "markersize": 4.5, "elinewidth": 0.9, "zorder": 3}
        axis.errorbar(off, y, xerr=[[row.slope - row.low], [row.high - row.slope]], **look)


def look_of(dim) -> dict:
    return {"color": colour_of(dim - 1), "marker": MARKERS[(dim - 1) % len(MARKERS)]}


def keys(own):
    point = {"linestyle": "none", "markersize": 6}
    dims = [entry(**look_of(d), **point, label=f"d = {d}") for d in sorted(set(own["dim"]))]
    drawn = set(own["exponent_verdict"])
    faces = [
        entry(color=ANY, marker="o", fillstyle=face, **point, label=f"exponent {name}")
        for name, face in VERDICT_FACE.items()
        if name in drawn
    ]
    if "changed" in own and own["changed"].eq(NOT_JUDGED).any():
        faces.append(entry(color=ANY, marker="x", **point, label=NOT_JUDGED))
    return [*dims, *faces, Patch(color="0.93", label="margin"), Patch(color="0.78", label="could have passed")]
