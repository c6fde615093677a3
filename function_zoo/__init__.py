"""Test costs annotated with the constants of Assumption 1, each with the reason it is true."""

from . import radial  # noqa: F401  (registers its families)
from .cost import Constants, Cost
from .registry import InvalidChoice, families, get

__all__ = ["Constants", "Cost", "InvalidChoice", "families", "get"]
