"""The horizons of a case: from a grid, and from what theory expects of them."""

from __future__ import annotations

import math
from dataclasses import dataclass
from numbers import Real

from ..arguments import MOST_HORIZONS, check_horizons, shown


def check_first(horizon):
    if horizon < 3:
        raise ValueError(f"the first horizon, {horizon}, must be 3 or larger, so that ln ln T is positive")


@dataclass(frozen=True)
class Grid:
    """Which horizons: from `first` to `last`, and further where theory asks for it.

    Neighbours differ by a factor of `ratio`; None takes the largest factor up to 2 of which the algorithms' period
    holds a whole number, four at least.  With `periods`, an algorithm whose regret is log-periodic runs on until its
    window holds that many periods beyond the onset, but not beyond `cap`, and not at all where two of them end beyond
    it.
    """

    first: int = 2**10
    last: int = 2**20
    ratio: float | None = None
    periods: float | None = 2.5
    cap: int = 2**25

    def __post_init__(self):
        check_horizons([self.first, self.last])
        check_first(self.first)
        if self.ratio is not None and not (isinstance(self.ratio, Real) and 1 < self.ratio < math.inf):
            raise ValueError(f"the ratio of neighbouring horizons, {shown(self.ratio)}, must exceed 1")
        if self.periods is not None and not (isinstance(self.periods, Real) and 0 < self.periods < math.inf):
            raise ValueError(f"periods = {shown(self.periods)} must be positive, or None")
        check_horizons([self.cap])


def ends_of(horizons: Grid | tuple[int, ...]) -> tuple[int, int]:
    """The first and the last horizon that were asked for."""
    return (horizons.first, horizons.last) if isinstance(horizons, Grid) else (horizons[0], horizons[-1])


def horizons_of(grid, scale: float, onset: float, period: float | None) -> tuple[int, ...]:
    """The horizons of a case.

    An algorithm without a period takes every n-th horizon of the others, so that neighbours differ by a factor of
    sqrt(2) at least: its runs may be paid for horizon by horizon.
    """
    if not isinstance(grid, Grid):
        return grid
    ratio, last, octaves = grid.ratio, grid.last, math.log2(scale)
    if ratio is None:
        ratio = 2.0 ** (octaves / max(4, math.ceil(octaves - 1e-9)))
        if period is None:
            ratio **= math.ceil(0.5 / math.log2(ratio) - 1e-9)
    if grid.periods is not None:
        start = max(grid.first, onset)
        if period is None:  # two periods of the others, so that slopes can be compared, unless that is far
            needed = min(grid.first * 4.0**octaves, 4 * grid.last)
        elif start * period**2 / ratio > grid.cap:  # two periods are out of reach: not worth the wait
            needed = last
        else:
            needed = start * period**grid.periods
        last = max(last, min(grid.cap, math.ceil(needed)))
    count = math.floor(math.log(last / grid.first) / math.log(ratio) + 1e-6)
    if count >= MOST_HORIZONS:
        raise ValueError(
            f"a ratio of {ratio:.12g} from {grid.first} to {last} makes more than {MOST_HORIZONS:,} horizons; take a "
            "larger ratio"
        )
    return tuple(sorted({round(grid.first * ratio**j) for j in range(count + 1)}))


def window_of(horizons, onset) -> tuple[float, float]:
    """From the onset, or the first horizon if that is later; all horizons where less than three lie beyond it."""
    latest = horizons[max(0, len(horizons) - 3)]
    first = min((h for h in horizons if h >= onset), default=horizons[-1])
    return (first if first <= latest else horizons[0], horizons[-1])
