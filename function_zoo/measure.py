"""Instruments that measure a cost: cube means and extremes (packing.py: packing numbers).  They know no annotation.

Everything measured is a certified lower bound up to quadrature: a cube on which the mean error was seen, points that
do have the stated distance and lie in the sublevel set, a point at which f was evaluated.
"""

from __future__ import annotations

import itertools
from dataclasses import dataclass
from functools import lru_cache

import numpy as np

CHUNK = 2**18  # points evaluated at once
ROUNDING = 1e-11  # means that differ by less than this share of |f| are not trusted


@dataclass(frozen=True)
class Target:
    """What the instruments need to know of a function."""

    many: object  # (n, d) array -> (n,) array
    lower: np.ndarray
    upper: np.ndarray
    minimum: float
    minimisers: np.ndarray
    margin: float  # f may be evaluated this far outside the box
    longest: float  # no cube is longer

    def fit(self, centres, a):
        """Cubes of length a moved to where f may be evaluated."""
        spare = self.margin - a / 2
        return np.clip(centres, self.lower - spare, self.upper + spare)

    @property
    def dim(self):
        return len(self.lower)

    @property
    def side(self):
        return float(np.max(self.upper - self.lower))

    @classmethod
    def of(cls, cost):
        return cls(
            cost.many,
            cost.lower,
            cost.upper,
            cost.minimum,
            cost.minimisers,
            cost.margin,
            cost.margin,
        )


@dataclass(frozen=True)
class Witness:
    """A measured value and the place where it was seen."""

    value: float
    x: np.ndarray | None = None
    a: float | None = None
    eps: float | None = None

    def __str__(self):
        parts = []
        if self.x is not None:
            parts.append("x = (" + ", ".join(f"{v:.5g}" for v in self.x) + ")")
        if self.a is not None:
            parts.append(f"a = {self.a:.3g}")
        if self.eps is not None:
            parts.append(f"ε = {self.eps:.3g}")
        return ", ".join(parts)


# Means over cubes


