"""Reports of studies that lack runs or horizons, or whose windows start too early."""

import re
from dataclasses import replace

import pandas as pd
import pytest

from tests.report_cases import I, analysed, analysis_of, info_of, planned, report, runs_of, section, the_table


def test_one_horizon_too_few(tmp_path):
    plan = planned(horizons=(256, 512), costs=(("quadratic", 1),))
    analysis = analysis_of(plan)
    text = report(tmp_path, analysis, figures=True)
    assert {j.name for r in analysis.results for j in r.judged} == {I}
    assert "2 horizon(s) give no slope with an interval" in text
    assert "No case of quadratic has enough horizons and runs for a figure." in text
    assert "cannot decide about the exponent in both cases" in text
    assert set(pd.read_csv(tmp_path / "fits.csv")["verdict"]) == {"INCONCLUSIVE"}


def test_missing_units_are_said_at_the_top(tmp_path):
    plan = planned(costs=(("quadratic", 1),))
    table = pd.concat([runs_of(case) for case in plan])
    lost = (table["series"] == plan[1].series.digest) & (table["replicate"] >= 20)
    text = report(tmp_path, analysed(plan, table[~lost]), info_of(missing=("replicate 20 failed: no memory",)))
    top = text[: text.index("## Verdicts")]
    assert (
        "**Incomplete.** 1 unit of work failed (see Provenance); fewer runs than planned stand behind d = 1 "
        "AdaptiveBins."
    ) in top
    analysis = analysed(plan, table[~lost])
    assert "**Incomplete.** Fewer runs than planned stand behind d = 1 AdaptiveBins." in report(tmp_path, analysis)
    assert "20 of 24" in the_table(text, "ln T is worth")[1]["runs"]
    assert "- replicate 20 failed: no memory" in section(text, "Provenance")


def names_of(result):
    """The verdicts that rest on the runs of the case itself; that on Theorem 3 has runs of its own."""
    return {j.name for j in result.judged if j.claim.per_cost}


def own_rows(folder):
    fits = pd.read_csv(folder / "fits.csv")
    return fits[fits["kind"] == "upper"]


def uniform_plan():
    return [case for case in planned(costs=(("quadratic", 1),)) if not case.anytime]


def test_a_horizon_without_runs_allows_no_verdict(tmp_path):
    (case,) = uniform_plan()
    runs = runs_of(case)
    analysis = analysed([case], runs[runs["horizon"] != case.horizons[4]])
    (result,) = analysis.results
    assert names_of(result) == {v.name for _, v in result.controls} == {I}
    assert result.found == 0
    reason = f"no run at T = {case.horizons[4]} has finished"
    assert result.own.assessment.exponent.reason == result.problem == reason
    assert reason in report(tmp_path, analysis)
    assert set(own_rows(tmp_path)["replicates"]) == {0}


@pytest.mark.parametrize("left", [2, 3, 20])
def test_the_horizon_with_the_fewest_runs_counts(left):
    (case,) = uniform_plan()
    runs = runs_of(case)
    lost = (runs["horizon"] == case.horizons[-1]) & (runs["replicate"] >= left)
    (result,) = analysed([case], runs[~lost]).results
    assert result.found == left
    assert (result.fit is None) == (left < 3)
    if left < 3:
        assert f"({left} at T = {case.horizons[-1]}); at least 3 are needed" in result.problem


def test_horizons_outside_the_window_may_lack_runs(tmp_path):
    (case,) = uniform_plan()
    case = replace(case, window=(case.horizons[2] - 1, case.horizons[-1]))
    runs = runs_of(case)
    analysis = analysed([case], runs[runs["horizon"] != case.horizons[0]])
    assert analysis.results[0].found == case.replicates
    report(tmp_path, analysis)
    fits = own_rows(tmp_path)
    assert set(fits["horizon_min"]) == {case.horizons[2]}  # of the data that were fitted
    assert set(fits["horizon_max"]) == {case.horizons[-1]}


def test_nothing_is_judged_in_a_window_before_the_onset(early, tmp_path):
    for result in early.results:
        assert names_of(result) == {v.name for _, v in result.controls} == {I}
        plain = analysis_of([replace(result.case, onset=1.0)]).results[0]
        assert result.fit.slope == plain.fit.slope  # it is shown, harmonics and all
    first, second = (r.problem for r in early.results)
    assert (
        first
        == "theory expects the rate only from T = 1e+06 on, and the window ends at 6.55e+04; T_max = 1.6e+07 would do"
    )
    assert (
        second == "theory expects the rate only from T = 300 on, and the window starts at 256; T_max = 7.7e+04 would do"
    )
    text = report(tmp_path, early, figures=True)
    assert "have no force" not in text
    assert "no force" not in text[: text.index("## Verdicts")]
    assert "was refuted" not in section(text, "Negative control")
    assert "Nothing was judged, neither a theorem nor its control" in section(text, "Negative control")
    assert "The window runs from the onset" not in text
    assert (
        "In 2 cases (d = 1 UniformBins and d = 1 AdaptiveBins) the window starts before the onset that theory" in text
    )
    rows = [row for row in the_table(text, "as printed") if "Theorem 3" not in row.values()]
    assert len(rows) >= 2
    assert all(re.fullmatch(r"\(0\.\d+ \[.*\]\)", row["fitted slope"]) for row in rows)
    (row,) = the_table(text, "measured gap")
    assert row["measured gap"].startswith("(")
    assert "raw slope of uniform bins exceeds" not in text  # it does not count


def test_one_early_window_leaves_the_others_judged(small, tmp_path):
    cases = [r.case for r in small.results]
    text = report(tmp_path, analysis_of([replace(cases[0], onset=1e6), *cases[1:]]))
    assert "Every control that was judged was refuted." in text
    assert "In 3 cases the window runs from the onset" in text
    assert "In one case (d = 1 UniformBins) the window starts before the onset that theory predicts, so that" in text


def test_windows_that_do_not_overlap_give_no_gap(tmp_path):
    uniform, adaptive = planned(costs=(("quadratic", 1),))
    late = replace(adaptive, window=(8192, 65536))
    analysis = analysis_of([replace(uniform, window=(256, 4096)), late])
    text = report(tmp_path, analysis, figures=True)
    (row,) = the_table(text, "measured gap")
    assert row["window"] == row["measured gap"] == "–"
    assert "the two windows do not overlap: one ends at 4.1e+03, the other starts at 8.19e+03" in text
    assert pd.read_csv(tmp_path / "gaps.csv")["horizon_min"].isna().all()


def test_a_case_without_runs_leaves_its_panel_empty(tmp_path):
    plan = planned()
    table = pd.concat([runs_of(case) for case in plan[:3]])
    text = report(tmp_path, analysed(plan, table), figures=True)
    assert "no run of this case has finished" in text
    assert (tmp_path / "figures" / "quadratic-regret.png").exists()


def test_a_study_without_any_run(tmp_path):
    text = report(tmp_path, analysed(planned(), pd.DataFrame()), info_of(sessions=()), figures=True)
    assert "cannot decide about the exponent in all 4 cases" in text
    assert not (tmp_path / "details.csv").exists()
    assert "details.csv" not in text
