"""A study from its plan to its report: what the runs say alone, whether they follow the curve, what the curve says."""

import json
import re
import shutil
from dataclasses import replace

import numpy as np
import pandas as pd
import pytest

import function_zoo as zoo
from ratecheck import HOO, AdaptiveBins, UniformBins
from ratecheck.cli import study as command
from ratecheck.figures import slopes
from ratecheck.predict import predicted_curve
from ratecheck.predict.far import Judgement
from ratecheck.report.overview import write_overview
from ratecheck.report.theory import by_algorithm, far_cells
from ratecheck.store import FILE, Store, StoreError
from ratecheck.study import Study
from ratecheck.study.conduct import conduct
from ratecheck.study.plan import cases
from ratecheck.study.predictions import ERROR, lacking, predicted
from ratecheck.study.rendering import render
from ratecheck.verdict.judging import premature
from ratecheck.verdict.rules import Outcome
from tests.test_alterations import alter

HORIZONS = [2**k for k in range(8, 14)]


LONG = {"horizons": [1.0, 1e300], "regret": [1e300, 1e-300], "cells": [0, 0], "limit": ""}  # as older packs have it
BOTH = (UniformBins(), AdaptiveBins(mu="theorem"))


def study_of(costs=(("cone", 1),), algorithms=BOTH, **options):
    return Study(
        "three", "Do all three agree?", costs, algorithms, HORIZONS, **{"replicates": 8, "members": 0} | options
    )


@pytest.fixture(scope="module")
def done(tmp_path_factory):
    folder = tmp_path_factory.mktemp("three")
    said = []
    found = conduct(study_of((("cone", 1), ("garland", 1))), folder, figures=True, say=said.append)
    return folder, found.analysis, said


def test_the_report_gives_three_answers(done):
    folder, analysis, _ = done
    text = (folder / "report.md").read_text("utf-8")
    titles = ["The runs alone.", "Do the runs follow the predicted curve?"]
    titles.append("Does the predicted curve obey the theorem?")
    places = [text.index(f"**{title}**") for title in titles]
    assert places == sorted(places)
    assert (
        places[-1] < text.index("## Verdicts") < text.index("## The predicted curve") < text.index("### Far horizons")
    )
    for result in analysis.results:
        assert result.agreement.replicates == 8
        assert result.agreement.name != "REFUTED"
        assert result.far.last > HORIZONS[-1]
    assert (folder / "figures" / "cone-slopes.png").exists()


def test_the_report_says_which_log_powers_are_attained(done):
    """With the answer of a curve put in the place of the real one."""
    result = done[1].results[0]
    for attained, words in ((True, "attained"), (False, "not attained"), (None, "CONSISTENT")):
        judged = Judgement(Outcome.CONSISTENT, "so it is", attained)
        changed = replace(result)
        changed.__dict__["far"] = replace(result.far, on_printed=judged, on_corrected=None)
        assert far_cells(changed)[-2].endswith(words)
        assert far_cells(changed)[-1] is None


def test_ratios_are_counted_by_algorithm(done):
    text = by_algorithm(done[1].results * 2)
    head, _, *rows = text.splitlines()
    assert head == (
        "| algorithm | costs | within 1 % | within 2 % | within 3 % | median of the ratio | furthest from 1 |"
    )
    assert [row.split(" | ")[1] for row in rows] == ["4", "4"]
    assert by_algorithm(done[1].results) == ""


def test_the_prediction_that_is_shown_is_the_one_at_the_partitions_of_the_runs(done):
    folder, analysis, _ = done
    for result in analysis.results:
        with Store(folder) as store:
            own = np.mean(store.prediction(result.case.series.digest)["regret"], axis=0)
        horizons, regret = result.predicted_regret
        assert horizons[: len(HORIZONS)].tolist() == HORIZONS
        assert regret[: len(HORIZONS)] == pytest.approx(own)
        assert (np.diff(horizons) > 0).all()
        assert horizons[-1] == result.case.curve.horizons[-1]
        window = own[-len(result.fit.data.horizons) :]
        assert result.predicted_slope == pytest.approx(result.fit.slope_of(window))
    without = replace(analysis.results[0], agreement=None)
    assert without.predicted_regret[0].tolist() == list(without.case.curve.horizons)
    assert without.predicted_slope == pytest.approx(
        without.fit.slope_of(np.exp(without.case.curve.log_regret(without.fit.x)))
    )
    assert replace(without, case=replace(without.case, curve=None)).predicted_regret is None


def test_beyond_the_runs_a_curve_goes_on_with_their_partitions():
    cost = zoo.get("cone", 1)
    how = (HORIZONS, 6, 0, "random", ERROR, "")  # nothing is drawn of a noise law that nobody knows
    anytime, anew = (predicted(cost, algorithm.settle(cost), *how) for algorithm in (AdaptiveBins(), UniformBins()))
    assert anew["beyond"] is None
    beyond = anytime["beyond"]
    assert beyond["horizons"][0] == HORIZONS[-1]
    assert beyond["regret"][0] == pytest.approx(np.mean(anytime["regret"], axis=0)[-1], rel=3e-3)
    assert beyond["horizons"][-1] == pytest.approx(1e4 * HORIZONS[-1], rel=0.5)
    alike = predicted(cost, AdaptiveBins().settle(cost), [*HORIZONS, round(beyond["horizons"][8])], *how[1:])
    assert beyond["regret"][8] == pytest.approx(np.mean(alike["regret"], axis=0)[-1], rel=3e-3)


