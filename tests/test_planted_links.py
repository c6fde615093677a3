"""A stranger's folder: links that are planted in it lead no report, table, figure or page anywhere else."""

import errno
import os

import pytest

from ratecheck.figures import draw
from ratecheck.figures.regret import REGRET
from ratecheck.report import write_html, write_report
from ratecheck.report.overview import write_overview
from tests.report_cases import info_of, report

MINE = "what was there before\n"
PLANTED = ["report.md", "fits.csv", "gaps.csv", "details.csv", "figures/quadratic-regret.png", "report.html"]


@pytest.fixture
def folders(tmp_path, monkeypatch):
    """The stranger's folder, and a file of mine elsewhere."""
    monkeypatch.setattr(draw, "STUDY", (REGRET,))  # one figure says as much as five
    (tmp_path / "folder").mkdir()
    (tmp_path / "mine").write_text(MINE, encoding="utf-8")
    return tmp_path / "folder", tmp_path / "mine"


def write_all(folder, analysis):
    write_report(folder, analysis, info_of())
    write_html(folder)


@pytest.mark.parametrize("name", PLANTED)
def test_a_linked_file_is_refused(folders, small, name):
    folder, mine = folders
    (folder / name).parent.mkdir(exist_ok=True)
    (folder / name).symlink_to(mine)
    with pytest.raises(OSError, match=r"symbolic link.*; remove it") as caught:
        write_all(folder, small)
    assert name in str(caught.value)
    assert mine.read_text("utf-8") == MINE
    assert (folder / name).is_symlink()


def test_a_linked_temporary_file_is_not_followed(folders, small):
    folder, mine = folders
    for name in ("report.md", "fits.csv", "report.html"):
        (folder / f".{name}.part").symlink_to(mine)
    write_all(folder, small)
    assert mine.read_text("utf-8") == MINE


@pytest.mark.parametrize("elsewhere", ["there", "nowhere"])
def test_a_linked_folder_of_figures_is_refused(folders, small, elsewhere):
    folder, _ = folders
    (folder.parent / "there").mkdir()
    (folder / "figures").symlink_to(folder.parent / elsewhere)
    with pytest.raises(OSError, match=r"figures is a symbolic link.*; remove it"):
        write_all(folder, small)
    assert not list((folder.parent / "there").iterdir())
    assert not (folder.parent / "nowhere").exists()


def test_the_folder_itself_may_be_a_link(folders, small):
    folder, _ = folders
    (folder.parent / "link").symlink_to(folder)
    write_all(folder.parent / "link", small)
    assert (folder / "report.html").is_file()


def test_a_linked_table_without_rows_is_refused_too(folders, small):
    folder, mine = folders
    (folder / "gaps.csv").symlink_to(mine)
    with pytest.raises(OSError, match=r"gaps\.csv is a symbolic link"):
        write_report(folder, small.__class__(small.results, small.margin), info_of(), figures=False)
    assert (folder / "gaps.csv").is_symlink()
    assert mine.read_text("utf-8") == MINE


@pytest.mark.parametrize("name", ["README.md", "figures", "figures/plane.png"])
def test_an_overview_is_written_through_no_link(folders, small, name):
    root, mine = folders
    report(root / "study", small)
    mine.write_text("# The zoo at one glance\n", encoding="utf-8")
    (root / name).parent.mkdir(exist_ok=True)
    (root / name).symlink_to(mine.parent if name == "figures" else mine)
    with pytest.raises(OSError, match="is a symbolic link"):
        write_overview(root)
    assert mine.read_text("utf-8") == "# The zoo at one glance\n"
    assert {p.name for p in mine.parent.iterdir()} == {"folder", "mine"}


@pytest.mark.parametrize("last", [1, 3, 5])
def test_a_full_disk_leaves_the_old_report_whole(folders, small, monkeypatch, last):
    """Whichever file does not fit, every file is the old one."""
    folder, _ = folders
    names = ["report.md", "fits.csv", "gaps.csv", "details.csv", "figures/quadratic-regret.png"]
    (folder / "figures").mkdir()
    for name in names:
        (folder / name).write_text(f"old {name}", encoding="utf-8")
    calls, fsync = [], os.fsync

    def full(handle):
        calls.append(handle)
        if len(calls) == last:
            raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC))
        fsync(handle)

    monkeypatch.setattr(os, "fsync", full)
    with pytest.raises(OSError, match="No space left") as caught:
        write_report(folder, small, info_of())
    assert caught.value.errno == errno.ENOSPC
    assert {name: (folder / name).read_text("utf-8") for name in names} == {name: f"old {name}" for name in names}
    assert {str(p.relative_to(folder)) for p in folder.rglob("*")} == {*names, "figures"}
