"""From the runs of a case to verdicts on its claims, the one way of checks, assertions and studies.

The runs are fitted over the window; a window in which theory expects another slope is not judged; a claim is decided by
the rules of the caller; and a negative control, the same runs tilted, is decided by the same rules.
"""

import math
from collections.abc import Callable, Iterable
from typing import NamedTuple

import numpy as np

from ..claims import NEVER, Case, Claim, Control, Outcome
from ..fit.fit import Fit, fit_rate
from ..fit.log_means import FitError, LogMeans, log_means
from ..predict.far import visible
from . import sentences
from .agreement import Agreement
from .findings import Blame, Overruled, Rule
from .rules import Verdict, decide

FEASIBLE = 1e12  # the last horizon that anybody would wait for


class Judgement(NamedTuple):
    """What the runs of a case say; `problem` says why nothing is judged, and every verdict repeats it."""

    data: LogMeans | None  # at all horizons
    fit: Fit | None  # over the window, no log power divided out
    problem: str
    verdicts: tuple[tuple[Verdict, ...], ...]  # on each claim that a single cost can decide: on its rate, on its parts
    controls: tuple[tuple[Control, Verdict], ...]


def judge_case(
    case: Case,
    runs,
    *,
    by: Callable[..., tuple[Verdict, ...]],
    rules: dict,
    agreement: Agreement | None = None,
    problem: str = "",
    controls: Callable[[Verdict], Iterable[Control]] | None = None,
) -> Judgement:
    """Fit and judge the runs of a case.

    `by(fit, claim, **rules)` gives the verdicts on a claim, the one on its rate first; `rules` are those of `decide`,
    a margin among them.  `problem` is what is known to be wrong with the runs, None are no runs at all.  The controls
    are those of the case, or what `controls` makes of the verdict on its own rate.
    """
    data = fit = None
    try:
        data = None if runs is None else log_means(runs)
        fit = None if problem else fit_rate(data, window=case.window, period=case.period)
    except FitError as error:
        problem = problem or str(error)
    if fit is not None:
        problem = premature(case, fit, rules["margin"], agreement) or fit.problem
    claims = [claim for claim in case.claims if claim.per_cost]
    if problem:
        refused = Verdict(Outcome.INCONCLUSIVE, problem, margin=rules["margin"])
        refusals = tuple((refused,) * claim.parts for claim in claims)
        return Judgement(data, fit, problem, refusals, tuple((control, refused) for control in case.controls))
    verdicts = tuple(by(fit, claim, **rules) for claim in claims)
    own, tilts = case.own, case.controls if controls is None else controls(verdicts[claims.index(case.own)][0])
    # also where the theorem promises nothing: a control tells whether these runs could have missed its rate
    tilted = tuple((c, decide(fit.tilted(c.tilt(own)), own.rate, kind=own.kind, **rules)) for c in tilts)
    return Judgement(data, fit, "", verdicts, tilted)


def predicted_slope(case: Case, fit: Fit, agreement: Agreement | None) -> float | None:
    """What a fit finds in the predicted regret: that of its runs, or else that of the curve over other partitions."""
    if agreement is not None:
        known = agreement.table.set_index("horizon")["predicted"].reindex(fit.data.horizons).to_numpy()
        if np.isfinite(known).all():
            return fit.slope_of(known)
    return None if case.curve is None else fit.slope_of(np.exp(case.curve.log_regret(fit.x)))


def premature(case: Case, fit: Fit, margin: float, agreement: Agreement | None = None) -> str:
    """What is wrong with a window that starts before the onset: theory expects another slope there."""
    first, last = case.window
    if first >= case.onset:
        return ""
    curve, own = case.curve, case.own
    seen = None if curve is None else visible(curve, own.rate, period=case.period, margin=margin, kind=own.kind)
    onset = (seen or NEVER) if case.onset == NEVER else case.onset  # it may be longer than that of the plan
    needed = onset * (case.period**2 if case.period else 16.0)  # it leaves two periods beyond it, or a factor of 16
    needed = math.inf if needed >= FEASIBLE else needed if needed > last else None
    if curve is None:
        return sentences.before_the_onset(case, needed)
    predicted = predicted_slope(case, fit, agreement)
    return sentences.not_yet_the_rate(case, fit, predicted=predicted, margin=margin, seen=seen, needed=needed)


def irrefutable(claim: Claim) -> str:
    """Why no runs can refute a claim, empty if they can."""
    return sentences.promises_nothing(claim) if claim.violated else ""


def held_back(verdict: Verdict, why: str) -> Verdict:
    if not why or verdict.name != Outcome.REFUTED:
        return verdict
    return verdict.overruled_by(Overruled(Rule.GUARD, verdict.name, why), p_value=1.0, blames=Blame.NOTHING)
