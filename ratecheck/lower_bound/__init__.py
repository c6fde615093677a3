"""Theorem 3 made computable: a hard family near a cost, and a certified lower bound on every strategy's regret."""

from .bound import LowerBound, lower_bound
from .family import HardFamily

__all__ = ["HardFamily", "LowerBound", "lower_bound"]
