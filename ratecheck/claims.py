"""What is promised, as data: theorems, their claims about one cost, and the cases in which a study judges them."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable, Mapping
from contextlib import contextmanager
from dataclasses import asdict, dataclass, field, is_dataclass
from enum import StrEnum
from functools import partial
from inspect import Parameter, signature
from itertools import repeat
from types import UnionType
from typing import TYPE_CHECKING, NamedTuple, get_args, get_origin, get_type_hints

import numpy as np

from .arguments import LONGEST, check_real, check_whole, shown
from .rates import Rate

if TYPE_CHECKING:
    from function_zoo import Constants, Cost

    from .algorithms.protocol import Algorithm

FEWEST_RUNS = 3  # at a horizon, for an interval
MARGIN = 0.05  # of a slope: by so much it may exceed the promise


class Outcome(StrEnum):
    """What is found about a promise: see `verdict`."""

    CONSISTENT = "CONSISTENT"
    REFUTED = "REFUTED"
    INCONCLUSIVE = "INCONCLUSIVE"


class Violation(NamedTuple):
    """A hypothesis that is not met: a name for what it is about, and a sentence.

    For example

        rc.Violation("dim", "d = 3 exceeds 2")     # what the hypotheses of a Theorem yield
    """

    name: str
    sentence: str

    def __str__(self):
        return self.sentence


def check_known(constants, dim):
    """Refuse what are no constants of a cost, or is no dimension."""
    for name in ("alpha", "beta"):
        if not hasattr(constants, name):
            raise ValueError(f"constants = {shown(constants)} must be those of a cost, function_zoo.Constants(...)")
        if getattr(constants, name) is not None:  # nobody knows it, and perhaps nobody asks for it
            check_real(name, getattr(constants, name))
    check_whole("dim", dim, 1, LONGEST)


def _needed(function) -> list:
    try:
        parameters = signature(function).parameters.values()
    except (TypeError, ValueError):
        return []
    return [p for p in parameters if p.default is p.empty and p.kind in (p.POSITIONAL_ONLY, p.POSITIONAL_OR_KEYWORD)]


def _always(rate, alpha, beta, dim) -> Rate:
    return rate


def nothing(*_, **__) -> tuple:
    return ()


@dataclass(frozen=True)
class Theorem:
    """A claim about an algorithm's regret, for costs with given constants.

    `formula(alpha, beta, dim)` or `formula(constants, dim)` is the rate that it promises; `kind` says whether R grows
    at most ("upper") or at least ("lower") so fast; `hypotheses(constants, dim, **settings)` yields what a cost or the
    settings of an algorithm do not meet and without which nothing is promised; `unneeded(constants, dim)` yields, as
    sentences, hypotheses that are printed and not met, but that no proof needs.
    """

    name: str
    kind: str
    statement: str
    formula: Callable[[float, float, int], Rate]
    hypotheses: Callable[..., Iterable[Violation]] = nothing
    unneeded: Callable[[Constants, int], Iterable[str]] = nothing
    per_cost: bool = True  # False: it speaks of a supremum over costs, so that no single cost refutes it
    corrected: Theorem | None = None  # the same claim with the log power that theory puts in place of the printed one

    def __post_init__(self):
        for text in ("name", "statement"):
            if not isinstance(getattr(self, text), str) or not getattr(self, text).isprintable():
                raise ValueError(f"{text} = {shown(getattr(self, text))} must be a text, on one line")
        if self.kind not in ("upper", "lower"):
            raise ValueError(f"{self.name}: kind = {shown(self.kind)} must be 'upper' or 'lower'")
        for function in ("formula", "hypotheses", "unneeded"):
            if not callable(getattr(self, function)):
                raise ValueError(f"{self.name}: {function} = {shown(getattr(self, function))} must be a function")
        if not isinstance(self.per_cost, bool):
            raise ValueError(f"{self.name}: per_cost = {shown(self.per_cost)} must be True or False")
        if not (self.corrected is None or isinstance(self.corrected, Theorem)):
            raise ValueError(f"{self.name}: corrected = {shown(self.corrected)} must be a Theorem, or None")

    @classmethod
    def of(cls, name: str, rate: Rate | str, kind: str = "upper", statement: str | None = None) -> Theorem:
        """A theorem that promises one rate whatever the cost: `Theorem.of("mine", "T^(2/3) (ln T)^(1/3)")`."""
        rate = Rate.parse(rate) if isinstance(rate, str) else rate
        if not isinstance(rate, Rate):
            raise ValueError(f"{name}: rate = {shown(rate)} must be a Rate, or a text such as 'T^(2/3)'")
        return cls(name, kind, str(rate) if statement is None else statement, partial(_always, rate))

    def rate(self, constants: Constants, dim: int) -> Rate:
        check_known(constants, dim)
        with self._asked(constants):
            whole = len(_needed(self.formula)) == 2
            rate = self.formula(constants, dim) if whole else self.formula(constants.alpha, constants.beta, dim)
        if not isinstance(rate, Rate):
            raise ValueError(f"{self.name}: its formula returned {shown(rate)}, where it must return a Rate")
        return rate

    @contextmanager
    def _asked(self, constants):
        """Around a formula or a hypothesis: what it cannot take is said in a sentence."""
        try:
            yield
        except (TypeError, AttributeError, ArithmeticError) as error:
            if hasattr(constants, "need"):
                constants.need(self.name, "alpha", "beta")
            raise ValueError(f"{self.name} cannot be asked about that ({type(error).__name__}: {error})") from error

    def violated(self, constants: Constants, dim: int, **settings) -> tuple[Violation, ...]:
        """Hypotheses that are not met; of an algorithm's settings those count that the theorem speaks of."""
        spoken_of = signature(self.hypotheses).parameters
        if not any(p.kind is Parameter.VAR_KEYWORD for p in spoken_of.values()):
            settings = {name: value for name, value in settings.items() if name in spoken_of}
        check_known(constants, dim)
        with self._asked(constants):
            found = tuple(self.hypotheses(constants, dim, **settings) or ())
        for violation in found:
            if not isinstance(violation, Violation):
                raise ValueError(
                    f"{self.name}: hypotheses gave {shown(violation)}, which is no Violation(name, sentence)"
                )
        return found

    def remarks(self, constants: Constants, dim: int) -> tuple[str, ...]:
        check_known(constants, dim)
        with self._asked(constants):
            return tuple(self.unneeded(constants, dim) or ())

    def claim(self, constants: Constants, dim: int, **settings) -> Claim:
        """What the theorem says about a cost with these constants and an algorithm with these settings."""
        printed = self.rate(constants, dim)
        better = self.corrected and self.corrected.rate(constants, dim)
        if better == printed:
            better = None
        return Claim(
            theorem=self.name,
            statement=self.statement,
            kind=self.kind,
            printed=printed,
            corrected=better,
            corrected_name=better and self.corrected.name,
            per_cost=self.per_cost,
            violated=self.violated(constants, dim, **settings),
            remarks=self.remarks(constants, dim),
        )


