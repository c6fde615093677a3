"""Any algorithm with `ask` and `tell`, in plain Python."""

from __future__ import annotations

import math
import pickle
from collections.abc import Callable
from dataclasses import dataclass
from functools import partial
from typing import TYPE_CHECKING, ClassVar

import numpy as np

from function_zoo.formula import captured, packed

from ..checks import shown
from ..claims import Claim, Theorem
from ..noise import draw
from ..papers import zhao_lai
from ..rates import Rate
from . import sources
from .run import CLOCK, HIGHEST, Run, lowest

if TYPE_CHECKING:
    from function_zoo import Constants


@dataclass(frozen=True)
class AskTell:
    """An algorithm from elsewhere: `factory(dim, lower, upper, horizon, rng)` makes an object with ask and tell(x, y).

    `anytime` says that it ignores the horizon, so that one run serves all of them.  `promise` is what is claimed for it
    and what a study judges: a Rate, a Theorem, or a function of (constants, dim) that returns a Rate.  Processes and
    clusters receive factory and promise by name where they can find it, else by value.
    """

    factory: Callable
    anytime: bool = False
    promise: Rate | Theorem | Callable[[Constants, int], Rate] | None = None
    compiled: ClassVar[bool] = False

    def __post_init__(self):
        if not (self.promise is None or isinstance(self.promise, Rate | Theorem) or callable(self.promise)):
            raise ValueError(
                f"promise = {shown(self.promise)} must be a Rate, a Theorem or a function of (constants, dim)"
            )
        if not callable(self.factory):
            raise ValueError(
                f"factory = {shown(self.factory)} must be callable as factory(dim, lower, upper, horizon, rng)"
            )

    @property
    def _maker(self) -> Callable:
        """The factory without the settings that a partial adds."""
        return self.factory.func if isinstance(self.factory, partial) else self.factory

    @property
    def _name(self) -> str:
        return getattr(self._maker, "__qualname__", type(self._maker).__qualname__)

    @property
    def kind(self) -> str:
        return f"{getattr(self._maker, '__module__', '')}:{self._name}"

    @property
    def label(self) -> str:
        if not isinstance(self.factory, partial):
            return self._name
        given = [*map(repr, self.factory.args), *(f"{k}={v!r}" for k, v in self.factory.keywords.items())]
        return f"{self._name}({', '.join(given)})"

    @property
    def fingerprint(self) -> str:
        """Of its source code, empty where there is none, and of what its factory was made with."""
        return sources.fingerprint(self._maker, captured(self.factory))

    def settle(self, cost) -> AskTell:
        return self

    def check(self, cost, horizon, shifted):
        pass

    def length(self, cost, horizon, fraction) -> float:
        return 0.0  # it has no cells

    def __reduce__(self):
        return _unpacked, (packed(self.factory), self.anytime, packed(self.promise))

    def settings(self, cost) -> dict:
        return {}

    def claims(self, cost) -> tuple[Claim, ...]:
        """Its promise, if it makes one, and the bound that holds for any strategy."""
        bound = zhao_lai.theorem3.claim(cost.constants, cost.dim)
        if self.promise is None:
            return (bound,)
        if isinstance(self.promise, Theorem):
            return self.promise.claim(cost.constants, cost.dim), bound
        try:
            rate = self.promise if isinstance(self.promise, Rate) else self.promise(cost.constants, cost.dim)
        except (TypeError, ArithmeticError) as error:
            raise ValueError(
                f"the promise of {self.label} takes no (constants, dim) of {cost} ({type(error).__name__}: {error})"
            ) from error
        if not isinstance(rate, Rate):
            raise ValueError(f"the promise of {self.label} is {shown(rate)} on {cost}, where it must return a Rate")
        return Claim("its promise", f"{self.label}: {rate}", "upper", rate), bound

    def period(self, cost) -> float:
        return math.nan

    def scale(self, cost) -> float:
        return zhao_lai.period(cost.constants.alpha, cost.constants.beta, cost.dim)

    def onset(self, cost, horizon) -> float:
        return 1.0

    def shift(self, cost) -> None:
        return None

    def cells(self, cost, horizon) -> float:
        return 0.0

    def seconds_per_step(self, cost, horizon) -> float:
        return 2e-5

    def start(self, cost, length, offset, rng, noise, diagnostics=False, trace=None, horizon=None) -> AskTellRun:
        if diagnostics:
            raise ValueError("diagnostics speak of cells and levels, which an ask/tell algorithm does not have")
        return AskTellRun(self, cost, rng, noise, horizon)

    def __str__(self):
        return f"AskTell({self.label})"


def _unpacked(factory, anytime, promise) -> AskTell:
    return AskTell(pickle.loads(factory), anytime, pickle.loads(promise))


class AskTellRun(Run):
    def __init__(self, algorithm, cost, rng, noise, horizon):
        own, self.noise_rng = rng.spawn(2)
        super().__init__(cost, noise, own, None)
        self.name = algorithm.label
        try:
            self.player = algorithm.factory(cost.dim, cost.lower.copy(), cost.upper.copy(), horizon, own)
        except TypeError as error:
            raise ValueError(f"{self.name}(dim, lower, upper, horizon, rng) cannot be made ({error})") from error
        if not (hasattr(self.player, "ask") and hasattr(self.player, "tell")):
            raise ValueError(f"{self.name} makes {shown(self.player)}, which has no ask and tell")

    def advance(self, until):
        cost, least = self.cost, lowest(self.cost)
        while self.t < until:
            x = np.asarray(self.player.ask(), dtype=float)
            if x.shape != (cost.dim,) or not np.all((cost.lower <= x) & (x <= cost.upper)):
                raise ValueError(f"{self.name} asked for {x.tolist()}, which is no point of the box of {cost}")
            y = cost(x)
            if not least <= y < HIGHEST:
                self.refuse(x)
            self.total_regret[0] += y - cost.minimum
            self.state[CLOCK] += 1
            self.player.tell(x, y + draw(*self.noise, self.noise_rng))

    def complaint(self):
        return None
