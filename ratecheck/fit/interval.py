"""A number with its standard error, and the interval and p-values that follow from Student's t."""

from __future__ import annotations

from dataclasses import dataclass, replace

from scipy import special


@dataclass(frozen=True)
class Estimate:
    """A number with its standard error and degrees of freedom; see `fit_rate`, whose slopes are such numbers.

    For example

        rc.Estimate(value=0.52, se=0.01, df=31).low
    """

    value: float
    se: float
    df: float
    level: float = 0.95

    @property
    def low(self) -> float:
        return self.lower_limit(0.5 + self.level / 2)

    @property
    def high(self) -> float:
        return self.upper_limit(0.5 + self.level / 2)

    def lower_limit(self, level=0.95) -> float:
        """The end of a one-sided interval."""
        return self.value - float(special.stdtrit(self.df, level)) * self.se

    def upper_limit(self, level=0.95) -> float:
        return self.value + float(special.stdtrit(self.df, level)) * self.se

    def above(self, bound) -> float:
        """One-sided p-value of the hypothesis that the truth is at most `bound`."""
        if self.se > 0:
            return float(special.stdtr(self.df, (bound - self.value) / self.se))
        return float(self.value <= bound)

    def minus(self, number) -> Estimate:
        return replace(self, value=self.value - number)

    def mirrored(self) -> Estimate:
        return replace(self, value=-self.value)

    def __str__(self):
        return f"{self.value:.4f} [{self.low:.4f}, {self.high:.4f}]"
