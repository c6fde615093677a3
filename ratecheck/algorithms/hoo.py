"""Truncated HOO: a binary tree of cells that grows where the reward may be high; a query is uniform in its cell.

Bubeck, Munos, Stoltz and Szepesvári, "X-armed bandits" (JMLR 2011).  We minimise: a reward is minus an observed cost.

X is the box, or one of its shape that holds it, and the children of a cell of depth h are its halves along axis h mod
d.  A node has a count N, a sum of rewards, U = mean + bonus sqrt(1 / N) + nu rho^h with bonus = sqrt(8 sigma^2 ln n0),
where n0 is the horizon (rewards in [0, 1] are 1/2-subgaussian: sigma = 1/2 gives the paper's sqrt(2 ln n0 / N)), and
B = min(U, the larger B of its children).  A node never visited has B = +infinity.

The tree starts with its root.  A step goes from there to the child with the larger B (a tie is decided by a coin) until
the node is not in the tree or has the depth D = ceil((ln n0 / 2 - ln(1 / nu)) / ln(1 / rho)).  It queries there, and
the node joins the tree.

Why a step is cheap: n0 is known, so U and B change along the path alone.  And which child is next depends on numbers
that change only when a path comes through, so it is decided on the way up and the way down just follows it.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from numbers import Real
from typing import ClassVar

import numpy as np

from function_zoo.cost import CONSTANTS

from ..arguments import shown
from ..claims import Claim
from ..papers import hoo as paper
from ..sampling.generator import uniform
from ..sampling.jit import Kernel, compiled, value
from ..sampling.noise import sample
from . import partition
from .protocol import BuiltIn
from .run import CELLS, CLOCK, EXCEEDED, FINE, HIGHEST, IMPOSSIBLE_COST, NO_ROOM, PULLS, REGRET, STAR, Run

# A node takes four numbers, and two siblings take one cache line of eight: `tree` holds the lines one after the other,
# and a node is known by the place of its first number.  Its NEXT is an integer, the place of the child with the larger
# B; where both are equal it is ~(the place of the lower child).  A node without children was visited once, unless it
# is as deep as one may go; its NEXT is its number.  The root sits at place 0 and has no sibling; its children, which
# were never visited at first, are there from the start.
B, N, TOTAL, NEXT = range(4)
NODE, LINE = 4, 8
# A node with one child was visited twice, so that the child has none; hence two nodes in three have children at most,
# and each of these takes a line of 64 bytes, or two while the tree moves to more room.
NODE_BYTES = 86
LINES = STAR  # the cell of x* is not followed here; its place in `state` counts the lines


@dataclass(frozen=True)
class HOO(BuiltIn):
    """Truncated HOO.  nu and rho describe the cost: it exceeds its minimum by no more than nu rho^h in a cell of depth
    h that holds a minimiser.

    rho defaults to 2^(-alpha / d).  nu may also be "min" (the default), with which nu rho^h bounds the mean over such
    cells, or "theorem": what the theorem asks for.  It belongs to cells cut from the box, and grows with X.  sigma is
    the subgaussian constant of the noise.

    For example

        rc.simulate(rc.HOO(), zoo.get("cone", dim=1), horizons=[100, 1000], replicates=4)
    """

    nu: float | str | None = None
    rho: float | None = None
    sigma: float = 1.0
    anytime: ClassVar[bool] = False
    kind: ClassVar[str] = "hoo"

    def __post_init__(self):
        if self.nu == "min":
            object.__setattr__(self, "nu", None)
        if isinstance(self.nu, str):
            if self.nu != "theorem":
                raise ValueError(f"nu = {shown(self.nu)} must be a number, 'min' or 'theorem'")
        elif self.nu is not None and not (isinstance(self.nu, Real) and 0 < self.nu <= 1e100):
            raise ValueError(f"nu = {shown(self.nu)} must lie in (0, 1e100]; nu = 'min' follows from the cost's mu_min")
        elif self.nu is not None and self.nu < 1e-300:
            raise ValueError(f"nu = {self.nu} is too small for 1 / nu to be a number; 1e-300 is the least")
        if self.rho is not None and not (isinstance(self.rho, Real) and 0 < self.rho < 1):
            raise ValueError(f"rho = {shown(self.rho)} must lie strictly between 0 and 1; None takes 2^(-alpha / d)")
        if not (isinstance(self.sigma, Real) and 0 < self.sigma <= 1e100):
            raise ValueError(f"sigma = {shown(self.sigma)} must lie in (0, 1e100]; 1 suits standard normal noise")

    def settle(self, cost) -> HOO:
        """The same algorithm with every number spelt out for this cost."""
        known, d = cost.constants, cost.dim
        if self.rho is None or self.nu is None:
            needed = ["alpha"] + ["mu_min"] * (self.nu is None)
            known.need("HOO", *needed, instead="nu=... and rho=...")
        if self.nu == "theorem":
            known.need("HOO with nu = 'theorem'", "alpha", "M_a", "M_b", "A", instead="nu=...")
        rho = paper.least_rho(known.alpha, d) if self.rho is None else self.rho
        nu = self.nu
        if nu is None:
            nu = known.mu_min * paper.largest_cell(known.alpha, d, cost.side)
        elif nu == "theorem":
            nu = paper.least_nu(paper.constants_for(rho, known, d), d, cost.side)
        return HOO(float(nu), float(rho), float(self.sigma))

    def check(self, cost, horizon, shifted):
        longest = cost.side * (2 if shifted else 1)
        beyond = longest - cost.side
        if beyond > cost.margin * (1 + partition.SLACK):
            raise ValueError(
                f"HOO's X of length {longest:g} may reach {beyond:g} beyond the box, but {cost} is defined only up to "
                f"A = {cost.margin:g} beyond it; take alignment='fixed', where X is the box"
            )
        depth = self.depth(cost, horizon, longest)
        nodes = min(horizon, 2 ** (depth + 1) - 1)
        gigabytes = nodes * NODE_BYTES / 1e9
        if gigabytes > partition.MAX_GIGABYTES:
            raise ValueError(
                f"HOO's tree may hold {nodes:.2g} nodes at T = {horizon} (depth {depth}), about {gigabytes:.2g} GB; "
                "take a shorter horizon, or a smaller nu"
            )

    def length(self, cost, horizon, fraction) -> float:
        """The length of X: log-uniform over the octave that starts at the box's side if `fraction` is uniform."""
        return cost.side * 2.0**fraction

    def _constants(self, cost):
        return paper.constants_for(self.rho, cost.constants, cost.dim)

    def claims(self, cost) -> tuple[Claim, ...]:
        if cost.constants.lacking(*CONSTANTS[:5]):
            return ()
        return (paper.theorem.claim(self._constants(cost), cost.dim, **self.settings(cost)),)

    def settings(self, cost) -> dict:
        return {"nu": self.nu, "rho": self.rho, "side": cost.side}

    def scale(self, cost) -> float:
        if cost.constants.lacking("alpha", "beta"):
            return math.nan
        return paper.scale(cost.constants.alpha, cost.constants.beta, cost.dim)

    def onset(self, cost, horizon) -> float:
        if cost.constants.lacking("alpha", "M_a"):
            return 1.0
        return paper.onset(self._constants(cost), cost.dim, nu=self.nu, sigma=self.sigma, horizon=horizon)

    def cells(self, cost, horizon) -> float:
        """Nodes, at most; each step adds one until the tree is as deep as it may be."""
        return min(float(horizon), 2.0 ** (self.depth(cost, horizon, cost.side) + 1))

    def seconds_per_step(self, cost, horizon) -> float:
        """A visit to every depth; large trees wait for memory."""
        depth, nodes = self.depth(cost, horizon, cost.side), self.cells(cost, horizon)
        return 1e-9 * depth * (10 if nodes < 1e5 else 15)

    def nu_of(self, cost, length) -> float:
        """nu of an X of this length: cells of one size have one nu rho^h, whatever they are cut from."""
        return self.nu * (length / cost.side) ** paper.alpha_of(self.rho, cost.dim)

    def full_depth(self, cost, horizon, length) -> int:
        """D: the depth from which on nu rho^h <= 1 / sqrt(n0)."""
        nu = self.nu_of(cost, length)
        return max(1, math.ceil((math.log(horizon) / 2 - math.log(1 / nu)) / math.log(1 / self.rho)))

    def depth(self, cost, horizon, length) -> int:
        """D, or the last depth at which coordinates tell the points of a cell apart."""
        return min(self.full_depth(cost, horizon, length), max(1, cost.dim * partition.deepest_level(cost, length)))

    def start(self, cost, length, offset, rng, noise, diagnostics=False, trace=None, horizon=None) -> HOORun:
        if horizon is None:
            raise ValueError("horizon = None, but truncated HOO must know its horizon")
        return HOORun(self, cost, length, offset, rng, noise, diagnostics, trace, horizon)


