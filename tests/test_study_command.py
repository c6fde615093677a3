"""The command as its users meet it: its files, its mistakes, its other doors."""

import shlex
import subprocess
import sys
from pathlib import Path

import pandas as pd
import pytest

from ratecheck.claims import Case
from ratecheck.cli import main as cli
from ratecheck.cli import study as command
from ratecheck.store import FILE, Store
from ratecheck.study import Grid
from ratecheck.study.conduct import Conducted, as_asked
from ratecheck.study.declared import declaration_of
from ratecheck.study.plan import cases
from ratecheck.verdict.analyse import analyse
from tests.study_cases import SMALL, digest, run, table_of

ROOT = Path(__file__).parents[1]


@pytest.fixture(scope="module")
def finished(tmp_path_factory):
    """A small study and what its command printed."""
    folder = tmp_path_factory.mktemp("finished") / "study"
    return folder, run("--family", "quadratic", *SMALL, "--out", folder)


def test_a_study_leaves_its_files_and_says_what_it_found(finished):
    folder, process = finished
    assert process.returncode == 0, process.stderr
    assert {p.name for p in folder.iterdir()} >= {"report.md", "fits.csv", FILE}
    assert process.stdout.splitlines()[-1] == str(folder / "report.md")
    fits = pd.read_csv(folder / "fits.csv")
    promised = (
        "family dim algorithm theorem kind theory_slope log_power slope low high replicates horizon_min horizon_max "
        "verdict reason"
    )
    assert set(promised.split()) <= set(fits.columns)
    assert set(fits["theorem"]) >= {"Theorem 1", "Theorem 2", "Theorem 2, sharper", "Theorem 3"}
    assert set(fits["verdict"]) <= {"CONSISTENT", "REFUTED", "INCONCLUSIVE"}
    assert fits["reason"].str.len().min() > 20
    bounds, fits = fits[fits["role"] == "bound"], fits[fits["role"] != "bound"]
    assert set(bounds["verdict"]) == {"INCONCLUSIVE"}
    assert set(bounds["reason"]) == {"no family: the study leaves out lower bounds and hard families (members = 0)"}
    for row in fits.itertuples():
        assert row.low <= row.slope <= row.high
        if row.theorem in ("Theorem 1", "Theorem 2"):
            assert row.algorithm in process.stdout
    controls = fits.drop_duplicates("algorithm")["control"]
    assert f"negative controls: {(controls == 'REFUTED').sum()} of {len(controls)} refuted" in process.stdout
    weak = [f"quadratic d = 1, {name}" for name in fits.loc[fits["control"] != "REFUTED", "algorithm"].unique()]
    assert all(name in process.stdout.partition("so the verdict has no force: ")[2] for name in weak)
    assert fits["control_by"].between(0.05, 2).all()
    assert "units" in process.stderr


def test_started_again_it_runs_nothing_and_changes_no_byte(finished):
    folder, _ = finished
    before = {p.name: p.read_bytes() for p in folder.iterdir() if p.suffix in (".md", ".csv")}
    again = run("--family", "quadratic", *SMALL, "--out", folder)
    assert "units" not in again.stderr
    assert {name: (folder / name).read_bytes() for name in before} == before
    for arguments in (["report", str(folder), "--no-figures"],):
        assert cli.main(arguments) == 0
        assert {name: (folder / name).read_bytes() for name in before} == before


@pytest.mark.usefixtures("no_audits")
def test_other_settings_in_the_same_folder_are_not_mixed(tmp_path, capsys):
    def study(folder, *more):
        assert command.main(["--family", "cone", *SMALL, *more, "--out", str(folder)]) == 0
        return capsys.readouterr().err

    study(tmp_path)
    study(tmp_path, "--seed", "5")
    fresh = tmp_path / "fresh"
    study(fresh, "--seed", "5")
    assert (tmp_path / "fits.csv").read_text() == (fresh / "fits.csv").read_text()
    with Store(tmp_path) as store:
        assert table_of(store)["seed"].value_counts().nunique() == 1  # both are there, equally many
    assert "other settings" in (tmp_path / "report.md").read_text()
    said = study(tmp_path, "--seed", "5", "--fresh")
    assert "set aside as" in said
    assert "units" in said
    assert digest(tmp_path) == digest(fresh)


# Mistakes: one sentence, exit code 2, nothing written


