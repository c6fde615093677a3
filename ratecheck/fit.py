"""From a table of runs to slopes with intervals.

The estimand is log E R(T), so everything starts from the logarithms of mean regrets, y_j at horizon T_j, and their
covariance by a jackknife over runs.  Every statistic here (the slope, the slope of the last half, a log power, local
slopes, curvature, a prediction) is a linear function of y; its standard error follows from that one covariance, and
its interval from Student's t with N - 1 degrees of freedom.  For a linear function of y this is the leave-one-run-out
jackknife itself.
"""

from __future__ import annotations

import math
from dataclasses import dataclass, replace
from functools import cached_property, lru_cache
from numbers import Real

import numpy as np
from scipy import special

NAMES = (
    "family",
    "cost",
    "dim",
    "algorithm",
    "mu",
    "noise",
    "alignment",
    "study",
    "period",
)  # one value each in one table


SLACK = 0.99  # horizons are whole numbers, so a period may hold 3.99 of them
LARGE_SHARE = 0.1  # of a horizon's regret in a single run


class FitError(ValueError):
    """The table of runs does not allow a fit; the message says why."""


@dataclass(frozen=True)
class Estimate:
    """A number with its jackknife standard error and degrees of freedom."""

    value: float
    se: float
    df: float
    level: float = 0.95

    @property
    def low(self) -> float:
        return self.value - self._reach(self.level)

    @property
    def high(self) -> float:
        return self.value + self._reach(self.level)

    def _reach(self, level):
        return float(special.stdtrit(self.df, 0.5 + level / 2)) * self.se

    def lower_limit(self, level=0.95) -> float:
        """The end of a one-sided interval."""
        return self.value - float(special.stdtrit(self.df, level)) * self.se

    def upper_limit(self, level=0.95) -> float:
        return self.value + float(special.stdtrit(self.df, level)) * self.se

    def above(self, bound) -> float:
        """One-sided p-value of the hypothesis that the truth is at most `bound`."""
        return (
            float(special.stdtr(self.df, (bound - self.value) / self.se)) if self.se > 0 else float(self.value <= bound)
        )

    def minus(self, number) -> Estimate:
        return replace(self, value=self.value - number)

    def mirrored(self) -> Estimate:
        return replace(self, value=-self.value)

    def __str__(self):
        return f"{self.value:.4f} [{self.low:.4f}, {self.high:.4f}]"


@dataclass(frozen=True)
class LogMeans:
    """log of the mean regret at each horizon, with the jackknife covariance over runs."""

    horizons: np.ndarray
    y: np.ndarray
    covariance: np.ndarray
    replicates: int
    anytime: bool
    samples: tuple  # regrets per horizon: columns of one matrix if anytime
    labels: tuple  # replicate labels per horizon
    streams: tuple | None  # names of the random streams per horizon, where the table has them
    period: float | None = None  # of the regret's log-periodicity, where the table names one

    @property
    def x(self):
        return np.log(self.horizons)

    @classmethod
    def of(cls, horizons, samples, anytime, labels=None, streams=None) -> LogMeans:
        """From regrets: one array per horizon, whose i-th entries belong to the same run if anytime."""
        covariance = _shared_covariance(np.column_stack(samples)) if anytime else _separate_covariance(samples)
        y = np.log([s.mean() for s in samples])
        labels = labels or tuple(tuple(range(len(s))) for s in samples)
        return cls(
            np.asarray(horizons, float), y, covariance, min(map(len, samples)), anytime, samples, labels, streams
        )


