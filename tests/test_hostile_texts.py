"""A store is a stranger's: its names, questions, commands and sentences are text in a report, and nothing else."""

import csv
import html
import os
import re
from dataclasses import replace
from urllib.parse import quote

import pandas as pd
import pytest
from markdown_it import MarkdownIt

from ratecheck.claims import Violation
from ratecheck.executors.progress import speak
from ratecheck.figures import draw
from ratecheck.figures.regret import REGRET
from ratecheck.report import write_html, write_report
from ratecheck.report.overview import write_overview
from ratecheck.report.terminal import summary
from tests.report_cases import AUDIT, analysis_of, info_of, planned, report

TEXTS = [
    "<img src=x onerror=alert(1)>",
    "<script>alert(1)</script>",
    "</td></table><h1>x",
    "<!-- ",
    "<https://example.org/x>",
    "[x](https://example.org)",
    "[x](javascript:alert(1))",
    "![x](/etc/hostname)",
    "![x](../../secret.png)",
    "![x](figures/secret.png)",
    "[x]: https://example.org",
    "[x][x]",
    "one\n# two",
    "one\n\n# two\n\n- three",
    "one\r# two",
    "one\u2028# two",
    "# one",
    "- one",
    "1. one",
    "> one",
    "    one",
    "```\nnot code",
    "`<b>`",
    "a | b | c",
    r"a \| b \\| c",
    "**bold** __strong__ ~~struck~~",
    r"$\frac12$ and $x",
    r"\<b> \\",
    "&lt;b&gt; &#60;b&#62; &amp",
    "\x1b[31mred\x00 \u202egnp.exe",
    "\ud800",
]
NEW = "<h1|<h2|<h3|<img|<a |<script|<table|<tr|<th|<td|<ul|<ol|<li|<pre|<code|<strong|<em|<s>|<blockquote|<hr|<br"


def rendered(text):
    """As GitHub would: raw HTML passes, so that none must be in the text."""
    page = MarkdownIt("commonmark", {"html": True}).enable(["table", "strikethrough"]).render(text)
    return re.sub(r"\balt=\"[^\"]*\"|\bclass=\"language-sh\"", "", page)


def tags(page):
    return re.findall(NEW, page)


def everywhere(text, analysis):
    """The analysis and what stands beside it, with the text in place of every text of a store."""
    n = 0

    def of(result):
        nonlocal n
        n += 1
        case, bad = result.case, f"{text} {n % 2}"
        family = text if len({f for f, _ in analysis.costs}) == 1 else f"{text} of {case.family} {text}"
        claims = tuple(
            replace(
                c, theorem=bad, statement=bad, violated=(Violation(text, text),), remarks=(text,), corrected_name=bad
            )
            for c in case.claims
        )
        controls = tuple((c, replace(v, problem=text)) for c, v in result.controls)
        judged = tuple(
            replace(
                j,
                claim=claim,
                assessment=replace(j.assessment, **{p: replace(getattr(j.assessment, p), problem=text) for p in PARTS}),
            )
            for j, claim in zip(result.judged, claims, strict=True)
        )
        case = replace(case, family=family, algorithm=bad, claims=claims, controls=tuple(c for c, _ in controls))
        return replace(result, case=case, judged=judged, controls=controls)

    results = tuple(map(of, analysis.results))
    session = {"started": text, "seconds": 1.0, "units": 1, "steps": 1, "where": text, "machine": text}
    session |= {"workers": text, "versions": {text: text}}
    info = info_of(
        name=text,
        question=text,
        settings={text: text},
        sessions=(session,),
        missing=(text,),
        complaints=(text,),
        audits={
            r.case.cost: [row | {"constant": text, "basis": text, "worst": text} for row in AUDIT] for r in results
        },
    )
    pairs = tuple((a.case.algorithm, b.case.algorithm) for a, b in zip(results[::2], results[1::2], strict=True))
    return replace(analysis, results=results, comparisons=pairs[:1]), info


