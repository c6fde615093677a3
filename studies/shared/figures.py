"""Figures of several panels that look like the tool's own."""

from __future__ import annotations

import numpy as np
import seaborn as sns
from matplotlib import rc_context
from matplotlib.ticker import NullLocator

from ratecheck.figures import STYLE, panels
from ratecheck.figures.base import save

COLUMNS = 3
ANY = "0.5"  # in a legend: whatever the colour of the panel


def draw_all(figures, drafts):
    """Draw figures in our style and write them below the folder of `drafts`: functions by the stems of their files."""
    with rc_context(STYLE):
        for stem, draw in figures.items():
            save(draw(), drafts, stem, svg=False)


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


def against_horizons(titles, handles, columns, beside):
    """The figure and a panel for each title, both axes logarithmic; T stands below the lowest of each column."""
    count = len(titles)
    columns = min(columns, count)
    figure, axes = panels(-(-count // columns), columns, handles, sharex=True)
    axes = axes.ravel()
    for axis, title in zip(axes, titles, strict=False):
        axis.set(xscale="log", yscale="log", title=title)
        axis.xaxis.set_minor_locator(NullLocator())
        axis.yaxis.set_minor_locator(NullLocator())
        sns.despine(ax=axis)
    for axis in axes[count:]:
        axis.set_axis_off()
    for axis in axes[max(0, count - columns) : count]:
        axis.set_xlabel("T")
        axis.tick_params(labelbottom=True)
    for axis in axes[::columns]:
        axis.set_ylabel(beside)
    return figure, axes[:count]


def label_outer(axes, below, beside):
    """Labels for rows and columns of panels: under those at the bottom, beside those at the left."""
    for axis in axes[-1]:
        axis.set_xlabel(below)
    for axis in axes[:, 0]:
        axis.set_ylabel(beside)


def room(axis, low, high, share):
    """Leave space under and over the data of a logarithmic axis, each a share of their length."""
    length = np.log(high / low)
    axis.set_ylim(low * np.exp(-share * length), high * np.exp(share * length))
