"""The verdict on what a larger mu costs."""

from __future__ import annotations

import numpy as np
from scipy import special

from ratecheck.verdict.rules import MARGIN
from studies.claims.ledger.experiment import Tables
from studies.claims.ledger.finding import Finding, Verdict

ERROR = 0.05  # of all comparisons of a kind together
WHOLE = 256  # the factor in T of the window in which slopes are fitted: two periods of the quadratic, four of the cone


# Judged


def judge(tables: Tables, needed: float) -> Finding:
    """Larger mu is worse: every step beyond what is needed raises ln R, averaged over the last period.  The rate stays:
    for every mu the slopes of runs are those of the predicted curves at their partitions (`drift` is the difference),
    and the predicted curves tend to the promised exponent."""
    rates, there = (tables[name][tables[name]["factor"] >= needed] for name in ("rates", "far"))
    steps = rates[rates["factor"] > needed]
    reach = special.stdtrit(steps["runs"] - 1, 1 - ERROR / len(steps)) * steps["rise_se"]
    worse, reversed_ = steps["rise"] > reach, steps["rise"] < -reach
    off = rates["drift"].abs()
    give = special.stdtrit(rates["drift_df"], 1 - ERROR / (2 * len(rates))) * rates["drift_se"]
    beyond = rates["onset_foretold"] < rates["window_first"]
    unforeseen = (off - give > MARGIN) & beyond
    distance = np.maximum(there["limit_high"] - there["promised"], there["promised"] - there["limit_low"])
    same = distance <= MARGIN
    other = (there["limit_low"] - there["promised"] > MARGIN) | (there["promised"] - there["limit_high"] > MARGIN)
    if reversed_.any() or unforeseen.any() or other.any():
        verdict = Verdict.REFUTED
    elif worse.all() and (off + give < MARGIN).all() and same.all():
        verdict = Verdict.CONSISTENT
    else:
        verdict = Verdict.INCONCLUSIVE
    T = rates["window_last"].max()
    evidence = (
        f"up to T = {T:,.0f} {int(worse.sum())} of {len(steps)} steps from {needed:g} mu_min to Theorem 2's mu raise "
        f"R, {int(reversed_.sum())} lower it; slopes exceed that at {needed:g} mu_min by {span(steps['apart'])}, "
        f"each within {(off + give).max():.3f} of the predicted curve's; these curves, to T = "
        f"{there['last'].min():.0e} and beyond, tend to {span(there['limit'])} where "
        f"{there['promised'].iloc[0]:g} is promised "
        f"({int(same.sum())} of {len(there)} surely within {MARGIN:g})"
    )
    return Finding(
        verdict,
        evidence,
        tolerates=f"exponents off by {max((off + give).max(), distance.max()):.3f}"
        if verdict is Verdict.CONSISTENT
        else "",
        caveat=f"in {int((~beyond).sum())} of {len(rates)} cases the predicted onset lies in or beyond the window of "
        "the runs, where only the predicted curve speaks of a rate; below what is needed a larger mu may be better, "
        "since fewer runs lock in",
    )


def span(values) -> str:
    return f"{values.min():.3f} to {values.max():.3f}"
