"""A stranger's folder: what lies beside its store makes SQLite delete, overwrite and execute nothing of mine."""

import os
import shutil
import sqlite3
import struct

import pytest

from ratecheck.cli import main as cli
from ratecheck.store import FILE, Store, StoreError, set_aside, sole_writer
from ratecheck.store.folder import LOCK
from tests.study_cases import SMALL
from tests.test_store import filled

MAGIC = bytes.fromhex("d9d505f920a163d7")  # of a rollback journal
STUDY = ["--family", "cone", *SMALL, "--no-figures"]


def plant_journal(database, victim):
    """A hot journal that names a file which SQLite removes when it has played the journal back."""
    size = struct.unpack(">H", database.read_bytes()[16:18])[0]
    pages = database.stat().st_size // size
    header = (MAGIC + struct.pack(">5I", 0, 1, pages, 512, size)).ljust(512, b"\0")
    name = os.fsencode(victim)
    named = struct.pack(">I", 2**30 // size + 1) + name + struct.pack(">2I", len(name), sum(name)) + MAGIC
    database.with_name(f"{database.name}-journal").write_bytes(header + named)


@pytest.fixture
def victim(tmp_path):
    path = tmp_path / "thesis.tex"
    path.write_text("ten years", encoding="utf-8")
    return path


@pytest.fixture
def folder(tmp_path):
    path = tmp_path / "folder"
    path.mkdir()
    filled(path)
    return path


@pytest.mark.parametrize(
    "command", [["report"], ["export", "--csv"], ["verify"], ["study", *STUDY, "--dry-run"], ["study", *STUDY]]
)
def test_a_journal_that_names_another_file_is_refused(folder, victim, capsys, command):
    plant_journal(folder / FILE, victim)
    target = [f"--out={folder}"] if command[0] == "study" else [str(folder)]
    assert cli.main([command[0], *target, *command[1:]]) in (1, 2)
    assert "names another file" in capsys.readouterr().err
    assert victim.exists()


def test_also_beside_a_store_that_is_read_through_a_link(folder, victim, tmp_path):
    plant_journal(folder / FILE, victim)
    (tmp_path / "linked").mkdir()
    (tmp_path / "linked" / FILE).symlink_to(folder / FILE)
    with pytest.raises(StoreError, match="names another file"):
        Store(tmp_path / "linked")
    assert victim.exists()


def test_also_beside_the_lock(folder, victim):
    with sole_writer(folder):
        pass
    plant_journal(folder / LOCK, victim)
    with pytest.raises(StoreError, match="names another file"), sole_writer(folder):
        pass
    assert victim.exists()


def test_a_journal_is_set_aside_with_its_store(folder, victim):
    plant_journal(folder / FILE, victim)
    set_aside(folder)
    filled(folder)
    assert victim.exists()
    assert {p.name for p in folder.iterdir()} == {FILE, f"{FILE}.1.old", f"{FILE}.1.old-journal"}


def test_a_journal_of_our_own_is_played_back(folder, tmp_path):
    """As it lies there when a study is killed while it changes the kind of its log."""
    with Store(folder) as store:
        digest = store.digest()
    killed = tmp_path / "killed"
    killed.mkdir()
    connection = sqlite3.connect(folder / FILE, isolation_level=None)
    connection.execute("PRAGMA cache_size = 1")
    connection.execute("BEGIN IMMEDIATE")
    connection.execute("UPDATE runs SET regret = 7")
    connection.execute("INSERT INTO notes VALUES ('long', hex(zeroblob(100000)), '')")
    for name in (FILE, f"{FILE}-journal"):
        shutil.copy(folder / name, killed / name)
    connection.close()
    assert (killed / FILE).read_bytes() != (folder / FILE).read_bytes()
    for create in (False, True):
        with Store(killed, create=create) as store:
            assert store.digest() == digest


ENDLESS = (
    "CREATE TRIGGER mine AFTER INSERT ON holder BEGIN INSERT INTO sink "
    "WITH RECURSIVE n(x) AS (SELECT 1 UNION ALL SELECT x + 1 FROM n) SELECT x FROM n WHERE x < 0; END"
)


@pytest.mark.parametrize(
    "statements",
    [
        ["CREATE TABLE holder (who TEXT)", "CREATE TABLE sink (a)", ENDLESS],
        ["CREATE VIEW holder AS SELECT 'me' AS who"],
        ["CREATE TABLE holder (who TEXT CHECK (length(who) > 0))"],
        ["CREATE TABLE photos (name TEXT)"],
    ],
)
def test_a_lock_that_is_none_of_ours_is_refused(folder, statements):
    connection = sqlite3.connect(folder / LOCK, isolation_level=None)
    for statement in statements:
        connection.execute(statement)
    connection.close()
    before = (folder / LOCK).read_bytes()
    with pytest.raises(StoreError, match="ratecheck did not make"), sole_writer(folder):
        pass
    assert (folder / LOCK).read_bytes() == before


@pytest.mark.parametrize("name", [FILE, f"{FILE}-wal", f"{FILE}-shm", f"{FILE}-journal"])
def test_a_file_with_a_second_name_is_not_written_to(folder, tmp_path, name):
    (folder / name).touch()
    os.link(folder / name, tmp_path / "mine")
    before = (tmp_path / "mine").read_bytes()
    with pytest.raises(StoreError, match="has another name elsewhere"):
        Store(folder, create=True)
    assert (tmp_path / "mine").read_bytes() == before


def test_nor_is_a_lock_with_a_second_name(folder, tmp_path):
    (tmp_path / "mine").touch()
    os.link(tmp_path / "mine", folder / LOCK)
    with pytest.raises(StoreError, match="has another name elsewhere"), sole_writer(folder):
        pass
    assert (tmp_path / "mine").read_bytes() == b""


def test_a_store_with_a_second_name_can_be_read(folder, tmp_path):
    """As backups have them."""
    os.link(folder / FILE, tmp_path / "backup")
    with Store(folder) as store:
        assert len(store)


def test_a_journal_that_is_too_large_is_not_copied(folder):
    (folder / f"{FILE}-journal").write_bytes(b"x")
    os.truncate(folder / f"{FILE}-journal", 20 * 10**9)  # sparse
    with pytest.raises(StoreError, match="too large to be copied"):
        Store(folder)
