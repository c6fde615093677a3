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


def largest_ratio(dim: int, width: float, least: int = 0) -> float:
    """The supremum of (m + 1)^d / (1 + (m/width)^d) over whole numbers m >= least.

    For d = 1 it is monotone from 1 to width.  For d > 1 it has one maximum, at the real m with m^(d-1) = width^d.
    """

    def ratio(m):
        return (m + 1.0) ** dim / (1 + (m / width) ** dim)

    if dim == 0:
        return 0.5
    if dim == 1:
        return max(ratio(least), width)
    peak = width ** (dim / (dim - 1))
    return max(ratio(max(least, m)) for m in (math.floor(peak), math.floor(peak) + 1))


def packing_constant(
    ball_dim: int, width: float, *, flat_dim: int = 0, flat_length: float = 2.0, count: int = 1
) -> float:
    """A C0 for sublevel sets inside `count` boxes with sides width e^(1/alpha) (ball_dim times) and flat_length.

    An open interval of length s holds ceil(s/a) points at distance >= a, a closed one floor(s/a) + 1.  With
    m < width e^(1/alpha) / a <= m + 1 and n <= flat_length / a < n + 1 the packing number is at most (m+1)^b (n+1)^f,
    and e^beta / a^d >= (m/width)^b (n/flat_length)^f =: (m/width)^b q.  Flat directions mean (c'), a^alpha <= e, so
    that m may be replaced by width where it is smaller.  Over m the supremum is known; over n the ratio has its peak
    below flat_length^2 and then falls, or (f = 1) rises, to its limit.  Longer cubes than the box count one point.
    """
    if flat_dim == 0:
        return float(count * largest_ratio(ball_dim, width))
    inside = math.ceil(width) if ball_dim else 1
    best = 1.0
    for n in range(1, max(64, math.ceil(flat_length**2) + 2)):
        q = (n / flat_length) ** flat_dim
        narrow = inside**ball_dim / (1 + q)
        wide = largest_ratio(ball_dim, width * q ** (-1 / ball_dim), inside) if ball_dim else narrow
        best = max(best, (n + 1.0) ** flat_dim * max(narrow, wide))
    limit = max(inside**ball_dim, (width * (inside + 1) / inside) ** ball_dim) * flat_length**flat_dim
    return float(count * max(best, limit))


def packing_constant_of(
    count, alpha: float, *, beta: float, dim: int, range_: float, length: float, literal: bool, least=1
):
    """The supremum of count(e, a) / (1 + e^beta / a^d), for a smooth bound `count` on the packing number.

    e runs over (0, range_], a over (0, length]; under (c') only a^alpha <= e.  A geometric grid of a smooth function,
    with 2 per cent to spare, stands for the supremum; its ends lie where `count` has become a power law.  Longer cubes
    than the box count one point, and e -> 0 leaves `least` of them.
    """
    eps = range_ * np.geomspace(1e-14, 1, 421)[:, None]
    ratio = np.geomspace(1e-6, 1, 421)[None, :]
    a = ratio * (length if literal else np.minimum(length, eps ** (1 / alpha)))
    return max(float(least), 1.02 * float(np.max(count(eps, a) / (1 + eps**beta / a**dim))))
