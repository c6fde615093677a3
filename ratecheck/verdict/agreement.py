"""Whether runs follow the predicted curve: each replicate against the prediction at its own partition.

Pairing takes the partitions' share out of the scatter, so that some dozen runs tell a per cent.  The comparison is
two-sided: a regret that is too low is as wrong as one that is too high.
"""

from __future__ import annotations

import math
import re
from dataclasses import dataclass, field
from functools import cached_property
from typing import TYPE_CHECKING

import numpy as np
from scipy import special

from ..arguments import check_real, shown
from ..claims import Outcome
from ..display import Speaking
from ..fit.fit import Estimate, Fit
from ..fit.log_means import LogMeans, check_level, log_means, rounded_up
from . import sentences
from .findings import Follows
from .rules import LEVEL

if TYPE_CHECKING:
    import pandas as pd

    from ..predict.prediction import Prediction

MARGIN = 0.02  # of the ratio measured / predicted
SLOPE_MARGIN = 0.01
EARLY = 1 / 3  # of the range in ln T: where the theory is not yet good to a per cent, and nothing is judged
LOCKED = 2.0  # times the predicted regret, in all or over its last stretch: such a run is locked in
STRETCH = 2.0  # the factor in T of that stretch
FEWEST_PAIRS, VARIED, LEAST = 8, 0.05, 0.5  # runs, spread of ln R over partitions, and correlation with it
MOST_LOCKED = 0.05  # share of the runs; the theory knows of none


