"""From the cases of a study and a table of runs to fits and verdicts.

Window, margin, log powers and controls were fixed with the cases.  Exponents are judged at the log power that theory
stands by; printed and corrected log powers are judged beside it, with the exponent granted.  All claims of a study are
adjusted together (Holm).  A control is judged by the same rules, in the place of the claim that it stands for.
"""

from dataclasses import dataclass, replace
from functools import cached_property

import numpy as np

from ..claims import FEWEST_RUNS, Case, Claim, Control, Curve, Outcome
from ..fit.fit import Fit, fit_rate
from ..fit.log_means import FitError, LogMeans, within
from ..lower_bound.hard_family import NONE, Sandwich
from ..predict.far import Far, far
from . import sentences
from .agreement import Agreement, compare, variance
from .compare import Gap, gap_of
from .findings import Blame, Remarks
from .judging import held_back, irrefutable, judge_case, predicted_slope
from .rules import LOG_MARGIN, RESOLUTION, Verdict, decide, log_worth, looks_cost, with_force
from .several import Assessment, adjusted_among, decide_parts, holm

CAUTION_LEVEL = 0.01  # at which a diagnostic is worth a word of caution, each case for itself
PARTS = ("exponent", "log_power", "corrected_log_power")  # of an assessment


@dataclass(frozen=True)
class Judged:
    """A claim and what the runs say about it."""

    claim: Claim
    assessment: Assessment

    @property
    def name(self) -> Outcome:
        """Of the claim as printed.  A bound on the worst cost nearby has no log power of its own to judge."""
        return self.assessment.name if self.claim.per_cost else self.assessment.exponent.name

    @property
    def reason(self) -> str:
        return str(self.assessment) if self.claim.per_cost else self.assessment.exponent.reason


@dataclass(frozen=True)
class Result:
    """A case, its fit without a log power (None: no fit), and its verdicts; `problem` says why nothing is judged."""

    case: Case
    data: LogMeans | None  # at all horizons; the fit keeps those of the window
    fit: Fit | None
    problem: str
    judged: tuple[Judged, ...]
    controls: tuple[tuple[Control, Verdict], ...]
    found: int  # runs at the horizon of the window that has the fewest; complete replicates where horizons share runs
    expected: int
    agreement: Agreement | None = None  # with the predicted curve
    why_not_predicted: str = ""  # why there is none
    look: int = 1  # how often runs of this case have been judged, this time included
    sandwich: Sandwich = NONE  # between the certified bound of the cost and the runs on its hard family
    sandwich_fit: Fit | None = None  # of the mean over the family
    beyond: Curve | None = None  # predicted, from the last horizon on, at the partitions of the runs

    def fit_for(self, claim: Claim) -> Fit | None:
        """By which a claim is judged, no log power divided out: of the cost's own runs, or of those on its family."""
        return self.fit if claim.per_cost else self.sandwich_fit

    @property
    def own(self) -> Judged:
        """The verdict on the algorithm's own theorem."""
        return next(judged for judged in self.judged if judged.claim == self.case.own)

    @property
    def forceful(self) -> bool:
        """The negative controls were refuted, so that the verdicts could have come out otherwise."""
        return self.control == Outcome.REFUTED

    @property
    def control(self) -> Outcome:
        """The verdict on the negative controls; of several the one that speaks most against the rules."""
        names = {v.name for _, v in self.controls}
        return next(n for n in (Outcome.CONSISTENT, Outcome.INCONCLUSIVE, Outcome.REFUTED) if n in names)

    @cached_property
    def predicted_slope(self) -> float | None:
        """What the fit of this window finds in the predicted regret, nothing divided out."""
        return None if self.fit is None else predicted_slope(self.case, self.fit, self.agreement)

    @cached_property
    def predicted_regret(self) -> tuple[np.ndarray, np.ndarray] | None:
        """T and the predicted mean regret: at the partitions of the runs where there are runs, and beyond them at the
        same or, where those cannot be followed, at others."""
        at = np.empty((2, 0))
        if self.agreement is not None:
            at = self.agreement.table[["horizon", "predicted"]].to_numpy(float).T
        for curve in filter(None, (self.beyond, self.case.curve)):
            onward = np.array([curve.horizons, curve.regret])
            at = np.hstack([at, onward[:, onward[0] > at[0].max(initial=0.0) * (1 + 1e-9)]])
        return (at[0], at[1]) if at.size else None

    @cached_property
    def far(self) -> Far | None:
        """What the predicted curve says about the algorithm's own theorem, far beyond the runs."""
        case = self.case
        return None if case.curve is None else far(case.curve, case.own, period=case.period, shift=case.shift)

    @cached_property
    def bent(self) -> bool:
        """Whether the fitted line is rejected: by its curvature, or by horizons that it did not see."""
        fit = self.fit.at(self.own.claim.rate.log_power)
        errors = [replace(e, level=1 - CAUTION_LEVEL) for _, e in fit.held_out()]
        return fit.curvature_p() < CAUTION_LEVEL or any(not e.low <= 0 <= e.high for e in errors)

    @property
    def log_worth(self) -> float:
        """The slope that one factor ln T is worth over the window."""
        return log_worth(self.fit.data.horizons)

    @cached_property
    def bootstrap(self) -> tuple[float, float]:
        """Of the slope without a log power; dividing one out moves it as it moves the slope."""
        return self.fit.bootstrap()

    def local_slopes(self):
        """Between all neighbouring horizons, also outside the window, no log power divided out."""
        return Fit(self.data).local_slopes()


