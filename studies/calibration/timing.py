"""The time of one fit with all its numbers."""

import time

import numpy as np

import ratecheck as rc
from studies.calibration.measure import estimates, joint
from studies.calibration.scenarios import CLAIM, HORIZONS, means, named


def timing(repeats=20) -> list[str]:
    """One line per design: the median time of a fit with all its numbers and 2,000 bootstrap replicates."""
    lines = []
    for name in ("S1", "I1"):
        scenario = named(name)
        regrets = scenario.scatter(np.random.default_rng(0), scenario.mean(CLAIM), 200)
        seconds = []
        for seed in range(repeats + 1):  # the first one warms up
            begin = time.perf_counter()
            fit = rc.fit_rate(means(HORIZONS, regrets, scenario.anytime), CLAIM.log_power)
            estimates(fit), joint(fit), fit.chi_square(), fit.curvature(), fit.sensitivity(1000, 5.0)
            rc.verdict(fit, CLAIM), fit.bootstrap(2000, seed)
            seconds.append(time.perf_counter() - begin)
        lines.append(
            f"{scenario.what}: N = 200, J = {len(HORIZONS)}, 2,000 bootstrap replicates: "
            f"{np.median(seconds[1:]):.3f} s (promised: 0.3 s)"
        )
    return lines
