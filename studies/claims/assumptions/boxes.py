"""Exponents of a cost as instruments see them: box counts of its sublevel sets, errors of its means over cubes."""

from __future__ import annotations

import math
from typing import NamedTuple

import numpy as np

from function_zoo.measure import Target, cube_errors
from function_zoo.packing import packings

ENOUGH = 50  # boxes, before a count is one of many
SPAN = 0.4  # of the range of ln ε, from its lower end: the part that a slope is fitted to
LEVELS = 4  # that a slope needs; where the span holds fewer, the lowest ones
LEVEL = 0.95


class Slope(NamedTuple):
    value: float
    low: float
    high: float
    points: int


def box_counts(label, cost, budget, seed):
    """Per generation of boxes of side h: how many meet {f - f* < ε}, ε as large as the generation is complete for."""
    known = cost.constants
    found = packings(
        Target.of(cost), known.alpha, unit=known.M_b, bias=known.mu_min, rng=np.random.default_rng(seed), budget=budget
    )
    rows = {}
    for h, eps, count in zip(found.level_h, found.level_eps, found.level_count, strict=True):
        if count >= ENOUGH and (h not in rows or count > rows[h]["boxes"]):
            rows[h] = {"h": h, "eps": eps, "boxes": count}
    named = {"cost": label, "dim": cost.dim, "alpha": known.alpha, "beta": known.beta}
    return [named | row for row in rows.values()]


def cube_error_rows(label, cost, seed, octaves=20):
    """Per length a: the largest |mean over B(x, a) - f(x)| that a search found."""
    known = cost.constants
    named = {"cost": label, "dim": cost.dim, "alpha": known.alpha, "M_b": known.M_b}
    found = cube_errors(Target.of(cost), np.random.default_rng(seed), octaves, starts=60)
    return [named | {"a": w.a, "error": w.value} for w in found]


def slope(x, y) -> Slope:
    """Least squares with a t interval."""
    from scipy.stats import linregress, t

    if len(x) < 3:
        return Slope(math.nan, math.nan, math.nan, len(x))
    line = linregress(x, y)
    reach = t.ppf((1 + LEVEL) / 2, len(x) - 2) * line.stderr
    return Slope(float(line.slope), float(line.slope - reach), float(line.slope + reach), len(x))


def beta(table) -> Slope:
    """Of one cost: N h^d grows like ε^β, N the boxes of side h that meet the sublevel set."""
    table = table.sort_values("eps")
    x = np.log(table["eps"].to_numpy())
    y = np.log(table["boxes"].to_numpy()) + table["dim"].to_numpy() * np.log(table["h"].to_numpy())
    use = x <= x[0] + SPAN * (x[-1] - x[0])
    if use.sum() < LEVELS:
        use = np.arange(len(x)) < LEVELS
    return slope(x[use], y[use])


def alpha(table) -> Slope:
    """Of one cost: the largest error grows like a^α; fitted to the same share of the range of ln a."""
    table = table[table["error"] > 0].sort_values("a")
    x, y = np.log(table["a"].to_numpy()), np.log(table["error"].to_numpy())
    use = x <= x[0] + SPAN * (x[-1] - x[0])
    return slope(x[use], y[use])