@dataclass(frozen=True)
class Analysis:
    """All results of a study."""

    results: tuple[Result, ...]
    margin: float
    comparisons: tuple[tuple[str, str], ...] = ()  # pairs of labels
    log_margin: float = LOG_MARGIN
    resolution: float = RESOLUTION

    @cached_property
    def costs(self) -> list[tuple[str, int]]:
        return list(dict.fromkeys((r.case.family, r.case.dim) for r in self.results))

    def of(self, family) -> list[Result]:
        return [r for r in self.results if r.case.family == family]

    @cached_property
    def gaps(self) -> list[Gap]:
        """The declared comparisons, cost by cost."""
        by_cost = {}
        for result in self.results:
            by_cost.setdefault(result.case.cost, {})[result.case.algorithm] = result
        return [gap_of(r[a], r[b]) for r in by_cost.values() for a, b in self.comparisons if a in r and b in r]

    @property
    def claims(self) -> int:
        """How many verdicts are adjusted together."""
        return sum(len(parts_of(judged)) for result in self.results for judged in result.judged)


def analyse(
    cases: list[Case],
    runs,
    *,
    margin: float,
    comparisons=(),
    predictions=lambda series: None,
    resolution: float = RESOLUTION,
    look=lambda series: 1,
    sandwich=lambda case: NONE,
) -> Analysis:
    """Fit and judge every case.

    `runs` is a table with the runs of all of them, each row with its series' digest, or a function that gives the
    table of one digest, so that no more than that is in memory at once; `predictions` gives what theory says of them,
    `look` how often they have been judged, this time included, and `sandwich` the runs of a case on its hard family.
    """
    if not callable(runs):
        runs = (dict(list(runs.groupby("series"))) if len(runs) else {}).get
    results, rules = [], {"margin": margin, "resolution": resolution}
    for case, named in zip(cases, with_distinct_names(cases), strict=True):
        digest = case.series.digest
        known = {"prediction": predictions(digest), "look": look(digest), "sandwich": sandwich(case)}
        results.append(result_of(named, runs(digest), **rules, **known))
    return Analysis(tuple(adjusted(results)), margin, tuple(comparisons), resolution=resolution)


