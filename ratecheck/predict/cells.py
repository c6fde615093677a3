"""The cells that a level asks for, as a tree: their gaps, computed when first needed, and how often each was queried.

Cells of one level with about the same gap are queried alike, so a sample of them with weights stands for all.  A tree
that is thinned is walked level by level.  Where more than so many cells of a shell (gaps within a factor of sqrt 2) are
to be split, some of them are drawn, systematically in the order of their gaps and with probabilities proportional to
their weights; only these have children, with the inverse probability as weight.  Cells that hold or touch a known
minimiser are always kept.  Every sum over cells stays unbiased.  With nothing drawn the tree is that of all cells.
"""

from __future__ import annotations

import math
from fractions import Fraction

import numpy as np

from ..algorithms import partition
from ..sampling.generator import open_state
from ..sampling.jit import compiled
from . import bins
from .means import AT_CENTRE, BY_CUBES, BY_SIDES, CLOSED, SLOTS, fill, lowest, no_mean, place
from .passage import NO_ROOM, SPLIT, asked, paths_for, spread, with_room
from .thinning import SHELLS, SORTS, UNDECIDED, allocating, decide, shell_of, shell_within

FINE, PASSED, FULL, UNRESOLVED = range(4)  # how a walk ended
PULLS, CELLS, REGRET, ERROR = range(4)  # columns of what is summed by level
ALL = 2**62  # cells of a shell: none is left out
MOST_RELEASED = 64
GIVE_UP_AFTER = 2.0  # in a search a trial level is given up when its pulls pass so many horizons
HEADROOM = 16.0  # pulls of a trial level that a tree has levels for, as a multiple of the horizon
SHORTEST = 1e-300  # side
SAMPLED_FROM = 256  # times the cells kept of a shell: fewer bins are all taken
TOLD_APART = 2.0**51  # an index; cells with larger ones are not sure to be told from their neighbours
ANCHORED_BY = 40  # the level up to which a cell changes to a nearer minimiser


