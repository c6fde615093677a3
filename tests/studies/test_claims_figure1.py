"""Figure 1 of the paper: who wins a panel, what a setting says, and what the claim's verdict hangs on."""

import numpy as np
import pandas as pd
import pytest
from scipy.stats import binomtest

from studies.claims.figure1.experiment import Figure1, Place
from studies.claims.figure1.rules import ADAPTIVE, OPEN, UNIFORM, as_printed, ratios, winner
from studies.claims.figure1.tables import PANELS, contrast
from studies.claims.ledger import Effort, Verdict
from studies.claims.ledger.keeping import read

BINS = {1: (4, 9), 2: (2, 4), 3: (2, 3)}
AS_PRINTED = dict.fromkeys(PANELS, ADAPTIVE) | {("twin_cone", 1): UNIFORM}


def experiment(**changed):
    given = {
        "name": "figure1",
        "title": "Figure 1",
        "question": "?",
        "horizon": 150,
        "runs": {"quick": 2},
        "foreseen": {"quick": 2},
        "bins": BINS,
        "places": (
            Place("random", "c for each run", "per run"),
            Place("favourable", "a favourable c", "favourable"),
            Place("shifted", "shifted", 0.3, "random"),
        ),
        "mus": ("0", "M_b", "smooth", "theorem"),
        "lengths": (1.0,),
        "noted": dict.fromkeys(PANELS, (0.1, 0.1, 0.1, 0.1)),
        "noted_for": ("random", 1.0),
        "shown": ("random", "0", 1.0),
    }
    return Figure1(**given | changed)


def rows_of(difference, se, runs=50, **more):
    return pd.DataFrame({"difference": difference, "difference_se": se, "runs": runs} | more)


def doctored(said):
    """A table of a place in which each panel of each mu comes out as said."""
    rows = []
    for mu, panels in said.items():
        for (family, dim), who in panels.items():
            lead = {ADAPTIVE: (0.5, 0.5), UNIFORM: (0.5, -0.5), OPEN: (0.5, 0.0)}[who]
            for m, difference in zip(BINS[dim], lead, strict=True):
                rows.append(
                    {"family": family, "dim": dim, "mu": mu, "a0": 1.0, "bins": m, "width": 2 / m, "runs": 50}
                    | {"uniform": 1.0, "uniform_se": 0.01, "adaptive": 1.0 - difference, "adaptive_se": 0.01}
                    | {"difference": difference, "difference_se": 0.01, "largest_share": 0.02}
                    | {"uniform_foretold": 1.0, "adaptive_foretold": 1.0 - difference}
                )
    return pd.DataFrame(rows)


@pytest.fixture(scope="module")
def centres():
    """Of two c in each dimension the first gives all panels as printed, the second f2 in d = 1 to adaptive bins."""
    rows = []
    for family, dim in PANELS:
        for run in (0, 1):
            wins = (family, dim) != ("twin_cone", 1) or run == 1
            rows.append({"family": family, "dim": dim, "mu": "0", "a0": 1.0, "run": run, "uniform": 1.0, "bins": 4}
                        | {"adaptive": 0.5 if wins else 2.0})  # fmt: skip
    return pd.DataFrame(rows)


def judged(centres, **places):
    one = experiment(places=tuple(Place(name, name, 0.3) for name in places), noted_for=("a", 1.0), noted={})
    return one.judgements()["30"].rule({name: doctored(said) for name, said in places.items()} | {"centres": centres})


def test_adaptive_bins_must_beat_every_width_and_uniform_bins_one():
    assert winner(rows_of([0.1, 0.2, 0.3], 0.02)) == ADAPTIVE
    assert winner(rows_of([0.1, 0.2, -0.3], 0.02)) == UNIFORM
    assert winner(rows_of([0.1, 0.2, 0.01], 0.02)) == OPEN


def test_the_best_of_many_widths_needs_a_clearer_lead():
    """Three standard errors are enough where one width was tried, and not where a hundred were."""
    assert winner(rows_of([-0.06], 0.02)) == UNIFORM
    assert winner(rows_of([-0.06] + [0.0] * 99, 0.02)) == OPEN


