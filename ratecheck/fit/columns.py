"""Which column of a table is what: x, y, the run, the error of a mean; names that people use, and what is inferred."""

import re
from collections.abc import Hashable, Mapping
from dataclasses import dataclass, replace
from numbers import Real

import numpy as np

from ..arguments import meant, shown
from .log_means import FitError
from .read import Table, number


def _names(text) -> tuple[str, ...]:
    return tuple(text.split())


# names without case, spaces and signs
COUNTS = _names(
    "t n horizon horizons time rounds round iteration iterations iter iters steps nsteps samples samplesize nsamples "
    "sample size budget evaluations evals nfev epoch epochs tokens params parameters dof dofs ndof ndofs points cells "
    "nodes elements trainsize x"
)
STEP_SIZES = _names(
    "h dt dx deltat deltax stepsize meshsize meshwidth gridsize gridspacing spacing hmax tau eps epsilon"
)
QUANTITIES = _names("regret error err loss risk mse rmse mae gap bias suboptimality variance y mean value cost")
ENDINGS = _names("regret error err loss mse rmse risk gap")
RUNS = _names("run seed replicate rep trial repetition repeat replication runid seedid runindex randomseed")
ERRORS = _names("se stderr standarderror stderror sem ste semean")
DEVIATIONS = _names("sd std stdev stddev standarddeviation")
HALF_WIDTHS = _names("halfwidth ci ci95 95ci ci90 90ci ci99 99ci cihalfwidth ci95halfwidth confidence")
ENDS = [
    pair.split("/")
    for pair in _names(
        "low/high lo/hi lower/upper cilow/cihigh cilo/cihi cilower/ciupper lowerci/upperci lowci/highci low95/high95 "
        "lower95/upper95 ci95low/ci95high ci95lower/ci95upper"
    )
]
COUNTED = _names("count runs nruns replicates reps repeats repetitions seeds nseeds trials ntrials numruns numseeds")
BESIDE_MEANS = (*ERRORS, *DEVIATIONS, *COUNTED, *HALF_WIDTHS, *(name for pair in ENDS for name in pair))
FEWEST_COLUMNS = 3  # of a wide table, that are alike
NUMBERED = re.compile(r"(.*?)[\s_-]*(\d+)")
LOGARITHMS = {"ln": np.e, "log10": 10.0, "log2": 2.0}
LOGARITHM = re.compile(r"((?i:ln)(?=[\s_({\[$]|[A-Z])|(?i:log)_?\{?(?:10|2)\}?(?!\d))[\s_({\[$]*(.+?)[\s_)}\]$]*")
OF_NO_BASE = re.compile(r"log[\s_({\[$]*(.+?)[\s_)}\]$]*", re.IGNORECASE)


@dataclass(frozen=True)
class Roles:
    """The columns of one table, by what they mean; None where there is none, or where none was asked for."""

    x: object = None
    y: object = None
    run: object = None
    error: object = None
    sd: object = None
    half_width: object = None  # of intervals: a column, or a tuple of their low and high ends
    count: object = None  # a column, or a number

    @property
    def spread(self):
        found = (c for c in (self.error, self.sd, self.half_width) if c is not None)
        return next(found, None)

    def used(self) -> list:
        ends = self.half_width if isinstance(self.half_width, tuple) else (self.half_width,)
        return [c for c in (self.x, self.y, self.run, self.error, self.sd, self.count, *ends) if c is not None]


# Names


def plain(name) -> str:
    """A column's name without case, spaces and signs."""
    return re.sub(r"[^a-z0-9]", "", str(name).lower())


def named(frame, wanted):
    """The column that was asked for, however it is spelt."""
    if not isinstance(wanted, Hashable):
        raise ValueError(f"{shown(wanted)} must be the name of one column (columns: {listed(frame.columns)})")
    if wanted in frame.columns:
        return wanted
    same = [c for c in frame.columns if plain(c) == plain(wanted)]
    if len(same) == 1:
        return same[0]
    if len(same) > 1:
        raise ValueError(f"column {shown(wanted)} could be any of {listed(same)}; write it exactly")
    near = meant(wanted, frame.columns)
    raise ValueError(f"there is no column {shown(wanted)}{near} (columns: {listed(frame.columns)})")


def brief(value) -> str:
    """A cell as people write it: 2 for 2.0."""
    return f"{value:.0f}" if isinstance(value, float) and value.is_integer() and abs(value) < 1e15 else str(value)


def listed(names, most=12) -> str:
    names = [brief(n) for n in names]
    return ", ".join(names[:most]) + (", ..." if len(names) > most else "")


def groups(table: Table, column) -> list:
    return list(dict.fromkeys(table.frame[named(table.frame, column)]))


def is_step_size(column) -> bool:
    return plain(column) in STEP_SIZES


def _is_x(column) -> bool:
    return plain(column) in COUNTS or is_step_size(column)


def _is_quantity(column) -> bool:
    name = plain(column)
    error_of_a_mean = name in (*ERRORS, *DEVIATIONS) or name.endswith(("stderr", "standarderror", "stderror"))
    return not error_of_a_mean and (name in QUANTITIES or name.endswith(ENDINGS) or name.startswith("mean"))


