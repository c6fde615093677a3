"""Costs of one's own: any Python function on a box, its constants and even its minimum unknown."""

from __future__ import annotations

import ctypes
import inspect
import math
import time
import warnings
from collections.abc import Callable, Mapping
from dataclasses import replace
from functools import cache, cached_property, partial
from types import FunctionType

import numpy as np

from .cost import CONSTANTS, Constants, Cost, shown, typed
from .estimate import ends, locate
from .measure import Target
from .registry import InvalidChoice, as_whole, check_number

SEARCH = 500_000  # evaluations in which a minimum is looked for
LEAST_SEARCH = 2000
SHORT, FEW = 400, 6  # first points of a short search, and coordinates in which it finds something
QUICK, PATIENCE = 1.0, 60.0  # seconds: a search that compiles nothing, and one that nobody has asked for
ROUNDING = 1e-9  # of the minimum: what a minimiser may exceed it by
PROBES, MORE = 5, 64  # points that show how a function is called, and whether its compiled form says the same
ONE_NUMBER, ONE_POINT, COORDINATES, ROWS = "f(number)", "f(point)", "f(x0, x1, ...)", "f(array of points)"


def cost(
    f: Callable,
    lower,
    upper,
    minimum: float | None = None,
    name: str | None = None,
    constants: Constants | Mapping | None = None,
    minimisers=None,
    *,
    dim: int | None = None,
    gap: Callable | None = None,
    mean: Callable | None = None,
    margin: float | None = None,
    maximise: bool = False,
    maximum: float | None = None,
    search: int = SEARCH,
) -> Cost:
    """A cost from any Python function f on the box [lower, upper].

    f takes one point (an array, or a number in one dimension), its coordinates as arguments, or an (n, d) array of
    points; which of these is found out by trying.  It must be the mean that is to be minimised, without noise.  Ends of
    the box are numbers, then with `dim` (default: 1), or one per coordinate.

    A minimum that is not given is searched for with `search` evaluations; `cost.minimum_basis` says so.  Constants of
    Assumption 1 may be Constants(...), a dictionary with some of them, or what `estimate` gave; they count as bounds,
    and what needs a constant that is not known says so.  f may be evaluated up to `margin` beyond the box (default: the
    constant A if it is given, else 0).

    `gap` and `mean` are what may be known near a minimiser, see Cost.

    With maximise=True f is a reward and `maximum` its largest value: algorithms that ask and tell see rewards, and the
    cost is -f everywhere else, so that regret is f* - f(x).
    """
    low, high = _box(lower, upper, dim)
    if isinstance(f, Cost):
        raise InvalidChoice(f"cost: {f} is a cost already")
    if not callable(f):
        raise InvalidChoice(f"cost: f = {shown(f)} must be a function of x")
    if not isinstance(maximise, bool):
        raise InvalidChoice(f"cost: maximise = {shown(maximise)} must be True or False")
    best = _optimum(minimum, maximum, maximise)
    formula = recognised(f, low, upper=high, sign=-1.0 if maximise else 1.0)
    given = {"name": _name(f) if name is None else name, "dim": len(low), "formula": formula}
    given |= {"lower": low, "upper": high, "constants": _constants(constants, margin), "maximise": maximise}
    if best is None:
        if minimisers is not None:
            raise InvalidChoice(f"cost: minimisers are given without the {'maximum' if maximise else 'minimum'} there")
        best, minimisers, doubt = _searched(formula, low, upper=high, search=search, maximise=maximise)
        return Cost(minimum=best, minimisers=minimisers, searched=doubt, **given)
    places = _numbers("minimisers", [] if minimisers is None else minimisers)
    found = Cost(minimum=best, minimisers=np.reshape(places, (-1, len(low))), gap=gap, mean=mean, **given)
    if gap is not None and found.gap is None:
        raise InvalidChoice(f"cost: gap(z) is not f(x* + z) - f*, x* being the first minimiser of {found}")
    return found


def lowered(known: Cost, x, y: float) -> Cost:
    """The same with the minimum that a search from a point finds, where f was found to be lower than the minimum."""
    target = Target(known.many, known.lower, known.upper, 0.0, np.empty((0, known.dim)), 0.0, known.side)
    found, doubt = locate(target, np.random.default_rng(0), starts=1, points=np.atleast_2d(x))
    if y < found.minimum:
        found = replace(found, minimum=float(y), minimisers=np.atleast_2d(x))
    return replace(
        known, minimum=found.minimum, minimisers=found.minimisers, searched=max(doubt, known.searched or 0.0)
    )


