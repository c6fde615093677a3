"""Ranges of an expression over many boxes at once, in floating point with every end moved outwards.

Quick enough to search with.  What a certificate says is checked elsewhere, in arithmetic that proves it.
"""

import numpy as np

from .expression import parts

LONG = 60  # nodes: more take longer than to sort the sides
ULPS = 8  # numpy's elementary functions err by a few units in the last place at most


def _wide(low, high):
    """What holds the exact result of a correctly rounded operation."""
    return np.nextafter(low, -np.inf), np.nextafter(high, np.inf)


def _wider(low, high):
    slack = ULPS * np.finfo(float).eps
    tiny = np.finfo(float).tiny
    return low - slack * np.abs(low) - tiny, high + slack * np.abs(high) + tiny


def _product(a, b):
    for one, other in ((a, b), (b, a)):
        if np.ndim(one[0]) == 0 and one[0] == one[1]:  # by a constant
            ends = one[0] * other[0], one[0] * other[1]
            return _wide(*(ends if one[0] >= 0 else ends[::-1]))
    with np.errstate(invalid="ignore"):
        ends = np.stack(np.broadcast_arrays(a[0] * b[0], a[0] * b[1], a[1] * b[0], a[1] * b[1]))
    ends[np.isnan(ends)] = 0.0  # 0 times infinity: a factor that is 0
    return _wide(ends.min(axis=0), ends.max(axis=0))


def _quotient(a, b):
    with np.errstate(divide="ignore"):
        inverse = 1 / b[1], 1 / b[0]
    spans = (b[0] <= 0) & (b[1] >= 0)
    return _product(a, (np.where(spans, -np.inf, inverse[0]), np.where(spans, np.inf, inverse[1])))


def _absolute(a):
    low, high = a
    return np.maximum(0.0, np.maximum(low, -high)), np.maximum(-low, high)


def _power(a, exponent):
    whole = exponent == int(exponent)
    if whole and int(exponent) % 2 == 0:
        low, high = _absolute(a)
    else:
        low, high = a
        if not whole:  # not defined below 0
            low, high = np.maximum(low, 0.0), np.maximum(high, 0.0)
    with np.errstate(divide="ignore", over="ignore"):
        ends = low**exponent, high**exponent
    if exponent < 0:
        ends = ends[1], ends[0]
        if whole and int(exponent) % 2:
            spans = (low <= 0) & (high >= 0)
            ends = np.where(spans, -np.inf, ends[0]), np.where(spans, np.inf, ends[1])
    low, high = _wider(*ends)
    return (np.maximum(low, 0.0), high) if not whole or int(exponent) % 2 == 0 else (low, high)


def _sine(a, shift=0.0):
    """sin(t + shift): 1 where a maximum pi/2 + 2 pi k lies inside, -1 where a minimum does."""
    low, high = a[0] + shift, a[1] + shift
    turn = 2 * np.pi
    with np.errstate(invalid="ignore"):
        ends = np.sin(low), np.sin(high)
        slack = 1e-12 * (1 + np.abs(low) + np.abs(high))
        top = np.floor((high + slack - np.pi / 2) / turn) >= np.ceil((low - slack - np.pi / 2) / turn)
        bottom = np.floor((high + slack + np.pi / 2) / turn) >= np.ceil((low - slack + np.pi / 2) / turn)
    error = 1e-15 * (1 + np.abs(low) + np.abs(high))
    least = np.where(bottom | ~np.isfinite(error), -1.0, np.fmin(*ends) - error)
    most = np.where(top | ~np.isfinite(error), 1.0, np.fmax(*ends) + error)
    return np.maximum(least, -1.0), np.minimum(most, 1.0)


def _growing(function):
    def enclose(a):
        with np.errstate(divide="ignore", over="ignore"):
            return _wider(function(a[0]), function(a[1]))

    return enclose


OPERATIONS = {
    "add": lambda a, b: _wide(a[0] + b[0], a[1] + b[1]),
    "sub": lambda a, b: _wide(a[0] - b[1], a[1] - b[0]),
    "mul": _product,
    "div": _quotient,
    "min": lambda a, b: (np.minimum(a[0], b[0]), np.minimum(a[1], b[1])),
    "max": lambda a, b: (np.maximum(a[0], b[0]), np.maximum(a[1], b[1])),
    "neg": lambda a: (-a[1], -a[0]),
    "abs": _absolute,
    "sqrt": lambda a: _wide(np.sqrt(np.maximum(a[0], 0.0)), np.sqrt(np.maximum(a[1], 0.0))),
    "sin": _sine,
    "cos": lambda a: _sine(a, np.pi / 2),
    "exp": _growing(np.exp),
    "expm1": _growing(np.expm1),
    "log": _growing(lambda t: np.log(np.maximum(t, 0.0))),
    "log2": _growing(lambda t: np.log2(np.maximum(t, 0.0))),
}


def enclosure(nodes):
    """The function enclose(low, high) of an expression: for boxes with ends (n, d) two arrays of n numbers, at most the
    least and at least the largest value over each box."""
    summands = parts(nodes)

    def enclose(low, high):
        least, most = np.zeros(len(low)), np.zeros(len(low))
        for axes, summand in summands:
            if 0 < len(axes) < low.shape[1] and len(summand) > LONG:  # few different sides: each is looked at once
                sides = np.hstack([low[:, axes], high[:, axes]])
                sides, place = np.unique(sides, axis=0, return_inverse=True)
                some_low, some_high = np.zeros((2, len(sides), low.shape[1]))
                some_low[:, axes], some_high[:, axes] = np.hsplit(sides, 2)
                ends = [end[place.ravel()] for end in _evaluate(summand, some_low, some_high)]
            else:
                ends = _evaluate(summand, low, high)
            least, most = _wide(least + ends[0], most + ends[1])
        return least, most

    return enclose


def _evaluate(nodes, low, high):
    values = []
    for name, *rest in nodes:
        if name == "x":
            value = low[:, rest[0]], high[:, rest[0]]
        elif name == "c":
            value = rest[0], rest[0]
        elif name == "pow":
            value = _power(values[rest[0]], rest[1])
        else:
            value = OPERATIONS[name](*(values[i] for i in rest))
        values.append(value)
    return tuple(np.broadcast_to(end, len(low)) for end in values[-1])
