"""How long a study takes, part by part: constants that were measured, on the scale of the machine at hand."""

from __future__ import annotations

import time
from dataclasses import dataclass
from typing import NamedTuple

import numpy as np

# Seconds of computing on the machine on which `_sample` takes REFERENCE
REFERENCE = 0.016
START = 5.5  # to load what is needed, compiled kernels included
AUDIT = 0.4  # of a cost
PLANNED = 0.3  # a curve of a case that a plan foresees
CURVE = (2.0, 6.0, 20.0)  # far beyond the runs, in 1, 2 and 3 or more dimensions
BOUND = (0.35, 0.75, 1.2)  # with its members, in 1, 2 and 3 or more dimensions
MEMBER = 0.09  # to make and compile a member of a hard family, and to run on it for no time
CASE = 0.1  # to fit and judge it
FIGURES, PANELS = 0.7, 0.8  # of a family, and of each of its cases
COMPILE = 10.0  # all kernels, once on a machine

REPEATS = 5  # of the sample
BUSIEST = 20.0  # the most that is believed


class Machine(NamedTuple):
    """How a machine compares: its seconds of computing for one of the reference, and how long each takes just now."""

    pace: float = 1.0
    load: float = 1.0


def machine() -> Machine:
    """Measured, in a tenth of a second."""
    begun, computed = time.perf_counter(), time.thread_time()
    fastest = min(_sample() for _ in range(REPEATS))
    load = (time.perf_counter() - begun) / max(time.thread_time() - computed, 1e-6)
    return Machine(fastest / REFERENCE, min(max(load, 1.0), BUSIEST))


def _sample() -> float:
    """Seconds of computing for some work of the interpreter and of NumPy."""
    start, total = time.thread_time(), 0
    for i in range(200_000):
        total += i * i % 7
    np.sort(np.random.default_rng(0).random(100_000))
    return time.thread_time() - start


def bound(dim: int) -> float:
    return BOUND[min(dim, len(BOUND)) - 1]


def prediction(horizons: int, replicates: int, dim: int, far: bool) -> float:
    """To predict the regret of so many replicates at so many horizons, and a curve far beyond them."""
    return 0.1 + 3e-4 * horizons * replicates + (CURVE[min(dim, len(CURVE)) - 1] if far else 0.0)


def report(cases: int, families: int, figures: bool) -> float:
    """To fit, to judge, to draw and to write it down."""
    return CASE * cases + (FIGURES * families + PANELS * cases if figures else 0.0)


@dataclass(frozen=True)
class Forecast:
    """Seconds of computing on the reference machine: kernels, which run side by side, and Python, which does not."""

    kernels: float
    python: float = 0.0

    def on(self, here: Machine, workers: int) -> float:
        """Seconds by the clock, on a machine and so many workers."""
        return (self.kernels / workers + self.python) * here.pace * here.load
