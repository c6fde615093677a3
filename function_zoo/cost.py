"""A cost function on a box, with the constants of Assumption 1 that the theorems speak of."""

from __future__ import annotations

import hashlib
import itertools
import math
import operator
import pickle
import reprlib
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field, fields, replace
from functools import cached_property
from numbers import Real
from types import FunctionType, MappingProxyType

import numpy as np

from .formula import content, packed


def shown(value) -> str:
    """What was given, short enough for a sentence and on one line."""
    return " ".join(reprlib.repr(value).split())


CONSTANTS = ("alpha", "beta", "M_a", "M_b", "A", "C0", "mu_min")


@dataclass(frozen=True)
class Constants:
    """The constants of Assumption 1 (Zhao and Lai), and the smallest valid bias constant of Algorithm 2.

        zoo.get("cone", dim=2).constants.alpha

    With f* the minimum, S the box, B(x, a) the cube of length a around x and P the packing number:

    (a)  f(x) - f* <= M_a for x in S;
    (b)  |mean of f over B(x, a) - f(x)| <= M_b a^alpha for x in S and 0 < a <= A;
    (c)  P({x in S: f(x) - f* < e}, a) <= C0 (1 + e^beta / a^d) for all a, e > 0; costs whose minimisers
         form a continuum satisfy it only for a^alpha <= e, called (c'): `literal` is False for them.

    P(K, a) counts points of K with pairwise sup-distance >= a.  `A` is also the margin: f is defined, and not
    below f*, up to A beyond every face of S.  `mu_min` is the supremum of (mean of f over B - f*) / a^alpha
    over cubes B of length a <= A that contain a minimiser: the smallest mu for which the lower confidence
    bound of Algorithm 2 is valid.

    M_a, M_b and mu_min are the smallest possible values unless they are listed in `bounds` (proved, but perhaps not the
    smallest); C0 is any constant that does.  What is listed in `measured` was found by the machine, without a proof.
    None stands for a constant that nobody knows, as in costs of one's own.
    """

    alpha: float | None = None
    beta: float | None = None
    M_a: float | None = None
    M_b: float | None = None
    A: float | None = None
    C0: float | None = None
    mu_min: float | None = None
    literal: bool = True
    bounds: tuple[str, ...] = ()
    measured: tuple[str, ...] = ()

    def __post_init__(self):
        for name in CONSTANTS:
            value = getattr(self, name)
            if not (value is None or (isinstance(value, Real) and -math.inf < value <= math.inf)):
                raise ValueError(f"{name} = {shown(value)} must be a number, or None where it is not known")
        for name in ("bounds", "measured"):
            names = getattr(self, name)
            if not isinstance(names, tuple | list) or not all(isinstance(n, str) for n in names):
                raise ValueError(f"{name} = {shown(names)} must be a tuple of names of constants")

    @property
    def M(self) -> float | None:
        """The paper's single constant for (a) and (b)."""
        return None if self.lacking("M_a", "M_b") else max(self.M_a, self.M_b)

    def lacking(self, *names) -> list[str]:
        """Those of the named constants that are not known."""
        return [name for name in names if getattr(self, name) is None]

    def need(self, who: str, *names, instead: str = ""):
        """Refuse what cannot be done without these constants, in a sentence that says what to give."""
        if missing := self.lacking(*names):
            instead = f"{instead}, or " if instead else ""
            unknown = "are not known" if len(missing) > 1 else "is not known"
            raise ValueError(
                f"{who} needs {' and '.join(missing)} of the cost, which {unknown}; "
                f"give {instead}function_zoo.cost(..., constants=function_zoo.estimate(...).constants)"
            )

    def weakened(self, alpha: float) -> Constants:
        """Of the same cost with a smaller alpha: a^alpha' <= A^(alpha' - alpha) a^alpha for a <= A.

        An alpha that is not smaller changes nothing: (b) is known for no larger one.
        """
        if not (isinstance(alpha, Real) and alpha > 0):
            raise ValueError(f"alpha = {shown(alpha)} must be a positive number")
        if self.alpha is None or alpha >= self.alpha:
            return self
        factor = self.A ** (self.alpha - alpha)
        return replace(self, alpha=alpha, M_b=factor * self.M_b, mu_min=factor * self.mu_min)

    def basis(self, name: str) -> str:
        """How a constant is known: proved, bound (proved, perhaps not the smallest) or measured."""
        return "measured" if name in self.measured else "bound" if name in self.bounds else "proved"


FORMULAS = ("formula", "gap", "mean")


