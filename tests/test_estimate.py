"""The estimator on the zoo, with the annotations hidden."""

import numpy as np
import pytest

import function_zoo as zoo
from tests.test_zoo import EVERY

pytestmark = pytest.mark.slow

# Every family once, in the dimension where it is most telling; the rest is slower, not different.
TWO = {"branin", "himmelblau", "six_hump_camel", "valley", "ring"}
PLACES = [(name, dim) for name, dim in EVERY if dim == (2 if name in TWO else 1)] + [("quadratic", 3)]


@pytest.mark.parametrize(("name", "dim"), PLACES)
def test_intervals_hold_the_annotated_constants(name, dim, any_seed):
    cost = zoo.get(name, dim)
    c = cost.constants
    table = zoo.estimate(cost.many, cost.lower, cost.upper, margin=c.A, vectorised=True, seed=any_seed, repeats=2)
    table = table.set_index("constant")
    assert (table["low"] <= table["estimate"]).all()
    assert (table["estimate"] <= table["high"]).all()
    for constant in ("alpha", "beta", "M_a", "M_b", "mu_min"):
        low, high = table.loc[constant, ["low", "high"]]
        true = getattr(c, constant)
        allowance = 0.002 * true if constant not in ("alpha", "beta") else 1e-12  # quadrature, rounded annotations
        assert low <= true + allowance, constant
        assert constant in c.bounds or true - allowance <= high, constant
    assert table.loc["M", "estimate"] == max(table.loc["M_a", "estimate"], table.loc["M_b", "estimate"])
    assert table.loc["minimum", "estimate"] == pytest.approx(cost.minimum, abs=1e-6 * c.M_a)
    # An interval that says nothing would hold everything.
    assert table.loc["alpha", "high"] - table.loc["alpha", "low"] < 0.3
    assert table.loc["beta", "high"] - table.loc["beta", "low"] < 0.35


def test_a_function_of_one_point_defined_on_the_box_only():
    def f(x):
        (x,) = x
        assert -1 <= x <= 1, "asked beyond the box"
        return abs(x - 0.2345) ** 0.5

    table = zoo.estimate(f, [-1.0], [1.0], repeats=2).set_index("constant")
    assert table.loc["alpha", "low"] <= 0.5 <= table.loc["alpha", "high"]
    assert table.loc["beta", "low"] <= 2.0 <= table.loc["beta", "high"]
    assert table.loc["mu_min", "low"] <= 2 / 3 * 1.002
    assert table.loc["mu_min", "high"] >= 2 / 3 * 0.998
    assert "inside the box" in table.loc["M_b", "note"]


def test_an_affine_function_has_no_mean_error():
    table = zoo.estimate(lambda X: 2 * X[:, 0], [-1.0], [1.0], vectorised=True).set_index("constant")
    assert table.loc["alpha", "estimate"] == 2.0
    assert table.loc["M_b", "high"] == 0.0
    assert table.loc["beta", "low"] <= 1 <= table.loc["beta", "high"]


@pytest.mark.parametrize(
    ("f", "lower", "beta"),
    [
        (lambda X: X[:, 0] ** 2, [0.5], 1.0),
        (lambda X: -np.sin(X[:, 0]), [0.0], 1.0),
        (lambda X: np.exp(X[:, 0]), [-1.0], 1.0),
        (lambda X: X[:, 0] ** 2 + X[:, 1] ** 2, [0.1, 0.1], 2.0),
    ],
)
def test_a_minimiser_on_the_boundary(f, lower, beta):
    # The gradient does not vanish there: no mu makes the mean over a cube at x* smaller than mu a^2.
    table = zoo.estimate(f, lower, [1.0] * len(lower), vectorised=True).set_index("constant")
    assert table.loc["mu_min", "high"] == np.inf
    assert "boundary" in table.loc["mu_min", "note"]
    assert table.loc["beta", "low"] <= beta <= table.loc["beta", "high"]
    assert table.loc["alpha", "low"] <= 2 <= table.loc["alpha", "high"]


@pytest.mark.parametrize("level", [1e4, 1e8])
def test_a_large_constant_costs_digits_and_the_intervals_know(level):
    def f(X):
        return level + (X[:, 0] - 0.1234) ** 2

    table = zoo.estimate(f, [-1.0], [1.0], vectorised=True, margin=1.0).set_index("constant")
    for constant, true in (("alpha", 2.0), ("M_b", 1 / 12), ("mu_min", 1 / 3)):
        assert table.loc[constant, "low"] <= true * 1.002, constant
        assert true * 0.998 <= table.loc[constant, "high"], constant


@pytest.mark.parametrize("f", [lambda X: np.floor(10 * X[:, 0]), lambda X: (X[:, 0] > 0.3) * 1.0])
def test_discontinuous_functions_give_a_table(f):
    table = zoo.estimate(f, [0.0], [1.0], vectorised=True).set_index("constant")
    assert table.loc["alpha", "estimate"] < 0.2


def test_bad_questions(fails_with):
    def ok(X):
        return X[:, 0] ** 2

    fails_with(lambda: zoo.estimate(ok, [1.0], [0.0], vectorised=True), "lower < upper")
    fails_with(lambda: zoo.estimate(ok, [], [], vectorised=True), "lower < upper")
    fails_with(lambda: zoo.estimate(ok, "a", [1.0], vectorised=True), "must be numbers")
    fails_with(lambda: zoo.estimate(ok, [0.0], [1.0], vectorised=True, margin="wide"), "not a number")
    fails_with(lambda: zoo.estimate(lambda x: x, [0.0, 0.0], [1.0, 1.0]), "returned shape (2,) for one point")
    fails_with(lambda: zoo.estimate(3.0, [0.0], [1.0]), "not a function")
    fails_with(lambda: zoo.estimate(lambda X: X[:, 0] * 1j, [0.0], [1.0], vectorised=True), "real numbers")
    fails_with(lambda: zoo.estimate(ok, [0.0], [np.inf], vectorised=True), "finite")
    fails_with(lambda: zoo.estimate(ok, [0.0], [1.0], vectorised=True, margin=-1), "margin")
    fails_with(lambda: zoo.estimate(ok, [0.0], [1.0], vectorised=True, repeats=1), "nearest valid choice is 2")
    fails_with(lambda: zoo.estimate(lambda X: 1.0, [0.0], [1.0], vectorised=True), "shape")
    fails_with(lambda: zoo.estimate(lambda X: 0 * X[:, 0], [0.0], [1.0], vectorised=True), "constant")
    fails_with(lambda: zoo.estimate(lambda X: X[:, 0] * np.nan, [0.5], [1.0], vectorised=True), "not finite")
