"""Cells and heaps: the exact run is the engine's, the heap's is not, and rules that can come out otherwise."""

import numpy as np
import pandas as pd
import pytest

import function_zoo as zoo
import ratecheck as rc
from studies.claims.complexity import experiment as complexity
from studies.claims.complexity import heaps
from studies.claims.complexity.experiment import Complexity
from studies.claims.ledger import Effort, Verdict

HORIZONS = (2**8, 2**11)
SMALL = Complexity(
    "complexity",
    "Cells",
    "?",
    costs=(("cone", 1), ("valley", 2)),
    horizons={"quick": tuple(2**k for k in range(7, 15))},
    replicates={"quick": 6},
    most_cells={"quick": 2**10},
    alignments={"quick": 2},
    heaped=(("cone", 1),),
    heap_horizons=HORIZONS,
    heap_replicates={"quick": 4},
    timed={"quick": 2**14},
)


@pytest.fixture(scope="module")
def tables():
    return {name: part() for name, part in SMALL.parts(Effort("quick", 0, 1)).items()}


@pytest.mark.parametrize(("family", "dim"), [("cone", 1), ("valley", 2)])
def test_with_the_argmin_it_is_the_engine_to_the_last_bit(family, dim, any_seed):
    cost = zoo.get(family, dim)
    runs = rc.simulate(rc.AdaptiveBins(), cost, HORIZONS, 2, any_seed, workers=1).frame
    for replicate, part in runs.groupby("replicate"):
        tally = heaps.run(rc.AdaptiveBins().settle(cost), cost, HORIZONS, replicate, any_seed, stale=False)
        assert tally.regret.tolist() == part["regret"].tolist()
        assert tally.cells.tolist() == part["cells"].tolist()
        assert tally.wrong.tolist() == [0.0, 0.0]


def test_old_keys_are_those_of_the_last_query():
    """Against the mutant of that name, which is written otherwise."""
    from studies.benchmarks import mutated

    cost, algorithm = zoo.get("cone", 1), rc.AdaptiveBins().settle(zoo.get("cone", 1))
    rows = mutated.run(algorithm, cost, list(HORIZONS), 0, 0, mutated.MUTANTS["adaptive"]["stale ln t"])
    tally = heaps.run(algorithm, cost, HORIZONS, 0, 0, stale=True)
    assert tally.regret.tolist() == [row["regret"] for row in rows]
    assert tally.wrong[-1] > 0.5 * HORIZONS[-1]


def test_corrected_growth():
    rate = complexity.corrected(2.0, 0.25, 1)
    assert rate.slope == pytest.approx(0.5 / 4.5)
    assert rate.log_power == pytest.approx(1 / 4.5)
    assert complexity.corrected(1.0, 2.0, 2) == rc.Rate.of_regret(0.0, 3.0)


def cells_like(grow, spread=0.02, cost="made up"):
    rng = np.random.default_rng(0)
    T = 2.0 ** np.arange(8, 21)
    rows = [
        {"replicate": r, "horizon": t, "cells": grow(t) * (1 + spread * z), "predicted": grow(t)}
        for r in range(12)
        for t, z in zip(T, rng.standard_normal(len(T)), strict=True)
    ]
    return pd.DataFrame(rows).assign(cost=cost, exponent=0.0, log_power=2.0, period=4.0)


def test_a_power_of_t_refutes_the_printed_growth(tables):
    found = complexity.few_cells(tables | {"cells": cells_like(lambda t: t**0.3)})
    assert found.verdict is Verdict.REFUTED
    assert "T^0.19" in found.evidence
    exact = tables["heap"].assign(not_argmin=0, stale_regret=tables["heap"]["regret"])
    printed = {"cells": cells_like(np.log), "heap": exact}
    assert complexity.few_cells(printed).verdict is Verdict.CONSISTENT
    assert complexity.few_cells(printed | {"heap": tables["heap"]}).verdict is Verdict.REFUTED


def far_like(grow):
    T = 4.0 ** np.arange(5, 90, 0.5)
    return pd.DataFrame({"horizon": T, "cells": grow(T)}).assign(
        cost="made up", shift=3.0, exponent=0.0, log_power=2.0, period=4.0
    )


@pytest.mark.parametrize(
    ("grow", "verdict"),
    [
        (lambda t: np.log(t) ** 2, "CONSISTENT"),
        (lambda t: t**0.2, "REFUTED"),
        (lambda t: np.log(t) ** 3, "REFUTED"),
        (np.log, "REFUTED"),
    ],
)
def test_the_corrected_growth_is_judged_from_both_sides(grow, verdict):
    tables = {"far": far_like(grow), "cells": cells_like(lambda t: np.log(t) ** 2)}
    assert complexity.number_of_cells(tables).verdict == verdict


def test_runs_that_leave_the_prediction_refute():
    cells = cells_like(lambda t: np.log(t) ** 2)
    cells["cells"] *= cells["horizon"] ** 0.2
    assert complexity.number_of_cells({"far": far_like(lambda t: np.log(t) ** 2), "cells": cells}).verdict == "REFUTED"


def test_words_and_pictures(tables):
    assert "valley d = 2" in "\n".join(SMALL.words(tables))
    for picture in SMALL.pictures(tables):
        assert picture.draw().axes