@pytest.mark.parametrize(
    ("arguments", "words"),
    [
        (["--family", "quadratc"], "did you mean 'quadratic'"),
        (["--family", "quadratic", "--dims", "0"], "nearest valid choice is 1"),
        (["--family", "all", "--dims", "0"], "nearest valid choice"),
        (["--family", "branin", "--dims", "1"], "exists in dimension 2 only"),
        (["--family", "branin", "himmelblau", "--dims", "7"], "none of these families exists in dimension 7"),
        (["--family", "cone", "--dims", "two"], "not a whole number"),
        (["--family", "cone", "--horizons", "2^20"], "write FROM:TO"),
        (["--family", "cone", "--horizons", "2^20:2^10"], "must increase"),
        (["--family", "cone", "--horizons", "1:100"], "3 or larger"),
        (["--family", "cone", "--horizons", "2^10:2^20:1"], "must exceed 1"),
        (["--family", "cone", "--horizons", "2^10:2^99"], "2^53"),
        (["--family", "cone", "--replicates", "0"], "replicates = 0"),
        (["--family", "cone", "--seed", "-1"], "negative"),
        (["--family", "cone", "--mu", "big"], "must be a number, 'min' or 'theorem'"),
        (["--family", "cone", "--mu", "min", "min"], "same algorithm twice"),
        (["--family", "cone", "--noise", "cauchy"], "the laws are"),
        (["--family", "cone", "--noise", "gaussian:1:2:3"], "too many numbers"),
        (["--family", "cone", "--noise", "gaussian:10^400"], "--noise gaussian:10^400: 10^400 is no finite number"),
        (["--family", "cone", "--mu", "0^-1"], "must be a number, 'min' or 'theorem'"),
        (["--family", "cone", "--horizons=-8^0.5:100"], "write FROM:TO"),
        (["--family", "cone", "--horizons", "1,2,4,8"], "3 or larger"),
        (["--family", "all", "quadratc"], "did you mean 'quadratic'"),
        (["--study", "bowls", "--noise", "uniform"], "belongs to --family"),
        (["--family", "cone", "--alignment", "left"], "invalid choice"),
        (["--family", "cone", "--preset", "slow"], "invalid choice"),
        (["--family", "cone", "--scheduler", "cluster"], "is none of"),
        (["--family", "cone", "--workers", "0"], "workers = 0"),
        (["--study", "nonsense"], "there is no studies/nonsense/study.py"),
        (["--study", "bowls", "--dims", "1"], "belongs to --family"),
        ([], "name what to study"),
        (["--family", "cone", "--study", "bowls"], "name what to study"),
    ],
)
def test_mistakes(arguments, words, tmp_path, capsys, monkeypatch):
    monkeypatch.chdir(ROOT)
    quick = ["--preset", "quick"] if "--preset" not in arguments and "--study" not in arguments else []
    try:
        code = command.main([*arguments, *quick, "--out", str(tmp_path / "out")])
    except SystemExit as stop:
        code = stop.code
    said = capsys.readouterr()
    assert code == 2
    assert words in said.err
    assert said.err.strip().count("\n") == (1 if "name" not in words and "error:" not in said.err[:6] else 0)
    assert not (tmp_path / "out").exists()


def test_a_foreign_file_is_left_alone(tmp_path):
    (tmp_path / FILE).write_text("my own notes\n" * 50)
    process = run("--family", "cone", *SMALL, "--out", tmp_path)
    assert process.returncode == 2
    assert "left untouched" in process.stderr
    assert "Traceback" not in process.stderr
    assert (tmp_path / FILE).read_text() == "my own notes\n" * 50


def test_a_folder_that_cannot_be_made(tmp_path):
    (tmp_path / "file").touch()
    process = run("--family", "cone", *SMALL, "--out", tmp_path / "file" / "out")
    assert process.returncode == 2
    assert process.stderr.splitlines()[-1].startswith("error:")


@pytest.mark.parametrize(
    ("text", "words"),
    [
        ("study = (", "SyntaxError"),
        ("import no_such_module", "no_such_module"),
        ("from ratecheck.study import Study\nstudy = Study(nme='x')", "TypeError"),
        ("answer = 42", "declares no study"),
    ],
)
def test_broken_declarations(tmp_path, capsys, text, words):
    folder = tmp_path / f"broken_{words.replace(' ', '_')}"  # a name of its own: modules are imported once
    folder.mkdir()
    (folder / "study.py").write_text(text)
    assert command.main(["--study", str(folder)]) == 2
    said = capsys.readouterr().err
    assert words in said
    assert "Traceback" not in said


