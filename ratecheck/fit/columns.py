"""Which column of a table is what: x, y, the run, the error of a mean; names that people use, and what is inferred."""

from __future__ import annotations

import re
from collections.abc import Hashable, Mapping
from dataclasses import dataclass, replace
from itertools import pairwise
from numbers import Real

import numpy as np
from scipy import special

from ..arguments import meant, shown
from .log_means import NAMES, OURS, FitError, Words, within
from .read import Table, half_units, number

# names without case, spaces and signs; fmt: off
COUNTS = (
    "t",
    "n",
    "horizon",
    "horizons",
    "time",
    "rounds",
    "round",
    "iteration",
    "iterations",
    "iter",
    "iters",
    "steps",
    "nsteps",
    "samples",
    "samplesize",
    "nsamples",
    "sample",
    "size",
    "budget",
    "evaluations",
    "evals",
    "nfev",
    "epoch",
    "epochs",
    "tokens",
    "params",
    "parameters",
    "dof",
    "dofs",
    "ndof",
    "ndofs",
    "points",
    "cells",
    "nodes",
    "elements",
    "trainsize",
    "x",
)
STEP_SIZES = (
    "h",
    "dt",
    "dx",
    "deltat",
    "deltax",
    "stepsize",
    "meshsize",
    "meshwidth",
    "gridsize",
    "gridspacing",
    "spacing",
    "hmax",
    "tau",
    "eps",
    "epsilon",
)
QUANTITIES = (
    "regret",
    "error",
    "err",
    "loss",
    "risk",
    "mse",
    "rmse",
    "mae",
    "gap",
    "bias",
    "suboptimality",
    "variance",
    "y",
    "mean",
    "value",
    "cost",
)
ENDINGS = (
    "regret",
    "error",
    "err",
    "loss",
    "mse",
    "rmse",
    "risk",
    "gap",
)
RUNS = (
    "run",
    "seed",
    "replicate",
    "rep",
    "trial",
    "repetition",
    "repeat",
    "replication",
    "runid",
    "seedid",
    "runindex",
    "randomseed",
)
ERRORS = (
    "se",
    "stderr",
    "standarderror",
    "stderror",
    "sem",
    "ste",
    "semean",
)
DEVIATIONS = (
    "sd",
    "std",
    "stdev",
    "stddev",
    "standarddeviation",
)
HALF_WIDTHS = (
    "halfwidth",
    "ci",
    "ci95",
    "95ci",
    "ci90",
    "90ci",
    "ci99",
    "99ci",
    "cihalfwidth",
    "ci95halfwidth",
    "confidence",
)
ENDS = (
    ("low", "high"),
    ("lo", "hi"),
    ("lower", "upper"),
    ("cilow", "cihigh"),
    ("cilo", "cihi"),
    ("cilower", "ciupper"),
    ("lowerci", "upperci"),
    ("lowci", "highci"),
    ("low95", "high95"),
    ("lower95", "upper95"),
    ("ci95low", "ci95high"),
    ("ci95lower", "ci95upper"),
)
COUNTED = (
    "count",
    "runs",
    "nruns",
    "replicates",
    "reps",
    "repeats",
    "repetitions",
    "seeds",
    "nseeds",
    "trials",
    "ntrials",
    "numruns",
    "numseeds",
)
# fmt: on
BESIDE_MEANS = (*ERRORS, *DEVIATIONS, *COUNTED, *HALF_WIDTHS, *(name for pair in ENDS for name in pair))
FEWEST = 3  # columns of a wide table
LARGEST = 1e150  # beyond it squares overflow, and those of one over it vanish


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
    words: Words = OURS
    remarks: tuple[str, ...] = ()

    @property
    def source(self) -> str:
        if self.samples:
            return "runs"
        return "series" if self.errors is None else "means"

    def cut(self, keep) -> Points:
        index = np.flatnonzero(keep)

        def some(values):
            return None if values is None else values[index]

        return replace(
            self,
            horizons=self.horizons[index],
            means=self.means[index],
            errors=some(self.errors),
            rounding=some(self.rounding),
            samples=tuple(self.samples[j] for j in index) if self.samples else (),
        )

    def remarked(self, *words) -> Points:
        return replace(self, remarks=(*self.remarks, *words))


