"""What is built and installed: a wheel and an sdist, on every Python that this machine has, with the same bits."""

import subprocess
import sys
import sysconfig
import tarfile
import zipfile
from pathlib import Path

import pytest
from setuptools import find_packages

ROOT = Path(__file__).parents[1]
OLDEST = (3, 11)
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
    done = subprocess.run(list(map(str, words)), cwd=where, capture_output=True, text=True, check=False)
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
    folder = tmp_path_factory.mktemp("dist")
    run(sys.executable, "-m", "build", "--outdir", folder, ROOT)
    [wheel], [sdist] = folder.glob("*.whl"), folder.glob("*.tar.gz")
    return wheel, sdist


def test_every_package_is_listed():
    import tomllib

    listed = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))["tool"]["setuptools"]["packages"]
    assert sorted(listed) == sorted(
        [*find_packages(str(ROOT), include=["function_zoo*", "ratecheck*"]), "ratecheck.studies"]
    )


@pytest.mark.slow
def test_wheel_and_sdist_hold_what_they_should(built):
    wheel, sdist = built
    names = set(zipfile.ZipFile(wheel).namelist())
    with tarfile.open(sdist) as archive:
        sources = {name.partition("/")[2] for name in archive.getnames()}
    for path in [*ROOT.glob("ratecheck/**/*.py"), *ROOT.glob("function_zoo/*.py")]:
        place = path.relative_to(ROOT).as_posix()
        assert place in names
        assert place in sources
    for study in ROOT.glob("studies/*/study.py"):
        assert f"ratecheck/studies/{study.parent.name}/study.py" in names
    beside = {"ratecheck/py.typed", "function_zoo/py.typed", "ratecheck/report/page.css", "ratecheck/report/page.js"}
    assert beside <= names
    assert beside <= sources
    assert {"README.md", "LICENSE", "pyproject.toml"} <= sources
    assert not [name for name in names if name.startswith(("tests/", "studies/")) or name.endswith((".png", ".csv"))]


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
    assert "cones, continua" in run(python, "-m", "ratecheck.study", "--list", where=tmp_path)
    assert run(python.with_name("ratecheck"), "--version", where=tmp_path).startswith("ratecheck ")
    if here:
        said = run(
            python, "-m", "ratecheck", "study", "--study", "mu", "--preset", "quick", "--dry-run", where=tmp_path
        )
        assert "results/mu" in said
