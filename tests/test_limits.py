"""A unit that hangs is ended after its limit, and the others go on."""

import sys
from types import SimpleNamespace

import pytest

from ratecheck.cli import study as command
from ratecheck.engine.errors import UnitTimeout
from ratecheck.executors import Processes, Threads, place
from ratecheck.store import Store
from ratecheck.study.run import GENEROUS, GUESS, LEAST, Limits
from tests.hanging import Started, declare, sleeps_or_answers
from tests.places import executor
from tests.study_cases import table_of

LIMIT = 5


def unit(series="a", steps=1000, seconds=1.0, compiled=False):
    case = SimpleNamespace(series=SimpleNamespace(digest=series))
    return SimpleNamespace(case=case, steps=steps, seconds=seconds, algorithm=SimpleNamespace(compiled=compiled))


def test_a_limit_comes_from_the_user_the_pace_or_the_estimate():
    assert Limits(2.5, {"a": 100.0}).of(unit()) == 2.5
    limits = Limits(None, {"a": 0.01})
    assert limits.of(unit()) == GENEROUS * 10
    limits.learn(unit(), 20.0)  # the slowest pace counts
    limits.learn(unit(), 1.0)
    assert limits.of(unit()) == GENEROUS * 20
    assert limits.of(unit(steps=1)) == LEAST
    assert limits.of(unit("b")) == GUESS
    assert limits.of(unit("b", compiled=True)) == LEAST
    assert limits.of(unit("b", seconds=30.0, compiled=True)) == GENEROUS * 30


@pytest.mark.parametrize("text", ["0", "-1", "nan", "inf", "soon", "1e400", ""])
def test_no_limit_at_all(text, capsys):
    with pytest.raises(SystemExit) as ended:
        command.main(["--family", "cone", f"--unit-timeout={text}"])
    assert ended.value.code == 2
    assert "is no number of seconds above 0" in capsys.readouterr().err
    for wrong in (0, -1, float("nan"), float("inf"), "soon"):
        with pytest.raises(ValueError, match="must be a number of seconds above 0"):
            Limits(wrong, {})


def test_a_limit_for_threads_is_refused(tmp_path, capsys):
    line = ["--family", "cone", "--scheduler", "threads", "--unit-timeout", "5", "--out", str(tmp_path / "out")]
    assert command.main(line) == 2
    assert "--unit-timeout has no effect on threads" in capsys.readouterr().err
    assert not (tmp_path / "out").exists()


def test_a_limit_makes_processes_the_default():
    assert place(None, 1)[0] is Threads
    assert place(None, 1, limited=True)[0] is Processes


@pytest.mark.slow
@pytest.mark.parametrize("where", ["processes", "local:1"])
def test_what_hangs_is_ended_and_its_slot_works_on(where):
    if where != "processes":
        pytest.importorskip("distributed")
    slots = executor(where, 1)
    try:
        first, second = (slots.submit(sleeps_or_answers, what, limit=LIMIT) for what in ("sleep", 17))
        with pytest.raises(UnitTimeout, match="limit of 5 s"):
            first.result(120)
        assert second.result(120) == 17
    finally:
        slots.close()


@pytest.mark.slow
@pytest.mark.skipif(not sys.platform.startswith("linux"), reason="looks for processes in /proc")
@pytest.mark.parametrize("where", ["processes", "local:2"])
def test_a_hanging_unit_is_given_up_and_the_others_go_on(tmp_path, where):
    if where != "processes":
        pytest.importorskip("distributed")
    folder = declare(tmp_path / "hanging_l", "HangsAt32", replicates=3)
    where = ["--scheduler", where, "--workers", 2]
    started = Started(tmp_path, "--study", folder, *where, "--no-figures", "--unit-timeout", LIMIT)
    try:
        started.process.wait(400)
        said = started.said.read_text()
        assert started.process.returncode == 1, said
        assert "Traceback" not in said
        assert "T up to 32: failed 3 times (UnitTimeout: it took longer than its limit of 5 s" in said
        with Store(tmp_path / "out") as store:
            assert set(table_of(store)["horizon"]) == {20000}
            assert len(store.noted("failed")) == 3, said
    finally:
        started.sweep()
