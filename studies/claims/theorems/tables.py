"""What is measured: runs, predicted curves, certified bounds, runs on hard families, and what must be known."""

from __future__ import annotations

import inspect
import json
from dataclasses import replace

import numpy as np
import pandas as pd

import function_zoo as zoo
import ratecheck as rc
from ratecheck.lower_bound import inequalities
from ratecheck.study import stream
from studies.claims.shared import CURVE_ERROR
from studies.lower_bound import second
from studies.lower_bound.sandwich import measure

KEYS = ["family", "dim", "mu"]
NO_MU = "-"  # of uniform bins
MUS = {"min": None, "theorem": "theorem"}
LATE = 2**40  # where widths are compared: they come in whole numbers of bins
BEGINS_ALIKE = "a longer run begins with the shorter one"  # a check of Algorithm 2
FORGED = 1.01  # times a certified regret: what both verifiers must refuse


# What is measured


def algorithm_of(mu):
    return rc.UniformBins() if mu == NO_MU else rc.AdaptiveBins(mu=MUS[mu])


def run_table(cases, horizons, replicates, effort) -> pd.DataFrame:
    """All runs, each with the regret predicted at its own partition and the share that theory leaves open."""
    found = []
    for family, dim, mu in cases:
        cost = zoo.get(family, dim)
        runs = rc.simulate(algorithm_of(mu), cost, horizons, replicates, effort.seed, workers=effort.workers).frame
        foretold = rc.predict(algorithm_of(mu), cost, horizons, alignments=replicates, seed=effort.seed).frame
        foretold = foretold.rename(columns={"alignment": "replicate", "regret": "predicted", "noise": "noise_effect"})
        paired = runs.merge(foretold.drop(columns=["side", "cells"]), on=["replicate", "horizon"], validate="1:1")
        paired["left_open"] = paired["noise_effect"] + paired["within"] + paired["error"]
        names = ["replicate", "horizon", "regret", "predicted", "left_open", "anytime", "period"]
        found.append(paired[names].assign(family=family, dim=dim, mu=mu))
    return pd.concat(found)[[*KEYS, *names]]


def curve_table(cases, first, last, seed) -> pd.DataFrame:
    found = []
    for family, dim, mu in cases:
        cost = zoo.get(family, dim)
        curve = rc.predicted_curve(
            algorithm_of(mu).settle(cost), cost, first=first, error=CURVE_ERROR, seed=seed, last=last
        )
        columns = {"horizon": curve.horizons, "regret": curve.regret, "cells": curve.cells, "limit": curve.limit}
        found.append(pd.DataFrame(columns).assign(family=family, dim=dim, mu=mu))
    return pd.concat(found)[[*KEYS, "horizon", "regret", "cells", "limit"]]


def bound_table(costs, horizons) -> pd.DataFrame:
    """Certified lower bounds; each certificate is read back and checked by two verifiers, and so is a forged one."""
    rows = []
    for family, dim in costs:
        for horizon in horizons:
            found = rc.lower_bound(zoo.get(family, dim), horizon)
            content = json.loads(json.dumps(found.certificate))
            forged = content | {"regret": FORGED * content["regret"]}
            rows.append(
                {
                    "family": family,
                    "dim": dim,
                    "horizon": horizon,
                    "bound": found.regret,
                    "first": found.certified and _accepts(inequalities.verify, content),
                    "second": _accepts(second.verify, content),
                    "first_forged": _accepts(inequalities.verify, forged),
                    "second_forged": _accepts(second.verify, forged),
                }
            )
    return pd.DataFrame(rows)


def _accepts(verify, certificate) -> bool:
    try:
        verify(certificate)
    except (ValueError, second.Refused):
        return False
    return True


def sandwich_table(costs, horizons, members, effort) -> pd.DataFrame:
    """Runs on members of the hard family of every horizon, beside the certified bound of that family."""
    done = measure(costs, horizons, members, effort.seed, effort.workers)
    if done.problems:
        raise ValueError(f"no hard family: {done.problems[0]}")
    return done.runs.merge(done.bounds[["family", "dim", "horizon", "bound"]], on=["family", "dim", "horizon"])


