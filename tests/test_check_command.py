"""`ratecheck check`: code of the current folder, what is printed and written, and mistakes."""

import errno

import pytest

from ratecheck.cli.check import make_parser
from ratecheck.cli.main import main

MODULE = """
class Mine:
    def __init__(self, lower, upper, rng):
        self.lower, self.upper, self.rng = lower, upper, rng

    def ask(self):
        return self.rng.uniform(self.lower, self.upper)

    def tell(self, x, y):
        pass


class Broken(Mine):
    def tell(self, x, y):
        raise ZeroDivisionError("not today")


def bowl(x):
    return abs(x[0]) + abs(x[1])


def line(x):
    return abs(x - 0.3)
"""
RUNS = ["--horizons", "32,64,128,256", "--replicates", "6", "--quiet"]


@pytest.fixture
def here(tmp_path, monkeypatch):
    """A folder of a stranger, with a module that no other test imports."""
    name = f"bandits_{tmp_path.name.replace('-', '_')}"
    (tmp_path / f"{name}.py").write_text(MODULE)
    monkeypatch.chdir(tmp_path)
    monkeypatch.setattr("sys.path", [*__import__("sys").path])
    return name


def test_a_module_of_the_folder_is_found(here, capsys, tmp_path):
    what = ["--algorithm", f"{here}:Mine", "--cost", f"{here}:line", "--box", "-1", "1", "--rate", "sqrt(T)"]
    assert main(["check", *what, *RUNS, "--report", "out"]) == 0
    said = capsys.readouterr()
    assert said.out.startswith(("REFUTED", "INCONCLUSIVE"))
    assert "the regret of Mine on line, d = 1," in said.out
    assert said.err == ""
    assert (tmp_path / "out/report.md").is_file()


def test_files_boxes_rewards_and_strictness(here, capsys):
    what = ["--algorithm", f"./{here}.py:Mine", "--cost", f"./{here}.py:bowl", "--box", "-1", "1", "-2", "2"]
    more = [
        "--horizons",
        "2^5:2^9:2",
        "--replicates",
        "24",
        "--rate",
        "sqrt(T)",
        "--quiet",
        "--strict",
        "--noise",
        "0.5",
    ]
    assert main(["check", *what, *more, "--minimum", "0"]) == 3
    assert "Gaussian(sigma=0.5)" in capsys.readouterr().out
    reward = ["--algorithm", f"{here}:Mine", "--cost", f"{here}:line", "--box", "-1", "1", "--rate", "T", *RUNS]
    assert main(["check", *reward, "--maximise"]) == 0
    assert "the maximum 1.3 was searched for" in " ".join(capsys.readouterr().out.split())


def test_code_that_fails_is_shown_with_its_place(here, capsys):
    what = ["--algorithm", f"{here}:Broken", "--cost", f"{here}:line", "--box", "-1", "1", "--rate", "T"]
    assert main(["check", *what, *RUNS]) == 1
    said = capsys.readouterr().err
    assert "Broken.tell failed at step 1 (ZeroDivisionError: not today)" in said
    assert "in tell" in said


@pytest.mark.parametrize(
    ("words", "expected"),
    [
        ("--algorithm {0}:Mne --cost cone --rate T", "did you mean Mine?"),
        ("--algorithm {0}x:Mine --cost cone --rate T", "did you mean {0}?"),
        ("--algorithm ./{0}x.py:Mine --cost cone --rate T", "did you mean {0}.py?"),
        ("--algorithm adaptiv --cost cone", "did you mean adaptive?"),
        ("--algorithm adaptive --cost cne", "did you mean cone?"),
        ("--algorithm {0}:Mine --cost {0}:line --rate T", "give box="),
        ("--algorithm {0}:Mine --cost {0}:line --rate T --box -1", "low and high"),
        ("--algorithm {0}:Mine --cost {0}:line --rate T^ --box -1 1", "exponent is expected"),
        ("--algorithm {0}:Mine --cost {0}:line --rate T --box -1 1 --budget never", "must be a time"),
        ("--algorithm {0}:Mine --cost {0}:line --rate T --box -1 one", "is no number"),
        ("--algorithm {0}:Mine --cost cone --rate T --bugdet 3", "did you mean --budget?"),
        ("--cost cone", "--algorithm"),
    ],
)
def test_mistakes_are_one_sentence(here, capsys, words, expected):
    try:
        code = main(["check", *words.format(here).split(), "--quiet"])
    except SystemExit as end:
        code = end.code
    said = capsys.readouterr()
    assert code == 2
    assert said.out == ""
    assert said.err.startswith("error: ")
    assert said.err.count("\n") == 1
    assert expected.format(here) in said.err


def test_a_report_that_cannot_be_written_leaves_the_verdict(here, capsys, tmp_path, monkeypatch):
    what = ["--algorithm", f"{here}:Mine", "--cost", f"{here}:line", "--box", "-1", "1", "--rate", "sqrt(T)"]

    def full(*_):
        raise OSError(errno.ENOSPC, "No space left on device")

    monkeypatch.setattr("ratecheck.report.check_page.together", full)
    assert main(["check", *what, *RUNS, "--report", "out"]) == 1
    said = capsys.readouterr()
    assert said.out.startswith(("REFUTED", "INCONCLUSIVE"))
    assert said.err == "error: out cannot be written (No space left on device); the verdict is the one above\n"
    (tmp_path / "out/report.md").write_text("a study")
    assert main(["check", *what, *RUNS, "--report", "out"]) == 2
    said = capsys.readouterr()
    assert said.out == ""
    assert "no report of a check" in said.err


def test_help_says_that_code_is_imported():
    said = make_parser("ratecheck check").format_help()
    assert "executes their code" in said
    assert "--budget" in said


def test_a_file_whose_name_is_no_module_works_in_processes_too(here, capsys, tmp_path):
    """By value, for nobody else finds a module of that name; a dataclass finds its module all the same."""
    head = "from __future__ import annotations\nfrom dataclasses import dataclass\n"
    (tmp_path / "my-bandits.py").write_text(f"{head}\n@dataclass\nclass Box:\n    side: int\n{MODULE}")
    what = ["--algorithm", "my-bandits.py:Mine", "--cost", "my-bandits.py:line", "--box", "-1", "1", "--rate", "T"]
    assert main(["check", *what, *RUNS, "--workers", "2"]) == 0
    assert "on line" in capsys.readouterr().out