PARTS = ("exponent", "log_power")


@pytest.fixture(scope="module")
def two_families():
    return analysis_of(planned((("quadratic", 1), ("cone", 1))))


def structures(folder, analysis, text):
    """The tags of a report and of its page."""
    source = report(folder, *everywhere(text, analysis))
    return tags(rendered(source)), tags(write_html(folder).read_text("utf-8"))


@pytest.fixture(scope="module")
def usual(small, tmp_path_factory):
    return structures(tmp_path_factory.mktemp("usual"), small, "word")


@pytest.mark.parametrize("text", TEXTS)
def test_a_text_of_the_store_changes_no_structure(tmp_path, small, usual, text):
    assert structures(tmp_path, small, text) == usual


@pytest.mark.parametrize("text", TEXTS[::4])
def test_sections_of_families_change_no_structure_either(tmp_path, two_families, text):
    assert structures(tmp_path, two_families, text) == structures(tmp_path, two_families, "word")


@pytest.mark.parametrize("text", [t for t in TEXTS if t.isprintable()])
def test_a_text_of_the_store_is_shown_letter_by_letter(tmp_path, small, text):
    page = html.unescape(rendered(report(tmp_path, small, info_of(name="x", question=text, missing=(text,)))))
    shown = " ".join(text.split())
    assert f"<strong>Question.</strong> {shown}</p>" in page
    assert f"<li>{shown}</li>" in page


@pytest.mark.parametrize("target", ["/etc/hostname", "../secret.png", "figures/link.png", "figures/../../secret.png"])
def test_a_page_embeds_no_file_that_is_no_figure_of_ours(tmp_path, small, target):
    folder = tmp_path / "folder"
    (folder / "figures").mkdir(parents=True)
    (tmp_path / "secret.png").write_bytes(b"\x89PNG\r\n\x1a\n secret")
    (folder / "figures" / "link.png").symlink_to(tmp_path / "secret.png")
    for source in (report(folder, small, info_of(name=f"![x]({target})")), f"# x\n\n![the alt]({target})\n"):
        (folder / "report.md").write_text(source, encoding="utf-8")
        page = write_html(folder).read_text("utf-8")
        assert "<img" not in page
        assert "base64" not in page
    assert "<p>the alt</p>" in page


def test_a_page_embeds_no_text_that_calls_itself_a_picture(tmp_path):
    (tmp_path / "figures").mkdir()
    (tmp_path / "figures" / "x.png").write_text("secret", encoding="utf-8")
    (tmp_path / "report.md").write_text("# x\n\n![alt](figures/x.png)\n", encoding="utf-8")
    assert "<img" not in write_html(tmp_path).read_text("utf-8")


@pytest.mark.parametrize("text", ["\x1b]0;title\x07\x1b[2J", "a\nerror: b", "\x9b31m", "a\u202eb", "\r\x08"])
def test_a_terminal_is_told_no_secrets(small, text, capsys):
    """What a study prints holds no escape sequence, and a line per case."""
    usual = summary(small)
    judged = tuple(replace(j, claim=replace(j.claim, theorem=text)) for j in small.results[0].judged)
    case = replace(small.results[0].case, family=text, algorithm=text, claims=tuple(j.claim for j in judged))
    results = (replace(small.results[0], case=case, judged=judged), *small.results[1:])
    speak(text)
    plan = capsys.readouterr().err
    for said in (summary(replace(small, results=results)), plan):
        assert all(c.isprintable() or c == "\n" for c in said)
    assert plan.count("\n") == 1
    tables = [said.partition("\n\n")[0] for said in (summary(replace(small, results=results)), usual)]
    assert tables[0].count("\n") == tables[1].count("\n")


def test_a_command_cannot_leave_its_fence(tmp_path, small):
    command = "run\n```\n<b>out</b>\n````\n~~~"
    page = rendered(report(tmp_path, small, info_of(command=command)))
    assert f"<pre><code >{html.escape(command)}\n</code></pre>" in page


