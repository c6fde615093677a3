"""Verdicts: what a fit says about a promised rate, what it would have caught, and when it refuses to say anything.

For an upper bound the excess is the slope of R/g against ln T, g = T^slope (ln T)^log_power the promised shape; for a
lower bound its negative.  With limits at 95 % and a margin fixed beforehand:

CONSISTENT    the upper limit of the excess stays below the margin on the whole window, on its last half and at T_max,
              and the claim is not so lax that a power beyond the `resolution` could have passed as well;
REFUTED       the lower limit exceeds the margin on the whole window, also when the error is taken from the points'
              scatter about the line, the last half shows an excess too, and no start that bends into the promised
              rate explains the runs;
INCONCLUSIVE  otherwise, with the number of runs or the horizon that would settle it.

`evidence` computes all that, `alternatives` knows the starts.  A rate is refuted as a whole; an exponent only where no
other power of ln T explains the runs either, for T^0.65 and T^0.5 (ln T)^1.5 are the same over ten doublings.

Whoever judges growing data again and again spends the error of 5 % over the looks: look k takes 5 % / (k (k + 1)), and
all looks together, however many, no more than the whole (Bonferroni over an endless sequence; the spending of errors
over looks is due to Lan and DeMets, Biometrika 70, 1983).
"""

from __future__ import annotations

import math
from dataclasses import dataclass, field, replace
from functools import cached_property
from numbers import Real

import numpy as np

from ..arguments import check_whole, shown
from ..claims import MARGIN, Outcome
from ..display import Speaking
from ..fit.fit import Estimate, Fit, check_fit, fit_rate, in_steps
from ..fit.log_means import OURS, AxisLabels, FitError, LogMeans, check_level
from ..rates import Rate
from . import sentences
from .evidence import Evidence, evidence
from .findings import Advice, Blame, Finding, Force, Overruled, Remarks, Remedy, Rule, Why

LOG_MARGIN = 0.5  # of a log power: at ln T = 10 a power of 1/2 is a slope of 0.05
LEVEL = 0.95
RESOLUTION = 0.25  # of a slope: a verdict that a power beyond it could have passed decides nothing
LIKELY = 0.7  # that more runs decide, before so many are advised; measured, nine in ten of them then do
MOST_DOUBLINGS = 6  # of the runs that advice looks ahead
LONGEST_HORIZON = 1e100  # a horizon that is worth naming

Clause = Finding | Overruled | Force | Remarks


@dataclass(frozen=True)
class Criteria:
    """By what a claim is judged: all that is fixed before the runs are looked at."""

    kind: str = "upper"  # of bound
    margin: float = MARGIN
    level: float = LEVEL
    resolution: float = RESOLUTION
    look: int | None = None  # at growing data; None is the only one

    def __post_init__(self):
        if self.kind not in ("upper", "lower"):
            raise ValueError(f"kind = {shown(self.kind)} must be 'upper' or 'lower'")
        if not (isinstance(self.margin, Real) and 0 <= self.margin < 1e100):
            raise ValueError(f"margin = {shown(self.margin)} must not be negative")
        if not (isinstance(self.resolution, Real) and self.resolution > 0):
            raise ValueError(f"resolution = {shown(self.resolution)} must be positive")
        if self.look is not None:
            check_whole("look", self.look, 1, 10**6)
        check_level(self.level)