def _box(lower, upper, dim):
    low, high = ends("lower", lower, "cost"), ends("upper", upper, "cost")
    if dim is not None and (as_whole(dim) or 0) < 1:
        raise InvalidChoice(f"cost: dim = {shown(dim)} must be a whole number, 1 or larger")
    dim = max(len(low), len(high)) if dim is None else as_whole(dim)
    if not {len(low), len(high)} <= {1, dim} or not dim:
        raise InvalidChoice(f"cost: {len(low)} lower and {len(high)} upper ends make no box of {dim} dimensions")
    low, high = (np.broadcast_to(end, dim).astype(float) for end in (low, high))
    if not (np.all(np.isfinite([low, high])) and np.all(low < high)):
        raise InvalidChoice(f"cost: the box needs finite ends, lower < upper, got {shown(lower)} and {shown(upper)}")
    return low, high


def _numbers(name, values):
    try:
        return np.asarray(values, dtype=float)
    except (TypeError, ValueError, OverflowError):
        raise InvalidChoice(f"cost: {name} = {shown(values)} must be numbers") from None


def _optimum(minimum, maximum, maximise) -> float | None:
    """The smallest value of the cost, None where it must be searched for."""
    wrong, other = ("minimum", "maximum") if maximise else ("maximum", "minimum")
    if (minimum if maximise else maximum) is not None:
        word = "with maximise=True" if maximise else "without maximise=True"
        raise InvalidChoice(f"cost: {wrong} is given {word}; give {other}")
    best = maximum if maximise else minimum
    if best is None:
        return None
    best = check_number("cost", other, best)
    if math.isinf(best):
        raise InvalidChoice(f"cost: {other} = {best} must be finite")
    return -best if maximise else best


def _name(f) -> str:
    f = f.func if isinstance(f, partial) else f
    name = getattr(f, "__name__", type(f).__name__)
    return name if name.isidentifier() else "f"


def _constants(given, margin) -> Constants:
    """What is known, all of it as bounds: nobody claims that they are the smallest."""
    given = getattr(given, "constants", given)
    if given is None:
        given = {}
    if isinstance(given, Mapping):
        unknown = [key for key in given if key not in inspect.signature(Constants).parameters]
        if unknown:
            raise InvalidChoice(f"cost: there is no constant {shown(unknown[0])}; they are {', '.join(CONSTANTS)}")
        given = Constants(**given)
    if not isinstance(given, Constants):
        raise InvalidChoice(
            f"cost: constants = {shown(given)} must be Constants(...), a dictionary, or what estimate gave"
        )
    if margin is not None:
        margin = check_number("cost", "margin", margin)
        if not 0 <= margin < math.inf:
            raise InvalidChoice(f"cost: margin = {margin:g} must be finite and not negative")
        given = replace(given, A=margin or None)
    known = [name for name in ("alpha", "beta", "M_a", "M_b", "mu_min", "C0") if getattr(given, name) is not None]
    return replace(given, bounds=tuple(dict.fromkeys([*given.bounds, *known])))


# How a function is called


class Own:
    """A formula as Cost wants it, x[i] being a number or a vector, from a function that is called in its own way.

    `many` says how it takes several points at once: as rows, as columns (x[i] is a vector), or not at all.
    """

    failure = None  # the last exception of a callback, which cannot pass through machine code

    def __init__(self, f, way, *, many, sign, lower, upper):
        self.f, self.way, self.many, self.sign, self.lower, self.upper = f, way, many, sign, lower, upper

    def __getstate__(self):
        return {name: getattr(self, name) for name in ("f", "way", "many", "sign", "lower", "upper")}

    def __call__(self, x):
        if np.ndim(x) == 1:
            return self.sign * one_value(called(self.f, self.way, x))
        if self.many is not None:
            return self.sign * np.asarray(called_with_many(self.f, self.way, self.many, x.T), dtype=float)
        return self.sign * np.array([one_value(called(self.f, self.way, point)) for point in x.T])

    @property
    def pointwise(self) -> Callable | None:
        """A function of one point that numba may be able to compile."""
        f = self.f
        if not (isinstance(f, FunctionType) or hasattr(f, "py_func")) or self.way not in (ONE_POINT, ONE_NUMBER):
            return None
        if self.way == ONE_POINT:
            return (lambda x: -f(x)) if self.sign < 0 else (lambda x: f(x))
        return (lambda x: -f(x[0])) if self.sign < 0 else (lambda x: f(x[0]))

    @cached_property
    def _forms(self):
        """The function as kernels call it, and whether they have to ask Python."""
        found = None if self.pointwise is None else machine_code(self.pointwise, self.f)
        return (found, False) if found is not None and self._agrees(found) else (self._callback(), True)

    @property
    def compiled(self):
        return self._forms[0]

    @property
    def interpreted(self) -> bool:
        return self._forms[1]

    def _agrees(self, compiled) -> bool:
        """Machine code may read a global once and for all, or know another division."""
        points = np.random.default_rng(1).uniform(self.lower, self.upper, (MORE, len(self.lower)))
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            return all(math.isclose(compiled(x), self(x), rel_tol=1e-9, abs_tol=1e-12) for x in points)

    def _callback(self):
        import numba

        memory = ctypes.c_double * len(self.lower)

        def call(address):
            try:
                return float(self(np.frombuffer(memory.from_address(address)).copy()))
            except Exception as error:
                self.failure = error
                return math.nan

        pointer = ctypes.CFUNCTYPE(ctypes.c_double, ctypes.c_void_p)(call)

        def ask(x):
            return pointer(x.ctypes.data)

        found = numba.cfunc(numba.float64(numba.float64[::1]))(ask)
        found.pointer = pointer  # as long as the one lives, so must the other
        return found


