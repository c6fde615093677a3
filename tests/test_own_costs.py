"""Costs from any function: how it is called, what is known of it, and what is refused."""

import math
import pickle
from dataclasses import replace

import numpy as np
import pytest

import function_zoo as zoo
import ratecheck as rc
from function_zoo.own import COORDINATES, ONE_NUMBER, ONE_POINT, ROWS, lowered
from ratecheck.algorithms.run import LowerValue, values
from ratecheck.engine.simulate import check_cost
from tests.strategies import RandomSearch

SHIFT = {"by": 0.3}
FORMS = {
    "a number": (lambda x: abs(x - 0.3), 1, ONE_NUMBER),
    "math": (lambda x: math.fabs(x - 0.3), 1, ONE_NUMBER),
    "coordinates": (lambda x: np.abs(x[0] - 0.3) + np.abs(x[1]), 2, ONE_POINT),
    "a vector": (lambda x: np.sum(np.abs(x - np.array([0.3, 0.0]))), 2, ONE_POINT),
    "either": (lambda x: np.abs(x - np.array([0.3, 0.0])).sum(axis=-1), 2, ONE_POINT),
    "rows": (lambda X: np.abs(X - np.array([0.3, 0.0])).sum(axis=1), 2, ROWS),
    "arguments": (lambda x, y: abs(x - 0.3) + abs(y), 2, COORDINATES),
    "an object": (lambda x: abs(x[0] - SHIFT["by"]), 1, ONE_POINT),
}


@pytest.mark.parametrize("form", FORMS)
def test_a_function_is_called_as_it_wants_to_be(form):
    f, dim, way = FORMS[form]
    cost = zoo.cost(f, -1, 1, minimum=0.0, dim=dim)
    assert cost.formula.way == way
    X = np.random.default_rng(0).uniform(-1, 1, (6, dim))
    expected = np.abs(X[:, 0] - 0.3) + (np.abs(X[:, 1]) if dim == 2 else 0.0)
    for found in (cost.many(X), [cost(x) for x in X], values(cost.compiled, X)):
        np.testing.assert_allclose(found, expected, rtol=1e-12)
    again = pickle.loads(pickle.dumps(cost))
    assert again.fingerprint == cost.fingerprint
    assert again(X[0]) == cost(X[0])


def test_a_cost_that_a_formula_captured_counts_with_all_that_it_is():
    def doubled(inner):
        return zoo.cost(lambda x: 2 * inner(x), -1, 1, minimum=0.0)

    inner = [zoo.cost(f, -1, 1, minimum=0.0, name="f") for f in (lambda x: abs(x[0]), lambda x: x[0] ** 2)]
    assert repr(inner[0]) == repr(inner[1]) == "<Cost f(dim=1), minimum 0>"
    assert doubled(inner[0]).fingerprint != doubled(inner[1]).fingerprint
    assert doubled(inner[0]).fingerprint == doubled(inner[0]).fingerprint


def test_a_repr_is_one_short_line():
    assert repr(zoo.get("quadratic", dim=1)) == f"<Cost {zoo.get('quadratic', dim=1)}, minimum 0>"
    assert repr(zoo.get("quadratic", dim=9)) == "<Cost quadratic(dim=9, ...), minimum 0>"
    reward = zoo.cost(lambda x: -abs(x), -1, 1, maximise=True, maximum=0.0, name="f")
    assert repr(reward) == "<Cost f(dim=1), maximum 0>"


def test_only_what_numba_cannot_compile_is_interpreted():
    assert not zoo.cost(lambda x: abs(x - 0.3), -1, 1, minimum=0.0).interpreted
    assert zoo.cost(FORMS["an object"][0], -1, 1, minimum=0.0).interpreted


def test_kernels_ask_python_where_they_must():
    plain, opaque = (zoo.cost(f, -1, 1, 0.0, "f") for f in (FORMS["a number"][0], lambda x: abs(x - SHIFT["by"])))
    first, second = (
        rc.simulate(rc.UniformBins(0.25), cost, [100, 400], 3, alignment="fixed").frame for cost in (plain, opaque)
    )
    assert first["regret"].tolist() == second["regret"].tolist()


