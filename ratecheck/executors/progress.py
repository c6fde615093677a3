"""How far a study is: a bar on a terminal, plain lines in a log."""

import shutil
import sys
import time
from contextlib import suppress

from ..display import one_line

FIRST_LINE, LINE_EVERY = 1.0, 10.0  # seconds until the first line in a log, and between the others
TRUST = 2.0  # seconds for which an estimate counts as much as what is seen
PATIENCE = 0.5  # seconds between two looks


def speak(sentence, stream=None):
    """Say something on the way.  That nobody listens any more is no reason to stop working."""
    with suppress(OSError, ValueError, AttributeError):  # a closed pipe, a closed stream, no stream at all
        print(one_line(str(sentence)), file=stream or sys.stderr, flush=True)


class Progress:
    """Counts units and steps; time left follows from what units and asides were estimated to take, and then took."""

    patience = PATIENCE

    def __init__(self, units, stream=None, asides=(), slots=1):
        self.stream = stream or sys.stderr
        self.slots = slots
        self.total, self.weight = len(units), sum(unit.seconds for unit in units)
        self.weight += sum(aside.seconds + aside.brings for aside in asides)
        self.done = self.steps = self.lost = 0
        self.passed = 0.0
        self.start = time.monotonic()
        self.spoke = self.start + FIRST_LINE - LINE_EVERY
        self.bar = None
        if self.total and self.stream is not None and self.stream.isatty():
            from tqdm import tqdm

            size = shutil.get_terminal_size()  # tqdm draws nothing where a terminal does not say its size
            shape = "{percentage:3.0f}% |{bar:20}| {desc}"
            room = {"ncols": size.columns, "nrows": size.lines}
            self.bar = tqdm(total=100, file=self.stream, bar_format=shape, leave=False, **room)

    def expect(self, units):
        self.total += len(units)
        self.weight += sum(unit.seconds for unit in units)

    def add(self, unit):
        self.done += 1
        self.steps += unit.steps
        self.passed += unit.seconds

    def set_by(self, aside):
        """Work beside the units is done, or given up; what it brings is known from now on."""
        self.passed += aside.seconds
        self.weight -= aside.brings

    def give_up(self, unit, sentence):
        self.lost += 1
        self.passed += unit.seconds
        self.say(sentence)

    def say(self, sentence):
        if self.bar is not None:
            self.bar.clear()
        speak(sentence, self.stream)

    def __str__(self):
        elapsed = max(time.monotonic() - self.start, 1e-9)
        lost = f", {self.lost} given up" if self.lost else ""
        speed = f", {spelt(self.steps / elapsed)} steps/s" if self.steps else ""
        return f"{self.done} of {self.total} units{lost}{speed}, {clock(self.left(elapsed))} left"

    def left(self, elapsed: float) -> float:
        """Seconds: at first as estimated, soon as the pace so far tells."""
        pace = (elapsed + TRUST) / (self.passed / self.slots + TRUST)
        return max(self.weight - self.passed, 0.0) / self.slots * pace

    def show(self):
        if self.bar is not None:
            self.bar.n = min(100 * self.passed / self.weight, 100) if self.weight else 100
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


def spelt(number: float) -> str:
    for size, word in ((1e6, " million"), (1e3, " thousand")):
        if number >= size:
            return f"{number / size:.3g}{word}" if number < 1000 * size else f"{number / size:.0f}{word}"
    return f"{number:.2g}" if number < 100 else f"{number:.0f}"


def clock(seconds: float) -> str:
    seconds = round(seconds)
    minutes, seconds = divmod(seconds, 60)
    hours, minutes = divmod(minutes, 60)
    return f"{hours}:{minutes:02}:{seconds:02}" if hours else f"{minutes}:{seconds:02}"
