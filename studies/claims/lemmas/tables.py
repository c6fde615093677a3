"""Tables of the experiment on Lemmas 1 to 5."""

from __future__ import annotations

import math
from fractions import Fraction

import numpy as np

import function_zoo as zoo
import ratecheck as rc
from ratecheck.algorithms.adaptive import TOTAL
from ratecheck.algorithms.run import STAR
from ratecheck.study import stream
from studies.claims import exact
from studies.claims.shared import least_mu

ABOVE = 1.01  # Lemma 2 wants a mu beyond its limit
SHARES = (0.5, 1.0, 1.5, 2.0, 3.0)  # of the gap that Lemmas 3 and 4 ask for is 3
LARGE = 3.0


def printed(dim, alpha, M):
    """C1 as it stands in the proof of Lemma 1, and in Theorem 2."""
    return (1 + 2 ** (dim + alpha)) * M


def corrected(dim, alpha, M):
    return 2**alpha * printed(dim, alpha, M)


# Lemma 1


def power_table(powers, half=Fraction(1, 4)):
    """|x|^p on [-h, h], where the paper's one M is M_b: sup of f / |x|^p is 1.  For p = 2 in exact arithmetic."""
    import pandas as pd

    rows = []
    for p in powers:
        if p == 2:
            square = exact.polynomial({(2,): 1})
            M_a, M_b = half**2, exact.deviation(square)[2][(0,)]  # the error is a² / 12 at every x
            alpha, ratio = 2, exact.value(square, (half,)) / half**2
        else:
            M_a, M_b = float(half) ** p, 2**-p / (p + 1)
            alpha, ratio = p, 1.0
        M = max(M_a, M_b)
        row = {"power": float(p), "half": float(half), "M_a": float(M_a), "M_b": float(M_b), "ratio": float(ratio)}
        row |= {"printed": float(printed(1, alpha, M)), "corrected": float(corrected(1, alpha, M))}
        rows.append(row | {"exact": p == 2, "above_printed": bool(ratio > printed(1, alpha, M))})
    return pd.DataFrame(rows)


def growth_table(dims, points, seed):
    """Of every cost of the zoo the largest (f - f*) / ‖x - x*‖∞^α that was found, x in the box, x* any minimiser."""
    import pandas as pd

    rows = []
    for name in zoo.families():
        for dim in dims:
            try:
                cost = zoo.get(name, dim=dim)
            except zoo.InvalidChoice:
                continue
            known = cost.constants
            constants = (f(dim, known.alpha, known.M) for f in (printed, corrected))
            row = {"cost": name, "dim": dim, "alpha": known.alpha, "M": known.M, "ratio": steepest(cost, points, seed)}
            rows.append(row | dict(zip(("printed", "corrected"), constants, strict=True)))
    return pd.DataFrame(rows)


def steepest(cost, points, seed) -> float:
    """Points everywhere, corners, and around every minimiser at all scales down to 2^-20 of the side."""
    rng = np.random.default_rng(seed)
    corners = np.stack(np.meshgrid(*zip(cost.lower, cost.upper, strict=True), indexing="ij"), -1).reshape(-1, cost.dim)
    everywhere = np.vstack([corners, rng.uniform(cost.lower, cost.upper, (points, cost.dim))])
    most = 0.0
    for star in cost.minimisers:
        direction = rng.uniform(-1, 1, (points, cost.dim))
        radius = cost.side * 2.0 ** rng.uniform(-20, 0, (points, 1))
        near = star + radius * direction / np.abs(direction).max(axis=1, keepdims=True)
        inside = near[np.all((near >= cost.lower) & (near <= cost.upper), axis=1)]
        x = np.vstack([everywhere, inside])
        distance = np.abs(x - star).max(axis=1)
        apart = distance > 0
        ratio = (cost.many(x[apart]) - cost.minimum) / distance[apart] ** cost.constants.alpha
        most = max(most, float(ratio.max()))
    return most


# Lemma 2


def bound_of(t, alpha, M) -> float:
    """The union bound of its proof: levels up to log2 t / (2α) + 1, times t, times exp(-ln² t / (M² + 2))."""
    levels = math.floor(math.log2(t) / (2 * alpha)) + 2
    return min(1.0, levels * t * math.exp(-(math.log(t) ** 2) / (M**2 + 2)))


def mus(cost) -> dict[str, float]:
    known = cost.constants
    return {
        "theorem": ABOVE * least_mu(cost),
        "minimum": known.mu_min,
        "half": known.mu_min / 2,
        "none": 0.0,
    }


