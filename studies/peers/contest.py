"""Other libraries beside ours on the same costs, noise and seeds: regret and time per step, as far as a budget lasts.

Every pair of a cost and a contestant has the same budget of processor time.  Horizons double from one stage to the
next, and all replicates of a stage run before the next begins; a stage that would probably exceed the budget, by the
growth of the two before it, is not begun.  So how far a contestant gets depends on its time alone, never on its regret.
"""

from __future__ import annotations

import gc
import math
import time
from dataclasses import dataclass, field
from functools import cached_property, partial

import numpy as np
import pandas as pd

import function_zoo as zoo
import ratecheck as rc
from ratecheck.display import general
from ratecheck.engine.simulate import begin
from ratecheck.peers import ALGORITHMS, CMA, Nevergrad, Optuna, from_pyxab
from ratecheck.verdict.judging import held_back, irrefutable

COSTS = (("quadratic", 1), ("quadratic", 2), ("cone", 1), ("cone", 2), ("six_hump_camel", 2), ("garland", 1))
FIRST, LAST = 2**5, 2**18
WINDOW = (2**6, 2**8)  # no horizon below the first, none below T_max over the second
NOISE = rc.Gaussian(1.0)
OURS, PYXAB, OTHERS = "ratecheck", "PyXAB", "others"
REFERENCE = "adaptive bins"
SLICES = 32  # of a run, between two looks at the clock
OVERRUN = 1.5  # a stage that takes so many times what is left of the budget is given up


@dataclass(frozen=True)
class Contestant:
    """An algorithm under the name that tables show."""

    name: str
    group: str
    algorithm: rc.AskTell | rc.AdaptiveBins | rc.HOO | rc.UniformBins
    settings: str
    instead: str = ""  # why its regret is not judged
    first: int = FIRST  # horizon that it can be made for


def contestants(cost) -> list[Contestant]:
    sigma = NOISE.sigma
    told = rc.HOO(sigma=sigma).settle(cost)
    smooth = f"nu = {told.nu:.4g}, rho = {told.rho:.4g}"
    found = [
        Contestant("uniform bins", OURS, rc.UniformBins(), "the cost's alpha and beta"),
        Contestant(REFERENCE, OURS, rc.AdaptiveBins(), "the cost's alpha and mu_min"),
        Contestant("HOO", OURS, rc.HOO(sigma=sigma), smooth),
    ]
    for name, known in ALGORITHMS.items():
        theirs = from_pyxab(name, cost, sigma=sigma)
        given = ", ".join(f"{k} = {v}" for k, v in known.settings.items())
        nu = {2: smooth, 1: f"numax = {told.nu:.4g}", 0: ""}[len(known.smoothness)]
        first = 2**7 if name == "StroquOOL" else FIRST
        settings = ", ".join(filter(None, [nu, given])) or "none"
        found.append(Contestant(f"{PYXAB} {name}", PYXAB, theirs, settings, known.instead, first))
    c = 2 * math.sqrt(1 / (1 - told.rho))  # with which the bounds of its proof hold
    found += [
        Contestant(
            f"{PYXAB} HCT, c of its theorem", PYXAB, from_pyxab("HCT", cost, sigma=sigma, c=c), f"{smooth}, c = {c:.3g}"
        ),
        Contestant(
            f"{PYXAB} T_HOO, defaults",
            PYXAB,
            from_pyxab("T_HOO", cost, sigma=sigma, nu=2 * sigma, rho=0.5, partition="random"),
            f"nu = {2 * sigma:g} (1 in rewards), rho = 0.5, axes drawn at random",
        ),
    ]
    nothing = "no theorem bounds its regret under noise"
    found += [
        Contestant("cma CMA-ES", OTHERS, rc.AskTell(CMA, anytime=True), "first step 1/4 of the box", nothing),
        Contestant("nevergrad TBPSA", OTHERS, rc.AskTell(Nevergrad), "defaults", nothing),
        Contestant("optuna TPE", OTHERS, rc.AskTell(Optuna, anytime=True), "defaults", nothing),
    ]
    if cost.dim > 1:  # in one dimension it asks for a package that does not come with it
        chooser = rc.AskTell(partial(Nevergrad, optimizer="NGOpt"))
        found.append(Contestant("nevergrad NGOpt", OTHERS, chooser, "defaults", nothing))
    return found


# Running


