"""`ratecheck verify`: records against their checksums, and units that run again."""

import shutil

import pytest

from ratecheck.cli import main as cli
from ratecheck.cli import study as command
from ratecheck.store import FILE, Store
from ratecheck.study.rerun import rerun
from tests.test_alterations import alter

pytestmark = pytest.mark.slow

TINY = [
    "--family",
    "cone",
    "--dims",
    "1",
    "--horizons",
    "2^4:2^8",
    "--replicates",
    "4",
    "--no-figures",
    "--members",
    "0",
]


@pytest.fixture(scope="module")
def studied(tmp_path_factory):
    folder = tmp_path_factory.mktemp("studied")
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr("ratecheck.study.run.audit", lambda cost, stop=None: [])
        patch.setattr("ratecheck.study.run.LIGHT", 0.0)
        patch.setattr("ratecheck.study.run.HEAVY", 0.0)
        algorithms = ["--algorithms", "uniform", "adaptive", "hoo"]
        assert command.main([*TINY, *algorithms, "--noise", "student:2", "--out", str(folder)]) == 0
    return folder


@pytest.fixture
def copied(studied, tmp_path):
    shutil.copy(studied / FILE, tmp_path / FILE)
    return tmp_path


def verify(capsys, *arguments):
    capsys.readouterr()
    code = cli.main(["verify", *map(str, arguments)])
    said = capsys.readouterr()
    assert "Traceback" not in said.err
    return code, said.out + said.err


def test_a_sound_store_passes_and_its_units_come_out_the_same(studied, capsys):
    before = {p: p.read_bytes() for p in studied.iterdir()}
    code, said = verify(capsys, studied, "--rerun", 1000)
    assert code == 0
    with Store(studied) as store:
        assert said.count(": the same bits") == len(store.units())
    assert "every record matches its checksum" in said
    code, said = verify(capsys, studied)
    assert code == 0
    assert said.count(": the same bits") == 1
    assert "--seed " in said
    assert verify(capsys, studied, "--rerun", 3, "--seed", 7) == verify(capsys, studied, "--rerun", 3, "--seed", 7)
    assert {p: p.read_bytes() for p in studied.iterdir()} == before


@pytest.mark.parametrize("kind", ["altered", "damaged"])
def test_a_failed_check_is_exit_code_1(copied, capsys, kind):
    if kind == "altered":
        alter(copied, "UPDATE runs SET regret = regret * 1.5 WHERE replicate = 1")
    else:
        data = bytearray((copied / FILE).read_bytes())
        data[5000:9000] = bytes(4000)
        (copied / FILE).write_bytes(data)
    code, said = verify(capsys, copied)
    assert code == 1
    assert said.startswith("error: ")
    assert said.count("\n") == 1
    for other in (["report", str(copied), "--no-figures"], ["export", str(copied), "--csv"]):
        assert cli.main(other) == 2
    assert [p.name for p in copied.iterdir()] == [FILE]
    assert verify(capsys, copied / "nowhere")[0] == 2


def forged(folder, change):
    """A forger who knows how checksums are made: another store with other rows."""
    other = folder / "forged"
    other.mkdir()
    with Store(folder) as old, Store(other, create=True) as new:
        session = new.begin_session({})
        for number in old.units():
            _, series, rows = old.unit(number)
            names = ("replicate", "horizon", "regret", "cells", "side", "anytime", "stream")
            new.add(
                series,
                [change(dict(zip(names, row, strict=True))) for row in rows],
                session=session,
                steps=1,
                seconds=1.0,
            )
    return other


def test_what_checksums_cannot_know_a_rerun_finds(copied, capsys):
    other = forged(copied, lambda row: row | {"regret": row["regret"] * 1.5})
    code, said = verify(capsys, other, "--rerun", 2)
    assert code == 1
    assert said.count("is stored with regret = ") == 2
    assert "and came out with" in said


def test_a_unit_that_takes_too_long_is_left(studied, capsys):
    code, said = verify(capsys, studied, "--unit-timeout", 1e-9)
    assert code == 0
    assert "cannot be run again: it takes more than 1e-09 seconds" in said


@pytest.mark.parametrize(
    "statement",
    [
        "UPDATE series SET algorithm = 'AskTell(Mine)'",
        "UPDATE series SET algorithm = '__import__(\"os\")'",
        "UPDATE series SET algorithm = 'AdaptiveBins(' || printf('%.*c', 5000, '(') || ')'",
        "UPDATE series SET cost = 'mine(dim=1)'",
        "UPDATE series SET cost = 'cone(dim=10)'",
        "UPDATE series SET cost = 'cone(dim=1, centre=2)'",
        "UPDATE series SET noise = 'Gaussian(sigma=-1)'",
        "UPDATE series SET noise = 'print(1)'",
        "UPDATE series SET seed = 5",
        "UPDATE runs SET horizon = 9007199254740992 WHERE horizon = 256",
    ],
)
def test_a_unit_that_cannot_run_again_is_named(copied, statement):
    alter(copied, statement)
    with Unchecked(copied) as store:
        reruns = list(rerun(store, 100, seed=0))
    assert any(found.unable for found in reruns)
    assert not any(found.differs for found in reruns)


class Unchecked(Store):
    """As it is after a forger has made every checksum right."""

    def _open(self):
        from ratecheck.store.connection import to_read

        self._opened, self._digest = to_read(self.path), ""


def test_a_plug_in_runs_again_from_its_declaration(tmp_path, capsys):
    folder = tmp_path / "own_verified"
    folder.mkdir()
    (folder / "study.py").write_text(
        "from ratecheck import AskTell, Rate\n"
        "from ratecheck.study import Study\n"
        "from tests.strategies import RandomSearch\n"
        "study = Study('own_verified', 'Is it linear?', [('cone', 1)],\n"
        "              algorithms=[AskTell(RandomSearch, promise=Rate(0.0))], horizons=[8, 64, 512], replicates=4)\n"
    )
    from ratecheck.study import declared
    from ratecheck.study.plan import cases
    from ratecheck.study.run import perform

    study = declared.declared(str(folder))
    ((case, cost, algorithm),) = cases(study)
    with Store(tmp_path, create=True) as store:
        rows = perform([(0, (8,)), (0, (64,)), (1, (8,))], cost, algorithm, 0, study.noise, "random")[0]
        store.add(case.series, rows, session=store.begin_session({}), steps=80, seconds=0.1)
    code, said = verify(capsys, tmp_path)
    assert code == 0
    assert "cannot be run again: AskTell(RandomSearch)" in said
    code, said = verify(capsys, tmp_path, "--study", folder)
    assert code == 0
    assert "the same bits" in said
