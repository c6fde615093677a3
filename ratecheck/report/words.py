"""Words and cells that several sections share."""

from __future__ import annotations

from ..claims import Outcome
from ..display import MARKS

ENDS = ("", "_low", "_high")  # of the columns that hold an estimate
PARTS = {"exponent": "exponent", "log_power": "printed log power", "corrected_log_power": "corrected log power"}


def shown(name: Outcome) -> str:
    return f"**{name}**" if name == Outcome.REFUTED else str(name)


def marked(name: Outcome) -> str:
    """A verdict with a sign that is seen at once."""
    return f"{MARKS[name]} {shown(name)}"


def sentence(text: str) -> str:
    return text[:1].upper() + text[1:] + "."
