"""What a curve without noise says about a promised rate: where it becomes visible, and what it tends to far out.

R is expected to be T^s, times logarithms that grow at most like the promised power of ln T + shift, times waves.  So
logarithms add p / (ln T + shift) to the slope, with p between 0 and the promise, and how fast the slope falls bounds
p: see `_most_due`.  It falls by at least its trend over the rate at which the trend declines, like all sums of
functions that die away.  Where it rises, or falls faster than the promise allows, its limit is looked for as far off as
it would get if it went on like 1/ln T.  With a margin fixed beforehand, for an upper bound (mirrored for a lower one):

CONSISTENT    the promise lies in the interval of the limit or above it, and no end exceeds it by more than the margin;
REFUTED       the whole interval exceeds it by more than the margin, and the curve has left its linear start;
INCONCLUSIVE  otherwise, also where the interval is wider than two margins and than its distance from the promise.
"""

from __future__ import annotations

import math
from dataclasses import dataclass

import numpy as np

from ..claims import MARGIN, Claim, Curve, Outcome
from ..rates import Rate
from .late import LEAST_HORIZONS, PERIOD, Late, log_period

QUARTERS = 4  # horizons of a period, so that a wave and its first harmonics are seen at all phases
BEYOND = 1e4  # times the last horizon of some runs: so far their predicted curve is followed and shown
LEAST_PERIODS = 3  # of a curve
WINDOWS = {1 / 2: 2.0, 1 / 3: 1.0, 1 / 4: 1.0}  # the last shares of ln T, in which late bends show; standard errors
LOG_MARGIN = 0.25  # of a log power
SETTLED = 0.02  # half the width of an interval that settles a limit
EXACT = 0.005  # no limit of slopes is known better
EXACT_POWER = 0.05  # and no log power
VAGUE = 0.25  # the width of an interval that says nothing


@dataclass(frozen=True)
class Limit:
    """A number, and an interval for it."""

    value: float
    low: float
    high: float


@dataclass(frozen=True)
class Power(Limit):
    """A log power over the last half; `trend`: by how much it exceeds this over the last quarter."""

    trend: float


@dataclass(frozen=True)
class Judgement:
    """A verdict and its reason; `attained` says of a log power whether the curve needs it, None if that is open."""

    name: Outcome
    reason: str
    attained: bool | None = None

    def __str__(self):
        return f"{self.name}: {self.reason}"


@dataclass(frozen=True)
class Far:
    """What a curve says about a claim.

    All slopes are exponents of R.  See `far`.

    Attributes
    ----------
    last : float
        The last horizon.
    slope : float or None
        Over the last whole period.
    exponent : Limit or None
        What the slopes tend to; None for a curve that is too short.
    power, shifted : Power or None
        The power of ln T, and of ln T + shift, by which the curve exceeds T^s with the promised exponent s.
    visible : float or None
        The T from which on the slope is as promised; None if it never is.
    on_exponent, on_printed, on_corrected : Judgement
        Of the exponent and of each log power.
    reason : str
        Why the limit is not settled, in a sentence; empty if it is.
    """

    last: float
    slope: float | None
    visible: float | None
    on_exponent: Judgement
    on_printed: Judgement
    on_corrected: Judgement | None
    reason: str
    exponent: Limit | None = None
    power: Power | None = None
    shifted: Power | None = None

    @property
    def settled(self) -> bool:
        """Whether the limit is known to within 0.02, or lies below what an upper bound promises."""
        return not self.reason


def slopes(curve: Curve, period: float | None) -> tuple[np.ndarray, np.ndarray]:
    """The geometric middle of each whole period that starts at a horizon, and the slope of ln R over it."""
    starts, ends, rises = _stretches(curve, log_period(period))
    return np.exp((starts + ends) / 2), rises / (ends - starts)


