"""Any algorithm with `ask` and `tell`, in plain Python."""

import inspect
import pickle
import traceback
from collections.abc import Callable
from dataclasses import dataclass
from functools import partial
from typing import ClassVar

import numpy as np

from function_zoo import Constants
from function_zoo.formula import captured, packed

from ..arguments import shown
from ..claims import Claim, Theorem
from ..papers import zhao_lai
from ..rates import Rate
from ..sampling.noise import draw
from . import sources
from .protocol import Defaults
from .run import CLOCK, HIGHEST, Run, lowest

ORDER = ("dim", "lower", "upper", "horizon", "rng")  # of a factory that names its parameters otherwise
OFFERED = (*ORDER, "sigma", "noise", "seed")
ROUNDING = 1e-9  # of the side of the box: so far beyond it a query counts as one on its face


class PlugIn(Defaults):
    """What algorithms from elsewhere share: they go by the function that makes one, make a promise, and have no cells
    that the engine and studies know of."""

    made_by: Callable
    promise: Rate | Theorem | Callable[[Constants, int], Rate] | None

    def check_promise(self):
        if not (self.promise is None or isinstance(self.promise, Rate | Theorem) or callable(self.promise)):
            raise ValueError(
                f"promise = {shown(self.promise)} must be a Rate, a Theorem or a function (constants, dim)"
            )

    @property
    def maker(self) -> Callable:
        """What makes one, without the settings that a partial adds."""
        return self.made_by.func if isinstance(self.made_by, partial) else self.made_by

    @property
    def own_name(self) -> str:
        return getattr(self.maker, "__qualname__", type(self.maker).__qualname__)

    @property
    def kind(self) -> str:
        return f"{getattr(self.maker, '__module__', '')}:{self.own_name}"

    @property
    def label(self) -> str:
        if not isinstance(self.made_by, partial):
            return self.own_name
        given = [*map(repr, self.made_by.args), *(f"{k}={v!r}" for k, v in self.made_by.keywords.items())]
        return f"{self.own_name}({', '.join(given)})"

    def claims(self, cost) -> tuple[Claim, ...]:
        """Its promise, if it makes one, and, where the constants are known, the bound that holds for any strategy."""
        bound = ()
        if not cost.constants.lacking("alpha", "beta"):
            bound = (zhao_lai.theorem3.claim(cost.constants, cost.dim),)
        if self.promise is None:
            return bound
        if isinstance(self.promise, Theorem):
            return self.promise.claim(cost.constants, cost.dim), *bound
        try:
            rate = self.promise if isinstance(self.promise, Rate) else self.promise(cost.constants, cost.dim)
        except (TypeError, ArithmeticError) as error:
            raise ValueError(
                f"the promise of {self.label} takes no (constants, dim) of {cost} ({type(error).__name__}: {error})"
            ) from error
        if not isinstance(rate, Rate):
            raise ValueError(f"the promise of {self.label} is {shown(rate)} on {cost}, where it must return a Rate")
        return Claim("its promise", f"{self.label}: {rate}", "upper", rate), *bound

    def settle(self, cost):
        return self

    def length(self, cost, horizon, fraction) -> float:
        return 0.0

    def settings(self, cost) -> dict:
        return {}

    def onset(self, cost, horizon) -> float:
        return 1.0

    def cells(self, cost, horizon) -> float:
        return 0.0

    def start(self, cost, length, offset, rng, noise, diagnostics=False, trace=None, horizon=None):
        if diagnostics:
            raise ValueError("diagnostics speak of cells and levels, which an algorithm of one's own does not have")
        return self.run(self, cost, rng, noise, horizon)


