"""By level: how many cells remain, what they cost, where the regret has its peak, and how deep cells can be."""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import dataclass
from fractions import Fraction
from functools import cached_property, lru_cache

import numpy as np
import pandas as pd

import function_zoo as zoo
from ratecheck import AdaptiveBins, predict, simulate
from ratecheck.algorithms import partition
from ratecheck.engine.simulate import begin
from ratecheck.fit.interval import Estimate
from ratecheck.papers.zhao_lai import D
from ratecheck.predict.far import LOG_MARGIN
from ratecheck.sampling import seeding
from ratecheck.verdict.rules import MARGIN
from studies.claims.ledger.experiment import Effort, Experiment, Judgement, Picture
from studies.claims.ledger.finding import Finding, Verdict
from studies.claims.shared import jackknife
from studies.shared.markdown import counted, fixed, general, interval, listing, table

LEVEL = 0.95  # of all intervals of a claim together
FEWEST = 3  # levels that a slope in k needs
FEWEST_HORIZONS = 4  # that one in ln T needs
PERIODS = 2.0  # of the regret in ln T, over which far slopes are taken at least
EXACT = 2**62  # a table holds whole numbers up to here
THEOREM = "theorem"
AFTERWARDS = (
    "this rule was settled after a look at runs: their slopes alone, at μ_min, left the claim open, since over so "
    "short a range the predicted profile rises as well"
)


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
        return _runs_of(case, effort.of(self.horizons), effort.of(self.replicates), effort.seed, effort.workers)

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
            rows += deepest(name, cost, AdaptiveBins(mu=0.0), horizons, 1, effort.seed, "fixed")
        return pd.DataFrame(rows)

    def judgements(self):
        return {
            "19": Judgement(("remaining",), cells_remain),
            "20": Judgement(("growth", "far"), regret_by_level),
            "21": Judgement(("capacity", "reached"), printed_depth),
            "21c": Judgement(("capacity", "reached"), corrected_depth),
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
            f"{MARGIN:g}, none in ln ln T above {LOG_MARGIN:g}."
        )
        header = ["case", "d - αβ", "fitted in k", "slope of the ratio in k", "in ln ln T", "full bound holds"]
        yield table(header, [_remaining_row(r) for r in ratios(tables["remaining"])])
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


@dataclass(frozen=True)
class Case:
    """A cost, adaptive bins with a mu, and the last T of a predicted profile."""

    family: str
    dim: int
    mu: float | str  # in units of mu_min, or "theorem"
    far: float

    @cached_property
    def cost(self):
        return zoo.get(self.family, self.dim)

    @cached_property
    def algorithm(self):
        mu = THEOREM if self.mu == THEOREM else self.mu * self.cost.constants.mu_min
        return AdaptiveBins(mu=mu).settle(self.cost)

    @property
    def alpha(self):
        return self.cost.constants.alpha

    @property
    def beta(self):
        return self.cost.constants.beta

    @property
    def D(self):
        return D(self.alpha, self.beta, self.dim)

    @property
    def name(self):
        mu = "theorem's μ" if self.mu == THEOREM else f"{self.mu:g} μ_min"
        return f"{self.family} d = {self.dim}, {mu}"

    def alignment(self, replicate, seed):
        return seeding.alignment(self.algorithm, self.cost, 1, replicate, seed)

    def bound(self, k, T):
        """The proof's bound on R_k, without its constant."""
        early = 2.0 ** (k * (self.dim + self.alpha - self.alpha * self.beta)) * np.log(T) ** (self.beta + 1)
        late = 2.0 ** (-self.alpha * k) * T * np.log(T)
        return np.where(k <= np.log2(T) / self.D, early, late)

    def shape(self, k, log):
        """That on |B_k|."""
        return 2.0 ** (k * (self.dim - self.alpha * self.beta)) * log**self.beta

    def in_full(self, k, log, a0):
        """The proof's inequality for |B_k| before its constants are dropped, misprints corrected."""
        C0, mu, a, d = self.cost.constants.C0, self.algorithm.mu, a0 * 2.0**-k, self.dim
        own = C0 * (1 + (3 * mu * a**self.alpha) ** self.beta / a**d)
        above = (3 * 2.0 ** (-self.alpha * (k - 1)) * max(log, mu * a0**self.alpha)) ** self.beta
        return own + 2**d * C0 * (1 + above / (2 * a) ** d)


