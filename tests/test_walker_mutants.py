"""Mistakes put into the walker of cells: each makes a check fail that the walker passes."""

import importlib
import math
import re
import sys
from functools import cache
from itertools import product
from pathlib import Path

import numpy as np
import pytest

import function_zoo as zoo
import ratecheck as rc
from ratecheck.predict import cells as walker
from ratecheck.predict.thinning import UNDECIDED
from ratecheck.predict.water_level import settled

pytestmark = pytest.mark.slow
FOLDER = Path(walker.__file__).parent
HORIZON = 2.0**26
SEEDS = 24


def tree_of(module, kept, seed=0):
    """A tree, its rule, and the level of all its cells."""
    cost = zoo.get("quadratic", 3)
    algorithm = rc.AdaptiveBins(mu="theorem").settle(cost)
    length = algorithm.length(cost, HORIZON, 0.2)
    rule = algorithm.level_rule(cost, length)
    how = {"length": length, "offset": [0.3, 0.3, 0.3], "horizon": HORIZON}
    tree = module.Tree(cost, rule, **how, kept=kept, seed=seed)
    whole = walker.Tree(cost, rule, **how)
    level, _ = settled(whole, whole.starts(), pulls=HORIZON, bonus=rule.bonus(HORIZON), horizon=HORIZON)
    return tree, rule, level


def walked(tree, rule, level):
    """The queries, the cells and the regret below a level."""
    sums, status, _ = tree.walk(tree.starts(), level, bonus=rule.bonus(HORIZON), most=math.inf)
    assert status == walker.FINE
    return sums[:, :3].sum(axis=0)


def literal(tree, rule, level):
    """The same from the definition, cell by cell."""
    bonus, sums = rule.bonus(HORIZON), np.zeros(3)
    waiting = [((tree.index[i] - tree.phase[0, 0]) * tree.side[0], 0) for i in range(tree.roots)]
    while waiting:
        z, k = waiting.pop()
        a, capacity = tree.side[k], rule.capacity(k)
        gap = 10 * (((z + a / 2) ** 2).sum() + tree.dim * a**2 / 12)
        b = gap - rule.bias(k)
        if b - bonus / math.sqrt(capacity) < level:
            n, leaf = capacity, 0
            waiting += [(z + a / 2 * np.array(part), k + 1) for part in product((0, 1), repeat=tree.dim)]
        else:
            n, leaf = min(capacity, max(1, math.ceil((bonus / (b - level)) ** 2))), 1
        sums += n, leaf, n * gap
    return sums


@cache
def exact():
    return literal(*tree_of(walker, kept=walker.ALL))


def nothing_is_left_out(module):
    np.testing.assert_allclose(walked(*tree_of(module, kept=walker.ALL)), exact(), rtol=1e-9)


def a_sample_stands_for_all(module):
    """The mean error over the seeds lies within five standard errors of 0, or is a thousandth at most."""
    errors = np.array([walked(*tree_of(module, kept=4, seed=seed)) / exact() - 1 for seed in range(SEEDS)])
    assert (np.abs(errors.mean(axis=0)) <= 5 * errors.std(axis=0, ddof=1) / math.sqrt(SEEDS) + 1e-3).all()


def cells_at_the_minimiser_are_kept(module):
    for seed in range(4):
        tree, rule, level = tree_of(module, kept=1, seed=seed)
        walked(tree, rule, level)
        around = np.flatnonzero((np.abs(tree.index[: tree.used]) <= 1).all(axis=1))
        assert (tree.weight[around] == 1.0).all()


def heavier_cells_are_drawn_more_often(module):
    weight, heirs = np.array([1.0] * 20 + [19.0] * 20), np.full((200, 40), UNDECIDED)
    for seed in range(200):
        state = walker.open_state(np.random.SeedSequence(seed))
        module.decide(
            np.arange(40), np.zeros(40, dtype=int), np.zeros(1, dtype=int), 8, np.ones(40), weight, heirs[seed], state
        )
    light = heirs[:, :20].sum(axis=1)
    assert abs(light.mean() - 20) <= 5 * light.std(ddof=1) / math.sqrt(200) + 1e-6


PARTS = "cells", "thinning", "passage"
CHECKS = (
    nothing_is_left_out,
    a_sample_stands_for_all,
    cells_at_the_minimiser_are_kept,
    heavier_cells_are_drawn_more_often,
)
LEAF = "return min(capacity[k], max(1.0"
HANDED = "weight[used + part], anchor[used + part], child[used + part] = heirs[i]"
MUTANTS = {
    "a lost weight": ("cells", "sums[k, REGRET] += weight[i] * n * gap[i]", "sums[k, REGRET] += n * gap[i]"),
    "a shell thinned twice": ("thinning", "= (hits - before) * step", "= (hits - before) * step * (before % 2)"),
    "the level above has the capacity": ("cells", "n = capacity[k]\n", "n = capacity[k - 1]\n"),
    "the level below has the bias": ("passage", "b = gap[i] - bias[k]\n", "b = gap[i] - bias[k + 1]\n"),
    "a leaf has the capacity of the level above": ("passage", LEAF, LEAF.replace("capacity[k]", "capacity[k - 1]")),
    "weights are not handed to children": ("cells", HANDED, HANDED.replace("heirs", "weight")),
    "heirs by unweighted choice": ("thinning", "passed += weight[i]\n", "passed += total / (last - first)\n"),
    "a minimiser's cell is thinned": ("cells", "heirs[i] = weight[i]\n                    break", "break"),
}


def mutant(folder, name, words=None):
    """The walker from an altered copy of its source."""
    package = folder / name
    package.mkdir()
    (package / "__init__.py").touch()
    for part in PARTS:
        text = (FOLDER / f"{part}.py").read_text("utf-8")
        text = re.sub(r"from \.\.(?=\w)", "from ratecheck.", text)
        text = re.sub(r"from \.(?=\w)(?!thinning|passage)", "from ratecheck.predict.", text)
        text = text.replace("from . import", "from ratecheck.predict import")
        if words and words[0] == part:
            assert words[1] in text, "the source has changed; alter it elsewhere"
            text = text.replace(words[1], words[2])
        (package / f"{part}.py").write_text(text, "utf-8")
    return importlib.import_module(f"{name}.cells")


def failed(module):
    found = []
    for check in CHECKS:
        try:
            check(module)
        except AssertionError:
            found.append(check.__name__)
    return found


@pytest.fixture
def folder(tmp_path, monkeypatch):
    monkeypatch.syspath_prepend(str(tmp_path))
    yield tmp_path
    for name in [name for name in sys.modules if name.startswith("altered_")]:
        del sys.modules[name]


def test_the_walker_passes(folder):
    assert not failed(walker)
    assert not failed(mutant(folder, "altered_not"))


@pytest.mark.parametrize("name", MUTANTS)
def test_a_mistake_is_noticed(name, folder):
    module = mutant(folder, f"altered_{re.sub('[^a-z]', '_', name)}", MUTANTS[name])
    found = failed(module)
    assert found
