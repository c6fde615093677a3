"""Fixtures for random tests."""

import os

SEEDS = range(20) if os.environ.get("RATECHECK_ALL_SEEDS") else range(1)


def pytest_generate_tests(metafunc):
    """`any_seed`: the test must pass for every seed; one by default, twenty with RATECHECK_ALL_SEEDS=1."""
    if "any_seed" in metafunc.fixturenames:
        metafunc.parametrize("any_seed", SEEDS)
