"""Threads and processes of this machine: a thread per slot takes units from a queue, and runs them or has them run.

The threads are daemons: a plug-in that hangs in one of them keeps nobody from leaving.
"""

import atexit
import multiprocessing
import os
import pickle
import signal
import threading
import time
from concurrent.futures import Future
from contextlib import suppress
from multiprocessing import resource_tracker, spawn
from multiprocessing.connection import wait
from multiprocessing.context import SpawnProcess
from multiprocessing.reduction import ForkingPickler
from queue import Empty, SimpleQueue

from .errors import UnitTimeout, WorkerDied, sent
from .worker import STARTED, serve

GRACE = 0.5  # seconds between asking a process to end and making it
STARTUP = 60.0  # seconds for a process to import what it needs
LAST = 1.0  # seconds for which close() waits for threads


def completed(pool, next_task, patience=lambda: None):
    """(name, future) of every task as it ends, and None whenever `patience()` seconds pass without one.

    `next_task(under_way)` is asked as long as it gives a name, a function, its arguments and a limit in seconds; None:
    nothing more for now.  It is over when nothing is under way.
    """
    under_way, ended = {}, SimpleQueue()
    while True:
        while task := next_task(len(under_way)):
            name, function, arguments, limit = task
            future = pool.submit(function, *arguments, limit=limit)
            under_way[future] = name
            future.add_done_callback(ended.put)
        if not under_way:
            return
        try:
            future = ended.get(timeout=patience())
        except Empty:
            yield None
        else:
            yield under_way.pop(future), future


class _Slots:
    isolated = True

    def __init__(self, workers: int):
        self.slots = workers
        self.stop = threading.Event()
        self.queue = SimpleQueue()
        self.threads = []

    def submit(self, function, *arguments, limit=None):
        future = Future()
        self.queue.put((future, self._task(function, arguments), limit))
        if len(self.threads) < self.slots:
            self.threads.append(threading.Thread(target=self._serve, name=f"unit of {self.where}", daemon=True))
            self.threads[-1].start()
        return future

    def _serve(self):
        while (job := self.queue.get()) is not None and not self.stop.is_set():
            future, task, limit = job
            if not future.set_running_or_notify_cancel():
                continue
            try:
                result = self._run(task, limit)
            except BaseException as error:
                future.set_exception(error)
            else:
                future.set_result(result)
            job = future = task = limit = result = None  # nothing is held while the slot waits

    def cancel(self):
        with suppress(Empty):
            while True:
                self.queue.get_nowait()[0].cancel()

    def close(self):
        self.stop.set()
        for _ in self.threads:
            self.queue.put(None)
        self._end()
        deadline = time.monotonic() + LAST
        for thread in self.threads:
            thread.join(max(0.0, deadline - time.monotonic()))

    def _end(self):
        """End what still runs."""

    def check(self):
        """It cannot be lost."""

    def expect(self, thing):
        """Nothing has to be sent."""


class Threads(_Slots):
    """For kernels: they release the interpreter's lock, and look at `stop` between two slices."""

    where = "threads"

    def _task(self, function, arguments):
        return function, arguments

    def _run(self, task, limit):
        function, arguments = task  # a thread cannot be ended: there is no limit
        return function(*arguments, stop=self.stop)


