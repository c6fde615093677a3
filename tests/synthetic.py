"""Tables of synthetic runs for the tests of the statistics layer."""

import numpy as np
import pandas as pd

from studies.calibration.scenarios import CLAIM, HORIZONS


def table(R, anytime=True):
    """As simulate gives it: a row per run (rows of R) and horizon (columns)."""
    n, count = R.shape
    return pd.DataFrame(
        {
            "replicate": np.repeat(np.arange(n), count),
            "horizon": np.tile(HORIZONS, n),
            "regret": R.ravel(),
            "anytime": anytime,
        }
    )


def runs(scenario, rate=CLAIM, n=40, seed=0):
    R = scenario.scatter(np.random.default_rng(seed), scenario.mean(rate), n)
    return table(R, anytime=scenario.anytime)


def exact(rate, anytime=True, n=5):
    """Runs without noise, apart from a factor per run: every log-mean lies on the rate."""
    effect = np.linspace(0.5, 1.5, n)[:, None] if anytime else np.ones((n, 1))
    return table(effect * rate.regret(HORIZONS), anytime=anytime)
