"""Lower bounds: the parts of the proof against brute force, and the whole against exact minimax regrets."""

import json
import math
import pickle
from dataclasses import replace

import numpy as np
import pytest

import function_zoo as zoo
import ratecheck as rc
from function_zoo.dented import dent, mean_error
from function_zoo.registry import lookup
from ratecheck.lower_bound.enclosure import enclosure
from ratecheck.lower_bound.expression import Untraceable, parts, trace
from ratecheck.lower_bound.many import missed
from ratecheck.lower_bound.overlap import overlap
from ratecheck.lower_bound.pair import least_regret
from ratecheck.lower_bound.paving import Lattice, pave, written

from .exact_minimax import bayes_regret

PLAIN = [name for name in zoo.families() if name != "dented"]
EVERY = [(name, dim) for name in PLAIN for dim in (1, 2, 3) if dim in lookup(name).dims]


# The mathematics, on bandits small enough to be solved


@pytest.mark.parametrize("horizon", [1, 4, 16])
@pytest.mark.parametrize("eta", [0.3, 0.7, 1.2])
def test_bound_a_lies_below_the_exact_bayes_regret_of_two_arms(eta, horizon):
    exact = bayes_regret([[-eta, 0], [0, -eta]], [0.5, 0.5], horizon)
    assert eta * horizon * missed(1 / 2, horizon * eta**2 / 4) <= exact


@pytest.mark.parametrize("eta", [0.4, 0.9])
def test_bound_a_lies_below_the_exact_bayes_regret_of_three_arms(eta):
    exact = bayes_regret(-eta * np.eye(3), [1 / 3] * 3, 8, points=61, nodes=11)
    bound = float(eta * 8 * missed(1 / 3, 8 * eta**2 / 6).item())
    assert 0.3 * exact <= bound <= exact


@pytest.mark.parametrize("horizon", [5, 40])
@pytest.mark.parametrize(("gap", "depth"), [(0.2, 0.5), (0.3, 0.6), (0.1, 1.0)])
def test_bound_b_lies_below_the_exact_minimax_regret_of_two_functions(gap, depth, horizon):
    # two actions: the minimiser of f0, and the dent; the minimax regret is the largest Bayes regret over all priors
    priors = np.linspace(0.1, 0.9, 9)
    exact = max(bayes_regret([[0, gap], [0, gap - depth]], [1 - p, p], horizon) for p in priors)
    bound = least_regret(min(gap, depth - gap), depth**2 / gap, horizon, 1.0)
    assert 0.2 * exact <= bound <= exact


def test_the_exact_regret_of_a_single_step_is_the_prior_mean():
    assert bayes_regret([[-1, 0], [0, -1]], [0.5, 0.5], 1) == pytest.approx(0.5, abs=1e-3)
    assert bayes_regret([[-1, 0], [0, -1]], [0.8, 0.2], 1) == pytest.approx(0.2, abs=1e-3)


# The dent


def psi(alpha, U):
    return dent(alpha, np.zeros(U.shape[-1]), 1.0)(np.moveaxis(U, -1, 0))


@pytest.mark.parametrize("alpha", [0.3, 0.5, 1.0, 1.4, 2.0])
@pytest.mark.parametrize("dim", [1, 2, 3])
def test_overlaps_bound_what_dents_on_a_lattice_sum_to(alpha, dim):
    m = 4
    lattice = np.stack(np.meshgrid(*[np.arange(-m, m + 1) / m] * dim, indexing="ij"), axis=-1).reshape(-1, dim)
    places = np.random.default_rng(0).uniform(0, 1 / m, (200, dim))
    places = np.vstack([places, np.zeros((1, dim)), np.full((1, dim), 0.5 / m)])
    heights = psi(alpha, places[:, None] - lattice)
    for power in (1, 2):
        seen, bound = float(np.max(np.sum(heights**power, axis=1))), overlap(alpha, dim, m, power)
        assert seen <= bound * (1 + 1e-12)
        assert bound <= 1.02 * seen  # and no more than needed


@pytest.mark.parametrize("alpha", [0.5, 1.0, 1.5, 2.0])
@pytest.mark.parametrize("dim", [1, 2, 3])
def test_the_mean_error_of_a_dent_is_bounded_by_k(alpha, dim):
    rng = np.random.default_rng(1)
    steps = np.stack(np.meshgrid(*[(np.arange(16) + 0.5) / 16 - 0.5] * dim, indexing="ij"), axis=-1).reshape(-1, dim)
    centres = np.vstack([np.zeros((8, dim)), rng.uniform(-0.6, 0.6, (60, dim))])
    lengths = 2.0 ** -rng.uniform(0, 8, len(centres))
    means = np.array([psi(alpha, c + a * steps).mean() for c, a in zip(centres, lengths, strict=True)])
    errors = np.abs(means - psi(alpha, centres)) / lengths**alpha
    # the midpoint rule with 16 points errs by less than 2 %
    assert errors.max() <= 1.02 * mean_error(alpha, dim)
    assert errors[:8].max() >= 0.9 * mean_error(alpha, dim)  # at the place it is attained