@dataclass(frozen=True, repr=False)
class Agreement(Speaking):
    """How measured regrets compare with predicted ones.

    In `table`, `predicted` is the mean over the partitions of all runs, `spared` the mean regret of those that are not
    locked in.

    `name` is CONSISTENT where runs follow the theory: their mean ratio to it lies within `margin` of 1 and its slope
    against ln T within `slope_margin` of 0, both limits at once.  It is REFUTED where one of them lies outside by more
    than `allowance`, the share of the regret that the theory leaves open itself (noise and spread within cells).

    For example

        print(rc.agreement(runs))      # see `agreement`
    """

    data: LogMeans  # of the ratios of runs that are not locked in, at the horizons that are judged
    table: pd.DataFrame = field(repr=False)  # horizon, ratio, low, high, runs, judged, and means: predicted, spared
    replicates: int
    locked: tuple[int, ...]  # replicates
    locked_draws: tuple[int, int]  # of the prediction: how many lock in, of how many; (0, 0) if none was drawn
    allowance: float
    slope_allowance: float
    own_partitions: bool = True  # runs vary with their partitions as predicted
    margin: float = MARGIN
    slope_margin: float = SLOPE_MARGIN
    level_of_confidence: float = LEVEL

    @cached_property
    def level(self) -> Estimate:
        """Of the logarithm of measured / predicted, averaged over the horizons that are judged."""
        weights = np.full(len(self.data.y), 1 / len(self.data.y))
        return Estimate(float(weights @ self.data.y), self._error(weights), self.data.replicates - 1)

    @cached_property
    def slope(self) -> Estimate:
        """Of the same against ln T."""
        return Fit(self.data).whole

    def _error(self, weights) -> float:
        return math.sqrt(max(0.0, float(weights @ self.data.covariance @ weights)))

    @property
    def ratio(self) -> tuple[float, float, float]:
        """Measured / predicted, and its interval."""
        return tuple(math.exp(min(v, 700.0)) for v in (self.level.value, self.level.low, self.level.high))

    @property
    def lock_in(self) -> tuple[float, float, float]:
        """The share of runs that lock in, and its interval (Clopper and Pearson)."""
        return _share(len(self.locked), self.replicates)

    @property
    def locks_in(self) -> bool:
        """Whether clearly more runs lock in than is predicted, or than a theory without lock-in can leave out."""
        return bool(self.locked) and self.lock_in[1] > MOST_LOCKED + _share(*self.locked_draws)[2]

    @cached_property
    def why(self) -> Follows:
        if not self.own_partitions:
            return Follows.OTHER_PARTITIONS
        if self.locks_in:
            return Follows.LOCKED_IN
        side = (1 + self.level_of_confidence) / 2  # two quantities may each refute
        for (e, margin, allowed), other in zip(self._margins, (Follows.OTHER_LEVEL, Follows.OTHER_SLOPE), strict=True):
            if max(e.lower_limit(side), e.mirrored().lower_limit(side)) > margin + allowed:
                return other
        if not self._undecided:
            return Follows.WITHIN
        return Follows.LEFT_OPEN if min(self._rooms) <= 0 else Follows.TOO_FEW

    @property
    def name(self) -> Outcome:
        return self.why.outcome

    @property
    def reason(self) -> str:
        return sentences.agreement(self)

    def __str__(self):
        return f"{self.name}: {self.reason}"

    def _facts(self):
        T = self.data.horizons
        judged = f"{len(T)} horizons, T = {T[0]:.7g} ... {T[-1]:.7g}, and {self.replicates} runs"
        return {
            "verdict": self,
            "measured / predicted": "{:.3f} [{:.3f}, {:.3f}]".format(*self.ratio),
            "judged": judged,
        }

    @property
    def _margins(self):
        """Of the level and of the slope: the estimate, its margin, and what the theory leaves open."""
        level = self.level, math.log1p(self.margin), self.allowance
        return level, (self.slope, self.slope_margin, self.slope_allowance)

    @property
    def _undecided(self):
        return [(e, margin, allowed) for e, margin, allowed in self._margins if not self._inside(e, margin)]

    @property
    def _rooms(self) -> list[float]:
        """How far the undecided estimates are from being decided; negative in what the theory leaves open."""
        return [max(margin - abs(e.value), abs(e.value) - margin - allowed) for e, margin, allowed in self._undecided]

    def _inside(self, estimate, margin) -> bool:
        limit = self.level_of_confidence
        return max(estimate.upper_limit(limit), estimate.mirrored().upper_limit(limit)) < margin

    @property
    def needed(self) -> float:
        """How many runs would decide, where more of them do."""
        df = self.data.replicates - 1
        reach = special.stdtrit(df, self.level_of_confidence) + special.stdtrit(df, 0.9)
        needed = max((reach * e.se / room) ** 2 for (e, *_), room in zip(self._undecided, self._rooms, strict=True))
        return float(rounded_up(self.replicates * max(needed, 1.0) + 1))


def _share(k: int, n: int) -> tuple[float, float, float]:
    """k of n, and the 95 % interval of Clopper and Pearson; nothing of nothing."""
    if n == 0:
        return 0.0, 0.0, 0.0
    low = float(special.betaincinv(k, n - k + 1, 0.025)) if k else 0.0
    return k / n, low, float(special.betaincinv(k + 1, n - k, 0.975)) if k < n else 1.0


