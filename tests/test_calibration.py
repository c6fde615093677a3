"""Calibration, reduced.  Each assertion fails by chance with probability 1e-6 if its promise holds."""

import pytest
from scipy import stats

from ratecheck.calibration.__main__ import main
from ratecheck.calibration.cells import per_cent
from ratecheck.calibration.measure import calibrate, decisions, differences, intervals
from ratecheck.calibration.report import report
from ratecheck.calibration.scenarios import named
from ratecheck.calibration.targets import targets

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

    assert stats.binomtest(count("REFUTED +0"), repeats, 0.01, "greater").pvalue > 1e-6
    assert stats.binomtest(count("CONSISTENT +0.1"), repeats, 0.05, "greater").pvalue > 1e-6
    assert stats.binomtest(count("REFUTED +0.1"), repeats, 0.9, "less").pvalue > 1e-6


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
    tables = calibrate(some, sizes=(50, 200), repeats=8)
    page = report(tables, 8, 0)
    for name, rows in tables.intervals.groupby("scenario"):
        assert f"| {name} | " + "/".join(map(per_cent, rows["jackknife"])) + " |" in page
    assert "| S2 |" not in page
    assert page.count("met.") + page.count("MISSED.") >= 12
    for name, table in vars(tables).items():
        assert len(table) > 0, name
        assert not table.drop(columns=table.columns[table.columns.str.contains("flagged")]).isna().any(axis=None), name


def test_a_target_that_is_missed_is_called_so():
    tables = calibrate([named("S1")], sizes=(50, 200), repeats=4)
    tables.verdicts["REFUTED +0"] = 0.02
    tables.verdicts["REFUTED +0.1"] = 0.95
    lines = targets(tables)
    assert "- false REFUTED at most 1 %: 2 % at worst (S1, N = 50), MISSED." in lines
    assert "- power against 0.1 at N = 200 at least 90 %: 95 % at worst (S1, N = 200), met." in lines


def test_the_time_of_a_fit_can_be_asked_for(capsys):
    assert main(["--time"]) == 0
    assert capsys.readouterr().out.count("2,000 bootstrap replicates") == 2
