"""A fit: the means with their intervals, the fitted line, and the shape of a promised rate."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from matplotlib import rc_context
from matplotlib.patches import Patch

from ..fit.fit import Fit, in_steps
from ..rates import Rate
from .base import INK, STYLE, Drawing, colour_of, entry, note, plain_panel, points

DASHED = (0, (4, 2.5))


@dataclass(frozen=True)
class Fitted:
    """What the figure of a fit shows."""

    x: np.ndarray
    mean: np.ndarray
    reach: np.ndarray  # (2, n): of the intervals of the means, down and up
    line: np.ndarray
    band: tuple[np.ndarray, np.ndarray]
    shape: np.ndarray | None  # of the promised rate, through the middle of the means
    words: tuple[str, ...]
    level: float
    xlabel: str = "T"
    ylabel: str = "R"

    @classmethod
    def of(cls, fit: Fit, rate: Rate | None = None) -> Fitted:
        if not (rate is None or isinstance(rate, Rate)):
            raise ValueError(f"rate = {rate!r} must be a Rate, or None")
        rate = None if rate is None else in_steps(fit, rate)
        y, line, spoken = fit.data.y, fit.line(), fit.data.words
        logs = fit.log_power * np.log(fit.x) if fit.log_power else np.zeros_like(y)
        ends = [np.exp(y + sign * line.spread) for sign in (-1, 1)]
        shape, words = None, [f"slope {fit.slope:.3f} [{fit.low:.3f}, {fit.high:.3f}]"]
        if fit.log_power:
            words.append(f"log power {fit.log_power:.3g}")
        if rate is not None:
            promised = rate.slope * fit.x + (rate.log_power * np.log(fit.x) if rate.log_power else 0.0)
            shape = np.exp(promised + np.mean(y - promised))
            words.append(f"promised {spoken.rate(rate.slope, rate.log_power)}")
        return cls(
            x=spoken.place(fit.data.horizons),
            mean=np.exp(y),
            reach=np.array([np.exp(y) - ends[0], ends[1] - np.exp(y)]),
            line=np.exp(line.value + logs),
            band=tuple(np.exp(line.value + sign * line.reach + logs) for sign in (-1, 1)),
            shape=shape,
            words=tuple(words),
            level=fit.level,
            xlabel=spoken.x,
            ylabel=spoken.y,
        )


def fitted_figure(shown: Fitted) -> Drawing:
    colour, level = colour_of(0), f"{100 * shown.level:g} %"
    keys = [
        entry(color=colour, marker="o", linestyle="none", markersize=5, label=f"mean, {level} interval"),
        entry(color=INK, linewidth=1.3, label="fitted line"),
        Patch(color=INK, alpha=0.25, linewidth=0, label=f"its {level} interval"),
    ]
    if shown.shape is not None:
        keys.append(entry(color=INK, linestyle=DASHED, linewidth=1.3, label="promised shape"))
    with rc_context(STYLE):
        seen = [shown.mean - shown.reach[0], shown.mean + shown.reach[1], shown.line]
        seen += [] if shown.shape is None else [shown.shape]
        figure, axis = plain_panel(keys, shown.x, curves=seen, xlabel=shown.xlabel, ylabel=shown.ylabel)
        axis.fill_between(shown.x, *shown.band, color=INK, alpha=0.25, linewidth=0)
        axis.plot(shown.x, shown.line, color=INK, linewidth=1.3)
        if shown.shape is not None:
            axis.plot(shown.x, shown.shape, color=INK, linestyle=DASHED, linewidth=1.3)
        points(axis, shown.x, y=shown.mean, reach=shown.reach, colour=colour, marker="o")
        rises = shown.line[np.argmax(shown.x)] > shown.line[np.argmin(shown.x)]
        note(axis, "\n".join(shown.words), "lower right" if rises else "upper right")
    return figure
