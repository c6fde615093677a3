"""A study can be stopped at any moment, whatever its plug-ins do, and leaves no process behind."""

import os
import signal
import sys

import pytest

from tests.hanging import Started, declare, waited

pytestmark = [
    pytest.mark.slow,
    pytest.mark.skipif(not sys.platform.startswith("linux"), reason="looks for processes in /proc"),
]
LIMIT = 2.0  # seconds that are promised
LOADED = 6.0  # and what a machine with other work may take
HANGING = ("Spins", "Sleeps", "Stubborn")
ENDS = {signal.SIGINT: 130, signal.SIGTERM: 143, signal.SIGHUP: 129}


@pytest.fixture
def start(tmp_path):
    running = []

    def begin(*arguments):
        running.append(Started(tmp_path, *arguments))
        return running[-1]

    yield begin
    for started in running:
        started.sweep()


def check_end(started, number, code):
    seconds = started.end(number)
    said = started.said.read_text()
    assert started.process.returncode == code, said
    assert "the same command goes on from there" in said
    assert "Traceback" not in said
    assert seconds < LIMIT + LOADED, said
    assert waited(lambda: not started.left(), LIMIT + LOADED)


@pytest.mark.parametrize("name", HANGING)
def test_ctrl_c_ends_a_hanging_plug_in(tmp_path, start, name):
    started = start("--study", declare(tmp_path / "hanging_c", name), "--workers", 2, "--no-figures")
    started.wait_until_reached()
    check_end(started, signal.SIGINT, 130)


@pytest.mark.parametrize("number", ENDS)
@pytest.mark.parametrize("where", ["processes", "threads", "local:2"])
def test_other_signals_end_like_ctrl_c(tmp_path, start, number, where):
    folder = declare(tmp_path / "hanging_s", "Sleeps")
    started = start("--study", folder, "--scheduler", where, "--workers", 2, "--no-figures")
    started.wait_until_reached()
    check_end(started, number, ENDS[number])


def test_a_main_thread_that_hears_nothing_is_left(tmp_path, start):
    """A declaration is code, and runs in the study's own process."""
    folder = declare(tmp_path / "hanging_d", "Stubborn")
    with (folder / "study.py").open("a") as file:
        file.write("from tests.hanging import deaf\ndeaf()\n")
    started = start("--study", folder)
    started.wait_until_reached()
    check_end(started, signal.SIGTERM, 143)


def test_a_signal_that_was_to_be_ignored_is(tmp_path, start):
    """As with nohup."""
    before = signal.signal(signal.SIGHUP, signal.SIG_IGN)
    try:
        started = start("--study", declare(tmp_path / "hanging_n", "Sleeps"), "--workers", 1, "--no-figures")
    finally:
        signal.signal(signal.SIGHUP, before)
    started.wait_until_reached()
    os.killpg(started.process.pid, signal.SIGHUP)
    assert not waited(lambda: started.process.poll() is not None, 3)
    check_end(started, signal.SIGINT, 130)


@pytest.mark.parametrize("where", ["processes", "local:2"])
@pytest.mark.parametrize("name", HANGING)
def test_a_killed_study_leaves_no_orphans(tmp_path, start, where, name):
    folder = declare(tmp_path / "hanging_k", name)
    started = start("--study", folder, "--scheduler", where, "--workers", 2, "--no-figures")
    started.wait_until_reached()
    assert len(started.left()) >= 3
    started.end(signal.SIGKILL)
    assert waited(lambda: not started.left(), LIMIT + LOADED), started.left()
