"""Mean regrets kept in a small file, and whether later ones differ from them by more than chance.

Two curves are compared at each horizon, in their mean level and in their slope, with the errors of both and Student's t
(Welch); the smallest p-value is multiplied by the number of comparisons, which is right however the horizons depend on
each other.  Runs with common random numbers are taken for independent ones, which errs on the side of silence.
"""

from __future__ import annotations

import json
import math
import os
from dataclasses import asdict, dataclass
from importlib.metadata import version
from pathlib import Path

import numpy as np
from scipy import special

from ..arguments import MOST_REPLICATES, shown
from ..claims import Record
from ..files import write_whole
from ..fit.fit import Estimate, Fit
from ..fit.log_means import LogMeans, log_means
from ..store import records

FORMAT = "ratecheck curve 1"
ROUNDING = 1e-9  # of a log-mean: no difference is smaller
LARGEST = 2**20  # bytes of a file that is read
SAME = ("algorithm", "cost", "noise", "alignment", "anytime")


class PinError(ValueError):
    """A file holds no curve, or none that belongs to this test; the message says why."""


@dataclass(frozen=True)
class Change:
    """How a curve differs from a pinned one."""

    horizons: tuple[int, ...]
    ratios: tuple[float, ...]  # measured / pinned
    significant_at: tuple[int, ...]  # of the horizons
    level: Estimate  # of the logarithm of the ratio
    slope: Estimate
    p_value: float  # of no change at all, adjusted
    allowed: float

    @property
    def identical(self) -> bool:
        return all(ratio == 1.0 for ratio in self.ratios)

    @property
    def significant(self) -> bool:
        return self.p_value < self.allowed

    def __str__(self):
        if self.identical:
            return "identical"
        worst = max(range(len(self.ratios)), key=lambda j: abs(math.log(self.ratios[j])))
        ends = ", ".join(f"{100 * (self.ratios[j] - 1):+.2g} % at T = {self.horizons[j]}" for j in sorted({worst, -1}))
        level = f"{100 * math.expm1(self.level.value):+.2g} % on average, slope {self.slope.value:+.4f}"
        if not self.significant:
            return f"no significant change ({level}; p = {self.p_value:.2g})"
        where = f"significant at {len(self.significant_at)} of {len(self.horizons)} horizons"
        way = "worse" if self.level.value > 0 else "better"
        return f"changed, {way}: {level}, {ends}; {where} (p = {self.p_value:.2g}, allowed {self.allowed:g})"


@dataclass(frozen=True)
class Pin(Record):
    """The logarithms of mean regrets with their covariance, and the names of what they belong to."""

    algorithm: str
    cost: str
    noise: str
    alignment: str
    anytime: bool
    seed: int
    replicates: int
    horizons: tuple[int, ...]
    log_mean: tuple[float, ...]
    covariance: tuple[float, ...]  # its upper triangle, row by row

    @classmethod
    def of(cls, runs) -> Pin:
        data = log_means(runs)
        rows = np.triu_indices(len(data.y))
        return cls(
            algorithm=runs.algorithm.label,
            cost=str(runs.cost) if runs.cost.registered else f"{runs.cost} {runs.cost.fingerprint[:16]}",
            noise=str(runs.shared["noise"]),
            alignment=str(runs.shared["alignment"]),
            anytime=bool(runs.algorithm.anytime),
            seed=int(runs.shared["seed"]),
            replicates=data.replicates,
            horizons=tuple(int(T) for T in data.horizons),
            log_mean=tuple(data.y.tolist()),
            covariance=tuple(float(f"{v:.6g}") for v in data.covariance[rows]),
        )

    @property
    def data(self) -> LogMeans:
        n = len(self.horizons)
        matrix = np.zeros((n, n))
        matrix[np.triu_indices(n)] = self.covariance
        matrix = np.triu(matrix) + np.triu(matrix, 1).T
        T, y = np.array(self.horizons, float), np.array(self.log_mean)
        return LogMeans(T, y, matrix, self.replicates, self.anytime, (), None)

    def change(self, now: Pin, path, allowed: float) -> Change:
        for name in (*SAME, "horizons"):
            mine, other = getattr(self, name), getattr(now, name)
            if mine != other:
                raise PinError(
                    f"{path} has the curve of {name} = {shown(mine)}, and this test has {shown(other)}; write it anew "
                    "(pytest --ratecheck-pin), or give another file"
                )
        a, b = self.data, now.data
        weights = [*np.eye(len(a.y)), np.full(len(a.y), 1 / len(a.y)), Fit(a)._weights(a.x)[1]]
        found = [_difference(w, a, b) for w in weights]
        p = 2 * len(found) * np.array([special.stdtr(e.df, -abs(e.value) / e.se) for e in found])
        return Change(
            horizons=self.horizons,
            ratios=tuple(np.exp(b.y - a.y).tolist()),
            significant_at=tuple(T for T, small in zip(self.horizons, p < allowed, strict=False) if small),
            level=found[-2],
            slope=found[-1],
            p_value=float(min(1.0, p.min())),
            allowed=allowed,
        )


