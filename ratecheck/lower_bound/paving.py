"""Sums over the points of a lattice, far too many to visit: blocks of points are cut until the sum is sharp enough.

A block is named by the cuts that lead to it: "a" is the lower half in the first coordinate, "A" the upper half, "aB"
the upper half of that in the second; of the indices first, ..., last the lower half ends at (first + last) // 2.
`written` makes one text of all blocks: the tree of cuts in preorder, a letter for a cut, "." for a block and "-" for
what was dropped.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np


@dataclass(frozen=True)
class Lattice:
    """The points origin + pitch * i, first <= i <= last in every coordinate."""

    origin: np.ndarray
    pitch: float
    first: np.ndarray
    last: np.ndarray

    @classmethod
    def within(cls, lower, upper, origin, pitch) -> Lattice:
        """All of the points that lie in a box, by a hair less: no rounding puts one outside."""
        below, above = (lower - origin) / pitch, (upper - origin) / pitch
        first = np.ceil(below + 1e-9 + 1e-15 * np.abs(below))
        last = np.floor(above - 1e-9 - 1e-15 * np.abs(above))
        return cls(np.asarray(origin, float), float(pitch), first.astype(np.int64), last.astype(np.int64))

    def points(self, indices) -> np.ndarray:
        return self.origin + self.pitch * indices


@dataclass(frozen=True)
class Blocks:
    """Blocks of lattice points, first <= i <= last, and bounds of an expression over each."""

    first: np.ndarray  # (n, d)
    last: np.ndarray
    names: np.ndarray  # (n,), of texts
    least: np.ndarray  # (n,)
    most: np.ndarray

    def __len__(self) -> int:
        return len(self.first)

    @property
    def counts(self) -> np.ndarray:
        return np.prod((self.last - self.first + 1).astype(float), axis=1)

    def chosen(self, which) -> Blocks:
        return Blocks(*(getattr(self, name)[which] for name in FIELDS))


FIELDS = ("first", "last", "names", "least", "most")


def pave(enclose, lattice: Lattice, *, worth, tolerance=0.02, most_blocks=20_000) -> Blocks:
    """Cut the lattice until the sum of `worth` over its points is known to `tolerance`, or there are too many blocks.

    `enclose(low, high)` bounds the expression over boxes; `worth(value)` is not negative and never grows.  Blocks that
    are worth nothing are dropped; one that is a single point is never cut.
    """

    def made(first, last, names):
        return Blocks(first, last, names, *enclose(lattice.points(first), lattice.points(last)))

    blocks = made(lattice.first[None], lattice.last[None], np.array([""], dtype=object))
    while True:
        possible = blocks.counts * worth(blocks.least)
        blocks, possible = blocks.chosen(possible > 0), possible[possible > 0]
        doubt = np.where(blocks.counts > 1, possible - blocks.counts * worth(blocks.most), 0.0)
        if doubt.sum() <= tolerance * possible.sum() or len(blocks) >= most_blocks:
            return blocks
        order = np.argsort(-doubt)
        enough = np.searchsorted(np.cumsum(doubt[order]), 0.7 * doubt.sum()) + 1
        cut = np.zeros(len(blocks), dtype=bool)
        cut[order[: min(enough, most_blocks - len(blocks))]] = True
        parts = [blocks.chosen(~cut), *_halved(made, blocks.chosen(cut), worth)]
        blocks = Blocks(*(np.concatenate([getattr(part, name) for part in parts]) for name in FIELDS))


def _halved(made, blocks, worth):
    """Each block cut in two across the coordinate where that tells most; where nothing tells, across the longest."""
    sides = (blocks.last - blocks.first + 1).T
    dim, n = sides.shape
    middles = (blocks.first + blocks.last) // 2
    first, last = (np.repeat(ends[None], 2 * dim, axis=0) for ends in (blocks.first, blocks.last))
    for axis in range(dim):
        last[2 * axis, :, axis] = middles[:, axis]
        first[2 * axis + 1, :, axis] = np.minimum(middles[:, axis] + 1, blocks.last[:, axis])
    letters = [letter for axis in range(dim) for letter in (chr(ord("a") + axis), chr(ord("A") + axis))]
    names = np.concatenate([blocks.names + letter for letter in letters])
    halves = made(first.reshape(-1, dim), last.reshape(-1, dim), names)
    doubts = (halves.counts * (worth(halves.least) - worth(halves.most))).reshape(dim, 2, n).sum(axis=1)
    # a side of one point is not cut
    doubts = np.where(sides > 1, np.round(doubts / (1e-300 + doubts.max(axis=0)), 3), 2.0)
    best = np.lexsort((-sides, doubts), axis=0)[0]
    return [halves.chosen((2 * best + half) * n + np.arange(n)) for half in (0, 1)]


def written(names) -> str:
    text, waiting = [], [(0, sorted(names, key=str.swapcase))]  # the lower half first
    while waiting:
        depth, below = waiting.pop()
        if not below:
            text.append("-")
        elif len(below) == 1 and len(below[0]) == depth:
            text.append(".")
        else:
            letter = below[0][depth].lower()
            text.append(letter)
            lower = [name for name in below if name[depth] == letter]
            waiting += [(depth + 1, below[len(lower) :]), (depth + 1, lower)]
    return "".join(text)
