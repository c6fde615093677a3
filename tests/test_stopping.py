"""A study can be stopped at any moment, whatever its plug-ins do, and leaves no process behind."""

import os
import signal
import sys

import pytest

from ratecheck.store import Store
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

    def begin(*arguments, **options):
        running.append(Started(tmp_path, *arguments, **options))
        return running[-1]

    yield begin
    for started in running:
        started.sweep()


def check_end(started, number, code, words="the same command goes on from there"):
    seconds = started.end(number)
    said = started.said.read_text()
    assert started.process.returncode == code, said
    assert words in said
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


DECLARATIONS = {
    "hears nothing": "from tests.hanging import deaf\ndeaf()\n",
    "sleeps": "import time\nfrom tests.hanging import note\nnote()\ntime.sleep(1e9)\n",
    "spins": "from tests.hanging import note\nnote()\nwhile True:\n    pass\n",
}


@pytest.mark.parametrize(
    ("command", "what", "number"),
    [
        ("study", "hears nothing", signal.SIGINT),
        ("study", "hears nothing", signal.SIGTERM),
        ("study", "spins", signal.SIGINT),
        ("study", "sleeps", signal.SIGTERM),
        ("verify", "hears nothing", signal.SIGINT),
    ],
)
def test_a_declaration_that_hangs_is_left(tmp_path, start, command, what, number):
    """It is code, and runs in the command's own process."""
    folder = tmp_path / "hanging_d"
    folder.mkdir()
    (folder / "study.py").write_text(DECLARATIONS[what])
    if command == "study":
        started = start("--study", folder)
        said = "the same command goes on from there"
    else:
        Store(tmp_path, create=True).close()
        started = start(tmp_path, "--study", folder, command="verify")
        said = "nothing was changed"
    started.wait_until_reached()
    check_end(started, number, ENDS[number], said)


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
