"""What is left above a floor: y = E + A T^s with E known, bounded or fitted; and means that keep their sign.

For a given slope s the model is linear in E and A.  Adding a column that leads to the best slope S,
(T^S - T^s) / (S - s), and asking whether its coefficient is zero is a t-test of s that is linear in the means: no
logarithm is taken of what noise has made negative.  The interval of the slope are all s around S that pass (a profile
over E).  Where E leaves its bounds it stays at the bound.

For verdicts the fitted curve f = A T^S stands in for the logarithm, ln f + (y - E - f) / f, which is linear in the
means too and defined where y < E; its covariance holds the error of E.

The errors of a series come from its residuals: independent scatter, and corrections of the power that leave such
residuals, as without a floor.
"""

from __future__ import annotations

import math
from dataclasses import dataclass, field, replace
from functools import cached_property
from numbers import Real

import numpy as np
from scipy import special

from ..arguments import items, shown
from .deterministic import CORRECTIONS, correction, log_series
from .interval import Estimate
from .log_means import FitError, LogMeans
from .points import Points

CLEAR = 3.0  # standard errors by which a curve is clear of the noise
DISTINCT = 2.0  # standard errors of the last signal above a fitted floor
EXACT = 1e-8  # relative: to which a curve is found through points that have no error
LARGEST_LOG = 300.0  # of a power whose square is to be a number
SLOPES = np.geomspace(0.004, 10.0, 90)  # absolute values that are looked at


def log_points(points: Points, floor=None, level: float = 0.95) -> LogMeans:
    """The logarithms of what a table says, above a floor if there is one: a number, a pair of bounds, or "fit"."""
    bounds = floor_bounds(floor, points)
    if bounds is not None and bounds[0] < bounds[1]:
        return _fitted(points, *bounds)
    if bounds is not None:
        points = _above(points, bounds[0])
    if points.source == "series":
        return log_series(points, level)
    if bounds is not None or _may_be_negative(points):
        return _signed(points, 0.0 if bounds is None else bounds[0])
    if points.source == "runs":
        data = LogMeans.of(points.horizons, points.samples, points.anytime)
        return replace(data, words=points.words, remarks=points.remarks)
    relative = points.errors / points.means
    return points.as_logarithms(np.log(points.means), np.diag(relative**2), df=_freedom(points))


def floor_bounds(floor, points) -> tuple[float, float] | None:
    if floor is None:
        return None
    if isinstance(floor, str):
        if floor != "fit":
            raise ValueError(f"floor = {shown(floor)} must be a number, a pair of bounds, or 'fit'")
        falls = points.means[-1] < points.means[0]
        return (0.0 if falls and np.all(points.means > 0) else -math.inf), math.inf
    if isinstance(floor, Real) and not isinstance(floor, bool) and math.isfinite(floor):
        return float(floor), float(floor)
    pair = () if isinstance(floor, Real) else items("floor", floor, "bounds")
    if len(pair) == 2:
        pair = [end if b is None else b for b, end in zip(pair, (-math.inf, math.inf), strict=True)]
    if len(pair) != 2 or not all(isinstance(b, Real) and not math.isnan(b) for b in pair) or pair[0] > pair[1]:
        raise ValueError(f"floor = {shown(floor)} must be a number, a pair of bounds from low to high, or 'fit'")
    return float(pair[0]), float(pair[1])


def _above(points: Points, floor: float) -> Points:
    samples = tuple(s - floor for s in points.samples)
    words = replace(points.words, y=f"{points.words.y} - {floor:g}") if floor else points.words
    return replace(points, means=points.means - floor, samples=samples, words=words).remarked(
        f"{floor:g} is subtracted as a known floor"
    )


def mean_errors(points: Points) -> np.ndarray:
    if points.errors is not None:
        return points.errors
    return np.array([s.std(ddof=1) / math.sqrt(len(s)) for s in points.samples])


def _freedom(points: Points) -> float:
    return points.count - 1 if points.count else 1e6


# Means with a sign


def _may_be_negative(points: Points) -> bool:
    """Whether noise reaches below zero, so that a mean may have no logarithm."""
    if points.source == "runs":
        return min(s.min() for s in points.samples) < 0 or not np.all(points.means > 0)
    return bool(np.any(points.means < CLEAR * points.errors))


