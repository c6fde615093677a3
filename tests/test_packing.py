"""A study that travels: a packed store is the same store, always the same bytes, and taken for a stranger's."""

import json
import lzma
import shutil
import time

import pytest

from ratecheck.cli import main as cli
from ratecheck.cli import study as command
from ratecheck.store import FILE, PACKED, Store, StoreError, holds_runs, pack_beside, set_aside
from ratecheck.store.pack import header
from ratecheck.study.predictions import shortened

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
    "--workers",
    "1",
]
TINY += ["--no-figures"]


def run(*words):
    return cli.main([str(word) for word in words])


@pytest.fixture(scope="module")
def studied(tmp_path_factory):
    folder = tmp_path_factory.mktemp("studied")
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr("ratecheck.study.run.audit", lambda cost, stop=None: [])
        assert command.main([*TINY, "--out", str(folder)]) == 0
    return folder


@pytest.fixture
def packed(studied, tmp_path):
    """A folder that holds the packed file alone."""
    shutil.copy(studied / PACKED, tmp_path / PACKED)
    return tmp_path


def contents(folder):
    with Store(folder) as store:
        tables = [store._all(f"SELECT * FROM {name} ORDER BY 1, 2, 3") for name in ("runs", "units", "series", "seal")]
        texts = [store._all(f"SELECT * FROM {name} ORDER BY 1") for name in ("notes", "sessions", "audits")]
        return [*tables, *texts, store.digest(), len(store)]


def lines_of(folder) -> list:
    return [json.loads(line) for line in lzma.open(folder / PACKED, "rt")]


def write(folder, lines):
    (folder / PACKED).write_bytes(lzma.compress("".join(json.dumps(line) + "\n" for line in lines).encode()))


# The same store


def test_a_packed_store_is_the_same_to_the_last_bit(studied, packed):
    assert contents(packed) == contents(studied)
    assert header(packed / PACKED)["runs"] == contents(studied)[-1] > 0
    assert [p.name for p in packed.iterdir()] == [PACKED]


def test_the_same_store_gives_the_same_bytes(studied, packed):
    before = (packed / PACKED).read_bytes()
    assert run("pack", packed) == 0  # from the packed file itself
    assert (packed / PACKED).read_bytes() == before
    with Store(packed, create=True) as store:  # unpacked
        assert pack_beside(store) == (packed / PACKED, None)
    assert (packed / PACKED).read_bytes() == before
    assert contents(packed) == contents(studied)


def test_streams_are_left_out_where_they_follow_from_names(studied):
    runs = [line for line in lines_of(studied) if isinstance(line, list) and line[0] == "runs"]
    assert runs
    assert all(line[-1] == [] for line in runs)


def test_streams_of_another_name_are_kept(tmp_path, studied):
    names = ("replicate", "horizon", "regret", "cells", "side", "anytime", "stream")
    with Store(studied) as old:
        _, series, rows = old.unit(1)
    with Store(tmp_path, create=True) as store:
        rows = [dict(zip(names, (*row[:-1], "mine"), strict=True)) for row in rows]
        store.add(series, rows, session=store.begin_session({}), steps=1, seconds=1.0)
        pack_beside(store)
    before = contents(tmp_path)
    (tmp_path / FILE).unlink()
    assert contents(tmp_path) == before


def test_commands_work_from_a_packed_file(studied, packed, capsys):
    assert run("report", packed, "--no-figures") == 0
    assert run("export", packed, "--csv") == 0
    assert run("verify", packed, "--seed", "1") == 0
    assert "the same bits" in capsys.readouterr().out
    assert run("fit", packed, "--by", "case") == 0
    assert capsys.readouterr().out.count("runs       4, ") == 2
    assert (packed / "report.md").read_text() == (studied / "report.md").read_text()
    assert not (packed / FILE).exists()


def test_a_study_goes_on_from_a_packed_file(packed, capsys):
    assert run("study", *TINY, "--out", packed) == 0
    assert "units in" not in capsys.readouterr().err  # nothing was left to run
    assert (packed / FILE).exists()


def test_a_fresh_study_sets_the_packed_file_aside(packed):
    aside = set_aside(packed)
    assert aside.name == f"{PACKED}.1.old"
    assert not holds_runs(packed)


def test_an_export_does_not_take_its_place(packed, capsys):
    before = (packed / PACKED).read_bytes()
    assert run("export", packed, "--csv", packed / PACKED) == 2
    assert "belongs to a store" in capsys.readouterr().err
    assert (packed / PACKED).read_bytes() == before


def test_a_packed_file_of_more_runs_is_not_lost(packed, tmp_path, capsys):
    with Store(packed) as store:
        _, series, rows = store.unit(1)
    lines = lines_of(packed)
    names = ("replicate", "horizon", "regret", "cells", "side", "anytime", "stream")
    (tmp_path / "less").mkdir()
    with Store(tmp_path / "less", create=True) as store:
        store.add(
            series, [dict(zip(names, rows[0], strict=True))], session=store.begin_session({}), steps=1, seconds=1.0
        )
    shutil.copy(packed / PACKED, tmp_path / "less")
    assert run("export", tmp_path / "less", "--csv") == 0
    assert "holds other runs" in capsys.readouterr().err
    assert run("pack", tmp_path / "less") == 0
    (aside,) = (tmp_path / "less").glob("*.old")
    assert "set aside" in capsys.readouterr().out
    aside.rename(packed / PACKED)
    assert lines_of(packed) == lines


