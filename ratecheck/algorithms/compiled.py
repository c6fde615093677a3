"""Algorithms of one's own at the speed of kernels: an initial state, and `ask` and `tell` that numba compiles."""

from __future__ import annotations

import inspect
import pickle
import re
from collections.abc import Callable
from dataclasses import dataclass
from functools import cached_property, partial
from pathlib import Path
from types import FunctionType
from typing import ClassVar

import numpy as np
from numba import njit, typeof, types
from numba.core.errors import NumbaError, TypingError
from numba.extending import overload

from function_zoo import Constants
from function_zoo.formula import captured, packed

from ..arguments import shown
from ..claims import Theorem
from ..rates import Rate
from ..sampling.generator import open_state
from ..sampling.jit import Kernel, dated, likely, value
from ..sampling.noise import Gaussian, sample
from . import sources
from .asktell import PlugIn
from .frozen import Frozen, known
from .run import CLOCK, FINE, HIGHEST, IMPOSSIBLE_COST, Run, values

OURS = "tell returns"  # how our own sentences begin, among those of numba
OUTSIDE = 3  # a status beside those of run.py: a point that is none of the box


@dataclass(frozen=True)
class Compiled(PlugIn):
    """An algorithm of three functions, run in a compiled loop:

        init(dim, lower, upper, horizon, rng) -> state
        ask(state, t, rng, x)                              writes the point to query in step t = 1, 2, ... into x
        tell(state, t, x, y)                               learns that y was observed at x: a reward where the cost is
                                                           one that is maximised

    `init` is called by Python, once for each run, and a `functools.partial` gives it settings.  `ask` and `tell` are
    plain functions in numba's subset of Python, which are compiled here, or are compiled already.  A state is whatever
    numba knows: an array, a tuple, best a NamedTuple of arrays and numbers.  Its arrays are changed in place; `tell`
    may also return the state to go on with, of the same type, which is how arrays grow and numbers change.  x is one
    array for all steps: copy what is to be remembered.  Random numbers come from rng alone, by
    `ratecheck.kernels.uniform` and `normal`.  Division by zero gives infinity or nan, and as everywhere in numba no
    index is checked; with NUMBA_DISABLE_JIT=1 in the environment all of it is plain Python, to the same bits unless a
    power like x**3 rounds otherwise.  `ratecheck.testing.check_algorithm` tries it both ways.

    `anytime`, `promise`: as for AskTell.  `name` is its name in tables.  Machine code is kept on disk, until a
    function, or anything that it calls or names, is another one.
    """

    init: Callable
    ask: Callable
    tell: Callable
    anytime: bool = False
    promise: Rate | Theorem | Callable[[Constants, int], Rate] | None = None
    name: str | None = None
    compiled: ClassVar[bool] = True

    def __post_init__(self):
        if not callable(self.init):
            raise ValueError(f"init = {shown(self.init)} must be callable as init(dim, lower, upper, horizon, rng)")
        for what, taken in (("ask", ("state", "t", "rng", "x")), ("tell", ("state", "t", "x", "y"))):
            if not _takes(plain(getattr(self, what)), taken):
                how = f"{what}({', '.join(taken)})"
                raise ValueError(f"{what} = {shown(getattr(self, what))} must be a function, called as {how}")
        if not isinstance(self.anytime, bool):
            raise ValueError(f"anytime = {shown(self.anytime)} must be True or False")
        if self.name is not None and not (isinstance(self.name, str) and self.name.isprintable() and self.name):
            raise ValueError(f"name = {shown(self.name)} must be a text, on one line")
        self.check_promise()

    @property
    def made_by(self) -> Callable:
        return self.init

    @property
    def own_name(self) -> str:
        """The name it was given, or that of `init` without this word, or that of its module."""
        if self.name is not None:
            return self.name
        own = super().own_name
        module = getattr(self.maker, "__module__", "__main__").rpartition(".")[2]
        return own.removesuffix("init").rstrip("._") or (own if module == "__main__" else module)

    @property
    def fingerprint(self) -> str:
        """Of the source code of all three functions, empty where there is none, and of what they captured."""
        maker, init = plain(self.maker), self.init
        init = partial(maker, *init.args, **init.keywords) if isinstance(init, partial) else maker
        parts = [sources.fingerprint(maker, captured(init))]
        parts += [sources.fingerprint(plain(f), captured(plain(f))) for f in (self.ask, self.tell)]
        return "" if "" in parts else "-".join(parts)

    @cached_property
    def loop(self) -> Loop:
        frozen = Frozen(self.ask, self.tell)
        sourced = [sources.fingerprint(plain(function)) for function in (self.ask, self.tell)]
        key = (frozen.digest, *sourced, *frozen.classes)
        if key not in _LOOPS:
            portable = frozen.portable and all(sourced)
            _LOOPS[key] = Loop(self.ask, self.tell, " ".join([frozen.digest, *sourced]), portable)
        return _LOOPS[key]

    def check(self, cost, horizon, shifted):
        """Compile it, so that what cannot be compiled is refused at once, and workers find it on disk."""
        if cost.dim not in self.loop.tried:
            self.start(cost, 0.0, (), np.random.default_rng(0), Gaussian(0.0), horizon=horizon).advance(0)
            self.loop.tried.add(cost.dim)

    def __reduce__(self):
        functions = packed(self.init), packed(self.ask), packed(self.tell)
        return _unpacked, (*functions, self.anytime, packed(self.promise), self.name)

    def seconds_per_step(self, cost, horizon) -> float:
        return 1e-7

    @property
    def run(self) -> type[Run]:
        return CompiledRun

    def __str__(self):
        return f"Compiled({self.label}, {self.ask.__qualname__}, {self.tell.__qualname__})"


