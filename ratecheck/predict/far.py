"""What a curve without noise says about a promised rate: where it becomes visible, and what it tends to far out.

The slope of ln R against ln T is taken over whole periods, so that waves in ln T of that period do not show.  It still
moves at any finite T, so its limit is estimated in several ways, each exact for another kind of approach, and nothing
is decided where they disagree.  With a margin fixed beforehand, for an upper bound (mirrored for a lower one):

CONSISTENT    the promise lies among the estimates or above them, and none exceeds it by more than the margin;
REFUTED       all estimates exceed it by more than the margin, and the curve has left its linear start;
INCONCLUSIVE  otherwise, also where the estimates spread over more than two margins and over more than their distance
              from the promise.
"""

from __future__ import annotations

import math
from dataclasses import dataclass

import numpy as np

from ..claims import MARGIN, Claim, Curve, Outcome
from ..rates import Rate

QUARTERS = 4  # horizons of a period, so that a wave and its first harmonics are seen at all phases
PERIOD = 16.0  # the factor in T over which slopes are taken where theory expects no period
BEYOND = 1e4  # times the last horizon of some runs: so far their predicted curve is followed and shown
LEAST_PERIODS = 3  # of a curve, so that the last half of its slopes spans one
LEAST_SLOPES = 6  # in the last half, two in each third of it
LOG_MARGIN = 0.25  # of a log power
EXACT = 0.005  # no limit of slopes is known better
EXACT_POWER = 0.05  # and no log power
VAGUE = 0.25  # a limit whose estimates differ by more is none
MOVES = 0.005  # slopes that change by less over the last half leave nothing to extrapolate


