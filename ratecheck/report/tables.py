"""The tables beside a report: the rows and columns of fits.csv, details.csv and gaps.csv."""

import math
from dataclasses import dataclass
from numbers import Real

from ..claims import NEVER, Claim
from ..display import one_line
from ..files import Drafts, no_formula
from ..fit.fit import Estimate, Fit
from ..predict.far import Limit
from ..verdict.analyse import Analysis, Judged, Result
from ..verdict.compare import Gap
from ..verdict.sentences import NOT_JUDGED, overruled
from ..verdict.several import Assessment

SLOPE = ("slope", "low", "high")


@dataclass(frozen=True)
class Tables:
    """The rows of the three tables, in the order of their files; gaps are in the order of the analysis."""

    fits: list[dict]
    details: list[dict]
    gaps: list[dict]


def tabulated(analysis: Analysis) -> Tables:
    """Every number of an analysis; bootstraps included, so it takes a while and is done once."""
    results, margin = analysis.results, analysis.margin
    return Tables(
        fits=[row for result in results for judged in result.judged for row in rows_of(result, judged, margin)],
        details=[row for result in results if result.data is not None for row in details_of(result)],
        gaps=[gap_row(gap) for gap in analysis.gaps],
    )


def write_tables(drafts: Drafts, tables: Tables) -> None:
    """Write the three files; one without rows is not there."""
    import pandas as pd

    for name, rows in (("fits.csv", tables.fits), ("gaps.csv", tables.gaps), ("details.csv", tables.details)):
        if rows:
            drafts.write(name, pd.DataFrame([cells(row) for row in rows]).to_csv(index=False, lineterminator="\n"))
        else:
            drafts.remove(name)


def cells(row: dict) -> dict:
    """What a file holds: texts in one line, and none that a spreadsheet computes."""
    return {key: no_formula(one_line(v)) if isinstance(v, str) else v for key, v in row.items()}


def rows_of(result: Result, judged: Judged, margin: float):
    case, claim, found = result.case, judged.claim, judged.assessment
    raw = result.fit_for(claim)
    versions = [(claim.theorem, claim.printed, found.log_power)]
    if claim.corrected is not None:
        versions.append((claim.corrected_name, claim.corrected, found.corrected_log_power))
    for name, rate, power in versions:
        version = Judged(claim, Assessment(found.exponent, power, None))
        fit = raw and raw.at(rate.log_power)
        usable = claim.per_cost and fit is not None and not fit.problem
        row = {
            "family": case.family,
            "dim": case.dim,
            "cost": case.cost,
            "algorithm": case.algorithm,
            "theorem": name,
            "kind": claim.kind,
            "theory_slope": rate.slope,
            "log_power": rate.log_power,
            **{part: fit and getattr(fit, part) for part in SLOPE},
            **runs_of(result, claim, raw),
            "verdict": str(version.name),
            "reason": version.reason,
            **verdicts_of(result, version),
            **spelled("fitted_log_power", fit.log_power_at(rate.slope) if usable else None),
            **{f"raw_{part}": raw and getattr(raw, part) for part in SLOPE},
            "margin": margin,
            **settings_of(result, claim),
            **(theory_of(result) if claim.per_cost else {}),
            **(checks_of(result, fit) if usable else {}),
            **({} if claim.per_cost else between(result)),
        }
        yield rounded(row)


def runs_of(result: Result, claim: Claim, raw: Fit | None) -> dict:
    window = raw.data.horizons[[0, -1]] if raw is not None else result.case.window if claim.per_cost else (None, None)
    replicates, _ = (result.found, result.expected) if claim.per_cost else members_of(result)
    return {"replicates": replicates, "horizon_min": window[0], "horizon_max": window[1]}


def verdicts_of(result: Result, judged: Judged) -> dict:
    exponent, power, per_cost = judged.assessment.exponent, judged.assessment.log_power, judged.claim.per_cost
    return {
        "exponent_verdict": str(exponent.name),
        "exponent_p": exponent.p_value,
        "tolerates": exponent.tolerates,
        "catches": exponent.catches,
        "blames": str(exponent.blames),
        "changed": overruled(exponent.overruled) or NOT_JUDGED * bool(per_cost and result.problem),
        "look": result.look if per_cost else result.sandwich.look,
        "log_power_verdict": str(power.name) if per_cost else "",
        "log_power_p": power.p_value if per_cost else None,
    }


def settings_of(result: Result, claim: Claim) -> dict:
    case, per_cost = result.case, claim.per_cost
    return {
        "onset": case.onset if case.onset < NEVER else None,
        "period": case.period,
        "alpha": case.constants["alpha"],
        "beta": case.constants["beta"],
        "seed": case.series.seed,
        "noise": case.series.noise,
        "alignment": case.series.alignment,
        "control": str(result.control) if per_cost else "",
        "control_by": max(control.by for control, _ in result.controls) if per_cost else None,
        "planned": result.expected if per_cost else members_of(result)[1],
        "role": "own" if claim == case.own else "added" if per_cost else "bound",
        "violated": "; ".join(map(str, claim.violated)),
        "violated_names": "; ".join(dict.fromkeys(v.name for v in claim.violated)),
    }


