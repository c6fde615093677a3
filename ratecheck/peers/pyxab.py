"""Every algorithm of PyXAB (W. Li, H. Li, J. Honorio and Q. Song).

PyXAB maximises rewards.  A cost y becomes the reward (high - y) / (high - low).  Its confidence bounds are those of
rewards in [0, 1]; all that their proofs use of this is noise that is 1/2-subgaussian, as a normal one of standard
deviation (high - low) / 2 is.  So `from_pyxab` takes low = f* and high = f* + 2 sigma: mean rewards lie in
[1 - M_a / (2 sigma), 1], the best is 1, and the nu of a cost becomes nu / (2 sigma).

Its cells are cut from the box, and it asks for their centres.  Its own default partition halves a cell along an axis
drawn at random, so that in two dimensions no nu rho^h bounds the cells of depth h; "cyclic" halves one axis after the
other, as our HOO does.
"""

from __future__ import annotations

from dataclasses import dataclass, field, replace
from functools import cache

import numpy as np

from ..algorithms.asktell import AskTell
from ..algorithms.hoo import HOO
from ..arguments import check_real, shown
from ..claims import Theorem, Violation
from ..papers import hct, hoo, vhct, zooming
from .shared import OwnNumbers, library

SIMPLE = "its theorem bounds the simple regret of a recommended point"
NOISELESS = SIMPLE + ", without noise"


@dataclass(frozen=True)
class Known:
    """An algorithm of the library: where it is, what it must be told, and what is proved about it."""

    module: str
    horizon: str | None = None  # the parameter that takes it; None: it is anytime
    smoothness: tuple[str, ...] = ()  # the parameters that take nu and rho
    settings: dict = field(default_factory=dict)  # that the library does not choose itself, or that matter
    theorem: Theorem | None = None  # on the cumulative regret
    instead: str = ""  # what is proved where that is not

    @property
    def anytime(self) -> bool:
        return self.horizon is None


NU, NU_MAX = ("nu", "rho"), ("numax",)
TREE = {"c": 0.1, "delta": 0.01}
PARALLEL = {"rhomax": 0.9}
ALGORITHMS = {
    "T_HOO": Known("HOO", "rounds", NU, theorem=hoo.theorem),
    "HCT": Known("HCT", None, NU, TREE, hct.theorem),
    "VHCT": Known("VHCT", None, NU, {**TREE, "bound": 1.0}, vhct.theorem),
    "Zooming": Known("Zooming", None, NU, theorem=zooming.theorem),
    "POO": Known("POO", "rounds", NU_MAX, {**PARALLEL, "algo": "T_HOO"}, instead=SIMPLE),
    "GPO": Known("GPO", "rounds", NU_MAX, {**PARALLEL, "algo": "T_HOO"}, instead=SIMPLE),
    "PCT": Known("PCT", "rounds", NU_MAX, PARALLEL, instead=SIMPLE),
    "VPCT": Known("VPCT", "rounds", NU_MAX, PARALLEL, instead=SIMPLE),
    "StoSOO": Known("StoSOO", "n", settings={"h_max": 100}, instead=SIMPLE),
    "StroquOOL": Known("StroquOOL", "n", instead=SIMPLE),
    # no deeper than matters: every query makes cells down to h_max; b is the standard deviation of a reward
    "VROOM": Known("VROOM", "n", settings={"h_max": 30, "b": 0.5}, instead=SIMPLE),
    "DOO": Known("DOO", None, instead=NOISELESS),
    "SOO": Known("SOO", None, settings={"h_max": 100}, instead=NOISELESS),
    "SequOOL": Known("SequOOL", "n", instead=NOISELESS),
}


def from_pyxab(name, cost, *, sigma=1.0, nu=None, rho=None, partition="cyclic", **settings) -> AskTell:
    """An algorithm of PyXAB, told what our HOO would be told about the cost, with its theorem where it has one.

    `nu` and `rho` are those of `rc.HOO`, in units of the cost, `sigma` is the subgaussian constant of the noise; all
    else that the library's class takes may be given, in units of rewards.
    """
    known = find(name)
    told = HOO(nu, rho, sigma).settle(cost)
    unit = 2 * sigma
    given = dict(zip(known.smoothness, (told.nu / unit, told.rho), strict=False)) | known.settings
    if name == "VROOM":
        given["f_max"] = max(1.0, cost.constants.M_a / unit - 1)  # of the absolute mean reward
    given |= settings
    factory = PyXAB(name, cost.minimum, cost.minimum + unit, partition, tuple(given.items()))
    promise = None
    if known.theorem is not None:
        run_with = {"nu": given["nu"] * unit, "rho": given["rho"], "side": cost.side}
        run_with |= {"c": given["c"]} if "c" in given else {}
        hypotheses = Hypotheses(known.theorem, partition, tuple(run_with.items()))
        promise = replace(known.theorem, hypotheses=hypotheses)
    return AskTell(factory, known.anytime, promise)