@dataclass(frozen=True)
class Limit:
    """A number, and limits that cover all the ways in which it was estimated."""

    value: float
    low: float
    high: float

    @classmethod
    def of(cls, value, others, scatter, least, **rest):
        """From the value, other estimates, the scatter about them, and the least error."""
        low, high = min(others) - scatter, max(others) + scatter
        return cls(value, float(min(low, value - least)), float(max(high, value + least)), **rest)


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

    `slope`: over the last whole period; `exponent`: the limit of the slopes; `power`: of ln T at the theorem's slope;
    `shifted`: the same of ln T + shift; `visible`: the T from which on the slope is as promised, None if it never is.

    All slopes are exponents of R.  See `far`.
    """

    last: float
    slope: float | None
    exponent: Limit | None
    power: Power | None
    shifted: Power | None
    visible: float | None
    on_exponent: Judgement
    on_printed: Judgement
    on_corrected: Judgement | None


def slopes(curve: Curve, period: float | None) -> tuple[np.ndarray, np.ndarray]:
    """The geometric middle of each whole period that starts at a horizon, and the slope of ln R over it."""
    starts, ends, rises = _stretches(curve, _log_period(period))
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


def _log_period(period):
    return math.log(PERIOD if period is None or math.isnan(period) else period)


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
    step = _log_period(period)
    periods = math.ceil(math.log(PERIOD) / step - 1e-9)
    starts, ends, rises = _stretches(curve, step * periods, periods)
    excess = _sign(kind) * (rises - _log_shape(rate, ends) + _log_shape(rate, starts)) / (ends - starts)
    beyond = np.flatnonzero(excess > margin)
    at = beyond[-1] + 1 if len(beyond) else 0
    return math.exp(starts[at]) if at < len(starts) else None


def _sign(kind):
    return -1.0 if kind == "lower" else 1.0


def _log_shape(rate, L):
    return rate.slope * L + rate.log_power * np.log(L)


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
    """What a curve says about a claim.

    `shift` stands beside ln T in the algorithm's bounds; `onset` is the T from which on theory expects the rate to
    show.  A curve whose slope is still closer to 1 than to the promise refutes nothing, unless its last half lies
    beyond the square of the onset.

    For example

        algorithm = rc.AdaptiveBins().settle(cost)
        curve = rc.predicted_curve(algorithm, cost, first=2**10, error=0.05)
        rc.far(curve, algorithm.claims(cost)[0], period=algorithm.period(cost), shift=algorithm.shift(cost)).exponent
    """
    middles, local = slopes(curve, period)
    L = np.log(middles)
    seen = visible(curve, claim.rate, period=period, margin=margin, kind=claim.kind)
    short = _too_short(curve, L, period)
    if short:
        open_ = Judgement(Outcome.INCONCLUSIVE, short)
        slope = float(local[-1]) if len(local) else None
        corrected = open_ if claim.corrected else None
        return Far(curve.horizons[-1], slope, None, None, None, seen, open_, open_, corrected)
    limit = _limit(L, local, rate=claim.rate, shift=shift, step=_log_period(period))
    power = _power(curve, claim.rate.slope, period, 0.0)
    shifted = None if shift is None else _power(curve, claim.rate.slope, period, shift)
    early = local[-1] > (1 + claim.rate.slope) / 2 and _half(L) < 2 * math.log(onset)
    on_exponent = _on_exponent(limit, claim, margin, early)
    powers = [p for p in (power, shifted) if p]
    return Far(
        last=curve.horizons[-1],
        slope=float(local[-1]),
        exponent=limit,
        power=power,
        shifted=shifted,
        visible=seen,
        on_exponent=on_exponent,
        on_printed=_on_power(powers, claim.printed, claim=claim, margin=log_margin, on_exponent=on_exponent),
        on_corrected=claim.corrected
        and _on_power(powers, claim.corrected, claim=claim, margin=log_margin, on_exponent=on_exponent),
    )


def _too_short(curve, L, period):
    periods = math.log(curve.horizons[-1] / curve.horizons[0]) / _log_period(period)
    if periods >= LEAST_PERIODS - 1e-9 and np.sum(_last(L, 1 / 2)) >= LEAST_SLOPES:
        return None
    return (
        f"the curve spans {periods:.1f} periods with {len(curve.horizons)} horizons, too few for a limit, "
        f"and ended since it takes {curve.limit}"
    )


def _half(L):
    return (L[0] + L[-1]) / 2


def _last(L, share):
    """The last share of a range, 1e-9 for roundings."""
    first = L[-1] - share * (L[-1] - L[0])
    return first <= L + 1e-9


# The limit of slopes


def _limit(L, local, *, rate, shift, step):
    """The limit of slopes; it covers all estimates, and what the scatter about a line in 1/ln T does to a mean."""
    found, scatter = [_with_the_promised_logarithm(L, local, rate)], 0.0
    for share in (1 / 2, 1 / 3):
        part = _last(L, share)
        for c in {0.0, min(shift or 0.0, L[-1])}:  # no trend is continued further than a doubling of ln T
            line = _line(1 / (L[part] + c), local[part])
            found.append(line.at(0.0))
            scatter = max(scatter, line.scatter / _periods_in(L[part], step))
    found += _from_three_points(L, local)
    return Limit.of(float(np.median(found)), found, 2 * scatter, EXACT)


def _periods_in(L, step):
    """By so much the scatter of slopes shrinks in their mean: what ln R is off by at one end of a slope, it is off by
    at the other end of the slope before."""
    return max(1.0, (L[-1] - L[0]) / step)


def _with_the_promised_logarithm(L, local, rate):
    """The mean slope over the last sixth, less what the promised logarithm adds to it."""
    part = _last(L, 1 / 6)
    return float(np.mean(local[part] - rate.log_power / L[part]))


@dataclass(frozen=True)
class _Line:
    """A straight line, and the scatter about it."""

    slope: float
    start: float
    scatter: float

    def at(self, x):
        return self.start + self.slope * x


def _line(x, y):
    slope, start = np.polyfit(x, y, 1)
    return _Line(float(slope), float(start), float(np.std(y - start - slope * x)))


def _from_three_points(L, local):
    """From the mean slopes of each third of the last half, if they still move: the limits of s + p/(ln T + c), c free,
    and of s + p q^(ln T); or, if they do not slow down, where a straight line is when ln T has doubled."""
    parts = np.array_split(np.flatnonzero(_last(L, 1 / 2)), 3)
    x1, x2, x3 = (float(L[part].mean()) for part in parts)
    y1, y2, y3 = (float(local[part].mean()) for part in parts)
    early, late = y2 - y1, y3 - y2
    if abs(y3 - y1) < MOVES:
        return []
    if early * late <= 0 or (ratio := early / late) * (x3 - x2) / (x2 - x1) <= 1:
        return [y3 + late / (x3 - x2) * x3]
    r = ratio * (x3 - x2) / (x2 - x1)  # (x3 + c) / (x1 + c)
    c = (x3 - r * x1) / (r - 1)
    rational = y3 + late * (x2 + c) / (x3 - x2)
    geometric = y3 + late / (ratio - 1) if ratio > 1 else rational
    return [rational, geometric]


# The power of the logarithm


def _power(curve, slope, period, shift):
    """The power of ln T + shift by which R exceeds T^slope, over the last half of the range, waves of the period apart.

    Its limits cover that over the last quarter, and what both tend to if they go on like 1/ln T.
    """
    L = np.log(curve.horizons)
    y = np.log(curve.regret) - slope * L
    half, at_half, error = _power_over(L, y, share=1 / 2, period=period, shift=shift)
    quarter, at_quarter, later = _power_over(L, y, share=1 / 4, period=period, shift=shift)
    limit = (quarter * at_quarter - half * at_half) / (at_quarter - at_half)
    return Power.of(half, [half, quarter, limit], 2 * max(error, later), EXACT_POWER, trend=quarter - half)


def _power_over(L, y, *, share, period, shift):
    """The power, the ln T in whose middle it was found, and an error: a wave that is left counts once per period."""
    part = _last(L, share)
    z, step = np.log(L[part] + shift), _log_period(period)
    shown = [k for k in (1, 2) if period and 4 + 2 * k <= len(z)]
    phases = 2 * math.pi / step * np.outer(shown, L[part])
    waves = [*np.cos(phases), *np.sin(phases)]
    design = np.column_stack([np.ones(len(z)), z, *waves])
    found = np.linalg.lstsq(design, y[part], rcond=None)[0]
    periods = max(2.0, (L[-1] - L[part][0]) / step)
    error = np.std(y[part] - design @ found) / math.sqrt(periods * np.var(z))
    return float(found[1]), float(np.exp(np.mean(z)) - shift), float(error)


# Verdicts


def _on_exponent(limit, claim, margin, early):
    promised = claim.rate.slope
    found = f"the slope tends to {limit.value:.3f} [{limit.low:.3f}, {limit.high:.3f}], promised is {promised:.3f}"
    low, high = _hurting(limit.low - promised, limit.high - promised, claim.kind)
    if (high > margin and low <= 0) or high - low > max(2 * margin, -high, low):
        return Judgement(Outcome.INCONCLUSIVE, f"estimates of the limit disagree: {found}")
    if low <= 0:
        return Judgement(Outcome.CONSISTENT, found)
    if low <= margin:
        return Judgement(Outcome.INCONCLUSIVE, f"the excess is within the margin {margin:g}: {found}")
    if early and claim.kind == "upper":
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