def test_panels_without_a_difference_stay_open(any_seed):
    """False alarms of a setting with six panels: at most 5 %."""
    rng, alarms, trials = np.random.default_rng(any_seed), 0, 100
    for _ in range(trials):
        alarm = False
        for _ in PANELS:
            runs = rng.exponential(size=(8, 60))
            found = [contrast(uniform, runs[0]) for uniform in runs[1:]]
            alarm |= winner(pd.DataFrame(found)) == UNIFORM
        alarms += alarm
    assert binomtest(alarms, trials, 0.05, alternative="greater").pvalue > 1e-6


def test_differences_are_taken_run_by_run():
    uniform, adaptive = np.array([1.0, 2.0, 4.0]), np.array([0.5, 1.5, 3.5])
    found = contrast(uniform, adaptive)
    assert found["difference"] == 0.5
    assert found["difference_se"] == 0.0
    assert found["largest_share"] == 3.5 / 5.5


def test_the_verdict_hangs_on_all_settings(centres):
    won = dict.fromkeys(PANELS, ADAPTIVE)
    lost = AS_PRINTED | {("quadratic", 1): UNIFORM}
    assert judged(centres, a={"0": AS_PRINTED, "theorem": AS_PRINTED}).verdict is Verdict.CONSISTENT
    assert judged(centres, a={"0": lost}, b={"theorem": won}).verdict is Verdict.REFUTED
    mixed = judged(centres, a={"0": AS_PRINTED, "theorem": lost})
    assert mixed.verdict is Verdict.INCONCLUSIVE
    assert "of 2 settings of c, mu and a0 the figure comes out as printed in 1 (a), otherwise in 1" in mixed.evidence
    undecided = AS_PRINTED | {("quadratic", 2): OPEN}
    assert judged(centres, a={"0": undecided, "theorem": lost}).verdict is Verdict.INCONCLUSIVE


def test_the_share_of_centres_counts_choices_in_each_dimension(centres):
    assert as_printed(centres) == {("0", 1.0): 0.5}
    assert as_printed(centres.assign(adaptive=0.5)) == {("0", 1.0): 0.0}


def test_a_favourable_centre_is_chosen_from_predictions_alone():
    ahead = {panel: {4: [1.0, 1.0, 1.0], 9: [2.0, 2.0, 2.0], ("0", 1.0): [0.9, 0.5, 0.8]} for panel in PANELS}
    ahead["twin_cone", 1] = {4: [1.0, 1.0, 1.0], 9: [3.0, 3.0, 3.0], ("0", 1.0): [1.2, 0.9, 1.4]}
    assert experiment()._favourable(1, ahead) == 2  # the second one would lose f2 to adaptive bins


def test_the_ratio_is_taken_at_the_width_that_is_predicted_to_be_best():
    data = doctored({"0": AS_PRINTED}).assign(place="a")
    data.loc[data["bins"] == 9, "uniform_foretold"] = 0.1
    found = ratios(data).set_index(["family", "dim"])
    assert found.loc[("quadratic", 1), "ratio"] == pytest.approx(0.5)
    assert found.loc[("twin_cone", 1), "ratio"] == pytest.approx(1.5)  # the first width would give 0.5
    assert found["ratio"].between(found["low"], found["high"], inclusive="neither").all()


def test_from_runs_to_figures():
    one = experiment()
    tables = {name: read(part().to_csv(index=False)) for name, part in one.parts(Effort("quick")).items()}
    assert {name: len(t) for name, t in tables.items()} == {
        "random": 48,
        "favourable": 48,
        "shifted": 48,
        "centres": 48,
    }
    again = one.parts(Effort("quick", workers=2))["shifted"]()
    pd.testing.assert_frame_equal(again, tables["shifted"], check_dtype=False)
    assert one.judgements()["30"].rule(tables).verdict in Verdict
    assert "| f1 d = 1 |" in "\n".join(one.words(tables))
    for picture in one.pictures(tables):
        assert len(picture.draw().axes) == 6
