"""What the engine's loop around compiled algorithms costs: `python -m studies.benchmarks.compiled`.

Three algorithms are written twice: as init, ask and tell, and as a loop by hand with all numbers in local variables.
Both come to the same regret, to the last bit.  They take turns, and each counts with its fastest repeat, so that other
work on the machine disturbs little.  Both call the cost through a pointer, as runs of fewer than 2e8 steps do, or have
it written into them.  The same functions in plain Python, by ask and tell, are timed too, and so is the first regret of
a second process.
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
from ratecheck.engine.simulate import begin
from ratecheck.kernels import compiled, generator, normal, uniform
from ratecheck.sampling.noise import sample
from studies.benchmarks.timing import seconds, start_up, written_in
from studies.shared.commands import guarded, parser_of

ARMS = 64
AT_MOST = 1.5
FIRST_REGRET = (
    "from studies.benchmarks.compiled import EXAMPLES, zoo; from ratecheck import simulate;"
    "climber, cost = EXAMPLES['climber'].algorithm(2), zoo.get('quadratic', dim=2);"
    "print(simulate(climber, cost, [1000], replicates=1).frame.regret[0])"
)


# Uniform queries for ever


class Seen(NamedTuple):
    lower: np.ndarray
    upper: np.ndarray
    best: np.ndarray
    value: float


def random_init(dim, lower, upper, horizon, rng):
    return Seen(lower, upper, lower.copy(), np.inf)


def random_ask(state, t, rng, x):
    for q in range(x.size):
        x[q] = state.lower[q] + (state.upper[q] - state.lower[q]) * uniform(rng)


def random_tell(state, t, x, y):
    if not y < state.value:
        return state
    state.best[:] = x
    return Seen(state.lower, state.upper, state.best, y)


@partial(compiled, on_disk=False)
def random_loop(f, f_min, law, scale, dof, noise_rng, rng, lower, upper, best, x, steps):
    s0, s1, s2, s3 = noise_rng[0], noise_rng[1], noise_rng[2], noise_rng[3]
    r0, r1, r2, r3 = rng[0], rng[1], rng[2], rng[3]
    R, lowest = 0.0, np.inf
    for _ in range(steps):
        for q in range(x.size):
            u, r0, r1, r2, r3 = generator.uniform(r0, r1, r2, r3)
            x[q] = lower[q] + (upper[q] - lower[q]) * u
        y = f(x)
        R += y - f_min
        noise, s0, s1, s2, s3 = sample(law, scale, dof, s0, s1, s2, s3)
        if y + noise < lowest:
            lowest = y + noise
            for q in range(x.size):
                best[q] = x[q]
    noise_rng[0], noise_rng[1], noise_rng[2], noise_rng[3] = s0, s1, s2, s3
    rng[0], rng[1], rng[2], rng[3] = r0, r1, r2, r3
    return R


# A (1+1) search with Rechenberg's rule of one fifth, which believes every noisy value


class Climber(NamedTuple):
    lower: np.ndarray
    upper: np.ndarray
    best: np.ndarray
    value: float
    step: float


def climber_init(dim, lower, upper, horizon, rng, step=0.5):
    return Climber(lower, upper, (lower + upper) / 2, np.inf, step)


def climber_ask(state, t, rng, x):
    for q in range(x.size):
        side = state.upper[q] - state.lower[q]
        x[q] = state.best[q] + state.step * side * normal(rng)
        if not state.lower[q] <= x[q] <= state.upper[q]:
            x[q] = state.lower[q] + side * uniform(rng)


def climber_tell(state, t, x, y):
    if y < state.value:
        state.best[:] = x
        return Climber(state.lower, state.upper, state.best, y, min(1.5 * state.step, 1.0))
    return Climber(state.lower, state.upper, state.best, state.value, max(0.9 * state.step, 1e-6))


@partial(compiled, on_disk=False)
def climber_loop(f, f_min, law, scale, dof, noise_rng, rng, lower, upper, best, x, steps):
    s0, s1, s2, s3 = noise_rng[0], noise_rng[1], noise_rng[2], noise_rng[3]
    r0, r1, r2, r3 = rng[0], rng[1], rng[2], rng[3]
    R, lowest, step = 0.0, np.inf, 0.5
    for _ in range(steps):
        for q in range(x.size):
            side = upper[q] - lower[q]
            z, r0, r1, r2, r3 = generator.normal(r0, r1, r2, r3)
            x[q] = best[q] + step * side * z
            if not lower[q] <= x[q] <= upper[q]:
                u, r0, r1, r2, r3 = generator.uniform(r0, r1, r2, r3)
                x[q] = lower[q] + side * u
        y = f(x)
        R += y - f_min
        noise, s0, s1, s2, s3 = sample(law, scale, dof, s0, s1, s2, s3)
        if y + noise < lowest:
            lowest = y + noise
            for q in range(x.size):
                best[q] = x[q]
            step = min(1.5 * step, 1.0)
        else:
            step = max(0.9 * step, 1e-6)
    noise_rng[0], noise_rng[1], noise_rng[2], noise_rng[3] = s0, s1, s2, s3
    rng[0], rng[1], rng[2], rng[3] = r0, r1, r2, r3
    return R


# UCB1 on the centres of a grid (Auer, Cesa-Bianchi and Fischer 2002)


class Arms(NamedTuple):
    centres: np.ndarray
    pulls: np.ndarray
    total: np.ndarray
    asked: np.ndarray  # the arm of this step


def ucb_init(dim, lower, upper, horizon, rng, per_axis=8):
    centres = grid(lower, upper, per_axis)
    return Arms(centres, np.zeros(len(centres)), np.zeros(len(centres)), np.zeros(1, dtype=np.int64))


def grid(lower, upper, per_axis):
    axes = [low + (high - low) * (np.arange(per_axis) + 0.5) / per_axis for low, high in zip(lower, upper, strict=True)]
    return np.stack(np.meshgrid(*axes, indexing="ij"), axis=-1).reshape(-1, len(lower))


def ucb_ask(state, t, rng, x):
    lowest, arm = np.inf, 0
    tau = math.sqrt(2.0 * math.log(t))
    for i in range(state.pulls.size):
        n = state.pulls[i]
        bound = state.total[i] / n - tau / math.sqrt(n) if n > 0 else -np.inf
        if bound < lowest:
            lowest, arm = bound, i
    state.asked[0] = arm
    for q in range(x.size):
        x[q] = state.centres[arm, q]


def ucb_tell(state, t, x, y):
    arm = state.asked[0]
    state.pulls[arm] += 1
    state.total[arm] += y


@partial(compiled, on_disk=False)
def ucb_loop(f, f_min, law, scale, dof, noise_rng, rng, centres, pulls, total, x, steps):
    s0, s1, s2, s3 = noise_rng[0], noise_rng[1], noise_rng[2], noise_rng[3]
    R = 0.0
    for t in range(1, steps + 1):
        lowest, arm = np.inf, 0
        tau = math.sqrt(2.0 * math.log(t))
        for i in range(pulls.size):
            n = pulls[i]
            bound = total[i] / n - tau / math.sqrt(n) if n > 0 else -np.inf
            if bound < lowest:
                lowest, arm = bound, i
        for q in range(x.size):
            x[q] = centres[arm, q]
        y = f(x)
        R += y - f_min
        noise, s0, s1, s2, s3 = sample(law, scale, dof, s0, s1, s2, s3)
        pulls[arm] += 1
        total[arm] += y + noise
    noise_rng[0], noise_rng[1], noise_rng[2], noise_rng[3] = s0, s1, s2, s3
    return R


# Each twice


@dataclass(frozen=True)
class Example:
    init: object
    ask: object
    tell: object
    loop: Callable

    def settled(self, dim):
        """`init` with the settings that are measured: the same number of arms in all dimensions."""
        return partial(self.init, per_axis=round(ARMS ** (1 / dim))) if self.loop is ucb_loop else self.init

    def algorithm(self, dim) -> rc.Compiled:
        return rc.Compiled(self.settled(dim), self.ask, self.tell, anytime=True)

    def in_python(self, dim) -> rc.AskTell:
        return rc.AskTell(partial(Interpreted, self.settled(dim), self.ask, self.tell), anytime=True)

    def by_hand(self, cost, steps, own=None) -> float:
        """The regret of replicate 0 by the loop that was written by hand; `own` is a formula to be written into it."""
        run, _ = begin(self.algorithm(cost.dim), cost, horizon=steps, replicate=0)
        state = run.memory
        arrays = (state.lower, state.upper, state.best) if hasattr(state, "best") else state[:3]
        arguments = (cost.minimum, *rc.Gaussian().numbers, run.noise_rng, run.rng, *arrays, run.x, steps)
        return self.loop(own or cost.compiled, *arguments)


EXAMPLES = {
    "random search": Example(random_init, random_ask, random_tell, random_loop),
    "climber": Example(climber_init, climber_ask, climber_tell, climber_loop),
    f"UCB1, {ARMS} arms": Example(ucb_init, ucb_ask, ucb_tell, ucb_loop),
}


class Interpreted:
    """The three functions behind ask and tell, in plain Python."""

    def __init__(self, init, ask, tell, dim, lower, upper, horizon, rng):
        self.functions, self.x, self.t = (ask, tell), np.empty(dim), 0
        self.rng = generator.open_state(rng.bit_generator.seed_seq)
        self.state = init(dim, lower, upper, horizon, self.rng)

    def ask(self):
        self.t += 1
        self.functions[0](self.state, self.t, self.rng, self.x)
        return self.x.copy()

    def tell(self, x, y):
        new = self.functions[1](self.state, self.t, x, y)
        self.state = self.state if new is None else new


def measure(example, cost, steps, repeats, own) -> tuple[float, float]:
    """Nanoseconds per step of the engine's loop and of the one by hand."""
    algorithm = example.algorithm(cost.dim)
    run, _ = begin(algorithm, cost, horizon=steps, replicate=0)
    formula = written_in(cost) if own else None
    if own:
        run.kernel.specialise(cost, run.formula)
    run.advance(1)
    example.by_hand(cost, 1, formula)
    times = []
    for _ in range(repeats):
        run, _ = begin(algorithm, cost, horizon=steps, replicate=0)
        times.append(
            (seconds(lambda run=run: run.advance(steps)), seconds(lambda: example.by_hand(cost, steps, formula)))
        )
        if own is False:
            run.kernel.steps.clear()
    return tuple(np.min(times, axis=0) / steps * 1e9)


