"""The other two answers: whether the runs follow the predicted curve, and whether the curve obeys the theorem."""

from statistics import median

from ..claims import Outcome
from ..display import among, estimate, fixed, general, listing, table
from ..predict.far import VAGUE
from ..verdict.agreement import LOCKED, MARGIN, MOST_LOCKED, SLOPE_MARGIN
from .context import Context, grouped, sentence, shown

FEW = 6  # cases that need no counting
NEAR = (0.01, 0.02, 0.03)  # to 1


def theory(context: Context):
    yield "## The predicted curve"
    results = context.analysis.results
    foretold = [r for r in results if r.agreement is not None or r.far is not None]
    if not foretold:
        yield f"Nothing is predicted here: {listing(list(dict.fromkeys(r.why_not_predicted for r in results)))}."
        return
    yield (
        "Theory foretells the regret itself, without a free parameter: all cells are queried until their keys have "
        "risen to a common level. Each run is compared with the prediction at its own partition; 1 is agreement. The "
        f"verdict is two-sided: CONSISTENT if the mean ratio lies within {100 * MARGIN:g} % of 1 and its slope against "
        f"ln T within {SLOPE_MARGIN:g} of 0, early horizons left out; REFUTED if one of them lies outside by more than "
        f"what noise and the spread within cells leave open, or if clearly more than {100 * MOST_LOCKED:g} % of the "
        "runs lock in. A run that pays more than "
        f"{LOCKED:g} times the predicted regret, in all or at its end, counts as locked in and is not averaged."
    )
    header = context.columns("slope measured", "slope predicted", "ratio", "slope of the ratio", "follows", "locked in")
    yield table(header, [context.cells(r.case, *agreement_cells(r)) for r in foretold])
    yield by_algorithm(foretold)
    yield "\n".join(f"- {context.case(r)}: {_why(r)}." for r in foretold if _why(r))
    yield from far_horizons(context, [r for r in foretold if r.far is not None])


def by_algorithm(results) -> str:
    """How near to 1 the ratios of each algorithm are; empty where there are few."""
    ratios = grouped((r.case.algorithm, r.agreement.ratio[0]) for r in results if r.agreement is not None)
    if sum(map(len, ratios.values())) <= FEW:
        return ""
    rows = []
    for name, found in ratios.items():
        near = [sum(abs(ratio - 1) <= x for ratio in found) for x in NEAR]
        worst = max(found, key=lambda ratio: abs(ratio - 1))
        rows.append([name, len(found), *near, fixed(median(found)), fixed(worst)])
    header = ["algorithm", "costs", *(f"within {100 * x:g} %" for x in NEAR), "median of the ratio", "furthest from 1"]
    return table(header, rows)


def agreement_cells(result):
    fit, found = result.fit, result.agreement
    measured = estimate(fit.slope, fit.low, fit.high) if fit else None
    if found is None:
        return [measured, fixed(result.predicted_slope), None, None, None, None]
    share, low, high = found.lock_in
    return [
        measured,
        fixed(result.predicted_slope),
        estimate(*found.ratio),
        estimate(found.slope.value, found.slope.low, found.slope.high, digits=4),
        shown(found.name),
        f"{len(found.locked)} of {found.replicates} ({100 * share:.0f} % [{100 * low:.0f}, {100 * high:.0f}])",
    ]


def _why(result) -> str:
    if result.agreement is None:
        return result.why_not_predicted
    return "" if result.agreement.name == Outcome.CONSISTENT else str(result.agreement)


def far_horizons(context: Context, results):
    if not results:
        return
    yield "### Far horizons"
    yield (
        "What the predicted curve says about the theorem, without noise and as far as it can be computed: the limit of "
        "its slope as T grows (with an interval that allows for logarithms, other windows and errors), and the power "
        "of ln T that is left at the promised slope, in brackets the power of ln T + μ a0^α, which stands in the "
        "algorithm's keys. The model takes ln t for ln T and leaves out noise, whose share falls like 1/ln T."
    )
    header = context.columns(
        "up to T", "visible from T", "slope there", "limit", "promised", "exponent", "log power", "printed", "corrected"
    )
    yield table(header, [context.cells(r.case, *far_cells(r)) for r in results])
    lines = [f"- {context.case(r)}: {said}." for r in results for said in _open(r)]
    if lines:
        yield "\n".join(lines)


