"""How strongly a window speaks for or against a promised rate: the arithmetic behind every verdict.

The excess is measured minus promised growth of R, in the direction that hurts the claim.  A few numbers describe it,
all linear in the log-means (`Fit.probes`): slopes over the window and its later parts, at T_max and ahead of it
according to parabolas, and the bend, which is how fast the slope changes.  Their errors come from the one covariance of
the log-means.  Two p-values follow:

consistent  of "the excess is the margin or more", the largest of three: whole window, last half, T_max.  It is 1 where
            the last quarter seems to exceed the margin, or where the excess rises significantly and may pass the
            margin by the middle of the next window, continued by either parabola.
refuted     of "the excess is the margin or less": over the whole window, with the error of the jackknife and with that
            of the points' scatter, and of "these runs are the start of the promised rate", for all starts that
            `explanations` knows.  It is 1 where the last half shows no excess beyond the margin.

Neither rests on a test that has found no bend: noise makes both p-values larger.
"""

from dataclasses import dataclass, replace
from functools import cached_property, lru_cache

import numpy as np
from scipy import special

from ..fit.fit import Fit
from ..rates import Rate
from .alternatives import Start, log_powers, starts

WHOLE, LATE, LAST, END, AHEAD, ONWARD, BEND = range(7)  # the probes
LATE_LEVEL = 0.6  # at which the last half must show the excess too
RISING = 0.95  # a significant rise
LAST_LEVEL = 0.8  # at which the last quarter may be beyond the margin
SHAPE = 0.1, 0.5  # of the margin: what no idealised curve tells of a slope, and of its change over the window
FEW = 3  # by which the p-value of an explanation is multiplied: a true claim is refuted in no more than 2 %
VISIBLE, APART = 0.95, 4.0  # of the growth that a start may leave, or else standard errors from growth without a bend
STEPS, BINS = 8, 160  # between neighbouring curves, and distances that are told apart
DRAWS = 400  # simulated outcomes behind a power
POWER = 0.9
COARSE, FINE = 0.05, 0.005  # steps of a growth that is looked for


