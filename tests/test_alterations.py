"""Runs that were altered after they were stored: every such store is refused, with the name of the unit."""

import random
import sqlite3
from dataclasses import replace

import pytest

from ratecheck.store import FILE, Store, StoreError
from tests.study_cases import table_of
from tests.test_store import SERIES, filled, rows

pytestmark = pytest.mark.slow

OTHER = replace(SERIES, digest="def", algorithm="AdaptiveBins(alpha=1.0)")
MIDDLE = r"cone\(dim=1\), UniformBins\(width=None\), replicates 1 to 1"


def alter(folder, *statements):
    connection = sqlite3.connect(folder / FILE, isolation_level=None)
    for statement in statements:
        connection.execute(statement)
    connection.execute("PRAGMA journal_mode = DELETE")
    connection.close()


def refused(folder, words):
    before = (folder / FILE).read_bytes()
    for create in (False, True):
        with pytest.raises(StoreError, match=words) as caught:
            Store(folder, create=create)
        said = str(caught.value)
        assert "\n" not in said
        assert "untouched" in said
        assert (folder / FILE).read_bytes() == before
    return said


@pytest.mark.parametrize(
    "statement",
    [
        "UPDATE runs SET regret = regret * 1.5 WHERE replicate = 1 AND horizon = 10",
        "UPDATE runs SET regret = 0 WHERE replicate = 1",
        "UPDATE runs SET regret = -1 WHERE replicate = 1",
        "UPDATE runs SET regret = -0.0 WHERE replicate = 1",
        "UPDATE runs SET regret = 9e999 WHERE replicate = 1",
        "UPDATE runs SET regret = -9e999 WHERE replicate = 1",
        "UPDATE runs SET cells = cells + 1 WHERE replicate = 1",
        "UPDATE runs SET side = side * 2 WHERE replicate = 1",
        "UPDATE runs SET anytime = 0 WHERE replicate = 1",
        "UPDATE runs SET stream = 'other' WHERE replicate = 1",
        "UPDATE runs SET horizon = 11 WHERE replicate = 1 AND horizon = 10",
        "UPDATE runs SET horizon = -11 WHERE replicate = 1 AND horizon = 10",
        "DELETE FROM runs WHERE replicate = 1 AND horizon = 10",
        "INSERT INTO runs SELECT series, 1, 99, 3.5, cells, side, anytime, stream, unit FROM runs "
        "WHERE replicate = 1 AND horizon = 10",
        "UPDATE units SET steps = steps + 1 WHERE id = 2",
        "UPDATE units SET complaint = 'all is well' WHERE id = 2",
        "UPDATE units SET seconds = 7.5 WHERE id = 2",
    ],
)
def test_an_altered_run_is_refused_with_the_name_of_its_unit(tmp_path, statement):
    filled(tmp_path)
    alter(tmp_path, statement)
    refused(tmp_path, MIDDLE)


@pytest.mark.parametrize(
    ("statements", "words"),
    [
        (["DELETE FROM units WHERE id = 2"], MIDDLE),
        (["DELETE FROM runs WHERE replicate = 1"], r"unit 2 of 3 \(cone\(dim=1\), UniformBins\(width=None\), no runs"),
        (["DELETE FROM runs WHERE replicate = 1", "DELETE FROM units WHERE id = 2"], "unit 2 of 3 is missing"),
        (["DELETE FROM runs WHERE replicate = 2", "DELETE FROM units WHERE id = 3"], "unit 3 of 3 is missing"),
        (["UPDATE runs SET unit = 1 WHERE replicate = 1"], "replicates 0 to 1"),
        (["UPDATE series SET cost = 'quadratic(dim=1)'"], r"quadratic\(dim=1\), .*, replicates 0 to 0"),
        (["DELETE FROM series"], "abc"),
        (["UPDATE series SET series = 'xyz'"], "xyz|abc"),
        (
            ["INSERT INTO units SELECT 9, series, session, 0, 0.0, finished, '', checksum FROM units WHERE id = 1"],
            "9",
        ),
        (["DELETE FROM sessions"], "session"),
        (["UPDATE sessions SET details = '{\"workers\": 64}'"], "session 1"),
        (["UPDATE sessions SET started = '2001-01-01T00:00:00Z'"], "session 1"),
        (["UPDATE seal SET total = '00'"], "digest"),
        (["UPDATE seal SET units = 4"], "unit 4 of 4 is missing"),
        (["DELETE FROM seal"], "digest"),
    ],
)
def test_what_is_removed_or_added_is_noticed(tmp_path, statements, words):
    filled(tmp_path)
    alter(tmp_path, *statements)
    refused(tmp_path, words)


