"""Algorithms in plain Python: simulated, refused with a sentence, studied on processes."""

import numpy as np
import pytest

import function_zoo as zoo
import ratecheck as rc
from ratecheck.engine import series_of
from ratecheck.noise import Gaussian
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
    before = series_of(algorithm, COST, 0, Gaussian(1.0), "random").digest
    assert series_of(algorithm, COST, 0, Gaussian(1.0), "random").digest == before
    monkeypatch.setattr("inspect.getsource", lambda module: "other code")
    assert series_of(algorithm, COST, 0, Gaussian(1.0), "random").digest != before