@dataclass(frozen=True, eq=False, repr=False)
class Cost:
    """A cost f on the box [lower, upper], ready for arrays and for compiled kernels.

        cost = zoo.get("cone", dim=2)
        cost([0.1, 0.2]), cost.many([[0.1, 0.2]])

    `formula(x)` is written once, with numpy functions and x[0], ..., x[d-1] only.  For arrays each x[i] is a
    vector; compiled, each x[i] is a number.

    Three things may be known beside it, for those who ask for means over small cubes; z is relative to the first
    minimiser: `gap(z)` is f(x* + z) - f* without the rounding of x* + z, `mean(z, a)` its mean over the cube of
    length a whose lower corner is z, and `separable` says that f is a sum of functions of one coordinate each.  They
    are dropped where `gap` is not that of the formula.  Where `anchored` is True, z has one entry more: z[d] is the
    number of the minimiser, 0.0, 1.0, ..., that z[0], ..., z[d-1] are relative to.
    """

    name: str
    dim: int
    formula: Callable
    lower: np.ndarray
    upper: np.ndarray
    minimum: float
    minimisers: np.ndarray  # (k, d); some of them where there is a continuum
    constants: Constants
    parameters: Mapping = field(default_factory=dict)
    gap: Callable | None = None
    mean: Callable | None = None
    separable: bool = False
    anchored: bool = False
    period: float | None = None  # f has the same values that much further along any axis, beyond the box, too
    registered: bool = False  # made by function_zoo.get, so a name is enough to remake it
    searched: float | None = None  # the doubt about a minimum that a search found
    maximise: bool = False  # the formula is minus a reward, which algorithms are to see

    def __post_init__(self):
        self._check_fields()
        for name in ("lower", "upper", "minimisers"):
            value = self._floats(name, getattr(self, name)).copy()
            value.flags.writeable = False
            object.__setattr__(self, name, value)
        object.__setattr__(self, "parameters", MappingProxyType(dict(self.parameters)))
        if self.lower.shape != (self.dim,) or self.upper.shape != (self.dim,):
            raise ValueError(f"{self.name}: the box needs {self.dim} lower and {self.dim} upper ends")
        if not (np.all(np.isfinite([self.lower, self.upper])) and np.all(self.lower < self.upper)):
            raise ValueError(f"{self.name}: the box needs finite ends, every lower one below the upper one")
        if self.minimisers.ndim != 2 or self.minimisers.shape[1] != self.dim:
            raise ValueError(f"{self.name}: minimisers must be an array of shape (k, {self.dim}); k = 0: none is known")
        if not isinstance(self.constants, Constants):
            raise ValueError(f"{self.name}: constants = {shown(self.constants)} must be Constants(...)")
        if self.gap is not None and not self._gap_belongs():
            for name, nothing in (
                ("gap", None),
                ("mean", None),
                ("separable", False),
                ("anchored", False),
                ("period", None),
            ):
                object.__setattr__(self, name, nothing)

    def _check_fields(self):
        if not isinstance(self.name, str) or not self.name.isprintable():
            raise ValueError(f"name = {shown(self.name)} must be a text, on one line")
        try:
            whole = not isinstance(self.dim, bool) and operator.index(self.dim) >= 1
        except TypeError:
            whole = False
        if not whole:
            raise ValueError(f"{self.name}: dim = {shown(self.dim)} must be a whole number, 1 or larger")
        if not callable(self.formula):
            raise ValueError(f"{self.name}: formula = {shown(self.formula)} must be a function of x")
        for name in ("gap", "mean"):
            if getattr(self, name) is not None and not callable(getattr(self, name)):
                raise ValueError(f"{self.name}: {name} = {shown(getattr(self, name))} must be a function or None")
        for name in ("separable", "anchored", "maximise"):
            if not isinstance(getattr(self, name), bool):
                raise ValueError(f"{self.name}: {name} = {shown(getattr(self, name))} must be True or False")
        if not (self.period is None or (isinstance(self.period, Real) and 0 < self.period < math.inf)):
            raise ValueError(f"{self.name}: period = {shown(self.period)} must be a positive length, or None")
        if not (self.searched is None or (isinstance(self.searched, Real) and 0 <= self.searched < math.inf)):
            raise ValueError(f"{self.name}: searched = {shown(self.searched)} must be a doubt, 0 or larger, or None")
        if not (isinstance(self.minimum, Real) and -math.inf < self.minimum < math.inf):
            raise ValueError(f"{self.name}: minimum = {shown(self.minimum)} must be a finite number")
        if not isinstance(self.parameters, Mapping):
            raise ValueError(f"{self.name}: parameters = {shown(self.parameters)} must be a dictionary")

    def _gap_belongs(self) -> bool:
        """Whether `gap` speaks of this formula: another one may have been put in its place."""
        share = np.linspace(0.05, 0.95, 7)[:, None]
        points = self.lower + (self.upper - self.lower) * share
        anchors = range(len(self.minimisers) if self.anchored else 1)
        try:
            found = np.array([float(self.formula(x)) for x in points]) - self.minimum
            known = np.array([[float(self.gap(z)) for z in self._relative(points, k)] for k in anchors])
        except Exception:
            return False
        return known.size > 0 and np.allclose(
            known, found, rtol=1e-6, atol=max(self.rounding, 1e-6 * (self.constants.M or 0.0))
        )

    def _relative(self, points, k) -> np.ndarray:
        """Points as `gap` takes them, beside minimiser number k."""
        z = points - self.minimisers[k]
        return np.column_stack([z, np.full(len(z), float(k))]) if self.anchored else z

    def _floats(self, name, given) -> np.ndarray:
        try:
            return np.asarray(given, dtype=float)
        except (TypeError, ValueError, OverflowError):
            raise ValueError(f"{self.name}: {name} = {shown(given)} must be numbers") from None

    def __call__(self, x) -> float:
        x = self._floats("x", x)
        if x.shape != (self.dim,):
            raise ValueError(f"{self.name}: one point has {self.dim} coordinates, got an array of shape {x.shape}")
        return float(self.formula(x))

    def many(self, X) -> np.ndarray:
        """f at every row of an (n, d) array."""
        X = self._floats("X", X)
        if X.ndim != 2 or X.shape[1] != self.dim:
            raise ValueError(f"{self.name}: many() takes an (n, {self.dim}) array, got shape {X.shape}")
        return self.formula(np.ascontiguousarray(X.T))

    @cached_property
    def compiled(self):
        """f as a numba cfunc float64(float64[::1]): one type for all costs, so a kernel compiles once for all.

        Only the zoo's own formulas are cached on disk: they depend on captured values alone, which are part of the
        cache key, whereas numba would not notice a changed global in a formula from elsewhere.
        """
        if hasattr(self.formula, "compiled"):  # anybody's function, see own.py
            return typed(self.formula.compiled)
        return self._compile(self.formula)

    @property
    def interpreted(self) -> bool:
        """Whether kernels have to ask Python for every value, a microsecond and more each."""
        return getattr(self.formula, "interpreted", False)

    @cached_property
    def compiled_gap(self):
        """The same of `gap`, None if there is none."""
        return self.gap and self._compile(self.gap)

    @cached_property
    def compiled_mean(self):
        """`mean` as a numba cfunc float64(float64[::1], float64), None if there is none."""
        return self.mean and self._compile(self.mean, lengths=1)

    def _compile(self, formula, lengths=0):
        import numba.extending

        for cell in getattr(formula, "__closure__", None) or ():
            if isinstance(cell.cell_contents, FunctionType):  # a formula made of formulas
                numba.extending.register_jitable(cell.cell_contents)
        if self.registered:
            formula = filed(formula)
        signature = numba.float64(numba.float64[::1], *[numba.float64] * lengths)
        try:
            found = numba.cfunc(signature, cache=self.registered, error_model="numpy")(formula)
        except RuntimeError:  # there is no folder that a cache could be written to
            found = numba.cfunc(signature, error_model="numpy")(formula)
        except numba.core.errors.NumbaError as error:
            first = str(error).strip().splitlines()[0]
            raise ValueError(
                f"{self}: the formula cannot be compiled ({first}); use numpy functions of x[0], x[1], ..."
            ) from error
        return typed(found)

    @property
    def fingerprint(self) -> str:
        """Of all that makes a cost that is not the zoo's: two costs of one name are told apart by it.

        A formula counts with its compiled code and with the values that it captured; globals that it reads do not.
        Stored runs are found by it, so it is the same in every process (of one version of Python: bytecode changes).
        """
        box = [self.lower.tolist(), self.upper.tolist(), self.minimum, self.minimisers.tolist()]
        parts = [*content(self.formula), box, self.constants, *["rewards"] * self.maximise]
        return hashlib.sha256(repr(parts).encode()).hexdigest()[:16]

    @property
    def side(self) -> float:
        """The longest side of the box."""
        return float(np.max(self.upper - self.lower))

    @property
    def margin(self) -> float:
        """How far beyond the box f is known to be defined."""
        return 0.0 if self.constants.A is None else self.constants.A

    def images(self, reach) -> np.ndarray:
        """The first minimiser, and where it comes again by the period, no farther from the box than so much."""
        along = [
            [x for x in (x0, x0 - self.period, x0 + self.period) if low - reach <= x <= high + reach]
            for x0, low, high in zip(self.minimisers[0].tolist(), self.lower, self.upper, strict=True)
        ]
        return np.array(list(itertools.product(*along)))

    @property
    def rounding(self) -> float:
        """What rounding errors may make of the minimum."""
        return 1e-9 * max(1.0, abs(self.minimum), self.constants.M or 0.0)

    @property
    def minimum_basis(self) -> str:
        """How the minimum is known."""
        return "given" if self.searched is None else f"searched, to within {self.searched:.2g}"

    def __reduce__(self):
        if self.registered:
            from .registry import get

            return _remake, (get, self.name, self.dim, dict(self.parameters))
        values = {f.name: getattr(self, f.name) for f in fields(self)}  # not `compiled`, which is of this process
        formulas = {name: packed(values[name]) for name in FORMULAS}
        return _unpack, (type(self), values | formulas | {"parameters": dict(self.parameters)})

    def _repr_html_(self):
        from .table import html

        return html(str(self), self._facts().items())

    def _facts(self):
        box = " × ".join(f"[{low:g}, {high:g}]" for low, high in zip(self.lower, self.upper, strict=True))
        known = {f.name: getattr(self.constants, f.name) for f in fields(self.constants) if f.name != "literal"}
        numbers = [f"{name} = {value:.6g}" for name, value in known.items() if isinstance(value, Real)]
        end, best = self._end
        said = f"{best:.6g}" if self.searched is None else f"{best:.6g}, {self.minimum_basis}"
        return {"box": box, end: said, "constants": ", ".join(numbers) or "not known"}

    @property
    def _end(self) -> tuple[str, float]:
        return ("maximum", 0.0 - self.minimum) if self.maximise else ("minimum", self.minimum)

    def __repr__(self):
        end, best = self._end
        name = str(self) if len(str(self)) <= 80 else f"{self.name}(dim={self.dim}, ...)"
        return f"<Cost {name}, {end} {best:.6g}>"

    def __str__(self):
        inner = ", ".join([f"dim={self.dim}", *(f"{k}={v}" for k, v in self.parameters.items())])
        return f"{self.name}({inner})"