class Tree:
    """The cells of one partition of a cost, for an algorithm with a level rule, up to a horizon.

    A shell is thinned to `kept` cells; `thinned` says whether any was.  Cells are queried until their mean has risen
    to the level; after `draw`, until a mean that is drawn has.
    """

    def __init__(self, cost, rule, *, length, offset, horizon, kept=ALL, seed=0):
        self.cost, self.dim, self.kept = cost, (d := cost.dim), kept
        levels = 1
        while rule.capacity(levels - 1) <= 2 * HEADROOM * horizon:
            levels += 1
        self.capacity = np.array([float(rule.capacity(k)) for k in range(levels)])
        self.inverse_root = 1 / np.sqrt(self.capacity)
        self.bias = np.array([float(rule.bias(k)) for k in range(levels)])
        self.highest = self.bias + rule.bonus(horizon) * self.inverse_root  # gap of a cell that is split, but for roots
        self.side = np.array([length * 2.0**-k for k in range(levels + 1)])
        self.sort = AT_CENTRE if rule.at_centre else CLOSED if cost.mean else BY_SIDES if cost.separable else BY_CUBES
        relative = cost.gap is not None
        anchors = cost.minimisers if cost.anchored else cost.images(length) if cost.period else cost.minimisers[:1]
        first, self.home, self.phase = places(cost, anchors, length=length, offset=offset, levels=levels + 1)
        self.f = cost.compiled_gap if relative else cost.compiled
        self.mean = cost.compiled_mean or no_mean
        self.origin = np.zeros(d) if relative else cost.minimisers[0].copy()
        self.minimum = 0.0 if relative else cost.minimum
        self.z, self.x = np.empty(d), np.zeros(d + cost.anchored)
        self.least = bins.CLEAR**cost.constants.alpha * self._noise(cost)
        known = cost.minimisers if cost.constants.literal else cost.minimisers[:1]
        _, self.guarded, _ = places(
            cost, anchors if cost.period else known, length=length, offset=offset, levels=levels + 1
        )
        self.state = open_state(np.random.SeedSequence(seed))

        self.pieces = np.empty((2**d * 50, 2 * d))  # halved 40 times at most
        self.sides = np.full((SLOTS if self.sort == BY_SIDES else 0, 5), -1.0)
        self.counts = np.zeros(3, dtype=np.int64)
        self.taken = np.zeros((levels, SORTS), dtype=np.int64)  # cells chosen to have children
        self.most = 2 * HEADROOM * horizon
        self.paths = paths_for(None, self.capacity, self.most, 0)
        self._plant(first, partition.counts(cost, length, offset))
        self._make_room(4 * self.roots + 64 if levels > 1 else self.roots)

    def _plant(self, first, counts):
        """The initial cells, all of them or, where these are many bins, a sample."""
        if self.kept < ALL and self.sort == AT_CENTRE and math.prod(counts) > SAMPLED_FROM * self.kept:
            low, high = np.array(first, float), np.array([q + m for q, m in zip(first, counts, strict=True)], float)
            self.index, self.anchor, self.gap, self.weight, self.resolved = bins.sample(
                low, high, self.side[0], self.f, self.origin, self.minimum, self.home, self.phase, self.z,
                self.x, self.kept, self.state,
            )  # fmt: skip
            self.counts[2] = 1
        else:
            axes = [first_q + np.arange(m) for first_q, m in zip(first, counts, strict=True)]
            self.index = np.stack(np.meshgrid(*axes, indexing="ij"), axis=-1).reshape(-1, self.dim).astype(float)
            self.weight, self.anchor = np.ones(len(self.index)), np.zeros(len(self.index), dtype=np.int64)
            self.resolved = True
        self.roots = self.used = size = len(self.index)
        self.error, self.variance, self.heirs = np.zeros(size), np.zeros(size), np.full(size, UNDECIDED)
        self.child = np.zeros(size, dtype=np.int64)
        if not self.thinned:
            self.gap = np.empty(size)
            settle(0, size, 0, 1, self.home, self.guarded, self.phase, self.index, self.anchor, self.weight, self.heirs)
            fill(0, size, 0, *self._formula(), self.index, self.anchor, self.gap, self.error)
        if self.sort == AT_CENTRE:  # no other cells are split, which is when the gap of a cell is looked at
            near = (np.abs(self.index) <= 1).all(axis=1)
            self.resolved &= not near.any() or float(self.gap[near].max()) >= self.least

    def _noise(self, cost) -> float:
        """What the roundings of coordinates, and those of the formula, make of the gap at the minimisers."""
        z = np.zeros((1, self.dim)) if cost.anchored else cost.minimisers - cost.minimisers[0]
        steps = 4 * np.maximum(np.spacing(np.abs(self.origin + z)), np.spacing(np.abs(z)))
        around = np.random.default_rng(0).choice([-1.0, 0.5, 1.0], (16, 1, self.dim))
        points = np.zeros((len(z) * 16, len(self.x)))
        points[:, : self.dim] = (self.origin + z + steps * around).reshape(-1, self.dim)
        found = max(abs(float(self.f(x)) - self.minimum) for x in points)
        return max(found, float(np.spacing(abs(self.minimum)))) if self.minimum else found

    def draw(self, noise, seed):
        """Draw what is seen in the cells, points and noise, anew."""
        self.paths = paths_for(noise, self.capacity, self.most, len(self.gap))
        self.state = open_state(np.random.SeedSequence(seed))

    def _formula(self):
        return (
            self.f, self.mean, self.sort, self.origin, self.minimum,
            self.side, self.phase, self.pieces, self.sides, self.z, self.x,
        )  # fmt: skip

    def _walked(self):
        return (
            self.kept, self.capacity, self.inverse_root, self.bias, self.highest, self.least, *self._formula(),
            self.home, self.guarded, self.index, self.anchor, self.gap, self.error, self.weight, self.heirs, self.child,
            self.front, self.state, self.counts, self.paths, self.variance, self.asking,
            self.taken,
        )  # fmt: skip

    def asked(self, cells, level, bonus):
        """How often some cells, pairs of a cell and its level, are queried at a level."""
        while True:
            how = (
                self.paths, self.capacity, self.inverse_root, self.bias, self.sort, self.f, self.origin, self.minimum,
                self.side, self.phase, self.z, self.x, self.index, self.anchor, self.gap, self.variance, self.state,
            )  # fmt: skip
            found = np.array([asked(i, k, level, bonus, *how) for i, k in cells])
            if NO_ROOM not in found:
                return found
            self._make_room(2 * len(self.gap))

    def _make_room(self, size):
        for name in ("index", "gap", "error", "variance", "weight", "heirs", "child", "anchor"):
            old = getattr(self, name)
            new = np.zeros((size, *old.shape[1:]), dtype=old.dtype)
            new[: self.used] = old[: self.used]
            setattr(self, name, new)
        self.front, self.asking = np.empty((2, size), dtype=np.int64), np.empty(size)
        self.paths = with_room(self.paths, size)

    @property
    def thinned(self) -> bool:
        return bool(self.counts[2])

    @property
    def drawn(self) -> bool:
        return self.paths.counts.size > 0

    def walk(self, starts, level, *, bonus, most, before=-math.inf):
        """The sums by level over the trees below the starts, or None, and a status.

        `before` is a lower level; `released` are then the topmost cells that were full at it and are split at this one.
        """
        sums = np.zeros((len(self.capacity), 4))
        released = np.empty((MOST_RELEASED, 2), dtype=np.int64)
        while True:
            sums[:] = 0.0
            self.counts[:2] = self.used, 0
            status = walk(starts, level, before, bonus, most, sums, released, *self._walked())
            self.used = int(self.counts[0])
            if status != FULL:
                return sums if status == FINE else None, status, released[: self.counts[1]]
            self._make_room(2 * len(self.gap))

    def search(self, starts, s, *, step, growth, pulls, bonus, horizon, unit, shared, resolution):
        """Two trial levels with `pulls` between them, (s, level, pulls, status) and sums of each; see `search`."""
        sums, found = np.zeros((3, len(self.capacity), 4)), np.empty((2, 4))
        while True:
            self.counts[:2] = self.used, 0
            low = search(
                s, step, growth, pulls, unit, shared, resolution, sums, found, starts, bonus, GIVE_UP_AFTER * horizon,
                *self._walked(),
            )  # fmt: skip
            self.used = int(self.counts[0])
            if low >= 0:
                return found, sums[low], sums[int(self.counts[1])]
            self._make_room(2 * len(self.gap))

    def spread(self, level, bonus):
        """The regret in cells within which f varies, each weighted with its variance in units of the squared bonus."""
        return spread(
            self.starts(), level, bonus, self.capacity, self.inverse_root, self.bias, self.f, self.origin, self.side,
            self.phase, self.z, self.x, self.index, self.anchor, self.gap, self.weight, self.child, self.variance,
            self.front,
        )  # fmt: skip

    def starts(self):
        """The roots, as pairs of a cell and its level."""
        return np.stack([np.arange(self.roots), np.zeros(self.roots, dtype=np.int64)], axis=1)

    def below(self, cells):
        """The children of some cells, those that have any."""
        parts = np.arange(2**self.dim)
        found = [(self.child[i] + part, k + 1) for i, k in cells if self.child[i] for part in parts]
        return np.array(found, dtype=np.int64).reshape(-1, 2)


