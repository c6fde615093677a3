"""rc.testing.check_algorithm against algorithms that break one clause each."""

import threading
from functools import partial
from typing import NamedTuple

import numpy as np
import pytest

import function_zoo as zoo
import ratecheck as rc
from ratecheck.kernels import uniform
from ratecheck.testing import CLAUSES
from tests.strategies import ExploreThenCommit, RandomSearch

COSTS = [zoo.get("cone", 1)]


class GlobalRandomness(RandomSearch):
    def ask(self):
        return np.random.uniform(self.lower, self.upper)  # noqa: NPY002


class Stray(RandomSearch):
    asked = 0

    def ask(self):
        self.asked += 1
        return super().ask() + (self.upper if self.asked > 150 else 0.0)


class Sharing(RandomSearch):
    best = [(np.inf, None)]  # noqa: RUF012

    def ask(self):
        point = self.best[0][1]
        return super().ask() if point is None else np.clip(point + 0.01 * self.rng.normal(), self.lower, self.upper)

    def tell(self, x, y):
        self.best[0] = min(self.best[0], (y, x.copy()), key=lambda pair: pair[0])


class Scribbling(RandomSearch):
    def tell(self, x, y):
        x += 1.0


class Forgetful(RandomSearch):
    """It draws once for the whole class."""

    drawn = None

    def __init__(self, *arguments):
        super().__init__(*arguments)
        if Forgetful.drawn is None:
            Forgetful.drawn = self.rng.random()

    def ask(self):
        return self.lower + (self.upper - self.lower) * self.drawn


class WithLock(RandomSearch):
    def __init__(self, lock, *arguments):
        super().__init__(*arguments)


class Unsettled(rc.UniformBins):
    def settle(self, cost):
        return Unsettled((self.width or 2.0) / 2)


class Shouting(rc.UniformBins):
    label = "uniform\nbins"


class Boasting(rc.UniformBins):
    def claims(self, cost):
        return (rc.Claim("mine", "R = O(T^2)", "upper", rc.Rate(-1.0)),)


class Kept(NamedTuple):
    lower: np.ndarray
    upper: np.ndarray
    best: np.ndarray
    value: float


def init(dim, lower, upper, horizon, rng):
    return Kept(lower, upper, lower.copy(), np.inf)


def ask(state, t, rng, x):
    for q in range(x.size):
        x[q] = state.lower[q] + (state.upper[q] - state.lower[q]) * uniform(rng)


def tell(state, t, x, y):
    pass


def ask_numbas_own(state, t, rng, x):
    for q in range(x.size):
        x[q] = np.random.uniform(state.lower[q], state.upper[q])  # noqa: NPY002


def ask_from_the_horizon(state, t, rng, x):
    for q in range(x.size):
        x[q] = state.lower[q] + (state.upper[q] - state.lower[q]) / state.value


def init_with_the_horizon(dim, lower, upper, horizon, rng):
    return Kept(lower, upper, lower.copy(), float(horizon))


def tell_keeps_x(state, t, x, y):
    return Kept(state.lower, state.upper, x, y)


def tell_scribbles(state, t, x, y):
    x[0] = 0.0


def tell_beyond(state, t, x, y):
    if state.best[x.size + 40] > 1e300:
        state.best[0] = y


SHARED = np.zeros(1)


def init_shared(dim, lower, upper, horizon, rng):
    return Kept(lower, upper, SHARED, np.inf)


def ask_shared(state, t, rng, x):
    for q in range(x.size):
        x[q] = state.lower[q] + (state.upper[q] - state.lower[q]) * (state.best[0] % 1.0)


def tell_shared(state, t, x, y):
    state.best[0] += abs(y)


TWICE, ANYTIME, ALONE = "the same seed", "anytime means", "tell leaves"
MUTANTS = {
    "global randomness": (rc.AskTell(GlobalRandomness), TWICE),
    "outside the box": (rc.AskTell(Stray, anytime=True), "no point of the box"),
    "a shared state": (rc.AskTell(Sharing), TWICE),
    "drawn once": (rc.AskTell(Forgetful), "another process"),
    "knows the horizon": (rc.AskTell(ExploreThenCommit, anytime=True), ANYTIME),
    "writes to x": (rc.AskTell(Scribbling), ALONE),
    "no pickle": (rc.AskTell(partial(WithLock, threading.Lock())), "pickled|holds an address"),
    "settles again": (Unsettled(), "settled twice"),
    "two lines": (Shouting(), "label"),
    "a slope above 1": (Boasting(), "slope of 2"),
    "compiled, numba's randomness": (rc.Compiled(init, ask_numbas_own, tell), TWICE),
    "compiled, knows the horizon": (
        rc.Compiled(init_with_the_horizon, ask_from_the_horizon, tell, anytime=True),
        ANYTIME,
    ),
    "compiled, keeps x": (rc.Compiled(init, ask, tell_keeps_x), "holds x itself"),
    "compiled, writes to x": (rc.Compiled(init, ask, tell_scribbles), ALONE),
    "compiled, a shared state": (rc.Compiled(init_shared, ask_shared, tell_shared), TWICE),
    "compiled, beyond its arrays": (rc.Compiled(init, ask, tell_beyond), "IndexError"),
    "no algorithm": ("uniform", "interface"),
}


@pytest.mark.parametrize(("algorithm", "words"), MUTANTS.values(), ids=MUTANTS)
def test_what_breaks_the_contract_is_caught(algorithm, words):
    with pytest.raises(AssertionError, match=words) as error:
        rc.testing.check_algorithm(algorithm, COSTS)
    assert "\n" not in str(error.value)
    assert any(f"({clause})" in str(error.value) for clause in (*CLAUSES, "another process comes to the same"))


def test_what_the_mutants_are_made_of_keeps_to_it():
    for algorithm in (rc.AskTell(RandomSearch, anytime=True), rc.Compiled(init, ask, tell, anytime=True)):
        rc.testing.check_algorithm(algorithm, COSTS)
