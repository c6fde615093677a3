"""Executors by name, as --scheduler writes them."""

from __future__ import annotations

from ..engine import available_cores, whole
from .cluster import Dask
from .errors import ExecutorError
from .local import Processes, Threads


def executor(scheduler: str | None = None, workers: int | None = None, kernels: bool = True):
    """An executor by name: None, "threads", "processes", "local:4" (a Dask cluster of this machine) or an address.

    None takes threads for kernels and processes for algorithms in plain Python.
    """
    kind, what = place(scheduler, workers, kernels)
    return kind(*what)


def place(scheduler, workers, kernels=True):
    """The class of an executor and its arguments; a name that means nothing is refused before anything is written."""
    scheduler = scheduler or ("threads" if kernels else "processes")
    count = available_cores() if workers is None else whole("workers", workers, 1)
    if scheduler in ("threads", "processes"):
        return (Threads if scheduler == "threads" else Processes), (count,)
    name, _, number = scheduler.partition(":")
    if name == "local":
        number = number or str(count)
        if not number.isdigit() or int(number) < 1:
            raise ExecutorError(f"--scheduler {scheduler}: write local:N with N workers, 1 or more")
        return Dask, (None, int(number))
    if "://" not in scheduler:
        raise ExecutorError(
            f"--scheduler {scheduler!r} is none of threads, processes, local:N or an address such as tcp://host:8786"
        )
    return Dask, (scheduler,)
