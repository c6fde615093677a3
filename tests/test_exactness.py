"""Kernels against reference.py: picked cells and regrets are equal to the last bit."""

import math
import os
import subprocess
import sys
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest
from numba import njit

import function_zoo as zoo
import ratecheck as rc
from ratecheck.algorithms.adaptive import adaptive_kernel
from ratecheck.algorithms.partition import deepest_level
from ratecheck.sampling.generator import open_state
from ratecheck.sampling.jit import Kernel
from tests import brute, reference
from tests.reference_random import Random

pytestmark = pytest.mark.slow

INTERPRETED = bool(os.environ.get("NUMBA_DISABLE_JIT"))
STEPS = 150 if INTERPRETED else 1000

ZOO = [
    pytest.param(name, dim, id=f"{name}-{dim}")
    for name in zoo.families()
    for dim in (1, 2, 3)
    if dim in zoo.registry.lookup(name).dims
]

DRAWS = {
    rc.Gaussian(0.7): lambda rng: 0.7 * rng.standard_normal(),
    rc.Uniform(2.0): lambda rng: np.sqrt(3.0) * 2.0 * (2.0 * rng.random() - 1.0),
    rc.Rademacher(1.0): lambda rng: 1.0 if rng.random() < 0.5 else -1.0,
    rc.StudentT(1.0, dof=5.0): lambda rng: np.sqrt(3.0 / 5.0) * rng.standard_t(5.0),
}
STANDARD = rc.Gaussian(1.0)


def standard_normal(rng):
    return rng.standard_normal()


@njit
def call(f, x):
    return f(x)


def compare(algorithm, cost, seed, steps, alignment, noise=STANDARD, draw=standard_normal, slices=1, diagnostics=False):
    """The run, after comparing every picked cell and the regret at the end of every slice."""
    algorithm = algorithm.settle(cost)
    fraction, offset = 0.0, [0.0] * cost.dim
    if alignment == "random":
        where = np.random.default_rng([seed, 1])
        fraction, offset = where.random(), where.random(cost.dim).tolist()
    length = algorithm.length(cost, steps, fraction)
    trace = np.full(steps, -1)
    run = algorithm.start(cost, length, offset, np.random.default_rng(seed), noise, diagnostics, trace)

    def f(x):
        return call(cost.compiled, x)

    place = (f, cost.minimum, cost.lower.tolist(), cost.upper.tolist(), length, offset)
    x_star = cost.minimisers[0]
    rng = Random.beside(np.random.default_rng(seed))
    if isinstance(algorithm, rc.UniformBins):
        expected = reference.algorithm_1(*place, steps, rng, draw, x_star)
    else:
        rule = (algorithm.alpha, algorithm.mu)
        deepest = deepest_level(cost, length)
        expected = reference.algorithm_2(*place, *rule, steps, rng, draw, deepest, x_star)
    stops = np.unique(np.linspace(0, steps, slices + 1).astype(int))[1:]
    for stop in stops.tolist():
        run.advance(stop)
        assert run.t == stop
        assert run.regret == expected.regret[stop - 1]
    np.testing.assert_array_equal(trace, expected.picks)
    np.testing.assert_array_equal(run.n[: run.cells], expected.n)
    assert run.rng.tolist() == rng.s  # both have drawn equally often
    return run, expected


@pytest.mark.parametrize(("name", "dim"), ZOO)
@pytest.mark.parametrize("alignment", ["random", "fixed"])
def test_zoo_against_reference(name, dim, alignment, any_seed):
    cost = zoo.get(name, dim=dim)
    for mu in ("min", "theorem"):
        compare(rc.AdaptiveBins(mu=mu), cost, any_seed, STEPS, alignment)
    compare(rc.UniformBins(), cost, any_seed, STEPS, alignment)


@pytest.mark.slow
@pytest.mark.skipif(INTERPRETED, reason="long runs need the compiler")
@pytest.mark.parametrize("name", ["cone", "quadratic"])
@pytest.mark.parametrize("dim", [1, 2, 3])
@pytest.mark.parametrize("alignment", ["random", "fixed"])
def test_long_runs_against_reference(name, dim, alignment, any_seed):
    cost = zoo.get(name, dim=dim)
    run, _ = compare(rc.AdaptiveBins(), cost, any_seed, 10_000, alignment)
    assert len(set(run.level[: run.cells].tolist())) >= 3
    compare(rc.UniformBins(), cost, any_seed, 10_000, alignment)
    for mu in (0.0, 1e6, "theorem"):
        run, _ = compare(rc.AdaptiveBins(mu=mu), cost, any_seed, 3_000, alignment)
    if (name, dim) == ("cone", 3):
        assert run.cells > 256  # more than the run had room for at first


