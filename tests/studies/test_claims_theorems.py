"""The experiment on Theorems 1 to 3: its rules on tables that hold and on tables that do not, and its exact parts."""

import math
from itertools import islice

import numpy as np
import pandas as pd
import pytest

import ratecheck as rc
from ratecheck.verdict.rules import Outcome
from studies.claims.ledger import Effort, Verdict
from studies.claims.theorems import tables as measure
from studies.claims.theorems.draw import local_powers
from studies.claims.theorems.experiment import Theorems
from studies.claims.theorems.rules import (
    CORRECTED,
    PRINTED,
    cases,
    certified_slopes,
    known_rule,
    lipschitz_rule,
    lower_rule,
    rate_rule,
    sharper_rule,
    together,
)

YES, NO, OPEN = Outcome.CONSISTENT, Outcome.REFUTED, Outcome.INCONCLUSIVE
RUNS = 16


def shaped(family, dim, mu, slope, power, predicted_power=None):
    """Runs and a curve with R = 3 T^slope (ln T)^power, runs off by some per mille to both sides."""
    period = {"quadratic": 16.0, "cone": 4.0}[family] if mu != "-" else math.nan
    T = np.array([round(2 ** (k / 2)) for k in range(16, 43)])
    off = 1 + 0.002 * np.linspace(-1, 1, RUNS)
    table = pd.DataFrame([(i, t) for i in range(RUNS) for t in T], columns=["replicate", "horizon"])
    t = table["horizon"].to_numpy(float)
    table["regret"] = 3 * t**slope * np.log(t) ** power * off[table["replicate"]]
    table["predicted"] = 3 * t**slope * np.log(t) ** (power if predicted_power is None else predicted_power)
    table = table.assign(left_open=0.0, anytime=mu != "-", period=period, family=family, dim=dim, mu=mu)
    far = 2.0 ** np.arange(8, 200, 0.5)
    curve = pd.DataFrame({"horizon": far, "regret": 3 * far**slope * np.log(far) ** power})
    return table, curve.assign(cells=1.0, limit="the test", family=family, dim=dim, mu=mu)


def judged(rule, *shapes, **options):
    runs, curves = (pd.concat(tables) for tables in zip(*(shaped(*shape) for shape in shapes), strict=True))
    return rule(cases(runs, curves, 2**10), **options)


def test_runs_and_curve_together():
    assert together(NO, OPEN, OPEN) is NO
    assert together(OPEN, NO, YES) is NO
    assert together(OPEN, NO, OPEN) is OPEN  # a curve refutes only where runs follow it
    assert together(NO, YES, YES) is OPEN
    assert together(NO, YES, NO) is NO  # the curve is not theirs
    assert together(OPEN, YES, OPEN) is YES
    assert together(OPEN, YES, NO) is OPEN
    assert together(YES, OPEN, OPEN) is YES


@pytest.mark.parametrize(
    ("power", "printed", "corrected"),
    [(2.0, Verdict.REFUTED, Verdict.CONSISTENT), (1.0, Verdict.CONSISTENT, Verdict.CONSISTENT)],
)
def test_the_log_power_of_uniform_bins_at_beta_1(power, printed, corrected):
    shape = ("cone", 1, "-", 0.5, power)
    assert judged(rate_rule, shape, which=PRINTED).verdict is printed
    assert judged(rate_rule, shape, which=CORRECTED).verdict is corrected


def test_an_exponent_that_is_too_large_refutes_every_version():
    for which in (PRINTED, CORRECTED):
        assert judged(rate_rule, ("quadratic", 1, "-", 0.7, 1.0), which=which).verdict is Verdict.REFUTED
        assert judged(rate_rule, ("quadratic", 1, "theorem", 0.7, 1.0), which=which).verdict is Verdict.REFUTED


def test_nothing_is_refuted_where_the_hypotheses_are_not_met():
    assert judged(rate_rule, ("quadratic", 1, "min", 0.7, 1.0), which=PRINTED).verdict is Verdict.INCONCLUSIVE


def test_the_sharper_power_of_adaptive_bins():
    good = judged(sharper_rule, ("cone", 1, "theorem", 0.5, 1.5), ("quadratic", 1, "theorem", 0.5, 1.25))
    assert good.verdict is Verdict.CONSISTENT
    assert judged(sharper_rule, ("cone", 1, "theorem", 0.5, 2.9)).verdict is Verdict.REFUTED
    assert judged(rate_rule, ("cone", 1, "theorem", 0.5, 2.0), which=PRINTED).verdict is Verdict.CONSISTENT
    assert judged(rate_rule, ("cone", 1, "theorem", 0.5, 3.4), which=PRINTED).verdict is Verdict.REFUTED


