"""What a Dask worker does: a unit runs in a thread that can be left behind when it hangs."""

import asyncio
import logging
import os
import signal
import threading
import time
from concurrent.futures import Future, TimeoutError
from contextlib import suppress

from ..engine.errors import UnitTimeout
from ..engine.worker import die_with_parent, loaded, sendable

FAREWELL = 0.5  # seconds in which the scheduler learns of it
TALKATIVE = ("distributed", "tornado", "asyncio")


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


def dask_setup(worker):
    die_with_parent(os.getppid())
    Quiet()

    def stop_pages():
        """Nobody needs them, and any user of this machine could read them."""
        if getattr(worker, "http_server", None) is not None:
            worker.http_server.stop()

    worker.loop.add_callback(stop_pages)


class Quiet:
    """Dask's loggers say nothing until end(): what is lost is said in a sentence, once, by those who notice it."""

    def __init__(self):
        every = [*TALKATIVE, *list(logging.root.manager.loggerDict)]
        loggers = [logging.getLogger(name) for name in dict.fromkeys(every) if name.split(".")[0] in TALKATIVE]
        self.before = [(logger, logger.level, logger.handlers, logger.propagate) for logger in loggers]
        for logger in loggers:
            logger.setLevel(logging.CRITICAL + 1)
            logger.handlers = [logging.NullHandler()]  # for loggers that are yet to come
            logger.propagate = False

    def end(self):
        for logger, level, handlers, propagate in self.before:
            logger.setLevel(level)
            logger.handlers, logger.propagate = handlers, propagate
        self.before = []
