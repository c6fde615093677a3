"""A second verifier of lower-bound certificates, for readers who trust neither this package nor its libraries.

    python second.py certificate.json

It needs this file and the standard library only: exact fractions, and decimals rounded downwards and upwards.  It
shares no code with the first verifier.  What it takes for granted is listed in the certificate under "trusted".
"""

import json
import sys
from decimal import ROUND_CEILING, ROUND_FLOOR, Context, Decimal
from fractions import Fraction
from functools import cache

DIGITS = 40
DOWN = Context(prec=DIGITS, rounding=ROUND_FLOOR, Emin=-(10**9), Emax=10**9)
UP = Context(prec=DIGITS, rounding=ROUND_CEILING, Emin=-(10**9), Emax=10**9)
ZERO, ONE, TWO = Decimal(0), Decimal(1), Decimal(2)
HAIR = Decimal(10) ** (4 - DIGITS)  # elementary functions of decimal are right to one unit in the last place
TINY = Decimal("1e-900000000")  # and may be rounded to 0
FARTHEST = Decimal(10) ** 20  # from 0: beyond, a sine is anything
FORMAT = "ratecheck lower bound 1"
MOST_BOXES = 200_000


class Refused(Exception):
    """An inequality that does not hold, or could not be proved."""


# Intervals: pairs of decimals (low, high)


def exact(number):
    """An interval around a number given as float, int or Fraction."""
    number = Fraction(number)
    top, bottom = Decimal(number.numerator), Decimal(number.denominator)
    return DOWN.divide(top, bottom), UP.divide(top, bottom)


def add(a, b):
    return DOWN.add(a[0], b[0]), UP.add(a[1], b[1])


def negative(a):
    return a[1].copy_negate(), a[0].copy_negate()


def subtract(a, b):
    return add(a, negative(b))


def multiply(a, b):
    pairs = [(x, y) for x in a for y in b]
    return min(DOWN.multiply(x, y) for x, y in pairs), max(UP.multiply(x, y) for x, y in pairs)


def divide(a, b):
    if b[0] <= 0 <= b[1]:
        raise Refused("a division by an interval that holds 0")
    return multiply(a, (DOWN.divide(ONE, b[1]), UP.divide(ONE, b[0])))


def widened(low, high):
    """What holds the true values, where the ends are right to a unit in the last place.

    All arithmetic is that of DOWN and UP: the signs of Python would round as the context of the thread does.
    """
    slack = [UP.add(UP.multiply(HAIR, end.copy_abs()), TINY) for end in (low, high)]
    return DOWN.subtract(low, slack[0]), UP.add(high, slack[1])


def absolute(a):
    if a[0] >= 0:
        return a
    if a[1] <= 0:
        return negative(a)
    return ZERO, max(a[1], a[0].copy_negate())


def root(a):
    low, high = widened(DOWN.sqrt(max(a[0], ZERO)), UP.sqrt(max(a[1], ZERO)))
    return max(low, ZERO), high


def exponential(a):
    return widened(DOWN.exp(a[0]), UP.exp(a[1]))


def logarithm(a):
    if a[0] <= 0:
        raise Refused("a logarithm of an interval that holds 0")
    low, high = widened(DOWN.ln(a[0]), UP.ln(a[1]))
    return DOWN.subtract(low, HAIR), UP.add(high, HAIR)


def power(a, exponent):
    """a^exponent, the exponent a float or Fraction; where it is not whole, negative a count as 0."""
    whole = exponent == int(exponent)
    if whole and int(exponent) % 2 == 0:
        a = absolute(a)
    elif not whole:
        a = max(a[0], ZERO), max(a[1], ZERO)
    if exponent < 0:
        return divide((ONE, ONE), power(a, -exponent))
    if exponent == 0:
        return ONE, ONE
    low, high = _powered(a[0], exponent)[0], _powered(a[1], exponent)[1]
    return (max(low, ZERO), high) if a[0] >= 0 else (low, high)


def _powered(x, exponent):
    """An interval around one decimal to a positive power."""
    if x == 0:
        return ZERO, ZERO
    if exponent == int(exponent):
        value = UP.power(x, int(exponent))
        return widened(value, value)
    values = [UP.power(x, end) for end in exact(Fraction(exponent))]
    return widened(min(values), max(values))


