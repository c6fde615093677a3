"""Seconds of a call, and of the first regret of a process; costs that are written into a loop."""

from __future__ import annotations

import os
import subprocess
import sys
import tempfile
import time

import numba


def seconds(work) -> float:
    start = time.perf_counter()
    work()
    return time.perf_counter() - start


def start_up(code: str) -> tuple[float, float]:
    """Seconds that `python -c code` takes with an empty cache of compiled kernels, and with a filled one."""
    with tempfile.TemporaryDirectory() as cache:

        def once():
            environment = os.environ | {"NUMBA_CACHE_DIR": cache}
            subprocess.run([sys.executable, "-c", code], env=environment, check=True, capture_output=True)

        return seconds(once), min(seconds(once) for _ in range(3))


def written_in(cost):
    """The formula of a cost, compiled so that a loop that gets it in place of `cost.compiled` needs no call."""
    return numba.njit(forceinline=True, error_model="numpy")(cost.formula)
