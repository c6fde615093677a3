"""Fixtures shared by all tests."""

import os

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