def test_an_exception_in_a_kernel_is_told():
    def fails(x):
        if x > 0.9:
            raise RuntimeError(f"no value at {SHIFT}")
        return abs(x)

    cost = zoo.cost(fails, -1, 1, minimum=0.0)
    with pytest.raises(ValueError, match="no value at") as caught:
        rc.simulate(rc.UniformBins(0.125), cost, [100], 1, alignment="fixed")
    assert isinstance(caught.value.__cause__, RuntimeError)


def test_refusals(fails_with):
    fails_with(lambda: zoo.cost(lambda x: x, -1, 1, dim=2), "returned shape (2,) for one point")
    fails_with(lambda: zoo.cost(lambda x: None, -1, 1), "one real number is needed")
    fails_with(lambda: zoo.cost(lambda x: math.nan, -1, 1), "is nan at x", "finite on the box")
    fails_with(lambda: zoo.cost(lambda x: np.random.random(), -1, 1), "the mean itself")  # noqa: NPY002
    fails_with(lambda: zoo.cost(abs, 1, -1), "lower < upper")
    fails_with(lambda: zoo.cost(abs, [0, 0], [1, 1, 1]), "no box of 3 dimensions")
    fails_with(lambda: zoo.cost(abs, -1, 1, dim=0), "dim = 0")
    fails_with(lambda: zoo.cost(abs, -1, 1, maximum=3.0), "without maximise=True")
    fails_with(lambda: zoo.cost(abs, -1, 1, minimum=0.0, maximise=True), "give maximum")
    fails_with(lambda: zoo.cost(abs, -1, 1, constants={"alfa": 1.0}), "no constant 'alfa'")
    fails_with(lambda: zoo.cost(abs, -1, 1, search=3), "2000 or more")
    fails_with(lambda: zoo.cost("abs", -1, 1), "must be a function")
    fails_with(lambda: zoo.cost(zoo.get("cone", 1), -1, 1), "is a cost already")


def test_a_searched_minimum_says_so_and_is_one():
    cost = zoo.cost(lambda x: (x - 0.25) ** 2 + 3.0, -1, 1)
    assert cost.minimum_basis.startswith("searched, to within")
    assert cost.minimum == pytest.approx(3.0, abs=1e-12)
    assert cost.minimisers[0] == pytest.approx([0.25], abs=1e-6)
    assert zoo.cost(lambda x: abs(x), -1, 1, minimum=0.0).minimum_basis == "given"


def test_a_search_ends_at_minimisers_in_many_dimensions_and_on_large_scales():
    def bowl(x):
        return ((x - 0.3) ** 2).sum()

    many = zoo.cost(bowl, -1, 1, dim=30, search=20_000)
    assert many.minimum == pytest.approx(0.0, abs=1e-9)
    steep = zoo.cost(lambda x: 1e7 * abs(math.sin(9 * x - 1)), -1, 1, search=20_000)
    for cost in (many, steep):
        assert cost.many(cost.minimisers) - cost.minimum == pytest.approx(0.0, abs=1e-9)
        check_cost(cost, compiled=False)


def test_a_value_below_a_searched_minimum_stops_a_run_and_the_search_goes_on_from_it():
    searched = zoo.cost(lambda x: abs(x - 0.3), -1, 1)
    missed = replace(searched, minimum=0.2, minimisers=[[0.5]])
    with pytest.raises(LowerValue, match=r"the minimum 0.2 that a search found.*pass minimum=") as caught:
        rc.simulate(rc.AskTell(RandomSearch), missed, [1000], 1, workers=1)
    found = pickle.loads(pickle.dumps(caught.value))
    better = lowered(missed, found.x, found.y)
    assert better.minimum == pytest.approx(0.0, abs=1e-9)
    assert better.searched is not None


