"""Verdicts on what is said of levels: how many cells remain, what they cost, and how deep they can be."""

from __future__ import annotations

import math

import numpy as np

import ratecheck as rc
from ratecheck.display import counted, listing
from ratecheck.verdict.rules import MARGIN
from studies.claims.ledger.finding import Finding, Verdict
from studies.claims.shared import FAR_LOG_MARGIN

LEVEL = 0.95  # of all intervals of a claim together
PERIODS = 2.0  # of the regret in ln T, over which far slopes are taken at least
AFTERWARDS = (
    "this rule was settled after a look at runs: their slopes alone, at μ_min, left the claim open, since over so "
    "short a range the predicted profile rises as well"
)


# Verdicts


def ratios(table) -> list[dict]:
    """By case: slopes of the ratio of |B_k| to its shape, and whether the inequality in full holds."""
    rows = []
    for name, part in table.groupby("case", sort=False):
        cut = part[~part["all_remain"]]
        ratio = np.log(cut["count"] / cut["shape"])
        in_k, fitted = [], []
        for _, same in cut.assign(ratio=ratio).groupby("log_T"):
            late = same[same["level"] >= (same["level"].min() + same["level"].max()) / 2]
            in_k.append(np.polyfit(late["level"], late["ratio"] / math.log(2), 1)[0])
            fitted.append(np.polyfit(late["level"], np.log2(late["count"]), 1)[0])
        largest = ratio.groupby(cut["log_T"]).max()
        in_log = np.polyfit(np.log(largest.index), largest, 1)[0]
        row = {"case": name, "exponent": part["exponent"].iloc[0], "fitted": fitted[-1], "in_k": max(in_k)}
        row |= {"in_log": in_log, "held": int((part["to_full_bound"] <= 1).sum()), "counts": len(part)}
        rows.append(row | {"worst": part["to_full_bound"].max()})
    return rows


def cells_remain(tables) -> Finding:
    found = ratios(tables["remaining"])
    steepest, highest = max(found, key=lambda r: r["in_k"]), max(found, key=lambda r: r["in_log"])
    evidence = (
        f"the ratio of |B_k| to 2^(k(d-αβ)) (ln T)^β grows like 2^({steepest['in_k']:+.3f} k) and "
        f"(ln T)^{highest['in_log']:+.2f} at most, in {counted(len(found), 'case')} with "
        f"{sum(r['counts'] for r in found)} exact counts; the proof's inequality in full, with the cost's C0, held in "
        f"{sum(r['held'] for r in found)} of them (at most {max(r['worst'] for r in found):.2f} of it)"
    )
    if steepest["in_k"] > MARGIN or highest["in_log"] > FAR_LOG_MARGIN:
        return Finding(Verdict.REFUTED, evidence, caveat="slopes over finitely many levels")
    more, logs = MARGIN - steepest["in_k"], FAR_LOG_MARGIN - highest["in_log"]
    spare = f"2^(k(d-αβ+{more:.3f})) or (ln T)^(β+{logs:.2f}) would have passed"
    return Finding(Verdict.CONSISTENT, evidence, spare, "counted to finite depth, on costs that grow along each axis")


