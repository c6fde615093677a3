"""From the logarithms of mean regrets to slopes with intervals.

Every statistic here (the slope, the slope of the last half, a log power, local slopes, curvature, a prediction) is a
linear function of y, the logarithms; its standard error follows from their one covariance, and its interval from
Student's t with N - 1 degrees of freedom.  For a linear function of y this is the leave-one-run-out jackknife itself.
"""

from __future__ import annotations

import math
from dataclasses import dataclass, replace
from functools import cached_property, lru_cache
from numbers import Real

import numpy as np

from ..arguments import check_real, shown
from ..display import Speaking
from ..rates import Rate
from .columns import Roles
from .deterministic import differences
from .diagnostics import SLACK, Diagnostics, too_short
from .floors import log_points
from .interval import Estimate
from .log_means import (
    FitError,
    LogMeans,
    check_beyond_e,
    check_level,
    check_window,
    cross_covariance,
    log_means,
    within,
)
from .points import points
from .read import table_of


@dataclass(frozen=True)
class Line:
    """The fitted straight line of log R - log_power ln ln T, its interval, and the harmonics around it."""

    value: np.ndarray
    reach: np.ndarray  # half the width of the pointwise interval
    wave: np.ndarray
    spread: np.ndarray  # half the width of the interval of each point


