"""Reports and exports: from disks that cannot be written to, into files that are whole, and never over a store."""

import csv
import io
import os
import shutil
import subprocess
import sys
from dataclasses import replace

import pandas as pd
import pytest

from ratecheck.cli import main as cli
from ratecheck.store import FILE, Store
from tests.study_cases import table_of
from tests.test_hostile_stores import studied  # noqa: F401 (a fixture)
from tests.test_store import SERIES, WRITER, rows

pytestmark = pytest.mark.slow


@pytest.fixture
def frozen(studied, tmp_path):  # noqa: F811
    """A store on a disk that cannot be written to; root can, so nothing may change either."""
    folder = tmp_path / "frozen"
    folder.mkdir()
    shutil.copy(studied / FILE, folder / FILE)
    (folder / FILE).chmod(0o444)
    folder.chmod(0o555)
    yield folder
    folder.chmod(0o755)


def state(folder):
    return {p.name: (p.read_bytes(), p.stat().st_mtime_ns, p.stat().st_mode) for p in folder.iterdir()}


def test_a_report_goes_elsewhere(frozen, studied, tmp_path, capsys):  # noqa: F811
    before = state(frozen)
    out = tmp_path / "new" / "out"
    assert cli.main(["report", str(frozen), "--out", str(out), "--no-figures", "--html"]) == 0
    assert capsys.readouterr().out.splitlines() == [str(out / "report.md"), str(out / "report.html")]
    for name in ("report.md", "fits.csv", "details.csv"):
        assert (out / name).read_bytes() == (studied / name).read_bytes()
    assert state(frozen) == before


def test_an_export_goes_elsewhere(frozen, tmp_path):
    before = state(frozen)
    assert cli.main(["export", str(frozen), "--csv", str(tmp_path / "runs.csv")]) == 0
    assert cli.main(["verify", str(frozen)]) == 0
    with Store(frozen) as store:
        assert len(pd.read_csv(tmp_path / "runs.csv")) == len(table_of(store))
    assert state(frozen) == before


def test_what_a_killed_writer_left_in_its_log_is_read_on_a_read_only_disk_too(tmp_path, monkeypatch):
    with subprocess.Popen([sys.executable, "-c", WRITER, tmp_path], stdout=subprocess.PIPE, text=True) as writer:
        reported = [int(writer.stdout.readline()) for _ in range(20)]
        writer.kill()
        writer.stdout.read()
    (tmp_path / f"{FILE}-shm").unlink()
    before = state(tmp_path)
    assert f"{FILE}-wal" in before
    allowed = os.access
    monkeypatch.setattr(os, "access", lambda path, mode: mode != os.W_OK and allowed(path, mode))
    with Store(tmp_path) as store:
        assert {replicate for replicate, _ in store.known("abc")} >= set(reported)
    assert state(tmp_path) == before


# Exports


@pytest.fixture
def folder(studied, tmp_path):  # noqa: F811
    folder = tmp_path / "study"
    shutil.copytree(studied, folder)
    return folder


def spelt(folder):
    (folder / "linked.csv").symlink_to(folder / FILE)
    (folder / "twin.csv").hardlink_to(folder / FILE)
    (folder.parent / "other").symlink_to(folder)
    yield folder / FILE
    yield folder / ".." / folder.name / FILE
    yield folder / "linked.csv"
    yield folder / "twin.csv"
    yield folder.parent / "other" / FILE
    for suffix in ("-wal", "-shm", "-journal", "-lock", ".1.old"):
        yield folder / f"{FILE}{suffix}"


@pytest.mark.parametrize("form", ["--csv", "--parquet"])
def test_no_export_destroys_a_store(folder, form, capsys):
    sound = (folder / FILE).read_bytes()
    for path in spelt(folder):
        names = {p.name for p in folder.iterdir()}
        assert cli.main(["export", str(folder), form, str(path)]) == 2, path
        said = capsys.readouterr().err
        assert said.startswith("error: ")
        assert said.count("\n") == 1
        assert (folder / FILE).read_bytes() == sound
        assert {p.name for p in folder.iterdir()} == names
    another = folder.parent / "another.sqlite"
    another.write_bytes(sound)
    assert cli.main(["export", str(folder), form, str(another)]) == 2
    assert another.read_bytes() == sound


