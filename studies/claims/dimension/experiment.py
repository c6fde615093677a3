"""The square root in every dimension, where beta = d/alpha: by runs, by the predicted curve, and from below."""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import dataclass
from functools import cache, partial
from typing import ClassVar

import numpy as np
import pandas as pd

import function_zoo as zoo
import ratecheck as rc
from ratecheck.display import fixed, general, listing, table
from studies.claims.ledger.experiment import Effort, Experiment, Judgement, Picture
from studies.claims.ledger.finding import Finding, Verdict
from studies.claims.shared import far_out

STRONGLY_CONVEX = "quadratic"
NEAR = 0.05  # of 1/2
LEAST_SLOPE = 0.48  # of a lower bound that grows like the square root of T


@dataclass(frozen=True)
class Dimension(Experiment):
    """`far`: the dimensions with a predicted curve, with the cells and alignments of those in the kept tables.

    Claims are CONSISTENT when nothing is refuted and all dimensions up to `needed` are settled, by runs or far out.
    """

    edition: ClassVar[int] = 2
    families: tuple[str, ...]
    dims: tuple[int, ...]
    octaves: Mapping[str, tuple[int, int]]
    replicates: Mapping[str, int]
    far: Mapping[str, Mapping[str, Mapping[int, tuple[int, int]]]]
    bounds: Mapping[str, tuple[float, ...]]
    bound_dims: tuple[int, ...] = (1, 2)
    mu_factor: float = 2.0  # times the least mu, at which some runs lock in
    needed: int = 3

    def parts(self, effort):
        curves = cache(lambda: list(self._curves(effort)))  # both tables are about the same curves
        return {
            "runs": partial(self._runs, effort),
            "far": lambda: pd.DataFrame([names | row for names, (row, _) in curves()]),
            "local": lambda: pd.DataFrame([names | row for names, (_, rows) in curves() for row in rows]),
            "below": partial(self._below, effort),
        }

    def _cases(self):
        for family in self.families:
            for dim in self.dims:
                cost = zoo.get(family, dim)
                algorithm = rc.AdaptiveBins(mu=self.mu_factor * cost.constants.mu_min)
                yield {"family": family, "dim": dim}, cost, algorithm.settle(cost)

    def _runs(self, effort: Effort) -> pd.DataFrame:
        first, last = effort.of(self.octaves)
        horizons, rows = [2**k for k in range(first, last + 1)], []
        for names, cost, algorithm in self._cases():
            runs = rc.simulate(
                algorithm, cost, horizons, effort.of(self.replicates), effort.seed, workers=effort.workers
            )
            rate = rc.Rate(0.5, cost.dim / cost.constants.alpha + 1)  # Theorem 2 at β = d/α
            fit = rc.fit_rate(runs)
            verdict, sharper = rc.verdict(fit, rate), rc.theorem2_sharper.rate(cost.constants, cost.dim)
            corrected = fit.at(rate.log_power)
            end = runs.frame[runs.frame["horizon"] == horizons[-1]]["regret"]
            rows.append(
                names
                | {"log_power": rate.log_power, "raw": fit.slope, "sharper": fit.at(sharper.log_power).slope}
                | {"slope": corrected.slope, "low": corrected.low, "high": corrected.high}
                | {"verdict": str(verdict.name)}
                | {"tolerates": math.nan if verdict.tolerates is None else verdict.tolerates}
                | {"replicates": len(end), "horizon": horizons[-1], "regret": end.mean(), "error": end.sem()}
            )
        return pd.DataFrame(rows)

    def _curves(self, effort):
        for names, cost, algorithm in self._cases():
            if names["dim"] in effort.of(self.far).get(names["family"], {}):
                claim = algorithm.claims(cost)[0]
                yield names, far_out(algorithm, cost, claim, 2.0**10, effort.seed)

    def _below(self, effort: Effort) -> pd.DataFrame:
        rows = []
        for dim in self.bound_dims:
            cost = zoo.get(STRONGLY_CONVEX, dim)
            for T in effort.of(self.bounds):
                bound = rc.lower_bound(cost, T)
                row = {"family": STRONGLY_CONVEX, "dim": dim, "horizon": T, "bound": bound.regret}
                rows.append(row | {"certified": bound.certified, "per_root": bound.regret / math.sqrt(T)})
        return pd.DataFrame(rows)

    def judgements(self):
        return {
            "14": Judgement(("runs", "far"), partial(square_root, needed=self.needed)),
            "15": Judgement(("runs", "far", "below"), partial(optimal, needed=self.needed)),
        }

    def pictures(self, tables):
        from studies.claims.dimension.draw import constants, local_slopes

        yield Picture(
            "slopes",
            "Local slopes of the predicted curve by dimension",
            "Slopes of ln R over whole periods, nothing divided out; T is spaced by 1/ln T, so that infinity has a "
            "place and the slope of T^s (ln T)^p is a straight line to s. The level line is 1/2. Points are slopes "
            "of the runs, at the middle of their range.",
            lambda: local_slopes(tables["local"], tables["runs"]),
        )
        yield Picture(
            "constants",
            "What a dimension costs",
            "Left: mean regret of the runs at the last horizon over √T, with 95 % intervals, and the certified lower "
            "bound. Right: the power of ln T that the predicted curve has beside √T, (slope - 1/2) ln T over the last "
            "half of it in ln T.",
            lambda: constants(tables["runs"], log_powers(tables["local"], tables["far"]), tables["below"]),
        )

    def words(self, tables):
        runs, far, below = tables["runs"], tables["far"], tables["below"]
        yield (
            f"Adaptive bins at {self.mu_factor:g} times the least μ to T = {runs['horizon'].max():,}, "
            f"{runs['replicates'].max()} runs each. The slope is what is left after the printed (ln T)^(d/α + 1) was "
            "divided out. In ten doublings a ln T is worth about 0.1 of a slope, so that more dimensions leave less "
            "to be seen in runs; the predicted curve goes on."
        )
        header = ["cost", "R at the end", "slope, raw", "less (ln T)^(d/α+1)", "verdict of runs"]
        header += ["predicted up to T", "its last slope", "its limit", "verdict far out"]
        yield table(header, [_line(row) for row in _joined(runs, far).itertuples()])
        yield _onset(log_powers(tables["local"], tables["far"]), runs)
        yield "## From below"
        yield (
            "On the hard family near each strongly convex cost no strategy's regret stays below this bound; "
            + ("proved in ball arithmetic." if below["certified"].all() else "computed, not proved here.")
        )
        rows = [
            [f"{r.family} d = {r.dim}", f"{r.horizon:.0e}", general(r.bound), fixed(r.per_root)]
            for r in below.itertuples()
        ]
        yield table(["cost", "T", "bound on R", "over √T"], rows)


