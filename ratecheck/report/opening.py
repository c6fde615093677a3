"""The top of a report: the question, all cases at one glance, what to believe."""

from ..claims import Outcome
from ..display import MARKS, counted, estimate, fixed, listing, table
from ..verdict.findings import Rule
from ..verdict.sentences import NOT_JUDGED, overruled
from .belief import belief
from .context import Context, marked, sentence
from .verdicts import BRACKETS, force, slope


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


HEADER = ("promised", "slope as seen", "after the logarithms", "passes / caught")
CURVE = ("runs / curve", "curve / theorem")


def glance(context: Context):
    results = context.analysis.results
    foretold = any(follows(r) or obeys(r) for r in results)
    curve = CURVE if foretold else ()
    rows = [
        [verdict(r), *context.cells(r.case, *cells(context, r), *((follows(r), obeys(r)) if foretold else ()))]
        for r in results
    ]
    yield table(["exponent", *context.columns(*HEADER, *curve)], rows)
    yield legend(results, foretold, context.analysis.margin)


def verdict(result) -> str:
    """On the exponent that the algorithm's own theorem promises; what changed it is said here."""
    found = result.own.assessment.exponent
    if found.name == Outcome.INCONCLUSIVE and result.problem:
        return f"{MARKS[found.name]} {NOT_JUDGED}"
    notes = [overruled(found.overruled)] if found.overruled else []
    if found.name != Outcome.INCONCLUSIVE and not result.forceful:
        notes.append("no force")
    return marked(found.name) + (f" ({', '.join(notes)})" if notes else "")


def cells(context: Context, result):
    row, found = context.own_row(result), result.own.assessment
    fit = result.fit
    seen = fit and estimate(fit.slope, fit.low, fit.high)
    return [
        ("≥ " if result.own.claim.kind == "lower" else "") + fixed(row["theory_slope"]),
        f"({seen})" if seen and result.problem else seen,
        slope(result, row),
        force(found.exponent),
    ]


def follows(result) -> str | None:
    """Whether the runs follow the predicted curve, and the mean of measured / predicted, or how many lock in."""
    found = result.agreement
    if found is not None and found.locks_in:
        return f"{MARKS[found.name]} {100 * found.lock_in[0]:.0f} % lock in"
    return found and f"{MARKS[found.name]} {found.ratio[0]:.3f}"


def obeys(result) -> str | None:
    """Whether the predicted curve tends to a slope that the theorem allows, and how far it was computed."""
    far = result.far
    return far and f"{MARKS[far.on_exponent.name]} to {far.last:.0e}".replace("e+", "e")


def legend(results, foretold, margin) -> str:
    marks = ", ".join(f"{MARKS[name]} {name}" for name in Outcome)
    said = [
        f"{marks}: the promised exponent, by the runs alone; it is kept where the slope is beyond it by no more than "
        f"{margin:g}, over the window, its last half and at the last T."
    ]
    if any(result.own.assessment.exponent.name != Outcome.INCONCLUSIVE and not result.forceful for result in results):
        said.append("No force: the rule that says so did not refute a control that was made too steep on purpose.")
    if foretold:
        said.append(
            "Runs / curve: the runs against the curve that theory computes without a free parameter, with the mean of "
            "measured / predicted; curve / theorem: that curve, followed to the T beside the mark, against the theorem."
        )
    if any(result.fit is not None for result in results):
        said.append(
            "The slope as seen is what a ruler finds in the figure; after the logarithms is what is left of it for T "
            "when the theorem's power of ln T is taken out, and it is this that is judged. Passes / caught, in "
            "slopes as seen of pure powers of T: the worst that could have been CONSISTENT, and those that would have "
            "been REFUTED, up to the last one named, since steeper ones look like a start; none where only a regret "
            "beyond T itself would have been."
        )
    if any(result.fit is not None and result.problem for result in results):
        said.append(BRACKETS)
    changes = [result.own.assessment.exponent.overruled for result in results]
    if any(found is not None and found.rule is Rule.HOLM for found in changes):
        said.append(
            "Alone, not among so many claims: these runs would do if nothing else had been judged, but among many "
            "claims some come out by chance (Holm's rule); another study with fewer claims may say more."
        )
    said.append("[Ten words](#ten-words) at the end, [theorems and hypotheses](#what-the-verdicts-rest-on) below.")
    return " ".join(said)
