"""The pairs of an exponent and a log power that the runs exclude, and those that are promised."""

import numpy as np
import seaborn as sns
from matplotlib.lines import Line2D
from matplotlib.patches import Patch
from matplotlib.ticker import MaxNLocator

from ..verdict.excluded_rates import pairs_of
from .base import INK
from .grid import Kind

CAPTION = (
    "Every point is a bound R ≤ C T^slope (ln T)^power (R ≥ for a lower bound). Red: the runs refute it as a rate. "
    "Green: they are consistent with it. White: they do not tell. The bands slope because over a finite window a power "
    "of ln T is worth an exponent; the thick line holds the pairs that fit the runs best. One case at a time, without "
    "Holm's adjustment."
)
RED, GREEN = sns.color_palette("colorblind")[3], sns.color_palette("colorblind")[2]
MARKS = {"printed": ("X", "white"), "corrected": ("o", INK), "promised": ("o", INK)}
COUNT = 7  # log powers at which limits are looked for


def panel(axis, result, colour, marker, margin):
    claim = result.own.claim
    marks = {"corrected" if claim.corrected else "promised": claim.rate}
    if claim.corrected:
        marks["printed"] = claim.printed
    top = max(2.0, *(rate.log_power for rate in marks.values())) + 0.5
    low = min(0.0, *(rate.log_power for rate in marks.values()))
    powers = np.linspace(low, top, COUNT)
    found = pairs_of(result.fit, powers, kind=claim.kind, margin=margin, look=result.look)
    best = np.array([result.fit.at(power).slope for power in powers])
    slopes = [rate.slope for rate in marks.values()]
    limits = np.concatenate([found.excluded, found.supported, best, slopes])
    left, right = np.nanmin(limits) - 0.08, np.nanmax(limits) + 0.08
    outside = (left, right) if claim.kind == "upper" else (right, left)
    for edge, end, shade in ((found.excluded, outside[0], RED), (found.supported, outside[1], GREEN)):
        known = np.isfinite(edge)
        axis.fill_betweenx(powers[known], edge[known], end, color=shade, alpha=0.25, linewidth=0)
        axis.plot(edge[known], powers[known], color=shade, linewidth=1.0)
    axis.plot(best, powers, color=colour, linewidth=2.2)
    for word, rate in marks.items():
        shape, face = MARKS[word]
        axis.plot(rate.slope, rate.log_power, shape, color=INK, markerfacecolor=face, markersize=7, zorder=5)
    axis.set_xlim(left, right)
    axis.set_ylim(low, top)
    axis.xaxis.set_major_locator(MaxNLocator(5))


def keys(results):
    corrected = any(result.own.claim.corrected for result in results)
    words = {"printed": "printed", "corrected": "corrected or promised"} if corrected else {"promised": "promised"}
    return [
        Patch(color=RED, alpha=0.25, label="bounds that are refuted"),
        Patch(color=GREEN, alpha=0.25, label="consistent bounds"),
        Line2D([], [], color="0.5", linewidth=2.2, label="best fit"),
        *(
            Line2D([], [], color=INK, marker=shape, markerfacecolor=face, linestyle="", markersize=7, label=said)
            for said, (shape, face) in ((said, MARKS[word]) for word, said in words.items())
        ),
    ]


PAIRS = Kind(
    stem="pairs",
    title="Bounds that the runs exclude",
    caption=CAPTION,
    panel=panel,
    keys=keys,
    ylabel="power of ln T",
    xlabel="slope (exponent of T)",
    needs_fit=True,
    needs_verdict=True,
    horizons=None,
)
