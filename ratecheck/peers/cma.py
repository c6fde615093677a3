"""CMA-ES of N. Hansen and others (package cma), with its defaults: no handling of noise, no restarts.

It asks for a generation at a time.  Once its own rule stops it, it stays with its favourite point, the mean of its
distribution.  No theorem bounds its regret under noise.
"""

import numpy as np

from .shared import library


class CMA:
    """A factory for AskTell, anytime.  `step` is the first standard deviation, in sides of the box."""

    def __init__(self, dim, lower, upper, horizon, rng, step=0.25):
        options = {
            "bounds": [lower.tolist(), upper.tolist()],
            "randn": lambda *shape: rng.standard_normal(shape),
            "seed": np.nan,  # else it would seed numpy's global generator
            "verbose": -9,
            "maxfevals": np.inf,
        }
        sides = upper - lower
        if dim == 1:
            options["maxstd"] = np.inf  # its limit on the standard deviation ends in an error in one dimension
        elif np.any(sides != sides[0]):
            options["CMA_stds"] = (sides / sides.max()).tolist()
        self.lower, self.upper = lower, upper
        start = rng.uniform(lower, upper)
        self.strategy = library("cma").CMAEvolutionStrategy(start, step * sides.max(), options)
        self.generation, self.answers, self.favourite = [], [], None

    def ask(self):
        if self.favourite is not None:
            return self.favourite
        if not self.generation:
            self.generation, self.answers = self.strategy.ask(), []
        return self._inside(self.generation[len(self.answers)])

    def tell(self, x, y):
        if self.favourite is not None:
            return
        self.answers.append(float(y))
        if len(self.answers) == len(self.generation):
            self.strategy.tell(self.generation, self.answers)
            self.generation = []
            if self.strategy.stop():
                self.favourite = self._inside(self.strategy.result.xfavorite)

    def _inside(self, x):
        return np.clip(x, self.lower, self.upper)  # rounding may lead out by a bit
