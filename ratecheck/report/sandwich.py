"""Between the certified lower bound and what was measured on the hard family: how far an algorithm is from the best."""

from statistics import median

from ..display import counted, estimate, general, listing, table
from ..lower_bound.hard_family import CERTAIN
from .context import Context, sentence, shown

COLUMNS = ("members", "T", "slope of the mean", "asked for", "certified", "measured", "factor", "verdict")
RULES = (
    "Near a cost there is a hard family for every horizon: functions with one dent each, of which no strategy can know "
    "soon enough which one it faces. The bound on the mean regret over the family is certified, in ball arithmetic. "
    "{members} members are drawn as that mean weighs them and run as any other cost (where two functions make the "
    "bound, each is run as often, and the worse one counts). An algorithm is settled anew on each of them: settings "
    "that follow from a cost, such as the mu of adaptive bins unless it was given, are those of the member. Certified, "
    "measured (with the standard error that the draw of members and their runs have) and factor are those at the last "
    "T. The theorem is REFUTED if a mean lies below its bound so clearly that chance would do it once in {chance:,.0f} "
    "times: that is an error of the engine, for no strategy can. While the means lie above, a slope that is too small "
    "refutes nothing. Where a reason names N runs, N is the number of members (`--members N`)."
)


def sandwich(context: Context):
    bounding = [(r, j.claim.theorem) for r in context.analysis.results for j in r.judged if not j.claim.per_cost]
    if not bounding:
        return
    yield f"## The lower bound of {listing(dict.fromkeys(theorem for _, theorem in bounding))}"
    found = [r for r in context.analysis.results if r.sandwich.rungs]
    if found:
        yield RULES.format(members=max(r.sandwich.members for r in found), chance=1 / CERTAIN)
        header = context.columns(*COLUMNS)
        yield table(header, [context.cells(r.case, *_cells(context, r)) for r in found])
        yield "\n".join(f"- {context.case(r)}: {_words(r)}" for r in found)
    without = {id(r): r for r, _ in bounding if not r.sandwich.rungs and r.sandwich.problems}.values()
    if without:
        yield "Not judged on a family:"
        yield "\n".join(f"- {context.case(r)}: {sentence('; '.join(r.sandwich.problems))}" for r in without)


def _cells(context, result):
    between = result.sandwich
    first, last = between.rungs[0], between.last
    judged = next((j for j in result.judged if not j.claim.per_cost), None)
    row = judged and context.row(result, judged)
    return [
        min(len(rung.regrets) for rung in between.rungs),
        f"{first.horizon:,} to {last.horizon:,}",
        row and estimate(row["slope"], row["low"], row["high"]),
        judged and f"{judged.claim.rate.slope:.3f}",
        general(last.bound, 4),
        f"{last.mean:.4g} ± {last.error:.2g}",
        general(last.factor, 3),
        judged and shown(judged.name),
    ]


def _words(result) -> str:
    between = result.sandwich
    first, last = between.rungs[0], between.last
    said = (
        f"between the certified {last.bound:.4g} and the measured {last.mean:.4g} at T = {last.horizon:,}: a factor of "
        f"{last.factor:.3g}"
    )
    if len(between.rungs) > 1:
        said += f" (at T = {first.horizon:,} of {first.factor:.3g})"
    for rung in between.below:
        said += f"; **at T = {rung.horizon:,} the mean lies below the bound (p = {rung.p_value:.1g}): an engine error**"
    far = [f"{regret:.4g} at T = {horizon:,}" for horizon, regret in between.curve if horizon > last.horizon]
    if far:
        said += f"; the bound goes on to {far[-1]}"
    if between.problems:
        said += f"; left out {'; '.join(between.problems)}"
    return f"{said}."


def distance(context: Context) -> str:
    """How far the algorithms are from what no strategy beats; empty where there is no family."""
    found = [r for r in context.analysis.results if r.sandwich.rungs]
    if not found:
        return ""
    broken = [context.case(r) for r in found if r.sandwich.below]
    factors = [r.sandwich.last.factor for r in found]
    horizons = sorted({r.sandwich.last.horizon for r in found})
    last = found[0].sandwich.last
    at = f"T = {horizons[-1]:,}" if len(horizons) == 1 else "the last T of each"
    parts = []
    if broken:
        parts.append(f"**ENGINE ERROR: {listing(broken)} below the certified bound, where no strategy can be**")
    if len(found) == 1:
        parts.append(
            f"on the hard family at {at} between the certified {last.bound:.4g} and the measured {last.mean:.4g}, a "
            f"factor of {last.factor:.3g}"
        )
    else:
        parts.append(
            f"on the hard families, at {at}, the mean regret is {min(factors):.3g} to {max(factors):.3g} times the "
            f"certified lower bound, {median(factors):.3g} times in the median of {counted(len(found), 'case')}"
        )
    return sentence("; ".join(parts))
