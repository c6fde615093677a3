"""A claim of a paper as data: what it says, where, what it rests on, and what became of its proof."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from enum import StrEnum


class Proof(StrEnum):
    SOUND = "sound"
    MENDED = "mended"  # a slip or a gap that can be closed; what it proves stays
    WRONG = "wrong"  # it proves something else, or nothing
    ABSENT = "not given"
    MEASURED = "measured"  # a claim about an experiment


@dataclass(frozen=True)
class Statement:
    """One claim: `needs` are the claims that its proof rests on, `errata` the slips that touch it.

    A claim that is false as printed is followed by what is true instead, as a claim of its own with a "c" (corrected)
    after its number.
    """

    id: str
    title: str
    place: str
    text: str
    study: str  # the experiment that tests it
    proof: Proof
    needs: tuple[str, ...] = ()
    errata: tuple[str, ...] = ()
    remark: str = ""  # on the proof


def check(statements: Iterable[Statement]) -> tuple[Statement, ...]:
    """Refuse claims that share a number, rest on what is not there, or rest on each other in a circle."""
    statements = tuple(statements)
    known = [s.id for s in statements]
    for id in known:
        if known.count(id) > 1:
            raise ValueError(f"claim {id} stands there twice")
    for s in statements:
        for other in s.needs:
            if other not in known:
                raise ValueError(f"claim {s.id} needs claim {other}, which is not there")
    layers(statements)
    return statements


def layers(statements: tuple[Statement, ...]) -> list[list[Statement]]:
    """Claims that need none, then those that need only these, and so on."""
    left, found, settled = list(statements), [], set()
    while left:
        layer = [s for s in left if settled.issuperset(s.needs)]
        if not layer:
            raise ValueError(f"claims {', '.join(s.id for s in left)} rest on each other in a circle")
        found.append(layer)
        settled.update(s.id for s in layer)
        left = [s for s in left if s not in layer]
    return found


def reach(statements: tuple[Statement, ...], erratum: str) -> tuple[list[str], list[str]]:
    """The claims that an erratum touches, and those whose proofs rest on them."""
    touched = [s.id for s in statements if erratum in s.errata]
    reached = set(touched)
    for layer in layers(statements):
        reached.update(s.id for s in layer if reached.intersection(s.needs))
    return touched, [s.id for s in statements if s.id in reached and s.id not in touched]
