"""What `assert_rate` costs and catches: `python -m ratecheck.benchmarks.asserting` tries sound algorithms and mistakes.

A sound algorithm is asserted with many seeds: how long it takes, how often it fails or cannot tell.  Each mistake is
asserted with a few seeds: how often it fails, how often the test cannot tell, how often it passes.
"""

from __future__ import annotations

import statistics
import sys
import time
from collections.abc import Callable
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from typing import NamedTuple

import numpy as np

import function_zoo as zoo
from function_zoo.commandline import OWN_CODE, Parser, guarded, natural
from function_zoo.files import write_whole

from ..algorithms import AdaptiveBins, AskTell, Compiled, UniformBins
from ..asserting import CannotTell, RateRefuted, Rules, asserted
from ..claims import Claim
from ..engine import Job
from ..kernels import uniform
from ..papers.zhao_lai import theorem1_corrected, theorem2_sharper
from ..rates import Rate
from .mutants import MUTANTS, Switches, run

TOLERANCE, FALSE_ALARMS, POWER = 0.1, 1e-3, 0.95  # the defaults of assert_rate
# Of mistakes: fixed, so that the clock has no say.
OF_KERNELS = {"horizons": tuple(round(2 ** (k / 2)) for k in range(16, 33)), "replicates": 32}
OF_PLAIN = {"horizons": tuple(round(2 ** (k / 2)) for k in range(10, 23)), "replicates": 32}
OF_EACH = {"horizons": tuple(2**k for k in range(5, 11)), "replicates": 64}

# Algorithms with ask and tell, sound as they are; mistakes are other attributes


class FiniteDifferences:
    """Kiefer and Wolfowitz (1952) in random directions (Spall): pairs of queries, R = T^(1/2) on a quadratic."""

    width, gain, last = 0.25, 1.0, np.inf  # powers of 1/n, and the pair after which it stops learning
    share = 1.0  # of the best gain

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
        slope = (self.values[0] - self.values[1]) / (2 * self.step)
        if self.n < self.last:
            self.x = np.clip(self.x - self.share * self.n**-self.gain / 20 * slope, self.lower, self.upper)
        self.n, self.values = self.n + 1, []
        self.step = self._step()


class Arms:
    """Queries on a grid of eleven points, and the mean of what each has returned."""

    greedy = np.argmin

    def __init__(self, dim, lower, upper, rng):
        self.points, self.rng = np.linspace(lower[0], upper[0], 11)[:, None], rng
        self.n, self.total = np.zeros(11), np.zeros(11)
        self.t = 0

    def pick(self, arm):
        self.arm = int(arm)
        return self.points[self.arm]

    def tell(self, x, y):
        self.t += 1
        self.n[self.arm] += 1
        self.total[self.arm] += y


class EpsilonGreedy(Arms):
    """Any point with probability t^(-1/3), else the best mean: R = T^(2/3)."""

    epsilon, power, memory = 1.0, 1 / 3, np.inf  # memory: the step after which it learns no more

    def ask(self):
        t = self.t + 1
        if t <= 11:
            return self.pick(t - 1)
        if self.rng.random() < self.epsilon * t**-self.power:
            return self.pick(self.rng.integers(11))
        return self.pick(type(self).greedy(self.total / self.n))

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
            return self.pick(self.t % 11)
        return self.pick(type(self).greedy(self.total / np.maximum(self.n, 1)))


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


def begun(dim, lower, upper, horizon, rng, epsilon=1.0, power=1 / 3, memory=np.inf, second=False):
    points, arm = np.linspace(lower[0], upper[0], 11), np.zeros(1, dtype=np.int64)
    return Grid(points, np.zeros(11), np.zeros(11), arm, epsilon, power, float(memory), second)


def ask(state, t, rng, x):
    best, next_best = 0, 0
    if t <= 11:
        best = t - 1
    elif uniform(rng) < state.epsilon * t**-state.power:
        best = int(11 * uniform(rng))
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
    state.arm[0] = best
    x[0] = state.points[best]


def tell(state, t, x, y):
    if t <= 11 or t <= state.memory:
        state.n[state.arm[0]] += 1
        state.total[state.arm[0]] += y


# Kernels with a mistake


@dataclass(frozen=True)
class Mistaken(Job):
    """Runs of a mutant in place of those of the algorithm."""

    switches: Switches | None = None

    def run(self, unit, stop):
        replicate, horizons = unit
        return run(self.algorithm, self.cost, horizons, replicate, self.seed, self.switches), [], None


# Kinds


class Kind(NamedTuple):
    """A sound algorithm and five mistakes in it, each as a job of a seed, with what is promised."""

    cost: zoo.Cost
    rate: Rate
    sound: Callable[[int], Job]
    mistakes: dict[str, Callable[[int], Job]]
    size: dict  # of runs with a mistake
    agreement: bool = False


def plain(cost, rate, cls, mistakes, size=OF_PLAIN) -> Kind:
    def job(cls):
        return lambda seed: Job(AskTell(cls).settle(cost), cost, seed)

    return Kind(cost, rate, job(cls), {name: job(changed(cls, **m)) for name, m in mistakes.items()}, size)


def machine_code(cost, rate, mistakes) -> Kind:
    def job(**settings):
        algorithm = Compiled(partial(begun, **settings), ask, tell, anytime=True).settle(cost)
        return lambda seed: Job(algorithm, cost, seed)

    return Kind(cost, rate, job(), {name: job(**m) for name, m in mistakes.items()}, OF_KERNELS)


def kernel(cost, rate, algorithm, names, agreement) -> Kind:
    settled = algorithm.settle(cost)

    def job(mistake):
        return lambda seed: Mistaken(settled, cost, seed, switches=MUTANTS[settled.kind][mistake])

    return Kind(
        cost, rate, lambda seed: Job(settled, cost, seed), {name: job(name) for name in names}, OF_KERNELS, agreement
    )


