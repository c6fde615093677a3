"""How long a unit may take before it counts as hanging."""

from __future__ import annotations

import math

LEAST = 60.0  # seconds
GENEROUS = 20  # times what units of its series took
ASIDE = 600.0  # seconds, for an audit or a prediction; they are made of a few
GUESS = 1000  # times an estimate that knows nothing of a plug-in: what a step of it takes may be anything


class Limits:
    """The limit that the user gives; otherwise one from the pace of the finished units of a series, or an estimate."""

    def __init__(self, given: float | None, speeds: dict[str, float]):
        self.given = checked(given)
        self.pace = dict(speeds)  # seconds per step, the slowest that was seen

    def of(self, unit) -> float:
        if self.given is not None:
            return self.given
        pace = self.pace.get(unit.case.series.digest)
        if pace is not None:
            return max(LEAST, GENEROUS * pace * unit.steps)
        return max(LEAST, (GENEROUS if unit.algorithm.compiled else GUESS) * unit.seconds)

    @property
    def of_an_aside(self) -> float:
        return max(ASIDE, self.given or 0.0)

    def learn(self, unit, seconds):
        series = unit.case.series.digest
        self.pace[series] = max(self.pace.get(series, 0.0), seconds / unit.steps)


def checked(seconds):
    if seconds is not None and not (isinstance(seconds, int | float) and 0 < seconds < math.inf):
        raise ValueError(f"unit_timeout = {seconds!r} must be a number of seconds above 0")
    return None if seconds is None else float(seconds)
