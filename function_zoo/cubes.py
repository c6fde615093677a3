"""Facts about uniform points in cubes and about packings of boxes that the derivations share."""

from __future__ import annotations

import math

import numpy as np


def generic(dim: int, scale: float = 0.75) -> tuple[float, ...]:
    """A centre at no round or dyadic place: alternating fractional parts of square roots of primes, scaled."""
    primes = (2, 3, 5, 7, 11, 13, 17, 19, 23, 29, 31, 37, 41, 43, 47, 53)
    return tuple((-1) ** i * scale * math.modf(math.sqrt(p))[0] for i, p in enumerate(primes[:dim]))


def norm_moment(dim: int, power: float) -> float:
    """E |U|_2^p for U uniform on [0, 1]^d and 0 < p <= 2; on the centred unit cube it is 2^-p times this.

    With q = p/2 < 1 and s >= 0,  s^q = q / Gamma(1-q) * integral of (1 - e^(-s t)) t^(-q-1) dt,  and
    E exp(-t |U|^2) = phi^d with phi = erf(sqrt t) sqrt(pi/t) / 2.  In ln t the integrand is analytic, so the
    trapezoidal rule converges geometrically; at both ends it is an exponential, whose sum is known.
    """
    if power == 2.0:
        return dim / 3
    if dim == 1:
        return 1 / (power + 1)
    from scipy.special import erf

    q = power / 2
    step = 0.05
    log_t = np.arange(-32, 70, step)
    root = np.exp(log_t / 2)
    phi = erf(root) * math.sqrt(math.pi) / (2 * root)
    t = np.minimum(root**2, 0.1)
    log_phi = np.log1p(t * (-1 / 3 + t * (1 / 10 + t * (-1 / 42 + t * (1 / 216 + t * (-1 / 1320 + t / 9360))))))
    integrand = np.where(root**2 < 0.1, -np.expm1(dim * log_phi), 1 - phi**dim) * np.exp(-q * log_t)
    below = integrand[0] / math.expm1((1 - q) * step)  # ~ t^(1-q)
    above = integrand[-1] / math.expm1(q * step)  # ~ t^(-q)
    return float(q / math.gamma(1 - q) * step * (below + integrand.sum() + above))


def packing_constant(ball_dim: int, width: float, flat_dim: int = 0, flat_length: float = 2.0, count: int = 1) -> float:
    """A C0 for sublevel sets inside `count` boxes with sides width * e^(1/alpha) (ball_dim times) and flat_length.

    An open interval of length s holds ceil(s/a) points at distance >= a, a closed one floor(s/a) + 1.  With
    m < width e^(1/alpha) / a <= m + 1 and n <= flat_length / a < n + 1 the packing number is at most
    (m+1)^b (n+1)^f, and e^beta / a^d = (m/width)^b (n/flat_length)^f.  Flat directions mean (c'), a^alpha <= e,
    so that m >= width there.  (Cubes longer than flat_length count a single point: n >= 1 is no restriction.)  For
    large m and n the ratio to 1 + e^beta / a^d falls towards width^b flat_length^f.
    """
    m = np.arange(0, 60 + 10 * int(width))[:, None]
    n = np.arange(1, 400)[None, :]
    floor = np.maximum(m, width if flat_dim else 0)
    load = (floor / width) ** ball_dim * (n / flat_length) ** flat_dim
    ratio = (m + 1.0) ** ball_dim * (n + 1.0) ** flat_dim / (1 + load)
    return float(count * max(np.max(ratio), width**ball_dim * flat_length**flat_dim))


def packing_constant_of(count, alpha: float, beta: float, dim: int, range_: float, length: float, literal: bool):
    """The supremum of count(e, a) / (1 + e^beta / a^d), for a bound `count` on the packing number.

    e runs over (0, range_], a over (0, length]; under (c') only a^alpha <= e.  A fine geometric grid stands for
    the supremum; `count` is a power law times bounded factors, so beyond the grid nothing new happens.
    """
    eps = range_ * np.geomspace(1e-10, 1, 241)[:, None]
    ratio = np.geomspace(1e-3, 1, 241)[None, :]
    a = ratio * (length if literal else np.minimum(length, eps ** (1 / alpha)))
    return float(np.max(count(eps, a) / (1 + eps**beta / a**dim)))
