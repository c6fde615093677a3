"""Reports against their tables: the same numbers, true sentences, files that exist, pages that a browser shows.

The snapshot is tests/report_snapshot.md.  After a wanted change write it again, read the difference and commit it:
RATECHECK_SNAPSHOT=write python -m pytest tests/test_report.py -k snapshot -n 0
"""

import itertools
import json
import os
import re
import shutil
import subprocess
from dataclasses import replace
from pathlib import Path

import numpy as np
import pandas as pd
import pytest
from scipy.special import ndtri

import function_zoo as zoo
from ratecheck.algorithms import AdaptiveBins, UniformBins
from ratecheck.analysis import Analysis, analyse
from ratecheck.markdown import (
    among,
    estimate,
    fixed,
    formula,
    fraction,
    general,
    interval,
    listing,
    table,
    thousands,
    whole,
)
from ratecheck.noise import Gaussian
from ratecheck.rates import Rate
from ratecheck.report import Info, write_html, write_report
from ratecheck.report.answer import answer, caution, hypotheses
from ratecheck.report.overview import write_overview
from ratecheck.report.page import to_html
from ratecheck.study import Grid, Study
from ratecheck.study.plan import cases
from ratecheck.verdicts import Name

SNAPSHOT = Path(__file__).with_name("report_snapshot.md")
QUADRATIC = (("quadratic", 1), ("quadratic", 3))


AUDIT = [
    {"constant": "alpha", "annotated": 2.0, "measured": 1.99999, "holds": True, "basis": "proved", "worst": "x = 0"},
    {"constant": "M_b", "annotated": 0.8, "measured": 0.8333, "holds": False, "basis": "bound", "worst": "x = 1"},
]
AUDITS = {str(zoo.get("quadratic", dim=1)): AUDIT}


def planned(costs=QUADRATIC, **settings):
    settings = {"horizons": Grid(first=2**8, last=2**15, periods=2.0, cap=2**16), "replicates": 24} | settings
    return [case for case, _, _ in cases(Study(name="small", question="Does it hold?", costs=costs, **settings))]


def runs_of(case, growth=None, noise=0.2, replicates=None):
    """Runs whose mean follows the case's own theorem, or `growth`, without a random number generator."""
    rate = growth or case.claims[0].rate
    rows = []
    for i in range(replicates or case.replicates):
        for j, horizon in enumerate(case.horizons):
            uniform = (0.618034 * (i + 1) + 0.414214 * (j + 1) * (i + 3)) % 1.0
            rows.append((i, horizon, rate.regret(horizon) * np.exp(noise * ndtri(0.02 + 0.96 * uniform))))
    frame = pd.DataFrame(rows, columns=["replicate", "horizon", "regret"])
    return frame.assign(series=case.series["series"], anytime=case.anytime)


def analysis_of(plan, **options) -> Analysis:
    return analyse(plan, pd.concat([runs_of(case, **options) for case in plan]), 0.05)


def info_of(**changes) -> Info:
    session = {"started": "2026-01-02T03:04:05Z", "seconds": 12.34, "units": 8, "steps": 123456, "workers": 2}
    session |= {"where": "threads", "machine": "a machine", "versions": {"numpy": "2.0", "ratecheck": "0.1"}}
    plain = Info(
        name="small",
        question="Does it hold?",
        settings={"seed": 0, "noise": "Gaussian(sigma=1.0)"},
        command="python -m ratecheck.study --family quadratic --out studies/small",
        sessions=(session, session | {"started": "2026-01-03T03:04:05Z", "seconds": 1.0, "steps": 44}),
        digest="0123456789abcdef",
        missing=(),
        complaints=(),
        audits={},
    )
    return replace(plain, **changes)


@pytest.fixture(scope="module")
def small():
    return analysis_of(planned())


@pytest.fixture(scope="module")
def written(small, tmp_path_factory):
    """A report with figures, in a folder that no test changes."""
    folder = tmp_path_factory.mktemp("report")
    write_report(folder, small, info_of(audits=AUDITS))
    write_html(folder)
    return folder


def tables_of(text):
    """Every table of a markdown text, as a list of dictionaries."""
    blocks = re.findall(r"(?:^\|.*\n?)+", text, re.MULTILINE)
    for block in blocks:
        header, _, *rows = [[c.strip() for c in line.strip("|").split(" | ")] for line in block.strip().splitlines()]
        yield header, [dict(zip((h.strip() for h in header), row, strict=True)) for row in rows]


def the_table(text, column):
    return next(rows for header, rows in tables_of(text) if column in [h.strip() for h in header])


def section(text, title):
    return re.search(rf"^## {re.escape(title)}\n(.*?)(?=^## |\Z)", text, re.MULTILINE | re.DOTALL).group(1)


def report(folder, analysis, info=None, **options):
    return write_report(folder, analysis, info or info_of(), **{"figures": False} | options).read_text("utf-8")


# The whole


