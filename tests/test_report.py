"""Reports as a whole: the same bytes, true sentences, files that exist.

The snapshot is tests/report_snapshot.md.  After a wanted change write it again, read the difference and commit it:
RATECHECK_SNAPSHOT=write python -m pytest tests/test_report.py -k snapshot -n 0
"""

import os
import re
from dataclasses import replace
from pathlib import Path

import pytest

from ratecheck.report import write_html, write_report
from tests.report_cases import AUDITS, C, I, analysis_of, info_of, judged_as, planned, report, section, tables_of

SNAPSHOT = Path(__file__).with_name("report_snapshot.md")


def test_snapshot(small, tmp_path):
    text = report(tmp_path, small, info_of(audits=AUDITS))
    if os.environ.get("RATECHECK_SNAPSHOT") == "write":
        SNAPSHOT.write_text(text, encoding="utf-8")
    assert text == SNAPSHOT.read_text(encoding="utf-8"), "see the first lines of this file for a new snapshot"


def test_sections_stand_in_their_order(written):
    titles = re.findall(r"^## (.*)$", (written / "report.md").read_text("utf-8"), re.MULTILINE)
    assert titles == [
        "The answers in full",
        "Verdicts",
        "The predicted curve",
        "The lower bound of Theorem 3",
        "Figures",
        "What the verdicts rest on",
        "Diagnostics and sensitivity",
        "Local slopes",
        "The gap between UniformBins and AdaptiveBins",
        "Negative control",
        "What would settle the inconclusive ones",
        "The constants and their audit",
        "Provenance",
        "Ten words",
    ]


def files_of(folder):
    return {str(p.relative_to(folder)): p.read_bytes() for p in folder.rglob("*.*")}


def test_the_same_input_gives_the_same_bytes(small, written, tmp_path):
    write_report(tmp_path, small, info_of(audits=AUDITS))
    write_html(tmp_path)
    assert {Path(name).suffix for name in files_of(written)} == {".md", ".csv", ".png", ".html"}
    assert files_of(tmp_path) == files_of(written)


@pytest.mark.slow
def test_vector_figures_come_on_request_and_repeat(tmp_path):
    analysis = analysis_of(planned(costs=(("quadratic", 1),)))
    for name in ("first", "second"):
        write_report(tmp_path / name, analysis, info_of(), svg=True)
    assert len(list((tmp_path / "first").rglob("*.svg"))) == 6
    assert files_of(tmp_path / "first") == files_of(tmp_path / "second")


def test_every_linked_file_exists(written):
    text = (written / "report.md").read_text("utf-8")
    links = re.findall(r"\]\(([^)]+)\)", text)
    assert len([link for link in links if link.startswith("figures/")]) == 6
    headings = {title.lower().replace(" ", "-") for title in re.findall(r"^#+ (.*)$", text, re.MULTILINE)}
    for link in links:
        assert link[1:] in headings if link.startswith("#") else (written / link).is_file(), link


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


def test_without_figures(small, tmp_path):
    text = report(tmp_path, small)
    assert "without figures" in text
    assert "![" not in text
    assert not (tmp_path / "figures").exists()


def test_a_report_that_breaks_off_leaves_the_old_one(small, tmp_path, monkeypatch):
    before = report(tmp_path, small)

    def full(handle):
        raise OSError("no space left on device")

    monkeypatch.setattr(os, "fsync", full)
    with pytest.raises(OSError, match="no space"):
        write_report(tmp_path, small, info_of(), figures=False)
    assert (tmp_path / "report.md").read_text("utf-8") == before
    assert {p.name for p in tmp_path.iterdir()} == {"report.md", "fits.csv", "gaps.csv", "details.csv"}


def test_declared_windows_are_said(small, tmp_path):
    cases = [replace(r.case, window=(512.0, 65536.0)) for r in small.results]
    assert "The study declares a window of its own in 4 cases" in report(tmp_path, analysis_of(cases))


def test_changed_plans_are_said(small, tmp_path):
    assert "were fixed before the runs" in report(tmp_path, small)
    text = report(tmp_path, small, info_of(plans=3))
    assert "were fixed before the runs" not in text
    assert "The plan of this folder was changed 2 times after its first runs; window," in text


def test_all_inconclusive_says_what_would_settle_it(tmp_path):
    analysis = analysis_of(planned(costs=(("quadratic", 1),)), noise=2.0)
    assert {j.assessment.exponent.name for r in analysis.results for j in r.judged} == {I}
    lines = section(report(tmp_path, analysis), "What would settle the inconclusive ones").strip().splitlines()
    assert lines
    assert all(re.search(r"N = \d+|T_max = |more runs may tell", line) for line in lines)


def test_nothing_open_is_said(small, tmp_path):
    decided = replace(small, results=tuple(replace(r, judged=r.judged[:1]) for r in small.results))
    assert "Nothing is left open" in report(tmp_path, judged_as(decided, exponent=C))


def test_hypotheses_that_are_not_met_are_said(written):
    text = section((written / "report.md").read_text("utf-8"), "What the verdicts rest on")
    assert re.search(r"- d = 1 AdaptiveBins, Theorem 2: mu = [\d.]+ is below", text)
    assert "no single cost can refute: it is judged on the mean over a hard family" in text


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
