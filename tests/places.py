"""Executors by name, for tests."""

from ratecheck.executors import place


def executor(scheduler=None, workers=None, kernels=True):
    """None takes threads for kernels and processes for algorithms in plain Python."""
    kind, what = place(scheduler, workers, kernels=kernels)
    return kind(*what)
