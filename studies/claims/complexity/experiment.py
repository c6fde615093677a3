"""How many cells there are, whether a heap keeps the argmin, and what keeping it takes."""

from __future__ import annotations

import math
import time
from collections.abc import Mapping
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from typing import ClassVar

import numpy as np
import pandas as pd

import function_zoo as zoo
import ratecheck as rc
from ratecheck.display import counted, estimate, fixed, general, interval, listing, table
from ratecheck.engine.simulate import begin
from ratecheck.verdict.rules import MARGIN
from studies.claims.complexity import heaps
from studies.claims.ledger.experiment import Effort, Experiment, Judgement, Picture
from studies.claims.ledger.finding import Finding, Verdict
from studies.claims.shared import CURVE_ERROR, FAR_LOG_MARGIN, D, jackknife, ratio_of_means, window_slope

LEVEL = 0.95  # of all intervals of a claim together
FAR_HEADER = (
    *("cost", "predicted to T", "cells", "slope of the ratio", "exponent", "its limit", "log power", "its limit"),
    *("verdict", "runs / predicted"),
)
AFTERWARDS = (
    "this rule was settled after a look at shorter curves, on which extrapolated limits alone left five of eight costs "
    "open"
)
LOWEST, HIGHEST = -0.15, 0.59  # what stale keys were said to do to the regret


