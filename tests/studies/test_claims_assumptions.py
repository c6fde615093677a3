"""Claims on Assumption 1: exact counter-examples, and rules that turn when a table is altered."""

import math
from dataclasses import replace
from fractions import Fraction

import numpy as np
import pandas as pd
import pytest

import function_zoo as zoo
from ratecheck.study.declared import declaration
from studies.claims import exact
from studies.claims.assumptions import boxes, textual
from studies.claims.assumptions import rules as rules
from studies.claims.assumptions import tables as measure
from studies.claims.ledger import Effort


@pytest.fixture(scope="module")
def tables():
    study = declaration("claims/assumptions")
    parts = study.parts(Effort("quick"))
    exactly = {name: parts[name]() for name in ("bounds", "harmonic", "envelope")}
    costs = [("quadratic", zoo.get("quadratic", dim=1)), ("cone", zoo.get("cone", dim=1))]
    costs += [("twin_cone", zoo.get("twin_cone", dim=1)), ("sine", zoo.get("sine", dim=1))]
    costs += [("quartic", zoo.get("quartic", dim=1)), *measure.own_examples((1,))]
    rows = [[row for label, c in costs for row in boxes.box_counts(label, c, 4000, 0)]]
    rows += [[row for label, c in costs for row in boxes.cube_error_rows(label, c, 0, octaves=12)]]
    exactly["bounds"] = exactly["bounds"].query("dim == 1 and cost in ('quadratic', 'cone', 'twin_cone', 'sine')")
    return exactly | dict(zip(("boxes", "smoothness"), map(pd.DataFrame, rows), strict=True))


def literal_mean(p, x, a):
    """Of a polynomial over a cube, by its primitives."""
    total = Fraction(0)
    for powers, c in p.items():
        for t, e in zip(x, powers, strict=True):
            c = c * ((t + a / 2) ** (e + 1) - (t - a / 2) ** (e + 1)) / ((e + 1) * a)
        total += c
    return total


def test_deviations_against_primitives(any_seed):
    rng = np.random.default_rng(any_seed)
    for _ in range(20):
        p = exact.added(
            *({tuple(rng.integers(0, 5, 2).tolist()): Fraction(int(rng.integers(-4, 5)))} for _ in range(5))
        )
        x = [Fraction(int(n), 7) for n in rng.integers(-9, 10, 2)]
        a = Fraction(int(rng.integers(1, 9)), 5)
        parts = exact.deviation(p)
        assert sum(a**m * exact.value(q, x) for m, q in parts.items()) == literal_mean(p, x, a) - exact.value(p, x)


def test_harmonic_polynomials_have_no_error_on_cubes_up_to_degree_three_and_a_fourth_power_beyond():
    for n in range(2, 7):
        for part in exact.complex_power(n):
            assert not exact.laplacian(part)
    assert [exact.smoothness(exact.complex_power(n)[0]) for n in (2, 3, 4)] == [math.inf, math.inf, 4]
    assert exact.deviation(exact.complex_power(4)[0]) == {4: {(0, 0): Fraction(-1, 60)}}


def test_envelope_against_the_formula_in_floating_point():
    table = measure.envelope_table()
    for row in table[table["a"] > 1e-4].iloc[::7].itertuples():
        x = row.jump + row.a / 4
        u = x + row.a * ((np.arange(200_000) + 0.5) / 200_000 - 0.5)
        f = u**2 * (1.5 + 0.5 * np.sign(np.sin(1 / u)))
        at = x**2 * (1.5 + 0.5 * np.sign(np.sin(1 / x)))
        assert abs(f.mean() - at) == pytest.approx(row.deviation, rel=1e-3)


def test_the_spiked_bowl_differs_at_spikes_alone():
    bowls = textual.rough_bowls()
    X = np.random.default_rng(0).uniform(-1, 1, (1000, 1))
    assert np.array_equal(bowls["spiked"].many(X), bowls["plain"].many(X))
    centres = np.array([[(2 * j + 1) / 16 - 1] for j in range(16)])
    assert np.allclose(bowls["spiked"].many(centres) - bowls["plain"].many(centres), textual.SPIKE)
    assert not any(bowl.interpreted for bowl in bowls.values())


@pytest.mark.parametrize("name", ["griewank", "himmelblau", "quartic", "rastrigin", "ring", "six_hump_camel", "sine"])
def test_second_derivatives_against_differences(name):
    cost = zoo.get(name, dim=2)
    total, points, at = textual.second_derivatives(cost)
    h = 1e-3
    for i in range(2):
        step = h * np.eye(2)[i]
        found = (cost.many(points + step) + cost.many(points - step) - 2 * cost.many(points)) / h**2
        assert np.allclose(found, at[:, i], rtol=1e-3, atol=1e-4 * total)
    assert np.abs(at).max(axis=0).sum() <= total * (1 + 1e-12)


def test_verdicts_on_what_is_there(tables):
    found = {
        "1": rules.proposition,
        "3": rules.smoothness_gives_alpha,
        "4": rules.only_linear,
        "5": rules.example_rule("5"),
        "6": rules.closed_rule("6"),
        "7": rules.example_rule("7"),
        "8": rules.closed_rule("8"),
        "9": rules.envelope_is_enough,
    }
    verdicts = {id: str(rule(tables).verdict) for id, rule in found.items()}
    refuted, confirmed = dict.fromkeys(("4", "9"), "REFUTED"), dict.fromkeys(("3", "6", "8"), "CONFIRMED")
    assert verdicts == refuted | confirmed | dict.fromkeys(("1", "5", "7"), "CONSISTENT")


