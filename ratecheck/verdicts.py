"""Verdicts: what a fit says about a promised rate, and when it refuses to say anything.

For an upper bound the excess is the slope of R/g against ln T, g = T^slope (ln T)^log_power the promised shape; for a
lower bound its negative.  With one-sided limits and a margin fixed beforehand:

CONSISTENT    the upper limit of the excess stays below the margin, on the whole window and on its last half;
REFUTED       the lower limit exceeds the margin on the whole window, also when the error is taken from the points'
              scatter about the line, the excess over the last half does too, and no fall of the excess speaks
              against it;
INCONCLUSIVE  otherwise, with the number of runs or the horizon that would settle it.

The last half guards against log factors that hide a wrong exponent.  The last condition guards against starts that
reach far into the window: a significant fall within the last half holds a refutation back if it would reach the margin
in another window of the same length, continued both in a straight line and ever more slowly, like a geometric series;
so does a fall from the whole window to a last half whose own lower limit does not exceed the margin.
"""

from __future__ import annotations

import math
from dataclasses import dataclass, replace
from enum import StrEnum
from numbers import Real

import numpy as np
from scipy import special

from .checks import items, shown
from .fit import Estimate, Fit, check_fit, fit_rate
from .means import FitError, LogMeans, check_level, rounded_up
from .rates import Rate

MARGIN = 0.05  # of a slope
LOG_MARGIN = 0.5  # of a log power: at ln T = 10 a power of 1/2 is a slope of 0.05
LEVEL = 0.95
TREND = 0.01  # significance at which a falling excess holds back a refutation


class Name(StrEnum):
    CONSISTENT = "CONSISTENT"
    REFUTED = "REFUTED"
    INCONCLUSIVE = "INCONCLUSIVE"


@dataclass(frozen=True)
class Verdict:
    """A verdict on one claim: its name, one sentence of reason, and the numbers behind it.

    `excess` is measured minus promised, in the direction that hurts the claim; `p_value` belongs to the test that
    decided (1 where nothing was decided).
    """

    name: Name
    reason: str
    excess: Estimate | None = None
    margin: float = MARGIN
    p_value: float = 1.0

    def __str__(self):
        return f"{self.name}: {self.reason}"


def verdict(fit: Fit, rate: Rate, kind: str = "upper", margin: float = MARGIN, level: float = LEVEL) -> Verdict:
    """Judge the exponent of a promised rate, its log power divided out."""
    _check(fit, rate, kind, margin, level)
    at = fit.at(rate.log_power)
    if at.problem:
        return Verdict(Name.INCONCLUSIVE, at.problem, margin=margin)
    whole, half = at.whole.minus(rate.slope), at.last_half.minus(rate.slope)
    scattered = at.scattered().minus(rate.slope)
    trend, change, late = at.late_trend(), at.change(), at.late_slopes() - rate.slope
    if kind == "lower":
        whole, half, scattered, trend, change, late = *_mirrored(whole, half, scattered, trend, change), -late
    # a log-periodic remainder may fall late in a window over which the slope rises
    falling = _falls(trend) and not _falls(change.mirrored()) and _ahead(late) < margin
    if half.above(margin) >= 1 - level:
        # from whole window to last half the middle moves by a quarter, from there to the next window's by three
        falling |= _falls(change) and half.value + 3 * change.value < margin
    measured = f"slope {at.slope:.3f} [{at.low:.3f}, {at.high:.3f}] against {rate.slope:.3f}"
    return _decide(whole, half, scattered, falling, margin, level, measured, kind, at)


def log_power_verdict(
    fit: Fit, rate: Rate, kind: str = "upper", margin: float = LOG_MARGIN, level: float = LEVEL
) -> Verdict:
    """Judge the log power of a promised rate, its exponent taken for granted.

    The fitted power must also explain the data: where the slope left over is still falling, no power is refuted unless
    the last half and a continuation of the fall both allow it.
    """
    _check(fit, rate, kind, margin, level)
    if fit.problem:
        return Verdict(Name.INCONCLUSIVE, fit.problem, margin=margin)
    power = fit.log_power_at(rate.slope)
    excess, half = power.minus(rate.log_power), fit.late_log_power_at(rate.slope).minus(rate.log_power)
    explained, late = fit.at(power.value), fit.late_log_powers_at(rate.slope) - rate.log_power
    trend, change = explained.late_trend(), explained.change()
    scattered = fit.scattered(rate.slope).minus(rate.log_power)
    if kind == "lower":
        excess, half, scattered, trend, change, late = *_mirrored(excess, half, scattered, trend, change), -late
    settled = half.above(margin) < 1 - level and _ahead(late) >= margin
    falling = (_falls(trend) or _falls(change)) and not settled
    measured = f"log power {power.value:.2f} [{power.low:.2f}, {power.high:.2f}] against {rate.log_power:.2f}"
    return _decide(excess, half, scattered, falling, margin, level, measured, kind, fit)


