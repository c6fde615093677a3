"""The runner and its executors: the same bits wherever and in whatever order units run, and none lost."""

import os
import signal
import sys
import threading
import time

import pytest

from ratecheck import AdaptiveBins, AskTell, UniformBins, executors
from ratecheck.executors import ExecutorError
from ratecheck.executors.progress import Progress, clock
from ratecheck.rates import Rate
from ratecheck.store import Store
from ratecheck.study import Grid, Study
from ratecheck.study import run as runner
from ratecheck.study.plan import cases, no_curve
from ratecheck.study.run import run_units, units_of
from tests.places import executor
from tests.study_cases import table_of

SMALL = Study(
    name="small",
    question="?",
    costs=[("cone", 1), ("quadratic", 2)],
    horizons=Grid(2**6, 2**12, periods=None),
    replicates=6,
)


class Silent(Progress):
    def __init__(self):
        super().__init__([])

    def say(self, sentence):
        pass


@pytest.fixture
def many_units(monkeypatch):
    """Units small enough for a little study to have many."""
    monkeypatch.setattr(runner, "LIGHT", 1e-5)


def run(folder, place, study=SMALL, units=None):
    folder.mkdir(exist_ok=True)
    with Store(folder, create=True) as store:
        units = (
            units_of(cases(study, curves=no_curve), store, study.noise, place.slots) if units is None else units(store)
        )
        session = store.begin_session({})
        outcome = run_units(units, store, executor=place, session=session, progress=Silent())
        return outcome, store.digest(), len(table_of(store))


@pytest.fixture(scope="module")
def expected(tmp_path_factory):
    place = executor("threads", 1)
    _, digest, count = run(tmp_path_factory.mktemp("expected") / "x", place)
    place.close()
    return digest, count


@pytest.mark.parametrize("where", ["threads", "processes", "local:2"])
@pytest.mark.usefixtures("many_units")
def test_the_same_bits_everywhere(tmp_path, where, expected):
    if where.startswith("local"):
        pytest.importorskip("distributed")
    place = executor(where, 2)
    try:
        outcome, *found = run(tmp_path / "x", place)
    finally:
        place.close()
    assert tuple(found) == expected
    assert outcome.done > 10
    assert outcome.failed == []


@pytest.mark.usefixtures("many_units")
def test_any_order_and_any_company_give_the_same_bits(tmp_path, expected):
    place = executor("threads", 2)

    def backwards(store):
        return units_of(cases(SMALL, curves=no_curve), store, SMALL.noise, 2)[::-1]

    _, *found = run(tmp_path / "backwards", place, units=backwards)
    assert tuple(found) == expected
    # half of the runs first, in larger units, then the rest
    run(tmp_path / "halves", place, units=lambda store: backwards(store)[::2])
    _, *found = run(tmp_path / "halves", place)
    assert tuple(found) == expected
    place.close()


def test_what_is_stored_does_not_run_again(tmp_path):
    place = executor("threads", 2)
    run(tmp_path / "x", place)
    outcome, _, count = run(tmp_path / "x", place)
    assert outcome.done == 0
    # more replicates: only the new ones
    more = Study(name="small", question="?", costs=SMALL.costs, horizons=SMALL.horizons, replicates=8)
    with Store(tmp_path / "x") as store:
        units = units_of(cases(more, curves=no_curve), store, more.noise, 2)
    assert {r for u in units for r, _ in u.runs} == {6, 7}
    # a horizon more: anytime runs start again, separate ones add theirs
    further = Study(
        name="small", question="?", costs=SMALL.costs, horizons=Grid(2**6, 2**13, periods=None), replicates=6
    )
    with Store(tmp_path / "x") as store:
        units = units_of(cases(further, curves=no_curve), store, further.noise, 2)
    for unit in units:
        lengths = {len(h) for _, h in unit.runs}
        assert lengths == ({len(unit.case.horizons)} if unit.case.anytime else {1})
    _, _, after = run(tmp_path / "x", place, further)
    assert after > count
    with Store(tmp_path / "x") as store:
        for case, _, _ in cases(further, curves=no_curve):
            assert list(store.known(case.series.digest)) == [(r, set(case.horizons)) for r in range(6)]
    place.close()


def test_units_are_of_similar_weight_and_the_longest_come_first(tmp_path):
    study = Study(name="s", question="?", costs=[("cone", 2)], horizons=Grid(2**10, 2**22, periods=None), replicates=64)
    with Store(tmp_path, create=True) as store:
        units = units_of(cases(study, curves=no_curve), store, study.noise, 2)
    longest = [max(h[-1] for _, h in u.runs) for u in units]
    assert longest == sorted(longest, reverse=True)
    for unit in units:
        assert unit.seconds <= runner.HEAVY or len(unit.runs) == 1
    assert len(units) >= 16
    planned = sum(64 * (c.horizons[-1] if c.anytime else sum(c.horizons)) for c, _, _ in cases(study, curves=no_curve))
    assert sum(u.steps for u in units) == planned


