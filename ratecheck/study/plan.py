"""From a study to the cases it consists of: one per cost and algorithm, with all that theory says beforehand.

A case is plain data.  What comes after the runs (fits, verdicts, reports) sees cases and a table of runs, and no
algorithm.
"""

from __future__ import annotations

import math
from dataclasses import asdict, dataclass

import numpy as np

from .. import theorems
from ..algorithms import AskTell, UniformBins
from ..engine import series_of
from ..rates import Rate
from .declaration import Grid, Study, label


@dataclass(frozen=True)
class Claim:
    """What a theorem promises for a case."""

    theorem: str
    statement: str
    kind: str
    printed: Rate
    corrected: Rate | None  # where theory proves another log power than the printed one
    corrected_name: str | None
    per_cost: bool  # False: it speaks of the worst cost near this one
    violated: tuple[str, ...] = ()  # hypotheses that the cost or the settings do not meet: nothing is promised then
    remarks: tuple[str, ...] = ()  # hypotheses that are printed and not met, but that no proof needs

    @property
    def rate(self) -> Rate:
        """The rate that theory stands by."""
        return self.corrected or self.printed


@dataclass(frozen=True)
class Control:
    """A claim that is false by construction."""

    name: str
    kind: str
    rate: Rate


@dataclass(frozen=True)
class Case:
    """One cost and one algorithm."""

    family: str
    dim: int
    cost: str
    constants: dict
    algorithm: str  # its label
    anytime: bool
    plain: bool  # Python, no kernel
    series: dict  # what determines a run, apart from its replicate and horizon
    horizons: tuple[int, ...]
    replicates: int
    window: tuple[float, float]
    onset: float
    period: float | None
    random_regret: float  # per step, of queries at random
    shift: float | None  # mu a0^alpha, which stands beside ln T in the adaptive method's keys
    claims: tuple[Claim, ...]
    controls: tuple[Control, ...]

    @property
    def name(self) -> str:
        return f"{self.family} d = {self.dim}, {self.algorithm}"

    @property
    def periods(self) -> float:
        """How many periods the window holds; each horizon stands for the step up to the next."""
        step = math.log(self.horizons[-1] / self.horizons[-2]) if len(self.horizons) > 1 else 0.0
        return (math.log(self.window[1] / self.window[0]) + step) / math.log(self.period)

    def to_json(self) -> dict:
        return asdict(self)

    @classmethod
    def from_json(cls, data) -> Case:
        def rate(d):
            return None if d is None else Rate(**d)

        claims = tuple(
            Claim(
                **{
                    **c,
                    "printed": rate(c["printed"]),
                    "corrected": rate(c["corrected"]),
                    "violated": tuple(c["violated"]),
                    "remarks": tuple(c["remarks"]),
                }
            )
            for c in data["claims"]
        )
        controls = tuple(Control(c["name"], c["kind"], rate(c["rate"])) for c in data["controls"])
        plain = {"horizons": tuple(data["horizons"]), "window": tuple(data["window"])}
        return cls(**{**data, **plain, "claims": claims, "controls": controls})


def cases(study: Study) -> list[tuple[Case, object, object]]:
    """Every case with its cost and its settled algorithm."""
    return [(case_of(study, cost, a), cost, a.settle(cost)) for cost in study.costs for a in study.algorithms]


def case_of(study, cost, algorithm) -> Case:
    settled = algorithm.settle(cost)
    last = study.horizons.last if isinstance(study.horizons, Grid) else study.horizons[-1]
    series = series_of(settled, cost, study.seed, study.noise, study.alignment)
    period = series["period"]
    onset, shift, own = theory_of(settled, cost, last)
    horizons = horizons_of(study.horizons, cost, onset, period)
    for horizon in horizons:
        settled.check(cost, horizon, study.alignment == "random")
    return Case(
        family=cost.name,
        dim=cost.dim,
        cost=str(cost),
        constants={k: v for k, v in asdict(cost.constants).items() if not isinstance(v, tuple)},
        algorithm=label(algorithm),
        anytime=settled.anytime,
        plain=not settled.kernel,
        series=series,
        horizons=horizons,
        replicates=study.replicates,
        window=study.window or window_of(horizons, onset),
        onset=onset,
        period=period,
        random_regret=random_regret(cost),
        shift=shift,
        claims=(own, claim_of(theorems.theorem3, cost, {})),
        controls=tuple(Control(str(c), own.kind, Rate(own.rate.exponent + c.by)) for c in study.controls),
    )


