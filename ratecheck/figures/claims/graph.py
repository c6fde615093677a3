"""Which claim rests on which: borders show what became of the statements, fills what became of their proofs."""

from __future__ import annotations

import seaborn as sns
from matplotlib.figure import Figure
from matplotlib.lines import Line2D
from matplotlib.patches import FancyArrowPatch, FancyBboxPatch, Patch

from ...ledger.statement import Proof, Statement, layers
from ..base import INK

COLOUR = sns.color_palette("colorblind")
BORDERS = {  # colour and dashes: readable in grey
    "CONFIRMED": (COLOUR[2], "-"),
    "CONSISTENT": (COLOUR[0], "-"),
    "REFUTED": (COLOUR[3], "--"),
    "INCONCLUSIVE": ("0.45", ":"),
    "NOT TESTABLE": ("0.45", "-."),
    None: ("0.8", "-"),
}
FILLS = {
    Proof.SOUND: "white",
    Proof.MENDED: "#f3e6c4",
    Proof.WRONG: "#e3b9b0",
    Proof.ABSENT: "0.86",
    Proof.MEASURED: "0.95",
}
WIDE, HIGH = 1.0, 0.62  # of a box, in units of a column and a row


def graph(statements: tuple[Statement, ...], verdicts: dict[str, str]) -> Figure:
    """Claims from left to right in the order in which they rest on each other."""
    columns = _columns(statements)
    tallest = max(map(len, columns))
    figure = Figure(figsize=(2.05 * len(columns) + 0.4, 0.5 * tallest + 1.3))
    axis = figure.add_axes((0.01, 0.14, 0.98, 0.85))
    axis.set(xlim=(-0.75, len(columns) - 0.25), ylim=(-0.6, tallest - 0.4))
    axis.axis("off")
    place = {
        s.id: (x, _height(y, len(column), tallest)) for x, column in enumerate(columns) for y, s in enumerate(column)
    }
    for s in statements:
        for other in s.needs:
            _arrow(axis, place[other], place[s.id])
    for s in statements:
        _box(axis, s, place[s.id], verdicts.get(s.id))
    _legend(figure, statements, set(verdicts.values()))
    return figure


def _columns(statements):
    """Layers; a claim that nothing rests on and that rests on nothing goes where there is room."""
    found = layers(statements)
    needed = {other for s in statements for other in s.needs}
    alone = [s for s in found[0] if s.id not in needed]
    columns = [[s for s in found[0] if s.id in needed], *found[1:]]
    for s in alone:
        min(columns[1:] or columns, key=len).append(s)
    return columns


def _height(y, count, tallest):
    return tallest - 1 - (y + (tallest - count) / 2)


def _arrow(axis, start, end):
    axis.add_patch(
        FancyArrowPatch(
            (start[0] + 0.4, start[1]),
            (end[0] - 0.42, end[1]),
            connectionstyle="arc3,rad=0.06",
            arrowstyle="-|>",
            mutation_scale=8,
            color="0.6",
            linewidth=0.8,
            zorder=1,
        )
    )


def _box(axis, s, at, verdict):
    colour, dashes = BORDERS[verdict]
    axis.add_patch(
        FancyBboxPatch(
            (at[0] - 0.38, at[1] - 0.3),
            0.76,
            0.6,
            boxstyle="round,pad=0.02,rounding_size=0.06",
            facecolor=FILLS[s.proof],
            edgecolor=colour,
            linestyle=dashes,
            linewidth=2,
            zorder=2,
        )
    )
    axis.text(*at, f"{s.id}  {_short(s.title)}", ha="center", va="center", fontsize=7.2, color=INK, zorder=3)


def _short(title):
    """In two lines."""
    words, first = title.split(), ""
    while words and len(first) + len(words[0]) < 21:
        first = f"{first} {words.pop(0)}".strip()
    return f"{first}\n{' '.join(words)}" if words else first


def _legend(figure, statements, verdicts):
    borders = [
        Line2D([], [], color=colour, linestyle=dashes, linewidth=2, label=verdict)
        for verdict, (colour, dashes) in BORDERS.items()
        if verdict in verdicts
    ]
    used = {s.proof for s in statements}
    fills = [Patch(facecolor=FILLS[p], edgecolor="0.6", label=f"proof {p}") for p in Proof if p in used]
    figure.legend(handles=[*borders, *fills], loc="lower center", ncols=5, frameon=False, fontsize=8)
