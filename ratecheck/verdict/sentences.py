"""The words of verdicts: every reason is made here, from the data of `findings`."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING

from ..claims import FEWEST_RUNS, Case, Claim
from ..fit.log_means import OURS, AxisLabels, LogMeans, rounded_up
from .alternatives import Bend, Start
from .evidence import END, WHOLE
from .findings import Advice, Finding, Follows, Force, Overruled, Remarks, Remedy, Rule, Why

if TYPE_CHECKING:
    from ..fit.fit import Fit
    from ..lower_bound.hard_family import Rung
    from .agreement import Agreement
    from .rules import Verdict

NOT_JUDGED = "not judged"
AS_A_RATE, GUARDED = "REFUTED as a rate", "REFUTED but for a guard"
BELOW_THE_CURVE = "a mean below the certified curve would have been caught, whatever its slope"
STARTS = {
    Bend.LINEAR: "a linear start that bends into it at {place}",
    Bend.LEVEL: "a start without growth that bends into it at {place}",
    Bend.LATE_LOGARITHM: "a logarithm that starts at {place}",
    Bend.FADING: "a correction that fades like {power}",
}
NOT_BY_A_FAMILY = {  # why the mean over a hard family does not refute a bound on the worst cost
    "lower": "the mean lies above the certified curve, which grows as promised, so that so small a slope cannot last",
    "upper": "its worst cost need not be in this family",
}


def reason(v: Verdict) -> str:
    return v.problem + "".join(_clause(v, clause) for clause in v.clauses)


def _clause(v, clause) -> str:
    match clause:
        case Finding():
            return _found(v, clause) + (f" ({clause.caution})" if clause.caution else "")
        case Remarks():
            return f" ({'; '.join(clause.sentences)})"
        case Force():
            return f"; {force(v, clause)}"
        case Overruled(rule=Rule.GUARD):
            return f", but {clause.why}"
        case Overruled(rule=Rule.HOLM):
            advised = f"; {_advised(v, clause.advice)}" if clause.advice else ""
            among = f"not among {clause.claims} claims (Holm: p = {clause.p_value:.3g})"
            return f"; alone {clause.was}, but {among}{advised}"
    return ""  # the finding says already that the exponent alone is not refuted


def overruled(found: Overruled | None) -> str:
    """What a verdict was, in a few words; empty where no rule changed it."""
    if found is None:
        return ""
    if found.rule is Rule.HOLM:
        return f"{found.was} alone, not among {found.claims} claims"
    return GUARDED if found.rule is Rule.GUARD else AS_A_RATE


def _found(v, found: Finding) -> str:
    labels = v.labels
    side = "above" if (v.kind == "upper") != labels.inverse else "below"
    kept = f"no more than {v.margin:g} {side} it"
    more = f"{_further(v.data)} would show more"
    match found.why:
        case Why.KEPT:
            said = f": {kept}, over the whole window, its last half and at {labels.end}"
        case Why.EQUAL:
            said = f": equal within {v.margin:g}, over the whole window, its last half and at both ends"
        case Why.BEYOND:
            said = f": more than {v.margin:g} {side} it"
            if (rate := found.instead) is not None:
                pair = f"{labels.x}^{labels.slope(rate.slope):.4g} (ln {labels.x})^{rate.log_power:.4g}"
                pair = rate.shape() if labels == OURS else pair
                said += f", but {pair} explains slope and bend as well: the exponent alone is not refuted"
        case Why.TOO_LAX:
            enough = "no window of a reasonable length would do"
            if found.until is not None:
                enough = f"{labels.end} = {_far(v.data, found.until)} would do"
            said = f": {kept}, but a rate that is off by {v.tolerates:.2f} could be, too; {enough}"
        case Why.SCATTERED:
            said = f", but the points scatter about the line as much as that; {more}"
        case Why.STARTING:
            enough = _advised(v, found.advice) if found.advice else more
            said = f", but {start(labels, found.start)} explains slope and bend as well; {enough}"
        case Why.NOT_LATELY:
            said = f", but not over the last half of the window; {more}"
        case Why.RISING:
            said = f", but the excess is rising and may pass {v.margin:g}; {more}"
        case Why.BENT:
            said = f", but the line is bent ({_apart(v)}); {_further(v.data)} would tell more"
        case Why.UNDECIDED:
            said = f"; {_advised(v, found.advice)}"
    return _measured(v, found) + said


def _measured(v, found: Finding) -> str:
    """The slope against the promised one, as the table counts; in a step size it is an order."""
    e, labels = found.measured, v.labels
    if v.judges_log_power:
        return f"log power {e.value:.2f} [{e.low:.2f}, {e.high:.2f}] against {found.against:.2f}"
    low, high = sorted((labels.slope(e.low), labels.slope(e.high)))
    name = "order" if labels.inverse else "slope"
    return f"{name} {labels.slope(e.value):.3f} [{low:.3f}, {high:.3f}] against {labels.slope(found.against) + 0.0:.3f}"


def start(labels: AxisLabels, found: Start) -> str:
    if found.bend is Bend.FADING:
        return STARTS[found.bend].format(power=f"{labels.x}^{'' if labels.inverse else '-'}{found.at:g}")
    far = f"1e+{found.at / math.log(10):.0f}"  # no float holds it
    place = f"{labels.place(math.exp(found.at)):.2g}" if found.at < 700 else far
    return STARTS[found.bend].format(place=f"{labels.x} = {place}")


# What would settle a claim


def _advised(v, advice: Advice) -> str:
    match advice.remedy:
        case Remedy.RUNS:
            when = "" if advice.look is None else f", at look {advice.look}"
            runs = f"N = {advice.runs} runs" if advice.runs else f"standard errors {advice.shrink:.1f} times smaller"
            return f"{runs} would do{when}"
        case Remedy.LONGER:
            return f"{_further(v.data)} would tell more ({_apart(v)})"
        case Remedy.NO_RUNS_BUT_LONGER:
            longer = f"{_further(v.data)} would tell more"
            return f"more runs that go on like these would not tell ({_apart(v)}); {longer}"
        case Remedy.PERHAPS_RUNS:
            known = advice.chance is not None
            says = f"decide with a chance of {100 * advice.chance:.0f} %" if known else "do not suffice"
            return f"more runs may tell ({_apart(v)}; {advice.times} times as many {says})"


def _apart(v) -> str:
    labels, ends = v.labels, next((c.ends for c in v.clauses if isinstance(c, Finding)), None)
    if ends is not None:
        first, last = map(labels.slope, ends)
        return f"{first:.3f} at the first {'horizon' if labels == OURS else labels.x} and {last:.3f} at the last"
    value = v.evidence.value
    return f"excess {value[WHOLE]:+.3f} over the whole window, {value[END]:+.3f} at {labels.end}"


def _further(data: LogMeans) -> str:
    """What makes a window twice as long in ln T: a further horizon or, where it ends in noise, more runs."""
    if data.noisy:
        return "more runs, which carry the window further into what is noise now,"
    far = 2 * math.log(data.horizons[-1]) - math.log(data.horizons[0])
    return f"{data.words.end} = {_far(data, math.exp(min(far, 600.0)))}"


def _far(data: LogMeans, horizon) -> str:
    return f"{data.words.place(horizon):.2g}" if data.words.inverse else rounded_up(horizon)


# Force


def force(v: Verdict, found: Force) -> str:
    passed = f"{_grown(v, found.passes)} could have passed too"
    if found.passes < 0:
        passed = f"no {_grown(v, 0.0)} could have passed"
    if found.not_testable_by_slope:
        return f"{passed}, {BELOW_THE_CURVE}"
    if found.catches is None:
        return f"{passed}, nothing would have been caught"
    until = "" if found.until is None else f" to {_grown(v, found.until)}"
    return f"{passed}, {_grown(v, found.catches)}{until} would have been caught"


def _grown(v, by) -> str:
    by = by if v.kind == "upper" else -by
    if v.judges_log_power:
        return f"(ln {v.labels.x})^{v.promised.log_power + by + 0.0:.3g}"
    return v.labels.power(v.promised.slope + by)


# Why nothing is judged, or cannot be refuted


def before_the_onset(case: Case, needed: float | None) -> str:
    """A window before the onset of a rate, of which theory knows no more."""
    first, last = case.window
    ends = f"ends at {last:.3g}" if last < case.onset else f"starts at {first:.3g}"
    return f"theory expects the rate only from T = {case.onset:.3g} on, and the window {ends}{_horizon_needed(needed)}"


def not_yet_the_rate(case: Case, fit: Fit, *, predicted, margin, seen, needed) -> str:
    """A window in which the predicted slope is another; `seen` is the T at which it comes near the promise."""
    near = f"within {margin:g} of the promise (its logarithm included)"
    curve = case.curve
    comes = f"has not come {near} by T = {curve.horizons[-1]:.2g}, where its computation ends ({curve.limit})"
    if seen is not None:
        comes = f"comes {near} at T = {seen:.2g}"
    return (
        f"measured slope {fit.slope:.3f} [{fit.low:.3f}, {fit.high:.3f}], predicted {predicted:.3f} in this window, "
        f"promised {case.own.rate.slope:.3g}: the predicted one {comes}{_horizon_needed(needed)}"
    )


def _horizon_needed(horizon: float | None) -> str:
    """The horizon that would do; infinite where none can be run, None where the window has it."""
    if horizon is None:
        return ""
    return "; no T that can be run would do" if math.isinf(horizon) else f"; T_max = {rounded_up(horizon)} would do"


def too_few_runs(counts: dict[int, int]) -> str:
    """Horizons that have fewer runs than an interval needs."""
    none = [f"{h}" for h, n in counts.items() if n == 0]
    if none:
        return f"no run at T = {', '.join(none)} has finished"
    few = ", ".join(f"{n} at T = {h}" for h, n in counts.items())
    return f"too few runs have finished ({few}); at least {FEWEST_RUNS} are needed at each horizon"


def promises_nothing(claim: Claim) -> str:
    return f"{claim.theorem} promises nothing here: {'; '.join(map(str, claim.violated))}"


def beaten(worst: Rung, others: int) -> str:
    """What no strategy can do was done, at a horizon and at so many others."""
    more = f", and at {others} more horizons" if others else ""
    return (
        f"ENGINE ERROR: at T = {worst.horizon:,} the mean regret over {len(worst.regrets)} members of the hard family, "
        f"{worst.mean:.4g}, lies below the certified {worst.bound:.4g}{more}, which no strategy can (p = "
        f"{worst.p_value:.1g}): it was told the member, or noise or regret are not what they are said to be"
    )


# Runs against their predicted curve


def agreement(found: Agreement) -> str:
    """Why runs follow the predicted curve, or do not, or it is open."""
    (ratio, low, high), slope = found.ratio, found.slope
    said = (
        f"measured / predicted {ratio:.3f} [{low:.3f}, {high:.3f}], its slope {slope.value:+.4f} "
        f"[{slope.low:+.4f}, {slope.high:+.4f}]"
    )
    if found.why is Follows.OTHER_PARTITIONS:
        return f"{said}, but runs do not vary with their partitions as predicted: are they others?"
    if found.locked:
        share, least, most = (100 * part for part in found.lock_in)
        whose = "all" if found.data.replicates == found.replicates else "the others"
        k, n = found.locked_draws
        predicted = f", predicted {100 * k / n:.1f} %" if n else ""
        said = (
            f"{len(found.locked)} of {found.replicates} runs lock in ({share:.0f} % [{least:.0f}, {most:.0f}]"
            f"{predicted}); of {whose} {said}"
        )
    match found.why:
        case Follows.LOCKED_IN:
            return f"{said}; the prediction does not describe the mean of such runs"
        case Follows.OTHER_LEVEL:
            return f"{said}: its level differs by more than {100 * (found.margin + found.allowance):.2g} %"
        case Follows.OTHER_SLOPE:
            return f"{said}: its slope differs by more than {found.slope_margin + found.slope_allowance:.2g}"
        case Follows.WITHIN:
            return f"{said}: within {100 * found.margin:g} % and {found.slope_margin:g}"
        case Follows.LEFT_OPEN:
            return (
                f"{said}; the theory leaves {100 * found.allowance:.1f} % of the level and "
                f"{found.slope_allowance:.2g} of the slope open here (noise and spread within cells)"
            )
    return f"{said}; N = {found.needed:.0f} runs would do"
