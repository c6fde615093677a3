"""Every example of every README runs as it stands, section by section, as a reader would type it.

The files of a section's blocks stay in one folder, each block of Python starts from nothing.  What its comments state
is checked: printed verdicts and numbers, values, and the columns of tables.  A block of Python that opens with the name
of a file is saved under it.  Not run as they stand, because they would take minutes: see SHORTER and NOT_HERE.
"""

import ast
import contextlib
import importlib
import io
import re
import shlex
import shutil
from contextlib import suppress
from importlib.util import find_spec
from pathlib import Path
from typing import NamedTuple

import pandas as pd
import pytest

from ratecheck.cli import main as cli

ROOT = Path(__file__).parents[1]
PAGES = ("README.md", "ratecheck/README.md", "function_zoo/README.md")
TEXTS = {page: (ROOT / page).read_text("utf-8") for page in PAGES}

SMALL = " --dims 1 --horizons 2^6:2^9 --replicates 4 --no-figures"
SHORTER = (  # what a line with this in it becomes; the rest is as it stands
    (r"^(?=.*ratecheck\.study)(?!.*(--dry-run|--list|--study))(.*)$", r"\2" + SMALL),  # minutes: fewer and shorter runs
    (r"^(.*ratecheck\.study --study .*)$", r"\1 --dry-run"),  # its horizons are its own: planned, not run
    (r" audit all ", " audit cone "),  # a minute and a half; tests/test_zoo.py audits every family
    (r"^(.*zoo gallery.*)$", r"\1 --family cone"),  # half a minute
)
# An installation takes minutes and a registry, and the tests cannot run themselves; .ci/run does both as they stand.
NOT_HERE = (r"^python3 -m venv \S+ && \S+pip install \S+ -e \S+ && (?:\.venv/bin/)?", r"^python -m pytest.*$")


class Block(NamedTuple):
    language: str
    text: str
    page: str
    line: int  # of that page, where it starts


def sections() -> dict[str, list[Block]]:
    """The blocks under each heading of the second level, page by page."""
    found = {}
    for page, text in TEXTS.items():
        for match in re.finditer(r"^```(python|sh)\n(.*?)^```", text, re.MULTILINE | re.DOTALL):
            heading = re.findall(r"^## (.*)$", text[: match.start()], re.MULTILINE)
            line = text[: match.start(2)].count("\n")
            title = f"{page}: {heading[-1] if heading else 'the top'}"
            found.setdefault(title, []).append(Block(match[1], match[2], page, line))
    return found


SECTIONS = sections()


def test_there_are_blocks_and_commands():
    assert sum(block.language == "python" for blocks in SECTIONS.values() for block in blocks) >= 6
    assert sum(len(commands(block)) for blocks in SECTIONS.values() for block in blocks) >= 12


@pytest.fixture
def folder(tmp_path, monkeypatch):
    """A folder like the repository, for commands that read its studies and name its files."""
    shutil.copytree(ROOT / "studies", tmp_path / "studies", ignore=shutil.ignore_patterns("*.sqlite*", "*.png"))
    (tmp_path / "ratecheck").symlink_to(ROOT / "ratecheck")
    monkeypatch.chdir(tmp_path)
    monkeypatch.syspath_prepend(str(tmp_path))
    return tmp_path


@pytest.mark.parametrize("section", SECTIONS)
def test_the_examples_of_a_section_run_in_its_order(section, folder):
    for block in SECTIONS[section]:
        if block.language == "python":
            named = re.match(r"# (\w+\.py)\b", block.text)
            if named:
                (folder / named[1]).write_text(block.text, "utf-8")
            run_python(block)
        else:
            for words in commands(block):
                run_command(words)


# Blocks of Python: a statement at a time, each beside what its comment states


def run_python(block):
    namespace = {"__name__": "__main__"}
    lines = block.text.splitlines()
    for statement in ast.parse(block.text).body:
        comment = lines[statement.end_lineno - 1].encode()[statement.end_col_offset :].decode().strip().lstrip("# ")
        ast.increment_lineno(statement, block.line)
        printed = io.StringIO()
        with contextlib.redirect_stdout(printed):
            if isinstance(statement, ast.Expr):
                value = eval(compile(ast.Expression(statement.value), block.page, "eval"), namespace)
            else:
                value = None
                exec(compile(ast.Module([statement], []), block.page, "exec"), namespace)
        if comment:
            check_comment(comment, value, printed.getvalue(), f"{block.page}, line {statement.lineno}")


