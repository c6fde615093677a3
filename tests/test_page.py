"""Pages: one file that needs nothing else; in a browser it fits its window, sorts, filters, enlarges and prints."""

import base64
import hashlib
import html
import io
import re
import shutil

import pytest

from ratecheck.cli import main as cli
from ratecheck.report import write_html, write_report
from ratecheck.report.markup import LETTERS, VERDICTS, mathml
from ratecheck.report.overview import write_overview
from ratecheck.report.page import write_pages
from ratecheck.verdict.rules import Outcome
from studies.claims.ledger.finding import Verdict
from studies.claims.ledger.pages import MARKS
from tests.browser import CHROMIUM, MISSING, Browser
from tests.report_cases import info_of

in_a_browser = pytest.mark.skipif(CHROMIUM is None, reason=MISSING)
HEAD = "| family | d | algorithm | slope | T | α | exponent | log power | note |\n|---|--:|---|:-:|---|---|---|---|---|"
ROWS = [
    "| cone | 1 | UniformBins | 0.45 [0.43, 0.47] | 1,024 | 1/2 | CONSISTENT | INCONCLUSIVE | a |",
    "| cone | 2 | UniformBins | (−0.1 [-0.2, 0.0]) | 4e+59 | 2 | **REFUTED** | CONSISTENT | b |",
    "| bowl | 1 | AdaptiveBins | 10.2 [9, 11] | 512 | 3/4 | INCONCLUSIVE | – | c |",
    "| bowl | 10 | AdaptiveBins | – | 65,536 | – | ✓ CONSISTENT | ✘ **REFUTED** | d |",
    "| bowl | 2 | AdaptiveBins | < 0.001 | 3e+09 | 1 | ~~REFUTED~~ CONSISTENT | NOT TESTABLE | e |",
    r"| $T^{1/2}$ | 3 | AdaptiveBins(mu=theorem) | 0.2 | 2 | 3 | CONFIRMED | (? / C) | a\|b |",
]
LONG = "\n".join(
    [
        "| number | verdict | text | end |\n|---|---|---|---|",
        *(f"| begin{i}. | CONSISTENT | {'some words ' * 18} | end{i}. |" for i in range(90)),
    ]
)
SOURCE = "\n\n".join(
    [
        "# A page & its parts",
        r"Is it CONSISTENT? ✘ **REFUTED**: [no](other/report.md), says $T^{1/2} (\ln T)^2$. $\frac{$",
        "![A figure](figures/figure.png)",
        "## Sorting",
        "\n".join([HEAD, *ROWS]),
        "## A long table",
        LONG,
        "### At the end",
        "```sh\n# no heading\n" + "a_long_command " * 30 + "\n```",
    ]
)


@pytest.fixture(scope="module")
def folder(written, tmp_path_factory):
    """A page with a table of everything that cells may hold, and one that no sheet of paper holds."""
    root = tmp_path_factory.mktemp("page")
    (root / "figures").mkdir()
    picture = next(written.glob("figures/*-regret.png")).read_bytes()
    (root / "figures" / "figure.png").write_bytes(picture)
    (root / "report.md").write_text(SOURCE, encoding="utf-8")
    write_html(root)
    return root


def source_of(root, name="report.html"):
    return (root / name).read_text("utf-8")


# What is written


def test_page_needs_nothing_but_itself(written):
    page = source_of(written)
    assert page.count("<img ") == 6
    assert all(source.startswith("data:image/png;base64,") for source in re.findall(r'src="([^"]*)"', page))
    body = page.partition("<body>")[2].partition("<script>")[0]
    assert "$" not in body
    assert "http" not in re.sub(r"base64,[^\"]*|http-equiv", "", page)


def test_the_policy_allows_the_style_and_the_script_of_the_page_alone(folder):
    page = source_of(folder)
    policy = re.search(r'Content-Security-Policy" content="([^"]*)"', page)[1]
    assert policy.startswith("default-src 'none'; img-src data:; ")
    for tag in ("style", "script"):
        [part] = re.findall(rf"<{tag}>(.*?)</{tag}>", page, re.DOTALL)
        digest = base64.b64encode(hashlib.sha256(part.encode()).digest()).decode()
        assert f"{tag}-src 'sha256-{digest}'" in policy
    assert "style=" not in page