def validity_table(settings, times, runs, seed):
    """How often the lower confidence bound of the cell of x* is above f*, at given times.

    `settings` are (family, dim, scale, mu, standard deviation of the noise).
    """
    import pandas as pd

    rows = []
    for family, dim, scale, which, sigma in settings:
        cost = zoo.get(family, dim=dim, scale=scale)
        mu = mus(cost)[which]
        algorithm = rc.AdaptiveBins(mu=mu).settle(cost)
        invalid = np.zeros(len(times), dtype=int)
        for run in _runs(algorithm, cost, runs, sigma, seed):
            for j, t in enumerate(times):
                run.advance(t)
                invalid[j] += star_bound(run) > cost.minimum
        M, alpha = cost.constants.M, cost.constants.alpha
        named = {"cost": family, "dim": dim, "scale": scale, "M": M, "which": which, "mu": mu, "sigma": sigma}
        rows += [
            named | {"t": t, "runs": runs, "invalid": int(count), "bound": bound_of(t, alpha, M)}
            for t, count in zip(times, invalid, strict=True)
        ]
    return pd.DataFrame(rows)


def _runs(algorithm, cost, count, sigma, seed):
    """Runs that differ in the place of x* in its cell and in the noise."""
    names = (algorithm, cost, sigma, "lemmas")
    for replicate in range(count):
        offset = stream(seed, *names, replicate, "offset").random(cost.dim).tolist()
        rng = stream(seed, *names, replicate)
        run = algorithm.start(cost, algorithm.a0, offset, rng, rc.Gaussian(sigma))
        run.offset = offset
        yield run


def star_bound(run) -> float:
    """g_(t+1)(x*): the key of the cell that holds x*, as Algorithm 2 has it."""
    i = int(run.state[STAR])
    n = run.n[i]
    if n == 0:
        return -math.inf
    return run.cell[i, TOTAL] / n - run.bias[run.level[i]] - math.log(run.t) / math.sqrt(n)


# Lemmas 3 and 4


def bad_cell_table(settings, horizons, runs, seed):
    """Per level k: runs with a query, and queries, in cells whose gap is so many times what a query there needs.

    With share 3 these are the cells A_k of the proof: f(c(B')) - f* ≥ 3 · 2^(-α(k-1)) max{ln T, mu a0^α} at the centre
    of the parent, and f(c(B)) - f* ≥ 3 mu a_k^α.  `settings` are (family, dim, scale, mu, cells along a side).
    """
    import pandas as pd

    rows = {}
    for family, dim, scale, which, cells in settings:
        cost = zoo.get(family, dim=dim, scale=scale)
        algorithm = rc.AdaptiveBins(mu=mus(cost)[which], a0=cost.side / cells).settle(cost)
        for run in _runs(algorithm, cost, runs, 1.0, seed):
            for T in horizons:
                run.advance(T)
                for k, share, gaps, queries in _bad_queries(run, algorithm, T):
                    key = (family, dim, cells, which, T, k, share)
                    if key not in rows:
                        there = _possible(run, algorithm, T, k, share)
                        rows[key] = {"runs": runs, "possible": there, "hit": 0, "queries": 0.0, "weighted": 0.0}
                    row = rows[key]
                    row["hit"] += bool(queries.sum() > 0)
                    row["queries"] += float(queries.sum())
                    row["weighted"] += float(queries @ gaps**2) / math.log(T) ** 2
    names = ("cost", "dim", "cells", "which", "T", "k", "share")
    found = pd.DataFrame([dict(zip(names, key, strict=True)) | row for key, row in rows.items()])
    alpha = [zoo.get(family, dim=dim).constants.alpha for family, dim in zip(found["cost"], found["dim"], strict=True)]
    found["t_k"] = [math.ceil((4 ** (a * k) - 1) / (4**a - 1)) for a, k in zip(alpha, found["k"], strict=True)]
    return found


def _bad_queries(run, algorithm, T):
    """(level, share, gaps of the bad cells that were made, their queries) after T queries."""
    cost, alpha, a0 = run.cost, algorithm.alpha, algorithm.a0
    level, n, lo = run.level[: run.cells], run.n[: run.cells], run.lo[: run.cells]
    middle = lo + run.side[level][:, None] / 2
    origin = cost.lower - np.array(run.offset) * a0
    for k in range(1, int(level.max()) + 1):
        deep = level >= k
        index = np.floor((middle[deep] - origin) / (a0 * 2.0**-k)).astype(int)
        index, first = np.unique(index, axis=0, return_index=True)
        # an ancestor of present cells was full when it was split
        queries = np.where(level[deep][first] == k, n[deep][first], math.ceil(2.0 ** (2 * alpha * k)))
        gap, above = _gaps(cost, origin, a0 * 2.0**-k, index)
        for share in SHARES:
            bad = _bad(algorithm, T, k, share, gap, above)
            yield k, share, gap[bad], queries[bad]


def _bad(algorithm, T, k, share, gap, above):
    """The condition of Lemma 4 at time T, where share is 3."""
    alpha, mu, a0 = algorithm.alpha, algorithm.mu, algorithm.a0
    parent = above >= share * 2.0 ** (-alpha * (k - 1)) * max(math.log(T), mu * a0**alpha)
    return parent & (gap >= share * mu * (a0 * 2.0**-k) ** alpha)


