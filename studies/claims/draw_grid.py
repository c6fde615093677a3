"""Panels in rows of three, one for each case."""

from __future__ import annotations

import seaborn as sns

from ratecheck.figures.base import panels

COLUMNS = 3


def grid(names, handles, below, beside):
    """The figure and a panel for each name; only panels at the bottom and at the left have labels."""
    count = len(names)
    columns = min(COLUMNS, count)
    figure, axes = panels(-(-count // columns), columns, handles)
    figure.subplots_adjust(hspace=0.36)  # exponents on an axis are higher than numbers
    axes = axes.ravel()
    for axis in axes[count:]:
        axis.axis("off")
    for i, axis in enumerate(axes[:count]):
        axis.set_title(names[i])
        sns.despine(ax=axis)
        if i % columns == 0:
            axis.set_ylabel(beside)
        if i + columns >= count:
            axis.set_xlabel(below)
    return figure, axes[:count]