# Roles


def roles_in(frame, asked: Roles) -> Roles:
    """The columns of a table by what they mean: as they were asked for, and else by their usual names."""
    roles = {role: getattr(asked, role) for role in ("x", "y", "run", "error", "sd")}
    given = {role: named(frame, column) for role, column in roles.items() if column is not None}
    if asked.count is not None:
        is_number = isinstance(asked.count, Real) and asked.count not in frame.columns
        given["count"] = asked.count if is_number else named(frame, asked.count)
    taken = list(given.values())
    if asked.half_width is not None:
        ends = tuple(asked.half_width) if isinstance(asked.half_width, list | tuple) else (asked.half_width,)
        if len(ends) not in (1, 2):
            raise ValueError(f"half_width = {shown(asked.half_width)} must be a column, or two: low ends and high ones")
        ends = tuple(named(frame, end) for end in ends)
        given["half_width"] = ends if len(ends) == 2 else ends[0]
        taken += ends
    if sum(key in given for key in ("error", "sd", "half_width")) > 1:
        raise ValueError("error, sd and half_width say the same in three ways; give one of them")
    for i, column in enumerate(taken):
        if column in taken[:i]:
            raise ValueError(f"column {str(column)!r} cannot be two things at once")
    if "run" not in given:
        given["run"] = _only("run", [c for c in frame.columns if plain(c) in RUNS and c not in taken])
    taken.append(given["run"])
    numeric = [c for c in frame.columns if is_numeric(frame[c]) and c not in taken and plain(c) != "anytime"]
    for role in ("x", "y"):
        if role not in given:
            given[role] = _chosen(role, frame, numeric, given)
        numeric = [c for c in numeric if c != given[role]]
    if not {"error", "sd", "half_width"} & set(given):
        given |= _found_spread(numeric, plain(given["y"]).removeprefix("mean"))
    if "count" not in given and {"error", "sd", "half_width"} & set(given):
        given["count"] = _only("count", [c for c in numeric if plain(c) in COUNTED])
    return Roles(**given)


def _chosen(role, frame, numeric, given):
    """The column of x or of y: the one with a usual name, or the only one that can be it."""
    fitting, other = {
        "x": (_is_x, "and with count=... (--count NAME) if another counts the runs behind a mean"),
        "y": (_is_quantity, "and with error=... (--error NAME) if another is its standard error"),
    }[role]
    candidates = [c for c in numeric if fitting(c)]
    if candidates:
        return _only(role, candidates, "", f", {other}")
    rest = [c for c in numeric if plain(c) not in BESIDE_MEANS and not (role == "x" and _is_quantity(c))]
    if len(rest) == 1 or (role == "x" and len(rest) == len(numeric) == 2 and "y" not in given):
        return rest[0]
    for column in frame.columns:  # of the right name, but none of numbers: a cell is to blame
        if fitting(column) and not is_numeric(frame[column]) and column not in given.values():
            raise FitError(_not_numbers(column, frame[column]))
    columns = listed(frame.columns)
    raise ValueError(f"no column is known to be {role}; say which with {role}=... (--{role} NAME; columns: {columns})")


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


def _only(role, candidates, article="the ", more=""):
    if len(candidates) > 1:
        raise ValueError(
            f"columns {listed(candidates)} could each be {article}{role}; say which with {role}=... "
            f"(--{role} NAME){more}"
        )
    return candidates[0] if candidates else None


# Cells


def is_numeric(values) -> bool:
    return values.dtype.kind in "iuf"


def floats(frame, column) -> np.ndarray:
    try:
        return frame[column].astype(float).to_numpy()
    except (TypeError, ValueError):
        raise FitError(_not_numbers(column, frame[column])) from None


def _not_numbers(column, values) -> str:
    texts = ((i, v) for i, v in enumerate(values, 1) if not isinstance(v, Real))
    strange = ((i, v) for i, v in texts if not isinstance(v, str) or number(v) is None)
    row, cell = next(strange, (1, values.iloc[0]))
    said = f"column {str(column)!r} must hold numbers, and row {row} of the data has {shown(cell)}"
    if re.search(r"\d\s*(?:±|\+/?-|\()\s*\.?\d", str(cell)):
        said += "; put what follows the mean into a column of its own: se, sd or half_width"
    return said


def picked(table: Table, where) -> Table:
    """The rows of a table that have given values in given columns."""
    if not isinstance(where, Mapping):
        raise ValueError(f"where = {shown(where)} must be a dict of columns and values, such as {{'algorithm': 'UCB'}}")
    keep = np.ones(len(table.frame), dtype=bool)
    for column, value in dict(where).items():
        name = named(table.frame, column)
        values = table.frame[name]
        same = np.array([str(v) == str(value) or number(v) == number(value) is not None for v in values])
        if not same.any():
            near, there = meant(value, values.unique()), listed(dict.fromkeys(values))
            raise ValueError(f"no row has {name} = {shown(value)}{near} (there: {there})")
        keep &= same
    if not keep.any():
        said = ", ".join(f"{k} = {v}" for k, v in dict(where).items())
        raise ValueError(f"no row has {said} together")
    return table.rows(keep)