@dataclass(frozen=True)
class Roles:
    """The columns of one table, by what they mean; None where there is none."""

    x: object
    y: object
    run: object = None
    error: object = None
    sd: object = None
    half_width: object = None  # of intervals: a column, or a tuple of their low and high ends
    count: object = None  # a column, or a number

    @property
    def spread(self):
        """The column, or two, by which means have errors."""
        found = (c for c in (self.error, self.sd, self.half_width) if c is not None)
        return next(found, None)

    def used(self) -> list:
        ends = self.half_width if isinstance(self.half_width, tuple) else (self.half_width,)
        return [c for c in (self.x, self.y, self.run, self.error, self.sd, self.count, *ends) if c is not None]


def points(
    table: Table,
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
    window=None,
) -> Points:
    """What a table says at each x; rows outside a window may be anything.  See `fit_rate` for the arguments."""
    if anytime not in (None, True, False):
        raise ValueError(
            f"anytime = {shown(anytime)} must be True, False or None: do the rows of a run come from one run?"
        )
    if step not in (None, True, False):
        raise ValueError(f"step = {shown(step)} must be True, False or None: is x the size of a step?")
    frame, texts, remarks = table.frame, table.texts, list(table.remarks)
    if len(frame) == 0:
        raise FitError("the table is empty")
    if where:
        frame, texts = _picked(frame, texts, where)
    if x is None or y is None:
        frame, texts, wide = _long(frame, texts, x)
        remarks += wide
    roles = _roles(frame, x, y, run, error, sd, half_width, count)
    frame, texts, said = _complete(frame, texts, roles)
    remarks += said
    frame, roles, bases, said = _unlogged(frame, roles)
    remarks += said
    X, Y = _floats(frame, roles.x), _floats(frame, roles.y)
    if window is not None:
        keep = np.flatnonzero(within(X, window) | ((X > 0) & np.isfinite(X) & np.isfinite(Y)))
        frame, texts, X, Y = _rows(frame, keep), _rows(texts, keep), X[keep], Y[keep]
    inverse = _is_step(roles.x, X, Y) if step is None else step
    words = Words(str(roles.x), str(roles.y), inverse)
    _check_numbers(X, Y, words)
    _check_groups(frame, roles)
    remarks.append(_said(roles, inverse, step))
    T = 1 / X if inverse else X
    if roles.spread is not None:
        found = _of_means(frame, roles, T, Y)
    else:
        found = _of_runs(frame, roles, T, Y, anytime, words)
    if found.source == "series":
        idle = [c for c in frame.columns if frame[c].dtype.kind in "iuf" and c not in roles.used() and c != x]
        remarks += [f"not used: {_listed(idle)}"] if idle else []
        _, order = np.unique(T, return_index=True)
        found = replace(found, rounding=_rounding(texts, roles.y, bases.get(roles.y), Y, order))
    if len(found.horizons) < 3:
        raise FitError(
            f"{len(found.horizons)} value(s) of {roles.x} give no slope with an interval; at least 3 are needed"
        )
    return replace(found, words=words, remarks=(*remarks, *found.remarks))


def _rounding(texts, column, logged, Y, order) -> np.ndarray:
    if logged is None:
        return half_units(None if texts is None else texts[column].iloc[order], Y[order])
    base, name = logged
    logarithms = np.log(np.maximum(Y[order], 1 / LARGEST)) / np.log(base)
    return half_units(None if texts is None else texts[name].iloc[order], logarithms) * np.log(base) * Y[order]


def _rows(frame, keep):
    return None if frame is None else frame.iloc[keep].reset_index(drop=True)


def groups(table: Table, column) -> list:
    """The values of a column by which a table is to be fitted in turn."""
    name = named(table.frame, column)
    return list(dict.fromkeys(table.frame[name]))


# Names


def plain(name) -> str:
    """A column's name without case, spaces and signs."""
    return re.sub(r"[^a-z0-9]", "", str(name).lower())