class Clock:
    """Advances runs and counts the processor time; it stops where a limit is passed."""

    def __init__(self, limit):
        self.limit, self.spent = limit, 0.0

    def advance(self, run, until, compiled) -> float:
        """The seconds that it took."""
        before = self.spent
        step = until if compiled else max(1, (until - run.t) // SLICES)
        while run.t < until:
            start = time.process_time()
            run.advance(min(until, run.t + step))
            self.spent += time.process_time() - start
            if self.spent > self.limit:
                raise TimeoutError
        return self.spent - before


def measure(cost, contestant: Contestant, replicates, seed, budget) -> tuple[list[dict], str]:
    """Rows by replicate and horizon, and a phrase: what ended it."""
    algorithm = contestant.algorithm.settle(cost)
    start = partial(begin, algorithm, cost, seed=seed, noise=NOISE, alignment="fixed")
    # compilers and imports are not timed
    start(horizon=contestant.first, replicate=replicates)[0].advance(contestant.first)
    gc.collect()  # nor what others left behind
    rows, held, spent, before, horizon = [], {}, 0.0, 0.0, contestant.first
    while True:
        clock, stage = Clock(max(budget - spent, budget / 4) * OVERRUN), []
        try:
            for i in range(replicates):
                known, taken = held.get(i, (None, 0.0))
                run = known or start(horizon=LAST if algorithm.anytime else horizon, replicate=i)[0]
                early = clock.advance(run, max(run.t, horizon // 2), algorithm.compiled)
                late = clock.advance(run, horizon, algorithm.compiled)
                if algorithm.anytime:
                    held[i] = run, taken + early + late
                stage.append(
                    {
                        "replicate": i,
                        "horizon": horizon,
                        "regret": run.regret,
                        "seconds": taken + early + late,
                        "late": late / (horizon - horizon // 2),
                        "anytime": algorithm.anytime,
                    }
                )
        except TimeoutError:
            return rows, f"{_steps(rows)}; T = {horizon:,} took more than {general(clock.limit, 2)} s and was given up"
        rows += stage
        spent += clock.spent
        growth = clock.spent / before if before else 2.0
        expected = clock.spent * min(max(growth, 2.0), 4.0)
        if horizon >= LAST:
            return rows, f"{_steps(rows)}; the longest of this study"
        if spent + expected > budget:
            return rows, f"{_steps(rows)}; T = {2 * horizon:,} would take about {general(expected, 2)} s"
        before, horizon = clock.spent, 2 * horizon


def _steps(rows) -> str:
    if not rows:
        return "no horizon at all"
    last = rows[-1]["horizon"]
    late = np.mean([row["late"] for row in rows if row["horizon"] == last])
    return f"ended at T = {last:,}: {duration(late)} a step at the end"


def duration(seconds: float) -> str:
    for unit, name in ((1.0, "s"), (1e-3, "ms"), (1e-6, "µs")):
        if seconds >= unit:
            return f"{seconds / unit:.3g} {name}"
    return f"{seconds / 1e-9:.3g} ns"


# What the runs say


@dataclass(frozen=True)
class Contest:
    """`runs` has a row per cost, contestant, replicate and horizon; `ends` says what ended each pair."""

    runs: pd.DataFrame
    ends: pd.DataFrame
    settings: dict = field(default_factory=dict)

    @cached_property
    def means(self) -> pd.DataFrame:
        keys = ["family", "dim", "algorithm", "horizon"]
        table = self.runs.groupby(keys, sort=False).agg(
            mean=("regret", "mean"), error=("regret", "sem"), late=("late", "mean"), seconds=("seconds", "mean")
        )
        return table.reset_index()

    @cached_property
    def fits(self) -> pd.DataFrame:
        """Per cost and contestant: the slope over its window, its theorem's, and a verdict where it has one."""
        rows, said, places = [], [], []
        for (family, dim), part in self.ends.groupby(["family", "dim"], sort=False):
            cost = zoo.get(family, dim)
            runs = self.runs[(self.runs["family"] == family) & (self.runs["dim"] == dim)]
            for contestant in contestants(cost):
                if contestant.name not in set(part["algorithm"]):
                    continue
                row, judged = _judged(cost, contestant, runs[runs["algorithm"] == contestant.name])
                rows.append({"family": family, "dim": dim, "algorithm": contestant.name} | row)
                if judged is not None:
                    said.append(judged)
                    places.append(len(rows) - 1)
        for place, v in zip(places, rc.holm(said), strict=True):
            rows[place] |= {"verdict": str(v.name), "reason": v.reason}
        return pd.DataFrame(rows)


def window_of(table) -> tuple[int, int]:
    last = int(table["horizon"].max())
    return max(WINDOW[0], last // WINDOW[1]), last


def _judged(cost, contestant, table) -> tuple[dict, rc.Verdict | None]:
    algorithm = contestant.algorithm.settle(cost)
    row = {"slope": math.nan, "low": math.nan, "high": math.nan, "first": None, "last": None}
    row |= {"theorem": "", "theory_slope": math.nan, "log_power": math.nan, "violated": ""}
    row |= {"verdict": "", "reason": contestant.instead}
    claim = None if contestant.instead else next(claim for claim in algorithm.claims(cost) if claim.per_cost)
    if claim is not None:
        row |= {"theorem": claim.theorem, "theory_slope": claim.rate.slope, "log_power": claim.rate.log_power}
        row["violated"] = "; ".join(map(str, claim.violated))
    try:
        if table.empty:
            raise rc.FitError("it has no run")
        first, last = window_of(table)
        row |= {"first": first, "last": last}
        period = algorithm.period(cost)
        fit = rc.fit_rate(table, window=(first, last), period=None if math.isnan(period) else period)
        row |= {"slope": fit.slope, "low": fit.low, "high": fit.high}
    except rc.FitError as error:
        return row, None if claim is None else rc.Verdict(rc.Outcome.INCONCLUSIVE, str(error))
    if claim is None:
        return row, None
    return row, held_back(rc.verdict(fit, claim.rate, claim.kind), irrefutable(claim))
