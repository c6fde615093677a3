"""What the command lines of studies have in common."""

from __future__ import annotations

import math


def check_range(parser, option: str, value: int, least: int, most=math.inf) -> None:
    """End with a sentence where a number is too small or too large."""
    if not least <= value <= most:
        few, near = ("few", least) if value < least else ("many", most)
        parser.error(f"{option} {value} is too {few}; the nearest valid choice is {near}")