def places(cost, minimisers, *, length, offset, levels):
    """The index of the first root along each axis, the homes of minimisers and their places in them.

    Indices are counted from the home of the first minimiser, the cell that holds it: homes (m, levels, d); places, as
    fractions of the side, likewise.  Exact: binary digits of a quotient of floating-point numbers, as many as one
    likes; but homes far from the first are floating-point numbers.
    """
    shape = (len(minimisers), levels, cost.dim)
    first, home, phase = [], np.empty(shape), np.empty(shape)
    for q, (low, u) in enumerate(zip(cost.lower.tolist(), offset, strict=True)):
        start = None
        for m, x in enumerate(minimisers[:, q].tolist()):
            place = (Fraction(x) - Fraction(low)) / Fraction(length) + Fraction(u)
            whole, rest = divmod(place.numerator, place.denominator)
            starts = []
            for k in range(levels):
                phase[m, k, q] = rest / place.denominator
                starts.append(whole)
                home[m, k, q] = float(whole - (starts if start is None else start)[k])
                digit, rest = divmod(2 * rest, place.denominator)
                whole = 2 * whole + digit
            start = starts if start is None else start
        first.append(-start[0])
    return first, home, phase


@compiled
def settle(first, last, k, guarded_parent, home, guarded, phase, index, anchor, weight, heirs):
    """Give new cells the nearest minimiser as anchor, and children of their own to those that touch a minimiser."""
    d = index.shape[1]
    for i in range(first, last):
        if home.shape[0] > 1 and k <= ANCHORED_BY:
            nearest, best = math.inf, anchor[i]
            for m in range(home.shape[0]):
                distance = 0.0
                for q in range(d):
                    j = index[i, q] + home[anchor[i], k, q] - home[m, k, q]
                    distance = max(distance, abs(j + 0.5 - phase[m, k, q]))
                if distance < nearest:
                    nearest, best = distance, m
            for q in range(d):
                index[i, q] += home[anchor[i], k, q] - home[best, k, q]
            anchor[i] = best
        heirs[i] = UNDECIDED
        if guarded_parent:
            for m in range(guarded.shape[0]):
                touches = True
                for q in range(d):
                    apart = index[i, q] + home[anchor[i], k, q] - guarded[m, k, q]
                    touches &= abs(apart) <= 1.0 and abs(index[i, q]) < TOLD_APART
                if touches:
                    heirs[i] = weight[i]
                    break


