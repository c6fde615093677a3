"""Algorithms in plain Python: simulated, refused with a sentence, studied on processes."""

import subprocess
import sys
import threading
import traceback
from functools import partial

import numpy as np
import pytest

import function_zoo as zoo
import ratecheck as rc
from ratecheck.algorithms.asktell import AlgorithmError
from ratecheck.engine.simulate import Job, begin
from ratecheck.sampling.noise import Gaussian
from tests.strategies import ExploreThenCommit, RandomSearch

COST = zoo.get("cone", 2)


def test_random_search_against_the_mean_of_the_cost(any_seed):
    runs = rc.simulate(rc.AskTell(RandomSearch, anytime=True), COST, [64, 256, 1024], replicates=40, seed=any_seed)
    X = np.random.default_rng(1).uniform(COST.lower, COST.upper, (200_000, 2))
    values = COST.many(X) - COST.minimum
    total = runs.frame.groupby("horizon")["regret"].sum()
    for horizon, regret in total.items():
        steps = 40 * horizon
        # five standard errors: a false alarm in 2e-6 of the seeds
        assert abs(regret - steps * values.mean()) < 5 * values.std() * np.sqrt(steps)
    fit = rc.fit_rate(runs)
    assert rc.verdict(fit, rc.Rate(0.5)).name == "REFUTED"


def test_noise_reaches_the_algorithm_and_not_the_regret():
    seen = []

    class Listener(RandomSearch):
        def tell(self, x, y):
            seen.append(y - COST(x))

    quiet = rc.simulate(rc.AskTell(RandomSearch, anytime=True), COST, [50], replicates=1, noise=Gaussian(0.0))
    loud = rc.simulate(rc.AskTell(RandomSearch, anytime=True), COST, [50], replicates=1, noise=Gaussian(3.0))
    assert quiet.frame["regret"].tolist() == loud.frame["regret"].tolist()
    rc.simulate(rc.AskTell(Listener), COST, [4000], replicates=1, noise=Gaussian(3.0), workers=1)
    # the standard deviation of 4000 normal numbers is known to 1.1 %; six of its errors
    assert np.std(seen) == pytest.approx(3.0, rel=0.07)


def test_a_horizon_dependent_algorithm_runs_once_per_horizon():
    runs = rc.simulate(rc.AskTell(ExploreThenCommit), COST, [64, 512], replicates=3)
    assert not runs.frame["anytime"].any()
    assert runs.frame["stream"].nunique() == 6
    again = rc.simulate(rc.AskTell(ExploreThenCommit), COST, [512], replicates=[1], workers=1)
    same = runs.frame.query("horizon == 512 and replicate == 1")
    assert again.frame["regret"].tolist() == same["regret"].tolist()


class Stray(RandomSearch):
    def ask(self):
        return self.upper + 1


class Flat(RandomSearch):
    def ask(self):
        return 0.5


@pytest.mark.parametrize("factory", [Stray, Flat])
def test_a_query_outside_the_box_is_refused(factory):
    with pytest.raises(ValueError, match="no point of the box of cone"):
        rc.simulate(rc.AskTell(factory), COST, [10], replicates=1)


def test_bad_factories():
    with pytest.raises(ValueError, match="must be callable"):
        rc.AskTell("RandomSearch")
    with pytest.raises(ValueError, match="speak of cells"):
        rc.simulate(rc.AskTell(RandomSearch), COST, [10], replicates=1, diagnostics=True)
    with pytest.raises(ValueError, match=r"AskTell\(factory\)"):
        rc.simulate(RandomSearch, COST, [10])


def test_edited_code_makes_another_series(monkeypatch):
    algorithm = rc.AskTell(RandomSearch)
    before = Job(algorithm, COST, noise=Gaussian(1.0)).series.digest
    assert Job(algorithm, COST, noise=Gaussian(1.0)).series.digest == before
    monkeypatch.setattr("inspect.getsource", lambda module: "other code")
    assert Job(algorithm, COST, noise=Gaussian(1.0)).series.digest != before


# What a factory is given


class Named(RandomSearch):
    def __init__(self, upper, lower, rng, sigma, seed, width=3.0):
        super().__init__(len(lower), lower, upper, None, rng)
        self.sigma, self.seed, self.width = sigma, seed, width


class Other(RandomSearch):
    def __init__(self, d, low, high, T, random):
        super().__init__(d, low, high, T, random)