# Runs and the predicted profile


@lru_cache(maxsize=16)
def _runs_of(case, horizons, replicates, seed, workers):
    return simulate(case.algorithm, case.cost, horizons, replicates, seed, workers=workers, diagnostics=True)


def profile(case, runs, seed) -> pd.DataFrame:
    """By horizon and level: means over the runs, what is predicted for the same partitions, and the proof's bound."""
    n = runs.frame["replicate"].nunique()
    found = made(case, runs.levels, seed)
    predicted = predict(case.algorithm, case.cost, sorted(runs.frame["horizon"].unique().tolist()), n, seed)
    foretold = predicted.levels.groupby(["horizon", "level"])["regret"].sum() / n
    rows = []
    for (T, k), part in found.groupby(["horizon", "level"]):
        regrets = np.concatenate([part["regret"], np.zeros(n - len(part))])
        row = {"case": case.name, "horizon": T, "log2_by_D": math.log2(T) / case.D, "level": k}
        row |= {name: part[name].sum() / n for name in ("regret", "pulls", "cells", "made", "possible", "remain")}
        row |= {"sem": regrets.std(ddof=1) / math.sqrt(n), "predicted": foretold.get((T, k), 0.0)}
        row |= {"bound": float(case.bound(k, T)), "exceeding": int((part["made"] > part["remain"]).sum())}
        rows.append(row | {"reaching": len(part)})
    return pd.DataFrame(rows)


def made(case, levels, seed) -> pd.DataFrame:
    """The levels of runs with the cells that were made there, those that could be, and those that remain."""
    parts = []
    for (replicate, T), part in levels.groupby(["replicate", "horizon"]):
        part = part.sort_values("level")
        length, offset = case.alignment(replicate, seed)
        count = roots = len(partition.grid(case.cost, length, offset))
        makes = []
        for present in part["cells"]:
            makes.append(count)
            count = (count - present) * 2**case.dim
        possible = roots * 2.0 ** (case.dim * part["level"])
        left = remain(case, math.log(T), len(part) - 1, length, offset)
        parts.append(part.assign(made=makes, possible=possible, remain=left))
    return pd.concat(parts, ignore_index=True)


def growth(case, runs, seed) -> pd.DataFrame:
    """Slopes of the largest ratio of R_k to its bound, with jackknife errors over runs.

    In ln T as they are, and less what is predicted for the same partitions at the same horizons; and in k.
    """
    horizons = np.array(sorted(runs.frame["horizon"].unique()))
    n = runs.frame["replicate"].nunique()
    foretold = predict(case.algorithm, case.cost, horizons.tolist(), n, seed).levels
    first, last = _from_onset_to_peak(case, foretold[foretold["horizon"] == horizons[-1]], n, seed)
    depth = 1 + max(runs.levels["level"].max(), foretold["level"].max())
    kept = horizons >= 2 ** (case.D * (first + 1))
    bound = case.bound(np.arange(depth), horizons[kept, None])
    seen = _cube(runs.levels, "replicate", horizons, depth)[:, kept] / bound
    said = _cube(foretold, "alignment", horizons, depth)[:, kept] / bound
    L, k = np.log(horizons[kept]), np.arange(first, last + 1)
    enough = {"T": len(L) >= FEWEST_HORIZONS, "predicted": len(L) >= FEWEST_HORIZONS}
    enough["k"] = enough["T"] and len(k) >= FEWEST

    def slopes(seen, said):
        largest, expected = (np.log(ratio[:, first:].max(axis=1)) for ratio in (seen, said))
        by_level = np.log(seen.max(axis=0)[first : last + 1])
        pairs = {"T": (L, largest), "predicted": (L, largest - expected), "k": (k, by_level)}
        return [np.polyfit(*pair, 1)[0] if enough[name] else math.nan for name, pair in pairs.items()]

    whole = slopes(seen.mean(axis=0), said.mean(axis=0)) if len(L) else [math.nan] * 3
    left_out = np.array([slopes(*(_without(r, i) for r in (seen, said))) if len(L) else whole for i in range(n)])
    found = [jackknife(value, column) for value, column in zip(whole, left_out.T, strict=True)]
    shared = {"case": case.name, "D": case.D, "df": n - 1, "first_level": first, "horizons": len(L), "levels": len(k)}
    rows = zip(enough, found, strict=True)
    return pd.DataFrame([shared | {"along": along, "slope": e.value, "se": e.se} for along, e in rows])


