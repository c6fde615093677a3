"""Test costs annotated with the constants of Assumption 1, each with the reason it is true."""

from . import classic, dented, radial, separable  # noqa: F401  (each registers its families)
from .audit import audit
from .cost import Constants, Cost
from .estimate import estimate
from .own import cost
from .registry import InvalidChoice, families, get

__all__ = ["Constants", "Cost", "InvalidChoice", "audit", "cost", "estimate", "families", "get"]