def regret_by_level(tables) -> Finding:
    """CONSISTENT if the predicted profile does not grow by more than the margin, and runs not more than it does.

    REFUTED if the predicted profile does, or if runs do so of themselves and more than predicted.
    """
    growing, beyond = tables["growth"], tables["far"]
    in_time = growing[growing["along"] == "predicted"]
    alone = growing[growing["along"] == "T"].set_index("case")
    level = 1 - (1 - LEVEL) / max(1, int(in_time["slope"].notna().sum()))
    found = []
    for row in in_time.itertuples():
        late, limits = far_slopes(beyond[beyond["case"] == row.case]), (-math.inf, -math.inf)
        if not math.isnan(row.slope):
            estimate = rc.Estimate(row.slope, row.se, row.df)
            limits = estimate.lower_limit(level), estimate.upper_limit(level)
        found.append((*limits, max(late["T"], late["k"] / (row.D * math.log(2))), row.case))
    nearest, farthest = max(found, key=lambda f: f[1]), max(found, key=lambda f: f[2])
    seen = in_time["slope"].notna().sum()
    evidence = (
        f"the largest ratio of R_k to its bound grows at most like T^({farthest[2]:+.3f}) on the predicted profile to "
        f"T = {beyond['horizon'].max():.0e} ({farthest[3]}; {counted(len(found), 'case')}), and in runs at most "
        f"T^({nearest[1]:+.3f}) faster than predicted (upper limit, {nearest[3]}; {counted(seen, 'case')}); "
        f"{_off(beyond)}"
    )
    refuted = [
        name
        for low, _, ahead, name in found
        if ahead > MARGIN
        or (low > MARGIN and rc.Estimate(*alone.loc[name, ["slope", "se", "df"]]).lower_limit(level) > MARGIN)
    ]
    if refuted:
        return Finding(Verdict.REFUTED, f"it grows in {listing(refuted)}: {evidence}")
    most = max(nearest[1], farthest[2])
    if most > MARGIN or not seen:
        return Finding(Verdict.INCONCLUSIVE, evidence)
    spare = f"a bound that is T^{MARGIN - most:.3f} smaller would have passed"
    return Finding(Verdict.CONSISTENT, evidence, spare, AFTERWARDS)


def far_slopes(part) -> dict:
    """Of the predicted profile: in ln T over its last half, and in k."""
    L = np.log(part["horizon"].to_numpy())
    late = min((L[0] + L[-1]) / 2, L[-1] - PERIODS * math.log(part["period"].iloc[0])) - 1e-9 <= L
    return {"T": np.polyfit(L[late], np.log(part["largest"].to_numpy()[late]), 1)[0], "k": part["slope_in_k"].iloc[0]}


def _off(beyond):
    above = beyond["log2_by_D"] - beyond["peak"]
    return f"its peak lies {above.min():.1f} to {above.max():.1f} levels below log2 T / D"


def printed_depth(tables) -> Finding:
    exact, runs = tables["capacity"], tables["reached"]
    broken, seen = exact[~exact["printed_holds"]], runs[~runs["printed_holds"]]
    if len(broken) and len(seen):
        first, deep = seen.loc[seen["t"].idxmin()], seen.loc[seen["level"].idxmax()]
        evidence = (
            f"at t = {first['t']} a run on {first['case']} has a cell of level {first['level']}, printed limit "
            f"{first['log2_t']:.2f}; another ({deep['case']}) reaches level {deep['level']} at t = {deep['t']}, limit "
            f"{deep['log2_t']:.2f}; capacities allow it at every level for α = {listing(broken['alpha'].unique())}"
        )
        fine = [a for a in exact["alpha"].unique() if a not in set(broken["alpha"])]
        return Finding(Verdict.REFUTED, evidence, caveat=f"it holds for α = {listing(fine)}" if fine else "")
    if len(broken) or len(seen):
        return Finding(Verdict.INCONCLUSIVE, f"{len(broken)} levels by capacity and {len(seen)} runs exceed the limit")
    return Finding(Verdict.CONFIRMED, f"no level below t = {exact['t'].max():.0e} and no run exceeds the limit")


def corrected_depth(tables) -> Finding:
    exact, runs = tables["capacity"], tables["reached"]
    broken, seen = exact[~exact["corrected_holds"]], runs[~runs["corrected_holds"]]
    if len(broken) or len(seen):
        first = (broken if len(broken) else seen).iloc[0]
        return Finding(Verdict.REFUTED, f"level {first['level']} at t = {first['t']} with α = {first['alpha']}")
    evidence = (
        f"t > ceil(2^(2α(k-1))) before level k exists; checked in whole numbers at all {len(exact)} levels below "
        f"t = 2^62 for {exact['alpha'].nunique()} values of α, and in {len(runs)} looks at runs"
    )
    return Finding(Verdict.CONFIRMED, evidence)
