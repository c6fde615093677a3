"""Which pairs of an exponent and a log power a fit excludes as a bound, and which it supports."""

from dataclasses import dataclass

import numpy as np

from ..fit.fit import Fit
from ..rates import Rate
from .rules import MARGIN, Outcome, decide

FARTHEST, STEPS = 0.8, 7  # from the fitted slope, and halvings on the way to a limit: to less than 0.01


@dataclass(frozen=True)
class Pairs:
    """At each log power: bounds with slopes up to `excluded` are REFUTED, from `supported` on CONSISTENT (for an upper
    bound; a lower one the other way round); nan where there is no such slope."""

    log_powers: np.ndarray
    excluded: np.ndarray
    supported: np.ndarray
    kind: str


def pairs_of(fit: Fit, log_powers, *, kind: str = "upper", margin: float = MARGIN, look: int | None = None) -> Pairs:
    """Judge R = T^slope (ln T)^power as a bound, for each log power as far as the verdicts change."""
    powers = np.asarray(log_powers, float)
    away = -1 if kind == "upper" else 1  # the side on which a bound is too strict

    def limit(power, name, side):
        middle = fit.at(power).slope
        near, far = middle, middle + side * FARTHEST

        def says(slope):
            rate = Rate.of_regret(slope, power)
            return decide(fit, rate, kind=kind, margin=margin, resolution=np.inf, look=look, words=False).name == name

        if not says(far):
            return np.nan
        for _ in range(STEPS):
            between = 0.5 * (near + far)
            near, far = (near, between) if says(between) else (between, far)
        return far

    excluded = np.array([limit(power, Outcome.REFUTED, away) for power in powers])
    supported = np.array([limit(power, Outcome.CONSISTENT, -away) for power in powers])
    if kind == "upper":
        excluded, supported = _ordered(powers, excluded, supported)
    else:
        supported, excluded = _ordered(powers, supported, excluded)
    return Pairs(powers, excluded, supported, kind)


def _ordered(powers, left, right):
    """Both limits made to fall as the power rises: a bound that is REFUTED is so with less of a logarithm, too, and one
    that is CONSISTENT with more of it (of a lower bound the other way round)."""
    rising = np.argsort(powers)
    left, right = left.copy(), right.copy()
    left[rising[::-1]] = np.fmax.accumulate(left[rising[::-1]])
    right[rising] = np.fmin.accumulate(right[rising])
    return left, right
