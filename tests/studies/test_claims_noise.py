"""Other noise: verdicts follow the tables, and bonuses that are multiplied by sigma are what they are called."""

import pandas as pd
import pytest

import function_zoo as zoo
import ratecheck as rc
from studies.claims.ledger import Effort, Verdict
from studies.claims.noise.experiment import NoiseLaws, subgaussian

TINY = NoiseLaws(
    name="noise",
    title="?",
    question="?",
    costs=(("cone", 1),),
    laws=(rc.Gaussian(2.0), rc.Gaussian(1.0)),
    stress=(rc.StudentT(1.0, 3.0),),
    octaves={"quick": (5, 11)},
    replicates={"quick": 4},
    arms={"quick": (4, 7)},
    arm_replicates={"quick": 8},
)


def tables(**changes):
    """As if sigma made no difference, but for changes of its row among the fits."""
    names = {"family": "cone", "dim": 1, "algorithm": "uniform", "law": "Gaussian", "judged": True}
    fine = {"verdict": "CONSISTENT", "slope": 0.5, "steeper": 0.0, "steeper_low": -0.01, "steeper_high": 0.01}
    fits = pd.DataFrame([names | {"sigma": 1.0} | fine, names | {"sigma": 4.0} | fine | changes])
    means = pd.DataFrame([names | {"sigma": s, "horizon": 64, "ratio": 1.0, "invalid": s / 10} for s in (1.0, 4.0)])
    arms = pd.DataFrame({"sigma": 4.0, "horizon": [8, 32, 64], "regret": [2.0, 9.0, 20.0], "runs": 9, "locked": 2})
    return {"fits": fits, "means": means, "arms": arms}


def test_verdicts_follow_the_tables():
    assert subgaussian(tables()).verdict is Verdict.CONSISTENT
    assert subgaussian(tables(steeper_high=0.2)).verdict is Verdict.INCONCLUSIVE
    assert subgaussian(tables(steeper_low=0.1, steeper_high=0.2)).verdict is Verdict.REFUTED
    assert subgaussian(tables(verdict="REFUTED")).verdict is Verdict.REFUTED
    assert subgaussian(tables(verdict="REFUTED", judged=False)).verdict is Verdict.CONSISTENT  # a stress case


def test_a_finding_says_where_theory_foretold_otherwise():
    assert "σ² < 4/3" in subgaussian(tables()).foretold
    silent = tables()
    silent["means"]["invalid"] = 0.0
    assert subgaussian(silent).foretold == ""


@pytest.fixture(scope="module")
def measured():
    return {name: part() for name, part in TINY.parts(Effort("quick")).items()}


def test_small_tables_from_end_to_end(measured):
    assert set(measured["fits"]["law"]) == {"Gaussian", "t, 3 degrees"}
    assert measured["fits"]["judged"].sum() == 4
    standard = measured["fits"][(measured["fits"]["sigma"] == 1) & measured["fits"]["judged"]]
    assert (standard["steeper"] == 0).all()
    assert isinstance(subgaussian(measured).verdict, Verdict)
    assert len("".join(TINY.words(measured))) > 500
    assert all(picture.draw() for picture in TINY.pictures(measured))


def test_bonuses_times_one_are_the_printed_ones(measured):
    scaled, means = measured["scaled"], measured["means"]
    for kind in ("uniform", "adaptive"):
        one = scaled[(scaled["sigma"] == 1) & (scaled["algorithm"] == kind)]
        plain = means[(means["sigma"] == 1) & (means["algorithm"] == kind) & means["judged"]]
        assert list(one["regret"]) == list(plain["regret"])


def test_two_bins_are_two_arms():
    cost = zoo.get("cone", 1, scale=1.0, centre=-0.5)
    runs = rc.simulate(
        rc.UniformBins(width=1.0), cost, [40], replicates=3, noise=rc.Gaussian(0.0), alignment="fixed", workers=1
    )
    regrets = runs.frame["regret"]
    assert (regrets == regrets.round()).all()  # every query costs 0 or 1
    assert regrets.between(1, 39).all()
    assert (runs.frame["cells"] == 2).all()
