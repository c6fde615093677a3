"""What speaks for and against the fits: diagnostics, held-out horizons, other choices, local slopes, comparisons."""

from ..display import among, estimate, fixed, horizon_text, interval, listing, p_value, table
from ..fit.diagnostics import LARGE_SHARE
from .answer import fallen_behind
from .context import ENDS, Context, sentence


def diagnostics(context: Context):
    usable = [r for r in context.analysis.results if r.fit is not None and not r.fit.problem]
    yield "## Diagnostics and sensitivity"
    if not usable:
        yield "No fit, so no diagnostics."
        return
    heads = ("slope of R, raw", "last half", "curvature (p)", "χ² / expected (p)", "largest run")
    rows = [context.cells(r.case, *diagnosis_cells(context, r)) for r in usable]
    yield table(context.columns(*heads, "jackknife", "bootstrap"), rows)
    yield (
        "Raw: no log power divided out; all others at the log power that theory stands by. Curvature is the "
        "coefficient of (ln T)² beside the slope; χ² compares the residuals with what the jackknife covariance "
        "leads one to expect. Small p-values say that the window holds more than one rate and its harmonics; "
        "large ones say little, because both tests have low power. The largest run is the greatest share of a "
        "horizon's summed regret in a single run. Jackknife and studentised bootstrap are two 95 % intervals for "
        "the same slope."
    )
    yield lack_of_fit(context, usable)
    yield unseen(context, usable)
    heavy = [context.case(r) for r in usable if r.fit.caution]
    if heavy:
        yield (
            f"Rare runs carry the mean in {listing(heavy)}: one run holds more than {100 * LARGE_SHARE:.0f} % of a "
            "mean regret, and no interval accounts for such runs that it has not seen."
        )
    yield from held_out(context)
    yield from sensitivity(context)


def lack_of_fit(context: Context, usable) -> str:
    rows = [context.own_row(r) for r in usable]
    moving = [row for row in rows if row["curvature_p"] < 0.05]
    rising = sum(row["curvature"] > 0 for row in moving)
    poor = sum(row["chi_square_p"] < 0.05 for row in rows)
    return (
        f"At the 5 % level (each case for itself) χ² finds more than noise around the fit "
        f"{among(poor, len(rows))}, and curvature a slope that rises with T in {rising} and one that falls in "
        f"{len(moving) - rising}. An interval holds the uncertainty of the runs, not that of the model; where the "
        "slope is rising, a longer window may give a larger one."
    )


def unseen(context: Context, usable) -> str:
    rows = [context.own_row(r) for r in usable]
    shares = sorted({f"{100 * row['unseen_share']:.2g} %" for row in rows})
    worst = max(rows, key=lambda row: row["unseen_slope"])
    case = next(r for r, row in zip(usable, rows, strict=True) if row is worst)
    return (
        f"What no interval knows: even if no run locks in, so many runs leave it possible that up to {listing(shares)} "
        "of all do (95 %; about 3/N). If such runs paid linearly from the start of the window on, the slope would be "
        f"larger than measured by up to {worst['unseen_slope']:.3f} ({context.case(case)})."
    )


def diagnosis_cells(context: Context, result):
    row = context.own_row(result)
    chi = f"{fixed(row['chi_square'], 1)} / {fixed(row['chi_square_expected'], 1)} ({p_value(row['chi_square_p'])})"
    return [
        estimate(row["raw_slope"], row["raw_low"], row["raw_high"]),
        estimate(*(row[f"last_half{end}"] for end in ENDS)),
        f"{fixed(row['curvature'])} ({p_value(row['curvature_p'])})",
        chi,
        f"{100 * row['largest_share']:.0f} %",
        interval(row["low"], row["high"]),
        interval(row["bootstrap_low"], row["bootstrap_high"]),
    ]


def held_out(context: Context):
    rows = [
        context.cells(r.case, horizon_text(row["horizon"]), estimate(row["value"], row["low"], row["high"]))
        for r in context.analysis.results
        for row in context.detail(r, "held out")
    ]
    if rows:
        yield (
            "Held out: the last two horizons, predicted from a fit without them. The error is that of ln R; an "
            "interval that holds 0 means that the prediction came true."
        )
        yield table(context.columns("T", "error"), rows)


