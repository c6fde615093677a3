"""By level: how many cells remain, what they cost, where the regret has its peak, and how deep cells can be."""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import dataclass
from fractions import Fraction

import pandas as pd

import function_zoo as zoo
import ratecheck as rc
from ratecheck.display import fixed, general, interval, table
from ratecheck.verdict.rules import MARGIN
from studies.claims.ledger.experiment import Effort, Experiment, Judgement, Picture
from studies.claims.levels import rules
from studies.claims.levels.rules import LEVEL
from studies.claims.levels.tables import Case, capacities, deepest, far, growth, profile, remaining, runs_of
from studies.claims.shared import FAR_LOG_MARGIN


@dataclass(frozen=True)
class Levels(Experiment):
    """`cases` are (family, dimension, mu, far): mu in units of mu_min, or "theorem"; far is the last T of the predicted
    profile.

    Cells remain, in the sense of the proof, where their own gap or their parent's is below a threshold.  They are
    counted one by one, down to the levels of `depth`, for every ln T of `logarithms`.  `steep` are costs on which a
    run goes straight down.  Costs must grow along each axis with the distance from x*.
    """

    cases: tuple[tuple[str, int, float | str, float], ...] = ()
    horizons: Mapping[str, tuple[int, ...]] = None
    replicates: Mapping[str, int] = None
    alignments: Mapping[str, int] = None
    logarithms: tuple[float, ...] = (8.0, 16.0, 32.0, 64.0)
    depth: Mapping[int, int] = None  # by dimension
    alphas: tuple[str, ...] = ()
    steep: tuple[tuple[str, int, float], ...] = ()  # family, dimension, scale
    steepest: Mapping[str, int] = None  # the last t of such a run

    def parts(self, effort: Effort):
        return {
            "profiles": lambda: self._each(lambda case: profile(case, self._runs(case, effort), effort.seed)),
            "growth": lambda: self._each(lambda case: growth(case, self._runs(case, effort), effort.seed)),
            "far": lambda: self._each(lambda case: far(case, effort.of(self.alignments), effort.seed)),
            "remaining": lambda: self._each(lambda case: self._remaining(case, effort)),
            "capacity": lambda: pd.concat([capacities(Fraction(a)) for a in self.alphas], ignore_index=True),
            "reached": lambda: self._reached(effort),
        }

    def _each(self, measure):
        return pd.concat([measure(Case(*case)) for case in self.cases], ignore_index=True)

    def _runs(self, case, effort):
        return runs_of(case, effort.of(self.horizons), effort.of(self.replicates), effort.seed, effort.workers)

    def _remaining(self, case, effort):
        return remaining(case, self.logarithms, self.depth[case.dim], effort.of(self.alignments), effort.seed)

    def _reached(self, effort):
        times = sorted({2**j + extra for j in range(1, 14) for extra in (0, 1)})
        rows = []
        for case in (Case(*case) for case in self.cases):
            horizons = sorted({*times, *effort.of(self.horizons)})
            rows += deepest(case.name, case.cost, case.algorithm, horizons, 8, effort.seed)
        for family, dim, scale in self.steep:
            cost, last = zoo.get(family, dim, scale=scale), effort.of(self.steepest)
            horizons = [2**j for j in range(1, 1 + int(math.log2(last)))]
            name = f"{family} d = {dim}, scale {scale:g}, μ = 0"
            rows += deepest(name, cost, rc.AdaptiveBins(mu=0.0), horizons, 1, effort.seed, "fixed")
        return pd.DataFrame(rows)

    def judgements(self):
        return {
            "19": Judgement(("remaining",), rules.cells_remain),
            "20": Judgement(("growth", "far"), rules.regret_by_level),
            "21": Judgement(("capacity", "reached"), rules.printed_depth),
            "21c": Judgement(("capacity", "reached"), rules.corrected_depth),
        }

    def pictures(self, tables):
        from studies.claims.levels import draw as draw

        yield Picture(
            "profiles",
            "Regret by level",
            "Mean regret of the queries at each level k at three horizons, beside what the predicted curve says and "
            "the proof's bound R_k, whose constant is free: it is drawn through the largest ratio, so that every "
            "point must lie below it. The dotted line is log2 T / D at the last horizon, where the proof changes from "
            "one bound to the other.",
            lambda: draw.profiles(tables["profiles"]),
        )
        yield Picture(
            "remaining",
            "Cells that remain",
            "|B_k|, counted cell by cell, and the cells that runs made, against 2^(k(d-αβ)) (ln T)^β through the last "
            "count.",
            lambda: draw.remaining(tables["remaining"], tables["profiles"]),
        )
        yield Picture(
            "peak",
            "Where the regret has its peak",
            "The level with the largest regret against log2 T / D: measured, predicted as far as cells can be counted, "
            "and the line on which they would be the same.",
            lambda: draw.peak(tables["far"], tables["profiles"]),
        )
        yield Picture(
            "deepest",
            "The deepest level",
            "Levels that exist at time t: the deepest that capacities allow (steps), those of runs (dots), and the "
            "printed and the corrected limit.",
            lambda: draw.deepest(tables["capacity"], tables["reached"]),
        )

    def words(self, tables):
        yield "## How many cells remain"
        yield (
            "A cell of level k remains if its centre's gap is below 3 μ a_k^α or its parent's is below "
            "3 · 2^(-α(k-1)) max{ln T, μ a0^α}. All of them are counted, for the partitions that runs have. "
            "The proof's inequality in full, with the cost's own C0, is checked at every count. Slopes are those of "
            "ln(|B_k| / (2^(k(d-αβ)) (ln T)^β)) after the first level at which a cell is excluded: in k (base 2) over "
            "the last half of the levels, in ln ln T for the largest ratio over k. The test: no slope in k above "
            f"{MARGIN:g}, none in ln ln T above {FAR_LOG_MARGIN:g}."
        )
        header = ["case", "d - αβ", "fitted in k", "slope of the ratio in k", "in ln ln T", "full bound holds"]
        yield table(header, [_remaining_row(r) for r in rules.ratios(tables["remaining"])])
        yield _made(tables["profiles"])
        yield "## Regret by level"
        yield (
            "The bound holds with some constant if and only if the largest ratio R_k / bound over all levels does not "
            "grow with T; the other way round, the largest ratio over all T must not grow with k. The test: the slope "
            f"of its logarithm in ln T is not above {MARGIN:g} on the predicted profile, where T is large and chance "
            f"is absent; and in runs it is not above that of the predicted profile of the same partitions by more than "
            f"{MARGIN:g}, one-sided, {LEVEL:.0%} for all cases together, since what a short range of T does to a slope "
            "it does to both. In k, where a level is worth "
            f"2^D in T, the margin is {MARGIN:g} D ln 2; levels before the onset of pruning and after the predicted "
            "peak are left out, and what is left in runs is too little to judge: it is shown, and the predicted "
            "profile is judged. The proof counts the levels before the onset as a constant; here they end where fewer "
            "than half of all cells are made, and runs are looked at from T = 2^(D (k + 1)) on, k being the next level."
        )
        header = ["case", "runs", "runs - predicted", "predicted, far", "last T"]
        header += ["in k, runs", "margin", "in k, predicted"]
        yield table(header, list(_growth_rows(tables["growth"], tables["far"])))
        yield _peaks(tables["profiles"], tables["far"])
        yield "## The deepest level"
        yield (
            "A cell of level k exists at the earliest when the cells above it are full and the last of them is picked "
            "once more: at t = 1 + Σ ceil(2^(2αl)), l < k. The sum begins with level 0, whose capacity is 1; the "
            "printed proof begins with 1. In whole numbers, without rounding:"
        )
        yield table(["α", "level", "earliest t", "log2 t / 2α", "printed limit", "corrected limit"], _first(tables))
        yield (
            "The corrected limit needs one term only: t > ceil(2^(2α(k-1))) gives k < log2 t / 2α + 1. The printed one "
            f"holds for α ≤ 1/2, where the sum is at least 2^(2αk) - 1, and fails at every level for α > 1/2. "
            f"{_seen(tables['reached'])}"
        )