def far_cells(result):
    far, claim = result.far, result.own.claim
    limit = far.exponent
    powers = [f"{far.power.value:.2f}"] if far.power else []
    powers += [f"({far.shifted.value:.2f})"] if far.shifted else []
    return [
        f"{far.last:.2g}",
        general(far.visible, 2),
        fixed(far.slope),
        limit and (estimate(limit.value, limit.low, limit.high) if limit.high - limit.low <= VAGUE else None),
        fixed(claim.rate.slope),
        shown(far.on_exponent.name),
        " ".join(powers) or None,
        _power(claim.printed, far.on_printed),
        far.on_corrected and _power(claim.corrected, far.on_corrected),
    ]


def _power(rate, judged) -> str:
    attained = {True: ", attained", False: ", not attained", None: ""}[judged.attained]
    return f"{rate.log_power:.3g}: {shown(judged.name)}{attained}"


def _open(result):
    far = result.far
    parts = {"exponent": far.on_exponent, "printed log power": far.on_printed, "corrected log power": far.on_corrected}
    known = {part: v for part, v in parts.items() if v is not None and v.name != Outcome.CONSISTENT}
    said = grouped((f"{v.name}: {v.reason}", part) for part, v in known.items())
    return [f"{listing(names)} {reason}" for reason, names in said.items()]


# The two sentences at the top


def follows(context: Context) -> str:
    """Whether the runs follow the predicted curve; empty where nothing is predicted."""
    found = [r for r in context.analysis.results if r.agreement is not None]
    if not found:
        return ""
    total, ratios = len(found), [r.agreement.ratio[0] for r in found]
    words = {
        Outcome.CONSISTENT: f"the regret follows the predicted curve within {100 * MARGIN:g} %",
        Outcome.REFUTED: "it does not follow it",
        Outcome.INCONCLUSIVE: "the runs are too few to tell, or theory leaves too much open",
    }
    parts = _by_outcome(context, words, [(r, r.agreement) for r in found])
    parts.append(
        f"measured / predicted is {ratios[0]:.3f}"
        if total == 1
        else f"measured / predicted lies between {min(ratios):.3f} and {max(ratios):.3f}"
    )
    locked = sum(len(r.agreement.locked) for r in found)
    if locked:
        parts.append(f"{locked} of {sum(r.agreement.replicates for r in found)} runs lock in, and are left out of that")
    return sentence("; ".join(parts))


def obeys(context: Context) -> str:
    """Whether the predicted curve obeys the theorem; empty where there is none."""
    found = [r for r in context.analysis.results if r.far is not None]
    if not found:
        return ""
    words = {
        Outcome.CONSISTENT: "the predicted curve tends to a slope that the theorem allows",
        Outcome.REFUTED: "it tends to a larger slope",
        Outcome.INCONCLUSIVE: "its limit is not settled, for it could not be computed far enough or its "
        "interval is too wide",
    }
    parts = _by_outcome(context, words, [(r, r.far.on_exponent) for r in found])
    for what, judged in (("printed", "on_printed"), ("corrected", "on_corrected")):
        known = [r for r in found if getattr(r.far, judged) is not None]
        refuted = [context.case(r) for r in known if getattr(r.far, judged).name == Outcome.REFUTED]
        if refuted:
            parts.append(f"it needs more than the {what} power of ln T {among(len(refuted), len(known))}")
        for attained, said in ((True, "needs all of"), (False, "needs less than")):
            there = [context.case(r) for r in known if getattr(r.far, judged).attained is attained]
            if there:
                where = among(len(there), len(known))
                parts.append(f"it {said} the {what} power of ln T {where} ({listing(there, most=3)})")
    reach = [r.far.last for r in found]
    ends = f"T = {reach[0]:.1g}" if len(reach) == 1 else f"T = {min(reach):.1g} to {max(reach):.1g}"
    return sentence(f"computed up to {ends}, {'; '.join(parts)}")


def _by_outcome(context, words, judged) -> list[str]:
    """A clause for each outcome that there is: in how many cases, and in which; `judged` pairs results and verdicts."""
    found = {name: [result for result, verdict in judged if verdict.name == name] for name in words}
    return [f"{text} {context.where(found[name], len(judged))}" for name, text in words.items() if found[name]]
