"""The sandwich: certified lower bounds against the regret of real algorithms on the families that the bounds are about.

For every cost and horizon: the hard family of that horizon, its certified bound, and the regret of every algorithm on
members drawn as the bound's average draws them.  Their mean estimates that average, which no strategy brings below the
bound; an oracle that knows the member does, which shows that the comparison can fail.
"""

from __future__ import annotations

import math
from collections import Counter
from concurrent.futures import ProcessPoolExecutor
from dataclasses import dataclass
from functools import cached_property, partial
from multiprocessing import get_context
from pathlib import Path

import numpy as np
import pandas as pd

import function_zoo as zoo
import ratecheck as rc
from ratecheck.lower_bound import pair
from ratecheck.lower_bound.hard_family import rung
from ratecheck.lower_bound.members import bounded, cost_of
from studies.lower_bound.plain import plain_bound

HORIZONS = tuple(4**k for k in range(5, 11))
KEYS = ["family", "dim", "algorithm", "horizon"]
ORACLE = "the oracle"
FORETOLD = 2  # members of each family whose regret is predicted
LONGEST_ORACLE = 4**6  # plain Python


class Knowing:
    """An oracle: it was told where the member has its minimum, and asks nothing else."""

    def __init__(self, minimiser, dim, lower, upper, horizon, rng):
        self.minimiser = np.array(minimiser)

    def ask(self):
        return self.minimiser

    def tell(self, x, y):
        pass


@dataclass(frozen=True)
class Measured:
    """What was measured, as two tables: `runs` has a row per run, `bounds` one per cost and horizon.

    Where a family was not used, its row of `bounds` says why in `problem`, and it has no runs.
    """

    runs: pd.DataFrame
    every_bound: pd.DataFrame

    @cached_property
    def bounds(self) -> pd.DataFrame:
        """Those that were used."""
        return self.every_bound[self.every_bound["problem"] == ""].reset_index(drop=True)

    @property
    def problems(self) -> list[str]:
        lacking = self.every_bound[self.every_bound["problem"] != ""]
        return [f"{r.family}, d = {r.dim}, T = {r.horizon:,}: {r.problem}" for r in lacking.itertuples()]

    @cached_property
    def rungs(self) -> dict[tuple[str, int, str], list]:
        """By cost and algorithm, a rung for every horizon."""
        known = self.bounds.set_index(["family", "dim", "horizon"])["bound"]
        found = {}
        for (family, dim, algorithm, horizon), part in self.runs.groupby(KEYS, sort=False):
            functions = [list(same["regret"]) for _, same in part.groupby("dented")]
            step = rung(horizon, float(known[family, dim, horizon]), functions)
            found.setdefault((family, dim, algorithm), []).append(step)
        return found

    @cached_property
    def factors(self) -> pd.DataFrame:
        """Per cost, algorithm and horizon: the mean regret over the bound, and whether it lies below it."""
        predicted = self.runs.groupby(KEYS)["predicted"].mean()
        rows = [
            (
                *(*case, r.horizon),
                *(r.bound, r.mean, r.error, max(r.regrets), predicted[(*case, r.horizon)]),
                *(r.factor, r.error / r.bound, r.below),
            )
            for case, rungs in self.rungs.items()
            for r in rungs
        ]
        names = [*KEYS, "bound", "mean", "error", "worst", "predicted", "factor", "factor_error", "below"]
        return pd.DataFrame(rows, columns=names)

    @cached_property
    def slopes(self) -> pd.DataFrame:
        """Per cost and algorithm: the slope of the mean against Theorem 3's, and the power of ln T in the factor."""
        rows = []
        for (family, dim, algorithm), rungs in self.rungs.items():
            if algorithm == ORACLE:
                continue
            claim = rc.theorem3.claim(zoo.get(family, dim).constants, dim)
            fit, said = _judged(claim, rungs)
            found = (fit.slope, fit.low, fit.high) if fit else (math.nan,) * 3
            mine = self.factors[(self.factors[KEYS[:3]] == [family, dim, algorithm]).all(axis=1)]
            power, error = _power(mine[mine["horizon"] >= mine["horizon"].max() / 4**3])
            given = claim.rate.slope, *found, str(said), mine["factor"].iloc[-1], power, error
            rows.append((family, dim, algorithm, *given))
        names = ["family", "dim", "algorithm", "theory_slope", "slope", "low", "high", "verdict", "factor"]
        return pd.DataFrame(rows, columns=[*names, "log_power", "log_power_error"])


