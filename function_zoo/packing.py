"""Packing numbers of sublevel sets, measured."""

from __future__ import annotations

import itertools
from dataclasses import dataclass

import numpy as np

from .measure import Target, Witness


@dataclass(frozen=True)
class Packings:
    """Packing numbers seen: at least count[i] points of {f - f* < eps[i]} are a[i] apart; x[i] is one of them.

    `level_*` hold, for cells of side h, how many have a random point in the sublevel set; lattices that are aligned
    with a minimiser would round these numbers.  Times h^d they show how P a^d scales with eps for a <~ eps^(1/alpha).
    """

    eps: np.ndarray
    a: np.ndarray
    count: np.ndarray
    x: np.ndarray
    level_h: np.ndarray
    level_eps: np.ndarray
    level_count: np.ndarray

    def constant(self, beta, dim, alpha=None):
        """The smallest C0 in (c) that the packings allow, under (c') if alpha is given: a Witness."""
        ratio = self.count / (1 + self.eps**beta / self.a**dim)
        if alpha is not None:
            ratio = np.where(self.a**alpha <= self.eps * (1 + 1e-9), ratio, 0.0)
        i = int(np.argmax(ratio))
        return Witness(float(ratio[i]), self.x[i], float(self.a[i]), float(self.eps[i]))

    def scaling(self, dim):
        """eps, the count times h^d, and the count behind it; sorted by eps."""
        enough = self.level_count >= 50
        order = np.argsort(self.level_eps[enough])
        return (
            self.level_eps[enough][order],
            (self.level_count * self.level_h**dim)[enough][order],
            self.level_count[enough][order],
        )

    def beta(self, dim, span=(0.0, 0.4)):
        """The exponent: P a^d ~ eps^beta.  Fitted over a part of the range of log eps, by default the lowest."""
        eps, size, count = self.scaling(dim)
        if len(np.unique(eps)) < 4:  # the sublevel sets were lost, as around a point that is no minimiser
            return np.nan
        place = np.log(eps / eps[0]) / np.log(eps[-1] / eps[0])
        use = (place >= span[0]) & (place <= span[1])
        if len(np.unique(eps[use])) < 3:
            return np.nan
        weight = np.sqrt(np.minimum(count[use], 400))
        return float(np.polyfit(np.log(eps[use]), np.log(size[use]), 1, w=weight)[0])


