"""A wrong alpha: the exponents of theory, and verdicts that follow the tables."""

import numpy as np
import pandas as pd
import pytest

import function_zoo as zoo
from ratecheck.papers import zhao_lai
from studies.claims.ledger import Effort, Verdict
from studies.claims.misspecified.experiment import Misspecified, promised, smaller

TINY = Misspecified(
    name="misspecified",
    title="?",
    question="?",
    costs=(("quadratic", 1, (1.0,)), ("cone", 1, (2.0,))),
    octaves={"quick": (6, 12)},
    replicates={"quick": 4},
    cells={"quick": 2**9},
    alignments=2,
)


@pytest.mark.parametrize("family", ["quadratic", "quartic", "cone"])
@pytest.mark.parametrize("dim", [1, 2])
def test_exponents_below_alpha_against_the_theorem(family, dim):
    known = zoo.get(family, dim).constants
    for alpha0 in np.linspace(0.1, known.alpha, 5):
        rate = zhao_lai.misspecified.rate(known.weakened(alpha0), dim)
        assert promised(known.alpha, known.beta, dim, alpha0) == pytest.approx(rate.slope)


def test_no_alpha0_is_better_than_alpha():
    found = [promised(1.0, 1.0, 1, alpha0) for alpha0 in (0.5, 0.9, 1.0, 1.1, 2.0)]
    assert min(found) == found[2] == pytest.approx(0.5)
    assert found[-1] == pytest.approx(0.75)


def doctored():
    """Tables in which all is as theory says."""
    names = {"family": "quadratic", "dim": 1, "alpha": 2.0, "beta": 0.5}
    rows = [names | {"alpha0": a, "theory": promised(2.0, 0.5, 1, a)} for a in (2.0, 1.0)]
    far = pd.DataFrame(rows)
    far = far.assign(limit=far["theory"], low=far["theory"] - 0.02, high=far["theory"] + 0.02)
    runs = pd.DataFrame(rows).assign(verdict="CONSISTENT", tolerates=0.1, slower=0.1, slower_low=0.05, slower_high=0.15)
    return {"runs": runs, "far": far}


def verdict(changes):
    tables = doctored()
    for (name, column), value in changes.items():
        tables[name].loc[1, column] = value
    return smaller(tables).verdict


def test_verdicts_follow_the_tables():
    assert verdict({}) is Verdict.CONSISTENT
    assert verdict({("far", "low"): 0.66, ("far", "high"): 0.7}) is Verdict.REFUTED  # slower than alpha0's rate
    assert verdict({("far", "low"): 0.49, ("far", "high"): 0.52}) is Verdict.REFUTED  # faster, like alpha's
    assert verdict({("runs", "verdict"): "REFUTED"}) is Verdict.REFUTED
    assert verdict({("runs", "slower_high"): -0.01}) is Verdict.REFUTED
    assert verdict({("far", "low"): 0.45}) is Verdict.INCONCLUSIVE  # not told from alpha's
    assert verdict({("far", "low"): np.nan}) is Verdict.INCONCLUSIVE
    assert verdict({("runs", "slower_low"): -0.01}) is Verdict.INCONCLUSIVE


def test_larger_alpha0_are_shown_and_not_judged():
    tables = doctored()
    other = {name: table.assign(alpha=0.5) for name, table in tables.items()}
    both = {name: pd.concat([table, other[name].assign(verdict="REFUTED")]) for name, table in tables.items()}
    assert smaller(both).verdict is Verdict.CONSISTENT


def test_small_tables_from_end_to_end():
    tables = {name: part() for name, part in TINY.parts(Effort("quick")).items()}
    assert list(tables["runs"]["alpha0"]) == list(tables["far"]["alpha0"]) == [2.0, 1.0, 1.0, 2.0]
    assert isinstance(smaller(tables).verdict, Verdict)
    assert len("".join(TINY.words(tables))) > 500
    assert [picture.draw() for picture in TINY.pictures(tables)]
