"""What an assertion rests on, how it fails, and what it says."""

from dataclasses import dataclass
from functools import cached_property
from typing import NamedTuple

import numpy as np

from function_zoo import Cost

from ..claims import Claim, Outcome
from ..engine.simulate import Runs
from ..fit.fit import Fit
from ..rates import Rate
from ..verdict.agreement import Agreement
from ..verdict.evidence import WHOLE
from ..verdict.rules import Verdict, looks_cost
from .budget import duration
from .pin import Change
from .result import Claimed

RULE_OF_THREE = 3.0  # N runs without an event leave 3/N of it possible, at 95 %
STEP = 0.02  # of a growth that is looked for
FURTHEST = 2.0


class Unasserted(Exception):
    """What was to be asserted was not; `found` is an Assertion, None where there is nothing to show."""

    def __init__(self, message, found=None):
        super().__init__(message)
        self.found = found


class RateRefuted(Unasserted, AssertionError):
    """The regret grows faster (or slower) than promised."""


class CurveChanged(RateRefuted):
    """The regret is significantly another one than the pinned one."""


class CannotTell(Unasserted, RuntimeError):
    """The test has not the size to tell."""


class Rung(NamedTuple):
    """Horizons and replicates, and the number of the look."""

    number: int | None
    horizons: tuple[int, ...]
    replicates: int


class Rules(NamedTuple):
    """What was declared."""

    tolerance: float
    false_alarms: float
    power: float

    def alarms(self, look) -> float:
        """The error of a refutation at one rung."""
        return self.false_alarms / looks_cost(look)


@dataclass(frozen=True, repr=False)
class Assertion(Claimed):
    """What an assertion rests on: `print` it, or look at its parts.

    `passes` and `fails` are what it would have noticed, as slopes: the fastest growth without a logarithm that could
    have passed, and the slowest, beside the promised logarithm, to which these very runs, tilted, fail (None: none).
    """

    claim: Claim
    algorithm: object
    cost: Cost
    runs: Runs
    fit: Fit | None
    verdict: Verdict
    rung: Rung
    rules: Rules
    seconds: float = 0.0
    agreement: Agreement | None = None
    change: Change | None = None

    @property
    def sign(self) -> int:
        return 1 if self.claim.kind == "upper" else -1

    @property
    def worst(self) -> float:
        return 1.0 if self.sign > 0 else 0.0

    @property
    def passes(self) -> float | None:
        return self.verdict.limits[0]

    @cached_property
    def fails(self) -> float | None:
        found = self.verdict.evidence
        if found is None:
            return None
        grown = np.arange(self.rules.tolerance, FURTHEST, STEP)
        tilted = found.value + (grown[:, None] - found.value[WHOLE]) * found.pure
        caught = np.flatnonzero(self._alarming(tilted))
        return self.rate.slope + self.sign * float(grown[caught[0]]) if len(caught) else None

    @property
    def failed(self) -> bool:
        """Whether the growth over the last half of the window exceeds the tolerance."""
        return self.verdict.evidence is not None and bool(self._alarming(self.verdict.evidence.value))

    def _alarming(self, value):
        return self.verdict.evidence.lately(value) < self.rules.alarms(self.rung.number)

    @property
    def passed(self) -> bool:
        """Whether the rate holds within the tolerance; not where a single run carries the mean."""
        return self.verdict.name == Outcome.CONSISTENT and self.forceful and not self.fit.caution

    @property
    def forceful(self) -> bool:
        """Whether linear growth (of a lower bound: a bounded regret) would not pass, and these runs so tilted fail."""
        if self.fails is None:
            return False
        return min(self.sign * (self.worst - self.passes), self.sign * (self.worst - self.fails)) > 0

    # What it says

    @property
    def asserted(self) -> str:
        promised = f"{'at most' if self.sign > 0 else 'at least'} like {self.rate.shape()}"
        return f"the regret of {self.algorithm.label} on {self.cost} grows {promised}"

    def _facts(self):
        facts = {
            "asserted": f"{self.asserted}, within T^{self.rules.tolerance:g}",
            "found": self.verdict.reason,
            "force": self.force,
            "unseen": f"up to {100 * RULE_OF_THREE / self.rung.replicates:.2g} % of all runs that behave otherwise",
            "runs": self.size,
        }
        if self.agreement is not None:
            facts["theory"] = self.agreement
        if self.change is not None:
            facts["pinned"] = self.change
        return facts | {"again": self.again}

    @property
    def force(self) -> str:
        if self.passes is None:
            return "none, since nothing was judged"
        beyond = "no growth beyond" if self.sign > 0 else "no growth below"
        said = f"{beyond} T^{self.passes:.3f} would have passed (power {100 * self.rules.power:g} %)"
        if self.fails is None:
            return f"{said}; however tilted, these runs would not have failed"
        return f"{said}; the same runs, tilted to {self._tilted(self.fails)}, fail"

    def _tilted(self, slope) -> str:
        return Rate.of_regret(round(slope, 3), self.rate.log_power).shape()

    @property
    def size(self) -> str:
        T, once = self.rung.horizons, "" if self.algorithm.anytime else " at each"
        return f"{self.rung.replicates}{once}, T = {T[0]} ... {T[-1]} ({len(T)} horizons), {duration(self.seconds)}"

    @property
    def again(self) -> str:
        """The arguments that repeat the last rung alone."""
        seed = self.runs.shared["seed"]
        return f"horizons={list(self.rung.horizons)}, replicates={self.rung.replicates}, seed={seed}"

    def __repr__(self):
        return f"<Assertion {self.verdict.name}: {self.verdict.reason}>"


def failure(found: Assertion) -> str:
    grows = "faster" if found.sign > 0 else "more slowly"
    promised = f"than {found.rate.shape()}, by more than the tolerance of {found.rules.tolerance:g}"
    first = f"the regret of {found.algorithm.label} on {found.cost} grows {grows} {promised}"
    if found.verdict.name == Outcome.REFUTED:
        return f"REFUTED: {first}\n{found}"
    return f"{first}, over the last half of the window\n{found}"


def undecided(found: Assertion | None, ended) -> str:
    if found is None:
        return f"cannot tell: {ended}"
    first = f"cannot tell whether {found.asserted}"
    if found.verdict.name == Outcome.CONSISTENT and not found.forceful:
        worst = "linear growth" if found.sign > 0 else "a bounded regret"
        could = "could pass for it" if found.sign * (found.worst - found.passes) <= 0 else "would not have failed"
        first += f": {worst} {could} in this window, and a test that nothing fails has no force"
    elif found.verdict.name == Outcome.CONSISTENT:
        first += f": {found.fit.caution}"
    elif found.rung.number is None:
        first += ": these runs are too few or too short"
    return f"{first}; {ended}\n{found}" if ended else f"{first}\n{found}"


def unfinished(job, rung, made, clock) -> str:
    done = sum(all(unit in made for unit in job.units(rung.horizons, [r])) for r in range(rung.replicates))
    return (
        f"cannot tell: {done} of {rung.replicates} runs of {job.algorithm.label} on {job.cost} up to "
        f"T = {rung.horizons[-1]} were complete after {duration(clock.spent)}; raise budget = "
        f"{duration(clock.seconds)!r}, or give shorter horizons and fewer replicates"
    )