def _stretches(curve, step, periods=1):
    """In ln T: where stretches of this length, so many periods, start and end, and by how much ln R rises over them.

    They are longer, by whole periods, where the horizons of a curve lie that far apart.
    """
    L, y = np.log(curve.horizons), np.log(curve.regret)
    quarters = (L - L[0]) / (step / periods) * QUARTERS
    if np.allclose(quarters, np.round(quarters), atol=1e-6):
        apart = np.round(quarters[None, :] - quarters[:, None])
        fits = (apart >= QUARTERS * periods) & (apart % QUARTERS == 0)
        i = np.flatnonzero(fits.any(axis=1))
        j = fits[i].argmax(axis=1)
        return L[i], L[j], y[j] - y[i]
    starts = L[L + step <= L[-1] + 1e-9]
    ends = starts + step
    return starts, ends, curve.log_regret(ends) - curve.log_regret(starts)


def window_slope(curve: Curve, first: float, last: float, log_power: float = 0.0) -> float:
    """The least-squares slope of ln R - log_power ln ln T against ln T between two horizons."""
    L = np.linspace(math.log(first), math.log(last), 129)
    return float(np.polyfit(L, curve.log_regret(L) - log_power * np.log(L), 1)[0])


def visible(
    curve: Curve, rate: Rate, *, period: float | None, margin: float = MARGIN, kind: str = "upper"
) -> float | None:
    """The T from which on, to the end of the curve, the slope of R/g over the next stretch stays below the margin.

    g is the promised shape.  A stretch is made of whole periods and at least a factor of 16: over a shorter one the
    waves that a mean over few partitions leaves are worth a margin now and then.  For a lower bound the slope stays
    above the negative margin.  None if it does not at the end.
    """
    step = log_period(period)
    periods = math.ceil(math.log(PERIOD) / step - 1e-9)
    starts, ends, rises = _stretches(curve, step * periods, periods)
    promised = rate.slope * (ends - starts) + rate.log_power * np.log(ends / starts)
    _, excess = _hurting(*2 * [(rises - promised) / (ends - starts)], kind)
    beyond = np.flatnonzero(excess > margin)
    at = beyond[-1] + 1 if len(beyond) else 0
    return math.exp(starts[at]) if at < len(starts) else None


def far(
    curve: Curve,
    claim: Claim,
    *,
    period: float | None,
    shift: float | None = None,
    onset: float = math.inf,
    margin: float = MARGIN,
    log_margin: float = LOG_MARGIN,
) -> Far:
    """Say what a curve tends to and what that means for a claim.

    All that is said is about the curve, and deterministic but for its sampling errors, which the intervals hold.  It
    leaves out what a predicted curve leaves out: the noise in the level, runs that lock in, and that ln t is taken for
    ln T.  That runs follow the curve is a measurement of its own: see `agreement`.  No finite curve excludes that its
    slope bends beyond its end.

    Parameters
    ----------
    curve : Curve
        From `predicted_curve`.
    claim : Claim
        The promise.  The larger of its log powers bounds the logarithms that R is expected to have.
    period : float or None
        The factor in T after which theory expects the regret to repeat itself.
    shift : float, optional
        What stands beside ln T in the algorithm's bounds.
    onset : float
        The T from which on theory expects the rate.  A slope still closer to 1 than to the promise refutes and settles
        nothing, unless the last half of the curve lies beyond the square of the onset.
    margin, log_margin : float
        By so much an exponent or a log power may exceed the promise.

    Returns
    -------
    Far

    Examples
    --------
    >>> import function_zoo as zoo, ratecheck as rc
    >>> cost = zoo.get("cone", dim=1)
    >>> algorithm = rc.AdaptiveBins().settle(cost)
    >>> curve = rc.predicted_curve(algorithm, cost, first=2**10, error=0.05)
    >>> found = rc.far(curve, algorithm.claims(cost)[0], period=algorithm.period(cost), shift=algorithm.shift(cost))
    >>> found.settled, abs(found.exponent.value - 0.5) < 0.02
    (True, True)
    """
    _, local = slopes(curve, period)
    known = {
        "last": curve.horizons[-1],
        "slope": float(local[-1]) if len(local) else None,
        "visible": visible(curve, claim.rate, period=period, margin=margin, kind=claim.kind),
    }
    short = _too_short(curve, period)
    if short:
        open_ = Judgement(Outcome.INCONCLUSIVE, short)
        return Far(**known, on_exponent=open_, on_printed=open_, on_corrected=claim.corrected and open_, reason=short)
    late = Late.of(curve, period, shift or 0.0)
    early = local[-1] > (1 + claim.rate.slope) / 2 and (late.L[0] + late.L[-1]) / 2 < 2 * math.log(onset)
    return Far(**known, **_found(late, claim, shift=shift, early=early, margin=margin, log_margin=log_margin))