@lru_cache(maxsize=32)
def cube_rule(dim: int, size: int):
    """Points in the centred unit cube and weights: a lattice rule, folded by the tent map, in all 2^d orthants.

    A rank-1 lattice has as many different values on each axis as it has points, which a tensor grid has not: rough
    sums over coordinates are resolved.  The orthants cancel all odd terms, so that the small error left in
    (mean - f(centre)) is not drowned by the gradient.
    """
    multipliers = np.arange(1, size // 2 + 1)
    generators = np.ones((len(multipliers), dim), dtype=np.int64)
    for i in range(1, dim):
        generators[:, i] = generators[:, i - 1] * multipliers % size
    index = np.arange(size)
    # Korobov's criterion for smooth periodic functions: the worst-case error in the unweighted space of order 2
    error = np.empty(len(multipliers))
    for row, z in enumerate(generators):
        y = np.outer(index, z) % size / size
        error[row] = np.prod(1 + 2 * np.pi**2 * (y * y - y + 1 / 6), axis=1).mean()
    best = generators[np.argmin(error)]
    half = np.arange(size // 2 + 1)  # the tent map sends i and size - i to the same point
    y = np.outer(half, best) % size / size
    orthant = 0.5 * (1 - np.abs(2 * y - 1))
    weight = np.full(len(half), 2.0)
    weight[0] = 1.0
    signs = np.array(list(itertools.product((1.0, -1.0), repeat=dim)))
    points = (orthant[None, :, :] * signs[:, None, :]).reshape(-1, dim)
    weights = np.tile(weight, len(signs))
    return points, weights / weights.sum()


def _rule_size(dim, fine):
    """Odd lattice sizes: some 200 points in the cube to search with, some thousands to decide with."""
    return {1: (127, 2047), 2: (127, 1023), 3: (63, 1021)}.get(dim, (31, 255))[fine]


def cube_means(target: Target, centres, lengths, fine=False):
    """Means of f over the cubes of the given centres (k, d) and lengths (k,)."""
    points, weights = cube_rule(target.dim, _rule_size(target.dim, fine))
    centres, lengths = np.atleast_2d(centres), np.broadcast_to(lengths, len(centres))
    means = np.empty(len(centres))
    step = max(1, CHUNK // len(points))
    for i in range(0, len(centres), step):
        block = centres[i : i + step, None, :] + lengths[i : i + step, None, None] * points
        values = target.many(block.reshape(-1, target.dim)).reshape(block.shape[:2])
        means[i : i + step] = values @ weights
    return means


def lengths(target: Target, octaves=20):
    return target.longest * 0.5 ** np.arange(0, octaves + 0.5, 0.5)


def _climb(score, start, *, propose, rng, rounds=6, width=12):
    """Random local search from the best few starts: the largest score and where."""
    places, best = start
    spread = 1.0
    for _ in range(rounds):
        trial = propose(np.repeat(places, width, axis=0), spread, rng)
        value = score(trial)
        everything = np.vstack([places, trial])
        scores = np.concatenate([best, value])
        keep = np.argsort(-scores)[: len(places)]
        places, best = everything[keep], scores[keep]
        spread *= 0.5
    return places[0], best[0]


def cube_errors(target: Target, rng, octaves=20, starts=160):
    """For each length a the largest |mean of f over B(x, a) - f(x)| that was found, x in the box: [Witness, ...].

    The list ends where the errors drown in rounding.  Candidates: random points, corners, the neighbourhood of the
    minimisers at the scale of a, and the worst places of the previous length; then a local search, which also climbs
    onto kinks.
    """
    low, high, dim = target.lower, target.upper, target.dim
    corners = np.array(list(itertools.product(*zip(low, high, strict=True))))[:64]
    scattered = rng.uniform(low, high, (starts, dim))
    some = target.minimisers[:16]
    found = []
    drowned = ROUNDING * np.abs(target.many(scattered)).max()
    carried = np.empty((0, dim))
    for a in lengths(target, octaves):
        near = np.repeat(some, 6, axis=0)
        near = near + a * rng.uniform(-1, 1, near.shape)
        candidates = target.fit(np.clip(np.vstack([some, near, corners, scattered, carried]), low, high), a)

        def score(x, a=a):
            return np.abs(cube_means(target, x, a) - target.many(x))

        def propose(x, spread, rng, a=a):
            return target.fit(np.clip(x + spread * a * rng.uniform(-1, 1, x.shape), low, high), a)

        first = score(candidates)
        top = np.argsort(-first)[:6]
        x, _ = _climb(score, (candidates[top], first[top]), propose=propose, rng=rng)
        # The coarse rule may favour a lucky place: let the fine one decide among the finalists.
        finalists = np.vstack([x[None], candidates[top[:3]]])
        exact = np.abs(cube_means(target, finalists, a, fine=True) - target.many(finalists))
        best = np.argmax(exact)
        carried = np.vstack([finalists[best][None], candidates[top]])
        if exact[best] < drowned:
            break
        found.append(Witness(float(exact[best]), finalists[best], float(a)))
    return found


def minimiser_biases(target: Target, rng, octaves=20):
    """For each length a the largest (mean of f over B - f*), B a cube of length a with a minimiser in it: [Witness]."""
    dim = target.dim
    some = target.minimisers[:48]
    places = np.array(list(itertools.product((-0.5, 0.5), repeat=min(dim, 6))))
    places = np.hstack([places, np.full((len(places), dim - places.shape[1]), 0.5)])
    places = np.vstack([places, np.zeros((1, dim)), rng.uniform(-0.5, 0.5, (4, dim))])
    grid = np.hstack([np.repeat(some, len(places), axis=0), np.tile(places, (len(some), 1))])
    found = []
    drowned = ROUNDING * max(abs(target.minimum), 1e-6 * np.abs(target.many(some + target.margin / 2)).max())
    for a in lengths(target, octaves):

        def score(rows, a=a, fine=False):
            return cube_means(target, target.fit(rows[:, :dim] + a * rows[:, dim:], a), a, fine) - target.minimum

        def propose(rows, spread, rng):
            moved = rows.copy()
            moved[:, dim:] = np.clip(rows[:, dim:] + 0.3 * spread * rng.uniform(-1, 1, rows[:, dim:].shape), -0.5, 0.5)
            return moved

        first = score(grid)
        top = np.argsort(-first)[:4]
        row, _ = _climb(score, (grid[top], first[top]), propose=propose, rng=rng, rounds=4)
        finalists = np.vstack([row[None], grid[top]])
        exact = score(finalists, fine=True)
        best = np.argmax(exact)
        centre = target.fit(finalists[best, :dim] + a * finalists[best, dim:], a)
        if exact[best] < drowned:
            break
        found.append(Witness(float(exact[best]), centre, float(a)))
    return found


def power_law(witnesses, span=(0.6, 1.0)):
    """The slope of log value against log a over a part of the lengths, by default the smallest; nan if few."""
    value = np.array([w.value for w in witnesses])
    a = np.array([w.a for w in witnesses])
    place = np.linspace(0, 1, len(a))
    use = (place >= span[0]) & (place <= span[1]) & (value > 0)  # zero: the search missed a jump at that length
    return float(np.polyfit(np.log(a[use]), np.log(value[use]), 1)[0]) if use.sum() >= 3 else np.nan


def worst_ratio(witnesses, alpha):
    """The largest value / a^alpha, with its place."""
    worst = max(witnesses, key=lambda w: w.value / w.a**alpha)
    return Witness(worst.value / worst.a**alpha, worst.x, worst.a)


# Extremes


def extremes(target: Target, rng, size=60_000, extended=False):
    """The lowest and highest value found on the box (or, extended, on the box with its margin): two Witnesses."""
    reach = target.margin if extended else 0.0
    low, high = target.lower - reach, target.upper + reach
    corners = np.array(list(itertools.product(*zip(low, high, strict=True))))[:4096]
    points = np.vstack([corners, np.clip(target.minimisers, low, high), rng.uniform(low, high, (size, target.dim))])
    values = target.many(points)
    if not np.all(np.isfinite(values)):
        bad = np.flatnonzero(~np.isfinite(values))
        x = points[bad[np.argmin(np.max(np.maximum(low + reach - points[bad], points[bad] - high + reach), axis=1))]]
        return Witness(np.nan, x), Witness(np.nan, x)
    ends = []
    for sign in (-1.0, 1.0):
        top = np.argsort(-sign * values)[:8]

        def propose(x, spread, rng):
            return np.clip(x + 0.1 * target.side * spread**3 * rng.uniform(-1, 1, x.shape), low, high)

        x, v = _climb(
            lambda x, s=sign: s * target.many(x),
            (points[top], sign * values[top]),
            propose=propose,
            rng=rng,
            rounds=12,
            width=24,
        )
        ends.append(Witness(float(sign * v), x))
    return ends
