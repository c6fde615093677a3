"""Where units run: threads or processes of this machine, or a Dask cluster, behind one interface.

An executor has `slots` (how many units run at once), `where` (a few words) and `submit(function, *arguments)`, which
returns a future of concurrent.futures.  `function` must come from a module, and takes a keyword `stop`: an object
whose `is_set()` says that nobody waits for the result any more.
"""

from __future__ import annotations

import multiprocessing
import signal
import threading
import time
from concurrent.futures import ProcessPoolExecutor, ThreadPoolExecutor
from concurrent.futures.process import BrokenProcessPool
from contextlib import contextmanager

from .engine import available_cores, whole

PATIENCE = 60.0  # seconds for which a cluster may be without workers


class ExecutorError(RuntimeError):
    """There is no place to run; the message says why."""


class ExecutorLost(ExecutorError):
    """The place is gone in the middle of the work."""


class Threads:
    """For kernels: they release the interpreter's lock."""

    where = "threads"

    def __init__(self, workers: int):
        self.slots = workers
        self.stop = threading.Event()
        self.pool = ThreadPoolExecutor(workers)

    def submit(self, function, *arguments):
        return self.pool.submit(function, *arguments, stop=self.stop)

    def close(self):
        self.stop.set()
        self.pool.shutdown(cancel_futures=True)


class Processes:
    """For algorithms in plain Python.  A pool that lost a process is replaced by a new one."""

    where = "processes"

    def __init__(self, workers: int):
        self.slots = workers
        self.context = multiprocessing.get_context("spawn")  # a fork would inherit the threads' locks
        self.stop = self.context.Event()
        self.pool = self._pool()

    def _pool(self):
        return ProcessPoolExecutor(self.slots, self.context, _enter_process, (self.stop,))

    def submit(self, function, *arguments):
        try:
            return self.pool.submit(_in_process, function, *arguments)
        except BrokenProcessPool:
            self.pool.shutdown(wait=False)
            self.pool = self._pool()
            return self.pool.submit(_in_process, function, *arguments)

    def close(self):
        self.stop.set()
        self.pool.shutdown(cancel_futures=True)


_stop = None  # of the process that runs units


def _enter_process(stop):
    global _stop
    _stop = stop
    signal.signal(signal.SIGINT, signal.SIG_IGN)  # Ctrl-C reaches the whole group; the parent decides


def _in_process(function, *arguments):
    return function(*arguments, stop=_stop)


class Dask:
    """A Dask cluster.  Its scheduler notices a worker that dies and runs its units elsewhere."""

    def __init__(self, address: str | None, workers: int | None = None):
        try:
            import distributed
        except ImportError:
            raise ExecutorError("a Dask cluster needs the extra 'cluster': pip install 'ratecheck[cluster]'") from None
        self.cluster = None
        try:
            if address is None:
                self.cluster = distributed.LocalCluster(
                    n_workers=workers, threads_per_worker=1, host="127.0.0.1", dashboard_address="127.0.0.1:0"
                )
                address = self.cluster
            self.client = distributed.Client(address, timeout=10, set_as_default=False)
        except (OSError, ValueError) as error:
            raise ExecutorError(f"there is no Dask scheduler at {address} ({error})") from None
        self.where = f"Dask, {'local' if self.cluster else address}"
        self.pool = self.client.get_executor(pure=False)
        self.last_seen = time.monotonic()

    @property
    def slots(self) -> int:
        with self._connected():
            threads = sum(self.client.nthreads().values())
        if threads:
            self.last_seen = time.monotonic()
        elif time.monotonic() - self.last_seen > PATIENCE:
            raise ExecutorLost(
                f"the cluster ({self.where}) has had no worker for {PATIENCE:.0f} s; finished units are kept, and the "
                "same command goes on from there"
            )
        return max(1, threads)

    def submit(self, function, *arguments):
        with self._connected():
            return self.pool.submit(function, *arguments)

    @contextmanager
    def _connected(self):
        try:
            yield
        except (OSError, RuntimeError) as error:
            raise ExecutorLost(
                f"lost the scheduler ({self.where}: {error}); finished units are kept, and the same command goes on "
                "from there"
            ) from error

    def close(self):
        self.pool.shutdown(wait=False)  # cancels what has not finished
        self.client.close()
        if self.cluster:
            self.cluster.close()


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