class Processes(_Slots):
    """For algorithms in plain Python: each slot has a process, and gets another one when it is lost."""

    where = "processes"

    def __init__(self, workers: int):
        super().__init__(workers)
        self.context = multiprocessing.get_context("spawn")  # a fork would inherit the threads' locks
        self.lock = threading.Lock()
        self.alive = set()
        self.own = threading.local()  # the process of a slot's thread
        atexit.register(self.close)  # the interpreter would wait for processes that wait for it

    def expect(self, thing):
        sent(thing, ForkingPickler.dumps)

    def _task(self, function, arguments):
        return bytes(ForkingPickler.dumps((function, arguments)))

    def _serve(self):
        shield()
        super()._serve()

    def _run(self, task, limit):
        worker = getattr(self.own, "worker", None) or self._hire()
        try:
            return worker.run(task, limit)
        except (WorkerDied, UnitTimeout):
            self._dismiss(worker)
            raise

    def _hire(self):
        # The thread of a slot starts its process itself: to the kernel of Linux it is the parent, and it stays.
        worker = _Worker(self.context)
        with self.lock:
            self.alive.add(worker)
            late = self.stop.is_set()
        if late:
            self._dismiss(worker)
            raise WorkerDied("the study has ended")
        self.own.worker = worker
        return worker

    def _dismiss(self, worker):
        self.own.worker = None
        with self.lock:
            self.alive.discard(worker)
        worker.kill()

    def _end(self):
        atexit.unregister(self.close)
        with self.lock:
            workers, self.alive = self.alive, set()
        for worker in workers:
            worker.signal("SIGTERM")
        deadline = time.monotonic() + GRACE
        while any(worker.process.is_alive() for worker in workers) and time.monotonic() < deadline:
            time.sleep(GRACE / 50)
        for worker in workers:
            worker.kill()


def shield():
    """From here on, processes and threads that this thread starts hear of no Ctrl-C and no hang-up.

    They are for the main process, which ends the others.  A mask holds from the first moment of a process on, while it
    still imports; the tracker of multiprocessing too would die of a hang-up, and complain.
    """
    with suppress(AttributeError):  # where there are no masks
        signal.pthread_sigmask(signal.SIG_BLOCK, {signal.SIGINT, signal.SIGHUP})
        resource_tracker.ensure_running()  # to start it lifts the mask
        signal.pthread_sigmask(signal.SIG_BLOCK, {signal.SIGINT, signal.SIGHUP})


class _Apart(SpawnProcess):
    """A process that does not run its parent's script again.

    It would do so to find what is defined there, but we send such things by value; and a script that does not ask
    whether it is __main__ would start processes without end.
    """

    _launching = threading.Lock()

    @classmethod
    def _Popen(cls, process):
        def without_script(name):
            return {key: value for key, value in prepared(name).items() if not key.startswith("init_main")}

        with cls._launching:
            prepared = spawn.get_preparation_data
            spawn.get_preparation_data = without_script
            try:
                return SpawnProcess._Popen(process)
            finally:
                spawn.get_preparation_data = prepared


class _Worker:
    """A process and the pipe to it."""

    def __init__(self, context):
        self.connection, theirs = context.Pipe()
        self.process = _Apart(target=serve, args=(theirs, os.getpid()), name="ratecheck unit")
        self.process.start()
        theirs.close()

    def run(self, task: bytes, limit: float | None):
        try:
            self.connection.send_bytes(task)
            answer = self._receive(limit and limit + STARTUP)
            if answer == STARTED:
                answer = self._receive(limit)
        except (EOFError, OSError):
            raise WorkerDied(self._fate()) from None
        fine, found = pickle.loads(answer)
        if fine:
            return found
        raise found

    def _receive(self, limit) -> bytes:
        ready = wait([self.connection, self.process.sentinel], limit)
        if not ready:
            raise UnitTimeout(limit)
        if self.connection in ready:
            return self.connection.recv_bytes()
        raise EOFError

    def _fate(self) -> str:
        self.process.join(GRACE)
        code = self.process.exitcode
        if code is None:
            return "its process closed the pipe through which it was to answer"
        if code < 0:
            return f"its process was ended by signal {-code}"
        return f"its process ended with exit code {code} before it answered"

    def signal(self, name):
        """Send a signal to the process and what it has started."""
        number = getattr(signal, name, signal.SIGTERM)
        with suppress(OSError, AttributeError):
            os.killpg(self.process.pid, number)
        if self.process.is_alive():
            with suppress(OSError):  # it has no group of its own yet, or no more
                os.kill(self.process.pid, number)

    def kill(self):
        self.signal("SIGKILL")
        with suppress(OSError):  # the thread of its slot may be at it too
            self.process.join(LAST)
            self.connection.close()
