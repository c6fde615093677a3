"""A lower bound and members of its hard family as plain data, from which every process makes the same costs."""

from collections import Counter
from importlib.util import find_spec

from function_zoo.cost import Cost

from .bound import lower_bound
from .family import member

UNCERTIFIED = "python-flint is not installed (the extra `certify`), so that no lower bound is certified"


def bounded(cost: Cost, horizon: int, members: int, sigma: float = 1.0, seed: int = 0, stop=None) -> dict:
    """The certified bound at a horizon, and the dents of members, drawn as the bound's average draws them.

    A bound of two functions is on the worse of the two: both are drawn `members` times, and None stands for f0.  Where
    there is no family, or nothing is certified, `problem` says why.
    """
    record = {"problem": "", "certified": False, "regret": 0.0, "functions": "many", "members": 0}
    record |= {"figures": {}, "drawn": []}
    if find_spec("flint") is None:
        return record | {"problem": UNCERTIFIED}
    try:
        found = lower_bound(cost, horizon, sigma=sigma)
        family = found.family
        length, two = float(family.found.length), family.found.kind == "two"
        drawn = [None] * (members if two else 0)
        for place in family.sample_places(members, seed):
            drawn.append({"place": [float(x) for x in place], "depth": float(family.depth(place)), "length": length})
        for dent in drawn:
            cost_of(cost, dent)  # or it is none: its bottom is flat
    except (ValueError, ArithmeticError) as error:  # which condition fails, and why
        return record | {"problem": str(error)}
    figures = {"N": found.N, "r": found.r, "H": found.H, "epsilon": found.epsilon, "M": family.M}
    return record | {
        "certified": True,
        "regret": float(found.regret),
        "functions": family.found.kind,
        "members": len(family),
        "figures": {name: float(value) for name, value in figures.items()},
        "drawn": drawn,
    }


def cost_of(cost: Cost, dent: dict | None) -> Cost:
    return cost if dent is None else member(cost, tuple(dent["place"]), dent["depth"], dent["length"])


def chosen(drawn: list, members: int) -> list:
    """The first so many draws of a family; where two functions make the bound, of each of them."""
    first, dents = ([dent for dent in drawn if (dent is None) == of_f0] for of_f0 in (True, False))
    return first[:members] + dents[:members]


def numbered(drawn: list) -> list[tuple[dict | None, int]]:
    """Every draw with the number of its replicate: how often the same function was drawn before."""
    seen = Counter()
    found = []
    for dent in drawn:
        found.append((dent, seen[repr(dent)]))
        seen[repr(dent)] += 1
    return found
