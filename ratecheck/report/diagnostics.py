"""What speaks for and against the fits: diagnostics, held-out horizons, other choices."""

from __future__ import annotations

from ..display import among, estimate, fixed, interval, listing, p_value, table, whole
from ..fit.diagnostics import LARGE_SHARE
from .context import Context
from .side_by_side import side_by_side
from .words import ENDS


def diagnostics(context: Context):
    usable = [r for r in context.analysis.results if r.fit is not None and not r.fit.problem]
    yield "## Diagnostics and sensitivity"
    if not usable:
        yield "No fit, so no diagnostics."
        return
    header = context.columns(
        "slope of R, raw",
        "last half",
        "curvature (p)",
        "χ² / expected (p)",
        "largest run",
        "jackknife",
        "bootstrap",
    )
    yield table(header, [context.cells(r.case, *diagnosis_cells(context, r)) for r in usable])
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
    """What the diagnostics say about all cases together."""
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
    """What so many runs cannot exclude."""
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
        context.cells(r.case, whole(row["horizon"]), estimate(row["value"], row["low"], row["high"]))
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
    yield from side_by_side(context, "sensitivity", "choice", lambda row: row["choice"])
