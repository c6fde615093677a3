"""False certificates that were made to be accepted, and the arithmetic that has to refuse them."""

import copy
import json
import math
import random
from fractions import Fraction

import flint
import pytest

import function_zoo as zoo
import ratecheck as rc
from ratecheck.lower_bound import ball, inequalities, verify
from ratecheck.lower_bound.many import farthest
from studies.lower_bound import second

SQUARE = [["x", 0], ["mul", 0, 0]]
CONE = [["x", 0], ["abs", 0]]


def forged(nodes, least, alpha=2.0, box=((-1.0,), (1.0,)), **more):
    """A certificate with nothing in it yet but a formula of one coordinate."""
    content = {
        "format": "ratecheck lower bound 1",
        "formula": [{"axes": [0], "nodes": nodes}],
        "box": [list(end) for end in box],
        "components": [{"parts": [0], "least": least}],
        "class": {"M": 1e300, "M_a": 1.0, "M_b": 1.0},
    }
    plain = {"statement": "", "cost": "mine", "margin": 0.0, "horizon": 100.0, "sigma": 1.0, "alpha": alpha}
    return content | plain | {"minimum": least, "length": 1.0, "depth": 1.0} | more


def many(content, eta, first, last, overlaps, effective, regret, origin=(0.0,), per_length=4, misses=(0.5,), **more):
    lattice = {"origin": list(origin), "per_length": per_length, "first": first, "last": last, "blocks": "."}
    numbers = {"eta": eta, "overlap_1": overlaps[0], "overlap_2": overlaps[1], "effective": effective}
    numbers |= {"shared": 1e-5, "information": 0.01, "misses": list(misses), "regret": regret}
    return content | {"bound": "many", "lattice": lattice} | numbers | more


def flat(content, eta, length, low, high):
    """Dents of depth eta, as if f0 were m everywhere between low and high: right, if only m were."""
    pitch = length / 4
    first, last = math.ceil(low / pitch) + 1, math.floor(high / pitch) - 1
    effective = (last - first + 1) * (1 - 1e-6)
    shared, information = 2.2 / effective * 1.001, 100 * eta**2 * 1.6 / (2 * effective) * 1.001
    miss = min(float(farthest(shared, information / 2 * 1.001)) * 1.0001, 1 - 1e-9)
    regret = eta * 100 * (1 - miss) * 0.999
    content |= {"length": length, "depth": eta * (1 + 1e-9), "shared": shared, "information": information}
    return many(content, eta, [first], [last], (2.2, 1.6), effective, regret, misses=[miss]) | {
        "shared": shared,
        "information": information,
    }


def pair(**more):
    content = forged(SQUARE, 0.0) | {"bound": "two", "place": [0.1], "minimiser": [0.0], "attained": 0.0}
    return content | {"value": 0.0101, "s": 0.98, "kappa": 1e-9, "cells": 4, "regret": 48.9} | more


def honest(horizon=1e3):
    return copy.deepcopy(rc.lower_bound(zoo.get("cone", 1), horizon).certificate)


WELL = [
    *([["x", 0], ["mul", 0, 0], ["c", 0.9], ["sub", 0, 2], ["mul", 3, 3], ["c", 1000.0], ["mul", 4, 5]]),
    *([["c", 50.0], ["sub", 6, 7], ["min", 1, 8]]),
]  # x^2, but for a well of depth 50 at 0.9
TRICK = [
    *([["x", 0], ["c", 0.3], ["sub", 0, 1], ["mul", -1, -1], ["mul", -1, -1], ["mul", -1, -1], ["c", 800.0]]),
    *([["mul", 5, 6], ["c", 1e-3], ["min", 7, 8], ["c", 0.0], ["max", 9, 10]]),
]  # places counted from the end
FORGED = {
    "a lattice of more dimensions": lambda: many(
        forged(SQUARE, 0.0), 0.5, [0, 0], [0, 10**9], (2.0, 1.6), 1e6, 24.9, origin=(0.0, 0.0)
    ),
    "a negative number of places": lambda: many(
        forged(CONE, 0.0, alpha=1.0), 0.5, [0], [0], (1e-9, 1e-9), 1.0, 49.9, per_length=-4, misses=[1e-3]
    ),
    "no cells": lambda: pair(cells=0),
    "negative cells": lambda: pair(cells=-1),
    "true cells": lambda: pair(cells=True),
    "no information": lambda: pair(kappa=0.0),
    "negative information": lambda: pair(kappa=-1.0),
    "a negative margin": lambda: flat(forged(WELL, 0.0, margin=-0.6), 0.1, 0.02, -0.01, 0.01),
    "half a step": lambda: honest(1) | {"horizon": 0.5, "regret": honest(1)["regret"] / 2},
    "a step and a half": lambda: honest(1) | {"horizon": 1.5},
    "places from the end": lambda: flat(
        forged(TRICK, 0.99e-3, alpha=1.0, box=((0.0,), (1.0,))), 2e-5, 1e-4, 0.42, 0.44
    ),
    "a coordinate with a tail": lambda: flat(
        forged([["x", 0, 0], ["c", 0.75], ["sub", 0, 1], ["abs", 2], ["c", 1e3], ["mul", 3, 4]], 749.0, alpha=1.0),
        *(1.0, 0.01, 0.1, 0.9),
    ),
    "a huge slope": lambda: flat(
        forged([["x", 0], ["sqrt", 0], ["c", -1e305], ["mul", 1, 2]], -1e302, alpha=1.0, box=((0.0,), (1.0,))),
        *(1.0, 0.01, 0.1, 0.9),
    ),
    "an underflow": lambda: flat(
        forged(
            [*WELL[:7], ["c", -3e6], ["exp", 7], ["pow", 8, 1e-6], ["mul", 9, 5], ["sub", 6, 10], ["min", 1, 11]], -1e-6
        ),
        *(0.1, 0.02, -0.01, 0.01),
    ),
    "another coordinate": lambda: forged([["x", 1], ["abs", 0]], 0.0),
    "an empty box": lambda: honest() | {"box": [[1.0], [-1.0]]},
    "another format": lambda: honest() | {"format": "mine"},
    "a negative M": lambda: honest() | {"class": {"M": -1.0, "M_a": -1e9, "M_b": -1e9}},
    "a constant as text": lambda: forged([["c", "1e9"]], 0.0),
    "a list": lambda: [1, 2],
}