@dataclass(frozen=True)
class Complexity(Experiment):
    """`costs` are (family, dimension), run with mu_min; `most_cells` and `alignments` are those of the curves in the
    kept table, `heaped` are costs on which a heap with old keys is run."""

    edition: ClassVar[int] = 2
    costs: tuple[tuple[str, int], ...] = ()
    horizons: Mapping[str, tuple[int, ...]] = None
    replicates: Mapping[str, int] = None
    most_cells: Mapping[str, int] = None
    alignments: Mapping[str, int] = None
    heaped: tuple[tuple[str, int], ...] = ()
    heap_horizons: tuple[int, ...] = ()
    heap_replicates: Mapping[str, int] = None
    timed: Mapping[str, int] = None  # the last T of runs by the clock

    def parts(self, effort: Effort):
        return {
            "cells": lambda: _each(self.costs, lambda case: self._cells(case, effort)),
            "far": lambda: _each(self.costs, lambda case: self._far(case, effort)),
            "heap": lambda: _each(self.heaped, lambda case: self._heap(case, effort)),
            "clock": lambda: _each(self.heaped, lambda case: clock(case, effort.of(self.timed), effort.seed)),
        }

    def _cells(self, case, effort):
        horizons, n = effort.of(self.horizons), effort.of(self.replicates)
        runs = rc.simulate(case.algorithm, case.cost, horizons, n, effort.seed, workers=effort.workers).frame
        predicted = rc.predict(case.algorithm, case.cost, horizons, alignments=n, seed=effort.seed).frame
        predicted = predicted.rename(columns={"alignment": "replicate", "cells": "predicted"})
        both = runs.merge(predicted[["replicate", "horizon", "predicted"]], on=["replicate", "horizon"])
        both["predicted"] = both["predicted"].round(3)
        return case.named(both[["replicate", "horizon", "cells", "predicted"]])

    def _far(self, case, effort):
        curve = rc.predicted_curve(case.algorithm, case.cost, first=2**10, error=CURVE_ERROR, seed=effort.seed)
        shift = case.algorithm.shift(case.cost)
        return case.named(pd.DataFrame({"horizon": curve.horizons, "cells": curve.cells, "shift": shift}))

    def _heap(self, case, effort):
        def pair(replicate):
            how = (case.algorithm, case.cost, self.heap_horizons, replicate, effort.seed)
            return replicate, heaps.run(*how, False), heaps.run(*how, True)

        with ThreadPoolExecutor(effort.workers) as pool:
            found = list(pool.map(pair, range(effort.of(self.heap_replicates))))
        rows = [
            {"replicate": replicate, "horizon": T, "regret": exact.regret[h], "stale_regret": stale.regret[h]}
            | {"not_argmin": stale.wrong[h], "matches": exact.matches[h], "cells": exact.cells[h]}
            for replicate, exact, stale in found
            for h, T in enumerate(self.heap_horizons)
        ]
        return case.named(pd.DataFrame(rows))

    def judgements(self):
        return {
            "24": Judgement(("cells", "heap"), few_cells),
            "24c": Judgement(("cells", "far"), number_of_cells),
        }

    def pictures(self, tables):
        from studies.claims.complexity import draw as draw

        yield Picture(
            "cells",
            "Cells against T",
            "Mean number of cells of runs, the predicted number as far as it can be counted, the corrected growth and "
            "the printed ln T, both through the last predicted point: only their shapes mean something.",
            lambda: draw.cells(tables["cells"], tables["far"]),
        )
        yield Picture(
            "heap",
            "A heap with old keys",
            "Left: the share of picks that were not the argmin. Middle: the regret with old keys as a multiple of that "
            "with the argmin, with 95 % intervals over runs. Right: matches per step that a kinetic tournament plays "
            "to keep the argmin, against the number of cells.",
            lambda: draw.heap(shares(tables["heap"])),
        )

    def words(self, tables):
        yield "## How many cells"
        yield (
            "Slopes are those of ln(cells) against ln T, harmonics of the known period apart, after division by ln T "
            "(printed) or by the corrected power of ln T. Where αβ = d no power of T is left, and the power of ln T is "
            "fitted. The second table is about the predicted curve, to a T that no run reaches: the slope of cells / "
            "corrected growth over the last half of it, and the limits of its slope and log power (in ln T; shifted: "
            f"in ln T + μ a0^α) as several ways to extrapolate have them. It is CONSISTENT if the slope is within "
            f"±{MARGIN:g} and, where the log power stands alone, that is within ±{FAR_LOG_MARGIN:g}; REFUTED if a "
            f"limit excludes the corrected growth by as much. The cells of runs must keep to the prediction "
            f"within T^±{MARGIN:g}."
        )
        yield table(
            ["cost", "corrected growth", "slope after ln T", "slope after its own log", "cells at the last T"],
            [_growth_row(name, part) for name, part in tables["cells"].groupby("cost", sort=False)],
        )
        yield table(
            FAR_HEADER,
            [_far_row(name, part, tables["cells"]) for name, part in tables["far"].groupby("cost", sort=False)],
        )
        yield "## A heap"
        yield (
            "An ordinary heap knows the key that a cell had when it was last queried. All keys fall with ln t, those "
            "of cells with few queries fastest, so that its smallest key is hardly ever the smallest. With the "
            "same random numbers, and the argmin in every step, the run is that of the engine to the last bit."
        )
        header = ["cost", "T", "not the argmin", "regret, old keys / argmin", "cells", "matches per step"]
        yield table(header, [_heap_row(row) for row in shares(tables["heap"]).itertuples()])
        yield (
            "Matches are those of a kinetic tournament that is told of every query: one path to the root, log2 of the "
            "number of cells, and those that expire as ln t grows. So the argmin can be kept in "
            "O(log |B|) and a little more per step."
        )
        yield _clocked(tables["clock"])


@dataclass(frozen=True)
class Case:
    family: str
    dim: int

    @property
    def cost(self):
        return zoo.get(self.family, self.dim)

    @property
    def algorithm(self):
        return rc.AdaptiveBins().settle(self.cost)

    def named(self, frame):
        """With what theory needs to know of the cost."""
        known = self.cost.constants
        rate = corrected(known.alpha, known.beta, self.dim)
        period = self.algorithm.period(self.cost)
        frame.insert(0, "cost", f"{self.family} d = {self.dim}")
        return frame.assign(exponent=rate.slope, log_power=rate.log_power, period=period)