@dataclass(frozen=True)
class Evidence:
    """What a fit says about one claim."""

    value: np.ndarray  # of the probes
    covariance: np.ndarray
    df: float
    scatter: tuple[float, float]  # standard error of the slope from the points' scatter, its degrees of freedom
    margin: float
    pure: np.ndarray  # the probes of a regret that grows by a power faster, without the promised logarithm: of the
    without: np.ndarray  # power 1, and of the power 0
    starts: np.ndarray  # whole slope and bend of each curve that tends to the promise
    endless: np.ndarray  # the same of the curve that it would be if it did not bend
    start_of: tuple[Start, ...]  # for each of them
    logs: np.ndarray | None  # the same of curves with another log power; None where the log power is judged
    length: float  # of the window, in the variable of the slope

    # The two p-values of one or many values of the probes

    @cached_property
    def se(self) -> np.ndarray:
        return np.sqrt(np.maximum(np.diag(self.covariance), 1e-300))

    def _above(self, value, probe, bound):
        """Of the hypothesis that a probe is at most `bound`."""
        return special.stdtr(self.df, (bound - value[..., probe]) / self.se[probe])

    def consistent(self, value=None):
        value = self.value if value is None else value
        p = np.max([1 - self._above(value, probe, self.margin) for probe in (WHOLE, LATE, END)], axis=0)
        return np.where(self.rises_beyond(value), 1.0, p)

    def rises_beyond(self, value=None):
        """Whether the end of the window is beyond the margin, or the next window seems to be."""
        value = self.value if value is None else value
        rises = self._above(value, BEND, 0.0) < 1 - RISING
        for probe in (AHEAD, ONWARD):
            rises &= value[..., probe] >= self.margin
        return rises | (self._above(value, LAST, self.margin) < 1 - LAST_LEVEL)

    def refuted(self, value=None):
        """Of the promised rate; which of exponent and logarithm is to blame is another question."""
        value = self.value if value is None else value
        return np.maximum(self._steep(value), self.starting(value))

    def _steep(self, value):
        p = np.maximum(self.exceeds(value), self.scatters(value))
        return np.where(self._above(value, LATE, self.margin) > LATE_LEVEL, 1.0, p)

    def lately(self, value=None):
        """Of the hypothesis that the last half of the window keeps to the margin, whatever may explain it."""
        return self._above(self.value if value is None else value, LATE, self.margin)

    def exceeds(self, value=None):
        return self._above(self.value if value is None else value, WHOLE, self.margin)

    def scatters(self, value=None):
        value = self.value if value is None else value
        se, df = self.scatter
        return special.stdtr(df, (self.margin - value[..., WHOLE]) / max(se, 1e-300))

    def starting(self, value=None):
        """Of the hypothesis that the nearest start explains the runs."""
        value = self.value if value is None else value
        return np.minimum(1.0, FEW * self._explained(value, self._envelope))

    def logarithmic(self, value=None):
        """Of the hypothesis that the exponent holds within the margin and the log power is another."""
        value = self.value if value is None else value
        if self.logs is None:
            return np.zeros(value.shape[:-1])
        return np.minimum(1.0, FEW * self._explained(value, self._log_envelope))

    # Curves that explain the runs: the distance of whole slope and bend from theirs, bends beyond theirs no distance

    @cached_property
    def _scales(self):
        """Standard errors of the slope, and of the bend at a given slope, and how the bend follows the slope."""
        slope, bend = SHAPE[0] * self.margin + 1e-12, (SHAPE[1] * self.margin + 1e-12) / self.length
        variance = self.covariance[np.ix_([WHOLE, BEND], [WHOLE, BEND])] + np.diag([slope**2, bend**2])
        tilt = variance[0, 1] / variance[0, 0]
        return np.sqrt(variance[0, 0]), np.sqrt(max(variance[1, 1] - tilt * variance[0, 1], bend**2)), tilt

    def _scaled(self, pairs):
        slope, bend, tilt = self._scales
        return np.stack([pairs[..., 0] / slope, (pairs[..., 1] - tilt * pairs[..., 0]) / bend], axis=-1)

    @cached_property
    def _bending(self):
        """Which starts are told from growth that never bends: by what they lose of it, or by what runs can see."""
        visible = self.starts[:, 0] <= VISIBLE * self.endless[:, 0]
        apart = np.hypot(*(self._scaled(self.endless) - self._scaled(self.starts)).T) > APART
        return visible | apart | np.isnan(self.endless[:, 0])

    @cached_property
    def _envelope(self):
        return envelope(self._scaled(self.starts[self._bending]))

    @cached_property
    def _log_envelope(self):
        return envelope(self._scaled(self.logs))

    def _explained(self, value, curves):
        here = self._scaled(value[..., [WHOLE, BEND]])
        if not len(curves):
            return np.zeros(here.shape[:-1])
        square = (here[..., 0, None] - curves[:, 0]) ** 2
        above = here[..., 1, None] - curves[:, 1]
        square += np.maximum(above, 0.0, out=above) ** 2
        distance = np.sqrt(np.min(square, axis=-1))
        return special.stdtr(self.df, -distance)

    @property
    def nearest(self) -> Start:
        """The start that explains the runs best."""
        gap = self._scaled(self.value[[WHOLE, BEND]]) - self._scaled(self.starts)
        distance = gap[:, 0] ** 2 + np.maximum(gap[:, 1], 0.0) ** 2
        return self.start_of[int(np.argmin(np.where(self._bending, distance, np.inf)))]

    # Force

    @property
    def tolerates(self) -> float:
        """The largest power by which a pure regret may be faster and still have a chance of 5 % to be CONSISTENT.

        Negative where the promise has a logarithm that no pure power of its exponent keeps to.
        """
        judged = [WHOLE, LATE, END]
        return float(np.min((self.margin - self.without[judged]) / self.pure[judged]))

    def catches(self, error: float, of=None) -> float | None:
        """The smallest power below 2 that is REFUTED with 90 %, beyond the probes `of` a regret (a pure power's)."""
        of = self.without if of is None else of

        def caught(growth):
            return self._caught(of + growth * self.pure, error)

        last = next((g for g in np.arange(0.0, 2.0, COARSE) if caught(g)), None)
        if last is None:
            return None
        first = max(0.0, last - COARSE)
        while last - first > FINE:
            middle = 0.5 * (first + last)
            first, last = (first, middle) if caught(middle) else (middle, last)
        return float(last)

    def catches_until(self, first: float, error: float) -> float:
        """The last power up to which all from the first on are caught, in coarse steps; infinite beyond 2."""
        grown = np.arange(first, 2.0, COARSE)
        return next((float(g) - COARSE for g in grown if not self._caught(self.without + g * self.pure, error)), np.inf)

    def _caught(self, value, error) -> bool:
        drawn = value + self._noise
        steep = self._steep(drawn) < error
        return np.mean(steep) >= POWER and np.mean(steep & (self.starting(drawn) < error)) >= POWER

    @cached_property
    def _noise(self):
        values, vectors = np.linalg.eigh(self.covariance)
        return normal(len(self.value)) @ (vectors * np.sqrt(np.maximum(values, 0.0))).T

    def deciding(self, factor: float, error: float) -> float:
        """The chance that so many times as many runs, these among them, decide, given what these have shown."""
        more = replace(self, covariance=self.covariance / factor, df=(self.df + 1) * factor - 1)
        seen = self.value + self._noise * np.sqrt(1 - 1 / factor)
        return float(np.mean((more.consistent(seen) < error) | (more.refuted(seen) < error)))

    def decides_if_exact(self, error: float) -> bool:
        """Whether these very values would decide if they had hardly an error."""
        exact = replace(self, covariance=self.covariance * 1e-6, df=1e6)
        return bool((exact.consistent() < error) | (exact.refuted() < error))


