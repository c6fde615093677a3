"""A weighted sample of cells against all of them, and against a law in closed form."""

import numpy as np
import pytest

import function_zoo as zoo
import ratecheck as rc
from ratecheck.predict import bins, cells, thinning
from ratecheck.predict.cells import ALL, CELLS, PULLS, REGRET, Tree
from ratecheck.predict.water_level import settled

T = 2.0**21
CASES = [
    ("cone", 3, rc.AdaptiveBins(mu="theorem")),
    ("quadratic", 2, rc.AdaptiveBins(mu="theorem")),
    ("ring", 2, rc.AdaptiveBins()),
    ("valley", 3, rc.AdaptiveBins()),
    ("rastrigin", 2, rc.AdaptiveBins(mu="theorem")),
    ("twin_cone", 2, rc.AdaptiveBins(mu="theorem")),
    ("cone", 3, rc.UniformBins()),
    ("cone", 2, rc.UniformBins()),
    ("griewank", 3, rc.UniformBins()),
]


def tree_of(name, dim, algorithm, *, kept, seed=0, place=0.3, horizon=T):
    cost = zoo.get(name, dim)
    algorithm = algorithm.settle(cost)
    length = algorithm.length(cost, horizon, 0.2)
    rule = algorithm.level_rule(cost, length)
    return Tree(cost, rule, length=length, offset=[place] * dim, horizon=horizon, kept=kept, seed=seed), rule


def sums_of(*case, horizon=T, **how):
    tree, rule = tree_of(*case, horizon=horizon, **how)
    _, sums = settled(tree, tree.starts(), pulls=horizon, bonus=rule.bonus(horizon), horizon=horizon)
    return sums.sum(axis=0), tree.thinned


def errors_of(case, kept, seeds=24):
    """Of the regret and of the number of cells, relative to all cells, by seed."""
    exact, thinned = sums_of(*case, kept=ALL)
    assert not thinned
    found = [sums_of(*case, kept=kept, seed=seed) for seed in range(seeds)]
    assert any(thinned for _, thinned in found)
    return np.array([sums[[REGRET, CELLS]] / exact[[REGRET, CELLS]] - 1 for sums, _ in found])


@pytest.mark.parametrize("case", CASES, ids=str)
def test_a_sample_of_cells_stands_for_all(case):
    """The mean error over 24 seeds lies within five standard errors of 0, or is a thousandth at most."""
    errors = errors_of(case, kept=12)
    assert (np.abs(errors.mean(axis=0)) <= 5 * errors.std(axis=0, ddof=1) / np.sqrt(24) + 1e-3).all()
    assert errors[:, 0].std() < 0.06


def test_more_cells_of_a_shell_leave_a_smaller_error():
    few, many = (errors_of(CASES[0], kept=kept)[:, 0].std() for kept in (8, 64))
    assert many < few / 3


def test_nothing_is_left_out_where_shells_are_small():
    exact, _ = sums_of("quadratic", 1, rc.AdaptiveBins(), kept=ALL)
    same, thinned = sums_of("quadratic", 1, rc.AdaptiveBins(), kept=64)
    assert not thinned
    assert (exact == same).all()


def test_a_power_law_in_closed_form():
    """Bins at gaps |z|, and so many that a sum over them is an integral: pulls 8 L / (gap - level)^2 add up to T."""
    tree, rule = tree_of("cone", 1, rc.UniformBins(width=1e-17), kept=24, horizon=1e30)
    bonus = rule.bonus(1e30)
    level, sums = settled(tree, tree.starts(), pulls=1e30, bonus=bonus, horizon=1e30)
    cost, a = tree.cost, tree.side[0]
    ends = 10 * np.array([cost.minimisers[0, 0] - cost.lower[0], cost.upper[0] - cost.minimisers[0, 0]])
    pulls = bonus**2 / (10 * a) * sum(1 / -level - 1 / (end - level) for end in ends)
    regret = bonus**2 / (10 * a) * sum(np.log((end - level) / -level) - level / (end - level) - 1 for end in ends)
    assert tree.thinned
    assert sums[:, PULLS].sum() == pytest.approx(1e30, rel=1e-6)
    assert -level > 1e4 * 10 * a
    assert pulls == pytest.approx(1e30, rel=0.02)
    assert sums[:, REGRET].sum() == pytest.approx(regret, rel=0.02)


# How a shell is thinned


def heirs_after(kept, count=100):
    """The weights that some cells of one shell hand on."""
    gap, weight, heirs = np.linspace(1.0, 1.01, count), np.full(count, 3.0), np.full(count, thinning.UNDECIDED)
    state = cells.open_state(np.random.SeedSequence(5))
    thinning.decide(
        np.arange(count), np.zeros(count, dtype=int), np.zeros(1, dtype=int), kept, gap, weight, heirs, state
    )
    return heirs


def test_weights_are_handed_on():
    """A lost weight, or a shell that is thinned twice, changes their sum."""
    heirs = heirs_after(10)
    assert np.count_nonzero(heirs) == 10
    assert heirs.sum() == pytest.approx(300.0)
    assert heirs_after(100).tolist() == [3.0] * 100


def test_heavier_cells_are_drawn_more_often():
    gap, heirs = np.full(40, 1.0), np.full(40, thinning.UNDECIDED)
    weight = np.array([1.0] * 20 + [19.0] * 20)
    hits = np.zeros(40)
    for seed in range(200):
        heirs[:] = thinning.UNDECIDED
        state = cells.open_state(np.random.SeedSequence(seed))
        thinning.decide(np.arange(40), np.zeros(40, dtype=int), np.zeros(1, dtype=int), 8, gap, weight, heirs, state)
        hits += heirs
    assert hits[:20].sum() / 200 == pytest.approx(20.0, rel=0.25)
    assert hits[20:].sum() / 200 == pytest.approx(380.0, rel=0.05)


def test_cells_around_a_minimiser_are_kept():
    tree, rule = tree_of("ackley", 3, rc.AdaptiveBins(), kept=8, horizon=1e20)
    settled(tree, tree.starts(), pulls=1e20, bonus=rule.bonus(1e20), horizon=1e20)
    around = np.flatnonzero((np.abs(tree.index[: tree.used]) <= 1).all(axis=1))
    assert (tree.weight[around] == 1.0).all()
    assert len(around) > 27 * 8


def test_blocks_of_bins_make_the_whole_grid():
    tree, _ = tree_of("cone", 2, rc.UniformBins(), kept=8, horizon=1e20)
    whole = np.prod([float(m) for m in cells.partition.counts(tree.cost, tree.side[0], [0.3] * 2)])
    totals = []
    for seed in range(40):
        other, _ = tree_of("cone", 2, rc.UniformBins(), kept=8, horizon=1e20, seed=seed)
        totals.append(other.weight[: other.roots].sum() / whole)
    assert np.mean(totals) == pytest.approx(1.0, abs=5 * np.std(totals) / np.sqrt(40) + 1e-9)
    assert np.std(totals) < 0.1
    assert bins.HARDLY < 1
