"""Algorithms of other libraries: the contract of ask and tell, and how they are measured.

PyXAB and cma come with the extra `test`; nevergrad and optuna, which bring a hundred megabytes, with `peers`.
"""

import json
import pickle
import pkgutil
from functools import partial

import numpy as np
import pandas as pd
import pytest

import function_zoo as zoo
import ratecheck as rc
from ratecheck import testing
from ratecheck.algorithms.asktell import AlgorithmError
from ratecheck.engine.simulate import begin, simulate
from ratecheck.peers import CMA, Nevergrad, Optuna, PyXAB, from_pyxab
from ratecheck.peers.pyxab import ALGORITHMS
from studies.peers import __main__ as command
from studies.peers import contest as contests
from studies.peers.pages import FIGURES
from tests.strategies import ExploreThenCommit, RandomSearch

COST = zoo.get("cone", 2)
T = 80  # StroquOOL cannot be made for less than 74
OTHERS = {
    "cma": rc.AskTell(CMA, anytime=True),
    "nevergrad": rc.AskTell(Nevergrad),
    "optuna": rc.AskTell(Optuna, anytime=True),
}
RANDOM_AXES = "T_HOO, random axes"


def peer(name):
    """An adapter, or the test is skipped."""
    pytest.importorskip(name if name in OTHERS else "PyXAB")
    if name == RANDOM_AXES:
        return from_pyxab("T_HOO", COST, partition="random")
    return OTHERS[name] if name in OTHERS else from_pyxab(name, COST)


def regret_of(algorithm, replicate, cost=COST):
    run, _ = begin(algorithm, cost, T, replicate, alignment="fixed")
    run.advance(T)
    return run.regret


def state():
    name, keys, *rest = np.random.get_state()  # noqa: NPY002
    return name, keys.tolist(), rest


@pytest.mark.parametrize("name", [*ALGORITHMS, RANDOM_AXES, *OTHERS])
def test_runs_in_company_are_those_that_it_makes_alone(name):
    algorithm = peer(name)
    np.random.seed(1)  # noqa: NPY002
    before = state()
    alone = [regret_of(algorithm, i) for i in range(2)]
    together = [begin(algorithm, COST, T, i, alignment="fixed")[0] for i in range(2)]
    for t in range(1, T + 1):
        for run in together:
            run.advance(t)
    assert state() == before  # nobody else's numbers were drawn
    assert [run.regret for run in together] == alone
    np.random.seed(2)  # noqa: NPY002
    assert regret_of(pickle.loads(pickle.dumps(algorithm)), 1) == alone[1]
    if name != "StroquOOL":  # which opens too few nodes by then for noise to matter
        assert alone[0] != alone[1]


@pytest.mark.parametrize("name", ["T_HOO", "HCT", *OTHERS])
def test_the_contract(name):
    testing.check_algorithm(peer(name), [COST], elsewhere=False)


def test_threads_do_not_share_numbers():
    algorithm = peer(RANDOM_AXES)
    one, three = (
        simulate(algorithm, COST, [40], replicates=6, workers=n, alignment="fixed").frame["regret"].tolist()
        for n in (1, 3)
    )
    assert one == three


@pytest.mark.parametrize("library", ["PyXAB", "cma", "nevergrad", "optuna"])
def test_a_library_that_is_missing_is_named_with_its_extra(library, monkeypatch):
    def missing(name):
        assert name.startswith(library)
        raise ModuleNotFoundError(f"No module named {name!r}", name=name)

    monkeypatch.setattr("ratecheck.peers.shared.import_module", missing)
    algorithm = OTHERS[library] if library in OTHERS else from_pyxab("VHCT", COST)
    with pytest.raises(AlgorithmError, match=r"needs the extra 'peers': pip install 'ratecheck\[peers\]'"):
        simulate(algorithm, COST, [10], replicates=1)


def test_every_algorithm_of_the_release_is_known():
    algos = pytest.importorskip("PyXAB.algos")
    modules = {module.name for module in pkgutil.iter_modules(algos.__path__)} - {"Algo"}
    assert {known.module for known in ALGORITHMS.values()} == modules


def test_a_cost_becomes_a_reward():
    pytest.importorskip("PyXAB")
    cost = zoo.get("six_hump_camel", 2)
    factory = from_pyxab("HCT", cost, sigma=3.0).factory
    player = factory(2, cost.lower, cost.upper, 10, np.random.default_rng(0))
    heard = []
    player.player.receive_reward = lambda t, reward: heard.append((t, reward))
    for y in (cost.minimum, cost.minimum + 6.0, cost.minimum + 60.0):
        player.tell(player.ask(), y)
    assert heard == [(1, 1.0), (2, pytest.approx(0.0)), (3, pytest.approx(-9.0))]
    assert dict(factory.settings)["nu"] * 6.0 == pytest.approx(rc.HOO().settle(cost).nu)


