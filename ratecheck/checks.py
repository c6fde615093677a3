"""Checks of arguments: each returns what was meant or raises one sentence."""

from __future__ import annotations

import operator
from collections.abc import Iterable
from itertools import pairwise
from numbers import Integral, Real

LONGEST = 2**53  # beyond it t and ln t are no longer exact


def whole(name, value, least) -> int:
    try:
        value = operator.index(value)
    except TypeError:
        raise ValueError(f"{name} = {value!r} must be a whole number, {least} or larger") from None
    if value < least:
        raise ValueError(f"{name} = {value} must be a whole number, {least} or larger")
    return value


def check_horizons(horizons) -> list[int]:
    values = list(horizons) if isinstance(horizons, Iterable) else [horizons]
    if not values:
        raise ValueError("horizons is empty; give at least one number of steps")
    checked = []
    for value in values:
        if isinstance(value, Real) and not isinstance(value, Integral) and float(value).is_integer():
            value = int(value)
        checked.append(whole("horizon", value, 1))
    for before, after in pairwise(checked):
        if after <= before:
            found = "twice" if after == before else f"after {before}"
            raise ValueError(f"horizons must increase, but {after} comes {found}; sort them and drop repetitions")
    if checked[-1] > LONGEST:
        raise ValueError(
            f"horizon {checked[-1]} exceeds 2^53 = {LONGEST}, the last step count that a float holds exactly"
        )
    return checked


def check_replicates(replicates) -> list[int]:
    if not isinstance(replicates, Iterable):
        return list(range(whole("replicates", replicates, 1)))
    indices = [whole("replicate", r, 0) for r in replicates]
    if not indices or len(set(indices)) < len(indices):
        raise ValueError(f"replicates = {indices} must name at least one replicate, and none twice")
    return indices


def check_alignment(alignment) -> str:
    if alignment not in ("random", "fixed"):
        raise ValueError(f"alignment = {alignment!r} must be 'random' or 'fixed'")
    return alignment
