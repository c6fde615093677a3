"""Studies as their users meet them: the command, its mistakes, its interruptions, its files."""

import json
import math
import shlex
import signal
import subprocess
import sys
import time
from pathlib import Path

import pandas as pd
import pytest

import function_zoo as zoo
from ratecheck import cli
from ratecheck.algorithms import AdaptiveBins, AskTell, UniformBins
from ratecheck.analysis import analyse
from ratecheck.rates import Rate
from ratecheck.store import FILE, Store
from ratecheck.study import Grid, Study, TooFast
from ratecheck.study import __main__ as command
from ratecheck.study.conduct import conduct
from ratecheck.study.plan import Case, cases
from tests.strategies import ExploreThenCommit

ROOT = Path(__file__).parents[1]
SMALL = ["--dims", "1", "--horizons", "2^6:2^15", "--replicates", "8", "--no-figures"]


def run(*arguments, **options):
    return subprocess.run(
        [sys.executable, "-m", "ratecheck.study", *map(str, arguments)],
        capture_output=True,
        text=True,
        check=False,
        **options,
    )


def digest(folder):
    with Store(folder) as store:
        return store.digest()


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
    for row in fits.itertuples():
        assert row.low <= row.slope <= row.high
        if row.theorem in ("Theorem 1", "Theorem 2"):
            assert row.algorithm in process.stdout
    assert "2 of 2 refuted" in process.stdout
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


def no_audit(cost, stop=None):
    return []


@pytest.fixture
def no_audits(monkeypatch):
    """Audits take seconds and are tested elsewhere."""
    monkeypatch.setattr("ratecheck.study.runner.audit", no_audit)


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
        assert store.table()["seed"].value_counts().nunique() == 1  # both are there, equally many
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
        (["--family", "cone", "--mu", "big"], "must be min, theorem or a number"),
        (["--family", "cone", "--mu", "min", "min"], "same algorithm twice"),
        (["--family", "cone", "--noise", "cauchy"], "the laws are"),
        (["--family", "cone", "--noise", "gaussian:1:2:3"], "too many numbers"),
        (["--family", "cone", "--noise", "gaussian:10^400"], "--noise gaussian:10^400: 10^400 is no finite number"),
        (["--family", "cone", "--mu", "0^-1"], "must be min, theorem or a number"),
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
        (["--family", "cone", "--resume", "--fresh"], "not allowed with"),
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


# Interruptions


LONG = ["--family", "cone", "--dims", "1", "--horizons", "2^8:2^19", "--replicates", "24", "--no-figures"]


@pytest.mark.parametrize("blow", [signal.SIGINT, signal.SIGKILL])
def test_interrupted_and_resumed_it_ends_with_the_same_bits(tmp_path, blow):
    folder, whole = tmp_path / "interrupted", tmp_path / "whole"
    interpreter = [sys.executable, "-m", "ratecheck.study"]
    with subprocess.Popen([*interpreter, *LONG, "--out", str(folder)], stderr=subprocess.PIPE, text=True) as process:
        deadline = time.monotonic() + 120
        while time.monotonic() < deadline and process.poll() is None and units(folder) < 2:
            time.sleep(0.02)
        process.send_signal(blow)
        said = process.stderr.read()
    stored = units(folder)
    assert stored >= 2
    if blow == signal.SIGINT:
        assert process.returncode == 130
        assert "the same command goes on from there" in said
        assert "Traceback" not in said
    resumed = run(*LONG, "--out", folder)
    assert resumed.returncode == 0
    assert run(*LONG, "--out", whole, "--workers", "1").returncode == 0
    assert digest(folder) == digest(whole)
    assert units(folder) >= stored
    assert (folder / "fits.csv").read_bytes() == (whole / "fits.csv").read_bytes()
    with Store(folder) as store:
        assert len(store.sessions()) == 2


def units(folder) -> int:
    if not (folder / FILE).exists() or not (folder / FILE).stat().st_size:
        return 0
    try:
        with Store(folder) as store:
            return store.connection.execute("SELECT COUNT(*) FROM units").fetchone()[0]
    except Exception:  # the other process is just making it
        return 0


def test_nobody_listening_is_no_reason_to_stop(tmp_path):
    command_line = f"{sys.executable} -m ratecheck.study --family cone {' '.join(SMALL)} --out"
    for n, ending in enumerate(("2>&1 | head -1", "2>&-", "> /dev/null 2> /dev/full")):
        folder = tmp_path / str(n)
        subprocess.run(f"{command_line} {folder} {ending}", shell=True, capture_output=True, check=False)
        assert (folder / "report.md").exists(), ending
        with Store(folder) as store:
            assert store.sessions()[0]["units"] > 0


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


def test_two_at_once_in_one_folder(tmp_path):
    interpreter = [sys.executable, "-m", "ratecheck.study"]
    with subprocess.Popen([*interpreter, *LONG, "--out", str(tmp_path)], stderr=subprocess.PIPE, text=True) as first:
        while first.poll() is None and units(tmp_path) < 1:
            time.sleep(0.02)
        second = run(*LONG, "--out", tmp_path)
        assert first.poll() is None, "the first one ended too early for this test"
        first.stderr.read()
    assert first.returncode == 0
    assert second.returncode == 2
    assert f"in use by process {first.pid}" in second.stderr
    with Store(tmp_path) as store:
        assert not store.table().duplicated(["series", "replicate", "horizon"]).any()


