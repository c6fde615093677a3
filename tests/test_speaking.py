"""What objects say of themselves: in five lines, in a notebook and in a picture, whatever their names hold."""

import re
from html.parser import HTMLParser

import numpy as np
import pandas as pd
import pytest
from matplotlib.figure import Figure
from PIL import Image

import function_zoo as zoo
import ratecheck as rc
from function_zoo.table import Table
from ratecheck.display import BADGES, html_facts, html_table, lines
from ratecheck.figures.fitted import Fitted
from ratecheck.figures.runs import Regrets

HORIZONS = [2**k for k in range(8, 15)]
NASTY = '<script>alert("1")</script>&<b>'


@pytest.fixture(scope="module")
def runs():
    return rc.simulate(rc.UniformBins(), zoo.get("cone", 1), HORIZONS, replicates=8)


@pytest.fixture(scope="module")
def anytime():
    return rc.simulate(rc.AdaptiveBins(), zoo.get("cone", 1), HORIZONS, replicates=8)


@pytest.fixture(scope="module")
def fit(runs):
    return rc.fit_rate(runs, log_power=1.5)


@pytest.fixture(scope="module")
def spoken(runs, anytime, fit):
    rate = rc.Rate.of_regret(0.5, 1.5)
    horizons = [h for h in HORIZONS if h >= 2**10]
    return {
        "fit": fit,
        "verdict": rc.verdict(fit, rate),
        "assessment": rc.assess(fit, rate, rc.Rate.of_regret(0.5, 2.0)),
        "runs": runs,
        "rate": rate,
        "cost": runs.cost,
        "prediction": rc.predict(rc.AdaptiveBins(), runs.cost, horizons, alignments=4),
        "agreement": rc.agreement(anytime),
        "bound": rc.lower_bound(runs.cost, 1e3),
        "audit": Table.of("Audit of nothing", [("alpha", 1.0, 0.5, False, "proved", "x = 0")], list("abcdef")),
    }


NAMES = ["fit", "verdict", "assessment", "runs", "rate", "cost", "prediction", "agreement", "bound", "audit"]


class Reader(HTMLParser):
    """The tags and the text of a page; complains about what is left open."""

    def __init__(self, page):
        super().__init__()
        self.open, self.tags, self.text = [], set(), ""
        self.attributes = []
        self.feed(page)
        assert not self.open

    def handle_starttag(self, tag, attrs):
        self.open.append(tag)
        self.tags.add(tag)
        self.attributes += attrs

    def handle_endtag(self, tag):
        assert self.open.pop() == tag

    def handle_data(self, data):
        self.text += data


def test_a_fit_prints_in_five_lines(fit):
    said = str(fit).splitlines()
    assert [line.split("  ")[0] for line in said] == ["slope", "log power", "window", "runs", "caution"]
    assert all(len(line) <= 100 for line in said)
    assert f"{fit.slope:.4f} [{fit.low:.4f}, {fit.high:.4f}] at 95 %: R = T^{fit.slope:.4g} (ln T)^1.5" in said[0]
    assert "T = 256 ... 16384, 7 horizons" in said[2]
    assert "8, new ones at every horizon" in said[3]
    assert said[4].split() == ["caution", "none"]


def test_a_caution_and_a_problem_are_said():
    table = pd.DataFrame(
        [(r, h, h**0.5 * (1 + 99 * (r == 0)), True) for r in range(8) for h in HORIZONS],
        columns=["replicate", "horizon", "regret", "anytime"],
    )
    fit = rc.fit_rate(table, period=1e6)
    said = str(fit).splitlines()[-1]
    assert fit.problem in said
    assert fit.caution in said
    assert fit.caution.startswith("one run carries")


@pytest.mark.parametrize("name", NAMES)
def test_a_notebook_shows_a_table_that_needs_nothing_from_elsewhere(name, spoken):
    page = spoken[name]._repr_html_()
    read = Reader(page)
    assert {"table", "tr", "td"} <= read.tags <= {"table", "caption", "tr", "th", "td", "span"}
    assert {key for key, _ in read.attributes} <= {"style", "scope"}
    assert "http" not in page
    assert "url(" not in page


@pytest.mark.parametrize("name", ["fit", "verdict", "assessment", "runs", "agreement"])
def test_a_repr_is_one_line_without_arrays(name, spoken):
    said = repr(spoken[name])
    assert "\n" not in said
    assert "array" not in said
    assert len(said) < 1000
    assert re.match(rf"<{type(spoken[name]).__name__}\b", said)