# Wide tables


def long(table: Table, x) -> Table:
    """A wide table, a column for each run or for each x, made long; others as they are."""
    frame = table.frame
    numbers = {c: n for c in frame.columns if (n := _numeral(c)) is not None}
    others = [c for c in frame.columns if c not in numbers]
    if len(numbers) >= FEWEST_COLUMNS and x not in numbers and not any(_is_quantity(c) for c in others):
        return _named_by_numbers(table, x, numbers, others)
    stems = {}
    for column in frame.columns:
        match = NUMBERED.fullmatch(str(column))
        if match and (plain(match[1]) in (*RUNS, *QUANTITIES, "s", "r") or _is_quantity(match[1])):
            stems.setdefault(plain(match[1]), []).append(column)
    runs = max(stems.values(), key=len, default=[])
    if len(runs) < FEWEST_COLUMNS:
        return table
    stem = NUMBERED.fullmatch(str(runs[0]))[1].strip("_- ")
    said = f"columns {runs[0]} ... {runs[-1]} are taken as one run each, seen at every x"
    return _melted(table, runs, name="run", value=stem if _is_quantity(stem) else "y", said=said)


def _named_by_numbers(table, x, numbers, others) -> Table:
    """A wide table made long whose columns are named by the numbers of runs, or by the values of x."""
    frame = table.frame
    unnamed = (c for c in others if plain(c) in ("", "index") or str(c).startswith("Unnamed:"))  # an index of pandas
    label = next(unnamed, None)
    if label is not None and _is_numbering(numbers.values()) and not _is_numbering(frame[label]):
        frame, others = frame.rename(columns={label: "x"}), ["x" if c == label else c for c in others]
    named_by = f"{len(numbers)} columns named by numbers are taken as one"
    if x is not None or any(_is_x(c) for c in others):
        if any(plain(c) in RUNS for c in others):
            raise ValueError(f"columns {listed(numbers, 3)} are named by numbers, beside x and a run; say y=... (--y)")
        said = f"{named_by} run each, seen at every x"
        return _melted(replace(table, frame=frame), numbers, name="run", value="y", said=said)
    frame = frame.rename(columns={label: "run"}) if others else frame.assign(run=range(len(frame)))
    said = f"{named_by} value of x each, a row as a run"
    found = _melted(replace(table, frame=frame), numbers, name="horizon", value="y", said=said)
    return replace(found, frame=found.frame.assign(horizon=[numbers[c] for c in found.frame["horizon"]]))


def _melted(table, columns, *, name, value, said) -> Table:
    """One row for each cell of some columns; the others stay, and no number has a text any more."""
    others = [c for c in table.frame.columns if c not in columns]
    frame = table.frame.melt(id_vars=others, value_vars=list(columns), var_name=name, value_name=value)
    return replace(table, frame=frame, texts=None).remarked(said)


def _is_numbering(values) -> bool:
    """0, 1, 2 ... or 1, 2, 3 ...: numbers that count, and measure nothing."""
    values = list(values)
    return any(values == list(range(start, start + len(values))) for start in (0, 1))


def _numeral(name) -> float | None:
    if isinstance(name, Real) and not isinstance(name, bool):
        return float(name)
    match = re.fullmatch(r"(?:[A-Za-z]\w*\s*=\s*)?(\d[\d.]*(?:[eE][+-]?\d+)?)", str(name).strip())
    return float(match[1]) if match and match[1].count(".") < 2 else None


# Logarithms


def unlogged(table: Table, roles: Roles):
    """Columns that hold logarithms by their names, as what these are the logarithms of.

    Returns the table with such columns, the roles that they take, and the base and the former name of each.
    """
    bases = {}
    for role in ("x", "y"):
        column = getattr(roles, role)
        match = LOGARITHM.fullmatch(str(column))
        if match is None:
            _check_base(column)
            continue
        base = LOGARITHMS[plain(match[1])]
        if role == "y" and roles.spread is not None:
            raise FitError(f"column {str(column)!r} holds logarithms by its name; give means and errors without them")
        with np.errstate(over="ignore"):
            frame = table.frame.assign(**{match[2]: base ** floats(table.frame, column)})
        roles = replace(roles, **{role: match[2]})
        bases[match[2]] = (base, column)
        said = f"column {str(column)!r} holds logarithms by its name: they are undone"
        table = replace(table, frame=frame).remarked(said)
    return table, roles, bases


def _check_base(column):
    """`log T` does not say to which base; a log loss is no logarithm to undo."""
    match = OF_NO_BASE.fullmatch(str(column))
    if match and plain(match[1]) not in ("loss", "likelihood") and (_is_x(match[1]) or _is_quantity(match[1])):
        raise FitError(
            f"column {str(column)!r} holds logarithms by its name, but to which base? call it ln {match[1]}, "
            f"log2 {match[1]} or log10 {match[1]}"
        )