@allocating
def walk(
    starts, level, before, bonus, most, sums, released,
    kept, capacity, inverse_root, bias, highest, least, f, mean, sort, origin, minimum, side, phase, pieces, sides,
    z, x, home, guarded, index, anchor, gap, error, weight, heirs, child, front, state, counts,
    paths, variance, asking, taken,
):  # fmt: skip
    d = index.shape[1]
    children = 2**d
    total = 0.0
    waiting, begun, k = 0, 0, starts[0, 1]  # cells of this level in front[here]; those below a released cell as -1 - i
    here, there = 0, 1
    wanted = np.zeros(SHELLS, dtype=np.bool_)
    while waiting or begun < starts.shape[0]:
        while begun < starts.shape[0] and starts[begun, 1] == k:
            front[here, waiting] = starts[begun, 0]
            waiting += 1
            begun += 1
        undecided = False
        for w in range(waiting):
            i = front[here, w] if front[here, w] >= 0 else -1 - front[here, w]
            asking[w] = asked(
                i, k, level, bonus, paths, capacity, inverse_root, bias, sort, f, origin, minimum, side, phase, z, x,
                index, anchor, gap, variance, state,
            )  # fmt: skip
            if asking[w] == NO_ROOM:
                return FULL
            if heirs[i] == UNDECIDED and asking[w] == SPLIT:
                wanted[shell_of(gap[i], highest[k])] = undecided = True
        if undecided:
            found = 0
            for w in range(waiting):
                i = front[here, w] if front[here, w] >= 0 else -1 - front[here, w]
                if heirs[i] == UNDECIDED and wanted[shell_of(gap[i], highest[k])]:
                    front[there, found] = i
                    found += 1
            shells = np.empty(found, dtype=np.int64)
            for w in range(found):
                i = front[there, w]
                place(z, x, side[k], phase[anchor[i], k], index[i], anchor[i])
                shells[w] = shell_within(gap[i], highest[k], lowest(f, origin, minimum, z, side[k], x))
            counts[2] |= decide(front[there, :found].copy(), shells, taken[k], kept, gap, weight, heirs, state)
            wanted[:] = False
        followed = 0
        for w in range(waiting):
            i, free = front[here, w], True
            if i < 0:
                i, free = -1 - i, False
            n = asking[w]
            if n == SPLIT:
                n = capacity[k]
                if free and counts[1] < released.shape[0]:
                    earlier = asked(
                        i, k, before, bonus, paths, capacity, inverse_root, bias, sort, f, origin, minimum, side,
                        phase, z, x, index, anchor, gap, variance, state,
                    )  # fmt: skip
                    free = earlier == SPLIT
                    if not free:
                        released[counts[1], 0], released[counts[1], 1] = i, k
                        counts[1] += 1
                if heirs[i] > 0.0:
                    if child[i] == 0:
                        place(z, x, side[k], phase[anchor[i], k], index[i], anchor[i])
                        if gap[i] < least or side[k + 1] < SHORTEST or bins.blurred(f, origin, minimum, z, side[k], x):
                            return UNRESOLVED
                        used = counts[0]
                        if used + children > gap.size:
                            return FULL
                        for part in range(children):
                            for q in range(d):
                                upper = (part >> q) & 1
                                digit = 1.0 if phase[anchor[i], k, q] >= 0.5 else 0.0
                                index[used + part, q] = 2.0 * index[i, q] + upper - digit
                            weight[used + part], anchor[used + part], child[used + part] = heirs[i], anchor[i], 0
                        touched = 1 if heirs[i] == 1.0 else 0
                        settle(
                            used, used + children, k + 1, touched, home, guarded, phase, index, anchor, weight, heirs
                        )
                        fill(
                            used, used + children, k + 1, f, mean, sort, origin, minimum, side, phase, pieces, sides,
                            z, x, index, anchor, gap, error, gap[i],
                        )  # fmt: skip
                        child[i] = used
                        counts[0] = used + children
                    for part in range(children):
                        front[there, followed] = child[i] + part if free else -1 - child[i] - part
                        followed += 1
            else:
                sums[k, CELLS] += weight[i]
            total += weight[i] * n
            if total > most:
                return PASSED
            sums[k, PULLS] += weight[i] * n
            sums[k, REGRET] += weight[i] * n * gap[i]
            sums[k, ERROR] += weight[i] * n * error[i]
        here, there, waiting = there, here, followed
        k += 1
    return FINE


