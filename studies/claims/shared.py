"""What experiments share."""

from __future__ import annotations

import math

import numpy as np

from ratecheck.fit.interval import Estimate


def jackknife(whole: float, left_out: np.ndarray) -> Estimate:
    """A statistic of n runs, from its value and those with one run left out."""
    n = len(left_out)
    return Estimate(float(whole), math.sqrt((n - 1) / n * float(((left_out - np.mean(left_out)) ** 2).sum())), n - 1)


def ratio_of_means(above: np.ndarray, below: np.ndarray) -> Estimate:
    return jackknife(above.mean() / below.mean(), (above.sum() - above) / (below.sum() - below))