@pytest.mark.slow
@pytest.mark.skipif(INTERPRETED, reason="long runs need the compiler")
@pytest.mark.parametrize(("name", "dim"), [("quadratic", 1), ("cone", 1), ("quadratic", 2), ("cone", 2)])
def test_a_million_steps_against_brute_force(name, dim, any_seed):
    cost, steps = zoo.get(name, dim=dim), 1_000_000
    for algorithm in (rc.AdaptiveBins().settle(cost), rc.UniformBins(width=0.15)):
        trace = np.empty(steps, dtype=np.int64)
        rng = np.random.default_rng(any_seed)
        run = algorithm.start(cost, algorithm.length(cost, steps, 0.4), [0.3] * dim, rng, STANDARD, trace=trace)
        rng = open_state(np.random.default_rng(any_seed).bit_generator.seed_seq)
        if isinstance(algorithm, rc.UniformBins):
            picks, regret = brute.uniform(run.value, cost.minimum, steps, rng)
        else:
            grid = run.lo[: run.cells].copy()
            rule = (run.side, run.bias, algorithm.alpha)
            picks, regret = brute.adaptive(cost.compiled, cost.minimum, grid, *rule, steps, rng, 1000)
        run.advance(steps)
        np.testing.assert_array_equal(trace, picks)
        assert run.regret == regret


@pytest.mark.parametrize("seed", range(2 if INTERPRETED else 20))
def test_many_seeds_against_reference(seed):
    for name in ("cone", "quadratic"):
        compare(rc.AdaptiveBins(), zoo.get(name, dim=2), seed, STEPS, "random")
        compare(rc.UniformBins(), zoo.get(name, dim=2), seed, STEPS, "random")


@pytest.mark.parametrize("a0", [1.9, 1.0, 2 / 3, 0.3])
@pytest.mark.parametrize("dim", [1, 2])
def test_initial_partitions_against_reference(a0, dim, any_seed):
    run, _ = compare(rc.AdaptiveBins(a0=a0), zoo.get("twin_cone", dim=dim), any_seed, STEPS, "fixed")
    assert run.cells >= np.ceil(2 / a0) ** dim


@pytest.mark.parametrize("alpha", [0.02, 0.3, 0.77, 1.5, 2.0])
def test_given_alpha_against_reference(alpha, any_seed):
    compare(rc.AdaptiveBins(alpha=alpha, mu=1.0), zoo.get("cone", dim=1), any_seed, STEPS, "random")


@pytest.mark.parametrize("noise", DRAWS, ids=lambda noise: type(noise).__name__)
def test_noise_laws_against_reference(noise, any_seed):
    for algorithm in (rc.AdaptiveBins(), rc.UniformBins()):
        compare(algorithm, zoo.get("quadratic", dim=2), any_seed, STEPS, "random", noise, DRAWS[noise])


def test_without_noise_equal_bounds_are_common_and_still_agree(any_seed):
    # a constant cost on a symmetric box: bins tie exactly, again and again
    silent = rc.Gaussian(0.0)
    flat = zoo.get("plateau", dim=2)
    for algorithm in (rc.AdaptiveBins(), rc.UniformBins(width=0.25)):
        compare(algorithm, flat, any_seed, STEPS, "fixed", silent, lambda rng: 0.0 * rng.standard_normal())


@pytest.mark.parametrize("slices", [2, 7, 100])
def test_slices_do_not_change_a_run(slices, any_seed):
    for algorithm in (rc.AdaptiveBins(), rc.UniformBins()):
        compare(algorithm, zoo.get("cone", dim=2), any_seed, STEPS, "random", slices=slices)


