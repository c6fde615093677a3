"""Objects that speak: a few named facts, as lines in a terminal and as a table in a notebook."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from html import escape
from itertools import chain, zip_longest
from numbers import Integral, Real

# Grey at half strength and no background: readable on white and on black.
LINE = "border:0;border-bottom:1px solid rgba(128,128,128,.35);padding:.2em .8em .2em 0;background:transparent"
LEFT, RIGHT = (f"{LINE};text-align:{side};vertical-align:top" for side in ("left", "right"))
WRAPPED = ";white-space:normal;max-width:48em"
BADGES = {"CONSISTENT": "#1b7837", "REFUTED": "#b2182b", "INCONCLUSIVE": "#666666"}  # under white letters


class Speaking:
    """An object with a title and facts: `_repr_html_` is what a notebook shows of it.

    A class says them in `_facts`, and may print itself as `lines(self._facts())`.
    """

    def _title(self) -> str:
        return type(self).__name__

    def _facts(self) -> Mapping[str, object]:
        raise NotImplementedError

    def _repr_html_(self) -> str:
        return html_facts(self._title(), self._facts())


def seen(value) -> str:
    """A text on one line, with nothing that a terminal obeys."""
    if isinstance(value, bool):
        return "yes" if value else "NO"
    return "".join(c if c.isprintable() else "\N{REPLACEMENT CHARACTER}" for c in " ".join(str(value).split()))


def lines(facts: Mapping[str, object]) -> str:
    """A line per fact, the names in a column of their own."""
    width = max(map(len, facts), default=0)
    return "\n".join(f"{name:{width}}  {seen(value)}".rstrip() for name, value in facts.items())


def html_facts(title: str, facts: Mapping[str, object]) -> str:
    heads = (f'<tr><th scope="row" style="{LEFT}">{escape(seen(name))}</th>' for name in facts)
    cells = (f'<td style="{LEFT}{WRAPPED}">{cell(value)}</td></tr>' for value in facts.values())
    return _table(title, "".join(chain.from_iterable(zip(heads, cells, strict=True))))


def html_table(title: str, header: Iterable[str], rows: Iterable[Iterable]) -> str:
    """Numbers to the right, all else to the left."""
    rows = [list(row) for row in rows]
    sides = [RIGHT if rows and all(_is_number(v) for v in column) else LEFT for column in zip(*rows, strict=True)]
    names = zip_longest(header, sides, fillvalue=LEFT)
    head = "".join(f'<th scope="col" style="{side}">{escape(seen(name))}</th>' for name, side in names)
    body = "".join(f"<tr>{''.join(map(_td, row))}</tr>" for row in rows)
    return _table(title, f"<tr>{head}</tr>{body}")


def number(value) -> str:
    return str(value) if isinstance(value, Integral) else f"{value:.6g}"


def _is_number(value) -> bool:
    return isinstance(value, Real) and not isinstance(value, bool)


def cell(value) -> str:
    """Of a table: whatever it holds, it is text."""
    text = seen(value)
    name = text.split(":")[0].split()[0] if text.split() else ""
    if name not in BADGES:
        return escape(text)
    badge = f"background:{BADGES[name]};color:#fff;padding:.05em .5em;border-radius:.3em;font-weight:bold"
    return f'<span style="{badge}">{name}</span>{escape(text[len(name) :])}'


def _td(value) -> str:
    if _is_number(value):
        return f'<td style="{RIGHT}">{number(value)}</td>'
    return f'<td style="{LEFT}{WRAPPED}">{cell(value)}</td>'


def _table(title, rows) -> str:
    caption = f'<caption style="text-align:left;font-weight:bold;caption-side:top;color:inherit">{escape(seen(title))}'
    return f'<table style="border-collapse:collapse;color:inherit">{caption}</caption>{rows}</table>'
