"""Large stores: read in pieces, with the numbers that the whole table gives, and within bounds on memory."""

import math
import subprocess
import sys
import tracemalloc

import numpy as np
import pandas as pd
import pytest
from scipy.stats import norm

from ratecheck.cli import main as cli
from ratecheck.fit import bootstrap
from ratecheck.fit.bootstrap import bounded, pieces, studentised
from ratecheck.fit.log_means import LogMeans
from ratecheck.report.tables import tabulated
from ratecheck.store import Store
from ratecheck.store.connection import Connection
from ratecheck.verdict.analyse import analyse
from studies.benchmarks import store as benchmark
from tests.study_cases import table_of


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
        whole = tabulated(analyse(cases, table_of(store), margin=0.05, comparisons=pairs))
        pieces = tabulated(analyse(cases, store.frame, margin=0.05, comparisons=pairs))
    for name in ("fits", "details", "gaps"):
        pd.testing.assert_frame_equal(pd.DataFrame(getattr(pieces, name)), pd.DataFrame(getattr(whole, name)))


@pytest.mark.usefixtures("small_pieces")
def test_pieces_change_nothing(large, tmp_path):
    folder, count = large
    with Store(folder) as store:  # and every checksum is right
        table = table_of(store)
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
    whole = studentised(data, weights, value=0.5, level=0.95, size=300, seed=0)
    monkeypatch.setattr("ratecheck.fit.bootstrap.CACHED_NUMBERS", 1000)
    monkeypatch.setattr("ratecheck.fit.bootstrap.MOST_NUMBERS", 1000)
    found = studentised(data, weights, value=0.5, level=0.95, size=300, seed=0)
    assert found == whole if not anytime else all(map(math.isclose, found, whole))


@pytest.mark.parametrize("anytime", [True, False])
def test_below_many_runs_a_bootstrap_draws_what_it_always_drew(anytime):
    """Reports of studies that were published must not change."""
    n, size, weights = 60, 200, np.linspace(-1, 1, 4)
    R = np.exp(np.random.default_rng(1).normal(0, 0.3, (n, 4)))
    data = LogMeans.of(2.0 ** np.arange(6, 10), tuple(R.T), anytime)
    rng = np.random.default_rng(0)
    if anytime:
        drawn = [[np.repeat(np.arange(n), c)] * 4 for c in rng.multinomial(n, np.full(n, 1 / n), size)]
    else:
        drawn = np.stack([rng.integers(n, size=(size, n)) for _ in range(4)], axis=1)
    t = []
    for indices in drawn:
        again = np.column_stack([R[i, j] for j, i in enumerate(indices)])
        influence = again / again.mean(axis=0) * weights
        ddof = 0 if anytime else 1
        parts = [influence.sum(axis=1)] if anytime else influence.T
        variance = sum(part.var(ddof=ddof) for part in parts) / (n - 1 if anytime else n)
        t.append((np.log(again.mean(axis=0)) - data.y) @ weights / math.sqrt(variance))
    low, high = np.quantile(t, [0.025, 0.975])
    own = R / R.mean(axis=0) * weights
    se = math.sqrt((own.sum(axis=1).var(ddof=1) if anytime else own.var(axis=0, ddof=1).sum()) / n)
    assert studentised(data, weights, value=0.5, level=0.95, size=size, seed=0) == pytest.approx(
        (0.5 - high * se, 0.5 - low * se), rel=1e-9
    )


def test_resamples_of_many_runs_are_counted_right(any_seed):
    rng = np.random.default_rng(any_seed)
    samples = tuple(np.exp(rng.normal(j, 1.0, n)) for j, n in enumerate((600, 700, 600)))
    found = list(bootstrap._reordered(np.random.default_rng(any_seed), samples, 50))
    rng = np.random.default_rng(any_seed)
    indices = {n: rng.integers(n, size=(50, n)) for n in (600, 700)}
    for R, (means, variances) in zip(samples, found, strict=True):
        again = R[indices[len(R)]]
        order = np.argsort(means), np.argsort(again.mean(axis=1))
        np.testing.assert_allclose(means[order[0]], again.mean(axis=1)[order[1]], rtol=1e-12)
        np.testing.assert_allclose(variances[order[0]], again.var(axis=1, ddof=1)[order[1]], rtol=1e-9)


