"""A rate of convergence: an exponent and a power of the logarithm."""

from __future__ import annotations

import warnings
from dataclasses import dataclass

import numpy as np

from .arguments import check_real, shown
from .display import Speaking
from .notation import read


@dataclass(frozen=True, repr=False)
class Rate(Speaking):
    r"""R ~ T^(1 - exponent) (ln T)^log_power, R the cumulative regret: the exponent is that of the decay of R / T.

    Say what is meant with one of

        Rate.parse("T^(2/3) (ln T)^(1/3)")        # of R, as it is written
        Rate.parse("R/T = T^(-1/3) (ln T)^(1/3)") # the same, of R / T
        Rate.of_regret(2/3, 1/3)                  # the same: the exponent of R is 2/3
        Rate(1/3, 1/3)                            # the same: R / T falls like T^(-1/3)
        Rate.parse("N^-0.5")                      # something else that falls: error = N^-0.5

    Everything that is printed, here and in fits, verdicts and reports, is the exponent of R (or of what stands in its
    place, such as an error); `slope` holds it.
    """

    exponent: float
    log_power: float = 0.0

    def __post_init__(self):
        check_real("exponent", self.exponent)
        check_real("log_power", self.log_power)

    @classmethod
    def of_regret(cls, slope: float, log_power: float = 0.0) -> Rate:
        """R ~ T^slope (ln T)^log_power: `Rate.of_regret(0.5, 1)` is R = T^0.5 (ln T)^1."""
        return cls(1.0 - check_real("slope", slope), log_power)

    @classmethod
    def parse(cls, text: str) -> Rate:
        r"""The rate that a text states: plain, Unicode or LaTeX, for R or for R / T, in any variable.

            Rate.parse("sqrt(T) ln T")                Rate.parse("√(T ln T)")
            Rate.parse("T^0.5 log(T)^1.5")            Rate.parse(r"\tilde O(T^{2/3} (\ln T)^{1/3})")
            Rate.parse("R/T = T^(-1/2)")              Rate.parse("error <= C h^2")

        Constant factors do not count, nor does the base of a logarithm.  Õ hides powers of ln T: those that are written
        count, and a warning says so.  What is no single power, or could be read in two ways (T^1/2), is a ValueError
        that shows the place.
        """
        found = read(text)
        if found.remark:
            warnings.warn(found.remark, stacklevel=2)
        log_power = float(found.log_power)
        return cls(float(-found.power), log_power) if found.divided else cls.of_regret(float(found.power), log_power)

    @property
    def slope(self) -> float:
        """The exponent of R: d log R / d log T, apart from the logarithm."""
        return 1.0 - self.exponent

    def shape(self, x: str = "T") -> str:
        """The growth alone: `Rate.of_regret(0.5, 1).shape()` is "T^0.5 (ln T)^1"."""
        return _power(self.slope, self.log_power, x)

    def written(self, x: str = "T", y: str = "R") -> str:
        """The rate in other letters: `Rate.of_regret(-0.5).written("N", "error")` is "error = N^-0.5"."""
        return f"{y} = {self.shape(x)}"

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
        return self.written()

    def __repr__(self):
        given = f"Rate(exponent={self.exponent!r}, log_power={self.log_power!r})"
        return f"{given}: {self}, R/T = {self._per_step()}"

    def _facts(self):
        return {"R": self.shape(), "R/T": self._per_step()}

    def _per_step(self):
        return _power(-self.exponent, self.log_power, "T")


def _power(slope, log_power, x) -> str:
    logarithm = "" if log_power == 0 else f" (ln {x})^{log_power:.4g}"
    return f"{x}^{slope + 0.0:.4g}{logarithm}"
