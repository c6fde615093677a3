"""What numba freezes into machine code: functions, the values that they captured and the globals that they name.

numba looks for changes in one file alone.  A global that was set elsewhere, or a function of another module, would stay
as it was in code that it kept on disk.  Here they belong to the key.
"""

import hashlib
from types import CodeType, FunctionType, ModuleType

import numpy as np

from function_zoo.formula import code_of

KNOWN = ("numpy", "numba", "math", "cmath", "builtins")  # numba's own key has its version


class Frozen:
    """Of some functions: a digest of all that their machine code depends on, and the classes that they name."""

    def __init__(self, *functions):
        self.parts, self.classes, self.seen = [], [], {}
        self.addresses = False
        for function in functions:
            self._value(function, ())

    @property
    def digest(self) -> str:
        return hashlib.sha256("\x1e".join(self.parts).encode()).hexdigest()

    @property
    def portable(self) -> bool:
        """Whether another process would know the same classes, which are part of numba's types, and no address."""
        return all(map(known, self.classes)) and not self.addresses

    def _value(self, value, names):
        options = getattr(value, "targetoptions", {})
        function = getattr(value, "py_func", value)
        if isinstance(function, FunctionType):
            self._function(function, options)
        elif isinstance(value, ModuleType):
            self.parts.append(value.__name__)
            if not _known(value.__name__):
                self._named(vars(value), names)
        elif isinstance(value, type):
            self.parts.append(f"{value.__module__} {value.__qualname__} {getattr(value, '_fields', ())}")
            self.classes.append(value)
        elif isinstance(value, np.ndarray):
            self.parts.append(f"{value.dtype} {value.shape} {value.tobytes().hex()}")
        elif isinstance(value, tuple):
            self.parts.append(f"{type(value).__qualname__} of {len(value)}")
            for part in value:
                self._value(part, names)
        else:
            self.parts.append(f"{type(value).__qualname__} {value!r}")
            self.addresses |= " at 0x" in self.parts[-1]

    def _function(self, function, options):
        if function in self.seen:
            self.parts.append(f"function {self.seen[function]}")
            return
        self.seen[function] = len(self.seen)
        if _known(function.__module__ or ""):
            self.parts.append(f"{function.__module__} {function.__qualname__}")
            return
        inside = list(_codes(function.__code__))
        variables = [code.co_varnames for code in inside]
        self.parts.append(f"{code_of(function.__code__)} {variables} {sorted(options.items(), key=str)}")
        names = {name for code in inside for name in code.co_names}
        for cell in function.__closure__ or ():
            self._value(cell.cell_contents, names)
        for value in function.__defaults__ or ():
            self._value(value, names)
        self._named(function.__globals__, names)

    def _named(self, scope, names):
        for name in sorted(names):
            if name in scope:
                self.parts.append(name)
                self._value(scope[name], names)


def known(cls: type) -> bool:
    """Whether another process finds a class by its name."""
    return cls.__module__ != "__main__" and "<locals>" not in cls.__qualname__


def _known(module: str) -> bool:
    return module.partition(".")[0] in KNOWN


def _codes(code: CodeType):
    yield code
    for constant in code.co_consts:
        if isinstance(constant, CodeType):
            yield from _codes(constant)