def test_resamples_of_different_horizons_are_independent(any_seed):
    """Equal samples at two horizons: a correlation beyond 5.3 of its errors is a false alarm once in 10^7."""
    sample = np.random.default_rng(any_seed).exponential(size=600)
    first, second = bootstrap._reordered(np.random.default_rng(any_seed), (sample, sample), 2000)
    assert sorted(first[0]) == pytest.approx(sorted(second[0]))
    assert abs(np.corrcoef(first[0], second[0])[0, 1]) < 5.3 / math.sqrt(2000)


@pytest.mark.parametrize("anytime", [True, False])
def test_many_and_few_runs_are_bootstrapped_alike(anytime, any_seed, monkeypatch):
    """Ends of intervals differ by the noise of 2000 resamples alone; 6 of its errors fail once in 10^8."""
    rng = np.random.default_rng(any_seed)
    samples = tuple(np.exp(rng.normal(j, 0.5, 550)) for j in range(4))
    data = LogMeans.of(2.0 ** np.arange(6, 10), samples, anytime)
    weights = np.linspace(-1, 1, 4)
    many = np.array(studentised(data, weights, value=0.5, level=0.95, size=2000, seed=any_seed))
    monkeypatch.setattr("ratecheck.fit.bootstrap.MANY_RUNS", 10**6)
    few = np.array(studentised(data, weights, value=0.5, level=0.95, size=2000, seed=any_seed))
    assert not np.array_equal(many, few)
    se = (few[1] - few[0]) / (2 * norm.ppf(0.975))
    noise = math.sqrt(2 * 0.025 * 0.975 / 2000) / norm.pdf(norm.ppf(0.975))
    assert np.all(np.abs(many - few) < 6 * noise * se)


def test_resamples_are_fewer_only_where_runs_are_very_many():
    assert bounded(2000, 2500) == 2000
    assert bounded(2000, 10**4) == 500
    assert bounded(2000, 10**6) == 400
    assert sum(piece.stop - piece.start for piece in pieces(2000, 300, 1000)) == 2000


@pytest.mark.slow
def test_the_benchmark_measures_seconds_and_memory(large):
    folder, _ = large
    found = benchmark.measured("report", folder, "--no-figures")
    assert found.seconds > 0
    assert found.processor > 0
    assert 0.05 < found.gigabytes < 0.6
    assert benchmark.measured("export", folder, "--csv").gigabytes < 0.3


def test_the_benchmark_states_its_targets_beside_the_figures(monkeypatch, capsys):
    monkeypatch.setattr(benchmark, "measured", lambda *_, **__: benchmark.Spent(1.25, 1.5, 0.125))
    assert benchmark.main(["--rows", "1e3"]) == 0
    _, header, report, *exports = capsys.readouterr().out.splitlines()
    assert header.split(maxsplit=1)[0] == "command"
    assert report.split()[2:] == ["1.25", "10.00", "1.50", "0.12", "0.60"]
    assert all(line.split()[2:] == ["1.25", "–", "1.50", "0.12", "0.30"] for line in exports)
    assert benchmark.targets("report", 10**7) == (90.0, 1.0)
    assert benchmark.targets("report", 10**8) == (None, None)


def test_a_report_waits_for_no_compiler():
    code = "import sys, ratecheck.cli, ratecheck.study.rendering; print('numba' in sys.modules)"
    assert subprocess.run([sys.executable, "-c", code], capture_output=True, text=True).stdout == "False\n"


def test_what_is_known_of_a_series_is_not_held_in_memory(tmp_path):
    benchmark.build(tmp_path, 20_000, benchmark.COSTS[:1])
    with Store(tmp_path) as store:
        case = store.study()[1][0]
        list(store.known(case.series.digest))  # what is allocated once
        tracemalloc.start()
        try:
            assert sum(1 for _ in store.known(case.series.digest)) == case.replicates > 100
            assert tracemalloc.get_traced_memory()[1] < 500_000  # all of them at once: 1.5 MB
        finally:
            tracemalloc.stop()
