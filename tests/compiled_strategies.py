"""Two algorithms of functions that numba compiles, to be plugged in."""

import math
from typing import NamedTuple

import numpy as np

from ratecheck.kernels import normal, uniform


class Arms(NamedTuple):
    centres: np.ndarray
    pulls: np.ndarray
    total: np.ndarray
    asked: np.ndarray  # the arm of this step


def ucb_init(dim, lower, upper, horizon, rng, per_axis=8):
    """UCB1 on the centres of a grid: linear regret in the end, for the minimiser is none of them."""
    axes = [low + (high - low) * (np.arange(per_axis) + 0.5) / per_axis for low, high in zip(lower, upper, strict=True)]
    centres = np.stack(np.meshgrid(*axes, indexing="ij"), axis=-1).reshape(-1, dim)
    return Arms(centres, np.zeros(len(centres)), np.zeros(len(centres)), np.zeros(1, dtype=np.int64))


def ucb_ask(state, t, rng, x):
    best, arm = np.inf, 0
    for i in range(state.pulls.size):
        n = state.pulls[i]
        bound = state.total[i] / n - math.sqrt(2.0 * math.log(t) / n) if n > 0 else -np.inf
        if bound < best:
            best, arm = bound, i
    state.asked[0] = arm
    x[:] = state.centres[arm]


def ucb_tell(state, t, x, y):
    arm = state.asked[0]
    state.pulls[arm] += 1
    state.total[arm] += y


class Climber(NamedTuple):
    lower: np.ndarray
    upper: np.ndarray
    best: np.ndarray
    value: float
    step: float


def climber_init(dim, lower, upper, horizon, rng, step=0.5):
    """A (1+1) search with Rechenberg's one-fifth rule, which believes every noisy value."""
    return Climber(lower, upper, (lower + upper) / 2, np.inf, step)


def climber_ask(state, t, rng, x):
    for q in range(x.size):
        side = state.upper[q] - state.lower[q]
        moved = state.best[q] + state.step * side * normal(rng)
        if not state.lower[q] <= moved <= state.upper[q]:
            moved = state.lower[q] + side * uniform(rng)
        x[q] = moved


def climber_tell(state, t, x, y):
    if y < state.value:
        state.best[:] = x
        return Climber(state.lower, state.upper, state.best, y, min(1.5 * state.step, 1.0))
    return Climber(state.lower, state.upper, state.best, state.value, max(state.step * 1.5**-0.25, 1e-6))