def machine_code(pointwise, f):
    """A numba cfunc of a function of one point, None where it cannot be compiled."""
    import numba.extending

    if isinstance(f, FunctionType):
        numba.extending.register_jitable(f)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        try:
            return numba.cfunc(numba.float64(numba.float64[::1]), error_model="numpy")(pointwise)
        except Exception:  # numba has many, and arbitrary code meets them all
            return None


def through(compiled, X) -> np.ndarray:
    """The values of a cfunc at the rows of an array."""
    out = np.empty(len(X))
    _loop()(typed(compiled), np.ascontiguousarray(X), out)
    return out


@cache
def _loop():
    import numba

    @numba.njit
    def loop(f, X, out):
        for i in range(X.shape[0]):
            out[i] = f(X[i])

    return loop


def called(f, way, x):
    """f at one point."""
    if way == ONE_NUMBER:
        return f(float(x[0]))
    if way == COORDINATES:
        return f(*x.tolist())
    return f(x) if way == ONE_POINT else f(x[None])


def called_with_many(f, way, many, X):
    """f at the rows of an array, at once."""
    if way == ONE_NUMBER:
        return f(X[:, 0])
    if way == COORDINATES:
        return f(*X.T)
    return f(X) if many == "rows" else f(np.ascontiguousarray(X.T))


def one_value(value) -> float:
    """What a function returned for one point."""
    found = np.asarray(value)
    if found.size != 1 or found.dtype.kind not in "fiub":
        what = f"shape {found.shape}" if found.dtype.kind in "fiub" else shown(value)
        raise TypeError(f"it returned {what} for one point, where one real number is needed")
    return float(found.reshape(-1)[0])


def recognised(f, lower, *, upper, sign, where="cost") -> Own:
    """f with the way in which it is called, found out at a few points of the box."""
    dim = len(lower)
    count = PROBES + 2 * (dim == PROBES)  # rows and columns must not be mistaken for each other
    points = np.random.default_rng(0).uniform(lower, upper, (count, dim))
    refusals = []
    for way in _ways(f, dim):
        try:
            with warnings.catch_warnings():
                warnings.simplefilter("error")  # math.sin of an array works, with a warning, until it does not
                warnings.simplefilter("ignore", RuntimeWarning)
                found = np.array([one_value(called(f, way, x.copy())) for x in points])
        except Exception as error:
            refusals.append(f"{_spelt(way, dim)}: {type(error).__name__}: {error}")
            continue
        _check_values(f, way, points=points, found=found, where=where)
        return Own(f, way, many=_many(f, way, points, found), sign=sign, lower=lower, upper=upper)
    raise InvalidChoice(
        f"{where}: f cannot be called with a point of {dim} coordinate{'s' * (dim > 1)} ("
        + "; ".join(" ".join(refusal.split())[:200] for refusal in refusals)
        + ")"
    )


def _ways(f, dim):
    """How f may want its point, the likeliest first."""
    if dim == 1:
        return ONE_NUMBER, ONE_POINT, ROWS
    try:
        needed = [p for p in inspect.signature(f).parameters.values() if p.default is p.empty]
    except (TypeError, ValueError):
        needed = []
    named = [p for p in needed if p.kind in (p.POSITIONAL_ONLY, p.POSITIONAL_OR_KEYWORD)]
    return (COORDINATES,) if len(named) == dim else (ONE_POINT, ROWS)


def _spelt(way, dim) -> str:
    return {
        ONE_NUMBER: "f(a number)",
        ONE_POINT: f"f(an array of shape ({dim},))",
        COORDINATES: f"f of {dim} numbers",
        ROWS: f"f(an array of shape (1, {dim}))",
    }[way]