def with_distinct_names(cases: list[Case]) -> list[Case]:
    """The cases; where a family comes with several settings, its name carries those that differ: cusp(power=0.7).

    A setting that differs in one dimension is named in all of them, so that a name means the same in each.
    """
    by_place = {}
    for case in cases:
        by_place.setdefault((case.family, case.dim), {})[case.cost] = case.parameters
    differing = {}
    for (family, _), same in by_place.items():
        keys = {k for found in same.values() for k in found}
        several = {k for k in keys if len({found.get(k) for found in same.values()}) > 1}
        differing.setdefault(family, set()).update(several)

    def named(case):
        given = [f"{k}={v}" for k, v in case.parameters.items() if k in differing[case.family]]
        return replace(case, family=f"{case.family}({', '.join(given)})") if given else case

    return [named(case) for case in cases]


def result_of(
    case: Case, table, *, margin, prediction=None, resolution=RESOLUTION, look=1, sandwich: Sandwich = NONE
) -> Result:
    if prediction is not None and prediction["curve"] is not None:
        long = Curve.from_json(prediction["curve"])  # than that of the plan, as a rule
        case = replace(case, curve=max(filter(None, (case.curve, long)), key=lambda curve: curve.horizons[-1]))
    table, found, problem = complete(case, table)
    theory = against_theory(case, table, prediction)
    rules = {"margin": margin, "resolution": resolution, "look": look}
    judgement = judge_case(case, table, by=judge_parts, rules=rules, agreement=theory[0], problem=problem)
    on_family, trouble = fit_of(sandwich)
    on_runs = iter(judgement.verdicts)
    judged = tuple(
        Judged(claim, Assessment(*next(on_runs)))
        if claim.per_cost
        else judge_bound(claim, sandwich, fit=on_family, trouble=trouble, **rules | {"look": sandwich.look})
        for claim in case.claims
    )
    beyond = Curve.from_json(prediction["beyond"]) if prediction and prediction.get("beyond") else None
    return Result(
        case=case,
        data=judgement.data,
        fit=judgement.fit,
        problem=judgement.problem,
        judged=judged,
        controls=judgement.controls,
        found=found,
        expected=case.replicates,
        agreement=theory[0],
        why_not_predicted=theory[1],
        look=look,
        sandwich=sandwich,
        sandwich_fit=on_family,
        beyond=beyond,
    )


def judge_parts(fit: Fit, claim: Claim, **rules) -> tuple[Verdict, ...]:
    """On a claim in its parts, before any adjustment; where theory forbids a refutation, that is said."""
    why = irrefutable(claim)
    return tuple(
        held_back(v, why) for v in decide_parts(fit, claim.printed, corrected=claim.corrected, kind=claim.kind, **rules)
    )


def fit_of(sandwich: Sandwich) -> tuple[Fit | None, str]:
    if not sandwich.rungs:
        return None, f"no family: {'; '.join(sandwich.problems) or 'none was run'}"
    try:
        fit = fit_rate(sandwich.table())
    except FitError as error:
        return None, f"on its hard family: {error}"
    return fit, fit.problem


def against_theory(case: Case, table, prediction: dict | None) -> tuple[Agreement | None, str]:
    """How the runs compare with what theory predicts for each of them, or why they cannot be compared."""
    if prediction is None:
        return None, "no regret was predicted"
    if prediction["problem"]:
        return None, prediction["problem"]
    if table is None or table.empty:
        return None, "no run of this case has finished"
    place = {horizon: j for j, horizon in enumerate(prediction["horizons"])}
    predicted = np.array(prediction["regret"])
    fixed = case.series.alignment == "fixed"
    known = table["horizon"].isin(list(place)) & (fixed | (table["replicate"] < len(predicted)))
    table = table[known]
    if table.empty:
        return None, "no regret was predicted at these horizons"
    columns = table["horizon"].map(place).to_numpy()
    rows = 0 if fixed else table["replicate"].to_numpy()
    noise, spread, error = np.array(prediction["left_open"])[sorted(set(columns.tolist()))].T
    left_open = noise * variance(case.series.noise) + spread + error
    try:
        locked = tuple(prediction.get("locked", (0, 0)))
        return compare(table, predicted[rows, columns], left_open=left_open, locked_draws=locked), ""
    except FitError as problem:
        return None, str(problem)


