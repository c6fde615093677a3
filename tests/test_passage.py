"""Draws of what is seen in the cells: passages against a literal count, and predictions with noise against runs."""

import math

import numpy as np
import pytest
from scipy.stats import norm

import function_zoo as zoo
import ratecheck as rc
from ratecheck.predict import passage
from ratecheck.predict.cells import Tree
from ratecheck.predict.passage import SINGLE, SPLIT

T = 2**14


def tree_of(cost, algorithm, *, noise, seed=0, length=None):
    algorithm = algorithm.settle(cost)
    length = algorithm.length(cost, T, 0.3) if length is None else length
    rule = algorithm.level_rule(cost, length)
    tree = Tree(cost, rule, length=length, offset=[0.3] * cost.dim, horizon=T)
    tree.draw(noise, seed)
    return tree, rule.bonus(T)


def path_of(tree, i):
    """The numbers of queries of a root at which means are known, and these."""
    first, known, _ = tree.paths.start[i]
    return tree.paths.counts[:known], tree.paths.means[first : first + known]


def literally(counts, means, bias, bonus, level):
    """The first number of queries after which the key has risen to the level."""
    keys = means - bias - bonus / np.sqrt(counts)
    return counts[np.flatnonzero(keys >= level)[0]]


@pytest.mark.parametrize("algorithm", [rc.UniformBins(), rc.AdaptiveBins()], ids=str)
def test_a_passage_is_the_first_time_that_the_key_reaches_the_level(algorithm):
    """In any order of levels and of bonuses, one by one up to SINGLE queries and between neighbouring counts beyond."""
    tree, bonus = tree_of(zoo.get("cone", 2), algorithm, noise=rc.Gaussian(2.0))
    roots, rng = tree.starts(), np.random.default_rng(0)
    asked = [
        (b, level)
        for b in (0.5 * bonus, bonus)
        for level in rng.uniform(-3.0, 0.0 if algorithm.kind == "uniform" else 4.0, 20)
    ]
    found = [tree.asked(roots, level, b) for b, level in asked]
    for (b, level), n in zip(asked, found, strict=True):
        np.testing.assert_array_equal(tree.asked(roots, level, b), n)
    exact = 0
    for (b, level), all_n in zip(asked, found, strict=True):
        for i, n in enumerate(all_n):
            if n == SPLIT:
                continue
            counts, means = path_of(tree, i)
            expected = literally(counts, means, tree.bias[0], b, level)
            before = counts[max(0, np.searchsorted(counts, expected) - 1)]
            assert before <= n <= expected
            assert n == expected or expected > SINGLE
            exact += n == expected
    assert exact > 20


def test_cells_are_split_where_their_capacity_does_not_suffice():
    tree, bonus = tree_of(zoo.get("cone", 1), rc.AdaptiveBins(), noise=rc.Gaussian(1.0))
    assert tree.capacity[0] == 1
    roots = tree.starts()
    assert (tree.asked(roots, 1e3, bonus) == SPLIT).all()
    assert (tree.asked(roots, -1e3, bonus) == 1).all()


def test_more_pulls_for_a_higher_level():
    tree, bonus = tree_of(zoo.get("branin", 2), rc.AdaptiveBins(), noise=rc.Gaussian(1.0))
    levels = np.random.default_rng(1).permutation(np.linspace(-40.0, 1.0, 60))
    pulls = {}
    for level in levels:
        sums, _, _ = tree.walk(tree.starts(), level, bonus=bonus, most=1e4)
        pulls[level] = math.inf if sums is None else sums[:, 0].sum()
    ordered = [pulls[level] for level in sorted(pulls)]
    assert ordered == sorted(ordered)
    assert len(set(ordered)) > 10


def passages(sigma, mean, bonus, level, count, rng):
    """How often one is queried whose values are normal, literally."""
    n, total, waiting = np.zeros(count), np.zeros(count), np.ones(count, dtype=bool)
    while waiting.any():
        n[waiting] += 1
        total[waiting] += rng.normal(mean, sigma, waiting.sum())
        waiting &= total / np.maximum(n, 1) - bonus / np.sqrt(np.maximum(n, 1)) < level
    return n


@pytest.mark.parametrize("sigma", [0.5, 1.0, 3.0])
def test_means_at_growing_counts_stand_for_queries_one_by_one(sigma, any_seed):
    """Mean passages of some 200 queries differ by less than 4.4 standard errors and 1 %: a false alarm in 1e5."""
    tree, _ = tree_of(zoo.get("cone", 1), rc.UniformBins(width=0.002), noise=rc.Gaussian(sigma), seed=any_seed)
    tree.gap[: tree.roots] = 1.0
    bonus, level = 7.0, 0.5
    drawn = tree.asked(tree.starts(), level, bonus)
    rng = np.random.default_rng([any_seed, 7])
    exact = passages(sigma, 1.0, bonus, level, 4000, rng)
    error = math.hypot(drawn.std() / math.sqrt(len(drawn)), exact.std() / math.sqrt(len(exact)))
    assert abs(drawn.mean() - exact.mean()) < norm.isf(5e-6) * error + 0.01 * exact.mean()
    assert len(drawn) > 900


