"""What would settle the claims that are left open."""

from __future__ import annotations

from ..claims import Outcome
from ..display import listing
from ..verdict.analyse import parts_of
from .context import Context
from .words import PARTS


def inconclusive(context: Context):
    yield "## What would settle the inconclusive ones"
    lines = []
    for result in context.analysis.results:
        for judged in result.judged:
            said = {}
            for part in parts_of(judged):
                v = getattr(judged.assessment, part)
                if v.name == Outcome.INCONCLUSIVE:
                    said.setdefault(v.reason, []).append(PARTS[part])
            for reason, parts in said.items():
                lines.append(f"- {context.case(result)}, {judged.claim.theorem}, {listing(parts)}: {reason}.")
    yield "\n".join(lines) if lines else "Nothing is left open: every claim was decided."