def _unpacked(init, ask, tell, anytime, promise, name) -> Compiled:
    return Compiled(*map(pickle.loads, (init, ask, tell)), anytime, pickle.loads(promise), name)


def plain(function):
    """The Python function behind what numba compiled."""
    return getattr(function, "py_func", function)


def _takes(function, names) -> bool:
    if not isinstance(function, FunctionType):
        return False
    try:
        inspect.signature(function).bind(*names)
    except TypeError:
        return False
    return True


class CompiledRun(Run):
    def __init__(self, algorithm, cost, rng, noise, horizon):
        own, noise_rng = rng.spawn(2)
        super().__init__(cost, noise, own, None)
        self.noise_rng = open_state(noise_rng.bit_generator.seed_seq)
        self.name = algorithm.label
        self.sign = -1.0 if cost.maximise else 1.0
        self.loop = algorithm.loop
        try:
            self.memory = algorithm.init(cost.dim, cost.lower.copy(), cost.upper.copy(), horizon, self.rng)
        except TypeError as error:
            raise ValueError(f"{self.name}: init(dim, lower, upper, horizon, rng) fails ({error})") from error
        if self.memory is None:
            raise ValueError(f"{self.name}: init returns None; it must return the state that ask and tell receive")
        try:
            typeof(self.memory)
        except ValueError:
            raise ValueError(
                f"{self.name}: init returns {shown(self.memory)}, which numba does not know; take an array, a tuple "
                "or a NamedTuple of arrays and numbers"
            ) from None
        self.kernel = self.loop.kernel(self.memory)

    def advance(self, until, loop=None):
        drawn = (*self.sampled[:-1], self.noise_rng, self.rng)
        arguments = (*drawn, self.cost.lower, self.cost.upper, self.state, self.total_regret, self.x)
        status, self.memory = (loop or self.loop.advance)(self, *arguments, self.sign, until, self.memory)
        if status == OUTSIDE:
            raise ValueError(
                f"{self.name} asked for {self.x.tolist()} in step {self.t + 1}, which is no point of the box of "
                f"{self.cost}; ask must write every coordinate of x"
            )
        if status == IMPOSSIBLE_COST:
            self.refuse(self.x)


_LOOPS = {}  # by what is compiled: a worker that receives the same functions anew, by value, compiles them once


