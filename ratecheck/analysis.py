"""From the cases of a study and a table of runs to fits and verdicts.

Window, margin and log powers were fixed with the cases.  Exponents are judged at the log power that theory stands by;
printed and corrected log powers are judged beside it, with the exponent granted.  All claims of a study are adjusted
together (Holm); negative controls are not among them.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from functools import cached_property

from .fit import Estimate, Fit, FitError, fit_rate, slope_difference
from .verdicts import LOG_MARGIN, Assessment, Name, Verdict, assess, holm, verdict


@dataclass(frozen=True)
class Judged:
    """A claim and what the runs say about it."""

    claim: object
    assessment: Assessment

    @property
    def name(self) -> Name:
        """Of the claim as printed.  A bound on the worst cost nearby has no log power of its own to judge."""
        return self.assessment.name if self.claim.per_cost else self.assessment.exponent.name

    @property
    def reason(self) -> str:
        return str(self.assessment) if self.claim.per_cost else self.assessment.exponent.reason


@dataclass(frozen=True)
class Result:
    """A case, its fit without a log power (None: no fit, and `problem` says why), and its verdicts."""

    case: object
    fit: Fit | None
    problem: str
    judged: tuple[Judged, ...]
    controls: tuple[tuple[object, Verdict], ...]
    found: int  # complete replicates
    expected: int

    @property
    def own(self) -> Judged:
        """The verdict on the algorithm's own theorem."""
        return self.judged[0]


@dataclass(frozen=True)
class Gap:
    """Slope of uniform bins minus slope of adaptive bins on one cost, raw, over their common window."""

    family: str
    dim: int
    predicted: float
    measured: Estimate | None
    reason: str
    window: tuple[float, float]
    share: tuple  # (T, R_uniform / R_adaptive) at common horizons


@dataclass(frozen=True)
class Analysis:
    """All results of a study."""

    results: tuple[Result, ...]
    margin: float
    log_margin: float = LOG_MARGIN

    @cached_property
    def costs(self) -> list[tuple[str, int]]:
        return list(dict.fromkeys((r.case.family, r.case.dim) for r in self.results))

    def of(self, family, dim=None) -> list[Result]:
        return [r for r in self.results if r.case.family == family and dim in (None, r.case.dim)]

    @cached_property
    def gaps(self) -> list[Gap]:
        pairs = [(cost, {r.case.algorithm: r for r in self.of(*cost)}) for cost in self.costs]
        wanted = ("UniformBins", "AdaptiveBins")
        return [gap_of(*cost, *(found[w] for w in wanted)) for cost, found in pairs if set(wanted) <= set(found)]

    def rows(self) -> list[dict]:
        """One row per case and theorem, printed and corrected apart: what fits.csv holds."""
        return [row for result in self.results for judged in result.judged for row in rows_of(result, judged, self)]


def analyse(cases, table, margin: float) -> Analysis:
    """Fit and judge every case; `table` holds the runs of all of them, each row with its series' digest."""
    by_series = dict(list(table.groupby("series"))) if len(table) else {}
    results = [result_of(case, by_series.get(case.series["series"]), margin) for case in cases]
    return Analysis(tuple(adjusted(results)), margin)


def result_of(case, table, margin) -> Result:
    table, found, problem = complete(case, table)
    fit = None
    if not problem:
        try:
            fit = fit_rate(table, window=case.window, period=case.period)
            problem = fit.problem
        except FitError as error:
            problem = str(error)
    if fit is None:
        refused = Verdict(Name.INCONCLUSIVE, problem, margin=margin)
        judged = tuple(Judged(c, Assessment(refused, refused, refused if c.corrected else None)) for c in case.claims)
        return Result(case, None, problem, judged, tuple((c, refused) for c in case.controls), found, case.replicates)
    judged = tuple(judge_claim(c, fit, margin) for c in case.claims)
    controls = tuple((c, verdict(fit, c.rate, c.kind, margin)) for c in case.controls)
    return Result(case, fit, problem, judged, controls, found, case.replicates)


def complete(case, table):
    """The runs of a case that have all their horizons, how many replicates they are, and what is wrong if anything."""
    if table is None or table.empty:
        return None, 0, "no run of this case has finished"
    table = table[table["horizon"].isin(case.horizons) & (table["replicate"] < case.replicates)]
    counts = table.groupby("replicate")["horizon"].nunique()
    whole = counts.index[counts == len(case.horizons)]
    if case.anytime:
        table = table[table["replicate"].isin(whole)]
    missing = "" if len(table) else "no run of this case has all its horizons"
    return table, len(whole), missing


