"""One contract for every family of the zoo, and the questions people ask it wrongly."""

import json
import math
import os
import pickle
import subprocess
import sys
from dataclasses import replace

import numpy as np
import pytest
from numba import njit

import function_zoo as zoo
from function_zoo.registry import lookup

EVERY = [(name, dim) for name in zoo.families() for dim in (1, 2, 3) if dim in lookup(name).dims]
every_cost = pytest.mark.parametrize(("name", "dim"), EVERY)


@njit
def compiled_values(f, X):
    out = np.empty(len(X))
    for i in range(len(X)):
        out[i] = f(X[i])
    return out


@every_cost
def test_minimisers_attain_the_minimum_inside_the_box(name, dim):
    cost = zoo.get(name, dim)
    assert np.all((cost.minimisers > cost.lower) & (cost.minimisers < cost.upper))
    scale = max(cost.constants.M_a, abs(cost.minimum))
    np.testing.assert_allclose(cost.many(cost.minimisers), cost.minimum, atol=1e-13 * scale)


@every_cost
def test_both_forms_agree(name, dim, any_seed):
    cost = zoo.get(name, dim)
    rng = np.random.default_rng(any_seed)
    reach = cost.constants.A
    X = np.vstack([cost.minimisers, rng.uniform(cost.lower - reach, cost.upper + reach, (2000, dim))])
    # A rounding error e of x moves a cost with exponent alpha < 1 by e^alpha; nothing can agree better than that.
    c = cost.constants
    tolerance = 1e-13 * np.abs(cost.many(X)).max() + 10 * c.M_b * (1e-16 * cost.side) ** min(1.0, c.alpha)
    np.testing.assert_allclose(compiled_values(cost.compiled, X), cost.many(X), rtol=1e-13, atol=tolerance)
    np.testing.assert_allclose([cost(x) for x in X[:50]], cost.many(X[:50]), rtol=1e-13, atol=tolerance)


@every_cost
def test_what_is_known_of_a_cost_relative_to_its_minimiser(name, dim, any_seed):
    cost = zoo.get(name, dim)
    z = np.random.default_rng(any_seed).uniform(-0.2, 0.2, (500, dim))
    c = cost.constants
    rounding = 1e-13 * c.M_a + 10 * c.M_b * (1e-15 * cost.side) ** min(1.0, c.alpha)
    gaps = cost.many(cost.minimisers[0] + z) - cost.minimum
    if cost.gap and not cost.anchored:
        np.testing.assert_allclose(cost.gap(z.T), gaps, rtol=1e-12, atol=rounding)
        tiny = cost.gap(1e-60 * np.ones(dim))  # where x* + z is x*
        assert 0 < tiny < 100 * c.mu_min * 1e-60**c.alpha
    if cost.separable:
        axes = [cost.gap((z * axis).T) for axis in np.eye(dim)]
        np.testing.assert_allclose(sum(axes), gaps, rtol=1e-12, atol=rounding)


@every_cost
def test_constants_make_sense(name, dim):
    cost = zoo.get(name, dim)
    c = cost.constants
    assert 0 < c.alpha <= 2
    assert 0 <= c.beta <= dim / c.alpha * (1 + 1e-12)  # Proposition 1 of the paper
    assert min(c.M_a, c.M_b, c.C0, c.mu_min) > 0
    assert max(c.M_a, c.M_b) == c.M
    assert cost.side <= c.A  # a cell as long as the box may start anywhere
    assert set(c.bounds).isdisjoint(c.measured)
    assert set(c.bounds + c.measured) <= {"M_a", "M_b", "C0", "mu_min"}


@every_cost
def test_centres_are_generic(name, dim):
    cost = zoo.get(name, dim)
    place = (cost.minimisers[0] - cost.lower) / (cost.upper - cost.lower)
    dyadic = np.round(place * 64) / 64
    assert np.all(np.abs(place - dyadic) > 1e-4), place


@every_cost
def test_survives_pickling(name, dim):
    cost = zoo.get(name, dim)
    again = pickle.loads(pickle.dumps(cost))
    assert str(again) == str(cost)
    with pytest.raises(TypeError):
        cost.parameters["scale"] = 1.0  # or the copy would be another cost
    assert again.constants == cost.constants
    assert again(cost.minimisers[0]) == cost(cost.minimisers[0])


OTHER_VALUES = {
    "scale": (7.5,),
    "centre": (0.25,),
    "power": (1.0, 2.0),
    "powers": (1.25,),
    "active": (2,),
    "radius": (0.3,),
    "exponent": (0.8,),
    "rho1": (0.2,),
    "rho2": (0.6,),
    "base": ("quartic",),
    "place": (0.25,),
    "depth": (12.0,),
    "length": (0.5,),
}


