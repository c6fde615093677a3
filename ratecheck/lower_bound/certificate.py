"""A lower bound written down so that others can check it: every number that the proof needs, and f0 as a formula."""

import json

import numpy as np

from function_zoo import Cost, InvalidChoice
from function_zoo.dented import named

from .enclosure import enclosure
from .expression import parts, trace
from .inequalities import FORMAT
from .many import PER_LENGTH, PIECES, SLACK, farthest
from .overlap import overlap
from .pair import CELLS, least_regret
from .paving import written

TRUSTED = (
    "the mathematics of the bound (ratecheck/lower_bound/many.py, pair.py and overlap.py)",
    "that the formula below is the cost meant, read as a function of real numbers",
    "the constants M_a and M_b of f0, where the bound is said to hold for the class of Assumption 1",
    "condition (c) for the members, which is measured (HardFamily.conditions)",
    "the arithmetic of the verifier: Arb by python-flint for the first, Python's fractions and decimal for the second",
)
HAIR = 1e-9  # numbers are moved to the safe side by this share, far more than rounding needs


def certificate(cost, summands, *, found, horizon, sigma, M) -> dict:
    """The certificate of what many.best or pair.best found; `summands` is f0 as expression.parts gives it."""
    slack = SLACK * (found.eta if found.kind == "many" else found.depth)
    c = cost.constants
    content = {
        "format": FORMAT,
        "statement": "",
        "trusted": list(TRUSTED),
        "cost": str(cost),
        "formula": formula_of(cost),
        "box": [cost.lower.tolist(), cost.upper.tolist()],
        "margin": float(c.A),
        "horizon": float(horizon),
        "sigma": float(sigma),
        "alpha": float(c.alpha),
        "class": {"M": float(M) * (1 + HAIR), "M_a": float(c.M_a), "M_b": float(c.M_b)},
        "minimum": float(cost.minimum - slack),
        "components": _components(cost, summands, slack),
        "bound": found.kind,
        "length": found.length,
        "depth": found.depth,
    }
    many = found.kind == "many"
    content |= _many(cost, found, horizon, sigma) if many else _two(cost, found, slack, horizon=horizon, sigma=sigma)
    content["statement"] = statement(content)
    return content


def statement(content) -> str:
    whole = "on average over the family, weighted by 1/H^2,"
    who = whole if content["bound"] == "many" else "under one of two functions"
    return (
        f"whatever strategy queries {content['cost']} with a dent, anywhere in the box and its margin, for "
        f"{content['horizon']:.17g} steps with Gaussian noise of standard deviation {content['sigma']!r}, its expected "
        f"cumulative regret, against the least value there, {who} is at least {content['regret']!r}"
    )


def formula_of(cost: Cost) -> list[dict]:
    return [{"axes": list(axes), "nodes": nodes} for axes, nodes in parts(trace(cost.formula, cost.dim))]


def whose(content) -> str:
    """Whether the formula of a certificate is that of the cost that it names: a sentence."""
    try:
        cost = named(content["cost"])
    except (InvalidChoice, KeyError, TypeError) as error:
        return f"the formula is nobody's that the zoo knows ({error})"
    same = json.loads(json.dumps(formula_of(cost))) == content["formula"]
    c, said = cost.constants, content["class"]
    box = [cost.lower.tolist(), cost.upper.tolist()] == content["box"]
    constants = [c.A, c.alpha, c.M_a, c.M_b] == [content["margin"], content["alpha"], said["M_a"], said["M_b"]]
    if not (same and box and constants):
        raise ValueError(f"the formula, the box or the constants are not those of {cost}")
    return f"the formula is that of {cost} in the function zoo"


def _components(cost, summands, slack) -> list[dict]:
    """Summands that share coordinates, and the least value of each such group: their minima add up to that of f0."""
    groups: list[tuple[set, list]] = []
    for i, (axes, _) in enumerate(summands):
        joined = [group for group in groups if group[0] & set(axes)]
        groups = [group for group in groups if group not in joined]
        groups.append((set(axes).union(*(g[0] for g in joined)), sorted([i, *(j for g in joined for j in g[1])])))
    at = cost.minimisers[:1]
    values = [enclosure(nodes)(at, at)[0][0] for _, nodes in summands]
    spared = (slack * (1 - 1e-3) + sum(values) - cost.minimum) / len(groups)  # the values at a rounded minimiser err
    return [{"parts": members, "least": float(sum(values[i] for i in members) - spared)} for _, members in groups]


def _many(cost, found, horizon, sigma) -> dict:
    overlaps = [overlap(cost.constants.alpha, cost.dim, PER_LENGTH, power) * (1 + HAIR) for power in (1, 2)]
    effective = found.effective * (1 - HAIR)
    shared = overlaps[0] / effective * (1 + HAIR)
    information = horizon * found.eta**2 * overlaps[1] / (2 * sigma**2 * effective) * (1 + HAIR)
    budgets = (np.arange(PIECES) + 0.5) / PIECES * information
    misses = 1 - (1 - farthest(shared, budgets * (1 + HAIR))) * (1 - HAIR)
    lattice, keep = found.lattice, found.eta * (1 + SLACK) + np.maximum(found.blocks.most, 0) <= found.depth
    return {
        "eta": found.eta,
        "lattice": {
            "origin": lattice.origin.tolist(),
            "per_length": PER_LENGTH,
            "first": lattice.first.tolist(),
            "last": lattice.last.tolist(),
            "blocks": written(found.blocks.names[keep].tolist()),
        },
        "overlap_1": overlaps[0],
        "overlap_2": overlaps[1],
        "effective": effective,
        "shared": shared,
        "information": information,
        "misses": misses.tolist(),
        "regret": found.eta * horizon * float(np.mean(1 - misses)) * (1 - HAIR),
    }


def _two(cost, found, slack, *, horizon, sigma) -> dict:
    minimiser = cost.minimisers[0]
    s, kappa = found.s * (1 - HAIR), found.kappa * (1 + HAIR)
    return {
        "place": found.place.tolist(),
        "minimiser": minimiser.tolist(),
        "attained": float(cost.minimum + slack),
        "value": float(cost.minimum + found.gap + slack * HAIR),
        "s": s,
        "kappa": kappa,
        "cells": CELLS[cost.dim],
        "regret": least_regret(s, kappa, horizon, sigma) * (1 - HAIR),
    }