# Failures


def fail_on_replicate_3(runs, *arguments, stop=None):
    if any(replicate == 3 for replicate, _ in runs):
        raise ArithmeticError("replicate 3 does not work")
    return runner.really_perform(runs, *arguments, stop=stop)


def kill_on_replicate_3(runs, *arguments, stop=None):
    if any(replicate == 3 for replicate, _ in runs):
        os.kill(os.getpid(), signal.SIGKILL)
    from ratecheck.study.run import perform

    return perform(runs, *arguments, stop=stop)


def fail_once(runs, *arguments, stop=None, seen=set()):  # noqa: B006 (the memory is the point)
    if runs not in seen:
        seen.add(runs)
        raise OSError("a passing fault")
    return runner.really_perform(runs, *arguments, stop=stop)


@pytest.fixture
def one_replicate_per_unit(monkeypatch):
    monkeypatch.setattr(runner, "LIGHT", 0.0)
    monkeypatch.setattr(runner, "HEAVY", 0.0)
    monkeypatch.setattr(runner, "really_perform", runner.perform, raising=False)


@pytest.mark.usefixtures("one_replicate_per_unit")
def test_a_unit_that_fails_three_times_is_reported_and_the_rest_goes_on(tmp_path, monkeypatch, expected):
    monkeypatch.setattr(runner, "perform", fail_on_replicate_3)
    place = executor("threads", 2)
    outcome, digest, count = run(tmp_path / "x", place)
    assert digest != expected[0]
    assert count == expected[1] * 5 // 6
    assert all("failed 3 times (ArithmeticError: replicate 3 does not work)" in text for text in outcome.failed)
    assert all("replicates 3 to 3" in text for text in outcome.failed)
    monkeypatch.undo()
    _, *found = run(tmp_path / "x", place)  # the next start runs what is missing
    assert tuple(found) == expected
    place.close()


@pytest.mark.usefixtures("one_replicate_per_unit")
def test_a_passing_fault_leaves_no_trace(tmp_path, monkeypatch, expected):
    monkeypatch.setattr(runner, "perform", fail_once)
    place = executor("threads", 2)
    outcome, *found = run(tmp_path / "x", place)
    assert outcome.failed == []
    assert tuple(found) == expected
    place.close()


@pytest.mark.slow
@pytest.mark.usefixtures("one_replicate_per_unit")
def test_a_unit_that_kills_its_process_takes_no_other_with_it(tmp_path, monkeypatch):
    monkeypatch.setattr(runner, "perform", kill_on_replicate_3)
    study = Study(
        name="s", question="?", costs=[("cone", 1)], algorithms=[AdaptiveBins()], horizons=[8, 64, 512], replicates=6
    )
    place = executor("processes", 2)
    outcome, _, count = run(tmp_path / "x", place, study)
    assert len(outcome.failed) == 1
    assert "replicates 3 to 3" in outcome.failed[0]
    assert count == 5 * 3
    place.close()


@pytest.mark.slow
@pytest.mark.usefixtures("one_replicate_per_unit")
def test_a_dask_worker_that_dies_is_noticed_and_its_units_run_elsewhere(tmp_path):
    pytest.importorskip("distributed")
    study = Study(
        name="s", question="?", costs=[("cone", 2)], algorithms=[UniformBins()], horizons=[2**19, 2**20], replicates=12
    )
    place = executor("local:2")
    killed = []

    def kill_a_busy_worker():
        deadline = time.monotonic() + 60
        while time.monotonic() < deadline and not killed:
            for address, tasks in place.client.processing().items():
                if tasks:
                    killed.extend(place.client.run(os.getpid, workers=[address]).values())
                    os.kill(killed[0], signal.SIGKILL)
                    return
            time.sleep(0.05)

    assassin = threading.Thread(target=kill_a_busy_worker)
    assassin.start()
    try:
        outcome, digest, count = run(tmp_path / "dask", place, study)
    finally:
        assassin.join()
        place.close()
    assert killed
    assert outcome.failed == []
    assert count == 24
    calm = executor("threads", 2)
    assert run(tmp_path / "calm", calm, study)[1] == digest
    calm.close()