@pytest.mark.parametrize("forge", FORGED.values(), ids=FORGED)
def test_both_verifiers_refuse_what_was_forged(forge, tmp_path, capsys):
    content = forge()
    with pytest.raises(ball.NotProved):
        inequalities.verify(copy.deepcopy(content))
    with pytest.raises(second.Refused):
        second.verify(copy.deepcopy(content))
    path = tmp_path / "certificate.json"
    path.write_text(json.dumps(content))
    assert [command.main([str(path)]) for command in (second, verify)] == [1, 1]
    assert capsys.readouterr().out.count("REFUSED") == 2


def test_the_verifiers_say_what_they_proved_and_not_what_is_written(tmp_path, capsys):
    path = tmp_path / "certificate.json"
    path.write_text(json.dumps(honest() | {"statement": "the regret is at least 1e99"}))
    assert [command.main([str(path)]) for command in (second, verify)] == [0, 0]
    assert "1e99" not in capsys.readouterr().out
    text = json.dumps(honest())
    path.write_text('{"regret": 1e99, ' + text[1:])  # a key that stands twice
    assert [command.main([str(path)]) for command in (second, verify)] == [1, 1]
    path.write_text(json.dumps(honest() | {"margin": 0.0}))
    assert second.main([str(path)]) == 0  # a weaker statement, and true
    assert verify.main([str(path)]) == 1  # but not about the cost that it names
    path.write_text("[" * 100_000)
    assert [command.main([str(path)]) for command in (second, verify)] == [1, 1]


# The arithmetic: true values lie in every interval


def exactly(x):
    x = Fraction(x)
    return flint.arb(flint.fmpq(x.numerator, x.denominator))


TRUE = {
    "neg": lambda x: -x,
    "abs": lambda x: abs(x),
    "sqrt": lambda x: x.sqrt(),
    "sin": lambda x: x.sin(),
    "cos": lambda x: x.cos(),
    "exp": lambda x: x.exp(),
    "expm1": lambda x: x.expm1(),
    "log": lambda x: x.log(),
    "log2": lambda x: x.log() / flint.arb(2).log(),
    "add": lambda x, y: x + y,
    "sub": lambda x, y: x - y,
    "mul": lambda x, y: x * y,
    "div": lambda x, y: x / y,
    "min": lambda x, y: x.min(y),
    "max": lambda x, y: x.max(y),
}
POWERS = (2.0, 3.0, -1.0, -2.0, 0.5, 1.5, 0.1, -0.7, 7.0)


@pytest.mark.parametrize("name", [*TRUE, *POWERS])
def test_intervals_of_both_verifiers_hold_the_true_values(name):
    chance = random.Random(str(name))
    takes_two = name in ball.TAKE_TWO
    positive = name in ("sqrt", "log", "log2") or (name in POWERS and name != int(name))
    for _ in range(150):
        ends = []
        for _ in range(1 + takes_two):
            scale = 10.0 ** chance.uniform(-6, 2)
            low = chance.uniform(1e-3, 1) * scale if positive else chance.uniform(-1, 1) * scale
            ends.append((low, low + chance.choice([0.0, scale * 10.0 ** chance.uniform(-12, 0)])))
        points = [chance.choice([Fraction(a), Fraction(b), (Fraction(a) + Fraction(b)) / 2]) for a, b in ends]
        with ball.precision(128):
            intervals = [(ball.ball(a), ball.ball(b)) for a, b in ends]
            try:
                if name in POWERS:
                    first = ball.raised(intervals[0], name)
                else:
                    first = ball.OPERATIONS[name](*intervals)
            except ball.NotProved:
                continue
        decimals = [(second.exact(a)[0], second.exact(b)[1]) for a, b in ends]
        if name in POWERS:
            other = second.power(decimals[0], name)
        else:
            other = (second.OF_TWO if takes_two else second.OF_ONE)[name](*decimals)
        with ball.precision(400):
            places = [exactly(p) for p in points]
            if name in POWERS:
                value = places[0] ** (int(name) if name == int(name) else exactly(name))
            else:
                value = TRUE[name](*places)
            assert not value < first[0]
            assert not value > first[1]
            assert exactly(other[0]) <= value <= exactly(other[1])
            # and they are sharp, where the box is a point
            if all(a == b for a, b in ends) and name not in ("div",):
                assert exactly(other[1] - other[0]) <= abs(value) * exactly(Fraction(1, 10**24)) + exactly(1e-30)
