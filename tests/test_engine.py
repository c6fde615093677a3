"""simulate: the table it returns, the seeds behind it, what it refuses and how it stops."""

import math
import re
import shutil
import signal
import subprocess
import sys
import time
import tracemalloc
from pathlib import Path

import numpy as np
import pandas as pd
import pytest
from scipy.stats import binomtest, chisquare, kstest, norm, t, uniform

import function_zoo as zoo
import ratecheck as rc
from ratecheck.algorithms import partition
from ratecheck.algorithms.run import values
from ratecheck.engine import simulate as engine
from ratecheck.sampling import seeding
from ratecheck.sampling.noise import draw

QUADRATIC = zoo.get("quadratic", dim=2)


def simulate(algorithm=None, cost=QUADRATIC, horizons=(100, 1000), replicates=3, **others):
    return rc.simulate(algorithm or rc.AdaptiveBins(), cost, horizons, replicates, **others)


def test_one_row_per_replicate_and_horizon():
    for algorithm, anytime in ((rc.AdaptiveBins(), True), (rc.UniformBins(), False)):
        frame = simulate(algorithm).frame
        assert frame.replicate.tolist() == [0, 0, 1, 1, 2, 2]
        assert frame.horizon.tolist() == [100, 1000] * 3
        assert frame.anytime.tolist() == [anytime] * 6
        assert np.all(np.isfinite(frame.regret) & (frame.regret > 0))
        own = ["replicate", "horizon", "regret", "cells", "side", "anytime", "stream"]
        shared = ["cost", "dim", "algorithm", "noise", "alignment", "seed", "series", "period"]
        assert list(frame) == [*own, *shared]


def test_anytime_regret_does_not_depend_on_the_other_horizons():
    together = simulate(horizons=[10, 500, 2000]).frame
    alone = simulate(horizons=[500]).frame
    assert together.regret[together.horizon == 500].tolist() == alone.regret.tolist()


def test_uniform_bins_take_theorem_1s_width():
    frame = simulate(rc.UniformBins(), zoo.get("cone", dim=2), alignment="fixed").frame
    # d + 2 alpha - alpha min{beta, 1} = 3
    assert frame.cells.tolist() == [round(100 ** (1 / 3)) ** 2, 10**2] * 3


@pytest.mark.parametrize("algorithm", [rc.AdaptiveBins(), rc.UniformBins()], ids=["adaptive", "uniform"])
def test_results_do_not_depend_on_workers_or_company(algorithm):
    runs = [simulate(algorithm, replicates=8, workers=w).frame for w in (1, 2, 5)]
    assert runs[0].equals(runs[1])
    assert runs[0].equals(runs[2])
    some = simulate(algorithm, replicates=[6, 3], horizons=[1000]).frame
    everything = simulate(algorithm, replicates=8, horizons=[1000]).frame.set_index("replicate")
    assert some.regret.tolist() == everything.regret[[6, 3]].tolist()


def test_every_name_changes_the_numbers():
    base = {"algorithm": rc.AdaptiveBins(), "cost": QUADRATIC, "seed": 0}
    changes = [
        {},
        {"seed": 1},
        {"algorithm": rc.AdaptiveBins(mu=1.0)},
        {"algorithm": rc.AdaptiveBins(a0=1.0)},
        {"cost": zoo.get("quadratic", dim=2, scale=10.5)},
        {"cost": zoo.get("quadratic", dim=3)},
    ]
    regrets = [tuple(simulate(**(base | change)).frame.regret) for change in changes]
    assert len({r for row in regrets for r in row}) == 6 * len(changes)


def test_spelling_out_a_default_changes_nothing():
    c = QUADRATIC.constants
    spelt = rc.AdaptiveBins(alpha=2, mu=c.mu_min, a0=2)
    assert simulate(spelt).frame.equals(simulate().frame)
    assert simulate(rc.AdaptiveBins(mu="min")).frame.equals(simulate().frame)
    assert rc.AdaptiveBins(mu="theorem").settle(QUADRATIC).mu == (1 + 2**4) * c.M


def test_noise_laws_share_their_streams():
    # without noise the laws differ only in what they draw, so the first query is the same
    frames = [simulate(horizons=[1], noise=law(0.5)).frame for law in (rc.Gaussian, rc.Uniform, rc.Rademacher)]
    assert frames[0].regret.tolist() == frames[1].regret.tolist() == frames[2].regret.tolist()