def tight(fit: Fit, rate: Rate, margin: float = MARGIN, level: float = LEVEL) -> Verdict:
    """Judge the claim that a rate is attained, neither better nor worse: two one-sided tests on both windows.

    It is refuted where either one-sided claim is.
    """
    _check(fit, rate, "upper", margin, level)
    at = fit.at(rate.log_power)
    if at.problem:
        return Verdict(Name.INCONCLUSIVE, at.problem, margin=margin)
    whole, half = at.whole.minus(rate.slope), at.last_half.minus(rate.slope)
    measured = f"slope {at.slope:.3f} [{at.low:.3f}, {at.high:.3f}] against {rate.slope:.3f}"
    inside = max(max(1 - e.above(margin), 1 - e.mirrored().above(margin)) for e in (whole, half))
    caution = f" ({at.caution})" if at.caution else ""
    if inside < 1 - level:
        return Verdict(Name.CONSISTENT, f"{measured}: equal within {margin:g}{caution}", whole, margin, inside)
    for kind in ("upper", "lower"):
        one_sided = verdict(fit, rate, kind, margin, level)
        if one_sided.name == Name.REFUTED:
            return one_sided
    remedy = _remedy(
        replace(whole, value=abs(whole.value)), replace(half, value=abs(half.value)), margin, level, at.data
    )
    return Verdict(Name.INCONCLUSIVE, f"{measured}; {remedy}{caution}", whole, margin)


@dataclass(frozen=True)
class Assessment:
    """A printed rate, judged in its parts: the exponent may hold where the printed log power does not.

    `exponent` is judged at the corrected log power, or at the printed one where theory corrects nothing;
    `corrected_log_power` is None there.
    """

    exponent: Verdict
    log_power: Verdict
    corrected_log_power: Verdict | None = None

    @property
    def name(self) -> Name:
        """The verdict on the rate as printed."""
        names = {self.exponent.name, self.log_power.name}
        if Name.REFUTED in names:
            return Name.REFUTED
        return Name.CONSISTENT if names == {Name.CONSISTENT} else Name.INCONCLUSIVE

    def __str__(self):
        parts = {"exponent": self.exponent, "printed log power": self.log_power}
        if self.corrected_log_power is not None:
            parts["corrected log power"] = self.corrected_log_power
        names = ", ".join(f"{part} {v.name}" for part, v in parts.items())
        return f"{names}: " + "; ".join(f"{part}: {v.reason}" for part, v in parts.items())


def assess(
    fit: Fit,
    printed: Rate,
    corrected: Rate | None = None,
    kind: str = "upper",
    margin: float = MARGIN,
    log_margin: float = LOG_MARGIN,
    level: float = LEVEL,
) -> Assessment:
    """Judge exponent and log power of a printed rate apart, beside the log power that theory puts in its place."""
    _check(fit, printed, kind, margin, level)
    if not (corrected is None or isinstance(corrected, Rate)):
        raise ValueError(f"corrected = {shown(corrected)} must be a Rate, or None")
    if corrected is None or corrected == printed:
        exponent = verdict(fit, printed, kind, margin, level)
        return Assessment(exponent, log_power_verdict(fit, printed, kind, log_margin, level))
    if not math.isclose(corrected.exponent, printed.exponent):
        raise ValueError(f"a correction must keep the exponent, but {printed} and {corrected} differ in it")
    return Assessment(
        verdict(fit, corrected, kind, margin, level),
        log_power_verdict(fit, printed, kind, log_margin, level),
        log_power_verdict(fit, corrected, kind, log_margin, level),
    )


def judge(runs, rate: Rate, kind: str = "upper", margin: float = MARGIN, **options) -> Verdict:
    """Fit and judge a table of runs; a table that allows no fit is INCONCLUSIVE, with the reason."""
    _check_rule(rate, kind, margin, options.get("level", LEVEL))
    try:
        fit = fit_rate(runs, rate.log_power, **options)
    except FitError as error:
        return Verdict(Name.INCONCLUSIVE, str(error), margin=margin)
    return verdict(fit, rate, kind, margin)


def holm(verdicts, level: float = LEVEL) -> list[Verdict]:
    """Adjust for many claims: decisions whose p-values do not survive Holm's step-down become INCONCLUSIVE."""
    verdicts = list(items("verdicts", verdicts, "verdicts"))
    for v in verdicts:
        if not isinstance(v, Verdict):
            raise ValueError(f"{shown(v)} is no verdict; take what verdict, tight or judge gives")
    check_level(level)
    decided = sorted((v.p_value, i) for i, v in enumerate(verdicts) if v.name != Name.INCONCLUSIVE)
    adjusted = 0.0
    for rank, (p, i) in enumerate(decided):
        adjusted = max(adjusted, min(1.0, (len(verdicts) - rank) * p))
        if adjusted >= 1 - level:
            v = verdicts[i]
            reason = f"{v.reason}; alone {v.name}, but not among {len(verdicts)} claims (Holm: p = {adjusted:.3g})"
            if v.excess is not None:
                reason += f"; N = {_enough(v, (1 - level) / (len(verdicts) - rank))} runs would do"
            verdicts[i] = replace(v, name=Name.INCONCLUSIVE, reason=reason, p_value=adjusted)
        else:
            verdicts[i] = replace(verdicts[i], p_value=adjusted)
    return verdicts


