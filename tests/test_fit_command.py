"""`ratecheck fit`: what it prints, how it ends, and what becomes of mistakes."""

import io
import json

import numpy as np
import pandas as pd
import pytest

import ratecheck as rc
from ratecheck.cli.main import main

H = 0.5 ** np.arange(3, 9)


@pytest.fixture
def fit(tmp_path, capsys, monkeypatch):
    """Type a line in a folder with three tables; gives the exit code and both outputs."""
    monkeypatch.chdir(tmp_path)
    pd.DataFrame({"h": H, "error": H**2 * (1 + H)}).to_csv("orders.csv", index=False)
    rng = np.random.default_rng(0)
    T = 2.0 ** np.arange(6, 14)
    rows = [
        (name, seed, t, t**slope * np.exp(0.1 * rng.standard_normal()))
        for name, slope in (("UCB", 0.5), ("greedy", 1.0))
        for seed in range(20)
        for t in T
    ]
    pd.DataFrame(rows, columns=["algorithm", "seed", "T", "regret"]).to_csv("runs.csv", index=False)
    n = 2.0 ** np.arange(6, 16)
    loss = 0.01 + n**-0.5
    pd.DataFrame({"n": n, "loss": loss, "se": 0.005 * loss}).to_csv("losses.csv", index=False)

    def type_line(*words):
        try:
            code = main(["fit", *words])
        except SystemExit as stop:
            code = stop.code
        out, err = capsys.readouterr()
        return code, out, err

    return type_line


def test_a_series(fit):
    code, out, err = fit("orders.csv", "--rate", "h^2")
    assert (code, err) == (0, "")
    assert "CONSISTENT: order 2.00" in out
    assert "orders" in out
    assert "x is 'h'" in out
    assert max(map(len, out.splitlines())) <= 80


def test_a_refuted_rate_ends_with_3_if_asked_to(fit):
    assert fit("orders.csv", "--rate", "h^3")[0] == 0
    code, out, _ = fit("orders.csv", "--rate", "h^3", "--strict")
    assert code == 3
    assert "REFUTED" in out
    assert fit("orders.csv", "--rate", "h^2", "--strict")[0] == 0


def test_several_curves(fit):
    code, out, err = fit("runs.csv", "--rate", "T^0.5")
    assert code == 2
    assert out == ""
    assert "several algorithm (UCB, greedy)" in err
    assert "--by algorithm" in err
    code, out, _ = fit("runs.csv", "--rate", "T^0.5", "--by", "algorithm", "--strict")
    assert code == 3
    assert out.index("algorithm = UCB") < out.index("algorithm = greedy") < out.index("REFUTED")
    code, out, _ = fit("runs.csv", "--where", "algorithm=UCB", "--separate")
    assert code == 0
    assert "20 separate runs at each T" in out
    code, _, err = fit("runs.csv", "--where", "algorithm=UBC")
    assert code == 2
    assert "did you mean UCB" in err


def test_curves_named_by_numbers(fit):
    table = pd.read_csv("orders.csv")
    pd.concat([table.assign(degree=d) for d in (1.0, 1 / 3)]).to_csv("degrees.csv", index=False)
    code, out, _ = fit("degrees.csv", "--by", "degree")
    assert code == 0
    assert [line for line in out.splitlines() if "degree =" in line] == ["degree = 1", f"degree = {1 / 3}"]


def test_numbers_for_programs(fit):
    code, out, _ = fit("runs.csv", "--by", "algorithm", "--rate", "T^0.5", "--json")
    assert code == 0
    first, second = map(json.loads, out.splitlines())
    assert first["where"] == {"algorithm": "UCB"}
    assert first["low"] < 0.5 < first["high"]
    assert second["verdict"] == "REFUTED"
    assert second["slope"] == pytest.approx(1, abs=0.05)
    frame = pd.read_csv("runs.csv")
    same = rc.fit_rate(frame, where={"algorithm": "UCB"})
    assert (first["slope"], first["low"]) == pytest.approx((same.slope, same.low))


def test_floors_and_windows(fit):
    for floor in ("fit", "0.01", "0:0.02", ":0.02"):
        code, out, _ = fit("losses.csv", "--floor", floor, "--rate", "n^-0.5", "--json")
        found = json.loads(out)
        assert code == 0
        assert found["low"] < -0.5 < found["high"]
    _, out, _ = fit("orders.csv", "--window", ":0.05", "--json")
    assert json.loads(out)["window"] == [H[-1], H[2]]


def test_intervals_in_place_of_errors(fit):
    table = pd.read_csv("losses.csv")
    reach = 1.959964 * table.se
    table.assign(a=table.loss - reach, b=table.loss + reach).drop(columns="se").to_csv("ends.csv", index=False)
    slopes = [
        [json.loads(fit(*words, "--json")[1])[end] for end in ("low", "high")]
        for words in (["losses.csv"], ["ends.csv", "--half-width", "a,b"])
    ]
    assert slopes[0] == pytest.approx(slopes[1])


def test_a_figure(fit, tmp_path):
    code, _, err = fit("orders.csv", "--rate", "h^2", "--plot", "a.png")
    assert (code, err) == (0, "")
    assert (tmp_path / "a.png").stat().st_size > 1000


def test_standard_input(fit, monkeypatch):
    class Input:
        buffer = io.BytesIO(b"h error\n0.1 1e-2\n0.05 2.5e-3\n0.025 6.2e-4\n0.0125 1.6e-4\n")

    monkeypatch.setattr("sys.stdin", Input)
    code, out, _ = fit("-", "--json")
    assert code == 0
    assert json.loads(out)["slope"] == pytest.approx(2, abs=0.02)


@pytest.mark.parametrize(
    ("words", "message"),
    [
        (["none.csv"], "no file 'none.csv'"),
        ([], "required: TABLE"),
        (["orders.csv", "--rate", "h^^2"], "exponent is expected"),
        (["orders.csv", "--rate", "h^2", "--kind", "both"], "invalid choice"),
        (["orders.csv", "--floor", "3:1"], "from low to high"),
        (["orders.csv", "--floor", "low"], "is no number"),
        (["orders.csv", "--window", "3"], "must be LO:HI"),
        (["orders.csv", "--window", "1:2"], "holds 0 values of h"),
        (["orders.csv", "--where", "h"], "must be COLUMN=VALUE"),
        (["orders.csv", "--x", "hh"], "did you mean h?"),
        (["orders.csv", "--level", "2"], "between 0 and 1"),
        (["orders.csv", "--margin", "-1"], "must not be negative"),
        (["orders.csv", "--plot", "a.doc"], "--plot takes one"),
        (["orders.csv", "--anytime", "--separate"], "not allowed with"),
        (["orders.csv", "--log-power", "1", "--window", "0.01:0.4"], None),
        (["losses.csv", "--rate", "h^2"], "x is 'n', something that grows; write the rate in n (is it n^-2?)"),
        (["orders.csv", "--rate", "T^-2"], "x is 'h', a size of steps; write the rate in h (is it h^2?)"),
        (["losses.csv", "--values"], "are for a series"),
        (["orders.csv", "--anytme"], "did you mean --anytime"),
    ],
)
def test_mistakes_end_with_2_and_one_line(fit, words, message):
    code, out, err = fit(*words)
    if message is None:
        assert code == 0
        return
    rated = [*words, "--rate", "h^2"] if words and "--margin" in words else words
    code, out, err = fit(*rated)
    assert code == 2
    assert out == ""
    assert message in err
    assert err.count("\n") == 1
