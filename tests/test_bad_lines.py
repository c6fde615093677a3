"""Mistakes on the command line: one sentence, exit code 2, at once, nothing written."""

import socket
import sys
import threading

import pytest

from ratecheck.cli import main as cli
from ratecheck.cli import study as command
from ratecheck.cli import zoo as zoo_cli
from studies.benchmarks import engine, generator, mutants
from studies.calibration import __main__ as calibration
from tests.command_lines import check_planned, check_refused, typed

pytestmark = pytest.mark.slow

MANY = "9" * 400
CONE = ["--family", "cone", "--dims", "1"]
LINUX = pytest.mark.skipif(not sys.platform.startswith("linux"), reason="needs /proc")

REFUSED = [
    ["--study", ""],
    ["--study", "", "--list", ""],
    ["--study=--"],
    ["--family=--"],
    ["--study", "a\nb"],
    ["--study", "a\0b"],
    ["--study", "a\udcffb"],
    ["--study", "a" * 300],
    ["--family", ""],
    ["--family", "a\nb"],
    ["--family", "all", ""],
    ["--family", "cone", "--dims", "17"],
    ["--family", "cone", "--dims", "-1"],
    ["--family", "cone", "--dims", MANY],
    ["--family", "cone", "--dims", "inf"],
    [*CONE, "--horizons", ""],
    [*CONE, "--horizons", "a\nb"],
    [*CONE, "--horizons", "nan:inf"],
    [*CONE, "--horizons", "2^10:1e300"],
    [*CONE, "--horizons", f"{MANY}:{MANY}"],
    [*CONE, "--horizons", "2^10:2^20:1.0000000001"],
    [*CONE, "--horizons", "3:2^53:1.001"],
    [*CONE, "--replicates", "-0"],
    [*CONE, "--replicates", "1e999"],
    [*CONE, "--replicates", "0x10"],
    [*CONE, "--replicates", "99999999999"],
    [*CONE, "--replicates", "100000000"],
    [*CONE, "--replicates", MANY],
    [*CONE, "--seed", MANY],
    [*CONE, "--seed", "nan"],
    [*CONE, "--workers", MANY],
    [*CONE, "--workers", "99999999"],
    [*CONE, "--workers", "-3"],
    [*CONE, "--mu", "nan"],
    [*CONE, "--mu", MANY],
    [*CONE, "--mu", ""],
    [*CONE, "--width", "0"],
    ["--family", "cone", "--dims", "3", "--width", "1e-299"],
    [*CONE, "--algorithms", "hoo", "--nu", "-1"],
    ["--family", "cone", "--mu", "1e100"],
    [*CONE, "--noise", ""],
    [*CONE, "--noise", "student:nan"],
    [*CONE, "--noise", "gaussian:"],
    [*CONE, "--noise", "gaussian::2"],
    [*CONE, "--noise", "a\nb"],
    [*CONE, "--scheduler", ""],
    [*CONE, "--scheduler", "foo://bar"],
    [*CONE, "--scheduler", "tcp://"],
    [*CONE, "--scheduler", "tcp://host"],
    [*CONE, "--scheduler", "tcp://host:"],
    [*CONE, "--scheduler", "tcp://:8786"],
    [*CONE, "--scheduler", "tcp://host:0"],
    [*CONE, "--scheduler", "tcp://host:99999"],
    [*CONE, "--scheduler", "tcp://ho st:8786"],
    [*CONE, "--scheduler", "tcp://[::1:8786"],
    [*CONE, "--scheduler", "tcp://host:8786/path"],
    [*CONE, "--scheduler", "local:"],
    [*CONE, "--scheduler", "local:-1"],
    [*CONE, "--scheduler", "local:0"],
    [*CONE, "--scheduler", "local:²"],
    [*CONE, "--scheduler", "local:1e3"],
    [*CONE, "--scheduler", "local:99999999"],
    [*CONE, "--scheduler", f"local:{MANY}"],
    [*CONE, "--scheduler", "threads", "--unit-timeout", "5"],
    [*CONE, "--out", ""],
    [*CONE, "--out", "a\0b"],
    [*CONE, "--out", "a" * 300],
    [*CONE, "--out", "a\udcffb"],
    [*CONE, "--out", "file"],
    [*CONE, "--out", "file/below"],
    [*CONE, "two\nlines"],
]


@pytest.fixture
def place(tmp_path):
    (tmp_path / "file").write_text("")
    return tmp_path


@pytest.mark.parametrize("dry", [True, False])
@pytest.mark.parametrize("words", REFUSED, ids=lambda words: " ".join(words)[:60].encode("unicode_escape").decode())
def test_a_study(words, dry, place):
    check_refused(typed(command.main, [*words, "--dry-run"] if dry else words, place))


