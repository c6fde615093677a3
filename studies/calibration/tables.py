"""Tables from elsewhere: floors, signed means, means with errors, and deterministic series, all with known slopes."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np

import ratecheck as rc
from ratecheck.fit.deterministic import log_series
from ratecheck.fit.floors import log_points
from ratecheck.fit.points import Points
from ratecheck.verdict.rules import decide
from studies.calibration.scenarios import lognormal

SIZES = np.array([2.0**k for k in range(6, 16)])  # N, in place of T
STEPS = np.array([2.0**k for k in range(8)])  # levels of a refinement, from 1 on
SLOPE, OFF = -0.5, 0.15
FLOORS = (0.3, 1.0, 3.0)  # times the last signal
RUNS = (16, 64)
SIGMA = 0.2  # of a run about its mean, in logarithms


@dataclass(frozen=True)
class Table:
    """What a table holds, and how it is read."""

    name: str
    draw: Callable  # (rng, n) -> Points
    slope: float = SLOPE
    floor: object = None

    def fit(self, rng, n) -> rc.Fit:
        data = log_points(self.draw(rng, n), self.floor)
        return rc.Fit(data, problem=data.problem)


def runs(mean, anytime):
    """Runs about a mean, half of whose variance is a run's own at every N if they are anytime."""

    def draw(rng, n):
        own = rng.standard_normal((n, 1)) if anytime else rng.standard_normal((n, len(mean)))
        z = np.sqrt(0.5) * (own + rng.standard_normal((n, len(mean))))
        R = mean * np.exp(SIGMA * z - SIGMA**2 / 2)
        return Points(SIZES, R.mean(axis=0), None, tuple(R.T.copy()), anytime, n)

    return draw


def floored():
    last = SIZES[-1] ** SLOPE
    for anytime in (True, False):
        for times in FLOORS:
            E = times * last
            for how, floor in (("known", E), ("bounded", (0.0, 2 * E)), ("fitted", "fit")):
                seen = "same runs" if anytime else "separate runs"
                name = f"floor of {times:g} times the last signal, {how}, {seen}"
                yield Table(name, runs(E + SIZES**SLOPE, anytime), floor=floor)


def signed(sign):
    """1/T with noise that does not shrink: the last means meet it."""

    def draw(rng, n):
        R = sign / STEPS + 0.06 * rng.standard_normal((n, len(STEPS)))
        return Points(STEPS, R.mean(axis=0), None, tuple(R.T.copy()), False, n)

    return draw


def published(known):
    """Means and standard errors of runs that nobody sees."""

    def draw(rng, n):
        R = SIZES**SLOPE * lognormal(rng, 0.5, (n, len(SIZES)))
        errors = R.std(axis=0, ddof=1) / np.sqrt(n)
        return Points(SIZES, R.mean(axis=0), errors, count=n if known else 0)

    return draw


TABLES = (
    *floored(),
    Table("1/T, positive, meets its noise", signed(1.0), -1.0),
    Table("1/T, negative, meets its noise", signed(-1.0), -1.0),
    Table("means with errors, number of runs given", published(True)),
    Table("means with errors, number of runs not given", published(False)),
)


def table_named(name) -> Table:
    return next(table for table in TABLES if table.name == name)


def tabled(name, n, repeats, seed) -> dict:
    """How often intervals hold the slope, and what verdicts say of it and of a steeper one."""
    table = table_named(name)
    rng = np.random.default_rng([seed, n, 60])
    right, wrong = rc.Rate.of_regret(table.slope), rc.Rate.of_regret(table.slope - OFF)
    held, reach, refused, judged = [], [], 0, []
    for _ in range(repeats):
        try:
            fit = table.fit(rng, n)
        except rc.FitError:
            refused += 1
            continue
        refused += fit.problem != ""
        held.append(fit.low <= table.slope <= fit.high)
        reach.append((fit.high - fit.low) / 2)
        judged.append([decide(fit, claim, words=False).name for claim in (right, wrong)])
    names = np.array(judged, dtype=object).reshape(-1, 2)
    return {
        "table": name,
        "N": n,
        "coverage": float(np.mean(held)) if held else np.nan,
        "half-width": float(np.median(reach)) if reach else np.nan,
        "refused": refused / repeats,
        "REFUTED, right": float(np.sum(names[:, 0] == rc.Outcome.REFUTED)) / repeats,
        "CONSISTENT, right": float(np.sum(names[:, 0] == rc.Outcome.CONSISTENT)) / repeats,
        "CONSISTENT, wrong": float(np.sum(names[:, 1] == rc.Outcome.CONSISTENT)) / repeats,
        "REFUTED, wrong": float(np.sum(names[:, 1] == rc.Outcome.REFUTED)) / repeats,
    }