def log_powers(local, far) -> pd.DataFrame:
    """The power of ln T beside the square root, over the last half of each curve that is long enough, and theory's."""
    rows, long = [], far[far["limit"].notna()]
    for family, dim in zip(long["family"], long["dim"], strict=True):
        part = local[(local["family"] == family) & (local["dim"] == dim)]
        L = np.log(part["horizon"])
        late = (L.min() + L.max()) / 2 <= L
        ratio = dim / zoo.get(family, dim).constants.alpha
        power = float(((part["slope"] - 0.5) * L)[late].mean())
        rows.append({"family": family, "dim": dim, "power": power, "printed": ratio + 1, "sharper": ratio / 2 + 1})
    return pd.DataFrame(rows, columns=["family", "dim", "power", "printed", "sharper"])


def _onset(powers, runs) -> str:
    if powers.empty:
        return "No predicted curve is long enough for a power of ln T."
    ends = [powers.loc[powers["power"].idxmin()], powers.loc[powers["power"].idxmax()]]
    named = [f"{end['power']:.2f} on {end['family']} d = {end['dim']}" for end in ends]
    when = [f"10^{end['power'] / NEAR / math.log(10):.0f}" for end in ends]  # where p / ln T = NEAR
    grown = listing([f"{_factor(part):.1f} on {family}" for family, part in runs.groupby("family", sort=False)])
    return (
        f"Beside √T the predicted curves have a power of ln T between {named[0]} and {named[1]}. So without dividing "
        f"it out a slope is within {NEAR:g} of 1/2 only from about T = {when[0]} on, or {when[1]}. From one dimension "
        f"to the next the regret at the last horizon grows by a factor of {grown}, in the mean."
    )


