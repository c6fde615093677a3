"""The pytest plugin: a fixture `assert_rate` that knows its test, and two options.

Pytest imports it at every start, wherever ratecheck is installed; so it imports nothing until a test asks for it.
"""

import hashlib

import pytest


def pytest_addoption(parser):
    group = parser.getgroup("ratecheck", "rates of convergence")
    group.addoption("--ratecheck-budget", metavar="TIME", type=_time, help="of every test, such as '2 min'")
    group.addoption("--ratecheck-pin", action="store_true", help="write pinned curves anew")


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
    wide = {} if option("ratecheck_budget") is None else {"budget": option("ratecheck_budget")}
    usual = {"seed": _seed_of(request.node.nodeid), "figures": tmp_path, "pin": option("ratecheck_pin")}

    def assert_rate_here(*given, pinned=None, **named):
        __tracebackhide__ = True
        beside = None if pinned is None else request.path.parent / pinned
        return assert_rate(*given, **usual | named | wide, pinned=beside)

    return assert_rate_here


def _seed_of(name) -> int:
    return int.from_bytes(hashlib.sha256(name.encode()).digest()[:4], "little")
