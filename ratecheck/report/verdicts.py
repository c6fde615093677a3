"""The verdicts of a study: every claim with a note, the negative control, and what would settle what is left open."""

from ..claims import Outcome
from ..display import estimate, fixed, formula, listing, table
from ..verdict.analyse import parts_of
from .context import ENDS, PARTS, Context, grouped, sentence, shown

BRACKETS = "A slope in round brackets comes from a window that allows no verdict."


def verdicts(context: Context):
    yield "## Verdicts"
    yield (
        "R is the cumulative regret. The slope is that of ln R against ln T after dividing out the power of ln T "
        "that theory stands by (the corrected one where there is one), the log power that of ln T with the "
        "theorem's exponent granted; intervals are at 95 %. R/T decays with the exponent 1 − slope. A rate as "
        "printed is CONSISTENT only if exponent and printed log power both are. Passes / caught is the force of the "
        "verdict on the exponent: beyond the first slope a pure power of T has less than 5 % to be CONSISTENT; from "
        "the second on, to the third where there is one, it is REFUTED with 90 %, as a rate; none where that would "
        "take more than a linear regret. A bound on the worst cost nearby is judged on the mean over a hard "
        "family, in a section of its own."
    )
    yield from summary(context) if context.several_families else claims(context)


def summary(context: Context):
    results = context.analysis.results
    bounds = list(dict.fromkeys(j.claim.theorem for r in results for j in r.judged if not j.claim.per_cost))
    header = context.columns("promised slope", "slope", "exponent", "printed log power", "corrected", *bounds)
    yield table(header, [context.cells(r.case, *summary_cells(context, r, bounds)) for r in results])
    if any(r.fit is not None and r.problem for r in context.analysis.results):
        yield BRACKETS


def summary_cells(context: Context, result, bounds):
    row, found = context.own_row(result), result.own.assessment
    verdicts = {j.claim.theorem: shown(j.name) for j in result.judged}
    corrected = found.corrected_log_power
    return [
        ("≥ " if result.own.claim.kind == "lower" else "") + fixed(row["theory_slope"]),
        slope(result, row),
        shown(found.exponent.name),
        shown(found.log_power.name),
        corrected and shown(corrected.name),
        *(verdicts.get(theorem) for theorem in bounds),
    ]


def claims(context: Context):
    results, rows, notes = context.analysis.results, [], []
    for result in results:
        for judged in result.judged:
            if informs(judged):
                notes.append(note(context, result, judged))
            which = len(notes) if informs(judged) else None
            rows.append(context.cells(result.case, *claim_cells(context, result, judged), which))
    heads = ("theorem", "printed R", "corrected R", "fitted slope", "passes / caught", "fitted log power")
    yield table(context.columns(*heads, "exponent", "log power", "as printed", "note"), rows)
    if any(r.fit is not None and r.problem for r in results):
        yield BRACKETS
    if len(notes) < len(rows):
        yield (
            "Where no note stands, every part is CONSISTENT for the same reason: beyond the promise by no more than "
            f"{context.analysis.margin:g} in the slope and {context.analysis.log_margin:g} in the power of ln T, over "
            "the whole window, on its last half and at the last horizon."
        )
    if notes:
        yield "\n".join(f"{i}. {text}" for i, text in enumerate(notes, 1))


def informs(judged) -> bool:
    """Whether there is more to say than that all is well."""
    return any(getattr(judged.assessment, part).name != Outcome.CONSISTENT for part in parts_of(judged))


def claim_cells(context: Context, result, judged):
    claim, row = judged.claim, context.row(result, judged)
    found = judged.assessment
    powers = None
    if claim.per_cost:
        powers = shown(found.log_power.name)
        if found.corrected_log_power is not None:
            powers = f"printed {powers}, corrected {shown(found.corrected_log_power.name)}"
    bound = r"$\ge$ " if claim.kind == "lower" else ""
    return [
        claim.theorem,
        bound + formula(claim.printed),
        claim.corrected and formula(claim.corrected),
        slope(result, row, claim),
        force(found.exponent),
        estimate(*(row[f"fitted_log_power{end}"] for end in ENDS), digits=2) if claim.per_cost else None,
        shown(found.exponent.name),
        powers,
        shown(judged.name),
    ]


def force(v) -> str | None:
    """The slopes of pure powers: the worst that could have passed, and the mildest that would have been caught."""
    passes, caught = v.limits
    if passes is None:
        return None
    if v.catches_nothing:
        return f"{passes:.2f} / none"
    steepest = "" if v.catches_until is None else f"–{caught + v.catches_until - v.catches:.2f}"
    return f"{passes:.2f} / {caught:.2f}{steepest}"


def note(context: Context, result, judged) -> str:
    found = [(PARTS[part], getattr(judged.assessment, part)) for part in parts_of(judged)]
    if len({v.reason for _, v in found}) == 1:  # no fit, or one part only
        said = sentence(found[0][1].reason)
    else:
        said = " ".join(f"{sentence(part)[:-1]} {v.name}: {v.reason}." for part, v in found)
    return f"{context.case(result)}, {judged.claim.theorem}: {said}"


def slope(result, row, claim=None) -> str:
    text = estimate(row["slope"], row["low"], row["high"])
    own = claim is None or claim.per_cost  # else it is that of the mean over a hard family
    return f"({text})" if own and result.fit is not None and result.problem else text


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


def inconclusive(context: Context):
    yield "## What would settle the inconclusive ones"
    lines = []
    for result in context.analysis.results:
        for judged in result.judged:
            verdicts = [(getattr(judged.assessment, part), PARTS[part]) for part in parts_of(judged)]
            said = grouped((v.reason, part) for v, part in verdicts if v.name == Outcome.INCONCLUSIVE)
            for reason, parts in said.items():
                lines.append(f"- {context.case(result)}, {judged.claim.theorem}, {listing(parts)}: {reason}.")
    yield "\n".join(lines) if lines else "Nothing is left open: every claim was decided."