def in_python(example, cost, steps=2000) -> float:
    run, _ = begin(example.in_python(cost.dim), cost, horizon=steps, replicate=0)
    return seconds(lambda: run.advance(steps)) / steps * 1e9


def main(arguments=None) -> int:
    parser = parser_of("benchmarks.compiled", __doc__)
    parser.add_argument(
        "--quick", action="store_true", help="few steps, d = 2 alone, no other process; indicative only"
    )
    return guarded(_main, parser.parse_args(arguments))


def _main(options) -> int:
    steps, repeats, dims, forms = (20_000, 1, (2,), (False,)) if options.quick else (10**6, 9, (1, 2, 3), (False, True))
    worst = 0.0
    print(f"{'ns per step':<18}{'d':>2}  {'cost':<10}{'engine':>8}{'by hand':>9}{'ratio':>7}{'in Python':>11}")
    for (name, example), dim in ((item, dim) for item in EXAMPLES.items() for dim in dims):
        cost = zoo.get("quadratic", dim=dim)
        for own in forms:
            engine, by_hand = measure(example, cost, steps, repeats, own)
            worst = max(worst, engine / by_hand)
            slow = f"{in_python(example, cost):>11.0f}" if own is False else ""
            called = "inlined" if own else "pointer"
            print(
                f"{name:<18}{dim:>2}  {called:<10}{engine:>8.1f}{by_hand:>9.1f}{engine / by_hand:>7.2f}{slow}",
                flush=True,
            )
    print(f"\nengine / by hand, worst{worst:>8.2f}   at most {AT_MOST}{'' if worst <= AT_MOST else '  MISSED'}")
    if not options.quick:
        print("first regret, never run before {:.2f} s, second process {:.2f} s".format(*start_up(FIRST_REGRET)))
    return 0 if options.quick else int(worst > AT_MOST)


if __name__ == "__main__":
    raise SystemExit(main())
