"""The zoo at one glance against the tables of its studies."""

import re
import shutil
from dataclasses import replace
from pathlib import Path

import pandas as pd
import pytest

import function_zoo as zoo
from ratecheck import AdaptiveBins
from ratecheck.display import estimate
from ratecheck.report import write_report
from ratecheck.report.overview import write_overview
from ratecheck.sampling.noise import Gaussian
from ratecheck.study import Grid
from tests.report_cases import C, I, R, analysis_of, info_of, judged_as, planned, sandwich_of, the_table


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
    assert rows[2]["UniformBins, Theorem 1: runs alone"] == " / ".join(letters[v] for v in verdicts)


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
    assert text.count("Theorem 2 asks for another mu in all 4 cases: the verdicts there are on its rate") == 1
    assert "without force: not even" not in text
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
    assert quadratic["UniformBins, Theorem 1: runs alone"] == "(C / C)"
    assert quadratic["AdaptiveBins, Theorem 2: runs alone"] == "C / C / C"
    factors = [sandwich_of(result.case).last.factor for result in weak.results]
    assert quadratic["Theorem 3"] == ", ".join(f"C {factor:.3g}" for factor in factors)  # it has no control to lack
    assert cone["UniformBins, Theorem 1: runs alone"].endswith("†")
    assert "(1 more, but without force: not even the control was refuted)" in text
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
    assert row["UniformBins, Theorem 1: runs alone"] == "? / ?"  # nothing was judged, so nothing lacks force


def test_overview_spares_a_page_that_says_more(zoo_folder, tmp_path):
    shutil.copytree(zoo_folder, tmp_path / "zoo")
    before = (tmp_path / "zoo" / "README.md").read_bytes()
    for path in (tmp_path / "zoo").glob("*/fits.csv"):
        pd.read_csv(path).drop(columns="role").to_csv(path, index=False)
    with pytest.raises(ValueError, match=r"no column role.*; start the studies again"):
        write_overview(tmp_path / "zoo")
    assert (tmp_path / "zoo" / "README.md").read_bytes() == before


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


def test_the_committed_overview_is_that_of_the_committed_tables(tmp_path):
    studies = Path(__file__).parents[1] / "studies"
    for path in [*studies.glob("*/*.csv"), *studies.glob("*/report.md")]:
        (tmp_path / path.parent.name).mkdir(exist_ok=True)
        shutil.copy(path, tmp_path / path.parent.name)
    text = write_overview(tmp_path).read_text("utf-8")
    assert text == (studies / "README.md").read_text("utf-8"), "run `ratecheck overview studies`"
