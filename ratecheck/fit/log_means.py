"""From a table of runs to the logarithms of mean regrets, y_j at horizon T_j, with their covariance.

The estimand is log E R(T); the covariance comes from a jackknife over runs.
"""

from __future__ import annotations

import math
from dataclasses import dataclass, replace
from numbers import Real

import numpy as np

from ..arguments import items, shown
from ..claims import FEWEST_RUNS

NAMES = ("cost", "dim", "algorithm", "noise", "alignment", "period")  # one value each in one table


class FitError(ValueError):
    """The table of runs does not allow a fit; the message says why.

    See `fit_rate`; `judge` turns it into a verdict, INCONCLUSIVE.
    """


@dataclass(frozen=True)
class AxisLabels:
    """What a table calls its two quantities; `inverse` where x is the size of a step, and T one over it."""

    x: str = "T"
    y: str = "R"
    inverse: bool = False

    @property
    def end(self) -> str:
        return f"{self.x}_min" if self.inverse else f"{self.x}_max"

    def place(self, horizon) -> float:
        """A horizon as the table has it."""
        return 1 / horizon if self.inverse else horizon

    def slope(self, slope) -> float:
        return -slope if self.inverse else slope

    def power(self, slope, digits=3) -> str:
        return f"{self.x}^{self.slope(slope) + 0.0:.{digits}f}"

    def rate(self, slope, log_power=0.0, relation="=") -> str:
        inner = f"1/{self.x}" if self.inverse else self.x
        logarithm = f" (ln {inner})^{log_power:.4g}" if log_power else ""
        return f"{self.y} {relation} {self.x}^{self.slope(slope) + 0.0:.4g}{logarithm}"


OURS = AxisLabels()


@dataclass(frozen=True)
class LogMeans:
    """log of the mean regret at each horizon, with the jackknife covariance over runs.

    A published table has means and their errors in place of runs, a deterministic series has neither; `source` says
    "runs", "means" or "series", and `samples` is empty where there are no runs.
    """

    horizons: np.ndarray
    y: np.ndarray
    covariance: np.ndarray
    replicates: int
    anytime: bool
    samples: tuple  # regrets per horizon: columns of one matrix if anytime
    streams: tuple | None  # names of the random streams per horizon, where the table has them
    period: float | None = None  # of the regret's log-periodicity, where the table names one
    df: float | None = None  # degrees of freedom of the covariance; None: one less than the runs
    source: str = "runs"
    weights: np.ndarray | None = None  # of the points in every regression; None: all the same
    extra: np.ndarray | None = None  # columns that every regression carries
    profile: object | None = None  # of the slope, where a floor is fitted too
    problem: str = ""  # why there can be no verdict
    noisy: bool = False  # the window ends where noise begins, not where the table does
    words: AxisLabels = OURS
    remarks: tuple[str, ...] = ()  # what was found in the table, and what was inferred

    @property
    def x(self):
        return np.log(self.horizons)

    @property
    def freedom(self) -> float:
        return self.replicates - 1 if self.df is None else self.df

    @classmethod
    def of(cls, horizons, samples, anytime, streams=None) -> LogMeans:
        """From regrets: one array per horizon, whose i-th entries belong to the same run if anytime."""
        if anytime:
            covariance = _covariance(np.column_stack(samples))
        else:
            covariance = np.diag([_covariance(s[:, None])[0, 0] for s in samples])
        y = np.log([s.mean() for s in samples])
        return cls(np.asarray(horizons, float), y, covariance, min(map(len, samples)), anytime, samples, streams)

    def cut(self, keep) -> LogMeans:
        """The means at some horizons only; `keep` is a boolean array."""
        found = kept(self, keep, ("horizons", "y", "samples", "streams", "weights", "extra"))
        return replace(found, covariance=self.covariance[np.ix_(keep, keep)])


def kept(data, keep, names):
    """Data with some entries of the named fields, which are arrays, tuples or None."""

    def some(values):
        if isinstance(values, tuple):
            return tuple(value for value, held in zip(values, keep, strict=bool(values)) if held)
        return None if values is None else values[keep]

    return replace(data, **{name: some(getattr(data, name)) for name in names})


