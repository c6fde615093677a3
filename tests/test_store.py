"""The store: what is in it stays in it, and what is not a store is left alone."""

import os
import signal
import sqlite3
import subprocess
import sys
import textwrap

import pytest

from ratecheck.claims import Series
from ratecheck.cli import main as cli
from ratecheck.store import FILE, Store, StoreError, StoreFull, Unreadable, set_aside, sole_writer
from ratecheck.store.errors import explained
from tests.study_cases import table_of

SERIES = Series(
    digest="abc",
    cost="cone(dim=1)",
    dim=1,
    algorithm="UniformBins(width=None)",
    noise="Gaussian(sigma=1.0)",
    alignment="random",
    seed=0,
    period=None,
)


def rows(replicate, horizons=(10, 20)):
    return [
        {
            "replicate": replicate,
            "horizon": h,
            "regret": h**0.5 + replicate / 3,
            "cells": 4,
            "side": 0.1,
            "anytime": True,
            "stream": f"0-{replicate}",
        }
        for h in horizons
    ]


def filled(folder, replicates=(0, 1, 2)):
    with Store(folder, create=True) as store:
        session = store.begin_session({"workers": 1})
        for replicate in replicates:
            store.add(SERIES, rows(replicate), session=session, steps=20, seconds=0.5)
        return store.digest()


def test_what_is_stored_is_read_again_to_the_last_bit(tmp_path):
    filled(tmp_path)
    with Store(tmp_path) as store:
        assert list(store.known("abc")) == [(r, {10, 20}) for r in range(3)]
        assert list(store.known("other")) == []
        table = table_of(store)
        assert [row["regret"] for r in range(3) for row in rows(r)] == table["regret"].tolist()
        assert table["anytime"].dtype == bool
        assert (table["noise"] == "Gaussian(sigma=1.0)").all()
        (session,) = store.sessions()
        assert (session["units"], session["steps"], session["workers"]) == (3, 60, 1)
        assert store.speeds() == {"abc": 1.5 / 60}


def test_order_of_arrival_and_repetition_change_nothing(tmp_path):
    for name in ("one", "two"):
        (tmp_path / name).mkdir()
    one = filled(tmp_path / "one")
    assert filled(tmp_path / "two", (2, 0, 1)) == one
    assert filled(tmp_path / "two", (1,)) == one
    with Store(tmp_path / "two") as store:
        assert len(table_of(store)) == 6


def test_notes_and_audits(tmp_path):
    with Store(tmp_path, create=True) as store:
        store.note("study", {"a": [1, 2.5, None]})
        before = store.connection.total_changes
        store.note("study", {"a": [1, 2.5, None]})
        assert store.connection.total_changes == before
        assert store.noted("study") == {"a": [1, 2.5, None]}
        assert store.noted("nothing") is None
        row = {"constant": "alpha", "annotated": 1.0, "measured": 1.0, "holds": True, "basis": "proved", "worst": ""}
        store.add_audit("cone", [row])
        assert store.audits() == {"cone": [row]}


def foreign_text(path):
    path.write_text("regret,horizon\n1,2\n" * 100)


def foreign_database(path):
    with sqlite3.connect(path) as connection:
        connection.execute("CREATE TABLE photos (name TEXT)")
    connection.close()


