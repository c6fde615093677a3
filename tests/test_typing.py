"""A type checker follows the public names."""

import subprocess
import sys
from pathlib import Path

import pytest


@pytest.mark.slow
def test_public_names_are_typed(tmp_path):
    pytest.importorskip("mypy")
    line = [sys.executable, "-m", "mypy", "--cache-dir", str(tmp_path)]
    done = subprocess.run(line, cwd=Path(__file__).parent.parent, capture_output=True, text=True)
    assert done.returncode == 0, done.stdout
