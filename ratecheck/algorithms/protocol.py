"""The interface of an algorithm, written down: what the engine, studies and reports ask of it; `run.Run` is a run."""

from __future__ import annotations

import math
from dataclasses import dataclass, fields
from typing import TYPE_CHECKING, ClassVar, Protocol

from ..arguments import shown
from ..papers import zhao_lai

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    import numpy as np

    from function_zoo import Cost

    from ..claims import Claim
    from ..sampling.noise import Noise
    from .run import Run


@dataclass(frozen=True)
class LevelRule:
    """How often a cell is queried until its key has risen to a level: with it `prediction` foretells the regret.

    A cell of level k, the initial ones being of level 0, is picked as long as  gap - bias(k) - bonus(T) / sqrt(n)  is
    the lowest key, n being its queries.  When it is picked with n = capacity(k) it is split into 2^d halves, which
    start anew; a capacity of infinity means that it never is.
    """

    at_centre: bool  # the gap is that of the cost at the centre of the cell; else that of its mean over the cell
    bonus: Callable[[float], float]
    bias: Callable[[int], float]
    capacity: Callable[[int], float]


class Algorithm(Protocol):
    """An algorithm with its settings: frozen, picklable, equal where the settings are.

    `str` of a settled algorithm names all that determines its runs: random streams and stored runs go by it.
    """

    @property
    def anytime(self) -> bool:
        """One run serves all horizons; else a run belongs to the horizon it was started for."""

    @property
    def compiled(self) -> bool:
        """Its runs release the interpreter's lock, so that threads are enough."""

    @property
    def fingerprint(self) -> str | None:
        """Of its code where that may change between runs; None: `claims.VERSION` speaks for it."""

    @property
    def kind(self) -> str:
        """What two settings of one algorithm share; comparisons go by it."""

    @property
    def label(self) -> str:
        """The name in tables: short, with the settings that are not the default."""

    def settle(self, cost: Cost) -> Algorithm:
        """The same algorithm with every number spelt out for a cost; the methods below are those of a settled one."""

    def check(self, cost: Cost, horizon: int, shifted: bool) -> None:
        """Refuse, in one sentence and before any work, what cannot run; `shifted`: partitions start anywhere."""

    # What theory says beforehand

    def settings(self, cost: Cost) -> dict[str, object]:
        """What hypotheses may speak of, by name; theorems that a study adds see it too."""

    def claims(self, cost: Cost) -> tuple[Claim, ...]:
        """What is claimed for it on this cost, from all its settings.

        The first claim that a single cost can decide is the one by which it is fitted and compared with others.
        """

    def period(self, cost: Cost) -> float:
        """The factor in T after which its regret repeats itself, nan if there is none."""

    def scale(self, cost: Cost) -> float:
        """The factor in T that grids of horizons divide evenly, so that compared methods meet; nan if it has none."""

    def onset(self, cost: Cost, horizon: int) -> float:
        """The T from which on theory expects the rate to show, for runs up to a horizon."""

    def shift(self, cost: Cost) -> float | None:
        """What stands beside ln T in its bounds and delays the logarithm; None if nothing does."""

    # What running it takes

    def cells(self, cost: Cost, horizon: int) -> float:
        """An estimate of how many cells it holds at a horizon."""

    def seconds_per_step(self, cost: Cost, horizon: int) -> float:
        """A rule of thumb from measurements on one machine."""

    def length(self, cost: Cost, horizon: int, fraction: float) -> float:
        """The length of a replicate's initial cells; `fraction` in [0, 1) is its place in an octave of lengths."""

    def start(
        self,
        cost: Cost,
        length: float,
        offset: Sequence[float],
        rng: np.random.Generator,
        noise: Noise,
        diagnostics: bool = False,
        trace: np.ndarray | None = None,
        horizon: int | None = None,
    ) -> Run:
        """A run before its first step; `trace` receives the index of the cell picked at each step."""

    # An algorithm may also have a method level_rule(cost, length) -> LevelRule, with which its regret can be predicted


ATTRIBUTES = tuple(name for name in vars(Algorithm) if not name.startswith("_"))


def check_algorithm(algorithm) -> None:
    """Refuse what does not keep to the interface."""
    from .registry import ENTRIES

    name = getattr(algorithm, "__name__", shown(algorithm))
    if hasattr(algorithm, "ask") and hasattr(algorithm, "tell") and not hasattr(algorithm, "start"):
        raise ValueError(f"algorithm = {name} has ask and tell; give AskTell(factory) the class or what makes it")
    if isinstance(algorithm, type):
        raise ValueError(f"algorithm = {name} is a class; write {name}(...), an instance")
    missing = [attribute for attribute in ATTRIBUTES if not hasattr(algorithm, attribute)]
    if missing:
        known = ", ".join(f"{entry.cls}(...)" for entry in ENTRIES)
        raise ValueError(f"algorithm = {name} is none (it has no {missing[0]}); take one of {known}")


class Defaults:
    """What theory says beforehand of an algorithm that says nothing else."""

    def period(self, cost: Cost) -> float:
        return math.nan

    def scale(self, cost: Cost) -> float:
        known = cost.constants
        return math.nan if known.lacking("alpha", "beta") else zhao_lai.period(known.alpha, known.beta, cost.dim)

    def shift(self, cost: Cost) -> float | None:
        return None


class BuiltIn(Defaults):
    """What our own algorithms share."""

    compiled: ClassVar[bool] = True
    fingerprint: ClassVar[None] = None

    @property
    def label(self) -> str:
        """The class, and in brackets the settings that are not the default."""
        values = {f.name: getattr(self, f.name) for f in fields(self) if getattr(self, f.name) != f.default}
        given = [f"{k}={v:g}" if isinstance(v, float) else f"{k}={v}" for k, v in values.items()]
        return type(self).__name__ + (f"({', '.join(given)})" if given else "")
