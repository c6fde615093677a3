"""The experiment on the printed width and on the gap: its rules on altered tables, and its exact counts."""

import math

import numpy as np
import pandas as pd
import pytest

import function_zoo as zoo
from studies.claims.ledger import Effort, Verdict
from studies.claims.printed.experiment import Printed
from studies.claims.printed.rules import gap_rule, printed_rule, promised_gap
from studies.claims.printed.tables import ADAPTIVE, CORRECTED, PRINTED, TUNED, best_widths

T = 2 ** np.arange(8, 21)
FIRST = 2**10
COSTS = (("quadratic", 1), ("cone", 1), ("cone", 2), ("cone", 3))


def runs(family, dim, kind, slope, power=0.0):
    """Twelve runs with R = T^slope (ln T)^power, off by some per mille to both sides."""
    table = pd.DataFrame([(i, t) for i in range(12) for t in T], columns=["replicate", "horizon"])
    t = table["horizon"].to_numpy(float)
    table["regret"] = t**slope * np.log(t) ** power * (1 + 0.002 * np.linspace(-1, 1, 12)[table["replicate"]])
    return table.assign(family=family, dim=dim, kind=kind, anytime=False, period=math.nan)


def fresh(missing):
    """What was counted: all T queries in new bins, but for so many."""
    return pd.DataFrame(
        [("cone", 2, t, 2 * t, t - missing, 9.0 * t) for t in (256, 1024)],
        columns=["family", "dim", "horizon", "bins", "queried", "regret"],
    )


@pytest.mark.parametrize(
    ("slope", "power", "missing", "verdict"),
    [
        (0.72, 1.0, 1, Verdict.REFUTED),  # by its slope alone
        (4 / 7, 1.0, 1, Verdict.CONSISTENT),
        (4 / 7, 1.0, 0, Verdict.REFUTED),  # by the count alone
    ],
)
def test_the_printed_width(slope, power, missing, verdict):
    tables = {"runs": runs("power", 2, PRINTED, slope, power), "fresh": fresh(missing)}
    assert printed_rule(tables, FIRST).verdict is verdict


def gap_tables(difference):
    """Adaptive bins with T^0.5, tuned uniform bins with `difference(promised gap)` more."""
    adaptive, tuned, curves = [], [], []
    far = 2.0 ** np.arange(8, 35)
    for family, dim in COSTS:
        cost = zoo.get(family, dim)
        more = difference(promised_gap(cost.constants, dim))
        adaptive.append(runs(family, dim, ADAPTIVE, 0.5, 1.0))
        tuned.append(runs(family, dim, TUNED, 0.5 + more, 0.5))
        for kind, slope, power in ((ADAPTIVE, 0.5, 1.0), (TUNED, 0.5 + more, 0.5)):
            curve = pd.DataFrame({"horizon": far, "regret": far**slope * np.log(far) ** power})
            curves.append(curve.assign(family=family, dim=dim, kind=kind, width=math.nan))
    return {"runs": pd.concat(adaptive), "tuned": pd.concat(tuned), "curves": pd.concat(curves)}


@pytest.mark.parametrize(
    ("difference", "verdict"),
    [
        (lambda gap: gap, Verdict.CONSISTENT),
        (lambda gap: 0.0, Verdict.INCONCLUSIVE),  # none anywhere, as if logarithms hid it
        (lambda gap: 0.2, Verdict.REFUTED),  # also where there should be none
        (lambda gap: -3 * gap, Verdict.REFUTED),  # uniform bins the faster ones
    ],
)
def test_the_gap(difference, verdict):
    assert gap_rule(gap_tables(difference), FIRST).verdict is verdict


def test_the_promised_gap_against_theory():
    gaps = [promised_gap(zoo.get(family, dim).constants, dim) for family, dim in COSTS]
    np.testing.assert_allclose(gaps, [0, 0, 1 / 6, 1 / 4], atol=1e-12)


def test_the_best_width_is_that_of_the_least_regret():
    pilots = pd.DataFrame(
        {"family": "cone", "dim": 1, "horizon": [8, 8, 9, 9], "width": [1.0, 0.5, 1.0, 0.5], "regret": [2, 1, 3, 4]}
    )
    assert best_widths(pilots)["width"].tolist() == [0.5, 1.0]


@pytest.fixture(scope="module")
def tiny():
    experiment = Printed(
        "printed",
        "The printed width",
        "?",
        costs={"quick": (("cone", 1), ("cone", 2))},
        fresh=(("cone", 2), ("cone", 3)),
        fresh_horizons=(2**6, 2**8),
        first=6,
        window=6,
        last={"quick": 10},
        replicates={"quick": 4},
        pilots={"quick": 3},
        most=2**12,
        far={"quick": 12},
        far_bins={"quick": 2**8},
        alignments={"quick": 2},
    )
    return experiment, {name: measure() for name, measure in experiment.parts(Effort("quick", 5, 1)).items()}


def test_every_query_is_in_a_new_bin(tiny):
    counted = tiny[1]["fresh"]
    assert (counted["queried"] == counted["horizon"]).all()
    per_axis = np.round(counted["horizon"] ** 0.5) + 1  # D = 2 on both cones; one more since the origin is shifted
    np.testing.assert_array_equal(counted["bins"], per_axis ** counted["dim"])


def test_widths_are_judged_on_other_runs_than_they_were_tuned_on(tiny):
    pilots, tuned = tiny[1]["pilots"], tiny[1]["tuned"]
    chosen = best_widths(pilots).set_index(["family", "dim", "horizon"])
    for key, part in tuned.groupby(["family", "dim", "horizon"]):
        assert set(part["side"]) == {chosen.loc[key, "width"]}
        assert part["regret"].iloc[:3].mean() != chosen.loc[key, "regret"]


def test_parts_and_report_go_together(tiny):
    experiment, tables = tiny
    assert set(tables["runs"]["kind"]) == {ADAPTIVE, CORRECTED, PRINTED}
    for judgement in experiment.judgements().values():
        assert judgement.rule({name: tables[name] for name in judgement.parts}).evidence
    assert "| cone d = 2 |" in "\n".join(experiment.words(tables))
    for picture in experiment.pictures(tables):
        assert picture.draw().axes
