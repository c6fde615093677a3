"""The first verifier of lower-bound certificates: ball arithmetic (Arb, by python-flint) proves every inequality.

An interval is a pair of balls, around its lower and its upper end.  Nothing is rounded: a ball holds the exact end, and
a comparison holds only if it does for all numbers in the balls.
"""

from __future__ import annotations

import math
import operator
import threading
from contextlib import contextmanager
from fractions import Fraction

from .expression import arguments

FORMAT = "ratecheck lower bound 1"
PRECISION = 128
MOST_BOXES = 200_000


class NotProved(ValueError):
    """An inequality of a certificate that does not hold, or could not be shown to."""


@contextmanager
def precision(bits=PRECISION):
    """python-flint has one precision for the whole process: threads take turns, and it is put back."""
    import flint

    with _TURNS:
        before = flint.ctx.prec
        flint.ctx.prec = bits
        try:
            yield flint
        finally:
            flint.ctx.prec = before


_TURNS = threading.RLock()


def ball(number):
    """A ball around a number: exact for doubles."""
    import flint

    number = Fraction(number)
    return flint.arb(flint.fmpq(number.numerator, number.denominator))


def _product(a, b):
    ends = [x * y for x in a for y in b]
    low = high = ends[0]
    for end in ends[1:]:
        low, high = low.min(end), high.max(end)
    return low, high


def _inverse(a):
    if not (a[0] > 0 or a[1] < 0):
        raise NotProved("a division by what may be 0")
    return 1 / a[1], 1 / a[0]


def _absolute(a):
    low, high = abs(a[0]), abs(a[1])
    if a[0] >= 0 or a[1] <= 0:
        return low.min(high), low.max(high)
    return ball(0), low.max(high)


def _power(a, exponent):
    whole = exponent == int(exponent)
    if whole and int(exponent) % 2 == 0:
        a = _absolute(a)
    elif not whole:
        a = a[0].max(ball(0)), a[1].max(ball(0))
    if exponent < 0:
        return _inverse(_power(a, -exponent))
    if whole:
        return a[0] ** int(exponent), a[1] ** int(exponent)
    return tuple(ball(0) if end == 0 else end ** ball(exponent) for end in a)


def _root(a):
    return tuple(end.max(ball(0)).sqrt() for end in a)


def _sine(a, shift=0):
    """sin(t + shift pi/2)."""
    import flint

    quarter = flint.arb.pi() / 2
    a = tuple(end + shift * quarter for end in a)

    def spans(phase):
        low, high = ((end - phase * quarter) / (4 * quarter) for end in a)
        return not low.lower().ceil() > high.upper().floor()

    ends = [end.sin() for end in a]
    return (ball(-1) if spans(-1) else ends[0].min(ends[1])), (ball(1) if spans(1) else ends[0].max(ends[1]))


def _moderate(a):
    if not (abs(a[0]) < 10**9 and abs(a[1]) < 10**9):
        raise NotProved("an exponential of a huge number")
    return a


def _log(a):
    if not a[0] > 0:
        raise NotProved("a logarithm of what may be 0")
    return a[0].log(), a[1].log()


def _sum(a, b):
    return a[0] + b[0], a[1] + b[1]


def _minus(a):
    return -a[1], -a[0]


OPERATIONS = {
    "add": _sum,
    "sub": lambda a, b: _sum(a, _minus(b)),
    "mul": _product,
    "div": lambda a, b: _product(a, _inverse(b)),
    "min": lambda a, b: (a[0].min(b[0]), a[1].min(b[1])),
    "max": lambda a, b: (a[0].max(b[0]), a[1].max(b[1])),
    "neg": _minus,
    "abs": _absolute,
    "sqrt": _root,
    "sin": _sine,
    "cos": lambda a: _sine(a, 1),
    "exp": lambda a: tuple(end.exp() for end in _moderate(a)),
    "expm1": lambda a: tuple(end.expm1() for end in _moderate(a)),
    "log": _log,
    "log2": lambda a: tuple(end / ball(2).log() for end in _log(a)),
}


