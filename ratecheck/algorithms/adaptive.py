"""Algorithm 2 of the paper: cells split where the cost is low, and a query is uniform in its cell."""

from __future__ import annotations

import math
from dataclasses import dataclass
from numbers import Real
from typing import ClassVar

import numpy as np

from ..arguments import shown
from ..claims import Claim
from ..papers import zhao_lai
from ..sampling.generator import uniform
from ..sampling.jit import Kernel, compiled, likely, value
from ..sampling.noise import sample
from . import partition
from .protocol import BuiltIn, LevelRule
from .run import CELLS, CLOCK, EXCEEDED, FINE, HIGHEST, IMPOSSIBLE_COST, NO_ROOM, PULLS, REGRET, STAR, Run
from .tournament import (
    FEW,
    FRESH,
    MANY,
    NODE,
    C,
    W,
    empty,
    inverse_root,
    leaf,
    refresh,
    replace,
    replay,
    seat,
    stretch,
    sure,
    winner,
)

UNREACHABLE = 2**62
TOTAL, N, LEVEL, CORNER = range(4)  # columns of `cell`, a row per cell; the corner's coordinates come last


@dataclass(frozen=True)
class AdaptiveBins(BuiltIn):
    """Algorithm 2.  alpha, mu and a0 default to the cost's alpha, its mu_min and the longest side of its box.

    mu may also be "min" (the default) or "theorem": (1 + 2^(d + alpha)) M, the limit in Theorem 2.

    For example

        rc.simulate(rc.AdaptiveBins(), zoo.get("cone", dim=1), horizons=[100, 1000], replicates=4)
    """

    alpha: float | None = None
    mu: float | str | None = None
    a0: float | None = None
    anytime: ClassVar[bool] = True
    kind: ClassVar[str] = "adaptive"

    def __post_init__(self):
        if self.mu == "min":
            object.__setattr__(self, "mu", None)
        if self.alpha is not None and not (isinstance(self.alpha, Real) and 0 < self.alpha <= 2):
            raise ValueError(f"alpha = {shown(self.alpha)} must lie in (0, 2], the range of Assumption 1 (b)")
        if isinstance(self.mu, str):
            if self.mu != "theorem":
                raise ValueError(f"mu = {shown(self.mu)} must be a number, 'min' or 'theorem'")
        elif self.mu is not None and not (isinstance(self.mu, Real) and 0 <= self.mu <= 1e100):
            raise ValueError(f"mu = {shown(self.mu)} must lie in [0, 1e100]; mu = 'min' takes the cost's mu_min")
        if self.a0 is not None and not (isinstance(self.a0, Real) and 1e-300 < self.a0 <= 1e300):
            raise ValueError(f"a0 = {shown(self.a0)} must be a positive length; None takes the longest side of the box")

    def settle(self, cost) -> AdaptiveBins:
        """The same algorithm with every number spelt out for this cost."""
        known = cost.constants
        if self.alpha is None or self.mu is None:
            needed = ["alpha"] * (self.alpha is None) + ["mu_min"] * (self.mu is None)
            known.need("AdaptiveBins", *needed, instead="alpha=... and mu=...")
        if self.mu == "theorem":
            known.need("AdaptiveBins with mu = 'theorem'", "M_a", "M_b", "A", instead="mu=...")
        alpha = float(known.alpha if self.alpha is None else self.alpha)
        mu = self.mu
        if mu is None:
            mu = known.mu_min
        elif mu == "theorem":
            mu = zhao_lai.least_mu(known, cost.dim, alpha)
        return AdaptiveBins(alpha, float(mu), float(cost.side if self.a0 is None else self.a0))

    def check(self, cost, horizon, shifted):
        partition.check(cost, self.a0, shifted, f"a0 = {self.a0:g}")
        if shifted:
            partition.check(cost, self.a0 / 2, shifted, f"a0 = {self.a0:g} (its random half)")

    def length(self, cost, horizon, fraction) -> float:
        """a0 of one replicate: log-uniform over the octave that ends at a0 if `fraction` is uniform."""
        return self.a0 * 2.0**-fraction

    def claims(self, cost) -> tuple[Claim, ...]:
        known = self._constants(cost)
        if known.lacking("alpha", "beta", "M_a", "M_b", "mu_min"):
            return ()
        theorem = zhao_lai.theorem2 if known == cost.constants else zhao_lai.misspecified
        own = theorem.claim(known, cost.dim, **self.settings(cost))
        return own, zhao_lai.theorem3.claim(cost.constants, cost.dim)

    def settings(self, cost) -> dict:
        return {"mu": self.mu, "alpha": self.alpha}

    def _constants(self, cost):
        """Those that the cost has with this alpha, or with its own where this one asks for too much."""
        known = cost.constants
        same = known.lacking("alpha", "A", "M_b", "mu_min") or math.isclose(self.alpha, known.alpha)
        return known if same else known.weakened(self.alpha)

    def period(self, cost) -> float:
        if cost.constants.lacking("alpha", "beta") or self.alpha > cost.constants.alpha:
            return math.nan  # the levels of such a run follow no theory
        return zhao_lai.period(self.alpha, cost.constants.beta, cost.dim)

    def onset(self, cost, horizon) -> float:
        if cost.constants.lacking("alpha", "M_a"):
            return 1.0
        return zhao_lai.onset(self._constants(cost), cost.dim, mu=self.mu, a0=self.a0, side=cost.side, horizon=horizon)

    def shift(self, cost) -> float:
        return self.mu * self.a0**self.alpha

    def cells(self, cost, horizon) -> float:
        """A bound, as if all cells were split alike."""
        return 2.0**cost.dim * horizon ** (cost.dim / (cost.dim + 2 * self.alpha))

    def seconds_per_step(self, cost, horizon) -> float:
        return 1e-9 * (8 + 4 * 2**cost.dim)

    def level_rule(self, cost, length) -> LevelRule:
        return LevelRule(
            at_centre=False,
            bonus=math.log,
            bias=lambda k: self.mu * (length * 2.0**-k) ** self.alpha,
            capacity=lambda k: math.ceil(2.0 ** (2 * self.alpha * k)),
        )

    def start(self, cost, length, offset, rng, noise, diagnostics=False, trace=None, horizon=None) -> AdaptiveRun:
        return AdaptiveRun(self, cost, length, offset, rng, noise, diagnostics, trace)