def test_contents_lead_to_every_section(folder):
    page = source_of(folder)
    listed = re.findall(r'<li class="(h\d)"><a href="#([^"]*)">([^<]*)</a>', page)
    assert listed == [
        ("h2", "sorting", "Sorting"),
        ("h2", "a-long-table", "A long table"),
        ("h3", "at-the-end", "At the end"),
    ]
    assert all(f'<{level} id="{anchor}">' in page for level, anchor, _ in listed)
    assert "<title>A page &amp; its parts</title>" in page


def test_verdicts_are_marked_once(folder):
    page = source_of(folder)
    cells = re.findall(r'<td class="[^"]*verdicts[^"]*" data-label="(?:exponent|log power)">(.*?)</td>', page)
    plain = [html.unescape(re.sub("<[^>]*>", "", cell)) for cell in cells]
    assert plain[-4:] == ["REFUTED CONSISTENT", "NOT TESTABLE", "CONFIRMED", "(? / C)"]
    assert not any(mark in cell for cell in plain for mark in "✓✘")
    assert 'Is it <span class="verdict consistent" data-verdict="CONSISTENT">CONSISTENT</span>? ✘ <strong>' in page
    assert page.count('data-verdict="REFUTED">REFUTED') == 4
    assert re.search(r'<s><span class="verdict refuted"', page)


def test_a_row_is_named_before_its_verdict_wherever_that_stands(tmp_path):
    head = f"| exponent | family | d | algorithm | promised | runs / curve | curve / theorem |\n{'|---' * 7}|"
    (tmp_path / "report.md").write_text(
        f"# A page\n\n{head}\n| ? INCONCLUSIVE | bowl | 1 | A | 0.5 | ✓ 1.000 | ✘ to 9e18 |"
    )
    write_html(tmp_path)
    cells = re.findall(r'<td(?: class="([^"]*)")? data-label="[^"]*">(.*?)</td>', source_of(tmp_path))
    assert [kind for kind, _ in cells] == ["verdicts", "key", "key", "key", "", "verdicts", "verdicts"]
    mark = '<span class="verdict {} short" title="{}" data-verdict="{}">{}</span>'
    assert cells[-2][1] == mark.format("consistent", *["CONSISTENT"] * 2, "✓") + "\N{NO-BREAK SPACE}1.000"
    assert cells[-1][1] == mark.format("refuted", *["REFUTED"] * 2, "✘") + " to 9e18"


def test_every_verdict_has_a_colour_and_a_mark(folder):
    assert set(VERDICTS) == {*Outcome, *Verdict}
    assert set(LETTERS.values()) == set(Outcome)
    style = re.search(r"<style>(.*?)</style>", source_of(folder), re.DOTALL)[1]
    for verdict, mark in MARKS.items():
        kind = verdict.lower().replace(" ", "-")
        [drawn] = set(re.findall(rf'td \.verdict\.{kind}::before {{ content: "([^"]*)"', style))
        assert (chr(int(drawn[1:], 16)) if drawn.startswith("\\") else drawn) == mark


def test_formulas():
    power = "<msup><mi>T</mi><mrow><mn>1</mn><mo>/</mo><mn>2</mn></mrow></msup>"
    assert mathml(r"T^{1/2}") == f'<math display="inline"><mrow>{power}</mrow></math>'
    assert "<mo>≥</mo>" in mathml(r"\ge")
    assert "<mi>ln</mi><mspace" in mathml(r"\ln T")
    assert 'display="block"' in mathml("x", display=True)
    for unreadable in (r"\frac{", "x^", "T^1^2", ""):
        assert mathml(unreadable) == f"<code>{unreadable}</code>"


@pytest.mark.parametrize(
    "formula",
    [
        r"\text{<script>alert(1)</script>}",
        r"\text{&lt;script&gt;alert(1)&lt;/script&gt;}",
        r"\href{javascript:alert(1)}{x}",
        r"\style{background:url(x)}{x}",
        r'\class{a" onclick="alert(1)}{x}',
        r"a & b < c \text{</math><img src=x onerror=alert(1)>}",
        r'\color{red" onmouseover="alert(1)}x',
    ],
)
def test_a_formula_draws_and_does_nothing_else(formula):
    drawn = mathml(formula)
    assert not re.search(r"<(?!/?(?:math|m[a-z]+|code)\b)", drawn)
    assert not re.search(r"<[^>]* (?:href|style|class|id|on\w+|src)=", drawn)


def test_fences_and_links(folder):
    page = source_of(folder)
    assert 'href="other/report.md"' in page
    assert "# no heading" in page


# Pages that link to each other


