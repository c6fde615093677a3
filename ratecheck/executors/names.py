"""Executors by name, as --scheduler writes them."""

from __future__ import annotations

import re
from pathlib import Path

from ..arguments import available_cores, check_whole
from ..engine.errors import ExecutorError
from ..engine.pool import Processes, Threads
from .cluster import Dask, Tls

ADDRESS = re.compile(r"(tcp|tls)://(\[[0-9a-fA-F:.]+\]|[^\s:/@\[\]]+):([0-9]{1,5})")


def executor(scheduler: str | None = None, workers: int | None = None, kernels: bool = True, tls: Tls | None = None):
    """An executor by name: None, "threads", "processes", "local:4" (a Dask cluster of this machine) or an address.

    None takes threads for kernels and processes for algorithms in plain Python.
    """
    kind, what = place(scheduler, workers, kernels=kernels, tls=tls)
    return kind(*what)


def place(scheduler, workers, *, kernels=True, tls=None, limited=False):
    """The class of an executor and its arguments; a name that means nothing is refused before anything is written.

    `limited` says that the user limits the time of a unit, which no thread keeps to.
    """
    if scheduler is None:
        scheduler = "threads" if kernels and not limited else "processes"
    if scheduler == "threads" and limited:
        raise ExecutorError(
            "--unit-timeout has no effect on threads, which cannot be ended; take --scheduler processes"
        )
    count = available_cores() if workers is None else check_whole("workers", workers, 1)
    if tls is not None and not str(scheduler).startswith("tls://"):
        raise ExecutorError(f"--tls-ca, --tls-cert and --tls-key are for a tls://host:port, not for {scheduler!r}")
    if scheduler in ("threads", "processes"):
        return (Threads if scheduler == "threads" else Processes), (count,)
    name, _, number = str(scheduler).partition(":")
    if name == "local":
        number = number or str(count)
        if not re.fullmatch("[0-9]{1,4}", number) or int(number) < 1:
            raise ExecutorError(f"--scheduler {scheduler}: write local:N with N workers, 1 or more (9999 at most)")
        return Dask, (None, int(number))
    found = ADDRESS.fullmatch(str(scheduler))
    if found is None or not 0 < int(found[3]) < 2**16:
        raise ExecutorError(
            f"--scheduler {scheduler!r} is none of threads, processes, local:N or an address such as tcp://host:8786 "
            "or tls://host:8786"
        )
    return Dask, (scheduler, None, tls)


def tls_files(ca, cert, key) -> Tls | None:
    """What --tls-ca, --tls-cert and --tls-key name, all of them or none."""
    files = Tls(*(None if file is None else str(file) for file in (ca, cert, key)))
    if files == (None, None, None):
        return None
    for name, file in zip(("ca", "cert", "key"), files, strict=True):
        if file is None:
            raise ExecutorError(f"--tls-{name} is missing; --tls-ca, --tls-cert and --tls-key belong together")
        if not Path(file).is_file():
            raise ExecutorError(f"--tls-{name} {file} is no file; it must be one in PEM format")
    return files
