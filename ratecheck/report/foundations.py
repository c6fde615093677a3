"""What the verdicts rest on: runs, windows, rules, hypotheses and constants; provenance; ten words."""

from ..display import counted, fenced, fixed, general, horizon_text, listing, table, thousands
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
    counts = sorted({result.look for result in context.analysis.results})
    said = [f"look {k}, with 5 % / {looks_cost(k)}" for k in counts]
    return f"; runs may be added and judged again, so each look spends a part of the error of 5 % ({listing(said)})"


def fixed_when(context: Context) -> str:
    changes = context.info.plans - 1
    if changes <= 0:
        return "Window, margins and log powers were fixed before the runs."
    plan = f"The plan of this folder was changed {'once' if changes == 1 else f'{changes} times'} after its first runs"
    return f"{plan}; window, margins and log powers are those of the last."


def windows(context: Context) -> str:
    def cases(found) -> str:
        return "one case" if len(found) == 1 else f"{len(found)} cases"

    usual, early, declared = [], [], []
    for result in context.analysis.results:
        case = result.case
        beyond = [h for h in case.horizons if h >= case.onset][:1]
        kind = early if case.window[0] < case.onset else declared
        (usual if [*case.window] == [*beyond, case.horizons[-1]] else kind).append(context.case(result))
    parts = []
    if usual:
        all_of_them = "The window runs" if not (early or declared) else f"In {cases(usual)} the window runs"
        parts.append(
            f"{all_of_them} from the onset that theory predicts, or from the first horizon where that is later, "
            "to the last horizon."
        )
    if early:
        parts.append(
            f"In {cases(early)} ({listing(early)}) the window starts before the onset that theory predicts, "
            "so that nothing is judged there."
        )
    if declared:
        parts.append(f"The study declares a window of its own in {cases(declared)} ({listing(declared)}).")
    return " ".join(parts)


def foundation_cells(context: Context, result):
    case, row = result.case, context.own_row(result)
    horizons = case.horizons
    return [
        f"{result.found} of {result.expected}",
        f"{len(horizons)}, {horizons[0]} to {horizons[-1]}",
        f"{horizon_text(row['horizon_min'])} to {horizon_text(row['horizon_max'])}",
        fixed(row.get("periods"), 2),
        general(row["onset"], 3),
        fixed(row.get("log_worth")),
    ]


def remarks(context: Context):
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


LABELS = {"minimum": "lowest value of f", "minimisers": "f at its minimisers"}


def constants(context: Context):
    yield "## The constants and their audit"
    yield (
        "Each constant of Assumption 1 as annotated, and in brackets what the audit measured; a constant is proved "
        "unless the cell says otherwise."
    )
    for family in context.families:
        if context.several_families:
            yield f"### {family}: constants"
        yield from audit(context, family)


def audit(context: Context, family):
    costs = {r.case.cost: r.case for r in context.analysis.of(family)}
    audits = {cost: {row["constant"]: row for row in context.info.audits.get(cost, [])} for cost in costs}
    names = list(dict.fromkeys(name for rows in audits.values() for name in rows))
    if not names:  # no audit: what the study was planned with
        names = [n for n, v in next(iter(costs.values())).constants.items() if isinstance(v, (int, float))]
        names = [n for n in names if n != "literal"]
    rows = [[labelled(n), *(constant(n, costs[cost], audits[cost].get(n)) for cost in costs)] for n in names]
    yield table(["constant", *(f"d = {case.dim}" for case in costs.values())], rows)
    wrong = [(costs[cost].dim, row) for cost, rows in audits.items() for row in rows.values() if not row["holds"]]
    lacking = [f"d = {costs[cost].dim}" for cost, rows in audits.items() if not rows]
    if wrong:
        yield "\n".join(
            f"- d = {dim}: {labelled(row['constant'])} **does not hold**: annotated {general(row['annotated'])}, "
            f"measured {general(row['measured'])} at {row['worst']}. The theorems' rates rest on it."
            for dim, row in wrong
        )
    if lacking:
        yield f"The store holds no audit of {family}, {listing(lacking)}; the numbers are the annotations."
    elif not wrong:
        yield "All of them hold."


def labelled(name) -> str:
    return LABELS.get(name, f"`{name}`")


def constant(name, case, row) -> str | None:
    if row is None:
        return general(case.constants.get(name))
    basis = "" if row["basis"] == "proved" else f", {row['basis']}"
    failed = "" if row["holds"] else " **does not hold**"
    return f"{general(row['annotated'])} ({general(row['measured'])}{basis}){failed}"


def provenance(context: Context):
    info = context.info
    yield "## Provenance"
    yield "To run it again:"
    yield fenced(info.command, "sh")
    yield table(["setting", "value"], [[k, v] for k, v in info.settings.items()])
    if info.sessions:
        header = ["started", "seconds", "units", "steps", "workers", "where", "machine"]
        shown_as = {"seconds": lambda x: fixed(x, 1), "steps": thousands}
        rows = [[shown_as.get(h, str)(s[h]) if h in s else None for h in header] for s in info.sessions]
        yield table(header, rows)
        yield totals(context)
    yield f"Digest of the runs: `{info.digest}`."
    for title, lines in (("Units of work that failed", info.missing), ("Remarks of the engine", info.complaints)):
        if lines:
            yield f"{title}:"
            yield "\n".join(f"- {line}" for line in lines)
    if info.unused:
        yield f"The store also holds {counted(info.unused, 'run')} of other settings, which are not used here."
    tables = ["[fits.csv](fits.csv) (one line per case and theorem, printed and corrected apart)"]
    tables += ["[gaps.csv](gaps.csv)"] if context.analysis.gaps else []
    if context.tables.details:
        tables.append("[details.csv](details.csv) (local slopes, sensitivity, held-out errors)")
    yield f"All numbers: {listing(tables)}."


def totals(context: Context):
    sessions = context.info.sessions
    seconds, steps = (sum(s.get(key) or 0 for s in sessions) for key in ("seconds", "steps"))
    versions = {}
    for session in sessions:
        for package, version in (session.get("versions") or {}).items():
            versions.setdefault(package, []).append(str(version))
    used = ", ".join(f"{package} {' and '.join(dict.fromkeys(v))}" for package, v in versions.items())
    total = f"In all {fixed(seconds, 1)} s of wall time and {thousands(steps)} steps."
    return f"{total} Versions: {used}." if used else total


WORDS = {
    "regret": "R, the sum of f(x_t) − f* over the queries up to T, without the noise.",
    "slope": "that of ln R against ln T: R grows like T^slope. R/T falls like T^(slope − 1).",
    "log power": "the p in T^slope (ln T)^p. Over a window of runs a power of ln T looks like a little more slope.",
    "onset": "the horizon from which on theory expects the rate; before it an algorithm still explores everything.",
    "window": "the horizons that a slope is fitted to: from the onset on; if few lie there all, and no verdict.",
    "predicted curve": "the regret that theory computes for this algorithm and cost at finite T, nothing fitted.",
    "margin": "how much steeper than promised still counts as kept; fixed before anything runs.",
    "passes, caught": "the force of a verdict: what would have come out the same although wrong, and what would not.",
    "control": "the same runs made steeper on purpose; a rule that does not refute them proves nothing.",
    "lock-in": "a run that pays over twice what is foretold, since it stays with a wrong cell; few carry the mean.",
}


def glossary(context: Context):
    yield "## Ten words"
    yield "\n".join(f"- **{word}**: {meaning}" for word, meaning in WORDS.items())