def _signed(points: Points, shift: float) -> LogMeans:
    """A power law through means that keep their sign and may meet their noise: all of them count for the slope.

    Verdicts are on the window in which the fitted curve is clear of the noise.  `shift` was subtracted from them.
    """
    words, errors = points.words, mean_errors(points)
    if not np.any(errors > 0):
        raise FitError(f"{words.y} has no scatter at all, and a zero or a sign in it; no power law holds")
    with np.errstate(divide="ignore", invalid="ignore"):
        clearest = int(np.nanargmax(np.abs(points.means) / errors))
    if points.means[clearest] < 0:
        points = replace(points, means=-points.means, samples=tuple(-s for s in points.samples))
        points = points.remarked(f"{words.y} is negative; its absolute value is fitted")
    profile = profile_of(points, 0.0, 0.0, shift)
    curve, _, _ = _curve(profile, profile.best, 0.0)
    clear = curve > CLEAR * errors
    first = int(np.argmin(clear)) if not clear.all() else len(clear)
    if first < 3 or profile.at_an_end:
        raise FitError(_lost(points, errors, first))
    y = np.log(curve) + (points.means - curve) / curve
    covariance = profile.covariance / np.outer(curve, curve)
    keep = np.arange(len(clear)) < first
    if first < len(clear):
        points = points.remarked(
            f"from {words.x} = {words.place(points.horizons[first]):g} on {words.y} meets its noise ({CLEAR:g} "
            "standard errors): these points count for the slope, verdicts are on the window before"
        )
    weights = curve**2 * profile.weights
    data = points.as_logarithms(y, covariance, df=profile.df, weights=weights, profile=profile)
    return data if first == len(clear) else replace(data.cut(keep), noisy=True)


def _lost(points, errors, first) -> str:
    words = points.words
    clear = np.flatnonzero(np.abs(points.means) > CLEAR * errors)
    turned = clear[np.sign(points.means[clear]) != np.sign(points.means[clear[0]])] if len(clear) else clear
    if len(turned):
        place = words.place(points.horizons[turned[0]])
        return (
            f"{words.y} changes its sign at {words.x} = {place:g}, clear of its noise: "
            "no power law holds; choose a window (window=, --window) without it"
        )
    return (
        f"{words.y} is clear of its noise ({CLEAR:g} standard errors) at {first} values of {words.x} only; at least 3 "
        "are needed: more runs, or smaller errors; where their size is meant, give absolute values or squares"
    )


# A floor that is fitted


