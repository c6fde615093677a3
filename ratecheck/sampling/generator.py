"""Random numbers written into the kernels: xoshiro256++ and what is made of it, the state in four local variables.

A kernel loads the four words of a state at its entry, hands them from draw to draw and stores them at its exit; kept in
an array between draws they would be written and read again by every step.

Bits: xoshiro256++ 1.0 (Blackman and Vigna 2021, "Scrambled linear pseudorandom number generators", ACM TOMS 47, art.
36; the authors' reference is in the public domain).  Normals: the ziggurat of 256 layers (Marsaglia and Tsang 2000,
"The ziggurat method for generating random variables", J. Stat. Software 5, no. 8), layer and abscissa from different
bits of a word (Doornik 2005, "An improved ziggurat method to generate normal random samples").  Student's t: Bailey
(1994, "Polar generation of random variates with the t-distribution", Math. Comp. 62, 779-781).
"""

import math
from decimal import Context, Decimal, localcontext

import numpy as np

from .jit import compiled, inlined, likely

__all__ = ["bits", "fill", "normal", "open_state", "student", "uniform"]

# numba makes a float of an unsigned and a signed integer, so every constant beside a word is a word.
ONE, LAYER, TO_53 = (np.uint64(n) for n in (1, 255, 11))
JUMP, LEFT_23, RIGHT_23, LEFT_45, RIGHT_45 = (np.uint64(n) for n in (17, 23, 64 - 23, 45, 64 - 45))
ULP = 2.0**-53


# The layers, each of area V, cover the area below exp(-x^2 / 2): layer i reaches from 0 to X[i], and up to X[i + 1] it
# lies wholly below the curve.  Layer 0, the lowest, includes the tail beyond R = X[1].  With this R, the highest layer
# ends at exp(0) = 1.

LAYERS = 256
R = "3.654152885361008771645429720399515762974854599746"
V = "0.004928673233974655347361775402336028069135384702857"


def ziggurat() -> tuple[np.ndarray, np.ndarray]:
    """(X[i] 2^-52, the j below which j X[i] 2^-52 is less than X[i + 1]) for each layer, and exp(-X[i]^2 / 2).

    Decimal functions are correctly rounded, unlike those of a C library: the tables are the same on every machine.
    """
    with localcontext(Context(prec=30)):
        r, v = Decimal(R), Decimal(V)
        heights = [(-r * r / 2).exp()]
        edges = [v / heights[0], r]
        while len(edges) < LAYERS:
            heights.append(heights[-1] + v / edges[-1])
            edges.append((-2 * heights[-1].ln()).sqrt())
        layers = [(x / 2**52, int(2**52 * inner / x)) for x, inner in zip(edges, [*edges[1:], 0], strict=True)]
    return np.array(layers, dtype=float), np.array([0, *heights, 1], dtype=float)


SCALE, INNER = range(2)
TABLE, HEIGHT = ziggurat()
TAIL = float(R)


def open_state(seed_sequence: np.random.SeedSequence) -> np.ndarray:
    """The state of a stream: four words, different for every seed sequence."""
    state = seed_sequence.generate_state(4, np.uint64)
    if not state.any():
        raise ValueError("four words of zero, which xoshiro256++ would never leave; take another seed")
    return state


@inlined
def bits(s0, s1, s2, s3):
    """A word of 64 random bits, and the next state."""
    total = np.add(s0, s3)  # unlike +, np.add is silent when it wraps around in the interpreter
    word = np.add((total << LEFT_23) | (total >> RIGHT_23), s0)
    jump = s1 << JUMP
    s2 ^= s0
    s3 ^= s1
    s1 ^= s2
    s0 ^= s3
    s2 ^= jump
    s3 = (s3 << LEFT_45) | (s3 >> RIGHT_45)
    return word, s0, s1, s2, s3


@inlined
def uniform(s0, s1, s2, s3):
    """Uniform on the multiples of 2^-53 in [0, 1)."""
    word, s0, s1, s2, s3 = bits(s0, s1, s2, s3)
    return np.int64(word >> TO_53) * ULP, s0, s1, s2, s3


@inlined
def abscissa(word):
    """Uniform on the odd numbers between -2^52 and 2^52, from the bits of a word that do not name the layer."""
    return float((np.int64(word) >> 11) | 1)


@inlined
def normal(s0, s1, s2, s3):
    """Normal with mean 0 and variance 1."""
    word, s0, s1, s2, s3 = bits(s0, s1, s2, s3)
    layer = word & LAYER
    j = abscissa(word)
    if likely(abs(j) < TABLE[layer, INNER]):
        return j * TABLE[layer, SCALE], s0, s1, s2, s3
    return outer_normal(layer, j, s0, s1, s2, s3)


@compiled
def outer_normal(layer, j, s0, s1, s2, s3):
    """A normal whose first try is not below the curve for sure: once in 67 draws."""
    while True:
        x = j * TABLE[layer, SCALE]
        if abs(j) < TABLE[layer, INNER]:
            return x, s0, s1, s2, s3
        if layer == 0:
            return tail(x, s0, s1, s2, s3)
        u, s0, s1, s2, s3 = uniform(s0, s1, s2, s3)
        low, high = HEIGHT[layer], HEIGHT[layer + ONE]
        if low + u * (high - low) < math.exp(-0.5 * x * x):
            return x, s0, s1, s2, s3
        word, s0, s1, s2, s3 = bits(s0, s1, s2, s3)
        layer = word & LAYER
        j = abscissa(word)


@inlined
def tail(sign, s0, s1, s2, s3):
    """A normal beyond R on the side of `sign` (Marsaglia 1964)."""
    while True:
        u, s0, s1, s2, s3 = uniform(s0, s1, s2, s3)
        v, s0, s1, s2, s3 = uniform(s0, s1, s2, s3)
        beyond = -math.log(1.0 - u) / TAIL
        if -2.0 * math.log(1.0 - v) > beyond * beyond:
            return math.copysign(TAIL + beyond, sign), s0, s1, s2, s3


@inlined
def student(dof, s0, s1, s2, s3):
    """Student's t with `dof` > 0 degrees of freedom."""
    while True:
        u, s0, s1, s2, s3 = uniform(s0, s1, s2, s3)
        v, s0, s1, s2, s3 = uniform(s0, s1, s2, s3)
        u = 2.0 * u - 1.0
        v = 2.0 * v - 1.0
        w = u * u + v * v
        if 0.0 < w <= 1.0:  # dof (w^(-2 / dof) - 1) without loss where dof is large
            return u * math.sqrt(dof * math.expm1(-2.0 * math.log(w) / dof) / w), s0, s1, s2, s3


@compiled
def fill(state, out):
    """Fill an array with uniforms from a state, which moves on."""
    s0, s1, s2, s3 = state[0], state[1], state[2], state[3]
    for k in range(out.size):
        out[k], s0, s1, s2, s3 = uniform(s0, s1, s2, s3)
    state[0], state[1], state[2], state[3] = s0, s1, s2, s3