def test_half_of_the_costs_do_not_suffice():
    shapes = ("quadratic", 1, "min", 0.7, 1.0), ("cone", 1, "min", 0.5, 1.0)
    assert judged(rate_rule, *shapes, which=PRINTED).verdict is Verdict.INCONCLUSIVE


def sandwich(slope=2 / 3, power=0.5, factor=2.0, oracle=0.0):
    rows = []
    for horizon in 2 ** np.arange(10, 24, 2):
        for i in range(8):
            regret = factor * horizon**slope * math.log(horizon) ** power * (1 + 0.001 * (i - 3.5))
            common = {"family": "plateau", "dim": 1, "horizon": horizon, "replicate": i, "dented": True}
            common |= {"predicted": regret, "bound": horizon ** (2 / 3)}
            rows.append(common | {"algorithm": "uniform bins", "regret": regret})
            if horizon <= 2**12:
                rows.append(common | {"algorithm": "the oracle", "regret": oracle})
    return pd.DataFrame(rows)


def bounds(slope=2 / 3, **altered):
    T = 10.0 ** np.arange(3, 13)
    good = {"first": True, "second": True, "first_forged": False, "second_forged": False}
    return pd.DataFrame({"family": "plateau", "dim": 1, "horizon": T, "bound": T**slope}).assign(**good | altered)


def test_lipschitz_costs():
    assert lipschitz_rule({"sandwich": sandwich()}).verdict is Verdict.CONSISTENT
    assert lipschitz_rule({"sandwich": sandwich(slope=0.85)}).verdict is Verdict.REFUTED


def test_lower_bounds():
    def said(measured=None, **altered):
        measured = sandwich() if measured is None else measured
        return lower_rule({"bounds": bounds(**altered), "sandwich": measured}).verdict

    assert said() is Verdict.CONSISTENT
    assert said(sandwich(factor=0.01)) is Verdict.REFUTED  # a strategy below a certified bound
    assert said(sandwich(oracle=1e9)) is Verdict.INCONCLUSIVE
    assert said(second=False) is Verdict.INCONCLUSIVE
    assert said(first_forged=True) is Verdict.INCONCLUSIVE
    assert said(slope=0.5) is Verdict.INCONCLUSIVE
    assert certified_slopes(bounds())["late"].item() == pytest.approx(2 / 3)


def test_local_powers_against_theory():
    T = 2.0 ** np.arange(8, 300, 0.5)
    found = local_powers(T, T**0.5 * (np.log(T) + 7) ** 1.25, 0.5, shift=7)
    np.testing.assert_allclose(found[:, 1], 1.25, atol=1e-9)


@pytest.fixture(scope="module")
def tables():
    """A tiny experiment from end to end, but for the sandwich, which has tests of its own."""
    one = {"quick": (("quadratic", 1),)}
    tiny = Theorems(
        "theorems",
        "Theorems",
        "?",
        uniform=(("cone", 1),),
        adaptive=one,
        window={"quick": 8},
        last={"quick": 12},
        replicates={"quick": 4},
        uniform_cells={"quick": 2**8},
        adaptive_cells={"quick": 2**8},
        farthest=1e20,
        bounded=one,
        bound_horizons={"quick": (1e3, 1e6)},
        families=one,
        family_horizons={"quick": (1000,)},
        members={"quick": 2},
        unknown=(("cone", 1),),
        unknown_horizon=2**8,
    )
    parts = tiny.parts(Effort("quick", 3, 1))
    return tiny, {name: measure() for name, measure in parts.items() if name != "sandwich"} | {"sandwich": sandwich()}


def test_parts_and_report_go_together(tables):
    tiny, found = tables
    for judgement in tiny.judgements().values():
        assert judgement.rule({name: found[name] for name in judgement.parts}).evidence
    assert all(found["bounds"][["first", "second"]].all())
    assert not found["bounds"][["first_forged", "second_forged"]].any(axis=None)
    assert "| quadratic d = 1 (μ_min) |" in "\n".join(tiny.words(found))
    for picture in tiny.pictures(found):
        assert picture.draw().axes


def test_what_must_be_known(tables):
    checks = tables[1]["unknowns"]
    assert known_rule({"unknowns": checks}).verdict is Verdict.CONFIRMED
    for i in checks.index:
        altered = checks.assign(holds=checks["holds"] & (checks.index != i))
        assert known_rule({"unknowns": altered}).verdict is Verdict.REFUTED


def test_an_algorithm_that_knows_its_horizon_is_found_out(monkeypatch):
    monkeypatch.setattr(rc, "AdaptiveBins", rc.UniformBins)
    settings, prefix = islice(measure.adaptive_knows(measure.zoo.get("cone", 1), 2**8, 0), 2)
    assert not settings["holds"]
    assert not prefix["holds"]
