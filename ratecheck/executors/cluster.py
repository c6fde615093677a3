"""A Dask cluster as a place to run units."""

from __future__ import annotations

import time
from contextlib import contextmanager

from .errors import ExecutorError, ExecutorLost

PATIENCE = 60.0  # seconds for which a cluster may be without workers


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

    isolated = False

    def submit(self, function, *arguments, limit=None):
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
