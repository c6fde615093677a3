"""How far a study is: a bar on a terminal, plain lines in a log."""

from __future__ import annotations

import shutil
import sys
import time
from contextlib import suppress

from ..markdown import one_line

LINE_EVERY = 10.0  # seconds between lines in a log
PATIENCE = 0.5  # seconds between two looks


def speak(sentence, stream=None):
    """Say something on the way.  That nobody listens any more is no reason to stop working."""
    with suppress(OSError, ValueError, AttributeError):  # a closed pipe, a closed stream, no stream at all
        print(one_line(str(sentence)), file=stream or sys.stderr, flush=True)


class Progress:
    """Counts units and steps; time left follows from the estimated weights of the units."""

    patience = PATIENCE

    def __init__(self, units, stream=None):
        self.stream = stream or sys.stderr
        self.total, self.weight = len(units), sum(u.seconds for u in units)
        self.done = self.steps = self.lost = 0
        self.passed = 0.0
        self.start = self.spoke = time.monotonic()
        self.bar = None
        if self.total and self.stream is not None and self.stream.isatty():
            from tqdm import tqdm

            size = shutil.get_terminal_size()  # tqdm draws nothing where a terminal does not say its size
            shape = "{percentage:3.0f}% |{bar:20}| {desc}"
            self.bar = tqdm(
                total=100, file=self.stream, bar_format=shape, leave=False, ncols=size.columns, nrows=size.lines
            )

    def expect(self, units):
        """More of them than were known at first."""
        self.total += len(units)
        self.weight += sum(unit.seconds for unit in units)

    def add(self, unit):
        self.done += 1
        self.steps += unit.steps
        self.passed += unit.seconds

    def give_up(self, unit, sentence):
        self.lost += 1
        self.passed += unit.seconds
        self.say(sentence)

    def say(self, sentence):
        if self.bar is not None:
            self.bar.clear()
        speak(sentence, self.stream)

    def __str__(self):
        elapsed = time.monotonic() - self.start
        share = self.passed / self.weight if self.weight else 1.0
        left = f", {clock(elapsed * (1 - share) / share)} left" if share > 0.02 else ""
        lost = f", {self.lost} given up" if self.lost else ""
        speed = f"{self.steps / max(elapsed, 1e-9) / 1e6:.1f} million steps/s"
        return f"{self.done} of {self.total} units{lost}, {speed}{left}"

    def show(self):
        if self.bar is not None:
            self.bar.n = 100 * self.passed / self.weight if self.weight else 100
            self.bar.set_description_str(str(self), refresh=True)
        elif self.total and time.monotonic() - self.spoke > LINE_EVERY:
            self.spoke = time.monotonic()
            speak(self, self.stream)

    def close(self):
        if self.bar is not None:
            self.bar.close()
        if self.total:
            elapsed = time.monotonic() - self.start
            speak(f"{self.done} of {self.total} units in {clock(elapsed)}", self.stream)


def clock(seconds: float) -> str:
    seconds = round(seconds)
    minutes, seconds = divmod(seconds, 60)
    hours, minutes = divmod(minutes, 60)
    return f"{hours}:{minutes:02}:{seconds:02}" if hours else f"{minutes}:{seconds:02}"
