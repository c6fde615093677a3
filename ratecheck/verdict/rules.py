"""Verdicts: what a fit says about a promised rate, what it would have caught, and when it refuses to say anything.

For an upper bound the excess is the slope of R/g against ln T, g = T^slope (ln T)^log_power the promised shape; for a
lower bound its negative.  With limits at 95 % and a margin fixed beforehand:

CONSISTENT    the upper limit of the excess stays below the margin on the whole window, on its last half and at T_max,
              and the claim is not so lax that a power beyond the `resolution` could have passed as well;
REFUTED       the lower limit exceeds the margin on the whole window, also when the error is taken from the points'
              scatter about the line, the last half shows an excess too, and no start that bends into the promised
              rate explains the runs;
INCONCLUSIVE  otherwise, with the number of runs or the horizon that would settle it.

`evidence` computes all that, `explanations` knows the starts.  A rate is refuted as a whole; an exponent only where no
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

from ..arguments import items, shown, whole
from ..claims import MARGIN, Outcome
from ..display import Speaking
from ..fit.fit import Estimate, Fit, check_fit, fit_rate, in_steps
from ..fit.log_means import OURS, FitError, LogMeans, Words, check_level, rounded_up
from ..rates import Rate
from .evidence import END, WHOLE, Evidence, evidence

LOG_MARGIN = 0.5  # of a log power: at ln T = 10 a power of 1/2 is a slope of 0.05
LEVEL = 0.95
RESOLUTION = 0.25  # of a slope: a verdict that a power beyond it could have passed decides nothing
LIKELY = 0.7  # that more runs decide, before so many are advised; measured, nine in ten of them then do
MOST_DOUBLINGS = 6  # of the runs that advice looks ahead
LONGEST = 1e100  # a horizon that is worth naming


@dataclass(frozen=True, repr=False)
class Verdict(Speaking):
    """A verdict on one claim: its name, one sentence of reason, and the numbers behind it.

    `excess` is measured minus promised, in the direction that hurts the claim; `p_value` belongs to the test that
    decided (1 where nothing was decided), multiplied for the look at which it did.  `blames` says what a refutation
    speaks against: "exponent", "logarithm", or "exponent or logarithm" where the runs do not tell.
    """

    name: Outcome
    reason: str
    excess: Estimate | None = None
    margin: float = MARGIN
    p_value: float = 1.0
    blames: str = ""
    tolerates: float | None = None  # the largest growth beyond the claim that could have come out CONSISTENT
    promised: Rate | None = None
    kind: str = "upper"
    look: int | None = None
    spared: str = ""  # where no slope refutes the claim: what would
    changed: str = ""  # what it was before a rule beyond this claim's own runs made it INCONCLUSIVE
    evidence: Evidence | None = field(default=None, repr=False, compare=False)
    data: LogMeans | None = field(default=None, repr=False, compare=False)
    error: float = field(default=1 - LEVEL, repr=False, compare=False)  # that this look may spend, among all claims

    @cached_property
    def catches(self) -> float | None:
        """The smallest growth beyond the claim that would have been REFUTED with a power of 90 %; None: none."""
        return None if self.evidence is None or self.spared else self.evidence.catches(self.error)

    @property
    def force(self) -> str:
        """What could have passed and what would have been caught, in words; empty where nothing was judged."""
        if self.evidence is None:
            return ""
        passed = f"{self._grown(self.tolerates)} could have passed too"
        if self.tolerates < 0:
            passed = f"no {self._grown(0.0)} could have passed"
        if self.spared:
            return f"{passed}, {self.spared}"
        if self.catches is None:
            return f"{passed}, nothing would have been caught"
        until = "" if self.catches_until is None else f" to {self._grown(self.catches_until)}"
        return f"{passed}, {self._grown(self.catches)}{until} would have been caught"

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
        if self.evidence.logs is None:
            return math.inf
        return 1 - self.promised.slope if self.kind == "upper" else self.promised.slope

    def _grown(self, by) -> str:
        """The shape of a regret that breaks the claim by so much."""
        by = by if self.kind == "upper" else -by
        if self.evidence.logs is None:
            return f"(ln {self._words.x})^{self.promised.log_power + by + 0.0:.3g}"
        return self._words.power(self.promised.slope + by)

    @property
    def _words(self) -> Words:
        return OURS if self.data is None else self.data.words

    @property
    def limits(self) -> tuple[float | None, float | None]:
        """The slopes (or log powers) of what could have passed and of what would have been caught."""
        if self.evidence is None:
            return None, None
        sign = 1 if self.kind == "upper" else -1
        promised = self.promised.log_power if self.evidence.logs is None else self.promised.slope
        passed, caught = (
            promised + sign * self.tolerates,
            None if self.catches is None else promised + sign * self.catches,
        )
        if self.evidence.logs is None or not self._words.inverse:
            return passed, caught
        return -passed, None if caught is None else -caught

    @property
    def alone(self) -> Verdict:
        """The verdict on the exponent alone: no refutation where a logarithm explains slope and bend as well."""
        if self.name != Outcome.REFUTED or self.blames != "exponent or logarithm":
            return self
        return replace(self, name=Outcome.INCONCLUSIVE, p_value=1.0, changed="REFUTED as a rate")

    def __str__(self):
        return f"{self.name}: {self.reason}"

    def __repr__(self):
        return f"<Verdict {self}>"

    def _facts(self):
        facts = {"verdict": self}
        if self.promised is not None:
            relation = "<=" if self.kind == "upper" else ">="
            facts["claim"] = self._words.rate(self.promised.slope, self.promised.log_power, relation)
        if self.excess is not None:
            facts["excess"] = f"{self.excess}, margin {self.margin:g}"
            facts["p-value"] = f"{self.p_value:.3g}" + ("" if self.look is None else f" at look {self.look}")
        return facts | ({"speaks against": self.blames} if self.blames else {})


def verdict(
    fit: Fit,
    rate: Rate,
    kind: str = "upper",
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
    return with_force(decide(fit, rate, kind, margin, level, resolution, look))


def decide(
    fit, rate, kind="upper", margin=MARGIN, level=LEVEL, resolution=RESOLUTION, look=None, words=True
) -> Verdict:
    """The same without the words about force, which take longer than all else, or without any reason at all."""
    rate = in_steps(fit, rate)
    _check(fit, rate, kind, margin, level, resolution, look)
    at = fit.at(rate.log_power)
    if at.problem:
        return Verdict(Outcome.INCONCLUSIVE, at.problem, margin=margin)
    found = evidence(at, rate, kind, margin)
    measured = _measured(at, rate)
    excess = at.whole.minus(rate.slope)
    return _decided(found, excess, measured if words else "", rate, kind, level, look, at, resolution)


def _measured(at: Fit, rate: Rate) -> str:
    """The slope against the promised one, as the table counts; in a step size it is an order."""
    words = at.data.words
    name = "order" if words.inverse else "slope"
    return f"{name} {at.slope:.3f} [{at.low:.3f}, {at.high:.3f}] against {words.slope(rate.slope) + 0.0:.3f}"


def log_power_verdict(
    fit: Fit,
    rate: Rate,
    kind: str = "upper",
    margin: float = LOG_MARGIN,
    level: float = LEVEL,
    look: int | None = None,
) -> Verdict:
    """Judge the log power of a promised rate, its exponent taken for granted; `look` as in `verdict`.

    For example

        rc.log_power_verdict(fit, rc.Rate.parse("T^0.5 (ln T)^1.5"))
    """
    return with_force(decide_log_power(fit, rate, kind, margin, level, look))


def decide_log_power(fit, rate, kind="upper", margin=LOG_MARGIN, level=LEVEL, look=None, words=True) -> Verdict:
    rate = in_steps(fit, rate)
    _check(fit, rate, kind, margin, level, RESOLUTION, look)
    if fit.problem:
        return Verdict(Outcome.INCONCLUSIVE, fit.problem, margin=margin)
    found = evidence(fit, rate, kind, margin, log_power=True)
    power = fit.log_power_at(rate.slope)
    measured = f"log power {power.value:.2f} [{power.low:.2f}, {power.high:.2f}] against {rate.log_power:.2f}"
    excess = power.minus(rate.log_power)
    return _decided(found, excess, measured if words else "", rate, kind, level, look, fit)


def _decided(found: Evidence, excess, measured, rate, kind, level, look, fit, resolution=math.inf) -> Verdict:
    """The verdict that the evidence gives, in words if there are any to start with."""
    spent = looks_cost(look)
    error = (1 - level) / spent
    good, bad = float(found.consistent()), float(found.refuted())
    side = "above" if (kind == "upper") != fit.data.words.inverse else "below"
    of_exponent = found.logs is not None
    tolerates = found.tolerates
    caution = f" ({fit.caution})" if fit.caution else ""
    rest = {
        "excess": excess if kind == "upper" else excess.mirrored(),
        "margin": found.margin,
        "tolerates": tolerates,
        "evidence": found,
        "data": fit.data,
        "error": error,
        "promised": rate,
        "kind": kind,
        "look": look,
    }
    if good < error and tolerates <= resolution:
        reason = (
            f"{measured}: no more than {found.margin:g} {side} it, over the whole window, its last half and at "
            f"{fit.data.words.end}"
        )
        return Verdict(Outcome.CONSISTENT, reason + caution, p_value=good * spent, **rest)
    if bad < error:
        blames = "logarithm"
        reason = f"{measured}: more than {found.margin:g} {side} it"
        if of_exponent:
            blames = _blamed(found, error)
            if blames != "exponent":
                pair = _pair(fit, rate, found.margin if kind == "upper" else -found.margin)
                reason += f", but {pair} explains slope and bend as well: the exponent alone is not refuted"
        return Verdict(Outcome.REFUTED, reason + caution, p_value=bad * spent, blames=blames, **rest)
    reason = measured and f"{measured}{_why(found, error, resolution, rate, side, fit, look)}"
    return Verdict(Outcome.INCONCLUSIVE, reason + caution, **rest)


def _blamed(found: Evidence, error: float) -> str:
    """What a refutation speaks against."""
    return "exponent" if found.logarithmic() < error else "exponent or logarithm"


def _pair(fit: Fit, rate: Rate, off: float) -> str:
    """The promised exponent, off by the margin, with the log power that suits the runs."""
    slope = rate.slope + off
    power = round(fit.log_power_at(slope).value, 1)
    words = fit.data.words
    if words == OURS:
        return str(Rate.of_regret(slope, power)).removeprefix("R = ")
    return f"{words.x}^{words.slope(slope):.4g} (ln {words.x})^{power:.4g}"


def _why(found: Evidence, error, resolution, rate, side, fit, look) -> str:
    """Why nothing is decided, and what would change that."""
    if found.consistent() < error:
        lax = f"no more than {found.margin:g} {side} it, but a rate that is off by {found.tolerates:.2f} could be, too"
        return f": {lax}{_until(fit, rate, resolution, found.margin)}"
    advice = _advice(found, fit.data.replicates, error, fit.data, look)
    longer_runs = f"{_further(fit.data)} would show more"
    if found.exceeds() < error:
        if found.scatters() >= error:
            return f", but the points scatter about the line as much as that; {longer_runs}"
        if found.starting() >= error:
            enough = advice if advice.endswith("would do") else longer_runs
            return f", but {fit.data.words.said(found.nearest)} explains slope and bend as well; {enough}"
        if found.refuted() >= error:
            return f", but not over the last half of the window; {longer_runs}"
    if found.rises_beyond:
        return f", but the excess is rising and may pass {found.margin:g}; {longer_runs}"
    return f"; {advice}"


def _advice(found: Evidence, runs: int, error: float, data: LogMeans, look: int | None) -> str:
    """The next look that is likely to decide, given what these runs have shown, or what keeps more runs from it."""
    chance, when, words = 0.0, "", data.words
    apart = f"excess {found.value[WHOLE]:+.3f} over the whole window, {found.value[END]:+.3f} at {words.end}"
    if data.source == "series":
        return f"{_further(data)} would tell more ({apart})"
    if look is not None:
        error, when = error * looks_cost(look) / looks_cost(look + 1), f", at look {look + 1}"
    for doublings in range(1, MOST_DOUBLINGS + 1):
        chance = found.deciding(2.0**doublings, error)
        if chance >= LIKELY:
            return f"{_more(runs, doublings)} would do{when}"
    if data.noisy:
        return f"{_further(data)} would tell more ({apart})"
    if not found.decides_if_exact(error):
        return f"more runs that go on like these would not tell ({apart}); {_further(data)} would tell more"
    many = f"{2**MOST_DOUBLINGS} times as many decide with a chance of {100 * chance:.0f} %"
    return f"more runs may tell ({apart}; {many})"


def _more(runs: int, doublings: int) -> str:
    """So many runs; of a table that does not name them, so much smaller errors."""
    return f"N = {runs * 2**doublings} runs" if runs else f"standard errors {2 ** (doublings / 2):.1f} times smaller"


def _until(fit: Fit, rate: Rate, resolution, margin) -> str:
    """The horizon from which on no power beyond the resolution could pass: a logarithm is worth less and less."""
    x = fit.x
    step = float(np.median(np.diff(x)))
    nothing = "; no window of a reasonable length would do"
    if not rate.log_power:
        return nothing
    for count in range(len(x) + 1, 4 * len(x)):
        longer = x[0] + step * np.arange(count)
        if longer[-1] > math.log(LONGEST):
            break
        centred = longer - longer.mean()
        worth = float(np.polyfit(centred, np.log(longer), 2) @ [2 * centred[-1], 1.0, 0.0])  # at its end
        if margin + rate.log_power * worth <= resolution:
            return f"; {fit.data.words.end} = {_far(fit.data, math.exp(longer[-1]))} would do"
    return nothing


def with_force(v: Verdict) -> Verdict:
    """The same, with words about its force."""
    said = v.force
    return replace(v, reason=f"{v.reason}; {said}") if said else v


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
    _check(fit, rate, "upper", margin, level, RESOLUTION, None)
    at = fit.at(rate.log_power)
    if at.problem:
        return Verdict(Outcome.INCONCLUSIVE, at.problem, margin=margin)
    excess = at.whole.minus(rate.slope)
    measured = _measured(at, rate)
    inside = max(
        max(1 - e.above(margin), 1 - e.mirrored().above(margin)) for e in (e.minus(rate.slope) for e in at.straight())
    )
    caution = f" ({at.caution})" if at.caution else ""
    bent = at.curvature_p() < 1 - level or at.strays(rate.slope, margin, level)
    if inside < 1 - level and not bent:
        reason = f"{measured}: equal within {margin:g}, over the whole window, its last half and at both ends{caution}"
        return Verdict(Outcome.CONSISTENT, reason, excess, margin, inside)
    for kind in ("upper", "lower"):
        if decide(fit, promised, kind, margin, level, words=False).name == Outcome.REFUTED:
            return decide(fit, promised, kind, margin, level)
    ends = at.straight()[2:]
    words = at.data.words
    first, last = (words.slope(e.value) for e in ends)
    slopes = f"{first:.3f} at the first {'horizon' if words == OURS else words.x} and {last:.3f} at the last"
    if bent:
        why = f"but the line is bent ({slopes}); {_further(at.data)} would tell more"
        return Verdict(Outcome.INCONCLUSIVE, f"{measured}, {why}{caution}", excess, margin)
    return Verdict(
        Outcome.INCONCLUSIVE, f"{measured}; {_equal(at, rate, margin, level, slopes)}{caution}", excess, margin
    )


def _equal(at: Fit, rate: Rate, margin, level, slopes) -> str:
    """How many runs would show equality, if the slopes are what they seem to be."""
    n, end = at.data.replicates, _further(at.data)
    if at.data.source == "series":
        return f"{end} would tell more ({slopes})"
    for doublings in range(1, MOST_DOUBLINGS + 1):
        shrunk = [replace(e.minus(rate.slope), se=e.se / 2 ** (doublings / 2)) for e in at.straight()]
        if all(abs(e.value) + (e.high - e.value) + 1.3 * e.se < margin for e in shrunk):
            return f"{_more(n, doublings)} would do"
    if all(abs(e.value - rate.slope) < margin for e in at.straight()):
        return f"more runs may tell ({slopes}; {2**MOST_DOUBLINGS} times as many do not suffice)"
    return f"more runs that go on like these would not tell ({slopes}); {end} would tell more"


@dataclass(frozen=True, repr=False)
class Assessment(Speaking):
    """A printed rate, judged in its parts: the exponent may hold where the printed log power does not.

    `exponent` is judged at the corrected log power, or at the printed one where theory corrects nothing, and refuted
    only where no logarithm explains the runs; `corrected_log_power` is None where theory corrects nothing.
    """

    exponent: Verdict
    log_power: Verdict
    corrected_log_power: Verdict | None = None

    @property
    def name(self) -> Outcome:
        """The verdict on the rate as printed."""
        names = {self.exponent.name, self.log_power.name}
        if Outcome.REFUTED in names:
            return Outcome.REFUTED
        return Outcome.CONSISTENT if names == {Outcome.CONSISTENT} else Outcome.INCONCLUSIVE

    def __str__(self):
        parts = self._facts()
        names = ", ".join(f"{part} {v.name}" for part, v in parts.items())
        return f"{names}: " + "; ".join(f"{part}: {v.reason}" for part, v in parts.items())

    def __repr__(self):
        return f"<Assessment {self}>"

    def _facts(self):
        parts = {"exponent": self.exponent, "printed log power": self.log_power}
        return parts | ({} if self.corrected_log_power is None else {"corrected log power": self.corrected_log_power})


def assess(
    fit: Fit,
    printed: Rate,
    corrected: Rate | None = None,
    kind: str = "upper",
    margin: float = MARGIN,
    log_margin: float = LOG_MARGIN,
    level: float = LEVEL,
    resolution: float = RESOLUTION,
    look: int | None = None,
) -> Assessment:
    """Judge exponent and log power of a printed rate apart, beside the log power that theory puts in its place.

    For example

        print(rc.assess(fit, rc.Rate.parse("T^0.5 ln T"), corrected=rc.Rate.parse("T^0.5 (ln T)^2")))
    """
    exponent, *powers = decide_parts(fit, printed, corrected, kind, margin, log_margin, level, resolution, look)
    return Assessment(*map(with_force, (exponent.alone, *powers)))


def decide_parts(
    fit,
    printed,
    corrected=None,
    kind="upper",
    margin=MARGIN,
    log_margin=LOG_MARGIN,
    level=LEVEL,
    resolution=RESOLUTION,
    look=None,
) -> list[Verdict]:
    """On the rate that theory stands by, on the printed log power and, where there is one, on the corrected."""
    _check(fit, printed, kind, margin, level, resolution, look)
    if not (corrected is None or isinstance(corrected, Rate)):
        raise ValueError(f"corrected = {shown(corrected)} must be a Rate, or None")
    if corrected is not None and not math.isclose(corrected.exponent, printed.exponent):
        raise ValueError(f"a correction must keep the exponent, but {printed} and {corrected} differ in it")
    rates = [printed] if corrected in (None, printed) else [printed, corrected]
    powers = [decide_log_power(fit, rate, kind, log_margin, level, look) for rate in rates]
    return [decide(fit, rates[-1], kind, margin, level, resolution, look), *powers]


def judge(runs, rate: Rate, kind: str = "upper", margin: float = MARGIN, **options) -> Verdict:
    """Fit and judge a table of runs; a table that allows no fit is INCONCLUSIVE, with the reason.

    `resolution` and `look` are those of `verdict`, all other options those of `fit_rate`.

    For example

        rc.judge(runs, rc.Rate.parse("T^0.5 (ln T)^1.5"), window=(2**9, 2**14))
    """
    rules = {name: options.pop(name) for name in ("resolution", "look") if name in options}
    check_rule(rate, kind, margin, options.get("level", LEVEL), **{"resolution": RESOLUTION, "look": None} | rules)
    try:
        fit = fit_rate(runs, rate.log_power, **options)
    except FitError as error:
        return Verdict(Outcome.INCONCLUSIVE, str(error), margin=margin)
    return verdict(fit, rate, kind, margin, options.get("level", LEVEL), **rules)


def holm(verdicts, level: float = LEVEL) -> list[Verdict]:
    """Adjust for many claims: decisions whose p-values do not survive Holm's step-down become INCONCLUSIVE.

    For example

        rc.holm([rc.judge(runs, rc.Rate.parse(text)) for text in ("T^0.5", "T^0.4")])
    """
    verdicts = list(items("verdicts", verdicts, "verdicts"))
    for v in verdicts:
        if not isinstance(v, Verdict):
            raise ValueError(f"{shown(v)} is no verdict; take what verdict, tight or judge gives")
    check_level(level)
    return [
        _adjusted(v, p, kept, len(verdicts)) for v, p, kept in zip(verdicts, *_in_family(verdicts, level), strict=True)
    ]


def adjusted_among(v: Verdict, verdicts, place: int) -> Verdict:
    """A verdict as Holm adjusts it in the place of another."""
    family = [*verdicts[:place], v, *verdicts[place + 1 :]]
    p, kept = _in_family(family, LEVEL)
    return _adjusted(v, p[place], kept[place], len(family))


def _in_family(verdicts, level):
    return step_down([1.0 if v.name == Outcome.INCONCLUSIVE else v.p_value for v in verdicts], 1 - level)


def step_down(p, error) -> tuple[list[float], list[bool]]:
    """Holm's p-values, and which of them survive; statsmodels has it too, but takes half a second to load."""
    order = np.argsort(p)
    ranked, left = np.array(p, dtype=float)[order], np.arange(len(p), 0, -1)
    adjusted, survives = np.empty(len(p)), np.empty(len(p), dtype=bool)
    adjusted[order] = np.minimum(np.maximum.accumulate(ranked * left), 1.0)
    survives[order] = np.logical_and.accumulate(ranked <= error / left)
    return adjusted.tolist(), survives.tolist()


