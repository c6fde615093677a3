"""Curves of another study behind one's own: which ones, where they come from, and what is said where there are none."""

import numpy as np
import pytest
from PIL import Image

from ratecheck import fit_rate
from ratecheck.cli import main as cli
from ratecheck.figures import background
from ratecheck.figures.backdrop import NOTHING, Backdrop, Curve, backdrop_of
from ratecheck.figures.regret import REGRET
from ratecheck.rates import Rate
from ratecheck.store import PACKED, Store, pack_beside
from ratecheck.study import Study
from ratecheck.study.conduct import described
from ratecheck.study.plan import cases, no_curve
from tests.report_cases import analysis_of, runs_of
from tests.study_cases import table_of
from tests.synthetic import exact

HORIZONS = (256, 1024, 4096)


@pytest.fixture(scope="module")
def folder(tmp_path_factory):
    """A packed study of runs that nobody had to wait for."""
    study = Study(
        name="small", question="?", costs=[("cone", 1), ("cone", 2)], horizons=(256, 1024, 4096), replicates=4
    )
    planned, there = cases(study, curves=no_curve), tmp_path_factory.mktemp("small")
    with Store(there, create=True) as store:
        store.note("study", described(study, planned))
        session = store.begin_session({})
        for case, _, _ in planned:
            rows = runs_of(case).assign(cells=1, side=1.0, stream="x").to_dict("records")
            store.add(case.series, rows, session, 1, 1.0)
        pack_beside(store)
        path = store.path
    path.unlink()
    assert [p.name for p in there.iterdir()] == [PACKED]
    return there


def test_means_are_those_of_the_runs(folder):
    backdrop = backdrop_of(folder)
    assert [c.case for c in backdrop.curves][:2] == ["cone d = 1, UniformBins", "cone d = 1, AdaptiveBins"]
    with Store(folder) as store:
        table = table_of(store)
    for curve in backdrop.curves:
        mine = table[(table.cost == curve.cost) & table.algorithm.str.startswith(curve.algorithm)]
        assert curve.means.tolist() == pytest.approx([g.regret.mean() for _, g in mine.groupby("horizon")])
        assert curve.horizons.tolist() == list(HORIZONS)


def test_words_choose_cases(folder):
    assert {c.dim for c in backdrop_of(f"{folder}:cone d=2").curves} == {2}
    assert backdrop_of(f"{folder}:cone d=2").whose == "cone d = 2"
    assert backdrop_of(folder).whose == "2 costs"
    assert [c.case for c in backdrop_of(f"{folder}:uniformbins D = 1").curves] == ["cone d = 1, UniformBins"]
    with pytest.raises(ValueError, match=r"is called 'quadratic' \(cases: cone d = 1, UniformBins;"):
        backdrop_of(f"{folder}:quadratic")
    with pytest.raises(ValueError, match="there is no folder 'nowhere'"):
        backdrop_of("nowhere")
    assert backdrop_of(None) is NOTHING


def test_the_same_cost_comes_first():
    def curve(cost, family, dim):
        return Curve("", cost, family, dim, "", np.ones(1), np.ones(1))

    found = Backdrop("s", (curve("a", "f", 1), curve("b", "f", 1), curve("c", "g", 1), curve("d", "g", 2)))

    def behind(*names):
        part = found.behind(*names)
        return "".join(c.cost for c in part.curves), part.whose

    assert behind("a", "f", 1) == ("a", "same cost")
    assert behind("x", "f", 1) == ("ab", "same family and d")
    assert behind("x", "y", 1) == ("abc", "other costs, same d")
    assert behind("x", "y", 7) == ("abcd", "other costs")
    assert NOTHING.behind("x", "y", 7) == NOTHING


def lines_of(axis):
    return [line for line in axis.get_lines() if line.get_zorder() == 0.5]


def test_a_fit_has_them_behind_and_in_its_legend(folder):
    figure = fit_rate(exact(Rate(0.5))).plot(background=f"{folder}:cone d = 1")
    drawn = lines_of(figure.axes[0])
    backdrop = backdrop_of(f"{folder}:cone d = 1")
    for line, curve in zip(drawn, backdrop.curves, strict=True):
        assert line.get_ydata().tolist() == curve.means.tolist()
        low, high = figure.axes[0].get_ylim()
        assert low < curve.means.min() < curve.means.max() < high
    labels = [text.get_text() for text in figure.legends[0].get_texts()]
    assert labels[-2:] == [f"{folder.name}: {name} (cone d = 1)" for name in ("UniformBins", "AdaptiveBins")]


def test_a_report_has_them_behind_the_same_cost(folder):
    study = Study(name="mine", question="?", costs=[("cone", 2)], horizons=HORIZONS, replicates=6)
    analysis = analysis_of([plan.case for plan in cases(study, curves=no_curve)])
    _, figure = background.before(REGRET, backdrop_of(folder)).draw("cone", analysis)
    assert [len(lines_of(axis)) for axis in figure.axes] == [2, 2]
    labels = [text.get_text() for text in figure.legends[0].get_texts()]
    assert f"{folder.name}: AdaptiveBins (same cost)" in labels
    _, plain = REGRET.draw("cone", analysis)
    assert not any(lines_of(axis) for axis in plain.axes)


def test_the_command_draws_and_refuses(folder, tmp_path, capsys):
    table, target = tmp_path / "t.csv", tmp_path / "t.png"
    table.write_text("T,regret\n" + "".join(f"{t},{t**0.5}\n" for t in (256, 512, 1024, 2048)))
    assert cli.main(["fit", str(table), "--plot", str(target), "--background", str(folder)]) == 0
    with Image.open(target) as picture:
        assert picture.size[0] > 300
    for words, said in (
        (["--background", str(folder)], "is drawn by --plot"),
        (["--plot", str(target), "--background", str(tmp_path)], "there is no runs.sqlite and no runs.jsonl.xz"),
    ):
        capsys.readouterr()
        with pytest.raises(SystemExit) if "--plot" not in words else pytest.MonkeyPatch.context():
            assert cli.main(["fit", str(table), *words]) == 2
        assert said in capsys.readouterr().err


def test_curves_against_steps_have_no_background(folder):
    steps = {"h": [0.1, 0.05, 0.025, 0.0125], "error": [1.0, 0.5, 0.25, 0.125]}
    with pytest.raises(ValueError, match="a size of steps"):
        fit_rate(steps).plot(background=folder)