def _check_values(f, way, *, points, found, where):
    bad = np.flatnonzero(~np.isfinite(found))
    if bad.size:
        x = points[bad[0]].tolist()
        raise InvalidChoice(f"{where}: f is {found[bad[0]]} at x = {shown(x)}; it must be finite on the box")
    again = one_value(called(f, way, points[0].copy()))
    if again != found[0]:
        raise InvalidChoice(
            f"{where}: f gave {found[0]:.10g} and then {again:.10g} at x = {shown(points[0].tolist())}; it must be the "
            "mean itself, for noise is added to it (noise=...)"
        )


def _many(f, way, points, found) -> str | None:
    """How f takes all points at once, None if it does not."""
    for form in ("rows", "columns") if way == ONE_POINT else ("rows",):
        with warnings.catch_warnings(), np.errstate(all="ignore"):
            warnings.simplefilter("ignore")
            try:
                values = np.asarray(called_with_many(f, way, form, points.copy()), dtype=float)
            except Exception:
                continue
        if values.shape == found.shape and np.allclose(values, found, rtol=1e-9, atol=1e-12):
            return form
    return None


# The minimum


def _searched(formula: Own, lower, *, upper, search, maximise):
    """The minimum, minimisers, and the doubt about it."""
    end = "maximum" if maximise else "minimum"
    try:
        search = int(search)
    except (TypeError, ValueError, OverflowError):
        search = 0
    if search < LEAST_SEARCH:
        raise InvalidChoice(f"cost: search must be a number of evaluations, {LEAST_SEARCH} or more; or pass {end}=...")

    compiled = None

    def many(X):
        values = formula(np.ascontiguousarray(X.T)) if compiled is None else through(compiled, X)
        if not np.all(np.isfinite(values)):
            x = X[np.argmin(np.isfinite(values))].tolist()
            raise InvalidChoice(f"cost: f is not finite at x = {shown(x)}; it must be finite on the box")
        return values

    rng = np.random.default_rng(0)
    begun = time.perf_counter()
    many(rng.uniform(lower, upper, (PROBES, len(lower))))
    each = (time.perf_counter() - begun) / PROBES
    if formula.many is None and each * search > QUICK and not formula.interpreted:
        compiled, each = formula.compiled, 0.0
    if search == SEARCH and each * search > PATIENCE and formula.many is None:
        enough = max(LEAST_SEARCH, round(10 / each, -3))
        raise InvalidChoice(
            f"cost: to search for the {end} takes {search:,} evaluations of {each:.2g} s each; pass {end}=..., or "
            f"search={enough:.0f} to look less thoroughly"
        )
    share = min(1.0, search / SEARCH)
    size = {"starts": max(4, round(32 * share**0.5)), "width": max(12, round(48 * share**0.5))}
    points = rng.uniform(lower, upper, (max(400, round(40_000 * share)), len(lower)))
    side = float(np.max(upper - lower))
    target = Target(many, lower, upper, 0.0, np.empty((0, len(lower))), 0.0, side)
    target, doubt = _polished(*locate(target, rng, points=points, **size), float(np.ptp(many(points[:MORE]))))
    return target.minimum, _lowest(target), max(doubt, float(np.spacing(abs(target.minimum))))


def _polished(target, doubt, range_):
    """Where a search at random is not at its end, as in many dimensions, gradients may lead further."""
    if doubt <= ROUNDING * range_:
        return target, doubt
    from scipy.optimize import minimize

    def value(x):
        return float(target.many(np.clip(x, target.lower, target.upper)[None])[0])

    bounds = list(zip(target.lower, target.upper, strict=True))
    first = minimize(value, target.minimisers[0], method="L-BFGS-B", bounds=bounds)
    again = minimize(value, first.x, method="L-BFGS-B", bounds=bounds)
    if again.fun >= target.minimum:
        return target, doubt
    found = replace(target, minimum=float(again.fun), minimisers=again.x[None])
    return found, max(float(first.fun - again.fun), ROUNDING * range_)


def reached(known: Cost) -> float | None:
    """The lowest value that a short search finds, None where f is too slow or has too many coordinates for one."""
    rng = np.random.default_rng(0)
    points = rng.uniform(known.lower, known.upper, (SHORT, known.dim))
    begun = time.perf_counter()
    known.many(points[:PROBES])
    if known.dim > FEW or (time.perf_counter() - begun) / PROBES > QUICK / (20 * SHORT):
        return None
    target = Target(known.many, known.lower, known.upper, 0.0, np.empty((0, known.dim)), 0.0, known.side)
    return locate(target, rng, starts=4, width=12, rounds=20, points=points)[0].minimum


def _lowest(target) -> np.ndarray:
    """The minimisers that are as low as the minimum; a search that did not come to its end calls more of them so."""
    excess = target.many(target.minimisers) - target.minimum
    return target.minimisers[excess <= ROUNDING * max(1.0, abs(target.minimum))]
