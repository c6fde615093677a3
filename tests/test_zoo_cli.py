"""`ratecheck zoo` as people type it."""

import re
import subprocess
import sys

import pytest

import function_zoo as zoo
from ratecheck.cli.zoo import main

pytestmark = pytest.mark.slow


def test_the_list_names_every_family(capsys):
    assert main([]) == 0
    out = capsys.readouterr().out
    for name in zoo.families():
        assert re.search(rf"^{name} .* f\(x\) = ", out, re.M), name


def test_the_list_is_what_the_console_script_shows(capsys):
    main(["list"])
    out = subprocess.run([sys.executable, "-m", "ratecheck", "zoo"], capture_output=True, text=True, check=True)
    assert out.stdout == capsys.readouterr().out


def test_an_audit_prints_its_table(capsys):
    assert main(["audit", "quadratic", "--dim", "2"]) == 0
    out = capsys.readouterr().out
    assert "quadratic(dim=2" in out
    assert re.search(r"M_b +1\.66667 +1\.66\d* +yes", out)
    assert "NO" not in out


@pytest.mark.slow
def test_several_audits_run_side_by_side(capsys):
    assert main(["audit", "cone", "valley", "--dim", "1", "2", "--workers", "2", "--set", "scale=3"]) == 0
    out = capsys.readouterr().out
    assert "3 of 3 audits hold" in out
    assert "scale=3" in out


@pytest.mark.parametrize(
    ("arguments", "words"),
    [
        (["audit", "quadratc"], "did you mean 'quadratic'"),
        (["audit", "quadratic", "--dim", "0"], "nearest valid choice is 1"),
        (["audit", "branin", "--dim", "3"], "dimension 2 only"),
        (
            ["audit", "branin", "himmelblau", "--dim", "1", "3"],
            "exists in dimension 1 or 3; the nearest valid choice is 2",
        ),
        (["audit", "all", "--dim", "0"], "nearest valid choice is 1"),
        (["audit", "cone", "--set", "size=3"], "no parameter 'size'"),
        (["audit", "cone", "--set", "scale"], "NAME=VALUE"),
        (["audit", "cone", "--set", "scale=big"], "not a number"),
        (["audit", "cusp", "--set", "power=7"], "nearest valid choice is 1"),
        (["gallery", "--out", "unused", "--family", "nope"], "unknown family"),
    ],
)
def test_mistakes_get_one_sentence_and_exit_code_2(arguments, words, capsys):
    assert main(arguments) == 2
    captured = capsys.readouterr()
    assert captured.out == ""
    assert captured.err.count("\n") == 1
    assert words in captured.err


@pytest.mark.parametrize(
    ("arguments", "words"),
    [
        (["audit", "cone", "--dim", "2.4"], "nearest valid choice is 2"),
        (["audit", "cone", "--seed", "-1"], "nearest valid choice is 0"),
        (["audit", "cone", "--dims", "2"], "there is no option --dims; did you mean --dim?"),
        (["audits"], "invalid choice"),
    ],
)
def test_mistakes_of_syntax_too(arguments, words, capsys):
    with pytest.raises(SystemExit) as stopped:
        main(arguments)
    assert stopped.value.code == 2
    error = capsys.readouterr().err
    assert words in error
    assert error.count("\n") == 1


def test_a_folder_that_cannot_be_written(tmp_path, capsys):
    (tmp_path / "file").write_text("")
    assert main(["gallery", "--out", str(tmp_path / "file"), "--family", "cone"]) == 2
    assert "file" in capsys.readouterr().err


def test_the_gallery_shows_what_it_names(tmp_path, capsys):
    assert main(["gallery", "--out", str(tmp_path / "g"), "--family", "cone", "plateau", "--workers", "2"]) == 0
    page = tmp_path / "g" / "gallery.md"
    assert capsys.readouterr().out.strip() == str(page)
    images = re.findall(r"!\[\w+\]\((.+?)\)", page.read_text())
    assert images == ["cone.png", "plateau.png"]
    for image in images:
        data = (page.parent / image).read_bytes()
        assert data[:8] == b"\x89PNG\r\n\x1a\n"
        assert len(data) > 20_000


@pytest.mark.parametrize("name", ["gallery.md", "cone.png"])
def test_the_gallery_is_written_through_no_link(tmp_path, capsys, monkeypatch, name):
    monkeypatch.setattr("function_zoo.gallery._drawn", lambda name: (name, "", b""))
    (tmp_path / "mine").write_text("mine")
    (tmp_path / "g").mkdir()
    (tmp_path / "g" / name).symlink_to(tmp_path / "mine")
    assert main(["gallery", "--out", str(tmp_path / "g"), "--family", "cone"]) == 2
    assert f"{name} is a symbolic link" in capsys.readouterr().err
    assert (tmp_path / "mine").read_text() == "mine"
    assert [path.name for path in (tmp_path / "g").iterdir()] == [name]


def test_the_gallery_changes_nobody_elses_backend():
    code = (
        "import sys, matplotlib\n"
        "from function_zoo.gallery import gallery\n"
        "backend = lambda: dict.__getitem__(matplotlib.rcParams, 'backend')\n"  # rcParams['backend'] would choose one
        "before = backend()\n"
        "gallery(['cone'])\n"
        "print(backend() is before, 'matplotlib.pyplot' in sys.modules)"
    )
    out = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert out.stdout.split() == ["True", "False"]