def test_their_hoo_against_ours(any_seed):
    pytest.importorskip("PyXAB")
    cost, horizon = zoo.get("quadratic", 2), 128
    theirs, ours = (
        simulate(algorithm, cost, [horizon], replicates=n, seed=any_seed, alignment="fixed", workers=1).frame["regret"]
        for algorithm, n in ((from_pyxab("T_HOO", cost), 12), (rc.HOO(), 200))
    )
    # they differ in details (centres, ties) that may shift the mean by 3 %; five standard errors beyond: 6e-7
    assert abs(theirs.mean() - ours.mean()) < 0.03 * ours.mean() + 5 * np.hypot(theirs.sem(), ours.sem())


class Drawn:
    """T_HOO that asks for a point drawn in its cell, as ours does, and not for the centre."""

    def __init__(self, dim, lower, upper, horizon, rng):
        self.player = from_pyxab("T_HOO", CAMEL).factory(dim, lower, upper, horizon, rng)
        self.tell, self.rng = self.player.tell, rng

    def ask(self):
        self.player.ask()
        return self.rng.uniform(*np.array(self.player.player.path[-1].get_domain()).T)


CAMEL = zoo.get("six_hump_camel", 2)


def test_their_hoo_differs_from_ours_by_the_centres(any_seed):
    pytest.importorskip("PyXAB")
    theirs, drawn, ours = (
        simulate(algorithm, CAMEL, [64], replicates=n, seed=any_seed, alignment="fixed", workers=1).frame["regret"]
        for algorithm, n in ((from_pyxab("T_HOO", CAMEL), 10), (rc.AskTell(Drawn), 30), (rc.HOO(), 200))
    )
    # ties are broken otherwise, which may shift the mean by 8 %; five standard errors beyond: 6e-7
    assert abs(drawn.mean() - ours.mean()) < 0.08 * ours.mean() + 5 * np.hypot(drawn.sem(), ours.sem())
    assert theirs.mean() < 0.75 * ours.mean()  # 0.6, and ours is known to 2 %


def test_theorems_know_the_settings():
    cost = zoo.get("cone", 2)
    claim = from_pyxab("HCT", cost).claims(cost)[0]
    assert (claim.theorem, claim.rate.slope, claim.rate.log_power) == ("HCT's theorem", 0.5, 0.5)
    assert [v.name for v in claim.violated] == ["nu", "c"]
    met = from_pyxab("HCT", cost, nu="theorem", c=100.0).claims(cost)[0]
    assert met.violated == ()
    drawn = from_pyxab("T_HOO", cost, nu="theorem", partition="random").claims(cost)[0]
    assert [v.name for v in drawn.violated] == ["partition"]
    square = from_pyxab("Zooming", zoo.get("quadratic", 1), nu="theorem").claims(zoo.get("quadratic", 1))[0]
    assert [v.name for v in square.violated] == ["alpha"]
    assert from_pyxab("POO", cost).promise is None


@pytest.mark.parametrize(
    ("settings", "words"),
    [
        ({"algorithm": "HOO"}, "'HOO' is none of PyXAB's: T_HOO"),
        ({"low": 2.0}, "low = 2 must lie below high = 1"),
        ({"partition": "ternary"}, "'ternary' must be one of cyclic, random"),
        ({"settings": (("mu", 1.0),)}, "unexpected keyword argument 'mu'"),
        ({"algorithm": "StroquOOL"}, "StroquOOL of PyXAB cannot be made for 10 rounds"),
    ],
)
def test_bad_settings_of_pyxab(settings, words):
    pytest.importorskip("PyXAB")
    given = {"algorithm": "T_HOO", "low": 0.0, "high": 1.0} | settings
    with pytest.raises((ValueError, AlgorithmError), match=words):
        simulate(rc.AskTell(PyXAB(**given)), COST, [10], replicates=1)


@pytest.mark.parametrize(("library", "setting"), [("nevergrad", "optimizer"), ("optuna", "sampler")])
def test_unknown_names_of_other_libraries(library, setting):
    factory = partial(peer(library).factory, **{setting: "nonsense"})
    with pytest.raises(ValueError, match=f"{setting} = 'nonsense' is none of"):
        simulate(rc.AskTell(factory), COST, [10], replicates=1)


# The contest


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
    again = simulate(rc.UniformBins(), zoo.get("garland", 1), [512], replicates=4, alignment="fixed").frame["regret"]
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
        (["--replicates", "2"], "--replicates 2 must lie between 3 and 1000"),
        (["--budget", "0"], "--budget 0 must lie between 1 and 3600 seconds"),
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
    rows, end = contests.measure(COST, contestant, replicates=3, seed=0, budget=500)
    assert {row["horizon"] for row in rows} == {32, 64, 128, 256}  # 96 looks for each, whatever it is
    assert end == "ended at T = 256: 250 ms a step at the end; T = 512 would take about 190 s"
    rows, end = contests.measure(COST, contestant, replicates=3, seed=0, budget=10)
    assert rows == []
    assert end == "no horizon at all; T = 32 took more than 15 s and was given up"