@pytest.fixture(scope="module")
def template(small, tmp_path_factory):
    root = tmp_path_factory.mktemp("template")
    write_report(root / "first", small, info_of(), figures=False)
    shutil.copytree(root / "first", root / "a b")
    (root / "claims" / "noise").mkdir(parents=True)
    (root / "claims" / "report.md").write_text("# C\n\n[x](noise/report.md#y) [z](none/report.md)\n", "utf-8")
    (root / "claims" / "noise" / "report.md").write_text("# N\n\n[up](../report.md) [zoo](../../README.md)\n", "utf-8")
    return root


@pytest.fixture
def studies(template, tmp_path, monkeypatch):
    monkeypatch.setattr("ratecheck.figures.draw.draw_overview", lambda *_, **__: [])
    root = shutil.copytree(template, tmp_path / "studies")
    write_overview(root)
    return root


def test_pages_of_an_overview_link_to_each_other(studies, capsys):
    assert cli.main(["overview", str(studies), "--html"]) == 0
    names = ["index.html", "a b/report.html", "claims/report.html", "claims/noise/report.html", "first/report.html"]
    assert set(capsys.readouterr().out.splitlines()) == {str(studies / name) for name in ["README.md", *names]}
    overview = source_of(studies, "index.html")
    assert "report.md" not in overview
    assert set(re.findall(r'<li class="page"><a href="([^"]*)"', overview)) == {
        n.replace(" ", "%20") for n in names[1:]
    }
    assert re.findall(r'href="([^"#]*)(?:#y)?"', source_of(studies, "claims/report.html")) == [
        "../index.html", "noise/report.html", "none/report.md"
    ]  # fmt: skip
    deep = re.findall(r'href="([^"]*)"', source_of(studies, "claims/noise/report.html"))
    assert deep == ["../../index.html", "../report.html", "../../index.html"]
    before = {name: source_of(studies, name) for name in names}
    write_pages(studies)
    assert before == {name: source_of(studies, name) for name in names}


@pytest.mark.parametrize("name", ["index.html", "first/report.html"])
def test_somebody_elses_page_stays(studies, name, capsys):
    (studies / name).write_text("mine", "utf-8")
    assert cli.main(["overview", str(studies), "--html"]) == 2
    said = capsys.readouterr().err
    assert said.count("\n") == 1
    assert "was not written by this ratecheck; move it away" in said
    assert [p.name for p in studies.rglob("*.html")] == [name.rpartition("/")[2]]


def test_links_are_neither_read_nor_written_through(studies, tmp_path_factory):
    elsewhere = tmp_path_factory.mktemp("elsewhere")
    (elsewhere / "report.md").write_text("# secret\n", "utf-8")
    (studies / "linked").symlink_to(elsewhere)
    (studies / "planted").mkdir()
    (studies / "planted" / "report.md").symlink_to(elsewhere / "report.md")
    assert not any(page.parent.name in ("linked", "planted") for page in write_pages(studies))
    assert [p.name for p in elsewhere.iterdir()] == ["report.md"]
    (studies / "index.html").unlink()
    (studies / "index.html").symlink_to(elsewhere / "report.md")
    with pytest.raises(OSError, match="symbolic link"):
        write_pages(studies)


def test_a_report_that_is_no_text_is_named(studies):
    (studies / "first" / "report.md").write_bytes(b"\xff")
    with pytest.raises(ValueError, match="no UTF-8 text"):
        write_pages(studies)
    assert not list(studies.rglob("*.html"))


# In a browser

TABLE = "document.querySelectorAll('.box > table')[0]"
FIRSTS = f"[...{TABLE}.tBodies[0].rows].filter(r => r.offsetHeight).map(r => r.cells[8].textContent).join(' ')"
IMAGES = "[...document.querySelectorAll('body > p img')]"
WRITTEN = "a b c d e a|b"


@pytest.fixture(scope="module")
def browser(tmp_path_factory):
    browser = Browser(tmp_path_factory.mktemp("profile"))
    yield browser
    browser.close()


def head(column):
    return f"{TABLE}.tHead.rows[0].cells[{column}].querySelector('button')"


def select(label):
    labels = f"{TABLE}.parentElement.previousElementSibling.querySelectorAll('label')"
    return f"[...{labels}].find(l => l.firstChild.textContent.trim() === '{label}').querySelector('select')"


