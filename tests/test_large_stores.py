"""Large stores: read in pieces, with the numbers that the whole table gives, and within bounds on memory."""

import math

import numpy as np
import pandas as pd
import pytest

from ratecheck import cli
from ratecheck.analysis import analyse
from ratecheck.benchmarks import store as benchmark
from ratecheck.bootstrap import bounded, pieces, studentised
from ratecheck.means import LogMeans
from ratecheck.store import Store
from ratecheck.store.opening import Connection
from ratecheck.tables import tabulated


@pytest.fixture(scope="module")
def large(tmp_path_factory):
    """Large in kind, not in size."""
    folder = tmp_path_factory.mktemp("large")
    return folder, benchmark.build(folder, 800, benchmark.COSTS[:2])


@pytest.fixture
def small_pieces(monkeypatch):
    """Pieces that end in the middle of units, replicates and series."""
    whole = Connection.chunks
    monkeypatch.setattr(Connection, "chunks", lambda self, query, given=(), size=7: whole(self, query, given, 7))


def test_series_by_series_gives_the_numbers_of_the_whole_table(large):
    folder, _ = large
    with Store(folder) as store:
        study, cases = store.study()
        pairs = [tuple(pair) for pair in study["comparisons"]]
        whole = tabulated(analyse(cases, store.table(), 0.05, pairs))
        pieces = tabulated(analyse(cases, store.frame, 0.05, pairs))
    for name in ("fits", "details", "gaps"):
        pd.testing.assert_frame_equal(pd.DataFrame(getattr(pieces, name)), pd.DataFrame(getattr(whole, name)))


@pytest.mark.usefixtures("small_pieces")
def test_pieces_change_nothing(large, tmp_path):
    folder, count = large
    with Store(folder) as store:  # and every checksum is right
        table = store.table()
        assert len(table) == count
        for series, rows in table.groupby("series"):
            frame = store.frame(series, streams=True)
            for column in frame:
                assert frame[column].tolist() == rows[column].tolist() or frame[column].isna().all()
        assert store.frame("unknown").empty
        assert store.strangers(set(table["series"])) == 0
        assert store.strangers(set(table["series"][:1])) == count - store.count(table["series"][0])
    assert cli.main(["export", str(folder), "--csv", str(tmp_path / "runs.csv")]) == 0
    assert (tmp_path / "runs.csv").read_text() == table.to_csv(index=False)
    pytest.importorskip("pyarrow")
    assert cli.main(["export", str(folder), "--parquet", str(tmp_path / "runs.parquet")]) == 0
    pd.testing.assert_frame_equal(pd.read_parquet(tmp_path / "runs.parquet"), table)


@pytest.mark.parametrize("anytime", [True, False])
def test_a_bootstrap_in_pieces_is_the_same_bootstrap(anytime, monkeypatch):
    rng = np.random.default_rng(0)
    samples = tuple(np.exp(rng.normal(j, 0.3, 90)) for j in range(5))
    data = LogMeans.of(2.0 ** np.arange(6, 11), samples, anytime)
    weights = np.linspace(-1, 1, 5)
    whole = studentised(data, weights, 0.5, 0.95, 300, 0)
    monkeypatch.setattr("ratecheck.bootstrap.CACHED", 1000)
    monkeypatch.setattr("ratecheck.bootstrap.WHOLE", 1000)
    found = studentised(data, weights, 0.5, 0.95, 300, 0)
    assert found == whole if not anytime else all(map(math.isclose, found, whole))


def test_resamples_are_fewer_only_where_runs_are_very_many():
    assert bounded(2000, 2500) == 2000
    assert bounded(2000, 10**4) == 500
    assert bounded(2000, 10**6) == 400
    assert sum(piece.stop - piece.start for piece in pieces(2000, 300, 1000)) == 2000


@pytest.mark.slow
def test_the_benchmark_measures_seconds_and_memory(large):
    folder, _ = large
    seconds, peak = benchmark.measured("report", folder, "--no-figures")
    assert seconds > 0
    assert 0.05 < peak < 0.6
    assert benchmark.measured("export", folder, "--csv")[1] < 0.3