class Record:
    """Plain data that JSON keeps: a dataclass, read back as its own annotations say."""

    def to_json(self) -> dict:
        return asdict(self)

    @classmethod
    def from_json(cls, data: Mapping):
        return _read(cls, data)


def _read(kind, value):
    inner = get_args(kind)
    if isinstance(kind, UnionType):  # of something and None
        return None if value is None else _read(inner[0], value)
    if get_origin(kind) is tuple:
        return tuple(map(_read, repeat(inner[0]) if inner[-1] is ... else inner, value))
    if is_dataclass(kind):
        kinds = get_type_hints(kind)
        return kind(**{name: _read(kinds[name], part) for name, part in value.items()})
    return kind(*value) if hasattr(kind, "_fields") else value


@dataclass(frozen=True)
class Claim(Record):
    """What a theorem promises in one case.

    `printed` is the rate as the paper has it, `corrected` the one that theory puts in its place, `rate` the one of both
    that stands; each is a Rate, whose `slope` is the exponent of R.

        rc.theorem2.claim(cost.constants, cost.dim).rate
    """

    theorem: str
    statement: str
    kind: str
    printed: Rate
    corrected: Rate | None = None  # where theory proves another log power than the printed one
    corrected_name: str | None = None
    per_cost: bool = True  # False: it speaks of the worst cost near this one
    violated: tuple[Violation, ...] = ()  # nothing is promised then
    remarks: tuple[str, ...] = ()  # hypotheses that are printed and not met, but that no proof needs

    @property
    def rate(self) -> Rate:
        """The rate that theory stands by."""
        return self.corrected or self.printed

    @property
    def parts(self) -> int:
        """How many verdicts there are on it: on its rate and on each log power; on the worst cost nearby, one."""
        return 2 + (self.corrected is not None) if self.per_cost else 1


