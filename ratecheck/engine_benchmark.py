"""How fast the engine is, as ratios to the sampling it cannot avoid: `python -m ratecheck.engine_benchmark`.

The floor of AdaptiveBins is a compiled loop that draws the same uniforms and normals and evaluates the same
cost; the floor of UniformBins draws one normal per step.  Floor and algorithm take turns, a tenth of the run
at a time, and each turn counts with its fastest repeat, so that other work on the machine disturbs little.
"""

from __future__ import annotations

import argparse
import os
import subprocess
import sys
import tempfile
import time
from pathlib import Path

import numpy as np
import pandas as pd

import function_zoo as zoo

from .algorithms import AdaptiveBins, UniformBins
from .engine import STANDARD, begin, simulate
from .jit import compiled
from .noise import draw

HORIZONS = (10**5, 10**6, 10**7)
TURNS = 10
FLOOR_STEPS = 100_000
FIRST_REGRET = (
    "import ratecheck as rc, function_zoo as zoo;"
    "print(rc.simulate(rc.AdaptiveBins(), zoo.get('quadratic', dim=2), [1000], replicates=1).frame.regret[0])"
)


@compiled
def adaptive_floor(f, law, scale, dof, rng, x, steps):
    total = 0.0
    for _ in range(steps):
        for q in range(x.size):
            x[q] = rng.random()
        total += f(x) + draw(law, scale, dof, rng)
    return total


@compiled
def uniform_floor(law, scale, dof, rng, steps):
    total = 0.0
    for _ in range(steps):
        total += draw(law, scale, dof, rng)
    return total


def seconds(work) -> float:
    start = time.perf_counter()
    work()
    return time.perf_counter() - start


