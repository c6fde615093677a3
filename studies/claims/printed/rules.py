"""Verdicts on the printed width, and on how much faster adaptive bins are."""

from __future__ import annotations

import math
from dataclasses import dataclass

import numpy as np
import pandas as pd

import function_zoo as zoo
import ratecheck as rc
from ratecheck.display import listing
from ratecheck.verdict.rules import MARGIN, decide
from studies.claims.ledger.experiment import Tables
from studies.claims.ledger.finding import Finding, Verdict
from studies.claims.printed.tables import ADAPTIVE, KEYS, PRINTED, TUNED
from studies.claims.shared import D

WAVES = 0.02  # of a slope of a curve: what waves and bins in whole numbers leave
FAR = 2.0**8  # the factor in T over which slopes of curves are taken, at their end
GAP, NONE, GROWTH = "a gap", "no gap", "growth with d"
LEVEL = 0.95  # of all intervals of a claim together
RULE = (
    "The rule was settled before the runs that it judges, but with predicted curves of most of these costs in view. "
    "The gap is the slope of R of uniform bins, their width tuned, minus that of "
    "adaptive bins. It lies between two numbers: the raw difference is too small, since adaptive bins pay the larger "
    "power of ln T; the difference after division by (ln T)^(α/D1) for uniform bins (twice that power at β = 1) and by "
    "(ln T)^(1+αβ/D) for adaptive ones is too large, since finite horizons do not show the whole of that power. So a "
    "gap is shown where the raw difference is positive (95 %, Bonferroni over all costs), and none where the other one "
    f"lies below {MARGIN:g}; the reverse, by runs and curves alike, contradicts. Predicted curves, over the last "
    f"factor {FAR:g} of their range, count as well: a raw difference must exceed {WAVES:g} there. The gap grows with d "
    "where the raw difference does. The claim is REFUTED by one contradiction, and CONSISTENT if there is none, each "
    "of its three parts is shown somewhere, and more than half of all are."
)


def _log_powers(constants, dim) -> tuple[float, float]:
    """Of uniform bins of the best width, (ln T/T)^(alpha/D1) with ln^2 T at beta = 1, and of adaptive bins."""
    alpha, beta = constants.alpha, constants.beta
    best = alpha / D(alpha, min(beta, 1.0), dim) * (2 if math.isclose(beta, 1.0) else 1)
    return best, rc.theorem2_sharper.rate(constants, dim).log_power


def promised_gap(constants, dim) -> float:
    """alpha/D - alpha/D1."""
    alpha, beta = constants.alpha, constants.beta
    return alpha / D(alpha, beta, dim) - alpha / D(alpha, min(beta, 1.0), dim)


# The printed width


def printed_fits(runs: pd.DataFrame, first) -> dict[tuple[str, int], rc.Fit]:
    found = {}
    for (family, dim), part in runs[runs["kind"] == PRINTED].groupby(KEYS, sort=False):
        rate = rc.theorem1.rate(zoo.get(family, dim).constants, dim)
        found[family, dim] = rc.fit_rate(part, rate.log_power, window=(first, math.inf))
    return found


def once(family, dim) -> float:
    """The exponent of R from one query of each bin, or of as many as there are queries, at the printed width."""
    c = zoo.get(family, dim).constants
    return min(1.0, dim / D(c.alpha, c.beta, dim))


def printed_rule(tables: Tables, first) -> Finding:
    """Claim 10p: the printed width against Theorem 1's rate, by slopes, and by counting bins."""
    fits = printed_fits(tables["runs"], first)
    rates = {key: rc.theorem1.rate(zoo.get(*key).constants, key[1]) for key in fits}
    verdicts = rc.holm([decide(fits[key], rates[key]) for key in fits])
    texts = [
        f"{family} d = {dim} T^{once(*key):.3g} for T^{rates[key].slope:.3g}" for key in fits for family, dim in [key]
    ]
    texts = [f"one query of each bin alone makes R grow faster than promised: {', '.join(texts)}"]
    fresh = tables["fresh"]
    linear = [
        key
        for key, part in fresh.groupby(KEYS, sort=False)
        if (part["bins"] >= part["horizon"]).all() and (part["queried"] == part["horizon"]).all()
    ]
    if linear:
        names = listing([f"{family} d = {dim}" for family, dim in linear])
        texts.insert(0, f"on {names} each of T queries is in a new bin, at every T counted, so that R is linear in T")
    evidence = "; ".join(texts)
    names = {v.name for v in verdicts}
    if linear or rc.Outcome.REFUTED in names:
        open_ = [f"{f} d = {d}" for (f, d), v in zip(fits, verdicts, strict=True) if v.name is not rc.Outcome.REFUTED]
        caveat = "a wider bin, c T^(-1/D), changes nothing: at β = 2 its T/c^d bins are still queried once each"
        caveat += f"; slopes alone do not refute it on {listing(open_)}" if open_ else ""
        return Finding(Verdict.REFUTED, evidence, caveat=caveat)
    if names == {rc.Outcome.CONSISTENT}:
        return Finding(Verdict.CONSISTENT, evidence, f"exponents off by {max(v.tolerates for v in verdicts):.2f}")
    return Finding(Verdict.INCONCLUSIVE, evidence)


# The gap