def random_regret(cost) -> float:
    """The mean of f - f* over the box, to three digits."""
    points = np.random.default_rng(0).uniform(cost.lower, cost.upper, (2**14, cost.dim))
    return float(f"{np.mean(cost.many(points)) - cost.minimum:.3g}")


def theory_of(algorithm, cost, horizon):
    """Onset, shift and what is claimed for a settled algorithm itself."""
    c, dim = cost.constants, cost.dim
    if isinstance(algorithm, AskTell):
        return 1.0, None, promise_of(algorithm)
    if isinstance(algorithm, UniformBins):
        return theorems.uniform_onset(c, dim, horizon), None, claim_of(theorems.theorem1, cost, {})
    onset = theorems.onset(c, dim, algorithm.mu, algorithm.a0, cost.side, horizon)
    shift = algorithm.mu * algorithm.a0**algorithm.alpha
    theorem, settings = theorems.theorem2, {"mu": algorithm.mu}
    if algorithm.alpha < c.alpha:
        theorem, settings = theorems.misspecified, settings | {"alpha0": algorithm.alpha}
    return onset, shift, claim_of(theorem, cost, settings)


def promise_of(algorithm) -> Claim:
    if not algorithm.fingerprint:
        raise ValueError(
            f"{algorithm} has no source file, so its runs cannot be told from those of edited code; put it in a module"
        )
    if algorithm.promise is None:
        raise ValueError(
            f"{algorithm} promises nothing that a study could judge; give it promise=Rate(exponent, log_power)"
        )
    statement = f"{algorithm.name}: {algorithm.promise}"
    return Claim("its promise", statement, "upper", algorithm.promise, None, None, per_cost=True)


def claim_of(theorem, cost, settings) -> Claim:
    alpha0 = {k: v for k, v in settings.items() if k == "alpha0"}
    printed = theorem.rate(cost.constants, cost.dim, **alpha0)
    better = theorem.corrected and theorem.corrected.rate(cost.constants, cost.dim, **alpha0)
    if better == printed:
        better = None
    return Claim(
        theorem=theorem.name,
        statement=theorem.statement,
        kind=theorem.kind,
        printed=printed,
        corrected=better,
        corrected_name=better and theorem.corrected.name,
        per_cost=theorem.per_cost,
        violated=theorem.violated(cost.constants, cost.dim, **settings),
        remarks=theorem.remarks(cost.constants, cost.dim),
    )


def horizons_of(grid, cost, onset, period) -> tuple[int, ...]:
    """The horizons of a case.

    An algorithm without a period takes every n-th horizon of the adaptive method, so that neighbours differ by a
    factor of sqrt(2) at least: its runs are paid for horizon by horizon.
    """
    if not isinstance(grid, Grid):
        return grid
    ratio, last = grid.ratio, grid.last
    octaves = cost.dim + cost.constants.alpha * (2 - cost.constants.beta)  # in a period of the adaptive method
    if ratio is None:
        ratio = 2.0 ** (octaves / max(4, math.ceil(octaves - 1e-9)))
        if period is None:
            ratio **= math.ceil(0.5 / math.log2(ratio) - 1e-9)
    if grid.periods is not None:
        if period is not None:
            needed = max(grid.first, onset) * period**grid.periods
            if (
                max(grid.first, onset) * period**2 / ratio > grid.cap
            ):  # two periods are out of reach: not worth the wait
                needed = last
        else:  # two periods of the adaptive method, so that slopes can be compared, unless that is far
            needed = min(grid.first * 4.0**octaves, 4 * grid.last)
        last = max(last, min(grid.cap, math.ceil(needed)))
    count = math.floor(math.log(last / grid.first) / math.log(ratio) + 1e-6)
    return tuple(sorted({round(grid.first * ratio**j) for j in range(count + 1)}))


def window_of(horizons, onset) -> tuple[float, float]:
    """From the onset, or the first horizon if that is later; at least three horizons."""
    latest = horizons[max(0, len(horizons) - 3)]
    first = min((h for h in horizons if h >= onset), default=latest)
    return (min(first, latest), horizons[-1])