def judge_claim(claim, fit, margin) -> Judged:
    assessment = assess(fit, claim.printed, claim.corrected, claim.kind, margin)
    if not claim.per_cost and assessment.exponent.name == Name.REFUTED:
        exponent = replace(
            assessment.exponent,
            name=Name.INCONCLUSIVE,
            p_value=1.0,
            reason=f"{assessment.exponent.reason}, but {claim.theorem} bounds the worst cost near this one, and no "
            "single cost can refute that; its hard family would",
        )
        assessment = replace(assessment, exponent=exponent)
    return Judged(claim, assessment)


def adjusted(results) -> list[Result]:
    """The same results after Holm's step-down over all their claims."""
    parts = [
        (i, j, part)
        for i, result in enumerate(results)
        for j, judged in enumerate(result.judged)
        for part in ("exponent", "log_power", "corrected_log_power")
        if getattr(judged.assessment, part) is not None and (part == "exponent" or judged.claim.per_cost)
    ]
    after = holm([getattr(results[i].judged[j].assessment, part) for i, j, part in parts])
    changed = dict(zip(parts, after, strict=True))

    def again(i, j, judged):
        new = {part: v for (k, m, part), v in changed.items() if (k, m) == (i, j)}
        return replace(judged, assessment=replace(judged.assessment, **new))

    return [
        replace(r, judged=tuple(again(i, j, judged) for j, judged in enumerate(r.judged)))
        for i, r in enumerate(results)
    ]


def gap_of(family, dim, uniform: Result, adaptive: Result) -> Gap:
    predicted = uniform.own.claim.rate.slope - adaptive.own.claim.rate.slope
    low = max(uniform.case.window[0], adaptive.case.window[0])
    high = min(uniform.case.window[1], adaptive.case.window[1])
    measured, share = None, ()
    if uniform.fit is None or adaptive.fit is None:
        reason = uniform.problem or adaptive.problem
    else:
        a, b = uniform.fit.data, adaptive.fit.data
        common = sorted(set(a.horizons.tolist()) & set(b.horizons.tolist()))
        mean = [dict(zip(d.horizons.tolist(), d.y.tolist(), strict=True)) for d in (a, b)]
        share = tuple((t, mean[0][t] - mean[1][t]) for t in common)
        try:
            first = fit_rate(a, window=(low, high))
            second = fit_rate(b, window=(low, high), period=adaptive.case.period)
            reason = second.problem
            measured = None if reason else slope_difference(first, second)
        except FitError as error:
            reason = str(error)
    return Gap(family, dim, predicted, measured, reason, (low, high), share)


def rows_of(result: Result, judged: Judged, analysis: Analysis):
    case, claim, found = result.case, judged.claim, judged.assessment
    versions = [(claim.theorem, claim.printed, found.log_power)]
    if claim.corrected is not None:
        versions.append((claim.corrected_name, claim.corrected, found.corrected_log_power))
    for name, rate, power in versions:
        version = Judged(claim, Assessment(found.exponent, power, None))
        fit = result.fit and result.fit.at(rate.log_power)
        fitted = None if fit is None or fit.problem else fit.log_power_at(rate.slope)
        yield {
            "family": case.family,
            "dim": case.dim,
            "algorithm": case.algorithm,
            "theorem": name,
            "kind": claim.kind,
            "theory_slope": rate.slope,
            "log_power": rate.log_power,
            "slope": fit and fit.slope,
            "low": fit and fit.low,
            "high": fit and fit.high,
            "replicates": result.found,
            "horizon_min": case.window[0],
            "horizon_max": case.window[1],
            "verdict": str(version.name),
            "reason": version.reason,
            "exponent_verdict": str(found.exponent.name),
            "exponent_p": found.exponent.p_value,
            "log_power_verdict": str(power.name) if claim.per_cost else "",
            "log_power_p": power.p_value if claim.per_cost else None,
            "fitted_log_power": fitted and fitted.value,
            "fitted_log_power_low": fitted and fitted.low,
            "fitted_log_power_high": fitted and fitted.high,
            "raw_slope": result.fit and result.fit.slope,
            "raw_low": result.fit and result.fit.low,
            "raw_high": result.fit and result.fit.high,
            "margin": analysis.margin,
            "onset": case.onset,
            "period": case.period,
            "alpha": case.constants["alpha"],
            "beta": case.constants["beta"],
        }