def packings(target: Target, alpha, *, unit, bias, rng, floor=0.0, budget=150_000, depth=48):
    """Packing numbers of the sublevel sets, from box counts that zoom in on the minimisers level by level.

    A level has cells of side h.  Kept are those in which a sampled value stays below a multiple of unit h^alpha; f
    varies by some bias h^alpha within a cell of a sublevel set (M_b and mu_min are such constants).  Two kinds of
    certified packings come out: sampled points in every second cell along each axis, and points of sublattices of the
    cells' corners and centres.  No eps below `floor`, the uncertainty of the minimum, is looked at.
    """
    dim, low, high = target.dim, target.lower, target.upper
    ratios = 2.0 ** np.arange(-6, {1: 9, 2: 4, 3: 3}.get(dim, 2) + 1)
    start = {1: 8, 2: 4, 3: 3}.get(dim, 2)
    origin = target.minimisers[0]
    h = target.side / 2**start
    cells = _all_cells(target, h)
    rows, levels = list(_minimiser_packings(target, unit)), []
    rounding = 1e-12 * max(abs(target.minimum), 1e-3 * unit * target.side**alpha)
    floor = max(floor, rounding)
    kept = complete = np.inf  # cells whose samples stay below `kept` are there, hence all with a value below `complete`
    children = np.array(list(itertools.product((0, 1), repeat=dim)))
    for level in range(depth):
        values, lowest, where = _sampled(target, cells, h, rng)
        for ratio in ratios:
            eps = unit * (ratio * h) ** alpha
            if eps > kept:
                break
            if eps < floor:
                continue
            occupied = lowest < eps
            if not occupied.any():
                continue
            if eps <= complete:
                levels.append((h, eps, np.count_nonzero(values[2:] < eps) / 3))
            lattices = [cells[values[j] < eps] for j in (0, 1)]
            strides = 2 ** np.arange(0, start + level + 1)
            for stride, n, at in _largest_packings(cells[occupied], where[occupied], lattices, strides):
                rows.append((eps, h * stride, n, at))
                if n <= 1:
                    break
            if occupied.sum() > 20_000:
                break
        if level == 0:
            rows.extend(_box_lattices(target))
        order = np.argsort(lowest, kind="stable")[: budget // 2**dim]
        limit = min(unit * (2.5 * ratios[-1] * h) ** alpha, lowest[order[-1]] if len(order) < len(cells) else np.inf)
        order = order[lowest[order] <= limit]
        # A cell of the next level with a value below eps lies in one whose samples exceed eps by no more than the bias.
        kept = min(kept, limit)
        complete = min(complete, limit - bias * h**alpha)
        if complete <= 0 or unit * (ratios[-1] * h) ** alpha < floor or h < 1e-12 * target.side:
            break
        cells = (2 * cells[order][:, None, :] + children).reshape(-1, dim)
        h = h / 2
        touching = np.all((origin + cells * h <= high) & (origin + (cells + 1) * h >= low), axis=1)
        cells = cells[touching]
    eps, a, count, x = (list(column) for column in zip(*rows, strict=True))
    h, level_eps, n = np.array(levels, dtype=float).reshape(-1, 3).T
    return Packings(np.array(eps), np.array(a), np.array(count, dtype=float), np.array(x), h, level_eps, n)


def _all_cells(target: Target, h):
    """The cells of side h that meet the box, counted from a minimiser."""
    origin = target.minimisers[0]
    first = np.floor((target.lower - origin) / h).astype(np.int64)
    last = np.ceil((target.upper - origin) / h).astype(np.int64)
    cells = np.stack(np.meshgrid(*[np.arange(f, e) for f, e in zip(first, last, strict=True)], indexing="ij"), -1)
    return cells.reshape(-1, target.dim)


def _sampled(target: Target, cells, h, rng):
    """f - f* at a corner, the centre and three random points of each cell, infinite where these lie outside the box.

    Points clipped to the box still lie in their closed cell, so they count as samples but not as lattice points.  Also
    the lowest value of each cell, and where it is.
    """
    low, high = target.lower, target.upper
    corner = target.minimisers[0] + cells * h
    samples = np.stack([corner, corner + 0.5 * h, *(corner + h * rng.uniform(0, 1, corner.shape) for _ in range(3))])
    clipped = np.clip(samples, low, high)
    inside = np.all(clipped == samples, axis=2)
    values = target.many(clipped.reshape(-1, target.dim)).reshape(samples.shape[:2]) - target.minimum
    lowest, where = values.min(axis=0), clipped[values.argmin(axis=0), np.arange(len(cells))]
    return np.where(inside, values, np.inf), lowest, where


def _minimiser_packings(target: Target, unit):
    """The minimisers lie in every sublevel set: greedy packings of them, for e -> 0."""
    points = target.minimisers
    gaps = np.abs(points[:, None, :] - points[None, :, :]).max(axis=2)
    for a in np.unique(np.append(gaps[gaps > 0], target.side)):
        chosen = []
        for i in range(len(points)):
            if np.all(gaps[i, chosen] >= a):
                chosen.append(i)
        yield 1e-12 * unit, a, len(chosen), points[0]


_MIX = np.random.default_rng(2).integers(1, 2**63, 16, dtype=np.uint64) | np.uint64(1)


def _encode(cells):
    """One 64-bit hash for each row: rows that differ collide with probability 2^-64."""
    return cells.astype(np.uint64) @ _MIX[: cells.shape[1]]


def _largest_packings(occupied, points, lattices, strides):
    """For each stride, which doubles, the most points at distance >= stride cells, and one of them.

    They come from every second block of cells, or from a sublattice.
    """
    for stride in strides:
        blocks = occupied // stride
        _, representative = np.unique(_encode(blocks), return_index=True)
        parity = (blocks[representative] % 2) @ 2 ** np.arange(blocks.shape[1])
        classes = np.bincount(parity)
        best, at = int(classes.max()), points[representative[np.argmax(parity == classes.argmax())]]
        for lattice in lattices:
            if len(lattice):
                best = max(best, _most_equal(_encode(lattice % stride)))
        yield stride, best, at
        kept = np.sort(representative)  # the first cell of a block is the first of one of its halves
        occupied, points = occupied[kept], points[kept]


def _most_equal(values):
    """How often the most frequent value is there."""
    values = np.sort(values)
    starts = np.flatnonzero(values[1:] != values[:-1])
    return int(np.diff(starts, prepend=-1, append=len(values) - 1).max())


def _box_lattices(target: Target):
    """Packings by lattices that start in a corner of the box and end in the opposite one."""
    low, high, dim = target.lower, target.upper, target.dim
    most = {1: 256, 2: 40, 3: 16}.get(dim, 2)
    for m in range(1, most + 1):
        a = target.side / m
        axes = [lo + a * np.arange(np.floor((hi - lo) / a + 1e-9) + 1) for lo, hi in zip(low, high, strict=True)]
        points = np.stack(np.meshgrid(*axes, indexing="ij"), -1).reshape(-1, dim)
        values = np.sort(target.many(points) - target.minimum)
        # just above each of a few values, so many points lie below
        for k in np.unique(np.geomspace(1, len(values), 12).astype(int)):
            eps = values[k - 1] * (1 + 1e-9) + 1e-12
            yield eps, a * (1 - 1e-9), int(np.searchsorted(values, eps)), low
