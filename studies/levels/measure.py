"""The tables: each compares the mean regret of runs with the prediction at their partitions."""

from __future__ import annotations

import math
import time
from functools import partial

import numpy as np

import function_zoo as zoo
import ratecheck as rc

HORIZONS = tuple(2**k for k in range(12, 21))
RUNS = 64
ALGORITHMS = {
    "UniformBins": rc.UniformBins(),
    "AdaptiveBins": rc.AdaptiveBins(),
    "AdaptiveBins(mu='theorem')": rc.AdaptiveBins(mu="theorem"),
}
IN_ANY_DIMENSION = (
    *("ackley", "cone", "cusp", "double_sine", "garland", "griewank", "mixed_powers", "plateau", "power", "quadratic"),
    *("quartic", "rastrigin", "ring", "ring_cone", "sine", "twin_cone", "weierstrass"),
)
COSTS = (
    *((family, 1) for family in IN_ANY_DIMENSION),
    *((family, 2) for family in (*IN_ANY_DIMENSION, "branin", "himmelblau", "six_hump_camel", "valley")),
    *((family, 3) for family in (*IN_ANY_DIMENSION, "valley")),
)
NOISES = (rc.Gaussian(0.25), rc.Gaussian(0.5), rc.Gaussian(2.0), rc.Gaussian(4.0), rc.StudentT(1.0), rc.StudentT(2.0))
LOUD = (("cone", 1), ("cone", 2), ("quadratic", 2), ("ring", 2), ("branin", 2), ("cusp", 3))
LOCKING = tuple((family, dim) for family in ("quadratic", "cone") for dim in (1, 2))
MUS = {"mu = 0": rc.AdaptiveBins(mu=0.0), "mu_min": rc.AdaptiveBins()}
LOCK_IN_RUNS, LOCKED = 400, 2.0  # runs; times the regret at the deterministic level


def cases(costs=COSTS, horizons=HORIZONS, runs=RUNS):
    """What is to be measured: the name of a table and the function that gives one of its rows."""
    for family, dim in costs:
        for name, algorithm in ALGORITHMS.items():
            yield "cases", partial(compared, family, dim, name, algorithm, rc.Gaussian(), horizons, runs)
    for family, dim in LOUD:
        for noise in NOISES:
            yield "noise", partial(compared, family, dim, "AdaptiveBins", rc.AdaptiveBins(), noise, horizons, runs)
    for family, dim in LOCKING:
        for name, algorithm in MUS.items():
            yield "locked", partial(locked, family, dim, name, algorithm, horizons[-1])


def compared(family, dim, name, algorithm, noise, horizons, runs) -> dict:
    """Measured / predicted at every horizon, and what the worst of them says."""
    cost, begun = zoo.get(family, dim), time.process_time()
    measured = rc.simulate(algorithm, cost, horizons, runs, noise=noise, workers=1).frame
    middle = time.process_time()
    found = rc.predict(algorithm, cost, horizons, alignments=runs, noise=noise)
    by_place = found.frame.groupby(["alignment", "horizon"])[["regret", "deterministic"]].mean()
    R = measured.pivot(index="replicate", columns="horizon", values="regret")
    P, level = by_place["regret"].unstack(), by_place["deterministic"].unstack()
    ratio = R.mean() / P.mean()
    error = (R - P * ratio).std() / math.sqrt(runs) / R.mean()
    beyond = np.maximum(0.0, np.abs(ratio - 1) - 2 * error)
    return {
        "family": family,
        "dim": dim,
        "algorithm": name,
        "noise": repr(noise),
        "ratio": float(np.exp(np.log(ratio).mean())),
        "level_ratio": float(np.exp(np.log(R.mean() / level.mean()).mean())),
        "farthest": float(ratio.iloc[np.abs(ratio - 1).argmax()]),
        "surely_off": float(beyond.max()),
        "error": float(error.max()),
        "drawn": float(found.mean()["drawn"].max()),
        "draws": found.frame.groupby(["horizon", "alignment"]).size().iloc[0] * (found.frame["draw"].max() > 0),
        "runs_seconds": middle - begun,
        "prediction_seconds": time.process_time() - middle,
        **{f"at_{T}": value for T, value in ratio.items()},
    }


def locked(family, dim, name, algorithm, horizon, runs=LOCK_IN_RUNS) -> dict:
    """Shares of runs and of draws whose regret is more than LOCKED times that at the deterministic level."""
    cost = zoo.get(family, dim)
    measured = rc.simulate(algorithm, cost, [horizon], runs, workers=1).frame.set_index("replicate")["regret"]
    found = rc.predict(algorithm, cost, [horizon], alignments=runs, noise=rc.Gaussian()).frame
    level = found.groupby("alignment")["deterministic"].mean()
    return {
        "family": family,
        "dim": dim,
        "mu": name,
        "horizon": horizon,
        "runs": runs,
        "locked": int((measured > LOCKED * level).sum()),
        "draws": len(found),
        "drawn_locked": int((found["regret"] > LOCKED * found["deterministic"]).sum()),
        "ratio": measured.mean() / found["regret"].mean(),
    }
