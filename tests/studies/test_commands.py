"""Every command that a page of this repository prints: it exists, takes the options printed, and finds its study.

tests/test_readme.py runs those of the READMEs, section by section; the commands of reports may take hours.
"""

import importlib
import re
import shlex
import subprocess
from functools import cache
from importlib.util import find_spec, module_from_spec, spec_from_file_location
from pathlib import Path

import pytest

from ratecheck.cli.main import main as ratecheck
from ratecheck.study.declared import declaration
from tests.command_lines import typed

ROOT = Path(__file__).parents[2]
LISTED = subprocess.run(["git", "ls-files", "*.md"], cwd=ROOT, capture_output=True, text=True, check=True).stdout
FENCED = re.compile(r"^ *```(\w*)\n(.*?)^ *```", re.M | re.S)
PRINTED = re.compile(
    r"(?:^ *|[$] |&& )(?:\.venv/bin/)?((?:python (?:-m [a-z]|[a-z]\S*\.py)|ratecheck [a-z])[^`\n]*)", re.M
)
CONTINUED = re.compile(r"\\\n\s*")
OTHERS = ("python -m pytest", "python -m venv", "python -m mypy")


def printed() -> dict[str, str]:
    """The commands, each with a page that prints it."""
    found = {}
    for page in LISTED.split():
        text = CONTINUED.sub(" ", (ROOT / page).read_text("utf-8"))
        blocks = [block for language, block in FENCED.findall(text) if language in ("", "sh")]
        quoted = [" ".join(words.split()) for words in re.findall(r"`([^`]+)`", FENCED.sub("", text))]
        for command in PRINTED.findall("\n".join([*blocks, *quoted])):
            if not command.startswith((*OTHERS, "python -m studies.NAME")):  # which stands for all of them
                found.setdefault(shlex.join(shlex.split(command, comments=True)), page)
    return found


COMMANDS = printed()


@cache
def main_of(program: str):
    """The function behind `ratecheck`, `python -m module` or `python file.py`."""
    if program == "ratecheck":
        return ratecheck
    if program.endswith(".py"):
        spec = spec_from_file_location("script", ROOT / program)
        script = module_from_spec(spec)
        spec.loader.exec_module(script)
        return script.main
    package = find_spec(program).submodule_search_locations is not None
    return importlib.import_module(program + ".__main__" * package).main


def parts(command: str) -> tuple[str, list[str]]:
    """The program, and what it is given."""
    words = shlex.split(command)
    if words[0] == "python":
        words = words[2:] if words[1] == "-m" else words[1:]
    return words[0], words[1:]


def help_of(program: str, given: list[str], folder) -> str:
    """What it says of itself and its options; the verifiers take a file and nothing else, and have a line of usage."""
    if program.endswith((".verify", ".py")):
        ended = typed(main_of(program), [], folder)
        assert ended.code == 2, ended
        assert ended.err.startswith("usage: python "), ended
        return ended.err
    words = given[:2] if given[:1] == ["zoo"] else given[:1]
    command = [word for word in words if program == "ratecheck" and not word.startswith("-")]
    ended = typed(main_of(program), [*command, "--help"], folder)
    assert ended.code == 0, ended
    return ended.out


@pytest.mark.parametrize("command", COMMANDS)
def test_a_printed_command_exists_and_takes_what_it_is_given(command, tmp_path):
    program, given = parts(command)
    told = help_of(program, given, tmp_path)
    unknown = [word for word in given if word.startswith("--") and not re.search(rf"(?<!\S){word}\b", told)]
    assert not unknown, f"{COMMANDS[command]} prints {command}"


STUDIES = {name for command in COMMANDS for name in re.findall(r"--study ([\w/]+)", command) if name != "NAME"}


@pytest.mark.parametrize("name", sorted(STUDIES))
def test_a_printed_study_is_declared(name):
    assert declaration(name).name


@pytest.mark.parametrize(
    "command", ["python -m ratecheck.benchmarks.engine", "python ratecheck/minimax/second.py", "ratecheck certify a"]
)
def test_a_command_that_does_not_exist_is_noticed(command, tmp_path):
    program, given = parts(command)
    with pytest.raises((AssertionError, AttributeError, ImportError, FileNotFoundError)):
        help_of(program, given, tmp_path)


def test_pages_of_all_kinds_print_commands():
    assert {"README.md", "ratecheck/README.md", "studies/calibration/report.md"} <= set(COMMANDS.values())
    assert len(COMMANDS) > 90