def _factor(rows):
    ordered = rows.sort_values("dim")
    first, last = ordered.iloc[0], ordered.iloc[-1]
    return (last["regret"] / first["regret"]) ** (1 / max(1, last["dim"] - first["dim"]))


def _joined(runs, far):
    return runs.merge(far, on=["family", "dim"], how="left", suffixes=("", "_far"))


def _line(row):
    known = not math.isnan(row.last)
    limit = f"{fixed(row.limit)} [{fixed(row.low_far)}, {fixed(row.high_far)}]" if known else None
    return [
        f"{row.family} d = {row.dim}",
        f"{row.regret:.0f} ± {row.error:.0f}",
        fixed(row.raw),
        f"{fixed(row.slope)} [{fixed(row.low)}, {fixed(row.high)}]",
        row.verdict,
        f"{row.last:.0e}" if known else None,
        fixed(row.slope_far) if known else None,
        limit,
        row.verdict_far if known else None,
    ]


def square_root(tables, needed: int) -> Finding:
    """Claim 14: the exponent 1/2 of R, whatever the dimension."""
    cases = _joined(tables["runs"], tables["far"])
    refuted = cases[(cases["verdict"] == "REFUTED") | (cases["verdict_far"] == "REFUTED")]
    by_runs, by_curve = cases["verdict"] == "CONSISTENT", cases["verdict_far"] == "CONSISTENT"
    open_ = cases[~(by_runs | by_curve)]
    far = cases[cases["limit"].notna()]
    runs_say = f"runs settle {_names(cases[by_runs])}" if by_runs.any() else "runs settle none"
    evidence = (
        f"{runs_say}; the predicted slopes tend to {far['limit'].min():.3f} to {far['limit'].max():.3f} and settle "
        f"{_names(cases[by_curve]) if by_curve.any() else 'none'}"
    )
    if len(refuted):
        return Finding(Verdict.REFUTED, f"refuted on {_names(refuted)}; {evidence}")
    caveat = f"open: {_names(open_)}" if len(open_) else ""
    if len(open_[open_["dim"] <= needed]):
        return Finding(Verdict.INCONCLUSIVE, evidence, caveat=caveat)
    passed = [f"by {cases[by_curve]['high_far'].max() - 0.5:.2f} far out"] if by_curve.any() else []
    passed += [f"by {cases[by_runs]['tolerates'].max():.2f} in the runs"] if by_runs.any() else []
    return Finding(
        Verdict.CONSISTENT, evidence, tolerates=f"an exponent of R larger {' or '.join(passed)}", caveat=caveat
    )


def optimal(tables, needed: int) -> Finding:
    """Claim 15: the same on strongly convex costs, and a lower bound that grows like the square root."""
    convex = {name: tables[name][tables[name]["family"] == STRONGLY_CONVEX] for name in ("runs", "far")}
    above, below = square_root(convex, needed), tables["below"]
    slopes = {dim: _growth(part) for dim, part in below.groupby("dim")}
    least = below["per_root"].min()
    grown = ", ".join(f"T^{slope:.3f} (d = {dim})" for dim, slope in slopes.items())
    evidence = f"above: {above.evidence}; below: the bound grows like {grown} and is at least {least:.3f} √T"
    if above.verdict is Verdict.REFUTED:
        return Finding(Verdict.REFUTED, evidence, caveat=above.caveat)
    proved = "" if below["certified"].all() else "the lower bound was computed without ball arithmetic"
    open_ = "; ".join(text for text in (above.caveat, proved) if text)
    if above.verdict is Verdict.INCONCLUSIVE or min(slopes.values()) < LEAST_SLOPE:
        return Finding(Verdict.INCONCLUSIVE, evidence, caveat=open_)
    short = f"from below {0.5 - min(slopes.values()):.3f} of the exponent"
    return Finding(Verdict.CONSISTENT, evidence, tolerates=f"{above.tolerates}; {short}", caveat=open_)


def _growth(rows):
    return float(np.polyfit(np.log(rows["horizon"]), np.log(rows["bound"]), 1)[0])


def _names(rows) -> str:
    return listing(
        [
            f"{family} d = {', '.join(str(d) for d in part['dim'])}"
            for family, part in rows.groupby("family", sort=False)
        ]
    )