def test_snapshot(small, tmp_path):
    text = report(tmp_path, small, info_of(audits=AUDITS))
    if os.environ.get("RATECHECK_SNAPSHOT") == "write":
        SNAPSHOT.write_text(text, encoding="utf-8")
    assert text == SNAPSHOT.read_text(encoding="utf-8"), "see the first lines of this file for a new snapshot"


def test_sections_stand_in_their_order(written):
    titles = re.findall(r"^## (.*)$", (written / "report.md").read_text("utf-8"), re.MULTILINE)
    assert titles == [
        "Verdicts",
        "Figures",
        "What the verdicts rest on",
        "Diagnostics and sensitivity",
        "Local slopes",
        "The gap between uniform and adaptive bins",
        "Negative control",
        "What would settle the inconclusive ones",
        "The constants and their audit",
        "Provenance",
    ]


def files_of(folder):
    return {str(p.relative_to(folder)): p.read_bytes() for p in folder.rglob("*.*")}


def test_the_same_input_gives_the_same_bytes(small, written, tmp_path):
    write_report(tmp_path, small, info_of(audits=AUDITS))
    write_html(tmp_path)
    assert {Path(name).suffix for name in files_of(written)} == {".md", ".csv", ".png", ".html"}
    assert files_of(tmp_path) == files_of(written)


def test_vector_figures_come_on_request_and_repeat(tmp_path):
    analysis = analysis_of(planned(costs=(("quadratic", 1),)))
    for name in ("first", "second"):
        write_report(tmp_path / name, analysis, info_of(), svg=True)
    assert len(list((tmp_path / "first").rglob("*.svg"))) == 5
    assert files_of(tmp_path / "first") == files_of(tmp_path / "second")


def test_every_linked_file_exists(written):
    text = (written / "report.md").read_text("utf-8")
    links = re.findall(r"\]\(([^)]+)\)", text)
    assert len([link for link in links if link.startswith("figures/")]) == 5
    for link in links:
        assert (written / link).is_file(), link


def test_formulas_and_tables_are_what_github_renders(written):
    text = (written / "report.md").read_text("utf-8")
    assert "<" not in re.sub(r"< 0\.001|`[^`]*`", "", text)  # no raw HTML
    for line in text.splitlines():
        assert line.count("$") % 2 == 0, line
        for before, after in re.findall(r"(.?)\$[^$]+\$(.?)", line):
            assert (before or " ") in " (", line
            assert (after or " ") in " ),.;:", line
    for header, rows in tables_of(text):
        assert all(len(row) == len(header) for row in rows)


# The numbers


def test_verdict_table_equals_fits_csv(written):
    text = (written / "report.md").read_text("utf-8")
    fits = pd.read_csv(written / "fits.csv")
    rows = the_table(text, "as printed")
    assert len(rows) == 8
    for row in rows:
        of_case = fits[(fits["dim"] == int(row["d"])) & (fits["algorithm"] == row["algorithm"])]
        here = of_case[of_case["theorem"].str.startswith(row["theorem"])]
        printed, stands = here.iloc[0], here.iloc[-1]
        assert row["printed R"].removeprefix(r"$\ge$ ") == formula(
            Rate(1 - printed["theory_slope"], printed["log_power"])
        )
        assert row["fitted slope"] == estimate(stands["slope"], stands["low"], stands["high"])
        assert row["exponent"].strip("*") == printed["exponent_verdict"]
        assert row["as printed"].strip("*") == printed["verdict"]
        if row["theorem"] == "Theorem 3":
            assert row["fitted log power"] == row["log power"] == row["corrected R"] == "–"
            continue
        power = [stands[f"fitted_log_power{end}"] for end in ("", "_low", "_high")]
        assert row["fitted log power"] == estimate(*power, digits=2)
        assert list(here["log_power_verdict"]) == re.findall("[A-Z]{4,}", row["log power"])
        if len(here) == 2:
            assert row["corrected R"] == formula(Rate(1 - stands["theory_slope"], stands["log_power"]))


def test_diagnostics_equal_fits_csv(written):
    text = (written / "report.md").read_text("utf-8")
    fits = pd.read_csv(written / "fits.csv")
    own = fits[fits["kind"] == "upper"].drop_duplicates(["dim", "algorithm"], keep="last")
    own = own.set_index(["dim", "algorithm"])
    for row in the_table(text, "bootstrap"):
        here = own.loc[(int(row["d"]), row["algorithm"])]
        assert row["slope of R, raw"] == estimate(here["raw_slope"], here["raw_low"], here["raw_high"])
        assert row["last half"] == estimate(here["last_half"], here["last_half_low"], here["last_half_high"])
        assert row["jackknife"] == interval(here["low"], here["high"])
        assert row["bootstrap"] == interval(here["bootstrap_low"], here["bootstrap_high"])
        assert row["curvature (p)"].startswith(fixed(here["curvature"]))
        assert row["χ² / expected (p)"].startswith(
            f"{fixed(here['chi_square'], 1)} / {fixed(here['chi_square_expected'], 1)}"
        )
        assert row["largest run"] == f"{100 * here['largest_share']:.0f} %"
    for row in the_table(text, "ln T is worth"):
        here = own.loc[(int(row["d"]), row["algorithm"])]
        assert row["ln T is worth"] == fixed(here["resolution"])
        assert row["window"] == f"{whole(here['horizon_min'])} to {whole(here['horizon_max'])}"
        assert row["onset"] == general(here["onset"], 3)
        assert row["periods"] == fixed(here["periods"], 2)
        assert row["runs"] == f"{here['replicates']} of 24"