def _found(late, claim, *, shift, early, margin, log_margin):
    """What a curve that is long enough says, by name."""
    early = early and claim.kind == "upper"
    most = max(0.0, *(rate.log_power for rate in (claim.printed, claim.corrected) if rate))
    limit, moves = _limit(late, most, shift or 0.0)
    power, shifted = (None if c is None else _power(late, claim.rate.slope, c) for c in (0.0, shift))
    on_exponent = _on_exponent(limit, claim, margin, early)
    how = {"claim": claim, "margin": log_margin, "on_exponent": on_exponent}
    powers = [p for p in (power, shifted) if p]
    return {
        "exponent": limit,
        "power": power,
        "shifted": shifted,
        "on_exponent": on_exponent,
        "on_printed": _on_power(powers, claim.printed, **how),
        "on_corrected": claim.corrected and _on_power(powers, claim.corrected, **how),
        "reason": _why_open(limit, claim, early, moves),
    }


def _too_short(curve, period):
    L = np.log(curve.horizons)
    periods = (L[-1] - L[0]) / log_period(period)
    if periods >= LEAST_PERIODS - 1e-9 and np.sum((L[0] + L[-1]) / 2 <= L) >= LEAST_HORIZONS:
        return None
    return (
        f"the curve spans {periods:.1f} periods with {len(curve.horizons)} horizons, too few for a limit, "
        f"and ended since it takes {curve.limit}"
    )


# The limit of slopes


def _limit(late, most, shift):
    """The limit of the slopes, and by how much they may still move, by reason.

    The slope is that over the shortest window, less what the logarithm is worth in it.  Trends in the windows are
    written as powers of ln T + shift that would make them.
    """
    shortest, half = min(WINDOWS), max(WINDOWS)
    beside = min(shift, late.L[-1])  # no trend is continued further than a doubling of ln T
    end = late.L[-1] + beside
    fits = [late.fit(share, late.L, np.log(late.L + beside)) for share in WINDOWS]
    trends = np.array([fit.found[1] for fit in fits])
    errors = np.array([fit.errors[1] for fit in fits]) * list(WINDOWS.values())
    worth, continued = (late.slope_of(shortest, np.log(late.L + c)) for c in (shift, beside))
    low, high = float(min(trends - errors)), float(max(trends + errors))
    due = (_most_due(min(high, most), most) if shift <= late.L[-1] else most) * worth  # to the logarithm
    rise = -min(0.0, low) * continued
    apart = late.middle(shortest) - late.middle(half)
    if 0 < low <= most + EXACT_POWER and apart:
        rise = -low * continued / (2 + end * math.log((trends[0] + errors[0]) / low) / apart)
    whole = late.fit(shortest, late.L)
    slope, error = float(whole.found[0]), 2 * float(whole.errors[0])
    low_end, high_end = slope - max(high * continued, due) - error, slope + rise + error
    power = float(late.fit(half, late.L, np.log(late.L + shift)).found[1])
    value = float(min(max(slope - worth * min(max(0.0, power), most), low_end), high_end))
    moves = {
        "the slope still falls faster than the promised logarithm does": max(trends - errors) * continued - due,
        "the slope still rises": -min(trends + errors) * continued,
        "the logarithm may be worth so much of the slope": due,
        "the errors of the curve, or waves, hide how the slope moves": 2 * max(errors) * continued + 2 * error,
    }
    return Limit(value, float(min(low_end, value - EXACT)), float(max(high_end, value + EXACT))), moves


def _most_due(trend, most):
    """The largest p such that logarithms may add p / (ln T + c) to a slope that falls by trend / (ln T + c)^2.

    For powers of ln T + c', c' at least c, that add up to at most `most`, p^2 <= most trend, by Cauchy and Schwarz.
    For a constant and a power of ln T + c, p (1 - most + p) = trend, which leaves more room where most exceeds 1.
    """
    if most <= 1:
        return math.sqrt(max(0.0, most * trend))
    return (most - 1 + math.sqrt(max(0.0, (most - 1) ** 2 + 4 * trend))) / 2


