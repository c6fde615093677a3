"""A full disk has exit code 1 and a sentence in every command, and leaves the old files as they were."""

import errno
import os
import subprocess
import sys

import pandas as pd
import pytest

from ratecheck import files
from ratecheck.cli import main as cli
from ratecheck.cli import study as command
from ratecheck.cli import zoo as zoo
from ratecheck.cli.parser import guarded
from ratecheck.store import Store
from studies import calibration
from studies.benchmarks import engine as speed
from studies.calibration import __main__ as calibrated
from tests.report_cases import report
from tests.study_cases import SMALL


@pytest.fixture(scope="module")
def studied(tmp_path_factory):
    folder = tmp_path_factory.mktemp("studied")
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr("ratecheck.study.run.audit", lambda cost, stop=None: [])
        assert command.main(["--family", "cone", *SMALL, "--out", str(folder)]) == 0
    return folder


@pytest.fixture
def full(monkeypatch):
    """Nothing can be synchronised to the disk; most file systems say it earlier."""
    monkeypatch.setattr(files.os, "fsync", no_room)


def no_room(handle, number=errno.ENOSPC):
    raise OSError(number, os.strerror(number))


def check(call, arguments, capsys):
    capsys.readouterr()
    assert call([str(word) for word in arguments]) == 1
    said = capsys.readouterr().err
    assert said.startswith("error: there is no room")
    assert "once you make room" in said
    assert said.count("\n") == 1


@pytest.mark.usefixtures("full")
@pytest.mark.parametrize("words", [["report", "--no-figures"], ["export", "--csv"], ["export", "--parquet"]])
def test_of_a_study(studied, words, capsys):
    if "--parquet" in words:
        pytest.importorskip("pyarrow")
    before = {path: path.read_bytes() for path in studied.rglob("*") if path.is_file()}
    check(cli.main, [words[0], studied, *words[1:]], capsys)
    assert {path: path.read_bytes() for path in studied.rglob("*") if path.is_file()} == before


@pytest.mark.usefixtures("full", "no_audits")
def test_of_a_study_that_writes_its_report(tmp_path, capsys):
    assert command.main(["--family", "cone", *SMALL, "--out", str(tmp_path)]) == 1
    assert "error: there is no room" in capsys.readouterr().err
    with Store(tmp_path) as store:
        assert store.units()


@pytest.mark.usefixtures("full")
def test_of_a_gallery(tmp_path, capsys, monkeypatch):
    monkeypatch.setattr("function_zoo.gallery._drawn", lambda name: (name, "", b""))
    check(zoo.main, ["gallery", "--out", tmp_path / "g", "--family", "cone"], capsys)
    assert not list((tmp_path / "g").iterdir())


@pytest.mark.usefixtures("full")
def test_of_a_calibration(tmp_path, capsys, monkeypatch):
    tables = calibration.measure.Tables(*[pd.DataFrame({"x": [1]})] * len(calibration.measure.Tables.__annotations__))
    monkeypatch.setattr(calibrated, "calibrate", lambda **_: tables)
    monkeypatch.setattr(calibrated, "report", lambda *_, **__: "")
    check(calibrated.main, ["--out", tmp_path / "c"], capsys)


@pytest.mark.slow
@pytest.mark.usefixtures("full")
def test_of_a_benchmark(tmp_path, capsys, monkeypatch):
    monkeypatch.setattr(speed, "speed_table", lambda *_, **__: pd.DataFrame({"x": [1]}))
    monkeypatch.setattr(speed, "against_targets", lambda *_, **__: [])
    monkeypatch.setattr(speed, "start_up", lambda *_, **__: (0.0, 0.0))
    for name in ("growth", "workers", "memory"):
        monkeypatch.setattr(speed, name, lambda *_, **__: ("", 0.0, 1.0))
    check(speed.main, ["--quick", "--out", tmp_path / "b"], capsys)


@pytest.mark.slow
def test_of_an_overview(tmp_path, small, capsys, monkeypatch):
    report(tmp_path / "study", small)
    monkeypatch.setattr(files.os, "fsync", no_room)
    check(cli.main, ["overview", tmp_path], capsys)


@pytest.mark.parametrize(("number", "code"), [(errno.EDQUOT, 1), (errno.EFBIG, 1), (errno.EACCES, 2)])
def test_other_reasons(number, code, capsys):
    """A quota, a file that grows too large; a folder that one may not write to is a mistake."""
    assert guarded(no_room, None, number) == code
    assert ("there is no room" in capsys.readouterr().err) == (code == 1)


@pytest.mark.slow
@pytest.mark.skipif(not os.path.exists("/dev/full"), reason="no device that is always full")
@pytest.mark.parametrize("words", [["verify", "--rerun", "0"], ["export", "--csv"]])
def test_where_the_answer_goes(studied, words):
    """Whose standard output cannot be written to has not been told."""
    with open("/dev/full", "w") as device:
        ended = subprocess.run(
            [sys.executable, "-m", "ratecheck", words[0], studied, *words[1:]],
            stdout=device,
            stderr=subprocess.PIPE,
            text=True,
            check=False,
        )
    assert ended.returncode == 1
    assert ended.stderr.startswith("error: there is no room")
    assert ended.stderr.count("\n") == 1


LIMITED = """
import resource, sys
from ratecheck.cli.main import main
resource.setrlimit(resource.RLIMIT_FSIZE, (4096, 4096))
sys.exit(main(sys.argv[1:]))
"""


@pytest.mark.slow
@pytest.mark.skipif(sys.platform == "win32", reason="no such limits")
@pytest.mark.parametrize("words", [["report", "--no-figures"], ["export", "--csv"]])
def test_a_real_limit(studied, tmp_path, words):
    if words[0] == "report":
        words = [*words, "--out", tmp_path]
    else:
        words = [*words, tmp_path / "runs.csv"]
    line = [sys.executable, "-c", LIMITED, words[0], studied, *words[1:]]
    ended = subprocess.run(line, capture_output=True, text=True, check=False)
    assert ended.returncode == 1, ended.stderr
    assert ended.stderr.startswith("error: there is no room")
    assert not list(tmp_path.iterdir())
