"""How kernels are compiled: cached on disk, without the interpreter's lock, division as in IEEE 754."""

import hashlib
from collections import Counter
from pathlib import Path
from types import CellType, FunctionType

from llvmlite import ir
from numba import njit, types
from numba.core.errors import NumbaError
from numba.extending import lower_builtin, type_callable

from function_zoo.formula import content


def fingerprint():
    """Of the sources of all kernels, by which compiled code is found in the cache on disk."""
    package = Path(__file__).parents[1]
    folders = "sampling", "algorithms", "predict"
    files = [package / "kernels.py", *(file for name in folders for file in sorted(package.glob(f"{name}/*.py")))]
    return hashlib.sha256(b"".join(file.read_bytes() for file in files)).hexdigest()


SOURCES = fingerprint()


def compiled(function, **options):
    """Compile a function that allocates no array: cached on disk, without the interpreter's lock."""
    return _compiled(dated(function, SOURCES), **options)


def _compiled(function, on_disk=True, counted=False, **options):
    # without reference counts, which nothing of ours needs: a kernel allocates no array
    options |= {"nogil": True, "error_model": "numpy", "_nrt": counted}
    try:
        return njit(cache=on_disk, **options)(function)
    except RuntimeError:  # there is no folder that a cache could be written to
        return njit(**options)(function)


def inlined(function):
    """Compile a function that is written into the compiled functions that call it."""
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
    code = code.replace(co_freevars=(*code.co_freevars, "_key"))
    scope = function.__globals__ | replaced if replaced else function.__globals__
    cells = (*(function.__closure__ or ()), CellType(key))
    copy = FunctionType(code, scope, function.__name__, function.__defaults__, cells)
    copy.__doc__ = function.__doc__
    copy.__qualname__ = f"{function.__qualname__}_{key[:16]}"  # a file of its own, see function_zoo.cost.filed
    return copy


@inlined
def value(f, x):
    """A cost at a point: a call through a pointer, unless a kernel is made for one formula."""
    return f(x)


NO_POINTER = 0


class Kernel:
    """A compiled function that queries a cost by `value`: one for all costs, and one each for formulas in long use.

    Both come to the same bits.  With the formula in place of the call a step is some nanoseconds cheaper, but to
    compile it takes seconds; a process does so after as many steps as make that a small part of its time.

    `parts` are compiled functions that it calls by these names, and `key` tells them from others; `counted`: they may
    allocate arrays.
    """

    PAYS_OFF = 2 * 10**8

    def __init__(self, function, key="", on_disk=True, counted=False, **parts):
        self.function, self.parts = function, parts
        self.key, self.on_disk, self.counted = key, on_disk, counted
        self.general = self._made_for(SOURCES, on_disk)
        self.own = {}
        self.steps = Counter()

    def advance(self, cost, formula, clock, *arguments):
        """Call it; `formula` is the cost's name in here, and `clock[0]` counts the steps."""
        begun = clock[0]
        own = self.own.get(formula)
        if own is None:
            status = self.general(cost.compiled, *arguments)
        else:
            try:
                status = own(NO_POINTER, *arguments)
            except NumbaError:  # a formula that compiles alone but not in here
                self.own[formula] = None
                return self.advance(cost, formula, clock, *arguments)
        self.steps[formula] += int(clock[0] - begun)
        if self.steps[formula] >= self.PAYS_OFF and formula not in self.own:
            self.specialise(cost, formula)
        return status

    def specialise(self, cost, formula):
        """From now on, use a form made for this cost's formula; it is compiled when first called."""
        if not isinstance(cost.formula, FunctionType):  # anybody's object: what it calls may not compile
            self.own[formula] = None
            return
        body = njit(forceinline=True, error_model="numpy")(cost.formula)

        @njit(forceinline=True)
        def own_value(f, x):
            return body(x)

        # on disk only what no global can change, for numba would not notice
        on_disk = self.on_disk and cost.registered
        self.own[formula] = self._made_for(f"{SOURCES} {content(cost.formula)}", on_disk, value=own_value)

    def _made_for(self, what, on_disk, **replaced):
        key = hashlib.sha256(f"{what} {self.key}".encode()).hexdigest()
        return _compiled(dated(self.function, key, **self.parts, **replaced), on_disk, self.counted)
