"""Compiled algorithms of one's own: the bits of a loop by hand and of plain Python, kept on disk, refused clearly."""

import os
import subprocess
import sys
from dataclasses import replace
from functools import partial
from pathlib import Path
from typing import NamedTuple

import numpy as np
import pytest
from numba import njit

import function_zoo as zoo
import ratecheck as rc
from ratecheck.algorithms.frozen import Frozen
from ratecheck.engine.simulate import Job, begin
from ratecheck.executors import Processes
from ratecheck.kernels import normal, uniform
from ratecheck.store import Store
from ratecheck.study import Study
from ratecheck.study.conduct import conduct
from ratecheck.study.run import perform
from studies.benchmarks import compiled as benchmark
from studies.benchmarks.compiled import EXAMPLES

COST = zoo.get("cone", 2)
every_example = pytest.mark.parametrize("example", EXAMPLES.values(), ids=EXAMPLES)


class State(NamedTuple):
    lower: np.ndarray
    upper: np.ndarray
    seen: np.ndarray
    count: int


def init(dim, lower, upper, horizon, rng):
    return State(lower, upper, np.zeros(2), 0)


def ask(state, t, rng, x):
    for q in range(x.size):
        x[q] = state.lower[q] + (state.upper[q] - state.lower[q]) * uniform(rng)


def tell(state, t, x, y):
    state.seen[0] += y


def tell_and_grow(state, t, x, y):
    """It remembers everything, in an array that doubles."""
    seen = state.seen
    if state.count == seen.size:
        seen = np.zeros(2 * state.count)
        seen[: state.count] = state.seen
    seen[state.count] = y
    return State(state.lower, state.upper, seen, state.count + 1)


# The same bits


@every_example
def test_against_a_loop_by_hand(example, any_seed):
    steps = 3000 + any_seed
    run, _ = begin(example.algorithm(2), COST, horizon=steps, replicate=0)
    run.advance(steps)
    assert run.regret == example.by_hand(COST, steps)


@every_example
@pytest.mark.parametrize("noise", [rc.Gaussian(1.0), rc.StudentT(2.0), rc.Rademacher(0.5), rc.Uniform(1.0)], ids=repr)
def test_against_plain_python(example, noise, any_seed):
    compiled, plain = (
        begin(example.algorithm(2), COST, horizon=300, replicate=1, seed=any_seed, noise=noise)[0] for _ in range(2)
    )
    advance = plain.loop.interpreted(plain)
    for until in (1, 100, 300):
        compiled.advance(until)
        advance(until)
        assert compiled.regret == plain.regret
    for one, other in zip(compiled.memory, plain.memory, strict=True):
        assert np.array_equal(one, other)


def test_compiled_already_or_here():
    plain = rc.simulate(rc.Compiled(init, ask, tell), COST, [100], replicates=2).frame
    given = rc.simulate(rc.Compiled(init, njit(ask), njit(tell)), COST, [100], replicates=2).frame
    assert plain["regret"].tolist() == given["regret"].tolist()


def test_a_state_may_grow():
    run, _ = begin(rc.Compiled(init, ask, tell_and_grow), COST, horizon=1000, replicate=0)
    for until in (1, 2, 3, 700, 1000):
        run.advance(until)
        assert run.memory.count == until
    assert run.memory.seen.size == 1024
    assert np.all(run.memory.seen[:1000] != 0.0)
    values = run.memory.seen[:1000] - COST.minimum
    # the noise has mean 0 and standard deviation 1: six errors
    assert abs(values.sum() - run.regret) < 6 * np.sqrt(1000)


def test_random_numbers_in_python_and_compiled():
    @njit
    def draws(rng, out):
        for i in range(out.size):
            out[i] = uniform(rng) if i % 2 else normal(rng)

    rng, out = np.arange(1, 5, dtype=np.uint64), np.zeros(50)
    again = rng.copy()
    draws(rng, out)
    assert out.tolist() == [uniform(again) if i % 2 else normal(again) for i in range(50)]
    assert rng.tolist() == again.tolist()


def test_a_long_run_has_the_cost_written_in(monkeypatch):
    algorithm = rc.Compiled(init, ask, tell_and_grow, name="long")
    run, _ = begin(algorithm, COST, horizon=4000, replicate=0)
    monkeypatch.setattr(type(run.kernel), "PAYS_OFF", 1000)
    for until in (1500, 3000, 4000):
        run.advance(until)
    assert run.formula in run.kernel.own
    whole, _ = begin(algorithm, zoo.get("cone", 2), horizon=4000, replicate=0)
    advance = whole.loop.interpreted(whole)
    advance(4000)
    assert run.regret == whole.regret


# In studies, checks and other processes


def test_names_and_settings():
    example = EXAMPLES["climber"]
    algorithm = rc.Compiled(partial(example.init, step=0.25), example.ask, example.tell)
    assert algorithm.label == "climber(step=0.25)"
    assert str(algorithm) == "Compiled(climber(step=0.25), climber_ask, climber_tell)"
    assert rc.Compiled(init, ask, tell).label == "test_compiled"
    assert rc.Compiled(init, ask, tell, name="mine").label == "mine"
    other = rc.Compiled(partial(example.init, step=0.5), example.ask, example.tell)
    noise = rc.Gaussian(1.0)
    assert Job(algorithm, COST, noise=noise).series.digest != Job(other, COST, noise=noise).series.digest