@LINUX
def test_a_study_in_a_place_where_not_even_root_can_write(place):
    check_refused(typed(command.main, [*CONE, "--out", "/proc/x"], place))


@pytest.mark.parametrize(
    "words",
    [
        ["--algorithms", "hoo", "--nu", "1e100"],
        ["--mu", "1e-320"],
        ["--mu", "0"],
        ["--dims", "1", "1"],
        ["--dims", "１"],
        ["--dims", "9"],
        ["--replicates", "1_000"],
        ["--replicates", "50000"],
        ["--preset", "quick", "--horizons", "3:2^30"],
        ["--workers", "3", "--scheduler", "tcp://127.0.0.1:1"],
        ["--scheduler", "tls://[::1]:8786"],
    ],
)
def test_what_can_be_planned_is_planned_at_once(words, place):
    check_planned(typed(command.main, ["--family", "cone", *words, "--dry-run"], place))


@pytest.mark.parametrize("words", [b"", b"HTTP/1.1 400 Bad Request", b"SSH"])
def test_an_address_at_which_something_else_listens(words, place, monkeypatch):
    monkeypatch.setattr("ratecheck.executors.cluster.CONNECT", 0.3)
    with socket.create_server(("127.0.0.1", 0)) as server:
        connections = []

        def answer():
            connections.append(server.accept()[0])
            connections[0].sendall(words)

        threading.Thread(target=answer, daemon=True).start()
        address = f"tcp://127.0.0.1:{server.getsockname()[1]}"
        ended = typed(command.main, [*CONE, "--scheduler", address], place)
        connections[0].close()
    check_refused(ended)
    assert address in ended.err


def test_an_address_at_which_nobody_listens(place, monkeypatch):
    monkeypatch.setattr("ratecheck.executors.cluster.CONNECT", 0.3)
    ended = typed(command.main, [*CONE, "--scheduler", "tcp://127.0.0.1:1"], place)
    check_refused(ended)
    assert "tcp://127.0.0.1:1" in ended.err


@pytest.mark.parametrize(
    "text",
    [
        "raise SystemExit",
        "import sys; sys.exit(0)",
        "raise SystemExit('two\\nlines')",
        "raise RuntimeError('two\\nlines')",
        "from {name}.study import study",
        "import {name}.study as again; study = again.study",
        "def f(): f()\nf()",
        "study = 'another'",
        "from ratecheck.study import Study as study",
        "from ratecheck.study import Study\nstudy = Study('x', '?', [('cone', 99)])",
        "from ratecheck.study import Study\nstudy = Study('x', '?', 3)",
        "\0",
    ],
)
@pytest.mark.parametrize("dots", ["", "."])
def test_a_declaration_that_is_none(text, dots, place, request):
    name = f"broken_{abs(hash(request.node.nodeid))}{dots}x"  # of its own: modules are imported once
    (place / name).mkdir()
    (place / name / "study.py").write_text(text.format(name=name))
    check_refused(typed(command.main, ["--study", name, "--dry-run"], place))


@pytest.mark.parametrize("name", ["file", "empty", ".", "..", "/", "file/study.py", "*"])
def test_a_folder_without_a_declaration(name, place):
    (place / "empty").mkdir()
    check_refused(typed(command.main, ["--study", name, "--dry-run"], place))


def test_a_declaration_may_be_found_from_within_and_have_a_dot_in_its_name(place):
    (place / "v1.2").mkdir()
    (place / "v1.2" / "inner").mkdir()
    (place / "v1.2" / "study.py").write_text(
        "from ratecheck.study import Study\nprint('hello')\nstudy = Study('x', '?', [('cone', 1)])"
    )
    check_planned(typed(command.main, ["--study", "v1.2", "--dry-run"], place))
    check_planned(typed(command.main, ["--study", "..", "--dry-run"], place / "v1.2" / "inner"))


# Other commands


@pytest.mark.parametrize(
    "words",
    [
        ["--seed=-1"],
        ["--seed", MANY],
        ["--workers=0"],
        ["--workers", "99999999"],
        ["--repeats", "3"],
        ["--repeats", "many"],
        ["--repeats", MANY],
        ["--repeats", "1e999"],
        ["--repeats", "99999999999"],
        ["--out", ""],
        ["--out", "file"],
        ["--out", "file/below"],
        ["--out", "a\0b"],
        pytest.param(["--out", "/proc/x"], marks=LINUX),
        ["--nonsense\n"],
    ],
)
def test_a_calibration(words, place, monkeypatch):
    monkeypatch.setattr(calibration, "calibrate", lambda **_: pytest.fail("it has begun"))
    check_refused(typed(calibration.main, words, place))