@dataclass(frozen=True)
class Hypotheses:
    """Of a theorem about an algorithm that runs with these settings on this partition."""

    theorem: Theorem
    partition: str
    settings: tuple[tuple[str, float], ...]

    def __call__(self, constants, dim):
        yield from self.theorem.hypotheses(constants, dim, **dict(self.settings))
        if self.partition == "random" and dim > 1:
            yield Violation("partition", "axes are drawn at random, so that cells of depth h may be as long as the box")


def find(name) -> Known:
    if name in ALGORITHMS:
        return ALGORITHMS[name]
    raise ValueError(f"algorithm = {shown(name)} is none of PyXAB's: {', '.join(ALGORITHMS)}")


@dataclass(frozen=True)
class PyXAB:
    """A factory for AskTell: the costs `low` and `high` become the rewards 1 and 0, `settings` are those of the
    library's class, as pairs; the horizon is handed on where it takes one."""

    algorithm: str
    low: float
    high: float
    partition: str = "cyclic"
    settings: tuple[tuple[str, object], ...] = ()

    def __post_init__(self):
        find(self.algorithm)
        if not check_real("low", self.low) < check_real("high", self.high):
            raise ValueError(f"low = {self.low:g} must lie below high = {self.high:g}: they become the rewards 1 and 0")
        if self.partition not in PARTITIONS:
            raise ValueError(f"partition = {shown(self.partition)} must be one of {', '.join(PARTITIONS)}")
        told = [f"{k}={v if isinstance(v, str) else format(v, '.4g')}" for k, v in self.settings]
        told += ["random axes"] * (self.partition == "random")
        object.__setattr__(self, "__qualname__", f"{self.algorithm}({', '.join(told)})")  # by which tables show it

    def __call__(self, dim, lower, upper, horizon, rng) -> Player:
        return Player(self, lower, upper, horizon, rng)


class Player:
    """An instance that asks and is told; what it draws from numpy's global generator comes from one of its own."""

    def __init__(self, factory: PyXAB, lower, upper, horizon, rng):
        known, settings = find(factory.algorithm), dict(factory.settings)
        settings["domain"] = [list(side) for side in zip(lower.tolist(), upper.tolist(), strict=True)]
        if known.horizon is not None:
            settings[known.horizon] = horizon
        if "algo" in settings:
            settings["algo"] = load(settings["algo"])
        self.low, self.high, self.t = factory.low, factory.high, 0
        self.numbers = OwnNumbers(rng)
        with self.numbers, np.errstate(all="ignore"):
            try:
                self.player = load(factory.algorithm)(partition=PARTITIONS[factory.partition](), **settings)
            except (ArithmeticError, ValueError) as error:
                raise ValueError(
                    f"{factory.algorithm} of PyXAB cannot be made for {horizon} rounds ({error})"
                ) from error

    def ask(self):
        self.t += 1
        with self.numbers:
            point = None
            while point is None:  # StoSOO returns none at the end of a sweep over the depths
                point = self.player.pull(self.t)
        return np.array(point)

    def tell(self, x, y):
        with self.numbers:
            self.player.receive_reward(self.t, (self.high - y) / (self.high - self.low))


def load(name):
    return getattr(library(f"PyXAB.algos.{find(name).module}"), name)


@cache
def cyclic():
    """A partition for PyXAB that halves cells of depth h along axis h mod d."""

    class Cyclic(library("PyXAB.partition.Partition").Partition):
        def make_children(self, parent, newlayer=False):
            h, domain = parent.get_depth(), parent.get_domain()
            axis = h % len(domain)
            low, high = domain[axis]
            middle = (low + high) / 2
            children = [
                self.node(h + 1, 2 * parent.get_index() - 1 + k, parent, [*domain[:axis], half, *domain[axis + 1 :]])
                for k, half in enumerate(([low, middle], [middle, high]))
            ]
            parent.update_children(children)
            if newlayer:
                self.node_list.append(list(children))  # the layer grows, the family does not
                self.depth += 1
            else:
                self.node_list[h + 1] += children

    return Cyclic


PARTITIONS = {"cyclic": cyclic, "random": lambda: library("PyXAB.partition.BinaryPartition").BinaryPartition}