@pytest.mark.parametrize("where", ["processes", "local:1"])
def test_what_cannot_be_sent_fails_at_once_with_a_sentence(tmp_path, where):
    if where.startswith("local"):
        pytest.importorskip("distributed")
    factory = Unsent(threading.Lock())
    study = Study("s", "?", [("cone", 1)], [AskTell(factory, promise=Rate(0.3))], horizons=[8, 16, 32], replicates=2)
    place = executor(where, 1)
    try:
        with pytest.raises(ExecutorError, match=r"AskTell\(.* cannot be sent to another process \(TypeError"):
            run(tmp_path / "x", place, study)
    finally:
        place.close()


class Unsent:
    """A factory that holds what no process can get."""

    def __init__(self, lock):
        self.lock = lock

    def __call__(self, dim, lower, upper, horizon, rng):
        return None


@pytest.mark.slow
@pytest.mark.parametrize("where", ["processes", "local:1"])
def test_what_another_process_cannot_load_is_tried_once(tmp_path, monkeypatch, where):
    if where.startswith("local"):
        pytest.importorskip("distributed")
    place = executor(where, 1)
    try:
        for what, words in (
            (known_here_only, "another process cannot load it (ModuleNotFoundError"),
            (returns_what_cannot_be_sent, "what it returned cannot be sent back (TypeError"),
        ):
            monkeypatch.setattr(runner, "perform", what)
            outcome, *_ = run(tmp_path / "x", place)
            assert f"failed once (NotLoaded: {words}" in outcome.failed[0]
    finally:
        place.close()


def returns_what_cannot_be_sent(*arguments, stop=None):
    return threading.Lock()


def known_here_only(*arguments, stop=None):
    raise AssertionError


known_here_only.__module__ = "no_such_module_anywhere"
sys.modules["no_such_module_anywhere"] = sys.modules[__name__]


def test_workers_with_other_kernels_are_refused(tmp_path, monkeypatch):
    def foreign(*arguments, stop=None):
        return [], "", 0.1, runner.VERSION + 1

    monkeypatch.setattr(runner, "perform", foreign)
    place = executor("threads", 1)
    outcome, _, count = run(tmp_path / "x", place)
    assert count == 0
    assert "another version of ratecheck" in outcome.failed[0]
    place.close()


def test_a_stopped_unit_returns_nothing():
    stop = threading.Event()
    stop.set()
    (case, cost, algorithm), *_ = cases(SMALL, curves=no_curve)
    assert runner.perform(((0, case.horizons),), cost, algorithm, 0, SMALL.noise, "random", stop=stop) is None


# Names


@pytest.mark.slow
def test_executors_by_name():
    assert isinstance(executor(None, 1), executors.Threads)
    place = executor(None, 1, kernels=False)
    assert isinstance(place, executors.Processes)
    place.close()
    for name, words in (
        ("local:0", "1 or more"),
        ("cluster", "is none of"),
        ("", "is none of"),
        ("ucx://host:8786", "is none of"),
        ("tcp://host", "is none of"),
        ("tcp://host:99999", "is none of"),
        ("local:" + "9" * 400, "1024 at most"),
        ("tcp://127.0.0.1:1", "no Dask scheduler"),
    ):
        with pytest.raises(ExecutorError, match=words):
            executor(name)
    with pytest.raises(ValueError, match="workers = 0"):
        executor("threads", 0)


def test_progress_in_a_log():
    import io

    (case, cost, algorithm), *_ = cases(SMALL, curves=no_curve)
    unit = runner.Unit(case, cost, algorithm, SMALL.noise, ((0, (100,)), (1, (100,))), 2.0)
    stream = io.StringIO()
    progress = Progress([unit] * 4, stream)
    progress.add(unit)
    assert str(progress).startswith("1 of 4 units")
    assert "left" in str(progress)
    progress.show()  # too early for a line
    assert stream.getvalue() == ""
    progress.spoke -= 100
    progress.show()
    assert stream.getvalue().startswith("1 of 4 units")
    progress.give_up(unit, "it failed")
    assert "1 given up" in str(progress)
    progress.close()
    assert stream.getvalue().endswith("1 of 4 units in 0:00\n")
    assert [clock(s) for s in (5, 65, 3700)] == ["0:05", "1:05", "1:01:40"]


def test_progress_on_a_terminal():
    pty = pytest.importorskip("pty")
    (case, cost, algorithm), *_ = cases(SMALL, curves=no_curve)
    unit = runner.Unit(case, cost, algorithm, SMALL.noise, ((0, (100,)),), 1.0)
    ours, theirs = pty.openpty()
    with os.fdopen(theirs, "w") as stream:
        progress = Progress([unit] * 4, stream)
        progress.add(unit)
        progress.show()
        progress.close()
        shown = ""
        while "in 0:00" not in shown:
            shown += os.read(ours, 10_000).decode()
    os.close(ours)
    assert " 25% |" in shown
    assert "1 of 4 units" in shown
