"""The hard family of Theorem 3: a cost f0, and members that differ from it by one dent each."""

import math
from functools import cached_property, lru_cache
from numbers import Real

import numpy as np

from function_zoo import InvalidChoice, get
from function_zoo.cost import Cost, shown
from function_zoo.dented import LEAST_GROWTH, lowered, mean_error, text_of, with_dent

from ..arguments import check_whole
from . import many, pair
from .enclosure import enclosure
from .expression import Untraceable, parts, trace
from .many import SLACK

MOST_DIMENSIONS = 8  # beyond, a bound takes minutes
LOOKED_AT = 6  # members, when (c) is checked
REMEMBERED = 2**11  # members: to make one takes a tenth of a second


def member(cost: Cost, place: tuple[float, ...], depth: float, length: float) -> Cost:
    """A cost with one dent: by name, where the cost has one."""
    if cost.registered:
        return _by_name(cost.dim, text_of(cost), place=place, depth=depth, length=length)
    return with_dent(cost, place, depth, length)


@lru_cache(REMEMBERED)
def _by_name(dim, base, *, place, depth, length):
    return get("dented", dim, base=base, place=place, depth=depth, length=length)


class HardFamily:
    """Functions near a cost, of which no strategy can know soon enough which one it faces.

    The members satisfy Assumption 1 with the cost's alpha and beta and the constant M, by default twice the cost's, as
    Theorem 3 has it; r, eta and the depths are those that make the lower bound at this horizon largest.  `blocks` is
    the number of pieces in which the places of dents may be listed: thin sublevel sets need many.  `conditions` says
    what is known about membership, `problem` what fails: such a family is used for nothing.

    For example

        rc.HardFamily(cost, horizon=1e3).sample(1)[0]     # a member: a cost with a dent at a place that nobody knows
    """

    def __init__(
        self, cost: Cost, horizon: float, *, sigma: float = 1.0, M: float | None = None, blocks: int = many.MOST_BLOCKS
    ):
        if not isinstance(cost, Cost):
            raise ValueError(f"cost = {shown(cost)} is no cost; make one with function_zoo.get or Cost(...)")
        for name, value in (("horizon", horizon), ("sigma", sigma), ("M", 1.0 if M is None else M)):
            if not (isinstance(value, Real) and 0 < value < math.inf):
                raise ValueError(f"{name} = {shown(value)} must be a positive number")
        if horizon != int(horizon):
            raise ValueError(f"horizon = {shown(horizon)} must be a whole number")
        cost.constants.need("a hard family", "alpha", "beta", "M_a", "M_b", "A")
        if not len(cost.minimisers):
            raise ValueError(f"a hard family needs a minimiser of {cost}; give function_zoo.cost(..., minimisers=...)")
        self.cost, self.horizon, self.sigma = cost, float(horizon), float(sigma)
        self.blocks = check_whole("blocks", blocks, 1)
        self.M = float(2 * cost.constants.M if M is None else M)

    @cached_property
    def summands(self):
        return parts(trace(self.cost.formula, self.cost.dim))

    @cached_property
    def above(self):
        """The function that bounds f0 - f0* over boxes."""
        pieces = [enclosure(nodes) for _, nodes in self.summands]

        def enclose(low, high):
            ends = [piece(low, high) for piece in pieces]
            return sum(e[0] for e in ends) - self.cost.minimum, sum(e[1] for e in ends) - self.cost.minimum

        return enclose

    @cached_property
    def found(self) -> many.ManyDents | pair.OneDent | None:
        """The dents with the largest lower bound; None where there are none."""
        given = {"horizon": self.horizon, "sigma": self.sigma, "M": self.M}
        dents = many.best(self.above, self.cost, most_blocks=self.blocks, **given)
        if dents is None or dents.regret < 0.5 * self.sigma * math.sqrt(self.horizon):  # two functions never reach that
            both = [dents, pair.best(self.above, self.cost, **given)]
            dents = max((found for found in both if found), key=lambda found: found.regret, default=None)
        return dents

    # The members

    @cached_property
    def _blocks(self):
        blocks = self.found.blocks
        return blocks.chosen(self.found.eta * (1 + SLACK) + np.maximum(blocks.most, 0.0) <= self.found.depth)

    @cached_property
    def _ends(self):
        return np.cumsum(self._blocks.counts)

    def __len__(self) -> int:
        if self.found is None:
            return 0
        return int(self._ends[-1]) if self.found.kind == "many" else 1

    def place(self, i: int) -> np.ndarray:
        """Where member i has its dent."""
        if not -len(self) <= i < len(self):
            raise IndexError(f"member {i} of {len(self)}")
        if self.found.kind == "two":
            return self.found.place
        i %= len(self)
        block = int(np.searchsorted(self._ends, i, side="right"))
        rest = i - int(self._ends[block] - self._blocks.counts[block])
        first, last = self._blocks.first[block], self._blocks.last[block]
        index = []
        for low, high in zip(first.tolist(), last.tolist(), strict=True):
            rest, step = divmod(rest, high - low + 1)
            index.append(low + step)
        return self.found.lattice.points(np.array(index))

    def depth(self, place) -> float:
        """The depth of a dent at a place: the minimum of every member lies equally far below that of f0, or further."""
        if self.found.kind == "two":
            return self.found.depth
        return self.found.eta * (1 + SLACK) + max(0.0, self.cost(place) - self.cost.minimum)

    def at(self, place) -> Cost:
        return member(self.cost, tuple(map(float, place)), float(self.depth(place)), float(self.found.length))

    def __getitem__(self, i: int) -> Cost:
        return self.at(self.place(i))

    def sample(self, size: int, seed: int = 0) -> list[Cost]:
        """Members drawn as the bound's average draws them, with probability proportional to depth^-2."""
        return [self.at(place) for place in self.sample_places(size, seed)]

    def sample_places(self, size: int, seed: int = 0) -> list[np.ndarray]:
        if self.found.kind == "two":
            return [self.found.place] * size
        rng = np.random.default_rng(seed)
        shallow = self.found.eta * (1 + SLACK) + np.maximum(self._blocks.least, 0.0)  # of each block, or less
        weights = self._blocks.counts * shallow**-2.0
        places = []
        while len(places) < size:
            block = rng.choice(len(weights), p=weights / weights.sum())
            index = rng.integers(self._blocks.first[block], self._blocks.last[block] + 1)
            place = self.found.lattice.points(index)
            if rng.random() * shallow[block] ** -2.0 <= self.depth(place) ** -2.0:
                places.append(place)
        return places

    # Membership

    @cached_property
    def conditions(self):
        """A table: condition, holds, how it is known, and the figures."""
        import pandas as pd

        return pd.DataFrame(list(self._conditions()), columns=["condition", "holds", "basis", "figures"])

    def _conditions(self):
        c = self.cost.constants
        fits = c.M_a < self.M and c.M_b < self.M
        yield "f0 within M", fits, "annotated", f"M_a = {c.M_a:.4g} and M_b = {c.M_b:.4g} against M = {self.M:.4g}"
        if not fits:
            return
        if self.cost.dim > MOST_DIMENSIONS:
            few = f"the places of dents are listed in up to {MOST_DIMENSIONS} dimensions, not in {self.cost.dim}"
            yield "a list of places", False, "not tried", few
            return
        try:
            found = self.found
        except Untraceable as error:
            yield "f0 is known as a formula", False, "tried", str(error)
            return
        if found is None:
            yield "a bound above 0", False, "searched", f"no family with M = {self.M:.4g} has one: M is too small"
            return
        deepest = c.M_a + found.depth
        yield "(a)", deepest <= self.M * (1 + 1e-9), "proved", f"M_a + H = {deepest:.4g} against M = {self.M:.4g}"
        error = c.M_b + mean_error(c.alpha, self.cost.dim) * found.depth / found.length**c.alpha
        yield "(b)", error <= self.M * (1 + 1e-9), "proved", f"M_b + K H/r^alpha = {error:.4g} against M = {self.M:.4g}"
        places = self._looked_at()
        try:
            least = min(lowered(self.cost, y, self.depth(y), found.length)[1] for y in places)
            figures = f"members grow by at least {least:.2g} of a dent, in {len(places)} of {len(self):,} members"
        except InvalidChoice as error:
            least, figures = -math.inf, str(error)
        steep = least > LEAST_GROWTH
        yield "(c)", steep, "measured", figures if steep else f"{figures}: flat, f0 is steeper than the dents"
        yield "|f_j - f0| <= epsilon_T", True, "proved", f"epsilon_T = H = {found.depth:.4g}"

    def _looked_at(self):
        """Places of the shallowest and the deepest dent, and of some in between."""
        if self.found.kind == "two":
            return [self.found.place]
        places = self.sample_places(LOOKED_AT - 2)
        ends = [self._blocks.least.argmin(), self._blocks.most.argmax()]
        return [self.found.lattice.points(self._blocks.last[i]) for i in ends] + places

    @property
    def problem(self) -> str | None:
        """What fails, in one sentence; None where nothing does."""
        failed = self.conditions[~self.conditions["holds"]]
        if failed.empty:
            return None
        condition, _, _, figures = failed.iloc[0]
        return f"{self.cost}: no hard family with M = {self.M:.4g}: {condition} fails ({figures})"

    def __str__(self):
        if self.problem:
            return self.problem
        return (
            f"hard family of {self.cost} at T = {self.horizon:.6g}: {len(self):,} members, "
            f"r = {self.found.length:.3g}, H <= {self.found.depth:.3g}, M = {self.M:.4g}"
        )
