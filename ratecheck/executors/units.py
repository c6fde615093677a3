"""How a unit runs on a Dask worker: in a thread that can be left behind when it hangs."""

from __future__ import annotations

import asyncio
import os
import signal
import threading
import time
from concurrent.futures import Future, TimeoutError
from contextlib import suppress

from ..engine.errors import UnitTimeout
from ..engine.worker import loaded, sendable

FAREWELL = 0.5  # seconds in which the scheduler learns of it


def run_unit(task: bytes, limit=None):
    """The result of a packed unit, or UnitTimeout.

    Then this process, which still has the unit in a thread of it, ends soon after, and its nanny starts another.  It
    begins nothing else and takes its leave of the scheduler, which would otherwise blame what waits here for its end.
    """
    outcome = Future()

    def call():
        try:
            function, arguments = loaded(task)
            outcome.set_result(sendable(function(*arguments, stop=None)))
        except BaseException as error:
            outcome.set_exception(error)

    threading.Thread(target=call, name="unit", daemon=True).start()
    try:
        return outcome.result(limit)
    except TimeoutError:
        if outcome.done():  # its own
            raise
        _leave()
        raise UnitTimeout(limit) from None


def _leave():
    from distributed import get_worker

    end = threading.Timer(3 * FAREWELL, _end)
    end.daemon = True
    end.start()  # whatever the scheduler does
    worker = get_worker()
    worker.loop.add_callback(_take_leave, worker)


async def _take_leave(worker):
    from distributed.core import Status

    worker.status = Status.closing_gracefully
    await asyncio.sleep(FAREWELL)
    with suppress(Exception):
        asked = worker.scheduler.retire_workers(
            workers=[worker.address], close_workers=False, remove=True, stimulus_id=f"ratecheck-hangs-{time.time()}"
        )
        await asyncio.wait_for(asked, FAREWELL)
    _end()


def _end():
    os.kill(os.getpid(), getattr(signal, "SIGKILL", signal.SIGTERM))
