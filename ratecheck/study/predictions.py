"""What theory predicts for the runs of a study, each at its own partition; kept in the store beside them."""

from __future__ import annotations

from dataclasses import asdict
from functools import partial

from ..claims import Planned
from ..planning import forecast as estimate
from ..predict.far import BEYOND
from ..store import Store
from .plan import FEW_STEPS
from .run import Aside

CELLS = 2**16  # of a long curve
FAR, LONGEST = 1e60, 1e300  # where it ends, and where it does if a study asks for so many cells
TREES = 2**20  # cells of all trees together, of a curve at the partitions of all runs
DIGITS = 7  # that are kept of a predicted regret: rounding stays far below the noise of any number of runs
MOST = 256  # replicates; so many tell a tenth of a per cent


def predicted(cost, algorithm, horizons, replicates, seed, alignment, cells, last, stop=None) -> dict:
    """The predicted regret of every replicate at every horizon, the shares that theory leaves open, and curves.

    A long `curve` is the mean over some partitions; `beyond` goes on from the last horizon with those of the runs,
    where they are the same at all horizons.  Where nothing can be predicted, `problem` says why; no curve is longer
    than that of a plan if it takes no cells.
    """
    from ..predict.predicted_curve import predicted_curve
    from ..predict.water_level import predict

    def along(first, cells, alignments, last):
        try:
            curve = asdict(
                predicted_curve(
                    algorithm,
                    cost,
                    first=first,
                    cells=cells,
                    alignments=alignments,
                    seed=seed,
                    kind=alignment,
                    last=last,
                )
            )
        except ValueError:  # out of reach
            return None
        return curve | {name: _rounded(curve[name]) for name in ("regret", "cells")} if curve["horizons"][1:] else None

    record = {"horizons": list(horizons), "cells": cells, "problem": "", "curve": None, "beyond": None}
    record |= {"regret": [], "left_open": []}
    if cells:
        record["curve"] = along(horizons[0], cells, max(2, min(8, 2**19 // cells)), last)
        if algorithm.anytime and alignment == "random":
            record["beyond"] = along(horizons[-1], min(cells, TREES // replicates), replicates, BEYOND * horizons[-1])
    places = "fixed" if alignment == "fixed" else replicates
    try:
        frame = predict(algorithm, cost, horizons, alignments=places, seed=seed).frame
    except ValueError as error:
        return record | {"problem": str(error)}
    if not (frame["regret"] > 0).all():
        return record | {"problem": "theory foretells no regret at all"}
    means = frame.groupby("horizon")[["noise", "within", "error"]].mean()
    regret = frame.pivot(index="alignment", columns="horizon", values="regret")
    return shortened(record | {"regret": regret.to_numpy().tolist(), "left_open": means.to_numpy().tolist()})


def shortened(record: dict) -> dict:
    """The same with no more digits than mean something, which would make half of a packed study."""
    return record | {"regret": [_rounded(row) for row in record["regret"]]}


def _rounded(values) -> list[float]:
    return [float(f"{value:.{DIGITS}g}") for value in values]


def lacking(planned: list[Planned], store: Store, curve_cells: int | None = None) -> list[Aside]:
    """The work of predicting the runs of all cases that are not predicted yet, with so many cells for their curves."""
    found = []
    for case, cost, algorithm in planned:
        series = case.series
        count = 1 if series.alignment == "fixed" else min(case.replicates, MOST)
        if not hasattr(algorithm, "level_rule"):
            continue
        known = store.prediction(series.digest)
        cells, last = (curve_cells, LONGEST) if curve_cells else (CELLS * (case.steps > FEW_STEPS), FAR)
        if known is None or not _covers(known, case.horizons, count, cells):
            what = (cost, algorithm, case.horizons, count, series.seed, series.alignment, cells, last)
            name, keep = f"the prediction for {case.name}", partial(_keep, series.digest)
            seconds = estimate.prediction(len(case.horizons), count, cells, case.period)
            found.append(Aside(name, predicted, what, keep, seconds))
    return found


def _keep(series, store, record):
    store.put_prediction(series, record)


def _covers(known, horizons, count, cells) -> bool:
    """What could not be predicted is tried again, since it may be by now."""
    seen = set(known["horizons"]) >= set(horizons) and known["cells"] >= cells
    return seen and len(known["regret"]) >= count