def log_means(runs) -> LogMeans:
    """Read a table of runs: columns replicate, horizon, regret and anytime; or an object with such a `frame`."""
    table = getattr(runs, "frame", runs)
    for column in ("replicate", "horizon", "regret", "anytime"):
        if column not in table:
            raise FitError(f"the table of runs has no column {column!r}; it needs replicate, horizon, regret, anytime")
    for column in (*NAMES, "anytime"):
        if column in table and table[column].nunique(dropna=False) > 1:
            seen = ", ".join(map(str, table[column].unique()[:3]))
            raise FitError(f"the table mixes runs with different {column} ({seen}); fit them one at a time")
    if len(table) == 0:
        raise FitError("the table of runs is empty")
    try:
        table = table.assign(horizon=table["horizon"].astype(float), regret=table["regret"].astype(float))
    except (TypeError, ValueError) as error:
        raise FitError(f"horizons and regrets must be numbers ({error})") from None
    if not np.all(np.isfinite(table["horizon"])):
        raise FitError("a horizon is not finite")
    regret = table["regret"].to_numpy()
    if not np.all(np.isfinite(regret)):
        raise FitError(f"{np.count_nonzero(~np.isfinite(regret))} of {len(regret)} regrets are not finite")
    if table.duplicated(["replicate", "horizon"]).any():
        raise FitError("a replicate appears twice at the same horizon; the table mixes several studies")
    anytime = table["anytime"].iloc[0]
    if anytime not in (True, False):
        raise FitError(f"anytime = {anytime!r} must be True or False: do the rows of a replicate come from one run?")
    ordered = table.sort_values(["horizon", "replicate"], kind="stable")
    groups = [group for _, group in ordered.groupby("horizon", sort=True)]
    horizons = np.array([float(g["horizon"].iloc[0]) for g in groups])
    samples = tuple(g["regret"].to_numpy(dtype=float) for g in groups)
    labels = tuple(tuple(g["replicate"]) for g in groups)
    if anytime and len(set(labels)) > 1:
        raise FitError("some replicates are missing at some horizons; runs seen at all horizons must be complete")
    if len(horizons) < 3:
        raise FitError(f"{len(horizons)} horizon(s) give no slope with an interval; at least 3 are needed")
    if horizons[0] <= math.e:
        raise FitError(f"horizon {horizons[0]:g} does not exceed e, where ln ln T is not positive; leave it out")
    fewest = min(map(len, samples))
    if fewest < 3:
        raise FitError(f"{fewest} run(s) at a horizon give no interval; at least 3 are needed")
    means = np.array([s.mean() for s in samples])
    if np.any(means <= 0):
        j = int(np.argmax(means <= 0))
        raise FitError(
            f"the mean regret at T = {horizons[j]:g} is {means[j]:g}, not positive: it has no logarithm "
            "(a cost that is optimal everywhere the algorithm looks has no rate)"
        )
    streams = tuple(tuple(g["stream"]) for g in groups) if "stream" in table else None
    if streams is not None and len(set(streams)) == len(set(labels)) == 1:
        anytime = True  # new runs from the same random numbers depend on each other as one run does
    data = LogMeans.of(horizons, samples, bool(anytime), labels, streams)
    period = float(table["period"].iloc[0]) if "period" in table else math.nan
    return data if math.isnan(period) else replace(data, period=period)


def _left_out(R):
    """log of the mean without run i, for every i (rows) and horizon (columns)."""
    n = len(R)
    rest = (R.sum(axis=0) - R) / (n - 1)
    return np.log(np.maximum(rest, np.finfo(float).tiny))


def _shared_covariance(R):
    y = _left_out(R)
    centred = y - y.mean(axis=0)
    return (len(R) - 1) / len(R) * centred.T @ centred


def _separate_covariance(samples):
    return np.diag([_shared_covariance(s[:, None])[0, 0] for s in samples])