def test_streams_of_different_names_differ():
    names = [("a", 1), ("a", 11), ("a1", 1), ("a", 1, 1), (1, "a")]
    draws = {seeding.stream(seed, *name).random() for name in names for seed in (0, 1)}
    assert len(draws) == 2 * len(names)
    assert seeding.stream(3, "a", 1).random() == seeding.stream(3, "a", 1).random()


def test_a0_is_stratified_over_the_octave():
    for replicates in (range(16), range(32, 48)):
        side = simulate(horizons=[1], replicates=replicates).frame.side
        strata = np.floor(-np.log2(side / QUADRATIC.side) * 16).astype(int)
        assert sorted(strata) == list(range(16))


def test_fixed_alignment_starts_at_the_corner():
    frame = simulate(horizons=[1], alignment="fixed").frame
    assert frame.side.tolist() == [2.0] * 3
    assert frame.cells.tolist() == [1] * 3


def test_offsets_are_uniform_in_one_cell(any_seed):
    cost = zoo.get("cone", dim=1)
    algorithm = rc.UniformBins(width=0.5).settle(cost)
    offsets = [seeding.stream(any_seed, cost, algorithm, 10, r, "offset").random() for r in range(500)]
    assert kstest(offsets, uniform.cdf).pvalue > 1e-6


def test_the_partition_covers_the_box_with_cells_that_touch_it(any_seed):
    rng = np.random.default_rng(any_seed)
    for name, dim in (("branin", 2), ("cone", 3), ("quadratic", 1)):
        cost = zoo.get(name, dim=dim)
        for _ in range(20):
            length = cost.side * rng.uniform(0.1, 1)
            lo = partition.grid(cost, length, rng.random(dim).tolist())
            assert np.all(lo < cost.upper)
            assert np.all(lo + length > cost.lower)
            x = rng.uniform(cost.lower, cost.upper, (50, dim))
            inside = np.all((lo <= x[:, None]) & (x[:, None] < lo + length), axis=2)
            assert np.all(inside.sum(axis=1) == 1)


def test_unvisited_cells_are_picked_in_random_order(any_seed):
    cost = zoo.get("cone", dim=2)
    firsts = []
    for seed in range(400):
        trace = np.zeros(1, dtype=np.int64)
        rng = np.random.default_rng([any_seed, seed])
        rc.UniformBins().start(cost, 1.0, [0.0, 0.0], rng, rc.Gaussian(), trace=trace).advance(1)
        firsts.append(trace[0])
    assert chisquare(np.bincount(firsts, minlength=4)).pvalue > 1e-6


def test_noise_laws_have_their_distribution(any_seed):
    rng = np.random.default_rng(any_seed)

    def sample(law):
        return np.array([draw(*law.numbers, rng) for _ in range(4000)])

    assert kstest(sample(rc.Gaussian(2.0)), norm(scale=2.0).cdf).pvalue > 1e-6
    assert kstest(sample(rc.Uniform(2.0)), uniform(-math.sqrt(12), 2 * math.sqrt(12)).cdf).pvalue > 1e-6
    assert kstest(sample(rc.StudentT(2.0, dof=6.0)), t(6, scale=2.0 * math.sqrt(4 / 6)).cdf).pvalue > 1e-6
    signs = sample(rc.Rademacher(2.0))
    assert set(signs) == {-2.0, 2.0}
    assert binomtest(int(np.sum(signs > 0)), len(signs), 0.5).pvalue > 1e-6


def test_recommended_points_get_better():
    frame = simulate(cost=zoo.get("cone", dim=1), horizons=[100, 100_000], diagnostics=True).frame
    early, late = (frame.error[frame.horizon == h].mean() for h in (100, 100_000))
    assert 0 <= late < early


def test_diagnostics_add_up_and_change_nothing():
    for algorithm in (rc.AdaptiveBins(), rc.UniformBins()):
        plain, full = simulate(algorithm), simulate(algorithm, diagnostics=True)
        assert plain.frame.equals(full.frame[plain.frame.columns])
        assert len(plain.levels) == 0
        by_run = full.levels.groupby(["replicate", "horizon"])[["pulls", "cells", "regret"]].sum()
        totals = full.frame.set_index(["replicate", "horizon"])
        assert by_run.pulls.tolist() == [100, 1000] * 3
        assert by_run.cells.equals(totals.cells)
        np.testing.assert_allclose(by_run.regret, totals.regret, rtol=1e-12)


# What is refused, and how


