"""Truncated HOO against its literal pseudo-code, to the last bit, and what it refuses and reports."""

import math
import os
import re
from dataclasses import replace

import numpy as np
import pytest
from numba import njit
from scipy.stats import binomtest, kstest

import function_zoo as zoo
import ratecheck as rc
from ratecheck.algorithms.hoo import HOO, LINE, LINES, NEXT, NODE, NODE_BYTES, B, N, hoo_kernel
from ratecheck.algorithms.partition import deepest_level
from ratecheck.algorithms.run import values
from tests import reference_hoo
from tests.reference_random import Random
from tests.test_exactness import DRAWS, STANDARD, standard_normal

INTERPRETED = bool(os.environ.get("NUMBA_DISABLE_JIT"))
STEPS = 100 if INTERPRETED else 400
QUADRATIC = zoo.get("quadratic", dim=2)


@njit
def call(f, x):
    return f(x)


def begin(algorithm, cost, seed, horizon, alignment="random", noise=STANDARD, **others):
    """A run, the length of its cube and its offset."""
    fraction, offset = 0.0, [0.0] * cost.dim
    if alignment == "random":
        where = np.random.default_rng([seed, 1])
        fraction, offset = where.random(), where.random(cost.dim).tolist()
    length = algorithm.length(cost, horizon, fraction)
    rng = np.random.default_rng(seed)
    return algorithm.start(cost, length, offset, rng, noise, horizon=horizon, **others), length, offset


def nodes(run):
    """(h, i): place, for every node of the tree of a run."""
    link = run.tree.view(np.int64)
    found, waiting = {}, [(0, 1, 0)]
    while waiting:
        h, i, place = waiting.pop()
        visits = run.tree[place + N]
        if visits > 0:
            found[h, i] = place
        if visits > (h > 0) and h < run.depth:
            child = int(link[place + NEXT])
            line = max(child, ~child) // LINE * LINE
            waiting += [(h + 1, 2 * i - 1, line), (h + 1, 2 * i, line + NODE)]
    return found


def compare(algorithm, cost, seed, steps=STEPS, alignment="random", noise=STANDARD, draw=standard_normal, horizon=None,
            slices=1, diagnostics=False):  # fmt: skip
    """The run and the reference, after comparing every pick, the regret of every slice and, at last, every node."""
    algorithm = algorithm.settle(cost)
    horizon = horizon or steps
    trace = np.full(steps, -1)
    run, length, offset = begin(algorithm, cost, seed, horizon, alignment, noise, trace=trace, diagnostics=diagnostics)

    def f(x):
        return call(cost.compiled, x)

    rng = Random.beside(np.random.default_rng(seed))
    place = (f, cost.minimum, cost.lower.tolist(), cost.upper.tolist(), length, offset)
    rule = (algorithm.nu, algorithm.rho, algorithm.sigma, horizon, steps)
    expected = reference_hoo.truncated_hoo(*place, *rule, rng, draw, cost.dim * deepest_level(cost, length))
    for stop in np.unique(np.linspace(0, steps, slices + 1).astype(int))[1:].tolist():
        run.advance(stop)
        assert run.t == stop
        assert run.regret == expected.regret[stop - 1]
    np.testing.assert_array_equal(trace, expected.picks)
    assert run.rng.tolist() == rng.s  # both have drawn equally often
    assert run.depth == expected.D
    assert run.cells == len(expected.tree)
    assert run.exceeded == expected.exceeded
    found = nodes(run)
    assert {node: run.tree[place + N] for node, place in found.items()} == expected.N
    assert {node: run.tree[place + B] for node, place in found.items()} == expected.B
    return run, expected


@pytest.mark.parametrize("dim", [1, 2, 3])
@pytest.mark.parametrize("name", ["quadratic", "cone", "cusp"])
@pytest.mark.parametrize("alignment", ["random", "fixed"])
def test_costs_against_reference(name, dim, alignment, any_seed):
    for nu in ("min", "theorem"):
        compare(HOO(nu=nu), zoo.get(name, dim=dim), any_seed, alignment=alignment)