@dataclass(frozen=True)
class AskTell(PlugIn):
    """An algorithm from elsewhere: `factory(dim, lower, upper, horizon, rng)` makes an object with ask and tell(x, y).

    The factory, a class as a rule, is given what its parameters name: dim, lower, upper, horizon, rng (a
    numpy.random.Generator), seed (a number), sigma or noise (the standard deviation of the noise).  Five parameters of
    other names are given dim, lower, upper, horizon and rng in this order.

    `ask()` returns a point of the box, then `tell(x, y)` is called; or an (m, d) array, then `tell(X, Y)` is called
    with m values.  A batch is m steps: regret is counted point by point, also where a horizon falls inside it, and a
    run that ends inside it tells nothing more.

    `anytime` says that it ignores the horizon, so that one run serves all of them; None: it does unless the factory
    asks for `horizon`.  `maximise` says whether tell is given rewards, -f plus noise; None: as the cost has it.

    `promise` is what is claimed for it and what a study judges: a Rate, a Theorem, or a function of (constants, dim)
    that returns a Rate.  Processes and clusters receive factory and promise by name where they can find it, else by
    value.
    """

    factory: Callable
    anytime: bool = None  # type: ignore[assignment]  # what was not given is settled at once
    promise: Rate | Theorem | Callable[[Constants, int], Rate] | None = None
    maximise: bool | None = None
    compiled: ClassVar[bool] = False

    def __post_init__(self):
        self.check_promise()
        if not callable(self.factory):
            made = " (give the class itself, not an instance)" if hasattr(self.factory, "ask") else ""
            raise ValueError(
                f"factory = {shown(self.factory)} must be callable as factory(dim, lower, upper, horizon, rng){made}"
            )
        for name in ("anytime", "maximise"):
            if not (getattr(self, name) is None or isinstance(getattr(self, name), bool)):
                raise ValueError(f"{name} = {shown(getattr(self, name))} must be True, False or None")
        if self.anytime is None:
            object.__setattr__(self, "anytime", "horizon" not in wanted(self.factory))

    @property
    def made_by(self) -> Callable:
        return self.factory

    @property
    def fingerprint(self) -> str:
        """Of its source code, empty where there is none, and of what its factory was made with."""
        return sources.fingerprint(self.maker, captured(self.factory))

    def check(self, cost, horizon, shifted):
        pass

    def __reduce__(self):
        return _unpacked, (packed(self.factory), self.anytime, packed(self.promise), self.maximise)

    def seconds_per_step(self, cost, horizon) -> float:
        return 2e-5

    @property
    def run(self) -> type[Run]:
        return AskTellRun

    def __str__(self):
        told = "" if self.maximise is None else f", maximise={self.maximise}"
        return f"AskTell({self.label}{told})"


def _unpacked(factory, anytime, promise, maximise=None) -> AskTell:
    return AskTell(pickle.loads(factory), anytime, pickle.loads(promise), maximise)


def wanted(factory) -> tuple[str, ...]:
    """What a factory is given: by the names of its parameters, or all of ORDER, in order, where it has other names."""
    try:
        parameters = inspect.signature(factory).parameters.values()
    except (TypeError, ValueError):  # it does not say
        return ORDER
    kinds = {p.kind for p in parameters}
    if inspect.Parameter.VAR_POSITIONAL in kinds:
        return ORDER
    if inspect.Parameter.VAR_KEYWORD in kinds:
        return OFFERED
    needed = [p for p in parameters if p.default is p.empty]
    strange = [p for p in needed if p.name not in OFFERED or p.kind is p.POSITIONAL_ONLY]
    if strange and len(needed) == len(ORDER):
        return ORDER
    given = factory.keywords if isinstance(factory, partial) else {}
    named = {p.name for p in parameters if p.name not in given}
    return tuple(name for name in OFFERED if name in named)


def arguments(algorithm: AskTell, cost, *, horizon, rng, noise) -> tuple[tuple, dict]:
    """With what the factory is called; where that is not possible, a sentence."""
    offered = {"dim": cost.dim, "lower": cost.lower.copy(), "upper": cost.upper.copy(), "horizon": horizon, "rng": rng}
    offered |= {"sigma": float(noise.sigma), "noise": float(noise.sigma)}
    offered["seed"] = int(rng.bit_generator.seed_seq.generate_state(1)[0])  # without a draw from the rng
    given = {name: offered[name] for name in wanted(algorithm.factory)}
    try:
        signature = inspect.signature(algorithm.factory)
        keywords = any(p.kind is p.VAR_KEYWORD for p in signature.parameters.values())
        by_name = keywords or all(name in signature.parameters for name in given)
        signature.bind(**given) if by_name else signature.bind(*given.values())
    except ValueError:  # it has no signature
        by_name = False
    except TypeError as error:
        raise ValueError(
            f"{algorithm.label} cannot be made ({error}); a factory may ask for {', '.join(OFFERED)}, and for nothing "
            "else unless it has a default"
        ) from None
    return ((), given) if by_name else (tuple(given.values()), {})