@pytest.mark.parametrize(("what", "column"), [("sensitivity", "choice"), ("local slope", "T")])
def test_tables_side_by_side_equal_details_csv(written, what, column):
    text = (written / "report.md").read_text("utf-8")
    title = {"sensitivity": "Diagnostics and sensitivity", "local slope": "Local slopes"}[what]
    details = pd.read_csv(written / "details.csv")
    details = details[details["what"] == what]
    shown = [rows for header, rows in tables_of(section(text, title)) if column in header and "UniformBins" in header]
    (rows,) = shown
    seen = 0
    for row, algorithm in itertools.product(rows, ("UniformBins", "AdaptiveBins")):
        here = details[(details["dim"] == int(row["d"])) & (details["algorithm"] == algorithm)]
        if column == "choice":
            here = here[here["choice"] == row["choice"]]
        else:
            here = here[here["horizon"].round().astype(int).astype(str) == row["T"]]
        if row[algorithm] == "–":
            assert here.empty
        else:
            (found,) = here.itertuples()
            assert row[algorithm] == estimate(found.value, found.low, found.high)
            seen += 1
    assert seen == len(details)


def test_gaps_equal_gaps_csv(written):
    rows = the_table((written / "report.md").read_text("utf-8"), "measured gap")
    gaps = pd.read_csv(written / "gaps.csv").set_index("dim")
    for row in rows:
        here = gaps.loc[int(row["d"])]
        assert row["measured gap"] == estimate(here["gap"], here["low"], here["high"])
        assert row["predicted"] == fixed(here["predicted"])
        assert row["with log powers"] == fixed(here["with_log_powers"])


def test_numbers_in_sentences_come_from_the_tables(written):
    """Every reason in the notes stands word for word in fits.csv."""
    text = (written / "report.md").read_text("utf-8")
    reasons = " ".join(pd.read_csv(written / "fits.csv")["reason"])
    notes = re.findall(r"^\d+\. .*?, Theorem \d: (.*)$", text, re.MULTILINE)
    assert len(notes) == 8
    for number in re.findall(r"-?\d+\.\d+", " ".join(notes)):
        assert number in reasons


# The answer


def judged_as(analysis, exponent, log_power=None, corrected=None, control=Name.REFUTED):
    """The analysis with other verdicts: a function of the result's place for each part."""

    def name(part, i, verdict):
        chosen = part(i) if callable(part) else part
        return verdict if verdict is None or chosen is None else replace(verdict, name=chosen)

    results = []
    for i, result in enumerate(analysis.results):
        found = result.own.assessment
        found = replace(
            found,
            exponent=name(exponent, i, found.exponent),
            log_power=name(log_power or exponent, i, found.log_power),
            corrected_log_power=name(corrected or exponent, i, found.corrected_log_power),
        )
        own = replace(result.own, assessment=found)
        controls = tuple((c, name(control, i, v)) for c, v in result.controls)
        results.append(replace(result, judged=(own, *result.judged[1:]), controls=controls))
    return replace(analysis, results=tuple(results))


def short(result):
    return f"{result.case.algorithm}{result.case.dim}"


C, R, I = Name.CONSISTENT, Name.REFUTED, Name.INCONCLUSIVE  # noqa: E741
MIXTURES = [
    ({"exponent": C}, ["no faster than the promised exponent allows in all 4 cases", "is consistent in all 4 cases"]),
    (
        {"exponent": C, "log_power": lambda i: R if i == 1 else C},
        [
            "no faster than the promised exponent allows in all 4",
            "refuted in 1 of 4 cases (AdaptiveBins1); the corrected one is consistent there; the printed one is",
        ],
    ),
    ({"exponent": I}, ["cannot decide about the exponent in all 4 cases", "is undecided in all 4 cases"]),
    ({"exponent": R}, ["faster than the promised exponent allows in all 4 cases", "is refuted in all 4 cases"]),
    (
        {"exponent": lambda i: [C, R, I, C][i]},
        [
            "grows faster than the promised exponent allows in 1 of 4 cases (AdaptiveBins1)",
            "it grows no faster than that in 2 of 4 cases",
            "cannot decide about the exponent in 1 of 4 cases (UniformBins3)",
        ],
    ),
    (
        {"exponent": C, "control": lambda i: I if i == 2 else R},
        ["the negative control was not refuted for UniformBins3, so the verdict there has no force"],
    ),
]


