"""Recommended points: rules against their definitions, the identity with R/T, a verdict that can come out otherwise."""

import math

import numpy as np
import pandas as pd
import pytest

import function_zoo as zoo
import ratecheck as rc
from ratecheck.engine.simulate import begin
from studies.claims.exploration import experiment as exploration
from studies.claims.exploration.experiment import Exploration
from studies.claims.ledger import Effort, Verdict

SMALL = Exploration(
    "exploration",
    "Exploration",
    "?",
    costs=(("cone", 1, 2.0),),
    horizons={"quick": tuple(2**k for k in range(8, 15))},
    replicates={"quick": 8},
    window=(2**8, math.inf),
)


@pytest.fixture(scope="module")
def tables():
    return {name: part() for name, part in SMALL.parts(Effort("quick", 0, 1)).items()}


def test_rules_against_their_definitions():
    cost = zoo.get("cone", 1)
    algorithm = rc.AdaptiveBins().settle(cost)
    run, _ = begin(algorithm, cost, horizon=5000, replicate=0)
    run.advance(5000)
    cells = [
        {"n": run.n[i], "level": run.level[i], "mean": run.cell[i, 0] / run.n[i], "x": run.centre(i)}
        for i in range(run.cells)
        if run.n[i] > 0
    ]

    def upper(cell):
        return cell["mean"] + algorithm.mu * run.side[cell["level"]] + math.log(5000) / math.sqrt(cell["n"])

    deepest = [cell for cell in cells if cell["level"] == max(c["level"] for c in cells)]
    expected = {
        "most": max(cells, key=lambda c: c["n"]),
        "mean": min(cells, key=lambda c: c["mean"]),
        "upper": min(cells, key=upper),
        "deepest": max(deepest, key=lambda c: c["n"]),
        "deep_mean": min(deepest, key=lambda c: c["mean"]),
    }
    found = exploration.recommendations(run)
    assert {rule: x.tolist() for rule, x in found.items()} == {rule: c["x"].tolist() for rule, c in expected.items()}
    assert found["most"].tolist() == run.recommended().tolist()


def test_stops_on_the_way_change_nothing(tables):
    cost = zoo.get("cone", 1)
    algorithm = rc.AdaptiveBins(mu=2 * cost.constants.mu_min)
    runs = rc.simulate(algorithm, cost, SMALL.horizons["quick"], 8, workers=1, diagnostics=True).frame
    found = tables["adaptive"]
    assert np.allclose(found["average"], runs["regret"] / runs["horizon"], rtol=1e-5)
    assert np.allclose(found["most"], runs["error"], rtol=1e-5)


def test_a_random_past_query_has_r_over_t_in_the_mean(any_seed):
    """False alarms: 1e-6 for each seed, as far as Student's t goes."""
    cost = zoo.get("cone", 1)
    algorithm = rc.AdaptiveBins().settle(cost)
    rows = [row for r in range(200) for row in exploration.errors(algorithm, cost, (100,), r, any_seed)]
    e = exploration.identity(pd.DataFrame(rows).assign(cost="cone"))
    assert e.lower_limit(1 - 5e-7) <= 0 <= e.upper_limit(1 - 5e-7)


def falling(power, spread=0.05, biased=1.0):
    rng = np.random.default_rng(1)
    rows = []
    for r in range(24):
        for T in np.round(2.0 ** np.arange(8, 18.5, 0.5)):
            error = T**power * (1 + spread * rng.standard_normal())
            rows.append({"replicate": r, "horizon": T, "average": error, "random": biased * error, "most": 0.1 * error})
    return pd.DataFrame(rows).assign(cost="made up", exponent=0.5, log_power=0.0, period=4.0)


@pytest.mark.parametrize(("power", "verdict"), [(-0.5, "CONSISTENT"), (-0.3, "REFUTED"), (-0.55, "CONSISTENT")])
def test_the_claim_is_that_of_theorem_2(power, verdict):
    assert SMALL.explores({"adaptive": falling(power)}).verdict == verdict


def test_an_identity_that_fails_refutes():
    found = SMALL.explores({"adaptive": falling(-0.5, biased=1.5)})
    assert found.verdict is Verdict.REFUTED
    assert "identity" in found.evidence


def test_which_rules_are_better():
    said = exploration.better(exploration.fits(falling(-0.5), SMALL.window))
    assert said == "Better than R/T at the last T, on every cost and by its interval: the most queried cell."


def test_words_and_pictures(tables):
    assert "cone d = 1" in "\n".join(SMALL.words(tables))
    for picture in SMALL.pictures(tables):
        assert picture.draw().axes