class AlgorithmError(RuntimeError):
    """Code from elsewhere failed; the message says where, the cause is what it raised, also from another process."""

    def __reduce__(self):
        told = self.__cause__
        text = told.text if isinstance(told, Elsewhere) else "".join(traceback.format_exception(told))
        return _failed, (self.args[0], text)


class Elsewhere(Exception):
    """A traceback from another process, as text."""

    def __init__(self, text):
        super().__init__(f"\n{text}")
        self.text = text


def _failed(message, text) -> AlgorithmError:
    error = AlgorithmError(message)
    error.__cause__ = Elsewhere(text)
    return error


class AskTellRun(Run):
    def __init__(self, algorithm, cost, rng, noise, horizon):
        own, self.noise_rng = rng.spawn(2)
        super().__init__(cost, noise, own, None)
        self.name = algorithm.label
        rewards = cost.maximise if algorithm.maximise is None else algorithm.maximise
        self.sign = -1.0 if rewards else 1.0
        self.low, self.high = cost.lower.tolist(), cost.upper.tolist()
        self.asked = self.points = None  # what it asked for, as it asked, and as points that are queried one by one
        self.told = []
        given, named = arguments(algorithm, cost, horizon=horizon, rng=own, noise=noise)
        self.player = self._call("", algorithm.factory, *given, **named)
        if not (hasattr(self.player, "ask") and hasattr(self.player, "tell")):
            raise ValueError(f"{self.name} makes {shown(self.player)}, which has no ask and tell")

    def advance(self, until):
        cost, least = self.cost, lowest(self.cost)
        while self.t < until:
            if self.asked is None:
                self._ask()
            x = self.points[len(self.told)]
            try:
                y = cost(x)
            except Exception as error:
                place = f"{cost} cannot be computed at x = {x.tolist()}, step {self.t + 1}"
                raise AlgorithmError(f"{place} ({type(error).__name__}: {error})") from error
            if not least <= y < HIGHEST:
                self.refuse(x, y)
            self.total_regret[0] += y - cost.minimum
            self.state[CLOCK] += 1
            self.told.append(self.sign * (y + draw(*self.noise, self.noise_rng)))
            if len(self.told) == len(self.points):
                asked, told, self.asked, self.told = self.asked, self.told, None, []
                self._call("tell", self.player.tell, asked, np.array(told) if np.ndim(asked) == 2 else told[0])

    def _ask(self):
        asked = self._call("ask", self.player.ask)
        try:
            x = np.asarray(asked, dtype=float)
        except (TypeError, ValueError):
            raise self._refusal(shown(asked)) from None
        if x.shape == (self.cost.dim,):  # as nearly always: quickly
            within = zip(self.low, x.tolist(), self.high, strict=True)
            if all(low <= coordinate <= high for low, coordinate, high in within):
                self.asked, self.points = x, x[None]
                return
        if x.ndim == 0 and self.cost.dim == 1:
            points = x.reshape(1, 1)
        elif x.shape == (self.cost.dim,):
            points = x[None]
        elif x.ndim == 2 and x.shape[1] == self.cost.dim and len(x):
            points = x
        else:
            raise self._refusal(shown(x.tolist()))
        inside = np.clip(points, self.cost.lower, self.cost.upper)
        off = ~(np.abs(points - inside) <= ROUNDING * (self.cost.upper - self.cost.lower))
        if np.any(off):
            raise self._refusal(shown(points[np.argmax(np.any(off, axis=1))].tolist()))
        self.asked, self.points = (float(inside[0, 0]), inside) if x.ndim == 0 else (inside.reshape(x.shape), inside)

    def _refusal(self, what) -> ValueError:
        box = " x ".join(f"[{a:g}, {b:g}]" for a, b in zip(self.cost.lower, self.cost.upper, strict=True))
        return ValueError(
            f"{self.name} asked for {what} at step {self.t + 1}, which is no point of the box of {self.cost}, {box}, "
            f"and no array of such points with {self.cost.dim} columns"
        )

    def _call(self, name, function, *arguments, **named):
        """Call code from elsewhere; what it raises is told with the place."""
        try:
            return function(*arguments, **named)
        except (Exception, SystemExit) as error:
            step = self.t + (name == "ask")
            failed = f"{self.name}.{name} failed at step {step}" if name else f"{self.name} cannot be made"
            raise AlgorithmError(f"{failed} ({type(error).__name__}: {error})") from error
