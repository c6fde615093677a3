"""What a study asks and how it will answer, fixed before anything runs."""

from __future__ import annotations

import math
import re
from dataclasses import dataclass, field, replace
from numbers import Real

import function_zoo as zoo

from ..algorithms import AdaptiveBins, AskTell, UniformBins
from ..engine import STANDARD, check_horizons, whole
from ..noise import Noise
from ..verdicts import MARGIN


def check_first(horizon):
    if horizon < 3:
        raise ValueError(f"the first horizon, {horizon}, must be 3 or larger, so that ln ln T is positive")


@dataclass(frozen=True)
class Grid:
    """Which horizons: from `first` to `last`, and further where theory asks for it.

    Neighbours differ by a factor of `ratio`; None takes the largest factor up to 2 of which a period of the adaptive
    method holds a whole number, four at least.  With `periods`, the adaptive method runs on until its window holds
    that many periods beyond the onset, but not beyond `cap`, and not at all where two of them end beyond it.
    """

    first: int = 2**10
    last: int = 2**20
    ratio: float | None = None
    periods: float | None = 2.5
    cap: int = 2**25

    def __post_init__(self):
        check_horizons([self.first, self.last])
        check_first(self.first)
        if self.ratio is not None and not (isinstance(self.ratio, Real) and 1 < self.ratio < math.inf):
            raise ValueError(f"the ratio of neighbouring horizons, {self.ratio}, must exceed 1")


@dataclass(frozen=True)
class TooFast:
    """A negative control: the algorithm's own theorem, its exponent raised by `by` and its logarithm left out.

    It must come out REFUTED.
    """

    by: float = 0.4

    def __post_init__(self):
        if not (isinstance(self.by, Real) and self.by > 0):
            raise ValueError(f"a control must ask for a faster rate than the theorem, not by {self.by}")

    def __str__(self):
        return f"exponent + {self.by:g}, no logarithm"


@dataclass(frozen=True)
class Study:
    """A question, the runs that are to answer it, and the rules of judgement.

    `costs` are costs of the zoo, or (family, dim) pairs; `horizons` is a Grid or a list of numbers; `window` a pair of
    horizons, by default from the onset that theory predicts to the last horizon.
    """

    name: str
    question: str
    costs: tuple
    algorithms: tuple = (UniformBins(), AdaptiveBins())
    horizons: Grid | tuple = Grid()
    replicates: int = 64
    seed: int = 0
    noise: Noise = STANDARD
    alignment: str = "random"
    window: tuple | None = None
    margin: float = MARGIN
    controls: tuple = (TooFast(),)
    command: str = field(default="", compare=False)  # what reruns it

    def __post_init__(self):
        put = object.__setattr__
        if not re.fullmatch(r"[\w.+-]+", self.name):
            raise ValueError(f"{self.name!r} is no name for a study; use letters, digits and - _ + .")
        put(self, "costs", tuple(c if isinstance(c, zoo.Cost) else zoo.get(*c) for c in self.costs))
        put(self, "algorithms", tuple(self.algorithms))
        put(self, "controls", tuple(self.controls))
        if not isinstance(self.horizons, Grid):
            put(self, "horizons", tuple(check_horizons(self.horizons)))
            check_first(self.horizons[0])
        whole("replicates", self.replicates, 1)
        whole("seed", self.seed, 0)
        if not self.costs or not self.algorithms:
            raise ValueError(f"study {self.name!r} needs at least one cost and one algorithm")
        names = [str(c) for c in self.costs]
        if len(set(names)) < len(names):
            raise ValueError(f"study {self.name!r} names a cost twice: {max(names, key=names.count)}")
        labels = [label(a) for a in self.algorithms]
        if len(set(labels)) < len(labels):
            raise ValueError(f"study {self.name!r} names the same algorithm twice: {', '.join(labels)}")
        if not self.controls:
            raise ValueError(f"study {self.name!r} has no negative control; TooFast() is one")
        if self.alignment not in ("random", "fixed"):
            raise ValueError(f"alignment = {self.alignment!r} must be 'random' or 'fixed'")
        if not isinstance(self.noise, Noise):
            raise ValueError(f"noise = {self.noise!r} is no noise law; take Gaussian, Uniform, Rademacher or StudentT")
        if not (isinstance(self.margin, Real) and 0 < self.margin < 1):
            raise ValueError(f"margin = {self.margin} must lie between 0 and 1")
        if self.window is not None:
            check_horizons(self.window)


def label(algorithm) -> str:
    """The algorithm's short name: its class, and the settings that are not the default."""
    if isinstance(algorithm, AskTell):
        return algorithm.name
    given = [f"{k}={v:g}" if isinstance(v, float) else f"{k}={v}" for k, v in vars(algorithm).items() if v is not None]
    return type(algorithm).__name__ + (f"({', '.join(given)})" if given else "")


PRESETS = {
    "quick": (Grid(first=2**8, last=2**16, periods=2.0, cap=2**18), 32),
    "standard": (Grid(), 64),
    "full": (Grid(last=2**23, periods=3.0, cap=2**28), 256),
}


def with_preset(study: Study, preset: str) -> Study:
    grid, replicates = PRESETS[preset]
    return replace(study, horizons=grid, replicates=replicates)