@pytest.mark.parametrize("alignment", ["random", "fixed"])
def test_branin_against_reference(alignment, any_seed):
    compare(HOO(), zoo.get("branin", dim=2), any_seed, alignment=alignment)


def test_a_box_that_is_no_cube_against_reference(any_seed):
    cost = zoo.get("six_hump_camel", dim=2)
    for alignment in ("fixed", "random"):
        compare(HOO(), cost, any_seed, alignment=alignment)
    rule = HOO(nu=50.0).settle(cost)
    run = rule.start(cost, 12.0, [0.3, 0.75], np.random.default_rng(any_seed), STANDARD, horizon=10)
    np.testing.assert_array_equal(run.width[0], [12.0, 8.0])
    np.testing.assert_array_equal(run.corner, [-3.0 - 0.3 * 6.0, -2.0 - 0.75 * 4.0])


@pytest.mark.slow
@pytest.mark.skipif(INTERPRETED, reason="long runs need the compiler")
@pytest.mark.parametrize(("name", "dim"), [("cone", 3), ("quadratic", 2)])
def test_long_runs_against_reference(name, dim, any_seed):
    run, _ = compare(HOO(), zoo.get(name, dim=dim), any_seed, 2000, slices=3)
    assert run.cells > 256  # more than the run had room for at first


@pytest.mark.parametrize("seed", range(2 if INTERPRETED else 20))
def test_many_seeds_against_reference(seed):
    compare(HOO(), zoo.get("cone", dim=2), seed, 200)
    compare(HOO(), QUADRATIC, seed, 200)


@pytest.mark.parametrize("noise", DRAWS, ids=lambda noise: type(noise).__name__)
def test_noise_laws_against_reference(noise, any_seed):
    compare(HOO(sigma=noise.sigma), QUADRATIC, any_seed, noise=noise, draw=DRAWS[noise])


@pytest.mark.parametrize(
    "algorithm",
    [HOO(sigma=0.5), HOO(sigma=1e-3), HOO(sigma=30), HOO(nu=0.1), HOO(nu=1e4), HOO(rho=0.05), HOO(rho=0.99)],
    ids=str,
)
def test_settings_against_reference(algorithm, any_seed):
    for cost in (zoo.get("cone", dim=1), QUADRATIC):
        compare(algorithm, cost, any_seed)


@pytest.mark.parametrize("horizon", [1, 2, 10**9])
def test_horizons_other_than_the_steps_against_reference(horizon, any_seed):
    # n0 = 1 has no bonus, and a run may be taken further than its horizon
    compare(HOO(), QUADRATIC, any_seed, horizon=horizon)


def test_without_noise_ties_are_common_and_still_agree(any_seed):
    # all rewards are 0: siblings that were visited equally often tie exactly, again and again
    known = QUADRATIC.constants
    flat = zoo.Cost("flat", 2, lambda x: 0.0 * x[0], [-1.0, -1.0], [1.0, 1.0], 0.0, [[0.0, 0.0]], known)
    silent, zero = rc.Gaussian(0.0), lambda rng: 0.0 * rng.standard_normal()
    for nu in (0.1, 1.0, 10.0):
        _, expected = compare(HOO(nu=nu), flat, any_seed, noise=silent, draw=zero)
        assert any(b == expected.B.get((h, i + 1)) for (h, i), b in expected.B.items() if i % 2)


def test_the_depth_cap_against_reference(any_seed):
    run, expected = compare(HOO(nu=0.5, rho=0.5), zoo.get("cone", dim=1), any_seed, 1000, "fixed", diagnostics=True)
    assert run.depth == math.ceil((math.log(1000) / 2 - math.log(2)) / math.log(2)) == 4
    assert max(expected.depths) == 4
    assert run.cells < 2**5 <= 1000 - run.levels()[-1][1] + 2**5
    assert run.complaint() is None
    run, _ = compare(HOO(nu=1e-9), QUADRATIC, any_seed)
    assert (run.depth, run.cells) == (1, 3)