# What must be known


def unknown_table(costs, horizon, seed) -> pd.DataFrame:
    rows = [
        row | {"family": family, "dim": dim}
        for family, dim in costs
        for row in (
            *adaptive_knows(zoo.get(family, dim), horizon, seed),
            *_uniform_knows(zoo.get(family, dim), horizon, seed),
        )
    ]
    return pd.DataFrame(rows)[["family", "dim", "algorithm", "check", "holds", "detail"]]


def _traced(algorithm, cost, horizon, seed, pauses=()):
    """The cells that a run to a horizon picks, and its regret; it may pause on the way."""
    settled = algorithm.settle(cost)
    trace = np.zeros(horizon, dtype=np.int64)
    length, offset = settled.length(cost, horizon, 0.0), [0.5] * cost.dim
    rng = stream(seed, str(cost), "what must be known")
    run = settled.start(cost, length, offset, rng, rc.Gaussian(1.0), trace=trace, horizon=horizon)
    for until in (*pauses, horizon):
        run.advance(until)
    return trace, run.regret


def _annotated(cost, **constants):
    return replace(cost, constants=replace(cost.constants, **constants))


def adaptive_knows(cost, horizon, seed):
    """Exact checks that Algorithm 2 uses neither T nor beta."""
    name = {"algorithm": "Algorithm 2"}
    taken = list(inspect.signature(rc.AdaptiveBins).parameters)
    yield name | _row("its settings are α, μ and a0", taken == ["alpha", "mu", "a0"], ", ".join(taken))
    longer = 8 * horizon
    short, at_short = _traced(rc.AdaptiveBins(), cost, horizon, seed)
    long, at_long = _traced(rc.AdaptiveBins(), cost, longer, seed)
    same = int(np.sum(short == long[:horizon]))
    said = f"{same:,} of {horizon:,} picks of the run to T = {longer:,} are those of the run to T = {horizon:,}"
    yield name | _row(BEGINS_ALIKE, same == horizon, said)
    _, paused = _traced(rc.AdaptiveBins(), cost, longer, seed, pauses=(horizon,))
    yield name | _row("a run that paused at T ends the same", paused == at_long, f"R = {paused!r} and {at_long!r}")
    for beta in (0.0, 2 * cost.constants.beta + 1, None):
        picks, regret = _traced(rc.AdaptiveBins(), _annotated(cost, beta=beta), horizon, seed)
        equal = bool(np.array_equal(picks, short)) and regret == at_short
        yield name | _row(f"the same run with β = {beta}", equal, f"R = {regret!r} and {at_short!r}")


def _uniform_knows(cost, horizon, seed):
    """Exact checks that Algorithm 1 uses T, alpha and beta."""
    name = {"algorithm": "Algorithm 1"}
    known, longer = cost.constants, 64 * horizon

    def width(annotated, T):
        return rc.UniformBins().settle(annotated).length(annotated, T, 0.0)

    own = width(cost, LATE)
    others = {
        "T": width(cost, 2 * LATE),
        "α": width(_annotated(cost, alpha=known.alpha / 2), LATE),
        "β": width(_annotated(cost, beta=known.beta / 4), LATE),
    }
    for what, other in others.items():
        yield name | _row(f"another {what} gives another width", other != own, f"widths {own!r} and {other!r}")
    short, _ = _traced(rc.UniformBins(), cost, horizon, seed)
    long, _ = _traced(rc.UniformBins(), cost, longer, seed)
    same = int(np.sum(short == long[:horizon]))
    said = f"{same:,} of {horizon:,} picks of the run to T = {longer:,} are those of the run to T = {horizon:,}"
    yield name | _row("a longer run begins otherwise", same < horizon, said)
    try:
        rc.UniformBins().settle(_annotated(cost, beta=None))
        yield name | _row("without β it refuses to start", False, "it started")
    except ValueError as error:
        yield name | _row("without β it refuses to start", True, str(error).splitlines()[0])


def _row(check, holds, detail) -> dict:
    return {"check": check, "holds": bool(holds), "detail": detail}