@pytest.mark.parametrize(("verdicts", "words"), MIXTURES)
def test_answer_is_two_sentences_true_to_the_verdicts(small, verdicts, words):
    text = answer(judged_as(small, **verdicts), short)
    assert len(re.findall(r"\.(?: |$)", text)) == 2, text
    for word in words:
        assert word in text, text


def test_a_control_that_is_not_refuted_takes_the_force_of_the_verdicts(small, tmp_path):
    analysis = judged_as(small, exponent=C, control=I)
    text = report(tmp_path, analysis)
    assert set(pd.read_csv(tmp_path / "fits.csv")["control"]) == {"INCONCLUSIVE"}
    assert "have no force" in section(text, "Negative control")
    assert "Every control was refuted" not in text
    assert "Every control was refuted" in report(tmp_path, judged_as(small, exponent=C))


# Studies that did not go as planned


def test_without_figures(small, tmp_path):
    text = report(tmp_path, small)
    assert "without figures" in text
    assert "![" not in text
    assert not (tmp_path / "figures").exists()


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
    lost = (table["series"] == plan[1].series["series"]) & (table["replicate"] >= 20)
    text = report(tmp_path, analyse(plan, table[~lost], 0.05), info_of(missing=("replicate 20 failed: no memory",)))
    top = text[: text.index("## Verdicts")]
    assert (
        "**Incomplete.** 1 unit of work failed (see Provenance); fewer runs than planned stand behind d = 1 "
        "AdaptiveBins."
    ) in top
    analysis = analyse(plan, table[~lost], 0.05)
    assert "**Incomplete.** Fewer runs than planned stand behind d = 1 AdaptiveBins." in report(tmp_path, analysis)
    assert "20 of 24" in the_table(text, "ln T is worth")[1]["runs"]
    assert "- replicate 20 failed: no memory" in section(text, "Provenance")


def uniform_plan():
    return [case for case in planned(costs=(("quadratic", 1),)) if not case.anytime]


def test_a_horizon_without_runs_allows_no_verdict(tmp_path):
    (case,) = uniform_plan()
    runs = runs_of(case)
    analysis = analyse([case], runs[runs["horizon"] != case.horizons[4]], 0.05)
    (result,) = analysis.results
    assert {j.name for j in result.judged} == {v.name for _, v in result.controls} == {I}
    assert result.found == 0
    reason = f"no run at T = {case.horizons[4]} has finished"
    assert result.own.assessment.exponent.reason == result.problem == reason
    assert reason in report(tmp_path, analysis)
    assert set(pd.read_csv(tmp_path / "fits.csv")["replicates"]) == {0}


@pytest.mark.parametrize("left", [2, 3, 20])
def test_the_horizon_with_the_fewest_runs_counts(left):
    (case,) = uniform_plan()
    runs = runs_of(case)
    lost = (runs["horizon"] == case.horizons[-1]) & (runs["replicate"] >= left)
    (result,) = analyse([case], runs[~lost], 0.05).results
    assert result.found == left
    assert (result.fit is None) == (left < 3)
    if left < 3:
        assert f"({left} at T = {case.horizons[-1]}); at least 3 are needed" in result.problem


def test_horizons_outside_the_window_may_lack_runs(tmp_path):
    (case,) = uniform_plan()
    case = replace(case, window=(case.horizons[2] - 1, case.horizons[-1]))
    runs = runs_of(case)
    analysis = analyse([case], runs[runs["horizon"] != case.horizons[0]], 0.05)
    assert analysis.results[0].found == case.replicates
    report(tmp_path, analysis)
    fits = pd.read_csv(tmp_path / "fits.csv")
    assert set(fits["horizon_min"]) == {case.horizons[2]}  # of the data that were fitted
    assert set(fits["horizon_max"]) == {case.horizons[-1]}


@pytest.fixture(scope="module")
def early():
    """Uniform bins whose onset lies beyond the horizons, adaptive bins whose onset lies in the window."""
    uniform, adaptive = planned(costs=(("quadratic", 1),))
    return analysis_of([replace(uniform, onset=1e6), replace(adaptive, onset=300.0)])


def test_nothing_is_judged_in_a_window_before_the_onset(early, tmp_path):
    for result in early.results:
        assert {j.name for j in result.judged} == {v.name for _, v in result.controls} == {I}
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
    rows = the_table(text, "as printed")
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