def agreement(runs, prediction: Prediction | None = None, margin: float = MARGIN, slope_margin: float = SLOPE_MARGIN):
    """Compare runs with a prediction, replicate by replicate at its own partition: an `Agreement`.

    `runs` is what `simulate` gives, or its table; without a prediction, that of their algorithm and cost at their
    replicates, horizons, seed and noise is made.

    For example

        rc.agreement(rc.simulate(rc.AdaptiveBins(), zoo.get("cone", dim=1), [2**k for k in range(8, 15)], replicates=8))
    """
    for name, value in (("margin", margin), ("slope_margin", slope_margin)):
        if not 0 < check_real(name, value) < 1:
            raise ValueError(f"{name} = {shown(value)} must lie between 0 and 1")
    if prediction is None:
        prediction = _prediction_for(runs)
    table = getattr(runs, "frame", runs)
    log_means(table)  # or it says why it is no table of runs
    _check_same(table, prediction)
    place = 0 if prediction.partitions == "fixed" else table["replicate"]
    predicted, locked_draws = expected(prediction)
    paired = table.assign(place=place).merge(predicted, on=["place", "horizon"], suffixes=("", "_predicted"))
    missing = len(table) - len(paired)
    if missing:
        raise ValueError(
            f"{missing} of {len(table)} runs have no prediction: predict at their horizons, and at their replicates or "
            'more (alignments=N), or "fixed" for runs with alignment="fixed"'
        )
    if "side" in table and not np.allclose(paired["side"], paired["side_predicted"], rtol=1e-12, atol=0):
        raise ValueError("runs and prediction have other partitions: predict with the seed of the runs")
    squared = variance(table["noise"].iloc[0]) if "noise" in table else 1.0
    means = paired.groupby("horizon")[["noise_effect", "within", "error"]].mean()
    left_open = means["noise_effect"] * squared + means["within"] + means["error"]
    how = {"locked_draws": locked_draws, "margin": margin, "slope_margin": slope_margin}
    return compare(paired, paired["predicted"].to_numpy(), left_open=left_open.to_numpy(), **how)


def expected(prediction: Prediction):
    """What is expected of runs that do not lock in, by horizon and place; and how many draws lock in, of how many.

    It is the regret at the deterministic level, corrected at every horizon by what the draws at all places exceed it;
    the error of that counts as one of the prediction, twice its standard error.
    """
    from ..predict.prediction import excess

    frame = prediction.frame.rename(columns={"alignment": "place", "noise": "noise_effect"})
    keep = ["horizon", "place", "side", "predicted", "noise_effect", "within", "error"]
    draws = frame.assign(
        replicate=frame.groupby(["place", "draw"]).ngroup(),
        anytime=prediction.algorithm.anytime,
        predicted=frame["deterministic"],
        ratio=frame["regret"] / frame["deterministic"],
    )
    locked, count = locked_in(draws), int(draws["replicate"].nunique())
    rest = draws[~draws["replicate"].isin(locked)] if 2 * len(locked) < count else draws
    found = excess(rest)
    factor, error = (draws["horizon"].map(found[name]) for name in ("factor", "error"))
    table = draws.assign(predicted=factor * draws["deterministic"], error=draws["error"] + 2 * error)
    return table[draws["draw"] == 0][keep], (len(locked), count if prediction.noise else 0)


def compare(
    table, predicted, *, left_open, locked_draws=(0, 0), margin=MARGIN, slope_margin=SLOPE_MARGIN, level=LEVEL
) -> Agreement:
    """The same from a table of runs, what is predicted for each of them, and the share left open at each horizon."""
    import pandas as pd

    check_level(level)
    table = table.assign(predicted=predicted, ratio=table["regret"].to_numpy() / predicted)
    locked = locked_in(table)
    replicates = int(table["replicate"].nunique())
    kept = replicates - len(locked)
    rest = table[~table["replicate"].isin(locked)] if kept >= max(3, replicates / 2) else table
    data = log_means(rest.assign(regret=rest["ratio"]))
    x = data.x
    judged = x >= x[0] + EARLY * (x[-1] - x[0]) - 1e-9
    judged[-3:] = True
    reach = special.stdtrit(data.replicates - 1, (1 + level) / 2) * np.sqrt(np.diag(data.covariance))
    found = pd.DataFrame(
        {
            "horizon": data.horizons,
            "ratio": np.exp(data.y),
            "low": np.exp(data.y - reach),
            "high": np.exp(np.minimum(data.y + reach, 700.0)),
            "runs": [len(sample) for sample in data.samples],
            "judged": judged,
            "predicted": table.groupby("horizon")["predicted"].mean().to_numpy(),
            "spared": rest.groupby("horizon")["regret"].mean().to_numpy(),
        }
    )
    late = np.asarray(left_open)[judged]
    tilt = abs(late[-1] - late[0]) / (x[judged][-1] - x[judged][0])
    return Agreement(
        data=data.cut(judged),
        table=found,
        replicates=replicates,
        locked=tuple(locked),
        locked_draws=locked_draws,
        allowance=float(late.mean()),
        slope_allowance=float(tilt),
        own_partitions=_own_partitions(rest),
        margin=margin,
        slope_margin=slope_margin,
        level_of_confidence=level,
    )