def test_in_a_study_and_in_another_process_alike(tmp_path, no_audits):
    example, horizons = EXAMPLES["random search"], [200, 400, 800]
    algorithm = rc.Compiled(example.init, example.ask, example.tell, anytime=True, promise=rc.Rate(0.0))
    frame = rc.simulate(algorithm, COST, horizons, replicates=8).frame
    study = Study("own", "does it", costs=[COST], algorithms=[algorithm], horizons=horizons, replicates=8)
    assert conduct(study, tmp_path, workers=2, figures=False, say=lambda _: None).given_up == ()
    with Store(tmp_path) as store:
        digest = Job(algorithm, COST, noise=rc.Gaussian(1.0)).series.digest
        stored = [row for rows in store.runs(digest) for row in rows]
    assert [row[2] for row in stored] == frame["regret"].tolist()
    processes = Processes(1)
    try:
        unit = (((3, (200, 400, 800)),), COST, algorithm, 0, rc.Gaussian(1.0), "random")
        rows = processes.submit(perform, *unit).result(timeout=100)[0]
    finally:
        processes.close()
    assert [row["regret"] for row in rows] == frame[frame["replicate"] == 3]["regret"].tolist()


MODULE = """
import numpy as np
from ratecheck.kernels import uniform
from helper import scale

STEP = 1.0

def init(dim, lower, upper, horizon, rng):
    return lower, upper

def ask(state, t, rng, x):
    for q in range(x.size):
        x[q] = state[0][q] + (state[1][q] - state[0][q]) * uniform(rng) * scale() * STEP

def tell(state, t, x, y):
    pass
"""
HELPER = """
from numba import njit
FACTOR = {}

@njit
def scale():
    return FACTOR
"""
SCRIPT = """
import sys
import ratecheck as rc, function_zoo as zoo
import mine
{}
algorithm = rc.Compiled(mine.init, mine.ask, mine.tell, anytime=True)
print(rc.simulate(algorithm, zoo.get("cone", 1), [100], replicates=1).frame.regret[0])
general = algorithm.loop.kernels[True].general
print(sum(general.stats.cache_hits.values()), sum(general.stats.cache_misses.values()))
print(general.stats.cache_path)
print(general.py_func.__qualname__)
"""


@pytest.fixture
def elsewhere(tmp_path):
    """Regret, hits and misses of the cache in another process; what that keeps on disk is removed at the end."""
    kept = set()

    def regret(before=""):
        environment = os.environ | {"PYTHONPATH": str(tmp_path)}
        line = [sys.executable, "-c", SCRIPT.format(before)]
        done = subprocess.run(line, env=environment, capture_output=True, text=True, check=True)
        found, counts, folder, name = done.stdout.splitlines()
        kept.add((folder, name))
        return float(found), tuple(map(int, counts.split()))

    yield regret
    for folder, name in kept:
        for file in Path(folder).glob(f"*{name}*"):
            file.unlink()


@pytest.mark.slow
def test_machine_code_is_kept_until_anything_it_is_made_of_changes(tmp_path, elsewhere):
    (tmp_path / "mine.py").write_text(MODULE + f"# {tmp_path}")  # no other run of this test has kept it
    (tmp_path / "helper.py").write_text(HELPER.format(1.0))
    first, counts = elsewhere()
    assert counts == (0, 1)
    assert elsewhere() == (first, (1, 0))
    later, counts = elsewhere("mine.STEP = 0.5")  # a global that no file tells of
    assert counts == (0, 1)
    assert later != first
    (tmp_path / "helper.py").write_text(HELPER.format(0.5))  # a function of another file
    assert elsewhere() == (later, (0, 1))


def test_without_a_file_it_runs_and_nothing_is_kept():
    scope = {"__name__": "nowhere", "uniform": uniform}
    exec("def ask(state, t, rng, x):\n    x[:] = state[0] + (state[1] - state[0]) * uniform(rng)", scope)
    exec("def tell(state, t, x, y):\n    pass", scope)
    algorithm = rc.Compiled(lambda dim, lower, upper, horizon, rng: (lower, upper), scope["ask"], scope["tell"])
    assert rc.simulate(algorithm, COST, [50], replicates=2).frame["regret"].nunique() == 2
    assert list(algorithm.loop.kernels) == [False]


def test_states_that_no_other_process_knows_are_not_kept():
    class Here(NamedTuple):
        lower: np.ndarray
        upper: np.ndarray

    def ask_here(state, t, rng, x):
        x[:] = state.lower + (state.upper - state.lower) * uniform(rng)

    loop = rc.Compiled(lambda dim, lower, upper, horizon, rng: Here(lower, upper), ask_here, tell_nothing).loop
    nowhere, somewhere = loop.kernel(Here(COST.lower, COST.upper)), loop.kernel((COST.lower, COST.upper))
    assert (nowhere.on_disk, somewhere.on_disk) == (False, True)