TAKE_TWO = ("add", "sub", "mul", "div", "min", "max")


def evaluate(nodes, box) -> list:
    """The intervals of all nodes over a box, {coordinate: interval}."""
    found = []
    for name, *rest in nodes:
        if name == "x":
            found.append(box[rest[0]])
        elif name == "c":
            found.append((ball(rest[0]),) * 2)
        elif name == "pow":
            found.append(_power(found[rest[0]], rest[1]))
        else:
            found.append(OPERATIONS[name](*(found[i] for i in rest)))
    return found


def slopes(nodes, box, axis) -> tuple:
    """An interval around the derivative in one coordinate, over a box."""
    value, found = evaluate(nodes, box), []
    zero, one = (ball(0),) * 2, (ball(1),) * 2
    for node in nodes:
        name, *rest = node
        inner = [found[i] for i in arguments(node)]
        if name in ("x", "c"):
            slope = one if name == "x" and rest[0] == axis else zero
        elif all(i is zero for i in inner):
            slope = zero
        elif name in ("add", "sub", "neg"):
            slope = OPERATIONS[name](*inner)
        elif name in ("mul", "div"):
            u, v = (value[i] for i in rest)
            if name == "div":  # u/v = u w with w = 1/v
                v = _inverse(v)
                inner = [inner[0], _minus(_product(inner[1], _power(v, 2)))]
            slope = _sum(_product(inner[0], v), _product(u, inner[1]))
        elif name in ("min", "max"):
            slope = inner[0][0].min(inner[1][0]), inner[0][1].max(inner[1][1])
        else:
            slope = _product(_derivative(name, value[rest[0]], rest[1:]), inner[0])
        found.append(slope)
    return found[-1]


def _derivative(name, a, exponent):
    one = ball(1)
    if name == "abs":
        return (one, one) if a[0] > 0 else (-one, -one) if a[1] < 0 else (-one, one)
    if name == "sqrt":
        return _inverse(tuple(2 * end for end in _root(a)))
    if name == "pow":
        return _product((ball(exponent[0]),) * 2, _power(a, Fraction(exponent[0]) - 1))
    if name in ("log", "log2"):
        return tuple(end / (ball(2).log() if name == "log2" else 1) for end in _inverse(a))
    outer = {"sin": "cos", "cos": "sin", "exp": "exp", "expm1": "exp"}[name]
    value = OPERATIONS[outer](a)
    return _minus(value) if name == "cos" else value


class Summands:
    """f0 as the certificate writes it, with what was found about its summands kept."""

    def __init__(self, certificate):
        self.parts = [(tuple(part["axes"]), part["nodes"]) for part in certificate["formula"]]
        self.kept = {}

    def over(self, ends, which=None):
        """An interval around the sum over a box, {coordinate or place: (low, high)} in Fractions."""
        total = ball(0), ball(0)
        for i in range(len(self.parts)) if which is None else which:
            axes, nodes = self.parts[i]
            key = (i, *(ends[axis] for axis in axes))
            if key not in self.kept:
                box = {axis: (ball(ends[axis][0]), ball(ends[axis][1])) for axis in axes}
                self.kept[key] = evaluate(nodes, box)[-1]
            total = _sum(total, self.kept[key])
        return total

    def least(self, which, bound, box):
        """Show that the sum of some summands is at least `bound` over a box, cutting it where that is not plain."""
        waiting, bound = [box], ball(bound)
        for _ in range(MOST_BOXES):
            if not waiting:
                return
            ends = waiting.pop()
            if self.over(ends, which)[0] >= bound:
                continue
            centred = self._by_mean_value(ends, which)
            if centred is not None and centred >= bound:
                continue
            middle = {axis: ((low + high) / 2,) * 2 for axis, (low, high) in ends.items()}
            if self.over(middle, which)[1] < bound:
                raise NotProved(f"f0 < m, as is seen at {[float(x) for x, _ in middle.values()]}")
            axis = max(ends, key=lambda i: (ends[i][1] - ends[i][0]) / (box[i][1] - box[i][0]))
            low, high = ends[axis]
            middle = (low + high) / 2
            waiting += [ends | {axis: (low, middle)}, ends | {axis: (middle, high)}]
        raise NotProved(f"{MOST_BOXES} boxes do not show that f0 >= m")

    def _by_mean_value(self, ends, which):
        middle = {axis: ((low + high) / 2,) * 2 for axis, (low, high) in ends.items()}
        box = {axis: (ball(low), ball(high)) for axis, (low, high) in ends.items()}
        try:
            total = self.over(middle, which)[0]
            for axis, (low, high) in ends.items():
                slope = ball(0), ball(0)
                for axes, nodes in (self.parts[i] for i in which):
                    if axis in axes:
                        slope = _sum(slope, slopes(nodes, box, axis))
                total = total - _absolute(slope)[1] * ball((high - low) / 2)
        except NotProved:
            return None
        return total


