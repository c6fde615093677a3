"""The top of a report: the question, the answer, and what qualifies it."""

from __future__ import annotations

from ..markdown import counted, listing
from .answer import answer, caution, hypotheses
from .context import Context
from .words import sentence


def opening(context: Context):
    info = context.info
    yield f"# {info.name}"
    yield f"**Question.** {info.question}"
    yield f"**Answer.** {answer(context.analysis, context.case)}"
    for title, text in (("Caution", caution(context.analysis)), ("Hypotheses", hypotheses(context.analysis))):
        if text:
            yield f"**{title}.** {text}"
    short = [context.case(r) for r in context.analysis.results if r.found < r.expected]
    lacks = [f"{counted(len(info.missing), 'unit')} of work failed (see Provenance)"] if info.missing else []
    lacks += [f"fewer runs than planned stand behind {listing(short)}"] if short else []
    if lacks:
        yield f"**Incomplete.** {sentence('; '.join(lacks))}"
