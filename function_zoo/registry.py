"""The one list of families: filled where a cost is defined, asked by name."""

from __future__ import annotations

import difflib
import inspect
import math
import operator
from collections.abc import Callable
from dataclasses import dataclass, replace

import numpy as np

from .cost import Cost, shown

MAX_DIM = 16  # a cell splits into 2^d


class InvalidChoice(ValueError):
    """A family, dimension or parameter that does not exist; the message names the nearest valid choice.

    A ValueError; see `get`, `audit` and `estimate`.
    """


@dataclass(frozen=True)
class Range:
    """The numbers a parameter may take: a closed interval, perhaps of whole numbers only."""

    low: float
    high: float = math.inf
    whole: bool = False

    def check(self, where, name, value, default):
        value = check_number(where, name, value)
        if math.isinf(value):
            raise InvalidChoice(f"{where}: {name} = {value:g} must be finite; the default is {default:g}")
        near = min(max(value, self.low), self.high)
        if near != value:
            span = f"[{self.low:g}, {self.high:g}]"
            raise InvalidChoice(
                f"{where}: {name} = {value:g} is outside {span}; the nearest valid choice is {near:g} "
                f"(default {default:g})"
            )
        if self.whole and value != int(value):
            raise InvalidChoice(
                f"{where}: {name} = {value:g} must be a whole number; the nearest valid choice is {round(value)}"
            )
        return int(value) if self.whole else value


SCALE = Range(1e-3, 1e18)
POWER = Range(0.1, 2.0)


@dataclass(frozen=True)
class OneOf:
    """A parameter with a few possible values."""

    values: tuple

    def check(self, where, name, value, default):
        value = check_number(where, name, value)
        if value not in self.values:
            nearest = min(self.values, key=lambda v: abs(v - value))
            choices = " or ".join(f"{v:g}" for v in self.values)
            raise InvalidChoice(
                f"{where}: {name} = {value:g} must be {choices}; the nearest valid choice is {nearest:g}"
            )
        return value


def check_number(where, name, value) -> float:
    try:
        value = float(value)
    except (TypeError, ValueError, OverflowError):
        raise InvalidChoice(f"{where}: {name} = {shown(value)} is not a number") from None
    if math.isnan(value):
        raise InvalidChoice(f"{where}: {name} is not a number (nan)")
    return value


def as_whole(value) -> int | None:
    """The whole number that a value is, also 2 for 2.0; None for any other value."""
    try:
        found = None if isinstance(value, bool) else int(value) if isinstance(value, float) else operator.index(value)
    except (TypeError, ValueError, OverflowError):
        return None
    return found if found == value else None


def check_seed(where, seed) -> int:
    value = as_whole(seed)
    if value is None or value < 0:
        raise InvalidChoice(f"{where}: seed = {shown(seed)} must be a whole number, 0 or larger")
    return value


def vector(where, name, value, dim) -> tuple[float, ...]:
    """One number for all coordinates, or one for each."""
    try:
        items = np.atleast_1d(np.asarray(value, dtype=float)).tolist()
    except (TypeError, ValueError, OverflowError):
        raise InvalidChoice(f"{where}: {name} = {shown(value)} is neither a number nor {dim} numbers") from None
    if np.ndim(items) == 1 and len(items) == 1:
        items = items * dim
    if np.ndim(items) != 1 or len(items) != dim or not np.all(np.isfinite(items)):
        raise InvalidChoice(
            f"{where}: {name} needs one finite number or {dim} of them (one per coordinate), got {shown(value)}"
        )
    return tuple(items)


def centre_within(where, centre, *, dim, half, default) -> tuple[float, ...]:
    """The centre as a tuple (the default where none is given), no coordinate beyond `half`."""
    centre = default if centre is None else vector(where, "centre", centre, dim)
    near = tuple(min(max(c, -half), half) for c in centre)
    if near != centre:
        raise InvalidChoice(
            f"{where}: centre = {centre} must lie in [-{half:g}, {half:g}]; the nearest valid choice is {near}"
        )
    return centre


@dataclass(frozen=True)
class Family:
    name: str
    build: Callable
    dims: tuple[int, ...]
    ranges: dict

    @property
    def formula(self) -> str:
        """The first paragraph of the docstring."""
        return " ".join(inspect.getdoc(self.build).split("\n\n")[0].split()).rstrip(".")

    @property
    def parameters(self) -> dict:
        """Name and default of each keyword parameter."""
        return {p.name: p.default for p in inspect.signature(self.build).parameters.values() if p.name != "dim"}


_families: dict[str, Family] = {}


def family(dims=range(1, MAX_DIM + 1), **ranges):
    """Register the decorated function as a family; `ranges` says which values its parameters may take."""

    def register(build):
        _families[build.__name__] = Family(build.__name__, build, tuple(dims), ranges)
        return build

    return register


def families() -> tuple[str, ...]:
    """The names of all families, in alphabetical order.

    For example

        zoo.families()     # ("ackley", "branin", "cone", ...)
    """
    return tuple(sorted(_families))


def lookup(name: str) -> Family:
    if isinstance(name, str) and name in _families:
        return _families[name]
    near = _nearest(str(name).lower().replace("-", "_"), families())
    raise InvalidChoice(f"unknown family {shown(name)}; did you mean {near!r}? (families: {', '.join(families())})")


def _nearest(word: str, choices) -> str:
    return difflib.get_close_matches(word, choices, n=1, cutoff=0.0)[0]


def get(name: str, dim: int | None = None, **parameters) -> Cost:
    """The cost of a family in a dimension (default: 2), its parameters given by keyword.

    For example

        zoo.get("quadratic", dim=2, scale=10)
    """
    entry = lookup(name)
    if dim is None:
        dim = 2
    dim = _check_dim(entry, dim)
    where = f"{name}(dim={dim})"
    for key in parameters:
        if key not in entry.parameters:
            raise InvalidChoice(_unknown_parameter(entry, key))
    checked = {**entry.parameters, **parameters}
    for key, allowed in entry.ranges.items():
        checked[key] = allowed.check(where, key, checked[key], entry.parameters[key])
    cost = entry.build(dim, **checked)
    given = {k: cost.parameters.get(k, checked[k]) for k in entry.parameters}
    return replace(cost, name=name, parameters=given, registered=True)


def _check_dim(entry, dim):
    given, dim = dim, as_whole(dim)
    if dim is None:
        raise InvalidChoice(f"{entry.name}: the dimension must be a whole number, got {shown(given)}")
    if dim not in entry.dims:
        nearest = min(entry.dims, key=lambda d: abs(d - dim))
        low, high = min(entry.dims), max(entry.dims)
        span = f"dimension {low} only" if low == high else f"dimensions {low} to {high}"
        raise InvalidChoice(f"{entry.name} exists in {span}, not {shown(dim)}; the nearest valid choice is {nearest}")
    return dim


def _unknown_parameter(entry, key):
    known = sorted(entry.parameters)
    if not known:
        return f"{entry.name} has no parameters, got {key!r}"
    near = f"did you mean {_nearest(key, known)!r}? (parameters: {', '.join(known)})"
    return f"{entry.name} has no parameter {key!r}; {near}"
