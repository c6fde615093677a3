"""Predicted curves against predictions at the same horizons, and what ends them."""

import math

import numpy as np
import pytest

import function_zoo as zoo
import ratecheck as rc
from ratecheck.predict import predicted_curve as prediction

FIRST = 2.0**10
ROUGH = 0.1


@pytest.mark.parametrize(("name", "dim", "mu"), [("cone", 2, None), ("quadratic", 1, "theorem"), ("quartic", 1, 0.0)])
def test_a_curve_is_made_of_predictions(name, dim, mu):
    cost, algorithm = zoo.get(name, dim), rc.AdaptiveBins(mu=mu)
    curve = rc.predicted_curve(algorithm, cost, first=FIRST, last=1e9, error=0.01, alignments=4)
    some = np.linspace(0, len(curve.horizons) - 1, 6).astype(int)
    found = rc.predict(algorithm, cost, [round(curve.horizons[i]) for i in some], alignments=4).mean()
    off = np.abs(np.array(curve.regret)[some] / found["regret"] - 1)
    assert (off <= 2 * np.array(curve.error)[some] + 3e-3).all()
    np.testing.assert_allclose(np.array(curve.cells)[some], found["cells"], rtol=0.1, atol=1)


@pytest.mark.parametrize(("name", "dim"), [("cone", 1), ("quadratic", 2)])
def test_uniform_bins_are_averaged_over_alignments_and_nearby_horizons(name, dim):
    cost = zoo.get(name, dim)
    curve = rc.predicted_curve(rc.UniformBins(), cost, first=FIRST, last=1e6, error=0.02)
    i = len(curve.horizons) // 2
    nearby = np.round(np.geomspace(0.8, 1.25, 9) * curve.horizons[i]).tolist()
    found = rc.predict(rc.UniformBins(), cost, nearby, alignments=128).regret
    assert np.exp(np.log(found).mean()) == pytest.approx(curve.regret[i], rel=0.06)


def test_horizons_are_quarters_of_a_period_and_every_fourth_is_whole_periods_later():
    cost, algorithm = zoo.get("cone", 1), rc.AdaptiveBins()
    curve = rc.predicted_curve(algorithm, cost, first=FIRST, error=ROUGH)
    quarters = np.diff(np.log(curve.horizons)) / (math.log(algorithm.settle(cost).period(cost)) / 4)
    np.testing.assert_allclose(quarters, np.round(quarters), atol=1e-9)
    assert (np.round(quarters) % 2 == 1).all()
    assert curve.horizons[0] == FIRST
    assert curve.horizons[-1] >= 1e60
    assert len(curve.horizons) <= prediction.NEAR + prediction.AFAR + 2


@pytest.mark.parametrize("algorithm", [rc.AdaptiveBins(), rc.UniformBins()], ids=str)
def test_a_curve_is_determined_by_its_arguments(algorithm):
    cost = zoo.get("cusp", 1)
    how = {"first": FIRST, "last": 1e12, "error": ROUGH}
    one, same, other = (rc.predicted_curve(algorithm, cost, **how, seed=s) for s in (0, 0, 1))
    assert one == same
    assert one != other


@pytest.mark.parametrize(
    ("name", "dim", "algorithm"),
    [
        ("cone", 3, rc.AdaptiveBins(mu="theorem")),
        ("cone", 3, rc.UniformBins()),
        ("valley", 2, rc.AdaptiveBins()),
        ("twin_cone", 2, rc.AdaptiveBins()),
        ("branin", 2, rc.UniformBins()),
        ("cone", 2, rc.UniformBins(width=0.5)),
    ],
    ids=str,
)
def test_curves_reach_the_last_horizon_whatever_the_dimension(name, dim, algorithm):
    curve = rc.predicted_curve(algorithm, zoo.get(name, dim), first=FIRST, error=0.3)
    assert curve.horizons[-1] >= 1e60
    assert len(curve.error) == len(curve.horizons)
    assert max(curve.error) < 0.6


def test_a_flat_minimum_takes_no_more_cells_than_others():
    """All its cells are alike; they come into their shell a few at a time."""
    curve = rc.predicted_curve(rc.AdaptiveBins(), zoo.get("plateau", 1), first=FIRST, error=0.3)
    assert curve.horizons[-1] >= 1e30


def test_a_cost_of_ones_own_ends_where_its_formula_does():
    known = zoo.Constants(alpha=2.0, beta=0.5, A=2.0)
    how = {"minimum": 1.0, "minimisers": [[0.3]], "constants": known}
    cost = zoo.cost(lambda x: 1 + (x[0] - 0.3) ** 2, [-1.0], [1.0], **how)
    curve = rc.predicted_curve(rc.AdaptiveBins(mu=1.0), cost, first=FIRST, error=ROUGH)
    assert "rounding errors" in curve.limit
    assert 1e15 < curve.horizons[-1] < 1e40