def truncated(path):
    filled(path.parent, range(400))
    data = path.read_bytes()
    path.write_bytes(data[: len(data) // 2 + 7])


def from_the_future(path):
    filled(path.parent)
    with sqlite3.connect(path) as connection:
        connection.execute("PRAGMA user_version = 99")
    connection.close()


@pytest.mark.parametrize(
    ("make", "words"),
    [
        (foreign_text, "not a database"),
        (foreign_database, "of another program"),
        (truncated, "malformed|damaged"),
        (from_the_future, r"another version of ratecheck \(99, this is 3\); .* run the study again"),
    ],
)
def test_what_is_no_sound_store_is_recognised_and_left_untouched(tmp_path, make, words):
    path = tmp_path / FILE
    make(path)
    before = path.read_bytes()
    for create in (False, True):
        with pytest.raises(StoreError, match=words) as caught:
            Store(tmp_path, create=create)
        assert "untouched" in str(caught.value)
        assert path.read_bytes() == before


def test_an_empty_file_is_a_store_that_was_never_written(tmp_path):
    (tmp_path / FILE).touch()
    with pytest.raises(StoreError, match="run the study first"):
        Store(tmp_path)
    filled(tmp_path)


def test_a_full_disk_loses_no_finished_unit(tmp_path):
    filled(tmp_path)
    with Store(tmp_path, create=True) as store:
        session = store.begin_session({})
        pages = store.connection.execute("PRAGMA page_count").fetchone()[0]
        store.connection.execute(f"PRAGMA max_page_count = {pages + 3}")  # SQLite then says what a full disk says
        written = 0

        def write_on():
            nonlocal written
            for replicate in range(3, 5000):
                store.add(SERIES, rows(replicate, range(10, 60)), session=session, steps=20, seconds=0.5)
                written += 1

        with pytest.raises(StoreError, match=r"cannot grow.*finished units are kept"):
            write_on()
        assert written > 0
    with Store(tmp_path, create=True) as store:
        assert store.count("abc") == 6 + 50 * written
        store.add(SERIES, rows(9999), session=session, steps=20, seconds=0.5)  # there is room again


@pytest.mark.parametrize(
    ("name", "writing", "kind", "said"),
    [
        ("SQLITE_FULL", True, StoreFull, "cannot grow"),
        ("SQLITE_IOERR_WRITE", True, StoreFull, "cannot grow"),
        ("SQLITE_IOERR_READ", True, Unreadable, "could not be read to its end"),
        ("SQLITE_IOERR_SHORT_READ", False, Unreadable, "could not be read to its end"),
        ("SQLITE_IOERR_SHMSIZE", False, Unreadable, "no room for what SQLite keeps beside it"),
    ],
)
def test_a_disk_that_fails_a_reader_does_not_speak_of_growth(tmp_path, name, writing, kind, said):
    error = sqlite3.OperationalError("disk I/O error")
    error.sqlite_errorname = name
    with pytest.raises(kind, match=rf"{FILE} .*\(disk I/O error\)") as caught, explained(tmp_path / FILE, writing):
        raise error
    assert said in str(caught.value)
    assert ("grow" in str(caught.value)) == (kind is StoreFull)


def test_a_store_that_cannot_be_read_says_so(tmp_path, monkeypatch, capsys):
    with Store(tmp_path, create=True) as store:
        store.add(SERIES, rows(0), session=store.begin_session({}), steps=20, seconds=0.5)

    def failing(*_):
        error = sqlite3.OperationalError("disk I/O error")
        error.sqlite_errorname = "SQLITE_IOERR_READ"
        raise error

    monkeypatch.setattr("ratecheck.store.runs.digest_of", failing)
    for create in (False, True):
        with pytest.raises(Unreadable, match="could not be read"):
            Store(tmp_path, create)
    assert cli.main(["report", str(tmp_path)]) == 2
    assert "could not be read" in capsys.readouterr().err


WRITER = textwrap.dedent("""
    import sys
    from ratecheck.store import Store
    from tests.test_store import SERIES, rows
    with Store(sys.argv[1], create=True) as store:
        session = store.begin_session({})
        for replicate in range(10**6):
            store.add(SERIES, rows(replicate), session=session, steps=1, seconds=1.0)
            print(replicate, flush=True)
""")


def test_a_killed_writer_leaves_every_unit_that_it_reported(tmp_path):
    with subprocess.Popen([sys.executable, "-c", WRITER, tmp_path], stdout=subprocess.PIPE, text=True) as writer:
        reported = [int(writer.stdout.readline()) for _ in range(20)]
        writer.send_signal(signal.SIGKILL)
        reported += [int(line) for line in writer.stdout.read().split()]
    with Store(tmp_path) as store:
        replicates = table_of(store)["replicate"].value_counts()
    assert set(replicates.index) >= set(reported)
    assert len(replicates) <= len(reported) + 1
    assert (replicates == 2).all()  # no half unit


HOLDER = textwrap.dedent("""
    import sys, time
    from ratecheck.store import sole_writer
    with sole_writer(sys.argv[1]):
        print("held", flush=True)
        time.sleep(60)
""")


def test_a_folder_has_one_writer_and_says_who(tmp_path):
    with subprocess.Popen([sys.executable, "-c", HOLDER, tmp_path], stdout=subprocess.PIPE, text=True) as holder:
        assert holder.stdout.readline() == "held\n"
        with pytest.raises(StoreError, match=f"in use by process {holder.pid} on .* since 20"), sole_writer(tmp_path):
            pass
        holder.kill()
    # a killed process holds nothing
    with sole_writer(tmp_path), pytest.raises(StoreError, match=f"process {os.getpid()}"), sole_writer(tmp_path):
        pass
    with sole_writer(tmp_path):
        pass


def test_setting_aside_deletes_nothing(tmp_path):
    assert set_aside(tmp_path) is None
    digest = filled(tmp_path)
    first = set_aside(tmp_path)
    filled(tmp_path, (7,))
    second = set_aside(tmp_path)
    assert first != second
    assert not (tmp_path / FILE).exists()
    first.rename(tmp_path / FILE)
    with Store(tmp_path) as store:
        assert store.digest() == digest


def test_setting_aside_takes_along_what_a_killed_writer_left_in_its_log(tmp_path):
    with subprocess.Popen([sys.executable, "-c", WRITER, tmp_path], stdout=subprocess.PIPE, text=True) as writer:
        reported = [int(writer.stdout.readline()) for _ in range(20)]
        writer.kill()
        writer.stdout.read()
    aside = set_aside(tmp_path)
    assert [p.name for p in tmp_path.iterdir()] == [aside.name]  # one file, no log beside it
    aside.rename(tmp_path / FILE)
    with Store(tmp_path) as store:
        assert {replicate for replicate, _ in store.known("abc")} >= set(reported)


def test_a_store_is_made_whole_or_not_at_all(tmp_path, monkeypatch):
    def killed(*_):
        raise KeyboardInterrupt

    with monkeypatch.context() as patch:
        patch.setattr("ratecheck.store.runs.Path.replace", killed)
        with pytest.raises(KeyboardInterrupt):
            Store(tmp_path, create=True)
    assert not (tmp_path / FILE).exists()
    filled(tmp_path)


def test_a_folder_without_a_store(tmp_path):
    with pytest.raises(StoreError, match="run the study first"):
        Store(tmp_path)
    assert list(tmp_path.iterdir()) == []