def sensitivity(context: Context):
    if context.several_families:
        yield "The slopes under other choices than the study's are in [details.csv](details.csv)."
        return
    yield "Sensitivity: the slope under other choices than the study's, which decide nothing."
    yield from side_by_side(context, "sensitivity", "choice", "choice")


def local_slopes(context: Context):
    yield "## Local slopes"
    if not any(context.detail(r, "local slope") for r in context.analysis.results):
        yield "No case has enough horizons and runs for local slopes."
        return
    yield (
        "Slopes of ln R between neighbouring horizons, nothing divided out, T the geometric middle of each pair. "
        "A regret that grows exactly as $T^s (\\ln T)^p$ has the local slope s + p / ln T, above s at every T if "
        "p > 0. On a cost that beats the bound, or where its growth has not set in yet, local slopes may lie on "
        "either side of s."
    )
    if context.several_families:
        yield "All of them are in [details.csv](details.csv)."
    else:
        yield from side_by_side(context, "local slope", "T", "horizon")


def side_by_side(context: Context, what, title, key):
    """A table with a line per dimension and key, and a column per algorithm."""
    algorithms = list(dict.fromkeys(r.case.algorithm for r in context.analysis.results))
    found = {}
    for result in context.analysis.results:
        for row in context.detail(result, what):
            line = found.setdefault((result.case.dim, result.case.cost, row[key]), {})
            line[result.case.algorithm] = estimate(row["value"], row["low"], row["high"])
    choices = key == "choice"
    places = sorted(found, key=lambda place: place[:2]) if choices else sorted(found)
    labels = [place[-1] if choices else horizon_text(round(place[-1])) for place in places]
    lines = zip(places, labels, strict=True)
    rows = [[place[0], label, *(found[place].get(a) for a in algorithms)] for place, label in lines]
    yield table(["d", title, *algorithms], rows)


def gap(context: Context):
    gaps = context.analysis.gaps
    pairs = list(dict.fromkeys((g.first, g.second) for g in gaps))
    if not pairs:
        yield "## Comparisons"
        yield "The study compares no two algorithms on one cost."
        return
    several = len(pairs) > 1
    yield "## Comparisons of slopes" if several else f"## The gap between {pairs[0][0]} and {pairs[0][1]}"
    yield (
        "The slope of the first algorithm minus that of the second, nothing divided out, over their common window. "
        "Predicted is the difference of the promised exponents, then with what the theorems' log powers add over "
        "this window. The theorems are bounds, so the measured gap may differ without contradicting them; and where a "
        "hypothesis is not met, they promise nothing."
    )
    header = ["family"] * context.several_families + ["d"] + ["first", "second"] * several
    header += ["window", "predicted", "with log powers", "measured gap", "ratio of regrets at the last T"]
    yield table(header, [gap_cells(context, g, row, several) for g, row in zip(gaps, context.tables.gaps, strict=True)])
    summary = "; ".join(filter(None, (fallen_behind(gaps, *pair) for pair in pairs)))
    if summary:
        yield f"{sentence(summary)} That is: the 95 % interval of the gap lies above 0, without Holm's adjustment."
    for title, unmeasured in (("Not measured:", True), ("In round brackets, and not counted:", False)):
        reasons = [g for g in gaps if g.reason and (g.measured is None) == unmeasured]
        if reasons:
            yield title
            yield "\n".join(f"- {gap_name(context, g, several)}: {g.reason}." for g in reasons)


def gap_name(context: Context, gap, several) -> str:
    family = f"{gap.family} " * context.several_families
    return f"{family}d = {gap.dim}" + f", {gap.first} and {gap.second}" * several


def gap_cells(context: Context, gap, row, several):
    found = estimate(row["gap"], row["low"], row["high"])
    names = [gap.family] * context.several_families + [gap.dim] + [gap.first, gap.second] * several
    return [
        *names,
        gap.window and f"{horizon_text(row['horizon_min'])} to {horizon_text(row['horizon_max'])}",
        fixed(row["predicted"]),
        fixed(row["with_log_powers"]) if gap.measured else None,
        f"({found})" if gap.measured and gap.reason else found,
        fixed(row["last_ratio"], 2),
    ]
