"""Ball arithmetic (Arb, by python-flint): intervals of an expression, of its derivatives, and proofs that it is large.

An interval is a pair of balls, around its lower and its upper end.  Nothing is rounded: a ball holds the exact end, and
a comparison holds only if it does for all numbers in the balls.
"""

import threading
from contextlib import contextmanager
from fractions import Fraction

from .expression import arguments

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


def raised(a, exponent):
    whole = exponent == int(exponent)
    if whole and int(exponent) % 2 == 0:
        a = _absolute(a)
    elif not whole:
        a = a[0].max(ball(0)), a[1].max(ball(0))
    if exponent < 0:
        return _inverse(raised(a, -exponent))
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
    found = []
    for name, *rest in nodes:
        if name == "x":
            found.append(box[rest[0]])
        elif name == "c":
            found.append((ball(rest[0]),) * 2)
        elif name == "pow":
            found.append(raised(found[rest[0]], rest[1]))
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
                inner = [inner[0], _minus(_product(inner[1], raised(v, 2)))]
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
        return _product((ball(exponent[0]),) * 2, raised(a, Fraction(exponent[0]) - 1))
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
