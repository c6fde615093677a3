"""Algorithm 1 of the paper: bins of one length, queried at their centres."""

from __future__ import annotations

import math
from dataclasses import dataclass
from numbers import Real
from typing import ClassVar

import numpy as np

from ..arguments import shown
from ..claims import Claim
from ..papers import zhao_lai
from ..sampling.jit import compiled, likely
from ..sampling.noise import sample
from . import partition
from .protocol import BuiltIn, LevelRule
from .run import CELLS, CLOCK, EXCEEDED, HIGHEST, PULLS, REGRET, STAR, Run, lowest, values
from .tournament import (
    FEW,
    FRESH,
    MANY,
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


@dataclass(frozen=True)
class UniformBins(BuiltIn):
    """Algorithm 1.  The width is a length, "printed" or "corrected" (the default): Theorem 1's with min{beta, 1}.

    The printed one is too fine where beta exceeds 1.

    For example

        rc.simulate(rc.UniformBins(width=0.1), zoo.get("cone", dim=1), horizons=[100, 1000], replicates=4)
    """

    width: float | str | None = None
    anytime: ClassVar[bool] = False
    kind: ClassVar[str] = "uniform"

    def __post_init__(self):
        if self.width == "corrected":
            object.__setattr__(self, "width", None)
        if isinstance(self.width, str):
            if self.width != "printed":
                raise ValueError(f"width = {shown(self.width)} must be a positive length, 'corrected' or 'printed'")
        elif self.width is not None and not (isinstance(self.width, Real) and 1e-300 < self.width <= 1e300):
            raise ValueError(f"width = {shown(self.width)} must be a positive length; None takes Theorem 1's")

    def settle(self, cost) -> UniformBins:
        if not isinstance(self.width, Real):
            cost.constants.need("UniformBins", "alpha", "beta", instead="width=...")
        return UniformBins(float(self.width)) if isinstance(self.width, Real) else self

    def check(self, cost, horizon, shifted):
        width = self.length(cost, horizon, 0.0)
        partition.check(cost, width, shifted, f"width = {width:g} (at T = {horizon})")

    def length(self, cost, horizon, fraction) -> float:
        """The width; Theorem 1 makes it side / round(T^(1 / D1))."""
        return self.width if isinstance(self.width, float) else cost.side / max(1, round(self._per_axis(cost, horizon)))

    def _per_axis(self, cost, horizon) -> float:
        """Bins along an axis, not rounded."""
        if isinstance(self.width, float):
            return cost.side / self.width
        exponent = zhao_lai.D if self.width == "printed" else zhao_lai.D1
        return horizon ** (1 / exponent(cost.constants.alpha, cost.constants.beta, cost.dim))

    def claims(self, cost) -> tuple[Claim, ...]:
        known = cost.constants, cost.dim
        if cost.constants.lacking("alpha", "beta"):
            return ()
        return zhao_lai.theorem1.claim(*known, **self.settings(cost)), zhao_lai.theorem3.claim(*known)

    def settings(self, cost) -> dict:
        return {"width": "corrected" if self.width is None else self.width}

    def onset(self, cost, horizon) -> float:
        if cost.constants.lacking("M_a"):
            return 1.0
        needed = zhao_lai.queries_per_bin(cost.constants, horizon)
        if self.width is None:
            return zhao_lai.uniform_onset(cost.constants, cost.dim, needed)
        return max(1.0, needed) * self.cells(cost, horizon)

    def cells(self, cost, horizon) -> float:
        return self._per_axis(cost, horizon) ** cost.dim

    def seconds_per_step(self, cost, horizon) -> float:
        return 1e-9 * (5 + 0.15 * math.sqrt(self.cells(cost, horizon)))

    def level_rule(self, cost, length) -> LevelRule:
        return LevelRule(
            at_centre=True,
            bonus=lambda horizon: math.sqrt(8 * math.log(horizon)),
            bias=lambda k: 0.0,
            capacity=lambda k: math.inf,
        )

    def start(self, cost, length, offset, rng, noise, diagnostics=False, trace=None, horizon=None) -> UniformRun:
        return UniformRun(cost, length, offset, rng, noise, diagnostics, trace)


class UniformRun(Run):
    def __init__(self, cost, length, offset, rng, noise, diagnostics, trace):
        super().__init__(cost, noise, rng, trace)
        self.centres = partition.grid(cost, length, offset) + length / 2
        m = len(self.centres)
        self.value = values(cost.compiled, self.centres)
        impossible = np.flatnonzero(~((lowest(cost) <= self.value) & (self.value < HIGHEST)))
        if impossible.size:
            self.refuse(self.centres[impossible[0]])
        self.n = np.zeros(m, dtype=np.int64)
        self.total = np.zeros(m)
        self.priority = self.random(m)
        self.state[CELLS] = m
        self.state[STAR] = int(np.argmin(np.max(np.abs(self.centres - self.star), axis=1)))
        self.by_level = np.zeros((1 if diagnostics else 0, 2))
        self.tree = empty(max(m, 2))
        gather(self.tree, self.priority, m)

    def advance(self, until):
        bins = self.n, self.total, self.priority, self.tree
        drawn = self.value, self.cost.minimum, *self.noise, self.rng
        uniform_kernel(*drawn, *bins, self.state, self.total_regret, self.by_level, self.trace, until)

    def centre(self, i):
        return self.centres[i]

    def levels(self):
        pulls, regret = self.by_level[0]
        return [(0, int(pulls), self.cells, float(regret))]

    def violation(self):
        pulls, regret = tally(self.n, self.value, self.cost.minimum)
        return self.broken(pulls, regret)


@compiled
def gather(tree, priority, m):
    for i in range(m):
        seat(tree, i, FRESH, 0.0)
    replay(tree, priority, 0, m, 0.0)


@compiled
def tally(n, value, f_min):
    pulls, regret = 0, 0.0
    for i in range(n.size):
        pulls += n[i]
        regret += n[i] * (value[i] - f_min)
    return pulls, regret


@compiled
def tau_of(t):
    return math.sqrt(8.0 * math.log(float(t))) if t > 0 else 0.0  # before the first query no key depends on it


@compiled
def uniform_kernel(
    value, f_min, law, scale, dof, rng, n, total, priority, tree, state, regret, by_level, trace, until
):  # fmt: skip
    track = by_level.shape[0] > 0
    t, star = state[CLOCK], state[STAR]
    R = regret[0]
    s0, s1, s2, s3 = rng[0], rng[1], rng[2], rng[3]
    tau = tau_of(t)
    while t < until:
        refresh(tree, priority, tau)
        i = winner(tree)  # j* = argmin g_tj
        y = value[i]
        count, Y = n[i], total[i]
        most, w = FEW, tree[leaf(tree, i) + W]
        while True:
            bound, steps, expiry = stretch(tree, i, most, tau, 0.25 * max(t, 1) * max(tau, 1e-3))
            pause = min(until, t + steps)
            safe, fall = sure(max(count, 1), w, tau, 0.0, bound)
            while True:  # j* stays the argmin until its key meets its rivals'
                R += y - f_min
                noise, s0, s1, s2, s3 = sample(law, scale, dof, s0, s1, s2, s3)
                Y += y + noise
                count += 1
                t += 1
                if not likely(trace.size == 0):
                    trace[t - 1] = i
                safe -= fall
                if not likely(not track and t != pause and safe * count > Y):
                    tau = tau_of(t)
                    w = inverse_root(count)
                    c = Y / count
                    if track:
                        by_level[0, PULLS] += 1
                        by_level[0, REGRET] += y - f_min
                        g_star = (
                            c - tau * w if star == i else tree[leaf(tree, star) + C] - tau * tree[leaf(tree, star) + W]
                        )
                        if g_star > f_min:
                            state[EXCEEDED] += 1
                    if not c - tau * w < bound or tau > expiry or t == pause:
                        break
                    safe, fall = sure(count, w, tau, 0.0, bound)
            if not c - tau * w < bound or tau > expiry or t == until:
                break
            most = min(4.0 * most, MANY)
        n[i] = count
        total[i] = Y
        replace(tree, priority, i, c, w, tau)
    state[CLOCK] = t
    regret[0] = R
    rng[0], rng[1], rng[2], rng[3] = s0, s1, s2, s3
