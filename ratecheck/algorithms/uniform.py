"""Algorithm 1 of the paper: bins of one length, queried at their centres."""

from __future__ import annotations

import math
from dataclasses import dataclass
from numbers import Real
from typing import ClassVar

import numpy as np

from ..jit import compiled
from ..noise import draw
from . import partition
from .run import CELLS, CLOCK, EXCEEDED, HIGHEST, PULLS, REGRET, STAR, Run, lowest, values
from .tournament import AHEAD, CELL, FRESH, C, W, ahead, empty, refresh, replace, replay, rivals


@dataclass(frozen=True)
class UniformBins:
    """Algorithm 1.  The width defaults to Theorem 1's, with min{beta, 1}: the printed one is too fine."""

    width: float | None = None
    anytime: ClassVar[bool] = False
    kernel: ClassVar[bool] = True

    def __post_init__(self):
        if self.width is not None and not (isinstance(self.width, Real) and 1e-300 < self.width < math.inf):
            raise ValueError(f"width = {self.width} must be a positive length; None takes Theorem 1's")

    def settle(self, cost) -> UniformBins:
        return self if self.width is None else UniformBins(float(self.width))

    def check(self, cost, horizon, shifted):
        width = self.length(cost, horizon, 0.0)
        partition.check(cost, width, shifted, f"width = {width:g} (at T = {horizon})")

    def length(self, cost, horizon, fraction) -> float:
        """The width; Theorem 1 makes it side / round(T^(1 / (d + 2 alpha - alpha min{beta, 1})))."""
        if self.width is not None:
            return self.width
        alpha, beta = cost.constants.alpha, cost.constants.beta
        return cost.side / max(1, round(horizon ** (1 / (cost.dim + 2 * alpha - alpha * min(beta, 1.0)))))

    def period(self, cost) -> float:
        return math.nan  # the width depends on T alone

    def start(self, cost, length, offset, rng, noise, diagnostics=False, trace=None, horizon=None) -> UniformRun:
        return UniformRun(cost, length, offset, rng, noise, diagnostics, trace)

    def __str__(self):
        return f"UniformBins(width={self.width!r})"


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
        self.priority = rng.random(m)
        self.state[CELLS] = m
        self.state[STAR] = int(np.argmin(np.max(np.abs(self.centres - cost.minimisers[0]), axis=1)))
        self.by_level = np.zeros((1 if diagnostics else 0, 2))
        self.tree = empty(max(m, 2))
        self.tree[len(self.tree) // 2 :][:m, C] = FRESH
        self.tree[len(self.tree) // 2 :][:m, CELL] = np.arange(m)
        replay(self.tree, self.priority, 0, m, 0.0)

    def advance(self, until):
        uniform_kernel(
            self.value,
            self.cost.minimum,
            *self.noise,
            self.rng,
            self.n,
            self.total,
            self.priority,
            self.tree,
            self.state,
            self.total_regret,
            self.by_level,
            self.trace,
            until,
        )

    def centre(self, i):
        return self.centres[i]

    def levels(self):
        pulls, regret = self.by_level[0]
        return [(0, int(pulls), self.cells, float(regret))]

    def complaint(self):
        return None


@compiled
def tau_of(t):
    return math.sqrt(8.0 * math.log(float(t))) if t > 0 else 0.0  # before the first query no key depends on it


@compiled
def uniform_kernel(
    value, f_min, law, scale, dof, rng, n, total, priority, tree, state, regret, by_level, trace, until
):  # fmt: skip
    size = tree.shape[0] // 2
    track = by_level.shape[0] > 0
    t, star = state[CLOCK], state[STAR]
    R = regret[0]
    tau = tau_of(t)
    while t < until:
        refresh(tree, priority, tau)
        i = int(tree[1, CELL])  # j* = argmin g_tj
        y = value[i]
        count, Y = n[i], total[i]
        while True:
            # tau is concave in t: from now on it grows by at most this per step
            pace = 4.0 / (max(t, 1) * max(tau, 1e-3))
            window = min(256, 1 + t // 32)
            since = tau
            start, slope, expiry = rivals(tree, i, since, since + window * pace)
            steps = int(min(window, min(expiry - since, 1.0) / pace))
            pause = min(until, t + max(steps, 1))
            known = 0
            surely_ahead = 0.0
            while True:  # j* stays the argmin until its key meets its rivals' line
                R += y - f_min
                Y += y + draw(law, scale, dof, rng)
                count += 1
                t += 1
                c = Y / count
                behind = False
                if track or count > known or not c < surely_ahead:
                    tau = tau_of(t)
                    w = 1.0 / math.sqrt(count)
                    behind = not c - tau * w < start + slope * (tau - since)
                    if not behind:
                        known = count + AHEAD
                        line = start + slope * ((tau - since) + AHEAD * pace)
                        surely_ahead = ahead(line, tau, 1.0 / math.sqrt(known))
                if trace.size > 0:
                    trace[t - 1] = i
                if track:
                    by_level[0, PULLS] += 1
                    by_level[0, REGRET] += y - f_min
                    g_star = c - tau * w if star == i else tree[size + star, C] - tau * tree[size + star, W]
                    if g_star > f_min:
                        state[EXCEEDED] += 1
                if behind or t == pause:
                    break
            if not behind:
                tau = tau_of(t)
                w = 1.0 / math.sqrt(count)
            if behind or tau > expiry or t == until:
                break
        n[i] = count
        total[i] = Y
        replace(tree, priority, i, c, w, tau)
    state[CLOCK] = t
    regret[0] = R
