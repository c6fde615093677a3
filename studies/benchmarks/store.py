"""What a large store costs: `python -m studies.benchmarks.store` builds one and times its report and its exports.

Its rows are synthetic: the rates that theory promises, with a spread that needs no engine.  Each command runs in a
process of its own, whose peak memory is that of the command.
"""

from __future__ import annotations

import json
import subprocess
import sys
import tempfile
from pathlib import Path
from typing import NamedTuple

import numpy as np

from ratecheck.store import Store
from ratecheck.study import Grid, Study
from ratecheck.study.conduct import described
from ratecheck.study.plan import cases, no_curve
from studies.shared.commands import guarded, parser_of

COSTS = tuple((family, dim) for family in ("quadratic", "cone", "quartic", "ring", "rastrigin") for dim in (1, 2))
REPORT = {10**6: (10.0, 0.6), 10**7: (90.0, 1.0)}  # rows: seconds and gigabytes that a report may take
EXPORT = (None, 0.3)  # the same of an export, whatever its rows
MEASURED = """
import json, resource, sys, time
start = time.perf_counter()
from ratecheck.cli.main import main
code = main(sys.argv[1:])
seconds = time.perf_counter() - start, time.process_time()
try:  # what a process inherited from its parent does not count
    with open("/proc/self/status") as file:
        peak = next(int(line.split()[1]) / 1e6 for line in file if line.startswith("VmHWM"))
except OSError:
    peak = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / (1e9 if sys.platform == "darwin" else 1e6)
print(json.dumps([code, *seconds, peak]))
"""


def build(folder, rows: int, costs=COSTS) -> int:
    """A store of about so many rows, as a study of some costs and two algorithms would leave it."""
    study = Study("large", "What does it cost?", costs, horizons=Grid(2**8, 2**20, ratio=2**0.25, periods=None))
    planned = cases(study, curves=no_curve)
    horizons = planned[0].case.horizons
    replicates = max(4, round(rows / len(planned) / len(horizons)))
    study = Study("large", study.question, costs, horizons=study.horizons, replicates=replicates)
    planned = cases(study, curves=no_curve)
    rng = np.random.default_rng(0)
    with Store(folder, create=True) as store:
        store.note("study", described(study, planned))
        session = store.begin_session({"workers": 1, "where": "nowhere"})
        for case, _, _ in planned:
            size = max(1, 20_000 // len(horizons))
            for first in range(0, replicates, size):
                found = synthetic(case, range(first, min(first + size, replicates)), rng)
                store.add(case.series, found, session=session, steps=1, seconds=1.0)
    return len(planned) * len(horizons) * replicates


def synthetic(case, replicates, rng):
    for replicate in replicates:
        factors = np.exp(0.3 * rng.standard_normal(len(case.horizons)))
        regrets = case.own.rate.regret(np.array(case.horizons)) * factors
        for horizon, regret in zip(case.horizons, regrets.tolist(), strict=True):
            stream = f"0-{replicate:016x}" if case.anytime else f"0-{horizon:08x}{replicate:08x}"
            row = {"replicate": replicate, "horizon": horizon, "regret": regret, "cells": 7, "side": 0.5}
            yield row | {"anytime": case.anytime, "stream": stream}


class Spent(NamedTuple):
    """Of a command."""

    seconds: float
    processor: float  # seconds of all its threads: on a busy machine the steadier figure
    gigabytes: float


def targets(command: str, rows: int) -> tuple[float | None, float | None]:
    """Seconds and gigabytes that a command may take: those stated for the next larger store, if there is one."""
    if command == "export":
        return EXPORT
    return next((REPORT[size] for size in sorted(REPORT) if rows <= size), (None, None))


def measured(*arguments) -> Spent:
    command = [sys.executable, "-c", MEASURED, *map(str, arguments)]
    said = subprocess.run(command, capture_output=True, text=True, check=True).stdout.splitlines()[-1]
    code, *found = json.loads(said)
    if code:
        raise RuntimeError(f"ratecheck {' '.join(map(str, arguments))} ended with {code}")
    return Spent(*found)


def line(command, *figures) -> str:
    """Of the table: a figure that is None is not stated."""
    cells = ("–" if x is None else x if isinstance(x, str) else f"{x:.2f}" for x in figures)
    return f"{command:<20}" + "".join(f"{cell:>11}" for cell in cells)


def main(argv=None) -> int:
    parser = parser_of("benchmarks.store", __doc__)
    parser.add_argument("--rows", type=float, default=1e6, help="of the store (default: 1e6)")
    return guarded(_main, parser.parse_args(argv))


def _main(arguments) -> int:
    with tempfile.TemporaryDirectory() as folder:
        rows = build(folder, int(arguments.rows))
        size = (Path(folder) / "runs.sqlite").stat().st_size / 1e6
        print(f"{rows} rows, {size:.0f} MB")
        print(line("command", "seconds", "at most", "processor", "GB", "at most"))
        for command, option in (("report", "--no-figures"), ("export", "--csv"), ("export", "--parquet")):
            found, (seconds, gigabytes) = measured(command, folder, option), targets(command, int(arguments.rows))
            figures = (found.seconds, seconds, found.processor, found.gigabytes, gigabytes)
            print(line(f"{command} {option}", *figures))
    return 0


if __name__ == "__main__":
    sys.exit(main())