def named(frame, wanted):
    """The column that was asked for, however it is spelt."""
    if not isinstance(wanted, Hashable):
        raise ValueError(f"{shown(wanted)} must be the name of one column (columns: {_listed(frame.columns)})")
    if wanted in frame.columns:
        return wanted
    same = [c for c in frame.columns if plain(c) == plain(wanted)]
    if len(same) == 1:
        return same[0]
    if len(same) > 1:
        raise ValueError(f"column {shown(wanted)} could be any of {_listed(same)}; write it exactly")
    near = meant(wanted, frame.columns)
    raise ValueError(f"there is no column {shown(wanted)}{near} (columns: {_listed(frame.columns)})")


def brief(value) -> str:
    """A cell as people write it: 2 for 2.0."""
    return f"{value:.0f}" if isinstance(value, float) and value.is_integer() and abs(value) < 1e15 else str(value)


def _listed(names, most=12) -> str:
    names = [brief(n) for n in names]
    return ", ".join(names[:most]) + (", ..." if len(names) > most else "")


def _roles(frame, x, y, run, error, sd, half_width, count) -> Roles:
    given = {
        key: named(frame, v)
        for key, v in (("x", x), ("y", y), ("run", run), ("error", error), ("sd", sd))
        if v is not None
    }
    if count is not None:
        given["count"] = count if isinstance(count, Real) and count not in frame.columns else named(frame, count)
    taken = list(given.values())
    if half_width is not None:
        ends = tuple(half_width) if isinstance(half_width, list | tuple) else (half_width,)
        if len(ends) not in (1, 2):
            raise ValueError(
                f"half_width = {shown(half_width)} must be a column, or two: the low ends and the high ones"
            )
        ends = tuple(named(frame, end) for end in ends)
        given["half_width"] = ends if len(ends) == 2 else ends[0]
        taken += ends
    if sum(key in given for key in ("error", "sd", "half_width")) > 1:
        raise ValueError("error, sd and half_width say the same in three ways; give one of them")
    for i, column in enumerate(taken):
        if column in taken[:i]:
            raise ValueError(f"column {str(column)!r} cannot be two things at once")
    numeric = [c for c in frame.columns if frame[c].dtype.kind in "iuf" and c not in taken]
    if "run" not in given:
        given["run"] = _only("run", [c for c in frame.columns if plain(c) in RUNS and c not in taken])
    numeric = [c for c in numeric if c != given["run"] and plain(c) != "anytime"]
    if "x" not in given:
        given["x"] = _chosen_x(frame, numeric, given)
    numeric = [c for c in numeric if c != given["x"]]
    if "y" not in given:
        given["y"] = _chosen_y(frame, numeric, given)
    numeric = [c for c in numeric if c != given["y"]]
    if not {"error", "sd", "half_width"} & set(given):
        given |= _found_spread(numeric, plain(given["y"]).removeprefix("mean"))
    if "count" not in given and {"error", "sd", "half_width"} & set(given):
        given["count"] = _only("count", [c for c in numeric if plain(c) in COUNTED])
    return Roles(**given)


def _found_spread(numeric, stem) -> dict:
    """The column, or two, beside a column of means that say how far these may be off: the first that is there."""

    def fitting(*names):
        return [c for c in numeric if plain(c) in {f for n in names for f in (n, stem + n, n + stem)}]

    for key, names in (("error", ERRORS), ("sd", DEVIATIONS), ("half_width", HALF_WIDTHS)):
        column = _only(key, fitting(*names))
        if column is not None:
            return {key: column}
    for low, high in ENDS:
        ends = _only(low, fitting(low)), _only(high, fitting(high))
        if None not in ends:
            return {"half_width": ends}
    return {}


def _only(role, candidates):
    if len(candidates) > 1:
        raise ValueError(
            f"columns {_listed(candidates)} could each be the {role}; say which with {role}=... (--{role} NAME)"
        )
    return candidates[0] if candidates else None


def _chosen_x(frame, numeric, given):
    candidates = [c for c in numeric if _is_x(c)]
    if len(candidates) > 1:
        raise ValueError(
            f"columns {_listed(candidates)} could each be x; say which with x=... (--x NAME), "
            "and with count=... (--count NAME) if another counts the runs behind a mean"
        )
    if candidates:
        return candidates[0]
    rest = [c for c in numeric if not _is_quantity(c) and plain(c) not in BESIDE_MEANS]
    if len(rest) == 1 or (len(rest) == 2 and len(numeric) == 2 and "y" not in given):
        return rest[0]
    _check_cells(frame, _is_x, given)
    raise ValueError(f"no column is known to be x; say which with x=... (--x NAME; columns: {_listed(frame.columns)})")