@cache
def pi():
    """By Machin's formula, 16 arctan(1/5) - 4 arctan(1/239), in whole numbers."""
    scale = 10 ** (DIGITS + 20)

    def arctan(n):
        total, term, k = 0, scale // n, 0
        while term:
            total += (-1) ** k * (term // (2 * k + 1))
            term //= n * n
            k += 1
        return total

    value = 16 * arctan(5) - 4 * arctan(239)
    return exact(Fraction(value - 10**6, scale))[0], exact(Fraction(value + 10**6, scale))[1]


def sine_at(x):
    """An interval around the sine of one decimal."""
    if x.copy_abs() > FARTHEST:
        return -ONE, ONE
    full = multiply((TWO, TWO), pi())
    turns = Decimal(round(DOWN.divide(x, full[0])))
    rest = subtract((x, x), multiply((turns, turns), full))  # within [-pi, pi], by a hair more
    square = multiply(rest, rest)
    square = max(square[0], ZERO), square[1]
    term, total, k = rest, rest, 1
    while k < 30 or absolute(term)[1] > HAIR * HAIR:
        term = negative(divide(multiply(term, square), exact((k + 1) * (k + 2))))
        total = add(total, term)
        k += 2
    slack = UP.multiply(TWO, absolute(term)[1])  # from here on the terms shrink and alternate
    return max(DOWN.subtract(total[0], slack), -ONE), min(UP.add(total[1], slack), ONE)


def sine(a, quarter=0):
    """sin(t + quarter pi/2) for t in a."""
    if max(end.copy_abs() for end in a) > FARTHEST:
        return -ONE, ONE
    half = divide(pi(), (TWO, TWO))
    a = add(a, multiply(exact(quarter), half))
    full = multiply((TWO, TWO), pi())

    ends = [sine_at(x) for x in a]
    low, high = min(e[0] for e in ends), max(e[1] for e in ends)
    return (-ONE if _spans(a, -1, half, full) else low), (ONE if _spans(a, 1, half, full) else high)


def _spans(a, phase, half, full):
    """Whether a point phase * pi/2 + 2 pi k may lie in a."""
    low = divide(subtract((a[0], a[0]), multiply(exact(phase), half)), full)[0]
    high = divide(subtract((a[1], a[1]), multiply(exact(phase), half)), full)[1]
    return low.to_integral_value(rounding=ROUND_CEILING) <= high.to_integral_value(rounding=ROUND_FLOOR)


# Values of an expression over a box, and bounds of its derivatives


OF_ONE = {
    "neg": negative,
    "abs": absolute,
    "sqrt": root,
    "sin": sine,
    "cos": lambda a: sine(a, 1),
    "exp": exponential,
    "expm1": lambda a: subtract(exponential(a), (ONE, ONE)),
    "log": logarithm,
    "log2": lambda a: divide(logarithm(a), logarithm((TWO, TWO))),
}
OF_TWO = {
    "add": add,
    "sub": subtract,
    "mul": multiply,
    "div": divide,
    "min": lambda a, b: (min(a[0], b[0]), min(a[1], b[1])),
    "max": lambda a, b: (max(a[0], b[0]), max(a[1], b[1])),
}


def values(nodes, box):
    """The intervals of all nodes; `box` gives one interval for each coordinate."""
    found = []
    for name, *rest in nodes:
        if name == "x":
            found.append(box[rest[0]])
        elif name == "c":
            found.append(exact(rest[0]))
        elif name == "pow":
            found.append(power(found[rest[0]], rest[1]))
        elif name in OF_ONE:
            found.append(OF_ONE[name](found[rest[0]]))
        else:
            found.append(OF_TWO[name](found[rest[0]], found[rest[1]]))
    return found


def derivative(nodes, box, axis):
    """An interval around the derivative with respect to one coordinate, over the box."""
    value = values(nodes, box)
    slopes = []
    for name, *rest in nodes:
        if name in ("x", "c"):
            slope = (ONE, ONE) if name == "x" and rest[0] == axis else (ZERO, ZERO)
        elif all(slopes[i] == (ZERO, ZERO) for i in (rest[:1] if name == "pow" else rest)):
            slope = (ZERO, ZERO)
        elif name in ("add", "sub"):
            slope = OF_TWO[name](slopes[rest[0]], slopes[rest[1]])
        elif name == "mul":
            i, j = rest
            slope = add(multiply(slopes[i], value[j]), multiply(value[i], slopes[j]))
        elif name == "div":
            i, j = rest
            top = subtract(multiply(slopes[i], value[j]), multiply(value[i], slopes[j]))
            slope = divide(top, multiply(value[j], value[j]))
        elif name in ("min", "max"):
            a, b = (slopes[i] for i in rest)
            slope = min(a[0], b[0]), max(a[1], b[1])
        else:
            slope = multiply(_outer(name, value[rest[0]], rest), slopes[rest[0]])
        slopes.append(slope)
    return slopes[-1]


def _outer(name, a, rest):
    if name == "neg":
        return -ONE, -ONE
    if name == "abs":
        return (ONE, ONE) if a[0] > 0 else (-ONE, -ONE) if a[1] < 0 else (-ONE, ONE)
    if name == "sqrt":
        return divide((ONE, ONE), multiply((TWO, TWO), root(a)))
    if name == "sin":
        return sine(a, 1)
    if name == "cos":
        return negative(sine(a))
    if name in ("exp", "expm1"):
        return exponential(a)
    if name in ("log", "log2"):
        inverse = divide((ONE, ONE), a)
        return inverse if name == "log" else divide(inverse, logarithm((TWO, TWO)))
    return multiply(exact(rest[1]), power(a, Fraction(rest[1]) - 1))  # pow


class Cost:
    """The sum of the certificate's summands, with what was found about each kept."""

    def __init__(self, certificate):
        self.parts = [(tuple(part["axes"]), part["nodes"]) for part in certificate["formula"]]
        self.lower, self.upper = ([Fraction(x) for x in end] for end in certificate["box"])
        self.kept = {}

    def over(self, ends, which=None):
        """An interval around the values over the box with the given ends, two Fractions for each coordinate."""
        total = ZERO, ZERO
        for i in range(len(self.parts)) if which is None else which:
            axes, nodes = self.parts[i]
            key = (i, *(ends[axis] for axis in axes))
            if key not in self.kept:
                box = {axis: (exact(ends[axis][0])[0], exact(ends[axis][1])[1]) for axis in axes}
                self.kept[key] = values(nodes, box)[-1]
            total = add(total, self.kept[key])
        return total

    def least(self, component, bound, margin):
        """Proves that the sum of some summands is at least `bound` on the box and its margin."""
        axes = sorted({axis for i in component for axis in self.parts[i][0]})
        start = {axis: (self.lower[axis] - margin, self.upper[axis] + margin) for axis in axes}
        waiting, looked = [start], 0
        while waiting:
            ends = waiting.pop()
            looked += 1
            if looked > MOST_BOXES:
                raise Refused(f"{MOST_BOXES} boxes were not enough to prove that a summand is at least {bound}")
            if self.over(ends, component)[0] >= bound or self._centred(ends, component) >= bound:
                continue
            middle = {axis: ((low + high) / 2,) * 2 for axis, (low, high) in ends.items()}
            if self.over(middle, component)[1] < bound:
                raise Refused(f"a summand of f0 is below {bound} at {[float(x) for x, _ in middle.values()]}")
            axis = max(axes, key=lambda i: (ends[i][1] - ends[i][0]) / (self.upper[i] - self.lower[i]))
            low, high = ends[axis]
            waiting += [ends | {axis: (low, (low + high) / 2)}, ends | {axis: ((low + high) / 2, high)}]

    def _centred(self, ends, component):
        """A lower bound by the mean value theorem."""
        middle = {axis: ((low + high) / 2,) * 2 for axis, (low, high) in ends.items()}
        box = {axis: (exact(low)[0], exact(high)[1]) for axis, (low, high) in ends.items()}
        try:
            total = self.over(middle, component)[0]
            for axis, (low, high) in ends.items():
                slope = ZERO, ZERO
                for i in component:
                    if axis in self.parts[i][0]:
                        slope = add(slope, derivative(self.parts[i][1], box, axis))
                total = DOWN.subtract(total, UP.multiply(absolute(slope)[1], exact((high - low) / 2)[1]))
        except Refused:
            return Decimal("-Infinity")
        return total


# The certificate


def must(holds, what):
    if not holds:
        raise Refused(f"this is not a certificate: {what}")


def number(value):
    return isinstance(value, int | float) and not isinstance(value, bool) and abs(value) < float("inf")


def whole(value):
    return isinstance(value, int) and not isinstance(value, bool)


def vector(values, dim, kind=number):
    return isinstance(values, list) and len(values) == dim and all(map(kind, values))


NUMBERS = ("horizon", "sigma", "length", "depth", "regret")
OF_MANY = ("eta", "effective", "overlap_1", "overlap_2", "shared", "information")
OF_A_PAIR = ("s", "kappa")


def well_formed(c):
    """Nothing is missing, and nothing is what it should not be: no proof begins before."""
    must(isinstance(c, dict) and c["format"] == FORMAT, f"its format is not {FORMAT!r}")
    lower, upper = c["box"]
    dim = len(lower)
    must(dim >= 1 and vector(lower, dim) and vector(upper, dim), "the box needs two lists of numbers")
    must(all(a < b for a, b in zip(lower, upper, strict=True)), "the box is empty")
    must(number(c["margin"]) and c["margin"] >= 0, "the margin is negative")
    must(c["bound"] in ("many", "two"), "there are bounds of two kinds, many and two")
    positive = NUMBERS + (OF_MANY if c["bound"] == "many" else OF_A_PAIR)
    must(all(number(c[name]) and c[name] > 0 for name in positive), f"{', '.join(positive)} must be positive")
    must(c["horizon"] == int(c["horizon"]), "the horizon is not a whole number")
    must(number(c["alpha"]) and 0 < c["alpha"] <= 2, "alpha lies outside (0, 2]")
    must(number(c["minimum"]), "the minimum is no number")
    must(all(number(c["class"][name]) and c["class"][name] > 0 for name in ("M", "M_a", "M_b")), "M, M_a or M_b is not")
    must(isinstance(c["formula"], list) and isinstance(c["components"], list), "formula and components are lists")
    for part in c["formula"]:
        axes = part["axes"]
        must(vector(axes, len(axes), whole) and len(set(axes)) == len(axes), "coordinates are whole numbers, once each")
        must(all(0 <= axis < dim for axis in axes), "a coordinate that the box does not have")
        must(isinstance(part["nodes"], list) and part["nodes"], "a summand without nodes")
        for place, node in enumerate(part["nodes"]):
            must(sound(node, place, axes), f"node {place} is {node!r}")
    for component in c["components"]:
        must(isinstance(component["parts"], list) and all(map(whole, component["parts"])), "parts are whole numbers")
        must(all(0 <= i < len(c["formula"]) for i in component["parts"]), "a part that the formula does not have")
        must(number(component["least"]), "the least value of a component is no number")
    if c["bound"] == "many":
        lattice = c["lattice"]
        must(vector(lattice["origin"], dim), "the lattice has another dimension than the box")
        must(all(vector(lattice[end], dim, whole) for end in ("first", "last")), "indices are whole numbers")
        must(all(i <= j for i, j in zip(lattice["first"], lattice["last"], strict=True)), "the lattice is empty")
        must(whole(lattice["per_length"]) and lattice["per_length"] in (2, 4), "2 or 4 places per length are known")
        letters = {chr(ord("a") + axis) for axis in range(dim)} | {".", "-"}
        must(isinstance(lattice["blocks"], str) and set(lattice["blocks"]) <= letters, "blocks are no list of cuts")
        must(isinstance(c["misses"], list) and c["misses"] and all(map(number, c["misses"])), "misses are numbers")
    else:
        must(vector(c["place"], dim) and vector(c["minimiser"], dim), "a place has another dimension than the box")
        must(number(c["attained"]) and number(c["value"]), "attained and value are numbers")
        must(whole(c["cells"]) and c["cells"] >= 1, "cells is a whole number, 1 or larger")


def sound(node, place, axes):
    """Whether a node has the arguments that its operation takes, all of them earlier nodes."""
    if not isinstance(node, list) or not node or not isinstance(node[0], str):
        return False
    name, *rest = node
    if name == "x":
        return len(rest) == 1 and whole(rest[0]) and rest[0] in axes
    if name == "c":
        return len(rest) == 1 and number(rest[0])
    takes = 1 if name in OF_ONE or name == "pow" else 2 if name in OF_TWO else 0
    earlier = all(whole(i) and 0 <= i < place for i in rest[:takes])
    if name == "pow":
        return len(rest) == 2 and earlier and number(rest[1]) and abs(rest[1]) <= 1000
    return takes > 0 and len(rest) == takes and earlier


def sentence(c):
    """What was proved, from the numbers that were checked."""
    who = "on average over the family, weighted by 1/H^2," if c["bound"] == "many" else "under one of two functions"
    return (
        f"in {c['horizon']:.17g} queries of the box and its margin with Gaussian noise of standard deviation "
        f"{c['sigma']!r}, no strategy has an expected cumulative regret, against the least value there, {who} below "
        f"{c['regret']!r}"
    )


def unique(pairs):
    keys = [key for key, _ in pairs]
    must(len(set(keys)) == len(keys), "a key stands twice")
    return dict(pairs)


def verify(certificate):
    """Raises Refused where an inequality of the certificate does not hold; returns the sentences that were proved."""
    try:
        well_formed(certificate)
    except (KeyError, IndexError, TypeError, ValueError, ArithmeticError, AttributeError) as error:
        raise Refused(f"this is not a certificate ({type(error).__name__}: {error})") from error
    cost = Cost(certificate)
    proved = []

    def check(holds, claim):
        if not holds:
            raise Refused(f"not proved: {claim}")
        proved.append(claim)

    numbers = _numbers(certificate)
    taken = [i for component in certificate["components"] for i in component["parts"]]
    check(sorted(taken) == list(range(len(cost.parts))), "every summand of f0 belongs to one component")
    seen = set()
    for component in certificate["components"]:
        axes = {axis for i in component["parts"] for axis in cost.parts[i][0]}
        check(not axes & seen, "components share no coordinate")
        seen |= axes
        cost.least(component["parts"], exact(component["least"])[1], Fraction(certificate["margin"]))
    total = sum(Fraction(component["least"]) for component in certificate["components"])
    check(total >= numbers["minimum"], f"f0 >= {certificate['minimum']} on the box and its margin")
    _membership(certificate, cost, numbers, check)
    {"many": _many, "two": _two}[certificate["bound"]](certificate, cost, numbers, check)
    return proved


def _membership(certificate, cost, n, check):
    constants, alpha, dim = certificate["class"], certificate["alpha"], len(cost.lower)
    M, M_a, M_b = (Fraction(constants[name]) for name in ("M", "M_a", "M_b"))
    check(M_a + n["depth"] <= M, f"(a) holds for the members with M = {constants['M']}, if M_a is right")
    error = exact(Fraction(dim) / (dim + Fraction(alpha)))
    if alpha > 1:
        error = divide(multiply(exact(dim), power((TWO, TWO), Fraction(alpha) - 1)), exact(Fraction(alpha) + 1))
    steep = divide(multiply(error, exact(n["depth"])), power(exact(n["length"]), alpha))
    check(add(exact(M_b), steep)[1] <= exact(M)[0], f"(b) holds for them with M = {constants['M']}, if M_b is right")


def _numbers(certificate):
    return {k: Fraction(v) for k, v in certificate.items() if isinstance(v, int | float) and not isinstance(v, bool)}


def _many(certificate, cost, n, check):
    lattice, alpha, dim = certificate["lattice"], certificate["alpha"], len(cost.lower)
    per_length = lattice["per_length"]
    pitch = n["length"] / per_length
    origin = [Fraction(x) for x in lattice["origin"]]
    corners = [[origin[i] + pitch * lattice[end][i] for i in range(dim)] for end in ("first", "last")]
    inside = all(cost.lower[i] <= corners[0][i] <= corners[1][i] <= cost.upper[i] for i in range(dim))
    check(inside, "all places of the lattice lie in the box")
    check(n["overlap_1"] >= _overlap(alpha, dim, per_length, 1), f"dents sum to at most {certificate['overlap_1']}")
    check(n["overlap_2"] >= _overlap(alpha, dim, per_length, 2), f"their squares to at most {certificate['overlap_2']}")
    found = _effective(lattice, cost, n, origin, pitch)
    check(n["effective"] <= found, f"the sum of (eta/H)^2 over the places is at least {certificate['effective']}")
    p, eta, horizon = n["shared"], n["eta"], n["horizon"]
    check(p >= n["overlap_1"] / n["effective"], f"p <= {certificate['shared']}")
    information = horizon * eta**2 * n["overlap_2"] / (2 * n["sigma"] ** 2 * n["effective"])
    check(n["information"] >= information, f"b(T) <= {certificate['information']}")
    missed = [Fraction(q) for q in certificate["misses"]]
    for k, q in enumerate(missed):
        check(0 < p <= q < 1, f"p <= Q_{k + 1} < 1")
        budget = n["information"] * Fraction(2 * k + 1, 2 * len(missed))
        check(_divergence(p, q)[0] >= exact(budget)[1], f"kl(p, Q_{k + 1}) >= b(T) {2 * k + 1}/{2 * len(missed)}")
    least = eta * horizon * sum(1 - q for q in missed) / len(missed)
    check(n["regret"] <= least, f"the average regret over the family is at least {certificate['regret']}")


def _divergence(p, q):
    ratio, rest = logarithm(exact(p / q)), logarithm(exact((1 - p) / (1 - q)))
    return add(multiply(exact(p), ratio), multiply(exact(1 - p), rest))


def _effective(lattice, cost, n, origin, pitch):
    """The sum of (eta/H)^2 over all places in listed blocks where H = eta + f0 - m is at most the depth; or less."""
    letters = iter(lattice["blocks"])
    total = Fraction(0)
    waiting = [(list(lattice["first"]), list(lattice["last"]))]
    while waiting:
        first, last = waiting.pop()
        letter = next(letters, None)
        if letter is None:
            raise Refused("the list of blocks ends too early")
        if letter == "-":
            continue
        if letter != ".":
            axis = ord(letter) - ord("a")
            middle = (first[axis] + last[axis]) // 2
            below, above = list(last), list(first)
            below[axis], above[axis] = middle, middle + 1
            waiting += [(above, last), (first, below)]
            continue
        count = 1
        for low, high in zip(first, last, strict=True):
            count *= max(0, high - low + 1)
        ends = [(x + pitch * i, x + pitch * j) for x, i, j in zip(origin, first, last, strict=True)]
        dent = n["eta"] + max(Fraction(0), Fraction(cost.over(ends)[1]) - n["minimum"])
        if dent <= n["depth"]:
            total += Fraction(DOWN.multiply(count, power(exact(n["eta"] / dent), 2.0)[0]))
    return total


def _overlap(alpha, dim, per_length, exponent, steps=256):
    """The largest sum of psi^exponent over dents on a lattice, or slightly more (overlap.py says why)."""
    if alpha > 1:
        if exponent == 1:
            return Fraction(per_length, 2) ** dim
        return Fraction(power(_squares(alpha, steps), float(dim))[1]) if per_length == 4 else Fraction(1)
    most = ZERO
    for step in range(steps):
        near = Fraction(step, 2 * per_length * steps), Fraction(step + 1, 2 * per_length * steps)
        nearest = sorted(
            distance
            for k in range(per_length + 2)
            for distance in (Fraction(k, per_length) + near[0], Fraction(k + 1, per_length) - near[1])
        )
        total = ZERO
        for j, distance in enumerate(nearest, 1):
            height = UP.subtract(ONE, power(exact(2 * distance), alpha)[0])
            if height > 0:
                total = UP.add(
                    total,
                    UP.multiply(j**dim - (j - 1) ** dim, height if exponent == 1 else UP.multiply(height, height)),
                )
        most = max(most, total)
    return Fraction(most)


def _squares(alpha, steps):
    most = ZERO
    for step in range(steps):
        low, high = Fraction(step, 2 * steps), Fraction(step + 1, 2 * steps)
        falls = add(power(exact(low), alpha), power(exact(1 - high), alpha))
        rises = add(power(exact(high), 2 * alpha), power(exact(1 - low), 2 * alpha))
        most = max(most, subtract(add((TWO, TWO), divide(rises, (TWO, TWO))), falls)[1])
    return most, most


def _two(certificate, cost, n, check):
    alpha, dim, cells = certificate["alpha"], len(cost.lower), certificate["cells"]
    place = [Fraction(x) for x in certificate["place"]]
    check(all(a <= x <= b for a, x, b in zip(cost.lower, place, cost.upper, strict=True)), "the dent lies in the box")
    at = [Fraction(x) for x in certificate["minimiser"]]
    check(all(a <= x <= b for a, x, b in zip(cost.lower, at, cost.upper, strict=True)), "so does the minimiser")
    value = cost.over([(x, x) for x in at])[1]
    check(value <= exact(n["attained"])[0], f"f0 takes a value of at most {certificate['attained']}")
    here = cost.over([(x, x) for x in place])[1]
    check(here <= exact(n["value"])[0], f"f0 at the dent is at most {certificate['value']}")
    outside = 2 * n["minimum"] - n["attained"] - n["value"] + n["depth"]
    check(n["s"] <= outside, "outside the dent both regrets together are at least s")
    for k in range(cells**dim):
        steps = [k // cells**i % cells for i in range(dim)]
        shares = [(Fraction(j, cells) - Fraction(1, 2), Fraction(j + 1, cells) - Fraction(1, 2)) for j in steps]
        ends = [(x + n["length"] * a, x + n["length"] * b) for x, (a, b) in zip(place, shares, strict=True)]
        least = cost.over(ends)[0]
        nearest = [max(Fraction(0), a, -b) for a, b in shares]
        dent = UP.multiply(exact(n["depth"])[1], _dent(alpha, nearest))
        first = DOWN.subtract(least, exact(n["attained"])[1])
        if first <= 0 or UP.multiply(dent, dent) > DOWN.multiply(exact(n["kappa"])[0], first):
            raise Refused(f"not proved: (f0 - f1)^2 <= kappa rho0 on cell {k}")
        second = max(ZERO, DOWN.add(DOWN.subtract(least, dent), exact(n["depth"] - n["value"])[0]))
        if DOWN.add(first, second) < exact(n["s"])[1]:
            raise Refused(f"not proved: rho0 + rho1 >= s on cell {k}")
    check(True, f"on all {cells**dim} cells of the dent (f0 - f1)^2 <= kappa rho0 and rho0 + rho1 >= s")
    information = exact(n["kappa"] * n["regret"] / (2 * n["sigma"] ** 2))
    pinsker = DOWN.subtract(ONE, root(divide(information, (TWO, TWO)))[1])
    huber = DOWN.subtract(ONE, root(subtract((ONE, ONE), exponential(negative(information))))[1])
    right = DOWN.multiply(exact(n["s"] * n["horizon"])[0], max(pinsker, huber))
    check(exact(2 * n["regret"])[1] < right, f"no strategy has regrets below {certificate['regret']} under both")


def _dent(alpha, distances):
    """psi at the given distances from its middle, in lengths; or slightly more."""
    if alpha <= 1:
        return max(ZERO, UP.subtract(ONE, power(exact(2 * max(distances)), alpha)[0]))
    product = ONE
    for distance in distances:
        v = 4 * distance
        inner, outer = power(exact(min(v, 1)), alpha), power(exact(min(1, max(0, 2 - v))), alpha)
        product = UP.multiply(product, divide(add(subtract((ONE, ONE), inner), outer), (TWO, TWO))[1])
    return product


def main(arguments):
    if len(arguments) != 1:
        print("usage: python second.py certificate.json", file=sys.stderr)
        return 2
    try:
        with open(arguments[0], encoding="utf-8") as file:
            certificate = json.load(file, object_pairs_hook=unique)
        proved = verify(certificate)
    except OSError as error:
        print(f"{arguments[0]}: {error.strerror}", file=sys.stderr)
        return 2
    except Refused as refusal:
        print(f"REFUSED: {refusal}")
        return 1
    except (KeyError, IndexError, TypeError, ValueError, ArithmeticError, RecursionError) as error:
        print(f"REFUSED: this is not a certificate ({type(error).__name__}: {error})")
        return 1
    for line in proved:
        print(f"proved: {line}")
    print(f"VERIFIED: {sentence(certificate)}")
    print(f"f0 is said to be {certificate.get('cost')!r}; its formula stands in the certificate")
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