def verify(certificate) -> list[dict]:
    """The inequalities of a certificate with enclosures of both sides; NotProved where one of them does not hold."""
    try:
        with precision():
            return list(_inequalities(certificate))
    except (KeyError, IndexError, TypeError, ValueError, ArithmeticError, AttributeError) as error:
        if isinstance(error, NotProved):
            raise
        raise NotProved(f"this is not a certificate ({type(error).__name__}: {error})") from error


def _claim(claim, smaller, larger):
    """smaller <= larger, both of them balls, Fractions or numbers."""
    smaller, larger = (end if hasattr(end, "mid") else ball(end) for end in (smaller, larger))
    if not smaller <= larger:
        raise NotProved(f"not proved: {claim} ({smaller.str(12)} against {larger.str(12)})")
    return {"claim": claim, "smaller": smaller.str(17), "larger": larger.str(17)}


def _real(value, above=-math.inf):
    """Whether something is a finite number, no truth value and no text, and larger than a limit."""
    return type(value) in (int, float) and math.isfinite(value) and value > above


def _integers(values, low, high):
    """Whether something is a list of whole numbers from low to below high."""
    return isinstance(values, list) and all(type(i) is int and low <= i < high for i in values)


def _shape(c):
    """Refuse what is not written as a certificate is: the proofs below rely on it."""

    def needed(holds, what):
        if not holds:
            raise NotProved(f"this is not a certificate: {what}")

    needed(isinstance(c, dict) and c["format"] == FORMAT, f"the format is not {FORMAT!r}")
    dim = len(c["box"][0])
    needed(dim >= 1 and [len(end) for end in c["box"]] == [dim, dim], "a box has as many lower as upper ends")
    needed(all(_real(x) for end in c["box"] for x in end), "the ends of the box must be numbers")
    needed(all(a < b for a, b in zip(*c["box"], strict=True)), "the box is empty")
    needed(_real(c["margin"]) and c["margin"] >= 0, "the margin must not be negative")
    needed(_real(c["alpha"], 0) and c["alpha"] <= 2, "alpha must lie in (0, 2]")
    needed(_real(c["horizon"], 0) and c["horizon"] == int(c["horizon"]), "the horizon must be whole, 1 or larger")
    for name in ("sigma", "length", "depth", "regret"):
        needed(_real(c[name], 0), f"{name} must be positive")
    for name in ("M", "M_a", "M_b"):
        needed(_real(c["class"][name], 0), f"{name} must be positive")
    needed(_real(c["minimum"]), "the minimum must be a number")
    for part in c["formula"]:
        needed(_integers(part["axes"], 0, dim) and len(set(part["axes"])) == len(part["axes"]), "axes of a summand")
        needed(len(part["nodes"]) > 0, "a summand without nodes")
        for i, (name, *rest) in enumerate(part["nodes"]):
            if name == "x":
                fine = len(rest) == 1 and type(rest[0]) is int and rest[0] in part["axes"]
            elif name == "c":
                fine = len(rest) == 1 and _real(rest[0])
            elif name == "pow":
                fine = len(rest) == 2 and _integers(rest[:1], 0, i) and _real(rest[1]) and abs(rest[1]) <= 1000
            else:
                fine = name in OPERATIONS and len(rest) == (2 if name in TAKE_TWO else 1) and _integers(rest, 0, i)
            needed(fine, f"node {i} of a summand")
    for component in c["components"]:
        needed(_integers(component["parts"], 0, len(c["formula"])) and _real(component["least"]), "a component")
    if c["bound"] == "many":
        lattice = c["lattice"]
        needed(lattice["per_length"] in (2, 4), "a lattice has 2 or 4 places per length")
        needed(len(lattice["origin"]) == dim and all(map(_real, lattice["origin"])), "the origin of the lattice")
        for end in ("first", "last"):
            fine = len(lattice[end]) == dim and _integers(lattice[end], -(2**62), 2**62)
            needed(fine, f"the {end} indices of the lattice")
        needed(all(map(operator.le, lattice["first"], lattice["last"])), "the lattice is empty")
        needed(set(lattice["blocks"]) <= {".", "-", *"abcdefghijklmnopqrstuvwxyz"[:dim]}, "the text of the blocks")
        for name in ("eta", "effective", "overlap_1", "overlap_2", "shared", "information"):
            needed(_real(c[name], 0), f"{name} must be positive")
        needed(len(c["misses"]) > 0 and all(_real(q, 0) for q in c["misses"]), "the misses must be positive")
    else:
        needed(c["bound"] == "two", f"there is no bound {c['bound']!r}")
        for name in ("place", "minimiser"):
            needed(len(c[name]) == dim and all(map(_real, c[name])), f"the {name} must be {dim} numbers")
        for name in ("s", "kappa"):
            needed(_real(c[name], 0), f"{name} must be positive")
        needed(_real(c["attained"]) and _real(c["value"]), "attained and value must be numbers")
        needed(type(c["cells"]) is int and c["cells"] >= 1, "there must be a cell")


