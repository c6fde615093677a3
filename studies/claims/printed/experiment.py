"""Uniform bins at the width that Theorem 1 prints, at the corrected one and at the best one, against adaptive bins."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from dataclasses import dataclass
from functools import cache, partial

import function_zoo as zoo
import ratecheck as rc
from ratecheck.display import fixed, general, horizon_text, interval, table
from studies.claims.ledger.experiment import Effort, Experiment, Judgement, Picture, Tables
from studies.claims.printed import rules
from studies.claims.printed.rules import RULE
from studies.claims.printed.tables import CORRECTED, curve_table, fresh_table, pilot_table, run_table, tuned_table


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
        pilots = cache(partial(pilot_table, costs, judged, effort.of(self.pilots), self.most, effort))
        return {
            "runs": partial(run_table, every, octaves, halves, replicates, self.most, effort),
            "fresh": partial(fresh_table, self.fresh, self.fresh_horizons, effort.seed),
            "pilots": pilots,
            "tuned": partial(tuned_table, pilots, replicates, effort),
            "curves": partial(
                curve_table, every, far, effort.of(self.alignments), effort.of(self.far_bins), effort.seed
            ),
        }

    def judgements(self) -> dict[str, Judgement]:
        first = 2**self.window
        return {
            "10p": Judgement(("runs", "fresh"), lambda tables: rules.printed_rule(tables, first)),
            "12": Judgement(("runs", "tuned", "curves"), lambda tables: rules.gap_rule(tables, first)),
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
            partial(draw.gaps, rules.gaps(tables, 2**self.window)),
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
                horizon_text(r.horizon),
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
        found = rules.gaps(tables, first)
        yield _gaps_table(found)
        yield _growth_table(rules.growths(found))


def _slopes_table(runs, first) -> str:
    rows = []
    for (family, dim), fit in rules.printed_fits(runs, first).items():
        cost = zoo.get(family, dim)
        rate = rc.theorem1.rate(cost.constants, dim)
        own = rules.rows_of(runs, family, dim)
        last = fit.data.horizons[-1]
        corrected = rc.fit_rate(own[own["kind"] == CORRECTED], rate.log_power, window=(first, last))
        rows.append(
            [
                f"{family} d = {dim}",
                general(cost.constants.beta, 3),
                f"{horizon_text(first)} to {horizon_text(last)}",
                fixed(rate.slope),
                fixed(rules.once(family, dim)),
                f"{fixed(fit.slope)} {interval(fit.low, fit.high)}",
                f"{fixed(corrected.slope)} {interval(corrected.low, corrected.high)}",
            ]
        )
    header = ["cost", "β", "T", "Theorem 1", "one query per bin", "printed width", "corrected width"]
    return table(header, rows)


def _gaps_table(found: list[rules.Gap]) -> str:
    level = 1 - (1 - rules.LEVEL) / (len(found) + len(rules.growths(found)))
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


def _growth_table(found: list[rules.Growth]) -> str:
    rows = [
        [str(g), fixed(g.promised), f"{fixed(g.raw.value)} {interval(g.raw.low, g.raw.high)}", fixed(g.curve)]
        for g in found
    ]
    return table(["from one dimension to the next", "promised", "raw, runs", "raw, curves"], rows)


def _answer(statement, level) -> str:
    if statement.contradicted(level):
        return "contradicted"
    return "shown" if statement.shown(level) else "not shown"
