"""How kernels are compiled: cached on disk, without the interpreter's lock, division as in IEEE 754."""

import functools
import hashlib
from pathlib import Path
from types import CellType, FunctionType

from llvmlite import ir
from numba import njit, types
from numba.extending import lower_builtin, type_callable

from function_zoo.formula import content

KEY = "_key"


def fingerprint():
    here = Path(__file__).parent
    files = [here / "jit.py", here / "generator.py", here / "noise.py", *sorted((here / "algorithms").glob("*.py"))]
    return hashlib.sha256(b"".join(file.read_bytes() for file in files)).hexdigest()


SOURCES = fingerprint()


def compiled(function, **options):
    return _compiled(dated(function, SOURCES), **options)


def _compiled(function, **options):
    # without reference counts, which nothing here needs: a kernel allocates no array
    options |= {"nogil": True, "error_model": "numpy", "_nrt": False}
    try:
        return njit(cache=True, **options)(function)
    except RuntimeError:  # there is no folder that a cache could be written to
        return njit(**options)(function)


def inlined(function):
    return compiled(function, forceinline=True)


def likely(condition):
    """The condition of an `if` that nearly always holds: its numbers stay in registers, at a cost to the other."""
    return condition


@type_callable(likely)
def _likely_type(context):
    return lambda condition: types.boolean


@lower_builtin(likely, types.boolean)
def _likely_code(context, builder, signature, arguments):
    bit = ir.IntType(1)
    expect = builder.module.declare_intrinsic("llvm.expect", [bit], ir.FunctionType(bit, [bit, bit]))
    return builder.call(expect, [*arguments, bit(1)])


def dated(function, key, **replaced):
    """The same function, but its cached machine code is used only as long as the key, for all kernel sources, is.

    numba looks for changes in the file of the kernel alone and would keep a kernel whose inlined parts were
    edited in another file.  But captured variables belong to its cache key, also those that are never used.
    """
    code = function.__code__
    names = tuple(name for name in code.co_freevars if name != KEY)
    cells = [cell for name, cell in zip(code.co_freevars, function.__closure__ or (), strict=True) if name != KEY]
    code = code.replace(co_freevars=(*names, KEY))
    scope = function.__globals__ | replaced if replaced else function.__globals__
    copy = FunctionType(code, scope, function.__name__, function.__defaults__, (*cells, CellType(key)))
    copy.__doc__ = function.__doc__
    copy.__qualname__ = function.__qualname__
    return copy


@inlined
def value(f, x):
    """A cost at a point: in kernels for any cost a call through a pointer, in others the formula itself."""
    return f(x)


@functools.lru_cache(maxsize=64)
def specialised(kernel, formula):
    """The same kernel for one formula, which takes the place of `value`; compiled when first called."""
    body = njit(forceinline=True, error_model="numpy", _nrt=False)(formula)

    @njit(forceinline=True, _nrt=False)
    def own_value(f, x):
        return body(x)

    key = hashlib.sha256(f"{SOURCES} {content(formula)}".encode()).hexdigest()
    return _compiled(dated(kernel.py_func, key, value=own_value))
