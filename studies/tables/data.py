"""The tables: multilevel Monte Carlo for an SDE, orders of two schemes, and a test loss that falls to a floor."""

from __future__ import annotations

import math

import numpy as np

LEVELS = range(1, 11)
RUNS, PATHS = 64, 4000
DRIFT, VOLATILITY, STRIKE = 0.2, 0.5, 1.0
BINS = (4, 5, 6, 8, 10, 13, 16, 20, 25, 32)
SEEDS, TESTED, NOISE = 32, 4000, 0.1


def multilevel(seed=0):
    """What each level adds to the price of a call, dS = 0.2 S dt + 0.5 S dW, and its variance: a row per run and level.

    Weak order 1: the mean of a level's correction falls like 1/steps, for both schemes.  Strong order 1/2 of
    Euler-Maruyama and 1 of Milstein: its variance falls like 1/steps and 1/steps^2 (Giles, Operations Research 56,
    2008).  The correction has a sign, and meets its noise at the fine levels.
    """
    import pandas as pd

    rows = []
    for run in range(RUNS):
        for level in LEVELS:
            rng = np.random.default_rng([seed, 1, run, level])
            steps = 2**level
            dW = rng.standard_normal((steps, PATHS)) / math.sqrt(steps)
            for scheme in ("Euler", "Milstein"):
                fine = _call(dW, 1 / steps, scheme)
                coarse = _call(dW.reshape(steps // 2, 2, PATHS).sum(axis=1), 2 / steps, scheme)
                correction = fine - coarse
                rows.append((scheme, run, steps, correction.mean(), correction.var(ddof=1)))
    return pd.DataFrame(rows, columns=["scheme", "run", "steps", "correction", "variance"])


def _call(dW, h, scheme):
    """The discounted payoff of each path."""
    S = np.ones(dW.shape[1])
    for step in dW:
        growth = 1 + DRIFT * h + VOLATILITY * step
        if scheme == "Milstein":
            growth += 0.5 * VOLATILITY**2 * (step**2 - h)
        S = S * growth
    return math.exp(-DRIFT) * np.maximum(S - STRIKE, 0.0)


def orders():
    """Errors of Runge-Kutta for y' = y cos t up to t = 5, and of Crank-Nicolson for u_t = u_xx with dx = h.

    Orders 4 and 2.  At the smallest steps of Runge-Kutta rounding takes over.
    """
    import pandas as pd

    rows = [("Runge-Kutta", h, abs(_runge_kutta(h) - math.exp(math.sin(5.0)))) for h in 0.5 ** np.arange(2, 14)]
    exact = math.exp(-(math.pi**2) * 0.25)
    rows += [("Crank-Nicolson", h, abs(value - exact)) for h, value in heat().to_numpy().tolist()]
    return pd.DataFrame(rows, columns=["scheme", "h", "error"])


def heat():
    """What Crank-Nicolson gives for u(1/2, 1/4), as if the solution were not known."""
    import pandas as pd

    return pd.DataFrame([(h, _crank_nicolson(h)) for h in 0.5 ** np.arange(3, 12)], columns=["h", "value"])


def _runge_kutta(h):
    y = 1.0
    for i in range(round(5 / h)):
        t = i * h
        a = y * math.cos(t)
        b = (y + h / 2 * a) * math.cos(t + h / 2)
        c = (y + h / 2 * b) * math.cos(t + h / 2)
        d = (y + h * c) * math.cos(t + h)
        y += h / 6 * (a + 2 * b + 2 * c + d)
    return y


def _crank_nicolson(h):
    """u(1/2, 1/4) for u(x, 0) = sin(pi x) on [0, 1], zero at both ends."""
    from scipy.linalg import solve_banded

    count = round(1 / h) - 1
    u = np.sin(np.pi * h * np.arange(1, count + 1))
    ratio = 1 / (2 * h)  # dt / (2 dx^2) with dt = dx = h
    bands = np.empty((3, count))
    bands[0] = bands[2] = -ratio
    bands[1] = 1 + 2 * ratio
    for _ in range(round(0.25 / h)):
        padded = np.concatenate([[0.0], u, [0.0]])
        u = solve_banded((1, 1), bands, u + ratio * (padded[:-2] - 2 * u + padded[2:]))
    return float(u[count // 2])


def scaling(seed=0):
    """Test loss of a regressogram with n^(1/3) bins against the size n of its training set, noise of variance 0.01.

    The sizes are cubes, so that the bins are whole.  The loss is that variance plus an excess of order n^(-2/3), the
    best for a Lipschitz function (Stone, Annals of Statistics 10, 1982).
    """
    import pandas as pd

    rows = []
    for run in range(SEEDS):
        for bins in BINS:
            n = bins**3
            rng = np.random.default_rng([seed, 3, run, n])
            place, y = _sample(rng, n, bins)
            counts = np.bincount(place, minlength=bins)
            means = np.bincount(place, y, bins) / np.maximum(counts, 1)
            there, seen = _sample(rng, TESTED, bins)
            rows.append((run, n, np.mean((seen - means[there]) ** 2)))
    return pd.DataFrame(rows, columns=["seed", "n", "test_loss"])


def _sample(rng, n, bins):
    x = rng.random(n)
    y = 2 * np.abs(x - 0.5) + np.sin(5 * x) + NOISE * rng.standard_normal(n)
    return np.minimum((bins * x).astype(int), bins - 1), y