# Expressions and their ranges


@pytest.mark.parametrize(("name", "dim"), EVERY)
def test_enclosures_hold_the_values_of_every_cost(name, dim):
    cost = zoo.get(name, dim)
    nodes = trace(cost.formula, dim)
    assert json.loads(json.dumps(nodes)) == nodes
    enclose = enclosure(nodes)
    rng = np.random.default_rng(0)
    low = rng.uniform(cost.lower, cost.upper, (60, dim))
    high = low + cost.side * 10.0 ** rng.uniform(-6, 0, (60, 1)) * rng.uniform(0, 1, (60, dim))
    least, most = enclose(low, high)
    tolerance = 1e-11 * (abs(cost.minimum) + cost.constants.M_a)  # numpy rounds; the enclosure does not
    for share in rng.uniform(0, 1, (40, dim)):
        values = cost.many(low + share * (high - low))
        assert np.all((least - tolerance <= values) & (values <= most + tolerance))
    exact = enclose(low, low)
    rough = 1e-6 if name == "weierstrass" else 1e-11  # 28 chained cubics
    assert np.all(exact[1] - exact[0] <= rough * cost.constants.M_a + 100 * tolerance)


def test_parts_add_up_to_the_expression():
    for name, dim in EVERY:
        cost = zoo.get(name, dim)
        x = np.random.default_rng(2).uniform(cost.lower, cost.upper, (5, dim))
        total = sum(enclosure(nodes)(x, x)[0] for _, nodes in parts(trace(cost.formula, dim)))
        assert total == pytest.approx(cost.many(x), rel=1e-6, abs=1e-6)


@pytest.mark.parametrize(
    ("formula", "word"),
    [
        (lambda x: x[0] if x[0] > 0 else -x[0], "branches"),
        (lambda x: math.sin(x[0]), "fails on symbols"),
        (lambda x: np.tanh(x[0]), "tanh"),
        (lambda x: 2.0 ** x[0], "exponent"),
        (lambda x: x[0] + "a", "neither a coordinate nor"),
        (lambda x: x[0] * math.inf, "neither a coordinate nor"),
    ],
)
def test_what_cannot_be_followed_is_said(formula, word):
    with pytest.raises(Untraceable, match=word):
        trace(formula, 1)


def test_a_paving_sums_over_a_lattice_and_its_text_names_the_blocks():
    lattice = Lattice.within(np.array([-1.0, -1.0]), np.array([1.0, 1.0]), np.array([0.1, 0.2]), 0.05)
    enclose = enclosure(trace(lambda x: x[0] ** 2 + 4 * np.abs(x[1]), 2))

    def worth(value):
        return np.where(value <= 0.5, 1 / (1 + np.maximum(value, 0)), 0.0)

    grids = np.meshgrid(*(np.arange(a, b + 1) for a, b in zip(lattice.first, lattice.last, strict=True)), indexing="ij")
    points = lattice.points(np.stack(grids, axis=-1).reshape(-1, 2))
    exact = worth(points[:, 0] ** 2 + 4 * np.abs(points[:, 1])).sum()
    blocks = pave(enclose, lattice, worth=worth, tolerance=0.05)
    assert 0.95 * exact <= np.sum(blocks.counts * worth(blocks.most)) <= exact * (1 + 1e-9)
    assert exact <= np.sum(blocks.counts * worth(blocks.least)) * (1 + 1e-9)
    text = written(blocks.names.tolist())
    assert text.count(".") == len(blocks)
    assert text.count("a") + text.count("b") == text.count(".") + text.count("-") - 1


# Families and bounds


@pytest.mark.parametrize(
    ("name", "dim"), [("quadratic", 1), ("cone", 2), ("valley", 2), ("plateau", 2), ("garland", 1)]
)
def test_members_satisfy_assumption_1(name, dim):
    family = rc.HardFamily(zoo.get(name, dim), 1e4)
    assert family.problem is None
    for member in family.sample(1, seed=3):
        table = zoo.audit(member).set_index("constant")
        assert table["holds"].all(), table
        c, base = member.constants, family.cost.constants
        assert (c.alpha, c.beta) == (base.alpha, base.beta)
        assert max(table.loc[["M_a", "M_b"], "measured"]) <= family.M
        x = np.random.default_rng(0).uniform(member.lower, member.upper, (5000, dim))
        x = np.vstack([x, member.minimisers])
        assert np.max(np.abs(member.many(x) - family.cost.many(x))) <= family.found.depth * (1 + 1e-12)