C = (0.31066017177982136, -0.5490381056766579)  # the centre of the zoo's costs


def bowl(x):
    return (x[0] - C[0]) ** 2


def round_bowl(x):
    return (x[0] - C[0]) ** 2 + (x[1] - C[1]) ** 2


def square_cone(x):
    return np.maximum(np.abs(x[0] - C[0]), np.abs(x[1] - C[1]))


def twins(x):
    return np.minimum(np.abs(x[0] - C[0]), np.abs(x[0] + C[0]))


OWN = {
    "1 + bowl": (lambda x: 1 + bowl(x), {"minimum": 1.0}, ("quadratic", {})),
    "bowl": (bowl, {}, ("quadratic", {})),
    "gap": (lambda x: 1 + bowl(x), {"minimum": 1.0, "gap": lambda z: z[0] ** 2}, ("quadratic", {})),
    "gap and mean": (
        lambda x: 1 + bowl(x),
        {"minimum": 1.0, "gap": lambda z: z[0] ** 2, "mean": lambda z, a: ((z[0] + a) ** 3 - z[0] ** 3) / (3 * a)},
        ("quadratic", {}),
    ),
    "round bowl": (round_bowl, {}, ("quadratic", {})),
    "1 + cone": (lambda x: 1 + square_cone(x), {"minimum": 1.0}, ("cusp", {"power": 1.0})),
    "one of two": (twins, {}, ("twin_cone", {})),
    "one of two, gap": (
        twins,
        {"gap": lambda z: np.minimum(np.abs(z[0]), np.abs(z[0] + 2 * C[0]))},
        ("twin_cone", {}),
    ),
}


@pytest.mark.parametrize("algorithm", [rc.AdaptiveBins(mu=1.0), rc.UniformBins()], ids=str)
@pytest.mark.parametrize("name", OWN)
def test_a_curve_of_a_cost_of_ones_own_is_right_as_far_as_it_goes(name, algorithm):
    f, given, (family, parameters) = OWN[name]
    dim = 2 if f in (round_bowl, square_cone) or "cone" in name else 1
    known = zoo.get(family, dim, scale=1.0, **parameters)
    constants = zoo.Constants(alpha=known.constants.alpha, beta=known.constants.beta, A=2.0)
    whole = {"minimum": 0.0, "minimisers": [C[:dim]], "constants": constants} | given
    cost = zoo.cost(f, [-1.0] * dim, [1.0] * dim, **whole)
    how = {"first": FIRST, "error": 0.002, "kind": "fixed"}  # at the same partition
    curve = rc.predicted_curve(algorithm, cost, **how)
    expected = rc.predicted_curve(algorithm, known, **how)
    reach = len(curve.horizons)
    np.testing.assert_allclose(curve.horizons, expected.horizons[:reach])
    errors = np.hypot(curve.error, expected.error[:reach])
    off = np.abs(np.array(curve.regret) / np.array(expected.regret[:reach]) - 1)
    # eight standard errors, since two samples tell them, and a thousandth each for rough levels
    assert (off <= 4 * errors + 2e-3).all()
    assert curve.horizons[-1] >= 1e22
    assert ("rounding errors" in curve.limit) == (curve.horizons[-1] < 1e60)
    if name in ("1 + bowl", "1 + cone", "one of two"):
        assert curve.horizons[-1] < 1e45


def slopes_over_periods(curve):
    """Local slopes between horizons whole periods apart, and the later of them."""
    T, R = np.log(curve.horizons), np.log(curve.regret)
    return (R[4:] - R[:-4]) / (T[4:] - T[:-4]), np.array(curve.horizons)[4:]


def test_the_curve_of_sine_does_not_go_flat():
    sine, quadratic = (
        rc.predicted_curve(rc.AdaptiveBins(), zoo.get(name, 3), first=2.0**24, last=2e12, error=ROUGH)
        for name in ("sine", "quadratic")
    )
    found, T = slopes_over_periods(sine)
    usual, _ = slopes_over_periods(quadratic)
    np.testing.assert_allclose(found[T > 1e9], usual[T > 1e9], atol=0.1)


