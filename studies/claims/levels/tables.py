"""What is measured by level: cells that remain and what they cost, in runs and on the predicted profile; depths."""

from __future__ import annotations

import math
from dataclasses import dataclass
from fractions import Fraction
from functools import cached_property, lru_cache

import numpy as np
import pandas as pd

import function_zoo as zoo
import ratecheck as rc
from ratecheck.algorithms import partition
from ratecheck.engine.simulate import begin
from ratecheck.sampling import seeding
from studies.claims.shared import D, jackknife

FEWEST = 3  # levels that a slope in k needs
FEWEST_HORIZONS = 4  # that one in ln T needs
EXACT = 2**62  # a table holds whole numbers up to here
THEOREM = "theorem"


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
        return rc.AdaptiveBins(mu=mu).settle(self.cost)

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
        return seeding.alignment(self.algorithm, self.cost, horizon=1, replicate=replicate, seed=seed)

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
def runs_of(case, horizons, replicates, seed, workers):
    return rc.simulate(case.algorithm, case.cost, horizons, replicates, seed, workers=workers, diagnostics=True)


def profile(case, runs, seed) -> pd.DataFrame:
    """By horizon and level: means over the runs, what is predicted for the same partitions, and the proof's bound."""
    n = runs.frame["replicate"].nunique()
    found = made(case, runs.levels, seed)
    predicted = rc.predict(
        case.algorithm, case.cost, sorted(runs.frame["horizon"].unique().tolist()), alignments=n, seed=seed
    )
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
    foretold = rc.predict(case.algorithm, case.cost, horizons.tolist(), alignments=n, seed=seed).levels
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
    levels = rc.predict(case.algorithm, case.cost, horizons, alignments=alignments, seed=seed).levels
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
        run, _ = begin(algorithm, cost, horizon=horizons[-1], replicate=replicate, seed=seed, alignment=alignment)
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