@dataclass(frozen=True, repr=False)
class Verdict(Speaking):
    """A verdict on one claim: its name, one sentence of `reason`, and the numbers behind it; see `verdict`.

    `excess` is measured minus promised, in the direction that hurts the claim; `p_value` belongs to the test that
    decided (1 where nothing was decided), multiplied for the look at which it did.  `blames` says what a refutation
    speaks against.
    """

    name: Outcome
    problem: str = ""  # where nothing was judged: why
    clauses: tuple[Clause, ...] = ()  # of the reason, as data
    excess: Estimate | None = None
    margin: float = MARGIN
    p_value: float = 1.0
    blames: Blame = Blame.NOTHING
    tolerates: float | None = None  # the largest growth beyond the claim that could have come out CONSISTENT
    promised: Rate | None = None
    kind: str = "upper"
    look: int | None = None
    not_testable_by_slope: bool = False  # a mean below the certified curve would refute it, and nothing else
    evidence: Evidence | None = field(default=None, repr=False, compare=False)
    data: LogMeans | None = field(default=None, repr=False, compare=False)
    error: float = field(default=1 - LEVEL, repr=False, compare=False)  # that this look may spend, among all claims

    @property
    def reason(self) -> str:
        return sentences.reason(self)

    @property
    def overruled(self) -> Overruled | None:
        """What it was before a rule beyond this claim's own runs made it INCONCLUSIVE."""
        return next((clause for clause in reversed(self.clauses) if isinstance(clause, Overruled)), None)

    @property
    def advice(self) -> Advice | None:
        """What would settle it, where that is more than a longer window."""
        return next((c.advice for c in reversed(self.clauses) if isinstance(c, Finding | Overruled) and c.advice), None)

    @property
    def judges_log_power(self) -> bool:
        return self.evidence is not None and self.evidence.logs is None

    @property
    def labels(self) -> AxisLabels:
        return OURS if self.data is None else self.data.words

    @property
    def force(self) -> Force | None:
        """What could have passed and what would have been caught; None where nothing was judged."""
        if self.evidence is None:
            return None
        until = None if self.catches is None else self.catches_until
        return Force(self.tolerates, self.catches, until, self.not_testable_by_slope)

    @cached_property
    def catches(self) -> float | None:
        """The smallest growth beyond the claim that would have been REFUTED with a power of 90 %; None: none."""
        return None if self.evidence is None or self.not_testable_by_slope else self.evidence.catches(self.error)

    @cached_property
    def catches_until(self) -> float | None:
        """The largest excess that would have been caught, where larger ones would not: they look like a start."""
        last = self.evidence.catches_until(self.catches, self.error)
        return last if self.catches + 0.01 < last < min(self._room, 2.0) else None

    @property
    def catches_nothing(self) -> bool:
        """Whether no growth that there can be would have been caught."""
        return self.catches is None or (self.kind == "upper" and self.catches > self._room)

    @property
    def _room(self) -> float:
        """The growth beyond the claim that is as bad as can be: linear, or none at all."""
        if self.judges_log_power:
            return math.inf
        return 1 - self.promised.slope if self.kind == "upper" else self.promised.slope

    @property
    def limits(self) -> tuple[float | None, float | None]:
        """The slopes (or log powers) of what could have passed and of what would have been caught."""
        if self.evidence is None:
            return None, None
        sign = 1 if self.kind == "upper" else -1
        promised = self.promised.log_power if self.judges_log_power else self.promised.slope
        found = [None if by is None else promised + sign * by for by in (self.tolerates, self.catches)]
        if self.judges_log_power or not self.labels.inverse:
            return tuple(found)
        return tuple(None if slope is None else -slope for slope in found)

    @property
    def alone(self) -> Verdict:
        """The verdict on the exponent alone: no refutation where a logarithm explains slope and bend as well."""
        if self.name != Outcome.REFUTED or self.blames is not Blame.EITHER:
            return self
        return self.overruled_by(Overruled(Rule.LOGARITHM, self.name), p_value=1.0)

    def overruled_by(self, rule: Overruled, **changes) -> Verdict:
        return replace(self, name=Outcome.INCONCLUSIVE, clauses=(*self.clauses, rule), **changes)

    def __str__(self):
        return f"{self.name}: {self.reason}"

    def _facts(self):
        facts = {"verdict": self}
        if self.promised is not None:
            relation = "<=" if self.kind == "upper" else ">="
            facts["claim"] = self.labels.rate(self.promised.slope, self.promised.log_power, relation)
        if self.excess is not None:
            facts["excess"] = f"{self.excess}, margin {self.margin:g}"
            facts["p-value"] = f"{self.p_value:.3g}" + ("" if self.look is None else f" at look {self.look}")
        return facts | ({"speaks against": self.blames} if self.blames else {})


