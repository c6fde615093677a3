"""The bias constant mu of adaptive bins: from none, past the least valid one, to the one that Theorem 2 asks for."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable, Mapping
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass, replace
from functools import cache, partial
from typing import ClassVar

import numpy as np
from pandas import DataFrame

import function_zoo as zoo
import ratecheck as rc
from ratecheck.display import fixed, general, listing, table
from ratecheck.predict.far import slopes
from studies.claims.ledger.experiment import Effort, Experiment, Judgement, Picture, Tables
from studies.claims.ledger.finding import Finding
from studies.claims.mu import tables as measure
from studies.claims.mu.rules import WHOLE, judge
from studies.claims.mu.tables import STRETCH
from studies.claims.mu.words import far_rows, named, onset_words, rate_rows, seen, shown_count, shown_share, times
from studies.claims.shared import CURVE_ERROR

MIDDLE = 2**-0.5  # of the octave in which a0 is drawn, as a share of the side


@dataclass(frozen=True)
class Mu(Experiment):
    """`factors` are multiples of mu_min; Theorem 2's mu comes on top.  Horizons are powers of sqrt 2.

    A mu beyond `needed` times mu_min is taken for larger than needed: at mu_min itself the bound is valid on average
    only, and runs are foretold to lock in.
    """

    edition: ClassVar[int] = 2
    costs: tuple[tuple[str, int], ...]
    factors: tuple[float, ...]
    needed: float
    first: int
    last: Mapping[str, int]
    runs: Mapping[str, int]
    onset_factors: tuple[float, ...]
    onset_last: Mapping[str, int]
    onset_runs: int
    bound_horizon: int
    bound_runs: Mapping[str, int]
    short_factors: tuple[float, ...]
    short_horizon: int
    short_runs: Mapping[str, Mapping[str, int]]  # by preset, then by alignment
    far_factors: tuple[float, ...]
    far_cells: Mapping[str, int]  # of the curves in the kept tables
    foretold_locked: float  # share of the runs on the quadratic at mu_min

    def parts(self, effort: Effort) -> dict[str, Callable[[], DataFrame]]:
        sweep = cache(partial(self._sweep, effort))
        curves = cache(partial(self._curves, effort))
        return {
            "regrets": lambda: self._regrets(sweep()),
            "rates": lambda: self._rates(sweep(), effort),
            "onsets": partial(self._onsets, effort),
            "bounds": partial(self._bounds, effort),
            "locked": partial(self._locked, effort),
            "far": lambda: self._far(curves()),
            "far_slopes": lambda: self._far_slopes(curves()),
        }

    def judgements(self) -> dict[str, Judgement]:
        return {"23": Judgement(("rates", "far", "locked"), self._judge)}

    def _judge(self, tables) -> Finding:
        return replace(judge(tables, self.needed), foretold=self._locked_otherwise(tables["locked"]))

    def _locked_otherwise(self, locked) -> str:
        """Where the foretold share of locked runs lies outside the interval."""
        least = locked[(locked["family"] == "quadratic") & (locked["factor"] == 1)]
        outside = least[(least["locked_low"] > self.foretold_locked) | (least["locked_high"] < self.foretold_locked)]
        found = [f"{shown_count(r, 'locked')} in d = {r.dim}, {r.alignment} alignment" for r in outside.itertuples()]
        share = f"{100 * self.foretold_locked:.1f} % of the runs on the quadratic lock in at mu_min"
        return f"{share}; measured are {listing(found)}" if found else ""

    def horizons(self, last) -> list[int]:
        steps = 2 * math.log2(last / self.first)
        return [round(self.first * 2 ** (i / 2)) for i in range(round(steps) + 1)]

    @staticmethod
    def _settled(cost, factors) -> list[tuple[float, rc.AdaptiveBins]]:
        """Pairs of a multiple of mu_min and an algorithm, in the order of mu."""
        least = cost.constants.mu_min
        given = [rc.AdaptiveBins(mu=factor * least).settle(cost) for factor in factors]
        theorem = rc.AdaptiveBins(mu="theorem").settle(cost)
        found = {round(a.mu / least, 9): a for a in [*given, theorem]}
        return sorted(found.items())

    # The sweep

    def _sweep(self, effort) -> dict:
        """Runs and their predicted regrets by family, dimension and multiple of mu_min."""
        found, horizons, runs = {}, self.horizons(effort.of(self.last)), effort.of(self.runs)
        for family, dim in self.costs:
            cost = zoo.get(family, dim)
            for factor, algorithm in self._settled(cost, self.factors):
                made = rc.simulate(algorithm, cost, horizons, runs, effort.seed, workers=effort.workers)
                found[family, dim, factor] = (
                    made,
                    rc.predict(algorithm, cost, horizons, alignments=runs, seed=effort.seed),
                )
        return found

    def _regrets(self, sweep) -> DataFrame:
        import pandas as pd

        rows = []
        for (family, dim, factor), (runs, ahead) in sweep.items():
            by_horizon = runs.frame.groupby("horizon")["regret"]
            for (horizon, R), foretold in zip(by_horizon, ahead.regret, strict=True):
                rows.append(
                    {"family": family, "dim": dim, "factor": factor, "mu": runs.algorithm.mu, "horizon": horizon}
                    | {"theorem": measure.of_theorem2(runs.algorithm, runs.cost)}
                    | measure.tails(R.to_numpy())
                    | {"foretold": foretold}
                )
        return pd.DataFrame(rows)

    def _rates(self, sweep, effort) -> DataFrame:
        """Slopes over the window, compared with that at the needed mu; levels, compared with the next smaller mu's."""
        import pandas as pd

        window = (0.99 * effort.of(self.last) / WHOLE, effort.of(self.last))
        rows, before = [], None
        for (family, dim, factor), (runs, ahead) in sweep.items():
            fit, least = (rc.fit_rate(sweep[family, dim, f][0], window=window) for f in (factor, self.needed))
            there, there_least = (measure.slope_ahead(fit, sweep[family, dim, f][1]) for f in (factor, self.needed))
            apart = rc.slope_difference(fit, least)
            level = measure.last_period(fit)
            follows = rc.agreement(runs, ahead)
            period, promised = runs.algorithm.period(runs.cost), measure.promised_slope(runs.cost)
            mean = runs.frame.groupby("horizon")["regret"].mean()
            row = {"family": family, "dim": dim, "factor": factor, "mu": runs.algorithm.mu}
            row |= {"shift": runs.algorithm.shift(runs.cost), "period": period, "promised": promised}
            row |= {"window_first": fit.data.horizons[0], "window_last": fit.data.horizons[-1]}
            row |= {"slope": fit.slope, "slope_low": fit.low, "slope_high": fit.high, "slope_foretold": there}
            row |= {"apart": apart.value, "apart_se": apart.se, "apart_df": apart.df}
            row |= {"apart_foretold": there - there_least, "level": level[0], "level_se": level[1]}
            row |= {"runs": len(runs.frame) // len(mean), "locked": len(follows.locked), "follows": str(follows.name)}
            row |= dict(zip(("ratio", "ratio_low", "ratio_high"), follows.ratio, strict=True))
            row |= {"drift": follows.slope.value, "drift_se": follows.slope.se, "drift_df": follows.slope.df}
            row |= {"onset_foretold": measure.onset(mean.index, ahead.regret, period, promised)}
            known = before is not None and before[0] == (family, dim)
            row |= {
                "rise": level[0] - before[1][0] if known else math.nan,
                "rise_se": math.hypot(level[1], before[1][1]) if known else math.nan,
            }
            before = (family, dim), level
            rows.append(row)
        return pd.DataFrame(rows)

    def _onsets(self, effort) -> DataFrame:
        """Where uniform exploration ends, for large mu, in runs and as predicted at their partitions."""
        import pandas as pd

        rows, horizons = [], self.horizons(effort.of(self.onset_last))
        for family, dim in self.costs:
            cost = zoo.get(family, dim)
            alpha, promised = cost.constants.alpha, measure.promised_slope(cost)
            for factor in self.onset_factors:
                algorithm = rc.AdaptiveBins(mu=factor * cost.constants.mu_min).settle(cost)
                runs = rc.simulate(algorithm, cost, horizons, self.onset_runs, effort.seed, workers=effort.workers)
                ahead = rc.predict(algorithm, cost, horizons, alignments=self.onset_runs, seed=effort.seed)
                R = runs.frame.groupby("horizon")["regret"].mean()
                row = {"family": family, "dim": dim, "factor": factor, "mu": algorithm.mu, "runs": self.onset_runs}
                row |= {"key": algorithm.mu * (cost.side * MIDDLE) ** alpha, "exponent": (dim + 2 * alpha) / alpha}
                period = 2.0 ** (dim + 2 * alpha)  # while all cells are queried alike, levels follow at this factor
                row |= {"onset": measure.onset(horizons, R, period, promised)}
                rows.append(row | {"onset_foretold": measure.onset(horizons, ahead.regret, period, promised)})
        return pd.DataFrame(rows)

    # Confidence bounds

    def _bounds(self, effort) -> DataFrame:
        """After how many steps the lower confidence bound of the cell of x* lay above f*."""
        import pandas as pd

        rows = []
        for family, dim in self.costs:
            cost = zoo.get(family, dim)
            for factor, algorithm in self._settled(cost, self.factors):
                runs = rc.simulate(
                    algorithm,
                    cost,
                    [self.bound_horizon],
                    effort.of(self.bound_runs),
                    effort.seed,
                    workers=effort.workers,
                    diagnostics=True,
                )
                exceeded = runs.frame["exceeded"].to_numpy() / self.bound_horizon
                rows.append(
                    {"family": family, "dim": dim, "factor": factor, "mu": algorithm.mu, "horizon": self.bound_horizon}
                    | {
                        "theorem": measure.of_theorem2(algorithm, cost),
                        "steps": exceeded.mean(),
                        "steps_se": exceeded.std(ddof=1) / math.sqrt(len(exceeded)),
                    }
                    | measure.counted(int(np.sum(exceeded > 0)), len(exceeded), "some")
                )
        return pd.DataFrame(rows)

    # Lock-in

    def _locked(self, effort) -> DataFrame:
        """Runs in which the cell of x* gets no query while T grows by STRETCH, to its end."""
        import pandas as pd

        rows = []
        for family, dim in self.costs:
            cost = zoo.get(family, dim)
            for alignment, count in effort.of(self.short_runs).items():
                for factor in self.short_factors:
                    algorithm = rc.AdaptiveBins(mu=factor * cost.constants.mu_min).settle(cost)
                    job = partial(measure.last_stretch, algorithm, cost, self.short_horizon, effort.seed, alignment)
                    with ThreadPoolExecutor(effort.workers) as pool:
                        away, late, R = np.array(list(pool.map(job, range(count)))).T
                    away = away.astype(bool)
                    rows.append(
                        {"family": family, "dim": dim, "alignment": alignment, "factor": factor, "mu": algorithm.mu}
                        | {"horizon": self.short_horizon}
                        | measure.counted(int(away.sum()), count, "locked")
                        | measure.tails(R)
                        | {"late_locked": late[away].mean() if away.any() else math.nan, "late": late[~away].mean()}
                    )
        return pd.DataFrame(rows)

    # Far horizons

    def _curves(self, effort) -> list:
        found = []
        for family, dim in self.costs:
            cost = zoo.get(family, dim)
            for factor, algorithm in self._settled(cost, self.far_factors):
                curve = rc.predicted_curve(algorithm, cost, first=2.0**10, error=CURVE_ERROR, seed=effort.seed)
                found.append((family, cost, factor, algorithm, curve))
        return found

    def _far(self, curves) -> DataFrame:
        import pandas as pd

        rows = []
        for family, cost, factor, algorithm, curve in curves:
            claim = algorithm.claims(cost)[0]
            said = rc.far(curve, claim, period=algorithm.period(cost), shift=algorithm.shift(cost))
            row = {"family": family, "dim": cost.dim, "factor": factor, "mu": algorithm.mu, "last": said.last}
            row |= {
                "theorem": measure.of_theorem2(algorithm, cost),
                "visible": said.visible,
                "slope": said.slope,
                "promised": claim.rate.slope,
            }
            row |= (
                measure.limit_of("limit", said.exponent)
                | measure.limit_of("power", said.power)
                | measure.limit_of("shifted", said.shifted)
            )
            row |= {"printed_power": claim.printed.log_power, "sharper_power": claim.corrected.log_power}
            rows.append(row | {"on_exponent": str(said.on_exponent.name), "on_printed": str(said.on_printed.name)})
        return pd.DataFrame(rows)

    @staticmethod
    def _far_slopes(curves) -> DataFrame:
        import pandas as pd

        rows = []
        for family, cost, factor, algorithm, curve in curves:
            for horizon, slope in zip(*slopes(curve, algorithm.period(cost)), strict=True):
                row = {
                    "family": family,
                    "dim": cost.dim,
                    "factor": factor,
                    "theorem": measure.of_theorem2(algorithm, cost),
                }
                rows.append(row | {"horizon": horizon, "slope": slope, "promised": measure.promised_slope(cost)})
        return pd.DataFrame(rows)

    # Shown and said

    def pictures(self, tables: Tables) -> Iterable[Picture]:
        from studies.claims.mu.draw import bounds, far_slopes, onsets, tails_by_mu

        T = int(tables["regrets"]["horizon"].max())
        yield Picture(
            "regret",
            f"Regret against mu at T = {T:,}",
            "The mean with its 95 % interval, the middle 80 % of the runs (bars) and the largest run, each divided by "
            "the mean at mu_min; red: the predicted mean. The leftmost place is mu = 0, the dotted line Theorem 2's. "
            "Where the largest run lies far above the mean, the runs are heavy-tailed.",
            partial(tails_by_mu, tables["regrets"]),
        )
        yield Picture(
            "bounds",
            "How often the lower confidence bound is invalid, and how often runs lock in",
            f"Left: share of the first {self.bound_horizon:,} steps after which the bound of the cell of x* lay above "
            "f*, with 95 % intervals; none where a mark is missing. Right: share of the runs of "
            f"{self.short_horizon:,} steps in which that cell got no query after T/{STRETCH}, with 95 % intervals "
            "(Clopper and Pearson).",
            partial(bounds, tables["bounds"], tables["locked"]),
        )
        yield Picture(
            "onset",
            "Where uniform exploration ends",
            "The T at which the slope of R over a factor of 2^(d+2α) falls below the middle between 1 and the promised "
            "exponent for good, measured and (red) predicted, against mu / mu_min; the dashed line has the slope "
            "(d + 2α)/α.",
            partial(onsets, seen(tables["onsets"])),
        )
        yield Picture(
            "far",
            "Slopes of the predicted regret at far horizons",
            "Slope of ln R over whole periods of the predicted curve; the level line is the exponent of Theorem 2.",
            partial(far_slopes, tables["far_slopes"]),
        )

    def words(self, tables: Tables) -> Iterable[str]:
        rates, regrets = tables["rates"], tables["regrets"]
        T = int(regrets["horizon"].max())
        yield "## What was measured"
        yield (
            f"{listing([named(*c) for c in self.costs])}; mu = 0 to Theorem 2's (1 + 2^(d+α)) M, as a multiple of "
            f"mu_min, the least mu for which the mean over any cell that holds x* is covered. {rates['runs'].max()} "
            f"runs each to T = {T:,}, random alignment, a0 in [side/2, side]."
        )
        yield "## Regret and its tails"
        yield table(
            ["cost", "mu/mu_min", "mean R", "± s.e.", "predicted", "median", "90 %", "largest run's share"],
            [
                [
                    *(
                        named(r.family, r.dim),
                        times(r.factor),
                        general(r.mean),
                        general(r.se, 2),
                        general(r.foretold),
                    ),
                    *(general(r.median), general(r.upper), fixed(r.largest_share)),
                ]
                for r in regrets[regrets["horizon"] == T].itertuples()
            ],
        )
        yield (
            f"The share is that of the largest of {rates['runs'].max()} runs; alike, each would carry "
            f"{fixed(1 / rates['runs'].max())}."
        )
        yield "## Does the rate stay?"
        yield (
            f"Slopes of R over T = {rates['window_first'].min():,.0f} to {T:,}, no logarithm divided out, and their "
            f"difference from the slope at {self.needed:g} mu_min, measured and predicted; the slope of measured / "
            "predicted R, run by run at its own partition, is known much better. Linear up to: the T at which the "
            "predicted slope over a period falls below the middle between 1 and the promised exponent for good. Where "
            "that lies inside the window or beyond, the slope is that of a start, not of a rate."
        )
        yield table(
            ["cost", "mu/mu_min", "slope", "predicted", f"minus that at {self.needed:g}", "predicted",
             "linear up to", "measured / predicted R", "its slope", "follows", "locked in"],
            list(rate_rows(rates, self.needed)),
        )  # fmt: skip
        yield "## Onset"
        yield from onset_words(tables["onsets"])
        yield "## Invalid bounds and lock-in"
        yield from self._locked_words(tables)
        yield "## Far horizons"
        yield (
            "The predicted curve without noise, as far as it can be computed: the limit of its slope, and the power "
            "of ln T (and of ln T + mu a0^α) that is left at the promised slope."
        )
        yield table(
            ["cost", "mu/mu_min", "up to T", "rate visible from T", "last slope", "limit", "promised", "exponent",
             "log power", "in ln T + mu a0^α", "printed", "sharper"],
            list(far_rows(tables["far"])),
        )  # fmt: skip

    def _locked_words(self, tables):
        yield (
            f"The lower confidence bound is invalid after a step if the key of the cell of x* exceeds f*; counted over "
            f"{self.bound_horizon:,} steps. A run counts as locked in if the cell of x* gets no query in the last "
            f"{STRETCH - 1}/{STRETCH} of its {self.short_horizon:,} steps."
        )
        yield table(
            ["cost", "mu/mu_min", "steps with an invalid bound", "runs with one"],
            [
                [named(r.family, r.dim), times(r.factor), shown_share(r.steps, r.steps_se), shown_count(r, "some")]
                for r in tables["bounds"].itertuples()
            ],
        )
        yield table(
            ["cost", "alignment", "mu/mu_min", "locked in", "R per step then, of locked runs", "of others",
             "median R", "mean R", "largest run's share"],
            [
                [named(r.family, r.dim), r.alignment, times(r.factor), shown_count(r, "locked"), fixed(r.late_locked),
                 fixed(r.late), general(r.median), general(r.mean), fixed(r.largest_share, 4)]
                for r in tables["locked"].itertuples()
            ],
        )  # fmt: skip
        mine = tables["locked"].query("family == 'quadratic' and factor == 1")
        for r in mine.itertuples():
            inside = "lies inside" if r.locked_low <= self.foretold_locked <= r.locked_high else "lies outside"
            yield (
                f"Quadratic d = {r.dim} at mu_min, {r.alignment} alignment: {shown_count(r, 'locked')}; the foretold "
                f"{100 * self.foretold_locked:.1f} % {inside} the interval."
            )