@in_a_browser
@pytest.mark.parametrize("width", [1280, 400])
@pytest.mark.parametrize("scripts", [True, False], ids=["scripts", "no scripts"])
def test_a_page_fits_its_window(browser, written, folder, width, scripts):
    browser.call("Emulation.setScriptExecutionDisabled", value=not scripts)
    for root in (written, folder):
        browser.open(root / "report.html", width)
        assert browser.ask("document.documentElement.scrollWidth <= innerWidth")
        assert browser.ask(f"{IMAGES}.every(i => i.complete && i.naturalWidth > 0)")
        parts = "[...document.querySelectorAll('body > *:not(pre):not(.box)')]"
        assert browser.ask(f"{parts}.filter(e => e.scrollWidth > innerWidth).length") == 0
        assert browser.complaints == []
        assert {url.partition(":")[0] for url in browser.requests} <= {"file", "data"}
        assert sum(url.startswith("file:") for url in browser.requests) == 1
        assert (browser.ask("document.querySelectorAll('select').length") > 0) == scripts
    browser.call("Emulation.setScriptExecutionDisabled", value=False)


@in_a_browser
def test_what_the_policy_forbids_is_not_done(browser, folder, tmp_path):
    """And what a page complains of or asks for is heard."""
    planted = '<img src="https://example.org/x.png"><script>document.title = "bad"</script><p style="color: red">x</p>'
    (tmp_path / "x.html").write_text(source_of(folder).replace("</body>", f"{planted}</body>"), "utf-8")
    browser.open(tmp_path / "x.html", 1280)
    assert browser.ask("document.title") == "A page & its parts"
    said = "\n".join(browser.complaints)
    assert all(f"{kind}-src" in said for kind in ("img", "script", "style"))
    (tmp_path / "y.html").write_text('<img src="y.png"><script>console.error("no"); nothing()</script>', "utf-8")
    browser.open(tmp_path / "y.html", 1280)
    assert len(browser.complaints) >= 3
    assert (tmp_path / "y.png").as_uri() in browser.requests


@in_a_browser
@pytest.mark.parametrize("width", [1280, 400])
def test_verdicts_and_figures_are_in_view(browser, written, width):
    browser.open(written / "report.html", width)
    outside = (
        "[...document.querySelectorAll('.verdict')].map(e => e.getBoundingClientRect())"
        ".filter(r => !(r.width > 0 && r.left >= 0 && r.right <= innerWidth)).length"
    )
    assert browser.ask("document.querySelectorAll('td .verdict').length") > 10
    assert browser.ask(outside) == 0
    widths = browser.ask(f"{IMAGES}.map(i => i.getBoundingClientRect().width / document.body.clientWidth)")
    assert min(widths) > (0.9 if width == 400 else 0.4)


@in_a_browser
def test_a_click_on_a_head_sorts(browser, folder):
    browser.open(folder / "report.html", 1280)
    orders = {  # of each column, rising; what is absent comes last both ways
        0: "c d e a b a|b",
        1: "a c b e a|b d",
        3: "b e a|b a c d",
        4: "a|b c a d e b",
        5: "a c e b a|b d",
        6: "b c a d e a|b",
    }
    for column, rising in orders.items():
        browser.click(head(column))
        assert browser.ask(FIRSTS) == rising
        assert browser.ask(f"{TABLE}.tHead.rows[0].cells[{column}].ariaSort") == "ascending"
        assert browser.ask(f"{TABLE}.querySelectorAll('[aria-sort=ascending], [aria-sort=descending]').length") == 1
    browser.click(head(3))
    browser.ask(f"{head(3)}.focus()")
    browser.press("Enter")
    assert browser.ask(FIRSTS) == "c a a|b e b d"
    assert browser.ask(f"{TABLE}.tHead.rows[0].cells[3].ariaSort") == "descending"
    browser.press("Enter")
    assert browser.ask(FIRSTS) == WRITTEN
    assert browser.complaints == []


@in_a_browser
def test_a_narrow_page_sorts_too(browser, folder):
    browser.open(folder / "report.html", 400)
    browser.choose(select("sort by"), "3 descending")
    assert browser.ask(FIRSTS) == "c a a|b e b d"
    browser.choose(select("sort by"), "")
    assert browser.ask(FIRSTS) == WRITTEN