def verdict(
    fit: Fit,
    rate: Rate,
    kind: str = "upper",
    *,
    margin: float = MARGIN,
    level: float = LEVEL,
    resolution: float = RESOLUTION,
    look: int | None = None,
) -> Verdict:
    """Judge a promised rate by the growth of the regret.

    REFUTED `blames` the exponent, or exponent and logarithm together; `verdict(...).alone` is on the exponent.  `look`
    counts the times that growing data were judged (1, 2, ...); None is the only time.

    For example

        v = rc.verdict(fit, rc.Rate.parse("T^0.5 (ln T)^1.5"), kind="upper")
        v.name, v.reason             # CONSISTENT, REFUTED or INCONCLUSIVE, and why
    """
    rules = {"kind": kind, "margin": margin, "level": level, "resolution": resolution, "look": look}
    return with_force(decide(fit, rate, **rules))


def decide(fit, rate, *, words=True, log_power=False, **rules) -> Verdict:
    """Judge a promised rate by `Criteria(**rules)`, the reason without its force, or (no `words`) without a reason.

    That takes less time.  With `log_power` its log power alone is judged, its exponent taken for granted.
    """
    asked = Criteria(**({"margin": LOG_MARGIN, "resolution": math.inf} if log_power else {}) | rules)
    rate = in_steps(fit, rate)
    check_judged(fit, rate)
    kind, margin, spent = asked.kind, asked.margin, looks_cost(asked.look)
    error = (1 - asked.level) / spent
    at = fit if log_power else fit.at(rate.log_power)
    if at.problem:
        return Verdict(Outcome.INCONCLUSIVE, at.problem, margin=margin)
    found = evidence(at, rate, kind=kind, margin=margin, log_power=log_power)
    good, bad = float(found.consistent()), float(found.refuted())
    outcome, p, blames = Outcome.INCONCLUSIVE, 1.0, Blame.NOTHING
    if good < error and found.tolerates <= asked.resolution:
        outcome, p = Outcome.CONSISTENT, good * spent
    elif bad < error:
        outcome, p = Outcome.REFUTED, bad * spent
        blames = Blame.LOGARITHM if log_power else blamed(found, error)
    measured, against = (fit.log_power_at(rate.slope), rate.log_power) if log_power else (at.whole, rate.slope)
    excess = measured.minus(against)
    v = Verdict(
        name=outcome,
        excess=excess if kind == "upper" else excess.mirrored(),
        margin=margin,
        p_value=p,
        blames=blames,
        tolerates=found.tolerates,
        promised=rate,
        kind=kind,
        look=asked.look,
        evidence=found,
        data=at.data,
        error=error,
    )
    if not words:
        return v
    clause = _finding(v, at, asked.resolution, measured=measured, against=against, caution=at.caution)
    return replace(v, clauses=(clause,))


def log_power_verdict(fit: Fit, rate: Rate, kind: str = "upper", *, margin: float = LOG_MARGIN, **rules) -> Verdict:
    """Judge the log power of a promised rate, its exponent taken for granted; `level` and `look` as in `verdict`.

    For example

        rc.log_power_verdict(fit, rc.Rate.parse("T^0.5 (ln T)^1.5"))
    """
    return with_force(decide(fit, rate, kind=kind, margin=margin, log_power=True, **rules))


def blamed(found: Evidence, error: float) -> Blame:
    return Blame.EXPONENT if found.logarithmic() < error else Blame.EITHER


