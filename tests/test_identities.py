"""Identities that every run of ours checks: tampered numbers break each of them, and what breaks one ends a study."""

import re

import numpy as np
import pytest

import function_zoo as zoo
import ratecheck as rc
from ratecheck.algorithms import hoo
from ratecheck.algorithms.adaptive import LEVEL, AdaptiveRun, N
from ratecheck.algorithms.hoo import LINE, NEXT, NODE
from ratecheck.cli import study as command
from ratecheck.engine.simulate import EngineError, begin
from ratecheck.store import Store
from ratecheck.study import Study
from ratecheck.study.plan import no_curve
from tests.places import executor
from tests.test_runner import run as run_study

COST = zoo.get("cone", 2)
ALGORITHMS = {"uniform": rc.UniformBins(), "adaptive": rc.AdaptiveBins(), "hoo": rc.HOO()}
every_algorithm = pytest.mark.parametrize("algorithm", ALGORITHMS.values(), ids=ALGORITHMS)


def advanced(algorithm, steps=3000, cost=COST, **how):
    run, _ = begin(algorithm.settle(cost), cost, horizon=steps, replicate=0, **how)
    run.advance(steps)
    return run


@every_algorithm
def test_they_hold(algorithm, any_seed):
    for cost in (zoo.get("cone", 1), COST, zoo.get("rastrigin", 3), zoo.get("weierstrass", 1), zoo.get("branin", 2)):
        for alignment in ("random", "fixed"):
            for steps in (1, 2, 7, 3000):
                how = {"seed": any_seed, "alignment": alignment, "diagnostics": steps == 3000}
                assert advanced(algorithm, steps, cost, **how).violation() is None


@every_algorithm
def test_they_hold_without_noise_and_where_cells_split_no_more(algorithm):
    assert advanced(algorithm, 20_000, zoo.get("cone", 1), noise=rc.Gaussian(0.0)).violation() is None
    deep = rc.AdaptiveBins(mu=1e-9) if isinstance(algorithm, rc.AdaptiveBins) else algorithm
    assert advanced(deep, 20_000, zoo.get("cone", 1), noise=rc.Gaussian(1e-9)).violation() is None


# Tampered


def more_pulls(run):
    run.cell[1, N] += 1


def a_split_undone(run):
    deepest = int(np.argmax(run.cell[: run.cells, LEVEL]))
    run.cell[deepest, LEVEL] -= 1


def a_cell_lost(run):
    run.state[1] -= 1


def a_pull_forgotten(run):
    run.n[np.argmax(run.n)] -= 1


def a_step_more(run):
    run.state[0] += 1


def a_regret_more(run):
    run.total_regret[0] *= 1 + 1e-9


def a_level_less(run):
    run.level_regret[np.argmax(run.level_regret)] *= 1 - 1e-9


def a_visit_more(run):
    run.tree[LINE + NODE + hoo.N] += 1


def the_roots_visit(run):
    run.tree[hoo.N] += 1
    run.tree[LINE + hoo.N] += 1


def children_of_another(run):
    """The root's lower child takes its sibling's children for its own."""
    link = run.tree.view(np.int64)
    link[LINE + NEXT] = link[LINE + NODE + NEXT]


def children_outside(run):
    run.tree.view(np.int64)[LINE + NEXT] = 10**9


TAMPERED = [
    ("uniform", a_pull_forgotten, "pulls over all cells add up to 2999, not to the 3000 steps"),
    ("uniform", a_step_more, "pulls over all cells add up to 3000, not to the 3001 steps"),
    ("uniform", a_regret_more, "regret over all levels adds up to"),
    ("adaptive", more_pulls, "pulls over all cells add up to 3001, not to the 3000 steps"),
    ("adaptive", a_step_more, "pulls over all cells"),
    ("adaptive", a_split_undone, r"cells of the levels, \[.*\], do not have the volume of the 4 initial ones"),
    ("adaptive", a_cell_lost, "cells of the levels"),
    ("adaptive", a_regret_more, "regret over all levels adds up to"),
    ("adaptive", a_level_less, "regret over all levels adds up to"),
    ("hoo", a_visit_more, "pulls of 2 cells are not those of their halves"),
    ("hoo", the_roots_visit, "pulls of 1 cells are not those of their halves"),
    ("hoo", a_step_more, "pulls over all cells add up to 3000, not to the 3001 steps"),
    ("hoo", children_of_another, r"cells have the volume of .* boxes, and \d+ pairs"),
    ("hoo", children_outside, r"cells have the volume of .* boxes, and \d+ pairs"),
    ("hoo", a_regret_more, "regret over all levels adds up to"),
    ("hoo", a_level_less, "regret over all levels adds up to"),
]


@pytest.mark.parametrize(("name", "tamper", "words"), TAMPERED, ids=[f"{a} {b.__name__}" for a, b, _ in TAMPERED])
def test_tampered_numbers_break_them(name, tamper, words):
    run = advanced(ALGORITHMS[name])
    assert run.violation() is None
    tamper(run)
    assert re.match(words, run.violation())


def test_levels_of_diagnostics_are_part_of_them():
    run = advanced(rc.AdaptiveBins(), diagnostics=True)
    run.by_level[0, 1] += 1.0
    assert "regret over all levels" in run.violation()


# What follows


@pytest.fixture
def forgetful(monkeypatch):
    """A kernel that forgets a pull in step 512."""
    advance, seen = AdaptiveRun.advance, []

    def tampered(self, until):
        advance(self, until)
        if self.t == 512:
            seen.append(self)
            self.cell[np.argmax(self.cell[: self.cells, N]), N] -= 1

    monkeypatch.setattr(AdaptiveRun, "advance", tampered)
    return seen


def test_a_simulation_ends_with_the_name_of_the_run(forgetful):
    assert len(rc.simulate(rc.AdaptiveBins(), COST, [100, 500], replicates=2).frame) == 4
    words = r"AdaptiveBins\(.*\) on cone\(dim=2.*replicate 3 at T = 512, seed 7: pulls over all cells add up to 511"
    with pytest.raises(EngineError, match=words):
        rc.simulate(rc.AdaptiveBins(), COST, [100, 512], replicates=[3], seed=7)


def test_a_study_ends_and_nothing_is_tried_again(tmp_path, forgetful):
    study = Study("own", "?", (("cone", 2),), [rc.AdaptiveBins()], horizons=[8, 64, 512], replicates=1)
    place = executor("threads", 1)
    try:
        with pytest.raises(EngineError, match="replicate 0 at T = 512"):
            run_study(tmp_path / "x", place, study)
    finally:
        place.close()
    assert len(forgetful) == 1


def test_the_command_says_it_in_one_line(tmp_path, forgetful, no_audits, monkeypatch, capsys):
    monkeypatch.setattr("ratecheck.study.conduct.computed_curve", no_curve)  # predictions take seconds
    line = ["--family", "cone", "--dims", "1", "--algorithms", "adaptive", "--horizons", "8:512:8", "--replicates", "2"]
    assert command.main([*line, "--out", str(tmp_path), "--workers", "1"]) == command.EXIT_GIVEN_UP
    said = capsys.readouterr()
    assert "error: AdaptiveBins(" in said.err
    assert "pulls over all cells add up to 511, not to the 512 steps" in said.err
    assert not (tmp_path / "report.md").exists()
    with Store(tmp_path) as store:
        assert not len(store)
