"""Slopes between neighbouring horizons."""

from __future__ import annotations

from .context import Context
from .side_by_side import side_by_side


def local_slopes(context: Context):
    yield "## Local slopes"
    if not any(context.detail(r, "local slope") for r in context.analysis.results):
        yield "No case has enough horizons and runs for local slopes."
        return
    yield (
        "Slopes of ln R between neighbouring horizons, nothing divided out, T the geometric middle of each pair. "
        "A regret that grows exactly as $T^s (\\ln T)^p$ has the local slope s + p / ln T, above s at every T if "
        "p > 0. On a cost that beats the bound, or where its growth has not set in yet, local slopes may lie on "
        "either side of s."
    )
    if context.several_families:
        yield "All of them are in [details.csv](details.csv)."
    else:
        yield from side_by_side(context, "local slope", "T", lambda row: row["horizon"])