def test_theorems_that_promise_nothing_are_said_at_the_top(small, tmp_path):
    text = report(tmp_path, small)
    top = text[: text.index("## Verdicts")]
    said = (
        "In 2 cases mu is not as large as Theorem 2 asks for; the verdicts there are on its rate, not on the theorem."
    )
    assert said in top
    large = analysis_of(planned(algorithms=(UniformBins(), AdaptiveBins(mu=1e4))))
    assert "asks for" not in report(tmp_path, large)
    limit = analysis_of(planned(algorithms=(AdaptiveBins(mu="theorem"),)))
    assert "asks for" not in report(tmp_path, limit)  # its own mu is what it asks for
    other = [replace(r, judged=tuple(broken(j, "beta = 3") for j in r.judged)) for r in small.results]
    text = hypotheses(replace(small, results=tuple(other[:1])))
    assert text.startswith("In 1 case a hypothesis of Theorem 1 is not met; the verdicts there")


def broken(judged, *reasons):
    return replace(judged, claim=replace(judged.claim, violated=reasons))


def bent_runs(case, curvature):
    """Runs whose slope rises by 2 curvature per e-fold."""
    runs = runs_of(case, noise=0.02)
    x = np.log(runs["horizon"])
    return runs.assign(regret=runs["regret"] * np.exp(curvature * (x - x.mean()) ** 2))


def test_diagnostics_that_speak_are_said_beside_the_answer(small, tmp_path):
    assert caution(small) == ""
    assert "**Caution.**" not in report(tmp_path, small)
    plan = [r.case for r in small.results]
    bent = [bent_runs(case, [0.01, -0.01, 0.0, 0.0][i]) for i, case in enumerate(plan)]
    analysis = analyse(plan, pd.concat(bent), 0.05)
    text = caution(analysis)
    assert text.startswith("In 2 of 4 cases curvature or the held-out horizons reject the fitted line (at the 1 %")
    assert "of this window and not of T to infinity; in 1 of 4 cases the slope is still rising" in text
    assert f"**Caution.** {text}\n" in report(tmp_path, analysis)


def test_a_report_that_breaks_off_leaves_the_old_one(small, tmp_path, monkeypatch):
    before = report(tmp_path, small)

    def full(self, text, **options):
        self.write_bytes(text[:100].encode())
        raise OSError("no space left on device")

    monkeypatch.setattr(Path, "write_text", full)
    with pytest.raises(OSError, match="no space"):
        write_report(tmp_path, small, info_of(), figures=False)
    assert (tmp_path / "report.md").read_text("utf-8") == before
    assert {p.name for p in tmp_path.iterdir()} == {"report.md", "fits.csv", "gaps.csv", "details.csv"}


def test_windows_that_do_not_overlap_give_no_gap(tmp_path):
    uniform, adaptive = planned(costs=(("quadratic", 1),))
    late = replace(adaptive, window=(8192, 65536))
    analysis = analysis_of([replace(uniform, window=(256, 4096)), late])
    text = report(tmp_path, analysis, figures=True)
    (row,) = the_table(text, "measured gap")
    assert row["window"] == row["measured gap"] == "–"
    assert "the two windows do not overlap: one ends at 4.1e+03, the other starts at 8.19e+03" in text
    assert pd.read_csv(tmp_path / "gaps.csv")["horizon_min"].isna().all()


def test_caution_counts_only_what_was_judged(small):
    plan = [r.case for r in small.results]
    plan[0] = replace(plan[0], onset=1e6)
    analysis = analyse(plan, pd.concat([bent_runs(case, 0.01) for case in plan]), 0.05)
    assert caution(analysis).startswith("In all 3 cases that were judged curvature")


def test_declared_windows_are_said(small, tmp_path):
    cases = [replace(r.case, window=(512.0, 65536.0)) for r in small.results]
    assert "The study declares a window of its own in 4 cases" in report(tmp_path, analysis_of(cases))


def test_changed_plans_are_said(small, tmp_path):
    assert "were fixed before the runs" in report(tmp_path, small)
    text = report(tmp_path, small, info_of(plans=3))
    assert "were fixed before the runs" not in text
    assert "The plan of this folder was changed 2 times after its first runs; window," in text


def test_a_case_without_runs_leaves_its_panel_empty(tmp_path):
    plan = planned()
    table = pd.concat([runs_of(case) for case in plan[:3]])
    text = report(tmp_path, analyse(plan, table, 0.05), figures=True)
    assert "no run of this case has finished" in text
    assert (tmp_path / "figures" / "quadratic-regret.png").exists()


def test_a_study_without_any_run(tmp_path):
    text = report(tmp_path, analyse(planned(), pd.DataFrame(), 0.05), info_of(sessions=()), figures=True)
    assert "cannot decide about the exponent in all 4 cases" in text
    assert not (tmp_path / "details.csv").exists()
    assert "details.csv" not in text


def test_all_inconclusive_says_what_would_settle_it(tmp_path):
    analysis = analysis_of(planned(costs=(("quadratic", 1),)), noise=2.0)
    assert {j.assessment.exponent.name for r in analysis.results for j in r.judged} == {I}
    lines = section(report(tmp_path, analysis), "What would settle the inconclusive ones").strip().splitlines()
    assert lines
    assert all(re.search(r"N = \d+|T_max = ", line) for line in lines)