class AdaptiveRun(Run):
    def __init__(self, algorithm, cost, length, offset, rng, noise, diagnostics, trace):
        super().__init__(cost, noise, rng, trace)
        alpha, mu = algorithm.alpha, algorithm.mu
        deepest = partition.deepest_level(cost, length)
        self.side = np.array([length * 2.0**-k for k in range(deepest + 1)])
        self.bias = np.array([mu * a**alpha for a in self.side.tolist()])
        self.capacity = np.array([capacity(alpha, k) for k in range(deepest)] + [UNREACHABLE], dtype=float)
        self.deepest_capacity = capacity(alpha, deepest)
        grid = partition.grid(cost, length, offset)
        m = len(grid)
        self.cell = np.hstack([np.zeros((m, CORNER)), grid])
        self.priority = self.random(m)
        self.state[CELLS] = m
        self.state[STAR] = self.cell_of(self.star)
        self.by_level = np.zeros((deepest + 1 if diagnostics else 0, 2))
        self.level_regret = np.zeros(deepest + 1)
        self.roots = m
        self.make_room(max(256, m + m // 2))

    @property
    def n(self) -> np.ndarray:
        return self.cell[:, N]

    @property
    def level(self) -> np.ndarray:
        return self.cell[:, LEVEL].astype(int)

    @property
    def lo(self) -> np.ndarray:
        return self.cell[:, CORNER:]

    def cell_of(self, x):
        inside = np.all((self.lo <= x) & (x < self.lo + self.side[0]), axis=1)
        return int(np.argmax(inside))

    def make_room(self, size):
        self.tree = None  # the old one goes before the new one comes
        for name in ("cell", "priority"):
            old = getattr(self, name)
            new = np.zeros((size, *old.shape[1:]), dtype=old.dtype)
            new[: self.cells] = old[: self.cells]
            setattr(self, name, new)
        self.tree = empty(size)
        gather(self.tree, self.priority, self.cell, self.bias, self.cells, ln(self.t))

    @property
    def kernel(self) -> Kernel:
        return adaptive_kernel

    def arguments(self) -> tuple:
        cells = self.side, self.bias, self.capacity, self.cell, self.priority, self.tree
        return *cells, self.state, self.total_regret, self.star, self.by_level, self.level_regret, self.trace

    def grow(self):
        size = len(self.n)
        self.make_room(max(size + size // 3, self.cells + 2**self.cost.dim))

    def centre(self, i):
        return self.lo[i] + self.side[self.level[i]] / 2

    def levels(self):
        """Level, pulls, present cells, regret; a query belongs to the level of the cell that was picked."""
        cells = np.bincount(self.level[: self.cells], minlength=len(self.side))
        return [
            (k, int(pulls), int(cells[k]), float(regret))
            for k, (pulls, regret) in enumerate(self.by_level)
            if pulls or cells[k]
        ]

    def complaint(self):
        m, deepest = self.cells, len(self.side) - 1
        if not np.any((self.level[:m] == deepest) & (self.n[:m] > self.deepest_capacity)):
            return None
        return (
            f"{self.cost}: cells reached level {deepest}, where a side is as short as floating-point numbers "
            "resolve; they were not split further"
        )

    def violation(self):
        cells = np.zeros(len(self.side), dtype=np.int64)
        of_all = self.cell, self.cells, self.roots, self.cost.dim, self.capacity, self.level_regret
        pulls, regret, parted = tally(*of_all, cells)
        if not parted:
            return f"cells of the levels, {cells.tolist()}, do not have the volume of the {self.roots} initial ones"
        broken = self.broken(pulls, regret)
        if broken or not self.by_level.size:
            return broken
        return self.broken(pulls, sum(self.by_level[:, REGRET].tolist()))


def capacity(alpha, k) -> int:
    return math.ceil(2.0 ** (2 * alpha * k)) if 2 * alpha * k < 62 else UNREACHABLE


@compiled
def ln(t):
    return math.log(float(t)) if t > 0 else 0.0  # before the first query no key depends on it


@compiled
def gather(tree, priority, cell, bias, m, tau):
    for i in range(m):
        n = cell[i, N]
        if n > 0:
            seat(tree, i, cell[i, TOTAL] / n - bias[int(cell[i, LEVEL])], inverse_root(n))
        else:
            seat(tree, i, FRESH, 0.0)
    replay(tree, priority, 0, m, tau)


@compiled
def tally(cell, m, roots, d, capacity, level_regret, cells):
    """Pulls of all cells, regret of all levels, and whether the cells have the volume of the initial ones.

    What was made at a level and is not present there was split, when it was full; at the end nothing may be missing.
    """
    pulls, regret = 0.0, 0.0
    for i in range(m):
        cells[int(cell[i, LEVEL])] += 1
        pulls += cell[i, N]
    made, parted = roots, True
    for k in range(cells.size):
        split = made - cells[k]
        parted = parted and 0 <= split < 2**40  # beyond, there are not that many in any memory
        pulls += split * capacity[k]
        regret += level_regret[k]
        made = split * 2**d if parted else 0
    return pulls, regret, parted and made == 0


@Kernel
def adaptive_kernel(
    f, f_min, lowest, law, scale, dof, rng, side, bias, capacity, cell, priority, tree,
    state, regret, x_star, by_level, level_regret, trace, x, until,
):  # fmt: skip
    d = cell.shape[1] - CORNER
    size = tree.size // (2 * NODE)
    children = 2**d
    track = by_level.shape[0] > 0
    status = FINE
    t, m, star = state[CLOCK], state[CELLS], state[STAR]
    R = regret[0]
    s0, s1, s2, s3 = rng[0], rng[1], rng[2], rng[3]
    tau = ln(t)
    while t < until:
        refresh(tree, priority, tau)
        i = winner(tree)  # pick B = argmin g_t
        k = int(cell[i, LEVEL])
        if cell[i, N] < capacity[k]:
            a, bias_k, room = side[k], bias[k], capacity[k]
            count, Y = cell[i, N], cell[i, TOTAL]
            most, w = FEW, tree[leaf(tree, i) + W]
            level_regret[k] -= R
            while True:
                bound, steps, expiry = stretch(tree, i, most, tau, float(max(t, 1)))
                pause = min(until, t + int(min(float(steps), room - count)))
                safe, fall = sure(max(count, 1.0), w, tau, bias_k, bound)
                while True:  # B stays the argmin until its key meets its rivals'
                    for q in range(d):
                        u, s0, s1, s2, s3 = uniform(s0, s1, s2, s3)
                        x[q] = cell[i, CORNER + q] + a * u
                    y = value(f, x)
                    if not likely(lowest <= y < HIGHEST):
                        return IMPOSSIBLE_COST
                    R += y - f_min
                    noise, s0, s1, s2, s3 = sample(law, scale, dof, s0, s1, s2, s3)
                    Y += y + noise
                    count += 1.0
                    t += 1
                    if not likely(trace.size == 0):
                        trace[t - 1] = i
                    safe -= fall
                    if not likely(not track and t != pause and safe * count > Y):
                        tau = ln(t)
                        w = inverse_root(count)
                        c = Y / count - bias_k
                        if not likely(not track):
                            by_level[k, PULLS] += 1
                            by_level[k, REGRET] += y - f_min
                            g_star = (
                                c - tau * w
                                if star == i
                                else tree[leaf(tree, star) + C] - tau * tree[leaf(tree, star) + W]
                            )
                            if g_star > f_min:
                                state[EXCEEDED] += 1
                        if not c - tau * w < bound or tau > expiry or t == pause:
                            break
                        safe, fall = sure(count, w, tau, bias_k, bound)
                if not c - tau * w < bound or tau > expiry or t == until or count == room:
                    break
                most = min(4.0 * most, MANY)
            level_regret[k] += R
            cell[i, N] = count
            cell[i, TOTAL] = Y
            replace(tree, priority, i, c, w, tau)
        else:
            if m + children - 1 > size:
                status = NO_ROOM
                break
            half = side[k + 1]
            for part in range(children):  # split B; its place goes to the first child
                s = i if part == 0 else m + part - 1
                priority[s], s0, s1, s2, s3 = uniform(s0, s1, s2, s3)
                cell[s, TOTAL], cell[s, N], cell[s, LEVEL] = 0.0, 0.0, k + 1
            which = 0
            star_child = 0
            for q in range(d):
                u, s0, s1, s2, s3 = uniform(s0, s1, s2, s3)
                x[q] = cell[i, CORNER + q] + side[k] * u  # query uniformly from B
                middle = cell[i, CORNER + q] + half
                for part in range(1, children):
                    cell[m + part - 1, CORNER + q] = middle if (part >> q) & 1 else cell[i, CORNER + q]
                if x[q] >= middle:
                    which |= 1 << q
                if x_star[q] >= middle:
                    star_child |= 1 << q
            y = value(f, x)
            if not lowest <= y < HIGHEST:
                return IMPOSSIBLE_COST
            R += y - f_min
            level_regret[k] += y - f_min
            s = i if which == 0 else m + which - 1  # the child that holds x_t
            cell[s, N] = 1.0
            noise, s0, s1, s2, s3 = sample(law, scale, dof, s0, s1, s2, s3)
            cell[s, TOTAL] = y + noise
            t += 1
            tau = ln(t)
            for part in range(children):
                s = i if part == 0 else m + part - 1
                if cell[s, N] > 0:
                    seat(tree, s, cell[s, TOTAL] - bias[k + 1], 1.0)
                else:
                    seat(tree, s, FRESH, 0.0)
            replay(tree, priority, m, m + children - 1, tau)
            replay(tree, priority, i, i + 1, tau)
            if star == i:
                star = i if star_child == 0 else m + star_child - 1
            m += children - 1
            if trace.size > 0:
                trace[t - 1] = i
            if track:
                by_level[k, PULLS] += 1
                by_level[k, REGRET] += y - f_min
                if tree[leaf(tree, star) + C] - tau * tree[leaf(tree, star) + W] > f_min:
                    state[EXCEEDED] += 1
    state[CLOCK], state[CELLS], state[STAR] = t, m, star
    regret[0] = R
    rng[0], rng[1], rng[2], rng[3] = s0, s1, s2, s3
    return status