@dataclass(frozen=True, repr=False)
class Fit(Diagnostics, Speaking):
    """A fitted rate: the slope of log R against log T after dividing by (ln T)^log_power, the exponent of R.

    See `fit_rate`, which makes one.
    `print(fit)` says it in five lines, `fit.plot()` draws it, `fit.summary()` is a table as statsmodels has it.

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
        return self.data.y - self.log_power * self.log_x if self.log_power else self.data.y

    @property
    def log_x(self):
        """ln ln T, for horizons that have it."""
        check_beyond_e(self.data.horizons[0], self.data.words)
        return np.log(self.x)

    @cached_property
    def harmonics(self):
        """cos and sin of whole multiples of 2 pi ln T / ln period, as many as the grid resolves, two at most.

        Without a period: the columns that the data bring along, as a deterministic series does for its corrections.
        """
        if self.period is None or self.problem:
            return np.empty((len(self.x), 0)) if self.data.extra is None else self.data.extra
        per_period = math.log(self.period) / float(np.median(np.diff(self.x)))
        columns = []
        for k in range(1, min(2, int((per_period / SLACK - 1) // 2)) + 1):
            phase = 2 * math.pi * k * self.x / math.log(self.period)
            columns += [np.cos(phase), np.sin(phase)]
        if abs(per_period / 4 - 1) < 1 - SLACK:
            # all that four horizons per period show of the second harmonic
            columns.append(np.cos(math.pi * np.arange(len(self.x))))
        return np.column_stack(columns)

    def _design(self, *columns, harmonics=True):
        return np.column_stack([np.ones(len(self.x)), *columns, *([self.harmonics] if harmonics else [])])

    def _weights(self, *columns, harmonics=True):
        return self._solved(self._design(*columns, harmonics=harmonics))

    def _solved(self, design, rows=slice(None)):
        if self.data.weights is None:
            return _solution(np.ascontiguousarray(design).tobytes(), design.shape)
        root = np.sqrt(self.data.weights[rows])
        return np.linalg.pinv(design * root[:, None]) * root

    def _estimate(self, weights, y=None) -> Estimate:
        variance = float(weights @ self.data.covariance @ weights)
        value = float(weights @ (self.corrected if y is None else y))
        return Estimate(value, math.sqrt(max(variance, 0.0)), self.data.freedom, self.level)

    # The slope

    @cached_property
    def whole(self) -> Estimate:
        """The slope over the whole window."""
        estimate = self._estimate(self._weights(self.x)[1])
        return estimate if self.data.profile is None else self.data.profile.estimate(estimate)

    @property
    def remarks(self) -> tuple[str, ...]:
        """What was found in the table, and what was inferred from it."""
        return self.data.remarks

    @property
    def slope(self) -> float:
        """The exponent as the table counts: where x is the size of a step, in that."""
        return self.data.words.slope(self.whole.value)

    @property
    def low(self) -> float:
        return -self.whole.high if self.data.words.inverse else self.whole.low

    @property
    def high(self) -> float:
        return -self.whole.low if self.data.words.inverse else self.whole.high

    def stretch(self, bound: float) -> float:
        """By what variances grow so that the slope is no further from a bound than its profile says."""
        if self.data.profile is None:
            return 1.0
        return self.data.profile.stretch(self._estimate(self._weights(self.x)[1]), bound)

    def slope_of(self, regret) -> float:
        """The slope that this regression finds in another regret at the same horizons."""
        return float(self._weights(self.x)[1] @ (np.log(regret) - (self.log_power and self.log_power * self.log_x)))

    @cached_property
    def last_half(self) -> Estimate:
        """The slope over the last half of the window in ln T, the harmonics taken from the whole."""
        return self._estimate(self._late_weights(self.x))

    def change(self) -> Estimate:
        """The slope of the last half minus that of the whole window."""
        return self._estimate(self._late_weights(self.x) - self._weights(self.x)[1])

    def _late(self, share, fewest):
        late = self.x >= self.x[-1] - share * (self.x[-1] - self.x[0]) - 1e-9
        late[-fewest:] = True
        return late

    def _late_weights(self, variable, share=0.5):
        late = self._late(share, 2)
        weights = np.zeros(len(self.x))
        if self.data.weights is None:
            centred = variable[late] - variable[late].mean()
            weights[late] = centred / (centred @ centred)
        else:
            weights[late] = self._solved(np.vander(variable[late], 2, increasing=True), late)[1]
        return self._without_harmonics(weights)

    def _without_harmonics(self, weights):
        """Weights that see y without its harmonics, as the whole window shows them."""
        return weights - weights @ self.harmonics @ self._weights(self.x)[2:]

    def probes(self, log_power: bool = False) -> np.ndarray:
        """The weights of seven numbers about the slope, or about the log power when a slope is fixed.

        Over the whole window, over its last half and its last quarter; at the last horizon according to a parabola, at
        the middle of the next window of the same length according to it and to one through the last half; and how fast
        the slope changes.
        """
        variable = np.log if log_power else np.asarray
        u, end = self.log_x if log_power else self.x, self.x[-1]
        ahead = end + 0.5 * (end - self.x[0])
        parabola = self._weights(u, (u - u.mean()) ** 2)

        def at(x):
            return parabola[1] + 2 * (variable(x) - u.mean()) * parabola[2]

        return np.array(
            [
                self._weights(u)[1],
                self._late_weights(u),
                self._late_weights(u, 0.25),
                at(end),
                at(ahead),
                self._late_parabola(u, variable(ahead)),
                2 * parabola[2],
            ]
        )

    def _late_parabola(self, variable, place):
        """The weights of the slope at a place, by a parabola through the last half."""
        late = self._late(0.5, 3)
        middle = variable[late].mean()
        solution = self._solved(np.vander(variable[late] - middle, 3, increasing=True), late)
        weights = np.zeros(len(self.x))
        weights[late] = solution[1] + 2 * (place - middle) * solution[2]
        return self._without_harmonics(weights)

    def at(self, log_power: float) -> Fit:
        """A fit to these data with another log power divided out."""
        return replace(self, log_power=float(log_power))

    def tilted(self, power: float) -> Fit:
        """A fit to these runs, had their regret been larger by T^power."""
        samples = tuple(s * t**power for s, t in zip(self.data.samples, self.data.horizons, strict=False))
        return replace(self, data=replace(self.data, y=self.data.y + power * self.x, samples=samples))

    # The log power

    def log_power_at(self, slope: float) -> Estimate:
        """The power of ln T when the slope is fixed."""
        weights = self._weights(self.log_x)[1]
        return self._estimate(weights, self.data.y - slope * self.x)

    def line(self) -> Line:
        design = self._design(self.x)
        solution = self._solved(design)
        straight, around = design[:, :2] @ solution[:2], design[:, 2:] @ solution[2:]
        factor = (self.whole.high - self.whole.value) / self.whole.se if self.whole.se > 0 else 0.0
        variance = np.einsum("ij,jk,ik->i", straight, self.data.covariance, straight)
        reach = factor * np.sqrt(np.maximum(variance, 0))
        spread = factor * np.sqrt(np.diag(self.data.covariance))
        return Line(straight @ self.corrected, reach, around @ self.corrected, spread)

    # As statsmodels shows a regression; imported when asked for, it takes longer to load than all of this

    def summary(self):
        """A table as statsmodels prints it, with the jackknife's errors; it has as_html, as_latex and as_csv too."""
        from .summary import summary

        return summary(self)

    def influence(self):
        """Leverage, studentised residual and Cook's distance of each horizon: a pandas table."""
        from .summary import influence

        return influence(self)

    # What it says of itself

    def plot(self, rate=None):
        """The means, the fitted line with its interval and, where a Rate is given, its shape: a Matplotlib figure."""
        from ..figures.fitted import Fitted, fitted_figure

        return fitted_figure(Fitted.of(self, rate))

    def __repr__(self):
        slope = f"slope {self._interval()} of {self.data.words.y} at log power {self.log_power:g}"
        known = f", N = {self.data.replicates}" if self.data.replicates else ""
        return f"<Fit: {slope}, {self._window()}{known}>"

    def _facts(self):
        cautions = [text for text in (self.problem, self.caution) if text]
        return {
            "slope": f"{self._interval()} at {100 * self.level:g} %: "
            f"{self.data.words.rate(self.whole.value, self.log_power)}",
            "log power": f"{self.log_power:g}, divided out before the fit",
            "window": self._window(),
            "means" if self.data.source == "means" else "runs": self._runs(),
            "caution": "; ".join(cautions) or "none",
        }

    def _interval(self):
        ends = f"[{self.low:.4f}, {self.high:.4f}]"
        if self.high - self.low < 2e-4:  # that the digits would hide
            ends = f"± {(self.high - self.low) / 2:.1g}"
        return f"{self.slope:.4f} {ends}"

    def _window(self):
        T, words = self.data.horizons, self.data.words
        period = "" if self.period is None else f", period {self.period:.4g}"
        first, last = (words.place(T[end]) for end in (0, -1))
        return f"{words.x} = {first:.7g} ... {last:.7g}, {len(T)} {'horizons' if words.x == 'T' else 'values'}{period}"

    def _runs(self):
        if self.data.source == "series":
            return "none: errors from the scatter about the line and from the digits given"
        if self.data.source == "means":
            known = f"{self.data.replicates} runs" if self.data.replicates else "an unknown number of runs"
            return f"{len(self.data.horizons)}, with standard errors, of {known}"
        seen = "each seen at every horizon" if self.data.anytime else "new ones at every horizon"
        return f"{self.data.replicates}, {seen}"