@pytest.mark.usefixtures("no_audits")
def test_a_full_disk_says_so(tmp_path, monkeypatch, capsys):
    assert command.main(["--family", "quadratic", *SMALL, "--out", str(tmp_path)]) == 0
    before = digest(tmp_path)
    make = Store.__init__

    def cramped(self, *arguments, **options):
        make(self, *arguments, **options)
        pages = self.connection.execute("PRAGMA page_count").fetchone()[0]
        self.connection.execute(f"PRAGMA max_page_count = {pages}")

    monkeypatch.setattr(Store, "__init__", cramped)
    capsys.readouterr()
    code = command.main(["--family", "quadratic", *SMALL, "--replicates", "400", "--out", str(tmp_path)])
    assert code == 1
    said = capsys.readouterr().err
    assert "cannot grow" in said
    assert "Traceback" not in said
    monkeypatch.undo()
    assert digest(tmp_path) == before
    assert command.main(["--family", "quadratic", *SMALL, "--replicates", "12", "--out", str(tmp_path)]) == 0


# Other doors


def test_export(finished, tmp_path, capsys):
    folder, _ = finished
    assert cli.main(["export", str(folder), "--csv", str(tmp_path / "runs.csv")]) == 0
    table = pd.read_csv(tmp_path / "runs.csv")
    with Store(folder) as store:
        assert len(table) == len(store.table())
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
    code = "import sys; from ratecheck.study.__main__ import main\ntry: main(['--help'])\nexcept SystemExit: pass\n"
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
        study, table = store.noted("study"), store.table()
    kept = [Case.from_json(c) for c in study["cases"]]
    wrong = table.assign(regret=table["regret"] * table["horizon"] ** 0.5)
    for runs, code in ((table, 0), (wrong, 3)):
        result = analyse(kept, runs, 0.05)
        monkeypatch.setattr("ratecheck.study.conduct.conduct", lambda *a, result=result, **k: (result, folder))
        assert command.main(["--family", "quadratic", "--strict"]) == code
        assert command.main(["--family", "quadratic"]) == 0
    assert "REFUTED" in capsys.readouterr().out


def test_nothing_is_refuted_while_the_algorithm_still_wanders(finished):
    folder, _ = finished
    with Store(folder) as store:
        study, table = store.noted("study"), store.table()
    case = next(c for c in map(Case.from_json, study["cases"]) if not c.anytime)
    linear = case.random_regret * table["horizon"] * (1 + 0.01 * (table["replicate"] % 3))

    def judged(share, slope):
        first = case.horizons[0]
        runs = table.assign(regret=share * linear * (table["horizon"] / first) ** (slope - 1))
        return analyse([case], runs, 0.05).results[0].own

    assert judged(0.3, 0.9).name == "REFUTED"
    held = judged(0.7, 0.9)
    assert held.name == "INCONCLUSIVE"
    assert "a step still costs 7" in held.reason
    assert judged(1.0, 1.0).name == "REFUTED"  # it never learns


# From arguments to studies


def test_notations_of_horizons():
    assert command.horizons("2^10:2^20") == Grid(2**10, 2**20, None, periods=None)
    assert command.horizons("1e3..1e6:x1.5") == Grid(1000, 10**6, 1.5, periods=None)
    assert command.horizons("2**4:1_000:2") == Grid(16, 1000, 2.0, periods=None)
    assert command.horizons("100,1e3,2^14") == (100, 1000, 2**14)


def test_the_command_that_a_report_names_gives_the_same_study():
    given = "--family cone quartic --dims 1 2 --horizons 2^6:2^12 --mu min theorem --noise student:2 --seed 3"
    parser = command.make_parser("x")
    study = command.ad_hoc(parser.parse_args(given.split()))
    assert study.name == "cone+quartic"
    words = shlex.split(study.command)[3:]
    again = command.ad_hoc(parser.parse_args(words))
    assert [case.to_json() for case, _, _ in cases(again)] == [case.to_json() for case, _, _ in cases(study)]
    assert "--out" not in study.command
    arguments = parser.parse_args(["--study", str(ROOT / "studies" / "mu"), "--preset", "quick", "--seed", "4"])
    assert command.declared(arguments).command.endswith("mu --preset quick --seed 4")