def test_a_member_is_an_ordinary_cost():
    family = rc.HardFamily(zoo.get("cone", 2, scale=5.0), 1e4)
    member = family[len(family) // 2]
    again = pickle.loads(pickle.dumps(member))
    assert str(again) == str(member) == str(zoo.get("dented", 2, **member.parameters))
    assert again.constants == member.constants
    assert "scale=5.0" in member.parameters["base"]
    runs = [rc.simulate(rc.AdaptiveBins(), cost, [200], replicates=2, workers=1).frame for cost in (member, again)]
    assert runs[0].equals(runs[1])
    place = family.place(len(family) // 2)
    assert member(place) == pytest.approx(family.cost(place) - family.depth(place), rel=1e-12)


def test_members_of_a_cost_that_is_not_the_zoos():
    own = zoo.get("quadratic", 1)
    own = zoo.Cost("mine", 1, own.formula, own.lower, own.upper, 0.0, own.minimisers, own.constants)
    member = rc.HardFamily(own, 1e3)[0]
    assert not member.registered
    assert pickle.loads(pickle.dumps(member))(own.minimisers[0]) == member(own.minimisers[0])


def test_places_are_counted_and_drawn_as_the_bound_averages():
    family = rc.HardFamily(zoo.get("quadratic", 1), 1e4)
    places = np.array([family.place(i) for i in range(len(family))])
    assert len(np.unique(places)) == len(family)
    with pytest.raises(IndexError):
        family.place(len(family))
    weights = np.array([family.depth(y) for y in places]) ** -2.0
    drawn = np.array(family.sample_places(4000, seed=1))
    counts = (np.abs(drawn - places.T) < 1e-12).sum(axis=0)
    expected = 4000 * weights / weights.sum()
    assert counts.sum() == 4000
    # chi-squared beyond its 1e-9 quantile: a false alarm once in 1e9 seeds
    from scipy.stats import chi2

    assert np.sum((counts - expected) ** 2 / expected) <= chi2.ppf(1 - 1e-9, len(family) - 1)


def branching(x):
    return abs(x[0]) if x[0] > 0 else 2 * abs(x[0])


@pytest.mark.parametrize(
    ("cost", "M", "word"),
    [
        (zoo.get("quadratic", 2), 3.0, "f0 within M fails"),
        (zoo.get("cone", 9), None, "up to 8 dimensions, not in 9"),
        (replace(zoo.get("cone", 1), formula=branching, registered=False), None, "branches"),
    ],
)
def test_what_is_no_family_says_why_and_is_not_used(cost, M, word):
    assert word in rc.HardFamily(cost, 1e4, M=M).problem
    with pytest.raises(ValueError, match="no hard family"):
        rc.lower_bound(cost, 1e4, M=M)


def test_dents_that_are_shallower_than_the_cost_is_steep_are_flat():
    with pytest.raises(zoo.InvalidChoice, match="its bottom is flat"):
        zoo.get("dented", 2, base="valley", depth=1.0, length=0.3, place=(0.34, -0.5))


@pytest.mark.parametrize("bad", [{"horizon": 0}, {"horizon": math.nan}, {"horizon": "x"}, {"horizon": 10, "sigma": -1}])
def test_bad_arguments_are_named(bad):
    with pytest.raises(ValueError, match=next(reversed(bad))):
        rc.lower_bound(zoo.get("cone", 1), **bad)


def test_noise_and_regret_scale_together():
    # sigma enters as H/sigma only: for a cost that is scaled by it the bound is too
    one = rc.lower_bound(zoo.get("cone", 1, scale=10.0), 1e5).regret
    ten = rc.lower_bound(zoo.get("cone", 1, scale=100.0), 1e5, sigma=10.0).regret
    assert ten == pytest.approx(10 * one, rel=0.01)


# At small horizons other things rule: near-ties (griewank, garland, ackley), or few dents (double_sine).
# Beyond some horizon a ring is too thin for the blocks that are allowed.
SPANS = dict.fromkeys([("griewank", 1), ("griewank", 2), ("garland", 1), ("ackley", 2)], (1e8, 1e12))
SPANS |= {("ring_cone", 2): (1e3, 1e6), ("double_sine", 1): (1e12, 1e20)}
SLOW = {("weierstrass", 1), ("weierstrass", 2), ("garland", 2), ("rastrigin", 2)}


@pytest.mark.parametrize(("name", "dim"), [case for case in EVERY if case[1] <= 2 and case not in SLOW])
def test_the_bound_grows_as_theorem_3_says(name, dim):
    cost = zoo.get(name, dim)
    first, last = SPANS.get((name, dim), (1e3, 1e12))
    ends = [rc.HardFamily(cost, horizon).found.regret for horizon in (first, last)]
    slope = math.log(ends[1] / ends[0]) / math.log(last / first)
    assert slope == pytest.approx(rc.theorem3.rate(cost.constants, dim).slope, abs=0.01)