def test_nodes_too_deep_for_floating_point_get_no_children(any_seed):
    # a bonus so small and a cost so steep that every path leads to the minimiser
    steep = zoo.get("cone", dim=1, scale=1e17)
    silent, zero = rc.Gaussian(0.0), lambda rng: 0.0 * rng.standard_normal()
    rule = HOO(nu=1e17, rho=0.499)
    run, _ = compare(rule, steep, any_seed, 300, noise=silent, draw=zero, horizon=10**4)
    assert run.depth == deepest_level(steep, run.width[0, 0]) < rule.full_depth(steep, 10**4, run.width[0, 0])
    assert "as short as floating-point numbers resolve" in run.complaint()
    assert compare(HOO(), QUADRATIC, any_seed, 50)[0].complaint() is None


@pytest.mark.parametrize("slices", [2, 7, 400])
def test_slices_do_not_change_a_run(slices, any_seed):
    compare(HOO(), zoo.get("cone", dim=2), any_seed, slices=slices)


@pytest.mark.skipif(INTERPRETED, reason="long runs need the compiler")
def test_interruptions_do_not_change_a_long_run(any_seed):
    cost, steps = zoo.get("cone", dim=3), 100_000
    rule = HOO().settle(cost)
    whole, parts = (begin(rule, cost, any_seed, steps)[0] for _ in range(2))
    whole.advance(steps)
    for stop in range(1, steps + 1, 37):
        parts.advance(stop)
    parts.advance(steps)
    assert parts.regret == whole.regret
    assert parts.cells == whole.cells > 50_000
    used = int(whole.state[LINES]) * LINE
    np.testing.assert_array_equal(parts.tree[:used], whole.tree[:used])
    assert used * 8 < NODE_BYTES / 2 * whole.cells
    assert whole.tree.nbytes < 1.5 * used * 8 + 1000  # memory is the nodes


@pytest.mark.parametrize("algorithm", [HOO(), HOO(nu=0.5)], ids=["deep", "capped"])
def test_diagnostics_against_reference(algorithm, any_seed):
    cost = zoo.get("cone", dim=2)
    run, expected = compare(algorithm, cost, any_seed, diagnostics=True)
    plain, _ = compare(algorithm, cost, any_seed)
    assert plain.levels() == []
    assert (plain.regret, plain.exceeded) == (run.regret, run.exceeded)
    steps = np.diff(expected.regret, prepend=0.0)
    for h, pulls, cells, regret in run.levels():
        here = np.array(expected.depths) == h
        assert pulls == here.sum()
        assert cells == sum(node[0] == h for node in expected.tree)
        assert regret == pytest.approx(steps[here].sum(), rel=1e-9)  # the order of summation differs
    assert sum(pulls for _, pulls, _, _ in run.levels()) == STEPS
    assert sum(cells for _, _, cells, _ in run.levels()) == run.cells


def test_a_bound_that_contradicts_the_minimum_is_counted(any_seed):
    # without slack and almost without bonus the bound of the root is its mean
    run, _ = compare(HOO(nu=1e-6, sigma=1e-6), QUADRATIC, any_seed)
    assert run.exceeded > STEPS / 2
    assert compare(HOO(nu="theorem"), QUADRATIC, any_seed)[0].exceeded == 0


@pytest.mark.parametrize("dim", [1, 2, 3])
@pytest.mark.parametrize("nu", ["min", 0.5])
def test_recommended_point_against_reference(dim, nu, any_seed):
    run, expected = compare(HOO(nu=nu), zoo.get("cone", dim=dim), any_seed)
    h, i = 0, 1
    while max(expected.N.get((h + 1, 2 * i - 1), 0), expected.N.get((h + 1, 2 * i), 0)) > 0:
        upper = expected.N.get((h + 1, 2 * i), 0) > expected.N.get((h + 1, 2 * i - 1), 0)
        h, i = h + 1, 2 * i - 1 + upper
    corner, side = reference_hoo.cell(h, i, expected.corner, run.width[0].tolist())
    np.testing.assert_array_equal(run.recommended(), [low + a / 2 for low, a in zip(corner, side, strict=True)])