# Other doors


def test_export(finished, tmp_path, capsys):
    folder, _ = finished
    assert cli.main(["export", str(folder), "--csv", str(tmp_path / "runs.csv")]) == 0
    table = pd.read_csv(tmp_path / "runs.csv")
    with Store(folder) as store:
        assert len(table) == len(table_of(store))
    assert set(table) >= {"replicate", "horizon", "regret", "cost", "dim", "algorithm", "noise", "seed", "alignment"}
    assert cli.main(["export", str(folder), "--csv"]) == 0
    assert (folder / "runs.csv").exists()
    pytest.importorskip("pyarrow")
    assert cli.main(["export", str(folder), "--parquet", str(tmp_path / "runs.parquet")]) == 0
    pd.testing.assert_frame_equal(pd.read_parquet(tmp_path / "runs.parquet"), table, check_dtype=False)
    capsys.readouterr()
    assert cli.main(["export", str(tmp_path / "nowhere"), "--csv"]) == 2
    assert "run the study first" in capsys.readouterr().err


def test_the_console_script(capsys):
    assert cli.main([]) == 0
    assert "ratecheck COMMAND" in capsys.readouterr().out
    assert cli.main(["reprot", "x"]) == 2
    assert cli.main(["study", "--list"]) == 0
    said = capsys.readouterr()
    assert "quadratic" in said.out
    assert "preset standard" in said.out
    assert cli.main(["zoo", "list"]) == 0
    assert "weierstrass" in capsys.readouterr().out


def test_help_and_typos_do_not_wait_for_the_compiler():
    code = "import sys; from ratecheck.cli.study import main\ntry: main(['--help'])\nexcept SystemExit: pass\n"
    code += "print('numba' in sys.modules, 'pandas' in sys.modules)"
    out = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True).stdout
    assert out.endswith("False False\n")


def test_a_dry_run_writes_nothing(tmp_path, capsys):
    assert command.main(["--family", "cone", "--dry-run", "--out", str(tmp_path / "x")]) == 0
    said = capsys.readouterr().out
    assert "units to run" in said
    assert "GB of memory" in said
    assert "cone d = 3, AdaptiveBins" in said
    assert not (tmp_path / "x").exists()


def test_strict(monkeypatch, finished, capsys):
    folder, _ = finished
    with Store(folder) as store:
        study, table = store.noted("study"), table_of(store)
    kept = [Case.from_json(c) for c in study["cases"]]
    wrong = table.assign(regret=table["regret"] * table["horizon"] ** 1.0)
    for runs, code in ((table, 0), (wrong, 3)):
        done = Conducted(analyse(kept, runs, margin=0.05), folder, ())
        monkeypatch.setattr("ratecheck.study.conduct.conduct", lambda *a, done=done, **k: done)
        assert command.main(["--family", "quadratic", "--strict"]) == code
        assert command.main(["--family", "quadratic"]) == 0
    assert "REFUTED" in capsys.readouterr().out


def test_nothing_is_refuted_where_a_start_explains_the_runs(finished):
    folder, _ = finished
    with Store(folder) as store:
        study, table = store.noted("study"), table_of(store)
    case = next(c for c in map(Case.from_json, study["cases"]) if not c.anytime)
    T, scatter = table["horizon"], 1 + 0.01 * (table["replicate"] % 3)

    def judged(regret):
        return analyse([case], table.assign(regret=scatter * regret), margin=0.05).results[0].own

    bend = (case.horizons[0] * case.horizons[-1]) ** 0.5
    held = judged(1 / (1 / T + 1 / (bend * T) ** 0.5))
    assert held.name == "INCONCLUSIVE"
    assert "a linear start that bends into it at T = " in held.reason
    assert judged(T**1.0).name == "REFUTED"  # it never learns