def custom(formula, minimum=0.0, name="custom"):
    return zoo.Cost(
        name=name,
        dim=1,
        formula=formula,
        lower=[-1.0],
        upper=[1.0],
        minimum=minimum,
        minimisers=[[0.3]],
        constants=QUADRATIC.constants,
    )


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        ({"horizons": [0, 10]}, "horizon = 0 must be a whole number, 1 or larger"),
        ({"horizons": [-5]}, "horizon = -5 must be"),
        ({"horizons": []}, "horizons is empty"),
        ({"horizons": [1.5]}, "horizon = 1.5 must be a whole number"),
        ({"horizons": ["10"]}, "horizon = '10' must be a whole number"),
        ({"horizons": [100, 10]}, "horizons must increase, but 10 comes after 100"),
        ({"horizons": [10, 10]}, "horizons must increase, but 10 comes twice"),
        ({"horizons": [2**53 + 1]}, "exceeds 2^53"),
        ({"replicates": 0}, "replicates = 0 must be a whole number, 1 or larger"),
        ({"replicates": [1, 1]}, "none twice"),
        ({"replicates": []}, "at least one replicate"),
        ({"workers": 0}, "workers = 0 must be"),
        ({"seed": -1}, "seed = -1 must be"),
        ({"seed": 0.5}, "seed = 0.5 must be a whole number"),
        ({"alignment": "centre"}, "alignment = 'centre' must be 'random' or 'fixed'"),
        ({"noise": 1.0}, "noise = 1.0 is no noise law"),
        ({"algorithm": rc.UniformBins}, "UniformBins is a class; write UniformBins(...), an instance"),
        ({"algorithm": rc.UniformBins(width=2 / 31623)}, "makes up to 1e+09 cells in dimension 2"),
        ({"algorithm": rc.AdaptiveBins(a0=1e-9)}, "take longer cells"),
        ({"cost": zoo.get("cone", dim=16)}, "4.3e+07 cells in dimension 16, about 9.8 GB; take longer cells"),
        ({"algorithm": rc.AdaptiveBins(a0=2.5)}, "may reach 2.5 beyond the box"),
        ({"algorithm": rc.UniformBins(width=5.0), "alignment": "fixed"}, "may reach 3 beyond the box"),
    ],
)
def test_bad_arguments_are_refused_in_one_sentence_before_any_work(arguments, message, monkeypatch):
    monkeypatch.setattr(engine.Job, "run", lambda *_, **__: pytest.fail("work was started"))
    with pytest.raises(ValueError, match=re.escape(message)) as error:
        simulate(**arguments)
    assert "\n" not in str(error.value)


@pytest.mark.parametrize(
    ("make", "message"),
    [
        (lambda: rc.AdaptiveBins(alpha=0), "alpha = 0 must lie in (0, 2]"),
        (lambda: rc.AdaptiveBins(alpha=2.1), "alpha = 2.1 must lie in (0, 2]"),
        (lambda: rc.AdaptiveBins(alpha=math.nan), "alpha = nan must lie in (0, 2]"),
        (lambda: rc.AdaptiveBins(mu=-1), "mu = -1 must lie in [0, 1e100]"),
        (lambda: rc.AdaptiveBins(mu=math.inf), "mu = inf must lie in [0, 1e100]"),
        (lambda: rc.AdaptiveBins(mu="max"), "mu = 'max' must be a number, 'min' or 'theorem'"),
        (lambda: rc.AdaptiveBins(a0=0), "a0 = 0 must be a positive length"),
        (lambda: rc.AdaptiveBins(a0=-2), "a0 = -2 must be a positive length"),
        (lambda: rc.UniformBins(width=0), "width = 0 must be a positive length"),
        (lambda: rc.Gaussian(-1.0), "sigma = -1.0 must lie in [0, 1e100]"),
        (lambda: rc.StudentT(dof=2.0), "dof = 2.0 must exceed 2"),
    ],
)
def test_bad_settings_are_refused_when_they_are_made(make, message):
    with pytest.raises(ValueError, match=re.escape(message)):
        make()


def test_costs_that_are_not_finite_are_refused():
    with pytest.raises(ValueError, match=r"custom\(dim=1\) is nan at x = .*; a cost must be finite"):
        simulate(cost=custom(lambda x: np.sqrt(x[0] - 0.5)))
    with pytest.raises(ValueError, match="is inf at x ="):
        simulate(cost=custom(lambda x: np.exp(1e4 * x[0])))


