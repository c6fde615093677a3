"""How much faster the regret of uniform bins grows than that of adaptive bins."""

from __future__ import annotations

from ..markdown import estimate, fixed, table, whole
from .answer import fallen_behind
from .context import Context
from .words import sentence


def gap(context: Context):
    gaps = context.analysis.gaps
    yield "## The gap between uniform and adaptive bins"
    if not gaps:
        yield "The study does not hold both algorithms on one cost, so there is no gap to measure."
        return
    yield (
        "The slope of uniform bins minus that of adaptive bins, nothing divided out, over their common window. "
        "Predicted is the difference of the promised exponents, then with what the theorems' log powers add over "
        "this window. Both theorems are upper bounds, so the measured gap may differ without contradicting them."
    )
    several = len({(g.uniform, g.adaptive) for g in gaps}) > 1
    header = ["family"] * context.several_families + ["d"] + ["adaptive"] * several
    header += ["window", "predicted", "with log powers", "measured gap", "R uniform / R adaptive at the last T"]
    yield table(header, [gap_cells(context, g, row, several) for g, row in zip(gaps, context.tables.gaps, strict=True)])
    summary = fallen_behind(gaps)
    if summary:
        yield f"{sentence(summary)} That is: the 95 % interval of the gap lies above 0, without Holm's adjustment."
    for title, unmeasured in (("Not measured:", True), ("In round brackets, and not counted:", False)):
        reasons = [g for g in gaps if g.reason and (g.measured is None) == unmeasured]
        if reasons:
            yield title
            yield "\n".join(f"- {gap_name(context, g, several)}: {g.reason}." for g in reasons)


def gap_name(context: Context, gap, several) -> str:
    """Of `several` settings of adaptive bins each is named."""
    family = f"{gap.family} " if context.several_families else ""
    return f"{family}d = {gap.dim}" + (f", {gap.adaptive}" if several else "")


def gap_cells(context: Context, gap, row, several):
    found = estimate(row["gap"], row["low"], row["high"])
    names = [gap.family] * context.several_families + [gap.dim] + [gap.adaptive] * several
    return [
        *names,
        gap.window and f"{whole(row['horizon_min'])} to {whole(row['horizon_max'])}",
        fixed(row["predicted"]),
        fixed(row["with_log_powers"]) if gap.measured else None,
        f"({found})" if gap.measured and gap.reason else found,
        fixed(row["last_ratio"], 2),
    ]
