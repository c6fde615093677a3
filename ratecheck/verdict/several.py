"""Several verdicts at once: the parts of a printed rate, and many claims that are adjusted together (Holm)."""

import math
from dataclasses import dataclass, replace

import numpy as np

from ..arguments import items, shown
from ..claims import Outcome
from ..display import Speaking
from ..fit.fit import Fit
from ..fit.log_means import check_level
from ..rates import Rate
from .findings import Blame, Overruled, Rule
from .rules import LEVEL, LOG_MARGIN, Verdict, advised, blamed, check_judged, decide, with_force


@dataclass(frozen=True, repr=False)
class Assessment(Speaking):
    """A printed rate, judged in its parts: the exponent may hold where the printed log power does not.

    `exponent` is judged at the corrected log power, or at the printed one where theory corrects nothing, and refuted
    only where no logarithm explains the runs; `corrected_log_power` is None where theory corrects nothing.
    """

    exponent: Verdict
    log_power: Verdict
    corrected_log_power: Verdict | None = None

    @property
    def name(self) -> Outcome:
        """The verdict on the rate as printed."""
        names = {self.exponent.name, self.log_power.name}
        if Outcome.REFUTED in names:
            return Outcome.REFUTED
        return Outcome.CONSISTENT if names == {Outcome.CONSISTENT} else Outcome.INCONCLUSIVE

    def __str__(self):
        parts = self._facts()
        names = ", ".join(f"{part} {v.name}" for part, v in parts.items())
        return f"{names}: " + "; ".join(f"{part}: {v.reason}" for part, v in parts.items())

    def _facts(self):
        parts = {"exponent": self.exponent, "printed log power": self.log_power}
        return parts | ({} if self.corrected_log_power is None else {"corrected log power": self.corrected_log_power})


def assess(
    fit: Fit, printed: Rate, corrected: Rate | None = None, *, log_margin: float = LOG_MARGIN, **rules
) -> Assessment:
    """Judge exponent and log power of a printed rate apart, beside the log power that theory puts in its place.

    `rules` are the kind, margin, level, resolution and look of `verdict`, by name.

    For example

        print(rc.assess(fit, rc.Rate.parse("T^0.5 ln T"), corrected=rc.Rate.parse("T^0.5 (ln T)^2")))
    """
    exponent, *powers = decide_parts(fit, printed, corrected=corrected, log_margin=log_margin, **rules)
    return Assessment(*map(with_force, (exponent.alone, *powers)))


def decide_parts(fit, printed, *, corrected=None, log_margin=LOG_MARGIN, **rules) -> list[Verdict]:
    """On the rate that theory stands by, on the printed log power and on the corrected one; `rules` as in `decide`."""
    check_judged(fit, printed)
    if not (corrected is None or isinstance(corrected, Rate)):
        raise ValueError(f"corrected = {shown(corrected)} must be a Rate, or None")
    if corrected is not None and not math.isclose(corrected.exponent, printed.exponent):
        raise ValueError(f"a correction must keep the exponent, but {printed} and {corrected} differ in it")
    rates = [printed] if corrected in (None, printed) else [printed, corrected]
    exponent = decide(fit, rates[-1], **rules)
    rules = rules | {"margin": log_margin, "resolution": math.inf}
    return [exponent, *(decide(fit, rate, log_power=True, **rules) for rate in rates)]


def holm(verdicts, level: float = LEVEL) -> list[Verdict]:
    """Adjust for many claims: decisions whose p-values do not survive Holm's step-down become INCONCLUSIVE.

    For example

        rc.holm([rc.judge(runs, rc.Rate.parse(text)) for text in ("T^0.5", "T^0.4")])
    """
    verdicts = list(items("verdicts", verdicts, "verdicts"))
    for v in verdicts:
        if not isinstance(v, Verdict):
            raise ValueError(f"{shown(v)} is no verdict; take what verdict, tight or judge gives")
    check_level(level)
    found = zip(verdicts, *_in_family(verdicts, level), strict=True)
    return [_adjusted(v, p, kept, len(verdicts)) for v, p, kept in found]


def adjusted_among(v: Verdict, verdicts, place: int) -> Verdict:
    """A verdict as Holm adjusts it in the place of another."""
    family = [*verdicts[:place], v, *verdicts[place + 1 :]]
    p, kept = _in_family(family, LEVEL)
    return _adjusted(v, p[place], kept[place], len(family))


def _in_family(verdicts, level):
    return step_down([1.0 if v.name == Outcome.INCONCLUSIVE else v.p_value for v in verdicts], 1 - level)


def step_down(p, error) -> tuple[list[float], list[bool]]:
    """Holm's p-values, and which of them survive; statsmodels has it too, but takes half a second to load."""
    order = np.argsort(p)
    ranked, left = np.array(p, dtype=float)[order], np.arange(len(p), 0, -1)
    adjusted, survives = np.empty(len(p)), np.empty(len(p), dtype=bool)
    adjusted[order] = np.minimum(np.maximum.accumulate(ranked * left), 1.0)
    survives[order] = np.logical_and.accumulate(ranked <= error / left)
    return adjusted.tolist(), survives.tolist()


def _adjusted(v: Verdict, p, kept, claims) -> Verdict:
    if v.name == Outcome.INCONCLUSIVE:
        return v
    left = v.error * v.p_value / p if p > 0 else v.error  # of the error, for this claim
    if kept:
        blames = blamed(v.evidence, left) if v.blames is Blame.EXPONENT and v.evidence is not None else v.blames
        return replace(v, p_value=p, error=left, blames=blames)
    advice = None if v.evidence is None else advised(v.evidence, v.data, left, v.look)
    rule = Overruled(Rule.HOLM, v.name, claims=claims, p_value=p, advice=advice)
    return v.overruled_by(rule, p_value=p, blames=Blame.NOTHING, error=left)