def _is_quantity(column) -> bool:
    name = plain(column)
    error_of_a_mean = name in (*ERRORS, *DEVIATIONS) or name.endswith(("stderr", "standarderror", "stderror"))
    return not error_of_a_mean and (name in QUANTITIES or name.endswith(ENDINGS) or name.startswith("mean"))


def _chosen_y(frame, numeric, given):
    candidates = [c for c in numeric if _is_quantity(c)]
    if len(candidates) > 1:
        raise ValueError(
            f"columns {_listed(candidates)} could each be y; say which with y=... (--y NAME), "
            "and with error=... (--error NAME) if another is its standard error"
        )
    if candidates:
        return candidates[0]
    rest = [c for c in numeric if plain(c) not in BESIDE_MEANS]
    if len(rest) == 1:
        return rest[0]
    _check_cells(frame, _is_quantity, given)
    raise ValueError(f"no column is known to be y; say which with y=... (--y NAME; columns: {_listed(frame.columns)})")


def _check_cells(frame, fitting, given):
    """A column of the right name that is none of numbers: its first other cell is to blame."""
    for column in frame.columns:
        if fitting(column) and frame[column].dtype.kind not in "iuf" and column not in given.values():
            raise FitError(_not_numbers(column, frame[column]))


def _not_numbers(column, values) -> str:
    row, cell = next(((i, v) for i, v in enumerate(values, 1) if not _is_number(v)), (1, values.iloc[0]))
    said = f"column {str(column)!r} must hold numbers, and row {row} of the data has {shown(cell)}"
    if re.search(r"\d\s*(?:±|\+/?-|\()\s*\.?\d", str(cell)):
        said += "; put what follows the mean into a column of its own: se, sd or half_width"
    return said


def _is_number(value) -> bool:
    return isinstance(value, Real) or (isinstance(value, str) and number(value) is not None)


# Rows


def _picked(frame, texts, where):
    if not isinstance(where, Mapping):
        raise ValueError(f"where = {shown(where)} must be a dict of columns and values, such as {{'algorithm': 'UCB'}}")
    keep = np.ones(len(frame), dtype=bool)
    for column, value in dict(where).items():
        name = named(frame, column)
        same = np.array([str(v) == str(value) or _equal(v, value) for v in frame[name]])
        if not same.any():
            there = _listed(dict.fromkeys(frame[name]))
            near = meant(value, frame[name].unique())
            raise ValueError(f"no row has {name} = {shown(value)}{near} (there: {there})")
        keep &= same
    if not keep.any():
        said = ", ".join(f"{k} = {v}" for k, v in dict(where).items())
        raise ValueError(f"no row has {said} together")
    keep = np.flatnonzero(keep)
    return _rows(frame, keep), _rows(texts, keep)


def _equal(a, b) -> bool:
    return number(a) is not None and number(a) == number(b)


def _long(frame, texts, x):
    """A wide table, a column for each run or for each x, made long; others as they are."""
    numbers = {c: n for c in frame.columns if (n := _numeral(c)) is not None}
    others = [c for c in frame.columns if c not in numbers]
    if len(numbers) >= FEWEST and x not in numbers and not any(_is_quantity(c) for c in others):
        label = next((c for c in others if _is_unnamed(c)), None)
        if label is not None and _is_numbering(numbers.values()) and not _is_numbering(frame[label]):
            frame, others = frame.rename(columns={label: "x"}), ["x" if c == label else c for c in others]
        if x is not None or any(_is_x(c) for c in others):
            if any(plain(c) in RUNS for c in others):
                raise ValueError(
                    f"columns {_listed(numbers, 3)} are named by numbers, beside an x and a run; say y=... (--y)"
                )
            long = frame.melt(id_vars=others, value_vars=list(numbers), var_name="run", value_name="y")
            return long, None, [f"{len(numbers)} columns named by numbers are taken as one run each, seen at every x"]
        if not others:
            frame, others = frame.assign(run=range(len(frame))), ["run"]
        frame = frame.rename(columns={label: "run"})
        others = ["run" if c == label else c for c in others]
        long = frame.melt(id_vars=others, value_vars=list(numbers), var_name="horizon", value_name="y")
        long["horizon"] = [numbers[c] for c in long["horizon"]]
        said = f"{len(numbers)} columns named by numbers are taken as one value of x each, a row as a run"
        return long, None, [said]
    stems = {}
    for column in frame.columns:
        match = re.fullmatch(r"(.*?)[\s_-]*(\d+)", str(column))
        if match and (plain(match[1]) in (*RUNS, *QUANTITIES, "s", "r") or _is_quantity(match[1])):
            stems.setdefault(plain(match[1]), []).append(column)
    runs = max(stems.values(), key=len, default=[])
    if len(runs) >= FEWEST:
        others = [c for c in frame.columns if c not in runs]
        stem = re.fullmatch(r"(.*?)[\s_-]*(\d+)", str(runs[0]))[1].strip("_- ")
        name = stem if _is_quantity(stem) else "y"
        long = frame.melt(id_vars=others, value_vars=runs, var_name="run", value_name=name)
        return long, None, [f"columns {runs[0]} ... {runs[-1]} are taken as one run each, seen at every x"]
    return frame, texts, []