def test_a_window_before_the_onset_is_announced_explained_and_not_judged(done):
    folder, analysis, said = done
    garland = [r for r in analysis.results if r.case.family == "garland"]
    assert sum("its slope will not be judged, since theory expects the slope 0.9" in text for text in said) == 2
    for result in garland:
        words = r"measured slope 0\.9\d+ \[.*\], predicted 0\.9\d+ in this window, promised 0\.\d+: the predicted one"
        assert re.search(words, result.problem)
        assert result.own.name == "INCONCLUSIVE"
    text = (folder / "report.md").read_text("utf-8")
    assert re.search(r"predicted 0\.9\d+ in this window, promised 0\.5", text)


@pytest.mark.parametrize(
    ("onset", "advice"),
    [(1e7, "; T_max = 1.6e+08 would do"), (1e40, "; no T that can be run would do"), (400.0, "")],
)
def test_advice_names_a_horizon_that_is_ahead_and_can_be_run(done, onset, advice):
    result = done[1].results[0]  # of an algorithm without a period
    assert premature(replace(result.case, onset=onset), result.fit, 0.05).endswith(advice)
    assert premature(replace(result.case, onset=1.0), result.fit, 0.05) == ""
    if not advice:
        assert "would do" not in premature(replace(result.case, onset=onset), result.fit, 0.05)


def test_slopes_of_the_prediction_are_between_the_same_horizons_and_beyond_them_of_the_curve(done):
    for result in done[1].results:
        (inside, local), (beyond, far) = slopes.predicted(result)
        own = np.log(result.predicted_regret[1][: len(HORIZONS)])
        assert local == pytest.approx(np.diff(own) / np.diff(np.log(HORIZONS)))
        assert inside == pytest.approx(np.sqrt(np.multiply(HORIZONS[1:], HORIZONS[:-1])))
        assert len(beyond) == len(far)
        assert (beyond > HORIZONS[-1]).all()


def test_the_tables_have_all_three(done, tmp_path):
    folder, analysis, _ = done
    fits = pd.read_csv(folder / "fits.csv")
    own = fits[fits["role"] == "own"].drop_duplicates(["family", "algorithm"])
    for (_, row), result in zip(own.iterrows(), analysis.results, strict=True):
        assert row["agreement"] == result.agreement.name
        assert row["ratio"] == pytest.approx(result.agreement.ratio[0])
        assert row["locked_in"] == len(result.agreement.locked) / 8
        assert row["predicted_slope"] == pytest.approx(result.predicted_slope)
        assert row["far_verdict"] == result.far.on_exponent.name
        assert row["far_horizon"] == pytest.approx(result.far.last)
    shutil.copytree(folder, tmp_path / "three")
    text = write_overview(tmp_path).read_text("utf-8")
    assert "UniformBins, Theorem 1: runs alone | UniformBins: runs / curve | UniformBins: curve / theorem" in text
    assert "cases with a predicted curve the runs follow it in" in text


def test_the_report_comes_again_from_the_store_alone(done, tmp_path):
    folder, _, _ = done
    shutil.copy(folder / FILE, tmp_path / FILE)
    with Store(tmp_path) as store:
        render(store, tmp_path, figures=False)
    again, first = ((place / "report.md").read_text("utf-8") for place in (tmp_path, folder))
    again, first = (re.search(r"## The predicted curve\n.*?\n## ", text, re.DOTALL).group() for text in (again, first))
    assert again.partition("\n## ")[0] == first.partition("\n## ")[0]
    assert again.count("| cone |") == 4


def test_what_is_foretold_is_kept(done):
    folder, _, _ = done
    study = study_of((("cone", 1), ("garland", 1)))
    with Store(folder) as store:
        assert lacking(cases(study), store) == []
        assert len(lacking(cases(study_of((("cone", 1),), replicates=9)), store)) == 2
        assert store.prediction("nobody") is None
        record = store.prediction(cases(study)[0].case.series.digest)
    assert len(record["regret"]) == 8
    assert record["horizons"] == HORIZONS


