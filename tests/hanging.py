"""Plug-ins that hang, a study of them, and who is left when it was ended."""

import os
import signal
import subprocess
import sys
import time
from contextlib import suppress
from pathlib import Path

ROOT = Path(__file__).parents[1]
MARK = "RATECHECK_TEST_MARK"  # in the environment of a study's process, and so of all that it starts

STUDY = """
import os
from ratecheck import AskTell
from ratecheck.rates import Rate
from ratecheck.study import Study
from tests.hanging import {name}

study = Study(
    name="hanging", question="?", costs=[("cone", 1)], algorithms=[AskTell({name}, promise=Rate(0.3))],
    horizons=[8, 16, 32, 20000], replicates={replicates}, members=0,
)
"""


class Calm:
    """Asks for the middle."""

    def __init__(self, dim, lower, upper, horizon, rng):
        self.x, self.horizon = (lower + upper) / 2, horizon

    def ask(self):
        return self.x

    def tell(self, x, y):
        pass


def note():
    """Leave a word that a plug-in was reached."""
    if "RATECHECK_TEST_REACHED" in os.environ:
        Path(os.environ["RATECHECK_TEST_REACHED"]).touch()


class Spins(Calm):
    def ask(self):
        note()
        while True:
            pass


class Sleeps(Calm):
    def ask(self):
        note()
        time.sleep(1e9)


class Stubborn(Calm):
    """Wants to hear of no signal, where it may say so."""

    def ask(self):
        for number in (signal.SIGINT, signal.SIGTERM, signal.SIGHUP):
            try:
                signal.signal(number, signal.SIG_IGN)
            except ValueError:  # not the main thread
                signal.pthread_sigmask(signal.SIG_BLOCK, {number})
        note()
        while True:
            with suppress(BaseException):
                time.sleep(1e9)


class HangsAt32(Calm):
    def ask(self):
        if self.horizon == 32:
            Spins.ask(self)
        return self.x


def declare(folder, name, replicates=4):
    """A declared study of a plug-in of this module."""
    folder.mkdir()
    (folder / "study.py").write_text(STUDY.format(name=name, replicates=replicates))
    return folder


class Started:
    """`ratecheck study ... --out tmp_path/out` in a session of its own, with all that it starts."""

    def __init__(self, tmp_path, *arguments, command="study"):
        if command == "study":
            arguments = (*arguments, "--out", tmp_path / "out")
        self.mark, self.reached = f"{os.getpid()}-{time.monotonic_ns()}", tmp_path / "reached"
        paths = os.pathsep.join(filter(None, [str(ROOT), os.environ.get("PYTHONPATH")]))
        extra = {MARK: self.mark, "RATECHECK_TEST_REACHED": str(self.reached), "PYTHONPATH": paths}
        self.said = tmp_path / "said"
        with self.said.open("w") as file:
            self.process = subprocess.Popen(
                [sys.executable, "-m", "ratecheck", command, *map(str, arguments)],
                env=os.environ | extra,
                stdin=subprocess.DEVNULL,
                stdout=file,
                stderr=file,
                start_new_session=True,
            )

    def wait_until_reached(self, most=120.0):
        assert waited(self.reached.exists, most), self.said.read_text()

    def end(self, number) -> float:
        """Send a signal to the whole group, as a terminal does; how long it took to end."""
        start = time.monotonic()
        if number == signal.SIGKILL:
            self.process.kill()
        else:
            os.killpg(self.process.pid, number)
        self.process.wait(60)
        return time.monotonic() - start

    def left(self) -> list[int]:
        """Processes that carry the mark."""
        found = []
        for folder in Path("/proc").glob("[0-9]*"):
            try:
                environment = (folder / "environ").read_bytes()
                alive = (folder / "stat").read_text().rpartition(")")[2].split()[0] != "Z"
            except OSError:
                continue
            if alive and f"{MARK}={self.mark}".encode() in environment:
                found.append(int(folder.name))
        return found

    def sweep(self):
        """Leave nobody behind, whatever a test found."""
        for number in self.left():
            try:
                os.kill(number, signal.SIGKILL)
            except ProcessLookupError:
                continue
        self.process.wait(60)


def waited(condition, most) -> bool:
    deadline = time.monotonic() + most
    while time.monotonic() < deadline:
        if condition():
            return True
        time.sleep(0.05)
    return bool(condition())


def sleeps_or_answers(what, stop=None):
    if what == "sleep":
        time.sleep(1e9)
    return what


def deaf():
    """Whatever is raised here is caught."""
    note()
    while True:
        with suppress(BaseException):
            time.sleep(1e9)