def test_costs_below_their_minimum_are_refused():
    with pytest.raises(ValueError, match=r"below its minimum 5; correct one of them"):
        simulate(cost=custom(lambda x: (x[0] - 0.3) ** 2, minimum=5.0))


def test_a_bad_value_that_only_the_run_finds_stops_it():
    # nan on an interval of length 1e-5 around the minimiser, which no probe but every search hits
    def formula(x):
        return (x[0] - 0.3) ** 2 + 0.0 * np.sqrt(np.abs(x[0] - 0.300001) - 2e-7)

    with pytest.raises(ValueError, match="is nan at x = "):
        simulate(cost=custom(formula, name="hole"), horizons=[10**7], replicates=1)


def test_levels_too_deep_for_floating_point_are_not_split():
    steep = zoo.get("cone", dim=1, scale=1e17)  # so steep that every split leads towards the minimiser
    with pytest.warns(RuntimeWarning, match="as short as floating-point numbers resolve"):
        runs = simulate(rc.AdaptiveBins(alpha=0.02, mu=0.0), steep, [30_000], diagnostics=True)
    assert np.all(np.isfinite(runs.frame.regret))
    assert 35 < runs.levels.level.max() < 60


# Time and memory


def test_memory_is_the_cells_and_not_the_steps():
    cost = zoo.get("cone", dim=3)
    algorithm = rc.AdaptiveBins(mu="theorem").settle(cost)
    algorithm.start(cost, 2.0, [0.0] * 3, np.random.default_rng(0), rc.Gaussian()).advance(10)
    tracemalloc.start()
    run = algorithm.start(cost, 2.0, [0.0] * 3, np.random.default_rng(0), rc.Gaussian())
    run.advance(10**6)
    peak = tracemalloc.get_traced_memory()[1]
    cells = run.cells
    run.advance(1_000_100)
    assert cells > 20_000
    assert peak / cells < 256
    tracemalloc.reset_peak()
    before = tracemalloc.get_traced_memory()[0]
    few = rc.AdaptiveBins().settle(QUADRATIC).start(QUADRATIC, 2.0, [0.0] * 2, np.random.default_rng(0), rc.Gaussian())
    few.advance(10**6)
    assert tracemalloc.get_traced_memory()[1] - before < 100_000
    tracemalloc.stop()


def python(code, **others):
    return subprocess.Popen(
        [sys.executable, "-c", code], stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True, **others
    )


def test_interrupt_stops_running_kernels():
    code = (
        "import ratecheck as rc, function_zoo as zoo\n"
        "cost = zoo.get('cone', dim=3)\n"
        "rc.simulate(rc.AdaptiveBins(), cost, [10], replicates=1)\n"
        "print('compiled', flush=True)\n"
        "rc.simulate(rc.AdaptiveBins(mu='theorem'), cost, [10**12], replicates=4, workers=2)\n"
    )
    process = python(code)
    assert process.stdout.readline() == "compiled\n"
    time.sleep(1.0)
    process.send_signal(signal.SIGINT)
    sent = time.perf_counter()
    _, errors = process.communicate(timeout=30)
    assert time.perf_counter() - sent < 3.0
    assert "KeyboardInterrupt" in errors


def test_second_process_does_not_compile():
    code = (
        "import ratecheck as rc, function_zoo as zoo\n"
        "from ratecheck.algorithms.adaptive import adaptive_kernel\n"
        "from ratecheck.algorithms.uniform import uniform_kernel\n"
        "for name in ('cone', 'quadratic'):\n"
        "    for algorithm in (rc.AdaptiveBins(), rc.UniformBins()):\n"
        "        rc.simulate(algorithm, zoo.get(name, dim=2), [100], replicates=2)\n"
        "for kernel in (adaptive_kernel.general, uniform_kernel):\n"
        "    print(sum(kernel.stats.cache_misses.values()), sum(kernel.stats.cache_hits.values()))\n"
    )
    for _ in range(2):
        out, errors = python(code).communicate()
        assert errors == ""
    assert out == "0 1\n0 1\n"


def test_import_does_not_wait_for_the_compiler():
    out, errors = python("import sys, ratecheck; print('numba' in sys.modules, 'pandas' in sys.modules)").communicate()
    assert (out, errors) == ("False False\n", "")


