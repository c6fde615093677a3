"""What `assert_rate` costs and catches: `python -m studies.benchmarks.asserting` tries sound algorithms and mistakes.

A sound algorithm is asserted with many seeds: how long it takes, how often it fails or cannot tell.  Each mistake is
asserted with a few seeds: how often it fails, how often the test cannot tell, how often it passes.

`changes` is what a mistake does to the promise, by reasoning: `rate`, the regret grows faster by more than the
tolerance; `constant`, it does not, and nothing is to be noticed but by `agreement`; `open`, not known.
The first five mistakes of a kind were seen while the rules of `assert_rate` were made; those held out were written down
when the rules stood, before any of them was run, and no rule was changed after; nor was what they were said to change,
also where that turned out wrong.
"""

from __future__ import annotations

import csv
import io
import math
import statistics
import sys
import time
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from typing import NamedTuple

import numpy as np

import function_zoo as zoo
from ratecheck.algorithms import AdaptiveBins, AskTell, Compiled, UniformBins
from ratecheck.check.assert_rate import CannotTell, CurveChanged, RateRefuted, Rules, agreeing, asserted
from ratecheck.claims import Claim
from ratecheck.cli.parser import OWN_CODE, Parser, guarded, natural
from ratecheck.engine.simulate import Job
from ratecheck.files import write_whole
from ratecheck.kernels import uniform
from ratecheck.papers.zhao_lai import theorem1_corrected, theorem2_sharper
from ratecheck.rates import Rate
from studies.benchmarks.mutants import MUTANTS, OWN, SUMMED, Switches, run

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
    rate: Rate
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
        algorithm = AskTell(changed(cls, **attributes) if attributes else cls).settle(cost)
        return lambda seed: Job(algorithm, cost, seed)

    return Kind(cost, rate, job({}), mistakes(seen, held_out, job), size)


def machine_code(cost, rate, seen, held_out) -> Kind:
    def job(settings):
        algorithm = Compiled(partial(begun, **settings), ask, tell, anytime=True).settle(cost)
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
    for_adaptive = (cone, theorem2_sharper.rate(cone.constants, 2), AdaptiveBins(), FOR_ADAPTIVE, FRESH_FOR_ADAPTIVE)
    for_uniform = (bowl, theorem1_corrected.rate(bowl.constants, 2), UniformBins(), FOR_UNIFORM, FRESH_FOR_UNIFORM)
    root, two_thirds = Rate.of_regret(1 / 2), Rate.of_regret(2 / 3)
    return {
        "kernel, adaptive": kernel(*for_adaptive),
        "kernel, uniform": kernel(*for_uniform),
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

# Measuring

NONE, AGREEING = "none", ", with agreement"
EVERY = 50
PASSED, FAILED, OPEN = "passed", "failed", "cannot tell"


class Trial(NamedTuple):
    name: str
    seconds: float
    steps: int


def outcomes(job: Job, kind: Kind, rules: Rules, seconds: float, size: dict) -> dict[str, Trial]:
    """What becomes of one assertion, and with agreement=True, which looks at the same runs once more."""
    begun = time.process_time()
    claim = Claim("the promise", "", "upper", kind.rate)
    try:
        name, found = PASSED, asserted(job, claim, rules, seconds, **size)
    except RateRefuted as error:
        name, found = FAILED, error.found
    except CannotTell as error:
        name, found = OPEN, error.found
    steps = 0 if found is None else found.rung.horizons[-1]
    both = {"": Trial(name, time.process_time() - begun, steps)}
    if not kind.agreement:
        return both
    try:
        if name != FAILED and found is not None:
            agreeing(found)
    except CurveChanged:
        name = FAILED
    return both | {AGREEING: Trial(name, time.process_time() - begun, steps)}


COLUMNS = ("kind", "mistake", "held_out", "changes", "seeds", PASSED, FAILED, OPEN, "seconds", "T_max")  # medians


def row(kind: str, name: str, held_out: str, changes: str, found: list[Trial]) -> dict:
    counts = {n: sum(o.name == n for o in found) for n in (PASSED, FAILED, OPEN)}
    middle = f"{statistics.median(o.seconds for o in found):.2g}"
    last = statistics.median_low(o.steps for o in found)
    said = {"kind": kind, "mistake": name, "held_out": held_out, "changes": changes, "seeds": len(found)}
    return said | counts | {"seconds": middle, "T_max": last}


def measure(seeds: int, few: int, seconds: float, only: str = "") -> Iterator[dict]:
    """Rows of sound algorithms, then of mistakes; those of many seeds come several times, as far as they are."""
    rules = Rules(TOLERANCE, FALSE_ALARMS, POWER)
    chosen = {name: kind for name, kind in kinds().items() if only in name}

    def tried(name, kind, mistake, held_out, changes, job, count, size):
        found = []
        for seed in range(count):
            found.append(outcomes(job(seed), kind, rules, seconds, size))
            if len(found) % EVERY == 0 or len(found) == count:
                for how in found[0]:
                    yield row(name + how, mistake, held_out, changes, [each[how] for each in found])

    for name, kind in chosen.items():
        yield from tried(name, kind, NONE, "", "", kind.sound, seeds, {})
    for name, kind in chosen.items():
        for mistake, (job, changes, held_out) in kind.mistakes.items():
            yield from tried(name, kind, mistake, "yes" if held_out else "no", changes, job, few, kind.size)


def main(argv=None) -> int:
    parser = Parser(
        prog="python -m studies.benchmarks.asserting",
        description=" ".join(__doc__.split("\n\n")[0].split()),
        epilog=OWN_CODE,
    )
    parser.add_argument("--seeds", type=natural, default=200, help="of sound algorithms; 0: leave them out")
    parser.add_argument("--few", type=natural, default=10, help="seeds of each mistake; 0: leave them out")
    parser.add_argument("--budget", type=float, default=20.0, help="seconds of one assertion")
    parser.add_argument("--only", default="", metavar="TEXT", help="kinds with this in their name")
    parser.add_argument("--out", type=Path, metavar="FILE", help="write the table there, too; its other rows stay")
    return guarded(_main, parser.parse_args(argv))


def _main(arguments) -> int:
    rows = {}
    if arguments.out is not None and arguments.out.is_file():
        with arguments.out.open(newline="") as file:
            rows = {(r["kind"], r["mistake"]): r for r in csv.DictReader(file)}
    print(_text([]), end="")
    for new in measure(arguments.seeds, arguments.few, arguments.budget, arguments.only):
        print(_text([new]).splitlines()[1], flush=True)
        rows[new["kind"], new["mistake"]] = new
        if arguments.out is not None:
            write_whole(arguments.out, _text(_in_order(rows)))
    return 0


def _in_order(rows: dict) -> list[dict]:
    order = [
        (name + how, mistake)
        for name, kind in kinds().items()
        for how in ("", AGREEING)
        for mistake in (NONE, *kind.mistakes)
    ]
    return [rows[key] for key in order if key in rows]


def _text(rows) -> str:
    out = io.StringIO()
    table = csv.DictWriter(out, COLUMNS, lineterminator="\n")
    table.writeheader()
    table.writerows(rows)
    return out.getvalue()


if __name__ == "__main__":
    sys.exit(main())