@lru_cache(maxsize=256)
def _solution(design, shape):
    """The pseudo-inverse behind an ordinary least-squares fit; the same few designs come again and again."""
    return np.linalg.pinv(np.frombuffer(design).reshape(shape))


def fit_rate(
    runs,
    log_power: float = 0.0,
    window=None,
    period="table",
    level: float = 0.95,
    *,
    x=None,
    y=None,
    run=None,
    error=None,
    sd=None,
    half_width=None,
    count=None,
    where=None,
    anytime=None,
    step=None,
    values: bool = False,
    floor=None,
) -> Fit:
    """Fit the slope of log mean regret against log T, or of any y against any x.

    `runs` is what simulate gives, or a table: of pandas, a dict of columns, records, an array, or a file's path.  `x`,
    `y` and `run` name its columns, `error` a column of standard errors where it holds means, `sd` one of standard
    deviations, `half_width` one of half the widths of 95 % intervals (or two, their ends), `count` the runs behind each
    mean (a column or a number); columns with usual names are found, and `.remarks` says what was.  `where` picks rows
    ({"algorithm": "UCB"}).  `anytime` says that the rows of a run come from one run, which is also what is inferred
    where a run is seen at several x; `step` that x is the size of a step, whose smallest values are the end of the
    window.  `values`: y are values without a known limit, and their differences are fitted.  `floor` is subtracted
    from y: a number, a pair of bounds or "fit".

    `window` is a pair of horizons (None: all); `period` the factor of the regret's log-periodicity (algorithms
    bring it), None where there is none; by default it is read from the table, as is whether the horizons share
    their runs.

    The result says it in five lines, `slope` being the exponent of R, and draws itself:

        fit = rc.fit_rate(runs, log_power=1.5)
        print(fit)
        fit.slope, fit.low, fit.high
        fit.plot(rc.Rate.parse("T^0.5 (ln T)^1.5"))
    """
    check_real("log_power", log_power)
    check_level(level)
    window = None if window is None else check_window(window)
    asked, rows = Roles(x, y, run, error, sd, half_width, count), {"where": where, "anytime": anytime, "step": step}
    nothing = not values and all(option is None for option in (*vars(asked).values(), *rows.values(), floor))
    if isinstance(runs, LogMeans):
        found = runs
    elif nothing and _of_this_house(runs):
        found = log_means(runs, logarithms=log_power != 0)
    else:
        found = points(table_of(runs), asked, **rows, window=window)
    found = found if window is None else _windowed(found, window)
    data = found if isinstance(found, LogMeans) else log_points(differences(found) if values else found, floor, level)
    period = _checked_period(data.period if isinstance(period, str) and period == "table" else period)
    if log_power:
        check_beyond_e(data.horizons[0], data.words)
    return Fit(data, float(log_power), period, level, too_short(data.horizons, period) or data.problem)


