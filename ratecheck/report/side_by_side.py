"""A table that sets the algorithms of a study side by side."""

from __future__ import annotations

from ..display import estimate, table, whole
from .context import Context


def side_by_side(context: Context, what, title, key):
    """A table with a line per dimension and key, and a column per algorithm."""
    algorithms = list(dict.fromkeys(r.case.algorithm for r in context.analysis.results))
    found = {}
    for result in context.analysis.results:
        for row in context.detail(result, what):
            line = found.setdefault((result.case.dim, result.case.cost, key(row)), {})
            line[result.case.algorithm] = estimate(row["value"], row["low"], row["high"])
    places = sorted(found, key=lambda place: place[:2]) if what == "sensitivity" else sorted(found)
    rows = [[place[0], label(place[-1]), *(found[place].get(a) for a in algorithms)] for place in places]
    yield table(["d", title, *algorithms], rows)


def label(key):
    return key if isinstance(key, str) else whole(round(key))