@dataclass(frozen=True)
class Control(Record):
    """The case's own runs, made to break its own claim: their regret is multiplied by T^by (a lower bound: T^-by)."""

    by: float

    def tilt(self, own: Claim) -> float:
        return self.by if own.kind == "upper" else -self.by

    def slope(self, own: Claim) -> float:
        return own.rate.slope + self.tilt(own)


# Of this program's runs and stores: raised whenever the same names give other regrets, predictions or bounds than
# before, or a store has another form.  A store with another number is not read.
VERSION = 3


@dataclass(frozen=True)
class Series:
    """All that determines a run apart from its replicate and its horizon; runs of one digest belong together."""

    digest: str
    cost: str
    dim: int
    algorithm: str
    noise: str
    alignment: str
    seed: int
    period: float | None  # the factor in T after which theory expects the regret to repeat itself


@dataclass(frozen=True)
class Curve(Record):
    """The predicted mean regret at growing horizons, and the mean number of cells.

    `error`: half the width of a 95 % interval of each mean, as a share of it; `limit`: a short phrase, what ended it.
    See `predicted_curve` and `far`.
    """

    horizons: tuple[float, ...]
    regret: tuple[float, ...]
    cells: tuple[float, ...]
    limit: str
    error: tuple[float, ...] = ()

    def log_regret(self, log_horizon):
        """ln R at ln T, interpolated."""
        return np.interp(log_horizon, np.log(self.horizons), np.log(self.regret))


@dataclass(frozen=True)
class Hard(Record):
    """Where a case meets the hard family of its cost, fixed before anything runs, or why it does not."""

    key: str = ""  # under which the bounds of the cost are kept; empty where none is computed
    runs: str = ""  # under which it is noted which runs on members belong to the case
    bounds: tuple[int, ...] = ()  # horizons at which a bound is computed
    horizons: tuple[int, ...] = ()  # those of them at which members are run
    members: int = 0  # drawn at each
    reason: str = ""  # why no member is run


NEVER = 1e100  # in place of an onset that a curve does not reach


@dataclass(frozen=True)
class Case(Record):
    """One cost and one algorithm, with all that theory says beforehand."""

    family: str
    parameters: dict[str, str] = field(hash=False)  # of the cost, spelt out
    constants: dict[str, float] = field(hash=False)
    algorithm: str  # its label
    anytime: bool
    plain: bool  # Python, no kernel
    series: Series
    horizons: tuple[int, ...]
    replicates: int
    window: tuple[float, float]
    onset: float
    shift: float | None  # what stands beside ln T in the algorithm's keys
    claims: tuple[Claim, ...]
    controls: tuple[Control, ...]
    curve: Curve | None = None  # the predicted regret, as far as it was computed
    hard: Hard = Hard()

    @property
    def cost(self) -> str:
        return self.series.cost

    @property
    def dim(self) -> int:
        return self.series.dim

    @property
    def period(self) -> float | None:
        return self.series.period

    @property
    def name(self) -> str:
        return f"{self.family} d = {self.dim}, {self.algorithm}"

    @property
    def own(self) -> Claim:
        """The claim by which the case is fitted and compared: its first that a single cost can decide."""
        return own_of(self.claims)

    @property
    def steps(self) -> int:
        return self.replicates * (self.horizons[-1] if self.anytime else sum(self.horizons))

    @property
    def periods(self) -> float:
        """How many periods the window holds; each horizon stands for the step up to the next."""
        step = math.log(self.horizons[-1] / self.horizons[-2]) if len(self.horizons) > 1 else 0.0
        return (math.log(self.window[1] / self.window[0]) + step) / math.log(self.period)


def own_of(claims: tuple[Claim, ...]) -> Claim:
    return next(claim for claim in claims if claim.per_cost)


class Planned(NamedTuple):
    """A case with the cost and the settled algorithm that run it."""

    case: Case
    cost: Cost
    algorithm: Algorithm