def _cube(levels, who, horizons, depth):
    """Regret by run, horizon and level."""
    index = pd.MultiIndex.from_product([sorted(levels[who].unique()), horizons], names=[who, "horizon"])
    wide = levels.pivot_table(index=[who, "horizon"], columns="level", values="regret", fill_value=0.0)
    return wide.reindex(index=index, columns=range(depth), fill_value=0.0).to_numpy().reshape(-1, len(horizons), depth)


def _without(ratio, i):
    return (ratio.sum(axis=0) - ratio[i]) / (len(ratio) - 1)


def _from_onset_to_peak(case, levels, alignments, seed):
    means = levels.groupby("level")[["cells", "regret"]].sum() / alignments
    grids = [len(partition.grid(case.cost, *case.alignment(r, seed))) for r in range(alignments)]
    count, first = np.mean(grids), None
    for k, present in means["cells"].items():
        if first is None and count < 0.5 * np.mean(grids) * 2.0 ** (case.dim * k):
            first = int(k)
        count = (count - present) * 2**case.dim
    peak = int(means["regret"].idxmax())
    return (peak if first is None else first), peak


def far(case, alignments, seed) -> pd.DataFrame:
    """The predicted profile to a far T: its largest ratio to the bound over k, its peak, and its slope in k."""
    period = case.algorithm.period(case.cost)
    count = 1 + math.floor(4 * math.log(case.far / 2**12) / math.log(period))
    horizons = [round(2**12 * period ** (i / 4)) for i in range(count)]
    levels = predict(case.algorithm, case.cost, horizons, alignments, seed).levels
    means = levels.groupby(["horizon", "level"])["regret"].sum().unstack(fill_value=0.0) / alignments
    ratio = means.to_numpy() / case.bound(means.columns.to_numpy(), means.index.to_numpy()[:, None])
    first, last = _from_onset_to_peak(case, levels[levels["horizon"] == means.index[-1]], alignments, seed)
    in_k = np.polyfit(np.arange(first, last + 1), np.log(ratio.max(axis=0)[first : last + 1]), 1)[0]
    ratio[:, :first] = 0.0
    return pd.DataFrame(
        {
            "case": case.name,
            "D": case.D,
            "period": period,
            "horizon": means.index,
            "log2_by_D": np.log2(means.index) / case.D,
            "largest": ratio.max(axis=1),
            "at": ratio.argmax(axis=1),
            "peak": means.to_numpy().argmax(axis=1),
            "slope_in_k": in_k,
            "levels": last - first + 1,
            "first_level": first,
        }
    )


# Cells that remain


def remain(case, log, deepest, length, offset) -> list[int]:
    """|B_k| for k = 0 ... deepest, one by one; at level 0, which has no parents, all cells remain.

    Only cells that come near enough to x* are cut further: f grows along each axis with the distance from x*, so that
    its minimum over a cell is at the point of the cell that is nearest to x* along every axis.
    """
    cost, mu, alpha = case.cost, case.algorithm.mu, case.alpha
    corners = partition.grid(cost, length, offset)
    counts, a = [len(corners)], length
    parts = np.array(np.meshgrid(*[[0.0, 0.5]] * cost.dim, indexing="ij")).reshape(cost.dim, -1).T
    for k in range(1, deepest + 1):
        threshold = 3 * 2.0 ** (-alpha * (k - 1)) * max(log, mu * length**alpha)
        nearest = np.clip(cost.minimisers[0], corners, corners + a)
        corners = corners[_gap(cost, nearest) < threshold]
        good = np.repeat(_gap(cost, corners + a / 2) < threshold, len(parts))
        corners = (corners[:, None] + a * parts).reshape(-1, cost.dim)
        a /= 2
        good |= _gap(cost, corners + a / 2) < 3 * mu * a**alpha
        counts.append(int(good.sum()))
    return counts