def test_predictions_are_kept_with_the_digits_that_mean_something(studied):
    with Store(studied) as store:
        records = [store.prediction(case.series.digest) for case in store.study()[1]]
    for record in records:
        exact = record | {"regret": [[value * (1 + 1e-9) for value in row] for row in record["regret"]]}
        assert record["regret"]
        assert shortened(exact)["regret"] == record["regret"] != exact["regret"]


# From strangers


def refused(folder, capsys) -> str:
    """One sentence from every command, soon, and nothing is changed."""
    before = {p.name: p.read_bytes() for p in folder.iterdir() if not p.name.endswith("-lock")}
    start = time.process_time()
    for words in (["report"], ["export", "--csv"], ["pack"], ["fit"]):
        capsys.readouterr()
        assert run(words[0], folder, *words[1:]) == 2
        said = capsys.readouterr().err
        assert said.startswith("error: ")
        assert said.count("\n") == 1
    assert run("study", *TINY, "--out", folder) == 2
    assert run("verify", folder) in (1, 2)
    assert time.process_time() - start < 60
    after = {p.name: p.read_bytes() for p in folder.iterdir() if not p.name.endswith("-lock")}
    assert after == before
    return said


BOMB = b'{"packed": "runs of a study", "version": 3, "digest": "", "runs": 0, "units": 0, "total": ""}\n'


@pytest.mark.parametrize(
    ("content", "said"),
    [
        (b"", "end is missing"),
        (b"this is no archive at all", "damaged"),
        (lzma.compress(b""), "is no packed study"),
        (lzma.compress(b"{}\n"), "is no packed study"),
        (lzma.compress(b"[" * 10**6), "last line has no end"),
        (lzma.compress(b"[" * 10**6 + b"\n"), "nested too deeply"),
        (lzma.compress(b"\xff\xfe\n"), "is no packed study"),
        (lzma.compress(b'{"version": 9}\n'), "another version of ratecheck (9, this is 3)"),
        (lzma.compress(BOMB + b"\n" * 10), "line"),
        (lzma.compress(b"x" * 2**25), "more than a packed study of its size"),
        (lzma.compress(BOMB + b'["notes", "a", "b"]\n' * 4_000_000, preset=0), "UNIQUE"),
        (lzma.compress(BOMB + b'["series"]\n' * 10, format=lzma.FORMAT_ALONE), "damaged"),
    ],
    ids=range(12),
)
def test_what_is_no_packed_study(tmp_path, capsys, content, said):
    (tmp_path / PACKED).write_bytes(content)
    assert said in refused(tmp_path, capsys)


def test_what_unpacks_to_more_than_its_size_allows(tmp_path, monkeypatch):
    monkeypatch.setattr("ratecheck.store.pack.SMALL", 2**21)
    rows = (f'["notes", "{i}", "{"x" * 2000}"]\n' for i in range(2000))
    (tmp_path / PACKED).write_bytes(lzma.compress(BOMB + "".join(rows).encode()))
    with pytest.raises(StoreError, match="would unpack to more"):
        Store(tmp_path)


@pytest.mark.parametrize("cut", [1, 30, 0.5])
def test_a_packed_file_that_was_cut_or_went_on(packed, capsys, cut):
    content = (packed / PACKED).read_bytes()
    size = cut if cut >= 1 else int(cut * len(content))
    (packed / PACKED).write_bytes(content[:-size])
    refused(packed, capsys)
    (packed / PACKED).write_bytes(content + b"x" * size)
    assert "something follows its end" in refused(packed, capsys)


def altered(lines, table, place, value):
    """The same with another value in the first line of a table."""
    i = next(i for i, line in enumerate(lines) if isinstance(line, list) and line[0] == table)
    row = list(lines[i])
    row[place] = value
    return [*lines[:i], row, *lines[i + 1 :]]


@pytest.mark.parametrize(
    ("table", "place", "value"),
    [
        ("runs", 1, "another"),
        ("runs", 1, ["another"]),
        ("runs", 2, []),
        ("runs", 2, [10**400]),
        ("runs", 5, 3),
        ("runs", 9, ["mine"]),
        ("series", 1, "another"),
        ("series", 3, 2**70),
        ("series", 3, None),
        ("series", 8, "x"),
        ("units", 1, 77),
        ("units", 2, "another"),
        ("units", 5, float("nan")),
        ("sessions", 2, 5),
        ("notes", 1, "\ud800"),
        ("notes", 2, "\ud800"),
        ("notes", 2, {}),
        ("notes", 0, "sqlite_master"),
        ("notes", 0, "notes; DROP TABLE runs"),
        ("notes", 0, []),
    ],
)
def test_altered_lines_are_refused(packed, table, place, value):
    write(packed, altered(lines_of(packed), table, place, value))
    with pytest.raises(StoreError) as error:
        Store(packed)
    assert "\n" not in str(error.value)
    assert str(packed / PACKED) in str(error.value)


def test_one_other_bit_breaks_the_seal(packed):
    lines = lines_of(packed)
    runs = next(line for line in lines if isinstance(line, list) and line[0] == "runs")
    runs[5][0] = runs[5][0] * (1 + 2**-52)
    write(packed, lines)
    with pytest.raises(StoreError, match="does not match"):
        Store(packed)


def test_a_line_twice_and_a_line_less(packed):
    lines = lines_of(packed)
    for others in (lines[:-1], [*lines, lines[-1]], [lines[0], *reversed(lines[1:])]):
        write(packed, others)
        with pytest.raises(StoreError):
            Store(packed)
