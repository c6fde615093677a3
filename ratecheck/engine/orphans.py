"""How a worker process ends with the one that started it, even where that was killed and could say nothing.

This is imported first of all in a worker, so it imports little.
"""

from __future__ import annotations

import os
import signal
import sys
import threading
import time

PR_SET_PDEATHSIG = 1
LOOK_EVERY = 0.5  # seconds


def die_with_parent(parent: int):
    """End this process when `parent`, which started it, ends.

    The kernel of Linux sees to it (also where a plug-in never lets go of the interpreter's lock), elsewhere a thread
    that looks who the parent is: an orphan gets another one.
    """
    if not (sys.platform.startswith("linux") and _asked_the_kernel()) and hasattr(os, "getppid"):
        threading.Thread(target=_watch, args=(parent,), name="watches the parent", daemon=True).start()
    if os.getppid() != parent:  # it died before we asked
        os._exit(1)


def _asked_the_kernel() -> bool:
    try:
        import ctypes

        return ctypes.CDLL(None, use_errno=True).prctl(PR_SET_PDEATHSIG, signal.SIGKILL, 0, 0, 0) == 0
    except (ImportError, OSError, AttributeError):
        return False


def _watch(parent):
    while os.getppid() == parent:
        time.sleep(LOOK_EVERY)
    os._exit(1)