def measure(algorithm, cost, horizon, steps) -> dict:
    """Nanoseconds per step of the algorithm and of its floor, repeated until `steps` steps were made."""
    settled = algorithm.settle(cost)
    rng, x = np.random.default_rng(0), np.empty(cost.dim)

    def floor():
        if settled.anytime:
            adaptive_floor(cost.compiled, *STANDARD.numbers, rng, x, FLOOR_STEPS)
        else:
            uniform_floor(*STANDARD.numbers, rng, FLOOR_STEPS)

    floor()
    begin(settled, cost, horizon, replicate=0)[0].advance(1)
    repeats = max(1, steps // horizon)
    floor_times, run_times = np.empty((2, repeats, TURNS))
    for repeat in range(repeats):
        run, _ = begin(settled, cost, horizon, replicate=0)
        for turn in range(TURNS):
            floor_times[repeat, turn] = seconds(floor)
            run_times[repeat, turn] = seconds(lambda run=run, turn=turn: run.advance(horizon * (turn + 1) // TURNS))
    ns = run_times.min(axis=0).sum() / horizon * 1e9
    floor_ns = floor_times.min(axis=0).mean() / FLOOR_STEPS * 1e9
    return {
        "algorithm": type(algorithm).__name__,
        "cost": cost.name,
        "dim": cost.dim,
        "mu": getattr(algorithm, "mu", None) or "",
        "T": horizon,
        "cells": run.cells,
        "ns": ns,
        "floor": floor_ns,
        "ratio": ns / floor_ns,
    }


def speed_table(horizons, steps) -> pd.DataFrame:
    rows = []
    for algorithm in (AdaptiveBins(mu="min"), AdaptiveBins(mu="theorem"), UniformBins()):
        for name in ("quadratic", "cone"):
            for dim in (1, 2, 3):
                for horizon in horizons:
                    rows.append(measure(algorithm, zoo.get(name, dim=dim), horizon, steps))
                    print(line(rows[-1]), flush=True)
    return pd.DataFrame(rows)


def line(row) -> str:
    return (
        f"{row['algorithm']:<13}{row['cost']:<10} d = {row['dim']}  {row['mu']:<8} T = {row['T']:<8.0e}"
        f"{row['cells']:>8} cells {row['ns']:>7.1f} ns {row['floor']:>6.1f} ns {row['ratio']:>6.2f}"
    )


def against_targets(table) -> list[tuple[str, float, float]]:
    """What was promised: a name, what was measured, and what it may be at most."""
    adaptive = table[table.algorithm == "AdaptiveBins"]
    uniform = table[table.algorithm == "UniformBins"]
    few, many = adaptive[adaptive.cells < 1000], adaptive[adaptive.cells >= 1000]
    return [
        ("AdaptiveBins / floor, median", adaptive.ratio.median(), 2.5),
        ("AdaptiveBins / floor, worst below 1,000 cells", few.ratio.max(), 5.0),
        ("AdaptiveBins / floor, worst from 1,000 cells", many.ratio.max(), 12.0),
        ("UniformBins / floor, median", uniform.ratio.median(), 4.0),
        ("UniformBins / floor, worst", uniform.ratio.max(), 12.0),
    ]


def growth(longest, steps) -> tuple[str, float, float]:
    """Time per step at the longest horizon against T = 1e5, both in floors, where cells hardly multiply."""
    worst = 0.0
    for name in ("quadratic", "cone"):
        cost = zoo.get(name, dim=1)
        short, long = (measure(AdaptiveBins(mu="min"), cost, T, steps) for T in (10**5, longest))
        print(line(long), flush=True)
        worst = max(worst, long["ratio"] / short["ratio"])
    return (f"time per step, T = {longest:.0e} against 1e+05", worst, 1.5)


def workers(horizon, repeats) -> tuple[str, float, float]:
    """Time with two workers against half the time with one."""
    cost = zoo.get("cone", dim=2)

    def job(count):
        return seconds(lambda: simulate(AdaptiveBins(), cost, [horizon], replicates=8, workers=count))

    job(1)
    one, two = np.array([(job(1), job(2)) for _ in range(repeats)]).min(axis=0)
    return ("two workers, against half the time of one", 2 * two / one, 2 / 1.8)


def memory(horizon) -> tuple[str, float, float]:
    run, _ = begin(AdaptiveBins(mu="theorem").settle(zoo.get("cone", dim=3)), zoo.get("cone", dim=3), horizon, 0)
    run.advance(horizon)
    arrays = [value for value in vars(run).values() if isinstance(value, np.ndarray)]
    return (f"bytes per cell ({run.cells} cells)", sum(a.nbytes for a in arrays) / run.cells, 256.0)


def start_up() -> list[tuple[str, float, float]]:
    """Seconds from `python -c` to the first regret, with empty and with filled caches."""
    with tempfile.TemporaryDirectory() as cache:

        def once():
            done = subprocess.run(
                [sys.executable, "-c", FIRST_REGRET],
                env=os.environ | {"NUMBA_CACHE_DIR": cache},
                check=True,
                capture_output=True,
            )
            return done

        return [
            ("first regret, never run before (s)", seconds(once), 25.0),
            ("first regret, second process (s)", min(seconds(once) for _ in range(3)), 3.0),
        ]


def main(arguments=None) -> int:
    parser = argparse.ArgumentParser(prog="python -m ratecheck.engine_benchmark", description=__doc__.split("\n")[0])
    parser.add_argument("--quick", action="store_true", help="no horizon above 1e6, few repeats; indicative only")
    parser.add_argument("--out", type=Path, metavar="DIR", help="write engine_speed.csv and engine_speed.png there")
    options = parser.parse_args(arguments)

    horizons, steps, longest = ([10**5, 10**6], 10**6, 10**6) if options.quick else (HORIZONS, 10**7, 10**8)
    table = speed_table(horizons, steps)
    promises = [
        *against_targets(table),
        growth(longest, steps),
        workers(10**6, 1 if options.quick else 5),
        memory(10**6),
        *start_up(),
    ]
    print()
    for name, measured, at_most in promises:
        verdict = "" if measured <= at_most else "  MISSED"
        print(f"{name:<48}{measured:>8.2f}   at most {at_most:.4g}{verdict}")
    if options.out:
        from .figures import engine_speed

        options.out.mkdir(parents=True, exist_ok=True)
        table.to_csv(options.out / "engine_speed.csv", index=False)
        engine_speed(table, options.out / "engine_speed.png")
    return 0 if options.quick else int(any(measured > at_most for _, measured, at_most in promises))


if __name__ == "__main__":
    raise SystemExit(main())
