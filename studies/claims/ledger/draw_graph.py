"""Which claim rests on which: borders show what became of the statements, fills what became of their proofs."""

from __future__ import annotations

import seaborn as sns
from matplotlib.figure import Figure
from matplotlib.lines import Line2D
from matplotlib.patches import FancyArrowPatch, FancyBboxPatch, Patch

from ratecheck.figures import INK
from studies.claims.ledger.statement import Proof, Statement, layers

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


def graph(statements: tuple[Statement, ...], verdicts: dict[str, str]) -> Figure:
    """Claims from left to right in the order in which they rest on each other; below, those that stand alone."""
    columns, alone = _columns(statements)
    tallest = max(map(len, columns))
    band = -(-len(alone) // len(columns))  # rows below
    rows = tallest + (band + 0.4 if band else 0)
    figure = Figure(figsize=(2.05 * len(columns) + 0.4, 0.5 * rows + 1.0))
    high = 0.5 * rows + 1.0
    axis = figure.add_axes((0.01, 0.8 / high, 0.98, 1 - 0.85 / high))
    axis.set(xlim=(-0.55, len(columns) - 0.45), ylim=(tallest - rows - 0.5, tallest - 0.4))
    axis.axis("off")
    place = {
        s.id: (x, tallest - 1 - (y + (tallest - len(column)) / 2))
        for x, column in enumerate(columns)
        for y, s in enumerate(column)
    }
    place |= {s.id: (i % len(columns), -1.4 - i // len(columns)) for i, s in enumerate(alone)}
    if alone:
        axis.text(-0.4, -0.85, "on their own", fontsize=8, color="0.4", va="center")
    for start, end in _arrows(statements):
        _arrow(axis, place[start], place[end])
    for s in statements:
        _box(axis, s, place[s.id], verdicts.get(s.id))
    _legend(figure, statements, set(verdicts.values()))
    return figure


def _columns(statements):
    """Layers of claims that rest on each other, and the claims that do neither."""
    found = layers(statements)
    needed = {other for s in statements for other in s.needs}
    alone = [s for s in found[0] if s.id not in needed]
    return [[s for s in found[0] if s.id in needed], *found[1:]], alone


def _arrows(statements):
    """What each rests on, less what it rests on through another one anyway."""
    below = {}
    for layer in layers(statements):
        for s in layer:
            below[s.id] = set(s.needs).union(*(below[other] for other in s.needs))
    for s in statements:
        for other in s.needs:
            if not any(other in below[between] for between in s.needs):
                yield other, s.id


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
    fills = [Patch(facecolor=FILLS[p], edgecolor="0.6", label=_said(p)) for p in Proof if p in used]
    figure.legend(handles=[*borders, *fills], loc="lower center", ncols=5, frameon=False, fontsize=8)


def _said(proof) -> str:
    return "a measurement" if proof is Proof.MEASURED else f"proof {proof}"
