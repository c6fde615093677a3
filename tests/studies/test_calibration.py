"""Calibration, reduced.  Each assertion fails by chance with probability 1e-6 if its promise holds."""

from functools import partial

import pytest
from scipy import stats

from studies.calibration.__main__ import main
from studies.calibration.bends import BENDS, RUNS, best_power
from studies.calibration.cells import per_cent
from studies.calibration.measure import calibrate, decisions, differences, intervals
from studies.calibration.real import named as algorithm_named
from studies.calibration.report import report
from studies.calibration.rules import SCATTERED, advised, bent, looked
from studies.calibration.scenarios import named
from studies.calibration.tables import SERIES, TABLES
from studies.calibration.targets import targets

pytestmark = pytest.mark.slow


@pytest.mark.parametrize("name", ["S1", "S2", "S5", "S6", "S7", "I1", "I2", "I6"])
def test_intervals_cover(name, any_seed):
    repeats = 300
    row = intervals(named(name), 50, repeats, any_seed + 1)
    promised = {"jackknife": 0.93, "last half": 0.9, "log power": 0.93, "local": 0.9, "lag": 0.93, "held out": 0.88}
    for column, nominal in promised.items():
        hits = round(row[column] * repeats)
        assert stats.binomtest(hits, repeats, nominal, "less").pvalue > 1e-6, (column, row[column])
    hits = round(row["jackknife"] * repeats)
    assert stats.binomtest(hits, repeats, 0.97, "greater").pvalue > 1e-6
    rejected = round(row["curvature"] * repeats)
    assert stats.binomtest(rejected, repeats, 0.08, "greater").pvalue > 1e-6


@pytest.mark.parametrize("name", ["S1", "S6", "S7", "S8", "S10", "I1"])
def test_verdicts_err_rarely(name, any_seed):
    repeats = 150
    row = decisions(named(name), 200, repeats, any_seed + 1)

    def count(column):
        return round(row[column] * repeats)

    assert stats.binomtest(count("REFUTED +0"), repeats, 0.02, "greater").pvalue > 1e-6
    assert stats.binomtest(count("CONSISTENT +0.15"), repeats, 0.05, "greater").pvalue > 1e-6
    if named(name).pure:
        assert stats.binomtest(count("REFUTED +0.15"), repeats, 0.85, "less").pvalue > 1e-6


@pytest.mark.parametrize("bend", BENDS, ids=lambda bend: bend.name)
def test_bends_are_not_mistaken(bend, any_seed):
    """False refutations in 2 % at most, false agreement in 10 %; no power beyond the best possible."""
    repeats = 60
    for row in bent(bend.name, 64, repeats, any_seed + 1):
        refuted, blamed, passed = (round(row[k] * repeats) for k in ("REFUTED", "exponent REFUTED", "CONSISTENT"))
        if bend.holds:
            assert stats.binomtest(refuted, repeats, 0.03, "greater").pvalue > 1e-6, row
        if bend.exponent:
            assert stats.binomtest(blamed, repeats, 0.02, "greater").pvalue > 1e-6, row
        if not bend.holds and bend.shown:
            assert stats.binomtest(passed, repeats, 0.1, "greater").pvalue > 1e-6, row


def test_no_power_is_beyond_what_is_possible():
    wrong = next(b for b in BENDS if b.name == "T^0.65, claimed as T^0.5")
    powers = [best_power(wrong, runs, 64) for runs in RUNS]
    assert powers == sorted(powers, reverse=True)
    assert powers[-1] < 0.6 < 0.99 < powers[1]
    assert best_power(wrong, "separate, noisy", 64 * 16) > 0.99


@pytest.mark.parametrize("runs", SCATTERED)
def test_ten_looks_keep_the_error(runs, any_seed):
    repeats = 60
    (row,) = looked(runs, None, repeats, any_seed + 1)
    for name in ("REFUTED", "CONSISTENT"):
        assert stats.binomtest(round(row[f"{name}, spent"] * repeats), repeats, 0.05, "greater").pvalue > 1e-6


def test_advice_that_is_followed_decides(any_seed):
    rows = [row for runs in SCATTERED for row in advised(runs, None, 25, any_seed + 1)]
    asked, decided = (sum(row[key] for row in rows) for key in ("named", "decided"))
    assert asked >= 5
    assert stats.binomtest(decided, asked, 0.8, "less").pvalue > 1e-6