def _judged(claim, rungs) -> tuple[rc.Fit | None, rc.Outcome]:
    """The slope of the mean over the families, and whether it refutes the bound: only a mean below it does."""
    rows = [(i, r.horizon, regret, False) for r in rungs for i, regret in enumerate(r.regrets)]
    try:
        fit = rc.fit_rate(pd.DataFrame(rows, columns=["replicate", "horizon", "regret", "anytime"]))
    except rc.FitError:
        fit = None
    if any(r.below for r in rungs):
        return fit, rc.Outcome.REFUTED
    said = rc.Outcome.INCONCLUSIVE if fit is None else rc.verdict(fit, claim.rate, claim.kind).name
    return fit, rc.Outcome.INCONCLUSIVE if said is rc.Outcome.REFUTED else said


def _power(factors):
    """The slope of ln(factor) against ln ln T, and its standard error from those of the factors."""
    x = np.log(np.log(factors["horizon"].to_numpy(float)))
    y, error = np.log(factors["factor"].to_numpy()), (factors["factor_error"] / factors["factor"]).to_numpy()
    if len(x) < 2:
        return math.nan, math.nan
    x = x - x.mean()
    weights = x / np.sum(x**2)
    return float(weights @ y), float(math.sqrt(np.sum((weights * error) ** 2)))


def measure(costs, horizons=HORIZONS, members=8, seed=0, workers=1, report=None) -> Measured:
    """Run every algorithm on members of every family; `costs` are pairs (family, dim)."""
    tasks = [(family, dim, horizon, members, seed) for family, dim in costs for horizon in horizons]
    done = []
    with ProcessPoolExecutor(workers, mp_context=get_context("spawn")) as pool:
        for i, found in enumerate(pool.map(_one, *zip(*tasks, strict=True)), 1):
            done.append(found)
            if report:
                report(i, len(tasks))
    rows, bounds = [row for rows, _ in done for row in rows], [bound for _, bound in done]
    if not rows:
        raise ValueError(f"no hard family can be used: {bounds[0]['problem']}")
    return Measured(pd.DataFrame(rows), pd.DataFrame(bounds))


def read(folder) -> Measured:
    """What `measure` found before, from the tables in a folder."""
    folder = Path(folder)
    tables = [folder / "runs.csv", folder / "bounds.csv"]
    for path in tables:
        if not path.is_file():
            raise ValueError(f"there is no {path.name} in {folder}; run the study first, without --report")
    runs, bounds = (pd.read_csv(path, dtype={"problem": object}) for path in tables)
    return Measured(runs, bounds.assign(problem=bounds["problem"].fillna("")))


def contestants(cost):
    """The algorithms, by name.  Adaptive bins run with a mu that is valid for the member, and with that of f0 alone."""
    return [
        ("uniform bins", rc.UniformBins()),
        ("adaptive bins", rc.AdaptiveBins()),
        ("adaptive bins, mu of f0", rc.AdaptiveBins(mu=cost.constants.mu_min)),
    ]


def _one(family, dim, horizon, members, seed):
    cost = zoo.get(family, dim)
    record = bounded(cost, horizon, members=members, seed=seed)
    where = {"family": family, "dim": dim, "horizon": horizon}
    bound = where | {"bound": record["regret"], "problem": record["problem"], "drawn": members, "seed": seed}
    if record["problem"]:
        return [], bound
    rows, drawn = [], Counter()
    for i, dent in enumerate(record["drawn"]):
        member, replicate = cost_of(cost, dent), drawn[repr(dent)]
        drawn[repr(dent)] += 1
        for name, algorithm in contestants(cost):
            runs = rc.simulate(algorithm, member, [horizon], replicates=[replicate], seed=seed, workers=1)
            foretold = math.nan
            if dent is not None and i % members < FORETOLD:
                curve = rc.predict(algorithm, member, [horizon], alignments=4, seed=seed)
                foretold = float(curve.frame["regret"].mean())
            rows.append(where | _row(name, i, dent, runs, foretold))
        if horizon <= LONGEST_ORACLE:
            oracle = rc.AskTell(partial(Knowing, tuple(member.minimisers[0])))
            runs = rc.simulate(oracle, member, [horizon], replicates=[replicate], seed=seed, workers=1)
            rows.append(where | _row(ORACLE, i, dent, runs, 0.0))
    textbook = math.nan
    if horizon == HORIZONS[-1]:
        family = rc.HardFamily(cost, horizon)
        given = {"horizon": horizon, "sigma": family.sigma, "M": family.M}
        textbook = plain_bound(family.above, cost, *given.values(), pair.best(family.above, cost, **given))
    more = {"textbook": textbook} | {name: record[name] for name in ("certified", "functions", "members")}
    return rows, bound | more | record["figures"]


def _row(algorithm, i, dent, runs, foretold):
    return {
        "algorithm": algorithm,
        "replicate": i,
        "dented": dent is not None,
        "regret": float(runs.frame["regret"].item()),
        "predicted": foretold,
    }
