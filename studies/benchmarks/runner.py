"""What the runner costs: `python -m studies.benchmarks.runner` times it against a loop that calls the engine.

Loop and runner take turns, so that a busy machine disturbs both alike; ratios of one run are what counts.
"""

from __future__ import annotations

import statistics
import sys
import tempfile
import threading
import time

import function_zoo as zoo
from function_zoo.registry import lookup
from ratecheck.arguments import available_cores
from ratecheck.cli.parser import OWN_CODE, Parser, guarded, whole_number
from ratecheck.engine.simulate import Job
from ratecheck.executors import executor
from ratecheck.executors.progress import Progress
from ratecheck.store import Store
from ratecheck.study import Grid, Study
from ratecheck.study.declare import PRESETS
from ratecheck.study.plan import cases, no_curve
from ratecheck.study.run import run_units, units_of
from studies.shared.commands import check_range


def loop(study) -> float:
    """Seconds for all runs of a study, one after another and nothing else."""
    jobs, never = [], threading.Event()
    for case, cost, algorithm in cases(study, curves=no_curve):
        job = Job(algorithm, cost, study.seed, study.noise, study.alignment)
        jobs.append((job, job.units(case.horizons, range(case.replicates))))
    start = time.perf_counter()
    for job, units in jobs:
        for unit in units:
            job.run(unit, never)
    return time.perf_counter() - start


def runner(study, workers) -> tuple[float, int]:
    """Seconds and steps of the same with units, threads and a store."""
    with tempfile.TemporaryDirectory() as folder, Store(folder, create=True) as store:
        place = executor("threads", workers)
        start = time.perf_counter()
        units = units_of(cases(study, curves=no_curve), store, study.noise, workers)
        outcome = run_units(units, store, executor=place, session=store.begin_session({}), progress=Progress([]))
        place.close()
        return time.perf_counter() - start, outcome.steps


def measure(family="quadratic", dims=(1, 2, 3), replicates=16, rounds=3, most=None, grid=PRESETS["standard"][0]):
    """Rows of (workers, seconds of the loop, seconds of the runner, steps), a round each."""
    study = Study("benchmark", "?", [(family, d) for d in dims], horizons=grid, replicates=replicates)
    loop(Study("warm", "?", study.costs, horizons=[8, 16, 32], replicates=1))
    rows = []
    for _ in range(rounds):
        alone = loop(study)
        for workers in range(1, (most or available_cores()) + 1):
            seconds, steps = runner(study, workers)
            rows.append((workers, alone, seconds, steps))
    return rows


def cluster(steps_per_core_second, cores=1000, horizon=10**9, replicates=64) -> str:
    """What many cores would do, on paper: units share nothing, so only their number and the longest run matter."""
    every = [(name, dim) for name in zoo.families() for dim in (1, 2, 3) if dim in lookup(name).dims]
    study = Study("zoo", "?", every, horizons=Grid(last=horizon, periods=None), replicates=replicates)
    steps = sum(p.case.steps for p in cases(study, curves=no_curve))
    minutes = steps / steps_per_core_second / cores / 60
    longest = horizon / steps_per_core_second / 60
    return (
        f"at this speed {cores:,} cores take the whole zoo ({len(every)} costs, {len(study.algorithms)} algorithms, "
        f"{replicates} replicates, {steps:.2g} steps) to T = {horizon:.0e} in {minutes:.0f} minutes; a single run "
        f"takes {longest:.1f} minutes, so the last one leaves no core idle for long"
    )


def main(argv=None) -> int:
    parser = Parser(prog="python -m studies.benchmarks.runner", description=__doc__.splitlines()[0], epilog=OWN_CODE)
    parser.add_argument("--family", default="quadratic")
    parser.add_argument("--replicates", type=whole_number, default=16)
    parser.add_argument("--rounds", type=whole_number, default=3)
    arguments = parser.parse_args(argv)
    check_range(parser, "--rounds", arguments.rounds, least=1)
    return guarded(_main, arguments)


def _main(arguments) -> int:
    rows = measure(arguments.family, replicates=arguments.replicates, rounds=arguments.rounds)
    print(f"{'workers':>8}{'loop s':>9}{'runner s':>10}{'speed-up':>10}{'overhead':>10}{'million steps/s':>17}")
    for workers in sorted({row[0] for row in rows}):
        alone, seconds, steps = zip(*(row[1:] for row in rows if row[0] == workers), strict=True)
        speed_up = statistics.median(a / s for a, s in zip(alone, seconds, strict=True))
        per_second = statistics.median(n / s for n, s in zip(steps, seconds, strict=True))
        print(
            f"{workers:>8}{statistics.median(alone):>9.2f}{statistics.median(seconds):>10.2f}{speed_up:>10.2f}"
            f"{100 * (workers / speed_up - 1):>9.1f}%{per_second / 1e6:>17.1f}"
        )
    print(cluster(per_second / workers))
    return 0


if __name__ == "__main__":
    sys.exit(main())
