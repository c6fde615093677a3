"""Random numbers for compiled algorithms of one's own: each call draws from `rng` and moves it on.

They may be called in functions that numba compiles and in plain Python, with the same bits.
"""

from .sampling import generator
from .sampling.jit import inlined


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
