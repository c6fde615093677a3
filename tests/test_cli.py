"""The console script: its commands, what was probably meant, and tab completion in a real shell."""

import re
import shlex
import subprocess
import sys
from functools import cache
from pathlib import Path

import pytest

from function_zoo import families
from ratecheck.arguments import meant
from ratecheck.cli import completion
from ratecheck.cli import main as cli
from ratecheck.cli.parser import Parser
from tests.command_lines import check_refused, typed

ROOT = Path(__file__).parents[1]
script = cache(completion.script)


@pytest.mark.parametrize("words", [[], ["--help"], ["-h"]])
def test_help_lists_every_command_with_a_sentence(words, tmp_path):
    ended = typed(cli.main, words, tmp_path)
    assert ended.code == 0
    for name, command in cli.COMMANDS.items():
        assert any(line.split()[:1] == [name] and command.does in line for line in ended.out.splitlines())


def test_version_and_python_m(tmp_path):
    ended = typed(cli.main, ["--version"], tmp_path)
    called = subprocess.run(
        [sys.executable, "-m", "ratecheck", "--version"], capture_output=True, text=True, check=True
    )
    assert (ended.code, ended.out) == (0, called.stdout)
    assert ended.out.startswith("ratecheck 0.")


@pytest.mark.parametrize(
    ("words", "said"),
    [
        (["reprot"], "no command 'reprot'; did you mean report?"),
        (["Study"], "no command 'Study'; did you mean study?"),
        (["--verison"], "did you mean --version?"),
        (["nothing like it"], "commands: "),
        (["study", "--study", "bowsl"], "did you mean bowls?"),
        (["study", "--family", "cone", "--preset", "qick"], "did you mean quick?"),
        (["study", "--family", "cone", "--algorithms", "adpative"], "did you mean adaptive?"),
        (["study", "--family", "cnoe"], "did you mean 'cone'?"),
        (["study", "--family", "cone", "--replicats", "3"], "no option --replicats; did you mean --replicates?"),
        (["study", "--family", "cone", "--replicats=3"], "no option --replicats; did you mean --replicates?"),
        (["study", "--family", "cone", "--replic", "3"], "no option --replic; did you mean --replicates?"),
        (["report", "--htlm", "x"], "did you mean --html?"),
        (["zoo", "audti"], "did you mean audit?"),
        (["zoo", "audit", "cone", "--dims", "2"], "did you mean --dim?"),
        (["completion", "bsh"], "did you mean bash?"),
    ],
    ids=lambda value: " ".join(value) if isinstance(value, list) else None,
)
def test_what_was_probably_meant(words, said, tmp_path):
    folder = tmp_path / "studies" / "bowls"
    folder.mkdir(parents=True)
    (folder / "study.py").write_text("")
    ended = typed(cli.main, words, tmp_path)
    check_refused(ended)
    assert said in ended.err


def test_nothing_is_proposed_where_nothing_is_near():
    assert meant("xyzzy", ["report", "study"]) == ""


@pytest.mark.parametrize("name", cli.COMMANDS)
def test_a_parser_is_made_without_running_anything(name):
    parser = cli.COMMANDS[name].make_parser(f"ratecheck {name}")
    assert isinstance(parser, Parser)
    assert parser.prog == f"ratecheck {name}"


@pytest.mark.parametrize(
    ("line", "proposed"),
    [
        ("ratecheck rep", ["report"]),
        ("ratecheck --v", ["--version"]),
        ("ratecheck study --rep", ["--replicates"]),
        ("ratecheck study --family twin_", ["twin_cone"]),
        ("ratecheck study --family cone twin_", ["twin_cone"]),
        ("ratecheck study --family cone --preset ", ["quick", "standard", "full"]),
        ("ratecheck study --family cone --algorithms uniform ad", ["adaptive"]),
        ("ratecheck study --preset quick --dry", ["--dry-run"]),
        ("ratecheck zoo ", ["list", "audit", "gallery"]),
        ("ratecheck zoo audit qua", ["quadratic", "quartic"]),
        ("ratecheck zoo audit cone --se", ["--set", "--seed"]),
        ("ratecheck zoo gallery --family ack", ["ackley"]),
        ("ratecheck completion ", ["bash", "zsh", "fish"]),
        ("ratecheck study --out s", ["script", "studies"]),  # files
        ("ratecheck nonsense --x", []),
    ],
)
def test_bash_completes(line, proposed, tmp_path):
    (tmp_path / "studies").mkdir()
    (tmp_path / "script").write_text(script("bash"))
    words = line.split(" ")
    typing = f"COMP_WORDS=({' '.join(map(shlex.quote, words))}); COMP_CWORD={len(words) - 1}"
    ask = f'source ./script && {typing}; _shtab_ratecheck; printf "%s\\n" "${{COMPREPLY[@]}}"'
    found = subprocess.run(["bash", "-c", ask], cwd=tmp_path, capture_output=True, text=True, check=True)
    assert found.stderr == ""
    assert sorted(found.stdout.split()) == sorted(proposed)


def test_bash_takes_the_script_as_it_is(tmp_path):
    (tmp_path / "script").write_text(script("bash"))
    ask = "source ./script && complete -p ratecheck"
    found = subprocess.run(["bash", "-c", ask], cwd=tmp_path, capture_output=True, text=True, check=True)
    assert "-F _shtab_ratecheck ratecheck" in found.stdout


@pytest.mark.parametrize("shell", ["zsh", "fish"])
def test_other_shells_know_every_command_option_and_family(shell):
    flags = {flag for name, command in cli.COMMANDS.items() for flag in command.make_parser(name)._known()}
    words = {*(flag.lstrip("-") for flag in flags), *cli.COMMANDS, *families()}
    assert words <= set(re.findall(r"[\w-]+", script(shell).replace("--", " ")))


TABLE = "T,regret\n100,10\n200,14.3\n400,20\n800,28.1\n"


@pytest.mark.parametrize(
    ("code", "spared"),
    [
        ("import ratecheck", {"numpy", "pandas", "numba", "scipy"}),
        ("main(['--help'])", {"numpy", "pandas", "numba", "scipy", "function_zoo"}),
        ("main(['fit', 'table.csv', '--rate', 'sqrt(T)'])", {"numba", "matplotlib", "function_zoo"}),
    ],
)
def test_nobody_waits_for_what_a_command_does_not_need(code, spared, tmp_path):
    (tmp_path / "table.csv").write_text(TABLE)
    start = "from ratecheck.cli.main import main\n" if "main(" in code else ""
    code = f"import sys\n{start}{code}\nprint('\\nloaded', *({spared!r} & set(sys.modules)))"
    out = subprocess.run([sys.executable, "-c", code], cwd=tmp_path, capture_output=True, text=True, check=True)
    assert out.stdout.splitlines()[-1].split() == ["loaded"]
