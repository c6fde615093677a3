"""Figures of a study that are small multiples: a row per algorithm, a column per dimension, one legend for all."""

from collections.abc import Callable
from dataclasses import dataclass

import seaborn as sns
from matplotlib.figure import Figure

from .base import MARKERS, colour_of, excuse, horizon_axis, lettered, panels, window_keys


@dataclass(frozen=True)
class Kind:
    """A kind of figure: what a report calls it, and how a panel of it is drawn."""

    stem: str  # of its files, after the family
    title: str
    caption: str
    panel: Callable  # draws (axis, result, colour, marker, margin)
    keys: Callable  # the entries of the legend, for some results, but for the window
    ylabel: str
    xlabel: str = "T"
    needs_fit: bool = False
    needs_verdict: bool = False
    horizons: Callable | None = horizon_axis  # makes the axis of T of a panel, one for all; None where it is another
    settle: Callable | None = None  # sets the common axis of (the axes of a dimension, its results)
    by_dimension: bool = False  # one vertical axis for all algorithms of a dimension

    def draw(self, family, analysis) -> tuple[str, Figure] | None:
        results = analysis.of(family)
        return (self.title, self._grid(results, analysis.margin)) if any(map(self._shows, results)) else None

    def _shows(self, result) -> bool:
        if self.needs_verdict and result.problem:
            return False
        return result.data is not None and (result.fit is not None or not self.needs_fit)

    def _grid(self, results, margin) -> Figure:
        algorithms = list(dict.fromkeys(r.case.algorithm for r in results))
        dims = list(dict.fromkeys(r.case.dim for r in results))
        shown = [r for r in results if self._shows(r)]
        keys = [*self.keys(shown), *(window_keys(shown) if self.horizons else [])]
        sharey = "col" if self.by_dimension else False
        figure, axes = panels(len(algorithms), len(dims), keys, sharex=self.horizons is not None, sharey=sharey)
        found = {(r.case.algorithm, r.case.dim): r for r in results}
        for i, algorithm in enumerate(algorithms):
            for j, dim in enumerate(dims):
                axis, result = axes[i, j], found.get((algorithm, dim))
                axis.set_title(lettered(f"d = {dim}, {algorithm}"))
                sns.despine(ax=axis)
                if result is None or not self._shows(result):
                    excuse(axis, "not part of the study" if result is None else result.problem)
                else:
                    self.panel(axis, result, colour_of(i), MARKERS[i % len(MARKERS)], margin)
                    if self.horizons:
                        self.horizons(axis, result)
            axes[i, 0].set_ylabel(self.ylabel)
        for axis in axes[-1]:
            axis.set_xlabel(self.xlabel)
        if self.settle is not None:
            for column, dim in zip(axes.T, dims, strict=True):
                self.settle(column, [r for r in shown if r.case.dim == dim])
        return figure
