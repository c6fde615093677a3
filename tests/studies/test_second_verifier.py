"""The second verifier of certificates stands alone: one file, and nothing that is installed."""

import shutil
import subprocess
import sys
from decimal import Decimal, localcontext
from fractions import Fraction
from pathlib import Path

import function_zoo as zoo
import ratecheck as rc
from ratecheck.lower_bound import ball, inequalities
from studies.lower_bound import second


def test_it_needs_nothing_but_its_file(tmp_path):
    shutil.copy(second.__file__, tmp_path / "second.py")
    rc.lower_bound(zoo.get("quadratic", 1), 1e4).save(tmp_path / "certificate.json")

    def run(*arguments):
        # -I: neither this project nor anything that is installed can be imported
        command = [sys.executable, "-I", "-S", "second.py", *arguments]
        return subprocess.run(command, cwd=tmp_path, capture_output=True, text=True, timeout=60)

    accepted = run("certificate.json")
    assert accepted.returncode == 0, accepted.stderr
    assert "VERIFIED: in 10000 queries of the box and its margin" in accepted.stdout
    assert "f0 is said to be 'quadratic(dim=1" in accepted.stdout
    assert run("nowhere.json").returncode == 2
    assert run().returncode == 2
    (tmp_path / "broken.json").write_text("{")
    broken = run("broken.json")
    assert (broken.returncode, broken.stdout[:7]) == (1, "REFUSED")


def test_the_verifiers_share_no_code():
    source = Path(second.__file__).read_text(encoding="utf-8")
    imported = {line.split()[1] for line in source.splitlines() if line.startswith(("import ", "from "))}
    assert imported <= {"json", "sys", "decimal", "fractions", "functools"}
    for module in (ball, inequalities):
        assert "second" not in Path(module.__file__).read_text(encoding="utf-8").split('"""', 2)[2]


def test_rounding_does_not_depend_on_the_context_of_the_thread():
    with localcontext() as context:
        context.prec = 5
        low, high = second.root((Decimal(2), Decimal(2)))
    assert Fraction(low) ** 2 < 2 < Fraction(high) ** 2
    assert Fraction(high) - Fraction(low) < Fraction(1, 10**30)
    assert second.exponential((Decimal(-(10**10)), Decimal(-(10**10))))[1] > 0
