"""A plug-in that does not give the same bits twice ends its study, with a sentence and before anything is judged."""

import random
import time
from dataclasses import replace

import numpy as np
import pytest

import function_zoo as zoo
from ratecheck import AdaptiveBins, AskTell
from ratecheck.cli import study as command
from ratecheck.rates import Rate
from ratecheck.store import FILE, Store
from ratecheck.study import Study
from ratecheck.study.determinism import NotDeterministic, Repeats, shortened
from ratecheck.study.plan import cases, no_curve
from ratecheck.study.run import perform, units_of
from tests.places import executor
from tests.strategies import RandomSearch
from tests.test_runner import run

HORIZONS = [8, 64, 512]


class GlobalState(RandomSearch):
    def ask(self):
        return np.random.uniform(self.lower, self.upper)  # noqa: NPY002 (the point)


class SeededOnce(RandomSearch):
    """Every process begins with the same numbers, and goes on with others."""

    generator = random.Random(1)

    def ask(self):
        return self.lower + self.generator.random() * (self.upper - self.lower)


class Clock(RandomSearch):
    def ask(self):
        return self.lower + (time.perf_counter_ns() % 1000) / 1000 * (self.upper - self.lower)


class LooksAhead(RandomSearch):
    """Says that it is anytime, and is not."""

    def __init__(self, dim, lower, upper, horizon, rng):
        super().__init__(dim, lower, upper, horizon, rng)
        self.upper = lower + (upper - lower) / horizon


def study_of(factory, anytime=False, costs=(("cone", 1),), replicates=4):
    algorithm = AskTell(factory, anytime=anytime, promise=Rate(0.0))
    return Study("own", "?", costs, [algorithm], horizons=HORIZONS, replicates=replicates, members=0)


def noisy(x):
    return np.abs(x[0]) * (1 + 0.1 * np.random.random())  # noqa: NPY002 (the point)


@pytest.fixture
def place():
    threads = executor("threads", 2)
    yield threads
    threads.close()


@pytest.mark.parametrize("anytime", [True, False])
@pytest.mark.parametrize("factory", [GlobalState, SeededOnce, Clock])
def test_what_is_not_deterministic_is_named(tmp_path, place, factory, anytime):
    words = rf"cone d = 1, {factory.__name__} is not deterministic: replicate 0 at T = 8 .* the rng that it is given"
    with pytest.raises(NotDeterministic, match=words):
        run(tmp_path / "x", place, study_of(factory, anytime))


@pytest.mark.slow
@pytest.mark.parametrize("where", ["processes", "local:2"])
def test_it_is_noticed_wherever_units_run(tmp_path, where):
    if where != "processes":
        pytest.importorskip("distributed")
    place = executor(where, 2)
    try:
        with pytest.raises(NotDeterministic, match="SeededOnce is not deterministic"):
            run(tmp_path / "x", place, study_of(SeededOnce))
    finally:
        place.close()


@pytest.mark.parametrize("anytime", [True, False])
def test_what_is_deterministic_leaves_no_trace(tmp_path, place, anytime):
    outcome, _, rows = run(tmp_path / "x", place, study_of(RandomSearch, anytime))
    assert rows == 4 * len(HORIZONS)
    assert outcome.steps == 4 * (512 if anytime else sum(HORIZONS))


def test_an_anytime_plug_in_that_looks_at_the_horizon_is_noticed(tmp_path, place):
    with pytest.raises(NotDeterministic, match=r"LooksAhead .* anytime"):
        run(tmp_path / "x", place, study_of(LooksAhead, anytime=True))


def test_a_cost_of_ones_own_is_looked_at_too(tmp_path, place):
    cost = replace(zoo.get("cone", 1, centre=0), name="noisy", formula=noisy, registered=False)
    study = Study("own", "?", [cost], [AdaptiveBins()], horizons=HORIZONS, replicates=4, members=0)
    with pytest.raises(NotDeterministic, match=r"noisy d = 1, AdaptiveBins is not deterministic"):
        run(tmp_path / "x", place, study)


def test_runs_that_are_stored_must_come_out_again(tmp_path, place):
    ((case, cost, algorithm),) = cases(study_of(RandomSearch), curves=no_curve)
    rows = perform([(0, (8,))], cost, algorithm, 0, study_of(RandomSearch).noise, "random")[0]
    rows[0]["regret"] += 1e-9
    with Store(tmp_path, create=True) as store:
        store.add(case.series, rows, session=store.begin_session({}), steps=8, seconds=0.1)
    with pytest.raises(NotDeterministic, match=r"replicate 0 at T = 8 is stored with regret = .*--fresh"):
        run(tmp_path, place, study_of(RandomSearch))


def test_what_other_processes_bring_is_compared(tmp_path):
    """As with the order of a set of texts, which is another one in each process."""
    with Store(tmp_path, create=True) as store:
        units = units_of(cases(study_of(RandomSearch), curves=no_curve), store, study_of(RandomSearch).noise, 1)
        repeats = Repeats(units, store)
    (short,) = repeats.units
    rows = perform(short.runs, short.cost, short.algorithm, 0, short.noise, "random")[0]
    repeats.compare(short, rows)
    repeats.compare(short, rows[:1])
    with pytest.raises(NotDeterministic):
        repeats.compare(short, [rows[0] | {"regret": rows[0]["regret"] * 2}])


@pytest.mark.parametrize("anytime", [True, False])
@pytest.mark.parametrize(("replicates", "steps"), [(2, 8), (20, 72), (1000, 584)])
def test_it_costs_little(tmp_path, anytime, replicates, steps):
    """A hundredth of the steps and a thousand at most, or the shortest run; and all that twice."""
    study = study_of(RandomSearch, anytime, replicates=replicates)
    with Store(tmp_path, create=True) as store:
        short = shortened(units_of(cases(study, curves=no_curve), store, study.noise, 1)[0])
    steps = max(h for h in HORIZONS if h <= steps) if anytime else steps
    assert short.steps == 2 * steps


def test_what_is_ours_is_not_repeated(tmp_path):
    study = Study("own", "?", [("cone", 1)], horizons=HORIZONS, replicates=4, members=0)
    with Store(tmp_path, create=True) as store:
        assert Repeats(units_of(cases(study, curves=no_curve), store, study.noise, 1), store).units == []


DECLARED = """
from ratecheck import AskTell, Rate
from ratecheck.study import Study
from tests.test_determinism import GlobalState
study = Study("own", "?", [("cone", 1)], [AskTell(GlobalState, promise=Rate(0.0))], horizons=[8, 64, 512], replicates=4)
"""


@pytest.mark.usefixtures("no_audits")
def test_the_command_ends_with_exit_code_1_and_judges_nothing(tmp_path, capsys):
    folder = tmp_path / "own_global_state"
    folder.mkdir()
    (folder / "study.py").write_text(DECLARED)
    arguments = ["--study", str(folder), "--scheduler", "threads", "--out", str(tmp_path / "out")]
    for _ in range(2):  # and so it does when it goes on
        assert command.main(arguments) == 1
        said = capsys.readouterr()
        assert said.out == ""
        assert "error: cone d = 1, GlobalState is not deterministic" in said.err
        assert "Traceback" not in said.err
        assert (tmp_path / "out" / FILE).exists()
        assert not (tmp_path / "out" / "report.md").exists()
