"""Checks of arguments: each returns what was meant or raises one sentence; and what a mistyped word was meant to be."""

import math
import operator
import os
import reprlib
import sys
from collections.abc import Iterable
from itertools import islice, pairwise
from numbers import Integral, Real

LARGEST = sys.float_info.max
LONGEST = 2**53  # beyond it t and ln t are no longer exact
MOST_IN_DATABASE = 2**63 - 1  # a whole number there
MOST_HORIZONS = 10_000
MOST_REPLICATES = 10**7
MOST_WORKERS = 1024


def available_cores() -> int:
    return len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count() or 1


def shown(value) -> str:
    """What was given, short enough for a sentence and on one line."""
    return " ".join(reprlib.repr(value).split())


def meant(word, choices) -> str:
    """What a mistyped word was probably meant to be, as part of a sentence; nothing where no choice is near."""
    import difflib  # on first use: most words are right

    choices = [str(choice) for choice in choices]
    near = difflib.get_close_matches(str(word), choices, 1)
    near = near or difflib.get_close_matches(str(word).lower(), choices, 1)
    return f"; did you mean {near[0]}?" if near else ""


def check_whole(name, value, least, most=math.inf) -> int:
    try:
        number = None if isinstance(value, bool) else operator.index(value)
    except TypeError:
        number = None
    if number is None or number < least:
        raise ValueError(f"{name} = {shown(value)} must be a whole number, {least} or larger")
    if number > most:
        raise ValueError(f"{name} = {shown(value)} is too large; {most:,} is the most")
    return number


def check_workers(workers) -> int:
    """How many workers are asked for; None: as many as there are cores."""
    return available_cores() if workers is None else check_whole("workers", workers, 1, MOST_WORKERS)


def check_real(name, value) -> float:
    """The value as it is; no text, no array, no nan."""
    if not (isinstance(value, Real) and abs(value) <= LARGEST):
        raise ValueError(f"{name} = {shown(value)} must be a finite number")
    return value


def items(name, values, what) -> tuple:
    """The entries of a list; a text is none."""
    if isinstance(values, str | bytes) or not isinstance(values, Iterable):
        raise ValueError(f"{name} = {shown(values)} must be a list of {what}")
    return tuple(values)


def check_horizons(horizons, longest=LONGEST) -> list[int]:
    values = [horizons]
    if isinstance(horizons, Iterable) and not isinstance(horizons, str | bytes):
        values = list(islice(horizons, MOST_HORIZONS + 1))
    if not values:
        raise ValueError("horizons is empty; give at least one number of steps")
    if len(values) > MOST_HORIZONS:
        raise ValueError(f"there are more than {MOST_HORIZONS:,} horizons; take fewer")
    checked = []
    for value in values:
        if isinstance(value, Real) and not isinstance(value, Integral) and float(value).is_integer():
            value = int(value)
        checked.append(check_whole("horizon", value, 1))
    for before, after in pairwise(checked):
        if after <= before:
            found = "twice" if after == before else f"after {before}"
            raise ValueError(f"horizons must increase, but {after} comes {found}; sort them and drop repetitions")
    if checked[-1] > longest:
        what = "2^53, the last step count that a float holds exactly" if longest == LONGEST else f"{longest:g}"
        raise ValueError(f"horizon {shown(checked[-1])} exceeds {what}")
    return checked


def check_replicates(replicates) -> list[int]:
    if isinstance(replicates, str | bytes) or not isinstance(replicates, Iterable):
        return list(range(check_whole("replicates", replicates, 1, MOST_REPLICATES)))
    indices = [check_whole("replicate", r, 0) for r in islice(replicates, MOST_REPLICATES + 1)]
    if len(indices) > MOST_REPLICATES:
        raise ValueError(f"there are more than {MOST_REPLICATES:,} replicates; take fewer")
    if not indices or len(set(indices)) < len(indices):
        raise ValueError(f"replicates = {shown(indices)} must name at least one replicate, and none twice")
    return indices


def check_is_cost(cost) -> None:
    if not all(hasattr(cost, name) for name in ("compiled", "constants", "minimisers")):
        raise ValueError(f"cost = {shown(cost)} is no cost; make one with function_zoo.get or function_zoo.cost")


def check_alignment(alignment) -> str:
    if not isinstance(alignment, str) or alignment not in ("random", "fixed"):
        raise ValueError(f"alignment = {shown(alignment)} must be 'random' or 'fixed'")
    return alignment
