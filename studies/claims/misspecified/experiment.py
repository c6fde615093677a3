"""Adaptive bins run with an alpha0 that is not the cost's: the rate below it, and what happens above."""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import dataclass
from functools import partial
from typing import ClassVar

import numpy as np
import pandas as pd

import function_zoo as zoo
import ratecheck as rc
from ratecheck.display import fixed, general, table
from ratecheck.verdict.rules import MARGIN
from studies.claims.ledger.experiment import Effort, Experiment, Judgement, Picture
from studies.claims.ledger.finding import Finding, Verdict
from studies.claims.shared import far_out

PER_OCTAVE = 3  # horizons: the shortest period, 2^1.5, holds four of them
LINEAR = 0.95  # a run with such a slope over the last factor of 4 in T gains nothing any more


def promised(alpha: float, beta: float, dim: int, alpha0: float) -> float:
    """The exponent of R: that of claim 22 below alpha; above it that of cells whose means are off by a^alpha.

    A cell of level k is left when it holds 2^(2 alpha0 k) queries, and until then it costs the larger of its gap,
    2^(-alpha k), and its bonus, 2^(-alpha0 k).  With 2^(k (d - min{alpha, alpha0} beta)) such cells of a level this is
    T^(1 - min / (d + 2 alpha0 - min beta)).
    """
    least = min(alpha, alpha0)
    return 1 - least / (dim + 2 * alpha0 - least * beta)


@dataclass(frozen=True)
class Misspecified(Experiment):
    """`costs`: family, dimension, and the alpha0 that are tried beside the cost's alpha."""

    edition: ClassVar[int] = 2
    costs: tuple[tuple[str, int, tuple[float, ...]], ...]
    octaves: Mapping[str, tuple[int, int]]
    replicates: Mapping[str, int]
    cells: Mapping[str, int]  # with the alignments those of the curves in the kept table
    alignments: int = 16
    mu_factor: float = 2.0  # times the least mu, at which some runs lock in

    def parts(self, effort):
        return {"runs": partial(self._runs, effort), "far": partial(self._far, effort)}

    def _tried(self):
        """(family, cost, alpha0, algorithm): every cost with its own alpha first."""
        for family, dim, others in self.costs:
            cost = zoo.get(family, dim)
            for alpha0 in (cost.constants.alpha, *others):
                mu = self.mu_factor * cost.constants.weakened(alpha0).mu_min
                yield family, cost, alpha0, rc.AdaptiveBins(alpha=alpha0, mu=mu).settle(cost)

    def _runs(self, effort: Effort) -> pd.DataFrame:
        first, last = effort.of(self.octaves)
        horizons = [round(2 ** (k / PER_OCTAVE)) for k in range(PER_OCTAVE * first, PER_OCTAVE * last + 1)]
        compared = sum(len(others) for _, _, others in self.costs)
        rows, own = [], None
        for family, cost, alpha0, algorithm in self._tried():
            runs = rc.simulate(
                algorithm, cost, horizons, effort.of(self.replicates), effort.seed, workers=effort.workers
            )
            fit = rc.fit_rate(runs, level=1 - 0.05 / compared)
            own = fit if alpha0 == cost.constants.alpha else own
            rows.append(_named(family, cost, alpha0) | _fitted(fit, own, cost, alpha0) | _ends(runs.frame))
        return pd.DataFrame(rows)

    def _far(self, effort: Effort) -> pd.DataFrame:
        rows = []
        for family, cost, alpha0, algorithm in self._tried():
            claim = algorithm.claims(cost)[0]
            names = _named(family, cost, alpha0)
            rows.append(names | far_out(algorithm, cost, claim, 2.0**10, effort.seed)[0])
        return pd.DataFrame(rows)

    def judgements(self):
        return {"22": Judgement(("runs", "far"), smaller)}

    def pictures(self, tables):
        from studies.claims.misspecified.draw import exponents

        yield Picture(
            "exponents",
            "The exponent of R against α0",
            "The line is theory: 1 - α0/(d + 2α0 - α0 β) up to the cost's α (dotted), 1 - α/(d + 2α0 - αβ) beyond "
            "it. Diamonds are limits of the predicted curve with all estimates of them; circles are slopes of runs, "
            "nothing divided out, so that logarithms lift them.",
            lambda: exponents(tables["runs"], tables["far"]),
        )

    def words(self, tables):
        runs, far = tables["runs"], tables["far"]
        joined = runs.merge(far, on=["family", "dim", "alpha", "alpha0"], suffixes=("", "_far"))
        yield "## α0 below α"
        yield (
            f"Runs to T = {runs['horizon'].max():,}, {runs['replicates'].max()} on each cost. μ is {self.mu_factor:g} "
            "times the least that makes lower confidence bounds valid at α0. Differences are slopes at α0 minus "
            "slopes at α over the same range of T; both have the same printed logarithm, which so drops out. "
            "Intervals of runs hold jointly with 95 %."
        )
        yield _table(joined[joined["alpha0"] < joined["alpha"]], joined)
        yield "## α0 above α"
        above = joined[joined["alpha0"] > joined["alpha"]]
        yield (
            "The paper says nothing about it. The bonus of a full cell is then smaller than the bias of its mean, "
            "and no μ of the form μ a^α0 covers that. A cell of level k still splits after 2^(2 α0 k) queries, each "
            "of which costs about 2^(-αk): this gives R ~ T^(1 - α/(d + 2α0 - αβ)), shown as *theory*, an argument "
            "and no proof."
        )
        yield _table(above, joined)
        yield _above(above)