def corrected(alpha, beta, dim) -> rc.Rate:
    """E9: T^((d - alpha beta)/D) (ln T)^(2 alpha beta / D), but (ln T)^(beta + 1) at alpha beta = d."""
    if math.isclose(alpha * beta, dim):
        return rc.Rate.of_regret(0.0, beta + 1)
    exponent = D(alpha, beta, dim)
    return rc.Rate.of_regret((dim - alpha * beta) / exponent, 2 * alpha * beta / exponent)


def _each(costs, measure):
    return pd.concat([measure(Case(*cost)) for cost in costs], ignore_index=True)


def clock(case, last, seed) -> pd.DataFrame:
    """Nanoseconds of a core per step of the engine, between growing horizons."""
    begin(case.algorithm, case.cost, horizon=last, replicate=1, seed=seed)[0].advance(
        last
    )  # so that nothing is left to compile
    run, _ = begin(case.algorithm, case.cost, horizon=last, replicate=0, seed=seed)
    rows, t = [], 2**12
    run.advance(t)
    while t < last:
        begun = time.thread_time()  # not of others on this machine
        run.advance(4 * t)
        seconds = time.thread_time() - begun
        rows.append({"horizon": 4 * t, "nanoseconds": round(1e9 * seconds / (3 * t), 1), "cells": run.cells})
        t *= 4
    return case.named(pd.DataFrame(rows))


# Cells


def fitted(part, log_power=0.0):
    """Of the number of cells in runs."""
    table = part.rename(columns={"cells": "regret"})[["replicate", "horizon", "regret"]].assign(anytime=True)
    return rc.fit_rate(table, log_power=log_power, period=float(part["period"].iloc[0]))


def beside(part):
    """The slope of cells / predicted in runs: the difference of two fits with the same weights, a jackknife's error."""
    wide = {name: part.pivot(index="replicate", columns="horizon", values=name) for name in ("cells", "predicted")}
    L = np.log(wide["cells"].columns.to_numpy(dtype=float))
    n = len(wide["cells"])

    def slope(rows):
        means = [np.log(wide[name].to_numpy()[rows].mean(axis=0)) for name in ("cells", "predicted")]
        return np.polyfit(L, means[0] - means[1], 1)[0]

    every = np.arange(n)
    return jackknife(slope(every >= 0), np.array([slope(every != i) for i in every]))


def limits(part):
    """What the predicted curve says about the corrected growth, as an upper and as a lower bound."""
    curve, rate = _curve(part)
    how = {name: float(part[name].iloc[0]) for name in ("period", "shift")}
    known = zoo.get("cone", 1).constants  # the rate is the same for all
    theorems = (rc.Theorem.of("the number of cells", rate, kind) for kind in ("upper", "lower"))
    return [rc.far(curve, theorem.claim(known, 1), log_margin=FAR_LOG_MARGIN, **how) for theorem in theorems]


def late_slope(part) -> float:
    """That of cells / corrected growth over whole periods, about half of the predicted curve and its end."""
    curve, rate = _curve(part)
    period = float(part["period"].iloc[0])
    last = curve.horizons[-1]
    periods = max(1, math.floor(math.log(last / curve.horizons[0], period) / 2))
    return window_slope(curve, last / period**periods, last, rate.log_power) - rate.slope


def _curve(part):
    rate = rc.Rate.of_regret(float(part["exponent"].iloc[0]), float(part["log_power"].iloc[0]))
    return rc.Curve(tuple(part["horizon"]), tuple(part["cells"]), tuple(part["cells"]), "cells"), rate


def agreed(part) -> Verdict:
    """On the corrected growth, from both sides.

    REFUTED if a limit of the curve or of its log power is; CONSISTENT if the slope of the ratio over the last half is
    within the margin, and where no power of T is left, the log power within its own; INCONCLUSIVE otherwise.
    """
    said = limits(part)
    if rc.Outcome.REFUTED in {j.name for far in said for j in (far.on_exponent, far.on_printed)}:
        return Verdict.REFUTED
    rate = _curve(part)[1]
    near = abs(late_slope(part)) <= MARGIN
    if rate.slope == 0:
        near = near and said[0].power is not None and abs(said[0].power.value - rate.log_power) <= FAR_LOG_MARGIN
    return Verdict.CONSISTENT if near else Verdict.INCONCLUSIVE


