"""How what runs code of others ends when it is told to: Ctrl-C, SIGTERM and SIGHUP alike, and within two seconds."""

import os
import signal
import socket
import threading
from contextlib import contextmanager, suppress

ENDINGS = ("SIGINT", "SIGTERM", "SIGHUP")
LAST_RESORT = 1.8  # seconds after which nobody is waited for


class Stopped(KeyboardInterrupt):
    """A signal asks for the end."""

    def __init__(self, number):
        super().__init__(number)
        self.code = exit_code(number)


def exit_code(number) -> int:
    """130 for Ctrl-C, 143 for SIGTERM, 129 for SIGHUP, as shells have it."""
    return 128 + number


def until_stopped(farewell, action, *arguments) -> int:
    """The exit code of an action, or of the signal that ended it; then `farewell` says so."""
    with stoppable(farewell):
        try:
            return action(*arguments)
        except KeyboardInterrupt as stopped:
            farewell()
            return getattr(stopped, "code", exit_code(signal.SIGINT))


@contextmanager
def stoppable(farewell):
    """Within this block the first such signal raises Stopped in the main thread, and later ones change nothing.

    Where the main thread does not come to it (it may be inside a compiled cost, or in a plug-in that catches
    everything), a thread of its own calls `farewell` and ends the process.  What is stored is safe: a unit is stored as
    a whole or not at all, and workers end with their parent.
    """
    numbers = {getattr(signal, name) for name in ENDINGS if hasattr(signal, name)}
    if threading.current_thread() is not threading.main_thread():  # signals are not ours
        yield
        return
    # Who started us may have asked that one be ignored, as nohup does
    before = {number: signal.getsignal(number) for number in numbers if signal.getsignal(number) != signal.SIG_IGN}
    ours, theirs = socket.socketpair()
    theirs.setblocking(False)
    previous = signal.set_wakeup_fd(theirs.fileno(), warn_on_full_buffer=False)
    left = threading.Event()
    threading.Thread(target=_last_resort, args=(ours, set(before), left, farewell), daemon=True).start()

    def stop(number, _):
        for each in before:
            signal.signal(each, _deaf)
        raise Stopped(number)

    try:
        for number in before:
            signal.signal(number, stop)
        yield
    finally:
        left.set()
        for number, handler in before.items():
            if handler is not None:  # one that was not set from Python cannot be set again
                signal.signal(number, handler)
        signal.set_wakeup_fd(previous)
        theirs.close()


def _deaf(number, frame):
    """Once is enough: the end is near."""


def _last_resort(ours, numbers, left, farewell):
    with ours:
        while signs := ours.recv(16):
            heard = [number for number in signs if number in numbers]
            if heard:
                if not left.wait(LAST_RESORT):
                    with suppress(Exception):
                        farewell()
                    os._exit(exit_code(heard[0]))
                return
