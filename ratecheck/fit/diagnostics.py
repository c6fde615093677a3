"""Whether a fitted line is one: slopes between neighbours, curvature, held-out horizons, and other choices."""

import math
from dataclasses import replace

import numpy as np
from scipy import special

from .bootstrap import studentised
from .interval import Estimate
from .log_means import OURS, FitError, rounded_up, within

SLACK = 0.99  # horizons are whole numbers, so a period may hold 3.99 of them
LARGE_SHARE = 0.1  # of a horizon's regret in a single run


class Diagnostics:
    """The part of a Fit that asks how far its line can be believed."""

    def _between(self, j):
        weights = np.zeros(len(self.x))
        weights[[j, j + 1]] = np.array([-1, 1]) / (self.x[j + 1] - self.x[j])
        return weights

    def local_slopes(self):
        """Slopes between neighbouring horizons: a list of (T, Estimate), T the geometric middle."""
        middles = np.exp(0.5 * (self.x[:-1] + self.x[1:]))
        return [(float(middle), self._estimate(self._between(j))) for j, middle in enumerate(middles)]

    def strays(self, slope: float, margin: float, level: float = 0.95) -> bool:
        """Whether some slope between neighbours, harmonics apart, is significantly off by more than a margin."""
        count = len(self.x) - 1
        for j in range(count):
            off = self._estimate(self._without_harmonics(self._between(j))).minus(slope)
            off = replace(off, se=max(off.se, 1e-9))
            if min(off.above(margin), off.mirrored().above(margin)) < (1 - level) / (2 * count):
                return True
        return False

    def straight(self) -> list[Estimate]:
        """The slope over the whole window, over its last half, and at both ends of it according to a parabola."""
        centred = self.x - self.x.mean()
        parabola = self._weights(self.x, centred**2)
        ends = [self._estimate(parabola[1] + 2 * end * parabola[2]) for end in centred[[0, -1]]]
        return [self.whole, self.last_half, *ends]

    def scattered(self, slope: float | None = None) -> Estimate:
        """The slope (or, at a given slope, the log power) with the error that the points' own scatter gives it.

        The jackknife knows what chance does to the means.  Whatever else keeps them off the line (bins that come in
        whole numbers, log-periodic remainders, many local minima) is seen in the residuals only.
        """
        column, y = (self.x, self.corrected) if slope is None else (self.log_x, self.data.y - slope * self.x)
        design = self._design(column)
        weights = self._weights(column)
        residual = y - design @ (weights @ y)
        df = len(self.x) - design.shape[1]
        scale = np.ones(len(self.x)) if self.data.weights is None else self.data.weights
        variance = float(scale @ residual**2) * float(weights[1] ** 2 @ (1 / scale))
        se = math.sqrt(variance / df) if df > 0 else math.inf
        return Estimate(float(weights[1] @ y), se, max(df, 1), self.level)

    def lag_slope(self) -> Estimate | None:
        """The mean of ln(R(period T) / R(T)) / ln period over the window, a check of the harmonics."""
        if self.period is None:
            return None
        lag = math.log(self.period)
        weights = np.zeros(len(self.x))
        pairs = 0
        for j, x in enumerate(self.x):
            k = int(np.argmin(np.abs(self.x - x - lag)))
            if abs(self.x[k] - x - lag) < 0.02 * lag:
                weights[j] -= 1 / lag
                weights[k] += 1 / lag
                pairs += 1
        return self._estimate(weights / pairs) if pairs else None

    def curvature(self) -> Estimate:
        """The coefficient of (ln T)^2: zero for a pure rate."""
        centred = self.x - self.x.mean()
        return self._estimate(self._weights(self.x, centred**2)[2])

    def curvature_p(self) -> float:
        estimate = self.curvature()
        estimate = replace(estimate, se=max(estimate.se, 1e-12))  # below it, rounding bends what is straight
        return 2 * min(estimate.above(0.0), 1 - estimate.above(0.0))

    def chi_square(self):
        """Sum of squared residuals over variances, its expectation, and a p-value; no covariance is inverted.

        The first two moments of the quadratic form under the model give a scaled chi-square (Satterthwaite).
        """
        hat = self._design(self.x) @ self._weights(self.x)
        residual = np.eye(len(self.x)) - hat
        variance = np.diag(self.data.covariance)
        scale = np.divide(1.0, variance, out=np.zeros_like(variance), where=variance > 0)
        form = scale[:, None] * (residual @ self.data.covariance @ residual.T)
        observed = float(scale @ (residual @ self.corrected) ** 2)
        expected, square = float(np.trace(form)), float(np.trace(form @ form))
        if not expected > 0:
            return observed, expected, math.nan
        return observed, expected, float(special.chdtrc(expected**2 / square, observed * expected / square))

    @property
    def largest_share(self) -> float:
        """The largest share of a horizon's summed regret that a single run carries; nan where there are no runs."""
        return float(max((s.max() / s.sum() for s in self.data.samples), default=math.nan))

    @property
    def caution(self) -> str:
        """A warning where rare runs carry the mean: no interval accounts for such runs that it has not seen."""
        if not self.largest_share > max(LARGE_SHARE, 4 / max(self.data.replicates, 1)):
            return ""
        y = self.data.words.y
        return (
            f"one run carries {100 * self.largest_share:.0f} % of a mean {'regret' if OURS.y == y else y}, "
            "want N >= 200 and a look at that run"
        )

    def unseen(self) -> tuple[float, float]:
        """The share of runs that may lock in unseen, at 95 %, and what that would do to the slope.

        None among N leaves up to 1 - 0.05^(1/N), about 3/N.  A run that locks in is taken to pay, from the first
        horizon on, as much per step as all runs did up to there.
        """
        if not self.data.samples:
            raise FitError("what may lock in unseen is asked of runs, and this table has none")
        share = 1 - 0.05 ** (1 / self.data.replicates)
        linear = np.exp(self.x - self.x[0] + self.data.y[0] - self.data.y)  # its regret over the mean
        return share, float(self._weights(self.x)[1] @ np.log1p(share * (linear - 1)))

    def held_out(self, count: int = 2):
        """Predict the last horizons from a fit without them: a list of (T, error of the logarithm as an Estimate)."""
        kept = len(self.x) - count
        if kept < 3 + self.harmonics.shape[1]:
            return []
        design = self._design(self.x)
        weights = self._solved(design[:kept], slice(kept))
        rows = []
        for j in range(kept, len(self.x)):
            error = np.zeros(len(self.x))
            error[:kept] = -design[j] @ weights
            error[j] = 1.0
            rows.append((float(self.data.horizons[j]), self._estimate(error)))
        return rows

    def bootstrap(self, size: int = 2000, seed: int = 0) -> tuple[float, float]:
        """A studentised bootstrap interval for the slope, resampling runs."""
        if not self.data.samples or self.data.profile is not None:
            raise FitError("the bootstrap resamples runs without a floor; this fit has its interval from elsewhere")
        how = {"level": self.level, "size": size, "seed": seed}
        return studentised(self.data, self._weights(self.x)[1], value=self.whole.value, **how)

    def sensitivity(self, onset: float | None = None, shift: float | None = None):
        """The slope under other choices than the study's: a list of (name, Estimate).

        Rows that the window cannot give (fewer than three horizons beyond the onset) are left out; the harmonics are
        left out, and the row says so, where less than two periods remain beyond it.
        """
        rows = [("whole window", self.whole), ("last half", self.last_half)]
        if self.data.horizons[0] > math.e:
            rows.append(("with a 1/ln T term", self._estimate(self._weights(self.x, 1 / self.x)[1])))
        if self.period is not None:
            rows.append(("without harmonics", self._estimate(self._weights(self.x, harmonics=False)[1])))
            lag = self.lag_slope()
            if lag is not None:
                rows.append(("lag of one period", lag))
            whole = self._whole_periods()
            if whole is not None:
                rows.append(("whole periods", whole.whole))
        if onset is not None and np.sum(self.data.horizons >= onset) >= 3:
            kept = self.data.cut(within(self.data.horizons, (onset, math.inf)))
            late = replace(self, data=kept, problem=too_short(kept.horizons, self.period))
            plain = ", without harmonics" if late.problem else ""
            rows.append((f"from the onset {onset:.3g}{plain}", late.whole))
        if shift is not None:
            y = self.data.y - self.log_power * np.log(self.x + shift)
            rows.append((f"ln(ln T + {shift:.3g}) for ln ln T", self._estimate(self._weights(self.x)[1], y)))
        return rows

    def _whole_periods(self):
        """The longest window at the end that is a whole number of periods."""
        step = float(np.median(np.diff(self.x)))
        periods = int((self.x[-1] - self.x[0] + step) / math.log(self.period) + 1e-6)
        if periods < 1:
            return None
        start = self.x[-1] + step - periods * math.log(self.period)
        keep = self.x >= start - 1e-6
        return None if keep.sum() < 3 else replace(self, data=self.data.cut(keep))


def too_short(horizons, period: float | None) -> str:
    """Why horizons do not show a period, empty if they do or if there is none."""
    if period is None:
        return ""
    x, lag = np.log(horizons), math.log(period)
    step = float(np.median(np.diff(x)))
    periods = (x[-1] - x[0] + step) / lag
    windows = x[0] - step / 2 + lag * np.arange(int(periods + 1e-6) + 1)
    fewest = min(np.histogram(x, windows)[0], default=0) if len(windows) > 1 else 4
    if lag / step < 4 * SLACK or fewest < 4:
        return (
            f"{min(lag / step, fewest):.1f} horizons per period of {period:.3g} cannot show it; 4 would do, "
            f"each at most {period**0.25:.3g} times the one before"
        )
    if periods < 2 * SLACK:
        needed = math.exp(x[0] + 2 * lag - step)
        return (
            f"the window covers {periods:.2f} periods of {period:.3g} where two are needed; "
            f"T_max = {rounded_up(needed)} would do"
        )
    return ""
