"""Theorems 1 to 3: rates by runs and predicted curves, log powers, certified lower bounds, and what must be known."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from dataclasses import dataclass
from functools import partial
from typing import ClassVar

import function_zoo as zoo
import ratecheck as rc
from ratecheck.display import fixed, general, horizon_text, interval, listing, table
from studies.claims.ledger.experiment import Effort, Experiment, Judgement, Picture, Tables
from studies.claims.theorems import rules
from studies.claims.theorems import tables as measure
from studies.claims.theorems.rules import CORRECTED, PRINTED, RULE
from studies.claims.theorems.tables import FORGED, MUS, NO_MU


@dataclass(frozen=True)
class Theorems(Experiment):
    """Costs as pairs (family, dim); horizons as powers of two; `..._cells` are those of the kept tables' curves."""

    edition: ClassVar[int] = 2
    uniform: tuple[tuple[str, int], ...] = ()
    adaptive: dict | None = None
    first: int = 8
    window: dict | None = None
    last: dict | None = None
    replicates: dict | None = None
    uniform_cells: dict | None = None
    adaptive_cells: dict | None = None
    farthest: float = 1e299
    bounded: dict | None = None
    bound_horizons: dict | None = None
    families: dict | None = None
    family_horizons: dict | None = None
    members: dict | None = None
    unknown: tuple[tuple[str, int], ...] = ()
    unknown_horizon: int = 2**12

    def parts(self, effort: Effort) -> dict[str, Callable]:
        last, replicates, seed = effort.of(self.last), effort.of(self.replicates), effort.seed
        octaves = [2**k for k in range(self.first, last + 1)]
        halves = [round(2 ** (k / 2)) for k in range(2 * self.first, 2 * last + 1)]
        one = [(*cost, NO_MU) for cost in self.uniform]
        two = [(*cost, mu) for cost in effort.of(self.adaptive) for mu in MUS]
        start = float(2**self.first)
        return {
            "uniform_runs": partial(measure.run_table, one, octaves, replicates, effort),
            "uniform_curves": partial(measure.curve_table, one, start, 1e60, seed),
            "adaptive_runs": partial(measure.run_table, two, halves, replicates, effort),
            "adaptive_curves": partial(measure.curve_table, two, start, self.farthest, seed),
            "bounds": partial(measure.bound_table, effort.of(self.bounded), effort.of(self.bound_horizons)),
            "sandwich": partial(
                measure.sandwich_table,
                effort.of(self.families),
                effort.of(self.family_horizons),
                effort.of(self.members),
                effort,
            ),
            "unknowns": partial(measure.unknown_table, self.unknown, self.unknown_horizon, seed),
        }

    def _uniform(self, tables) -> list[rules.Case]:
        return rules.cases(tables["uniform_runs"], tables["uniform_curves"], self._window(tables["uniform_runs"]))

    def _adaptive(self, tables) -> list[rules.Case]:
        return rules.cases(tables["adaptive_runs"], tables["adaptive_curves"], self._window(tables["adaptive_runs"]))

    def _window(self, runs) -> float:
        """The first horizon that is judged: the one declared for the preset that has these runs."""
        for preset, last in self.last.items():
            if runs["horizon"].max() == 2**last:
                return 2.0 ** self.window[preset]
        return float(runs["horizon"].min())

    def judgements(self) -> dict[str, Judgement]:
        one, two = ("uniform_runs", "uniform_curves"), ("adaptive_runs", "adaptive_curves")
        return {
            "10": Judgement(one, lambda tables: rules.rate_rule(self._uniform(tables), PRINTED)),
            "10c": Judgement(one, lambda tables: rules.rate_rule(self._uniform(tables), CORRECTED)),
            "11": Judgement(("sandwich",), rules.lipschitz_rule),
            "13": Judgement(two, lambda tables: rules.rate_rule(self._adaptive(tables), PRINTED)),
            "13c": Judgement(two, lambda tables: rules.sharper_rule(self._adaptive(tables))),
            "25": Judgement(("bounds", "sandwich"), rules.lower_rule),
            "27": Judgement(("unknowns",), rules.known_rule),
        }

    def pictures(self, tables: Tables) -> Iterable[Picture]:
        from studies.claims.theorems import draw as draw

        both = [
            ("uniform", "Theorem 1", self._uniform(tables), tables["uniform_curves"]),
            ("adaptive", "Theorem 2", self._adaptive(tables), tables["adaptive_curves"]),
        ]
        for stem, name, found, curves in both:
            yield Picture(
                f"{stem}-compensated",
                f"{name}: regret over the promised rate",
                "Means of runs with 95 % intervals and the predicted curve, divided by the rate with the printed "
                "(crosses, dashed) and with the corrected or sharper log power (points, solid), scaled to 1 at the "
                "start of the window. What rises to the end is too fast for the bound; what falls leaves room.",
                partial(draw.compensated, found, curves),
            )
        yield Picture(
            "log-power",
            "The power of ln T far out",
            "The slope of ln(R / T^s) against ln ln T of predicted curves, s promised, over the stretch from T^(2/3) "
            "to T, and what is printed (dashed) and corrected or sharper (solid line). Waves of the partition remain. "
            "The dotted curve of adaptive bins takes ln T + μ a0^α for ln T.",
            partial(draw.powers, [*both[0][2], *(c for c in both[1][2] if c.mu == "min")], both[0][3], both[1][3]),
        )
        yield Picture(
            "sandwich",
            "Certified lower bounds and algorithms",
            "Mean regret over members of the hard family of each T with standard errors, what theory predicts for some "
            "of the members, and the certified bound that no strategy stays below. An oracle that knows the member "
            "has regret 0, below every bound.",
            partial(draw.sandwich, tables["bounds"], rules.measured(tables["sandwich"]).factors),
        )

    def words(self, tables: Tables) -> Iterable[str]:
        yield "## How it was judged"
        yield RULE
        for title, found, better in (
            ("## Theorem 1: uniform bins at the corrected width", self._uniform(tables), "corrected"),
            ("## Theorem 2: adaptive bins", self._adaptive(tables), "sharper"),
        ):
            yield title
            yield _rates_table(found, better)
            yield _agreement_words(found)
        yield "## Lipschitz costs with no more structure"
        yield (
            "A cost that is flat around its minimum has α = 1 and β = 0, but is easy: a bin on the flat part has no "
            "regret. So uniform bins ran on members of the hard family around it, a new family for each T, drawn as "
            "the certified bound draws them."
        )
        yield _members_table(rules.measured(tables["sandwich"]).factors)
        yield "## Theorem 3: certified lower bounds"
        yield (
            f"Each certificate was written, read back and checked by the two verifiers. Both refuse the same "
            f"certificate with a regret raised by {100 * (FORGED - 1):.0f} %, so that their consent means something."
        )
        yield _bounds_table(tables["bounds"])
        yield "## What must be known"
        checks = tables["unknowns"]
        example = checks[(checks["family"] == checks["family"].iloc[0]) & (checks["dim"] == checks["dim"].iloc[0])]
        rows = [[r.algorithm, r.check, "yes" if r.holds else "NO", r.detail] for r in example.itertuples()]
        costs = checks[["family", "dim"]].drop_duplicates()
        names = listing([f"{r.family} d = {r.dim}" for r in costs.itertuples()])
        yield f"To the last bit, on {names}; here the first of them."
        yield table(["algorithm", "what", "holds", "numbers"], rows)