def _finding(v: Verdict, fit: Fit, resolution: float, **measured) -> Finding:
    """Why a verdict is what it is, and where it is open what would change that."""
    found, error = v.evidence, v.error
    if v.name == Outcome.CONSISTENT:
        return Finding(Why.KEPT, **measured)
    if v.name == Outcome.REFUTED:
        if v.blames is not Blame.EITHER:
            return Finding(Why.BEYOND, **measured)
        # the promised exponent, off by the margin, with the log power that suits the runs
        slope = v.promised.slope + (v.margin if v.kind == "upper" else -v.margin)
        instead = Rate.of_regret(slope, round(fit.log_power_at(slope).value, 1))
        return Finding(Why.BEYOND, instead=instead, **measured)
    if found.consistent() < error:
        return Finding(Why.TOO_LAX, until=_until(fit, v.promised, resolution, found.margin), **measured)
    if found.exceeds() < error:
        if found.scatters() >= error:
            return Finding(Why.SCATTERED, **measured)
        if found.starting() >= error:
            advice = advised(found, fit.data, error, None) if v.look is None else None
            enough = advice if advice is not None and advice.remedy is Remedy.RUNS else None
            return Finding(Why.STARTING, start=found.nearest, advice=enough, **measured)
        if found.refuted() >= error:
            return Finding(Why.NOT_LATELY, **measured)
    if found.rises_beyond():
        return Finding(Why.RISING, **measured)
    return Finding(Why.UNDECIDED, advice=advised(found, fit.data, error, v.look), **measured)


def advised(found: Evidence, data: LogMeans, error: float, look: int | None) -> Advice:
    """The next look that is likely to decide, given what these runs have shown, or what keeps more runs from it."""
    if data.source == "series":
        return Advice(Remedy.LONGER)
    if look is not None:
        error, look = error * looks_cost(look) / looks_cost(look + 1), look + 1
    for doublings in range(1, MOST_DOUBLINGS + 1):
        chance = found.deciding(2.0**doublings, error)
        if chance >= LIKELY:
            return _more(data.replicates, doublings, look)
    if data.noisy:
        return Advice(Remedy.LONGER)
    if not found.decides_if_exact(error):
        return Advice(Remedy.NO_RUNS_BUT_LONGER)
    return Advice(Remedy.PERHAPS_RUNS, times=2**MOST_DOUBLINGS, chance=chance)


def _more(runs: int, doublings: int, look: int | None = None) -> Advice:
    return Advice(Remedy.RUNS, runs=runs * 2**doublings, shrink=2 ** (doublings / 2), look=look)


def _until(fit: Fit, rate: Rate, resolution, margin) -> float | None:
    """The horizon from which on no power beyond the resolution could pass: a logarithm is worth less and less."""
    x = fit.x
    step = float(np.median(np.diff(x)))
    for count in range(len(x) + 1, 4 * len(x)) if rate.log_power else ():
        longer = x[0] + step * np.arange(count)
        if longer[-1] > math.log(LONGEST_HORIZON):
            return None
        centred = longer - longer.mean()
        worth = float(np.polyfit(centred, np.log(longer), 2) @ [2 * centred[-1], 1.0, 0.0])  # at its end
        if margin + rate.log_power * worth <= resolution:
            return math.exp(longer[-1])
    return None


def with_force(v: Verdict) -> Verdict:
    """A verdict whose reason names its force, which takes longer to compute than all else."""
    return v if v.force is None else replace(v, clauses=(*v.clauses, v.force))


def looks_cost(look: int | None) -> int:
    """By how much the p-value of a look is multiplied, so that all looks together keep the error."""
    return 1 if look is None else look * (look + 1)


