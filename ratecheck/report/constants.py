"""The constants of the costs, as annotated and as measured."""

from __future__ import annotations

from ..display import general, listing, table
from .context import Context

LABELS = {"minimum": "lowest value of f", "minimisers": "f at its minimisers"}


def constants(context: Context):
    yield "## The constants and their audit"
    yield (
        "Each constant of Assumption 1 as annotated, and in brackets what the audit measured; a constant is proved "
        "unless the cell says otherwise."
    )
    for family in context.families:
        if context.several_families:
            yield f"### {family}: constants"
        yield from audit(context, family)


def audit(context: Context, family):
    costs = {r.case.cost: r.case for r in context.analysis.of(family)}
    audits = {cost: {row["constant"]: row for row in context.info.audits.get(cost, [])} for cost in costs}
    names = list(dict.fromkeys(name for rows in audits.values() for name in rows))
    if not names:  # no audit: what the study was planned with
        names = [n for n, v in next(iter(costs.values())).constants.items() if isinstance(v, (int, float))]
        names = [n for n in names if n != "literal"]
    rows = [[labelled(n), *(constant(n, costs[cost], audits[cost].get(n)) for cost in costs)] for n in names]
    yield table(["constant", *(f"d = {case.dim}" for case in costs.values())], rows)
    wrong = [(costs[cost].dim, row) for cost, rows in audits.items() for row in rows.values() if not row["holds"]]
    lacking = [f"d = {costs[cost].dim}" for cost, rows in audits.items() if not rows]
    if wrong:
        yield "\n".join(
            f"- d = {dim}: {labelled(row['constant'])} **does not hold**: annotated {general(row['annotated'])}, "
            f"measured {general(row['measured'])} at {row['worst']}. The theorems' rates rest on it."
            for dim, row in wrong
        )
    if lacking:
        yield f"The store holds no audit of {family}, {listing(lacking)}; the numbers are the annotations."
    elif not wrong:
        yield "All of them hold."


def labelled(name) -> str:
    return LABELS.get(name, f"`{name}`")


def constant(name, case, row) -> str | None:
    if row is None:
        return general(case.constants.get(name))
    basis = "" if row["basis"] == "proved" else f", {row['basis']}"
    failed = "" if row["holds"] else " **does not hold**"
    return f"{general(row['annotated'])} ({general(row['measured'])}{basis}){failed}"