def few_cells(tables) -> Finding:
    """Claim 24: REFUTED where cells / ln T grow like a power of T, or where a heap's pick is not the argmin."""
    fits = {name: fitted(part, 1.0).whole for name, part in tables["cells"].groupby("cost", sort=False)}
    level = 1 - (1 - LEVEL) / len(fits)
    growing = {name: e for name, e in fits.items() if e.lower_limit(level) > MARGIN}
    last = shares(tables["heap"])
    last = last[last["horizon"] == last["horizon"].max()]
    wrong = last["low"].min()
    heap = (
        f"at T = {int(last['horizon'].max())} a heap with old keys picks another cell than the argmin in "
        f"{last['share'].min():.1%} to {last['share'].max():.1%} of the steps and changes the regret by "
        f"{last['ratio'].min() - 1:+.0%} to {last['ratio'].max() - 1:+.0%}"
    )
    foretold = ""
    if (last["ratio_high"] < 1 + LOWEST).any() or (last["ratio_low"] > 1 + HIGHEST).any():
        foretold = f"the regret was to move by {LOWEST:+.0%} to {HIGHEST:+.0%}, with about 98 % of picks not the argmin"
    if growing:
        name, e = max(growing.items(), key=lambda item: item[1].value)
        power = f"T^{e.value:.3f} {interval(e.low, e.high)}"
        evidence = f"cells / ln T grow like {power} on {name} ({_count(growing, fits)}); {heap}"
        return Finding(Verdict.REFUTED, evidence, foretold=foretold)
    if wrong > 0.5:
        return Finding(Verdict.REFUTED, f"no power of T was seen, but {heap}", foretold=foretold)
    highest = max(e.upper_limit(level) for e in fits.values())
    if highest > MARGIN or last["share"].max() > 0:
        return Finding(
            Verdict.INCONCLUSIVE, f"cells / ln T grow at most like T^{highest:.3f}; {heap}", foretold=foretold
        )
    return Finding(Verdict.CONSISTENT, heap, f"cells may grow like T^{highest:.3f} ln T")


def _count(growing, fits):
    return f"surely by more than T^{MARGIN:g} on {len(growing)} of {counted(len(fits), 'cost')}"


def number_of_cells(tables) -> Finding:
    """Claim 24c, two-sided: the limit of the predicted curve, and that runs go along with it."""
    curves = dict(list(tables["far"].groupby("cost", sort=False)))
    verdicts = {name: agreed(part) for name, part in curves.items()}
    names = list(curves)
    worst = max((abs(late_slope(part)), name) for name, part in curves.items())
    level = 1 - (1 - LEVEL) / len(names)
    beside_ = {name: beside(part) for name, part in tables["cells"].groupby("cost", sort=False)}
    apart = [n for n, e in beside_.items() if e.lower_limit(level) > MARGIN or e.upper_limit(level) < -MARGIN]
    near = [max(e.upper_limit(level), -e.lower_limit(level)) for e in beside_.values()]
    powers = [name for name in names if verdicts[name] is Verdict.CONSISTENT]
    refuted = [name for name in names if verdicts[name] is Verdict.REFUTED]
    ends = tables["far"].groupby("cost")["horizon"].max()
    evidence = (
        f"predicted to T = {ends.min():.0e} at least and {ends.max():.0e} at most, the cells grow as corrected within "
        f"T^±{worst[0]:.3f} ({worst[1]} the farthest of {counted(len(names), 'cost')}), and the log power agrees where "
        f"it stands alone ({len(powers)} of {len(names)} in all); the cells of runs keep to the prediction within "
        f"T^±{max(near):.3f}"
    )
    if refuted or apart:
        found = {"another growth on": refuted, "runs leave it on": apart}
        said = " and ".join(f"{what} {listing(which)}" for what, which in found.items() if which)
        return Finding(Verdict.REFUTED, f"{said}: {evidence}")
    if len(powers) < len(names) or max(near) > MARGIN:
        return Finding(Verdict.INCONCLUSIVE, evidence, caveat=_open(names, powers))
    spare = f"exponents off by {MARGIN - max(worst[0], max(near)):.3f} more, log powers off by {FAR_LOG_MARGIN:g}"
    return Finding(Verdict.CONSISTENT, evidence, spare, AFTERWARDS)


