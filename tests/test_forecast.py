"""How long a study takes, as it is announced: every part counts, on the scale of the machine, from the first second."""

import io
from dataclasses import replace

import pytest

from ratecheck.executors.progress import Progress, clock, spelt
from ratecheck.planning import forecast as estimate
from ratecheck.planning.forecast import Forecast, Machine
from ratecheck.study import Study
from ratecheck.study.conduct import plan_text
from ratecheck.study.plan import no_curve
from ratecheck.study.run import Aside

STUDY = Study(name="small", question="?", costs=[("cone", 1)], horizons=(2**6, 2**8, 2**10), replicates=4, members=3)


MEASURED = estimate.machine


class Work:
    def __init__(self, seconds, steps=10):
        self.seconds, self.steps = seconds, steps


@pytest.fixture(autouse=True)
def quiet(monkeypatch):
    """The machine of the constants, and no wait for curves."""
    monkeypatch.setattr(estimate, "machine", Machine)
    monkeypatch.setattr("ratecheck.study.conduct.computed_curve", no_curve)


def announced(study, folder, **options) -> float:
    line = next(
        line for line in plan_text(study, folder, workers=1, **options).splitlines() if line.startswith("in all about")
    )
    minutes, seconds = line.removeprefix("in all about ").split(",")[0].split(":")
    return 60 * int(minutes) + int(seconds)


def test_every_part_of_a_study_counts(tmp_path):
    whole = announced(STUDY, tmp_path)
    assert announced(STUDY, tmp_path, figures=False) < whole
    assert announced(replace(STUDY, members=0), tmp_path) < whole
    assert announced(replace(STUDY, costs=[("cone", 1), ("cusp", 1)]), tmp_path) > whole
    assert announced(replace(STUDY, horizons=(2**10, 2**20, 2**26)), tmp_path) > whole


@pytest.mark.parametrize(("here", "times"), [(Machine(2.0, 1.0), 2), (Machine(1.0, 3.0), 3), (Machine(2.0, 3.0), 6)])
def test_slow_and_busy_machines_take_longer(tmp_path, monkeypatch, here, times):
    whole = announced(STUDY, tmp_path)
    monkeypatch.setattr(estimate, "machine", lambda: here)
    assert announced(STUDY, tmp_path) == pytest.approx(times * whole, abs=times)
    assert ("this machine is busy" in plan_text(STUDY, tmp_path, workers=1)) == (here.load > 1.5)


def test_kernels_share_workers_and_python_does_not():
    assert Forecast(8.0, 4.0).on(Machine(), 1) == 12.0
    assert Forecast(8.0, 4.0).on(Machine(), 4) == 6.0


def test_a_machine_is_measured():
    here = MEASURED()
    assert here.pace > 0
    assert 1.0 <= here.load <= estimate.BUSIEST


# On the way


@pytest.fixture
def at(monkeypatch):
    """A clock that is set by hand."""
    now = [1000.0]
    monkeypatch.setattr("ratecheck.executors.progress.time.monotonic", lambda: now[0])

    def set_to(seconds):
        now[0] = 1000.0 + seconds

    return set_to


def test_the_end_is_foreseen_before_anything_is_done(at):
    aside = Aside("a bound", None, (), None, 20.0, brings=10.0)
    progress = Progress([Work(30.0), Work(40.0)], io.StringIO(), [aside], slots=2)
    assert str(progress) == "0 of 2 units, 0:50 left"
    at(1.5)
    progress.show()
    assert progress.stream.getvalue().startswith("0 of 2 units, ")
    progress.set_by(aside)
    progress.expect([Work(10.0)])
    assert progress.left(10.0) == pytest.approx(40.0)  # as fast as estimated
    assert progress.left(2.0) < 40.0 < progress.left(20.0)


def test_in_the_end_the_pace_tells(at):
    progress = Progress([Work(100.0, 50)] * 10, io.StringIO())
    for _ in range(5):
        progress.add(Work(100.0, 50))
    at(1500.0)  # three times as long as estimated
    assert progress.left(1500.0) == pytest.approx(1500.0, rel=0.01)
    assert str(progress) == "5 of 10 units, 0.17 steps/s, 24:56 left"


def test_no_unit_is_left_and_none_was_there(at):
    progress = Progress([], io.StringIO())
    assert str(progress) == "0 of 0 units, 0:00 left"
    progress = Progress([Work(1.0)], io.StringIO())
    progress.add(Work(1.0))
    at(3.0)
    assert str(progress).endswith("3.3 steps/s, 0:00 left")


@pytest.mark.parametrize(
    ("number", "text"),
    [
        (0.021, "0.021"),
        (7.46, "7.5"),
        (123.4, "123"),
        (41_234, "41.2 thousand"),
        (3.2e6, "3.2 million"),
        (4e9, "4000 million"),
    ],
)
def test_speeds_are_never_zero(number, text):
    assert spelt(number) == text


def test_clock():
    assert [clock(s) for s in (0.4, 59.6, 3600)] == ["0:00", "1:00", "1:00:00"]