@pytest.mark.parametrize("anytime", [True, False])
def test_slope_differences_cover(anytime, any_seed):
    repeats = 300
    row = differences(anytime, 50, repeats, any_seed + 1)
    for label in ("common, named", "independent"):
        assert stats.binomtest(round(row[label] * repeats), repeats, 0.93, "less").pvalue > 1e-6, label
        assert stats.binomtest(round(row[label] * repeats), repeats, 0.97, "greater").pvalue > 1e-6, label
    assert row["common, named, half-width"] < 0.5 * row["common, not named, half-width"]


def test_the_report_is_written_from_the_tables():
    some = [named("S1"), named("S4"), named("I1")]
    algorithms = [algorithm_named("sgd-far")]
    few = {"tables": TABLES[-3:], "series": SERIES[:1]}
    tables = calibrate(some, sizes=(64, 200), repeats=8, bends=BENDS[:3], algorithms=algorithms, **few)
    page = report(tables, 8, 0)
    assert "| sgd-far | T^0 | false |" in page
    assert f"| {BENDS[1].name} | false |" in page
    for name, rows in tables.intervals.groupby("scenario"):
        assert f"| {name} | " + "/".join(map(per_cent, rows["jackknife"])) + " |" in page
    assert "| S2 |" not in page
    assert page.count("met.") + page.count("MISSED.") >= 20
    for name, table in vars(tables).items():
        assert len(table) > 0, name
        may_lack = table.columns.str.contains("flagged|best|catches|REFUTED there")
        assert not table.drop(columns=table.columns[may_lack]).isna().any(axis=None), name


def test_a_target_that_is_missed_is_called_so():
    algorithms = [algorithm_named("sgd-far")]
    few = {"tables": TABLES[-1:], "series": SERIES[:1]}
    tables = calibrate([named("S1")], sizes=(64, 200), repeats=4, bends=BENDS[:1], algorithms=algorithms, **few)
    tables.verdicts["REFUTED +0"] = 0.03
    tables.verdicts["REFUTED +0.15"] = 0.95
    lines = targets(tables)
    assert "- false REFUTED at most 2 %: 3 % at worst (S1, N = 64), MISSED." in lines
    power = (
        "- power against 0.1 beyond the margin at N = 64, on pure rates at least 85 %: 95 % at worst (S1, N = 64), met."
    )
    assert power in lines


def test_a_part_is_measured_again_and_the_others_stay(tmp_path, monkeypatch, capsys):
    algorithms = [algorithm_named("sgd-far")]
    few = {"tables": TABLES[-1:], "series": SERIES[:1]}
    tables = calibrate([named("S1")], sizes=(64, 200), repeats=4, bends=BENDS[:1], algorithms=algorithms, **few)
    for name, table in vars(tables).items():
        table.to_csv(tmp_path / f"{name}.csv", index=False, lineterminator="\n")
    before = (tmp_path / "verdicts.csv").read_bytes()
    again = partial(calibrate, **few)
    monkeypatch.setattr("studies.calibration.__main__.calibrate", again)
    line = ["--repeats", "5", "--part", "series", "--workers", "1", "--out", str(tmp_path)]
    assert main(line) == 0
    assert (tmp_path / "verdicts.csv").read_bytes() == before
    page = (tmp_path / "report.md").read_text()
    assert "## Deterministic series" in page
    assert "## Assertions" not in page
    # measured elsewhere, and shown where it is there
    columns = "kind,mistake,held_out,changes,seeds,passed,failed,cannot tell,seconds,T_max"
    rows = ['"a, b",none,,,200,199,0,1,0.5,64', '"a, b",x,yes,rate,10,1,8,1,0.5,64', '"a, b",y,yes,rate,10,0,9,1,2,64']
    (tmp_path / "asserting.csv").write_text("\n".join([columns, *rows]) + "\n")
    assert main(["--report", "--repeats", "5", "--out", str(tmp_path)]) == 0
    lines = (tmp_path / "report.md").read_text().splitlines()
    assert "| a, b | 200 | 0 | 1 | 199 | 0.5 | 64 |" in lines
    assert "| held out | the rate | no | 2 | 85 | 10 | 5 |" in lines
    assert "| a, b | x | held out | the rate | 8 / 1 / 1 |" in lines
    assert set(page.splitlines()) <= set(lines)
    (tmp_path / "bends.csv").unlink()
    assert main(line) == 2
    assert "holds no bends.csv" in capsys.readouterr().err


def test_the_time_of_a_fit_can_be_asked_for(capsys):
    assert main(["--time"]) == 0
    assert capsys.readouterr().out.count("2,000 bootstrap replicates") == 2
