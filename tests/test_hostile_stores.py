"""Stores from strangers: whatever they hold, there is a report or a sentence, soon, and nothing is changed."""

import json
import shutil
import time

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from ratecheck.cli import main as cli
from ratecheck.cli import study as command
from ratecheck.store import FILE, Store, StoreError
from ratecheck.study.rendering import render
from tests.test_alterations import alter

pytestmark = pytest.mark.slow

TINY = [
    "--family",
    "cone",
    "--dims",
    "1",
    "--horizons",
    "2^4:2^9",
    "--replicates",
    "4",
    "--members",
    "3",
    "--no-figures",
]


@pytest.fixture(scope="module")
def studied(tmp_path_factory):
    folder = tmp_path_factory.mktemp("studied")
    row = {"constant": "alpha", "annotated": 1.0, "measured": 1.0, "holds": True, "basis": "proved", "worst": "x = 0"}
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr("ratecheck.study.run.audit", lambda cost, stop=None: [row])
        assert command.main([*TINY, "--out", str(folder)]) == 0
    return folder


@pytest.fixture
def copied(studied, tmp_path):
    shutil.copy(studied / FILE, tmp_path / FILE)
    return tmp_path


# What is no table of ours


FOR_EVER = (
    "CREATE VIEW notes AS WITH RECURSIVE n(value) AS (SELECT '{}' UNION ALL SELECT value FROM n) "
    "SELECT 'study' AS key, value, '' AS checksum FROM n"
)


@pytest.mark.parametrize(
    "statements",
    [
        ["DROP TABLE notes", FOR_EVER],
        ["CREATE VIEW more AS SELECT 1"],
        ["CREATE TRIGGER mine AFTER INSERT ON runs BEGIN DELETE FROM runs; END"],
        ["CREATE VIRTUAL TABLE words USING fts5(text)"],
        ["CREATE TABLE photos (name TEXT)"],
        ["CREATE INDEX mine ON runs (regret)"],
        ["DROP TABLE audits"],
        ["DROP TABLE audits", "CREATE TABLE audits (cost TEXT PRIMARY KEY, rows TEXT)"],
        ["ALTER TABLE notes ADD COLUMN more TEXT GENERATED ALWAYS AS (upper(value))"],
    ],
)
def test_anything_but_our_tables_is_refused(copied, capsys, statements):
    alter(copied, *statements)
    before = (copied / FILE).read_bytes()
    start = time.monotonic()
    there = str(copied)
    for arguments in (["report", there], ["export", there, "--csv"], ["study", *TINY, "--out", there]):
        capsys.readouterr()
        assert cli.main(arguments) == 2
        assert "altered after it was written" in capsys.readouterr().err
    assert cli.main(["verify", str(copied)]) == 1
    assert time.monotonic() - start < 5
    assert (copied / FILE).read_bytes() == before


# Notes


def forge(folder, table, *fields):
    """As a stranger who knows how checksums are made."""
    with Store(folder, create=True) as store, store._transaction() as db:
        store._put(db, table, *fields)


def outcome(folder):
    """A report, or a sentence."""
    try:
        with Store(folder) as store:
            render(store, folder, figures=False)
    except StoreError as error:
        said = str(error)
        assert "\n" not in said
        assert len(said) < 2000
        return said
    return "a report"


@pytest.mark.parametrize(
    "text",
    [
        "",
        "3",
        '"study"',
        "{}",
        "{" * 5000,
        "[" * 100_000 + "]" * 100_000,
        '{"name": 1}',
        "9" * 5000,
        "NaN",
        "\\u0000",
        "{'name': 1}",
        '"\\ud800"',
    ],
)
@pytest.mark.parametrize("key", ["study", "plans", "failed"])
def test_a_note_that_is_none(copied, key, text):
    forge(copied, "notes", key, text)
    assert key in outcome(copied)


def more(data, what, times):
    """A note with so many times as many cases, each of them once, or comparisons, or claims of a case."""
    if what == "cases":
        again = [json.dumps(case | {"algorithm": f"{n}"}) for n in range(times) for case in data["cases"][:1]]
        return data | {"cases": [json.loads(case) for case in again]}
    if what == "comparisons":
        return data | {"comparisons": [["uniform", "adaptive"]] * times}
    first, *others = data["cases"]
    return data | {"cases": [first | {what: first[what] * times}, *others]}


@pytest.mark.parametrize(
    ("what", "times"), [("cases", 1001), ("comparisons", 1001), ("claims", 5001), ("controls", 5001)]
)
def test_a_note_that_would_take_for_ever(copied, what, times):
    with Store(copied) as store:
        data = store.noted("study")
    forge(copied, "notes", "study", json.dumps(more(data, what, times)))
    assert "study.c" in outcome(copied)