# Words


def _remaining_row(r):
    full = f"{r['held']} of {r['counts']}, at most {fixed(r['worst'], 2)} of it"
    return [r["case"], general(r["exponent"]), *(fixed(r[name]) for name in ("fitted", "in_k", "in_log")), full]


def _made(profiles):
    tried = int(profiles["reaching"].sum())
    over = int(profiles["exceeding"].sum())
    share = profiles["made"].sum() / profiles["remain"].sum()
    return (
        f"Runs make fewer cells than remain in the proof's sense: {fixed(share, 2)} of them in sum over cases, "
        f"horizons and levels. In {over} of {tried} looks (run, horizon, level) there were more."
    )


def _growth_rows(growing, beyond):
    for name, part in growing.groupby("case", sort=False):
        by = {row.along: row for row in part.itertuples()}
        own = beyond[beyond["case"] == name]
        late = rules.far_slopes(own)
        shown = [name, _estimate(by["T"]), _estimate(by["predicted"]), fixed(late["T"]), f"{own['horizon'].max():.1e}"]
        shown.append(_estimate(by["k"]))
        yield [
            *shown,
            fixed(MARGIN * by["k"].D * math.log(2)),
            f"{fixed(late['k'])} over {own['levels'].iloc[0]} levels",
        ]


def _estimate(row):
    if math.isnan(row.slope):
        return None
    e = rc.Estimate(row.slope, row.se, row.df)
    return f"{fixed(e.value)} {interval(e.low, e.high)}"


def _peaks(profiles, beyond):
    last = profiles[profiles["horizon"] == profiles["horizon"].max()]
    rows = []
    for name, part in last.groupby("case", sort=False):
        own = beyond[beyond["case"] == name].iloc[-1]
        measured, predicted = (int(part.loc[part[c].idxmax(), "level"]) for c in ("regret", "predicted"))
        at = [fixed(part["log2_by_D"].iloc[0], 1), str(measured), str(predicted)]
        rows.append([name, *at, f"{own['horizon']:.1e}", fixed(own["log2_by_D"], 1), str(int(own["peak"]))])
    header = ["case", "log2 T / D", "peak of runs", "predicted", "far T", "log2 T / D there", "predicted there"]
    T = int(profiles["horizon"].max())
    return f"The level with the largest regret, at T = {T} and far out:\n\n{table(header, rows)}"


def _first(tables):
    for _, part in tables["capacity"].groupby("alpha", sort=False):
        for row in part[part["level"].isin([1, 2, 5])].itertuples():
            said = ["holds" if held else "**exceeded**" for held in (row.printed_holds, row.corrected_holds)]
            yield [row.alpha, str(row.level), f"{row.t:,}", fixed(row.log2_t), *said]


def _seen(reached):
    over = reached[~reached["printed_holds"]]
    if not len(over):
        return "No run exceeded it."
    return (
        f"Runs exceeded it in {len(over)} of {len(reached)} looks, up to level {over['level'].max()}: with one initial "
        "cell every run does at t = 2, and on a steep cost a run goes straight down."
    )