@pytest.mark.skipif(INTERPRETED, reason="long runs need the compiler")
def test_recommended_points_get_better():
    cost = zoo.get("cone", dim=1)
    rule = HOO().settle(cost)

    def error(horizon, seed):
        run, _, _ = begin(rule, cost, seed, horizon)
        run.advance(horizon)
        return float(values(cost.compiled, run.recommended()[None])[0]) - cost.minimum

    early, late = (np.mean([error(horizon, seed) for seed in range(8)]) for horizon in (100, 100_000))
    assert 0 <= late < early


def test_before_its_first_step_a_run_recommends_the_middle():
    run, _, _ = begin(HOO().settle(QUADRATIC), QUADRATIC, 0, 10, "fixed")
    assert (run.cells, run.regret, run.exceeded) == (1, 0.0, 0)
    np.testing.assert_array_equal(run.recommended(), [0.0, 0.0])


def test_the_first_query_is_uniform_in_the_cube_and_the_second_in_either_half(any_seed):
    # false alarms: three tests at 1e-6 each
    rule = HOO().settle(QUADRATIC)
    firsts, seconds = [], []
    for seed in range(1000):
        rng = np.random.default_rng([any_seed, seed])
        run = rule.start(QUADRATIC, 3.0, [0.25, 0.5], rng, STANDARD, horizon=100)
        run.advance(1)
        firsts.append(run.x.copy())
        run.advance(2)
        seconds.append(run.x[0] < run.corner[0] + 1.5)
    for q, low in enumerate((-1.25, -1.5)):
        assert kstest(np.array(firsts)[:, q], "uniform", args=(low, 3.0)).pvalue > 1e-6
    assert binomtest(int(np.sum(seconds)), len(seconds), 0.5).pvalue > 1e-6


# Settings


def test_settings_are_spelt_out():
    known = QUADRATIC.constants
    rule = HOO().settle(QUADRATIC)
    assert rule == HOO(nu="min").settle(QUADRATIC) == rule.settle(QUADRATIC)
    assert rule.nu == pytest.approx(known.mu_min * 2**2 * 2)  # side^alpha 2^(alpha (d - 1) / d)
    assert rule.rho == 0.5  # 2^(-alpha / d)
    assert str(rule) == f"HOO(nu={rule.nu!r}, rho=0.5, sigma=1.0)"
    assert str(HOO(nu=1, rho=0.25, sigma=2).settle(QUADRATIC)) == "HOO(nu=1.0, rho=0.25, sigma=2.0)"
    assert HOO(nu="theorem").settle(QUADRATIC).nu > 10 * rule.nu
    assert HOO(rho=0.3).settle(QUADRATIC).nu == rule.nu
    assert math.isnan(rule.period(QUADRATIC))
    assert not HOO.anytime
    assert HOO.compiled


def test_a_longer_cube_has_a_larger_nu():
    rule = HOO().settle(QUADRATIC)
    assert [rule.length(QUADRATIC, 10, u) for u in (0.0, 0.5)] == [2.0, 2.0 * 2**0.5]
    assert rule.nu_of(QUADRATIC, 2.0) == rule.nu
    assert rule.nu_of(QUADRATIC, 4.0) == 4 * rule.nu  # alpha = 2
    # two depths of a square make it half as long: the same cells, the same slack
    small, _, _ = begin(rule, QUADRATIC, 0, 100, "fixed")
    large = rule.start(QUADRATIC, 4.0, [0.0, 0.0], np.random.default_rng(0), STANDARD, horizon=100)
    np.testing.assert_array_equal(large.width[2:], small.width)
    np.testing.assert_allclose(large.slack[2:], small.slack, rtol=1e-15)


