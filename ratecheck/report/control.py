"""Claims that are false by construction, and whether they were refuted."""

from __future__ import annotations

from ..markdown import formula, table
from ..verdicts import Name
from .context import Context
from .words import shown


def control(context: Context):
    yield "## Negative control"
    yield (
        "A claim that is false by construction: the theorem's own rate with an exponent that is off. It must come out "
        "REFUTED, or the same rules could not have refuted the theorem either. Controls are not part of Holm's "
        "adjustment."
    )
    rows, weak, unjudged = [], [], []
    for result in context.analysis.results:
        for control, verdict in result.controls:
            rows.append(context.cells(result.case, control.name, formula(control.rate), shown(verdict.name)))
            if verdict.name != Name.REFUTED and not result.problem:
                weak.append(f"- {context.case(result)} ({control.name}): {verdict.reason}.")
        if result.problem:
            unjudged.append(f"- {context.case(result)}: {result.problem}.")
    yield table(context.columns("control", "claimed R", "verdict"), rows)
    if weak:
        yield "**Where the control was not refuted, the verdicts have no force:**"
        yield "\n".join(weak)
    elif len(unjudged) < len(context.analysis.results):
        yield f"Every control {'that was judged ' if unjudged else ''}was refuted."
    if unjudged:
        yield "Nothing was judged, neither a theorem nor its control, in"
        yield "\n".join(unjudged)