def _open(names, powers):
    rest = [name for name in names if name not in powers]
    return f"open on {listing(rest)}" if rest else "runs are too few"


def _growth_row(name, part):
    power, log_power = part["exponent"].iloc[0], part["log_power"].iloc[0]
    after, own = fitted(part, 1.0).whole, fitted(part, log_power)
    last = part[part["horizon"] == part["horizon"].max()]["cells"].mean()
    shown = estimate(own.slope, own.low, own.high)
    if power == 0:
        at = own.log_power_at(0.0)
        shown = f"{shown}; log power {estimate(at.value, at.low, at.high, 2)}"
    return [name, _grows(power, log_power), estimate(after.value, after.low, after.high), shown, general(last)]


def _grows(power, log_power):
    return (f"T^{power:.3f} " if power else "") + (f"(ln T)^{log_power:.2f}" if log_power else "")


def _far_row(name, part, cells):
    upper, _ = limits(part)
    e = beside(cells[cells["cost"] == name])
    ends = [name, f"{part['horizon'].max():.1e}", general(part["cells"].iloc[-1]), fixed(late_slope(part))]
    powers = [f"{fixed(p.value, 2)} {interval(p.low, p.high, 2)}" for p in (upper.power, upper.shifted) if p]
    limit = None if upper.exponent is None else estimate(upper.exponent.value, upper.exponent.low, upper.exponent.high)
    own = [
        fixed(part["exponent"].iloc[0]),
        limit,
        fixed(part["log_power"].iloc[0], 2),
        "; shifted ".join(powers) or None,
    ]
    return [*ends, *own, str(agreed(part)), f"T^{e.value:+.3f} {interval(e.low, e.high)}"]


# Heaps


def shares(heap) -> pd.DataFrame:
    """By cost and T: the share of picks that are not the argmin, and what that does to the regret, with intervals."""
    rows = []
    for (name, T), part in heap.groupby(["cost", "horizon"], sort=False):
        share = part["not_argmin"] / T
        e = rc.Estimate(share.mean(), share.sem(), len(part) - 1)
        ratio = ratio_of_means(part["stale_regret"].to_numpy(), part["regret"].to_numpy())
        row = {"cost": name, "horizon": T, "share": e.value, "low": e.low, "high": e.high}
        row |= {"ratio": ratio.value, "ratio_low": ratio.low, "ratio_high": ratio.high}
        rows.append(row | {"cells": part["cells"].mean(), "matches": part["matches"].mean() / T})
    return pd.DataFrame(rows)


def _heap_row(row):
    ratio = estimate(row.ratio, row.ratio_low, row.ratio_high, 2)
    return [row.cost, str(row.horizon), f"{row.share:.1%}", ratio, general(row.cells, 3), fixed(row.matches, 2)]


def _clocked(clock):
    ends = clock.groupby("cost", sort=False).agg(first=("nanoseconds", "first"), last=("nanoseconds", "last"))
    ratio = ends["last"] / ends["first"]
    T = clock["horizon"]
    return (
        f"In seconds of one core, a step of the engine near T = {T.max()} takes {ratio.min():.2f} to "
        f"{ratio.max():.2f} times as long as near T = {T.min()}: "
        f"{listing([f'{name} {value:.2f}' for name, value in ratio.items()])}."
    )