@dataclass(frozen=True)
class Fit:
    """A fitted rate: the slope of log R against log T after dividing by (ln T)^log_power.

    `period` is the factor in T after which the regret repeats itself (None: no log-periodicity); its harmonics are
    part of the regression.  `problem` says why the data are too short for that, or is empty.
    """

    data: LogMeans
    log_power: float = 0.0
    period: float | None = None
    level: float = 0.95
    problem: str = ""

    # Designs: columns are functions of T

    @property
    def x(self):
        return self.data.x

    @property
    def corrected(self):
        """y without the log factor."""
        return self.data.y - self.log_power * np.log(self.x)

    @cached_property
    def harmonics(self):
        """cos and sin of whole multiples of 2 pi ln T / ln period, as many as the grid resolves, two at most."""
        if self.period is None or self.problem:
            return np.empty((len(self.x), 0))
        per_period = math.log(self.period) / float(np.median(np.diff(self.x)))
        columns = []
        for k in range(1, min(2, int((per_period / SLACK - 1) // 2)) + 1):
            phase = 2 * math.pi * k * self.x / math.log(self.period)
            columns += [np.cos(phase), np.sin(phase)]
        if abs(per_period / 4 - 1) < 1 - SLACK:
            # all that four horizons per period show of the second harmonic
            columns.append(np.cos(math.pi * np.arange(len(self.x))))
        return np.column_stack(columns)

    def _weights(self, *columns, harmonics=True):
        """The rows of the least-squares solution: coefficients of the design are weights @ y."""
        parts = [np.ones(len(self.x)), *columns]
        design = np.column_stack(parts + ([self.harmonics] if harmonics else []))
        return _solution(design.tobytes(), design.shape)

    def _estimate(self, weights, y=None) -> Estimate:
        variance = float(weights @ self.data.covariance @ weights)
        value = float(weights @ (self.corrected if y is None else y))
        return Estimate(value, math.sqrt(max(variance, 0.0)), self.data.replicates - 1, self.level)

    # The slope

    @cached_property
    def whole(self) -> Estimate:
        """The slope over the whole window."""
        return self._estimate(self._weights(self.x)[1])

    @property
    def slope(self) -> float:
        return self.whole.value

    @property
    def low(self) -> float:
        return self.whole.low

    @property
    def high(self) -> float:
        return self.whole.high

    @cached_property
    def last_half(self) -> Estimate:
        """The slope over the last half of the window in ln T, the harmonics taken from the whole."""
        return self._estimate(self._late_weights(1))

    def change(self) -> Estimate:
        """The slope of the last half minus that of the whole window."""
        return self._estimate(self._late_weights(1) - self._weights(self.x)[1])

    def late_trend(self) -> Estimate | None:
        """The coefficient of (ln T)^2 over the last half: is the slope still moving?  None where three points lack."""
        weights = self._late_weights(2)
        return None if weights is None else self._estimate(weights)

    def late_log_power_at(self, slope: float) -> Estimate:
        """The same as log_power_at over the last half of the window."""
        return self._estimate(self._late_weights(1, np.log(self.x)), self.data.y - slope * self.x)

    def _late_weights(self, degree, variable=None):
        variable = self.x if variable is None else variable
        late = self.x >= 0.5 * (self.x[0] + self.x[-1]) - 1e-9
        late[-2:] = True
        if late.sum() <= degree:
            return None
        powers = np.vander(variable[late] - variable[late].mean(), degree + 1, increasing=True)
        weights = np.zeros(len(self.x))
        weights[late] = np.linalg.pinv(powers)[degree]
        return self._without_harmonics(weights)

    def _without_harmonics(self, weights):
        """The same weights on y less its harmonics, as the whole window shows them."""
        return weights - weights @ self.harmonics @ self._weights(self.x)[2:]

    def late_slopes(self) -> np.ndarray:
        """The slopes over three equal pieces of the last two thirds of the window: where is the slope heading?"""
        return self._late_pieces(self.x) @ self.corrected

    def late_log_powers_at(self, slope: float) -> np.ndarray:
        """The same for the log power when the slope is fixed."""
        return self._late_pieces(np.log(self.x)) @ (self.data.y - slope * self.x)

    def _late_pieces(self, variable):
        ends = np.linspace((2 * self.x[0] + self.x[-1]) / 3, self.x[-1], 4)
        at_ends = np.column_stack([np.interp(ends, self.x, unit) for unit in np.eye(len(self.x))])
        growth = np.diff(at_ends, axis=0)
        return self._without_harmonics(growth / (growth @ variable)[:, None])

    def at(self, log_power: float) -> Fit:
        """The same data with another log power divided out."""
        return replace(self, log_power=float(log_power))

    # The log power

    def log_power_at(self, slope: float, shift: float = 0.0) -> Estimate:
        """The power of ln T (or of ln T + shift) when the slope is fixed."""
        weights = self._weights(np.log(self.x + shift))[1]
        return self._estimate(weights, self.data.y - slope * self.x)

    def scattered(self, slope: float | None = None) -> Estimate:
        """The slope (or, at a given slope, the log power) with the error that the points' own scatter gives it.

        The jackknife knows what chance does to the means.  Whatever else keeps them off the line (bins that come in
        whole numbers, log-periodic remainders, many local minima) is seen in the residuals only.
        """
        column, y = (self.x, self.corrected) if slope is None else (np.log(self.x), self.data.y - slope * self.x)
        design = np.column_stack([np.ones(len(self.x)), column, self.harmonics])
        weights = self._weights(column)
        residual = y - design @ (weights @ y)
        df = len(self.x) - design.shape[1]
        se = math.sqrt(float(residual @ residual) / df * float(weights[1] @ weights[1])) if df > 0 else math.inf
        return Estimate(float(weights[1] @ y), se, max(df, 1), self.level)

    def joint(self):
        """Slope and log power together: the pair, its covariance, and the squared radius of the confidence region."""
        weights = self._weights(self.x, np.log(self.x))[1:3]
        n = self.data.replicates
        radius = 2 * (n - 1) / (n - 2) * float(special.fdtri(2, n - 2, self.level))  # Hotelling
        return weights @ self.data.y, weights @ self.data.covariance @ weights.T, radius

    def joint_region_holds(self, slope: float, log_power: float) -> bool:
        pair, covariance, radius = self.joint()
        gap = pair - [slope, log_power]
        return bool(gap @ np.linalg.pinv(covariance) @ gap <= radius)

    # Diagnostics

    def local_slopes(self):
        """Slopes between neighbouring horizons: a list of (T, Estimate), T the geometric middle."""
        rows = []
        for j in range(len(self.x) - 1):
            weights = np.zeros(len(self.x))
            weights[[j, j + 1]] = np.array([-1, 1]) / (self.x[j + 1] - self.x[j])
            rows.append((float(np.exp(0.5 * (self.x[j] + self.x[j + 1]))), self._estimate(weights)))
        return rows

    def lag_slope(self) -> Estimate | None:
        """The mean of ln(R(period T) / R(T)) / ln period over the window, a check of the harmonics."""
        if self.period is None:
            return None
        lag = math.log(self.period)
        weights = np.zeros(len(self.x))
        pairs = 0
        for j, x in enumerate(self.x):
            k = int(np.argmin(np.abs(self.x - x - lag)))
            if abs(self.x[k] - x - lag) < 0.02 * lag:
                weights[j] -= 1 / lag
                weights[k] += 1 / lag
                pairs += 1
        return self._estimate(weights / pairs) if pairs else None

    def curvature(self) -> Estimate:
        """The coefficient of (ln T)^2: zero for a pure rate."""
        centred = self.x - self.x.mean()
        return self._estimate(self._weights(self.x, centred**2)[2])

    def curvature_p(self) -> float:
        estimate = self.curvature()
        return 2 * min(estimate.above(0.0), 1 - estimate.above(0.0))

    def chi_square(self):
        """Sum of squared residuals over variances, its expectation, and a p-value; no covariance is inverted.

        The first two moments of the quadratic form under the model give a scaled chi-square (Satterthwaite).
        """
        design = np.column_stack([np.ones(len(self.x)), self.x, self.harmonics])
        hat = design @ self._weights(self.x)
        residual = np.eye(len(self.x)) - hat
        variance = np.diag(self.data.covariance)
        scale = np.divide(1.0, variance, out=np.zeros_like(variance), where=variance > 0)
        form = scale[:, None] * (residual @ self.data.covariance @ residual.T)
        observed = float(scale @ (residual @ self.corrected) ** 2)
        expected, square = float(np.trace(form)), float(np.trace(form @ form))
        if not expected > 0:
            return observed, expected, math.nan
        return observed, expected, float(special.chdtrc(expected**2 / square, observed * expected / square))

    @property
    def largest_share(self) -> float:
        """The largest share of a horizon's summed regret that a single run carries."""
        return float(max(s.max() / s.sum() for s in self.data.samples))

    @property
    def caution(self) -> str:
        """A warning where rare runs carry the mean: no interval accounts for such runs that it has not seen."""
        if self.largest_share <= max(LARGE_SHARE, 4 / self.data.replicates):
            return ""
        return (
            f"one run carries {100 * self.largest_share:.0f} % of a mean regret, want N >= 200 and a look at that run"
        )

    def held_out(self, count: int = 2):
        """Predict the last horizons from a fit without them: a list of (T, error of the logarithm as an Estimate)."""
        kept = len(self.x) - count
        if kept < 3 + self.harmonics.shape[1]:
            return []
        design = np.column_stack([np.ones(kept), self.x[:kept], self.harmonics[:kept]])
        weights = _solution(design.tobytes(), design.shape)
        rows = []
        for j in range(kept, len(self.x)):
            row = np.concatenate([[1.0, self.x[j]], self.harmonics[j]])
            error = np.zeros(len(self.x))
            error[:kept] = -row @ weights
            error[j] = 1.0
            rows.append((float(self.data.horizons[j]), self._estimate(error)))
        return rows

    def bootstrap(self, size: int = 2000, seed: int = 0) -> tuple[float, float]:
        """A studentised bootstrap interval for the slope, resampling runs."""
        return studentised(self.data, self._weights(self.x)[1], self.whole.value, self.level, size, seed)

    def sensitivity(self, onset: float | None = None, shift: float | None = None):
        """The slope under other choices than the study's: a list of (name, Estimate).

        Rows that the window cannot give (fewer than three horizons beyond the onset) are left out; the harmonics are
        left out, and the row says so, where less than two periods remain beyond it.
        """
        rows = [("whole window", self.whole), ("last half", self.last_half)]
        rows.append(("with a 1/ln T term", self._estimate(self._weights(self.x, 1 / self.x)[1])))
        if self.period is not None:
            rows.append(("without harmonics", self._estimate(self._weights(self.x, harmonics=False)[1])))
            lag = self.lag_slope()
            if lag is not None:
                rows.append(("lag of one period", lag))
            whole = self._whole_periods()
            if whole is not None:
                rows.append(("whole periods", whole.whole))
        if onset is not None and np.sum(self.data.horizons >= onset) >= 3:
            late = self._from(onset)
            plain = ", without harmonics" if late.problem else ""
            rows.append((f"from the onset {onset:.3g}{plain}", late.whole))
        if shift is not None:
            y = self.data.y - self.log_power * np.log(self.x + shift)
            rows.append((f"ln(ln T + {shift:.3g}) for ln ln T", self._estimate(self._weights(self.x)[1], y)))
        return rows

    def _from(self, start):
        keep = self.data.horizons >= start * (1 - 1e-9)
        return _checked(replace(self, data=_cut(self.data, keep), problem=""))

    def _whole_periods(self):
        """The longest window at the end that is a whole number of periods."""
        step = float(np.median(np.diff(self.x)))
        periods = int((self.x[-1] - self.x[0] + step) / math.log(self.period) + 1e-6)
        if periods < 1:
            return None
        start = self.x[-1] + step - periods * math.log(self.period)
        keep = self.x >= start - 1e-6
        return None if keep.sum() < 3 else replace(self, data=_cut(self.data, keep))


@lru_cache(maxsize=256)
def _solution(design, shape):
    """The pseudo-inverse behind an ordinary least-squares fit; the same few designs come again and again."""
    from statsmodels.regression.linear_model import OLS

    design = np.frombuffer(design).reshape(shape)
    model = OLS(np.zeros(len(design)), design)
    model.fit(method="pinv")
    return model.pinv_wexog


def _cut(data: LogMeans, keep) -> LogMeans:
    index = np.arange(len(data.horizons))[keep]
    return replace(
        data,
        horizons=data.horizons[index],
        y=data.y[index],
        covariance=data.covariance[np.ix_(index, index)],
        samples=tuple(data.samples[j] for j in index),
        labels=tuple(data.labels[j] for j in index),
        streams=None if data.streams is None else tuple(data.streams[j] for j in index),
    )


def _round_up(number) -> str:
    """Two digits, not less than the number."""
    unit = 10.0 ** (math.floor(math.log10(number)) - 1)
    return f"{math.ceil(number / unit * (1 - 1e-9)) * unit:.2g}"


def _checked(fit: Fit) -> Fit:
    """The fit, with its problem named if the window is too short for its period."""
    if fit.period is None:
        return fit
    x, lag = fit.x, math.log(fit.period)
    step = float(np.median(np.diff(x)))
    periods = (x[-1] - x[0] + step) / lag
    windows = x[0] - step / 2 + lag * np.arange(int(periods + 1e-6) + 1)
    fewest = min(np.histogram(x, windows)[0], default=0) if len(windows) > 1 else 4
    if lag / step < 4 * SLACK or fewest < 4:
        text = (
            f"{min(lag / step, fewest):.1f} horizons per period of {fit.period:.3g} cannot show it; 4 would do, "
            f"each at most {fit.period**0.25:.3g} times the one before"
        )
    elif periods < 2 * SLACK:
        needed = math.exp(x[0] + 2 * lag - step)
        text = (
            f"the window covers {periods:.2f} periods of {fit.period:.3g} where two are needed; "
            f"T_max = {_round_up(needed)} would do"
        )
    else:
        return fit
    return replace(fit, problem=text)


def fit_rate(runs, log_power: float = 0.0, window=None, period="table", level: float = 0.95) -> Fit:
    """Fit the slope of log mean regret against log T.

    `window` is a pair of horizons (None: all); `period` the factor of the regret's log-periodicity (theory: 2^D for
    AdaptiveBins), None where there is none; by default it is read from the table, as is whether the horizons share
    their runs.
    """
    data = runs if isinstance(runs, LogMeans) else log_means(runs)
    if isinstance(period, str) and period == "table":
        period = data.period
    if window is not None:
        low, high = window
        keep = (data.horizons >= low * (1 - 1e-9)) & (data.horizons <= high * (1 + 1e-9))
        if keep.sum() < 3:
            raise FitError(f"the window {low:g} ... {high:g} holds {keep.sum()} horizons; at least 3 are needed")
        data = _cut(data, keep)
    if period is not None and not (isinstance(period, Real) and 1 < period < 1e100):
        raise FitError(f"period = {period!r} must be a number above 1")
    if not 0 < level < 1 or not math.isfinite(log_power):
        raise FitError(f"level = {level} must lie between 0 and 1, and log_power = {log_power} be finite")
    return _checked(Fit(data, float(log_power), period, level))


def studentised(data: LogMeans, weights, value, level, size, seed):
    """Bootstrap-t for weights @ y: runs are resampled, each resample has its own linearised standard error."""
    rng = np.random.default_rng(seed)
    means = np.exp(data.y)
    if data.anytime:
        R = np.column_stack(data.samples)
        n = len(R)
        counts = rng.multinomial(n, np.full(n, 1 / n), size).astype(float)
        resampled = counts @ R / n
        influence = R @ (weights / np.maximum(resampled, 1e-300)).T
        centre = np.einsum("bi,ib->b", counts, influence) / n
        spread = np.einsum("bi,ib->b", counts, influence**2) / n - centre**2
        variance = np.maximum(spread, 0) / (n - 1)
        own = R @ (weights / means)
        own_variance = own.var(ddof=1) / n
    else:
        resampled = np.empty((size, len(means)))
        variance = np.zeros(size)
        own_variance = 0.0
        for j, (R, w) in enumerate(zip(data.samples, weights, strict=True)):
            n = len(R)
            draws = R[rng.integers(n, size=(size, n))]
            resampled[:, j] = draws.mean(axis=1)
            variance += (w / resampled[:, j]) ** 2 * draws.var(axis=1, ddof=1) / n
            own_variance += (w / means[j]) ** 2 * R.var(ddof=1) / n
    good = (variance > 0) & np.all(resampled > 0, axis=1)
    if not good.any():
        return value, value
    t = ((np.log(resampled[good]) - data.y) @ weights) / np.sqrt(variance[good])
    low, high = np.quantile(t, [0.5 - level / 2, 0.5 + level / 2])
    se = math.sqrt(own_variance)
    return value - high * se, value - low * se


def slope_difference(first: Fit, second: Fit) -> Estimate:
    """first.slope - second.slope.  Where the tables name common random streams, their covariance is used."""
    a, b = first._weights(first.x)[1], second._weights(second.x)[1]
    value = first.whole.value - second.whole.value
    variance = first.whole.se**2 + second.whole.se**2 - 2 * float(a @ _cross(first.data, second.data) @ b)
    df = min(first.whole.df, second.whole.df)
    return Estimate(value, math.sqrt(max(variance, 0.0)), df, first.level)


def _cross(first: LogMeans, second: LogMeans):
    """The jackknife covariance between two sets of log-means whose runs share streams; zero where they do not."""
    shape = (len(first.horizons), len(second.horizons))
    if first.streams is None or second.streams is None:
        return np.zeros(shape)
    cross = np.zeros(shape)
    ours, theirs = _left_out_by_stream(first), _left_out_by_stream(second)
    for i, u in enumerate(ours):
        for j, v in enumerate(theirs):
            pairs = np.array([(u[name], v[name]) for name in u if name in v])
            if len(pairs) >= 3:
                cross[i, j] = _jackknife_factor(len(pairs), len(u), len(v)) * np.cov(pairs.T)[0, 1]
    return cross


def _jackknife_factor(common, first, second):
    """From the covariance of leave-one-out values over the common runs to that of two means of different runs."""
    return common * (first - 1) * (second - 1) / (first * second)


def _left_out_by_stream(data: LogMeans):
    return [
        dict(zip(names, _left_out(sample[:, None])[:, 0], strict=True))
        for names, sample in zip(data.streams, data.samples, strict=True)
    ]
