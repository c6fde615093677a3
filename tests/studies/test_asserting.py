"""The benchmark of `assert_rate`: its table, and the mistakes that were held out."""

import pandas as pd

from studies.benchmarks import asserting as benchmark
from studies.benchmarks.mistakes import RATE


def test_benchmark(capsys, tmp_path, monkeypatch):
    """Rows that are not measured anew stay; they come in the order of the kinds."""
    one = benchmark.kinds()["ask/tell, arms"]
    few = one._replace(
        mistakes=dict(list(one.mistakes.items())[4:6]), size={"horizons": [8, 16, 32, 64, 128, 256], "replicates": 24}
    )
    monkeypatch.setattr(benchmark, "kinds", lambda: {"ask/tell, arms": few})
    path = tmp_path / "table.csv"
    assert benchmark.main(["--seeds", "0", "--few", "1", "--out", str(path)]) == 0
    assert path.read_text() == capsys.readouterr().out
    assert benchmark.main(["--seeds", "1", "--few", "0", "--budget", "3", "--out", str(path)]) == 0
    table = pd.read_csv(path, keep_default_na=False)
    assert list(table["mistake"]) == ["none", "the second best", "explores the first five arms"]
    assert list(table["held_out"]) == ["", "no", "yes"]
    assert list(table["seeds"]) == list(table["passed"] + table["failed"] + table["cannot tell"]) == [1, 1, 1]


def test_an_assertion_without_time_is_no_failure():
    kind = benchmark.kinds()["ask/tell, arms"]
    rules = benchmark.Rules(1e-4, 1e-3, 0.95)
    for seconds in (1e-9, 1e-3):
        assert benchmark.outcomes(kind.sound(0), kind, rules, seconds, {})[""].name == benchmark.OPEN


def test_every_kind_has_mistakes_that_were_held_out():
    for kind in benchmark.kinds().values():
        assert [mistake.held_out for mistake in kind.mistakes.values()] == [False] * 5 + [True] * 5
        assert RATE in {mistake.changes for mistake in kind.mistakes.values() if mistake.held_out}
