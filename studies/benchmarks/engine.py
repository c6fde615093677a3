"""How fast the engine is, as ratios to the sampling it cannot avoid: `python -m studies.benchmarks.engine`.

The floor of an algorithm that queries points is a compiled loop that draws the same uniforms and normals and evaluates
the same cost, all written into it; that of one that asks for values at known places draws one normal per step.  The
kernels are those made for one formula, as long runs use them.  Floor and algorithm take turns, a tenth of the run at a
time, and each turn counts with its fastest repeat, so that other work on the machine disturbs little.  What an
algorithm is held to stands in PROMISED.  `--against` lets the engine of another checkout take turns too.
"""

from __future__ import annotations

import itertools
import json
import math
import os
import subprocess
import sys
import time
from argparse import ArgumentTypeError
from collections.abc import Mapping
from functools import partial
from pathlib import Path
from typing import NamedTuple

import numpy as np
import pandas as pd

import function_zoo as zoo
import ratecheck as rc
from ratecheck.engine.simulate import begin
from ratecheck.files import together
from ratecheck.kernels import compiled, generator
from ratecheck.sampling.noise import sample
from studies.benchmarks.timing import seconds, start_up, written_in
from studies.shared.commands import folder, guarded, parser_of


class Promised(NamedTuple):
    """What an algorithm is held to, in units of the sampling that it cannot avoid."""

    algorithm: type
    settings: tuple[Mapping, ...]  # that are measured
    queries_points: bool  # the floor draws points and evaluates the cost; else it draws noise only
    median: float
    worst: tuple[tuple[float, float, float], ...]  # (from cells, to cells, at most)
    longest: int = 10**7  # horizon that is measured

    @property
    def name(self) -> str:
        return self.algorithm.__name__

    def settled(self, settings, cost):
        return self.algorithm(**settings).settle(cost)


UNIFORM = Promised(rc.UniformBins, ({},), queries_points=False, median=6.0, worst=((1, 1e6, 20.0),))
ADAPTIVE = Promised(
    rc.AdaptiveBins,
    ({"mu": "min"}, {"mu": "theorem"}),
    queries_points=True,
    median=3.0,
    worst=((1, 1e3, 6.0), (1e3, 1e6, 25.0)),
)
OPTIMISTIC = Promised(rc.HOO, ({"nu": "min"},), True, median=40.0, worst=((1, 1e7, 80.0),), longest=10**6)
PROMISED = (UNIFORM, ADAPTIVE, OPTIMISTIC)
HORIZONS = (10**5, 10**6, 10**7)
TURNS = 10
FLOOR_STEPS = 100_000
OTHER_ENGINE = """
import sys, time
import ratecheck, function_zoo
try:
    from ratecheck.engine.simulate import begin
except ImportError:  # an earlier checkout
    from ratecheck.engine import begin
for line in sys.stdin:
    cls, settings, queries_points, name, dim, horizon, turns = eval(line)
    cost = function_zoo.get(name, dim=dim)
    settled = getattr(ratecheck, cls)(**settings).settle(cost)
    run, _ = begin(settled, cost, horizon=horizon, replicate=0)
    if queries_points and run.formula not in run.kernel.own:
        run.kernel.specialise(cost, run.formula)
    run.advance(1)
    run, _ = begin(settled, cost, horizon=horizon, replicate=0)
    times = []
    for turn in range(turns):
        start = time.perf_counter()
        run.advance(horizon * (turn + 1) // turns)
        times.append(time.perf_counter() - start)
    print(times, flush=True)
"""
FIRST_REGRET = (
    "import ratecheck as rc, function_zoo as zoo;"
    "print(rc.simulate(rc.AdaptiveBins(), zoo.get('quadratic', dim=2), [1000], replicates=1).frame.regret[0])"
)


@partial(compiled, on_disk=False)
def point_floor(f, law, scale, dof, rng, x, steps):
    s0, s1, s2, s3 = rng[0], rng[1], rng[2], rng[3]
    total = 0.0
    for _ in range(steps):
        for q in range(x.size):
            x[q], s0, s1, s2, s3 = generator.uniform(s0, s1, s2, s3)
        noise, s0, s1, s2, s3 = sample(law, scale, dof, s0, s1, s2, s3)
        total += f(x) + noise
    rng[0], rng[1], rng[2], rng[3] = s0, s1, s2, s3
    return total


@compiled
def noise_floor(law, scale, dof, rng, steps):
    s0, s1, s2, s3 = rng[0], rng[1], rng[2], rng[3]
    total = 0.0
    for _ in range(steps):
        noise, s0, s1, s2, s3 = sample(law, scale, dof, s0, s1, s2, s3)
        total += noise
    rng[0], rng[1], rng[2], rng[3] = s0, s1, s2, s3
    return total


