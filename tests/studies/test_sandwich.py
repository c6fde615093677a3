"""The study of lower bounds: what it measures, what it calls an error, and its command line."""

import numpy as np
import pytest

from studies.lower_bound import __main__ as command
from studies.lower_bound.pages import report
from studies.lower_bound.sandwich import ORACLE, Measured, measure


@pytest.fixture(scope="module")
def found():
    return measure([("cone", 1)], horizons=(1024, 4096, 16384), members=4, workers=1)


def test_no_algorithm_falls_below_the_bound_and_the_oracle_does(found):
    # a mean of four members falls below by chance once in 1e6 runs at most, and lies ten times above
    factors = found.factors
    assert factors.groupby("algorithm")["below"].all().to_dict() == {
        "uniform bins": False,
        "adaptive bins": False,
        "adaptive bins, mu of f0": False,
        ORACLE: True,
    }
    real = factors[factors["algorithm"] != ORACLE]
    assert (real["factor"] > 1).all()
    assert not real["below"].any()
    assert found.bounds["certified"].all()
    assert (np.diff(found.bounds["bound"]) > 0).all()


def test_measuring_again_gives_the_same_runs(found):
    again = measure([("cone", 1)], horizons=(1024,), members=4, workers=1)
    first = found.runs[found.runs["horizon"] == 1024].reset_index(drop=True)
    assert again.runs.equals(first)


def test_an_algorithm_below_the_bound_is_called_an_engine_error(found):
    wrong = found.runs.assign(regret=found.runs["regret"] / 1e6)
    text = report(Measured(wrong, found.every_bound))
    assert "ENGINE ERROR: 9 mean regrets lie below" in text
    assert "ENGINE ERROR" not in report(found)


def test_the_report_names_every_factor(found):
    text = report(found)
    assert "**No algorithm falls below a bound**" in text
    assert "an oracle that knows the member falls below in 2 of 2 cases" in text
    last = found.factors[found.factors["horizon"] == 16384]
    for row in last[last["algorithm"] != ORACLE].itertuples():
        assert f"{row.factor:.3g} ± " in text


def test_a_family_that_is_not_used_leaves_a_gap_and_its_reason(found):
    runs, bounds = found.runs[found.runs["horizon"] != 4096], found.every_bound
    bounds = bounds.assign(problem=bounds["problem"].mask(bounds["horizon"] == 4096, "no hard family"))
    text = report(Measured(runs, bounds))
    assert "1 families were not used:\n\n- cone, d = 1, T = 4,096: no hard family." in text


def test_the_report_is_written_again_from_the_tables(found, tmp_path):
    found.runs.to_csv(tmp_path / "runs.csv", index=False)
    found.every_bound.to_csv(tmp_path / "bounds.csv", index=False)
    assert command.main(["--report", "--out", str(tmp_path)]) == 0
    picture = "![Bounds and regrets in dimension 1](figures/sandwich-d1.png)"
    assert picture in (tmp_path / "report.md").read_text("utf-8")
    assert report(found).splitlines()[:6] == (tmp_path / "report.md").read_text("utf-8").splitlines()[:6]


@pytest.mark.parametrize(
    ("words", "said"),
    [
        (["--members", "1"], "nearest valid choice is 2"),
        (["--members", "100000"], "nearest valid choice is 10000"),
        (["--family", "conee"], "did you mean 'cone'"),
        (["--seed", "-1"], "--seed"),
        (["--report"], "there is no runs.csv in"),
    ],
)
def test_mistakes_get_one_sentence(words, said, tmp_path, capsys):
    try:
        code = command.main([*words, "--out", str(tmp_path / "out")])
    except SystemExit as stop:
        code = stop.code
    assert code == 2
    assert said in capsys.readouterr().err