def test_nothing_open_is_said(small, tmp_path):
    decided = replace(small, results=tuple(replace(r, judged=r.judged[:1]) for r in small.results))
    assert "Nothing is left open" in report(tmp_path, judged_as(decided, exponent=C))


CUSPS = ((1, 0.5, 1.0), (1, 0.7, 1.0), (2, 0.5, 1.0), (2, 0.5, 2.0))


def test_several_families_and_settings_have_sections_of_their_own(tmp_path):
    costs = (("cone", 1), zoo.get("cusp", dim=1), zoo.get("cusp", dim=1, power=0.7))
    algorithms = (UniformBins(), AdaptiveBins(), AdaptiveBins(mu=30.0))
    text = report(tmp_path, analysis_of(planned(costs, algorithms=algorithms)))
    titles = re.findall(r"^## (.*)$", text, re.MULTILINE)
    assert titles[1:4] == ["cone", "cusp(power=0.5)", "cusp(power=0.7)"]
    assert {row["adaptive"] for row in the_table(text, "measured gap")} == {"AdaptiveBins", "AdaptiveBins(mu=30)"}
    assert len(the_table(text, "promised slope")) == 9


def test_costs_that_differ_in_another_dimension_stay_apart():
    """Power in one dimension, scale in the other: both are named in both, and no gap mixes two costs."""
    cusp = {(dim, p, s): zoo.get("cusp", dim=dim, power=p, scale=s) for dim, p, s in CUSPS}
    analysis = analysis_of(planned(tuple(cusp.values())))
    cases = [r.case for r in analysis.results]
    names = {case.cost: (case.family, case.dim) for case in cases}
    assert len(set(names.values())) == len(CUSPS)
    for (dim, p, s), cost in cusp.items():
        family, _ = names[str(cost)]
        assert f"power={p}" in family, (dim, family)
        assert f"scale={s}" in family, (dim, family)
    assert [g.cost for g in analysis.gaps] == [str(c) for c in cusp.values()]
    for gap in analysis.gaps:
        first, second = (r for r in analysis.results if r.case.cost == gap.cost)
        assert gap.predicted == first.own.claim.rate.slope - second.own.claim.rate.slope
        assert names[gap.cost] == (gap.family, gap.dim)


def test_gaps_pair_runs_of_one_cost_whatever_its_name(tmp_path):
    plan = planned((zoo.get("cusp", dim=1), zoo.get("cusp", dim=1, power=0.7)))
    assert len(analysis_of([replace(case, family="cusp") for case in plan]).gaps) == 2
    odd = [replace(case, cost=case.cost.replace("power=0.5", "power=f(0.5)")) for case in plan]
    odd = [replace(case, cost=case.cost.replace("power=0.7", "power=f(0.7)")) for case in odd]
    assert len({r.case.family for r in analysis_of(odd).results}) == 2  # settings that nobody can read


def test_hypotheses_that_are_not_met_are_said(written):
    text = section((written / "report.md").read_text("utf-8"), "What the verdicts rest on")
    assert re.search(r"- d = 1 AdaptiveBins: mu = [\d.]+ is below", text)
    assert "cannot refute it" in text


def test_constants_that_fail_their_audit_are_said(written):
    text = section((written / "report.md").read_text("utf-8"), "The constants and their audit")
    assert "`M_b` **does not hold**: annotated 0.8, measured 0.8333 at x = 1" in text
    assert "no audit of quadratic, d = 3" in text


def test_provenance_is_complete(written):
    text = section((written / "report.md").read_text("utf-8"), "Provenance")
    for word in (
        "python -m ratecheck.study --family quadratic",
        "2026-01-02T03:04:05Z",
        "numpy 2.0",
        "0123456789abcdef",
    ):
        assert word in text
    assert "13.3 s of wall time" in text


# Words and formulas


def test_formulas():
    assert formula(Rate(0.5, 1.5)) == r"$T^{1/2} (\ln T)^{3/2}$"
    assert formula(Rate(1 / 3, 1)) == r"$T^{2/3} (\ln T)$"
    assert formula(Rate(0.25)) == r"$T^{3/4}$"
    assert fraction(0.1234567) == "0.123"
    assert to_html(r"T^{1/2} (\ln T)^{3/2}") == "<i>T</i><sup>1/2</sup> (ln <i>T</i>)<sup>3/2</sup>"
    assert to_html(r"\ge") == "≥"
    with pytest.raises(ValueError, match="frac"):
        to_html(r"\frac12")


def test_counts_of_cases():
    assert [among(n, 1) for n in (0, 1)] == ["in no case (of one)", "in the one case"]
    assert [among(n, 2, "with β > 1") for n in range(3)] == [
        "in neither case with β > 1",
        "in 1 of 2 cases with β > 1",
        "in both cases with β > 1",
    ]
    assert [among(n, 3) for n in (0, 2, 3)] == ["in none of the 3 cases", "in 2 of 3 cases", "in all 3 cases"]
    assert thousands(2309368) == "2,309,368"


