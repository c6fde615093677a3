"""What the verdicts rest on: runs, windows, rules, and the hypotheses of the theorems."""

from __future__ import annotations

from ..display import counted, fixed, general, listing, table, whole
from ..verdict.rules import looks_cost
from .context import Context


def foundations(context: Context):
    analysis = context.analysis
    yield "## What the verdicts rest on"
    header = context.columns("runs", "horizons", "window", "periods", "onset", "ln T is worth")
    yield table(header, [context.cells(r.case, *foundation_cells(context, r)) for r in analysis.results])
    yield (
        f"{fixed_when(context)} {windows(context)} An exponent is CONSISTENT if the one-sided limit of the excess "
        f"slope stays below the margin {analysis.margin:g} on the whole window, on its last half and at T_max, the "
        f"excess is not rising beyond it, and no exponent that is off by more than {analysis.resolution:g} could have "
        "passed as well. It is REFUTED if the limit lies beyond the margin, also with the error that the points' own "
        "scatter about the line gives it, the last half agrees, and neither a start that has not yet bent into the "
        f"promised rate nor another power of ln T explains the runs. A log power is judged likewise, with the margin "
        f"{analysis.log_margin:g} and the exponent granted. Everything else is INCONCLUSIVE."
    )
    yield (
        f"These are {counted(analysis.claims, 'verdict')} at once, so a decision counts only if it survives Holm's "
        f"adjustment over all of them{looks(context)}. The slope that one factor ln T is worth over a window (last "
        "column) is the limit of resolution: an exponent that is wrong by less cannot be told from a wrong log power, "
        "and only longer horizons help, not more runs."
    )
    yield from remarks(context)


def looks(context: Context) -> str:
    """Which look at growing runs this is, and what it may spend."""
    counts = sorted({result.look for result in context.analysis.results})
    said = [f"look {k}, with 5 % / {looks_cost(k)}" for k in counts]
    return f"; runs may be added and judged again, so each look spends a part of the error of 5 % ({listing(said)})"


def fixed_when(context: Context) -> str:
    changes = context.info.plans - 1
    if changes <= 0:
        return "Window, margins and log powers were fixed before the runs."
    often = "once" if changes == 1 else f"{changes} times"
    return (
        f"The plan of this folder was changed {often} after its first runs; window, margins and log powers are "
        "those of the last."
    )


def windows(context: Context) -> str:
    """Where the windows run, case by case."""
    usual, early, declared = [], [], []
    for result in context.analysis.results:
        case = result.case
        beyond = [h for h in case.horizons if h >= case.onset][:1]
        kind = early if case.window[0] < case.onset else declared
        (usual if [*case.window] == [*beyond, case.horizons[-1]] else kind).append(context.case(result))
    parts = []
    if usual:
        all_of_them = "The window runs" if not (early or declared) else f"In {cases(len(usual))} the window runs"
        parts.append(
            f"{all_of_them} from the onset that theory predicts, or from the first horizon where that is later, "
            "to the last horizon."
        )
    if early:
        parts.append(
            f"In {cases(len(early))} ({listing(early)}) the window starts before the onset that theory predicts, "
            "so that nothing is judged there."
        )
    if declared:
        parts.append(f"The study declares a window of its own in {cases(len(declared))} ({listing(declared)}).")
    return " ".join(parts)


def cases(n) -> str:
    return "one case" if n == 1 else f"{n} cases"


def foundation_cells(context: Context, result):
    case, row = result.case, context.own_row(result)
    horizons = case.horizons
    return [
        f"{result.found} of {result.expected}",
        f"{len(horizons)}, {horizons[0]} to {horizons[-1]}",
        f"{whole(row['horizon_min'])} to {whole(row['horizon_max'])}",
        fixed(row.get("periods"), 2),
        general(row["onset"], 3),
        fixed(row.get("log_worth")),
    ]


def remarks(context: Context):
    """What is claimed, hypotheses that are not met, and bounds on the worst cost."""
    claims = {j.claim.theorem: j.claim.statement for r in context.analysis.results for j in r.judged}
    yield "\n".join(f"- {theorem}: {statement}." for theorem, statement in claims.items())
    lines = [
        f"- {context.case(r)}, {j.claim.theorem}: {violation}."
        for r in context.analysis.results
        for j in r.judged
        for violation in j.claim.violated
    ]
    if lines:
        yield (
            "Hypotheses that are not met (the theorem then promises nothing and cannot be refuted; CONSISTENT says "
            "that its rate holds all the same):"
        )
        yield "\n".join(lines)
    weaker = {}
    for r in context.analysis.results:
        for remark in dict.fromkeys(x for j in r.judged for x in j.claim.remarks):
            weaker.setdefault(remark, {})[f"{r.case.family} d = {r.case.dim}"] = True
    for remark, costs in weaker.items():
        yield f"{remark}: {listing(list(costs), most=len(costs))}."
    worst = {j.claim.theorem for r in context.analysis.results for j in r.judged if not j.claim.per_cost}
    if worst:
        yield (
            f"{listing(sorted(worst))} bounds the worst cost near the one that was run, which no single cost can "
            "refute: it is judged on the mean over a hard family, and without one it is INCONCLUSIVE."
        )