@pytest.mark.parametrize("algorithm", [rc.AdaptiveBins(mu=0.5), rc.UniformBins()], ids=["adaptive", "uniform"])
def test_diagnostics_against_reference(algorithm, any_seed):
    cost = zoo.get("cone", dim=2)
    run, expected = compare(algorithm, cost, any_seed, STEPS, "random", diagnostics=True)
    assert run.exceeded == expected.exceeded
    steps = np.diff(expected.regret, prepend=0.0)
    for level, pulls, cells, regret in run.levels():
        here = np.array(expected.levels) == level
        assert pulls == here.sum()
        assert cells == np.sum(expected.k == level)
        assert regret == pytest.approx(steps[here].sum(), rel=1e-9)  # the order of summation differs
    assert sum(pulls for _, pulls, _, _ in run.levels()) == STEPS
    np.testing.assert_array_equal(run.recommended(), run.centre(int(np.argmax(expected.n))))


@pytest.mark.slow
@pytest.mark.skipif(INTERPRETED, reason="this test starts the interpreted ones")
def test_same_results_without_the_compiler():
    tests = Path(__file__)
    done = subprocess.run(
        [sys.executable, "-m", "pytest", "-n", "0", "-x", "-q", "-p", "no:cacheprovider", str(tests)],
        cwd=tests.parent.parent,
        env=os.environ | {"NUMBA_DISABLE_JIT": "1", "RATECHECK_SEEDS": "1"},
        capture_output=True,
        text=True,
    )
    assert done.returncode == 0, done.stdout[-3000:] + done.stderr[-3000:]


@pytest.mark.skipif(INTERPRETED, reason="without a compiler there is one form only")
@pytest.mark.parametrize("algorithm", [rc.AdaptiveBins(), rc.HOO()], ids=lambda algorithm: algorithm.kind)
@pytest.mark.parametrize("cost", [zoo.get("cone", 3), zoo.get("weierstrass", 1)], ids=str)
def test_a_kernel_of_a_formulas_own_comes_to_the_same_bits(algorithm, cost, any_seed):
    settled = algorithm.settle(cost)
    stages = (500, 3_000, 20_000)
    regrets = []
    for change in (None, 0, 1):  # never, from the start, in the middle
        rng = np.random.default_rng(any_seed)
        offset = [0.3] * cost.dim
        run = settled.start(cost, settled.length(cost, stages[-1], 0.4), offset, rng, STANDARD, horizon=stages[-1])
        run.kernel.own.pop(run.formula, None)
        for stage, until in enumerate(stages):
            if stage == change:
                run.kernel.specialise(cost, run.formula)
            run.advance(until)
            regrets.append(run.regret)
    assert run.formula in run.kernel.own
    assert regrets[:3] == regrets[3:6] == regrets[6:]


@pytest.mark.skipif(INTERPRETED, reason="without a compiler there is one form only")
def test_a_formula_in_long_use_gets_a_kernel_of_its_own(monkeypatch):
    monkeypatch.setattr(Kernel, "PAYS_OFF", 1_000)

    def scaled(factor):
        return replace(zoo.get("cone", 1, centre=(0.0,)), formula=lambda x: factor * abs(x[0]), registered=False)

    one, other = scaled(1.0), scaled(2.0)  # two costs of one name, told apart by their formulas
    first, second = (rc.simulate(rc.AdaptiveBins(), cost, [900, 1_100, 1_500], 1).frame.regret for cost in (one, other))
    formulas = [formula for formula in adaptive_kernel.own if formula in (one, other)]
    assert len(formulas) == 2
    monkeypatch.setattr(Kernel, "PAYS_OFF", math.inf)
    for cost, found in ((one, first), (other, second)):
        del adaptive_kernel.own[cost]
        assert rc.simulate(rc.AdaptiveBins(), cost, [900, 1_100, 1_500], 1).frame.regret.equals(found)


@pytest.mark.skipif(INTERPRETED, reason="without a compiler there is one form only")
def test_a_formula_that_allocates_keeps_running(monkeypatch):
    """It cannot be written into a kernel, which counts no references, or it can: the regret is the same."""
    origin = zoo.get("cone", 2, centre=(0.0, 0.0))
    cost = replace(origin, formula=lambda x: np.abs(np.array([x[0], x[1]])).sum(), registered=False)
    expected = rc.simulate(rc.AdaptiveBins(), cost, [100, 1_100, 1_500], 1).frame.regret
    monkeypatch.setattr(Kernel, "PAYS_OFF", 1_000)
    assert rc.simulate(rc.AdaptiveBins(), cost, [100, 1_100, 1_500], 1).frame.regret.equals(expected)
    assert cost in adaptive_kernel.own
