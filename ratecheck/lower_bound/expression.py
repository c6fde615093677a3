"""A formula as data: the list of operations that it performs, for those who prove something about its values.

A formula of the zoo is called once with symbols instead of numbers; what it does to them is written down as a list of
nodes, each an operation and its arguments:

    ["x", i]                    coordinate i
    ["c", number]               a constant, exactly the double that it is
    ["add", j, k]               of two earlier nodes; also sub, mul, div, min, max
    ["neg", j]                  of one earlier node; also abs, sqrt, sin, cos, exp, expm1, log, log2
    ["pow", j, number]          with a constant exponent

The list is JSON.  The function that it denotes is the one of real numbers: floating point is nowhere in it.  A root or
a power that is not whole takes a negative number for 0, so that the function is defined everywhere.
"""

from numbers import Real

import numpy as np
from numpy.lib.mixins import NDArrayOperatorsMixin

UNARY = {np.negative: "neg", np.absolute: "abs", np.fabs: "abs", np.sqrt: "sqrt", np.sin: "sin", np.cos: "cos"}
UNARY |= {np.exp: "exp", np.expm1: "expm1", np.log: "log", np.log2: "log2"}
BINARY = {np.add: "add", np.subtract: "sub", np.multiply: "mul", np.divide: "div", np.minimum: "min", np.maximum: "max"}


class Untraceable(ValueError):
    """A formula that does something to its coordinates which cannot be written down as a list of operations."""


def trace(formula, dim: int) -> list[list]:
    """The operations of a formula of x[0], ..., x[dim - 1]; the last node is its value."""
    nodes = _Nodes()
    try:
        value = formula([_Symbol(nodes, nodes.add("x", i)) for i in range(dim)])
    except Untraceable:
        raise
    except Exception as error:
        raise Untraceable(f"the formula fails on symbols ({type(error).__name__}: {error})") from error
    return needed(nodes.list, nodes.place(value))


def arguments(node) -> list[int]:
    name, *rest = node
    return [] if name in ("x", "c") else rest[:1] if name == "pow" else rest


def needed(nodes, end) -> list[list]:
    """The nodes that the value of node `end` depends on, numbered anew; it is the last of them."""
    used = {end}
    for i in range(end, -1, -1):
        if i in used:
            used.update(arguments(nodes[i]))
    number = {old: new for new, old in enumerate(sorted(used))}
    return [
        [nodes[i][0], *(number[j] for j in arguments(nodes[i])), *nodes[i][1 + len(arguments(nodes[i])) :]]
        for i in sorted(used)
    ]


class _Nodes:
    """The list so far; the same operation on the same nodes is written once."""

    def __init__(self):
        self.list = []
        self.known = {}

    def add(self, *node) -> int:
        if node not in self.known:
            self.known[node] = len(self.list)
            self.list.append(list(node))
        return self.known[node]

    def place(self, value) -> int:
        if isinstance(value, _Symbol):
            return value.node
        return self.add("c", _number(value))


def _number(value) -> float:
    if isinstance(value, Real | np.ndarray) and np.ndim(value) == 0 and np.isfinite(value):
        return float(value)
    raise Untraceable(f"the formula uses {value!r}, which is neither a coordinate nor a finite number")


class _Symbol(NDArrayOperatorsMixin):
    """A coordinate, or what became of it."""

    def __init__(self, nodes, node):
        self.nodes = nodes
        self.node = node

    def __array_ufunc__(self, ufunc, method, *inputs, **keywords):
        in_place = keywords.pop("out", inputs)[0] is inputs[0]  # x += y, which makes a new x of it
        if method != "__call__" or keywords or not in_place:
            raise Untraceable(f"the formula uses numpy.{ufunc.__name__}.{method}")
        if ufunc is np.power:
            return self._power(*inputs)
        if ufunc is np.square:
            return self._power(inputs[0], 2)
        name = (UNARY | BINARY).get(ufunc)
        if name is None:
            raise Untraceable(f"the formula uses numpy.{ufunc.__name__}, for which no enclosure is known")
        return self._apply(name, *inputs)

    def _apply(self, name, *inputs):
        constants = [None if isinstance(v, _Symbol) else _number(v) for v in inputs]
        if name == "mul" and 0.0 in constants:
            return 0.0
        if name == "add" and 0.0 in constants:
            return inputs[1 - constants.index(0.0)]
        return _Symbol(self.nodes, self.nodes.add(name, *map(self.nodes.place, inputs)))

    def _power(self, base, exponent):
        if isinstance(exponent, _Symbol):
            raise Untraceable("the formula has a coordinate in an exponent")
        return _Symbol(self.nodes, self.nodes.add("pow", self.nodes.place(base), _number(exponent)))

    def __bool__(self):
        raise Untraceable("the formula asks whether a coordinate is true or compares it, and so branches")

    def _compare(self, other):
        raise Untraceable("the formula compares a coordinate, and so branches; minimum and maximum can be followed")

    __lt__ = __le__ = __gt__ = __ge__ = __eq__ = __ne__ = _compare


def parts(nodes) -> list[tuple[tuple[int, ...], list[list]]]:
    """The expression as a sum: [(coordinates, nodes), ...], one summand for each set of coordinates that occurs.

    Sums, differences and multiples by constants are taken apart, nothing else.  What depends on few coordinates takes
    few values on a lattice.
    """
    depends = []
    for name, *rest in nodes:
        depends.append({rest[0]} if name == "x" else set().union(*(depends[i] for i in arguments([name, *rest]))))
    groups: dict[tuple[int, ...], list[tuple[float, int]]] = {}
    waiting = [(1.0, len(nodes) - 1)]
    while waiting:
        factor, i = waiting.pop()
        name, *rest = nodes[i]
        if name in ("add", "sub"):
            waiting += [(factor, rest[0]), (factor if name == "add" else -factor, rest[1])]
        elif name == "neg":
            waiting.append((-factor, rest[0]))
        elif name == "mul" and factor in (1.0, -1.0) and any(nodes[j][0] == "c" for j in rest):
            constant, other = sorted(rest, key=lambda j: nodes[j][0] != "c")
            waiting.append((factor * nodes[constant][1], other))
        else:
            groups.setdefault(tuple(sorted(depends[i])), []).append((factor, i))
    return [(axes, _sum(nodes, terms)) for axes, terms in sorted(groups.items())]


def _sum(nodes, terms):
    nodes = list(nodes)
    total = None
    for factor, i in terms:
        if factor != 1.0:
            nodes += [["c", factor], ["mul", len(nodes), i]]
            i = len(nodes) - 1
        if total is not None:
            nodes.append(["add", total, i])
            i = len(nodes) - 1
        total = i
    return needed(nodes, total)
