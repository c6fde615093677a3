"""One number at each x and no runs: the error of a scheme against its step, a quadrature, a column of a paper.

What keeps such points off a line is not chance.  It is scatter (meshes that do not nest, rounding) or a correction that
fades, A T^-p (1 + c T^-q).  From five points on a term in 1/T is part of every regression.  What is left of the
residuals gives two errors of a slope, and both count: that of independent scatter, by Student's t, and the largest that
a correction with q in `CORRECTIONS` can have when it leaves such residuals.  The second is no chance: for each q the
residuals of a small correction and the error that it makes of the slope are both proportional to c, and their ratio
depends on the grid alone.  The smallest of these q, 0.35, was added after a calibration in which corrections like
h^0.5 with large factors were covered in 70 to 90 %.
"""

import math
from dataclasses import replace

import numpy as np
from scipy import special

from .log_means import FitError, LogMeans
from .points import Points

CORRECTIONS = (0.35, 0.5, 1.0, 1.5, 2.0, 3.0)  # powers of 1/T by which a rate may be off
FLAT = 0.1  # an order below it, of numbers whose differences have a larger one, asks for a limit; nothing is decided
ENOUGH_POINTS = 5  # for a correction in the regression
RATIO = 0.01  # by which the ratios of neighbouring steps may differ for differences to have the order of the errors


def log_series(points: Points, level: float = 0.95) -> LogMeans:
    """Logarithms of a series, with a covariance from its own residuals and from the digits that were given."""
    sign = _one_sign(points)
    y = np.log(sign * points.means)
    x = np.log(points.horizons)
    extra = correction(x, 1.0)[:, None] if len(x) >= ENOUGH_POINTS else None
    covariance, df = residual_covariance(x, y, extra, level)
    rounding = np.zeros(len(x)) if points.rounding is None else points.rounding / np.abs(points.means)
    covariance = covariance + np.diag(rounding**2 / 3)  # a uniform error
    remarks = _questions(points, x, y)
    if extra is not None:
        remarks.append(f"a correction that fades like {points.words.power(-1, 0)} is part of the regression")
    if np.any(rounding > 1e-12):
        remarks.append(f"half a unit of the last digit given counts as an error, {100 * rounding.max():.2g} % at most")
    data = points.as_logarithms(y, covariance, df=df, extra=extra, remarks=remarks)
    return replace(data, covariance=_reaching(data, level))


def _questions(points: Points, x, y) -> list[str]:
    """What a series may be in place of a power law, as its owner would know."""
    words = points.words
    again = np.flatnonzero((np.diff(y) > 0) & (x[1:] > x.mean()))
    if y[-1] < y[0] and len(again) and np.all(np.diff(y[: again[0] + 1]) < 0):
        place = words.place(points.horizons[again[0] + 1])
        return [
            f"{words.y} falls, and rises again at {words.x} = {place:.4g}: is that rounding, or the error of a "
            "reference? a window leaves it out (window=, --window)"
        ]
    change = np.abs(np.diff(points.means))[-2:]
    if len(x) > 3 and np.all(change > 0):
        order = abs(y[-1] - y[-2]) / (x[-1] - x[-2])
        if order < FLAT and math.log(change[0] / change[1]) / (x[-1] - x[-2]) > order + 2 * FLAT:
            return [
                f"{words.y} settles: has it a limit other than zero? then values=True (--values) fits its differences, "
                "and floor=... (--floor) what is above a floor"
            ]
    return []


def correction(x, power) -> np.ndarray:
    return np.exp(-power * (x - x[0]))


def _design(x, extra) -> np.ndarray:
    return np.column_stack([np.ones(len(x)), x, *([] if extra is None else [extra])])


def residual_covariance(x, y, extra, level) -> tuple[np.ndarray, int]:
    """The covariance of y, from its residuals about a line: independent scatter, and corrections that leave them."""
    design = _design(x, extra)
    rest = np.eye(len(x)) - design @ np.linalg.pinv(design)
    df = len(x) - design.shape[1]
    square = float(np.sum((rest @ y) ** 2))
    reach = float(special.stdtrit(df, 0.5 + level / 2))
    covariance = square / df * np.eye(len(x))
    for power in CORRECTIONS:
        shape = correction(x, power)
        left = float(np.linalg.norm(rest @ shape))
        if left > 1e-6:
            covariance += square / reach**2 * np.outer(shape, shape) / left**2
    return covariance, df


def _reaching(data: LogMeans, level) -> np.ndarray:
    """The covariance, widened until the interval of the slope holds the order of the last two points too."""
    x, y = data.x, data.y
    weights = np.linalg.pinv(_design(x, data.extra))[1]
    reach = float(special.stdtrit(data.df, 0.5 + level / 2)) * math.sqrt(float(weights @ data.covariance @ weights))
    off = abs(float((y[-1] - y[-2]) / (x[-1] - x[-2]) - weights @ y))
    return data.covariance * max(1.0, off / max(reach, 1e-300)) ** 2


def _one_sign(points: Points) -> float:
    words, means = points.words, points.means
    if np.any(means == 0):
        place = words.place(points.horizons[int(np.argmax(means == 0))])
        raise FitError(f"{words.y} is zero at {words.x} = {place:g}: it has no logarithm; leave it out (--window)")
    signs = np.sign(means)
    if np.any(signs != signs[0]):
        place = words.place(points.horizons[int(np.argmax(signs != signs[0]))])
        raise FitError(f"{words.y} changes sign at {words.x} = {place:g}, where no power law holds; leave it out")
    return float(signs[0])


# Values without a known limit


def differences(points: Points) -> Points:
    """The differences of neighbours, which shrink with the same order as the errors where the steps have one ratio."""
    words = points.words
    if points.source != "series":
        raise FitError("differences of values are for a series; of runs or means give the errors, or a floor")
    ratios = np.diff(np.log(points.horizons))
    if len(points.means) < 4:
        raise FitError(f"{len(points.means)} values have {len(points.means) - 1} differences; 4 values are needed")
    if np.ptp(ratios) > RATIO * ratios.mean():
        found = ", ".join(f"{math.exp(r):.3g}" for r in ratios[:6])
        raise FitError(f"differences have the order of the errors where {words.x} grows by one ratio; it is {found}")
    change = np.diff(points.means)
    order = np.log(np.abs(change[-2] / change[-1])) / ratios[-1] if change[-1] and change[-2] else math.nan
    share = math.exp(ratios[-1] * order) - 1 if order > 0 else math.nan
    limit = points.means[-1] + change[-1] / share
    rounding = None if points.rounding is None else points.rounding[:-1] + points.rounding[1:]
    said = f"values: the differences of neighbours are fitted, at the first {words.x} of each pair"
    if math.isfinite(limit):
        said += f"; the last three give the order {order:.3f} (Richardson) and the limit {limit:.10g}"
    words = replace(words, y=f"difference of {words.y}")
    return replace(points, horizons=points.horizons[:-1], means=change, rounding=rounding, words=words).remarked(said)