def test_colours_are_readable_in_light_and_dark(spoken):
    """No colour but grey at half strength and white on a badge of its own, which is dark enough."""
    page = spoken["verdict"]._repr_html_() + spoken["audit"]._repr_html_()
    assert set(re.findall(r"(?<![-\w])color:([^;\"]+)", page)) <= {"inherit", "#fff"}
    assert set(re.findall(r"background:([^;\"]+)", page)) <= {"transparent", *BADGES.values()}
    for colour in BADGES.values():
        red, green, blue = (int(colour[i : i + 2], 16) / 255 for i in (1, 3, 5))
        linear = [c / 12.92 if c <= 0.04045 else ((c + 0.055) / 1.055) ** 2.4 for c in (red, green, blue)]
        assert 1.05 / (np.dot([0.2126, 0.7152, 0.0722], linear) + 0.05) >= 4.5  # WCAG's contrast with white


def test_strange_names_are_text(runs):
    cost = zoo.Cost(NASTY, 1, runs.cost.formula, [-1], [1], 0.0, runs.cost.minimisers, runs.cost.constants)
    found = rc.simulate(rc.UniformBins(), cost, [64, 128], replicates=2)
    for page in (cost._repr_html_(), found._repr_html_()):
        read = Reader(page)
        assert "script" not in read.tags
        assert NASTY in read.text
    for page in (html_facts(NASTY, {NASTY: NASTY}), html_table(NASTY, [NASTY], [[NASTY]])):
        assert Reader(page).text.count(NASTY) == 3
    found.plot().savefig("/dev/null", format="png")


def test_a_terminal_obeys_nothing():
    assert lines({"name": "\x1b[2Jred\nline"}) == "name  \N{REPLACEMENT CHARACTER}[2Jred line"


def test_a_table_shows_all_it_has(monkeypatch):
    monkeypatch.setenv("COLUMNS", "80")
    note = "a note of many words " * 10
    table = Table.of(
        "numbers", [("alpha", 1 / 3, True, note), ("b", 2.0, False, "")], ["name", "value", "holds", "note"]
    )
    said = str(table).splitlines()
    assert said[0].split() == ["name", "value", "holds", "note"]
    assert said[1].startswith("alpha  0.333333  yes")
    assert "NO" in said[-1]
    assert all(len(line) < 80 for line in said)
    assert " ".join(str(table).split()).count("many") == 10
    assert "0.333333" in table._repr_html_()
    assert type(table[table["holds"]]) is pd.DataFrame
    pd.testing.assert_frame_equal(pd.DataFrame(table), table.copy())


def test_audits_and_estimates_are_such_tables(monkeypatch):
    monkeypatch.setenv("COLUMNS", "100")
    found = zoo.audit(zoo.get("cone", 1))
    assert isinstance(found, Table)
    for row in found.itertuples():
        assert f"{row.measured:.6g}" in str(found)
    assert "..." not in str(found)
    assert "Audit of cone(dim=1" in found._repr_html_()
    estimated = zoo.estimate(lambda X: np.abs(X[:, 0] - 0.3), [-1], [1], vectorised=True, repeats=2)
    assert isinstance(estimated, Table)
    assert "..." not in repr(estimated)
    assert all(f"{value:.6g}" in repr(estimated) for value in estimated["estimate"])


def test_plots_are_figures_that_need_no_display(runs, anytime, fit, tmp_path):
    for number, figure in enumerate((runs.plot(), anytime.plot(), fit.plot(), fit.plot(rc.Rate.of_regret(0.5, 1.5)))):
        assert isinstance(figure, Figure)
        (tmp_path / f"{number}.png").write_bytes(figure._repr_png_())
        with Image.open(tmp_path / f"{number}.png") as picture:
            assert min(picture.size) > 200
            assert len(np.unique(np.asarray(picture.convert("L")))) > 5  # something is drawn


def test_a_plot_shows_the_fit_that_it_belongs_to(fit):
    rate = rc.Rate.of_regret(0.5, 1.5)
    shown = Fitted.of(fit, rate)
    assert np.allclose(shown.mean, np.exp(fit.data.y))
    slope = np.polyfit(np.log(shown.x), np.log(shown.line) - 1.5 * np.log(np.log(shown.x)), 1)[0]
    assert slope == pytest.approx(fit.slope)
    assert np.allclose(np.log(shown.shape / rate.regret(shown.x)), np.log(shown.shape[0] / rate.regret(shown.x[0])))
    assert np.mean(np.log(shown.shape / shown.mean)) == pytest.approx(0.0)
    assert np.all((shown.band[0] <= shown.line) & (shown.line <= shown.band[1]))
    with pytest.raises(ValueError, match="must be a Rate"):
        fit.plot("T^0.5")


def test_a_plot_shows_the_runs_that_it_belongs_to(runs, anytime):
    for found in (runs, anytime):
        shown = Regrets.of(found)
        assert shown.horizons.tolist() == HORIZONS
        assert np.allclose(shown.mean, found.frame.groupby("horizon")["regret"].mean())
        assert len(shown.lines) == (8 if found is anytime else 0)


def test_printed_runs_say_what_was_run(runs):
    said = str(runs)
    assert f"{runs.frame['regret'][runs.frame['horizon'] == HORIZONS[-1]].mean():.5g}" in said
    assert "UniformBins" in said
    assert "7, T = 256 ... 16384" in said
