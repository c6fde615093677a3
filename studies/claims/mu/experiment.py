"""The bias constant mu of adaptive bins: from none, past the least valid one, to the one that Theorem 2 asks for."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable, Mapping
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass, replace
from functools import cache, partial
from typing import TYPE_CHECKING, ClassVar

import numpy as np
from scipy import special
from scipy.stats import binomtest

import function_zoo as zoo
from ratecheck import AdaptiveBins, agreement, far, fit_rate, foretell, predict, simulate, slope_difference, theorem2
from ratecheck.algorithms.run import STAR
from ratecheck.engine.simulate import begin
from ratecheck.papers.zhao_lai import least_mu
from ratecheck.predict.far import slopes
from ratecheck.verdict.rules import MARGIN
from studies.claims.ledger.experiment import Effort, Experiment, Judgement, Picture, Tables
from studies.claims.ledger.finding import Finding, Verdict
from studies.shared.markdown import fixed, fraction, general, interval, listing, table

if TYPE_CHECKING:
    from pandas import DataFrame

ERROR = 0.05  # of all comparisons of a kind together
STRETCH = 16  # a run is locked in if the cell of x* gets no query while T grows by this factor
WHOLE = 256  # the factor in T of the window in which slopes are fitted: two periods of the quadratic, four of the cone
MIDDLE = 2**-0.5  # of the octave in which a0 is drawn, as a share of the side
CASE = ["family", "dim"]


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
    far_cells: Mapping[str, int]
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
        found = [f"{_counted(r, 'locked')} in d = {r.dim}, {r.alignment} alignment" for r in outside.itertuples()]
        share = f"{100 * self.foretold_locked:.1f} % of the runs on the quadratic lock in at mu_min"
        return f"{share}; measured are {listing(found)}" if found else ""

    def horizons(self, last) -> list[int]:
        steps = 2 * math.log2(last / self.first)
        return [round(self.first * 2 ** (i / 2)) for i in range(round(steps) + 1)]

    @staticmethod
    def _settled(cost, factors) -> list[tuple[float, AdaptiveBins]]:
        """Pairs of a multiple of mu_min and an algorithm, in the order of mu."""
        least = cost.constants.mu_min
        given = [AdaptiveBins(mu=factor * least).settle(cost) for factor in factors]
        theorem = AdaptiveBins(mu="theorem").settle(cost)
        found = {round(a.mu / least, 9): a for a in [*given, theorem]}
        return sorted(found.items())

    # The sweep

    def _sweep(self, effort) -> dict:
        """Runs and their predicted regrets by family, dimension and multiple of mu_min."""
        found, horizons, runs = {}, self.horizons(effort.of(self.last)), effort.of(self.runs)
        for family, dim in self.costs:
            cost = zoo.get(family, dim)
            for factor, algorithm in self._settled(cost, self.factors):
                made = simulate(algorithm, cost, horizons, runs, effort.seed, workers=effort.workers)
                found[family, dim, factor] = made, predict(algorithm, cost, horizons, runs, effort.seed)
        return found

    def _regrets(self, sweep) -> DataFrame:
        import pandas as pd

        rows = []
        for (family, dim, factor), (runs, ahead) in sweep.items():
            by_horizon = runs.frame.groupby("horizon")["regret"]
            for (horizon, R), foretold in zip(by_horizon, ahead.regret, strict=True):
                rows.append(
                    {"family": family, "dim": dim, "factor": factor, "mu": runs.algorithm.mu, "horizon": horizon}
                    | {"theorem": of_theorem2(runs.algorithm, runs.cost)}
                    | tails(R.to_numpy())
                    | {"foretold": foretold}
                )
        return pd.DataFrame(rows)

    def _rates(self, sweep, effort) -> DataFrame:
        """Slopes over the window, compared with that at the needed mu; levels, compared with the next smaller mu's."""
        import pandas as pd

        window = (0.99 * effort.of(self.last) / WHOLE, effort.of(self.last))
        rows, before = [], None
        for (family, dim, factor), (runs, ahead) in sweep.items():
            fit, least = (fit_rate(sweep[family, dim, f][0], window=window) for f in (factor, self.needed))
            there, there_least = (slope_ahead(fit, sweep[family, dim, f][1]) for f in (factor, self.needed))
            apart = slope_difference(fit, least)
            level = last_period(fit)
            follows = agreement(runs, ahead)
            period, promised = runs.algorithm.period(runs.cost), promised_slope(runs.cost)
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
            row |= {"onset_foretold": onset(mean.index, ahead.regret, period, promised)}
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
            alpha, promised = cost.constants.alpha, promised_slope(cost)
            for factor in self.onset_factors:
                algorithm = AdaptiveBins(mu=factor * cost.constants.mu_min).settle(cost)
                runs = simulate(algorithm, cost, horizons, self.onset_runs, effort.seed, workers=effort.workers)
                ahead = predict(algorithm, cost, horizons, self.onset_runs, effort.seed)
                R = runs.frame.groupby("horizon")["regret"].mean()
                row = {"family": family, "dim": dim, "factor": factor, "mu": algorithm.mu, "runs": self.onset_runs}
                row |= {"key": algorithm.mu * (cost.side * MIDDLE) ** alpha, "exponent": (dim + 2 * alpha) / alpha}
                period = 2.0 ** (dim + 2 * alpha)  # while all cells are queried alike, levels follow at this factor
                row |= {"onset": onset(horizons, R, period, promised)}
                rows.append(row | {"onset_foretold": onset(horizons, ahead.regret, period, promised)})
        return pd.DataFrame(rows)

    # Confidence bounds

    def _bounds(self, effort) -> DataFrame:
        """After how many steps the lower confidence bound of the cell of x* lay above f*."""
        import pandas as pd

        rows = []
        for family, dim in self.costs:
            cost = zoo.get(family, dim)
            for factor, algorithm in self._settled(cost, self.factors):
                runs = simulate(
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
                        "theorem": of_theorem2(algorithm, cost),
                        "steps": exceeded.mean(),
                        "steps_se": exceeded.std(ddof=1) / math.sqrt(len(exceeded)),
                    }
                    | counted(int(np.sum(exceeded > 0)), len(exceeded), "some")
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
                    algorithm = AdaptiveBins(mu=factor * cost.constants.mu_min).settle(cost)
                    job = partial(last_stretch, algorithm, cost, self.short_horizon, effort.seed, alignment)
                    with ThreadPoolExecutor(effort.workers) as pool:
                        away, late, R = np.array(list(pool.map(job, range(count)))).T
                    away = away.astype(bool)
                    rows.append(
                        {"family": family, "dim": dim, "alignment": alignment, "factor": factor, "mu": algorithm.mu}
                        | {"horizon": self.short_horizon}
                        | counted(int(away.sum()), count, "locked")
                        | tails(R)
                        | {"late_locked": late[away].mean() if away.any() else math.nan, "late": late[~away].mean()}
                    )
        return pd.DataFrame(rows)

    # Far horizons

    def _curves(self, effort) -> list:
        found = []
        for family, dim in self.costs:
            cost = zoo.get(family, dim)
            for factor, algorithm in self._settled(cost, self.far_factors):
                curve = foretell(algorithm, cost, 2.0**10, effort.of(self.far_cells), seed=effort.seed)
                found.append((family, cost, factor, algorithm, curve))
        return found

    def _far(self, curves) -> DataFrame:
        import pandas as pd

        rows = []
        for family, cost, factor, algorithm, curve in curves:
            claim = algorithm.claims(cost)[0]
            said = far(curve, claim, algorithm.period(cost), algorithm.shift(cost))
            row = {"family": family, "dim": cost.dim, "factor": factor, "mu": algorithm.mu, "last": said.last}
            row |= {
                "theorem": of_theorem2(algorithm, cost),
                "visible": said.visible,
                "slope": said.slope,
                "promised": claim.rate.slope,
            }
            row |= _limit("limit", said.exponent) | _limit("power", said.power) | _limit("shifted", said.shifted)
            row |= {"printed_power": claim.printed.log_power, "sharper_power": claim.corrected.log_power}
            rows.append(row | {"on_exponent": str(said.on_exponent.name), "on_printed": str(said.on_printed.name)})
        return pd.DataFrame(rows)

    @staticmethod
    def _far_slopes(curves) -> DataFrame:
        import pandas as pd

        rows = []
        for family, cost, factor, algorithm, curve in curves:
            for horizon, slope in zip(*slopes(curve, algorithm.period(cost)), strict=True):
                row = {"family": family, "dim": cost.dim, "factor": factor, "theorem": of_theorem2(algorithm, cost)}
                rows.append(row | {"horizon": horizon, "slope": slope, "promised": promised_slope(cost)})
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
            f"{listing([_named(*c) for c in self.costs])}; mu = 0 to Theorem 2's (1 + 2^(d+α)) M, as a multiple of "
            f"mu_min, the least mu for which the mean over any cell that holds x* is covered. {rates['runs'].max()} "
            f"runs each to T = {T:,}, random alignment, a0 in [side/2, side]."
        )
        yield "## Regret and its tails"
        yield table(
            ["cost", "mu/mu_min", "mean R", "± s.e.", "predicted", "median", "90 %", "largest run's share"],
            [
                [
                    *(
                        _named(r.family, r.dim),
                        _times(r.factor),
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
            list(_rate_rows(rates, self.needed)),
        )  # fmt: skip
        yield "## Onset"
        yield from _onset_words(tables["onsets"])
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
            list(_far_rows(tables["far"])),
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
                [_named(r.family, r.dim), _times(r.factor), _share(r.steps, r.steps_se), _counted(r, "some")]
                for r in tables["bounds"].itertuples()
            ],
        )
        yield table(
            ["cost", "alignment", "mu/mu_min", "locked in", "R per step then, of locked runs", "of others",
             "median R", "mean R", "largest run's share"],
            [
                [_named(r.family, r.dim), r.alignment, _times(r.factor), _counted(r, "locked"), fixed(r.late_locked),
                 fixed(r.late), general(r.median), general(r.mean), fixed(r.largest_share, 4)]
                for r in tables["locked"].itertuples()
            ],
        )  # fmt: skip
        mine = tables["locked"].query("family == 'quadratic' and factor == 1")
        for r in mine.itertuples():
            inside = "lies inside" if r.locked_low <= self.foretold_locked <= r.locked_high else "lies outside"
            yield (
                f"Quadratic d = {r.dim} at mu_min, {r.alignment} alignment: {_counted(r, 'locked')}; the foretold "
                f"{100 * self.foretold_locked:.1f} % {inside} the interval."
            )


# Measured


def of_theorem2(algorithm, cost) -> bool:
    return math.isclose(algorithm.mu, least_mu(cost.constants, cost.dim))


def tails(R: np.ndarray) -> dict:
    """The mean with its standard error, quantiles, and the share of the largest run."""
    low, median, high = np.quantile(R, [0.1, 0.5, 0.9])
    return {
        "runs": len(R),
        "mean": R.mean(),
        "se": R.std(ddof=1) / math.sqrt(len(R)),
        "lower": low,
        "median": median,
        "upper": high,
        "largest": R.max(),
        "largest_share": R.max() / R.sum(),
    }


def counted(hits: int, total: int, name: str) -> dict:
    """So many of all runs, with an interval (Clopper and Pearson)."""
    interval = binomtest(hits, total).proportion_ci(0.95, "exact")
    return {"runs": total, name: hits, f"{name}_low": interval.low, f"{name}_high": interval.high}


def last_stretch(algorithm, cost, horizon, seed, alignment, replicate) -> tuple[bool, float, float]:
    """Whether the cell of x* gets no query from T/STRETCH on, the regret per step there, and all regret."""
    run, _ = begin(algorithm, cost, horizon, replicate, seed, alignment=alignment)
    seen = []
    for until in (horizon // STRETCH, horizon):
        while run.t < until:
            run.advance(until)
        star = run.state[STAR]
        seen.append((run.level[star], run.n[star], run.regret))  # a query makes n grow, or the level
    (level, n, early), (level_later, n_later, R) = seen
    steps = horizon - horizon // STRETCH
    return (level, n) == (level_later, n_later), (R - early) / steps, R


def slope_ahead(fit, prediction) -> float:
    """The slope that the same regression finds in the predicted regret."""
    mean = prediction.mean().set_index("horizon")["regret"]
    return fit.slope_of(mean.loc[np.round(fit.data.horizons).astype(int)].to_numpy())


def last_period(fit) -> tuple[float, float]:
    """The mean of ln R over the last whole period, and its standard error."""
    x = fit.data.x
    weights = (x > x[-1] - math.log(fit.period) + 1e-6).astype(float)
    weights /= weights.sum()
    return float(weights @ fit.data.y), math.sqrt(float(weights @ fit.data.covariance @ weights))


def promised_slope(cost) -> float:
    return theorem2.rate(cost.constants, cost.dim).slope


def onset(horizons, regret, period, promised) -> float:
    """The T at which the slope of ln R over a whole period falls below the middle of 1 and the promised one for good.

    0 if it never lies above, inf if it still does at the end.
    """
    x, y = np.log(np.asarray(horizons, float)), np.log(np.asarray(regret, float))
    lag = math.log(period)
    starts = x[x + lag <= x[-1] + 1e-6]
    local = (np.interp(starts + lag, x, y) - np.interp(starts, x, y)) / lag
    middles = starts + lag / 2
    above = np.flatnonzero(local > (1 + promised) / 2)
    if not len(above):
        return 0.0
    i = above[-1]
    if i == len(local) - 1:
        return math.inf
    share = (local[i] - (1 + promised) / 2) / (local[i] - local[i + 1])
    return math.exp(middles[i] + share * (middles[i + 1] - middles[i]))


def _limit(name, found) -> dict:
    value = (math.nan,) * 3 if found is None else (found.value, found.low, found.high)
    return dict(zip((name, f"{name}_low", f"{name}_high"), value, strict=True))


# Judged


def judge(tables: Tables, needed: float) -> Finding:
    """Larger mu is worse: every step beyond what is needed raises ln R, averaged over the last period.  The rate stays:
    for every mu the slopes of runs are those of the predicted curves at their partitions (`drift` is the difference),
    and the predicted curves tend to the promised exponent."""
    rates, there = (tables[name][tables[name]["factor"] >= needed] for name in ("rates", "far"))
    steps = rates[rates["factor"] > needed]
    reach = special.stdtrit(steps["runs"] - 1, 1 - ERROR / len(steps)) * steps["rise_se"]
    worse, reversed_ = steps["rise"] > reach, steps["rise"] < -reach
    off = rates["drift"].abs()
    give = special.stdtrit(rates["drift_df"], 1 - ERROR / (2 * len(rates))) * rates["drift_se"]
    beyond = rates["onset_foretold"] < rates["window_first"]
    unforeseen = (off - give > MARGIN) & beyond
    distance = np.maximum(there["limit_high"] - there["promised"], there["promised"] - there["limit_low"])
    same = distance <= MARGIN
    other = (there["limit_low"] - there["promised"] > MARGIN) | (there["promised"] - there["limit_high"] > MARGIN)
    if reversed_.any() or unforeseen.any() or other.any():
        verdict = Verdict.REFUTED
    elif worse.all() and (off + give < MARGIN).all() and same.all():
        verdict = Verdict.CONSISTENT
    else:
        verdict = Verdict.INCONCLUSIVE
    T = rates["window_last"].max()
    evidence = (
        f"up to T = {T:,.0f} {int(worse.sum())} of {len(steps)} steps from {needed:g} mu_min to Theorem 2's mu raise "
        f"R, {int(reversed_.sum())} lower it; slopes exceed that at {needed:g} mu_min by {_range(steps['apart'])}, "
        f"each within {(off + give).max():.3f} of the predicted curve's; these curves, to T = "
        f"{there['last'].min():.0e} and beyond, tend to {_range(there['limit'])} where "
        f"{there['promised'].iloc[0]:g} is promised "
        f"({int(same.sum())} of {len(there)} surely within {MARGIN:g})"
    )
    return Finding(
        verdict,
        evidence,
        tolerates=f"exponents off by {max((off + give).max(), distance.max()):.3f}"
        if verdict is Verdict.CONSISTENT
        else "",
        caveat=f"in {int((~beyond).sum())} of {len(rates)} cases the predicted onset lies in or beyond the window of "
        "the runs, where only the predicted curve speaks of a rate; below what is needed a larger mu may be better, "
        "since fewer runs lock in",
    )


def _range(values) -> str:
    return f"{values.min():.3f} to {values.max():.3f}"


# Said


def _named(family, dim) -> str:
    return f"{family} d = {dim}"


def _times(factor) -> str:
    return fraction(factor) if factor < 1 else general(factor, 3)


def _share(value, se) -> str:
    return f"{value:.2g} ± {se:.1g}" if value else "0"


def _counted(row, name) -> str:
    low, high = (100 * getattr(row, f"{name}_{end}") for end in ("low", "high"))
    return f"{getattr(row, name)} of {row.runs} ({low:.2f} to {high:.2f} %)"


def _rate_rows(rates, needed):
    for r in rates.itertuples():
        reach = special.stdtrit(r.apart_df, 0.975) * r.apart_se
        yield [
            _named(r.family, r.dim),
            _times(r.factor),
            f"{fixed(r.slope)} {interval(r.slope_low, r.slope_high)}",
            fixed(r.slope_foretold),
            None if r.factor == needed else f"{fixed(r.apart)} ± {fixed(reach)}",
            None if r.factor == needed else fixed(r.apart_foretold),
            _horizon(r.onset_foretold),
            f"{fixed(r.ratio)} {interval(r.ratio_low, r.ratio_high)}",
            f"{fixed(r.drift, 4)} ± {fixed(special.stdtrit(r.drift_df, 0.975) * r.drift_se, 4)}",
            r.follows,
            f"{r.locked} of {r.runs}",
        ]


def _horizon(onset) -> str:
    """An onset, as far as the horizons show it."""
    return {0.0: "before", math.inf: "beyond"}.get(onset) or f"{onset:,.0f}"


def seen(onsets: DataFrame) -> DataFrame:
    """Where the onset lies among the horizons, in the runs and as predicted."""
    both = onsets[["onset", "onset_foretold"]]
    return onsets[((both > 0) & np.isfinite(both)).all(axis=1)]


def onset_powers(onsets: DataFrame) -> DataFrame:
    """How fast the onset moves: its power of mu, and of mu a0^α + ln T, by least squares; measured and predicted."""
    import pandas as pd

    rows = []
    for (family, dim), mine in seen(onsets).groupby(CASE, sort=False):
        if len(mine) < 2:
            continue
        row = {"family": family, "dim": dim, "count": len(mine), "exponent": mine["exponent"].iloc[0]}
        for name in ("onset", "onset_foretold"):
            T = np.log(mine[name].to_numpy())
            row[f"{name}_mu"] = np.polyfit(np.log(mine["mu"]), T, 1)[0]
            row[f"{name}_key"] = np.polyfit(np.log(mine["key"] + T), T, 1)[0]
        rows.append(row)
    return pd.DataFrame(rows)


def _onset_words(onsets):
    yield (
        "For a large mu all cells are queried alike at first, level after level, each with 2^(d+2α) times the queries "
        "of the one before. The onset is the T at which the slope over such a factor falls below the middle between 1 "
        f"and the promised exponent for good; {onsets['runs'].max()} runs for each mu, and the predicted curve at "
        "their partitions."
    )
    yield table(
        ["cost", "mu/mu_min", "onset", "predicted"],
        [
            [_named(r.family, r.dim), _times(r.factor), _horizon(r.onset), _horizon(r.onset_foretold)]
            for r in onsets.itertuples()
        ],
    )
    yield (
        "Theory: the onset grows like (mu a0^α + ln T)^((d + 2α)/α), so like that power of mu once mu a0^α is much "
        "larger than ln T, in steps of 2^α in mu. Powers by least squares over the mu whose onset lies among the "
        "horizons, few as they are:"
    )
    yield table(
        ["cost", "mu", "power of mu", "predicted curve", "power of mu a0^α + ln T", "predicted curve", "(d + 2α)/α"],
        [
            [_named(r.family, r.dim), r.count, fixed(r.onset_mu, 2), fixed(r.onset_foretold_mu, 2)]
            + [fixed(v, 2) for v in (r.onset_key, r.onset_foretold_key, r.exponent)]
            for r in onset_powers(onsets).itertuples()
        ],
    )


def _far_rows(there):
    for r in there.itertuples():
        yield [
            _named(r.family, r.dim),
            _times(r.factor),
            f"{r.last:.0e}",
            None if math.isnan(r.visible) else general(r.visible, 2),
            fixed(r.slope),
            f"{fixed(r.limit)} {interval(r.limit_low, r.limit_high)}",
            fixed(r.promised),
            r.on_exponent,
            f"{fixed(r.power, 2)} {interval(r.power_low, r.power_high, 2)}",
            f"{fixed(r.shifted, 2)} {interval(r.shifted_low, r.shifted_high, 2)}",
            fixed(r.printed_power, 2),
            fixed(r.sharper_power, 2),
        ]