@every_cost
def test_parameters_are_plain_data_that_tell_costs_apart(name, dim):
    cost = zoo.get(name, dim)
    parameters = dict(cost.parameters)
    assert list(parameters) == list(lookup(name).parameters)
    assert json.loads(json.dumps(parameters), object_hook=with_tuples) == parameters
    for key in parameters:
        if (key, dim) == ("active", 2):  # a valley needs a flat direction
            continue
        value = next(v for v in OTHER_VALUES[key] if v != parameters[key])
        other = zoo.get(name, dim, **{key: value})
        assert [k for k in parameters if other.parameters[k] != parameters[k]] == [key]


def with_tuples(values):
    return {key: tuple(value) if isinstance(value, list) else value for key, value in values.items()}


def test_the_zoo_covers_the_cases_that_theory_distinguishes():
    costs = [zoo.get(*pair) for pair in EVERY]
    assert len(zoo.families()) >= 20
    betas = {float(np.sign(c.constants.beta - 1)) for c in costs}
    assert betas == {-1.0, 0.0, 1.0}
    critical = [math.isclose(c.constants.beta, c.dim / c.constants.alpha) for c in costs]
    assert any(critical)
    assert not all(critical)
    assert {0.5, 1.0, 1.5, 2.0} <= {c.constants.alpha for c in costs}
    assert {True, False} == {c.constants.literal for c in costs}
    assert {1, 2} < {len(c.minimisers) for c in costs}


def test_papers_own_functions_by_their_formula():
    x = np.array([0.2, -0.7])
    c = np.array([0.4, 0.1])
    f1 = zoo.get("quadratic", 2, centre=-c)
    assert f1(x) == pytest.approx(10 * np.sum((x + c) ** 2), rel=1e-14)
    f2 = zoo.get("twin_cone", 2, centre=c)
    assert f2(x) == pytest.approx(10 * min(np.linalg.norm(x - c), np.linalg.norm(x + c)), rel=1e-14)


@pytest.mark.parametrize("exponent", [0.5, 1.0, 1.5])
def test_weierstrass_recursion_against_the_series(exponent):
    cost = zoo.get("weierstrass", 1, exponent=exponent)
    t = np.random.default_rng(0).uniform(-1, 1, 200)
    n = np.arange(12)[:, None]
    head = (3.0 ** (-exponent * n) * (1 - np.cos(np.pi * 3.0**n * t))).sum(axis=0)
    tail = 2 * 3.0 ** (-exponent * 12) / (1 - 3.0**-exponent)
    values = cost.many((t + cost.minimisers[0, 0])[:, None]) / cost.parameters["scale"]
    assert np.all(values >= head - 1e-9)
    assert np.all(values <= head + tail + 1e-9)


@pytest.mark.parametrize("name", [name for name in zoo.families() if "scale" in lookup(name).parameters])
def test_scale_multiplies_the_cost_and_its_constants(name):
    dim = 2
    default = lookup(name).parameters["scale"]
    one, three = zoo.get(name, dim), zoo.get(name, dim, scale=3 * default)
    X = np.random.default_rng(0).uniform(one.lower, one.upper, (50, dim))
    np.testing.assert_allclose(three.many(X), 3 * one.many(X), rtol=1e-12)
    for constant in ("M_a", "M_b", "mu_min"):
        assert getattr(three.constants, constant) == pytest.approx(3 * getattr(one.constants, constant), rel=1e-9)


def test_wrong_questions_get_one_clear_sentence(fails_with):
    fails_with(lambda: zoo.get("quadratc"), "did you mean 'quadratic'", "cone")
    fails_with(lambda: zoo.get("Quadratic"), "did you mean 'quadratic'")
    fails_with(lambda: zoo.get("quadratic", 0), "dimensions 1 to 16", "nearest valid choice is 1")
    fails_with(lambda: zoo.get("quadratic", 99), "nearest valid choice is 16")
    fails_with(lambda: zoo.get("quadratic", 1.5), "whole number")
    fails_with(lambda: zoo.get("branin", 3), "dimension 2 only")
    fails_with(lambda: zoo.get("valley", 1), "nearest valid choice is 2")
    fails_with(lambda: zoo.get("valley", 3, active=3), "nearest valid choice is 2")
    fails_with(lambda: zoo.get("valley", 3, active=1.5), "whole number", "nearest valid choice is 2")
    fails_with(lambda: zoo.get("cone", 2, scal=3), "did you mean 'scale'")
    fails_with(lambda: zoo.get("cone", 2, scale=0), "nearest valid choice is 0.001")
    fails_with(lambda: zoo.get("cone", 2, scale="big"), "not a number")
    fails_with(lambda: zoo.get("cone", 2, scale=math.inf), "finite")
    fails_with(lambda: zoo.get("cone", 2, scale=math.nan), "nan")
    fails_with(lambda: zoo.get("cusp", 2, power=1.2), "[0.1, 1]", "nearest valid choice is 1")
    fails_with(lambda: zoo.get("plateau", 2, power=1.6), "1 or 2", "nearest valid choice is 2")
    fails_with(lambda: zoo.get("cone", 2, centre=1.5), "inside the box", "0.99")
    fails_with(lambda: zoo.get("cone", 2, centre=(0.1, 0.2, 0.3)), "2 of them")
    fails_with(lambda: zoo.get("cone", 2, centre=[[0.1, 0.2], [0.1, 0.2]]), "2 of them")
    fails_with(lambda: zoo.get(["cone"]), "unknown family")
    fails_with(lambda: zoo.get("twin_cone", 2, centre=0), "one cone")
    fails_with(lambda: zoo.get("double_sine", 1, rho1=0.6), "below rho2")
    fails_with(lambda: zoo.get("mixed_powers", 2, powers=(1, -1)), "[0.25, 6]", "(1.0, 0.25)")


