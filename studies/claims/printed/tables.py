"""What is measured about widths: runs with the printed, the corrected and the tuned one, and curves of all."""

from __future__ import annotations

import math

import numpy as np
import pandas as pd

import function_zoo as zoo
import ratecheck as rc
from ratecheck.algorithms import partition
from ratecheck.sampling import seeding
from ratecheck.study import stream

KEYS = ["family", "dim"]
PILOT = 1_000_003  # added to the seed: widths are tuned on other runs than those that are judged
FACTORS = tuple(2.0 ** (k / 2) for k in range(-2, 7))  # widths that are tried, times the corrected one
ADAPTIVE, CORRECTED, PRINTED, TUNED = "adaptive", "corrected", "printed", "tuned"
RULES = {ADAPTIVE: rc.AdaptiveBins(), CORRECTED: rc.UniformBins(), PRINTED: rc.UniformBins(width="printed")}


# What is measured


def _affordable(kind, cost, horizons, most):
    """The horizons whose bins are not too many; adaptive bins never are."""
    if kind == ADAPTIVE:
        return list(horizons)
    rule = RULES[kind].settle(cost)
    return [T for T in horizons if rule.cells(cost, T) <= most]


def run_table(costs, horizons, halves, replicates, most, effort) -> pd.DataFrame:
    found = []
    for family, dim in costs:
        cost = zoo.get(family, dim)
        kinds = [ADAPTIVE, CORRECTED] + [PRINTED] * (cost.constants.beta > 1)
        for kind in kinds:
            given = halves if kind == ADAPTIVE else _affordable(kind, cost, horizons, most)
            runs = rc.simulate(RULES[kind], cost, given, replicates, effort.seed, workers=effort.workers).frame
            found.append(runs.assign(family=family, kind=kind))
    return pd.concat(found)[[*KEYS, "kind", "replicate", "horizon", "regret", "cells", "side", "anytime", "period"]]


def fresh_table(costs, horizons, seed) -> pd.DataFrame:
    """At the printed width: bins, and how many different ones a run queries."""
    rows = []
    for family, dim in costs:
        cost = zoo.get(family, dim)
        rule = RULES[PRINTED].settle(cost)
        for horizon in horizons:
            trace = np.zeros(horizon, dtype=np.int64)
            length, offset = seeding.alignment(rule, cost, horizon=horizon, replicate=0, seed=seed)
            bins = len(partition.grid(cost, length, offset))
            rng = stream(seed, str(cost), str(rule), horizon, "fresh bins")
            run = rule.start(cost, length, offset, rng, rc.Gaussian(1.0), trace=trace, horizon=horizon)
            run.advance(horizon)
            queried = len(np.unique(trace))
            rows.append((family, dim, horizon, bins, queried, run.regret))
    return pd.DataFrame(rows, columns=[*KEYS, "horizon", "bins", "queried", "regret"])


def _widths(cost, horizon, most):
    """Widths to try: side over a whole number each."""
    corrected = RULES[CORRECTED].settle(cost).length(cost, horizon, 0.0)
    counts = sorted({max(1, round(cost.side / (factor * corrected))) for factor in FACTORS})
    return [cost.side / n for n in counts if n**cost.dim <= most]


def pilot_table(costs, horizons, replicates, most, effort) -> pd.DataFrame:
    """Mean regret at every width that is tried."""
    rows = []
    for family, dim in costs:
        cost = zoo.get(family, dim)
        for horizon in horizons:
            for width in _widths(cost, horizon, most):
                how = {"seed": effort.seed + PILOT, "workers": effort.workers}
                runs = rc.simulate(rc.UniformBins(width=width), cost, [horizon], replicates, **how).frame
                rows.append((family, dim, horizon, width, runs["regret"].mean()))
    return pd.DataFrame(rows, columns=[*KEYS, "horizon", "width", "regret"])


def best_widths(pilots: pd.DataFrame) -> pd.DataFrame:
    return pilots.loc[pilots.groupby([*KEYS, "horizon"], sort=False)["regret"].idxmin()]


def tuned_table(pilots, replicates, effort) -> pd.DataFrame:
    """New runs at the width that was best on the pilots."""
    found = []
    for best in best_widths(pilots()).itertuples():
        cost, rule = zoo.get(best.family, best.dim), rc.UniformBins(width=best.width)
        runs = rc.simulate(rule, cost, [best.horizon], replicates, effort.seed, workers=effort.workers).frame
        found.append(runs.assign(family=best.family))
    return pd.concat(found)[[*KEYS, "replicate", "horizon", "regret", "side", "anytime", "period"]]


def _places(cost, count):
    """Places of x* in its bin that fill it evenly (Sobol' points): the same for all widths, so that none is lucky."""
    from scipy.stats import qmc

    return qmc.Sobol(cost.dim, scramble=True, rng=0).random(count)


def _aligned(cost, width, places):
    return [(width, ((place - (cost.minimisers[0] - cost.lower) / width) % 1.0).tolist()) for place in places]


def _predicted(cost, width, horizon, places) -> float:
    rule = rc.UniformBins(width=width)
    return float(rc.predict(rule, cost, [horizon], alignments=_aligned(cost, width, places)).regret[0])


def curve_table(costs, horizons, alignments, most, seed) -> pd.DataFrame:
    """Predicted regrets; of uniform bins as far as there are not too many, their best width among many."""
    rows = []
    for family, dim in costs:
        cost = zoo.get(family, dim)
        places = _places(cost, alignments)
        reached = _affordable(CORRECTED, cost, horizons, most)
        adaptive = rc.predict(RULES[ADAPTIVE], cost, reached, alignments=alignments, seed=seed).regret
        rows += [(family, dim, ADAPTIVE, T, math.nan, R) for T, R in zip(reached, adaptive, strict=True)]
        kinds = [CORRECTED] + [PRINTED] * (cost.constants.beta > 1)
        for kind in kinds:
            for T in _affordable(kind, cost, reached, most):
                width = RULES[kind].settle(cost).length(cost, T, 0.0)
                rows.append((family, dim, kind, T, width, _predicted(cost, width, T, places)))
        for T in reached:
            tried = {width: _predicted(cost, width, T, places) for width in _widths(cost, T, most)}
            width = min(tried, key=tried.get)
            rows.append((family, dim, TUNED, T, width, tried[width]))
    return pd.DataFrame(rows, columns=[*KEYS, "kind", "horizon", "width", "regret"])