def check_comment(comment, value, printed, where):
    if printed and re.search(r"\d|CONSISTENT|REFUTED|INCONCLUSIVE", comment):
        assert states(comment, printed), f"{where}: {comment!r} is not what is printed: {printed}"
    elif re.match(r"[(\[\"'\d-]", comment):
        assert states(comment, repr(value)), f"{where}: {comment!r} is not {value!r}"
    elif isinstance(value, pd.DataFrame):
        listed = re.sub(r"\(.*?\)|\.\.\.|^.*: ", "", comment).split(",")
        listed = {name.strip() for name in listed}
        missing = listed - {"", *value.columns} if not any(" " in name for name in listed) else ()  # a sentence
        assert not missing, f"{where}: the table has no {missing}, but {list(value.columns)}"


TOKEN = re.compile(r"[-+]?\d+(?:\.\d+)?(?:e[-+]?\d+)?|[^\W\d]\w*|[<>=]+")


def states(comment, said) -> bool:
    """Whether the words and numbers of a comment occur in what was said, in this order; numbers may be rounded."""
    words = iter(TOKEN.findall(said))
    return all(any(same(token, word) for word in words) for token in TOKEN.findall(comment))


def same(token, word) -> bool:
    if token == word:
        return True
    with suppress(ValueError):
        digits = len(token.partition(".")[2].partition("e")[0])
        return "e" not in token and abs(float(word) - float(token)) < 10.0**-digits
    return False


@pytest.mark.parametrize(
    ("comment", "said", "true"),
    [
        (
            "regret >= 12.3 in the worst case; certified",
            "cone: regret >= 12.345 in the worst case (r = 1); certified",
            1,
        ),
        ("regret >= 12.5 in the worst case", "cone: regret >= 12.345 in the worst case", 0),
        ("CONSISTENT: its slope +0.00 [...]", "CONSISTENT: its slope -0.0012 [-0.1, 0.1]", 1),
        ("CONSISTENT", "INCONCLUSIVE: more runs", 0),
    ],
)
def test_comments_are_really_checked(comment, said, true):
    assert states(comment, said) == bool(true)


# Commands


def commands(block) -> list[list[str]]:
    if block.language != "sh":
        return []
    found = []
    for line in block.text.replace("\\\n", " ").splitlines():
        line = shlex.join(shlex.split(line, comments=True))
        for pattern in NOT_HERE:
            line = re.sub(pattern, "", line.replace("'&&'", "&&"))
        for pattern, instead in SHORTER:
            line = re.sub(pattern, instead, line)
        if line:
            found.append(shlex.split(line))
    return found


def run_command(words):
    """In this process, where everything is compiled already; the exit code must be 0."""
    program, *arguments = words
    if program == "ratecheck":
        main = cli.main
    else:
        assert program == "python", words
        if arguments[0] == "-m":
            package = find_spec(arguments[1]).submodule_search_locations is not None
            module = importlib.import_module(arguments[1] + ".__main__" * package)
            main, arguments = module.main, arguments[2:]
        else:
            main, arguments = main_of_file(Path(arguments[0])), arguments[1:]
    printed, complaint = io.StringIO(), io.StringIO()
    with contextlib.redirect_stdout(printed), contextlib.redirect_stderr(complaint):
        try:
            code = main(arguments)
        except SystemExit as stop:
            code = stop.code
    assert not code, f"{shlex.join(words)}: {complaint.getvalue()}"
    assert printed.getvalue(), words


def main_of_file(path):
    assert path.is_file()
    return importlib.import_module(path.with_suffix("").as_posix().replace("/", ".")).main


def test_every_command_is_run_or_said_not_to_be():
    lines = [words for blocks in SECTIONS.values() for block in blocks for words in commands(block)]
    assert {words[0] for words in lines} <= {"python", "ratecheck"}


# What the README and the help texts say


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
    for module in set(re.findall(r"`python -m ([\w.]+)", "".join(TEXTS.values()))):
        path = ROOT / module.replace(".", "/")
        assert (path / "__main__.py").is_file() or path.with_suffix(".py").is_file(), module


@pytest.mark.parametrize("page", PAGES)
def test_every_linked_file_and_heading_exists(page):
    folder = (ROOT / page).parent
    for link, heading in re.findall(r"\]\(([^)#]*)(?:#([^)]*))?\)", TEXTS[page]):
        there = folder / link if link else ROOT / page
        assert there.exists(), link
        if heading:
            titles = re.findall(r"^#+ (.*)$", there.read_text("utf-8"), re.MULTILINE)
            assert heading in {re.sub(r"[^\w -]", "", title.lower()).replace(" ", "-") for title in titles}, heading


def test_the_first_page_is_short():
    assert TEXTS["README.md"].count("\n") <= 130
