"""What a check found, and how it is shown."""

import shutil
from dataclasses import dataclass, field
from functools import cached_property
from pathlib import Path
from typing import NamedTuple

from function_zoo import Cost

from ..claims import Claim, Outcome
from ..display import WIDTH, Headed, Speaking, wrapped
from ..engine.simulate import Runs
from ..fit.fit import Fit
from ..rates import Rate
from ..verdict.agreement import Agreement
from ..verdict.rules import Verdict
from .budget import Plan, duration


class Claimed(Speaking):
    """What checks and assertions share: runs, a fit of them, and a claim about their rate."""

    @property
    def rate(self) -> Rate:
        return self.claim.rate

    def plot(self):
        """The means, the fitted line and the shape of the promised rate: a Matplotlib figure."""
        return self.runs.plot() if self.fit is None else self.fit.plot(self.rate)


class Tilted(NamedTuple):
    """The same runs, had they grown like T^slope, and the verdict on them."""

    slope: float
    verdict: Verdict


@dataclass(frozen=True, repr=False)
class Check(Claimed):
    """What a check found: `print` it, or look at its parts.

    `verdict` is the answer; `fit`, `runs`, `rate`, `claim`, `cost` and `algorithm` are what it rests on; `plan` has
    horizons, replicates and the forecast; `control` is the negative control: the same runs, tilted to the smallest
    growth that should have been caught, must be REFUTED.  `agreement` compares runs with the predicted curve, where
    there is one.  `passed` is True for CONSISTENT alone.  See `check`.
    """

    verdict: Verdict
    claim: Claim
    algorithm: object
    cost: Cost
    runs: Runs
    fit: Fit | None
    plan: Plan
    control: Tilted | None
    agreement: Agreement | None
    seconds: float
    budget: float | None  # seconds, None where horizons and replicates were given
    cautions: tuple[str, ...] = field(default=())

    @property
    def passed(self) -> bool:
        return self.verdict.name == Outcome.CONSISTENT

    def __bool__(self):
        raise TypeError("a check has three answers: ask check.passed, or check.verdict.name for which")

    @property
    def forceful(self) -> bool:
        """Whether the negative control was refuted, so that the verdict could have come out otherwise."""
        return self.control is not None and self.control.verdict.name == Outcome.REFUTED

    def report(self, folder) -> Path:
        """Write report.md, figures and runs.csv into a folder, all of them or none; returns the page."""
        from ..report.check_page import write_check

        return write_check(self, folder)

    # What it says

    @cached_property
    def headline(self) -> str:
        """The answer in one sentence."""
        grows = "at most" if self.claim.kind == "upper" else "at least"
        where = f"{self.cost.name}, d = {self.cost.dim},"
        claim = f"the regret of {self.algorithm.label} on {where} grows {grows} like {self.rate.shape()}"
        if self.verdict.name != Outcome.INCONCLUSIVE and not self.forceful:
            return f"{self.verdict.name}, but without force: {claim}"
        return Headed(self.verdict.name, f": {claim}")

    def _facts(self):
        facts = {"verdict": self.headline}
        if self.verdict.name != Outcome.INCONCLUSIVE and not self.forceful:
            facts["no force"] = f"{self._controlled()}, so that this verdict says little"
        facts["because"] = self.verdict.reason
        if self.fit is not None and self.rate.log_power:
            facts["slope"] = self._slope()
        if self.forceful:
            facts["control"] = self._controlled()
        facts |= {"runs": self._runs(), "noise": self._noise()}
        if self.agreement is not None:
            facts["theory"] = f"agreement with the predicted curve: {self.agreement}"
        facts["caution"] = "; ".join(self.cautions) or "none"
        facts["time"] = self._time()
        return facts

    def _slope(self) -> str:
        """What a slope is worth that does not hold the logarithm: nobody is to take it for the growth of R."""
        pure, log = self.fit.at(0.0), f"(ln T)^{self.rate.log_power:.4g}"
        return (
            f"is that of R / {log}, as the claim has it; R alone grows like "
            f"T^{pure.slope:.3f} [{pure.low:.3f}, {pure.high:.3f}] over these T"
        )

    def _controlled(self) -> str:
        if self.control is None:
            return "no growth of these runs would have been REFUTED"
        must = "as it must be" if self.forceful else "and should be REFUTED"
        tilted = Rate.of_regret(round(self.control.slope, 3), self.rate.log_power).shape()
        return f"the same runs, tilted to {tilted}, come out {self.control.verdict.name}, {must}"

    def _runs(self) -> str:
        frame = self.runs.frame
        T = sorted(frame["horizon"].unique())
        first = T[0] if self.fit is None else self.fit.data.horizons[0]
        window = f", fitted from {first:.7g} on" if first > T[0] else ""
        anytime = self.algorithm.anytime
        once = "each seen at every horizon" if anytime else "new ones at every horizon, which it asks for"
        return f"{frame['replicate'].nunique()}, {once}: T = {T[0]} ... {T[-1]}, {len(T)} horizons{window}"

    def _noise(self) -> str:
        last = self.runs.frame[self.runs.frame["horizon"] == self.runs.frame["horizon"].max()]["regret"]
        scatter = f"{100 * last.std() / last.mean():.0f} %" if len(last) > 1 and last.mean() > 0 else "unknown"
        shared = self.runs.shared
        return f"{shared['noise']}, seed {shared['seed']}; single runs scatter by {scatter} at T_max"

    def _time(self) -> str:
        if self.budget is None:
            return duration(self.seconds)
        return f"{duration(self.seconds)} of {duration(self.budget)}; {duration(self.plan.seconds)} were forecast"

    def __str__(self):
        facts = self._facts()
        width = min(WIDTH, shutil.get_terminal_size((WIDTH, 24)).columns)
        lines = wrapped(facts.pop("verdict"), others="  ", width=width)
        for name, value in facts.items():
            if name != "caution" or value != "none":
                lines += wrapped(str(value), first=f"{name:8}  ", others=" " * 10, width=width)
        return "\n".join(lines)

    def __repr__(self):
        return f"<Check {self.headline}>"