def _inequalities(c):
    _shape(c)
    f0, dim = Summands(c), len(c["box"][0])
    lower, upper = ([Fraction(x) for x in end] for end in c["box"])
    margin = Fraction(c["margin"])
    used = [set().union(*(f0.parts[i][0] for i in component["parts"])) for component in c["components"]]
    if sorted(i for component in c["components"] for i in component["parts"]) != list(range(len(f0.parts))):
        raise NotProved("the components are not all summands, once each")
    if sum(map(len, used)) != len(set().union(*used)):
        raise NotProved("two components share a coordinate")
    for component, axes in zip(c["components"], used, strict=True):
        f0.least(component["parts"], component["least"], {i: (lower[i] - margin, upper[i] + margin) for i in axes})
    total = sum(Fraction(component["least"]) for component in c["components"])
    yield _claim("m <= f0 on the box and its margin", c["minimum"], total)
    yield from _membership(c, dim)
    yield from (_many if c["bound"] == "many" else _two)(c, f0, dim, lower, upper)


def _membership(c, dim):
    """(a) and (b) of the members, from the constants of f0, which are taken for granted."""
    alpha, constants = c["alpha"], c["class"]
    error = ball(Fraction(dim) / (dim + Fraction(alpha)))
    if alpha > 1:
        error = dim * ball(2) ** ball(Fraction(alpha) - 1) / ball(Fraction(alpha) + 1)
    yield _claim("(a): M_a + depth <= M", Fraction(constants["M_a"]) + Fraction(c["depth"]), constants["M"])
    steep = ball(constants["M_b"]) + error * ball(c["depth"]) / ball(c["length"]) ** ball(alpha)
    yield _claim("(b): M_b + K depth/length^alpha <= M", steep, constants["M"])


