"""The public names as a type checker sees them: `python -m mypy` reads this file and nobody runs it."""

from functools import partial
from typing import NamedTuple

import numpy as np

import function_zoo as zoo
import ratecheck as rc
from ratecheck.kernels import normal, uniform


class State(NamedTuple):
    lower: np.ndarray
    upper: np.ndarray


def init(dim: int, lower: np.ndarray, upper: np.ndarray, horizon: int, rng: np.ndarray, step: float = 0.5) -> State:
    return State(lower, upper)


def ask(state: State, t: int, rng: np.ndarray, x: np.ndarray) -> None:
    x[0] = uniform(rng) + normal(rng)


def tell(state: State, t: int, x: np.ndarray, y: float) -> None:
    pass


class Search:
    def __init__(self, dim: int, lower: np.ndarray, upper: np.ndarray, horizon: int, rng: np.random.Generator):
        self.lower, self.upper, self.rng = lower, upper, rng

    def ask(self) -> np.ndarray:
        return self.rng.uniform(self.lower, self.upper)

    def tell(self, x: np.ndarray, y: float) -> None:
        pass


cost = zoo.get("cone", 2)
for algorithm in (rc.UniformBins(), rc.AdaptiveBins(mu="min"), rc.HOO(nu="min")):
    runs = rc.simulate(algorithm, cost, [100, 1000], replicates=8, noise=rc.Gaussian(1.0))
own = rc.Compiled(partial(init, step=0.1), ask, tell, anytime=True, promise=rc.Rate(1 / 3))
runs = rc.simulate(own, cost, [100, 1000])
runs = rc.simulate(rc.AskTell(Search, anytime=True, promise=rc.Rate.parse("T^(2/3)")), cost, (100, 1000))
rc.testing.check_algorithm(own, [cost])
fit = rc.fit_rate(runs)
verdict = rc.verdict(fit, rc.Rate(0.5), "upper")
print(verdict.name, fit.slope, runs.frame["regret"], cost.constants.alpha)
for claim in own.claims(cost):
    print(claim.rate.slope)
found = rc.predict(rc.AdaptiveBins(), cost, [100, 1000])
print(found.frame, rc.lower_bound(cost, 1000).regret)
try:
    rc.simulate(rc.UniformBins(), cost, [10])
except rc.EngineError as error:
    print(error)

# What is wrong is found, so that none of these names is Any; an ignore that is not needed is an error too
rc.simulate(rc.UniformBins, cost, [10])  # type: ignore[arg-type]
rc.simulate(rc.HOO(), "cone", [10])  # type: ignore[arg-type]
rc.Compiled(init, ask)  # type: ignore[call-arg]
rc.testing.check_algorithm(cost)  # type: ignore[arg-type]
rc.AdaptiveBins(width=1.0)  # type: ignore[call-arg]
rc.verdict(fit, "T^(2/3)", 3)  # type: ignore[arg-type]
