"""Assumption 1 and what the paper says about it: exponents of whole families of costs, and counter-examples."""

from __future__ import annotations

import math
from dataclasses import dataclass

import ratecheck as rc
from ratecheck.display import estimate, fixed, general, listing, table
from studies.claims.assumptions import boxes, textual
from studies.claims.assumptions import rules as rules
from studies.claims.assumptions import tables as measure
from studies.claims.ledger.experiment import Experiment, Judgement, Picture


@dataclass(frozen=True)
class Assumptions(Experiment):
    """The zoo's families in these dimensions, polynomials with whole coefficients, bowls with rough walls."""

    dims: dict[str, tuple[int, ...]]
    budget: dict[str, int]  # boxes of one generation
    polynomials: dict[str, int]  # random ones per dimension
    horizons: dict[str, tuple[int, ...]]  # for adaptive bins
    uniform_horizons: dict[str, tuple[int, ...]]  # 2^(4 j): Theorem 1's width then makes 2^j bins
    replicates: dict[str, int]

    def parts(self, effort):
        dims, budget = effort.of(self.dims), effort.of(self.budget)
        return {
            "boxes": lambda: measure.box_table(dims, budget, effort.seed),
            "smoothness": lambda: measure.smoothness_table(dims, effort.seed),
            "bounds": lambda: measure.bound_table(dims),
            "harmonic": measure.harmonic_table,
            "polynomials": lambda: measure.polynomial_table(effort.of(self.polynomials), effort.seed),
            "envelope": measure.envelope_table,
            "rough": lambda: self._rough_table(effort),
        }

    def _rough_table(self, effort):
        import pandas as pd

        found = []
        bowls = textual.rough_bowls()
        mu = bowls["rippled"].constants.mu_min  # valid for all three, so that only f differs
        ways = {
            "adaptive": (rc.AdaptiveBins(mu=mu), effort.of(self.horizons), "random"),
            "uniform": (rc.UniformBins(), effort.of(self.uniform_horizons), "fixed"),
        }
        for way, (algorithm, horizons, alignment) in ways.items():
            for label, cost in bowls.items():
                runs = rc.simulate(
                    algorithm, cost, horizons, effort.of(self.replicates), effort.seed,
                    alignment=alignment, workers=effort.workers,
                )  # fmt: skip
                kept = runs.frame[["replicate", "horizon", "regret", "anytime", "stream", "period"]]
                found.append(kept.assign(bins=way, bowl=label))
        return pd.concat(found, ignore_index=True)

    def judgements(self):
        return {
            "1": Judgement(("boxes",), rules.proposition),
            "3": Judgement(("bounds", "smoothness"), rules.smoothness_gives_alpha),
            "4": Judgement(("harmonic",), rules.only_linear),
            "4c": Judgement(("harmonic", "polynomials"), rules.only_harmonic),
            "5": Judgement(("boxes", "smoothness"), rules.example_rule("5")),
            "6": Judgement(("boxes", "smoothness", "bounds"), rules.closed_rule("6")),
            "7": Judgement(("boxes", "smoothness"), rules.example_rule("7")),
            "8": Judgement(("boxes", "smoothness", "bounds"), rules.closed_rule("8")),
            "9": Judgement(("envelope",), rules.envelope_is_enough),
            "29": Judgement(("rough",), rules.roughness_is_harmless),
            "29c": Judgement(("rough",), rules.roughness_is_harmless_to_means),
        }

    def pictures(self, tables):
        from studies.claims.assumptions import draw as figures

        yield Picture(
            "box-counts",
            "How far β stays below d/α",
            "d/α - β from box counts of the sublevel sets, with 95 % intervals of the fit, against the annotated value "
            "(open diamonds). Proposition 1 says that nothing lies left of 0.",
            lambda: figures.deficits(rules.deficits(tables["boxes"])),
        )
        yield Picture(
            "envelope",
            "Between x² and 2x², and not smooth",
            "Left: x² (1.5 + 0.5 sgn sin(1/x)) with its envelope. Right: the certified |mean - f| over a², a quarter "
            "of a length beside the jumps 1/(nπ); (b) with α = 2 would keep it bounded.",
            lambda: figures.envelope(tables["envelope"]),
        )
        yield Picture(
            "rough",
            "Roughness far from the minimum's value",
            "Mean regret with 95 % intervals. Adaptive bins see means over cells: jumps and single points where f is "
            "large leave the rate as it is. Uniform bins see f at centres, and spikes there make their regret linear.",
            lambda: figures.rough(tables["rough"]),
        )

    def words(self, tables):
        for said in (_proposition_words, _smoothness_words, _harmonic_words, _example_words, _rough_words):
            yield from said(tables)


