"""The top of a report: the question, a line per case, what to believe; then the answers in full."""

from __future__ import annotations

from ..display import counted, listing
from .answer import answer, caution, hypotheses
from .belief import belief
from .context import Context
from .glance import glance
from .sandwich import distance
from .theory import follows, obeys
from .words import sentence


def opening(context: Context):
    info = context.info
    yield f"# {info.name}"
    yield f"**Question.** {info.question}"
    yield from glance(context)
    yield f"**What to believe.** {belief(context)}"
    short = [context.case(r) for r in context.analysis.results if r.found < r.expected]
    lacks = [f"{counted(len(info.missing), 'unit')} of work failed (see Provenance)"] if info.missing else []
    lacks += [f"fewer runs than planned stand behind {listing(short)}"] if short else []
    if lacks:
        yield f"**Incomplete.** {sentence('; '.join(lacks))}"


def answers(context: Context):
    yield "## The answers in full"
    yield f"**The runs alone.** {answer(context.analysis, context.case)}"
    qualified = {
        "Do the runs follow the predicted curve?": follows(context),
        "Does the predicted curve obey the theorem?": obeys(context),
        "How far from the best possible?": distance(context),
        "Caution.": caution(context.analysis),
        "Hypotheses.": hypotheses(context.analysis),
    }
    for title, text in qualified.items():
        if text:
            yield f"**{title}** {text}"