class HOORun(Run):
    def __init__(self, algorithm, cost, length, offset, rng, noise, diagnostics, trace, horizon):
        super().__init__(cost, noise, rng, trace)
        d = cost.dim
        self.depth = algorithm.depth(cost, horizon, length)
        self.shortened = self.depth < algorithm.full_depth(cost, horizon, length)
        self.bonus = math.sqrt(8.0 * algorithm.sigma**2 * math.log(horizon))
        nu = algorithm.nu_of(cost, length)
        self.slack = np.array([nu * algorithm.rho**h for h in range(self.depth + 1)])
        sides = (cost.upper - cost.lower).tolist()
        lengths = [length * (side / cost.side) for side in sides]
        beyond = [u * (long - side) for u, long, side in zip(offset, lengths, sides, strict=True)]
        self.corner = np.array([low - further for low, further in zip(cost.lower.tolist(), beyond, strict=True)])
        # axis q was halved at the depths q, q + d, q + 2d, ...
        halvings = [[(h - q + d - 1) // d for q in range(d)] for h in range(self.depth + 1)]
        self.width = np.array([[long * 2.0**-k for long, k in zip(lengths, row, strict=True)] for row in halvings])
        self.path = np.zeros(self.depth + 1, dtype=np.int64)  # the nodes of a visit, and the numbers of each
        self.passed = np.zeros((4, self.depth + 1))
        self.index = np.zeros(d, dtype=np.int64)  # of the visited cell among those of its size, per axis
        self.by_level = np.zeros((self.depth + 1 if diagnostics else 0, 2))
        self.level_regret = np.zeros(self.depth + 1)
        self.tree = np.zeros(0)
        self.make_room(256)
        self.state[CELLS], self.state[LINES] = 1, 2
        self.tree[LINE + B] = self.tree[LINE + NODE + B] = np.inf
        self.tree.view(np.int64)[NEXT] = ~LINE

    def make_room(self, lines):
        raw = np.zeros(lines * LINE + LINE)
        skip = -raw.ctypes.data % 64 // raw.itemsize  # it starts where a cache line of 64 bytes starts
        new = raw[skip : skip + lines * LINE]
        new[: self.tree.size] = self.tree
        self.tree = new

    @property
    def kernel(self) -> Kernel:
        return hoo_kernel

    def arguments(self) -> tuple:
        cells = self.corner, self.width, self.slack, self.bonus, self.tree, self.tree.view(np.int64)
        visit = self.path, self.passed, self.index
        return *cells, *visit, self.state, self.total_regret, self.by_level, self.level_regret, self.trace

    def grow(self):
        lines = self.tree.size // LINE
        self.make_room(lines + lines // 2)

    def recommended(self) -> np.ndarray:
        """The centre of the cell reached from the root by way of the more often visited child (a tie: the lower)."""
        tree, link = self.tree, self.tree.view(np.int64)
        index = np.zeros(self.cost.dim)
        h = place = 0
        while h < self.depth and tree[place + N] > (h > 0):  # the first visit was to the node itself, but for the root
            child = int(link[place + NEXT])
            line = (child if child >= 0 else ~child) // LINE * LINE
            upper = bool(tree[line + NODE + N] > tree[line + N])
            index[h % self.cost.dim] = 2 * index[h % self.cost.dim] + upper
            place = line + NODE * upper
            h += 1
        return self.corner + self.width[h] * index + self.width[h] / 2

    def levels(self):
        """Depth, queries in cells of this depth, nodes of this depth, regret."""
        again = self.t + 1 - self.cells  # a query that adds no node was made at the full depth
        return [
            (h, int(pulls), int(pulls) + (h == 0) - (again if h == self.depth else 0), float(regret))
            for h, (pulls, regret) in enumerate(self.by_level)
            if pulls or h == 0
        ]

    def complaint(self):
        if not self.shortened or self.t + 1 == self.cells:
            return None
        return (
            f"{self.cost}: nodes reached depth {self.depth}, where a side is as short as floating-point numbers "
            "resolve; they received no children"
        )

    def violation(self):
        lines = int(self.state[LINES])
        leaves = np.zeros(self.depth + 1, dtype=np.int64)
        level, passed = np.zeros(lines, dtype=np.int16), np.empty(lines)
        astray, lost = tree_broken(self.tree, self.tree.view(np.int64), self.depth, level, passed, leaves)
        volume = sum(count << (self.depth - h) for h, count in enumerate(leaves.tolist()))
        if astray or volume != 1 << self.depth:
            what = f"{astray} pairs of them are not the halves of one cell"
            return f"cells have the volume of {volume / (1 << self.depth)!r} boxes, and {what}"
        if lost:
            return f"pulls of {lost} cells are not those of their halves"
        return self.broken(int(self.tree[N]), sum(self.level_regret.tolist()))


@compiled
def tree_broken(tree, link, depth, level, passed, leaves):
    """How many lines are not the children of one node, and how many have other pulls than went through that node.

    One pass, for a line comes after that of its parent.  `level` receives the depth of each line, `passed` the pulls
    that went through its parent, and `leaves` counts the cells without children at each depth.
    """
    astray, lost = 0, 0
    for line in range(level.size):
        h = level[line]
        first = LINE * line
        if line > 0:
            if h < 1:
                astray += 1
                continue
            if tree[first + N] + tree[first + NODE + N] != passed[line]:
                lost += 1
        for place in range(first, first + (LINE if line > 0 else NODE), NODE):
            n = tree[place + N]
            if line > 0 and (n <= 1.0 or h == depth):
                leaves[h] += 1
                continue
            child = link[place + NEXT]
            below = (child if child >= 0 else ~child) // LINE
            if not line < below < level.size:
                astray += 1
                continue
            level[below] = h + 1 if level[below] == 0 else -1
            passed[below] = n - 1.0 if line > 0 else n
    return astray, lost


@Kernel
def hoo_kernel(
    f, f_min, lowest, law, scale, dof, rng, corner, width, slack, bonus, tree, link, path, passed, index,
    state, regret, by_level, level_regret, trace, x, until,
):  # fmt: skip
    d = corner.shape[0]
    depth = slack.shape[0] - 1
    track = by_level.shape[0] > 0
    count, total, rival, U = passed[0], passed[1], passed[2], passed[3]
    status = FINE
    t, m, lines = state[CLOCK], state[CELLS], state[LINES]
    R = regret[0]
    s0, s1, s2, s3 = rng[0], rng[1], rng[2], rng[3]
    while t < until:
        if (lines + 1) * LINE > tree.size:
            status = NO_ROOM
            break
        for q in range(d):
            index[q] = 0
        h, q, place = 0, 0, 0
        n = tree[N]
        count[0], total[0] = n, tree[TOTAL]
        while (n > 0.0 or h == 0) and h < depth:  # down to a node that is not in the tree, or as deep as one may go
            child = link[place + NEXT]
            if n == 1.0 and h > 0:  # its children were never visited
                child = ~(lines * LINE)
                lines += 1
                for s in (~child, ~child + NODE):
                    tree[s + B], tree[s + N], tree[s + TOTAL] = np.inf, 0.0, 0.0
            if child < 0:  # a tie
                child = ~child
                u, s0, s1, s2, s3 = uniform(s0, s1, s2, s3)
                if not u < 0.5:
                    child += NODE
            place = child
            h += 1
            index[q] = 2 * index[q] + ((place & NODE) != 0)
            q = q + 1 if q + 1 < d else 0
            n = tree[place + N]
            path[h], count[h], total[h], rival[h] = place, n, tree[place + TOTAL], tree[(place ^ NODE) + B]
        for q in range(d):
            a = width[h, q]
            u, s0, s1, s2, s3 = uniform(s0, s1, s2, s3)
            x[q] = (corner[q] + a * index[q]) + a * u
        y = value(f, x)
        if not lowest <= y < HIGHEST:
            return IMPOSSIBLE_COST
        R += y - f_min
        level_regret[h] += y - f_min
        noise, s0, s1, s2, s3 = sample(law, scale, dof, s0, s1, s2, s3)
        reward = -(y + noise)
        t += 1
        if n == 0.0:  # the node joins the tree
            link[place + NEXT] = m
            m += 1
        for j in range(h + 1):  # apart from the next loop, for this one runs on vectors
            count[j] += 1.0
            total[j] += reward
            U[j] = (total[j] / count[j] + bonus * (1.0 / math.sqrt(count[j]))) + slack[j]
        if trace.size > 0:
            trace[t - 1] = link[place + NEXT]  # no path ends at a node that has children
        if track:
            by_level[h, PULLS] += 1
            by_level[h, REGRET] += y - f_min
        b = U[h]
        tree[place + B], tree[place + N], tree[place + TOTAL] = b, count[h], total[h]
        for j in range(h - 1, -1, -1):
            sibling = place ^ NODE
            child = place if b > rival[j + 1] else sibling
            if b == rival[j + 1]:
                child = ~min(place, sibling)
            b = min(U[j], max(b, rival[j + 1]))
            place = path[j]
            tree[place + B], tree[place + N], tree[place + TOTAL] = b, count[j], total[j]
            link[place + NEXT] = child
        if -b > f_min:
            state[EXCEEDED] += 1
    state[CLOCK], state[CELLS], state[LINES] = t, m, lines
    regret[0] = R
    rng[0], rng[1], rng[2], rng[3] = s0, s1, s2, s3
    return status
