"""Formulas as values: how one reaches another process, and what tells two of them apart."""

from __future__ import annotations

import functools
import pickle
import re
import sys
from types import CodeType, FunctionType, MethodType

import numpy as np

HERE_ONLY = {"__main__"}  # modules that another process does not find by their names


def packed(formula) -> bytes:
    """For pickle.loads, in any process: by name where the other side can find the name, by value elsewhere."""
    try:
        sent = pickle.dumps(formula)
    except (pickle.PicklingError, AttributeError, TypeError):  # a lambda, a closure, a name that means another object
        pass
    else:
        if not any(name.encode() in sent for name in HERE_ONLY):
            return sent
    from numba import cloudpickle

    for name in HERE_ONLY.intersection(sys.modules) - {"__main__"}:  # of which it knows
        cloudpickle.register_pickle_by_value(sys.modules[name])
    return cloudpickle.dumps(formula)


def content(formula, within=()) -> list:
    """What a formula computes: its code and the values that it captured, without the address of anything."""
    function = getattr(formula, "py_func", formula)  # of what numba compiled
    if not isinstance(function, FunctionType):  # an object that can be called
        return [_value(function, within)]
    cells = function.__closure__ or ()
    return [*code_of(function.__code__), [_value(cell.cell_contents, (*within, function)) for cell in cells]]


def captured(maker) -> list[str]:
    """The values that a callable was made with, which its source does not tell."""
    if isinstance(maker, functools.partial):  # what a repr tells is part of its name
        given = [(_value(part, ()), repr(part)) for part in (*maker.args, *maker.keywords.values())]
        return captured(maker.func) + [value for value, name in given if value != name]
    if isinstance(maker, MethodType):
        return [*captured(maker.__func__), _value(maker.__self__, ())]
    if isinstance(maker, type):
        functions = [part for part in vars(maker).values() if isinstance(part, FunctionType)]
        return [value for function in functions for value in captured(function)]
    if not isinstance(maker, FunctionType):
        return [_value(maker.__getstate__(), (maker,))]
    cells = zip(maker.__code__.co_freevars, maker.__closure__ or (), strict=True)
    values = [cell.cell_contents for name, cell in cells if name != "__class__"]
    if "<locals>" in maker.__qualname__:
        values += [*(maker.__defaults__ or ()), *(maker.__kwdefaults__ or {}).values()]
    return [_value(value, (maker,)) for value in values]


def code_of(code: CodeType) -> list:
    """Instructions, constants and names, those of functions inside it too; no address and no line number."""
    constants = tuple(code_of(value) if isinstance(value, CodeType) else value for value in code.co_consts)
    return [code.co_code.hex(), constants, code.co_names]


def _value(value, within) -> str:
    """Its repr, but where that holds an address, which is another one in every process, or leaves something out, what
    the function computes or the object holds."""
    value = getattr(value, "py_func", value)
    for number, outer in enumerate(within):
        if value is outer:  # it calls or holds itself
            return f"caller {number}"
    if isinstance(value, functools.partial):
        inner = [_value(part, within) for part in (value.func, *value.args, *value.keywords.values())]
        return f"partial {inner} {list(value.keywords)}"
    if type(value) in (list, tuple):
        inner = [_value(part, within) for part in value]
        return repr(value) if inner == [*map(repr, value)] else f"{type(value).__name__} {inner}"
    if type(value) in (set, frozenset):
        return f"{type(value).__name__} {sorted(_value(part, within) for part in value)}"
    if type(value) is dict:
        inner = [_value(part, (*within, value)) for part in value.values()]
        return repr(value) if inner == [*map(repr, value.values())] else f"dict {inner} {list(value)}"
    if isinstance(value, np.ndarray) and value.size > np.get_printoptions()["threshold"]:
        return f"{value.dtype} {value.shape} {value.tobytes().hex()}"
    if isinstance(value, FunctionType):
        return repr(content(value, within))
    if isinstance(value, MethodType):
        return f"method {content(value.__func__, within)} of {_value(value.__self__, within)}"
    if callable(getattr(value, "formula", None)):  # a cost
        return f"{type(value).__qualname__} {value.fingerprint}"
    if type(value).__repr__ is object.__repr__:
        return f"{type(value).__qualname__} {_value(value.__getstate__(), (*within, value))}"
    return re.sub(r" at 0x[0-9a-fA-F]+", "", repr(value))
