"""What kernels are made of, for compiled algorithms of one's own.

`uniform` and `normal` draw from `rng`, the state that a run hands to its algorithm, and move it on, with the same bits
in functions that numba compiles and in plain Python.  In `generator` the same draws take and return the state as four
numbers, which is faster in long loops.  `compiled` and `inlined` compile functions as our kernels are; `tournament`
keeps the smallest of many lower confidence bounds.
"""

from .algorithms import tournament
from .sampling import generator
from .sampling.jit import compiled, inlined

__all__ = ["compiled", "generator", "inlined", "normal", "tournament", "uniform"]


@inlined
def uniform(rng):
    """Uniform on the multiples of 2^-53 in [0, 1)."""
    u, rng[0], rng[1], rng[2], rng[3] = generator.uniform(rng[0], rng[1], rng[2], rng[3])
    return u


@inlined
def normal(rng):
    """Normal with mean 0 and variance 1."""
    z, rng[0], rng[1], rng[2], rng[3] = generator.normal(rng[0], rng[1], rng[2], rng[3])
    return z