@dataclass(frozen=True)
class Profile:
    """The t-test of every slope of y = E + A T^s, E free between bounds, or known where they are one."""

    x: np.ndarray
    means: np.ndarray
    covariance: np.ndarray | None  # None: from the residuals
    weights: np.ndarray
    df: float
    low: float  # bounds of E
    high: float
    falls: bool
    found: dict = field(default_factory=dict, repr=False, compare=False)  # limits, each of which takes a search

    @cached_property
    def slopes(self) -> np.ndarray:
        slopes = SLOPES[SLOPES * np.ptp(self.x) < LARGEST_LOG]
        if self.low == self.high:
            return np.concatenate([-slopes[::-1], slopes])
        return -slopes[::-1] if self.falls else slopes

    def floor_at(self, slope) -> float:
        return float(self._floors(np.array([slope]))[0])

    def _floors(self, slopes):
        if self.low == self.high:
            return np.full(len(slopes), self.low)
        powers = self._power(slopes[:, None])
        w = self.weights / self.weights.sum()
        one, both = powers @ w, powers**2 @ w
        means, cross = w @ self.means, powers @ (w * self.means)
        return np.clip((both * means - one * cross) / (both - one**2), self.low, self.high)

    def _misfits(self, slopes) -> np.ndarray:
        powers, floors = self._power(slopes[:, None]), self._floors(slopes)
        above = self.means - floors[:, None]
        size = (powers * above) @ self.weights / (powers**2 @ self.weights)
        return (above - size[:, None] * powers) ** 2 @ self.weights

    def _power(self, slope):
        return np.exp(slope * (self.x - self.x[0]))

    def _solved(self, design):
        root = np.sqrt(self.weights)
        return np.linalg.pinv(design * root[:, None], rcond=1e-13) * root

    def t(self, slope) -> float:
        """How far the slope lies below the data's, in standard errors; at the best slope it is 0."""
        return self._t(slope, self.best)

    def _t(self, slope, towards) -> float:
        slope = slope or 1e-9
        floor, centred = self.floor_at(slope), self.x - self.x[0]
        v = np.expm1(slope * centred) / slope  # with a constant it spans what a power does, and stays apart from it
        power = self._power(slope)
        gap = towards - slope
        if abs(gap) > 1e-6:
            turn = power * np.expm1(gap * centred) / gap
        else:
            turn = power * centred
        if self.low < floor < self.high:
            design, above = np.column_stack([np.ones(len(v)), v, turn]), self.means
        else:
            design, above = np.column_stack([power, turn]), self.means - floor
        root = np.sqrt(self.weights)
        q, r = np.linalg.qr(design * root[:, None])
        weights = q[:, -1] * root / r[-1, -1]  # of the last coefficient
        covariance = self.residual_covariance(slope, q, above) if self.covariance is None else self.covariance
        variance = float(weights @ covariance @ weights)
        return float(weights @ above) / math.sqrt(max(variance, 1e-300))

    def residual_covariance(self, slope, q, above) -> np.ndarray:
        """The covariance of means without errors: independent scatter, and corrections that leave such residuals."""
        root = np.sqrt(self.weights)
        rest = root * above - q @ (q.T @ (root * above))
        square = max(float(rest @ rest), self.df * EXACT**2)
        covariance = np.diag(square / self.df / self.weights)
        reach = float(special.stdtrit(self.df, 0.975))
        for power in CORRECTIONS:
            shape = self._power(slope) * correction(self.x, power)
            left = root * shape - q @ (q.T @ (root * shape))
            size = float(np.linalg.norm(left))
            if size > 1e-6 * float(np.linalg.norm(root * shape)):
                covariance += square / reach**2 * np.outer(shape, shape) / size**2
        return covariance

    @cached_property
    def best(self) -> float:
        j = int(np.argmin(self._misfits(self.slopes)))
        for i in (j - 1, j):
            if 0 <= i < len(self.slopes) - 1:
                ends = self.slopes[i], self.slopes[i + 1]
                if self._t(ends[0], ends[0]) > 0 >= self._t(ends[1], ends[1]):
                    return self._root(lambda s: self._t(s, s), *ends, 0.0)
        return float(self.slopes[j])

    @property
    def at_an_end(self) -> bool:
        return self.best in (self.slopes[0], self.slopes[-1])

    def limits(self, t) -> tuple[float, float]:
        """The ends of the slopes around the best whose tests are within `t`; infinite where all of them are."""
        if t not in self.found:
            self.found[t] = self._limit(t, -1), self._limit(-t, 1)
        return self.found[t]

    def _limit(self, t, side) -> float:
        inner = self.best
        for slope in self.slopes[side * self.slopes > side * self.best][::side]:
            if -side * self.t(slope) > -side * t:
                return self._root(self.t, *sorted((slope, inner)), t)
            inner = slope
        return side * math.inf

    def _root(self, test, low, high, level) -> float:
        while high - low > 1e-9 * max(1.0, abs(high)):
            middle = 0.5 * (low + high)
            low, high = (middle, high) if test(middle) > level else (low, middle)
        return float(high)

    def estimate(self, linear: Estimate) -> Profiled:
        return Profiled(self.best, linear.se, linear.df, linear.level, self)

    def stretch(self, linear: Estimate, bound: float) -> float:
        """By what variances must grow for `bound` to be as near as the test of that slope has it."""
        bound = float(np.clip(bound, self.slopes[0], self.slopes[-1]))
        plain = (bound - self.best) / max(linear.se, 1e-300)
        tested = -self.t(bound)
        if plain * tested <= 0:
            return 1e12
        return max(1.0, (plain / tested) ** 2)


@dataclass(frozen=True)
class Profiled(Estimate):
    """A slope whose interval are the slopes that a test does not reject; less an offset, or its negative."""

    profile: Profile | None = None
    offset: float = 0.0
    sign: float = 1.0

    def lower_limit(self, level=0.95) -> float:
        return min(self._limits(level))

    def upper_limit(self, level=0.95) -> float:
        return max(self._limits(level))

    def _limits(self, level):
        t, falls = float(special.stdtrit(self.df, level)), self.profile.falls
        low, high = self.profile.limits(t)
        if self.profile.low < self.profile.high:
            low = 0.0 if math.isinf(low) and not falls else low  # as flat as can be
            high = 0.0 if math.isinf(high) and falls else high
        return [self.sign * (end - self.offset) for end in (low, high)]

    def above(self, bound) -> float:
        slope = np.clip(self.sign * bound + self.offset, self.profile.slopes[0], self.profile.slopes[-1])
        return float(special.stdtr(self.df, -self.sign * self.profile.t(float(slope))))

    def minus(self, number) -> Profiled:
        return replace(self, value=self.value - number, offset=self.offset + self.sign * number)

    def mirrored(self) -> Profiled:
        return replace(self, value=-self.value, sign=-self.sign)


