"""Every command that a page of the ledger prints is tried, and declarations find their helpers from anywhere."""

import os
import re
import shlex
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

from ratecheck.cli.study import main

ROOT = Path(__file__).parents[2]
PAGES = sorted((ROOT / "studies" / "claims").rglob("report.md"))
PRINTED = sorted({line for page in PAGES for line in re.findall(r"^(?:python|ratecheck) .*$", page.read_text(), re.M)})


def test_every_page_prints_a_command():
    assert len(PAGES) == 14
    assert len(PRINTED) == 15  # one claim alone beside them


@pytest.mark.parametrize("line", PRINTED)
def test_printed_commands(line, monkeypatch, capsys):
    monkeypatch.chdir(ROOT)
    python, option, module, *words = shlex.split(line)
    assert (python, option, module) == ("python", "-m", "ratecheck.study")
    assert main([*words, "--dry-run"]) == 0
    assert "preset standard" in capsys.readouterr().out


@pytest.fixture
def elsewhere(tmp_path):
    """A command in a folder of its own, which is not on the path, and neither is the checkout: ratecheck alone is."""
    library = tmp_path / "library"
    library.mkdir()
    for package in ("ratecheck", "function_zoo"):
        (library / package).symlink_to(ROOT / package)
    folder = tmp_path / "here"
    (folder / "studies").mkdir(parents=True)

    def run(*words):
        # -P: the current folder is not on the path, as for the console script
        program = [sys.executable, "-P", "-m", "ratecheck", "study"]
        environment = os.environ | {"PYTHONPATH": str(library)}
        return subprocess.run([*program, *words], cwd=folder, env=environment, capture_output=True, text=True)

    return folder, run


def test_the_console_script_finds_the_studies_of_the_current_folder(elsewhere):
    folder, run = elsewhere
    for path in (ROOT / "studies").iterdir():
        (folder / "studies" / path.name).symlink_to(path)
    for name in ("claims", "claims/levels"):
        ended = run("--study", name, "--preset", "quick", "--dry-run")
        assert ended.returncode == 0, ended.stderr
        assert "preset quick" in ended.stdout


DECLARED = """
from ratecheck import AskTell, Rate
from ratecheck.study import Study
from studies.own.helper import RandomSearch

study = Study("own", "Is it linear?", [("cone", 1)], algorithms=[AskTell(RandomSearch, promise=Rate(0.0))],
              horizons=[8, 64, 512], replicates=4, members=0)
"""


def test_processes_find_what_a_declaration_imports(elsewhere):
    folder, run = elsewhere
    (folder / "studies" / "own").mkdir()
    shutil.copy(ROOT / "tests" / "strategies.py", folder / "studies" / "own" / "helper.py")
    (folder / "studies" / "own" / "study.py").write_text(DECLARED)
    ended = run("--study", "own", "--no-figures", "--workers", "2", "--scheduler", "processes")
    assert ended.returncode == 0, ended.stderr
    assert (folder / "studies" / "own" / "report.md").exists()
