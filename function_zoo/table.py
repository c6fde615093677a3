"""A pandas table that shows all of its numbers and words, where pandas would leave some out."""

from __future__ import annotations

from html import escape
from typing import ClassVar

import pandas as pd

WHOLE = ("display.max_colwidth", None)


class Table(pd.DataFrame):
    """As a table of pandas in every other respect; what is computed from it is one of pandas again."""

    _metadata: ClassVar = ["title"]  # pandas asks for a list

    @classmethod
    def of(cls, title: str, rows, columns) -> Table:
        table = cls(rows, columns=columns)
        table.title = title
        return table

    def __repr__(self):
        with pd.option_context(*WHOLE):
            return pd.DataFrame(self).map(_printable).to_string(index=False, float_format="{:.6g}".format)

    __str__ = __repr__

    def _repr_html_(self):
        return html(getattr(self, "title", ""), self.itertuples(index=False, name=None), self.columns)


def html(title: str, rows, header=None) -> str:
    """Rows of cells as a table for a notebook, whatever texts they hold."""
    table = pd.DataFrame([list(map(_printable, row)) for row in rows], columns=header)
    with pd.option_context(*WHOLE):
        shown = table.to_html(index=False, header=header is not None, float_format="{:.6g}".format)
    return f"<b>{escape(_printable(title))}</b>{shown}"


def _printable(value):
    """A number as it is, a text on one line and with nothing that a terminal obeys."""
    if not isinstance(value, str):
        return value
    return "".join(c if c.isprintable() else "\N{REPLACEMENT CHARACTER}" for c in " ".join(value.split()))