@pytest.mark.parametrize("text", [r"$\frac$", "x" * 300, "../../x", "\ud800", "_x"])
def test_figures_survive_every_name(tmp_path, two_families, text, monkeypatch):
    monkeypatch.setattr(draw, "STUDY", (REGRET, draw.GAP))
    write_report(tmp_path / "folder", *everywhere(text, two_families))
    assert len(list((tmp_path / "folder" / "figures").iterdir())) == 4
    assert {p.name for p in tmp_path.iterdir()} == {"folder"}


@pytest.mark.parametrize("text", ["=1+1", "+1+1", "-1+1", "@SUM(A1)", "\t=1", "\r=1", "x\r=1", "x\n=1", "\ud800="])
def test_a_cell_is_no_formula(tmp_path, small, text):
    report(tmp_path, *everywhere(text, small))
    for name in ("fits.csv", "gaps.csv", "details.csv"):
        content = (tmp_path / name).read_bytes().decode("utf-8")
        assert "\r" not in content
        header, *rows = csv.reader(content.splitlines())
        assert all(len(row) == len(header) for row in rows)
        for column, cell in ((c, v) for row in rows for c, v in zip(header, row, strict=True)):
            number = re.fullmatch(r"-?[\d.]+(e[-+]?\d+)?", cell)
            assert number or not cell.startswith(("=", "+", "-", "@", "\t")), (column, cell)


def altered(root, small, **cells):
    """The overview of a folder that holds a study whose fits.csv was altered."""
    report(root / "study", small)
    fits = pd.read_csv(root / "study" / "fits.csv", dtype=str)
    fits.assign(**cells).to_csv(root / "study" / "fits.csv", index=False, quoting=csv.QUOTE_ALL)
    return write_overview(root).read_text("utf-8")


@pytest.fixture
def no_figures(monkeypatch):
    monkeypatch.setattr(draw, "draw_overview", lambda *_, **__: [])


@pytest.mark.parametrize("text", [t for t in TEXTS if t.isprintable()])
@pytest.mark.usefixtures("no_figures")
def test_a_text_of_a_table_changes_no_overview(tmp_path, small, text):
    words = ("family", "theorem", "violated_names")
    harmless, hostile = (altered(tmp_path, small, **dict.fromkeys(words, t)) for t in ("word", text))
    assert tags(rendered(hostile)) == tags(rendered(harmless))


@pytest.mark.parametrize("name", ["<b>x", "x](y) [z", "a b", "a|b", "a\nb", "![x](y)", "a\udcff"])
@pytest.mark.usefixtures("no_figures")
def test_the_name_of_a_folder_is_a_link_to_it(tmp_path, small, name):
    report(tmp_path / name, small)
    page = rendered(write_overview(tmp_path).read_text("utf-8"))
    assert len(re.findall(f'<a href="{quote(os.fsencode(name), "=")}/report.md">', page)) == 3
    assert page.count("<a ") == 3  # beside two costs, and in the list of reports
    assert "<b" not in page


@pytest.mark.parametrize(
    ("column", "cell"),
    [
        ("exponent_verdict", "MAYBE"),
        ("dim", "0"),
        ("dim", "1.5"),
        ("alpha", "inf"),
        ("margin", "word"),
        ("violated_names", "1"),
        ("dim", "11"),
        ("family", "7"),
    ],
)
def test_an_overview_survives_every_cell(tmp_path, small, column, cell):
    said = "There is no study here yet" in altered(tmp_path, small, **{column: cell})
    assert said == (column not in ("violated_names", "family") and cell != "11")


def test_an_overview_does_not_wait_for_a_table(tmp_path):
    (tmp_path / "study").mkdir()
    os.mkfifo(tmp_path / "study" / "fits.csv")
    assert "There is no study here yet" in write_overview(tmp_path).read_text("utf-8")
