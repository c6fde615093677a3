"""Seconds of a call, and of the first regret of a process."""

from __future__ import annotations

import os
import subprocess
import sys
import tempfile
import time


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