def test_without_noise_and_spread_the_level_is_the_deterministic_one():
    """Bins are queried at their centres, so that nothing is left to draw."""
    cost, horizons = zoo.get("cone", 2), [2**12, 2**16]
    tree, bonus = tree_of(cost, rc.UniformBins(), noise=rc.Gaussian(0.0))
    drawn = [tree.asked(tree.starts(), level, bonus) for level in (-2.0, -0.5)]
    still, _ = tree_of(cost, rc.UniformBins(), noise=None)
    for n, level in zip(drawn, (-2.0, -0.5), strict=True):
        np.testing.assert_allclose(n, still.asked(still.starts(), level, bonus), rtol=passage.GROWTH - 1)
    found = rc.predict(rc.UniformBins(), cost, horizons, alignments=8, noise=rc.Gaussian(0.0))
    assert found.frame["draw"].max() == 0
    assert (found.frame["regret"] == found.frame["deterministic"]).all()


def test_draws_are_named_by_seeds():
    cost, how = zoo.get("branin", 2), {"alignments": 3, "noise": rc.Gaussian(), "draws": 2}
    one, same = (rc.predict(rc.AdaptiveBins(), cost, [2**12, 2**14], **how).frame for _ in range(2))
    assert one.equals(same)
    assert one["draw"].nunique() == 2
    more = rc.predict(rc.AdaptiveBins(), cost, [2**12, 2**14], **how | {"draws": 3, "alignments": [2, 1]}).frame
    both = one.merge(more, on=["horizon", "alignment", "draw"])
    assert len(both) == 8
    assert (both["regret_x"] == both["regret_y"]).all()
    other = rc.predict(rc.AdaptiveBins(), cost, [2**12, 2**14], **how | {"noise": rc.StudentT()}).frame
    assert (other["regret"] != one["regret"]).any()


@pytest.mark.parametrize(
    ("name", "dim", "noise"),
    [
        ("branin", 2, rc.Gaussian()),
        ("ring", 2, rc.Gaussian()),
        ("quadratic", 3, rc.Gaussian()),
        ("cone", 2, rc.Gaussian(4.0)),
        ("cone", 2, rc.StudentT(2.0)),
        ("cone", 2, rc.Gaussian(0.25)),
    ],
    ids=str,
)
def test_runs_follow_where_cells_are_rough_and_noise_is_loud(name, dim, noise, any_seed):
    """Within 3 % and 4.4 standard errors of their difference: a false alarm in 1e5 where the theory is right to 3 %."""
    cost, horizons, count = zoo.get(name, dim), [2**13, 2**15], 48
    runs = rc.simulate(rc.AdaptiveBins(), cost, horizons, count, noise=noise, seed=any_seed).frame
    found = rc.predict(rc.AdaptiveBins(), cost, horizons, alignments=count, noise=noise, seed=any_seed)
    predicted = found.frame.groupby(["horizon", "alignment"])["regret"].mean().unstack()
    measured = runs.pivot(index="horizon", columns="replicate", values="regret")
    apart = measured - predicted
    error = apart.std(axis=1) / math.sqrt(count)
    assert (apart.mean(axis=1).abs() < norm.isf(5e-6) * error + 0.03 * predicted.mean(axis=1)).all()


def test_the_deterministic_level_is_off_where_cells_are_rough():
    """What the draws are for: on branin it is 8 % too high at least."""
    cost = zoo.get("branin", 2)
    found = rc.predict(rc.AdaptiveBins(), cost, [T], alignments=16, noise=rc.Gaussian()).frame
    assert found["regret"].mean() < 0.92 * found["deterministic"].mean()


def test_the_error_of_the_draws_is_stated(any_seed):
    """Two means over other draws differ by less than 4.9 standard errors: a false alarm in 1e6 of normal ones."""
    cost, how = zoo.get("branin", 2), {"alignments": 16, "noise": rc.Gaussian()}
    one, other = (
        rc.predict(rc.AdaptiveBins(), cost, [T], **how | {"draws": d}, seed=any_seed).mean().iloc[0] for d in (8, 24)
    )
    assert 0 < other["drawn"] < one["drawn"] < 0.02
    assert abs(one["regret"] / other["regret"] - 1) < norm.isf(5e-7) * math.hypot(one["drawn"], other["drawn"])


def test_what_cannot_be_drawn():
    cost = zoo.get("cone", 1)
    with pytest.raises(ValueError, match="noise"):
        rc.predict(rc.AdaptiveBins(), cost, [T], noise=1.0)
    with pytest.raises(ValueError, match="draws"):
        rc.predict(rc.AdaptiveBins(), cost, [T], noise=rc.Gaussian(), draws=0)
    with pytest.raises(ValueError, match="horizon"):
        rc.predict(rc.AdaptiveBins(), cost, [1e30], noise=rc.Gaussian())
