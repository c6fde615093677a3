"""A Dask cluster as a place to run units: of this machine for this user alone, or at an address."""

import asyncio
import atexit
import os
import signal
import tempfile
import threading
import time
from concurrent.futures import Future
from contextlib import ExitStack, suppress

from ..engine.errors import ExecutorError, ExecutorLost, sent
from ..engine.pool import shield
from .units import Quiet, run_unit

PATIENCE = 60.0  # seconds: a cluster without workers, and a scheduler that says nothing, are given up
STALLED = 50.0  # seconds after which a worker without a sign of life is let go; noticed within a minute
GONE = 5.0  # seconds for which a scheduler may refuse to talk
LOOK_EVERY = 1.0
CONNECT = 10.0
RESTART = 120.0  # seconds for a worker that takes another's place; Dask's 15 are too few on a busy machine
START = 120.0  # seconds for workers of this machine, and one for each
LAST = 1.2  # seconds for which close() waits
FAILURES = 1  # a unit that ended that many workers of ours and one more has failed
KEPT = "finished units are kept, and the same command goes on from there"


class Dask:
    """A Dask cluster; at a tls:// address with the certificates that Dask's own configuration names.

    Its scheduler runs the units of a worker that dies elsewhere.  That a worker stalls, or the scheduler, we notice.
    """

    isolated = False

    def __init__(self, address: str | None, workers: int | None = None):
        try:
            import dask
            import distributed
            from distributed.protocol.pickle import dumps
        except ImportError:
            raise ExecutorError("a Dask cluster needs the extra 'cluster': pip install 'ratecheck[cluster]'") from None
        self.packed = dumps  # we pack and unpack units ourselves: what cannot be loaded is known from what fails
        self.cluster = self.client = None
        self.afterwards = ExitStack()
        self.where = f"Dask, {address or 'local'}"
        self.closed = False
        self.quiet = Quiet()
        self.threads, self.seen = 0, {}
        try:
            if address is None:
                inside = tempfile.TemporaryDirectory(prefix="ratecheck-", ignore_cleanup_errors=True)
                folder = self.afterwards.enter_context(inside)
                patient = {"distributed.deploy.lost-worker-timeout": f"{RESTART:.0f}s"}  # looked up for each lost one
                self.afterwards.enter_context(dask.config.set(patient))
                self.cluster = _sheltered(lambda: local_cluster(workers, folder), START + workers)
            target = self.cluster or address
            how = {"timeout": CONNECT, "set_as_default": False}
            self.client = _sheltered(lambda: distributed.Client(target, **how), 2 * CONNECT)
            self.pool = self.client.get_executor(pure=False)
            self.answered = self.refused = self.populated = time.monotonic()
            self.client.loop.add_callback(self._look)
            self.check()
        except Exception as error:  # what is no scheduler may make Dask raise anything, a MemoryError among them
            self.close()
            raise ExecutorError(f"there is no Dask scheduler at {address or 'local'} ({error})") from None
        except BaseException:
            self.close()
            raise

    @property
    def slots(self) -> int:
        """How many threads the workers have, as the scheduler said a moment ago."""
        self._check()
        if time.monotonic() - self.populated > PATIENCE:
            raise ExecutorLost(f"the cluster ({self.where}) has had no worker for {PATIENCE:.0f} s; {KEPT}")
        return max(1, self.threads)

    def submit(self, function, *arguments, limit=None):
        try:
            return self.pool.submit(run_unit, self.packed((function, arguments)), limit=limit)
        except (OSError, RuntimeError) as error:
            raise ExecutorLost(f"lost the scheduler ({self.where}: {error}); {KEPT}") from error

    def expect(self, thing):
        sent(thing, self.packed)

    def check(self):
        """Return once the scheduler answers, or raise."""
        asked = time.monotonic()
        while self.answered < asked:
            self._check()
            time.sleep(LOOK_EVERY / 4)

    def _check(self):
        silent = time.monotonic() - self.answered
        if silent > PATIENCE or (self.refused > self.answered and silent > GONE):
            raise ExecutorLost(f"lost the scheduler ({self.where}: no answer for {silent:.0f} s); {KEPT}")

    # Signs of life, looked for in the client's own thread

    async def _look(self):
        while not self.closed:
            try:
                found = await asyncio.wait_for(self.client.scheduler.identity(), PATIENCE)
                self.threads = sum(worker["nthreads"] for worker in found["workers"].values())
                self.answered = time.monotonic()
                await self._note(found["workers"])
            except asyncio.CancelledError:
                return
            except Exception:  # whatever it is, it is no answer
                self.refused = time.monotonic()
            await asyncio.sleep(LOOK_EVERY)

    async def _note(self, workers):
        now = time.monotonic()
        if self.threads:
            self.populated = now
        beats = {address: worker["last_seen"] for address, worker in workers.items()}
        before, self.seen = self.seen, {}
        for address, beat in beats.items():
            last, since = before.get(address, (None, now))
            self.seen[address] = (beat, now if beat != last else since)
            if now - self.seen[address][1] > STALLED:
                del self.seen[address]
                await self._let_go(address)

    async def _let_go(self, address):
        """Have the scheduler forget a worker, so that its units go elsewhere; one of ours is ended and replaced."""
        for nanny in self.cluster.workers.values() if self.cluster else ():
            if nanny.worker_address == address:
                _kill(nanny.pid)
        why = f"ratecheck-stalled-{time.time()}"
        await asyncio.wait_for(self.client.scheduler.unregister(address=address, stimulus_id=why), GONE)

    # The end

    def close(self):
        """Within two seconds, whatever the others do."""
        self.closed = True
        if self.cluster:
            self.cluster.shutdown_on_close = False  # or Dask waits for it again when the process ends, for ten seconds
        leaving = threading.Thread(target=self._leave, name="leaves the cluster", daemon=True)
        leaving.start()
        leaving.join(LAST)
        if not leaving.is_alive():
            self.quiet.end()

    def _leave(self):
        if self.cluster:
            for nanny in list(self.cluster.workers.values()):
                with suppress(Exception):
                    nanny.close_gracefully()  # it starts no other
                    _kill(nanny.pid)
        for part in (self.client, self.cluster):
            if part is not None:
                with suppress(Exception):
                    part.close(timeout=LAST)
        self.afterwards.close()