def test_without_constants_only_what_needs_none():
    cost = zoo.cost(lambda x: abs(x - 0.3), -1, 1)
    assert cost.constants == zoo.Constants()
    assert cost.margin == 0.0
    settings = {rc.UniformBins(): "width=", rc.AdaptiveBins(): "mu=", rc.HOO(): "nu="}
    for algorithm, setting in settings.items():
        with pytest.raises(ValueError, match=f"needs alpha and .* give .*{setting}.*estimate"):
            rc.simulate(algorithm, cost, [100], 1)
    for algorithm in (rc.UniformBins(0.25), rc.AdaptiveBins(alpha=1, mu=1), rc.HOO(nu=2.0, rho=0.5)):
        assert algorithm.settle(cost).claims(cost) == ()
        assert len(rc.simulate(algorithm, cost, [50, 100], 2, alignment="fixed").frame) == 4
    promised = rc.AskTell(RandomSearch, promise=rc.Rate(0.0))
    assert [claim.theorem for claim in promised.claims(cost)] == ["its promise"]
    for ask in (
        lambda: rc.predict(rc.UniformBins(0.25), cost, [100]),
        lambda: rc.lower_bound(cost, 100),
        lambda: rc.theorem1.rate(cost.constants, 1),
    ):
        with pytest.raises(ValueError, match="needs alpha"):
            ask()
    assert zoo.audit(cost)["constant"].tolist() == ["minimum", "minimisers"]


def test_an_estimate_goes_straight_in():
    def f(x):
        return np.abs(x - 0.3)

    table = zoo.estimate(f, -1, 1, margin=2.0)
    cost = zoo.cost(f, -1, 1, constants=table)
    assert cost.constants == zoo.cost(f, -1, 1, constants=table.constants).constants
    assert cost.constants.beta <= 1 / cost.constants.alpha
    assert cost.margin == 2.0
    audit = zoo.audit(cost).set_index("constant")
    assert audit["holds"].all(), audit.to_string()
    claim, _ = rc.AdaptiveBins().settle(cost).claims(cost)
    assert claim.rate.slope == pytest.approx(0.5, abs=0.02)
    assert rc.predict(rc.AdaptiveBins(), cost, [1000], alignments=2).mean()["regret"][0] > 0


def test_a_constant_that_is_larger_than_needed_is_no_failure():
    given = {"alpha": 1.0, "beta": 1.0, "M_a": 5.0, "M_b": 5.0, "mu_min": 5.0, "A": 2.0}
    cost = zoo.cost(lambda x: np.abs(x - 0.3), -1, 1, 0.0, constants=given, minimisers=[0.3])
    audit = zoo.audit(cost).set_index("constant")
    assert audit["holds"].all()
    assert audit.loc["M_a", "worst"].endswith("not the smallest")
    small = zoo.cost(lambda x: np.abs(x - 0.3), -1, 1, 0.0, constants=given | {"M_a": 1.0}, minimisers=[0.3])
    assert not zoo.audit(small).set_index("constant").loc["M_a", "holds"]


def test_rewards_are_costs_with_the_other_sign():
    reward = zoo.cost(lambda x: 1.0 - abs(x - 0.3), -1, 1, maximise=True, maximum=1.0)
    cost = zoo.cost(lambda x: abs(x - 0.3) - 1.0, -1, 1, minimum=-1.0)
    assert reward.fingerprint != cost.fingerprint
    told = []

    class Listener(RandomSearch):
        def tell(self, x, y):
            told.append((float(x[0]), y))

    for maximise, sign in ((None, 1.0), (False, -1.0)):
        told.clear()
        listener = rc.AskTell(Listener, maximise=maximise)
        rc.simulate(listener, reward, [5], 1, noise=rc.Gaussian(0.0), workers=1)
        for x, y in told:
            assert y == pytest.approx(sign * (1.0 - abs(x - 0.3)))
    first, second = (
        rc.simulate(rc.UniformBins(0.25), replace(c, name="f"), [200], 2, alignment="fixed").frame["regret"]
        for c in (reward, cost)
    )
    assert first.tolist() == second.tolist()
    with pytest.raises(ValueError, match=r"above its maximum 0\.5"):
        rc.simulate(rc.AskTell(RandomSearch), replace(reward, minimum=-0.5), [100], 1)