def _gap(cost, points):
    return cost.many(points) - cost.minimum


def remaining(case, logarithms, deepest, alignments, seed) -> pd.DataFrame:
    """|B_k| averaged over partitions, its shape, and how near it comes to the proof's inequality in full."""
    rows = []
    given = [case.alignment(replicate, seed) for replicate in range(alignments)]
    roots = [len(partition.grid(case.cost, *pair)) for pair in given]
    for log in logarithms:
        counts = np.array([remain(case, log, deepest, *pair) for pair in given])
        for k in range(1, deepest + 1):
            full = np.array([case.in_full(k, log, length) for length, _ in given])
            rows.append(
                {
                    "case": case.name,
                    "exponent": case.dim - case.alpha * case.beta,
                    "log_T": log,
                    "level": k,
                    "count": counts[:, k].mean(),
                    "shape": case.shape(k, log),
                    "to_full_bound": (counts[:, k] / full).max(),
                    "all_remain": bool((counts[:, k] == np.array(roots) * 2 ** (case.dim * k)).all()),
                }
            )
    return pd.DataFrame(rows)


# The deepest level


def capacities(alpha: Fraction) -> pd.DataFrame:
    """The earliest t at which a cell of each level can exist, in whole numbers, against both limits.

    k <= log2 t / (2 alpha) is  t^q >= 2^(2 p k)  for alpha = p / q.
    """
    p, q = alpha.numerator, alpha.denominator
    rows, total, k = [], 0, 0
    while True:
        total, k = total + capacity(alpha, k), k + 1
        t = total + 1
        if t >= EXACT:
            return pd.DataFrame(rows)
        limits = {"printed_holds": t**q >= 2 ** (2 * p * k), "corrected_holds": t**q >= 2 ** (2 * p * (k - 1))}
        rows.append({"alpha": str(alpha), "level": k, "t": t, "log2_t": math.log2(t) / (2 * float(alpha))} | limits)


def capacity(alpha: Fraction, k: int) -> int:
    """ceil(2^(2 alpha k)): the least whole n with n^q >= 2^(2 p k)."""
    p, q = alpha.numerator, alpha.denominator
    high = 2 ** -(-2 * p * k // q)
    low = high // 2
    while high - low > 1:
        middle = (low + high) // 2
        low, high = (low, middle) if middle**q >= 2 ** (2 * p * k) else (middle, high)
    return high


def deepest(name, cost, algorithm, horizons, replicates, seed, alignment="random") -> list[dict]:
    """The deepest level in runs at growing times, the deepest run's; and whether the limits hold in all of them."""
    algorithm, alpha = algorithm.settle(cost), Fraction(str(algorithm.settle(cost).alpha))
    p, q = alpha.numerator, alpha.denominator
    found = np.zeros(len(horizons), dtype=int)
    for replicate in range(replicates):
        run, _ = begin(algorithm, cost, horizons[-1], replicate, seed, alignment=alignment)
        for h, t in enumerate(horizons):
            run.advance(t)
            found[h] = max(found[h], run.level[: run.cells].max())
    shared = {"case": name, "alpha": str(alpha), "runs": replicates}
    return [
        shared
        | {"t": t, "level": int(k), "log2_t": math.log2(t) / (2 * float(alpha))}
        | {"printed_holds": t**q >= 2 ** (2 * p * int(k)), "corrected_holds": t**q >= 2 ** (2 * p * (int(k) - 1))}
        for t, k in zip(horizons, found, strict=True)
    ]


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
    if steepest["in_k"] > MARGIN or highest["in_log"] > LOG_MARGIN:
        return Finding(Verdict.REFUTED, evidence, caveat="slopes over finitely many levels")
    more, logs = MARGIN - steepest["in_k"], LOG_MARGIN - highest["in_log"]
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
            estimate = Estimate(row.slope, row.se, row.df)
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
        or (low > MARGIN and Estimate(*alone.loc[name, ["slope", "se", "df"]]).lower_limit(level) > MARGIN)
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
        late = far_slopes(own)
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
    e = Estimate(row.slope, row.se, row.df)
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
