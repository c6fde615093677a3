"""Mean curves of another study, to be laid in grey behind one's own."""

from __future__ import annotations

import re
from dataclasses import dataclass, replace
from pathlib import Path

import numpy as np


@dataclass(frozen=True)
class Curve:
    """The mean regret of a case, horizon by horizon."""

    case: str
    cost: str  # with its parameters
    family: str
    dim: int
    algorithm: str
    horizons: np.ndarray
    means: np.ndarray


@dataclass(frozen=True)
class Backdrop:
    """Curves of a study, and which of its costs they belong to."""

    study: str = ""
    curves: tuple[Curve, ...] = ()
    whose: str = ""

    def behind(self, cost: str, family: str, dim: int) -> Backdrop:
        """The curves that say something about a cost: its own, else those of its dimension, else all of them."""
        for whose, fits in (
            ("same cost", lambda curve: curve.cost == cost),
            ("same family and d", lambda curve: (curve.family, curve.dim) == (family, dim)),
            ("other costs, same d", lambda curve: curve.dim == dim),
            ("other costs", lambda curve: True),
        ):
            if found := tuple(filter(fits, self.curves)):
                return replace(self, curves=found, whose=whose)
        return self


NOTHING = Backdrop()


def backdrop_of(source) -> Backdrop:
    """From a study's folder, perhaps with a colon and words that the names of cases are to hold; None for nothing."""
    if source is None or isinstance(source, Backdrop):
        return source or NOTHING
    from ..store import Store

    folder, words = Path(source), ""
    if not folder.is_dir() and ":" in str(source):
        folder, _, words = str(source).rpartition(":")
    if not Path(folder).is_dir():
        raise ValueError(f"there is no folder {str(folder)!r} with a study to lay behind")
    with Store(folder) as store:
        cases = store.study()[1]
        chosen = [case for case in cases if _words(words) <= _words(case.name)]
        if not chosen:
            known = "; ".join(case.name for case in cases[:6])
            raise ValueError(f"no case of {folder} is called {words!r} (cases: {known}{' …' * (len(cases) > 6)})")
        curves = tuple(curve for case in chosen if (curve := _curve(store, case)) is not None)
    if not curves:
        raise ValueError(f"{folder} holds no runs yet that could be laid behind; run the study first")
    costs = list(dict.fromkeys(f"{curve.family} d = {curve.dim}" for curve in curves))
    return Backdrop(Path(folder).resolve().name, curves, costs[0] if len(costs) == 1 else f"{len(costs)} costs")


def _words(text) -> set[str]:
    return set(re.findall(r"\w+", text.lower()))


def _curve(store, case) -> Curve | None:
    means = store.frame(case.series.digest).groupby("horizon")["regret"].mean()
    means = means[means.index.isin(case.horizons) & (means > 0)]
    names = (case.name, case.cost, case.family, case.dim, case.algorithm)
    return Curve(*names, means.index.to_numpy(float), means.to_numpy(float)) if len(means) else None
