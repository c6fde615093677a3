"""Least squares over the last part of a curve, apart from the waves that theory expects there."""

from __future__ import annotations

import math
from dataclasses import dataclass

import numpy as np

PERIOD = 16.0  # the factor in T over which slopes are taken where theory expects no period
LEAST_HORIZONS = 6  # in the last part of a curve
DRIFTS = np.linspace(0.0, 4.0, 17)  # of the phase of waves; theory has beta


def log_period(period: float | None) -> float:
    return math.log(PERIOD if period is None or math.isnan(period) else period)


@dataclass(frozen=True)
class Fit:
    """Coefficients of some columns, their standard errors, and the sum of squares that is left."""

    found: np.ndarray
    errors: np.ndarray
    left: float


@dataclass(frozen=True)
class Late:
    """ln T, ln R, standard errors of ln R, and the phases of waves, None where theory expects no period.

    R repeats itself whenever one more level of cells is reached.  As a level holds the more cells, by a power of
    ln T + shift, the later that is, phases are ln T - drift ln(ln T + shift), in units of the period.
    """

    L: np.ndarray
    y: np.ndarray
    sampling: np.ndarray
    step: float  # a period, in ln T
    phases: np.ndarray | None

    @classmethod
    def of(cls, curve, period: float | None, shift: float) -> Late:
        """With the drift of phases that leaves least over the last half."""
        L, y = np.log(curve.horizons), np.log(curve.regret)
        sampling = np.asarray(curve.error or np.zeros(len(L))) / 2
        known = L, y, np.maximum(sampling, max(1e-9, np.median(sampling))), log_period(period)
        if period is None or math.isnan(period):
            return cls(*known, None)
        tried = [cls(*known, (L - drift * np.log(L + shift)) / known[-1]) for drift in DRIFTS]
        return min(tried, key=lambda late: late.fit(1 / 2, L, np.log(L + shift)).left)

    def part(self, share: float) -> np.ndarray:
        """Which horizons make the last share, two periods at least; 1e-9 for roundings."""
        length = max(share * (self.L[-1] - self.L[0]), 2 * self.step)
        return min(self.L[-1] - length, self.L[-LEAST_HORIZONS]) <= self.L + 1e-9

    def middle(self, share: float) -> float:
        return float(self.L[self.part(share)].mean())

    def slope_of(self, share: float, y: np.ndarray) -> float:
        """The slope of some other function of ln T, waves apart."""
        return float(self.fit(share, self.L, y=y).found[0])

    def fit(self, share: float, *columns: np.ndarray, y: np.ndarray | None = None) -> Fit:
        """Regress ln R, or y, on a constant, columns and two waves over the last share.

        Standard errors come from those of sampling or from what is left, whichever is more.  What is left counts by its
        correlation from one horizon to the next, as a wave of another period does not add up.
        """
        part = self.part(share)
        n, weights = int(np.sum(part)), 1 / self.sampling[part]
        angles = [] if self.phases is None else [2 * np.pi * k * self.phases[part] for k in (1, 2) if 6 + 2 * k <= n]
        waves = [wave(angle) for angle in angles for wave in (np.cos, np.sin)]
        design = np.column_stack([np.ones(n), *(column[part] for column in columns), *waves]) * weights[:, None]
        target = (self.y if y is None else y)[part] * weights
        found, _, rank, _ = np.linalg.lstsq(design, target, rcond=1e-12)
        rest = target - design @ found
        inverse = np.linalg.pinv(design.T @ design, hermitian=True)
        left = float(rest @ rest)
        square = max(left / max(1, n - rank), 1e-300)
        taken = np.einsum("ij,jk,ik->", design[1:], inverse, design[:-1])  # from the sum of products by the regression
        neighbours = float(np.clip((rest[1:] @ rest[:-1] / square + taken) / (n - 1), -0.9, 0.9))
        scale = max(1.0, square * (1 + neighbours) / (1 - neighbours))
        chosen = slice(1, 1 + len(columns))
        return Fit(found[chosen], np.sqrt(scale * np.maximum(0.0, np.diag(inverse)[chosen])), left)
