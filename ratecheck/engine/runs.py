"""The table that the runs of an algorithm on a cost make."""

from dataclasses import dataclass, field
from functools import cached_property

from function_zoo import Cost

from ..algorithms.protocol import Algorithm
from ..display import Speaking


@dataclass(frozen=True, repr=False)
class Runs(Speaking):
    """Regret at every horizon of every replicate.

    `frame`: replicate, horizon, regret (cumulative pseudo-regret), cells, side (a0 or the width of this
    replicate), anytime (True where the rows of a replicate come from one run), stream (the name of its random
    numbers), and what all rows share: cost, dim, algorithm, noise, alignment, seed, series (a digest of these) and
    period (the factor in T after which theory expects the regret to repeat itself, nan if none).
    With diagnostics also: exceeded (steps after which the algorithm's optimistic bound contradicted f*), error (f - f*
    at the point that it recommends) and x0, x1, ... (that point); and
    `levels`: replicate, horizon, level, pulls, cells, regret.

    For example

        print(runs)                 # in six lines; runs.plot() draws them
        rc.fit_rate(runs)           # the exponent of R, with an interval
    """

    algorithm: Algorithm
    cost: Cost
    rows: list[dict] = field(repr=False)
    level_rows: list[dict] = field(repr=False)
    shared: dict = field(default_factory=dict)

    @cached_property
    def frame(self):
        import pandas as pd

        return pd.DataFrame(self.rows).assign(**self.shared)

    @cached_property
    def levels(self):
        import pandas as pd

        return pd.DataFrame(self.level_rows, columns=["replicate", "horizon", "level", "pulls", "cells", "regret"])

    def plot(self):
        """The regret of every run and their mean against T: a Matplotlib figure."""
        from ..figures.runs import Regrets, regrets_figure

        return regrets_figure(Regrets.of(self))

    def __repr__(self):
        horizons, replicates = self.frame["horizon"].nunique(), self.frame["replicate"].nunique()
        return f"<Runs of {self.algorithm} on {self.cost}: {horizons} horizons, {replicates} replicates>"

    def _facts(self):
        regrets = self.frame.groupby("horizon")["regret"].agg(["mean", "sem", "size"])
        T = regrets.index
        ends = [f"{m:.5g} ± {e:.3g} at T = {t}" for t, m, e, _ in regrets.iloc[[0, -1]].itertuples()]
        once = "each seen at every horizon" if self.algorithm.anytime else "new ones at every horizon"
        return {
            "algorithm": self.algorithm,
            "cost": self.cost,
            "horizons": f"{len(T)}, T = {T[0]} ... {T[-1]}",
            "replicates": f"{regrets['size'].min()}, {once}",
            "noise": f"{self.shared.get('noise')}, seed {self.shared.get('seed')}",
            "mean regret": ", ".join(dict.fromkeys(ends)),
        }
