"""The paper's prescreening as an algorithm: random queries, a confidence band, and the region that is kept."""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import dataclass, replace
from functools import cached_property, partial

import numpy as np
import pandas as pd
from scipy.stats import binomtest

import function_zoo as zoo
import ratecheck as rc
from ratecheck.display import fixed, general, table
from ratecheck.study import stream
from studies.claims.ledger.experiment import Effort, Experiment, Judgement, Picture
from studies.claims.ledger.finding import Finding, Verdict

AT_ONCE = 2**21  # queries that are simulated together
CERTAIN = 1e-6  # how unlikely a count must be before it contradicts a proved bound


@dataclass(frozen=True)
class Bowl:
    """f(x) = scale |x - centre|^2 on [-half, half]^d, cut into cells for a regression that is constant on each.

    The regression's band is the mean of a cell's queries, give or take `width`; of a cell without queries nothing is
    known.  x* must stay, and nothing may stay where f - f* exceeds M.
    """

    centre: tuple[float, ...]
    scale: float
    half: float
    per_axis: int
    width: float
    M: float

    @property
    def dim(self) -> int:
        return len(self.centre)

    @property
    def cells(self) -> int:
        return self.per_axis**self.dim

    @cached_property
    def corners(self) -> np.ndarray:
        """The lower corner of every cell."""
        ticks = -self.half + self.side * np.arange(self.per_axis)
        return np.stack(np.meshgrid(*[ticks] * self.dim, indexing="ij"), axis=-1).reshape(-1, self.dim)

    @property
    def side(self) -> float:
        return 2 * self.half / self.per_axis

    def gaps(self, X) -> np.ndarray:
        return self.scale * np.sum((X - np.array(self.centre)) ** 2, axis=-1)

    def cell_of(self, X) -> np.ndarray:
        places = np.clip(((X + self.half) // self.side).astype(int), 0, self.per_axis - 1)
        return places @ self.per_axis ** np.arange(self.dim - 1, -1, -1)

    @property
    def star(self) -> int:
        return int(self.cell_of(np.array(self.centre)))

    @cached_property
    def means(self) -> np.ndarray:
        """Of f - f* over every cell: scale times the sum of (b^3 - a^3) / (3 side)."""
        below = self.corners - np.array(self.centre)
        return self.scale * np.sum(((below + self.side) ** 3 - below**3) / (3 * self.side), axis=1)

    @cached_property
    def least(self) -> np.ndarray:
        below = self.corners - np.array(self.centre)
        nearest = np.clip(0.0, below, below + self.side)
        return self.scale * np.sum(nearest**2, axis=1)

    @cached_property
    def most(self) -> np.ndarray:
        below = self.corners - np.array(self.centre)
        return self.scale * np.sum(np.maximum(below**2, (below + self.side) ** 2), axis=1)

    @property
    def spent(self) -> float:
        """The mean regret of a random query."""
        return float(self.means.mean())

    # What can be proved

    def rates(self) -> np.ndarray:
        """The q of a bound sum (1 - q)^n on the probability that x* goes, or that something beyond M stays.

        The mean of N queries of a cell is subgaussian with (1 + (range/2)^2) / N (Hoeffding).  Let the cell of x* come
        out at most `width` too high.  Then x* stays unless some cell comes out so low that its upper end is below the
        lower end there, and a cell goes if it comes out above the mean there by three widths.  N is binomial with
        probability 1/cells: E exp(-N s) = (1 - (1 - e^-s) / cells)^n.
        """
        proxy = 1 + ((self.most - self.least) / 2) ** 2
        above = self.means - self.means[self.star]
        beyond = self.most > self.M
        room = np.concatenate([[self.width], np.delete(above, self.star) + self.width, above[beyond] - 3 * self.width])
        if room.min() <= 0:
            raise ValueError(f"the band's half-width {self.width:g} is too wide or too narrow for M = {self.M:g}")
        proxies = np.concatenate([[proxy[self.star]], np.delete(proxy, self.star), proxy[beyond]])
        return -np.expm1(-(room**2) / (2 * proxies)) / self.cells

    def bound(self, n) -> float:
        """That the step fails, at most."""
        return float(min(1.0, np.sum((1 - self.rates()) ** n)))

    def floor(self, n) -> float:
        """That it fails, at least: a cell beyond M that has no query stays."""
        return (1 - 1 / self.cells) ** n

    def enough(self, horizon) -> int:
        """The least n that makes the bound 1/T."""
        low, high = 0, 1
        while self.bound(high) > 1 / horizon:
            high *= 2
        while high - low > 1:
            middle = (low + high) // 2
            low, high = (low, middle) if self.bound(middle) <= 1 / horizon else (middle, high)
        return high

    def needed(self, horizon) -> int:
        """No smaller n brings the probability of failure down to 1/T."""
        return math.ceil(-math.log(horizon) / math.log1p(-1 / self.cells))

    # The step itself

    def screened(self, n, runs, rng) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
        """Lower and upper ends of the band by run and cell, and the regret of the queries."""
        X = rng.uniform(-self.half, self.half, (runs, n, self.dim))
        gaps = self.gaps(X)
        Y = gaps + rng.standard_normal((runs, n))
        index = (np.arange(runs)[:, None] * self.cells + self.cell_of(X)).ravel()
        count = np.bincount(index, minlength=runs * self.cells)
        total = np.bincount(index, Y.ravel(), runs * self.cells)
        with np.errstate(invalid="ignore"):
            mean = (total / count).reshape(runs, self.cells)
        known = (count > 0).reshape(runs, self.cells)
        lower = np.where(known, mean - self.width, -np.inf)
        return lower, np.where(known, mean + self.width, np.inf), gaps.sum(axis=1)

    def on(self, lower, upper) -> zoo.Cost:
        """The cost on a part of the box, its own minimum there; mu is right for any part."""
        scale, centre = self.scale, self.centre
        star = np.clip(np.array(centre), lower, upper)

        def formula(x):
            total = 0.0
            for i in range(len(centre)):
                total += (x[i] - centre[i]) ** 2
            return scale * total

        known = replace(
            zoo.get("quadratic", self.dim, scale=scale).constants, M_a=float(self.most.max()), A=2 * self.half
        )
        where = {"lower": lower.tolist(), "upper": upper.tolist()}
        return zoo.Cost("bowl", self.dim, formula, lower, upper, float(self.gaps(star)), [star], known, where)


def printed(lower, upper) -> np.ndarray:
    """S' = {l <= sup u}, by run and cell."""
    return lower <= upper.max(axis=1, keepdims=True)


def corrected(lower, upper) -> np.ndarray:
    """S' = {l <= inf u}."""
    return lower <= upper.min(axis=1, keepdims=True)


@dataclass(frozen=True)
class Prescreening(Experiment):
    """`queries`: numbers of random queries, by dimension, that bands are made of; `bands` of each in so many runs."""

    bowls: tuple[Bowl, ...]
    queries: Mapping[int, tuple[int, ...]]
    bands: Mapping[str, int]
    horizons: Mapping[str, tuple[int, ...]]
    replicates: Mapping[str, int]
    mu_factor: float = 2.0

    def parts(self, effort):
        return {
            "bands": partial(self._bands, effort),
            "sizes": partial(self._sizes, effort),
            "totals": partial(self._totals, effort),
        }

    def _bands(self, effort: Effort) -> pd.DataFrame:
        return pd.DataFrame(
            [
                _band_row(bowl, n, effort.of(self.bands), effort.seed)
                for bowl in self.bowls
                for n in self.queries[bowl.dim]
            ]
        )

    def _sizes(self, effort: Effort) -> pd.DataFrame:
        rows = []
        for bowl in self.bowls:
            slope = -1 / math.log1p(-bowl.rates().min())
            for T in (10.0**k for k in range(2, 13)):
                rows.append(
                    {"dim": bowl.dim, "horizon": T, "needed": bowl.needed(T), "enough": bowl.enough(T)}
                    | {"bound": bowl.bound(bowl.enough(T)), "at_most": slope * math.log(T * len(bowl.rates())) + 1}
                    | {"spent": bowl.spent, "cost": bowl.spent * bowl.enough(T)}
                )
        return pd.DataFrame(rows)

    def _totals(self, effort: Effort) -> pd.DataFrame:
        rows = []
        for bowl in self.bowls:
            for T in effort.of(self.horizons):
                if bowl.enough(T) < T:
                    rows.append({"dim": bowl.dim, "horizon": T} | self._both(bowl, T, effort))
        return pd.DataFrame(rows)

    def _both(self, bowl, T, effort) -> dict:
        """Total regrets at a horizon, with and without the step."""
        runs, n = effort.of(self.replicates), bowl.enough(T)
        lower, upper, spent = bowl.screened(n, runs, stream(effort.seed, "total", bowl.dim, T))
        kept = corrected(lower, upper)
        rest, sides = np.empty(runs), np.empty(runs)
        hulls = {}
        for run in range(runs):
            corners = bowl.corners[kept[run]]
            ends = (*corners.min(axis=0), *(corners.max(axis=0) + bowl.side))
            hulls.setdefault(tuple(float(end) for end in ends), []).append(run)
        for ends, members in hulls.items():
            cost = bowl.on(np.array(ends[: bowl.dim]), np.array(ends[bowl.dim :]))
            rest[members] = self._regrets(cost, T - n, members, effort) + cost.minimum * (T - n)
            sides[members] = cost.side
        whole = bowl.on(np.full(bowl.dim, -bowl.half), np.full(bowl.dim, bowl.half))
        without, total = self._regrets(whole, T, list(range(runs)), effort), spent + rest
        return {
            "queries": n,
            "runs": runs,
            "spent": spent.mean(),
            "side": sides.mean(),
            "total": total.mean(),
            "error": total.std(ddof=1) / math.sqrt(runs),
            "without": without.mean(),
            "without_error": without.std(ddof=1) / math.sqrt(runs),
        }

    def _regrets(self, cost, T, members, effort) -> np.ndarray:
        algorithm = rc.AdaptiveBins(mu=self.mu_factor * cost.constants.mu_min)
        frame = rc.simulate(algorithm, cost, [T], members, effort.seed, workers=effort.workers).frame
        return frame.set_index("replicate")["regret"][members].to_numpy()

    def judgements(self):
        return {"31": Judgement(("bands", "sizes"), constant), "31c": Judgement(("bands", "sizes"), logarithmic)}

    def pictures(self, tables):
        from studies.claims.prescreening.draw import costs, failures

        yield Picture(
            "failures",
            "How often prescreening fails, against its queries",
            "Failed: x* is excluded, or something with f - f* > M is kept. Points with 95 % intervals; none where "
            "nothing failed. Dashed: what was proved, at most. Dotted: that one cell beyond M has no query, and so "
            "stays.",
            lambda: failures(tables["bands"], tables["sizes"]),
        )
        yield Picture(
            "costs",
            "What prescreening costs, and what it brings",
            "Left: the regret of the queries that make failure rarer than 1/T, straight where it is linear in ln T. "
            "Right: total regret with and without the step, with 95 % intervals.",
            lambda: costs(tables["sizes"], tables["totals"]),
        )

    def words(self, tables):
        bands, sizes, totals = tables["bands"], tables["sizes"], tables["totals"]
        for bowl in self.bowls:
            yield (
                f"d = {bowl.dim}: f = {bowl.scale:g} |x - c|² on [-{bowl.half:g}, {bowl.half:g}]^{bowl.dim}, f - f* "
                f"up to {bowl.most.max():.1f}, wanted is M = {bowl.M:g}; {bowl.cells} cells, a band of ± "
                f"{bowl.width:g} about the mean of each, noise N(0, 1)."
            )
        yield (
            "As printed, S' = {l ≤ sup u}. Since l(x) ≤ u(x) ≤ sup u for every x, S' = S whatever the band: nothing is "
            "ever excluded. With inf u in place of sup u the step works. Its failures:"
        )
        header = ["d", "queries", "bands", "kept as printed", "kept with inf u", "x* excluded", "kept beyond M"]
        header += ["proved at most", "at least", "regret of the step"]
        yield table(header, [_band_line(row) for row in bands.itertuples()])
        yield "## How many queries make failure rarer than 1/T"
        yield (
            "A failure loses up to a constant at each of T steps, so that its probability must be O(1/T) for a "
            "regret of O(1). Both bounds on it are exponential in the number of queries: about ln T of them are "
            "needed, and enough."
        )
        rows = [
            [r.dim, f"{r.horizon:.0e}", r.needed, r.enough, f"{r.cost:.0f}", fixed(r.cost / math.log(r.horizon), 1)]
            for r in sizes.itertuples()
        ]
        yield table(["d", "T", "needed", "enough", "regret of the step", "over ln T"], rows)
        yield "## With and without"
        header = ["d", "T", "queries", "their regret", "side that is kept", "total with the step", "total without"]
        yield table(header, [_total_line(row) for row in totals.itertuples()])
        yield _worth(totals)


def _band_row(bowl: Bowl, n, runs, seed) -> dict:
    rng, left = stream(seed, "bands", bowl.dim, n), runs
    beyond = bowl.most > bowl.M
    fewest, kept, excluded, unbounded, either, spent = bowl.cells, 0, 0, 0, 0, 0.0
    while left:
        part = min(left, max(1, AT_ONCE // n))
        lower, upper, regret = bowl.screened(n, part, rng)
        stays = corrected(lower, upper)
        gone, large = ~stays[:, bowl.star], stays[:, beyond].any(axis=1)
        fewest = min(fewest, int(printed(lower, upper).sum(axis=1).min()))
        kept, spent = kept + stays.sum(), spent + regret.sum()
        excluded, unbounded, either = excluded + gone.sum(), unbounded + large.sum(), either + (gone | large).sum()
        left -= part
    return {
        "dim": bowl.dim,
        "queries": n,
        "runs": runs,
        "cells": bowl.cells,
        "fewest_printed": fewest,
        "kept": kept / runs,
        "excluded": int(excluded),
        "unbounded": int(unbounded),
        "failed": int(either),
        "bound": bowl.bound(n),
        "floor": bowl.floor(n),
        "regret": spent / runs,
        "sup": float(bowl.most.max()),
        "M": bowl.M,
    }


def constant(tables) -> Finding:
    """Claim 31: the printed rule leaves a region where f - f* <= M, at a regret that does not grow with T."""
    bands, sizes = tables["bands"], tables["sizes"]
    excludes = bands[bands["fewest_printed"] < bands["cells"]]
    grows = _grows(sizes, "needed")
    runs = int(bands["runs"].sum())
    said = (
        f"l ≤ u ≤ sup u: in {runs} bands the printed rule kept all cells, where f - f* is up to "
        f"{bands['sup'].max():.0f} and M = {bands['M'].max():.0f}"
        if excludes.empty
        else f"in some of {runs} bands the printed rule excluded cells"
    )
    lost = ", ".join(f"{slope:.1f} ln T (d = {dim})" for dim, slope in grows.items())
    evidence = f"{said}; with inf u, failure rarer than 1/T takes at least {lost} queries"
    if excludes.empty and (bands["sup"] > bands["M"]).all():
        return Finding(Verdict.REFUTED, evidence)
    if min(grows.values()) > 0:
        return Finding(Verdict.REFUTED, evidence, caveat="the rule excludes something, but at a regret that grows")
    return Finding(Verdict.INCONCLUSIVE, evidence)


def logarithmic(tables) -> Finding:
    """Claim 31c: with inf u and about ln T queries the step costs O(ln T).

    The bound on failures is proved; what was measured may not contradict it, and what it asks for must be O(ln T).
    """
    bands, sizes = tables["bands"], tables["sizes"]
    p_values = [
        binomtest(row.failed, row.runs, min(1.0, row.bound), alternative="greater").pvalue for row in bands.itertuples()
    ]
    slopes = _grows(sizes, "cost")
    measured = ", ".join(f"{slope:.0f} ln T (d = {dim})" for dim, slope in slopes.items())
    failed = f"{int(bands['failed'].sum())} of {int(bands['runs'].sum())} bands failed, nowhere more often than proved"
    if min(p_values) < CERTAIN:
        worst = bands.iloc[int(np.argmin(p_values))]
        return Finding(
            Verdict.REFUTED,
            f"{worst['failed']:.0f} of {worst['runs']:.0f} bands of {worst['queries']:.0f} queries failed, proved is "
            f"at most {worst['bound']:.2g}",
        )
    if (sizes["enough"] > sizes["at_most"]).any() or (sizes["bound"] * sizes["horizon"] > 1).any():
        return Finding(Verdict.REFUTED, f"the queries that are enough exceed a multiple of ln T; {failed}")
    return Finding(
        Verdict.CONFIRMED,
        f"failure ≤ Σ(1 - q)^n ≤ 1/T with n ~ ln T: the step costs about {measured}; {failed}",
        caveat="for a band of fixed width about cell means, on a cost whose range within cells is known",
    )


def _grows(sizes, column) -> dict:
    """By dimension: what is added when ln T grows by 1, over the whole range."""
    return {
        dim: float(
            (part[column].iloc[-1] - part[column].iloc[0]) / np.log(part["horizon"].iloc[-1] / part["horizon"].iloc[0])
        )
        for dim, part in sizes.groupby("dim")
    }


def _band_line(row):
    return [
        row.dim,
        row.queries,
        row.runs,
        f"{row.fewest_printed} of {row.cells}",
        fixed(row.kept, 1),
        row.excluded,
        row.unbounded,
        general(row.bound, 2),
        general(row.floor, 2),
        f"{row.regret:.0f}",
    ]


def _total_line(row):
    return [
        row.dim,
        f"{row.horizon:,}",
        row.queries,
        f"{row.spent:.0f}",
        fixed(row.side, 1),
        f"{row.total:.0f} ± {row.error:.0f}",
        f"{row.without:.0f} ± {row.without_error:.0f}",
    ]


def _worth(totals) -> str:
    ratio = totals["total"] / totals["without"]
    better = int((totals["total"] + 2 * totals["error"] < totals["without"] - 2 * totals["without_error"]).sum())
    return (
        f"The step makes the total smaller at {better} of {len(totals)} horizons; with it the total is "
        f"{ratio.min():.2f} to {ratio.max():.2f} times that without."
    )