def _rates_table(found: list[rules.Case], better) -> str:
    header = [
        "cost",
        "β",
        "slope of R, promised",
        "slope by runs",
        "its limit on the curve",
        "curve to T",
        "printed power",
    ]
    header += [f"{better} power", "power by runs", "power by curve", "printed rate", f"{better} rate"]
    printed, corrected = (map(rules.overall, rules.said(found, which)) for which in (PRINTED, CORRECTED))
    rows = []
    for case, one, two in zip(found, printed, corrected, strict=True):
        power, limit, curve = case.power(), case.far.exponent, case.far.power
        rows.append(
            [
                str(case),
                general(case.beta, 3),
                fixed(case.claim.rate.slope),
                f"{fixed(case.fit.slope)} {interval(case.fit.low, case.fit.high)}",
                f"{fixed(limit.value)} {interval(limit.low, limit.high)}" if limit else fixed(None),
                f"{case.far.last:.0e}",
                general(case.claim.printed.log_power, 3),
                general(case.claim.rate.log_power, 3),
                f"{fixed(power.value, 2)} {interval(power.low, power.high, 2)}",
                f"{fixed(curve.value, 2)} {interval(curve.low, curve.high, 2)}" if curve else fixed(None),
                str(one),
                str(two),
            ]
        )
    return table(header, rows)


def _agreement_words(found: list[rules.Case]) -> str:
    ratios = [case.agreement.ratio[0] for case in found]
    names = [case.agreement.name for case in found]
    locked = sum(len(case.agreement.locked) for case in found)
    runs = sum(case.agreement.replicates for case in found)
    text = (
        f"Slopes are those of R after division by the {'stronger' if found[0].mu == NO_MU else 'sharper'} logarithm, "
        f"from T = {horizon_text(found[0].fit.data.horizons[0])} on. Measured over predicted regret, each run at its "
        f"own partition, is {fixed(min(ratios))} to {fixed(max(ratios))}: "
        f"CONSISTENT {names.count(rc.Outcome.CONSISTENT)} times, "
        f"INCONCLUSIVE {names.count(rc.Outcome.INCONCLUSIVE)}, REFUTED {names.count(rc.Outcome.REFUTED)}."
    )
    return text + (f" {locked} of {runs} runs locked in." if locked else "")


def _members_table(factors) -> str:
    flat = factors[(factors["algorithm"] == "uniform bins")]
    flat = flat[[zoo.get(f, d).constants.beta == 0 for f, d in zip(flat["family"], flat["dim"], strict=True)]]
    rows = [
        [
            f"{r.family} d = {r.dim}",
            *(horizon_text(r.horizon), general(r.bound), general(r.mean), general(r.error, 2)),
            *(general(r.predicted), general(r.factor, 3)),
        ]
        for r in flat.itertuples()
    ]
    return table(["cost", "T", "certified bound", "mean R", "its error", "predicted", "mean / bound"], rows)


def _bounds_table(bounds) -> str:
    rows = []
    for row in rules.certified_slopes(bounds).itertuples():
        part = bounds[(bounds["family"] == row.family) & (bounds["dim"] == row.dim)]
        ends = [f"{part['bound'].iloc[i]:.4g} at T = {part['horizon'].iloc[i]:.0e}" for i in (0, -1)]
        count = f"{int((part['first'] & part['second']).sum())} of {len(part)}"
        rows.append(
            [f"{row.family} d = {row.dim}", *ends, fixed(row.promised), fixed(row.slope), fixed(row.late), count]
        )
    header = ["cost", "first bound", "last bound", "slope of R, promised", "slope", "last half", "accepted by both"]
    return table(header, rows)
