"""Samplers of optuna: by default TPE, its own default.

A step takes the longer the more steps there were.  No theorem bounds their regret.
"""

import numpy as np

from ..arguments import shown
from .shared import library, seed_of


class Optuna:
    """A factory for AskTell, anytime: `sampler` is a name in optuna.samplers that takes a seed, as TPESampler does."""

    def __init__(self, dim, lower, upper, horizon, rng, sampler="TPESampler"):
        optuna, self.sampler = library("optuna"), sampler
        if not (isinstance(sampler, str) and sampler.endswith("Sampler") and hasattr(optuna.samplers, sampler)):
            raise ValueError(f"sampler = {shown(sampler)} is none of optuna.samplers")
        spoken = optuna.logging.get_verbosity()
        optuna.logging.set_verbosity(optuna.logging.WARNING)  # it announces every new study
        try:
            self.study = optuna.create_study(sampler=getattr(optuna.samplers, sampler)(seed=seed_of(rng)))
        finally:
            optuna.logging.set_verbosity(spoken)
        self.box = [(f"x{q}", float(low), float(high)) for q, (low, high) in enumerate(zip(lower, upper, strict=True))]

    def ask(self):
        try:
            self.trial = self.study.ask()
            return np.array([self.trial.suggest_float(*side) for side in self.box])
        except ImportError as error:
            raise ValueError(f"{self.sampler} of optuna cannot run here: {error}") from error

    def tell(self, x, y):
        self.study.tell(self.trial, float(y))
