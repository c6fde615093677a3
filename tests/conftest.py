"""Fixtures shared by all tests."""

import os
from dataclasses import replace

import pytest


def pytest_generate_tests(metafunc):
    """`any_seed`: a test that promises to pass for every seed runs with one, or with RATECHECK_SEEDS of them."""
    if "any_seed" in metafunc.fixturenames:
        count = int(os.environ.get("RATECHECK_SEEDS", "1"))
        metafunc.parametrize("any_seed", range(count))


@pytest.fixture
def fails_with():
    """Assert that a call raises InvalidChoice with one sentence that holds the given words."""
    import function_zoo as zoo

    def check(call, *words):
        with pytest.raises(zoo.InvalidChoice) as caught:
            call()
        message = str(caught.value)
        assert "\n" not in message
        for word in words:
            assert word in message, message

    return check


# Reports: analyses and a folder that no test changes.  What they need is imported late, for tests that need less.


@pytest.fixture(scope="session")
def small():
    from tests.report_cases import analysis_of, planned

    return analysis_of(planned())


@pytest.fixture(scope="session")
def written(small, tmp_path_factory):
    """A report with figures, in a folder that no test changes."""
    from ratecheck.report import write_html, write_report
    from tests.report_cases import AUDITS, info_of

    folder = tmp_path_factory.mktemp("report")
    write_report(folder, small, info_of(audits=AUDITS))
    write_html(folder)
    return folder


@pytest.fixture(scope="session")
def early():
    """Uniform bins whose onset lies beyond the horizons, adaptive bins whose onset lies in the window."""
    from tests.report_cases import analysis_of, planned

    uniform, adaptive = planned(costs=(("quadratic", 1),))
    return analysis_of([replace(uniform, onset=1e6), replace(adaptive, onset=300.0)])


# Studies


@pytest.fixture
def no_audits(monkeypatch):
    """Audits take seconds and are tested elsewhere."""
    monkeypatch.setattr("ratecheck.study.run.audit", no_audit)


def no_audit(cost, stop=None):
    return []
