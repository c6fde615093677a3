"""A pandas table that shows all of its numbers and words, where pandas would leave some out."""

from __future__ import annotations

import shutil
import textwrap
from html import escape
from numbers import Real
from typing import ClassVar

import pandas as pd

NARROWEST = 30  # column of words: below it, a line is longer than the terminal


class Table(pd.DataFrame):
    """As a table of pandas in every other respect; what is computed from it is one of pandas again."""

    _metadata: ClassVar = ["title"]  # pandas asks for a list

    @classmethod
    def of(cls, title: str, rows, columns) -> Table:
        table = cls(rows, columns=columns)
        table.title = title
        return table

    def __repr__(self):
        columns = []
        for name, values in self.items():
            cells = [str(name), *map(_text, values)]
            widest = max(map(len, cells))
            columns.append([c.rjust(widest) if values.dtype.kind in "iuf" else c.ljust(widest) for c in cells])
        lines = []
        for *head, words in zip(*columns, strict=True):
            before = "".join(f"{cell}  " for cell in head)
            width = max(len(before) + NARROWEST, shutil.get_terminal_size((120, 24)).columns - 1)
            indents = {"initial_indent": before, "subsequent_indent": " " * len(before)}
            lines += textwrap.wrap(words, width, **indents) or [before.rstrip()]
        return "\n".join(lines) or "an empty table"

    __str__ = __repr__

    def _repr_html_(self):
        return html(getattr(self, "title", ""), self.itertuples(index=False, name=None), self.columns)


def html(title: str, rows, header=()) -> str:
    """Rows of cells as a table for a notebook, numbers to the right; whatever texts they hold, they are text."""

    def line(cells, tag):
        sides = ["right" if isinstance(cell, Real) and not isinstance(cell, bool) else "left" for cell in cells]
        texts = (
            f'<{tag} style="text-align:{side}">{escape(_text(cell))}</{tag}>'
            for side, cell in zip(sides, cells, strict=True)
        )
        return f"<tr>{''.join(texts)}</tr>"

    heads = [line(header, "th")] if len(header) else []
    caption = f'<caption style="text-align:left;font-weight:bold">{escape(_text(title))}</caption>'
    return f"<table>{caption}{''.join([*heads, *(line(row, 'td') for row in rows)])}</table>"


def _text(value) -> str:
    """Six digits of a number, and a text on one line and with nothing that a terminal obeys."""
    if isinstance(value, bool):
        return "yes" if value else "NO"
    text = f"{value:.6g}" if isinstance(value, float) else " ".join(str(value).split())
    return "".join(c if c.isprintable() else "\N{REPLACEMENT CHARACTER}" for c in text)
