"""What a table says at each x: runs, means with errors, or single numbers; and what keeps it from saying anything."""

from __future__ import annotations

import re
from dataclasses import dataclass, replace
from itertools import pairwise
from numbers import Real

import numpy as np
from scipy import special

from ..arguments import shown
from ..claims import FEWEST_RUNS
from .columns import Roles, brief, floats, is_numeric, is_step_size, listed, long, picked, plain, roles_in, unlogged
from .log_means import NAMES, OURS, AxisLabels, FitError, LogMeans, kept, within
from .read import Table, half_units

LARGEST_VALUE = 1e150  # beyond it squares overflow, and those of one over it vanish


@dataclass(frozen=True)
class Points:
    """What a table says at each x, in whatever form it does: runs, means with errors, or single numbers."""

    horizons: np.ndarray
    means: np.ndarray
    errors: np.ndarray | None  # of the means, where there are no runs
    samples: tuple = ()
    anytime: bool = False
    count: int = 0  # of the runs behind a mean; 0: not known
    rounding: np.ndarray | None = None  # half a unit of the last digit
    words: AxisLabels = OURS
    remarks: tuple[str, ...] = ()

    @property
    def source(self) -> str:
        if self.samples:
            return "runs"
        return "series" if self.errors is None else "means"

    def cut(self, keep) -> Points:
        return kept(self, keep, ("horizons", "means", "errors", "rounding", "samples"))

    def remarked(self, *words) -> Points:
        return replace(self, remarks=(*self.remarks, *words))

    def as_logarithms(self, y, covariance, *, remarks=(), **more) -> LogMeans:
        known = {"source": self.source, "words": self.words, "remarks": (*self.remarks, *remarks)} | more
        return LogMeans(self.horizons, y, covariance, self.count, self.anytime, (), None, **known)


def points(table: Table, asked: Roles, *, where=None, anytime=None, step=None, window=None) -> Points:
    """What a table says at each x; rows outside a window may be anything.  See `fit_rate` for the arguments."""
    _check_choice("anytime", anytime, "do the rows of a run come from one run?")
    _check_choice("step", step, "is x the size of a step?")
    if len(table.frame) == 0:
        raise FitError("the table is empty")
    if where:
        table = picked(table, where)
    if asked.x is None or asked.y is None:
        table = long(table, asked.x)
    roles = roles_in(table.frame, asked)
    table, roles, bases = unlogged(_complete(table, roles), roles)
    X, Y = floats(table.frame, roles.x), floats(table.frame, roles.y)
    if window is not None:
        keep = within(X, window) | ((X > 0) & np.isfinite(X) & np.isfinite(Y))
        table, X, Y = table.rows(keep), X[keep], Y[keep]
    falls = np.all(X < 1) and len(set(X)) > 1 and Y[np.argmax(X)] > Y[np.argmin(X)]
    inverse = (is_step_size(roles.x) or bool(falls)) if step is None else step
    words = AxisLabels(str(roles.x), str(roles.y), inverse)
    _check_numbers(X, Y, words)
    _check_groups(table.frame, roles)
    table = table.remarked(_said(roles, inverse, step))
    T = 1 / X if inverse else X
    if roles.spread is not None:
        found = _of_means(table.frame, roles, T, Y)
    else:
        found = _of_runs(table.frame, roles, T=T, Y=Y, anytime=anytime, words=words)
    if found.source == "series":
        idle = [c for c in table.frame if is_numeric(table.frame[c]) and c not in roles.used() and c != asked.x]
        table = table.remarked(f"not used: {listed(idle)}") if idle else table
        _, order = np.unique(T, return_index=True)
        found = replace(found, rounding=_rounding(table.texts, roles.y, logged=bases.get(roles.y), Y=Y, order=order))
    if len(found.horizons) < 3:
        raise FitError(
            f"{len(found.horizons)} value(s) of {roles.x} give no slope with an interval; at least 3 are needed"
        )
    return replace(found, words=words, remarks=(*table.remarks, *found.remarks))