def _is_x(column) -> bool:
    return plain(column) in (*COUNTS, *STEP_SIZES)


def _is_unnamed(column) -> bool:
    """As pandas writes and reads an index."""
    return plain(column) in ("", "index") or str(column).startswith("Unnamed:")


def _is_numbering(values) -> bool:
    """0, 1, 2 ... or 1, 2, 3 ...: numbers that count, and measure nothing."""
    values = list(values)
    return any(values == list(range(start, start + len(values))) for start in (0, 1))


def _numeral(name) -> float | None:
    if isinstance(name, Real) and not isinstance(name, bool):
        return float(name)
    match = re.fullmatch(r"(?:[A-Za-z]\w*\s*=\s*)?(\d[\d.]*(?:[eE][+-]?\d+)?)", str(name).strip())
    return float(match[1]) if match and match[1].count(".") < 2 else None


LOGARITHMS = {"ln": np.e, "log10": 10.0, "log2": 2.0}
_LOGARITHM = r"((?i:ln)(?=[\s_({\[$]|[A-Z])|(?i:log)_?\{?(?:10|2)\}?(?!\d))[\s_({\[$]*(.+?)[\s_)}\]$]*"


def _unlogged(frame, roles):
    """Columns that hold logarithms by their names, as what these are the logarithms of."""
    bases, remarks = {}, []
    for role in ("x", "y"):
        column = getattr(roles, role)
        match = re.fullmatch(_LOGARITHM, str(column))
        if match is None:
            _check_base(role, column)
            continue
        base = LOGARITHMS[plain(match[1])]
        if role == "y" and roles.spread is not None:
            raise FitError(f"column {str(column)!r} holds logarithms by its name; give means and errors without them")
        with np.errstate(over="ignore"):
            frame = frame.assign(**{match[2]: base ** _floats(frame, column)})
        roles = replace(roles, **{role: match[2]})
        bases[match[2]] = (base, column)
        remarks.append(f"column {str(column)!r} holds logarithms by its name: they are undone")
    return frame, roles, bases, remarks


def _check_base(role, column):
    """`log T` does not say to which base; a log loss is no logarithm to undo."""
    match = re.fullmatch(r"log[\s_({\[$]*(.+?)[\s_)}\]$]*", str(column), re.IGNORECASE)
    if match and plain(match[1]) not in ("loss", "likelihood") and (_is_x(match[1]) or _is_quantity(match[1])):
        raise FitError(
            f"column {str(column)!r} holds logarithms by its name, but to which base? call it ln {match[1]}, "
            f"log2 {match[1]} or log10 {match[1]}"
        )


def _complete(frame, texts, roles):
    """Without rows that say neither x nor y."""
    used = [c for c in (roles.x, roles.y) if c is not None]
    gone = frame[used].isna().all(axis=1).to_numpy()
    if not gone.any():
        return frame, texts, []
    keep = np.flatnonzero(~gone)
    if not len(keep):
        raise FitError(f"no row has a value of {roles.x} and of {roles.y}")
    said = f"{gone.sum()} rows without {roles.x} and {roles.y} are left out"
    return _rows(frame, keep), _rows(texts, keep), [said]