def complete(case: Case, table):
    """The runs that a fit may use, how many there are at least at every horizon of the window, and what is wrong.

    Of an algorithm whose horizons share their runs only those count that have all of them.
    """
    if table is None or table.empty:
        return None, 0, "no run of this case has finished"
    table = table[table["horizon"].isin(case.horizons) & (table["replicate"] < case.replicates)]
    if case.anytime:
        reached = table.groupby("replicate")["horizon"].nunique()
        whole = reached.index[reached == len(case.horizons)]
        table = table[table["replicate"].isin(whole)]
        return table, len(whole), "" if len(table) else "no run of this case has all its horizons"
    counts = table.groupby("horizon")["replicate"].nunique().reindex(case.horizons, fill_value=0)
    inside = [h for h, held in zip(case.horizons, within(case.horizons, case.window), strict=True) if held]
    inside = inside or case.horizons
    fewest = int(counts[list(inside)].min())
    table = table[table["horizon"].isin(counts.index[counts >= FEWEST_RUNS])]
    few = {h: int(counts[h]) for h in inside if counts[h] < FEWEST_RUNS}
    return table, fewest, sentences.too_few_runs(few) if few else ""


def judge_bound(claim: Claim, sandwich: Sandwich, *, fit: Fit | None, trouble: str, margin, resolution, look) -> Judged:
    """The verdict on a bound for the worst cost nearby, from the mean over its hard family.

    No mean may lie below the certified curve, whatever its slope.  While all lie above, a slope that is too small
    cannot last, since the curve has the promised one: it refutes nothing.
    """
    if sandwich.below:
        found = beaten(sandwich, margin, looks_cost(look))
    elif fit is None or trouble:
        found = Verdict(Outcome.INCONCLUSIVE, trouble, margin=margin)
    else:
        found = decide(fit, claim.rate, kind=claim.kind, margin=margin, resolution=resolution, look=look)
        found = held_back(found, sentences.NOT_BY_A_FAMILY[claim.kind])
        left_out = (Remarks(tuple(sandwich.problems)),) if sandwich.problems else ()
        found = replace(found, clauses=(*found.clauses, *left_out), not_testable_by_slope=True)
    return Judged(claim, Assessment(found, found))


def beaten(sandwich: Sandwich, margin: float, looks: int) -> Verdict:
    """What no strategy can do was done."""
    worst = min(sandwich.below, key=lambda rung: rung.p_value)
    p = min(1.0, worst.p_value * len(sandwich.rungs) * looks)
    reason = sentences.beaten(worst, len(sandwich.below) - 1)
    return Verdict(Outcome.REFUTED, reason, margin=margin, p_value=p, blames=Blame.EXPONENT)


def adjusted(results) -> list[Result]:
    """The results after Holm's step-down over all their claims, each verdict with its force and on exponents alone."""
    parts = [
        (i, j, part)
        for i, result in enumerate(results)
        for j, judged in enumerate(result.judged)
        for part in parts_of(judged)
    ]
    before = [getattr(results[i].judged[j].assessment, part) for i, j, part in parts]
    changed = {place: with_force(v.alone) for place, v in zip(parts, holm(before), strict=True)}
    places = {(i, part): k for k, (i, j, part) in enumerate(parts) if results[i].judged[j].claim == results[i].case.own}

    def again(i, j, judged):
        new = {part: changed[i, j, part] for part in parts_of(judged)}
        return replace(judged, assessment=replace(judged.assessment, **new))

    return [
        replace(
            r,
            judged=tuple(again(i, j, judged) for j, judged in enumerate(r.judged)),
            controls=tuple((c, adjusted_among(v, before, places[i, "exponent"])) for c, v in r.controls),
        )
        for i, r in enumerate(results)
    ]


def parts_of(judged: Judged) -> list[str]:
    """What is judged apart.  A bound on the worst cost nearby has no log power of its own."""
    parts = PARTS if judged.claim.per_cost else PARTS[:1]
    return [part for part in parts if getattr(judged.assessment, part) is not None]
