"""What is measured with a mu: tails of the regret, onsets, last stretches and slopes."""

from __future__ import annotations

import math

import numpy as np
from scipy.stats import binomtest

import ratecheck as rc
from ratecheck.algorithms.run import STAR
from ratecheck.engine.simulate import begin
from studies.claims.shared import least_mu

STRETCH = 16  # a run is locked in if the cell of x* gets no query while T grows by this factor
CASE = ["family", "dim"]


# Measured


def of_theorem2(algorithm, cost) -> bool:
    return math.isclose(algorithm.mu, least_mu(cost))


def tails(R: np.ndarray) -> dict:
    """The mean with its standard error, quantiles, and the share of the largest run."""
    low, median, high = np.quantile(R, [0.1, 0.5, 0.9])
    return {
        "runs": len(R),
        "mean": R.mean(),
        "se": R.std(ddof=1) / math.sqrt(len(R)),
        "lower": low,
        "median": median,
        "upper": high,
        "largest": R.max(),
        "largest_share": R.max() / R.sum(),
    }


def counted(hits: int, total: int, name: str) -> dict:
    """So many of all runs, with an interval (Clopper and Pearson)."""
    interval = binomtest(hits, total).proportion_ci(0.95, "exact")
    return {"runs": total, name: hits, f"{name}_low": interval.low, f"{name}_high": interval.high}


def last_stretch(algorithm, cost, horizon, seed, alignment, replicate) -> tuple[bool, float, float]:
    """Whether the cell of x* gets no query from T/STRETCH on, the regret per step there, and all regret."""
    run, _ = begin(algorithm, cost, horizon=horizon, replicate=replicate, seed=seed, alignment=alignment)
    seen = []
    for until in (horizon // STRETCH, horizon):
        while run.t < until:
            run.advance(until)
        star = run.state[STAR]
        seen.append((run.level[star], run.n[star], run.regret))  # a query makes n grow, or the level
    (level, n, early), (level_later, n_later, R) = seen
    steps = horizon - horizon // STRETCH
    return (level, n) == (level_later, n_later), (R - early) / steps, R


def slope_ahead(fit, prediction) -> float:
    """The slope that the same regression finds in the predicted regret."""
    mean = prediction.mean().set_index("horizon")["regret"]
    return fit.slope_of(mean.loc[np.round(fit.data.horizons).astype(int)].to_numpy())


def last_period(fit) -> tuple[float, float]:
    """The mean of ln R over the last whole period, and its standard error."""
    x = fit.data.x
    weights = (x > x[-1] - math.log(fit.period) + 1e-6).astype(float)
    weights /= weights.sum()
    return float(weights @ fit.data.y), math.sqrt(float(weights @ fit.data.covariance @ weights))


def promised_slope(cost) -> float:
    return rc.theorem2.rate(cost.constants, cost.dim).slope


def onset(horizons, regret, period, promised) -> float:
    """The T at which the slope of ln R over a whole period falls below the middle of 1 and the promised one for good.

    0 if it never lies above, inf if it still does at the end.
    """
    x, y = np.log(np.asarray(horizons, float)), np.log(np.asarray(regret, float))
    lag = math.log(period)
    starts = x[x + lag <= x[-1] + 1e-6]
    local = (np.interp(starts + lag, x, y) - np.interp(starts, x, y)) / lag
    middles = starts + lag / 2
    above = np.flatnonzero(local > (1 + promised) / 2)
    if not len(above):
        return 0.0
    i = above[-1]
    if i == len(local) - 1:
        return math.inf
    share = (local[i] - (1 + promised) / 2) / (local[i] - local[i + 1])
    return math.exp(middles[i] + share * (middles[i + 1] - middles[i]))


def limit_of(name, found) -> dict:
    value = (math.nan,) * 3 if found is None else (found.value, found.low, found.high)
    return dict(zip((name, f"{name}_low", f"{name}_high"), value, strict=True))