def _many(c, f0, dim, lower, upper):
    lattice, alpha = c["lattice"], c["alpha"]
    per_length, first, last = (lattice[name] for name in ("per_length", "first", "last"))
    pitch, origin = Fraction(c["length"]) / per_length, [Fraction(x) for x in lattice["origin"]]
    for i in range(dim):
        yield _claim(f"the lattice begins in the box, coordinate {i + 1}", lower[i], origin[i] + pitch * first[i])
        yield _claim(f"the lattice ends in the box, coordinate {i + 1}", origin[i] + pitch * last[i], upper[i])
    for power in (1, 2):
        bound = _overlap(alpha, dim, per_length, power)
        yield _claim(f"S{power}: the sum of psi^{power} over dents, at any place", bound, c[f"overlap_{power}"])
    n = {name: Fraction(c[name]) for name in ("eta", "effective", "horizon", "sigma", "shared", "information", "depth")}
    found = _effective(lattice["blocks"], f0, first, last, origin, pitch, n["eta"], n["depth"], Fraction(c["minimum"]))
    yield _claim("N <= the sum of (eta/H)^2 over the places", n["effective"], found)
    yield _claim("S1/N <= p", Fraction(c["overlap_1"]) / n["effective"], n["shared"])
    information = n["horizon"] * n["eta"] ** 2 * Fraction(c["overlap_2"]) / (2 * n["sigma"] ** 2 * n["effective"])
    yield _claim("T eta^2 S2 / (2 sigma^2 N) <= b", information, n["information"])
    p, misses = n["shared"], [Fraction(q) for q in c["misses"]]
    for k, q in enumerate(misses, 1):
        if not 0 < p <= q < 1:
            raise NotProved(f"p <= Q_{k} < 1 does not hold")
        share = Fraction(2 * k - 1, 2 * len(misses))
        divergence = ball(p) * ball(p / q).log() + ball(1 - p) * ball((1 - p) / (1 - q)).log()
        yield _claim(f"b {share} <= kl(p, Q_{k})", n["information"] * share, divergence)
    least = n["eta"] * n["horizon"] * sum(1 - q for q in misses) / len(misses)
    yield _claim("the regret <= eta T mean(1 - Q)", c["regret"], least)


def _effective(text, f0, first, last, origin, pitch, eta, depth, minimum):
    total, letters = ball(0), iter(text)
    waiting = [(tuple(first), tuple(last))]
    while waiting:
        first, last = waiting.pop()
        letter = next(letters, None)
        if letter is None:
            raise NotProved("the list of blocks ends too early")
        if letter == ".":
            ends = {i: (origin[i] + pitch * first[i], origin[i] + pitch * last[i]) for i in range(len(origin))}
            dent = ball(eta) + (f0.over(ends)[1] - ball(minimum)).max(ball(0))
            count = 1
            for a, b in zip(first, last, strict=True):
                count *= max(0, b - a + 1)
            if dent <= ball(depth):
                total += count * (ball(eta) / dent) ** 2
        elif letter != "-":
            axis = ord(letter) - ord("a")
            middle = (first[axis] + last[axis]) // 2
            waiting.append(((*first[:axis], middle + 1, *first[axis + 1 :]), last))
            waiting.append((first, (*last[:axis], middle, *last[axis + 1 :])))
    return total


