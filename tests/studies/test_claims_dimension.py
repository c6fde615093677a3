"""The square root in every dimension: verdicts follow the tables, and small tables can be made."""

import numpy as np
import pandas as pd

from studies.claims.dimension.experiment import Dimension, optimal, square_root
from studies.claims.ledger import Effort, Verdict

TINY = Dimension(
    name="dimension",
    title="?",
    question="?",
    families=("quadratic", "cone"),
    dims=(1, 2),
    octaves={"quick": (8, 12)},
    replicates={"quick": 3},
    far={"quick": {"quadratic": {1: (2**8, 1)}}},
    bounds={"quick": (1e3, 1e5)},
    bound_dims=(1,),
)


def tables(runs="INCONCLUSIVE", far="CONSISTENT", growth=0.5, certified=True):
    """Verdicts in d = 1, 2, 3 as given, or by dimension; d = 4 is open."""
    runs, far = (v if isinstance(v, list) else [v] * 3 for v in (runs, far))
    names = pd.DataFrame({"family": "quadratic", "dim": [1, 2, 3, 4]})
    T = np.array([1e3, 1e6])
    return {
        "runs": names.assign(verdict=[*runs, "INCONCLUSIVE"], tolerates=0.1, low=0.4, high=0.5, slope=0.45),
        "far": names.assign(verdict=[*far, "INCONCLUSIVE"], limit=0.5, low=0.48, high=0.52, slope=0.51, last=1e9),
        "below": pd.DataFrame({"dim": 1, "horizon": T, "bound": T**growth, "per_root": T ** (growth - 0.5)}).assign(
            certified=certified
        ),
    }


def verdict(**how):
    return square_root(tables(**how), needed=3).verdict


def test_a_dimension_is_settled_by_runs_or_far_out():
    assert verdict() is Verdict.CONSISTENT
    assert verdict(runs="CONSISTENT", far="INCONCLUSIVE") is Verdict.CONSISTENT
    assert verdict(runs=["CONSISTENT", "INCONCLUSIVE", "INCONCLUSIVE"], far="INCONCLUSIVE") is Verdict.INCONCLUSIVE
    assert verdict(runs=["CONSISTENT", "CONSISTENT", "REFUTED"]) is Verdict.REFUTED
    assert verdict(far=["REFUTED", "CONSISTENT", "CONSISTENT"]) is Verdict.REFUTED


def test_what_is_open_is_named():
    assert square_root(tables(), needed=3).caveat == "open: quadratic d = 4"
    assert square_root(tables(), needed=4).verdict is Verdict.INCONCLUSIVE


def test_optimal_needs_both_sides():
    assert optimal(tables(), needed=3).verdict is Verdict.CONSISTENT
    assert optimal(tables(growth=0.4), needed=3).verdict is Verdict.INCONCLUSIVE
    assert optimal(tables(far="INCONCLUSIVE"), needed=3).verdict is Verdict.INCONCLUSIVE
    assert optimal(tables(far="REFUTED"), needed=3).verdict is Verdict.REFUTED
    assert "without ball arithmetic" in optimal(tables(certified=False), needed=3).caveat


def test_small_tables_from_end_to_end():
    found = {name: part() for name, part in TINY.parts(Effort("quick")).items()}
    assert len(found["runs"]) == 4
    assert list(found["far"]["dim"]) == [1]
    assert abs(np.log(found["below"]["bound"].iloc[-1] / found["below"]["bound"].iloc[0]) / np.log(100) - 0.5) < 0.01
    for judgement in TINY.judgements().values():
        assert isinstance(judgement.rule({name: found[name] for name in judgement.parts}).verdict, Verdict)
    assert len("".join(TINY.words(found))) > 500
    assert all(picture.draw() for picture in TINY.pictures(found))
