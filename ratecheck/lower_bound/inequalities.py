"""The first verifier of lower-bound certificates: every inequality of one is proved in ball arithmetic."""

import math
import operator
from fractions import Fraction

from .ball import OPERATIONS, TAKE_TWO, NotProved, Summands, ball, precision, raised

FORMAT = "ratecheck lower bound 1"


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
        bound = _overlap(alpha, dim, per_length=per_length, power=power)
        yield _claim(f"S{power}: the sum of psi^{power} over dents, at any place", bound, c[f"overlap_{power}"])
    n = {name: Fraction(c[name]) for name in ("eta", "effective", "horizon", "sigma", "shared", "information", "depth")}
    places = {"first": first, "last": last, "origin": origin, "pitch": pitch}
    dents = {"eta": n["eta"], "depth": n["depth"], "minimum": Fraction(c["minimum"])}
    found = _effective(lattice["blocks"], f0, **places, **dents)
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


def _effective(text, f0, *, first, last, origin, pitch, eta, depth, minimum):
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


def _overlap(alpha, dim, *, per_length, power, steps=256):
    if alpha > 1:
        if power == 1:
            return ball(Fraction(per_length, 2) ** dim)
        most = ball(1 if per_length == 2 else 0)
        for step in range(steps if per_length == 4 else 0):
            low, high = (ball(Fraction(step + i, 2 * steps)) for i in (0, 1))
            falls = raised((low, low), alpha)[0] + (1 - high) ** ball(alpha)
            most = most.max(2 - falls + (high ** ball(2 * alpha) + (1 - low) ** ball(2 * alpha)) / 2)
        return most**dim
    most = ball(0)
    for step in range(steps):
        low, high = (Fraction(step + i, 2 * per_length * steps) for i in (0, 1))
        places = [Fraction(k, per_length) for k in range(per_length + 3)]
        distances = sorted([x + low for x in places[:-1]] + [x - high for x in places[1:]])
        total = ball(0)
        for j, distance in enumerate(distances, 1):
            height = (1 - raised((ball(2 * distance),) * 2, alpha)[1]).max(ball(0))
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
        return (1 - raised((ball(2 * max(distances)),) * 2, alpha)[0]).max(ball(0))
    product = ball(1)
    for distance in distances:
        inner, outer = min(4 * distance, Fraction(1)), min(Fraction(1), max(Fraction(0), 2 - 4 * distance))
        heights = [raised((ball(x),) * 2, alpha)[0] for x in (inner, outer)]
        product *= (1 - heights[0] + heights[1]) / 2
    return product