def test_a_case_that_is_there_twice(copied):
    with Store(copied) as store:
        data = store.noted("study")
    forge(copied, "notes", "study", json.dumps(data | {"cases": data["cases"] * 2}))
    assert "each case once is expected" in outcome(copied)


@pytest.mark.parametrize(
    "text", ["", "null", "[1]", '{"constant": 3}', "[{}]", '[{"constant": "alpha"}]', "[[]]", "NaN"]
)
def test_an_audit_that_is_none(copied, text):
    with Store(copied) as store:
        (cost,) = store.audits()
    forge(copied, "audits", cost, text)
    assert "audit" in outcome(copied)


@pytest.mark.parametrize(
    "text", ["", "[]", "7", '{"versions": 3}', '{"seconds": "long"}', '{"steps": []}', '{"workers": [[[]]]}', "NaN"]
)
def test_details_of_a_session_that_are_none(copied, text):
    forge(copied, "sessions", 1, "2026-01-01T00:00:00Z", text)
    assert "session" in outcome(copied)


@pytest.mark.parametrize("everywhere", [False, True])
@pytest.mark.parametrize("regret", [1e308, 1e200, 1e150, 1e-200, 1e-320, 0.0])
def test_a_regret_that_is_hard_to_compute_with(copied, tmp_path, regret, everywhere):
    """Warnings are errors here."""
    names = ("replicate", "horizon", "regret", "cells", "side", "anytime", "stream")
    (tmp_path / "forged").mkdir()
    with Store(copied) as old:
        units, study = [old.unit(number)[1:] for number in old.units()], old.noted("study")
    with pytest.MonkeyPatch.context() as patch, Store(tmp_path / "forged", create=True) as new:
        patch.setattr("ratecheck.store.runs.implausible", lambda rows: None)
        session = new.begin_session({})
        new.note("study", study)
        for series, rows in units:
            changed = [(*row[:2], regret, *row[3:]) if everywhere or row[:2] == (1, 64) else row for row in rows]
            new.add(
                series, [dict(zip(names, row, strict=True)) for row in changed], session=session, steps=1, seconds=1.0
            )
    said = outcome(tmp_path / "forged")
    assert ("no run leaves" in said) == (regret > 1e150)


JUNK = st.one_of(
    st.none(),
    st.booleans(),
    st.integers(),
    st.sampled_from([0, -1, 1, 2**53, 10**400, -(10**30), 1e308, -1e308, 5e-324, float("nan"), float("inf")]),
    st.floats(),
    st.text(max_size=20),
    st.sampled_from(["upper", "lower", "=1+1", "![x](/etc/passwd)", "</script>", "\x00", "\ud800", "x" * 200_000]),
    st.lists(st.integers(-3, 3), max_size=3),
    st.just({}),
    st.just([[[[]]]]),
)


def places(data, path=()):
    """Every place of a JSON value."""
    yield path
    inner = data.items() if isinstance(data, dict) else enumerate(data) if isinstance(data, list) else ()
    for key, value in inner:
        yield from places(value, (*path, key))


def changed(data, path, how, junk):
    if not path:
        return junk
    data = json.loads(json.dumps(data))
    inside = data
    for key in path[:-1]:
        inside = inside[key]
    if how == "remove":
        del inside[path[-1]]
    elif how == "double" and isinstance(inside, list):
        inside.append(inside[path[-1]])
    elif how == "add" and isinstance(inside, dict):
        inside["more"] = junk
    else:
        inside[path[-1]] = junk
    return data


@pytest.mark.slow
@pytest.mark.filterwarnings("default::RuntimeWarning")
@settings(max_examples=200, deadline=None, suppress_health_check=[HealthCheck.too_slow], derandomize=True)
@given(data=st.data())
def test_a_mutated_note_gives_a_report_or_a_sentence(studied, tmp_path_factory, data):
    folder = tmp_path_factory.mktemp("mutated")
    shutil.copy(studied / FILE, folder / FILE)
    with Store(folder) as store:
        records = store._all("SELECT 'notes', key, value FROM notes UNION ALL SELECT 'audits', cost, rows FROM audits")
        records += store._all("SELECT 'sessions', id, started, details FROM sessions")
    named = {str(record[1]): record for record in records}
    record = named[data.draw(st.sampled_from(["study"] * 6 + list(named)))]
    value = json.loads(record[-1])
    for _ in range(data.draw(st.integers(1, 2))):
        path = data.draw(st.sampled_from(list(places(value))))
        how = data.draw(st.sampled_from(["put", "put", "remove", "double", "add"]))
        value = changed(value, path, how, data.draw(JUNK))
    forge(folder, *record[:-1], json.dumps(value))
    outcome(folder)
    shutil.rmtree(folder)