def _why_open(limit, claim, early, moves):
    """Why a limit is not settled, in a sentence; empty if it is."""
    promised = claim.rate.slope
    if early:
        return f"the slope is closer to 1 than to the promised {promised:.3f}: the curve may be in its linear start"
    settled = (limit.high - limit.low) / 2 <= SETTLED
    if settled or _hurting(limit.low - promised, limit.high - promised, claim.kind)[1] < 0:
        return ""
    why = max(moves, key=moves.get)
    return f"the limit is only known to lie between {limit.low:.3f} and {limit.high:.3f}, since {why}"


# The power of the logarithm


def _power(late, slope, shift):
    """The power of ln T + shift by which R exceeds T^slope, over the last half of the range.

    Its limits cover that over the last quarter, and what both tend to if they go on like 1/ln T.
    """
    z, y = np.log(late.L + shift), late.y - slope * late.L
    fits = [late.fit(share, z, y=y) for share in (1 / 2, 1 / 4)]
    found = half, quarter = [float(f.found[0]) for f in fits]
    at_half, at_quarter = (late.middle(share) for share in (1 / 2, 1 / 4))
    if at_half < at_quarter:
        found.append((quarter * at_quarter - half * at_half) / (at_quarter - at_half))
    error = 2 * max(float(f.errors[0]) for f in fits)
    low, high = min(half - EXACT_POWER, min(found) - error), max(half + EXACT_POWER, max(found) + error)
    return Power(half, low, high, trend=quarter - half)


# Verdicts


def _on_exponent(limit, claim, margin, early):
    promised = claim.rate.slope
    found = f"the slope tends to {limit.value:.3f} [{limit.low:.3f}, {limit.high:.3f}], promised is {promised:.3f}"
    low, high = _hurting(limit.low - promised, limit.high - promised, claim.kind)
    if (high > margin and low <= 0) or high - low > max(2 * margin, -high, low):
        return Judgement(Outcome.INCONCLUSIVE, f"the limit is too uncertain: {found}")
    if low <= 0:
        return Judgement(Outcome.CONSISTENT, found)
    if low <= margin:
        return Judgement(Outcome.INCONCLUSIVE, f"the excess is within the margin {margin:g}: {found}")
    if early:
        return Judgement(Outcome.INCONCLUSIVE, f"the curve may still be in its linear start: {found}")
    return _refuted(claim, found)


def _hurting(low, high, kind):
    """An interval in the direction that hurts the claim."""
    return (-high, -low) if kind == "lower" else (low, high)


def _refuted(claim, found):
    if claim.per_cost:
        return Judgement(Outcome.REFUTED, found)
    return Judgement(Outcome.INCONCLUSIVE, f"{found}, but {claim.theorem} speaks of the worst cost near this one")


def _on_power(powers, rate, *, claim, margin, on_exponent):
    """Judge a log power at the promised exponent; what stands beside ln T may not change the answer."""
    least, most = min(p.low for p in powers), max(p.high for p in powers)
    values = " and in ln T + shift ".join(f"{p.value:.2f} [{p.low:.2f}, {p.high:.2f}]" for p in powers)
    found = f"the log power in ln T is {values}, promised is {rate.log_power:.2f}"
    if on_exponent.name is not Outcome.CONSISTENT:
        return Judgement(
            Outcome.INCONCLUSIVE, f"the exponent is {on_exponent.name.lower()}, and no power of ln T decides"
        )
    low, high = _hurting(least - rate.log_power, most - rate.log_power, claim.kind)
    if low > margin:
        return _refuted(claim, found)
    if high > margin or low > 0:
        return Judgement(Outcome.INCONCLUSIVE, found)
    if high < 0:
        needed = f"at most (ln T)^{most:.2f}" if claim.kind == "upper" else f"at least (ln T)^{least:.2f}"
        return Judgement(Outcome.CONSISTENT, f"not attained, the curve needs {needed}: {found}", attained=False)
    if low > -2 * margin:
        return Judgement(Outcome.CONSISTENT, f"attained: {found}", attained=True)
    return Judgement(Outcome.CONSISTENT, found)
