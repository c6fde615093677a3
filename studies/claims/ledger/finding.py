"""What became of a claim: a verdict, one line of evidence, and what the verdict leaves open."""

from __future__ import annotations

from dataclasses import dataclass
from enum import StrEnum


class Verdict(StrEnum):
    CONFIRMED = "CONFIRMED"  # exactly, or with a certificate
    CONSISTENT = "CONSISTENT"  # with what would have passed as well
    REFUTED = "REFUTED"  # by a counter-example or an interval
    INCONCLUSIVE = "INCONCLUSIVE"
    NOT_TESTABLE = "NOT TESTABLE"  # with the reason


MARKS = dict(zip(Verdict, "✔✓✘?–", strict=True))


@dataclass(frozen=True)
class Finding:
    """A verdict on a claim.

    `evidence` is one line with its numbers.  `tolerates` says what a CONSISTENT claim could still be off by without
    having been noticed; `caveat` what the test leaves out, and why a claim cannot be tested; `foretold` what theory
    had predicted where the measurement says otherwise.
    """

    verdict: Verdict
    evidence: str
    tolerates: str = ""
    caveat: str = ""
    foretold: str = ""

    def __post_init__(self):
        object.__setattr__(self, "verdict", Verdict(self.verdict))
        for name in ("evidence", "tolerates", "caveat", "foretold"):
            text = getattr(self, name)
            if not isinstance(text, str) or not text.isprintable():
                raise ValueError(f"{name} = {text!r} must be a text, on one line")
        if not self.evidence:
            raise ValueError(f"a verdict {self.verdict} needs one line of evidence")
        if self.verdict is Verdict.CONSISTENT and not self.tolerates:
            raise ValueError("a CONSISTENT claim must say what it tolerates")
        if self.verdict is Verdict.NOT_TESTABLE and not self.caveat:
            raise ValueError("a claim that is NOT TESTABLE must say why, as its caveat")