def test_a_factory_is_given_what_it_names():
    run, _ = begin(rc.AskTell(Named), COST, horizon=100, replicate=0, noise=Gaussian(0.5))
    assert run.player.sigma == 0.5
    assert isinstance(run.player.seed, int)
    assert run.player.width == 3.0
    assert run.player.upper.tolist() == COST.upper.tolist()
    assert rc.AskTell(Named).anytime
    assert not rc.AskTell(RandomSearch).anytime
    assert not rc.AskTell(Other).anytime
    fixed = rc.AskTell(partial(Named, sigma=7.0))
    assert begin(fixed, COST, horizon=100, replicate=0)[0].player.sigma == 7.0
    same = [rc.simulate(rc.AskTell(f), COST, [20], 1).frame["regret"][0] > 0 for f in (Other, lambda *a: Other(*a))]
    assert all(same)
    with pytest.raises(ValueError, match=r"missing a required argument: 'colour'.*dim, lower, upper"):
        rc.simulate(rc.AskTell(lambda lower, colour: None), COST, [10], 1)


class Batches(RandomSearch):
    """Seven points at a time, for whatever horizon."""

    def __init__(self, lower, upper, rng):
        super().__init__(2, lower, upper, None, rng)
        self.heard = []

    def ask(self):
        return self.rng.uniform(self.lower, self.upper, (7, 2))

    def tell(self, X, Y):
        assert X.shape == (7, 2)
        assert Y.shape == (7,)
        self.heard.append(Y)


def test_a_batch_is_as_many_steps_as_it_has_points():
    run, _ = begin(rc.AskTell(Batches), COST, horizon=100, replicate=0, noise=Gaussian(0.0))
    regrets = []
    for t in (3, 7, 10, 21):
        run.advance(t)
        regrets.append(run.regret)
        assert len(run.player.heard) == t // 7
    assert regrets[-1] == pytest.approx(np.sum(run.player.heard) - 21 * COST.minimum)
    whole, _ = begin(rc.AskTell(Batches), COST, horizon=100, replicate=0, noise=Gaussian(0.0))
    whole.advance(21)
    assert whole.regret == regrets[-1]


class Failing(RandomSearch):
    def tell(self, x, y):
        self.told = getattr(self, "told", 0) + 1
        if self.told == 17:
            raise KeyError("lost")


@pytest.mark.parametrize("alone", [1.0, 0.0])
def test_a_failure_is_told_with_its_place(alone, monkeypatch):
    monkeypatch.setattr("ratecheck.engine.simulate.ALONE", alone)  # in this process, in others
    with pytest.raises(
        AlgorithmError, match=r"replicate [0-2]: Failing.tell failed at step 17 \(KeyError: 'lost'\)"
    ) as e:
        rc.simulate(rc.AskTell(Failing), COST, [100], 3, workers=2)
    assert "lost" in str(e.value.__cause__)
    assert "in tell" in "".join(traceback.format_exception(e.value))


def test_what_cannot_be_sent_runs_here_with_a_remark(monkeypatch):
    monkeypatch.setattr("ratecheck.engine.simulate.ALONE", 0.0)
    lock = threading.Lock()

    def factory(lower, upper, rng):
        with lock:
            return RandomSearch(2, lower, upper, None, rng)

    with pytest.warns(RuntimeWarning, match="one process runs it all"):
        runs = rc.simulate(rc.AskTell(factory), COST, [50], 3, workers=2)
    assert len(runs.frame) == 3


def test_a_script_that_does_not_ask_whether_it_is_main_runs_once(tmp_path):
    script = tmp_path / "script.py"
    script.write_text(
        "import function_zoo as zoo, ratecheck as rc, ratecheck.engine.simulate\n"
        "ratecheck.engine.simulate.ALONE = 0.0\n"
        "print('begun')\n"
        "class Mine:\n"
        "    def __init__(self, lower, upper, rng): self.lower, self.upper, self.rng = lower, upper, rng\n"
        "    def ask(self): return self.rng.uniform(self.lower, self.upper)\n"
        "    def tell(self, x, y): pass\n"
        "cost = zoo.cost(lambda x: abs(x - 0.3), -1, 1, minimum=0.0)\n"
        "print(len(rc.simulate(rc.AskTell(Mine), cost, [50], 4, workers=2).frame))\n"
    )
    done = subprocess.run([sys.executable, script], capture_output=True, text=True, timeout=120, check=False)
    assert done.stdout.split() == ["begun", "4"], done.stderr
    assert done.stderr == ""
