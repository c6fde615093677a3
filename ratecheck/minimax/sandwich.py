"""The sandwich: certified lower bounds against the regret of real algorithms on the families that the bounds are about.

For every cost and horizon: the hard family of that horizon, its certified bound, and the regret of every algorithm on
members drawn as the bound's average draws them.  Their mean estimates that average, which no strategy brings below the
bound; an oracle that knows the member does, which shows that the comparison can fail.
"""

from __future__ import annotations

import math
from concurrent.futures import ProcessPoolExecutor
from dataclasses import dataclass
from functools import cached_property, partial
from multiprocessing import get_context

import numpy as np
import pandas as pd
from scipy.stats import t as student

import function_zoo as zoo

from ..algorithms import AdaptiveBins, AskTell, UniformBins
from ..engine import simulate
from ..fit import fit_rate
from ..means import FitError
from ..papers.zhao_lai import theorem3
from ..prediction import predict
from ..verdicts import verdict
from . import pair
from .bound import lower_bound
from .plain import plain_bound

HORIZONS = tuple(4**k for k in range(5, 11))
ORACLE = "the oracle"
CERTAIN = 1e-6  # how unlikely a mean below the bound must be before it is called an error
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
class Sandwich:
    """What was measured, as two tables: `runs` has a row per run, `bounds` one per cost and horizon with a family."""

    runs: pd.DataFrame
    bounds: pd.DataFrame
    problems: tuple[str, ...] = ()  # families that were not used, and why

    @cached_property
    def factors(self) -> pd.DataFrame:
        """Per cost, algorithm and horizon: the mean regret over the bound, and whether it lies below it."""
        rows = []
        keys = ["family", "dim", "algorithm", "horizon"]
        known = self.bounds.set_index(["family", "dim", "horizon"])
        for (family, dim, algorithm, horizon), part in self.runs.groupby(keys, sort=False):
            bound = known.loc[(family, dim, horizon), "bound"]
            regret, n = part["regret"].to_numpy(), len(part)
            error = float(np.std(regret, ddof=1) / math.sqrt(n)) if n > 1 else math.nan
            highest = regret.mean() + student.ppf(1 - CERTAIN, n - 1) * error if n > 1 else math.inf
            measured = bound, regret.mean(), error, regret.max(), part["predicted"].mean()
            ratio = regret.mean() / bound, error / bound, bool(highest < bound)
            rows.append((family, dim, algorithm, horizon, *measured, *ratio))
        names = [*keys, "bound", "mean", "error", "worst", "predicted", "factor", "factor_error", "below"]
        return pd.DataFrame(rows, columns=names)

    @cached_property
    def slopes(self) -> pd.DataFrame:
        """Per cost and algorithm: the slope of the mean against Theorem 3's, and the power of ln T in the factor."""
        rows = []
        factors = self.factors
        runs = self.runs[self.runs["algorithm"] != ORACLE]
        for (family, dim, algorithm), part in runs.groupby(["family", "dim", "algorithm"], sort=False):
            cost = zoo.get(family, dim)
            rate = theorem3.rate(cost.constants, dim)
            table = part[["replicate", "horizon", "regret"]].assign(anytime=False)
            try:
                fit = fit_rate(table)
                said = verdict(fit, rate, "lower")
                found = (fit.slope, fit.low, fit.high, str(said.name))
            except FitError as error:
                found = (math.nan, math.nan, math.nan, str(error))
            mine = factors[
                (factors["family"] == family) & (factors["dim"] == dim) & (factors["algorithm"] == algorithm)
            ]
            late = mine[mine["horizon"] >= mine["horizon"].max() / 4**3]
            power, error = _power(late)
            rows.append((family, dim, algorithm, rate.slope, *found, mine["factor"].iloc[-1], power, error))
        names = ["family", "dim", "algorithm", "theory_slope", "slope", "low", "high", "verdict", "factor"]
        return pd.DataFrame(rows, columns=[*names, "log_power", "log_power_error"])


def _power(factors):
    """The slope of ln(factor) against ln ln T, and its standard error from those of the factors."""
    x = np.log(np.log(factors["horizon"].to_numpy(float)))
    y, error = np.log(factors["factor"].to_numpy()), (factors["factor_error"] / factors["factor"]).to_numpy()
    if len(x) < 2:
        return math.nan, math.nan
    x = x - x.mean()
    weights = x / np.sum(x**2)
    return float(weights @ y), float(math.sqrt(np.sum((weights * error) ** 2)))


def measure(costs, horizons=HORIZONS, members=8, seed=0, workers=1, report=None) -> Sandwich:
    """Run every algorithm on members of every family; `costs` are pairs (family, dim)."""
    tasks = [(family, dim, horizon, members, seed) for family, dim in costs for horizon in horizons]
    done = []
    with ProcessPoolExecutor(workers, mp_context=get_context("spawn")) as pool:
        for i, found in enumerate(pool.map(_one, *zip(*tasks, strict=True)), 1):
            done.append(found)
            if report:
                report(i, len(tasks))
    runs = pd.DataFrame([row for rows, _ in done for row in rows])
    bounds = pd.DataFrame([bound for _, bound in done])
    lacking = bounds[bounds["problem"] != ""]
    return Sandwich(runs, bounds[bounds["problem"] == ""].reset_index(drop=True), tuple(lacking["problem"]))


def contestants(cost):
    """The algorithms, by name.  Adaptive bins run with a mu that is valid for the member, and with that of f0 alone."""
    return [
        ("uniform bins", UniformBins()),
        ("adaptive bins", AdaptiveBins()),
        ("adaptive bins, mu of f0", AdaptiveBins(mu=cost.constants.mu_min)),
    ]


def _one(family, dim, horizon, members, seed):
    cost = zoo.get(family, dim)
    where = {"family": family, "dim": dim, "horizon": horizon}
    try:
        found = lower_bound(cost, horizon)
        drawn = found.family.sample(members, seed)
    except ValueError as error:  # no family: which condition fails, and why
        return [], where | {"bound": math.nan, "problem": f"T = {horizon:,}, {error}"}
    rows = []
    for i, member in enumerate(drawn):
        for name, algorithm in contestants(cost):
            runs = simulate(algorithm, member, [horizon], replicates=[i], seed=seed, workers=1)
            foretold = math.nan
            if i < 2:
                curve = predict(algorithm, member, [horizon], alignments=4, seed=seed)
                foretold = float(curve.frame["regret"].mean())
            rows.append(where | _row(name, i, runs, foretold))
        if horizon <= LONGEST_ORACLE:
            oracle = AskTell(partial(Knowing, tuple(member.minimisers[0])))
            runs = simulate(oracle, member, [horizon], replicates=[i], seed=seed, workers=1)
            rows.append(where | _row(ORACLE, i, runs, 0.0))
    textbook = math.nan
    if horizon == HORIZONS[-1]:
        given = found.family.above, cost, horizon, found.family.sigma, found.family.M
        textbook = plain_bound(*given, pair.best(*given))
    bound = where | {
        "bound": found.regret,
        "problem": "",
        "textbook": textbook,
        "certified": found.certified,
        "functions": found.certificate["bound"],
        "members": len(found.family),
        "N": found.N,
        "r": found.r,
        "H": found.H,
        "epsilon": found.epsilon,
        "M": found.family.M,
    }
    return rows, bound


def _row(algorithm, i, runs, foretold):
    return {
        "algorithm": algorithm,
        "replicate": i,
        "regret": float(runs.frame["regret"].item()),
        "predicted": foretold,
    }