@in_a_browser
def test_tables_filter_by_family_dimension_and_verdict(browser, folder):
    browser.open(folder / "report.html", 1280)
    options = f"[...{select('d')}.options].map(o => o.value).join(' ')"
    assert browser.ask(options) == " 1 2 3 10"
    browser.ask(f"{select('family')}.focus()")
    browser.press("ArrowDown")
    assert browser.ask(FIRSTS) == "c d e"
    for label, value, left in [
        ("family", "bowl", "c d e"),
        ("d", "2", "e"),
        ("family", "", "b e"),
        ("d", "", WRITTEN),
        ("verdict", "-1:REFUTED", "b d"),
        ("verdict", "6:REFUTED", "b"),
        ("verdict", "7:INCONCLUSIVE", "a a|b"),
        ("verdict", "6:CONSISTENT", "a d e"),
        ("algorithm", "AdaptiveBins", "d e"),
    ]:
        browser.choose(select(label), value)
        assert browser.ask(FIRSTS) == left, (label, value)
    assert browser.ask(f"{TABLE}.parentElement.previousElementSibling.querySelector('output').value") == "2 of 6 rows"
    browser.click(head(1))
    assert browser.ask(FIRSTS) == "e d"


@in_a_browser
@pytest.mark.parametrize("width", [1280, 400])
def test_figures_enlarge(browser, folder, width):
    browser.open(folder / "report.html", width)
    shown = "document.querySelector('dialog.large').open"
    sizes = "[...document.querySelectorAll('img')].map(i => i.getBoundingClientRect().height)"
    browser.click("document.querySelector('.figure')")
    assert browser.ask(shown)
    small, large = browser.ask(sizes)
    assert large > small
    browser.press("Escape")
    assert not browser.ask(shown)
    browser.ask("document.querySelector('.figure').focus()")
    browser.press("Enter")
    assert browser.ask(shown)
    browser.press("ArrowRight")
    browser.press("Escape")
    assert not browser.ask(shown)
    assert browser.ask("document.activeElement.className") == "figure"
    browser.click("document.querySelector('.figure')")
    browser.click("document.querySelector('dialog.large')")
    assert not browser.ask(shown)
    assert browser.complaints == []


def contrast(pair):
    """Of two colours, as the accessibility guidelines (WCAG 2) define it."""
    lights = []
    for colour in pair:
        parts = [int(c) / 255 for c in re.findall(r"\d+", colour)[:3]]
        linear = [c / 12.92 if c <= 0.04045 else ((c + 0.055) / 1.055) ** 2.4 for c in parts]
        lights.append(0.2126 * linear[0] + 0.7152 * linear[1] + 0.0722 * linear[2])
    return (max(lights) + 0.05) / (min(lights) + 0.05)


@in_a_browser
@pytest.mark.parametrize("dark", [False, True], ids=["light", "dark"])
def test_light_and_dark(browser, folder, dark):
    browser.open(folder / "report.html", 1280, dark=dark)
    ground = "getComputedStyle(document.body).backgroundColor"
    assert (contrast([browser.ask(ground), "rgb(0, 0, 0)"]) < 2) == dark
    assert (
        browser.ask("getComputedStyle(document.querySelector('.figure img')).backgroundColor") == "rgb(255, 255, 255)"
    )
    behind = (
        "(function up(e) { const c = getComputedStyle(e).backgroundColor;"
        "return c === 'rgba(0, 0, 0, 0)' ? up(e.parentElement) : c; })"
    )
    every = "[...document.querySelectorAll('p, td, th button, .verdict, a, label, summary')]"
    pairs = browser.ask(f"{every}.map(e => [getComputedStyle(e).color, {behind}(e)])")
    assert len(pairs) > 100
    assert min(map(contrast, pairs)) >= 4.5


@in_a_browser
def test_a_print_holds_whole_tables(browser, folder):
    pypdf = pytest.importorskip("pypdf")
    browser.open(folder / "report.html", 1280)
    browser.choose(select("family"), "bowl")
    browser.ask("document.querySelector('#contents details').open = false")
    pages = [page.extract_text() for page in pypdf.PdfReader(io.BytesIO(browser.pdf())).pages]
    assert "At the end" in pages[0]  # the contents, unfolded
    for i in range(90):
        [page] = [page for page in pages if f"begin{i}." in page]
        assert f"end{i}." in page
    long = [page for page in pages if re.search(r"begin\d", page)]
    assert len(long) > 1
    assert all("number" in page for page in long)  # the head, repeated
    [page] = [page for page in pages if "65,536" in page]
    assert all(value in page for value in ("1,024", "4e+59", "512", "3e+09"))  # what a filter hid, too