def altered(tables, name, **columns):
    return tables | {name: tables[name].assign(**columns)}


def test_box_counts_that_fall_too_fast_refute_the_proposition_and_the_examples(tables):
    fewer = altered(tables, "boxes", boxes=lambda t: t["boxes"] * t["eps"] ** 0.3)
    assert rules.proposition(fewer).verdict == "REFUTED"
    for id in "57":
        assert rules.example_rule(id)(fewer).verdict == "REFUTED"
    for id in "68":
        assert rules.closed_rule(id)(fewer).verdict == "REFUTED"
    noisy = altered(tables, "boxes", boxes=lambda t: t["boxes"] * np.where(np.arange(len(t)) % 2, 1.0, 3.0))
    assert rules.proposition(noisy).verdict == "INCONCLUSIVE"
    assert rules.example_rule("5")(noisy).verdict == "INCONCLUSIVE"


def test_an_annotation_beyond_the_proposition_refutes_it(tables):
    more = altered(tables, "boxes", beta=lambda t: t["dim"] / t["alpha"] + 0.01)
    assert rules.proposition(more).verdict == "REFUTED"


def test_rough_means_refute_smoothness(tables):
    rough = altered(tables, "smoothness", error=lambda t: t["error"] / t["a"] ** 0.2)
    assert rules.smoothness_gives_alpha(rough).verdict == "REFUTED"
    for altogether in ({"M_b": lambda t: 1.01 * t["M_b"]}, {"low": lambda t: 1.01 * t["M_b"]}):
        assert rules.smoothness_gives_alpha(altered(tables, "bounds", **altogether)).verdict == "REFUTED"
    assert rules.closed_rule("6")(altered(tables, "bounds", bound=lambda t: 1.1 * t["bound"])).verdict == "INCONCLUSIVE"


def test_polynomials_that_are_not_harmonic_refute_the_corrected_claim(tables):
    tables = {"harmonic": tables["harmonic"], "polynomials": measure.polynomial_table(20, seed=3)}
    assert rules.only_harmonic(tables).verdict == "CONFIRMED"
    assert rules.only_harmonic(altered(tables, "harmonic", harmonic=False)).verdict == "REFUTED"
    wrong = altered(tables, "polynomials", second_order_is_laplacian=False)
    assert rules.only_harmonic(wrong).verdict == "REFUTED"
    assert rules.only_harmonic(altered(tables, "polynomials", dim=1, linear=False)).verdict == "REFUTED"
    assert rules.only_linear(altered(tables, "harmonic", exponent=2.0)).verdict == "INCONCLUSIVE"


def test_an_error_that_vanishes_with_a_is_no_counter_example(tables):
    smooth = altered(tables, "envelope", deviation=lambda t: t["a"] ** 2)
    assert rules.envelope_is_enough(smooth).verdict == "INCONCLUSIVE"


def runs_with(slopes, any_seed):
    rng = np.random.default_rng(any_seed)
    rows = []
    for way, anytime in (("adaptive", True), ("uniform", False)):
        for bowl in ("plain", "rippled", "spiked"):
            for replicate in range(24):
                for T in 2 ** np.arange(8, 17):
                    regret = float(T) ** slopes.get((way, bowl), 0.5) * math.exp(0.02 * rng.standard_normal())
                    named = {"bins": way, "bowl": bowl, "replicate": replicate, "horizon": T, "anytime": anytime}
                    rows.append(named | {"regret": regret})
    return {"rough": pd.DataFrame(rows)}


def test_roughness_refutes_where_a_slope_grows(any_seed):
    same = runs_with({}, any_seed)
    assert rules.roughness_is_harmless(same).verdict == "CONSISTENT"
    assert rules.roughness_is_harmless_to_means(same).verdict == "CONSISTENT"
    centres = runs_with({("uniform", "spiked"): 0.9}, any_seed)
    assert rules.roughness_is_harmless(centres).verdict == "REFUTED"
    assert rules.roughness_is_harmless_to_means(centres).verdict == "CONSISTENT"
    assert (
        rules.roughness_is_harmless_to_means(runs_with({("adaptive", "rippled"): 0.9}, any_seed)).verdict == "REFUTED"
    )


def test_rough_runs_of_a_small_study():
    study = declaration("claims/assumptions")
    sizes = {"quick": (2**6, 2**8, 2**10)}
    small = replace(study, horizons=sizes, uniform_horizons={"quick": (2**4, 2**8, 2**12)}, replicates={"quick": 4})
    runs = small.parts(Effort("quick"))["rough"]()
    regret = runs.pivot_table(index=["bins", "replicate", "horizon"], columns="bowl", values="regret")
    assert regret.loc["adaptive", "plain"].equals(regret.loc["adaptive", "spiked"].rename("plain"))
    beyond = regret.loc["uniform", "spiked"].groupby("horizon").min()
    assert np.all(beyond >= beyond.index * textual.SPIKE * (1 - 1e-9))