def _check_choice(name, value, question):
    if value not in (None, True, False):
        raise ValueError(f"{name} = {shown(value)} must be True, False or None: {question}")


def _rounding(texts, column, *, logged, Y, order) -> np.ndarray:
    """Half a unit of the last digit of y; where its logarithms were given, of theirs."""
    base, name = logged or (np.e, column)
    values = np.log(np.maximum(Y[order], 1 / LARGEST_VALUE)) / np.log(base) if logged else Y[order]
    units = half_units(None if texts is None else texts[name].iloc[order], values)
    return units * np.log(base) * Y[order] if logged else units


def _complete(table: Table, roles: Roles) -> Table:
    gone = table.frame[[roles.x, roles.y]].isna().all(axis=1).to_numpy()
    if not gone.any():
        return table
    if gone.all():
        raise FitError(f"no row has a value of {roles.x} and of {roles.y}")
    return table.rows(~gone).remarked(f"{gone.sum()} rows without {roles.x} and {roles.y} are left out")


def _check_numbers(X, Y, words):
    if not np.all(np.isfinite(X)):
        raise FitError(f"{np.count_nonzero(~np.isfinite(X))} of {len(X)} values of {words.x} are missing or not finite")
    if np.any(X <= 0):
        raise FitError(f"{words.x} = {X[X <= 0][0]:g} is not positive: it has no logarithm; leave it out (--window)")
    if np.any(np.isfinite(Y) & (np.abs(Y) > LARGEST_VALUE)):
        raise FitError(f"{words.y} = {np.abs(Y).max():.3g} is too large to reckon with; count it in another unit")
    if np.any((Y != 0) & (np.abs(Y) < 1 / LARGEST_VALUE)):
        small = np.abs(Y[Y != 0]).min()
        raise FitError(f"{words.y} = {small:.3g} is too small to reckon with; count it in another unit")
    bad = ~np.isfinite(Y)
    if bad.any():
        raise FitError(
            f"{bad.sum()} of {len(Y)} values of {words.y} are missing or not finite, the first at {words.x} = "
            f"{X[bad][0]:g}; a mean needs all: leave such rows out where that is right"
        )