def test_one_point_and_many_points_are_checked():
    cost = zoo.get("cone", 2)
    with pytest.raises(ValueError, match="2 coordinates"):
        cost([1.0])
    with pytest.raises(ValueError, match=r"\(n, 2\) array"):
        cost.many([1.0, 2.0])
    with pytest.raises(ValueError, match="lower"):
        replace(cost, lower=[0.0])
    with pytest.raises(ValueError, match="minimisers"):
        replace(cost, minimisers=[0.0, 0.0])


def test_a_cost_of_ones_own_compiles_without_a_file(any_seed):
    namespace = {"np": np}
    exec("def formula(x): return np.abs(x[0]) + x[1]**2", namespace)  # as typed at a prompt
    box = {"lower": [-1, -1], "upper": [1, 1], "minimum": 0.0, "minimisers": [[0.0, 0.0]]}
    cost = zoo.Cost("own", 2, namespace["formula"], constants=zoo.get("cone", 2).constants, **box)
    X = np.random.default_rng(any_seed).uniform(-1, 1, (20, 2))
    np.testing.assert_allclose(compiled_values(cost.compiled, X), cost.many(X), rtol=1e-14)


def test_import_and_get_neither_compile_nor_load_what_they_do_not_need():
    code = (
        "import sys, function_zoo as zoo\n"
        "[zoo.get(name) for name in zoo.families()]\n"
        "print([m for m in ('numba', 'pandas', 'matplotlib', 'statsmodels', 'ratecheck') if m in sys.modules])"
    )
    out = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert out.stdout.strip() == "[]"


def test_what_is_known_beside_a_formula_goes_with_it():
    from dataclasses import replace

    cone = zoo.get("cone", 2)
    assert cone.gap is not None
    assert replace(cone, registered=False).gap is cone.gap
    other = replace(cone, registered=False, formula=lambda x: 2 * np.hypot(x[0], x[1]))
    assert (other.gap, other.mean, other.separable) == (None, None, False)
    twins = zoo.get("twin_cone", 2)
    for alone in (replace(twins, registered=False), replace(twins, registered=False, minimisers=twins.minimisers[:1])):
        assert (alone.gap, alone.anchored) == (twins.gap, True)
    for change in ({"minimisers": twins.minimisers[::-1]}, {"minimisers": np.empty((0, 2))}, {"formula": cone.formula}):
        other = replace(twins, registered=False, **change)
        assert (other.gap, other.anchored) == (None, False)
    travelled = pickle.loads(pickle.dumps(replace(twins, registered=False)))
    assert travelled.anchored
    assert travelled.gap(np.array([0.1, 0.2, 1.0])) == twins.gap(np.array([0.1, 0.2, 1.0]))


def test_every_formula_has_a_file_of_its_own_in_the_compilers_cache(tmp_path):
    # numba numbers the entries of one file, and two processes may take the same number
    code = (
        "import function_zoo as zoo\n"
        "for centre in (0.1, 0.2, 0.3):\n"
        "    zoo.get('quadratic', 1, centre=centre).compiled\n"
        "    zoo.get('dented', 1, base=f'quadratic(centre={centre})').compiled\n"
    )
    for _ in range(2):  # the second time from the cache
        subprocess.run([sys.executable, "-c", code], check=True, env=os.environ | {"NUMBA_CACHE_DIR": str(tmp_path)})
        assert len(list(tmp_path.rglob("*.nbi"))) == len(list(tmp_path.rglob("*.nbc"))) == 6