def test_words():
    assert listing(["a"]) == "a"
    assert listing("abc") == "a, b and c"
    assert listing("abcdefgh", most=2) == "a, b and 6 more"
    assert general(1468.9, 3) == "1470"
    assert general(1.5e9, 3) == "1.5e+09"
    assert table(["x|y"], [[None]]) == "| x\\|y |\n| --- |\n| – |"


# The page


CHROMIUM = shutil.which("chromium") or shutil.which("chromium-browser") or shutil.which("google-chrome")
FLAGS = [
    "--headless",
    "--no-sandbox",
    "--disable-gpu",
    "--disable-quic",
    "--no-first-run",
    "--disable-background-networking",
    "--disable-component-update",
    "--disable-sync",
    "--virtual-time-budget=20000",
    "--window-size=1400,900",
    "--dump-dom",
]
MEASURE = """<script>window.addEventListener("load", () => parent.postMessage(JSON.stringify({
  width: innerWidth,
  page: document.documentElement.scrollWidth,
  images: document.images.length,
  broken: [...document.images].filter(i => !i.complete || i.naturalWidth === 0).length,
  wide: [...document.querySelectorAll("body > *:not(.box):not(pre)")].filter(e => e.scrollWidth > innerWidth).length,
}), "*"))</script>"""
FRAMES = """<!doctype html><body><script>addEventListener("message", e => {
  const p = document.createElement("p"); p.textContent = e.data; document.body.append(p); })</script>
<iframe src="page.html" width="1280" height="800" style="border:0"></iframe>
<iframe src="page.html" width="400" height="800" style="border:0"></iframe>"""


@pytest.mark.skipif(CHROMIUM is None, reason="no chromium on this machine; apt-get install chromium")
def test_page_in_a_browser(written, tmp_path):
    page = (written / "report.html").read_text("utf-8")
    (tmp_path / "page.html").write_text(page.replace("</body>", MEASURE + "</body>"), encoding="utf-8")
    (tmp_path / "frames.html").write_text(FRAMES, encoding="utf-8")
    command = [CHROMIUM, *FLAGS, f"--user-data-dir={tmp_path / 'profile'}", (tmp_path / "frames.html").as_uri()]
    shown = subprocess.run(command, capture_output=True, text=True, check=True, timeout=120).stdout
    measured = {m["width"]: m for m in map(json.loads, re.findall(r"<p>(\{.*?\})</p>", shown))}
    assert set(measured) == {1280, 400}, shown[:2000]
    for width, found in measured.items():
        assert found["images"] == 5
        assert found["broken"] == 0
        assert found["page"] <= width
        assert found["wide"] == 0


def test_page_needs_nothing_but_itself(written):
    page = (written / "report.html").read_text("utf-8")
    assert page.count("<img ") == 5
    assert all(source.startswith("data:image/png;base64,") for source in re.findall(r'src="([^"]*)"', page))
    assert "<script" not in page
    assert "$" not in page
    assert "http" not in re.sub(r"base64,[^\"]*", "", page)


# The zoo at one glance


@pytest.fixture(scope="module")
def zoo_folder(tmp_path_factory):
    root = tmp_path_factory.mktemp("studies")
    costs = (("quadratic", 1), ("quadratic", 2), ("cone", 2), ("valley", 2))
    write_report(root / "first", analysis_of(planned(costs)), info_of(), figures=False)
    longer = planned((("cone", 2),), horizons=Grid(first=2**8, last=2**16, periods=2.0, cap=2**17))
    write_report(root / "second", analysis_of(longer), info_of(), figures=False)
    write_overview(root)
    return root


def test_overview_has_a_row_per_cost_from_the_longest_study(zoo_folder):
    text = (zoo_folder / "README.md").read_text("utf-8")
    rows = the_table(text, "measured gap")
    assert [(r["family"], r["d"]) for r in rows] == [
        ("cone", "2"),
        ("quadratic", "1"),
        ("quadratic", "2"),
        ("valley", "2"),
    ]
    assert rows[0]["study"] == "[second](second/report.md)"
    gap = pd.read_csv(zoo_folder / "second" / "gaps.csv").iloc[0]
    assert rows[0]["measured gap"] == estimate(gap["gap"], gap["low"], gap["high"])
    fits = pd.read_csv(zoo_folder / "first" / "fits.csv")
    here = fits[(fits["family"] == "quadratic") & (fits["dim"] == 2) & fits["theorem"].str.startswith("Theorem 1")]
    letters = {"CONSISTENT": "C", "REFUTED": "**R**", "INCONCLUSIVE": "?"}
    verdicts = [here["exponent_verdict"].iloc[0], *here["log_power_verdict"]]
    assert rows[2]["Theorem 1"] == " / ".join(letters[v] for v in verdicts)


