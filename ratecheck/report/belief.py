"""What to believe and why: one paragraph out of the three answers."""

from ..claims import Outcome
from ..display import among, listing
from .answer import fallen_behind
from .context import Context, sentence

REFUTED, STRAYS, SETTLED, IMPLEMENTED, ALONE, OPEN = range(6)
MOST = 4  # names in a sentence


def belief(context: Context) -> str:
    groups = {kind: [r for r in context.analysis.results if kind_of(r) == kind] for kind in range(6)}
    total = len(context.analysis.results)
    said = [SENTENCES[kind](context, found, total) for kind, found in groups.items() if found]
    gaps = context.analysis.gaps
    behind = [fallen_behind(gaps, *pair) for pair in dict.fromkeys((g.first, g.second) for g in gaps)]
    said += [text for text in (without_force(context), straight_lines(context), *behind) if text]
    return " ".join(map(sentence, said))


def kind_of(result) -> int:
    """Of the six things that can be said, the one that is true of a case; the worst comes first."""
    runs = by_runs(result)
    curve = result.agreement and result.agreement.name
    far = result.far and result.far.on_exponent.name
    if Outcome.REFUTED in (runs, far):
        return REFUTED
    if curve == Outcome.REFUTED:
        return STRAYS
    if curve == Outcome.CONSISTENT:
        return SETTLED if far == Outcome.CONSISTENT else IMPLEMENTED
    return ALONE if runs == Outcome.CONSISTENT else OPEN


def by_runs(result) -> Outcome:
    """What the runs say alone; a promise that they keep without force says nothing."""
    name = result.own.assessment.exponent.name
    return Outcome.INCONCLUSIVE if name == Outcome.CONSISTENT and not result.forceful else name


def refuted(context, found, total):
    strong = f"{context.emphasis}Do not believe the promised exponent{context.emphasis}"
    runs = any(by_runs(r) == Outcome.REFUTED for r in found)
    curve = any(r.far is not None and r.far.on_exponent.name == Outcome.REFUTED for r in found)
    reasons = listing(["the runs"] * runs + ["the predicted curve far beyond them"] * curve)
    return f"{strong} {context.where(found, total)}: {reasons} speak against it"


def strays(context, found, total):
    locked, others = ([r for r in found if r.agreement.locks_in is locks] for locks in (True, False))
    said = []
    if others:
        said.append(
            f"be wary {context.where(others, total)}: the runs leave the curve that theory computes for them, so that "
            "the algorithm, the cost's constants or the prediction are not what they are said to be"
        )
    if locked:
        shares = [100 * r.agreement.lock_in[0] for r in locked]
        said.append(
            f"{context.where(locked, total)} {span(shares, '.0f')} % of the runs lock in, which theory does not "
            f"describe; measured / predicted of the others is {span([r.agreement.ratio[0] for r in locked], '.3f')}"
        )
    return ". ".join(text[:1].upper() + text[1:] for text in said)


def settled(context, found, total):
    text = (
        f"believe the promised exponent {context.where(found, total)}: the runs follow the predicted curve, and that "
        "curve tends to what the theorem allows"
    )
    undecided = [r for r in found if by_runs(r) == Outcome.INCONCLUSIVE]
    if undecided:
        text += f"; {of_them(undecided, found)} the runs alone could not tell"
    return text


def implemented(context, found, total):
    text = (
        f"believe that the algorithm does what theory says {context.where(found, total)}, for the runs follow the "
        "predicted curve, whose own exponent is not settled"
    )
    good = [r for r in found if by_runs(r) == Outcome.CONSISTENT]
    if not good:
        return f"{text}; the runs alone do not settle it either"
    which = "" if len(good) == len(found) else f"{of_them(good, found)} "
    return f"{text}; {which}the runs alone are consistent with the promised one"


def alone(context, found, total):
    worst = max((r.own.assessment.exponent.limits[0] or 0.0 for r in found), default=0.0)
    passed = f"; a power as bad as T^{worst:.2f} could have passed" if worst else ""
    return f"only the runs speak {context.where(found, total)}, and they are consistent with the promise{passed}"


def open_(context, found, total):
    ratios = [r.agreement.ratio[0] for r in found if r.agreement is not None]
    follow = "no curve is predicted for them"
    if ratios:
        follow = f"whether they follow the predicted curve is open, too (measured / predicted {span(ratios, '.3f')})"
    return (
        f"it stays open {context.where(found, total)}: the runs alone do not settle it, and {follow}; what would "
        "settle it stands in a section of the report"
    )


SENTENCES = (refuted, strays, settled, implemented, alone, open_)  # in the order of REFUTED, STRAYS, ...


def span(values, digits) -> str:
    low, high = (format(value, digits) for value in (min(values), max(values)))
    return low if low == high else f"{low} to {high}"


def of_them(part, found) -> str:
    return f"in {len(part)} of them" if len(part) < len(found) else "there"


def without_force(context: Context) -> str:
    decided = [r for r in context.analysis.results if r.own.assessment.exponent.name != Outcome.INCONCLUSIVE]
    weak = [context.case(r) for r in decided if not r.forceful]
    if not weak:
        return ""
    return (
        f"the verdict of the runs alone has no force for {listing(weak, most=MOST)}: there not even a control that was "
        "made too steep on purpose came out REFUTED"
    )


def straight_lines(context: Context) -> str:
    judged = [r for r in context.analysis.results if not r.problem]
    crooked = [r for r in judged if r.bent]
    if not crooked:
        return ""
    foretold = [r for r in crooked if r.agreement is not None and r.agreement.name == Outcome.CONSISTENT]
    every = "" if len(foretold) == len(crooked) else f" in {len(foretold)} of them"
    as_said = f", and the predicted curve bends with it{every}" if foretold else ""
    where = among(len(crooked), len(judged), "with a verdict" * (len(judged) < len(context.analysis.results)))
    return f"{where} the regret still bends{as_said}: a slope there is that of this window, not that of T to infinity"
