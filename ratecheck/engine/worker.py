"""What a process does that runs units: it receives them through a pipe, sends back what they came to, and ends with
the one that started it, even where that was killed and could say nothing."""

import os
import pickle
import signal
import sys
import threading
import time
from contextlib import suppress
from multiprocessing.reduction import ForkingPickler

from .errors import NotLoaded

STARTED = b"started"
PR_SET_PDEATHSIG = 1
LOOK_EVERY = 0.5  # seconds


def serve(connection, parent: int):
    die_with_parent(parent)
    with suppress(AttributeError, OSError):
        os.setpgid(0, 0)  # whatever a plug-in starts can be ended with it
    signal.signal(signal.SIGINT, signal.SIG_IGN)  # Ctrl-C reaches the whole terminal; the parent decides
    try:
        while True:
            _work(connection, connection.recv_bytes())
    except (EOFError, OSError):
        return


def _work(connection, task: bytes):
    try:
        function, arguments = loaded(task)
        connection.send_bytes(STARTED)
        answer = (True, sendable(function(*arguments, stop=None)))
    except BaseException as error:
        answer = (False, error)
    connection.send_bytes(_packed(answer))


def loaded(task: bytes):
    try:
        return pickle.loads(task)
    except Exception as error:
        raise NotLoaded(
            f"another process cannot load it ({type(error).__name__}: {error}); what it is made of must be in a module "
            "that can be imported there"
        ) from None


def sendable(result):
    """A result that can be packed and loaded again, or NotLoaded."""
    try:
        pickle.loads(pickle.dumps(result))
    except Exception as error:
        raise NotLoaded(f"what it returned cannot be sent back ({type(error).__name__}: {error})") from None
    return result


def _packed(answer) -> bytes:
    """An answer as bytes that can be read again; an exception of a plug-in may not be."""
    try:
        packed = bytes(ForkingPickler.dumps(answer))
        pickle.loads(packed)
    except Exception:
        _, error = answer
        packed = pickle.dumps((False, RuntimeError(f"{type(error).__name__}: {error}")))
    return packed


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
