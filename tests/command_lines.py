"""A command line as it is typed: what it says, how it ends, how long it takes, what it leaves behind."""

import contextlib
import io
import os
import time
from pathlib import Path
from typing import NamedTuple

LONGEST = 3.0  # seconds
PLANNED = 30.0  # with predicted curves, some six of them


class Ended(NamedTuple):
    code: int
    out: str
    err: str
    seconds: float
    left: list


def typed(main, words, folder) -> Ended:
    """Run a command in this process, in a folder of its own; a traceback is not caught."""
    out, err = io.StringIO(), io.StringIO()
    before, here = set(Path(folder).rglob("*")), Path.cwd()
    start = time.perf_counter()
    os.chdir(folder)
    try:
        with contextlib.redirect_stdout(out), contextlib.redirect_stderr(err):
            code = main(list(words))
    except SystemExit as stop:
        code = stop.code
    finally:
        os.chdir(here)
    left = sorted(map(str, set(Path(folder).rglob("*")) - before))
    return Ended(code, out.getvalue(), err.getvalue(), time.perf_counter() - start, left)


def check_refused(ended):
    """One sentence, exit code 2, at once, nothing written."""
    assert ended.code == 2, ended
    assert ended.err.startswith("error: "), ended
    assert ended.err.endswith("\n"), ended
    assert len(ended.err.splitlines()) == 1, ended
    assert ended.out == "", ended
    assert ended.left == [], ended
    assert ended.seconds < LONGEST, ended


def check_planned(ended):
    """A plan, and nothing but a plan."""
    assert ended.code == 0, ended
    assert ended.err == "", ended
    assert "units to run" in ended.out, ended
    assert ended.left == [], ended
    assert ended.seconds < PLANNED, ended
