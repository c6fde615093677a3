"""The lemmas behind Theorem 2: their constants, and how often what they call unlikely happens."""

from __future__ import annotations

from dataclasses import dataclass

from ratecheck.display import fixed, general, table
from studies.claims.ledger.experiment import Experiment, Judgement, Picture
from studies.claims.lemmas import rules as rules
from studies.claims.lemmas import tables as measure


@dataclass(frozen=True)
class Lemmas(Experiment):
    """Lemma 1 on powers and on the zoo, Lemmas 2 to 4 on runs, Lemma 5 on all cells of some levels."""

    powers: tuple[float, ...]
    dims: dict[str, tuple[int, ...]]
    points: dict[str, int]  # that a supremum is looked for in
    validity: tuple[tuple, ...]  # (family, dim, scale, mu, standard deviation of the noise)
    times: dict[str, tuple[int, ...]]
    validity_runs: dict[str, int]
    bad_cells: tuple[tuple, ...]  # (family, dim, scale, mu, cells along a side)
    horizons: dict[str, tuple[int, ...]]
    bad_runs: dict[str, int]
    means: tuple[tuple, ...]  # (family, dim, parameters)
    shares: tuple[float, ...]  # a0, in sides of the box
    offsets: tuple[float, ...]  # of the grid, in cells of level 0
    far_horizons: tuple[float, ...]
    deepest: dict[str, tuple[int, ...]]  # level, in dimension 1, 2, 3

    def parts(self, effort):
        dims, points = effort.of(self.dims), effort.of(self.points)
        return {
            "powers": lambda: measure.power_table(self.powers),
            "growth": lambda: measure.growth_table(dims, points, effort.seed),
            "validity": lambda: measure.validity_table(
                self.validity, effort.of(self.times), effort.of(self.validity_runs), effort.seed
            ),
            "cells": lambda: measure.bad_cell_table(
                self.bad_cells, effort.of(self.horizons), effort.of(self.bad_runs), effort.seed
            ),
            "means": lambda: measure.mean_table(
                self.means, self.shares, self.offsets, self.far_horizons, effort.of(self.deepest)
            ),
        }

    def judgements(self):
        return {
            "2": Judgement(("powers",), rules.printed_constant),
            "2c": Judgement(("powers", "growth"), rules.corrected_constant),
            "16": Judgement(("validity",), rules.lower_bound_holds),
            "17": Judgement(("cells",), rules.bad_cells_die_out),
            "18": Judgement(("means",), rules.good_cells_are_cheap),
        }

    def pictures(self, tables):
        from studies.claims.lemmas import draw as figures

        yield Picture(
            "constants",
            "Lemma 1's constant",
            "sup of (f - f*) / ‖x - x*‖^α in units of the printed and of the corrected constant, on powers |x|^p "
            "(left) and on the zoo (right). Above 1 a constant is false.",
            lambda: figures.constants(tables["powers"], tables["growth"]),
        )
        yield Picture(
            "validity",
            "How often the lower confidence bound of x* is not one",
            "Frequency of g(x*) > f* with 95 % intervals (Clopper and Pearson; downward triangles: none seen, upper "
            "limits) against the bound of Lemma 2's proof, which is 1 at all these times for the large M.",
            lambda: figures.validity(tables["validity"]),
        )
        yield Picture(
            "decay",
            "Queries in cells with a large gap",
            "Mean queries per run in cells of level k whose gap is so many times 2^(-α(k-1)) max{ln T, mu a0^α}, at "
            "the last horizon, with Theorem 2's mu. Lemmas 3 and 4 speak of 3 times; open marks at the bottom: none.",
            lambda: figures.decay(tables["cells"]),
        )
        yield Picture(
            "means",
            "Lemma 5, cell by cell",
            "Largest mean of f - f* over the cells of B_k, divided by Lemma 5's bound (left), and by the step of its "
            "proof with a0 in place of a0^α (right); Theorem 2's mu.",
            lambda: figures.means(tables["means"]),
        )

    def words(self, tables):
        yield "## Lemma 1"
        yield (
            "f = |x|^p on a short interval [-h, h], so that the paper's M = max{M_a, M_b} is M_b for the larger p. For "
            "p = 2 all numbers are fractions. The printed constant takes cubes of half-length r and 2r for cubes of "
            "length r and 2r."
        )
        rows = [
            [
                general(r.power),
                general(r.M_a),
                general(r.M_b),
                general(r.ratio),
                general(r.printed),
                general(r.corrected),
            ]
            for r in tables["powers"].itertuples()
        ]
        yield table(["p", "M_a", "M_b", "sup of f / |x|^p", "C1 printed", "C1 corrected"], rows)
        growth = tables["growth"].assign(share=lambda t: t["ratio"] / t["corrected"]).nlargest(8, "share")
        rows = [
            [r.cost, r.dim, general(r.ratio), fixed(r.ratio / r.printed), fixed(r.share)] for r in growth.itertuples()
        ]
        yield "The costs of the zoo that come closest:"
        yield table(["cost", "d", "sup", "of the printed C1", "of the corrected C1"], rows)
        yield "## Lemma 2"
        yield (
            "How often, among runs, g_(t+1)(x*) > f*. The bound is that of the proof: (levels) · t · "
            "exp(-ln² t / (M² + 2)). It is below 1 only from ln t ≈ M² + 2 on, so that only costs with a small M test "
            "it. With mu_min a cell that holds x* and got one unlucky query is left until ln t has grown."
        )
        rows = [
            [f"{r.cost}, scale {r.scale:g}", general(r.M, 3), r.which, general(r.sigma), r.t,
             f"{r.invalid} of {r.runs}", general(r.bound, 2)]
            for r in _told(tables["validity"]).itertuples()
        ]  # fmt: skip
        yield table(["cost", "M", "mu", "σ", "t", "invalid", "bound"], rows)
        yield "## Lemmas 3 and 4"
        rows = [
            [r.cost, r.dim, r.cells, which, r.k, r.t_k, f"{r.hit} of {r.runs}", general(r.high, 2)]
            for which in ("theorem", "minimum")
            for r in rules.bad_cells(tables["cells"], which).itertuples()
        ]
        yield (
            "Levels that have cells with the gap of Lemma 4, at the horizon with most hits: runs with a query there, "
            "and the upper limit that holds for all rows together."
        )
        yield table(["cost", "d", "cells along a side", "mu", "k", "t_k", "runs with a query", "at most"], rows)
        yield "## Lemma 5"
        found = tables["means"].dropna(subset="ratio").query("which == 'theorem'")
        grouped = found.groupby(["cost", "dim", "a0"]).agg(
            ratio=("ratio", "max"), printed=("printed_step", "max"), step=("step", "max"), deepest=("k", "max")
        )
        rows = [
            [*row.Index[:2], general(row.Index[2]), row.deepest, fixed(row.ratio), fixed(row.printed), fixed(row.step)]
            for row in grouped.itertuples()
        ]
        header = ["cost", "d", "a0", "levels to", "largest share of the bound", "of the step with a0", "with a0^α"]
        yield table(header, rows)


def _told(validity):
    """First, middle and last time of every setting."""
    times = sorted(validity["t"].unique())
    return validity[validity["t"].isin({times[0], times[len(times) // 2], times[-1]})]