@pytest.mark.parametrize(
    ("change", "words"),
    [
        ({"regret": [[1.0]]}, "regret"),
        ({"regret": [[0.0] * len(HORIZONS)] * 8}, "regret"),
        ({"regret": "many"}, "regret"),
        ({"horizons": HORIZONS[::-1]}, "rising"),
        ({"left_open": []}, "left_open"),
        ({"problem": 3}, "problem"),
        ({"curve": {"horizons": [2.0, 1.0]}}, "curve"),
        ({"beyond": {"horizons": [2.0, 1.0]}}, "beyond"),
        ({"beyond": {"horizons": [2.0, 1.0], "regret": [1.0] * 2, "cells": [1.0] * 2, "limit": ""}}, "rising"),
        ({"beyond": LONG | {"error": [0.1]}}, "beyond.error"),
        ({"cells": -1}, "cells"),
        ({"error": 2}, "error"),
        ({"more": 1}, "more"),
    ],
)
def test_a_strangers_prediction_is_checked(done, tmp_path, change, words):
    shutil.copy(done[0] / FILE, tmp_path / FILE)
    with Store(tmp_path) as store:
        digest = store.study()[1][0].series.digest
        record = store.prediction(digest) | change
    with Store(tmp_path, create=True) as store:
        store.note(f"prediction {digest}", record)
    with Store(tmp_path) as store, pytest.raises(StoreError, match=words):
        store.prediction(digest)


@pytest.mark.parametrize(
    "change", [{"horizons": [1.0, 2.0]}, {"regret": [1.0]}, {"limit": 5}, {"cells": None}, {"more": 1}]
)
def test_a_strangers_curve_is_checked(done, tmp_path, change):
    shutil.copy(done[0] / FILE, tmp_path / FILE)
    with Store(tmp_path, create=True) as store:
        plan = store.noted("study")
        plan["cases"][0]["curve"] |= change
        store.note("study", plan)
    with Store(tmp_path) as store, pytest.raises(StoreError, match="does not describe its study"):
        store.study()


@pytest.mark.parametrize("change", ["other horizons", "tiny", "huge", "few", "beyond"])
def test_a_strangers_prediction_leads_to_a_report(done, tmp_path, change):
    shutil.copy(done[0] / FILE, tmp_path / FILE)
    with Store(tmp_path, create=True) as store:
        for case in store.study()[1]:
            record = store.prediction(case.series.digest)
            record |= {
                "other horizons": {"horizons": [h + 1 for h in HORIZONS]},
                "tiny": {"regret": [[1e-300 * (1 + i % 2) for i in range(len(HORIZONS))]] * 8},
                "huge": {"regret": [[1e100] * len(HORIZONS)] * 8},
                "few": {"regret": record["regret"][:2]},
                "beyond": {"beyond": LONG},
            }[change]
            store.put_prediction(case.series.digest, record)
    with Store(tmp_path) as store:
        render(store, tmp_path, figures=change in ("few", "beyond"))
    assert "## The predicted curve" in (tmp_path / "report.md").read_text("utf-8")


def test_an_altered_prediction_is_noticed(done, tmp_path):
    shutil.copy(done[0] / FILE, tmp_path / FILE)
    alter(tmp_path, "UPDATE notes SET value = replace(value, '1', '2') WHERE key LIKE 'prediction%'")
    with pytest.raises(StoreError, match="prediction"):
        Store(tmp_path)


def test_curves_are_remembered(done, monkeypatch, tmp_path):
    """A study that is started again computes none."""
    shutil.copy(done[0] / FILE, tmp_path / FILE)
    monkeypatch.setattr(predicted_curve, "predicted_curve", None)
    conduct(study_of((("cone", 1), ("garland", 1))), tmp_path, figures=False, say=lambda text: None)


def test_without_theory_a_report_says_so(tmp_path):
    study = study_of(algorithms=(HOO(),))
    result = conduct(study, tmp_path, figures=False, say=lambda text: None).analysis.results[0]
    assert result.agreement is None
    assert result.far is None
    text = (tmp_path / "report.md").read_text("utf-8")
    assert "Nothing is predicted here: no regret was predicted." in text
    assert "Do the runs follow" not in text
    assert pd.read_csv(tmp_path / "fits.csv")["agreement"].isna().all()


def test_fixed_partitions_are_foretold_too(tmp_path):
    found = conduct(study_of(alignment="fixed"), tmp_path, figures=False, say=lambda text: None).analysis
    assert all(result.agreement.name != "REFUTED" for result in found.results)
    with Store(tmp_path) as store:
        assert len(store.prediction(found.results[0].case.series.digest)["regret"]) == 1


def test_a_dry_run_says_what_is_expected(tmp_path, capsys):
    line = ["--family", "cone", "garland", "--dims", "1", "--horizons", "2^8:2^13", "--replicates", "8", "--dry-run"]
    assert command.main([*line, "--out", str(tmp_path / "none")]) == 0
    text = capsys.readouterr().out
    assert text.count("theory expects the slope") == 4
    assert "could pass for the promise" in text
    assert "its slope will not be judged" in text
    assert not (tmp_path / "none").exists()


def test_a_dry_run_of_many_cases_does_not_wait_for_curves(tmp_path, capsys, monkeypatch):
    monkeypatch.setattr(predicted_curve, "predicted_curve", None)
    assert command.main(["--family", "all", "--dry-run", "--out", str(tmp_path / "none")]) == 0
    assert "what theory expects is shown for up to 12 cases" in capsys.readouterr().out


def test_a_curve_survives_json(done):
    plans = cases(study_of())
    for plan in plans:
        text = json.dumps(plan.case.to_json())
        assert type(plan.case).from_json(json.loads(text)).curve == plan.case.curve