class OtherEngine:
    """The engine of another checkout, in a process of its own."""

    def __init__(self, checkout):
        pipes = {"stdin": subprocess.PIPE, "stdout": subprocess.PIPE, "text": True}
        environment = {name: text for name, text in os.environ.items() if name != "PYTHONPATH"}
        # the folder of a process that runs a command line comes first on its path
        self.process = subprocess.Popen([sys.executable, "-c", OTHER_ENGINE], cwd=checkout, env=environment, **pipes)

    def times(self, promised: Promised, settings, cost, horizon) -> list[float]:
        """Of the turns of one run."""
        task = promised.name, settings, promised.queries_points, cost.name, cost.dim, horizon, TURNS
        print(task, file=self.process.stdin, flush=True)
        answer = self.process.stdout.readline()
        if not answer:
            raise SystemExit("the other checkout's engine ended; is it a checkout of ratecheck?")
        return json.loads(answer)


def measure(promised: Promised, settings, cost, horizon, steps, other: OtherEngine | None = None) -> dict:
    """Nanoseconds per step of the algorithm and of its floor, repeated until `steps` steps were made."""
    settled = promised.settled(settings, cost)
    rng, x = generator.open_state(np.random.SeedSequence(0)), np.empty(cost.dim)
    run, _ = begin(settled, cost, horizon=horizon, replicate=0)
    if promised.queries_points:
        run.kernel.specialise(cost, run.formula)

    formula = written_in(cost)

    def floor():
        if promised.queries_points:
            point_floor(formula, *rc.Gaussian().numbers, rng, x, FLOOR_STEPS)
        else:
            noise_floor(*rc.Gaussian().numbers, rng, FLOOR_STEPS)

    floor()
    run.advance(1)
    repeats = max(1, steps // horizon)
    floor_times, run_times, other_times = np.full((3, repeats, TURNS), np.nan)
    for repeat in range(repeats):
        if other:
            other_times[repeat] = other.times(promised, settings, cost, horizon)
        run, _ = begin(settled, cost, horizon=horizon, replicate=0)
        for turn in range(TURNS):
            floor_times[repeat, turn] = seconds(floor)
            run_times[repeat, turn] = seconds(lambda run=run, turn=turn: run.advance(horizon * (turn + 1) // TURNS))
    ns = run_times.min(axis=0).sum() / horizon * 1e9
    floor_ns = floor_times.min(axis=0).mean() / FLOOR_STEPS * 1e9
    return {
        "algorithm": promised.name,
        "cost": cost.name,
        "dim": cost.dim,
        "settings": ", ".join(f"{k} = {v}" for k, v in settings.items()),
        "T": horizon,
        "cells": run.cells,
        "ns": ns,
        "floor": floor_ns,
        "ratio": ns / floor_ns,
        "speed_up": other_times.min(axis=0).sum() / horizon * 1e9 / ns,
    }


def speed_table(horizons, steps, other) -> pd.DataFrame:
    rows = []
    costs = [zoo.get(name, dim=dim) for name in ("quadratic", "cone") for dim in (1, 2, 3)]
    for promised in PROMISED:
        shown = [horizon for horizon in horizons if horizon <= promised.longest]
        for settings, cost, horizon in itertools.product(promised.settings, costs, shown):
            rows.append(measure(promised, settings, cost, horizon, steps, other))
            print(line(rows[-1]), flush=True)
    return pd.DataFrame(rows)


def line(row) -> str:
    return (
        f"{row['algorithm']:<13}{row['cost']:<10} d = {row['dim']}  {row['settings']:<13} T = {row['T']:<8.0e}"
        f"{row['cells']:>8} cells {row['ns']:>7.1f} ns {row['floor']:>6.1f} ns {row['ratio']:>6.2f}"
        + ("" if math.isnan(row["speed_up"]) else f"   {row['speed_up']:.2f} times the other")
    )


def against_targets(table) -> list[tuple[str, float, float]]:
    """What was promised: a name, what was measured, and what it may be at most."""
    found = []
    for name, promised in ((promised.name, promised) for promised in PROMISED):
        own = table[table.algorithm == name]
        found.append((f"{name} / floor, median", own.ratio.median(), promised.median))
        for first, last, at_most in promised.worst:
            part = own[(own.cells >= first) & (own.cells < last)]
            if len(part):
                found.append((f"{name} / floor, worst of {first:g} to {last:g} cells", part.ratio.max(), at_most))
    return found


def identities(horizon, repeats) -> list[tuple[str, float, float]]:
    """The check of identities at the end of a run, against the run before it.

    So short a run varies by more than the two per cent allowed from one repeat to the next.
    """
    found = []
    for promised, dim in itertools.product(PROMISED, (1, 2, 3)):
        cost = zoo.get("cone", dim=dim)
        settled = promised.settled(promised.settings[0], cost)

        def once(settled=settled, cost=cost):
            start = time.perf_counter()
            run, _ = begin(settled, cost, horizon=horizon, replicate=0)
            run.advance(horizon)
            return time.perf_counter() - start, seconds(run.violation)

        made, checked = np.array([once() for _ in range(repeats)]).min(axis=0)
        found.append((f"{promised.name}, d = {dim}: identities / run, T = {horizon:.0e}", checked / made, 0.02))
    return found


# Long runs, many workers, memory and the first regret are measured on the algorithm that runs once for all horizons


def growth(longest, steps) -> tuple[str, float, float]:
    """Time per step at the longest horizon against T = 1e5, both in floors, where cells hardly multiply."""
    worst = 0.0
    for name in ("quadratic", "cone"):
        cost = zoo.get(name, dim=1)
        short, long = (measure(ADAPTIVE, ADAPTIVE.settings[0], cost, T, steps) for T in (10**5, longest))
        print(line(long), flush=True)
        worst = max(worst, long["ratio"] / short["ratio"])
    return (f"time per step, T = {longest:.0e} against 1e+05", worst, 1.5)


def workers(horizon, repeats) -> tuple[str, float, float]:
    """Time with two workers against half the time with one."""
    cost, algorithm = zoo.get("cone", dim=2), rc.AdaptiveBins()

    def job(count):
        return seconds(lambda: rc.simulate(algorithm, cost, [horizon], replicates=8, workers=count))

    job(1)
    one, two = np.array([(job(1), job(2)) for _ in range(repeats)]).min(axis=0)
    return ("two workers, against half the time of one", 2 * two / one, 2 / 1.9)


def memory(horizon) -> tuple[str, float, float]:
    cost = zoo.get("cone", dim=3)
    run, _ = begin(ADAPTIVE.settled(ADAPTIVE.settings[-1], cost), cost, horizon=horizon, replicate=0)
    run.advance(horizon)
    arrays = [value for value in vars(run).values() if isinstance(value, np.ndarray)]
    return (f"bytes per cell ({run.cells} cells)", sum(a.nbytes for a in arrays) / run.cells, 256.0)


def checkout(text) -> Path:
    place = Path(text)
    if not os.path.isfile(place / "ratecheck" / "__init__.py"):  # False too where the name is impossible
        raise ArgumentTypeError(f"{place} is no checkout of ratecheck: it has no ratecheck/__init__.py")
    return place


def main(arguments=None) -> int:
    parser = parser_of("benchmarks.engine", __doc__)
    parser.add_argument("--quick", action="store_true", help="no horizon above 1e6, few repeats; indicative only")
    parser.add_argument("--out", type=folder, metavar="DIR", help="write engine_speed.csv and engine_speed.png there")
    parser.add_argument("--against", type=checkout, metavar="CHECKOUT", help="time the engine found there too; it runs")
    return guarded(_main, parser.parse_args(arguments))


def _main(options) -> int:
    horizons, steps, longest = ([10**5, 10**6], 10**6, 10**6) if options.quick else (HORIZONS, 10**7, 10**8)
    table = speed_table(horizons, steps, OtherEngine(options.against) if options.against else None)
    cold, warm = start_up(FIRST_REGRET)
    promises = [
        *against_targets(table),
        growth(longest, steps),
        workers(10**6, 1 if options.quick else 5),
        memory(10**6),
        *identities(10**4, 30 if options.quick else 300),
        ("first regret, never run before (s)", cold, 25.0),
        ("first regret, second process (s)", warm, 3.0),
    ]
    print()
    if options.against:
        for cls, part in table.groupby("algorithm"):
            print(
                f"{cls}: {part.speed_up.median():.2f} times as fast in the median, {part.speed_up.min():.2f} at least"
            )
    for name, measured, at_most in promises:
        verdict = "" if measured <= at_most else "  MISSED"
        print(f"{name:<48}{measured:>8.{2 if at_most > 0.1 else 4}f}   at most {at_most:.4g}{verdict}")
    if options.out:
        from studies.benchmarks.draw import engine_speed

        options.out.mkdir(parents=True, exist_ok=True)
        with together(options.out) as drafts:
            drafts.write("engine_speed.csv", table.to_csv(index=False, lineterminator="\n"))
            figure = engine_speed(table, {promised.name: promised.worst for promised in PROMISED})
            with drafts.open("engine_speed.png", "wb") as file:
                figure.savefig(file, dpi=150)
    return 0 if options.quick else int(any(measured > at_most for _, measured, at_most in promises))


if __name__ == "__main__":
    raise SystemExit(main())
