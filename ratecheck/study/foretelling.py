"""What theory foretells for the runs of a study, each at its own partition; kept in the store beside them."""

from __future__ import annotations

from functools import partial

from ..claims import Planned
from ..store import Store
from .runner import Aside

VERSION = 1  # of what is kept: raised whenever the same runs are foretold otherwise
MOST = 256  # replicates; so many tell a tenth of a per cent


def foretold(cost, algorithm, horizons, replicates, seed, alignment, stop=None) -> dict:
    """The predicted regret of every replicate at every horizon, and the shares that theory leaves open.

    Where nothing can be foretold, `problem` says why.
    """
    from ..prediction import predict

    record = {"version": VERSION, "horizons": list(horizons), "problem": "", "regret": [], "left_open": []}
    places = "fixed" if alignment == "fixed" else replicates
    try:
        frame = predict(algorithm, cost, horizons, places, seed).frame
    except ValueError as error:
        return record | {"problem": str(error)}
    if not (frame["regret"] > 0).all():
        return record | {"problem": "theory foretells no regret at all"}
    means = frame.groupby("horizon")[["noise", "spread", "error"]].mean()
    regret = frame.pivot(index="alignment", columns="horizon", values="regret")
    return record | {"regret": regret.to_numpy().tolist(), "left_open": means.to_numpy().tolist()}


def lacking(planned: list[Planned], store: Store) -> list[Aside]:
    """The work of foretelling the runs of all cases that are not foretold yet."""
    found = []
    for case, cost, algorithm in planned:
        series = case.series
        count = 1 if series.alignment == "fixed" else min(case.replicates, MOST)
        if not hasattr(algorithm, "level_rule"):
            continue
        known = store.foretold(series.digest)
        if known is None or known["version"] != VERSION or not _covers(known, case.horizons, count):
            what = (cost, algorithm, case.horizons, count, series.seed, series.alignment)
            found.append(Aside(f"the prediction for {case.name}", foretold, what, partial(_keep, series.digest)))
    return found


def _keep(series, store, record):
    store.foretell(series, record)


def _covers(known, horizons, count) -> bool:
    return set(known["horizons"]) >= set(horizons) and (bool(known["problem"]) or len(known["regret"]) >= count)