@allocating
def search(
    s, step, growth, pulls, unit, shared, resolution, sums, found, starts, bonus, most,
    kept, capacity, inverse_root, bias, highest, least, f, mean, sort, origin, minimum, side, phase, pieces, sides,
    z, x, home, guarded, index, anchor, gap, error, weight, heirs, child, front, state, counts,
    paths, variance, asking, taken,
):  # fmt: skip
    """Find two trial levels with `pulls` between them that differ by at most `shared` pulls, or hardly in the level.

    Levels are unit sinh(s); the search begins at s with this step, which grows by a factor while it goes up.  `found`
    gets s, level, pulls (infinite where a walk did not end) and status of the lower and of the higher one.  Returns
    the row of `sums` that holds the lower one, and puts that of the higher one into counts[1]; -1 if cells are full.
    """
    released = np.empty((0, 2), dtype=np.int64)
    low, high, turn = -1, -1, 0  # rows of `sums`
    while True:
        free = 0
        while free in (low, high):
            free += 1
        level = unit * math.sinh(s)
        sums[free] = 0.0
        status = walk(
            starts, level, -math.inf, bonus, most, sums[free], released,
            kept, capacity, inverse_root, bias, highest, least, f, mean, sort, origin, minimum, side, phase, pieces,
            sides, z, x, home, guarded, index, anchor, gap, error, weight, heirs, child, front, state, counts, paths,
            variance, asking, taken,
        )  # fmt: skip
        if status == FULL:
            return -1
        queried = math.inf if status != FINE else np.sum(sums[free, :, PULLS])
        side_ = 0 if queried < pulls else 1
        if side_ == 0:
            low = free
        else:
            high = free
        found[side_, 0], found[side_, 1], found[side_, 2], found[side_, 3] = s, level, queried, status
        if side_ == 0 and math.isinf(level):  # no level is high enough for the cells that a sample has left
            found[1] = found[0]
            counts[1] = low
            return low
        if low < 0:
            step *= 2.0
            s = found[1, 0] - step
        elif high < 0:
            step *= growth
            s = found[0, 0] + step
        else:
            width = found[1, 0] - found[0, 0]
            if found[1, 2] - found[0, 2] <= shared or width <= resolution * max(1.0, abs(found[0, 0])):
                counts[1] = high
                return low
            share = 0.5
            if turn % 3 and found[1, 2] < math.inf:
                share = math.log(pulls / found[0, 2]) / math.log(found[1, 2] / found[0, 2])
                share = min(0.95, max(0.05, share))
            s = found[0, 0] + share * width
            turn += 1