@pytest.mark.parametrize(
    ("settings", "message"),
    [
        ({"nu": 0}, "nu = 0 must lie in (0, 1e100]"),
        ({"nu": -1.0}, "nu = -1.0 must lie in (0, 1e100]"),
        ({"nu": math.inf}, "nu = inf must lie in (0, 1e100]"),
        ({"nu": math.nan}, "nu = nan must lie in (0, 1e100]"),
        ({"nu": "max"}, "nu = 'max' must be a number, 'min' or 'theorem'"),
        ({"nu": [1.0]}, "nu = [1.0] must lie"),
        ({"rho": 0}, "rho = 0 must lie strictly between 0 and 1"),
        ({"rho": 1.0}, "rho = 1.0 must lie strictly between 0 and 1"),
        ({"rho": "a"}, "rho = 'a' must lie"),
        ({"sigma": 0}, "sigma = 0 must lie in (0, 1e100]"),
        ({"sigma": math.inf}, "sigma = inf must lie"),
        ({"sigma": None}, "sigma = None must lie"),
    ],
)
def test_bad_settings_are_refused_when_they_are_made(settings, message):
    with pytest.raises(ValueError, match=re.escape(message)) as error:
        HOO(**settings)
    assert "\n" not in str(error.value)


def test_cubes_that_leave_the_margin_are_refused():
    HOO().settle(QUADRATIC).check(QUADRATIC, 10**6, True)
    camel = zoo.get("six_hump_camel", dim=2)
    rule = HOO().settle(camel)
    rule.check(camel, 1000, True)
    narrow = replace(camel, constants=replace(camel.constants, A=5.0))
    rule.check(narrow, 1000, False)
    with pytest.raises(ValueError, match=r"X of length 12 may reach 6 beyond the box, .* A = 5 .*'fixed'"):
        rule.check(narrow, 1000, True)


def test_trees_too_large_for_memory_are_refused():
    deep, shallow = HOO().settle(zoo.get("cone", dim=3)), HOO().settle(zoo.get("quadratic", dim=1))
    with pytest.raises(ValueError, match=r"may hold 1e\+09 nodes at T = 1000000000 \(depth \d+\), about 86 GB"):
        deep.check(zoo.get("cone", dim=3), 10**9, False)
    deep.check(zoo.get("cone", dim=3), 10**7, False)
    shallow.check(zoo.get("quadratic", dim=1), 10**9, True)


def test_a_horizon_is_needed():
    with pytest.raises(ValueError, match="must know its horizon"):
        HOO().settle(QUADRATIC).start(QUADRATIC, 2.0, [0.0] * 2, np.random.default_rng(0), STANDARD)


@pytest.mark.skipif(INTERPRETED, reason="without the compiler numpy warns first")
@pytest.mark.parametrize(
    ("formula", "minimum", "message"),
    [
        (lambda x: np.sqrt(x[0] - 0.5), 0.0, "custom.* is nan at x = .*; a cost must be finite"),
        (lambda x: np.exp(1e4 * (x[0] + 1)), 0.0, "is inf at x ="),
        (lambda x: (x[0] - 0.3) ** 2, 5.0, "below its minimum 5; correct one of them"),
    ],
)
def test_impossible_costs_are_refused(formula, minimum, message):
    cost = zoo.Cost("custom", 1, formula, [-1.0], [1.0], minimum, [[0.3]], zoo.get("quadratic", dim=1).constants)
    run, _, _ = begin(HOO().settle(cost), cost, 0, 1000)
    with pytest.raises(ValueError, match=message):
        run.advance(1000)


@pytest.mark.skipif(INTERPRETED, reason="nothing is compiled")
def test_one_compiled_kernel_serves_all_costs():
    for cost in (QUADRATIC, zoo.get("cone", dim=3)):
        begin(HOO().settle(cost), cost, 0, 10)[0].advance(10)
    assert len(hoo_kernel.general.signatures) == 1