@pytest.mark.parametrize(
    ("algorithm", "low", "high"),
    [(rc.UniformBins(), 0.5, 0.56), (rc.AdaptiveBins(), 0.49, 0.55), (rc.AdaptiveBins(mu="theorem"), 0.49, 0.55)],
    ids=str,
)
def test_weierstrass_stays_the_same_function_beyond_what_its_formula_sums(algorithm, low, high):
    curve = rc.predicted_curve(algorithm, zoo.get("weierstrass", 1), first=FIRST, error=ROUGH)
    slopes, T = slopes_over_periods(curve)
    assert T[-1] >= 1e60
    assert ((low < slopes) & (slopes < high))[T > 1e25].all()
    assert np.abs(np.diff(slopes[T > 1e25])).max() < 0.015


@pytest.mark.parametrize(
    ("name", "dim", "algorithm"),
    [
        ("cone", 3, rc.AdaptiveBins(mu="theorem")),
        ("quadratic", 3, rc.AdaptiveBins()),
        ("ring", 2, rc.AdaptiveBins()),
        ("cone", 3, rc.UniformBins()),
        ("valley", 2, rc.UniformBins()),
        ("himmelblau", 2, rc.AdaptiveBins(mu="theorem")),
    ],
    ids=str,
)
def test_twice_the_cells_of_a_shell_say_the_same(name, dim, algorithm):
    cost = zoo.get(name, dim)
    how = {"first": 2.0**20, "last": 1e14, "alignments": 6}
    asked = 0.004  # 15 cells of a shell, and 30
    once, twice = (rc.predicted_curve(algorithm, cost, **how, error=asked / share) for share in (1, 2))
    off = np.abs(np.array(once.regret) / np.array(twice.regret) - 1)
    stated = [np.maximum(asked, curve.error) for curve in (once, twice)]  # two samples may agree by chance
    assert (off <= 2.5 * np.hypot(*stated)).all()  # five standard errors
    assert max(once.error) < 0.1


@pytest.mark.parametrize("algorithm", [rc.AdaptiveBins(), rc.UniformBins()], ids=str)
def test_the_fixed_alignment(algorithm):
    cost = zoo.get("cone", 2)
    curve = rc.predicted_curve(algorithm, cost, first=FIRST, last=1e7, error=0.01, kind="fixed")
    found = rc.predict(algorithm, cost, [round(curve.horizons[3])], alignments="fixed").regret[0]
    assert curve.regret[3] == pytest.approx(found, rel=1e-2)


def test_what_cannot_be_predicted():
    cost = zoo.get("cone", 2)
    with pytest.raises(ValueError, match="has no level_rule"):
        rc.predicted_curve(rc.HOO(), cost, first=FIRST)
    with pytest.raises(ValueError, match="initial cells"):
        rc.predicted_curve(rc.AdaptiveBins(a0=1e-4), cost, first=FIRST)
    with pytest.raises(ValueError, match="kind"):
        rc.predicted_curve(rc.AdaptiveBins(), cost, first=FIRST, kind="any")
    with pytest.raises(ValueError, match="error"):
        rc.predicted_curve(rc.AdaptiveBins(), cost, first=FIRST, error=0.0)


def test_theory_far_out():
    """At T = 1e300 what stands beside ln T is a per cent of it: Theorem 2's printed power is not attained on this cost,
    the sharper one is."""
    cost = zoo.get("quadratic", 1)
    algorithm = rc.AdaptiveBins().settle(cost)
    curve = rc.predicted_curve(algorithm, cost, first=FIRST, last=1e300, error=0.02)
    found = rc.far(curve, algorithm.claims(cost)[0], period=algorithm.period(cost), shift=algorithm.shift(cost))
    assert found.exponent.value == pytest.approx(0.5, abs=0.01)
    assert found.shifted.low < 1.25 < found.shifted.high + 0.05 < 1.5
    assert [v.name for v in (found.on_exponent, found.on_printed, found.on_corrected)] == ["CONSISTENT"] * 3
    assert (found.on_printed.attained, found.on_corrected.attained) == (False, True)


# What a prediction leaves out


def test_a_flat_minimum_is_predicted():
    flat = rc.predict(rc.AdaptiveBins(), zoo.get("plateau", 1), [2**10, 2**14], alignments=2)
    assert (flat.frame["regret"] > 0).all()


def test_what_theory_leaves_open_is_small_where_the_bonus_is_large():
    found = rc.predict(rc.AdaptiveBins(), zoo.get("cone", 2), [2**14, 2**18], alignments=4).frame
    bonus = np.log(found["horizon"].to_numpy(float))
    assert found["noise"].to_numpy() == pytest.approx(bonus**-2)
    assert 0 < found["within"].max() < 0.05
    assert (rc.predict(rc.UniformBins(), zoo.get("cone", 2), [2**14], alignments=2).frame["within"] == 0).all()
    steep = rc.predict(rc.AdaptiveBins(), zoo.get("himmelblau", 2), [2**14], alignments=2).frame
    assert steep["within"].min() > 0.5
