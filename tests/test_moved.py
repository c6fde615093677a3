"""A store that is removed, moved or exchanged under a running study: noticed at the next unit, with a sentence."""

import shutil

import pytest

from ratecheck.cli import study as command
from ratecheck.store import FILE, Store, StoreError
from ratecheck.study import run as runner
from tests.study_cases import SMALL
from tests.test_store import SERIES, filled, rows


def removed(folder):
    shutil.rmtree(folder)


def moved(folder):
    folder.rename(folder.with_name("elsewhere"))


def moved_and_made_again(folder):
    moved(folder)
    folder.mkdir()
    filled(folder, (5,))


def exchanged(folder):
    (folder / FILE).rename(folder / "old")
    shutil.copy(folder / "old", folder / FILE)


ACCIDENTS = [removed, moved, moved_and_made_again, exchanged]


@pytest.mark.parametrize("accident", ACCIDENTS)
def test_the_next_unit_is_refused(tmp_path, accident):
    folder = tmp_path / "study"
    folder.mkdir()
    filled(folder)
    with Store(folder, create=True) as store:
        session = store.begin_session({})
        accident(folder)
        after = (folder / FILE).read_bytes() if (folder / FILE).exists() else None
        for write in (
            lambda: store.add(SERIES, rows(7), session=session, steps=1, seconds=1.0),
            lambda: store.note("study", {"a": 1}),
            lambda: store.end_session(session, {}),
        ):
            with pytest.raises(StoreError, match="was removed or moved away"):
                write()
    assert ((folder / FILE).read_bytes() if (folder / FILE).exists() else None) == after


@pytest.mark.usefixtures("no_audits")
@pytest.mark.parametrize("accident", ACCIDENTS)
def test_a_study_ends_with_a_sentence(tmp_path, accident, monkeypatch, capsys):
    folder = tmp_path / "study"
    perform, calls = runner.perform, []

    def once(*arguments, **options):
        calls.append(1)
        if len(calls) == 2:
            accident(folder)
        return perform(*arguments, **options)

    monkeypatch.setattr(runner, "perform", once)
    assert command.main(["--family", "cone", *SMALL, "--workers", "1", "--out", str(folder)]) == 2
    said = capsys.readouterr().err
    assert "was removed or moved away" in said
    assert "Traceback" not in said
    assert not (folder / "report.md").exists()


@pytest.mark.usefixtures("no_audits")
def test_a_folder_that_goes_before_the_report_is_written_is_noticed(tmp_path, monkeypatch, capsys):
    folder = tmp_path / "study"
    from ratecheck.study import rendering

    write = rendering.write_report

    def late(*arguments, **options):
        removed(folder)
        return write(*arguments, **options)

    monkeypatch.setattr(rendering, "write_report", late)
    assert command.main(["--family", "cone", *SMALL, "--out", str(folder)]) == 2
    assert "was removed or moved away" in capsys.readouterr().err