def tell_nothing(state, t, x, y):
    pass


# What machine code depends on


def test_what_is_frozen(monkeypatch):
    def made(captured, default=1):
        def function(state, t, x, y, z=default):
            state.seen[0] += captured * benchmark.ARMS

        return function

    before = Frozen(made(1.0)).digest
    assert Frozen(made(1.0)).digest == before
    assert Frozen(made(2.0)).digest != before
    assert Frozen(made(1.0, 2)).digest != before
    assert Frozen(njit(fastmath=True)(made(1.0))).digest != Frozen(njit(made(1.0))).digest
    assert Frozen(made(np.full(2000, 1.0))).digest != Frozen(made(np.full(2000, 1.0 + 1e-12))).digest
    monkeypatch.setattr(benchmark, "ARMS", 65)  # the attribute of a module
    assert Frozen(made(1.0)).digest != before


def test_equal_functions_share_machine_code():
    def made():
        def ask(state, t, rng, x):
            x[:] = state[0]

        return ask

    one, two = (rc.Compiled(init, made(), tell) for _ in range(2))
    assert one.ask is not two.ask
    assert one.loop is two.loop


# Refusals


def ask_outside(state, t, rng, x):
    x[:] = state.upper
    if t == 8:
        x[1] += 1.0


def ask_in_part(state, t, rng, x):
    x[0] = 0.0


def ask_with_a_file(state, t, rng, x):
    x[0] = open("f")  # noqa: SIM115


def tell_of_another_type(state, t, x, y):
    return State(state.lower, state.upper, state.seen, 0.5)


def tell_at_times(state, t, x, y):
    if y > 0:
        return state


def tell_unknown(state, t, x, y):
    state.seen[0] = no_such_name  # noqa: F821


@pytest.mark.parametrize(
    ("functions", "words"),
    [
        ((3, ask, tell), "init = 3 must be callable"),
        ((init, "ask", tell), "ask = 'ask' must be a function"),
        ((init, tell, ask, False, None, 3), "name = 3"),
        ((init, lambda state, x: None, tell), r"called as ask\(state, t, rng, x\)"),
        ((init, ask, lambda state: None), r"called as tell\(state, t, x, y\)"),
        ((init, ask, tell, False, 3), "promise = 3"),
        ((lambda dim: None, ask, tell), "init"),
        ((lambda *_: None, ask, tell), "init returns None"),
        ((lambda *_: {"a": 1}, ask, tell), "numba does not know"),
        ((init, ask_outside, tell), r"asked for \[1.0, 2.0\] in step 8, which is no point of the box"),
        ((init, ask_in_part, tell), r"asked for \[0.0, nan\] in step 1"),
        ((init, ask_with_a_file, tell), r"cannot be compiled: .*open.* \(test_compiled.py, line \d+\)"),
        (
            (init, ask, tell_of_another_type),
            "a state of another type than it receives: State.*float64. instead of State",
        ),
        ((init, ask, tell_at_times), "at times and nothing at others"),
        ((init, ask, tell_unknown), "cannot be compiled: .*no_such_name"),
    ],
)
def test_refusals_are_one_sentence(functions, words):
    with pytest.raises(ValueError, match=words) as error:
        rc.simulate(rc.Compiled(*functions), COST, [10], replicates=1)
    assert "\n" not in str(error.value)


def test_what_cannot_be_compiled_is_refused_before_any_work(monkeypatch):
    monkeypatch.setattr("ratecheck.engine.simulate.Job.run", lambda *_: pytest.fail("work was started"))
    with pytest.raises(ValueError, match="cannot be compiled"):
        rc.simulate(rc.Compiled(init, ask, tell_unknown), COST, [10])


def test_errors_of_its_own_are_its_own():
    def fail(state, t, x, y):
        if t == 5:
            raise ValueError("enough")

    with pytest.raises(ValueError, match=r"^enough$"):
        rc.simulate(rc.Compiled(init, ask, fail), COST, [10], replicates=1)


def test_diagnostics_are_refused():
    with pytest.raises(ValueError, match="diagnostics speak of cells"):
        rc.simulate(rc.Compiled(init, ask, tell), COST, [10], replicates=1, diagnostics=True)


def test_an_impossible_cost_is_refused():
    def formula(x):
        return abs(x[0]) + 0.0 * np.log(0.9 - x[0])

    line = zoo.get("cone", 1)
    cost = replace(line, name="hole", formula=formula, registered=False, gap=None, mean=None, minimum=0.0)
    algorithm = rc.Compiled(init, ask_high, tell)
    run, _ = begin(algorithm, cost, horizon=100, replicate=0)
    with pytest.raises(ValueError, match=r"hole.*is nan at x"):
        run.advance(100)


def ask_high(state, t, rng, x):
    x[:] = state.upper


def test_the_benchmark_runs(capsys):
    assert benchmark.main(["--quick"]) == 0
    assert "engine / by hand, worst" in capsys.readouterr().out