@pytest.mark.usefixtures("no_audits")
def test_looks_are_counted(tmp_path):
    def look(replicates):
        line = ["--family", "cone", "--dims", "1", "--horizons", "2^6:2^10", "--replicates", str(replicates)]
        line += ["--members", "3"]
        assert command.main([*line, "--no-figures", "--workers", "1", "--out", str(tmp_path)]) == 0
        fits = pd.read_csv(tmp_path / "fits.csv")
        assert set(fits[fits["role"] == "bound"]["look"]) == {1}  # the same members, whatever the replicates
        return set(fits[fits["role"] != "bound"]["look"])

    assert look(8) == {1}
    assert look(8) == {1}  # the same runs, judged again
    assert look(12) == {2}
    assert "(look 2, with 5 % / 6)" in (tmp_path / "report.md").read_text("utf-8")
    before = (tmp_path / "fits.csv").read_bytes()
    assert cli.main(["report", str(tmp_path), "--no-figures"]) == 0
    assert (tmp_path / "fits.csv").read_bytes() == before


@pytest.mark.usefixtures("no_audits")
def test_a_changed_plan_is_counted(tmp_path):
    def plans(*more):
        assert command.main(["--family", "cone", *SMALL, *more, "--out", str(tmp_path)]) == 0
        with Store(tmp_path) as store:
            return len(store.noted("plans"))

    assert plans() == 1
    assert plans() == 1
    assert plans("--horizons", "2^8:2^15") == 2


# From arguments to studies


def test_notations_of_horizons():
    assert command.horizons("2^10:2^20") == Grid(2**10, 2**20, None, periods=None)
    assert command.horizons("1e3..1e6:x1.5") == Grid(1000, 10**6, 1.5, periods=None)
    assert command.horizons("2**4:1_000:2") == Grid(16, 1000, 2.0, periods=None)
    assert command.horizons("100,1e3,2^14") == (100, 1000, 2**14)


def test_the_command_that_a_report_names_gives_the_same_study():
    given = "--family cone quartic --dims 1 2 --horizons 2^6:2^12 --mu min theorem --noise student:2 --seed 3"
    parser = command.make_parser("x")
    study, _ = command.ad_hoc(parser.parse_args(given.split()))
    assert study.name == "cone+quartic"
    words = shlex.split(study.command)[3:]
    again, _ = command.ad_hoc(parser.parse_args(words))
    assert [case.to_json() for case, _, _ in cases(again)] == [case.to_json() for case, _, _ in cases(study)]
    assert "--out" not in study.command
    arguments = parser.parse_args(["--study", str(ROOT / "studies" / "mu"), "--preset", "quick", "--seed", "4"])
    assert as_asked(*command.declared_study(arguments)).command.endswith("mu --preset quick --seed 4")


def test_the_file_of_a_declaration_names_its_folder():
    folder = ROOT / "studies" / "mu"
    assert declaration_of(str(folder / "study.py")) == declaration_of(str(folder)) == folder / "study.py"
    with pytest.raises(ValueError, match="there is no"):
        declaration_of(str(folder / "report.md"))


# Studies of one's own kind

DICE = """
from ratecheck.study import Conclusion


class Dice:
    name = "dice"

    def conduct(self, folder, options):
        seed = options.taken("seed", "strict").get("seed", 0)
        folder = options.into(folder or options.home)
        options.say("rolling")
        if not options.dry_run:
            folder.mkdir(parents=True, exist_ok=True)
            (folder / "report.md").write_text(options.command)
        return Conclusion(f"a {seed}", given_up=("the second roll",) if seed == 5 else (), refuted=seed == 6)


study = Dice()
"""


def test_any_object_that_conducts_itself_is_a_study(tmp_path, monkeypatch, capsys):
    folder = tmp_path / "studies" / "dice"
    folder.mkdir(parents=True)
    (folder / "study.py").write_text(DICE)
    monkeypatch.chdir(tmp_path)
    line = ["--study", "dice"]
    assert command.main([*line, "--dry-run"]) == 0
    said = capsys.readouterr()
    assert (said.out, said.err.strip()) == ("a 0\n", "rolling")
    assert not (folder / "report.md").exists()
    assert command.main([*line, "--seed", "3"]) == 0
    assert (folder / "report.md").read_text() == "python -m ratecheck.study --study dice --seed 3"
    assert command.main([*line, "--seed", "6", "--out", str(tmp_path / "out")]) == 0
    assert (tmp_path / "out" / "report.md").exists()
    assert command.main([*line, "--seed", "6", "--strict"]) == 3
    assert command.main([*line, "--seed", "5"]) == 1
    assert "the second roll" in capsys.readouterr().err
    assert command.main([*line, "--unit-timeout", "9"]) == 2
    assert "this study takes no --unit-timeout (it takes: --seed, --strict)" in capsys.readouterr().err