def filed(formula):
    """The same function under a name of its own, so that its machine code has a file of its own in numba's cache.

    numba numbers the files of all functions that share a name, and two processes that compile at the same time may take
    the same number: one would then run the other's formula.
    """
    copy = FunctionType(
        formula.__code__, formula.__globals__, formula.__name__, formula.__defaults__, formula.__closure__
    )
    digest = hashlib.sha256(repr(content(formula)).encode()).hexdigest()[:16]
    copy.__qualname__ = f"{formula.__qualname__}_{digest}"
    return copy


def typed(function):
    """A cfunc that knows its type; numba would work it out at every call, which takes longer than many a kernel."""
    import numba

    function._numba_type_ = numba.typeof(function)
    return function


def on_box(
    dim, formula, *, lower, upper, minimum, minimisers, constants,
    gap=None, mean=None, separable=False, anchored=False, period=None, **parameters,
) -> Cost:  # fmt: skip
    """A cost that still has no name, on a box whose ends are the same in all coordinates or given one by one."""
    lower, upper = np.broadcast_to(lower, dim), np.broadcast_to(upper, dim)
    known = {"gap": gap, "mean": mean, "separable": separable, "anchored": anchored, "period": period}
    return Cost("", dim, formula, lower, upper, minimum, minimisers, constants, parameters, **known)


def centred(centre, half, about, constants, **parameters) -> Cost:
    """The same on [-half, half]^d, with minimum 0 at the centre and nowhere else; `about(c)` is the formula for c."""
    known = {"gap": about((0.0,) * len(centre))} | parameters
    return on_box(
        len(centre),
        about(centre),
        lower=-half,
        upper=half,
        minimum=0.0,
        minimisers=[centre],
        constants=constants,
        centre=centre,
        **known,
    )


def _remake(get, name, dim, parameters):
    return get(name, dim, **parameters)


def _unpack(kind, values):
    return kind(**values | {name: pickle.loads(values[name]) for name in FORMULAS})
