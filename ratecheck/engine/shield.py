"""Which signals of a terminal do not reach what a thread starts."""

from __future__ import annotations

import signal
from contextlib import suppress
from multiprocessing import resource_tracker


def shield():
    """From here on, processes and threads that this thread starts hear of no Ctrl-C and no hang-up.

    They are for the main process, which ends the others.  A mask holds from the first moment of a process on, while it
    still imports; the tracker of multiprocessing too would die of a hang-up, and complain.
    """
    with suppress(AttributeError):  # where there are no masks
        signal.pthread_sigmask(signal.SIG_BLOCK, {signal.SIGINT, signal.SIGHUP})
        resource_tracker.ensure_running()  # to start it lifts the mask
        signal.pthread_sigmask(signal.SIG_BLOCK, {signal.SIGINT, signal.SIGHUP})
