"""Polynomials over the rationals: means over cubes, Laplacians and minima, without rounding."""

from __future__ import annotations

import itertools
import math
from fractions import Fraction

Polynomial = dict[tuple[int, ...], Fraction]  # exponents -> coefficient


def polynomial(terms) -> Polynomial:
    """Without the terms that vanish."""
    return {powers: Fraction(c) for powers, c in dict(terms).items() if c}


def added(*parts: Polynomial) -> Polynomial:
    total: Polynomial = {}
    for part in parts:
        for powers, c in part.items():
            total[powers] = total.get(powers, Fraction(0)) + c
    return polynomial(total)


def scaled(p: Polynomial, factor) -> Polynomial:
    return polynomial({powers: c * Fraction(factor) for powers, c in p.items()})


def value(p: Polynomial, x) -> Fraction:
    return sum(
        (c * math.prod(Fraction(t) ** e for t, e in zip(x, powers, strict=True)) for powers, c in p.items()),
        Fraction(0),
    )


def degree(p: Polynomial) -> int:
    return max((sum(powers) for powers in p), default=0)


def laplacian(p: Polynomial) -> Polynomial:
    parts = []
    for powers, c in p.items():
        for i, e in enumerate(powers):
            if e >= 2:
                parts.append({(*powers[:i], e - 2, *powers[i + 1 :]): c * e * (e - 1)})
    return added(*parts)


def deviation(p: Polynomial) -> dict[int, Polynomial]:
    """Mean over the cube of length a around x, minus the value at x: by powers of a, each a polynomial in x.

    With U uniform on [-1/2, 1/2] the mean of (x + a U)^e is the sum over j of C(e, 2j) x^(e-2j) a^(2j) / ((2j+1) 4^j).
    """
    by_power: dict[int, list[Polynomial]] = {}
    for powers, c in p.items():
        for halves in itertools.product(*(range(e // 2 + 1) for e in powers)):
            if any(halves):
                share = math.prod(
                    Fraction(math.comb(e, 2 * j), (2 * j + 1) * 4**j) for e, j in zip(powers, halves, strict=True)
                )
                rest = tuple(e - 2 * j for e, j in zip(powers, halves, strict=True))
                by_power.setdefault(2 * sum(halves), []).append({rest: c * share})
    found = {power: added(*parts) for power, parts in sorted(by_power.items())}
    return {power: part for power, part in found.items() if part}


def smoothness(p: Polynomial) -> float:
    """The largest alpha with |mean over B(x, a) - p(x)| <= M a^alpha for x in a box and small a; infinite: no error."""
    return min(deviation(p), default=math.inf)


def complex_power(n: int) -> tuple[Polynomial, Polynomial]:
    """The real and the imaginary part of (x1 + i x2)^n, which are harmonic."""
    real, imaginary = {}, {}
    for j in range(n + 1):
        (imaginary if j % 2 else real)[(n - j, j)] = math.comb(n, j) * (-1) ** (j // 2)
    return polynomial(real), polynomial(imaginary)


def lowest_inside(p: Polynomial, dim: int, points: int = 9) -> bool:
    """Whether, on a grid over [-1, 1]^d, an inner point is as low as the lowest of the boundary."""
    axis = [Fraction(2 * i, points - 1) - 1 for i in range(points)]
    inner, outer = [], []
    for x in itertools.product(axis, repeat=dim):
        (outer if any(abs(t) == 1 for t in x) else inner).append(value(p, x))
    return min(inner) <= min(outer)