def log_means(runs, logarithms: bool = True) -> LogMeans:
    """Read a table of runs: columns replicate, horizon, regret and anytime; or an object with such a `frame`.

    `logarithms` asks for horizons that have one, and one of it.
    """
    table = getattr(runs, "frame", runs)
    if isinstance(table, type) or not hasattr(table, "columns"):
        raise ValueError(f"runs = {shown(runs)} is no table of runs; take what simulate gives, or a pandas table")
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
    if horizons[0] <= 0:
        raise FitError(f"horizon {horizons[0]:g} is not positive: it has no logarithm; leave it out")
    if logarithms:
        check_beyond_e(horizons[0])
    fewest = min(map(len, samples))
    if fewest < FEWEST_RUNS:
        raise FitError(f"{fewest} run(s) at a horizon give no interval; at least {FEWEST_RUNS} are needed")
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
    data = LogMeans.of(horizons, samples, bool(anytime), streams)
    period = float(table["period"].iloc[0]) if "period" in table else math.nan
    return data if math.isnan(period) else replace(data, period=period)


def check_beyond_e(horizon, words: AxisLabels = OURS):
    if horizon <= math.e * (1 + 1e-12):
        place = f"{words.place(horizon):g}"
        if words.inverse:
            raise FitError(f"{words.x} = {place} is not below 1/e: ln ln 1/{words.x} is not positive; leave it out")
        name = "horizon" if words.x == "T" else f"{words.x} ="
        raise FitError(f"{name} {place} does not exceed e, where ln ln {words.x} is not positive; leave it out")


def check_level(level):
    if not (isinstance(level, Real) and 0 < level < 1):
        raise FitError(f"level = {shown(level)} must lie between 0 and 1")


def check_window(window) -> tuple:
    pair = items("window", window, "two horizons")
    if len(pair) != 2 or not all(isinstance(end, Real) and not math.isnan(end) for end in pair):
        raise ValueError(f"window = {shown(window)} must be a pair of horizons, or None")
    return pair


def within(horizons, window) -> np.ndarray:
    """Which horizons lie in a window, its ends included; ends that were computed may miss a horizon by rounding."""
    low, high = window
    horizons = np.asarray(horizons)
    return (horizons >= low * (1 - 1e-9)) & (horizons <= high * (1 + 1e-9))


def _left_out(R):
    """log of the mean without run i, for every i (rows) and horizon (columns)."""
    n = len(R)
    rest = (R.sum(axis=0) - R) / (n - 1)
    return np.log(np.maximum(rest, np.finfo(float).tiny))


def _covariance(R):
    y = _left_out(R)
    centred = y - y.mean(axis=0)
    return (len(R) - 1) / len(R) * centred.T @ centred


def cross_covariance(first: LogMeans, second: LogMeans):
    """The jackknife covariance between two sets of log-means whose runs share streams; zero where they do not."""
    shape = (len(first.horizons), len(second.horizons))
    if first.streams is None or second.streams is None:
        return np.zeros(shape)
    cross = np.zeros(shape)
    ours, theirs = _left_out_by_stream(first), _left_out_by_stream(second)
    for i, u in enumerate(ours):
        for j, v in enumerate(theirs):
            pairs = np.array([(u[name], v[name]) for name in u if name in v])
            if len(pairs) >= 3:  # from leave-one-out values over the common runs to two means of different runs
                factor = len(pairs) * (len(u) - 1) * (len(v) - 1) / (len(u) * len(v))
                cross[i, j] = factor * np.cov(pairs.T)[0, 1]
    return cross


def _left_out_by_stream(data: LogMeans):
    return [
        dict(zip(names, _left_out(sample[:, None])[:, 0], strict=True))
        for names, sample in zip(data.streams, data.samples, strict=True)
    ]


def rounded_up(number) -> str:
    """Two digits, not less than the number."""
    unit = 10.0 ** (math.floor(math.log10(number)) - 1)
    return f"{math.ceil(number / unit * (1 - 1e-9)) * unit:.2g}"
