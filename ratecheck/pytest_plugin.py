"""The pytest plugin: a fixture `assert_rate` that knows its test, and four options.

Pytest imports it at every start, wherever ratecheck is installed; so it imports nothing until a test asks for it.
"""

import hashlib
import re
from pathlib import Path

import pytest


def pytest_addoption(parser):
    group = parser.getgroup("ratecheck", "rates of convergence")
    group.addoption("--ratecheck-seed", metavar="N", type=_seed, help="one seed for all tests (default: from its name)")
    group.addoption("--ratecheck-budget", metavar="TIME", type=_time, help="of every test, such as '2 min'")
    group.addoption("--ratecheck-pin", action="store_true", help="write pinned curves anew")
    group.addoption("--ratecheck-figures", metavar="DIR", type=Path, help="where figures of failures go")


def _seed(text):
    if not (text.isascii() and text.isdigit()):
        raise ValueError(text)
    return int(text)


def _time(text):
    from .check.budget import seconds_of

    return seconds_of(text)


@pytest.fixture
def assert_rate(request, tmp_path):
    """`ratecheck.testing.assert_rate` for this test.

    Its seed comes from the test's name, its figure goes to the test's tmp_path, and a pinned file is looked for beside
    the file of the test.  Options of the command line go before arguments; other arguments before what is said here.
    """
    from ratecheck.testing import assert_rate

    option = request.config.getoption
    wide = {"seed": option("ratecheck_seed"), "budget": option("ratecheck_budget")}
    wide = {name: value for name, value in wide.items() if value is not None}
    figures = option("ratecheck_figures")
    folder = tmp_path if figures is None else Path(request.config.invocation_params.dir) / figures / _slug(request)
    usual = {"seed": _seed_of(request.node.nodeid), "figures": folder, "pin": option("ratecheck_pin")}

    def assert_rate_here(*given, pinned=None, **named):
        __tracebackhide__ = True
        beside = None if pinned is None else request.path.parent / pinned
        return assert_rate(*given, **usual | named | wide, pinned=beside)

    return assert_rate_here


def _seed_of(name) -> int:
    return int.from_bytes(hashlib.sha256(name.encode()).digest()[:4], "little")


def _slug(request) -> str:
    return re.sub(r"[^\w.=-]+", "-", request.node.nodeid).strip("-")[-100:]
