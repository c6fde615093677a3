"""The sandwich: the mean regret over a hard family, between a lower bound that no strategy beats and what was run.

A bound of many functions is on the average over the family, so the mean over members that were drawn as it draws them
estimates what it speaks of.  A bound of two functions is on the worse of them, and so the larger of two means counts.
"""

import math
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from scipy.special import stdtr

from ..claims import FEWEST_RUNS, Case
from ..display import listing
from ..store import Store

CERTAIN = 1e-6  # how unlikely a mean below the bound must be before it is called an error


@dataclass(frozen=True)
class Rung:
    """One horizon of a sandwich: the bound, and a regret for every member that was drawn and run."""

    horizon: int
    bound: float
    regrets: tuple[float, ...]

    @property
    def mean(self) -> float:
        return float(np.mean(self.regrets))

    @property
    def error(self) -> float:
        """The standard error of the mean, that of the draw of members included."""
        n = len(self.regrets)
        return float(np.std(self.regrets, ddof=1) / math.sqrt(n)) if n > 1 else math.nan

    @property
    def factor(self) -> float:
        return self.mean / self.bound

    @property
    def p_value(self) -> float:
        """Student's p-value of an expected mean that is not below the bound; 1 for a single run."""
        n = len(self.regrets)
        if n < 2:
            return 1.0
        away = self.mean - self.bound
        return float(stdtr(n - 1, away / self.error)) if self.error > 0 else float(away >= 0)

    @property
    def below(self) -> bool:
        """So clearly below the bound that it is an error: no strategy is."""
        return self.p_value < CERTAIN


def rung(horizon: int, bound: float, functions: Sequence[Sequence[float]]) -> Rung:
    """One horizon, from regrets by function: those of the whole family in one list, or a list for each of two."""
    return Rung(horizon, bound, tuple(max(functions, key=np.mean)))


@dataclass(frozen=True)
class Sandwich:
    """A case between the certified bound of its cost and the mean of its runs over the hard family."""

    rungs: tuple[Rung, ...] = ()
    curve: tuple[tuple[int, float], ...] = ()  # the certified bounds, (T, regret) each, also at horizons without runs
    problems: tuple[str, ...] = ()  # why there is no rung, or which are missing, a sentence each
    members: int = 0  # that were to be drawn at each horizon
    look: int = 1  # how often these runs have been judged, this time included

    @property
    def below(self) -> tuple[Rung, ...]:
        return tuple(found for found in self.rungs if found.below)

    @property
    def last(self) -> Rung:
        return self.rungs[-1]

    def table(self):
        import pandas as pd

        rows = [(i, r.horizon, regret, False) for r in self.rungs for i, regret in enumerate(r.regrets)]
        return pd.DataFrame(rows, columns=["replicate", "horizon", "regret", "anytime"])


NONE = Sandwich()


# From the store; nothing here waits for the compiler


def sandwich_of(case: Case, store: Store) -> Sandwich:
    """The bounds of a case and its runs on their families, from the store alone."""
    hard = case.hard
    bounds = {horizon: store.bound(hard.key, horizon) for horizon in hard.bounds}
    curve = tuple((h, r["regret"]) for h, r in bounds.items() if r is not None and r["certified"])
    rungs, problems = [], {}
    for horizon in hard.horizons:
        found = _rung(hard, horizon, bounds[horizon], store)
        if isinstance(found, str):
            problems.setdefault(found, []).append(horizon)
        else:
            rungs.append(found)
    said = [hard.reason] if hard.reason else []
    for text, missing in problems.items():  # with the horizons at which it is one, unless it is at all of them
        where = f"at T = {listing([f'{h:,}' for h in missing], most=9)}: "
        said.append(text if len(missing) == len(hard.horizons) else where + text)
    return Sandwich(tuple(rungs), curve, tuple(said), hard.members)


def _rung(hard, horizon, record, store):
    if record is None:
        return "its lower bound has not been computed"
    if record["problem"]:
        return record["problem"]
    known = store.members(hard.runs, horizon)
    if known is None:
        return "no run on its hard family has been made"
    if known["problem"]:
        return known["problem"]
    functions = {False: [], True: []}
    for series, replicate, dented in known["series"]:
        regret = store.regret(series, replicate, horizon)
        functions[dented] += [] if regret is None else [regret]
    needed = (False, True) if record["functions"] == "two" else (True,)
    if min(len(functions[which]) for which in needed) < FEWEST_RUNS:
        return f"fewer than {FEWEST_RUNS} runs on its hard family have finished"
    return rung(horizon, record["regret"], [functions[which] for which in needed])


def series_used(case: Case, store: Store) -> set[str]:
    """The digests of the series to which the runs of a case on members belong."""
    hard = case.hard
    found = [store.members(hard.runs, horizon) for horizon in hard.horizons]
    return {series for known in found if known is not None for series, _, _ in known["series"]}