def _own_partitions(table) -> bool:
    """Whether runs vary with their partitions as predicted, where that can be told: else they may be other ones'.

    By the upper limit of the correlation at the last horizon (Fisher's z, at the 99 % level).
    """
    last = table[table["horizon"] == table["horizon"].max()]
    predicted, ratio = np.log(last["predicted"].to_numpy()), np.log(last["ratio"].to_numpy())
    if len(last) < FEWEST_PAIRS or np.std(predicted) < VARIED or np.std(predicted + ratio) == 0:
        return True
    found = float(np.corrcoef(predicted, predicted + ratio)[0, 1])
    limit = math.atanh(min(found, 1 - 1e-12)) + float(special.ndtri(0.99)) / math.sqrt(len(last) - 3)
    return limit > math.atanh(LEAST)


def locked_in(table) -> list[int]:
    """Replicates that left the curve: their regret is far above what is predicted for it, or for its last stretch.

    Early horizons do not count: there a few unlucky queries do the same.
    """
    horizons = np.sort(table["horizon"].unique())
    late = table[np.log(table["horizon"]) >= np.log(horizons[0]) + EARLY * np.log(horizons[-1] / horizons[0])]
    left = set(late.loc[late["ratio"] > LOCKED, "replicate"].tolist())
    before = horizons[horizons <= horizons[-1] / STRETCH * (1 + 1e-9)]
    if table["anytime"].iloc[0] and len(before):
        sums = [table[table["horizon"] == h].set_index("replicate") for h in (before[-1], horizons[-1])]
        paid, due = (sums[1][name] - sums[0][name] for name in ("regret", "predicted"))
        left |= set(paid.index[paid > LOCKED * due].tolist())
    return sorted(left)


def _prediction_for(runs) -> Prediction:
    from ..predict.prediction import DRAWS, predict
    from ..sampling.noise import noise_of

    if not hasattr(runs, "frame"):
        raise ValueError("a table of runs alone does not say what to predict; give agreement(runs, prediction)")
    table = runs.frame
    fixed, noise = table["alignment"].iloc[0] == "fixed", noise_of(table["noise"].iloc[0])
    replicates = "fixed" if fixed else sorted(table["replicate"].unique().tolist())
    horizons = sorted(table["horizon"].unique().tolist())
    draws = DRAWS * table["replicate"].nunique() if fixed else DRAWS
    how = {"alignments": replicates, "seed": int(table["seed"].iloc[0]), "noise": noise, "draws": draws}
    return predict(runs.algorithm, runs.cost, horizons, **how)


def _check_same(table, prediction):
    """Refuse to compare runs with the prediction for something else."""
    names = {
        "cost": str(prediction.cost),
        "algorithm": str(prediction.algorithm),
        "seed": prediction.seed,
        "alignment": prediction.partitions,
        "noise": repr(prediction.noise),
    }
    if prediction.noise is None:
        del names["noise"]
    if prediction.partitions == "fixed":
        del names["seed"]
    if prediction.partitions == "given":
        del names["seed"], names["alignment"]
    for column, name in names.items():
        if column in table and table[column].iloc[0] != name:
            raise ValueError(
                f"the runs have {column} = {shown(table[column].tolist()[0])}, and the prediction is for {shown(name)}"
            )


def variance(noise: str) -> float:
    """Of a noise law that runs name: Gaussian(sigma=1.0)."""
    sigma = re.search(r"sigma=([^,)]+)", noise)
    return float(sigma.group(1)) ** 2 if sigma else 1.0