def _floats(frame, column) -> np.ndarray:
    try:
        return frame[column].astype(float).to_numpy()
    except (TypeError, ValueError):
        raise FitError(_not_numbers(column, frame[column])) from None


def _check_numbers(X, Y, words):
    if not np.all(np.isfinite(X)):
        raise FitError(f"{np.count_nonzero(~np.isfinite(X))} of {len(X)} values of {words.x} are missing or not finite")
    if np.any(X <= 0):
        raise FitError(
            f"{words.x} = {X[X <= 0][0]:g} is not positive: it has no logarithm; leave it out (window=, --window)"
        )
    if np.any(np.isfinite(Y) & (np.abs(Y) > LARGEST)):
        raise FitError(f"{words.y} = {np.abs(Y).max():.3g} is too large to reckon with; count it in another unit")
    if np.any((Y != 0) & (np.abs(Y) < 1 / LARGEST)):
        small = np.abs(Y[Y != 0]).min()
        raise FitError(f"{words.y} = {small:.3g} is too small to reckon with; count it in another unit")
    bad = ~np.isfinite(Y)
    if bad.any():
        raise FitError(
            f"{bad.sum()} of {len(Y)} values of {words.y} are missing or not finite, the first at {words.x} = "
            f"{X[bad][0]:g}; a mean needs all: leave such rows out where that is right"
        )