def test_overview_links_exist_and_repeat(zoo_folder):
    text = (zoo_folder / "README.md").read_text("utf-8")
    links = re.findall(r"\]\(([^)]+)\)", text)
    assert sum(link.startswith("figures/") for link in links) == 2
    before = {link: (zoo_folder / link).read_bytes() for link in links}
    write_overview(zoo_folder)
    assert text == (zoo_folder / "README.md").read_text("utf-8")
    assert before == {link: (zoo_folder / link).read_bytes() for link in links}


def test_overview_without_studies(tmp_path):
    assert "no study here yet" in write_overview(tmp_path).read_text("utf-8")


def test_overview_qualifies_its_counts(zoo_folder):
    text = (zoo_folder / "README.md").read_text("utf-8")
    assert text.count("In 4 cases mu is not as large as Theorem 2 asks for; the verdicts there are on its rate") == 1
    assert "no force: the control" not in text
    assert "Left out" not in text


def written_study(root, name, plan=None, analysis=None, **options):
    analysis = analysis or analysis_of(plan, **options)
    write_report(root / name, analysis, info_of(), figures=False)


def test_overview_marks_verdicts_without_force_and_without_all_runs(tmp_path):
    weak = judged_as(analysis_of(planned((("quadratic", 1),))), exponent=C, control=lambda i: I if i == 0 else R)
    written_study(tmp_path, "weak", analysis=weak)
    written_study(tmp_path, "short", planned((("cone", 1),)), replicates=20)
    text = write_overview(tmp_path).read_text("utf-8")
    cone, quadratic = the_table(text, "measured gap")
    assert quadratic["Theorem 1"] == "(C / C)"
    assert quadratic["Theorem 2"] == "C / C / C"
    assert quadratic["Theorem 3"] == "(C) C"
    assert cone["Theorem 1"].endswith("†")
    assert "In 1 case the exponent's verdict has no force" in text
    assert "In 2 cases fewer runs than planned have finished." in text


def test_overview_takes_one_study_per_cost_at_the_standard_noise(tmp_path):
    """Horizons decide, then runs; other noise, other alignment and studies of one algorithm stand back."""
    cost, longer = (("quadratic", 1),), Grid(first=2**8, last=2**16, periods=2.0, cap=2**17)
    written_study(tmp_path, "few", planned(cost, replicates=20))
    written_study(tmp_path, "many", planned(cost, replicates=24))
    written_study(tmp_path, "noisy", planned(cost, horizons=longer, noise=Gaussian(2.0)))
    written_study(tmp_path, "fixed", planned(cost, horizons=longer, alignment="fixed"))
    written_study(tmp_path, "single", planned(cost, horizons=longer, algorithms=(AdaptiveBins(),)))
    steep = [replace(case, family="quadratic") for case in planned((zoo.get("quadratic", dim=1, scale=3.0),))]
    written_study(tmp_path, "steep", steep)
    text = write_overview(tmp_path).read_text("utf-8")
    rows = {row["family"]: row["study"] for row in the_table(text, "measured gap")}
    assert rows == {
        str(zoo.get("quadratic", dim=1)): "[many](many/report.md)",
        str(zoo.get("quadratic", dim=1, scale=3.0)): "[steep](steep/report.md)",
    }


def test_overview_brackets_gaps_before_an_onset(early, tmp_path):
    written_study(tmp_path, "early", analysis=early)
    (row,) = the_table(write_overview(tmp_path).read_text("utf-8"), "measured gap")
    assert re.fullmatch(r"\(-?0\.\d+ \[.*\]\)", row["measured gap"])
    assert row["Theorem 1"] == "? / ?"  # nothing was judged, so nothing lacks force


def test_overview_names_tables_that_it_cannot_read(tmp_path):
    contents = {"empty": "", "foreign": "a,b\n1,2\n", "binary": '\0\n"\0'}
    for name, content in contents.items():
        (tmp_path / name).mkdir()
        (tmp_path / name / "fits.csv").write_text(content, encoding="utf-8")
    text = write_overview(tmp_path).read_text("utf-8")
    assert "There is no study here yet." in text
    for name in contents:
        assert f"{name}/fits.csv (no " in text
    written_study(tmp_path, "good", planned((("quadratic", 1),)))
    (tmp_path / "good" / "gaps.csv").write_text("", encoding="utf-8")
    text = write_overview(tmp_path).read_text("utf-8")
    assert "foreign/fits.csv (no column dim)" in text
    assert "good/gaps.csv (no table)" in text
    assert [row["measured gap"] for row in the_table(text, "measured gap")] == ["–"]


def test_overview_spares_a_readme_of_somebody_else(tmp_path):
    (tmp_path / "README.md").write_text("# My notes\n", encoding="utf-8")
    with pytest.raises(FileExistsError, match="not written by ratecheck; move it away"):
        write_overview(tmp_path)
    assert (tmp_path / "README.md").read_text("utf-8") == "# My notes\n"
