"""How a unit runs on a Dask worker: in a thread that can be left behind when it hangs."""

from __future__ import annotations

import os
import signal
import threading
from concurrent.futures import Future, TimeoutError

from .errors import UnitTimeout
from .worker import loaded, sendable

FAREWELL = 1.0  # seconds in which the scheduler learns of it


def run_unit(task: bytes, limit=None):
    """The result of a packed unit, or UnitTimeout.

    Then this process, which still has the unit in a thread of it, ends soon after; its nanny starts another, and the
    scheduler runs elsewhere what else it was to do.
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
        end = threading.Timer(FAREWELL, os.kill, (os.getpid(), getattr(signal, "SIGKILL", signal.SIGTERM)))
        end.daemon = True
        end.start()
        raise UnitTimeout(limit) from None