def local_cluster(workers: int, folder: str):
    """Workers of this machine that talk by TLS, with a key that exists in their memory alone, and serve no pages."""
    import dask
    import distributed

    try:
        security = distributed.Security.temporary()
    except ImportError:
        raise ExecutorError(
            "local:N needs the extra 'cluster' (cryptography): pip install 'ratecheck[cluster]'"
        ) from None
    with dask.config.set({"distributed.scheduler.http.routes": []}):
        cluster = distributed.LocalCluster(
            n_workers=workers,
            threads_per_worker=1,
            host="127.0.0.1",
            protocol="tls://",
            security=security,
            dashboard_address=None,
            local_directory=folder,
            preload=["ratecheck.executors.units"],
            config={"distributed.worker.http.routes": []},
            scheduler_kwargs={"dashboard_address": "127.0.0.1:0", "allowed_failures": FAILURES},
        )
    cluster.loop.add_callback(cluster.scheduler.http_server.stop)
    return cluster


def _sheltered(make, most):
    """Call it in a thread whose signals are blocked, so that what it starts hears none from the terminal.

    After `most` seconds, or when this is interrupted, it is left behind: a scheduler that stalls keeps a new client
    waiting for ever.  What still comes of it is closed.
    """
    outcome, left = Future(), threading.Event()

    def call():
        shield()
        try:
            made = make()
        except BaseException as error:
            outcome.set_exception(error)
            return
        outcome.set_result(made)
        if left.is_set():
            made.close(timeout=LAST)

    threading.Thread(target=call, name="starts a cluster", daemon=True).start()
    try:
        return outcome.result(most)
    except BaseException as error:
        if outcome.done():
            raise
        left.set()
        from distributed.deploy import spec

        atexit.unregister(spec.close_clusters)  # it would wait for half a cluster, whose processes end with this one
        if not isinstance(error, TimeoutError):
            raise
        raise ExecutorError(f"Dask did not answer within {most:.0f} s; look whether its scheduler works") from None


def _kill(pid):
    with suppress(OSError, TypeError):
        os.kill(pid, getattr(signal, "SIGKILL", signal.SIGTERM))
