"""The random numbers of the kernels, line by line from the papers: slow, obvious, nothing from ratecheck.

A `Random` can stand where the reference algorithms expect a NumPy generator.  Its results equal those of the kernels to
the last bit; its tables are found from their definition alone, with 45 digits where the kernels use 30.
"""

import math
from decimal import Decimal, localcontext
from functools import cache

MASK = 2**64 - 1


def rotl(x, k):
    return ((x << k) & MASK) | (x >> (64 - k))


class Random:
    """xoshiro256++ from four words; `paths` counts how normals were found."""

    def __init__(self, words):
        self.s = [int(word) for word in words]
        assert any(self.s)
        self.paths = {"inner": 0, "wedge": 0, "above the curve": 0, "tail": 0}

    @classmethod
    def beside(cls, generator):
        """The stream that a kernel makes of the seed of a NumPy generator."""
        return cls(generator.bit_generator.seed_seq.generate_state(4, "uint64"))

    def next(self):
        s = self.s
        result = (rotl((s[0] + s[3]) & MASK, 23) + s[0]) & MASK
        t = (s[1] << 17) & MASK
        s[2] ^= s[0]
        s[3] ^= s[1]
        s[1] ^= s[2]
        s[0] ^= s[3]
        s[2] ^= t
        s[3] = rotl(s[3], 45)
        return result

    def random(self):
        return (self.next() >> 11) * 2.0**-53

    def standard_normal(self):
        """Bits 0 to 7 of a word are the layer, 12 to 62 the size and 63 the sign (two's complement) of the abscissa."""
        _, _, x, height, inner = ziggurat()
        while True:
            word = self.next()
            layer = word % 256
            signed = word - 2**64 if word >= 2**63 else word
            j = 2 * (signed // 2**12) + 1
            z = j * (x[layer] * 2.0**-52)
            if abs(j) < inner[layer]:
                self.paths["inner"] += 1
                return z
            if layer == 0:
                self.paths["tail"] += 1
                return self.beyond(x[1]) * (1 if j > 0 else -1)
            if height[layer] + self.random() * (height[layer + 1] - height[layer]) < math.exp(-0.5 * z * z):
                self.paths["wedge"] += 1
                return z
            self.paths["above the curve"] += 1

    def beyond(self, r):
        while True:
            u, v = self.random(), self.random()
            x = -math.log(1.0 - u) / r
            if -2.0 * math.log(1.0 - v) > x * x:
                return r + x

    def standard_t(self, dof):
        while True:
            u = 2.0 * self.random() - 1.0
            v = 2.0 * self.random() - 1.0
            w = u * u + v * v
            if 0.0 < w <= 1.0:
                return u * math.sqrt(dof * math.expm1(-2.0 * math.log(w) / dof) / w)


def f(x):
    return (-x * x / 2).exp()


def area_beyond(r):
    """The integral of exp(-x^2 / 2) from r: Laplace's continued fraction."""
    fraction = r
    for n in range(400, 0, -1):
        fraction = r + n / fraction
    return f(r) / fraction


def edges(r):
    """x_1 = r, x_2, … with layers of the area of the lowest; where they rise above 1 the list ends early."""
    v = r * f(r) + area_beyond(r)
    x = [r]
    while len(x) < 255:
        height = f(x[-1]) + v / x[-1]
        if height >= 1:
            break
        x.append((-2 * height.ln()).sqrt())
    return x, v


def excess(r):
    """How far the highest layer rises above 1."""
    x, v = edges(r)
    return f(x[-1]) + v / x[-1] - 1 if len(x) == 255 else Decimal(1)


def root(function, low, high):
    """Where a decreasing function is 0: bisection, then secants."""
    while high - low > Decimal("1e-6"):
        middle = (low + high) / 2
        low, high = (middle, high) if function(middle) > 0 else (low, middle)
    at_low, at_high = function(low), function(high)
    while abs(at_high) > Decimal("1e-42"):
        low, high = high, high - at_high * (high - low) / (at_high - at_low)
        at_low, at_high = at_high, function(high)
    return high


@cache
def ziggurat():
    """r and v; and as the nearest floats x_0, …, x_255, their heights and 1, and below which j layer i is inner."""
    with localcontext() as context:
        context.prec = 45
        r = root(excess, Decimal("3.654"), Decimal("3.6543"))
        x, v = edges(r)
        x = [v / f(r), *x, Decimal(0)]
        inner = [math.floor(2**52 * x[i + 1] / x[i]) for i in range(256)]
        heights = [0.0, *(float(f(edge)) for edge in x[1:])]
        return r, v, [float(edge) for edge in x[:256]], heights, inner