def _proposition_words(tables):
    yield "## Proposition 1 over the zoo"
    yield (
        "N boxes of side h meet the sublevel set {f - f* < ε}; N h^d grows like ε^β, and β is fitted to the lowest "
        f"{boxes.SPAN:.0%} of the range of ln ε. Intervals are those of least squares over generations of boxes; "
        "where there are few, as on plateaus and rings, the slope still bends and they say too little."
    )
    rows = [
        [row.cost, row.dim, general(row.alpha), general(row.beta), fixed(row.annotated),
         estimate(row.deficit, row.low, row.high), row.points]
        for row in rules.deficits(tables["boxes"]).itertuples()
    ]  # fmt: skip
    yield table(["cost", "d", "α", "β annotated", "d/α - β annotated", "measured", "generations"], rows)


def _smoothness_words(tables):
    yield "## Smoothness from derivatives"
    yield (
        "A Lipschitz constant L gives |mean - f(x)| ≤ L a E|U|, U uniform on the centred unit cube. Second "
        "derivatives give a² Σ sup |∂ii f| / 24: go from x to x + aU one coordinate at a time; odd terms cancel, "
        "and E(aU)²/2 = a²/24. The Laplacian alone gives a lower bound: M_b ≥ sup |Δf| / 24, from a → 0."
    )
    rows = [
        [row.cost, row.dim, row.kind, general(row.low), general(row.M_b), general(row.bound), row.basis]
        for row in tables["bounds"].itertuples()
    ]
    yield table(["cost", "d", "bounded", "sup of the Laplacian / 24", "M_b", "bound on M_b", "M_b is"], rows)
    yield from _ackley_words(tables["smoothness"])


def _harmonic_words(tables):
    yield "## α above 2"
    rows = [
        [row.polynomial, row.dim, row.degree, "none" if math.isinf(row.exponent) else general(row.exponent),
         row.leading if isinstance(row.leading, str) else None, "yes" if row.lowest_inside else "no"]
        for row in tables["harmonic"].itertuples()
    ]  # fmt: skip
    yield (
        "Harmonic polynomials, in exact arithmetic: the first power of a in (mean over the cube - value at its "
        "centre), its coefficient at x, and whether a point inside [-1, 1]^d is as low as the boundary."
    )
    yield table(["polynomial", "d", "degree", "error is a^", "coefficient", "lowest inside"], rows)
    yield (
        "Why only these: the error is a² Δf/24 + O(a⁴), as a distribution if f is rough. If it is O(a^α) with "
        "α > 2, Δf = 0 as a distribution, f is a uniform limit of continuous means, and by Weyl's lemma it is "
        "harmonic. A harmonic function that is not constant has no minimiser inside its region, which Assumption "
        "1 wants: the case α > 2 is empty, and to leave it out costs nothing."
    )


def _example_words(tables):
    yield "## Examples in the text"
    rows = [
        [e.claim, e.cost, e.dim, estimate(*e.alpha[:3]), fixed(e.claimed_alpha, 2),
         estimate(*e.beta[:3]), fixed(e.claimed_beta, 2)]
        for id in ("5", "6", "7", "8")
        for e in rules.measured_examples(id, tables)
    ]  # fmt: skip
    yield table(["claim", "cost", "d", "α measured", "claimed", "β measured", "claimed"], rows)
    wavering = boxes.beta(tables["boxes"].query("cost == 'wavering_bowl'"))
    yield (
        "The envelope's counter-example keeps (c): its sublevel sets lie between those of x² and 2x², and box "
        f"counts give β = {estimate(*wavering[:3])}, 1/2 as claimed. What fails is (b), for every α > 0: at a jump "
        "the error does not go to 0 with a."
    )


def _rough_words(tables):
    yield "## Rough far from the minimum's value"
    yield (
        f"A bowl {textual.SCALE:g} (x - x*)²; the same, doubled on stripes where it exceeds "
        f"{textual.RIPPLED_FROM:g}; the same with spikes of height {textual.SPIKE:g} at the multiples of "
        f"2^{int(math.log2(textual.SPIKES_APART))}. "
        "All are run with the same mu. On the spiked bowl (b) fails at the spikes alone, which have no volume."
    )
    rows = [
        [way, bowl, estimate(fit.slope, fit.low, fit.high),
         None if gap is None else estimate(gap.value, gap.low, gap.high)]
        for (way, bowl), (fit, gap) in rules.rough_slopes(tables["rough"]).items()
    ]  # fmt: skip
    yield table(["bins", "bowl", "slope of R", "minus that of the plain bowl"], rows)


def _ackley_words(smoothness):
    mine = smoothness[smoothness["cost"] == "ackley"]
    said = [f"{estimate(*boxes.alpha(part)[:3])} for d = {dim}" for dim, part in mine.groupby("dim")]
    if said:
        yield (
            f"Ackley's function looks smooth and has a kink at x*: the measured α is {listing(said)}, not 2. (Its "
            "waves are smooth and larger at moderate a, so the exponent is approached from above.)"
        )
