"""The study of runs against predictions, at a small size: its rows, its counts and its page."""

import pandas as pd
import pytest

import ratecheck as rc
from studies.levels import measure
from studies.levels.__main__ import TABLES, main, page, within
from tests.command_lines import typed

SMALL = (2**9, 2**11)


@pytest.fixture(scope="module")
def tables():
    jobs = list(measure.cases(costs=(("cone", 1), ("branin", 2)), horizons=SMALL, runs=6))
    rows = [(name, job()) for name, job in jobs if name == "cases"]
    noise = measure.compared("cone", 1, "AdaptiveBins", rc.AdaptiveBins(), rc.StudentT(2.0), SMALL, 6)
    locked = measure.locked("cone", 1, "mu_min", rc.AdaptiveBins(), SMALL[-1], runs=30)
    return {
        "cases": pd.DataFrame([row for _, row in rows]),
        "noise": pd.DataFrame([noise]),
        "locked": pd.DataFrame([locked]),
    }


def test_every_case_is_measured_once():
    names = [name for name, _ in measure.cases()]
    assert [names.count(name) for name in TABLES] == [168, 36, 8]


def test_rows_compare_means_of_the_same_partitions(tables):
    cases = tables["cases"]
    assert cases[["family", "dim", "algorithm"]].drop_duplicates().shape[0] == 6
    assert cases["ratio"].between(0.5, 2).all()
    assert (cases["surely_off"] <= abs(cases["farthest"] - 1)).all()
    exact = cases["draws"] == 0
    assert (cases.loc[exact, "ratio"] == cases.loc[exact, "level_ratio"]).all()
    assert (cases.loc[~exact, "drawn"] > 0).all()


def test_counts_of_the_page(tables):
    found = tables["cases"].assign(surely_off=[0.0, 0.01, 0.02, 0.03, 0.05, 0.06])
    assert (within(found, 0.02), within(found, 0.05)) == (3, 5)
    text = "\n".join(page(tables | {"cases": found}))
    assert "within 2 % in 3 cases and within 5 % in 5" in " ".join(text.split())
    assert text.count("| branin d = 2 |") == 3


def test_a_page_is_written_anew_from_its_tables(tables, tmp_path):
    for name, table in tables.items():
        table.to_csv(tmp_path / f"{name}.csv", index=False)
    for bad in (["--workers", "0"], ["--out"]):
        assert typed(main, bad, tmp_path).code == 2
    ended = typed(main, ["--keep", "--out", str(tmp_path)], tmp_path)
    assert ended.code == 0, ended
    assert (tmp_path / "report.md").read_text().startswith("# Runs against predictions")
