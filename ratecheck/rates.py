"""A rate of convergence: an exponent and a power of the logarithm."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from .checks import real, shown


@dataclass(frozen=True)
class Rate:
    """R / T ~ T^-exponent (ln T)^log_power, R the cumulative regret."""

    exponent: float
    log_power: float = 0.0

    def __post_init__(self):
        real("exponent", self.exponent)
        real("log_power", self.log_power)

    @classmethod
    def of_regret(cls, slope: float, log_power: float = 0.0) -> Rate:
        """R ~ T^slope (ln T)^log_power."""
        return cls(1.0 - real("slope", slope), log_power)

    @property
    def slope(self) -> float:
        """d log R / d log T, apart from the logarithm."""
        return 1.0 - self.exponent

    def regret(self, horizon):
        """The shape of the cumulative regret: T^(1 - exponent) (ln T)^log_power."""
        try:
            horizon = np.asarray(horizon, dtype=float)
        except (TypeError, ValueError, OverflowError):
            raise ValueError(f"horizon = {shown(horizon)} must be a number, or several") from None
        if not np.all(horizon >= 1):
            raise ValueError(f"horizon = {shown(horizon)} must be 1 or larger")
        return horizon**self.slope * np.log(horizon) ** self.log_power

    def __str__(self):
        logarithm = "" if self.log_power == 0 else f" (ln T)^{self.log_power:.4g}"
        return f"R = T^{self.slope:.4g}{logarithm}"