def members_of(result: Result) -> tuple[int, int]:
    """Of a hard family: at the horizon that has the fewest runs, and planned."""
    rungs = result.sandwich.rungs
    return min((len(rung.regrets) for rung in rungs), default=0), result.sandwich.members


def between(result: Result) -> dict:
    rungs = result.sandwich.rungs
    last = rungs[-1] if rungs else None
    return {
        "certified_bound": last and last.bound,
        "family_mean": last and last.mean,
        "family_error": last and last.error,
        "factor": last and last.factor,
    }


def theory_of(result: Result) -> dict:
    found, far = result.agreement, result.far
    ratio, share = (found.ratio, found.lock_in) if found else ((None,) * 3, (None,) * 3)
    return {
        "predicted_slope": result.predicted_slope,
        "agreement": found and str(found.name),
        "agreement_reason": found.reason if found else result.why_not_predicted,
        **dict(zip(("ratio", "ratio_low", "ratio_high"), ratio, strict=True)),
        **spelled("ratio_slope", found and found.slope),
        **dict(zip(("locked_in", "locked_in_low", "locked_in_high"), share, strict=True)),
        "far_verdict": far and str(far.on_exponent.name),
        "far_reason": far and far.on_exponent.reason,
        **spelled("far_exponent", far and far.exponent),
        "far_printed": far and str(far.on_printed.name),
        "far_corrected": far and far.on_corrected and str(far.on_corrected.name),
        **spelled("far_log_power", far and far.power),
        **spelled("far_shifted_power", far and far.shifted),
        "far_visible": far and far.visible,
        "far_horizon": far and result.case.curve.horizons[-1],
    }


def checks_of(result: Result, fit: Fit) -> dict:
    observed, expected, p = fit.chi_square()
    moved = fit.slope - result.fit.slope
    low, high = result.bootstrap
    return {
        **spelled("last_half", fit.last_half),
        **spelled("curvature", fit.curvature()),
        "curvature_p": fit.curvature_p(),
        "chi_square": observed,
        "chi_square_expected": expected,
        "chi_square_p": p,
        "largest_share": fit.largest_share,
        "bootstrap_low": low + moved,
        "bootstrap_high": high + moved,
        "horizons": len(fit.x),
        "periods": result.case.periods if result.case.period else None,
        "log_worth": result.log_worth,
        **dict(zip(("unseen_share", "unseen_slope"), fit.unseen(), strict=True)),
    }


def details_of(result: Result):
    case, power = result.case, result.own.claim.rate.log_power

    def row(what, choice, *, horizon, log_power, estimate):
        names = {"family": case.family, "dim": case.dim, "algorithm": case.algorithm}
        names |= {"what": what, "choice": choice, "horizon": horizon, "log_power": log_power}
        return rounded(names | {"value": estimate.value, "low": estimate.low, "high": estimate.high})

    for horizon, estimate in result.local_slopes():
        yield row("local slope", "", horizon=horizon, log_power=0.0, estimate=estimate)
    if result.fit is None or result.fit.problem:
        return
    fit = result.fit.at(power)
    onset = case.onset if case.window[0] < case.onset < NEVER else None
    for choice, estimate in fit.sensitivity(onset, case.shift):
        yield row("sensitivity", choice, horizon=None, log_power=power, estimate=estimate)
    for horizon, estimate in fit.held_out():
        yield row("held out", "", horizon=horizon, log_power=power, estimate=estimate)


def gap_row(gap: Gap) -> dict:
    measured = gap.measured
    return rounded(
        {
            "family": gap.family,
            "dim": gap.dim,
            "cost": gap.cost,
            "first": gap.first,
            "second": gap.second,
            "predicted": gap.predicted,
            "with_log_powers": gap.predicted + gap.log_powers,
            "gap": measured and measured.value,
            "low": measured and measured.low,
            "high": measured and measured.high,
            "horizon_min": gap.window and gap.window[0],
            "horizon_max": gap.window and gap.window[1],
            "last_ratio": math.exp(gap.ratios[-1][1].value) if gap.ratios else None,
            "reason": gap.reason,
        }
    )


def spelled(name, estimate: Estimate | Limit | None) -> dict:
    ends = {"": "value", "_low": "low", "_high": "high"}
    return {name + end: estimate and getattr(estimate, attribute) for end, attribute in ends.items()}


def rounded(row: dict) -> dict:
    """Ten digits: more than anybody reads, fewer than differ between machines."""
    return {k: float(f"{v:.10g}") if isinstance(v, Real) and not isinstance(v, int) else v for k, v in row.items()}
