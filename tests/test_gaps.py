"""Gaps relative to a minimiser, and means over cubes, against arithmetic with five hundred digits."""

import numpy as np
import pytest
from flint import arb

import function_zoo as zoo
from ratecheck.lower_bound.ball import precision
from tests.test_zoo import EVERY, compiled_values

KNOWN = [pair for pair in EVERY if zoo.get(*pair).gap]
ANCHORED = [pair for pair in KNOWN if zoo.get(*pair).anchored]
SCALES = (1.0, 1e-3, 1e-8, 1e-20, 1e-60, 1e-100)
DIGITS = 1800  # binary; a gap of the order 1e-200 is a difference of numbers of the order 1


def beside(z, k):
    """Rows of places relative to minimiser k, as an anchored gap takes them."""
    return np.column_stack([z, np.full(len(z), float(k))])


# The costs by the first lines of their docstrings, at scale 1: x is a list of balls, x - c where there is one centre c


def square(x):
    return sum((t * t for t in x), arb(0))


def weierstrass(x, p):
    total = arb(0)
    for t in x:
        for n in range(330):  # 3^-330 is 1e-157
            total += arb(3) ** (-arb(p["exponent"]) * n) * (1 - (arb(3) ** n * t).cos_pi())
    return total


def double_sine(x, p):
    e1, e2 = (-arb(p[name]).log() / arb(2).log() for name in ("rho1", "rho2"))
    waves = [(u, (1 + (u.log() / arb(2).log()).sin_pi()) / 2) for u in (2 * abs(t) for t in x)]
    return sum((u**e2 * (1 - s) + u**e1 * s for u, s in waves), arb(0))


def branin(x, p):
    pi = arb.pi()
    line = x[1] - arb("5.1") / (4 * pi**2) * x[0] ** 2 + 5 / pi * x[0] - 6
    return line**2 + 10 * (1 - 1 / (8 * pi)) * x[0].cos() + 10


def six_hump_camel(x, p):
    u, v = x[0] ** 2, x[1] ** 2
    return (4 - arb("2.1") * u + u**2 / 3) * u + x[0] * x[1] + 4 * (v - 1) * v


def griewank(x, p):
    product = arb(1)
    for i, t in enumerate(x):
        product *= (t / arb(i + 1).sqrt()).cos()
    return 1 + square(x) / 4000 - product


def ackley(x, p):
    waves = sum(((2 * t).cos_pi() for t in x), arb(0)) / len(x)
    return 20 + arb(1).exp() - 20 * (-(square(x) / len(x)).sqrt() / 5).exp() - waves.exp()


def garland(x, p):
    return -sum((t * (1 - t) * (4 - abs((60 * t).sin()).sqrt()) for t in x), arb(0))


def twin_cone(x, p):
    ends = [square([t + sign * c for t, c in zip(x, p["centre"], strict=True)]).sqrt() for sign in (-1, 1)]
    return min(ends, key=float)


FORMULAS = {
    "ackley": ackley,
    "branin": branin,
    "cone": lambda x, p: square(x).sqrt(),
    "cusp": lambda x, p: max((abs(t) for t in x), key=float) ** arb(p["power"]),
    "double_sine": double_sine,
    "garland": garland,
    "griewank": griewank,
    "himmelblau": lambda x, p: (x[0] ** 2 + x[1] - 11) ** 2 + (x[0] + x[1] ** 2 - 7) ** 2,
    "mixed_powers": lambda x, p: sum((abs(t) ** arb(q) for t, q in zip(x, p["powers"], strict=True)), arb(0)),
    "power": lambda x, p: square(x) ** (arb(p["power"]) / 2),
    "quadratic": lambda x, p: square(x),
    "quartic": lambda x, p: sum((t**4 for t in x), arb(0)),
    "rastrigin": lambda x, p: sum((t**2 + 10 - 10 * (2 * t).cos_pi() for t in x), arb(0)),
    "ring": lambda x, p: (square(x) - arb(p["radius"]) ** 2) ** 2,
    "ring_cone": lambda x, p: abs(square(x).sqrt() - arb(p["radius"])),
    "sine": lambda x, p: sum((t.sin() for t in x), arb(0)),
    "six_hump_camel": six_hump_camel,
    "twin_cone": twin_cone,
    "valley": lambda x, p: square(x[: p["active"]]) ** (arb(p["power"]) / 2),
    "weierstrass": weierstrass,
}


def newton(system, x, y):
    """The root near (x, y) of two equations; `system` gives their values and their four derivatives."""
    for _ in range(12):
        u, v, ux, uy, vx, vy = system(x, y)
        det = ux * vy - uy * vx
        x, y = ((x - (u * vy - uy * v) / det).mid(), (y - (ux * v - u * vx) / det).mid())
    return [x, y]


def minimisers(cost):
    """Those of the formulas above, exact where those of the cost are rounded."""
    name, rounded = cost.name, [[arb(t) for t in row] for row in cost.minimisers.tolist()]
    pi = arb.pi()
    if name == "branin":
        return [[k * pi, arb("5.1") * k**2 / 4 - 5 * k + 6] for k in (-1, 1, 3)]
    if name == "himmelblau":
        return [newton(lambda x, y: (x**2 + y - 11, x + y**2 - 7, 2 * x, 1, 1, 2 * y), *row) for row in rounded]
    if name == "six_hump_camel":
        return [newton(_six_hump_slopes, *row) for row in rounded]
    if name == "ring" or name == "ring_cone":
        return [[arb(cost.parameters["radius"])], [-arb(cost.parameters["radius"])]]
    if name in ("garland", "sine"):
        return [[pi / 6 if name == "garland" else 3 * pi / 2] * cost.dim]
    return rounded if name == "twin_cone" else [[arb(0)] * cost.dim]


