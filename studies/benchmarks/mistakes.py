"""Sound algorithms of several kinds, and mistakes in them, with which `asserting` tries `assert_rate`.

`changes` is what a mistake does to the promise, by reasoning: `rate`, the regret grows faster by more than the
tolerance; `constant`, it does not, and nothing is to be noticed but by `agreement`; `open`, not known.
The first five mistakes of a kind were seen while the rules of `assert_rate` were made; those held out were written down
when the rules stood, before any of them was run, and no rule was changed after; nor was what they were said to change,
also where that turned out wrong.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass
from functools import partial
from typing import NamedTuple

import numpy as np

import function_zoo as zoo
import ratecheck as rc
from ratecheck.engine.simulate import Job
from ratecheck.kernels import uniform
from studies.benchmarks.mutated import MUTANTS, OWN, SUMMED, Switches, run

# Of mistakes: fixed, so that the clock has no say.
OF_KERNELS = {"horizons": tuple(round(2 ** (k / 2)) for k in range(16, 33)), "replicates": 32}
OF_PLAIN = {"horizons": tuple(round(2 ** (k / 2)) for k in range(10, 23)), "replicates": 32}
OF_EACH = {"horizons": tuple(2**k for k in range(5, 11)), "replicates": 64}

# Algorithms with ask and tell, sound as they are; mistakes are other attributes


class FiniteDifferences:
    """Kiefer and Wolfowitz (1952) in random directions (Spall): pairs of queries, R = T^(1/2) on a quadratic."""

    width, gain, last = 0.25, 1.0, np.inf  # powers of 1/n, and the pair after which it stops learning
    share = 1.0  # of the best gain
    flips, halves, keeps, early, largest = False, False, False, False, np.inf  # mistakes held out

    def __init__(self, dim, lower, upper, rng):
        self.lower, self.upper, self.rng = lower, upper, rng
        self.x, self.n, self.values = rng.uniform(lower, upper), 1, []
        self.step = self._step()

    def _step(self):
        return 0.5 * self.n**-self.width * self.rng.choice([-1.0, 1.0], self.x.size)

    def ask(self):
        return np.clip(self.x + (-self.step if self.values else self.step), self.lower, self.upper)

    def tell(self, x, y):
        self.values.append(y)
        if len(self.values) < 2:
            return
        if self.early:
            self.step = self._step()
        slope = np.clip((self.values[0] - self.values[1]) / (2 * self.step), -self.largest, self.largest)
        slope = -slope if self.flips and self.n % 2 == 0 else slope
        n = self.n // 2 + 1 if self.halves else self.n
        if self.n < self.last:
            self.x = np.clip(self.x - self.share * n**-self.gain / 20 * slope, self.lower, self.upper)
        self.n, self.values = self.n + 1, self.values if self.keeps else []
        self.step = self._step()


class Arms:
    """Queries on a grid of eleven points, and the mean of what each has returned."""

    greedy, arms, beyond, learns = np.argmin, 11, 0, np.inf  # learns: the queries of an arm that enter its mean
    rounds, last_only = False, False  # the mean is rounded down; it is the last value

    def __init__(self, dim, lower, upper, rng):
        self.points, self.rng = np.linspace(lower[0], upper[0], 11)[:, None], rng
        self.n, self.total = np.zeros(11), np.zeros(11)
        self.t = 0

    def pick(self, arm):
        self.arm = int(arm)
        return self.points[self.arm]

    def tell(self, x, y):
        self.t += 1
        if self.n[self.arm] >= self.learns:
            return
        self.n[self.arm] += 1
        self.total[self.arm] = y * self.n[self.arm] if self.last_only else self.total[self.arm] + y

    def best(self):
        means = self.total / np.maximum(self.n + self.beyond, 1)
        return self.pick(type(self).greedy(np.floor(means) if self.rounds else means))


class EpsilonGreedy(Arms):
    """Any point with probability t^(-1/3), else the best mean: R = T^(2/3)."""

    epsilon, power, memory = 1.0, 1 / 3, np.inf  # memory: the step after which it learns no more
    logarithmic, again = False, np.inf  # again: the steps after which its clock starts anew

    def ask(self):
        t = int(self.t % self.again) + 1
        if t <= 11:
            return self.pick(t - 1)
        if self.rng.random() < (1 / np.log(t) if self.logarithmic else self.epsilon * t**-self.power):
            return self.pick(self.rng.integers(self.arms))
        return self.best()

    def tell(self, x, y):
        if self.t < 11 or self.t < self.memory:
            super().tell(x, y)
        else:
            self.t += 1


class ExploreThenCommit(Arms):
    """T^(2/3) queries in turn, then the best mean for the rest: R = T^(2/3); it depends on the horizon."""

    power, share = 2 / 3, 1.0

    def __init__(self, dim, lower, upper, horizon, rng):
        super().__init__(dim, lower, upper, rng)
        self.explored = self.share * horizon**self.power

    def ask(self):
        if self.t < self.explored:
            return self.pick(self.t % self.arms)
        return self.best()


def second_best(means):
    return np.argsort(means)[1]


def changed(cls, **attributes):
    return type(f"{cls.__name__}Mistaken", (cls,), attributes)


# The same as EpsilonGreedy, compiled


class Grid(NamedTuple):
    points: np.ndarray
    n: np.ndarray
    total: np.ndarray
    arm: np.ndarray
    epsilon: float
    power: float
    memory: float
    second: bool
    arms: float  # of which one is drawn
    whole: bool  # sums are whole numbers
    unnoted: bool  # which arm was explored is not
    halving: bool  # a value counts half of all before it


def begun(
    dim, lower, upper, horizon, rng,
    epsilon=1.0, power=1 / 3, memory=np.inf, second=False, arms=11.0, whole=False, unnoted=False, halving=False,
):  # fmt: skip
    points, arm = np.linspace(lower[0], upper[0], 11), np.zeros(1, dtype=np.int64)
    mistakes = float(memory), second, arms, whole, unnoted, halving
    return Grid(points, np.zeros(11), np.zeros(11), arm, epsilon, power, *mistakes)


def ask(state, t, rng, x):
    best, next_best, noted = 0, 0, True
    if t <= 11:
        best = t - 1
    elif uniform(rng) < state.epsilon * t**-state.power:
        best, noted = int(state.arms * uniform(rng)), not state.unnoted
    else:
        lowest, next_lowest = np.inf, np.inf
        for k in range(11):
            mean = state.total[k] / state.n[k]
            if mean < lowest:
                next_best, next_lowest, best, lowest = best, lowest, k, mean
            elif mean < next_lowest:
                next_best, next_lowest = k, mean
        if state.second:
            best = next_best
    if noted:
        state.arm[0] = best
    x[0] = state.points[best]


def tell(state, t, x, y):
    k = state.arm[0]
    if state.halving and state.n[k] > 0:
        state.total[k] = (state.total[k] + y) / 2
    elif t <= 11 or t <= state.memory:
        state.n[k] += 1
        state.total[k] += y
    if state.whole:
        state.total[k] = np.trunc(state.total[k])


# Kernels with a mistake


@dataclass(frozen=True)
class Mistaken(Job):
    """Runs of a mutant in place of those of the algorithm."""

    switches: Switches | None = None

    def run(self, unit, stop):
        replicate, horizons = unit
        return run(self.algorithm, self.cost, horizons, replicate, self.seed, self.switches), [], None


# Kinds

RATE, CONSTANT, UNKNOWN = "rate", "constant", "open"


class Mistake(NamedTuple):
    """A job of a seed, what it changes of the promise, and whether the rules were made without it."""

    job: Callable[[int], Job]
    changes: str
    held_out: bool


class Kind(NamedTuple):
    """A sound algorithm and mistakes in it, with what is promised."""

    cost: zoo.Cost
    rate: rc.Rate
    sound: Callable[[int], Job]
    mistakes: dict[str, Mistake]
    size: dict  # of runs with a mistake
    agreement: bool = False  # there is a predicted curve, and all is tried with agreement=True, too


def mistakes(seen, held_out, job) -> dict[str, Mistake]:
    """Each is what it changes, and how it is made; `job` makes one."""
    return {
        name: Mistake(job(how), changes, table is held_out)
        for table in (seen, held_out)
        for name, (changes, how) in table.items()
    }


def plain(cost, rate, cls, seen, held_out, size=OF_PLAIN) -> Kind:
    def job(attributes):
        algorithm = rc.AskTell(changed(cls, **attributes) if attributes else cls).settle(cost)
        return lambda seed: Job(algorithm, cost, seed)

    return Kind(cost, rate, job({}), mistakes(seen, held_out, job), size)


def machine_code(cost, rate, seen, held_out) -> Kind:
    def job(settings):
        algorithm = rc.Compiled(partial(begun, **settings), ask, tell, anytime=True).settle(cost)
        return lambda seed: Job(algorithm, cost, seed)

    return Kind(cost, rate, job({}), mistakes(seen, held_out, job), OF_KERNELS)


def kernel(cost, rate, algorithm, seen, held_out) -> Kind:
    settled = algorithm.settle(cost)

    def job(switches):
        return lambda seed: Mistaken(settled, cost, seed, switches=switches)

    known = {name: (changes, MUTANTS[settled.kind][name]) for name, changes in seen.items()}
    usual = MUTANTS[settled.kind]["none"]
    new = {name: (changes, usual._replace(**how)) for name, (changes, how) in held_out.items()}
    return Kind(cost, rate, lambda seed: Job(settled, cost, seed), mistakes(known, new, job), OF_KERNELS, True)


def kinds() -> dict[str, Kind]:
    cone, bowl, grid = zoo.get("cone", 2), zoo.get("quadratic", 2), zoo.get("cone", 1, centre=0.2)
    sharper, corrected = rc.theorem2_sharper.rate(cone.constants, 2), rc.theorem1_corrected.rate(bowl.constants, 2)
    root, two_thirds = rc.Rate.of_regret(1 / 2), rc.Rate.of_regret(2 / 3)
    return {
        "kernel, adaptive": kernel(cone, sharper, rc.AdaptiveBins(), FOR_ADAPTIVE, FRESH_FOR_ADAPTIVE),
        "kernel, uniform": kernel(bowl, corrected, rc.UniformBins(), FOR_UNIFORM, FRESH_FOR_UNIFORM),
        "compiled, arms": machine_code(grid, two_thirds, OF_GRIDS, FRESH_OF_GRIDS),
        "ask/tell, steps": plain(bowl, root, FiniteDifferences, OF_STEPS, FRESH_OF_STEPS),
        "ask/tell, arms": plain(grid, two_thirds, EpsilonGreedy, OF_ARMS, FRESH_OF_ARMS),
        "ask/tell, a run per horizon": plain(
            grid, two_thirds, ExploreThenCommit, OF_PHASES, FRESH_OF_PHASES, size=OF_EACH
        ),
    }


FOR_ADAPTIVE = {
    "no bonus": RATE,
    "half the bonus": CONSTANT,
    "bias 2 mu": CONSTANT,
    "data inherited": UNKNOWN,
    "capacity 2^(alpha k)": UNKNOWN,
}
FRESH_FOR_ADAPTIVE = {
    "ln n for ln t": (RATE, {"clock": OWN}),  # after one bad value a cell is given up for ever
    "children in one half of the cell": (RATE, {"flat": True}),  # x* is lost sooner or later
    "children begin with the sum but no n": (UNKNOWN, {"children": SUMMED}),
    "picks from the first half of the cells": (UNKNOWN, {"seen": 0.5}),
    "log10 for ln": (CONSTANT, {"bonus": 1 / math.log(10)}),
}
FOR_UNIFORM = {
    "no bonus": UNKNOWN,
    "half the bonus": CONSTANT,
    "stale ln t": UNKNOWN,
    "width / 2": CONSTANT,
    "untried cells have key 0": UNKNOWN,
}
FRESH_FOR_UNIFORM = {
    "picks from the first half of the cells": (RATE, {"seen": 0.5}),  # x* lies in the other
    "means of 16 queries": (RATE, {"remembered": 16.0}),
    "width T^(-1/6) for T^(-1/4)": (RATE, {"width_power": 1 / 12}),  # beta forgotten: R = T^(2/3) for T^(1/2)
    "mean over n + 1": (CONSTANT, {"beyond": 1.0}),  # off by 1/n, which the bonus exceeds
    "log10 for ln": (CONSTANT, {"bonus": math.log(10) ** -0.5}),
}
OF_STEPS = {
    "constant width": (RATE, {"width": 0.0}),
    "width n^(-1/8)": (RATE, {"width": 0.125}),
    "gain n^(-1/2)": (RATE, {"gain": 0.5}),
    "a tenth of the gain": (RATE, {"share": 0.1}),
    "stops learning": (RATE, {"last": 40}),
}
FRESH_OF_STEPS = {
    "every other sign wrong": (RATE, {"flips": True}),
    "values not reset": (RATE, {"keeps": True}),
    "direction drawn too early": (RATE, {"early": True}),  # values belong to another one
    "slopes clipped at 1": (RATE, {"largest": 1.0}),  # steps of 1 / (20 n) lead nowhere
    "n // 2 + 1 in the gain": (CONSTANT, {"halves": True}),
}
OF_ARMS = {
    "constant epsilon": (RATE, {"power": 0.0, "epsilon": 0.1}),
    "epsilon t^(-1/6)": (RATE, {"power": 1 / 6}),
    "never explores": (RATE, {"epsilon": 0.0}),
    "stops learning": (RATE, {"memory": 30}),
    "the second best": (RATE, {"greedy": second_best}),
}
FRESH_OF_ARMS = {
    "explores the first five arms": (RATE, {"arms": 5}),  # the best is given up in one run of fifty or so
    "epsilon 1 / ln t": (RATE, {"logarithmic": True}),
    "the last value for the mean": (RATE, {"last_only": True}),  # wrong: an arm is left at a high value, see below
    "the clock starts anew after 64 steps": (RATE, {"again": 64}),
    "means rounded down": (CONSTANT, {"rounds": True}),  # the best two are 2 apart
}
OF_GRIDS = {name: m for name, m in OF_ARMS.items() if "greedy" not in m[1]} | {
    "the second best": (RATE, {"second": True})
}
FRESH_OF_GRIDS = {
    "power 1 // 3": (RATE, {"power": 0.0}),
    # wrong: an arm is left at a high value and seldom looked at again, R / T^(2/3) stays the same up to T = 4e6
    "a value counts half of all": (RATE, {"halving": True}),
    "the explored arm is not noted": (RATE, {"unnoted": True}),  # given up in one run of fifty or so
    "draws from ten arms": (CONSTANT, {"arms": 10.0}),  # the eleventh is none of the best
    "whole sums": (CONSTANT, {"whole": True}),  # the best two are 2 apart
}
OF_PHASES = {
    "explores T / 4": (RATE, {"power": 1.0, "share": 0.25}),
    "explores T^0.85": (RATE, {"power": 0.85}),
    "explores once": (RATE, {"power": 0.0, "share": 11.0}),
    "explores nothing": (RATE, {"share": 0.0}),
    "commits to the second": (RATE, {"greedy": second_best}),
}
FRESH_OF_PHASES = {
    "explores 2 T / 3": (RATE, {"power": 1.0, "share": 2 / 3}),
    "learns from the first pass": (RATE, {"learns": 1}),
    "explores the first five arms": (RATE, {"arms": 5}),
    "the last value for the mean": (RATE, {"last_only": True}),
    "mean over n + 1": (CONSTANT, {"beyond": 1}),
}
