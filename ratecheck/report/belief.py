"""What to believe and why: one paragraph out of the three answers."""

from __future__ import annotations

from ..markdown import among, counted, listing
from ..verdicts import Name
from .context import Context
from .words import sentence

REFUTED, STRAYS, SETTLED, IMPLEMENTED, ALONE, OPEN = range(6)
MOST = 4  # names in a sentence


def belief(context: Context) -> str:
    groups = {kind: [r for r in context.analysis.results if kind_of(r) == kind] for kind in range(6)}
    total = len(context.analysis.results)
    said = [SENTENCES[kind](context, found, total) for kind, found in groups.items() if found]
    said += [text for text in (without_force(context), straight_lines(context)) if text]
    return " ".join(map(sentence, said))


def kind_of(result) -> int:
    """Of the six things that can be said, the one that is true of a case; the worst comes first."""
    runs = result.own.assessment.exponent.name
    curve = result.agreement and result.agreement.name
    far = result.far and result.far.on_exponent.name
    if Name.REFUTED in (runs, far):
        return REFUTED
    if curve == Name.REFUTED:
        return STRAYS
    if curve == Name.CONSISTENT:
        return SETTLED if far == Name.CONSISTENT else IMPLEMENTED
    return ALONE if runs == Name.CONSISTENT else OPEN


def refuted(context, found, total):
    return f"**Do not believe the promised exponent** {where(context, found, total)}: {reasons(found)} speak against it"


def reasons(found) -> str:
    by_runs = any(r.own.assessment.exponent.name == Name.REFUTED for r in found)
    by_curve = any(r.far is not None and r.far.on_exponent.name == Name.REFUTED for r in found)
    return listing(["the runs"] * by_runs + ["the predicted curve far beyond them"] * by_curve)


def strays(context, found, total):
    return (
        f"look first {where(context, found, total)}: the runs leave the curve that theory computes for them, so that "
        "the algorithm, the cost's constants or the prediction are not what they are said to be"
    )


def settled(context, found, total):
    text = (
        f"believe the promised exponent {where(context, found, total)}: the runs follow the predicted curve, and that "
        "curve tends to what the theorem allows"
    )
    undecided = [r for r in found if r.own.assessment.exponent.name == Name.INCONCLUSIVE]
    if undecided:
        text += f"; {of_them(undecided, found)} the runs alone could not tell"
    return text


def implemented(context, found, total):
    text = (
        f"believe that the algorithm does what theory says {where(context, found, total)}, for the runs follow the "
        "predicted curve, which could not be computed far enough to show its exponent"
    )
    good = [r for r in found if r.own.assessment.exponent.name == Name.CONSISTENT]
    if len(good) == len(found):
        return f"{text}; the runs alone are consistent with the promised one"
    if good:
        return f"{text}; {of_them(good, found)} the runs alone are consistent with the promised one"
    return f"{text}; the runs alone do not settle it either"


def alone(context, found, total):
    worst = max((r.own.assessment.exponent.limits[0] or 0.0 for r in found), default=0.0)
    passed = f"; a power as bad as T^{worst:.2f} could have passed" if worst else ""
    return f"only the runs speak {where(context, found, total)}, and they are consistent with the promise{passed}"


def open_(context, found, total):
    ratios = [r.agreement.ratio[0] for r in found if r.agreement is not None]
    follow = "whether they follow the predicted curve is open, too" if ratios else "no curve is predicted for them"
    if len(ratios) == 1:
        follow += f" (measured / predicted {ratios[0]:.3f})"
    if len(ratios) > 1:
        follow += f" (measured / predicted {min(ratios):.3f} to {max(ratios):.3f})"
    return (
        f"it stays open {where(context, found, total)}: the runs alone do not settle it, and {follow}; what would "
        "settle it stands in a section of the report"
    )


SENTENCES = {
    REFUTED: refuted,
    STRAYS: strays,
    SETTLED: settled,
    IMPLEMENTED: implemented,
    ALONE: alone,
    OPEN: open_,
}


def of_them(part, found) -> str:
    return f"in {len(part)} of them" if len(part) < len(found) else "there"


def where(context, found, total) -> str:
    names = [context.case(r) for r in found]
    named = f" ({listing(names, most=MOST)})" if len(found) < total else ""
    return among(len(found), total) + named


def without_force(context: Context) -> str:
    weak = [
        context.case(r)
        for r in context.analysis.results
        if not r.forceful and r.own.assessment.exponent.name != Name.INCONCLUSIVE
    ]
    return (
        f"the verdict of the runs alone has no force for {listing(weak, most=MOST)}: there not even a control that was "
        "made too steep on purpose came out REFUTED"
        if weak
        else ""
    )


def straight_lines(context: Context) -> str:
    """Why a slope is not to be taken for the rate."""
    judged = [r for r in context.analysis.results if not r.problem]
    crooked = [r for r in judged if r.bent]
    if not crooked:
        return ""
    foretold = [r for r in crooked if r.agreement is not None and r.agreement.name == Name.CONSISTENT]
    as_said = ""
    if foretold:
        every = "" if len(foretold) == len(crooked) else f" in {counted(len(foretold), 'case')}"
        as_said = f", as the predicted curve does{every}"
    return (
        f"{among(len(crooked), len(judged), 'with a verdict' if len(judged) < len(context.analysis.results) else '')} "
        f"the regret still bends{as_said}: a slope there is that of this window, not that of T to infinity"
    )