def _gaps(cost, origin, a, index):
    """f - f* at the centres of cells, and at those of their parents."""
    return (
        cost.many(origin + (index + 0.5) * a) - cost.minimum,
        cost.many(origin + (index // 2 + 0.5) * 2 * a) - cost.minimum,
    )


MOST = 4096  # cells that are looked at to see whether a level has bad ones


def _possible(run, algorithm, T, k, share) -> bool:
    """Whether the level has such cells at all, made or not: on a part of the grid that holds its corners."""
    cost, a = run.cost, algorithm.a0 * 2.0**-k
    origin = cost.lower - np.array(run.offset) * algorithm.a0
    count = np.ceil((cost.upper - origin) / a).astype(int)
    step = max(1, math.ceil((np.prod(count.astype(float)) / MOST) ** (1 / cost.dim)))
    axes = [np.unique(np.append(np.arange(0, m, step), m - 1)) for m in count]
    index = np.stack(np.meshgrid(*axes, indexing="ij"), -1).reshape(-1, cost.dim)
    return bool(_bad(algorithm, T, k, share, *_gaps(cost, origin, a, index)).any())


# Lemma 5


def mean_table(settings, shares, offsets, horizons, deepest):
    """Per level: the largest mean of f - f* over cells of B_k, divided by Lemma 5's bound.  Means in closed form.

    `settings` are (family, dim, parameters), `shares` are a0 in sides of the box.  The printed proof has a0 where a0^α
    belongs: `printed_step` is the largest mean over a cell near x*, divided by mu a0 2^(2-αk), `step` with a0^α.
    """
    import pandas as pd

    rows = []
    for family, dim, parameters in settings:
        cost = zoo.get(family, dim=dim, **dict(parameters))
        alpha = cost.constants.alpha
        label = " ".join([family, *(f"{name}={value:g}" for name, value in parameters)])
        for share in shares:
            a0 = share * cost.side
            for k in range(1, deepest[dim - 1] + 1):
                parts = [_cells(cost, a0, k, offset) for offset in offsets]
                gap, above, mean = (np.concatenate(part) for part in zip(*parts, strict=True))
                for which in ("theorem", "minimum"):
                    mu = mus(cost)[which]
                    near = gap < 3 * mu * (a0 * 2.0**-k) ** alpha
                    step = float(mean[near].max()) / (mu * 2.0 ** (2 - alpha * k)) if near.any() else math.nan
                    for T in horizons:
                        need = max(math.log(T), mu * a0**alpha)
                        good = near | (above < 3 * 2.0 ** (-alpha * (k - 1)) * need)
                        bound = 2.0 ** (dim + 2 - alpha * (k - 1)) * (math.log(T) + mu * a0**alpha)
                        rows.append(
                            {"cost": label, "dim": dim, "alpha": alpha, "a0": a0, "which": which, "T": T, "k": k}
                            | {"cells": len(gap), "good": int(good.sum())}
                            | {"ratio": float(mean[good].max()) / bound if good.any() else math.nan}
                            | {"printed_step": step / a0, "step": step / a0**alpha}
                        )
    return pd.DataFrame(rows)


def _cells(cost, a0, k, offset):
    """All cells of a level that touch the box: gaps at their centres and at their parents', and means of f - f*."""
    a = a0 * 2.0**-k
    origin = cost.lower - offset * a0
    roots = np.ceil((cost.upper - origin) / a0 - 1e-9).astype(int)
    axes = [np.arange(m * 2**k) for m in roots]
    index = np.stack(np.meshgrid(*axes, indexing="ij"), -1).reshape(-1, cost.dim)
    return *_gaps(cost, origin, a, index), closed_means(cost, origin + index * a, a)


def closed_means(cost, corner, a):
    """Means of f - f* over cubes, exact up to rounding: sums of powers, and what brings a mean of its own."""
    z = corner - cost.minimisers[0]
    if cost.mean is not None:
        return np.array([cost.compiled_mean(row, a) for row in np.ascontiguousarray(z)])
    powers = POWERS[cost.name](cost)
    total = sum(_side_mean(z[:, i], a, p) for i, p in enumerate(powers))
    return cost.parameters["scale"] * total


POWERS = {
    "quadratic": lambda cost: (2.0,) * cost.dim,
    "quartic": lambda cost: (4.0,) * cost.dim,
    "mixed_powers": lambda cost: cost.parameters["powers"],
    # in one dimension these are powers of |x - x*|
    "cone": lambda cost: (1.0,) * _line(cost),
    "power": lambda cost: (cost.parameters["power"],) * _line(cost),
    "cusp": lambda cost: (cost.parameters["power"],) * _line(cost),
}


def _line(cost) -> int:
    if cost.dim > 1:
        raise ValueError(f"{cost}: its means over cubes have no closed form here; take dim = 1")
    return 1


def _side_mean(t, a, p):
    """Of |t|^p over [t, t + a]."""

    def primitive(t):
        return np.sign(t) * np.abs(t) ** (p + 1) / (p + 1)

    return (primitive(t + a) - primitive(t)) / a