def _check_groups(frame, roles):
    used = set(roles.used())
    for column in frame.columns:
        if column in used or plain(column) == "anytime" or column == "stream":
            continue
        values = frame[column].dropna()
        several = values.nunique() > 1
        if several and (not is_numeric(values) or column in NAMES):
            seen = list(dict.fromkeys(values))
            if len(seen) > max(20, len(frame) // 3):
                continue  # a remark per row, a date
            raise FitError(
                f"the table holds several {column} ({listed(seen, 6)}); pick one with where={{{str(column)!r}: "
                f"{brief(seen[0])!r}}} (--where {column}={brief(seen[0])}), or fit each with --by {column}"
            )


def _said(roles, inverse, step) -> str:
    parts = [f"x is {str(roles.x)!r}", f"y is {str(roles.y)!r}"]
    parts += [
        f"the {role} is {str(getattr(roles, name))!r}"
        for role, name in (("run", "run"), ("standard error", "error"), ("standard deviation", "sd"))
        if getattr(roles, name) is not None
    ]
    if isinstance(roles.half_width, tuple):
        parts.append("{!r} and {!r} are the ends of its interval".format(*map(str, roles.half_width)))
    elif roles.half_width is not None:
        parts.append(f"{str(roles.half_width)!r} is half the width of its interval")
    if inverse:
        why = "" if step else (" by its name" if is_step_size(roles.x) else ", for it stays below 1")
        parts.append(f"{roles.x} is the size of a step{why}: the window ends at its smallest value")
    return "; ".join(parts)


# Runs, means, series


def _of_runs(frame, roles, *, T, Y, anytime, words) -> Points:
    horizons = np.unique(T)
    places = [np.flatnonzero(t == T) for t in horizons]
    declared = next((c for c in frame.columns if plain(c) == "anytime"), None)
    if anytime is None and declared is not None:
        anytime = _declared(frame[declared])
    if all(len(p) == 1 for p in places):
        if anytime:
            raise FitError(
                f"there is one value of {roles.y} at each {roles.x}: runs seen at all of them need a column (run=...)"
            )
        note = (
            f"one value at each {roles.x}: errors come from the scatter about the line; right for a deterministic "
            "computation, too small for a single random run"
        )
        return Points(horizons, np.array([Y[p[0]] for p in places]), None, remarks=(note,))
    if roles.run is not None:
        return _of_named_runs(frame, roles, horizons=horizons, places=places, Y=Y, anytime=anytime, words=words)
    _check_hidden_groups(frame, roles)
    if anytime:
        raise FitError(f"runs that are seen at every {roles.x} need a column that names them (run=..., --run NAME)")
    said = f"{_counts(places)} rows at each {roles.x} and no column of runs: each row is a run of its own"
    return _samples(horizons, [Y[p] for p in places], words=words, remark=said)


def _of_named_runs(frame, roles, *, horizons, places, Y, anytime, words) -> Points:
    labels = frame[roles.run].to_numpy()
    by = [dict(zip(labels[p].tolist(), Y[p], strict=True)) for p in places]
    for t, p, d in zip(horizons, places, by, strict=True):
        if len(d) < len(p):
            raise FitError(_twice(frame, roles, f"{roles.x} = {words.place(t):g}"))
    if anytime is False or not any(set(a) & set(b) for a, b in pairwise(by)):
        why = "" if anytime is False else f": no {roles.run} is seen twice"
        said = f"{_counts(places)} separate runs at each {roles.x}{why}"
        return _samples(horizons, [np.array(list(d.values())) for d in by], words=words, remark=said)
    everywhere, ids = set.intersection(*map(set, by)), set.union(*map(set, by))
    missing = len(ids) - len(everywhere)
    if missing and (anytime or len(everywhere) < max(FEWEST_RUNS, len(ids) / 2)):
        raise FitError(
            f"{missing} of {len(ids)} runs are missing at some {roles.x}; runs that are seen at all of them must be "
            "complete: leave these out, or say that rows are runs of their own (anytime=False, --separate)"
        )
    said = f"{len(everywhere)} runs, each seen at all {len(horizons)} values of {roles.x}"
    if anytime is None:
        said += ", taken as one run throughout (say anytime=False, --separate, if each row is a run of its own)"
    if missing:
        said += f"; runs that are missing at some {roles.x} are left out: {missing}"
    keys = [label for label in dict.fromkeys(labels.tolist()) if label in everywhere]
    return _samples(horizons, [np.array([d[k] for k in keys]) for d in by], words=words, remark=said, anytime=True)


def _twice(frame, roles, place) -> str:
    own = [roles.x, roles.y, roles.run]
    if frame.duplicated(own).any():
        return f"rows are there twice, the first at {place}; leave the copies out"
    varying = [c for c in frame.columns if c not in own and frame[c].nunique() > 1]
    hint = f"; columns that differ: {listed(varying)}" if varying else ""
    return f"a {roles.run} appears twice at {place}; the table mixes several curves{hint}"


def _declared(column) -> bool:
    values = {str(v).lower() for v in column.unique()}
    for value, texts in ((True, {"true", "1", "1.0"}), (False, {"false", "0", "0.0"})):
        if len(values) == 1 and values <= texts:
            return value
    raise FitError("column 'anytime' must be True in every row, or False: do the rows of a run come from one run?")


def _counts(places) -> str:
    sizes = {len(p) for p in places}
    return str(sizes.pop()) if len(sizes) == 1 else f"{min(sizes)} to {max(sizes)}"


def _check_hidden_groups(frame, roles):
    """A column of few whole numbers may name several curves, or the runs: only its owner knows."""
    for column in frame.columns:
        if column in (roles.x, roles.y) or not is_numeric(frame[column]):
            continue
        values = frame[column].dropna()
        if 1 < values.nunique() <= len(frame) // 2 and np.all(values == np.round(values)):
            raise FitError(
                f"column {str(column)!r} has {values.nunique()} values: does it name the runs (run={str(column)!r}, "
                f"--run {column}), or several curves (where={{{str(column)!r}: {values.iloc[0]:g}}}, --by {column})?"
            )


def _samples(horizons, samples, *, words, remark, anytime=False) -> Points:
    fewest = min(map(len, samples))
    if fewest > 1 and all(np.ptp(s) == 0 for s in samples):
        note = f"all runs agree to the last digit at every {words.x}: they are read as one deterministic series"
        return Points(horizons, np.array([s[0] for s in samples]), None, remarks=(remark, note))
    if fewest < FEWEST_RUNS:
        raise FitError(f"{fewest} run(s) at some {words.x} give no interval; at least {FEWEST_RUNS} are needed")
    means = np.array([s.mean() for s in samples])
    return Points(horizons, means, None, tuple(samples), anytime, fewest, remarks=(remark,))


def _of_means(frame, roles, T, Y) -> Points:
    order = np.argsort(T, kind="stable")
    if len(np.unique(T)) < len(T):
        raise FitError(f"a value of {roles.x} appears twice, but a table of means has a row for each; several curves?")
    column = roles.spread
    spread = _half_widths(frame, column, Y) if isinstance(column, tuple) else floats(frame, column)
    shown_as = listed(column) if isinstance(column, tuple) else f"column {str(column)!r}"
    if not np.all(np.isfinite(spread)) or np.any(spread < 0):
        raise FitError(f"{shown_as} must hold errors, and they are never negative or missing")
    count = None
    if roles.count is not None:
        count = (
            np.full(len(T), float(roles.count))
            if isinstance(roles.count, Real) and roles.count not in frame
            else floats(frame, roles.count)
        )
        if not np.all(count >= 2):
            raise FitError(f"count = {shown(roles.count)}: at least 2 runs are behind a mean that has an error")
    if roles.sd is not None:
        if count is None:
            raise FitError(
                f"standard deviations ({roles.sd}) need the number of runs behind each mean: count=... "
                "(--count, a column or a number); or say error=... (--error) if they are standard errors"
            )
        spread = spread / np.sqrt(count)
    if not np.any(spread > 0):
        raise FitError(f"{shown_as} is zero throughout; leave it out if the numbers are exact")
    if np.any(spread == 0):
        raise FitError(
            f"the error at {roles.x} = {frame[roles.x].iloc[int(np.argmin(spread))]:g} is zero; no mean is exact"
        )
    said = f"{len(T)} means with standard errors, taken as independent of each other"
    if count is None:
        said += "; the number of runs behind the means is not known: intervals take their errors as exact"
    if roles.half_width is not None:
        named = re.search(r"(?<!\d)(68|80|90|95|99)(?!\d)", str(roles.half_width))  # the level, by the column's name
        level = int(named[1]) / 100 if named else 0.95
        tail = 0.5 + level / 2
        spread = spread / (special.ndtri(tail) if count is None else special.stdtrit(count - 1, tail))
        said = f"intervals of the means are taken as {100 * level:g} % ones; {said}"
    runs = 0 if count is None else int(count.min())
    return Points(T[order], Y[order], spread[order], count=runs, remarks=(said,))


def _half_widths(frame, ends, Y) -> np.ndarray:
    low, high = (floats(frame, end) for end in ends)
    outside = ~((low <= Y) & (high >= Y))
    if outside.any():
        raise FitError(
            f"the mean {Y[outside][0]:g} does not lie between {ends[0]} = {low[outside][0]:g} and {ends[1]} = "
            f"{high[outside][0]:g}; these must be the ends of its interval"
        )
    return (high - low) / 2