@pytest.mark.parametrize("form", ["csv", "parquet"])
def test_an_export_is_whole_or_the_old_one(folder, form, monkeypatch):
    target = folder / f"runs.{form}"
    target.write_text("old")

    def fails(*_):
        raise OSError("no space left")

    monkeypatch.setattr("ratecheck.store.export.columns_of", fails)
    assert cli.main(["export", str(folder), f"--{form}"]) == 2
    assert target.read_text() == "old"
    monkeypatch.undo()
    names = {p.name for p in folder.iterdir()}
    assert cli.main(["export", str(folder), f"--{form}"]) == 0
    assert {p.name for p in folder.iterdir()} == names
    assert target.stat().st_size > 1000


@pytest.mark.parametrize("text", ["=1+1", "\r=1", "a\r=1", "a\r\n=1", "\n=1", " =1", "\t@x"])
def test_no_exported_cell_starts_a_formula(tmp_path, text):
    with Store(tmp_path, create=True) as store:
        series = replace(SERIES, noise=text)
        store.add(series, rows(0), session=store.begin_session({}), steps=1, seconds=1.0)
    assert cli.main(["export", str(tmp_path), "--csv"]) == 0
    content = (tmp_path / "runs.csv").read_bytes().decode()
    assert "\r" not in content  # it is no end of a row to everybody
    header, *found = csv.reader(io.StringIO(content, newline=""))
    assert all(len(row) == len(header) for row in found)
    assert not any(cell.strip().startswith("=") or cell.startswith(("@", "\t")) for row in found for cell in row)


def test_an_export_follows_no_link(folder, tmp_path):
    mine = tmp_path / "mine.txt"
    mine.write_text("mine")
    (folder / "runs.csv").symlink_to(mine)
    assert cli.main(["export", str(folder), "--csv"]) == 2
    assert mine.read_text() == "mine"


def test_an_export_into_a_folder_is_refused(folder, monkeypatch, capsys):
    monkeypatch.chdir(folder)
    for target in (".", str(folder)):
        assert cli.main(["export", str(folder), "--csv", target]) == 2
        assert "is a folder; give a file in it" in capsys.readouterr().err
    assert not (folder / "runs.csv").exists()


@pytest.mark.parametrize("way", ["sub", "sub/deeper", "sub/..", "../study/sub", "inner/sub"])
def test_nothing_leaves_the_folder_through_a_link_in_it(folder, tmp_path, way, capsys):
    mine = tmp_path / "mine"
    (mine / "deeper").mkdir(parents=True)
    (folder / "inner").mkdir()
    (folder / "sub").symlink_to(mine)
    (folder / "inner" / "sub").symlink_to(mine)
    for arguments in (["report", "--no-figures", "--out", way], ["export", "--csv", f"{way}/x.csv"]):
        command, *options, target = arguments
        assert cli.main([command, str(folder), *options, f"{folder}/{target}"]) == 2
        assert "is a symbolic link" in capsys.readouterr().err
    assert [p.name for p in tmp_path.rglob("*") if p.name in ("x.csv", "fits.csv")] == ["fits.csv"]  # the study's own


def test_the_folder_itself_may_be_reached_through_a_link(folder, tmp_path):
    (tmp_path / "link").symlink_to(folder)
    assert cli.main(["export", str(folder), "--csv", str(tmp_path / "link" / "x.csv")]) == 0
    assert cli.main(["report", str(tmp_path / "link"), "--no-figures", "--out", str(tmp_path / "link" / "again")]) == 0


@pytest.mark.parametrize(
    "arguments", [["report", ""], ["report", "x", "--out", ""], ["export", "x", "--csv", ""], ["verify", ""]]
)
def test_an_empty_name_is_no_place(arguments, capsys, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    with pytest.raises(SystemExit) as stop:
        cli.main(arguments)
    assert stop.value.code == 2
    assert "'' is empty" in capsys.readouterr().err
    assert list(tmp_path.iterdir()) == []