@pytest.mark.parametrize(
    ("statement", "words"),
    [
        ("UPDATE notes SET value = '[1, 3]'", "the note 'plans'"),
        ("UPDATE notes SET key = 'plants'", "the note 'plants'"),
        ("DELETE FROM notes", "digest"),
        ("UPDATE audits SET rows = '[1]'", "the audit of 'cone'"),
        ("DELETE FROM audits", "digest"),
    ],
)
def test_notes_and_audits_are_covered_too(tmp_path, statement, words):
    filled(tmp_path)
    with Store(tmp_path, create=True) as store:
        store.note("plans", ["0"])
        store.note("plans", ["0", "1"])
        store.add_audit("cone", [{"constant": "alpha"}])
        store.add_audit("cone", [])
    Store(tmp_path).close()
    alter(tmp_path, statement)
    refused(tmp_path, words)


def test_no_flipped_bit_changes_what_is_read(tmp_path, any_seed):
    filled(tmp_path, range(40))
    with Store(tmp_path, create=True) as store:
        store.note("plans", ["0123456789abcdef"])

    def read():
        with Store(tmp_path) as store:
            return table_of(store).to_csv(), store.sessions(), store.noted("plans"), store.digest()

    sound, expected = (tmp_path / FILE).read_bytes(), read()
    draw = random.Random(any_seed)
    caught = 0
    for _ in range(150):
        flipped = bytearray(sound)
        flipped[draw.randrange(len(sound))] ^= 1 << draw.randrange(8)
        (tmp_path / FILE).write_bytes(flipped)
        try:
            assert read() == expected
        except StoreError:
            caught += 1
    assert caught > 5  # most of a small file is empty space


# Runs that meet those they left behind


def test_a_run_that_comes_out_otherwise_is_an_error_and_nothing_of_its_unit_is_stored(tmp_path):
    filled(tmp_path)
    with Store(tmp_path, create=True) as store:
        session = store.begin_session({})
        again = rows(1, (10, 20, 40))
        again[1]["regret"] *= 1 + 2**-52
        with pytest.raises(StoreError, match=r"cone\(dim=1\), UniformBins\(width=None\), replicate 1, T = 20.*regret"):
            store.add(SERIES, again, session=session, steps=40, seconds=0.5)
        with pytest.raises(StoreError, match="dim"):
            store.add(replace(SERIES, dim=2), rows(7), session=session, steps=40, seconds=0.5)
        with pytest.raises(StoreError, match=r"replicate 8, T = 10.*inf"):
            store.add(SERIES, [rows(8)[0] | {"regret": float("inf")}], session=session, steps=40, seconds=0.5)
        assert len(table_of(store)) == 6
    Store(tmp_path).close()


def test_a_row_belongs_to_the_unit_that_wrote_it_first(tmp_path):
    filled(tmp_path)
    with Store(tmp_path, create=True) as store:
        session = store.begin_session({})
        for replicate in range(3):
            store.add(SERIES, rows(replicate, (10, 15, 20, 40)), session=session, steps=40, seconds=0.5)
        store.add(OTHER, rows(0) + rows(1), session=session, steps=40, seconds=0.5)
    with Store(tmp_path) as store:
        assert len(table_of(store)) == 3 * 4 + 4
