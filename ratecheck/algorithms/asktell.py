"""Any algorithm with `ask` and `tell`, in plain Python."""

from __future__ import annotations

import hashlib
import inspect
import math
from collections.abc import Callable
from dataclasses import dataclass
from functools import partial
from typing import ClassVar

import numpy as np

from ..noise import draw
from ..rates import Rate
from .run import CLOCK, HIGHEST, Run, lowest


@dataclass(frozen=True)
class AskTell:
    """An algorithm from elsewhere: `factory(dim, lower, upper, horizon, rng)` makes an object with ask and tell(x, y).

    `anytime` says that it ignores the horizon, so that one run serves all of them.  `promise` is the rate that is
    claimed for it; a study judges that.  The factory must live in a module, for processes and clusters find it there.
    """

    factory: Callable
    anytime: bool = False
    promise: Rate | None = None
    kernel: ClassVar[bool] = False

    def __post_init__(self):
        if not callable(self.factory):
            raise ValueError(f"factory = {self.factory!r} must be callable as factory(dim, lower, upper, horizon, rng)")

    @property
    def name(self) -> str:
        if isinstance(self.factory, partial):
            given = [*map(repr, self.factory.args), *(f"{k}={v!r}" for k, v in self.factory.keywords.items())]
            return f"{self.factory.func.__qualname__}({', '.join(given)})"
        return getattr(self.factory, "__qualname__", type(self.factory).__qualname__)

    @property
    def fingerprint(self) -> str:
        """Of the file that defines the factory, empty where there is none: runs of edited code are other runs."""
        factory = self.factory.func if isinstance(self.factory, partial) else self.factory
        try:
            source = inspect.getsource(inspect.getmodule(factory))
        except (OSError, TypeError):
            return ""
        return hashlib.sha256(source.encode()).hexdigest()[:16]

    def settle(self, cost) -> AskTell:
        return self

    def check(self, cost, horizon, shifted):
        pass

    def length(self, cost, horizon, fraction) -> float:
        return 0.0  # it has no cells

    def period(self, cost) -> float:
        return math.nan

    def start(self, cost, length, offset, rng, noise, diagnostics=False, trace=None, horizon=None) -> AskTellRun:
        if diagnostics:
            raise ValueError("diagnostics speak of cells and levels, which an ask/tell algorithm does not have")
        return AskTellRun(self, cost, rng, noise, horizon)

    def __str__(self):
        return f"AskTell({self.name})"


class AskTellRun(Run):
    def __init__(self, algorithm, cost, rng, noise, horizon):
        own, self.noise_rng = rng.spawn(2)
        super().__init__(cost, noise, own, None)
        self.name = algorithm.name
        self.player = algorithm.factory(cost.dim, cost.lower.copy(), cost.upper.copy(), horizon, own)

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
            self.player.tell(x, y + draw.py_func(*self.noise, self.noise_rng))

    def complaint(self):
        return None
