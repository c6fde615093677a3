"""Uniform bins at the width that Theorem 1 prints, at the corrected one and at the best one, against adaptive bins."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable
from dataclasses import dataclass
from functools import cache, partial

import numpy as np
import pandas as pd

import function_zoo as zoo
from ratecheck import AdaptiveBins, Gaussian, UniformBins, fit_rate, holm, predict, simulate, slope_difference
from ratecheck.algorithms import partition
from ratecheck.fit.fit import Fit
from ratecheck.fit.interval import Estimate
from ratecheck.papers import zhao_lai
from ratecheck.sampling import seeding
from ratecheck.verdict.rules import LEVEL, MARGIN, Outcome, decide
from studies.claims.ledger.experiment import Effort, Experiment, Judgement, Picture, Tables
from studies.claims.ledger.finding import Finding, Verdict
from studies.shared.markdown import fixed, general, interval, listing, table, whole

KEYS = ["family", "dim"]
PILOT = 1_000_003  # added to the seed: widths are tuned on other runs than those that are judged
FACTORS = tuple(2.0 ** (k / 2) for k in range(-2, 7))  # widths that are tried, times the corrected one
ADAPTIVE, CORRECTED, PRINTED, TUNED = "adaptive", "corrected", "printed", "tuned"
RULES = {ADAPTIVE: AdaptiveBins(), CORRECTED: UniformBins(), PRINTED: UniformBins(width="printed")}
WAVES = 0.02  # of a slope of a curve: what waves and bins in whole numbers leave
FAR = 2.0**8  # the factor in T over which slopes of curves are taken, at their end
GAP, NONE, GROWTH = "a gap", "no gap", "growth with d"
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
    best = alpha / zhao_lai.D1(alpha, beta, dim) * (2 if math.isclose(beta, 1.0) else 1)
    return best, zhao_lai.sharper_adaptive_rate(alpha, beta, dim).log_power


def promised_gap(constants, dim) -> float:
    """alpha/D - alpha/D1."""
    alpha, beta = constants.alpha, constants.beta
    return alpha / zhao_lai.D(alpha, beta, dim) - alpha / zhao_lai.D1(alpha, beta, dim)


# What is measured


def _affordable(kind, cost, horizons, most):
    """The horizons whose bins are not too many; adaptive bins never are."""
    if kind == ADAPTIVE:
        return list(horizons)
    rule = RULES[kind].settle(cost)
    return [T for T in horizons if rule.cells(cost, T) <= most]


def _runs(costs, horizons, halves, replicates, most, effort) -> pd.DataFrame:
    found = []
    for family, dim in costs:
        cost = zoo.get(family, dim)
        kinds = [ADAPTIVE, CORRECTED] + [PRINTED] * (cost.constants.beta > 1)
        for kind in kinds:
            given = halves if kind == ADAPTIVE else _affordable(kind, cost, horizons, most)
            runs = simulate(RULES[kind], cost, given, replicates, effort.seed, workers=effort.workers).frame
            found.append(runs.assign(family=family, kind=kind))
    return pd.concat(found)[[*KEYS, "kind", "replicate", "horizon", "regret", "cells", "side", "anytime", "period"]]


def _fresh(costs, horizons, seed) -> pd.DataFrame:
    """At the printed width: bins, and how many different ones a run queries."""
    rows = []
    for family, dim in costs:
        cost = zoo.get(family, dim)
        rule = RULES[PRINTED].settle(cost)
        for horizon in horizons:
            trace = np.zeros(horizon, dtype=np.int64)
            length, offset = seeding.alignment(rule, cost, horizon, 0, seed)
            bins = len(partition.grid(cost, length, offset))
            rng = seeding.stream(seed, str(cost), str(rule), horizon, "fresh bins")
            run = rule.start(cost, length, offset, rng, Gaussian(1.0), trace=trace, horizon=horizon)
            run.advance(horizon)
            queried = len(np.unique(trace))
            rows.append((family, dim, horizon, bins, queried, run.regret))
    return pd.DataFrame(rows, columns=[*KEYS, "horizon", "bins", "queried", "regret"])


def _widths(cost, horizon, most):
    """Widths to try: side over a whole number each."""
    corrected = RULES[CORRECTED].settle(cost).length(cost, horizon, 0.0)
    counts = sorted({max(1, round(cost.side / (factor * corrected))) for factor in FACTORS})
    return [cost.side / n for n in counts if n**cost.dim <= most]


def _pilots(costs, horizons, replicates, most, effort) -> pd.DataFrame:
    """Mean regret at every width that is tried."""
    rows = []
    for family, dim in costs:
        cost = zoo.get(family, dim)
        for horizon in horizons:
            for width in _widths(cost, horizon, most):
                how = {"seed": effort.seed + PILOT, "workers": effort.workers}
                runs = simulate(UniformBins(width=width), cost, [horizon], replicates, **how).frame
                rows.append((family, dim, horizon, width, runs["regret"].mean()))
    return pd.DataFrame(rows, columns=[*KEYS, "horizon", "width", "regret"])


def best_widths(pilots: pd.DataFrame) -> pd.DataFrame:
    return pilots.loc[pilots.groupby([*KEYS, "horizon"], sort=False)["regret"].idxmin()]


def _tuned(pilots, replicates, effort) -> pd.DataFrame:
    """New runs at the width that was best on the pilots."""
    found = []
    for best in best_widths(pilots()).itertuples():
        cost, rule = zoo.get(best.family, best.dim), UniformBins(width=best.width)
        runs = simulate(rule, cost, [best.horizon], replicates, effort.seed, workers=effort.workers).frame
        found.append(runs.assign(family=best.family))
    return pd.concat(found)[[*KEYS, "replicate", "horizon", "regret", "side", "anytime", "period"]]


def _places(cost, count):
    """Places of x* in its bin that fill it evenly (Sobol' points): the same for all widths, so that none is lucky."""
    from scipy.stats import qmc

    return qmc.Sobol(cost.dim, scramble=True, rng=0).random(count)


def _aligned(cost, width, places):
    return [(width, ((place - (cost.minimisers[0] - cost.lower) / width) % 1.0).tolist()) for place in places]


def _predicted(cost, width, horizon, places) -> float:
    rule = UniformBins(width=width)
    return float(predict(rule, cost, [horizon], _aligned(cost, width, places)).regret[0])


def _curves(costs, horizons, alignments, most, seed) -> pd.DataFrame:
    """Predicted regrets; of uniform bins as far as there are not too many, their best width among many."""
    rows = []
    for family, dim in costs:
        cost = zoo.get(family, dim)
        places = _places(cost, alignments)
        reached = _affordable(CORRECTED, cost, horizons, most)
        adaptive = predict(RULES[ADAPTIVE], cost, reached, alignments, seed).regret
        rows += [(family, dim, ADAPTIVE, T, math.nan, R) for T, R in zip(reached, adaptive, strict=True)]
        kinds = [CORRECTED] + [PRINTED] * (cost.constants.beta > 1)
        for kind in kinds:
            for T in _affordable(kind, cost, reached, most):
                width = RULES[kind].settle(cost).length(cost, T, 0.0)
                rows.append((family, dim, kind, T, width, _predicted(cost, width, T, places)))
        for T in reached:
            tried = {width: _predicted(cost, width, T, places) for width in _widths(cost, T, most)}
            width = min(tried, key=tried.get)
            rows.append((family, dim, TUNED, T, width, tried[width]))
    return pd.DataFrame(rows, columns=[*KEYS, "kind", "horizon", "width", "regret"])


# The printed width


def printed_fits(runs: pd.DataFrame, first) -> dict[tuple[str, int], Fit]:
    found = {}
    for (family, dim), part in runs[runs["kind"] == PRINTED].groupby(KEYS, sort=False):
        rate = zhao_lai.theorem1.rate(zoo.get(family, dim).constants, dim)
        found[family, dim] = fit_rate(part, rate.log_power, window=(first, math.inf))
    return found


def _once(family, dim) -> float:
    """The exponent of R from one query of each bin, or of as many as there are queries, at the printed width."""
    c = zoo.get(family, dim).constants
    return min(1.0, dim / zhao_lai.D(c.alpha, c.beta, dim))


def printed_rule(tables: Tables, first) -> Finding:
    """Claim 10p: the printed width against Theorem 1's rate, by slopes, and by counting bins."""
    fits = printed_fits(tables["runs"], first)
    rates = {key: zhao_lai.theorem1.rate(zoo.get(*key).constants, key[1]) for key in fits}
    verdicts = holm([decide(fits[key], rates[key]) for key in fits])
    texts = [
        f"{family} d = {dim} T^{_once(*key):.3g} for T^{rates[key].slope:.3g}" for key in fits for family, dim in [key]
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
    if linear or Outcome.REFUTED in names:
        open_ = [f"{f} d = {d}" for (f, d), v in zip(fits, verdicts, strict=True) if v.name is not Outcome.REFUTED]
        caveat = "a wider bin, c T^(-1/D), changes nothing: at β = 2 its T/c^d bins are still queried once each"
        caveat += f"; slopes alone do not refute it on {listing(open_)}" if open_ else ""
        return Finding(Verdict.REFUTED, evidence, caveat=caveat)
    if names == {Outcome.CONSISTENT}:
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
    raw: Estimate
    compensated: Estimate
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
        runs, curves = (_of(tables[name], family, dim) for name in ("runs", "curves"))
        powers = _log_powers(cost.constants, dim)
        window = (first, part["horizon"].max())
        both = [fit_rate(part, window=window), fit_rate(runs[runs["kind"] == ADAPTIVE], window=window)]
        far = [_late_slopes(curves[curves["kind"] == kind]) for kind in (TUNED, ADAPTIVE)]
        worth = [p * late for p, (_, late, _) in zip(powers, far, strict=True)]
        found.append(
            Gap(
                *(family, dim, cost.constants.beta, promised_gap(cost.constants, dim)),
                slope_difference(*both),
                slope_difference(*(fit.at(p) for fit, p in zip(both, powers, strict=True))),
                far[0][0] - far[1][0],
                far[0][0] - far[1][0] - worth[0] + worth[1],
                far[0][2],
            )
        )
    return found


def _of(table, family, dim):
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
    raw: Estimate
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
                raw = Estimate(large.raw.value - small.raw.value, se, df)
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


@dataclass(frozen=True)
class Printed(Experiment):
    """Costs as pairs (family, dim), horizons as powers of two; `most` and `far_bins` bound bins of runs and curves."""

    costs: dict | None = None
    also_printed: tuple[tuple[str, int], ...] = ()
    fresh: tuple[tuple[str, int], ...] = ()
    fresh_horizons: tuple[int, ...] = ()
    first: int = 8
    window: int = 10
    last: dict | None = None
    replicates: dict | None = None
    pilots: dict | None = None
    most: int = 2**18
    far: dict | None = None
    far_bins: dict | None = None
    alignments: dict | None = None

    def parts(self, effort: Effort) -> dict[str, Callable]:
        costs, last, replicates = (effort.of(x) for x in (self.costs, self.last, self.replicates))
        octaves = [2**k for k in range(self.first, last + 1)]
        halves = [round(2 ** (k / 2)) for k in range(2 * self.first, 2 * last + 1)]
        judged = [T for T in octaves if 2**self.window <= T]
        far = [2.0**k for k in range(self.first, effort.of(self.far) + 1)]
        every = (*costs, *self.also_printed)
        pilots = cache(partial(_pilots, costs, judged, effort.of(self.pilots), self.most, effort))
        return {
            "runs": partial(_runs, every, octaves, halves, replicates, self.most, effort),
            "fresh": partial(_fresh, self.fresh, self.fresh_horizons, effort.seed),
            "pilots": pilots,
            "tuned": partial(_tuned, pilots, replicates, effort),
            "curves": partial(_curves, every, far, effort.of(self.alignments), effort.of(self.far_bins), effort.seed),
        }

    def judgements(self) -> dict[str, Judgement]:
        first = 2**self.window
        return {
            "10p": Judgement(("runs", "fresh"), lambda tables: printed_rule(tables, first)),
            "12": Judgement(("runs", "tuned", "curves"), lambda tables: gap_rule(tables, first)),
        }

    def pictures(self, tables: Tables) -> Iterable[Picture]:
        from studies.claims.printed import draw as draw

        yield Picture(
            "regret",
            "Regret per query at four widths",
            "R/T of uniform bins at the printed, the corrected and the tuned width and of adaptive bins: means of runs "
            "with 95 % intervals, and predicted curves, which go further. At the printed width R/T falls more slowly "
            "where β > 1, and not at all from β = 2 on.",
            partial(draw.regrets, tables["runs"], tables["tuned"], tables["curves"]),
        )
        yield Picture(
            "gap",
            "How much slower tuned uniform bins are",
            "Slope of R of tuned uniform bins minus that of adaptive bins against β: by runs (points with 95 % "
            "intervals, raw), on predicted curves at the end of their range (crosses), and α/D - α/D1 (bars). The "
            "arrows end where the promised logarithms are divided out.",
            partial(draw.gaps, gaps(tables, 2**self.window)),
        )

    def words(self, tables: Tables) -> Iterable[str]:
        first = 2**self.window
        yield "## The width as printed"
        yield (
            "The printed width T^(-1/D), D = d + 2α - αβ, makes T^(d/D) bins. For β ≥ 2 these are T or more, and "
            "Algorithm 1 queries every bin once before any bin twice: so each of the T queries is in a new bin, and "
            "the regret is T times the mean of f - f* over bins, whatever T is. Counted in runs:"
        )
        rows = [
            [
                f"{r.family} d = {r.dim}",
                whole(r.horizon),
                f"{r.bins:,}",
                f"{r.queried:,}",
                general(r.regret / r.horizon),
            ]
            for r in tables["fresh"].itertuples()
        ]
        yield table(["cost", "T", "bins", "different bins queried", "R/T"], rows)
        yield (
            "For 1 < β < 2 there are fewer bins than queries, but each of them is queried once all the same, so that R "
            "grows at least like the number of bins, T^(d/D), and d/D exceeds Theorem 1's exponent as soon as β > 1. "
            "What is proved so is far away where the verdicts on slopes are open: a linear start that bends into the "
            "promised rate explains these runs as well. Slopes of R, Theorem 1's logarithm divided out:"
        )
        yield _slopes_table(tables["runs"], first)
        yield "## Tuned uniform bins against adaptive bins"
        yield RULE
        yield (
            "The width was chosen for each T among several on runs of their own, and judged on new ones. The predicted "
            "curves choose theirs at places of x* in its bin that are the same for all widths."
        )
        found = gaps(tables, first)
        yield _gaps_table(found)
        yield _growth_table(growths(found))


def _slopes_table(runs, first) -> str:
    rows = []
    for (family, dim), fit in printed_fits(runs, first).items():
        cost = zoo.get(family, dim)
        rate = zhao_lai.theorem1.rate(cost.constants, dim)
        own = _of(runs, family, dim)
        last = fit.data.horizons[-1]
        corrected = fit_rate(own[own["kind"] == CORRECTED], rate.log_power, window=(first, last))
        rows.append(
            [
                f"{family} d = {dim}",
                general(cost.constants.beta, 3),
                f"{whole(first)} to {whole(last)}",
                fixed(rate.slope),
                fixed(_once(family, dim)),
                f"{fixed(fit.slope)} {interval(fit.low, fit.high)}",
                f"{fixed(corrected.slope)} {interval(corrected.low, corrected.high)}",
            ]
        )
    header = ["cost", "β", "T", "Theorem 1", "one query per bin", "printed width", "corrected width"]
    return table(header, rows)


def _gaps_table(found: list[Gap]) -> str:
    level = 1 - (1 - LEVEL) / (len(found) + len(growths(found)))
    rows = [
        [
            str(g),
            general(g.beta, 3),
            fixed(g.promised),
            f"{fixed(g.raw.value)} {interval(g.raw.low, g.raw.high)}",
            f"{fixed(g.compensated.value)} {interval(g.compensated.low, g.compensated.high)}",
            fixed(g.curve_raw),
            fixed(g.curve_compensated),
            f"{g.last:.0e}",
            f"{g.part}: {_answer(g, level)}",
        ]
        for g in found
    ]
    header = [
        "cost",
        "β",
        "promised",
        "raw, runs",
        "logarithms divided out, runs",
        "raw, curves",
        "divided out, curves",
    ]
    return table([*header, "curves to T", "claimed"], rows)


def _growth_table(found: list[Growth]) -> str:
    rows = [
        [str(g), fixed(g.promised), f"{fixed(g.raw.value)} {interval(g.raw.low, g.raw.high)}", fixed(g.curve)]
        for g in found
    ]
    return table(["from one dimension to the next", "promised", "raw, runs", "raw, curves"], rows)


def _answer(statement, level) -> str:
    if statement.contradicted(level):
        return "contradicted"
    return "shown" if statement.shown(level) else "not shown"