@pytest.mark.parametrize(
    ("main", "words"),
    [
        (engine.main, ["--out", ""]),
        (engine.main, ["--out", "file"]),
        (engine.main, ["extra\n"]),
        (generator.main, ["--draws", "1"]),
        (generator.main, ["--draws", MANY]),
        (generator.main, ["--draws", "x"]),
        (generator.main, ["--seed=-1"]),
        (mutants.main, ["--replicates", "0"]),
        (mutants.main, ["--replicates", MANY]),
        (mutants.main, ["--seed", "x"]),
    ],
)
def test_a_benchmark(main, words, place, monkeypatch):
    monkeypatch.setattr(engine, "speed_table", lambda *_, **__: pytest.fail("it has begun"))
    monkeypatch.setattr(generator, "measure", lambda: pytest.fail("it has begun"))
    monkeypatch.setattr(mutants, "judge", lambda *_, **__: pytest.fail("it has begun"))
    check_refused(typed(main, words, place))


@pytest.mark.parametrize(
    "words",
    [
        ["nonsense"],
        ["nonsense\n"],
        [""],
        ["report"],
        ["report", ""],
        ["report", "nowhere"],
        ["report", "file"],
        ["report", "a\0b"],
        ["report", "a" * 300],
        ["report", "two\nlines"],
        ["export", "", "--csv"],
        ["export", "nowhere", "--csv"],
        ["overview", ""],
        ["overview", "nowhere"],
        ["overview", "file"],
        ["overview", "a\0b"],
        ["overview", "a" * 300],
        ["zoo", "audit"],
        ["zoo", "audit", ""],
        ["zoo", "audit", "a\nb"],
        ["zoo", "audit", "cone", "--dim", MANY],
        ["zoo", "audit", "cone", "--seed", MANY],
        ["zoo", "audit", "cone", "--workers", "0"],
        ["zoo", "audit", "cone", "--workers", MANY],
        ["zoo", "audit", "cone", "--set", ""],
        ["zoo", "audit", "cone", "--set", "="],
        ["zoo", "audit", "cone", "--set", "scale="],
        ["zoo", "audit", "cone", "--set", "scale=1e999"],
        ["zoo", "audit", "cone", "--set", f"scale={MANY}"],
        ["zoo", "audit", "cone", "--set", "scale=None"],
        ["zoo", "audit", "cone", "--set", "scale='\\d'"],
        ["zoo", "audit", "cone", "--set", "scale=1is"],
        ["zoo", "audit", "cone", "--set", "scale={[]}"],
        ["zoo", "audit", "cone", "--set", "scale={[]: 1}"],
        ["zoo", "audit", "cone", "--set", "scale=" + "(" * 5000],
        ["zoo", "audit", "cone", "--set", "scale=" + "-" * 90_000 + "1"],
        ["zoo", "audit", "cone", "--set", "scale=1\0"],
        ["zoo", "audit", "cone", "--set", "scale=two\nlines"],
        ["zoo", "audit", "cone", "--set", "centre=(1e999,1)"],
        ["zoo", "audit", "cone", "--set", f"centre=({MANY},1)"],
        ["zoo", "audit", "cone", "--set", "dim=3"],
        ["zoo", "audit", "cone", "--set", "name=3"],
        ["zoo", "gallery", "--out", ""],
        ["zoo", "gallery", "--out", "file"],
        ["zoo", "gallery", "--out", "new", "--family", ""],
        ["zoo", "gallery", "--out", "new", "--workers", "0"],
    ],
    ids=lambda words: " ".join(words)[:60].encode("unicode_escape").decode(),
)
def test_the_console_script(words, place, monkeypatch):
    monkeypatch.setattr(zoo_cli, "audit", lambda *_, **__: pytest.fail("it has begun"))
    check_refused(typed(cli.main, words, place))


@pytest.mark.parametrize(
    ("main", "words"),
    [
        (command.main, []),
        (cli.main, []),
        *((cli.main, [name]) for name in cli.COMMANDS),
        *((cli.main, ["zoo", name]) for name in ("list", "audit", "gallery")),
        *((main, []) for main in (calibration.main, engine.main, mutants.main)),
    ],
)
def test_help_says_what_executes_code(main, words, place):
    ended = typed(main, [*words, "--help"], place)
    assert ended.code == 0
    said = " ".join(ended.out.split())
    assert "execute" in said
    assert "nothing of it" in said or "no code but" in said