def _checked_period(period) -> float | None:
    if period is not None and not (isinstance(period, Real) and 1 < period < 1e100):
        raise FitError(f"period = {shown(period)} must be a number above 1")
    return period


def _of_this_house(runs) -> bool:
    """A table as simulate gives it, which says all that a fit asks for."""
    table = getattr(runs, "frame", runs)
    names = ("replicate", "horizon", "regret", "anytime")
    return not isinstance(table, type) and all(name in getattr(table, "columns", ()) for name in names)


def _windowed(data, window):
    keep = within(data.words.place(data.horizons), window)
    if keep.sum() < 3:
        low, high = window
        what = "horizons" if data.words.x == "T" else f"values of {data.words.x}"
        raise FitError(f"the window {low:g} ... {high:g} holds {keep.sum()} {what}; at least 3 are needed")
    return data.cut(keep)


def in_steps(fit: Fit, rate: Rate) -> Rate:
    """A rate in T: a table whose x is the size of a step is promised powers of that."""
    inverse = isinstance(fit, Fit) and isinstance(rate, Rate) and fit.data.words.inverse
    return Rate.of_regret(-rate.slope, rate.log_power) if inverse else rate


def check_fit(fit):
    if not isinstance(fit, Fit):
        raise ValueError(f"fit = {shown(fit)} must be what fit_rate gives")


def slope_difference(first: Fit, second: Fit) -> Estimate:
    """first.slope - second.slope.  Where the tables name common random streams, their covariance is used.

    For example

        rc.slope_difference(fit, other)     # an Estimate: .value, .low, .high
    """
    check_fit(first)
    check_fit(second)
    a, b = first._weights(first.x)[1], second._weights(second.x)[1]
    value = first.whole.value - second.whole.value
    variance = first.whole.se**2 + second.whole.se**2 - 2 * float(a @ cross_covariance(first.data, second.data) @ b)
    df = min(first.whole.df, second.whole.df)
    return Estimate(value, math.sqrt(max(variance, 0.0)), df, first.level)