def _overlap(alpha, dim, per_length, power, steps=256):
    """As overlap.py has it, in balls."""
    if alpha > 1:
        if power == 1:
            return ball(Fraction(per_length, 2) ** dim)
        most = ball(1 if per_length == 2 else 0)
        for step in range(steps if per_length == 4 else 0):
            low, high = (ball(Fraction(step + i, 2 * steps)) for i in (0, 1))
            falls = _power((low, low), alpha)[0] + (1 - high) ** ball(alpha)
            most = most.max(2 - falls + (high ** ball(2 * alpha) + (1 - low) ** ball(2 * alpha)) / 2)
        return most**dim
    most = ball(0)
    for step in range(steps):
        low, high = (Fraction(step + i, 2 * per_length * steps) for i in (0, 1))
        places = [Fraction(k, per_length) for k in range(per_length + 3)]
        distances = sorted([x + low for x in places[:-1]] + [x - high for x in places[1:]])
        total = ball(0)
        for j, distance in enumerate(distances, 1):
            height = (1 - _power((ball(2 * distance),) * 2, alpha)[1]).max(ball(0))
            total += (j**dim - (j - 1) ** dim) * height**power
        most = most.max(total)
    return most


def _two(c, f0, dim, lower, upper):
    cells = c["cells"]
    place, minimiser = ([Fraction(x) for x in c[name]] for name in ("place", "minimiser"))
    for i in range(dim):
        for name, point in (("dent", place), ("minimiser", minimiser)):
            yield _claim(f"the {name} is not below the box, coordinate {i + 1}", lower[i], point[i])
            yield _claim(f"the {name} is not above the box, coordinate {i + 1}", point[i], upper[i])
    yield _claim("f0 at the minimiser", f0.over({i: (x, x) for i, x in enumerate(minimiser)})[1], c["attained"])
    yield _claim("f0 at the dent", f0.over({i: (x, x) for i, x in enumerate(place)})[1], c["value"])
    length, depth, s, kappa = (Fraction(c[name]) for name in ("length", "depth", "s", "kappa"))
    attained, value = Fraction(c["attained"]), Fraction(c["value"])
    yield _claim("s <= rho0 + rho1 outside the dent", s, 2 * Fraction(c["minimum"]) - attained - value + depth)
    for k in range(cells**dim):
        shares = []
        for _ in range(dim):
            k, j = divmod(k, cells)
            shares.append((Fraction(j, cells) - Fraction(1, 2), Fraction(j + 1, cells) - Fraction(1, 2)))
        ends = {i: (place[i] + length * a, place[i] + length * b) for i, (a, b) in enumerate(shares)}
        least = f0.over(ends)[0]
        dent = ball(depth) * _dent(c["alpha"], [max(Fraction(0), a, -b) for a, b in shares])
        under0 = least - ball(attained)
        under1 = (least - dent - ball(value) + ball(depth)).max(ball(0))
        if not (under0 > 0 and dent * dent <= ball(kappa) * under0):
            raise NotProved(f"(f0 - f1)^2 <= kappa rho0 is not shown at {[float(x) for x, _ in ends.values()]}")
        if not ball(s) <= under0 + under1:
            raise NotProved(f"s <= rho0 + rho1 is not shown at {[float(x) for x, _ in ends.values()]}")
    information = ball(kappa * Fraction(c["regret"]) / (2 * Fraction(c["sigma"]) ** 2))
    gamma = (1 - (information / 2).sqrt()).max(1 - (1 - (-information).exp()).sqrt())
    right = ball(s * Fraction(c["horizon"])) * gamma
    yield _claim("2 R <= s T gamma(kappa R / (2 sigma^2))", 2 * Fraction(c["regret"]), right)


def _dent(alpha, distances):
    if alpha <= 1:
        return (1 - _power((ball(2 * max(distances)),) * 2, alpha)[0]).max(ball(0))
    product = ball(1)
    for distance in distances:
        inner, outer = min(4 * distance, Fraction(1)), min(Fraction(1), max(Fraction(0), 2 - 4 * distance))
        heights = [_power((ball(x),) * 2, alpha)[0] for x in (inner, outer)]
        product *= (1 - heights[0] + heights[1]) / 2
    return product