def _six_hump_slopes(x, y):
    along = 8 * x - arb("8.4") * x**3 + 2 * x**5 + y
    return along, x - 8 * y + 16 * y**3, 8 - arb("25.2") * x**2 + 10 * x**4, 1, 1, 48 * y**2 - 8


def at(formula, x, p):
    """f(x); at x* = 0 logarithms have no value."""
    return arb(0) if all(t == 0 for t in x) else formula(x, p)


@pytest.mark.parametrize(("name", "dim"), KNOWN)
def test_gaps_against_many_digits(name, dim, any_seed):
    cost = zoo.get(name, dim, scale=0.7)
    rng = np.random.default_rng(any_seed)
    formula, p = FORMULAS[name], cost.parameters
    with precision(DIGITS):
        for k, star in enumerate(minimisers(cost)):
            lowest = at(formula, star, p)
            for scale in SCALES:
                z = scale * rng.uniform(-1, 1, (4, dim))
                columns = beside(z, k).T if cost.anchored else z.T
                exact = [0.7 * (formula([s + arb(t) for s, t in zip(star, row, strict=True)], p) - lowest) for row in z]
                exact = np.array([float(y) for y in exact])
                near = exact > 1e-300  # a smaller one has no digits
                np.testing.assert_allclose(cost.gap(columns)[near], exact[near], rtol=1e-9)


def test_every_family_with_a_gap_has_its_formula_here():
    assert set(FORMULAS) == {name for name, _ in KNOWN}


@pytest.mark.parametrize(("name", "dim"), KNOWN)
def test_gaps_compiled_are_the_same(name, dim, any_seed):
    cost = zoo.get(name, dim)
    scales = np.repeat(SCALES, 20)[:, None]
    z = scales * np.random.default_rng(any_seed).uniform(-1, 1, (len(scales), dim))
    z = beside(z, len(cost.minimisers) - 1) if cost.anchored else z
    np.testing.assert_allclose(compiled_values(cost.compiled_gap, z), cost.gap(z.T), rtol=1e-9, atol=1e-300)


def test_every_cost_with_a_few_minimisers_is_anchored():
    several = {"branin", "himmelblau", "ring", "ring_cone", "six_hump_camel", "twin_cone"}
    assert {name for name, _ in ANCHORED} == several


@pytest.mark.parametrize(("name", "dim"), ANCHORED)
def test_anchored_gaps_are_those_of_the_formula(name, dim, any_seed):
    cost = zoo.get(name, dim)
    X = np.random.default_rng(any_seed).uniform(cost.lower - 0.5 * cost.side, cost.upper + 0.5 * cost.side, (300, dim))
    gaps = cost.many(X) - cost.minimum
    for k, minimiser in enumerate(cost.minimisers):
        z = beside(X - minimiser, k)
        np.testing.assert_allclose(cost.gap(z.T), gaps, rtol=1e-12, atol=1e-13 * cost.constants.M_a)
        np.testing.assert_allclose(
            compiled_values(cost.compiled_gap, z), gaps, rtol=1e-12, atol=1e-13 * cost.constants.M_a
        )
        assert cost.gap(beside(np.zeros((1, dim)), k)[0]) == 0.0


def series_mean(exponent, z, a, terms):
    """The mean of one coordinate of weierstrass over [z, z + a]."""
    z, a, total = arb(z), arb(a), arb(0)
    for n in range(terms):
        k = arb(3) ** n
        total += arb(3) ** (-arb(exponent) * n) * (1 - ((k * (z + a)).sin_pi() - (k * z).sin_pi()) / (k * a * arb.pi()))
    return total


@pytest.mark.parametrize("dim", [1, 3])
@pytest.mark.parametrize(("exponent", "terms"), [(0.3, 28), (0.5, 500), (1.0, 400), (1.5, 370)])
def test_means_of_weierstrass_against_those_of_its_terms(dim, exponent, terms, any_seed):
    # An exponent below 0.45 makes the formula's 28 terms a function of their own, seen on the box.
    cost = zoo.get("weierstrass", dim, exponent=exponent)
    rng = np.random.default_rng(any_seed)
    for length in (1.0, 0.03, 1e-7, 1e-15, 1e-60, 1e-150):
        for reach in (1, 50):  # cells around the minimiser and beside it
            z = length * rng.uniform(-reach, reach, dim)
            with precision(DIGITS):
                expected = 4 * float(sum((series_mean(exponent, t, length, terms) for t in z), arb(0)))
            assert cost.compiled_mean(z, length) == pytest.approx(expected, rel=1e-10)


@pytest.mark.parametrize("exponent", [0.3, 0.5, 0.7, 1.0, 1.6])
def test_the_gap_of_weierstrass_adds_only_the_terms_that_its_formula_leaves_out(exponent, any_seed):
    cost = zoo.get("weierstrass", 2, exponent=exponent)
    X = np.random.default_rng(any_seed).uniform(cost.lower, cost.upper, (500, 2))
    ratio = 3.0**-exponent
    most = 4 * 2 * 2 * ratio**28 / (1 - ratio) if exponent > 0.45 else 0.0
    rounding = 1e-12 + 1e2 * 1e-16 ** min(1.0, exponent)  # that of x moves a rough function by its power
    difference = np.abs(cost.gap((X - cost.minimisers[0]).T) - cost.many(X))
    assert np.all(difference <= most + rounding)
    if exponent >= 1.0:
        assert np.all(difference <= 2e-12)
