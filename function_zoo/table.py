"""A pandas table that shows all of its numbers and words, where pandas would leave some out."""

from __future__ import annotations

import shutil
import textwrap
from typing import ClassVar

import pandas as pd

from .speaking import html_table, number, seen

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
        cells = [[str(name) for name in self.columns], *([_text(v) for v in row] for row in self._rows())]
        if not len(self.columns):
            return "an empty table"
        right = [pd.api.types.is_numeric_dtype(kind) and not pd.api.types.is_bool_dtype(kind) for kind in self.dtypes]
        widths = [max(len(row[i]) for row in cells) for i in range(len(self.columns))]
        before = sum(widths[:-1]) + 2 * (len(widths) - 1)
        last = max(NARROWEST, shutil.get_terminal_size((120, 24)).columns - before - 1)
        lines = []
        for row in cells:
            head = [c.rjust(w) if r else c.ljust(w) for c, w, r in zip(row[:-1], widths, right, strict=False)]
            words = textwrap.wrap(row[-1], last) or [""]
            lines.append("  ".join([*head, words[0]]).rstrip())
            lines += [" " * before + more for more in words[1:]]
        return "\n".join(lines)

    __str__ = __repr__

    def _repr_html_(self):
        return html_table(getattr(self, "title", ""), map(str, self.columns), self._rows())

    def _rows(self):
        return (list(row) for row in self.itertuples(index=False, name=None))


def _text(value) -> str:
    return number(value) if isinstance(value, float) else seen(value)