def tight(fit: Fit, rate: Rate, margin: float = MARGIN, level: float = LEVEL) -> Verdict:
    """Judge the claim that a rate is attained, neither better nor worse.

    Two one-sided tests (Schuirmann) on the whole window, on its last half and at both of its ends, where a parabola has
    its slopes; significant curvature, or a slope between neighbouring horizons that is significantly beyond the margin,
    makes it INCONCLUSIVE.  It is refuted where either one-sided claim is.

    For example

        rc.tight(fit, rc.Rate.parse("T^0.5 (ln T)^1.5"))
    """
    promised, rate = rate, in_steps(fit, rate)
    check_judged(fit, rate)
    Criteria(margin=margin, level=level)
    at = fit.at(rate.log_power)
    if at.problem:
        return Verdict(Outcome.INCONCLUSIVE, at.problem, margin=margin)
    off = [e.minus(rate.slope) for e in at.straight()]
    inside = max(max(1 - e.above(margin), 1 - e.mirrored().above(margin)) for e in off)
    bent = at.curvature_p() < 1 - level or at.strays(rate.slope, margin, level)
    equal = inside < 1 - level and not bent
    for kind in () if equal else ("upper", "lower"):
        if decide(fit, promised, kind=kind, margin=margin, level=level, words=False).name == Outcome.REFUTED:
            return decide(fit, promised, kind=kind, margin=margin, level=level)
    first, last = (e.value for e in at.straight()[2:])
    finding = Finding(
        Why.EQUAL if equal else Why.BENT if bent else Why.UNDECIDED,
        at.whole,
        rate.slope,
        at.caution,
        advice=None if equal or bent else _advised_to_be_equal(at, rate, margin),
        ends=(first, last),
    )
    return Verdict(
        name=Outcome.CONSISTENT if equal else Outcome.INCONCLUSIVE,
        clauses=(finding,),
        excess=at.whole.minus(rate.slope),
        margin=margin,
        p_value=inside if equal else 1.0,
        data=at.data,
    )


def _advised_to_be_equal(at: Fit, rate: Rate, margin) -> Advice:
    """How many runs would show equality, if the slopes are what they seem to be."""
    if at.data.source == "series":
        return Advice(Remedy.LONGER)
    for doublings in range(1, MOST_DOUBLINGS + 1):
        shrunk = [replace(e.minus(rate.slope), se=e.se / 2 ** (doublings / 2)) for e in at.straight()]
        if all(abs(e.value) + (e.high - e.value) + 1.3 * e.se < margin for e in shrunk):
            return _more(at.data.replicates, doublings)
    if all(abs(e.value - rate.slope) < margin for e in at.straight()):
        return Advice(Remedy.PERHAPS_RUNS, times=2**MOST_DOUBLINGS)
    return Advice(Remedy.NO_RUNS_BUT_LONGER)


def judge(runs, rate: Rate, kind: str = "upper", margin: float = MARGIN, **options) -> Verdict:
    """Fit and judge a table of runs; a table that allows no fit is INCONCLUSIVE, with the reason.

    `resolution` and `look` are those of `verdict`, all other options those of `fit_rate`.

    For example

        rc.judge(runs, rc.Rate.parse("T^0.5 (ln T)^1.5"), window=(2**9, 2**14))
    """
    rules = {name: options.pop(name) for name in ("resolution", "look") if name in options}
    rules |= {"kind": kind, "margin": margin, "level": options.get("level", LEVEL)}
    check_rate(rate)
    Criteria(**rules)
    try:
        fit = fit_rate(runs, rate.log_power, **options)
    except FitError as error:
        return Verdict(Outcome.INCONCLUSIVE, str(error), margin=margin)
    return verdict(fit, rate, **rules)


def check_judged(fit, rate):
    check_fit(fit)
    check_rate(rate)


def check_rate(rate):
    if not isinstance(rate, Rate):
        raise ValueError(f"rate = {shown(rate)} must be a Rate, such as Rate.parse('T^0.5 (ln T)^1')")


def log_worth(horizons) -> float:
    """The slope that one factor ln T is worth over a window: what no fit over it can tell from an exponent."""
    x = np.log(np.asarray(horizons, dtype=float))
    centred = x - x.mean()
    return float(centred @ np.log(x) / (centred @ centred))
