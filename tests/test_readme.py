"""Every block of the README runs as it stands, pasted alone or one after the other; its commands are understood."""

import re
import shlex
from contextlib import suppress
from pathlib import Path

import pytest

import function_zoo as zoo
import ratecheck as rc
from ratecheck import cli
from ratecheck.minimax import second, verify
from ratecheck.study import command

ROOT = Path(__file__).parents[1]
TEXT = (ROOT / "README.md").read_text("utf-8")
BLOCKS = re.findall(r"^```python\n(.*?)^```", TEXT, re.MULTILINE | re.DOTALL)
LINES = [
    line for block in re.findall(r"^```sh\n(.*?)^```", TEXT, re.MULTILINE | re.DOTALL) for line in block.splitlines()
]
COMMANDS = [shlex.split(line, comments=True) for line in LINES if not line.startswith("python3 -m venv")]


@pytest.mark.parametrize("block", BLOCKS, ids=range(len(BLOCKS)))
def test_a_block_runs_when_it_is_pasted_alone(block, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    exec(compile(block, "README.md", "exec"), {"__name__": "__main__"})


@pytest.mark.slow
def test_blocks_run_one_after_the_other(capsys, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    namespace = {"__name__": "__main__"}
    for block in BLOCKS:
        exec(compile(block, "README.md", "exec"), namespace)
    said = capsys.readouterr().out
    assert "exponent CONSISTENT, printed log power REFUTED, corrected log power CONSISTENT" in said
    assert str(namespace["runs"].algorithm).startswith("AdaptiveBins")


def test_there_are_blocks_and_commands():
    assert len(BLOCKS) >= 6
    assert len(COMMANDS) >= 12


@pytest.mark.parametrize("words", COMMANDS, ids=" ".join)
def test_a_command_is_understood(words, capsys, monkeypatch, tmp_path):
    """Studies are planned and not run; other commands are asked for their help with the same options."""
    monkeypatch.chdir(ROOT)
    if words[:3] == ["python", "-m", "ratecheck.study"]:
        cluster = words.index("--scheduler") if "--scheduler" in words else len(words)
        arguments = [*words[3:cluster], *words[cluster + 2 :]]
        assert (
            command.main([*arguments, *([] if "--list" in words else ["--dry-run", "--out", str(tmp_path / "x")])]) == 0
        )
        assert "units to run" in capsys.readouterr().out or "--list" in words
        return
    if words[-1] == "certificate.json":
        rc.lower_bound(zoo.get("cone", 1), 1e3).save(tmp_path / "certificate.json")
        where = words[1] if words[1] != "-m" else words[2].replace(".", "/") + ".py"
        verifier = {"second.py": second, "verify.py": verify}[where.rpartition("/")[2]]
        assert (ROOT / where).samefile(verifier.__file__)
        assert verifier.main([str(tmp_path / "certificate.json")]) == 0
        return
    arguments = ["zoo", *words[3:]] if words[:3] == ["python", "-m", "function_zoo"] else words[1:]
    assert arguments[0] in cli.COMMANDS
    with pytest.raises(SystemExit) as stop:
        cli.main([*arguments, "--help"])
    assert stop.value.code == 0


def test_help_says_what_executes_code_and_what_checksums_are_worth(capsys):
    for words, said in (
        (["--help"], "`verify --study PATH` execute the study.py"),
        (["study", "--help"], "--study executes the study.py"),
        (["verify", "--help"], "With --study it executes that study.py"),
        (["verify", "--help"], "not a forger who computes them anew"),
        (["report", "--help"], "executes nothing of it"),
        (["report", "--help"], "a folder that cannot be written to"),
    ):
        with suppress(SystemExit):
            cli.main(words)
        assert said in " ".join(capsys.readouterr().out.split())


def test_commands_in_sentences_exist():
    for module in set(re.findall(r"`python -m ([\w.]+)", TEXT)):
        path = ROOT / module.replace(".", "/")
        assert (path / "__main__.py").is_file() or path.with_suffix(".py").is_file(), module


def test_every_linked_file_exists():
    for link in re.findall(r"\]\(([^)#]+)\)", TEXT):
        assert (ROOT / link).exists(), link
