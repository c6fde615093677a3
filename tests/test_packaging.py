"""What is built and installed: a wheel and an sdist, on every Python that this machine has, with the same bits."""

import ast
import os
import shutil
import subprocess
import sys
import sysconfig
import tarfile
import zipfile
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[1]
OLDEST = (3, 11)
LARGEST = 1_500_000  # bytes, as installed, without what compilers cache
DECLARED = """
from ratecheck.study import Study

study = Study("mine", "Does it run?", [("cone", 1)], horizons=[64, 128, 256, 512], replicates=4)
"""
BITS = """
import hashlib
import sys
import function_zoo as zoo
import ratecheck as rc
regrets = [
    rc.simulate(algorithm, zoo.get(name, dim), [2**8, 2**10], replicates=2, workers=1).frame["regret"].tolist()
    for algorithm in (rc.UniformBins(), rc.AdaptiveBins(), rc.HOO())
    for name, dim in (("quadratic", 1), ("cone", 2))
]
assert "site-packages" in rc.__file__ or len(sys.argv) > 1, rc.__file__
print(hashlib.sha256(repr(regrets).encode()).hexdigest())
"""


def run(*words, where=ROOT):
    environment = {name: text for name, text in os.environ.items() if name != "PYTHONPATH"}  # may lead here
    done = subprocess.run([*map(str, words)], cwd=where, env=environment, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stdout + done.stderr
    return done.stdout


def pythons():
    """One of every release from the oldest that is supported, this one included."""
    places = [*Path.home().glob(".pyenv/versions/*/bin/python"), *Path("/usr/bin").glob("python3.*[0-9]")]
    found = {sys.version_info[:2]: Path(sys.executable)}
    for path in places:
        say = "import sys, ensurepip; print(*sys.version_info[:2])"
        asked = subprocess.run([path, "-c", say], capture_output=True, text=True, check=False)
        release = tuple(map(int, asked.stdout.split())) if asked.returncode == 0 else (0, 0)
        if release >= OLDEST:
            found.setdefault(release, path)
    return found


@pytest.fixture(scope="module")
def built(tmp_path_factory):
    """From a copy: what earlier builds left in this folder would get into the archives."""
    folder, copied = tmp_path_factory.mktemp("dist"), tmp_path_factory.mktemp("sources") / "ratecheck"
    shutil.copytree(
        ROOT, copied, ignore=shutil.ignore_patterns(".*", "*.egg-info", "build", "__pycache__", "*.sqlite*")
    )
    run(sys.executable, "-m", "build", "--outdir", folder, copied)
    [wheel], [sdist] = folder.glob("*.whl"), folder.glob("*.tar.gz")
    return wheel, sdist


def own(*patterns) -> set[str]:
    return {path.relative_to(ROOT).as_posix() for pattern in patterns for path in ROOT.glob(pattern)}


def test_the_package_imports_no_study():
    for path in own("ratecheck/**/*.py", "function_zoo/**/*.py"):
        for node in ast.walk(ast.parse((ROOT / path).read_text(encoding="utf-8"))):
            named = [alias.name for alias in node.names] if isinstance(node, ast.Import) else []
            named += [node.module or ""] if isinstance(node, ast.ImportFrom) and not node.level else []
            assert not {name.partition(".")[0] for name in named} & {"studies", "tests"}, path


@pytest.mark.slow
def test_the_wheel_holds_the_two_packages_and_nothing_else(built):
    wheel, sdist = built
    with zipfile.ZipFile(wheel) as archive:
        installed = [file for file in archive.infolist() if ".dist-info/" not in file.filename]
    with tarfile.open(sdist) as archive:
        sources = {name.partition("/")[2] for name in archive.getnames()}
    beside = {"ratecheck/py.typed", "function_zoo/py.typed", "ratecheck/__init__.pyi"}
    beside |= {"ratecheck/report/page.css", "ratecheck/report/page.js"}
    expected = own("ratecheck/**/*.py", "function_zoo/**/*.py") | beside
    assert {file.filename for file in installed} == expected
    assert expected | {"README.md", "LICENSE", "pyproject.toml"} <= sources
    assert not [name for name in sources if name.startswith("studies")]
    assert sum(file.file_size for file in installed) <= LARGEST


@pytest.mark.slow
@pytest.mark.parametrize("release", sorted(pythons()), ids=lambda release: ".".join(map(str, release)))
def test_installed_it_gives_the_same_bits_everywhere(built, tmp_path, release):
    wheel, sdist = built
    run(pythons()[release], "-m", "venv", tmp_path / "env")
    python = tmp_path / "env" / "bin" / "python"
    here = release == sys.version_info[:2]
    if here:  # what it needs is there already
        needed = sysconfig.get_path("purelib")
        Path(
            run(python, "-c", "import sysconfig; print(sysconfig.get_path('purelib'))").strip(), "needed.pth"
        ).write_text(needed, encoding="utf-8")
    what = sdist if release == max(pythons()) else wheel
    install = ["install", "-q", "--disable-pip-version-check", "--force-reinstall", "--no-deps"]
    run(python, "-m", "pip", *(install if here else install[:3]), what, where=tmp_path)
    expected = run(sys.executable, "-c", BITS, "here", where=ROOT)
    assert run(python, "-c", BITS, where=tmp_path) == expected
    if here:
        an_installed_one_runs_studies(python, tmp_path)


def an_installed_one_runs_studies(python, folder):
    """Of families, and declared in the user's own folder."""
    assert run(python.with_name("ratecheck"), "--version", where=folder).startswith("ratecheck ")
    small = ["--replicates", "4", "--no-figures", "--workers", "1"]
    family = ["--family", "cone", "--dims", "1", "--horizons", "2^6:2^9", *small]
    run(python, "-m", "ratecheck.study", *family, where=folder)
    assert (folder / "results" / "cone" / "report.md").is_file()
    (folder / "studies" / "mine").mkdir(parents=True)
    (folder / "studies" / "mine" / "study.py").write_text(DECLARED, encoding="utf-8")
    assert "declared studies: mine\n" in run(python, "-m", "ratecheck.study", "--list", where=folder)
    run(python, "-m", "ratecheck.study", "--study", "mine", "--no-figures", "--workers", "1", where=folder)
    assert (folder / "studies" / "mine" / "report.md").is_file()
