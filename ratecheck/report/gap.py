"""How much faster the regret of one algorithm grows than that of another."""

from __future__ import annotations

from ..display import estimate, fixed, table, whole
from .answer import fallen_behind
from .context import Context
from .words import sentence


def gap(context: Context):
    gaps = context.analysis.gaps
    pairs = list(dict.fromkeys((g.first, g.second) for g in gaps))
    if not pairs:
        yield "## Comparisons"
        yield "The study compares no two algorithms on one cost."
        return
    several = len(pairs) > 1
    yield "## Comparisons of slopes" if several else f"## The gap between {pairs[0][0]} and {pairs[0][1]}"
    yield (
        "The slope of the first algorithm minus that of the second, nothing divided out, over their common window. "
        "Predicted is the difference of the promised exponents, then with what the theorems' log powers add over "
        "this window. The theorems are bounds, so the measured gap may differ without contradicting them; and where a "
        "hypothesis is not met, they promise nothing."
    )
    header = ["family"] * context.several_families + ["d"] + ["first", "second"] * several
    header += ["window", "predicted", "with log powers", "measured gap", "ratio of regrets at the last T"]
    yield table(header, [gap_cells(context, g, row, several) for g, row in zip(gaps, context.tables.gaps, strict=True)])
    summary = "; ".join(filter(None, (fallen_behind(gaps, *pair) for pair in pairs)))
    if summary:
        yield f"{sentence(summary)} That is: the 95 % interval of the gap lies above 0, without Holm's adjustment."
    for title, unmeasured in (("Not measured:", True), ("In round brackets, and not counted:", False)):
        reasons = [g for g in gaps if g.reason and (g.measured is None) == unmeasured]
        if reasons:
            yield title
            yield "\n".join(f"- {gap_name(context, g, several)}: {g.reason}." for g in reasons)


def gap_name(context: Context, gap, several) -> str:
    """Of `several` pairs each is named."""
    family = f"{gap.family} " if context.several_families else ""
    return f"{family}d = {gap.dim}" + (f", {gap.first} and {gap.second}" if several else "")


def gap_cells(context: Context, gap, row, several):
    found = estimate(row["gap"], row["low"], row["high"])
    names = [gap.family] * context.several_families + [gap.dim] + [gap.first, gap.second] * several
    return [
        *names,
        gap.window and f"{whole(row['horizon_min'])} to {whole(row['horizon_max'])}",
        fixed(row["predicted"]),
        fixed(row["with_log_powers"]) if gap.measured else None,
        f"({found})" if gap.measured and gap.reason else found,
        fixed(row["last_ratio"], 2),
    ]