def _fitted(points: Points, low, high) -> LogMeans:
    profile = profile_of(points, low, high)
    words = points.words
    slope = profile.best
    if profile.at_an_end:
        raise FitError(
            f"no floor fits: {words.y} does not level off within these {words.x} as E + A {words.x}^s does, or has "
            "done so before them; give a known floor, or none"
        )
    floor = profile.floor_at(slope)
    curve, along, free = _curve(profile, slope, floor)
    if np.any(curve <= 0):
        raise FitError(f"no floor fits: {words.y} does not move away from E = {floor:g} with one sign")
    mean_covariance = profile.covariance
    if mean_covariance is None:
        root = np.sqrt(profile.weights)
        design = np.column_stack([np.ones(len(curve)), curve, profile.x * curve][0 if free else 1 :])
        q, _ = np.linalg.qr(design * root[:, None])
        mean_covariance = profile.residual_covariance(slope, q, points.means - floor)
        if points.rounding is not None:
            mean_covariance = mean_covariance + np.diag(points.rounding**2 / 3)
    known = np.eye(len(curve)) - (np.outer(np.ones(len(curve)), along[0]) if free else 0.0)
    signal = known @ mean_covariance @ known.T  # of what is left above E
    y = np.log(curve) + (points.means - floor - curve) / curve
    errors = np.sqrt(np.maximum(np.diag(signal), 0.0))
    where = f"{low:g} <= E <= {high:g}".replace(" <= inf", "").replace("-inf <= E", "E anything")
    said = f"the floor E of {words.y} is fitted ({where}): E = {floor:.6g}"
    said += "" if free else ", at its bound"
    return points.as_logarithms(
        y,
        signal / np.outer(curve, curve),
        remarks=(said,),
        df=profile.df,
        weights=curve**2 * profile.weights,
        profile=profile,
        problem=_at_the_floor(points, curve, errors, floor),
        words=replace(words, y=f"{words.y} - E"),
    )


def profile_of(points: Points, low, high, shift: float = 0.0) -> Profile:
    """Weights are relative, as in a fit to logarithms, unless noise reaches below zero or its size is given."""
    means, count = points.means, len(points.means)
    if low < high and count < 4:
        raise FitError(f"{count} points do not show a floor; at least 4 are needed to fit one")
    covariance, df = None, count - 3
    if points.source == "runs":
        df = points.count - 1
        if points.anytime:
            covariance = np.cov(np.column_stack(points.samples).T) / len(points.samples[0])
        else:
            covariance = np.diag(mean_errors(points) ** 2)
    elif points.source == "means":
        covariance, df = np.diag(points.errors**2), _freedom(points)
    if points.source == "means" or (points.source == "runs" and _may_be_negative(points)):
        variances = np.diag(covariance)
        if np.any(variances <= (1e-12 * means) ** 2):
            place = points.words.place(points.horizons[int(np.argmin(variances))])
            raise FitError(
                f"all runs agree at {points.words.x} = {place:g}, and noise reaches below zero elsewhere: a mean "
                "without an error cannot be weighed against the others"
            )
        weights = 1 / variances
    elif np.all(means > 0):
        weights = 1 / (means + shift) ** 2
    else:
        raise FitError(f"{points.words.y} is not positive everywhere; a floor cannot be fitted to that")
    return Profile(np.log(points.horizons), means, covariance, weights, df, low, high, bool(means[-1] < means[0]))


def _curve(profile: Profile, slope, floor):
    power = profile._power(slope)
    centred = profile.x - profile.x[0]
    size = float(profile._solved(power[:, None])[0] @ (profile.means - floor))
    design = np.column_stack([np.ones(len(power)), power, size * centred * power])
    return size * power, profile._solved(design), profile.low < floor < profile.high


def _at_the_floor(points, curve, errors, floor) -> str:
    lost = curve < DISTINCT * errors
    if not lost[-1]:
        return ""
    words = points.words
    first = len(lost) - int(np.argmin(lost[::-1])) if not lost.all() else 0
    return (
        f"the data end at the floor: from {words.x} = {words.place(points.horizons[first]):g} on {words.y} is not "
        f"{DISTINCT:g} standard errors above E = {floor:.4g}; more runs, or a floor that is known, would tell"
    )
