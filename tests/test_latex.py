"""verdicts.tex and PDF figures: what TeX would read, what a table says, and which parameters they carry."""

import re
import shutil
import subprocess
from dataclasses import replace

import pytest
from matplotlib.mathtext import MathTextParser

from ratecheck.display import fixed
from ratecheck.figures.regret import REGRET
from ratecheck.report import VERDICTS_TEX, write_report
from ratecheck.report.latex import MOST_ROWS, escaped
from ratecheck.report.tables import tabulated
from tests.report_cases import analysis_of, info_of, planned

NASTY = r"50 % of $x_1^2$ & {a} #1 \input{/etc/passwd} ~ <b> | ` ' \" [2] µ λ ß Ż đ 😀 …"


@pytest.fixture(scope="module")
def analysis():
    return analysis_of(planned())


def written(folder, analysis, info=None) -> str:
    write_report(folder, analysis, info or info_of(), figures=False, latex=True)
    return (folder / VERDICTS_TEX).read_text("utf-8")


def check_syntax(text):
    """No comment ends early, braces and environments close, every row has all columns, and formulas can be set."""
    lines = [line for line in text.splitlines() if not line.startswith("%")]
    body = "\n".join(lines)
    bare = re.sub(r"\\[\\{}$&#_%]", "", body)
    depth = 0
    for c in bare:
        depth += {"{": 1, "}": -1}.get(c, 0)
        assert depth >= 0
    assert depth == 0
    for word in ("table", "tabular"):
        assert body.count(f"\\begin{{{word}}}") == body.count(f"\\end{{{word}}}") > 0
    columns = {len(c.replace("@{}", "")) for c in re.findall(r"\\begin\{tabular\}\{(.*)\}$", body, re.MULTILINE)}
    rows = [line for line in lines if line.endswith(r"\\")]
    assert {len(re.findall(r"(?<!\\)&", row)) + 1 for row in rows} == columns
    parser = MathTextParser("path")
    formulas = bare.replace(r"\,", "").split("$")
    assert len(formulas) % 2 == 1
    for formula in set(formulas[1::2]):
        parser.parse(f"${formula}$")
    unescaped = re.sub(r"\\[\\{}$&#_%]|\$[^$]*\$|\\label\{[^}]*\}", "", body)
    assert not re.search(r"[#_^~](?!A)", unescaped.replace(r"\tabcolsep", ""))
    return rows


def test_a_row_per_case_and_theorem_with_the_numbers_of_the_tables(tmp_path, analysis):
    rows = check_syntax(written(tmp_path, analysis))
    judged = [(result, j) for result in analysis.results for j in result.judged]
    assert len(rows) == 1 + len(judged)
    fits = tabulated(analysis).fits
    for row, (result, j) in zip(rows[1:], judged, strict=True):
        cells = [cell.strip() for cell in row.removesuffix(r"\\").split(" & ")]
        assert cells[:2] == [str(result.case.dim), escaped(result.case.algorithm)]
        assert cells[2].startswith(j.claim.theorem)
        assert fixed(j.claim.rate.slope) in cells[3]
        names = (j.claim.theorem, j.claim.corrected_name)
        (found,) = [
            f
            for f in fits
            if (f["dim"], f["algorithm"], f["kind"]) == (result.case.dim, result.case.algorithm, j.claim.kind)
            and f["theorem"] in names
        ][-1:]
        for name in ("slope", "low", "high"):
            assert fixed(found[name]) in cells[4]
        assert cells[6] == j.assessment.exponent.name.lower()


def test_parameters_stand_in_comments_and_captions(tmp_path, analysis):
    info = info_of()
    text = written(tmp_path, analysis, info)
    head = [line for line in text.splitlines() if line.startswith("%")]
    assert f"% command: {info.command}" in head
    assert f"% digest of the runs: {info.digest}" in head
    caption = next(line for line in text.splitlines() if line.startswith(r"\caption"))
    for key, value in info.settings.items():
        assert f"% {key}: {value}" in head
        assert f"{escaped(key)}: {escaped(value)}" in caption
    assert escaped(info.command) in caption
    assert info.digest in caption


@pytest.mark.skipif(shutil.which("pdflatex") is None, reason="no LaTeX on this machine")
def test_latex_sets_it_without_a_complaint(tmp_path, analysis):
    write_report(tmp_path, analysis, info_of(), latex=True, pdf=True)
    figure = next((tmp_path / "figures").glob("*-regret.pdf")).relative_to(tmp_path)
    parts = [rf"\input{{{VERDICTS_TEX}}}", rf"\noindent\includegraphics[width=\linewidth]{{{figure.as_posix()}}}"]
    preamble = r"\documentclass{article}\usepackage{booktabs,graphicx}"
    lines = [preamble, r"\begin{document}", *parts, r"\end{document}"]
    (tmp_path / "paper.tex").write_text("\n".join(lines), "utf-8")
    command = ["pdflatex", "-no-shell-escape", "-halt-on-error", "-interaction=nonstopmode", "paper.tex"]
    done = subprocess.run(command, cwd=tmp_path, capture_output=True, text=True, timeout=120, check=False)
    assert done.returncode == 0, done.stdout[-2000:]
    assert not re.search("Overfull|Missing character|undefined", done.stdout)
    assert (tmp_path / "paper.pdf").read_bytes().startswith(b"%PDF")


def test_names_are_set_letter_by_letter(tmp_path, analysis):
    results = tuple(replace(r, case=replace(r.case, algorithm=NASTY, family=NASTY)) for r in analysis.results)
    text = written(tmp_path, replace(analysis, results=results), replace(info_of(), name=NASTY, command=NASTY))
    check_syntax(text)
    assert r"\textbackslash{}input\{/etc/passwd\}" in text
    assert "{[}U+1F600{]}" in text
    assert not [line for line in text.splitlines() if r"\input" in line and not line.startswith("%")]


def test_a_command_cannot_leave_its_comment(tmp_path, analysis):
    text = written(tmp_path, analysis, replace(info_of(), command="a\n\\input{b}\r\\c\u2028d"))
    assert len([line for line in text.splitlines() if "input" in line]) == 2  # comment and caption


def test_many_rows_become_several_tables(tmp_path, analysis):
    results = tuple(replace(r, case=replace(r.case, algorithm=f"a{i}")) for i, r in enumerate(analysis.results * 10))
    many = replace(analysis, results=results)
    text = written(tmp_path, many)
    rows = check_syntax(text)
    count = -(-sum(len(r.judged) for r in results) // MOST_ROWS)
    assert text.count(r"\begin{table}") == count > 1
    assert len(set(re.findall(r"\\label\{.*\}", text))) == count
    assert len(rows) == count + sum(len(r.judged) for r in results)


def test_pdf_figures_carry_parameters_and_repeat(tmp_path, analysis, monkeypatch):
    monkeypatch.setattr("ratecheck.figures.draw.STUDY", (REGRET,))
    info = info_of()
    for name in ("one", "two"):
        write_report(tmp_path / name, analysis, info, pdf=True)
    pictures = sorted((tmp_path / "one" / "figures").glob("*.pdf"))
    assert [p.stem for p in pictures] == [p.stem for p in sorted((tmp_path / "one" / "figures").glob("*.png"))]
    for path in pictures:
        content = path.read_bytes()
        assert content == (tmp_path / "two" / "figures" / path.name).read_bytes()
        assert content.startswith(b"%PDF")
        assert b"/Keywords (" in content
        said = content[content.index(b"/Keywords (") :]
        assert info.digest.encode() in said
        assert info.command.encode() in said
        assert b"CreationDate" not in content
        assert b"FontType3" not in content
