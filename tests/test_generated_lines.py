"""Command lines made from the parsers' own options, sensible and odd: a plan or one sentence, at once."""

import argparse
from unittest import mock

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from function_zoo import gallery
from ratecheck.cli import main as cli
from ratecheck.cli import study as command
from ratecheck.cli import zoo as zoo_cli
from ratecheck.cli.parser import Parser
from studies.benchmarks import engine, generator, mutants
from studies.calibration import __main__ as calibration
from tests.command_lines import check_planned, check_refused, typed

pytestmark = pytest.mark.slow

SENSIBLE = {
    "family": ["cone", "quadratic", "branin", "all"],
    "study": ["declared", "studies/declared"],
    "dims": ["1", "2", "3"],
    "dim": ["1", "2", "3"],
    "width": ["printed", "corrected", "0.1", "2^-3"],
    "mu": ["min", "theorem", "5", "1e3"],
    "nu": ["min", "theorem", "5", "1e3"],
    "horizons": ["2^6:2^12", "1e3:1e5:1.5", "100,1000,10_000"],
    "noise": ["gaussian", "uniform:2", "student:1:4", "rademacher:0"],
    "scheduler": ["threads", "processes", "local:2", "tcp://127.0.0.1:8786"],
    "out": ["new", "new/below", "."],
    "folder": ["new", ".", "studies", "file"],
    "set": ["scale=3", "centre=(0.1,0.2)", "power=1"],
}
NUMBERS = ["1", "4", "20"]
ODD = [
    *("", " ", "-", "--", "-1", "0", "-0", "+1", "1.5", "1e3", "1e999", "nan", "inf", "-inf", "0x10", "１", "²", "1_0"),
    *("9" * 20, "9" * 400, "1e300", "1e-300", "1e-320", "99999999999", "100000000", "2^10:2^20:1.0000000001", "3:2^53"),
    *(
        "3:2^53:1.001",
        "2^2^2^2",
        "0^-1",
        ":",
        "::",
        ",",
        "1,1",
        "a\nb",
        "a\0b",
        "a\udcffb",
        "a" * 300,
        "é",
        "None",
        "[]",
    ),
    *("file", "file/below", "/dev/null", "/proc/x", "~", "..", "*", "%s", "{}", "local:", "local:1e3", "local:9999999"),
    *("foo://bar", "tcp://", "tcp://h:99999", "tcp://[", "gaussian:", "student:1:2", "student:nan", "scale=1is", "="),
    *("scale=" + "(" * 300, "scale='\\d'", "scale=" + "9" * 400, "dim=2", "all", "min", "theorem", "auto", "True"),
]


class Begun(Exception):
    """The words were accepted, and the work would begin."""


def parser_of(main, *before) -> argparse.ArgumentParser:
    with mock.patch.object(Parser, "parse_args", autospec=True, side_effect=Begun) as parse, pytest.raises(Begun):
        main(list(before))
    return parse.call_args.args[0]


@st.composite
def words(draw, parser, least=()):
    """The positional arguments, `least` and a few more of a parser's options; most of the values fit."""
    options = [a for a in parser._actions if a.option_strings and a.dest not in least]
    chosen = [a for a in parser._actions if not a.option_strings or a.dest in least]
    chosen += draw(st.lists(st.sampled_from(options), max_size=4))
    line = []
    for action in draw(st.permutations(chosen)):
        if isinstance(action, argparse._SubParsersAction):
            return [*line, *draw(subcommand(action))]
        values = st.sampled_from(list(action.choices or SENSIBLE.get(action.dest, NUMBERS)))
        value = values | values | values | st.sampled_from(ODD) | st.text(max_size=6)
        most = 0 if action.nargs == 0 else 3 if action.nargs == "+" else 1
        given_values = draw(st.lists(value, min_size=0 if action.nargs == "?" else most and 1, max_size=most))
        name = draw(st.sampled_from(action.option_strings)) if action.option_strings else None
        if name and len(given_values) == 1 and draw(st.booleans()):
            line.append(f"{name}={given_values[0]}")
        else:
            line += [name, *given_values] if name else given_values
    return line


@st.composite
def subcommand(draw, action):
    name = draw(st.sampled_from(list(action.choices)))
    return [name, *draw(words(action.choices[name]))]


@pytest.fixture(scope="module")
def place(tmp_path_factory):
    folder = tmp_path_factory.mktemp("line") / "inside"  # ".." holds nothing of other tests
    folder.mkdir()
    (folder / "file").write_text("")
    (folder / "studies" / "declared").mkdir(parents=True)
    (folder / "studies" / "declared" / "study.py").write_text(
        "from ratecheck.study import Study\nstudy = Study('declared', '?', [('cone', 1)])"
    )
    typed(command.main, ["--study", "declared", "--dry-run"], folder)  # what is imported once is not timed
    return folder


def examples(few, many):
    """The same test twice: with few examples, and with many in the slow lane."""
    quiet = {"deadline": None, "suppress_health_check": list(HealthCheck), "database": None}
    lanes = [
        pytest.param(settings(max_examples=few, derandomize=True, **quiet), id="few"),
        pytest.param(settings(max_examples=many, **quiet), id="many", marks=pytest.mark.slow),
    ]
    return pytest.mark.parametrize("lane", lanes)


@examples(120, 3000)
def test_studies(lane, place):
    parser = command.make_parser("study")
    lines = words(parser, ("family",)) | words(parser, ("study",)) | words(parser)

    @lane
    @given(lines)
    def each(line):
        ended = typed(command.main, [*line, "--dry-run"], place)
        if ended.code == 0 and "units to run" not in ended.out:
            assert {"-h", "--help", "--list"} & set(line), ended
            assert ended.err == ""
            assert ended.left == []
        elif ended.code == 0:
            check_planned(ended)
        else:
            check_refused(ended)

    each()


@pytest.mark.parametrize(
    "name", ["calibration", "engine", "generator", "mutants", "zoo", *sorted(set(cli.COMMANDS) - {"study", "zoo"})]
)
@examples(25, 600)
def test_other_commands(lane, name, place, monkeypatch):
    for module, work in ((zoo_cli, "audit"), (zoo_cli, "ProcessPoolExecutor"), (gallery, "gallery")):
        monkeypatch.setattr(module, work, mock.Mock(side_effect=Begun))
    for module, work in (
        (calibration, "calibrate"),
        (calibration, "timing"),
        (engine, "speed_table"),
        (generator, "measure"),
        (generator, "write_words"),
        (mutants, "cases"),
    ):
        monkeypatch.setattr(module, work, mock.Mock(side_effect=Begun))
    benchmarks = {"engine": engine.main, "generator": generator.main, "mutants": mutants.main}
    mains = {"calibration": calibration.main, **benchmarks}
    main, before = (mains[name], []) if name in mains else (cli.main, [name])

    @lane
    @given(words(parser_of(main, *before)))
    def each(line):
        try:
            ended = typed(main, [*before, *line], place)
        except Begun:
            return
        if ended.code == 0:
            assert {"-h", "--help", "list"} & set(line) or name in ("zoo", "completion"), ended
            assert ended.err == ""
            assert ended.left == []
        else:
            check_refused(ended)

    each()