@lru_cache(maxsize=1)
def normal(count):
    """The same standard normal numbers for every power, antithetic."""
    half = np.random.default_rng(0).standard_normal((DRAWS // 2, count))
    return np.concatenate([half, -half])


def envelope(points):
    if not len(points):
        return points
    low, high = points[:, 0].min(), points[:, 0].max()
    place = np.minimum(((points[:, 0] - low) / max(high - low, 1e-300) * BINS).astype(int), BINS - 1)
    order = np.lexsort((-points[:, 1], place))
    first = np.concatenate([[True], np.diff(place[order]) > 0])
    return points[order[first]]


def refined(pairs):
    if len(pairs) < 2:
        return pairs
    share = np.arange(STEPS)[:, None, None] / STEPS
    between = (1 - share) * pairs[:-1] + share * pairs[1:]
    return np.concatenate([between.transpose(1, 0, 2).reshape(-1, 2), pairs[-1:]])


def evidence(fit: Fit, rate: Rate, *, kind: str, margin: float, log_power: bool = False) -> Evidence:
    """About the exponent of a promised rate, or about its log power with the exponent granted."""
    sign = 1 if kind == "upper" else -1
    probes = fit.probes(log_power)
    x = fit.x
    logarithm = rate.log_power * fit.log_x if rate.log_power else np.zeros_like(x)
    excess = sign * (fit.data.y - rate.slope * x - logarithm)
    variable = fit.log_x if log_power else x
    base = np.zeros_like(x) if log_power else -sign * logarithm
    curves = probes[[WHOLE, BEND]]
    points, endless, start_of = _starting(x.tobytes(), rate, kind, curves.tobytes())
    logs = None if log_power else np.empty((0, 2))
    if not log_power and fit.data.horizons[0] > np.e:  # or no logarithm explains anything
        logs = refined(log_powers(x, margin) @ curves.T)
    scattered = fit.at(rate.log_power).scattered(rate.slope if log_power else None)
    return Evidence(
        value=probes @ excess,
        covariance=fit.stretch(rate.slope + sign * margin) * (probes @ fit.data.covariance @ probes.T),
        df=fit.data.freedom,
        scatter=(scattered.se, scattered.df),
        margin=margin,
        pure=probes @ variable,
        without=probes @ base,
        starts=points,
        endless=endless,
        start_of=start_of,
        logs=logs,
        length=float(variable[-1] - variable[0]),
    )


@lru_cache(maxsize=64)
def _starting(x, rate, kind, weights):
    """Whole slope and bend of each start, and the start itself; the same few windows come again and again."""
    x = np.frombuffer(x)
    weights = np.frombuffer(weights).reshape(2, -1)
    families = starts(x, rate, kind, weights[0])
    pairs = [refined(family.curves @ weights.T) for family in families]
    endless = [
        np.broadcast_to(np.nan if family.endless is None else weights @ family.endless, some.shape)
        for family, some in zip(families, pairs, strict=True)
    ]
    found = [s for family, some in zip(families, pairs, strict=True) for s in spread(family.starts, len(some))]
    if not pairs:
        return np.empty((0, 2)), np.empty((0, 2)), ()
    return np.concatenate(pairs), np.concatenate(endless), tuple(found)


def spread(found, count):
    return [found[min(i // STEPS, len(found) - 1)] for i in range(count)]