def test_horizons_of_the_standard_preset():
    for family in zoo.families():
        for dim in (1, 2, 3):
            try:
                cost = zoo.get(family, dim)
            except zoo.InvalidChoice:
                continue
            study = Study("s", "?", [cost], horizons=Grid())
            uniform, adaptive = (case for case, _, _ in cases(study))
            assert uniform.horizons[0] == adaptive.horizons[0] == 2**10
            ratios = [b / a for a, b in zip(adaptive.horizons, adaptive.horizons[1:], strict=False)]
            assert max(ratios) <= 2.01
            assert math.log(adaptive.period) / math.log(max(ratios)) >= 3.99
            beyond = adaptive.horizons[-1] / max(adaptive.onset, 2**10)
            enough = beyond >= adaptive.period**2.5 / max(ratios)
            capped = adaptive.horizons[-1] > 2**25 / 2.01
            hopeless = max(adaptive.onset, 2**10) * adaptive.period**2 > 2**25
            assert enough or capped or hopeless, (family, dim)
            assert adaptive.horizons[-1] >= 2**20 / 2.01
            assert adaptive.window[1] == adaptive.horizons[-1]


def test_cases_survive_json():
    study = Study(
        "s", "?", [("ring", 2)], algorithms=[UniformBins(), AdaptiveBins(mu="theorem"), AdaptiveBins(alpha=1.0)]
    )
    for case, _, _ in cases(study):
        assert Case.from_json(json.loads(json.dumps(case.to_json()))) == case
    labels = [case.algorithm for case, _, _ in cases(study)]
    assert labels == ["UniformBins", "AdaptiveBins(mu=theorem)", "AdaptiveBins(alpha=1)"]
    assert cases(study)[2][0].claims[0].theorem == "Theorem 2, α0 < α"


@pytest.mark.parametrize(
    ("change", "words"),
    [
        ({"name": "a b"}, "no name for a study"),
        ({"costs": []}, "at least one cost"),
        ({"controls": []}, "no negative control"),
        ({"margin": 0}, "between 0 and 1"),
        ({"window": (100, 10)}, "must increase"),
        ({"noise": 1.0}, "no noise law"),
        ({"costs": [("cone", 1), ("cone", 1)]}, "names a cost twice"),
        ({"horizons": [2, 4, 8]}, "3 or larger"),
        ({"algorithms": [UniformBins(), UniformBins()]}, "same algorithm twice"),
    ],
)
def test_bad_declarations(change, words):
    with pytest.raises(ValueError, match=words):
        Study(**({"name": "s", "question": "?", "costs": [("cone", 1)]} | change))


def test_an_algorithm_may_live_in_the_declaration(tmp_path, capsys):
    folder = tmp_path / "own_strategy"
    folder.mkdir()
    (folder / "study.py").write_text(
        "from ratecheck import AskTell, Rate\n"
        "from ratecheck.study import Study\n"
        "from tests.strategies import RandomSearch\n"
        "class Lazy(RandomSearch):\n    pass\n"
        "study = Study('own_strategy', 'Is it linear?', [('cone', 1)], algorithms=[AskTell(Lazy, promise=Rate(0.0))],\n"
        "              horizons=[8, 64, 512], replicates=4)\n"
    )
    assert command.main(["--study", str(folder), "--no-figures", "--workers", "1", "--out", str(tmp_path / "out")]) == 0
    with Store(tmp_path / "out") as store:
        assert len(store.table()) == 12
        assert store.sessions()[0]["where"] == "processes"


@pytest.mark.usefixtures("no_audits")
def test_a_plain_python_algorithm_is_studied_on_processes(tmp_path):
    study = Study(
        name="commit",
        question="?",
        costs=[("cone", 1)],
        algorithms=[AskTell(ExploreThenCommit, promise=Rate(1 / 3, 1.0))],
        horizons=[64, 256, 1024, 4096],
        replicates=12,
        controls=[TooFast(0.5)],
    )
    analysis, page = conduct(study, tmp_path, workers=2, figures=False)
    (result,) = analysis.results
    assert result.found == 12
    assert result.own.claim.theorem == "its promise"
    assert "ExploreThenCommit" in page.read_text()
    with Store(tmp_path) as store:
        assert store.sessions()[0]["where"] == "processes"
    with pytest.raises(ValueError, match="promises nothing"):
        cases(Study("s", "?", [("cone", 1)], algorithms=[AskTell(ExploreThenCommit)]))


def test_a_changed_plan_is_counted(tmp_path):
    def plans(*more):
        assert command.main(["--family", "cone", *SMALL, *more, "--out", str(tmp_path)]) == 0
        with Store(tmp_path) as store:
            return len(store.noted("plans"))

    assert plans() == 1
    assert plans() == 1
    assert plans("--horizons", "2^8:2^15") == 2


# Declared studies


@pytest.mark.parametrize("path", sorted((ROOT / "studies").glob("*/study.py")), ids=lambda p: p.parent.name)
def test_declared_studies(path, monkeypatch):
    monkeypatch.chdir(ROOT)
    study = command.load(path).study
    assert study.name == path.parent.name
    assert study.question.endswith("?")
    assert study.controls
    assert study.replicates >= 64
    for case, _, _ in cases(study):
        assert case.controls
        assert case.claims[0].per_cost
    assert not any(line.startswith(("def ", "class ", "if ", "for ")) for line in path.read_text().splitlines())


def test_every_family_belongs_to_a_declared_study():
    studied = {cost.name for p in (ROOT / "studies").glob("*/study.py") for cost in command.load(p).study.costs}
    assert studied == set(zoo.families())