# Deterministic series


@dataclass(frozen=True)
class Series:
    """h^p (1 + c h^q) on a grid of steps, from 1/10 down; c is drawn, of either sign, and p among usual orders."""

    power: float  # q
    largest: float = 5.0  # of c, which is a hundred times this at least
    scatter: float = 0.0
    digits: int | None = None

    @property
    def name(self) -> str:
        noise = f", scatter {100 * self.scatter:g} %" if self.scatter else ""
        given = f", {self.digits} digits" if self.digits else ""
        return f"correction c h^{self.power:g}, c up to {self.largest:g}{noise}{given}"

    def draw(self, rng, count, ratio):
        T = 10.0 * ratio ** np.arange(count)
        order = float(rng.choice(ORDERS))
        c = self.largest * np.exp(-np.log(50) * rng.random()) * rng.choice([-1, 1])
        c = abs(c) if 1 + c * T[0] ** -self.power < 0.3 else c
        y = T**-order * (1 + c * T**-self.power) * np.exp(self.scatter * rng.standard_normal(count))
        rounding = None
        if self.digits:
            y = np.array([float(f"{v:.{self.digits - 1}e}") for v in y])
            rounding = 0.5 * 10.0 ** (np.floor(np.log10(y)) - self.digits + 1)
        return order, Points(T, y, None, rounding=rounding)


ORDERS = (0.5, 1.0, 1.5, 2.0, 3.0, 4.0)
GRIDS = ((4, 2.0), (5, 2.0), (6, 2.0), (8, 2.0), (8, 1.5))
SERIES = (
    *(Series(power) for power in (0.5, 1.0, 2.0, 3.0)),
    Series(1.0, 0.05, digits=3),
    Series(1.0, 0.05, scatter=0.02),
    Series(1.0, 5.0, scatter=0.02),
)


def series_named(name) -> Series:
    return next(series for series in SERIES if series.name == name)


def serial(name, _, repeats, seed) -> list[dict]:
    """The order of a series on each grid: coverage, and verdicts on it and on orders that are too high."""
    series, rows = series_named(name), []
    for count, ratio in GRIDS:
        rng = np.random.default_rng([seed, count, round(10 * ratio), 70])
        found = []
        for _ in range(repeats):
            order, points = series.draw(rng, count, ratio)
            fit = rc.Fit(log_series(points))
            names = [decide(fit, rc.Rate.of_regret(-order - off), words=False).name for off in (0.0, 0.5, 1.0)]
            found.append((fit.low <= -order <= fit.high, (fit.high - fit.low) / 2, *names))
        held, reach, right, half, one = zip(*found, strict=True)
        rows.append(
            {
                "series": name,
                "points": count,
                "ratio": ratio,
                "coverage": float(np.mean(held)),
                "half-width": float(np.median(reach)),
                "REFUTED, right": right.count(rc.Outcome.REFUTED) / repeats,
                "CONSISTENT, right": right.count(rc.Outcome.CONSISTENT) / repeats,
                "CONSISTENT, 0.5 too high": half.count(rc.Outcome.CONSISTENT) / repeats,
                "REFUTED, 0.5 too high": half.count(rc.Outcome.REFUTED) / repeats,
                "REFUTED, 1 too high": one.count(rc.Outcome.REFUTED) / repeats,
            }
        )
    return rows
