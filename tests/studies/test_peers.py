"""The contest of algorithms of several libraries: how it is measured, kept and judged."""

import json

import numpy as np
import pandas as pd
import pytest

import function_zoo as zoo
import ratecheck as rc
from studies.peers import __main__ as command
from studies.peers import contest as contests
from studies.peers.pages import FIGURES
from tests.strategies import ExploreThenCommit, RandomSearch


def small(cost):
    """Contestants that need no library."""
    group = contests.OURS
    return [
        contests.Contestant("uniform bins", group, rc.UniformBins(), ""),
        contests.Contestant(contests.REFERENCE, group, rc.AdaptiveBins(), ""),
        contests.Contestant("HOO", group, rc.HOO(), ""),
        contests.Contestant("PyXAB T_HOO", contests.PYXAB, rc.AskTell(ExploreThenCommit), "", "it has no theorem"),
        contests.Contestant("optuna TPE", contests.OTHERS, rc.AskTell(RandomSearch, True, rc.Rate(0.5)), ""),
    ]


@pytest.fixture
def small_contest(monkeypatch):
    monkeypatch.setattr(contests, "contestants", small)
    monkeypatch.setattr("studies.peers.pages.contestants", small)
    monkeypatch.setattr(contests, "LAST", 2**10)
    monkeypatch.setattr("studies.peers.pages.FIGURES", FIGURES[::2])


def test_a_contest_is_kept_and_rendered_again(small_contest, tmp_path, monkeypatch, capsys):
    line = ["--family", "garland", "--replicates", "4", "--out", str(tmp_path)]
    assert command.main(line) == 0
    kept = {path.name: path.read_bytes() for path in tmp_path.iterdir() if path.is_file()}
    assert set(kept) == {"runs.csv", "ends.csv", "settings.json", "slopes.csv", "report.md"}
    assert {path.name for path in (tmp_path / "figures").iterdir()} == {"regret-minimised.png", "time-minimised.png"}
    contest = command._kept(tmp_path, {"replicates": 4}, fresh=False)
    runs, fits = contest.runs, contest.fits
    assert set(runs["horizon"]) == {2**k for k in range(5, 11)}
    mine = runs[runs["algorithm"] == "uniform bins"]
    again = rc.simulate(rc.UniformBins(), zoo.get("garland", 1), [512], replicates=4, alignment="fixed").frame["regret"]
    assert mine[mine["horizon"] == 512]["regret"].tolist() == pytest.approx(again.tolist())
    straight = fits[fits["algorithm"] == "optuna TPE"]
    assert set(straight["theorem"]) == {"its promise"}
    assert straight["slope"].tolist() == pytest.approx([1.0], abs=0.1)
    assert set(fits[fits["algorithm"] == "PyXAB T_HOO"]["verdict"]) == {""}
    assert rc.fit_rate(mine, window=(64, 1024), period=None).slope == pytest.approx(
        fits[fits["algorithm"] == "uniform bins"]["slope"].item()
    )

    monkeypatch.setattr(contests, "measure", None)  # nothing is run again
    assert command.main(line) == 0
    assert {path.name: path.read_bytes() for path in tmp_path.iterdir() if path.is_file()} == kept
    assert command.main([*line, "--seed", "5"]) == 2
    assert "keeps runs with seed = 0; take the same, --fresh, or another --out" in capsys.readouterr().err
    (tmp_path / "settings.json").write_text(json.dumps({"seed": 0}))
    assert command.main(line) == 2
    assert "cannot be read" in capsys.readouterr().err


@pytest.mark.parametrize(("power", "said"), [(1.3, "REFUTED"), (0.4, "CONSISTENT")])
def test_contestants_are_judged_by_their_promise(small_contest, any_seed, power, said):
    rng, horizons = np.random.default_rng(any_seed), 2 ** np.arange(6, 15)
    rows = [
        {"family": "cone", "dim": 1, "algorithm": "optuna TPE", "replicate": i, "horizon": T, "anytime": False}
        | {"regret": T**power * rng.uniform(0.95, 1.05)}
        for i in range(8)
        for T in horizons.tolist()
    ]
    ends = pd.DataFrame([{"family": "cone", "dim": 1, "algorithm": name} for name in ("optuna TPE", "HOO")])
    fits = contests.Contest(pd.DataFrame(rows), ends).fits.set_index("algorithm")
    assert fits.loc["optuna TPE", "verdict"] == said  # against T^(1/2)
    assert fits.loc["HOO", "reason"].startswith("it has no run")


@pytest.mark.parametrize(
    ("line", "words"),
    [
        (["--family", "ackley"], "ackley is none of the costs of this study: quadratic, cone"),
        (["--family", "conne"], "did you mean 'cone'"),
        (["--replicates", "2"], "--replicates: 2 is too small; the nearest valid choice is 3"),
        (["--budget", "0"], "--budget: 0 is too small; the nearest valid choice is 1"),
    ],
)
def test_bad_lines_end_with_a_sentence(line, words, tmp_path, capsys):
    try:
        code = command.main([*line, "--out", str(tmp_path / "new")])
    except SystemExit as stopped:
        code = stopped.code
    assert code == 2
    assert words in capsys.readouterr().err
    assert not (tmp_path / "new").exists()


def test_a_stage_that_takes_too_long_is_given_up(monkeypatch):
    ticks = iter(range(10**6))
    monkeypatch.setattr(contests.time, "process_time", lambda: float(next(ticks)))  # a second between two looks
    contestant = contests.Contestant("slow", contests.OTHERS, rc.AskTell(RandomSearch, anytime=True), "")
    rows, end = contests.measure(zoo.get("cone", 2), contestant, replicates=3, seed=0, budget=500)
    assert {row["horizon"] for row in rows} == {32, 64, 128, 256}  # 96 looks for each, whatever it is
    assert end == "ended at T = 256: 250 ms a step at the end; T = 512 would take about 190 s"
    rows, end = contests.measure(zoo.get("cone", 2), contestant, replicates=3, seed=0, budget=10)
    assert rows == []
    assert end == "no horizon at all; T = 32 took more than 15 s and was given up"