def kinds() -> dict[str, Kind]:
    cone, bowl, grid = zoo.get("cone", 2), zoo.get("quadratic", 2), zoo.get("cone", 1, centre=0.2)
    for_adaptive = (cone, theorem2_sharper.rate(cone.constants, 2), AdaptiveBins(), FOR_ADAPTIVE)
    for_uniform = (bowl, theorem1_corrected.rate(bowl.constants, 2), UniformBins(), FOR_UNIFORM)
    return {
        "kernel, adaptive": kernel(*for_adaptive, False),
        "kernel, adaptive, with agreement": kernel(*for_adaptive, True),
        "kernel, uniform": kernel(*for_uniform, False),
        "kernel, uniform, with agreement": kernel(*for_uniform, True),
        "ask/tell, steps": plain(bowl, Rate.of_regret(1 / 2), FiniteDifferences, OF_STEPS),
        "ask/tell, arms": plain(grid, Rate.of_regret(2 / 3), EpsilonGreedy, OF_ARMS),
        "compiled, arms": machine_code(grid, Rate.of_regret(2 / 3), OF_GRIDS),
        "ask/tell, a run per horizon": plain(grid, Rate.of_regret(2 / 3), ExploreThenCommit, OF_PHASES, OF_EACH),
    }


FOR_ADAPTIVE = ["no bonus", "half the bonus", "bias 2 mu", "data inherited", "capacity 2^(alpha k)"]
FOR_UNIFORM = ["no bonus", "half the bonus", "stale ln t", "width / 2", "untried cells have key 0"]
OF_STEPS = {
    "constant width": {"width": 0.0},
    "width n^(-1/8)": {"width": 0.125},
    "gain n^(-1/2)": {"gain": 0.5},
    "a tenth of the gain": {"share": 0.1},
    "stops learning": {"last": 40},
}
OF_ARMS = {
    "constant epsilon": {"power": 0.0, "epsilon": 0.1},
    "epsilon t^(-1/6)": {"power": 1 / 6},
    "never explores": {"epsilon": 0.0},
    "stops learning": {"memory": 30},
    "the second best": {"greedy": second_best},
}
OF_GRIDS = {name: m for name, m in OF_ARMS.items() if "greedy" not in m} | {"the second best": {"second": True}}
OF_PHASES = {
    "explores T / 4": {"power": 1.0, "share": 0.25},
    "explores T^0.85": {"power": 0.85},
    "explores once": {"power": 0.0, "share": 11.0},
    "explores nothing": {"share": 0.0},
    "commits to the second": {"greedy": second_best},
}

# Measuring

PASSED, FAILED, OPEN = "passed", "failed", "cannot tell"


class Outcome(NamedTuple):
    name: str
    seconds: float
    steps: int


def outcome(job: Job, kind: Kind, rules: Rules, seconds: float, size: dict) -> Outcome:
    """What becomes of one assertion."""
    begun = time.process_time()
    claim = Claim("the promise", "", "upper", kind.rate)
    try:
        name, found = PASSED, asserted(job, claim, rules, seconds, **size, agreement=kind.agreement)
    except RateRefuted as error:
        name, found = FAILED, error.found
    except CannotTell as error:
        name, found = OPEN, error.found
    size = 0 if found is None else found.rung.horizons[-1]
    return Outcome(name, time.process_time() - begun, size)


HEADER = "kind,mistake,seeds,passed,failed,cannot tell,seconds in the median,T_max in the median"


def row(name, mistake, found: list[Outcome]) -> str:
    counts = [sum(o.name == n for o in found) for n in (PASSED, FAILED, OPEN)]
    middle = statistics.median(o.seconds for o in found)
    last = statistics.median_low(o.steps for o in found)
    return f'"{name}",{mistake},{len(found)},{",".join(map(str, counts))},{middle:.2g},{last}'


def measure(seeds: int, few: int, seconds: float, only: str = "", say=print) -> list[str]:
    rows = [HEADER]
    for name, kind in kinds().items():
        if only not in name:
            continue
        rules = Rules(TOLERANCE, FALSE_ALARMS, POWER)
        for mistake, job in {"none": kind.sound, **kind.mistakes}.items():
            count, size = (seeds, {}) if mistake == "none" else (few, kind.size)
            found = [outcome(job(seed), kind, rules, seconds, size) for seed in range(count)]
            rows.append(row(name, mistake, found))
            say(rows[-1], flush=True)
    return rows


def main(argv=None) -> int:
    parser = Parser(
        prog="python -m ratecheck.benchmarks.asserting",
        description=" ".join(__doc__.split("\n\n")[0].split()),
        epilog=OWN_CODE,
    )
    parser.add_argument("--seeds", type=natural, default=200, help="of sound algorithms")
    parser.add_argument("--few", type=natural, default=10, help="seeds of each mistake")
    parser.add_argument("--budget", type=float, default=20.0, help="seconds of one assertion")
    parser.add_argument("--only", default="", metavar="TEXT", help="kinds with this in their name")
    parser.add_argument("--out", type=Path, metavar="FILE", help="write the table there, too")
    arguments = parser.parse_args(argv)
    for name in ("seeds", "few"):
        if getattr(arguments, name) < 1:
            parser.error(f"--{name} 0 is too few; the nearest valid choice is 1")
    return guarded(_main, arguments)


def _main(arguments) -> int:
    print(HEADER)
    rows = measure(arguments.seeds, arguments.few, arguments.budget, arguments.only)
    if arguments.out is not None:
        write_whole(arguments.out, "\n".join(rows) + "\n")
    return 0


if __name__ == "__main__":
    sys.exit(main())
