"""The runs made to break their own claim, and whether that was refuted."""

from __future__ import annotations

from ..claims import Outcome
from ..display import fixed, table
from .context import Context
from .words import shown


def control(context: Context):
    yield "## Negative control"
    yield (
        "The runs themselves, their regret multiplied by a power of T (divided, for a lower bound): the smallest power "
        "that the plan had a chance of 90 % to catch, fixed before the runs. The theorem's own claim is judged on them "
        "by the same rules, Holm's adjustment included. It must come out REFUTED, or these runs could not have refuted "
        "the theorem either."
    )
    rows, weak, unjudged = [], [], []
    for result in context.analysis.results:
        for control, verdict in result.controls:
            promised, tilted = (f"T^{fixed(s)}" for s in (result.case.own.rate.slope, control.slope(result.case.own)))
            rows.append(context.cells(result.case, promised, tilted, shown(verdict.name)))
            if verdict.name != Outcome.REFUTED and not result.problem:
                weak.append(f"- {context.case(result)} ({tilted}): {verdict.reason}.")
        if result.problem:
            unjudged.append(f"- {context.case(result)}: {result.problem}.")
    yield table(context.columns("promised R", "tilted to", "verdict"), rows)
    if weak:
        yield "**Where the control was not refuted, the verdicts have no force:**"
        yield "\n".join(weak)
    elif len(unjudged) < len(context.analysis.results):
        yield f"Every control {'that was judged ' if unjudged else ''}was refuted."
    if unjudged:
        yield "Nothing was judged, neither a theorem nor its control, in"
        yield "\n".join(unjudged)
