"""Studies that are killed, meet another one in their folder, or find no room or no listener."""

import signal
import subprocess
import sys
import time

import pytest

from ratecheck.cli import study as command
from ratecheck.store import FILE, Store
from tests.study_cases import SMALL, digest, run, table_of

pytestmark = pytest.mark.slow

LONG = ["--family", "cone", "--dims", "1", "--horizons", "2^8:2^21", "--replicates", "24", "--no-figures"]
LONGER = [word.replace("2^21", "2^23") for word in LONG]  # lasts while another process starts


@pytest.fixture(scope="module")
def whole(tmp_path_factory):
    """The folder of a study that nobody interrupted."""
    folder = tmp_path_factory.mktemp("whole")
    assert run(*LONG, "--out", folder, "--workers", "1").returncode == 0
    return folder


@pytest.mark.parametrize("blow", [signal.SIGINT, signal.SIGKILL])
def test_interrupted_and_resumed_it_ends_with_the_same_bits(tmp_path, whole, blow):
    folder = tmp_path / "interrupted"
    interpreter = [sys.executable, "-m", "ratecheck.study"]
    with subprocess.Popen([*interpreter, *LONG, "--out", str(folder)], stderr=subprocess.PIPE, text=True) as process:
        deadline = time.monotonic() + 120
        while time.monotonic() < deadline and process.poll() is None and units(folder) < 2:
            time.sleep(0.02)
        process.send_signal(blow)
        said = process.stderr.read()
    stored = units(folder)
    assert stored >= 2
    if blow == signal.SIGINT:
        assert process.returncode == 130
        assert "the same command goes on from there" in said
        assert "Traceback" not in said
    resumed = run(*LONG, "--out", folder)
    assert resumed.returncode == 0
    assert digest(folder) == digest(whole)
    assert units(folder) >= stored
    assert (folder / "fits.csv").read_bytes() == (whole / "fits.csv").read_bytes()
    with Store(folder) as store:
        assert len(store.sessions()) == 2


def units(folder) -> int:
    if not (folder / FILE).exists() or not (folder / FILE).stat().st_size:
        return 0
    try:
        with Store(folder) as store:
            return store.connection.execute("SELECT COUNT(*) FROM units").fetchone()[0]
    except Exception:  # the other process is just making it
        return 0


def test_nobody_listening_is_no_reason_to_stop(tmp_path):
    command_line = f"{sys.executable} -m ratecheck.study --family cone {' '.join(SMALL)} --out"
    for n, ending in enumerate(("2>&1 | head -1", "2>&-", "> /dev/null 2> /dev/full")):
        folder = tmp_path / str(n)
        subprocess.run(f"{command_line} {folder} {ending}", shell=True, capture_output=True, check=False)
        assert (folder / "report.md").exists(), ending
        with Store(folder) as store:
            assert store.sessions()[0]["units"] > 0


def test_two_at_once_in_one_folder(tmp_path):
    interpreter = [sys.executable, "-m", "ratecheck.study"]
    with subprocess.Popen([*interpreter, *LONGER, "--out", str(tmp_path)], stderr=subprocess.PIPE, text=True) as first:
        while first.poll() is None and units(tmp_path) < 1:
            time.sleep(0.02)
        second = run(*LONGER, "--out", tmp_path)
        assert first.poll() is None, "the first one ended too early for this test"
        first.stderr.read()
    assert first.returncode == 0
    assert second.returncode == 2
    assert f"in use by process {first.pid}" in second.stderr
    with Store(tmp_path) as store:
        assert not table_of(store).duplicated(["series", "replicate", "horizon"]).any()


@pytest.mark.usefixtures("no_audits")
def test_a_full_disk_says_so(tmp_path, monkeypatch, capsys):
    assert command.main(["--family", "quadratic", *SMALL, "--out", str(tmp_path)]) == 0
    before = digest(tmp_path)
    make = Store.__init__

    def cramped(self, *arguments, **options):
        make(self, *arguments, **options)
        pages = self.connection.execute("PRAGMA page_count").fetchone()[0]
        self.connection.execute(f"PRAGMA max_page_count = {pages}")

    monkeypatch.setattr(Store, "__init__", cramped)
    capsys.readouterr()
    code = command.main(["--family", "quadratic", *SMALL, "--replicates", "400", "--out", str(tmp_path)])
    assert code == 1
    said = capsys.readouterr().err
    assert "cannot grow" in said
    assert "Traceback" not in said
    monkeypatch.undo()
    assert digest(tmp_path) == before
    assert command.main(["--family", "quadratic", *SMALL, "--replicates", "12", "--out", str(tmp_path)]) == 0