def _difference(weights, a: LogMeans, b: LogMeans) -> Estimate:
    parts = [max(0.0, float(weights @ d.covariance @ weights)) for d in (a, b)]
    variance = sum(parts)
    least = sum(part**2 / (d.replicates - 1) for part, d in zip(parts, (a, b), strict=True))
    df = variance**2 / least if least > 0 else min(a.replicates, b.replicates) - 1
    return Estimate(float(weights @ (b.y - a.y)), max(math.sqrt(variance), ROUNDING), df)


# Files

BESIDE = {"format": records.one_of(FORMAT), "written_with": records.mapping(records.text)}
FIELDS = records.record(
    Pin,
    replicates=records.whole(3, MOST_REPLICATES),
    horizons=records.rising(records.whole(3, 2**53), fewest=3),
    log_mean=records.listed(records.number(-1e6, 1e6)),
    covariance=records.listed(records.number(-1e6, 1e6)),
    **BESIDE,
)


def load_pin(path) -> Pin | None:
    """The curve in a file; None where there is no such file."""
    path = Path(path)
    try:
        with path.open("rb") as file:
            text = file.read(LARGEST + 1)
        if len(text) > LARGEST:
            raise ValueError("it is too large")
        return _curve(json.loads(text))
    except FileNotFoundError:
        return None
    except (OSError, ValueError, TypeError, KeyError, RecursionError) as error:
        why = " ".join(str(error).split())[:200] or type(error).__name__
        raise PinError(
            f"{path} holds no curve of an earlier version ({why}); restore it, or write it anew (pytest "
            "--ratecheck-pin)"
        ) from None


def _curve(found) -> Pin:
    FIELDS(found, "it")
    curve = Pin.from_json({name: value for name, value in found.items() if name not in BESIDE})
    count = len(curve.horizons)
    if len(curve.log_mean) != count or len(curve.covariance) != count * (count + 1) // 2:
        raise ValueError("its lists do not belong together")
    if np.any(np.diag(curve.data.covariance) < 0):
        raise ValueError("it has a negative variance")
    return curve


def check_writable(path, anew: bool):
    """Refuse to pin a curve where nobody would commit it."""
    if not anew and os.environ.get("CI", "").lower() not in ("", "0", "false"):
        raise PinError(
            f"{path} does not exist, and no curve is pinned where the environment sets CI; run the test once "
            "elsewhere and commit the file"
        )


def write_pin(path, curve: Pin) -> Path:
    """Keep a curve; the file is the old one or the new one, whatever happens on the way."""
    path = Path(path)
    path.parent.mkdir(parents=True, exist_ok=True)
    facts = {"format": FORMAT, **asdict(curve), "written_with": {p: version(p) for p in ("ratecheck", "numpy")}}
    rows = (f"  {json.dumps(name)}: {json.dumps(value)}" for name, value in facts.items())
    return write_whole(path, "{\n" + ",\n".join(rows) + "\n}\n")
