"""What a verdict says, as data: each clause of its reason, what is advised, and what overruled it.

`sentences` words all of it; no code reads the words.
"""

from dataclasses import dataclass
from enum import Enum, StrEnum, auto

from ..claims import Outcome
from ..fit.fit import Estimate
from ..rates import Rate
from .alternatives import Start


class Blame(StrEnum):
    """What a refutation speaks against."""

    NOTHING = ""
    EXPONENT = "exponent"
    LOGARITHM = "logarithm"
    EITHER = "exponent or logarithm"  # where the runs do not tell


class Why(Enum):
    """What decided, or kept from deciding."""

    KEPT = auto()
    EQUAL = auto()
    BEYOND = auto()
    TOO_LAX = auto()  # a rate far off could be consistent, too
    SCATTERED = auto()  # the points lie as far from the line
    STARTING = auto()  # a start that bends into the promised rate explains the runs
    NOT_LATELY = auto()  # the last half of the window does not agree
    RISING = auto()
    UNDECIDED = auto()
    BENT = auto()


class Remedy(Enum):
    """What would settle a claim that is left open."""

    RUNS = auto()  # so many
    LONGER = auto()
    NO_RUNS_BUT_LONGER = auto()
    PERHAPS_RUNS = auto()


@dataclass(frozen=True)
class Advice:
    """A remedy and its numbers: runs, or, where a table does not name them, by which factor errors must shrink."""

    remedy: Remedy
    runs: int = 0
    shrink: float = 1.0
    look: int | None = None  # at which they would do
    times: int = 0  # as many runs
    chance: float | None = None  # that so many decide; None where they do not


@dataclass(frozen=True)
class Finding:
    """The clause that every judged claim has: what was measured, and why that decides or does not."""

    why: Why
    measured: Estimate  # the slope in ln T, or the log power
    against: float
    caution: str = ""  # of the fit
    instead: Rate | None = None  # what explains the runs where an exponent alone is not refuted
    start: Start | None = None
    advice: Advice | None = None
    until: float | None = None  # the horizon that makes a claim less lax
    ends: tuple[float, float] | None = None  # the slopes at both ends of the window


class Follows(Enum):
    """Whether runs follow their predicted curve, and why."""

    WITHIN = auto()
    OTHER_PARTITIONS = auto()  # than those that were predicted
    LOCKED_IN = auto()
    OTHER_LEVEL = auto()
    OTHER_SLOPE = auto()
    LEFT_OPEN = auto()  # by the theory
    TOO_FEW = auto()

    @property
    def outcome(self) -> Outcome:
        if self is Follows.WITHIN:
            return Outcome.CONSISTENT
        return Outcome.INCONCLUSIVE if self in (Follows.LEFT_OPEN, Follows.TOO_FEW) else Outcome.REFUTED


class Rule(Enum):
    """A rule beyond a claim's own runs that makes its verdict INCONCLUSIVE."""

    HOLM = auto()  # over many claims
    GUARD = auto()  # theory forbids a refutation
    LOGARITHM = auto()  # the rate is refuted, its exponent alone is not


@dataclass(frozen=True)
class Overruled:
    """What a verdict was before a rule changed it."""

    rule: Rule
    was: Outcome
    why: str = ""  # the guard's
    claims: int = 0
    p_value: float = 1.0
    advice: Advice | None = None


@dataclass(frozen=True)
class Force:
    """The growth beyond a claim that could have passed, and that would have been caught, to where that ends."""

    passes: float
    catches: float | None
    until: float | None
    not_testable_by_slope: bool = False


@dataclass(frozen=True)
class Remarks:
    """Sentences from elsewhere, in brackets."""

    sentences: tuple[str, ...]