def _named(family, cost, alpha0):
    known = cost.constants
    exponent = promised(known.alpha, known.beta, cost.dim, alpha0)
    return {
        "family": family,
        "dim": cost.dim,
        "alpha": known.alpha,
        "beta": known.beta,
        "alpha0": alpha0,
        "theory": exponent,
    }


def _fitted(fit, own, cost, alpha0) -> dict:
    """Slopes, the verdict on the rate of alpha0, and how much slower it is than with the cost's alpha."""
    rate = rc.theorem2.rate(cost.constants.weakened(alpha0), cost.dim)
    verdict = rc.verdict(fit, rate)
    difference = rc.slope_difference(fit, own)
    return {
        "slope": fit.slope,
        "low": fit.low,
        "high": fit.high,
        "verdict": str(verdict.name),
        "tolerates": math.nan if verdict.tolerates is None else verdict.tolerates,
        "slower": difference.value if fit is not own else math.nan,
        "slower_low": difference.low if fit is not own else math.nan,
        "slower_high": difference.high if fit is not own else math.nan,
    }


def _ends(frame) -> dict:
    """The regret at the last horizon, and what single runs do there."""
    last = frame["horizon"].max()
    before = frame["horizon"][(frame["horizon"] * 4 - last).abs().idxmin()]
    late = frame[frame["horizon"] == last].set_index("replicate")["regret"]
    early = frame[frame["horizon"] == before].set_index("replicate")["regret"]
    growth = np.log(late / early) / np.log(last / before)
    return {
        "replicates": len(late),
        "horizon": last,
        "average": late.mean() / last,
        "largest": late.max() / late.mean(),
        "linear": int((growth > LINEAR).sum()),
    }


def _cases(rows):
    return [f"{row.family} d = {row.dim} at α0 = {row.alpha0:g}" for row in rows.itertuples()]


def smaller(tables) -> Finding:
    """Claim 22: with alpha0 < alpha neither slower nor faster than the rate of alpha0, so slower than that of alpha.

    The limits of the predicted slopes must cover the exponent of alpha0, to within MARGIN, and exclude that of alpha;
    the runs must not refute the rate of alpha0 as an upper bound, and be slower than those at alpha on the same range.
    """
    runs, far = (tables[name][tables[name]["alpha0"] < tables[name]["alpha"]] for name in ("runs", "far"))
    own = 1 - far["alpha"] / (far["dim"] + 2 * far["alpha"] - far["alpha"] * far["beta"])
    slow = far[far["low"] > far["theory"] + MARGIN]
    fast = far[far["high"] < far["theory"] - MARGIN]
    refuted = runs[(runs["verdict"] == "REFUTED") | (runs["slower_high"] < 0)]
    wrong = [*_cases(slow), *_cases(fast), *_cases(refuted)]
    if wrong:
        return Finding(
            Verdict.REFUTED, f"not the rate of α0: {', '.join(dict.fromkeys(wrong))} ({_measured(runs, far)})"
        )
    unknown = far[far["low"].isna() | ~(far["low"] > own)]
    unclear = runs[~(runs["slower_low"] > 0)]
    undecided = [*_cases(unknown), *_cases(unclear)]
    if undecided:
        told = ", ".join(dict.fromkeys(undecided))
        return Finding(Verdict.INCONCLUSIVE, f"not told from the rate of α: {told} ({_measured(runs, far)})")
    reach = max((far["theory"] - far["low"]).max(), (far["high"] - far["theory"]).max(), 0.0)
    return Finding(
        Verdict.CONSISTENT,
        _measured(runs, far),
        tolerates=f"an exponent of R off by {reach:.2f} far out, or by {runs['tolerates'].max():.2f} in the runs",
        caveat="far out the predicted curve speaks, not runs",
    )


def _measured(runs, far):
    off = far["limit"] - far["theory"]
    slower = f"[{runs['slower'].min():.3f}, {runs['slower'].max():.3f}]"
    gained = runs["theory"] - (1 - runs["alpha"] / (runs["dim"] + 2 * runs["alpha"] - runs["alpha"] * runs["beta"]))
    return (
        f"{len(far)} cases: predicted exponents of R are off those of α0 by {off.min():+.3f} to {off.max():+.3f}; "
        f"slopes of runs exceed those at α by {slower}, theory [{gained.min():.3f}, {gained.max():.3f}]"
    )


def _table(rows, joined):
    own = joined[joined["alpha0"] == joined["alpha"]].set_index(["family", "dim"])["theory"]
    header = ["cost", "α", "α0", "exponent in theory", "limit of the prediction", "up to T", "slope of runs"]
    header += ["slower than at α", "in theory", "R/T at the end"]
    lines = []
    for row in rows.itertuples():
        limit = f"{fixed(row.limit)} [{fixed(row.low_far)}, {fixed(row.high_far)}]"
        lines.append(
            [
                f"{row.family} d = {row.dim}",
                general(row.alpha),
                general(row.alpha0),
                fixed(row.theory),
                limit,
                f"{row.last:.0e}",
                f"{fixed(row.slope)} [{fixed(row.low)}, {fixed(row.high)}]",
                f"{fixed(row.slower)} [{fixed(row.slower_low)}, {fixed(row.slower_high)}]",
                fixed(row.theory - own[row.family, row.dim]),
                general(row.average, 3),
            ]
        )
    return table(header, lines)


def _above(rows) -> str:
    runs, linear = int(rows["replicates"].sum()), int(rows["linear"].sum())
    off = (rows["limit"] - rows["theory"]).abs().max()
    return (
        f"Of {runs} runs {linear} grew faster than T^{LINEAR} over the last factor of 4 in T; the largest regret of a "
        f"run was {rows['largest'].max():.1f} times the mean. Predicted exponents differ from the argument's by at "
        f"most {off:.3f}."
    )