@dataclass(frozen=True)
class Gap:
    """On one cost: slope of tuned uniform bins minus that of adaptive bins, by runs and on the predicted curves."""

    family: str
    dim: int
    beta: float
    promised: float
    raw: rc.Estimate
    compensated: rc.Estimate
    curve_raw: float
    curve_compensated: float
    last: float  # horizon of the curves

    def __str__(self):
        return f"{self.family} d = {self.dim}"

    @property
    def part(self) -> str:
        return GAP if self.beta > 1 + 1e-9 else NONE

    def shown(self, level) -> bool:
        if self.part == GAP:
            return self.raw.lower_limit(level) > 0 or self.curve_raw > WAVES
        return self.compensated.upper_limit(level) < MARGIN or self.curve_compensated < MARGIN

    def contradicted(self, level) -> bool:
        if self.part == GAP:
            return self.compensated.upper_limit(level) < 0 and self.curve_compensated < 0
        return self.raw.lower_limit(level) > MARGIN and self.curve_raw > MARGIN


def gaps(tables: Tables, first) -> list[Gap]:
    found = []
    for (family, dim), part in tables["tuned"].groupby(KEYS, sort=False):
        cost = zoo.get(family, dim)
        runs, curves = (rows_of(tables[name], family, dim) for name in ("runs", "curves"))
        powers = _log_powers(cost.constants, dim)
        window = (first, part["horizon"].max())
        both = [rc.fit_rate(part, window=window), rc.fit_rate(runs[runs["kind"] == ADAPTIVE], window=window)]
        far = [_late_slopes(curves[curves["kind"] == kind]) for kind in (TUNED, ADAPTIVE)]
        worth = [p * late for p, (_, late, _) in zip(powers, far, strict=True)]
        found.append(
            Gap(
                *(family, dim, cost.constants.beta, promised_gap(cost.constants, dim)),
                rc.slope_difference(*both),
                rc.slope_difference(*(fit.at(p) for fit, p in zip(both, powers, strict=True))),
                far[0][0] - far[1][0],
                far[0][0] - far[1][0] - worth[0] + worth[1],
                far[0][2],
            )
        )
    return found


def rows_of(table, family, dim):
    return table[(table["family"] == family) & (table["dim"] == dim)]


def _late_slopes(curve) -> tuple[float, float, float]:
    """Of a curve over its last stretch: the slope of ln R, that of ln ln T, and the last horizon."""
    late = curve[curve["horizon"] >= curve["horizon"].max() / FAR * (1 - 1e-9)]
    x = np.log(late["horizon"].to_numpy(float))
    slopes = [float(np.polyfit(x, y, 1)[0]) for y in (np.log(late["regret"].to_numpy()), np.log(x))]
    return *slopes, float(late["horizon"].max())


@dataclass(frozen=True)
class Growth:
    """From one dimension to the next, of one family: how much larger the raw difference is."""

    family: str
    dims: tuple[int, int]
    promised: float
    raw: rc.Estimate
    curve: float

    def __str__(self):
        return f"{self.family} d = {self.dims[0]} to {self.dims[1]}"

    part = GROWTH

    def shown(self, level) -> bool:
        return self.raw.lower_limit(level) > 0 or self.curve > WAVES

    def contradicted(self, level) -> bool:
        return self.raw.upper_limit(level) < 0 and self.curve < -WAVES


def growths(found: list[Gap]) -> list[Growth]:
    """Pairs of dimensions of a family of which the larger is promised the larger gap."""
    pairs = []
    for small in found:
        for large in found:
            if small.family == large.family and large.dim == small.dim + 1 and large.promised > small.promised + 1e-9:
                se, df = math.hypot(small.raw.se, large.raw.se), min(small.raw.df, large.raw.df)
                raw = rc.Estimate(large.raw.value - small.raw.value, se, df)
                promised, curve = large.promised - small.promised, large.curve_raw - small.curve_raw
                pairs.append(Growth(small.family, (small.dim, large.dim), promised, raw, curve))
    return pairs


def gap_rule(tables: Tables, first) -> Finding:
    """Claim 12."""
    found = gaps(tables, first)
    statements = [*found, *growths(found)]
    level = 1 - (1 - LEVEL) / len(statements)
    against = [s for s in statements if s.contradicted(level)]
    shown = [s for s in statements if s.shown(level)]
    evidence = "tuned uniform minus adaptive slope, runs (curves): " + ", ".join(
        f"{g} {g.raw.value:+.3f} ({g.curve_raw:+.3f})" for g in found
    )
    undecided = [f"{s.part} on {s}" for s in statements if s not in shown and s not in against]
    caveat = f"not shown: {listing(undecided, 9)}" if undecided else ""
    if against:
        return Finding(
            Verdict.REFUTED, f"contradicted on {listing([str(s) for s in against])}; {evidence}", caveat=caveat
        )
    whole_claim = {s.part for s in shown} == {GAP, NONE, GROWTH} and 2 * len(shown) > len(statements)
    if not whole_claim:
        return Finding(Verdict.INCONCLUSIVE, evidence, caveat=caveat)
    tolerates = f"a gap of {MARGIN:g} where β ≤ 1, and any positive gap where β > 1, also one below α/D - α/D1"
    return Finding(Verdict.CONSISTENT, evidence, tolerates, caveat)