class Loop:
    """The loop around one `ask` and `tell`, for all runs of this process that share them."""

    def __init__(self, ask, tell, key: str, on_disk: bool):
        self.functions, self.key, self.on_disk = (ask, tell), key, on_disk
        self.kernels = {}
        self.tried = set()  # dimensions for which it was compiled

    def kernel(self, state) -> Kernel:
        """For a type of states; it is kept on disk where another process would know the type."""
        on_disk = self.on_disk and all(map(known, classes_of(state)))
        if on_disk not in self.kernels:
            jit = njit(forceinline=True, nogil=True, error_model="numpy")
            ask, tell = (jit(f) if isinstance(f, FunctionType) else f for f in self.functions)
            self.kernels[on_disk] = Kernel(drive, self.key, on_disk, counted=True, ask=ask, tell=tell)
        return self.kernels[on_disk]

    def interpreted(self, run, around=lambda tell: tell):
        """The `advance` of a run in plain Python; `around` wraps `tell`."""
        ask, tell = map(plain, self.functions)
        loop = dated(drive, "", ask=ask, tell=around(tell), value=_value, sample=_sample)
        return lambda until: run.advance(until, lambda run, *arguments: loop(run.cost.compiled, *arguments))

    def advance(self, run, *arguments):
        try:
            return run.kernel.advance(run.cost, run.formula, run.state, *arguments)
        except (NumbaError, TypeError) as error:
            if isinstance(error, TypeError) and run.t > 0:
                raise
            raise ValueError(f"{run.name} cannot be compiled: {_reason(error, self.functions)}") from error


def classes_of(state):
    if isinstance(state, tuple):
        yield type(state)
        for part in state:
            yield from classes_of(part)


def _value(f, x) -> float:
    return float(values(f, x[None])[0])


def _sample(*arguments):
    noise, *words = sample(*arguments)
    return noise, *map(np.uint64, words)  # numba gives Python's integers back, which it would take for signed ones


def _reason(error, functions) -> str:
    """One sentence of what numba says in many lines, with the line of code that it speaks of."""
    lines = list(filter(None, map(str.strip, str(error).splitlines())))
    ours = [line[line.index(OURS) :] for line in lines if OURS in line]
    said = next((line for line in lines if not line.startswith(("Failed in nopython", "During: "))), "")
    called = [line.removeprefix(">>> ") for line in lines if line.startswith(">>> ")]
    said = ours[0] if ours else " ".join([said, *called[:1]])
    files = {Path(plain(function).__code__.co_filename).name for function in functions}
    places = [
        f" ({Path(file).name}, line {line})"
        for file, line in re.findall(r'File "([^"]+)", line (\d+)', str(error))
        if Path(file).name in files
    ]
    return said.strip(" >") + (places[-1] if places and not ours else "")


def kept(state, new):
    """The state after `tell`, which returned None where it changed its arrays in place."""
    return state if new is None else new


@overload(kept)
def _kept(state, new):
    if isinstance(new, types.NoneType):
        return lambda state, new: state
    if isinstance(new, types.Optional):
        raise TypingError(f"{OURS} a state at times and nothing at others; it must do one of them always")
    if not _same(state, new):
        raise TypingError(f"{OURS} a state of another type than it receives: {new} instead of {state}")
    return lambda state, new: new


def _same(state, new) -> bool:
    """Whether a type is that of the state; constants count as numbers."""
    if isinstance(state, types.BaseTuple) and isinstance(new, types.BaseTuple):
        classes = [getattr(one, "instance_class", tuple) for one in (state, new)]
        return classes[0] is classes[1] and len(state) == len(new) and all(map(_same, state, new))
    return types.unliteral(new) == state


def drive(f, f_min, lowest, law, scale, dof, noise_rng, rng, lower, upper, clock, regret, x, sign, until, state):
    status = FINE
    t = clock[CLOCK]
    R = regret[0]
    s0, s1, s2, s3 = noise_rng[0], noise_rng[1], noise_rng[2], noise_rng[3]
    while t < until:
        for q in range(x.size):
            x[q] = np.nan
        ask(state, t + 1, rng, x)  # noqa: F821, Kernel puts the functions in
        inside = True
        for q in range(x.size):
            inside = inside and lower[q] <= x[q] <= upper[q]
        if not likely(inside):
            status = OUTSIDE
            break
        y = value(f, x)
        if not likely(lowest <= y < HIGHEST):
            status = IMPOSSIBLE_COST
            break
        R += y - f_min
        noise, s0, s1, s2, s3 = sample(law, scale, dof, s0, s1, s2, s3)
        t += 1
        state = kept(state, tell(state, t, x, sign * (y + noise)))  # noqa: F821
    clock[CLOCK] = t
    regret[0] = R
    noise_rng[0], noise_rng[1], noise_rng[2], noise_rng[3] = s0, s1, s2, s3
    return status, state
