"""Optimisers of nevergrad, which is told that the function is noisy.

The default is TBPSA, which nevergrad recommends under noise.  Its NGOpt, which chooses among many, asks in one
dimension for a package that does not come with it (fcmaes), and its time per step grows with the number of steps.  No
theorem bounds their regret.
"""

import numpy as np

from ..arguments import shown
from .shared import OwnNumbers, library, seed_of


class Nevergrad:
    """A factory for AskTell: `optimizer` is a name of nevergrad's registry; it knows the horizon as its budget.

    Its random state is seeded from `rng`; what it draws from numpy's global generator besides is kept apart.
    """

    def __init__(self, dim, lower, upper, horizon, rng, optimizer="TBPSA"):
        nevergrad = library("nevergrad")
        if optimizer not in nevergrad.optimizers.registry:
            raise ValueError(f"optimizer = {shown(optimizer)} is none of nevergrad's registry")
        self.numbers = OwnNumbers(rng)
        with self.numbers:
            box = nevergrad.p.Array(shape=(dim,), lower=lower, upper=upper)
            box.random_state = np.random.RandomState(seed_of(rng))
            box.function.deterministic = False
            self.optimizer = nevergrad.optimizers.registry[optimizer](box, budget=horizon)
        self.lower, self.upper = lower, upper

    def ask(self):
        with self.numbers:
            try:
                self.candidate = self.optimizer.ask()
            except ImportError as error:
                raise ValueError(f"{self.optimizer.name} of nevergrad cannot run here: {error}") from error
        return np.clip(self.candidate.value, self.lower, self.upper)

    def tell(self, x, y):
        with self.numbers:
            self.optimizer.tell(self.candidate, float(y))
