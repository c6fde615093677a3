"""Formulas as values: how one reaches another process, and what tells two of them apart."""

from __future__ import annotations

import functools
import pickle
from types import CodeType, FunctionType


def packed(formula) -> bytes:
    """For pickle.loads, in any process: by name where the other side can find the name, by value elsewhere."""
    try:
        sent = pickle.dumps(formula)
    except (pickle.PicklingError, AttributeError, TypeError):  # a lambda, a closure, a name that means another object
        pass
    else:
        if b"__main__" not in sent:  # every process has a __main__ of its own
            return sent
    from numba import cloudpickle

    return cloudpickle.dumps(formula)


def content(formula, within=()) -> list:
    """What a formula computes: its code and the values that it captured, without the address of anything."""
    function = getattr(formula, "py_func", formula)  # of what numba compiled
    cells = function.__closure__ or ()
    return [*_code(function.__code__), [_value(cell.cell_contents, (*within, function)) for cell in cells]]


def _code(code) -> list:
    constants = tuple(_code(value) if isinstance(value, CodeType) else value for value in code.co_consts)
    return [code.co_code.hex(), constants, code.co_names]


def _value(value, within) -> str:
    """Its repr, but where that holds an address, which is another one in every process, what the function computes."""
    if isinstance(value, functools.partial):
        inner = [_value(part, within) for part in (value.func, *value.args, *value.keywords.values())]
        return f"partial {inner} {list(value.keywords)}"
    if type(value) in (list, tuple):
        inner = [_value(part, within) for part in value]
        return repr(value) if inner == [*map(repr, value)] else f"{type(value).__name__} {inner}"
    function = getattr(value, "py_func", value)
    if not isinstance(function, FunctionType):
        return repr(value)
    if function in within:  # it calls itself
        return f"caller {within.index(function)}"
    return repr(content(function, within))
