"""Algorithms of other libraries: the contract of ask and tell.

PyXAB and cma come with the extra `test`; nevergrad and optuna, which bring a hundred megabytes, with `peers`.
"""

import pickle
import pkgutil
from functools import partial

import numpy as np
import pytest

import function_zoo as zoo
import ratecheck as rc
from ratecheck import testing
from ratecheck.algorithms.asktell import AlgorithmError
from ratecheck.engine.simulate import begin, simulate
from ratecheck.peers import CMA, Nevergrad, Optuna, PyXAB, from_pyxab
from ratecheck.peers.pyxab import ALGORITHMS

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
    run, _ = begin(algorithm, cost, horizon=T, replicate=replicate, alignment="fixed")
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
    together = [begin(algorithm, COST, horizon=T, replicate=i, alignment="fixed")[0] for i in range(2)]
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
