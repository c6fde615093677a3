"""What theory predicts for the runs of a study, each at its own partition; kept in the store beside them."""

from __future__ import annotations

from dataclasses import asdict
from functools import partial

from ..claims import Planned
from ..planning import forecast as estimate
from ..predict.far import BEYOND
from ..store import Store
from ..verdict.agreement import expected
from .plan import FEW_STEPS
from .run import Aside

ERROR = 0.02  # of a long curve: its slope over a third of its range is then known to a thousandth
ALIGNED = 32  # replicates whose partitions a curve beyond the runs follows
DIGITS = 7  # that are kept of a predicted regret: rounding stays far below the noise of any number of runs
MOST = 256  # replicates; so many tell a tenth of a per cent


def predicted(cost, algorithm, horizons, replicates, seed, alignment, error, noise, stop=None) -> dict:
    """What is expected of every replicate at every horizon, the shares that theory leaves open, and curves.

    `locked` says how many of the draws lock in, of how many.

    A long `curve` is the mean over some partitions; `beyond` goes on from the last horizon with those of the runs,
    where they are the same at all horizons.  Where nothing can be predicted, `problem` says why; no curve is longer
    than that of a plan if the error is 0.
    """
    from ..predict.predicted_curve import predicted_curve
    from ..predict.prediction import DRAWS, predict
    from ..sampling.noise import noise_of

    def along(first, **how):
        try:
            curve = asdict(predicted_curve(algorithm, cost, first=first, error=error, seed=seed, kind=alignment, **how))
        except ValueError:  # out of reach
            return None
        rounded = {name: _rounded(curve[name]) for name in ("regret", "cells", "error")}
        return curve | rounded if curve["horizons"][1:] else None

    record = {"horizons": list(horizons), "error": error, "problem": "", "curve": None, "beyond": None}
    record |= {"regret": [], "left_open": [], "locked": [0, 0]}
    if error:
        record["curve"] = along(horizons[0])
        if algorithm.anytime and alignment == "random":
            aligned = min(replicates, ALIGNED)
            record["beyond"] = along(horizons[-1], alignments=aligned, last=BEYOND * horizons[-1])
    fixed = alignment == "fixed"
    how = {"alignments": "fixed", "draws": DRAWS * replicates} if fixed else {"alignments": replicates}
    try:
        prediction = predict(algorithm, cost, horizons, seed=seed, noise=noise_of(noise), **how)
    except ValueError as error:
        return record | {"problem": str(error)}
    if not (prediction.frame["deterministic"] > 0).all():
        return record | {"problem": "theory predicts no regret at all"}
    table, locked = expected(prediction)
    means = table.groupby("horizon")[["noise_effect", "within", "error"]].mean()
    regret = table.pivot(index="place", columns="horizon", values="predicted")
    record |= {"regret": regret.to_numpy().tolist(), "left_open": means.to_numpy().tolist(), "locked": list(locked)}
    return shortened(record)


def shortened(record: dict) -> dict:
    """The same with no more digits than mean something, which would make half of a packed study."""
    return record | {"regret": [_rounded(row) for row in record["regret"]]}


def _rounded(values) -> list[float]:
    return [float(f"{value:.{DIGITS}g}") for value in values]


def lacking(planned: list[Planned], store: Store) -> list[Aside]:
    """The work of predicting the runs of all cases that are not predicted yet."""
    found = []
    for case, cost, algorithm in planned:
        series = case.series
        count = min(case.replicates, MOST)
        if not hasattr(algorithm, "level_rule"):
            continue
        known = store.prediction(series.digest)
        error = ERROR if case.steps > FEW_STEPS else 0.0
        if known is None or not _covers(known, case.horizons, 1 if series.alignment == "fixed" else count, error):
            what = (cost, algorithm, case.horizons, count, series.seed, series.alignment, error, series.noise)
            name, keep = f"the prediction for {case.name}", partial(_keep, series.digest)
            seconds = estimate.prediction(len(case.horizons), count, cost.dim, bool(error))
            found.append(Aside(name, predicted, what, keep, seconds))
    return found


def _keep(series, store, record):
    store.put_prediction(series, record)


def _covers(known, horizons, count, error) -> bool:
    """What could not be predicted is tried again, since it may be by now; so is what was predicted without draws."""
    seen = "locked" in known and set(known["horizons"]) >= set(horizons) and bool(known.get("error")) >= bool(error)
    return seen and len(known["regret"]) >= count