def _adjusted(v: Verdict, p, kept, claims) -> Verdict:
    if v.name == Outcome.INCONCLUSIVE:
        return v
    left = v.error * v.p_value / p if p > 0 else v.error  # of the error, for this claim
    if kept:
        blames = _blamed(v.evidence, left) if v.blames == "exponent" and v.evidence is not None else v.blames
        return replace(v, p_value=p, error=left, blames=blames)
    reason = f"{v.reason}; alone {v.name}, but not among {claims} claims (Holm: p = {p:.3g})"
    if v.evidence is not None:
        reason += f"; {_advice(v.evidence, v.data.replicates, left, v.data, v.look)}"
    changed = f"{v.name} alone, not among {claims} claims"
    return replace(v, name=Outcome.INCONCLUSIVE, reason=reason, p_value=p, blames="", error=left, changed=changed)


def _check(fit, rate, kind, margin, level, resolution, look):
    check_fit(fit)
    check_rule(rate, kind, margin, level, resolution, look)


def check_rule(rate, kind, margin, level, resolution, look):
    if not isinstance(rate, Rate):
        raise ValueError(f"rate = {shown(rate)} must be a Rate, such as Rate.parse('T^0.5 (ln T)^1')")
    if kind not in ("upper", "lower"):
        raise ValueError(f"kind = {shown(kind)} must be 'upper' or 'lower'")
    if not (isinstance(margin, Real) and 0 <= margin < 1e100):
        raise ValueError(f"margin = {shown(margin)} must not be negative")
    if not (isinstance(resolution, Real) and resolution > 0):
        raise ValueError(f"resolution = {shown(resolution)} must be positive")
    if look is not None:
        whole("look", look, 1, 10**6)
    check_level(level)


def _further(data: LogMeans) -> str:
    """What makes a window longer: a further horizon or, where it ends in noise, more runs."""
    if data.noisy:
        return "more runs, which carry the window further into what is noise now,"
    return f"{data.words.end} = {longer(data)}"


def longer(data: LogMeans) -> str:
    """The end of a window twice as long in ln T."""
    far = 2 * math.log(data.horizons[-1]) - math.log(data.horizons[0])
    return _far(data, math.exp(min(far, 600.0)))


def _far(data: LogMeans, horizon) -> str:
    return f"{data.words.place(horizon):.2g}" if data.words.inverse else rounded_up(horizon)


def log_worth(horizons) -> float:
    """The slope that one factor ln T is worth over a window: what no fit over it can tell from an exponent."""
    x = np.log(np.asarray(horizons, dtype=float))
    centred = x - x.mean()
    return float(centred @ np.log(x) / (centred @ centred))