def _check_groups(frame, roles):
    """One curve at a time."""
    used = set(roles.used())
    for column in frame.columns:
        if column in used or plain(column) == "anytime" or column == "stream":
            continue
        values = frame[column].dropna()
        several = values.nunique() > 1
        if several and (values.dtype.kind not in "iuf" or column in NAMES):
            seen = list(dict.fromkeys(values))
            if len(seen) > max(20, len(frame) // 3):
                continue  # a remark per row, a date
            raise FitError(
                f"the table holds several {column} ({_listed(seen, 6)}); pick one with where={{{str(column)!r}: "
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
        why = "" if step else (" by its name" if plain(roles.x) in STEP_SIZES else ", for it stays below 1")
        parts.append(f"{roles.x} is the size of a step{why}: the window ends at its smallest value")
    return "; ".join(parts)


def _is_step(column, X, Y) -> bool:
    if plain(column) in STEP_SIZES:
        return True
    return bool(np.all(X < 1) and len(set(X)) > 1 and Y[np.argmax(X)] > Y[np.argmin(X)])


# Runs, means, series


def _of_runs(frame, roles, T, Y, anytime, words) -> Points:
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
    if roles.run is None:
        _check_hidden_groups(frame, roles, places)
        if anytime:
            raise FitError(f"runs that are seen at every {roles.x} need a column that names them (run=..., --run NAME)")
        return _samples(
            horizons,
            [Y[p] for p in places],
            False,
            words,
            f"{_counts(places)} rows at each {roles.x} and no column of runs: each row is a run of its own",
        )
    labels = frame[roles.run].to_numpy()
    by = [dict(zip(labels[p].tolist(), Y[p], strict=True)) for p in places]
    for t, p, d in zip(horizons, places, by, strict=True):
        if len(d) < len(p):
            if frame.duplicated([roles.x, roles.y, roles.run]).any():
                raise FitError(
                    f"rows are there twice, the first at {roles.x} = {words.place(t):g}; leave the copies out"
                )
            varying = [c for c in frame.columns if c not in (roles.x, roles.y, roles.run) and frame[c].nunique() > 1]
            hint = f"; columns that differ: {_listed(varying)}" if varying else ""
            raise FitError(
                f"a {roles.run} appears twice at {roles.x} = {words.place(t):g}; the table mixes several curves{hint}"
            )
    everywhere = set.intersection(*(set(d) for d in by))
    ids = set.union(*(set(d) for d in by))
    shared = any(set(a) & set(b) for a, b in pairwise(by))
    if anytime is False or not shared:
        why = "" if anytime is False else f": no {roles.run} is seen twice"
        return _samples(
            horizons,
            [np.array(list(d.values())) for d in by],
            False,
            words,
            f"{_counts(places)} separate runs at each {roles.x}{why}",
        )
    missing = len(ids) - len(everywhere)
    if missing and (anytime or len(everywhere) < max(3, len(ids) / 2)):
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
    return _samples(horizons, [np.array([d[k] for k in keys]) for d in by], True, words, said)


def _declared(column):
    values = set(column.tolist()) if column.nunique(dropna=False) == 1 else set()
    value = {str(v).lower(): v for v in values}
    if set(value) <= {"true", "1", "1.0"} and value:
        return True
    if set(value) <= {"false", "0", "0.0"} and value:
        return False
    raise FitError("column 'anytime' must be True in every row, or False: do the rows of a run come from one run?")


def _counts(places) -> str:
    sizes = {len(p) for p in places}
    return str(sizes.pop()) if len(sizes) == 1 else f"{min(sizes)} to {max(sizes)}"


def _check_hidden_groups(frame, roles, places):
    """A column of few whole numbers may name several curves, or the runs: only its owner knows."""
    for column in frame.columns:
        if column in (roles.x, roles.y) or frame[column].dtype.kind not in "iuf":
            continue
        values = frame[column].dropna()
        if 1 < values.nunique() <= len(frame) // 2 and np.all(values == np.round(values)):
            raise FitError(
                f"column {str(column)!r} has {values.nunique()} values: does it name the runs (run={str(column)!r}, "
                f"--run {column}), or several curves (where={{{str(column)!r}: {values.iloc[0]:g}}}, --by {column})?"
            )


def _samples(horizons, samples, anytime, words, remark) -> Points:
    fewest = min(map(len, samples))
    if fewest > 1 and all(np.ptp(s) == 0 for s in samples):
        note = f"all runs agree to the last digit at every {words.x}: they are read as one deterministic series"
        return Points(horizons, np.array([s[0] for s in samples]), None, remarks=(remark, note))
    if fewest < 3:
        raise FitError(f"{fewest} run(s) at some {words.x} give no interval; at least 3 are needed")
    means = np.array([s.mean() for s in samples])
    return Points(horizons, means, None, tuple(samples), anytime, fewest, remarks=(remark,))


def _of_means(frame, roles, T, Y) -> Points:
    order = np.argsort(T, kind="stable")
    if len(np.unique(T)) < len(T):
        raise FitError(
            f"a value of {roles.x} appears twice, but a table of means has one row for each; several curves?"
        )
    column = roles.spread
    spread = _half_widths(frame, column, Y) if isinstance(column, tuple) else _floats(frame, column)
    shown_as = _listed(column) if isinstance(column, tuple) else f"column {str(column)!r}"
    if not np.all(np.isfinite(spread)) or np.any(spread < 0):
        raise FitError(f"{shown_as} must hold errors, and they are never negative or missing")
    count = None
    if roles.count is not None:
        count = (
            np.full(len(T), float(roles.count))
            if isinstance(roles.count, Real) and roles.count not in frame
            else _floats(frame, roles.count)
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
    known = (
        ""
        if count is not None
        else "; the number of runs behind the means is not known: intervals take their errors as exact"
    )
    said = f"{len(T)} means with standard errors, taken as independent of each other{known}"
    if roles.half_width is not None:
        level = _level_in(roles.half_width)
        tail = 0.5 + level / 2
        spread = spread / (special.ndtri(tail) if count is None else special.stdtrit(count - 1, tail))
        said = f"intervals of the means are taken as {100 * level:g} % ones; {said}"
    runs = 0 if count is None else int(count.min())
    return Points(T[order], Y[order], spread[order], count=runs, remarks=(said,))


def _half_widths(frame, ends, Y) -> np.ndarray:
    low, high = (_floats(frame, end) for end in ends)
    outside = ~((low <= Y) & (high >= Y))
    if outside.any():
        raise FitError(
            f"the mean {Y[outside][0]:g} does not lie between {ends[0]} = {low[outside][0]:g} and {ends[1]} = "
            f"{high[outside][0]:g}; these must be the ends of its interval"
        )
    return (high - low) / 2


def _level_in(half_width) -> float:
    """Of intervals, as their column is called."""
    match = re.search(r"(?<!\d)(68|80|90|95|99)(?!\d)", str(half_width))
    return int(match[1]) / 100 if match else 0.95
