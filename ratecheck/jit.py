"""How kernels are compiled: cached on disk, without the interpreter's lock, division as in IEEE 754."""

import hashlib
from pathlib import Path
from types import CellType, FunctionType

from llvmlite import ir
from numba import njit, types
from numba.extending import lower_builtin, type_callable


def compiled(function, **options):
    options |= {"nogil": True, "error_model": "numpy"}
    try:
        return njit(cache=True, **options)(dated(function))
    except RuntimeError:  # there is no folder that a cache could be written to
        return njit(**options)(dated(function))


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


def dated(function):
    """The same function, but its cached machine code is used only as long as no kernel source has changed.

    numba looks for changes in the file of the kernel alone and would keep a kernel whose inlined parts were
    edited in another file.  But captured variables belong to its cache key, also those that are never used.
    """
    code = function.__code__
    dated_code = code.replace(co_freevars=(*code.co_freevars, "_sources"))
    closure = (*(function.__closure__ or ()), CellType(SOURCES))
    copy = FunctionType(dated_code, function.__globals__, function.__name__, function.__defaults__, closure)
    copy.__doc__ = function.__doc__
    copy.__qualname__ = function.__qualname__
    return copy


def fingerprint():
    here = Path(__file__).parent
    files = [here / "jit.py", here / "generator.py", here / "noise.py", *sorted((here / "algorithms").glob("*.py"))]
    return hashlib.sha256(b"".join(file.read_bytes() for file in files)).hexdigest()


SOURCES = fingerprint()
