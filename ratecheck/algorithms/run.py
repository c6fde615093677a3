"""What runs have in common: their clock, their cost, their noise and their diagnostics."""

import math

import numpy as np

from function_zoo.formula import content

from ..sampling.generator import fill, open_state
from ..sampling.jit import compiled

FINE, NO_ROOM, IMPOSSIBLE_COST = range(3)
HIGHEST = 1e140  # a cost that is not below this counts as infinite
CLOCK, CELLS, STAR, EXCEEDED = range(4)  # places in `state`
PULLS, REGRET = range(2)  # columns of `by_level`
NO_TRACE = np.empty(0, dtype=np.int64)


class Run:
    """One replicate, resumable: `advance` takes it to a later time, in as many calls as one likes.

    `trace`, if given, receives the index of the cell picked at each step.  Where a `kernel` queries the cost,
    `arguments` are what it takes of the run, and `grow` makes room when there is none.
    """

    def __init__(self, cost, noise, rng, trace):
        self.cost = cost
        self.formula = repr(content(cost.formula)) if cost.registered else cost
        self.noise = noise.numbers
        self.rng = open_state(rng.bit_generator.seed_seq)  # of the random numbers
        self.trace = NO_TRACE if trace is None else trace
        self.state = np.zeros(4, dtype=np.int64)
        self.total_regret = np.zeros(1)
        self.x = np.empty(cost.dim)  # the last queried point
        # diagnostics follow its cell; where no minimiser is known there are none
        self.star = cost.minimisers[0] if len(cost.minimisers) else (cost.lower + cost.upper) / 2

    @property
    def t(self) -> int:
        return int(self.state[CLOCK])

    @property
    def cells(self) -> int:
        return int(self.state[CELLS])

    @property
    def regret(self) -> float:
        """Cumulative, up to t."""
        return float(self.total_regret[0])

    @property
    def exceeded(self) -> int:
        """How many steps ended with the lower confidence bound of the cell of x* above f*."""
        return int(self.state[EXCEEDED])

    def advance(self, until):
        while self.t < until:
            arguments = (*self.sampled, *self.arguments(), self.x, until)
            status = self.kernel.advance(self.cost, self.formula, self.state, *arguments)
            if status == IMPOSSIBLE_COST:
                self.refuse(self.x)
            if status == NO_ROOM:
                self.grow()

    def complaint(self) -> str | None:
        """What the user should know about how the run went."""
        return None

    def violation(self) -> str | None:
        """The identity that its own numbers break, in words; whatever breaks one before the end shows at the end."""
        return None

    def broken(self, pulls, regret) -> str | None:
        """The identity that sums over cells or levels break, in words."""
        return pulls_broken(pulls, self.t) or regret_broken(self, regret)

    def levels(self) -> list[tuple[int, int, int, float]]:
        """Level, pulls, present cells and regret, for every level that has any."""
        return []

    def recommended(self) -> np.ndarray:
        """The centre of the cell with the most queries."""
        return self.centre(int(np.argmax(self.n[: self.cells])))

    @property
    def sampled(self) -> tuple:
        """What a kernel that queries points needs of the cost, the noise and the random numbers."""
        return self.cost.minimum, lowest(self.cost), *self.noise, self.rng

    def random(self, count) -> np.ndarray:
        out = np.empty(count)
        fill(self.rng, out)
        return out

    def refuse(self, x, y=None):
        raise bad_value(self.cost, x, y)


def pulls_broken(pulls, t) -> str | None:
    return None if pulls == t else f"pulls over all cells add up to {pulls:.0f}, not to the {t} steps that were made"


def regret_broken(run, total) -> str | None:
    """Whether the regret is the sum over its parts, levels or cells, up to what rounding explains.

    An addition rounds by u = 2^-53 times its result at most.  Let A be the sum of |regret| over all steps.  A step is
    added to the regret, with a result of A at most, and to a part: at once, or as the difference of the regret before
    and after some steps, with results of 2 A and A.  So the sums are apart by 3 t u A at most, to first order in t u,
    and to add the parts up rounds by less; three times that is allowed, as long as t u is small.  No step has a regret
    below -slack, for the kernel refuses such a cost: A exceeds the sum by 2 t slack at most.
    """
    regret, t = run.regret, run.t
    rounded = 2.0**-53 * (3.0 * t + 8.0)
    if abs(total - regret) <= 3.0 * rounded * abs(regret):
        return None  # as nearly always, before the slack is asked for, which takes longer than all of this
    slack = run.cost.minimum - lowest(run.cost)
    A = abs(regret) + 2.0 * t * slack
    allowed = 3.0 * rounded * A if rounded < 0.1 else math.inf
    if abs(total - regret) <= allowed:
        return None
    return f"regret over all levels adds up to {total!r}, not to {regret!r} (rounding explains {allowed:.1e})"


def lowest(cost) -> float:
    """The smallest value that rounding allows a cost with minimum f*."""
    return cost.minimum - cost.rounding


class LowerValue(ValueError):
    """A cost is lower at a point than its minimum is said to be."""

    def __init__(self, message, x=None, y=math.nan):
        super().__init__(message)
        self.x, self.y = x, y

    def __reduce__(self):
        return LowerValue, (self.args[0], self.x, self.y)


def bad_value(cost, x, y=None) -> ValueError:
    """What to raise where a cost has no value that it may have."""
    x = np.asarray(x, dtype=float)
    y = float(values(cost.compiled, x.reshape(1, -1))[0]) if y is None else float(y)
    point = "(" + ", ".join(f"{v:.6g}" for v in x) + ")"
    if (failure := getattr(cost.formula, "failure", None)) is not None:  # in Python, called by a kernel
        fault = ValueError(f"{cost} cannot be computed at x = {point} ({type(failure).__name__}: {failure})")
        fault.__cause__ = failure
        return fault
    if not y < HIGHEST:
        return ValueError(f"{cost} is {y} at x = {point}; a cost must be finite on the box and up to A beyond it")
    sign, beyond, end = (-1, "above", "maximum") if cost.maximise else (1, "below", "minimum")
    found, known = f"{sign * y:.10g}", f"{sign * cost.minimum:.10g}"
    if cost.searched is None:
        return LowerValue(f"{cost} is {found} at x = {point}, {beyond} its {end} {known}; correct one of them", x, y)
    return LowerValue(
        f"{cost} is {found} at x = {point}, {beyond} the {end} {known} that a search found, so that no regret can be "
        f"computed; pass {end}=... to function_zoo.cost",
        x,
        y,
    )


def values(f, points) -> np.ndarray:
    """f at every row, by the form of f that the kernels call."""
    out = np.empty(len(points))
    evaluate(f, np.ascontiguousarray(points), out)
    return out


@compiled
def evaluate(f, points, out):
    for i in range(points.shape[0]):
        out[i] = f(points[i])
