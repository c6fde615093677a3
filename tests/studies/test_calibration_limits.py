"""The limits of synthetic curves.  Each assertion fails by chance with probability 1e-6 if its promise holds."""

import numpy as np
import pytest
from scipy import stats

from studies.calibration.limits import CLASSES, drawn, horizons, settlements

LAWS = CLASSES[:4]  # what theory expects of the regret
ALMOST = 0.03  # of the curves of any class that do not bend beyond their end


@pytest.mark.parametrize("kind", CLASSES, ids=lambda kind: kind.__name__)
def test_few_limits_are_settled_falsely(kind, any_seed):
    found = settlements([kind], 100, any_seed)
    seen = found[found["bends"] != "beyond its end"]
    settled, false = int(seen["settled"].sum()), int(seen["false"].sum())
    assert settled == 0 or stats.binomtest(false, settled, ALMOST, "greater").pvalue > 1e-6
    if kind in LAWS:
        assert settled > 0
        assert stats.binomtest(false, settled, 0.01, "greater").pvalue > 1e-6
        long = seen[seen["end"] == 1e60]["settled"]
        assert stats.binomtest(int(long.sum()), len(long), 0.9, "less").pvalue > 1e-6


def test_curves_are_like_predicted_ones(any_seed):
    rng = np.random.default_rng(any_seed)
    for kind in CLASSES:
        one = drawn(kind, rng)
        assert one.curve.horizons == tuple(horizons(one.end, one.period))
        assert one.end / one.period**3 < one.curve.horizons[-1] <= one.end * (1 + 1e-9)
        assert np.all(np.isfinite(one.curve.regret))