def test_the_table_says_what_a_fit_needs_to_know():
    # 16 for alpha = 2 and 4 for alpha = 1 when beta = d/alpha; uniform bins have no period
    horizons = [2**k for k in range(5, 13)]
    for name, period in (("quadratic", 16.0), ("cone", 4.0)):
        runs = simulate(cost=zoo.get(name, dim=2), horizons=horizons)
        assert set(runs.frame.period) == {period}
        assert rc.fit_rate(runs).period == period
        assert rc.fit_rate(runs, period=None).period is None
    uniform = simulate(rc.UniformBins(), horizons=horizons)
    assert rc.fit_rate(uniform).period is None
    assert uniform.frame.stream.nunique() == len(uniform.frame)
    loud = simulate(horizons=horizons, noise=rc.Gaussian(2.0))
    quiet = simulate(horizons=horizons)
    assert set(loud.frame.stream) == set(quiet.frame.stream)
    assert loud.frame.stream.nunique() == loud.frame.replicate.nunique()
    with pytest.raises(rc.FitError, match="different noise"):
        rc.fit_rate(pd.concat([loud.frame, quiet.frame.assign(replicate=quiet.frame.replicate + 10)]))


@pytest.mark.parametrize(
    ("change", "message"),
    [
        ({"cost": "cone"}, "is no cost"),
        ({"algorithm": rc.UniformBins}, "UniformBins is a class"),
        ({"algorithm": "adaptive"}, "take one of UniformBins"),
    ],
)
def test_things_that_are_no_cost_or_no_algorithm(change, message):
    with pytest.raises(ValueError, match=message):
        simulate(**change)


def test_wrong_types_and_wrong_minimisers_get_a_sentence():
    for make in (
        lambda: rc.AdaptiveBins(alpha="a"),
        lambda: rc.UniformBins(width="a"),
        lambda: rc.Gaussian("a"),
        lambda: rc.StudentT(dof="a"),
    ):
        with pytest.raises(ValueError, match=r"a'? must"):
            make()
    with pytest.raises(ValueError, match=r"minimiser \[0.3\] is not one"):
        simulate(cost=custom(lambda x: (x[0] - 0.5) ** 2))
    with pytest.raises(ValueError, match="cannot be compiled"):
        simulate(cost=custom(lambda x: str(x[0]).upper()))


def test_a_changed_global_reaches_the_compiled_form_of_an_own_cost():
    namespace = {"K": 1.0}
    for K in (1.0, 10.0):
        namespace["K"] = K
        exec("def formula(x): return K * (x[0] - 0.3) ** 2", namespace)
        cost = custom(namespace["formula"])
        assert float(values(cost.compiled, np.array([[0.8]]))[0]) == cost([0.8])


def test_unknown_name_is_an_attribute_error():
    with pytest.raises(AttributeError, match="has no attribute 'Adaptive'"):
        rc.Adaptive  # noqa: B018
    assert "AdaptiveBins" in dir(rc)


@pytest.mark.slow
def test_an_edited_tournament_reaches_the_kernels_that_inline_it(tmp_path):
    package = tmp_path / "ratecheck"
    ignored = shutil.ignore_patterns("__pycache__")
    shutil.copytree(Path(rc.__file__).parent, package, ignore=ignored)
    code = (
        "from ratecheck.algorithms.adaptive import ln\n"
        "ln(3)\n"
        "print(sum(ln.stats.cache_misses.values()), sum(ln.stats.cache_hits.values()))"
    )

    def misses_and_hits():
        out, errors = python(code, cwd=tmp_path).communicate()
        assert errors == ""
        return out.strip()

    assert [misses_and_hits(), misses_and_hits()] == ["1 0", "0 1"]
    with open(package / "algorithms" / "tournament.py", "a") as file:
        file.write("\nEDITED = True\n")
    assert [misses_and_hits(), misses_and_hits()] == ["1 0", "0 1"]


def test_a_cost_of_ones_own_is_told_apart_by_its_formula():
    from dataclasses import replace as changed

    from ratecheck.engine.simulate import Job

    def digest(cost):
        return Job(rc.UniformBins(), cost, noise=rc.Gaussian(1.0)).series.digest

    mine = changed(zoo.get("cone", 1), name="mine", registered=False)

    def scaled(factor):
        return lambda x: factor * abs(x[0])

    first, again, other = (changed(mine, formula=scaled(k)) for k in (1.0, 1.0, 3.0))
    assert digest(first) == digest(again)
    assert len({digest(first), digest(other), digest(changed(first, minimum=-1.0))}) == 3
    assert digest(changed(first, formula=lambda x: abs(x[0]) ** 2)) != digest(first)