def _enough(v, threshold):
    """How many runs bring the p-value of a decision below a threshold, with a power of 90 %."""
    df = v.excess.df
    seen, wanted = (float(special.stdtrit(df, 1 - p)) for p in (v.p_value, threshold))
    return math.ceil((df + 1) * ((wanted + float(special.stdtrit(df, 0.9))) / seen) ** 2)


def _check(fit, rate, kind, margin, level):
    check_fit(fit)
    _check_rule(rate, kind, margin, level)


def _check_rule(rate, kind, margin, level):
    if not isinstance(rate, Rate):
        raise ValueError(f"rate = {shown(rate)} must be a Rate(exponent, log_power)")
    if kind not in ("upper", "lower"):
        raise ValueError(f"kind = {shown(kind)} must be 'upper' or 'lower'")
    if not (isinstance(margin, Real) and 0 <= margin < 1e100):
        raise ValueError(f"margin = {shown(margin)} must not be negative")
    check_level(level)


def _mirrored(*estimates):
    return [None if e is None else e.mirrored() for e in estimates]


def _falls(trend: Estimate | None) -> bool:
    return trend is not None and trend.mirrored().above(0.0) < TREND


def _ahead(late) -> float:
    """The excess that the next window of the same length may be expected to show, from three late pieces of this one.

    The larger of two continuations: a straight line to the middle of that window, 11/4 pieces ahead; and the limit of
    a geometric series (Aitken), where the fall slows down at all.
    """
    first, second, last = map(float, late)
    before, now = first - second, second - last
    if now <= 0:
        return last
    geometric = last - now**2 / (before - now) if before > now else -math.inf
    return max(geometric, last - 11 / 4 * now)


def _decide(whole, half, scattered, falling, margin, level, measured, kind, fit):
    side = "above" if kind == "upper" else "below"
    below = max(1 - whole.above(margin), 1 - half.above(margin))  # p-value of "the excess is the margin or more"
    beyond = max(whole.above(margin), scattered.above(margin))
    name, p_value = Name.INCONCLUSIVE, 1.0
    if below < 1 - level:
        name, p_value = Name.CONSISTENT, below
        reason = f"{measured}: no more than {margin:g} {side} it, over the whole window and its last half"
    elif beyond < 1 - level and half.value > margin and not falling:
        name, p_value = Name.REFUTED, beyond
        reason = f"{measured}: more than {margin:g} {side} it"
    elif whole.above(margin) < 1 - level and half.value > margin:
        why = "the excess is still falling with T" if falling else "the points scatter about the line as much as that"
        reason = f"{measured}, but {why}; T_max = {longer(fit.data)} would show more"
    else:
        reason = f"{measured}; {_remedy(whole, half, margin, level, fit.data)}"
    caution = f" ({fit.caution})" if fit.caution else ""
    return Verdict(name, reason + caution, whole, margin, p_value)


def longer(data: LogMeans) -> str:
    """The end of a window twice as long in ln T."""
    return rounded_up(float(data.horizons[-1] ** 2 / data.horizons[0]))


def _remedy(whole, half, margin, level, data):
    """Which N or T_max would settle it: standard errors shrink with the root of N.

    N aims at a power of 90 %.  Where whole window and last half lie on different sides of the margin, more runs will
    tell them apart but not reconcile them; that takes longer runs.
    """
    n = data.replicates
    worst = max(whole, half, key=lambda e: e.upper_limit(level))
    apart = (whole.value - margin) * (half.value - margin) < 0 and abs(whole.value - half.value) > 2 * half.se
    room = abs(worst.value - margin)
    if not apart and worst.se > 0 and room > 0:
        needed = n * ((special.stdtrit(worst.df, level) + special.stdtrit(worst.df, 0.9)) * worst.se / room) ** 2
        if needed <= 1000 * n:
            more = max(math.ceil(needed), n + 1)
            return f"the one-sided limit is {worst.upper_limit(level):+.3f}, N = {more} runs would do"
    why = "whole window and last half disagree" if apart else "more runs will not tell"
    return f"{why} (excess {whole.value:+.3f} and {half.value:+.3f}), T_max = {longer(data)} would tell more"


def resolution(horizons) -> float:
    """The slope that one factor ln T is worth over a window: what no fit over it can tell from an exponent."""
    x = np.log(np.asarray(horizons, dtype=float))
    centred = x - x.mean()
    return float(centred @ np.log(x) / (centred @ centred))
