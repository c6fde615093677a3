"""Costs that are sums over coordinates, f(x) = sum_i g_i(x_i): powers, rough series, waves.

The mean over a cube is the sum of the means over its sides.  So the errors of (b) add, and so do the biases behind
mu_min; with the same profile g in every coordinate both are d times the one-dimensional constant.  A sublevel set
{f < e} lies in the product of the {g_i < e}; on a line the packing number equals the number of half-open intervals
of length a that a greedy cover needs, so packing numbers of the sides multiply to a bound for the product.
"""

from __future__ import annotations

import math
from functools import lru_cache

import numpy as np

from .cost import Constants, centred, on_box
from .cubes import generic, packing_constant, packing_constant_of
from .radial import SIDE, farthest, inside
from .registry import SCALE, InvalidChoice, Range, centre_within, family, vector
from .series import TERMS, gap_of_series, mean_of_series


def _power_sum(where, dim, *, scale, centre, powers):
    """scale sum_i |x_i - c_i|^(p_i)."""
    centre = inside(where, centre, dim=dim)
    alpha = min(2.0, min(powers))
    beta = sum(1 / p for p in powers)
    far = farthest(centre)

    def about(centre):
        def formula(x):
            s = np.abs(x[0] - centre[0]) ** powers[0]
            for i in range(1, dim):
                s = s + np.abs(x[i] - centre[i]) ** powers[i]
            return scale * s

        return formula

    def worst_error(p, reach, a):
        """The largest mean error of |t|^p over |t| <= reach on intervals of length a."""
        if p <= 2:  # largest at t = 0: fact (i) of radial.py in d = 1
            return (a / 2) ** p / (p + 1)
        # Convex: the error is >= 0.  For p >= 3 it grows with |t|, for 2 < p < 3 it may also peak at 0.
        t = np.linspace(0, reach, 129)[:, None]
        upper, lower = t + a / 2, t - a / 2
        integral = upper ** (p + 1) - np.sign(lower) * np.abs(lower) ** (p + 1)
        return np.max(integral / (a * (p + 1)) - t**p, axis=0)

    # Below a = 1e-4 the subtraction in worst_error loses digits, and the ratio has reached its limit.
    a = SIDE * np.geomspace(1e-4, 1, 400)
    M_b = scale * float(np.max(sum(worst_error(p, r, a) for p, r in zip(powers, far, strict=True)) / a**alpha))
    range_ = scale * float(sum(r**p for p, r in zip(powers, far, strict=True)))
    literal = len(set(powers)) == 1

    def count(eps, a):
        sides = [np.minimum(2 * (eps / scale) ** (1 / p), SIDE) for p in powers]
        return math.prod(s / a + 1 for s in sides)

    if literal:
        C0 = packing_constant(dim, 2 * scale ** (-1 / powers[0]))
    else:
        C0 = packing_constant_of(count, alpha, beta=beta, dim=dim, range_=range_, length=SIDE, literal=False)
    constants = Constants(
        alpha=alpha,  # the roughest coordinate; twice differentiable where p_i >= 2
        beta=beta,  # {f < e} has sides ~ e^(1/p_i)
        M_a=range_,  # the far corner
        M_b=M_b,  # at their suprema all one-dimensional errors are positive, so they add
        # fact (ii) of radial.py: mean of |t|^p over [0, a] is a^p/(p+1), and a^(p - alpha) is largest at a = A
        mu_min=scale * sum(SIDE ** (p - alpha) / (p + 1) for p in powers),
        A=SIDE,
        C0=C0,
        literal=literal,
    )
    return centred(centre, 1.0, about, constants, separable=True, powers=powers)


@family(scale=SCALE)
def quartic(dim, scale=10.0, centre=None):
    """f(x) = scale sum_i (x_i - c_i)⁴: flatter than a quadratic, alpha = 2 and beta = d/4."""
    return _power_sum("quartic", dim, scale=scale, centre=centre, powers=(4.0,) * dim)


@family(scale=SCALE)
def mixed_powers(dim, scale=10.0, centre=None, powers=None):
    """f(x) = scale sum_i |x_i - c_i|^(p_i), p = 1, 2, 3, 1, ...: alpha = min(2, p_i), beta = sum_i 1/p_i under (c')."""
    where = f"mixed_powers(dim={dim})"
    powers = tuple(1.0 + i % 3 for i in range(dim)) if powers is None else vector(where, "powers", powers, dim)
    near = tuple(min(max(p, 0.25), 6.0) for p in powers)
    if near != powers:
        raise InvalidChoice(f"{where}: powers = {powers} must lie in [0.25, 6]; the nearest valid choice is {near}")
    return _power_sum(where, dim, scale=scale, centre=centre, powers=powers)


@lru_cache(maxsize=64)
def _weierstrass_constants(gamma):
    """M_b and mu_min of W in units of its period.

    The mean of 1 - cos(2 pi 3^n y) over an interval of length a around y is 1 - cos(2 pi 3^n y) sinc(3^n a).  So the
    mean error is sum_n 3^(-gamma n) cos(2 pi 3^n y) (1 - sinc(3^n a)), largest at y = 0.  Both suprema are maxima of
    an explicit series over a (and, for mu_min, over the place of the minimiser in the interval).  With every a -> a/3
    one more term joins the series; divided by a^gamma it grows towards a function of period ln 3 in ln a.
    """
    n = np.arange(TERMS)
    weights = 3.0 ** (-gamma * n)
    M_b = mu = 0.0
    for a in np.array_split(np.geomspace(3.0 ** -(TERMS + 1), 1, 40 * TERMS), 24):
        phase = np.outer(a, 3.0**n)
        error = np.where(phase < 1e-3, (np.pi * phase) ** 2 / 6, 1 - np.sinc(phase))
        M_b = max(M_b, np.max(error @ weights / a**gamma))
        for v in np.linspace(0, 0.5, 65):
            wave = 2 * np.sin(np.pi * v * phase) ** 2
            mu = max(mu, np.max((wave + (1 - wave) * error) @ weights / a**gamma))
    return float(M_b), float(mu)


@family(scale=SCALE, exponent=Range(0.25, 1.6))
def weierstrass(dim, scale=4.0, centre=None, exponent=1.0):
    """f(x) = scale sum_i sum_n 3^(-γn) (1 - cos(π 3ⁿ (x_i - c_i))): rough everywhere, alpha = γ and beta = d/γ."""
    centre = inside("weierstrass", centre, dim=dim)
    ratio = 3.0**-exponent

    def about(centre):
        def formula(x):
            total = 0.0 * x[0]
            for i in range(dim):
                # s_n = 1 - cos(pi 3^n t) obeys s_(n+1) = s_n (3 - 2 s_n)^2, the triple-angle formula: one sine is
                # enough.
                s = 2 * np.sin(0.5 * np.pi * (x[i] - centre[i])) ** 2
                weight = scale
                for _ in range(TERMS):
                    total = total + weight * s
                    s = np.minimum(2.0, s * (3 - 2 * s) ** 2)  # 2 repels: rounding errors above it would grow ninefold
                    weight = weight * ratio
            return total

        return formula

    period = 2.0
    M_b, bias = _weierstrass_constants(exponent)
    peak = 2 * scale * (1 - ratio**TERMS) / (1 - ratio)  # half a period from c every cosine is -1
    spare = min(1 - abs(c) for c in centre)

    def count(eps, a):
        # For 1/6 <= 3^n |y| <= 1/2 the n-th term is 3^(-gamma n) (1 - cos(pi/3)) or more: W(y) >= (2|y|)^gamma / 2
        width = np.minimum(period * (2 * eps / scale) ** (1 / exponent), SIDE)
        wrapped = width / 2 > spare  # then the sublevel set of a neighbouring period enters the box
        return (width / a + 1 + wrapped) ** dim

    beta = dim / exponent
    constants = Constants(
        alpha=exponent,
        beta=beta,  # W(y) lies between two multiples of |y|^gamma
        M_a=peak * dim,  # the box is a whole period long
        M_b=scale * dim * M_b / period**exponent,
        mu_min=scale * dim * bias / period**exponent,
        A=SIDE,
        C0=packing_constant_of(count, exponent, beta=beta, dim=dim, range_=peak * dim, length=SIDE, literal=True),
    )
    gap, mean = gap_of_series(dim, scale, ratio), mean_of_series(dim, scale, ratio)
    return centred(centre, 1.0, about, constants, gap=gap, mean=mean, separable=True, period=2.0)


def _product_constant(dim, measured):
    """C0 of a sum of equal profiles: measured up to d = 3, beyond by (C (1+y))^d <= C^d 2^(d-1) (1 + y^d).

    A cost multiplied by `scale` has the sublevel sets of e/scale: C0 max(1, scale^-beta) will do.
    """
    return measured[dim - 1] if dim <= len(measured) else measured[0] ** dim * 2 ** (dim - 1)


@family(scale=SCALE)
def sine(dim, scale=1.0):
    """f(x) = scale sum_i sin x_i on [2, 2 + 2π]^d: one minimiser, 3π/2, alpha = 2 and beta = d/2."""

    def formula(x):
        s = np.sin(x[0])
        for i in range(1, dim):
            s = s + np.sin(x[i])
        return scale * s

    def gap(z):
        s = 0.0 * z[0]
        for i in range(dim):
            s = s + 2 * np.sin(z[i] / 2) ** 2
        return scale * s

    return on_box(
        dim,
        formula,
        lower=2.0,
        upper=2.0 + 2 * math.pi,
        minimum=-dim * scale,
        minimisers=[[1.5 * math.pi] * dim],
        constants=Constants(
            alpha=2.0,
            beta=dim / 2,  # f - f* = sum 1 - cos t_i, a quadratic near t = 0
            M_a=2.0 * dim * scale,  # sin = 1 at 5 pi/2
            M_b=scale * dim / 24,  # mean error = sin x (sinc - 1), and 1 - sin(a/2)/(a/2) <= a^2/24, sharp as a -> 0
            mu_min=scale * dim / 6,  # 1 - cos t <= t^2/2, whose mean over [0, a] is a^2/6, sharp as a -> 0
            A=2 * math.pi,
            C0=_product_constant(dim, SINE_C0) * max(1.0, scale ** (-dim / 2)),
            measured=("C0",),
        ),
        gap=gap,
        separable=True,
    )


SINE_C0 = (4.384, 11.15, 29.57)


@family(scale=SCALE)
def rastrigin(dim, scale=1.0, centre=None):
    """f(x) = scale sum_i (t_i² + 10 - 10 cos 2πt_i), t = x - c, on [-5.12, 5.12]^d:
    many local minima, alpha = 2 and beta = d/2."""
    half = 5.12
    centre = centre_within("rastrigin", centre, dim=dim, half=4.0, default=generic(dim, 1.5))

    def about(centre):
        def formula(x):
            s = 0.0 * x[0]
            for i in range(dim):
                t = x[i] - centre[i]
                s = s + t**2 + 20 * np.sin(np.pi * t) ** 2  # 10 - 10 cos 2 pi t, without cancellation near t = 0
            return scale * s

        return formula

    reach = half + np.abs(centre)
    t = np.linspace(reach - 1, reach, 20001)  # t^2 grows: the maximum lies in the last period
    M_a = scale * float(np.max(t**2 + 20 * np.sin(np.pi * t) ** 2, axis=0).sum())
    constants = Constants(
        alpha=2.0,
        beta=dim / 2,  # quadratic at c
        M_a=M_a,
        # mean error per coordinate: a^2/12 + 10 cos(2 pi t) (1 - sinc a); 1 - sinc a <= (pi a)^2/6, sharp as a -> 0
        M_b=scale * dim * (1 / 12 + 10 * math.pi**2 / 6),
        # t^2 + 10 (1 - cos 2 pi t) <= (1 + 20 pi^2) t^2, whose mean over [0, a] is a third, sharp as a -> 0
        mu_min=scale * dim * (1 + 20 * math.pi**2) / 3,
        A=2 * half,
        C0=_product_constant(dim, RASTRIGIN_C0) * max(1.0, scale ** (-dim / 2)),
        measured=("C0",),
    )
    return centred(centre, half, about, constants, separable=True)


RASTRIGIN_C0 = (1.579, 2.151, 3.146)


@family(scale=SCALE)
def garland(dim, scale=1.0):
    """f(x) = -scale sum_i x_i (1 - x_i) (4 - sqrt|sin 60 x_i|) on [0, 1]^d: many cusps, alpha = 1/2 and beta = 2d."""
    best = math.pi / 6

    def formula(x):
        s = 0.0 * x[0]
        for i in range(dim):
            s = s - x[i] * (1 - x[i]) * (4 - np.sqrt(np.abs(np.sin(60 * x[i]))))
        return scale * s

    def gap(z):
        s = 0.0 * z[0]
        for i in range(dim):
            x = best + z[i]
            s = s + x * (1 - x) * np.sqrt(np.abs(np.sin(60 * z[i]))) - 4 * z[i] * (1 - 2 * best - z[i])
        return scale * s

    minimum = -4 * best * (1 - best)  # sin 60 x = 0 there: the cusp outweighs the slope of x (1 - x)
    return on_box(
        dim,
        formula,
        lower=0.0,
        upper=1.0,
        minimum=float(formula(np.full(dim, best))),
        minimisers=[[best] * dim],
        constants=Constants(
            alpha=0.5,  # sqrt|sin| is Hoelder 1/2
            beta=2.0 * dim,  # f - f* ~ |t|^(1/2) at the best cusp; the runner-up is 0.0011 higher
            M_a=-minimum * dim * scale,  # f = 0 at the ends and f <= 0 between
            M_b=GARLAND_M_b * dim * scale,
            mu_min=GARLAND_mu * dim * scale,
            A=1.0,
            C0=_product_constant(dim, GARLAND_C0) * max(1.0, scale ** (-2.0 * dim)),
            measured=("M_b", "mu_min", "C0"),
        ),
        gap=gap,
        separable=True,
    )


GARLAND_M_b = 0.9108  # at x* as a -> 0, where it is x* (1 - x*) sqrt(60) E|U|^(1/2)
GARLAND_mu = 1.3474  # the interval [x*, x* + 1]
GARLAND_C0 = (3.945, 12.80, 42.7)


def _double_sine_profile(t, e1, e2):
    u = np.maximum(2 * np.abs(t), 1e-300)
    s = 0.5 + 0.5 * np.sin(np.pi * np.log2(u))
    return u**e2 * (1 - s) + u**e1 * s


@lru_cache(maxsize=64)
def _double_sine_suprema(e1, e2, centre):
    """One coordinate: the largest mean error and the largest bias at a minimiser, by the length of the interval."""
    from .measure import Target, cube_errors, minimiser_biases

    def g(X):
        return _double_sine_profile(X[:, 0], e1, e2)

    low, high = np.array([-centre]), np.array([1 - centre])
    target = Target(g, low, high, 0.0, np.zeros((1, 1)), 1.0, 1.0)
    rng = np.random.default_rng(0)
    errors, biases = cube_errors(target, rng), minimiser_biases(target, rng)
    return {w.a: w.value for w in errors}, {w.a: w.value for w in biases}


def _largest_sum(tables, alpha):
    """Cubes have one length: the sums over coordinates, each at its worst place, divided by a^alpha."""
    return max(sum(table[a] for table in tables) / a**alpha for a in set.intersection(*map(set, tables)))


@lru_cache(maxsize=64)
def _double_sine_sublevels(e1, e2):
    """For a grid of e: the length of {g < e} on a line and its number of pieces."""
    t = np.geomspace(1e-12, 1.0, 60_001)
    values = _double_sine_profile(t, e1, e2)
    eps = np.geomspace(1e-14, 4.0, 181)
    below = values[None, :] < eps[:, None]
    length = 2 * (below[:, 1:] * np.diff(t)).sum(axis=1) + 2 * t[0]
    pieces = 1 + 2 * np.count_nonzero(below[:, 1:] & ~below[:, :-1], axis=1)
    return eps, length, pieces


def _double_sine_gap(dim, scale, e1, e2):
    def gap(z):
        total = 0.0 * z[0]
        for i in range(dim):
            u = 2 * np.abs(z[i])
            v = np.maximum(u, 1e-300)
            v = v * 4.0 ** -np.floor(
                0.5 * np.log2(v)
            )  # between 1 and 4, with the same s and without the digits of log2
            turn = 0.5 * np.pi * (np.log2(v) - 0.5)
            total = total + u**e2 * np.sin(turn) ** 2 + u**e1 * np.cos(turn) ** 2
        return scale * total

    return gap


@family(scale=SCALE, rho1=Range(0.05, 0.6), rho2=Range(0.3, 0.9))
def double_sine(dim, scale=1.0, centre=None, rho1=0.25, rho2=0.5):
    """f(x) = scale sum_i u^e2 (1-s) + u^e1 s, u = 2|x_i - c_i|, s = (1 + sin(π log2 u))/2,
    e = -log2 ρ, on [0, 1]^d: alpha = e2 and beta = d (1/e1 + (1 - e2/e1)/2) under (c')."""
    where = f"double_sine(dim={dim})"
    if rho1 >= rho2:
        raise InvalidChoice(f"{where}: rho1 = {rho1:g} must be below rho2 = {rho2:g}; a valid choice is {rho2 / 2:g}")
    e1, e2 = -math.log2(rho1), -math.log2(rho2)
    centre = tuple(0.5 + 0.5 * c for c in generic(dim, 0.4)) if centre is None else vector(where, "centre", centre, dim)
    if min(centre) <= 0 or max(centre) >= 1:
        near = tuple(min(max(c, 0.01), 0.99) for c in centre)
        raise InvalidChoice(f"{where}: centre = {centre} must lie inside (0, 1); a valid choice near it is {near}")

    def about(centre):
        def formula(x):
            total = 0.0 * x[0]
            for i in range(dim):
                u = np.maximum(2 * np.abs(x[i] - centre[i]), 1e-300)
                s = 0.5 + 0.5 * np.sin(np.pi * np.log2(u))
                total = total + u**e2 * (1 - s) + u**e1 * s
            return scale * total

        return formula

    formula = about(centre)
    errors, biases = zip(*(_double_sine_suprema(e1, e2, c) for c in centre), strict=True)
    table_eps, length, pieces = _double_sine_sublevels(e1, e2)

    def count(eps, a):
        row = np.minimum(np.searchsorted(table_eps, eps / scale), len(table_eps) - 1)
        return (np.minimum(length[row], 1.0) / a + pieces[row]) ** dim

    # Per coordinate, {g < e} reaches out to u ~ e^(1/e1).  Around each zero of 1 - s it has a piece on which 1 - s is
    # below e u^(-e2); 1 - s is quadratic there, so the piece has length ~ u sqrt(e u^(-e2)).  For e2 < 2 the lengths
    # are a geometric series, dominated by the outermost: e^(1/e1 + (1 - e2/e1)/2) in all.  The pieces are log(1/e)
    # many, so (c) fails by a logarithm for large a, and (c') holds.
    beta = dim * (1 / e1 + (1 - e2 / e1) / 2)
    t = np.linspace(np.zeros(dim), np.maximum(centre, 1 - np.array(centre)), 200_001)
    M_a = scale * float(np.max(_double_sine_profile(t, e1, e2), axis=0).sum())
    return on_box(
        dim,
        formula,
        lower=0.0,
        upper=1.0,
        minimum=float(formula(np.array(centre))),  # not 0 but below 1e-90, where the logarithm is cut off
        minimisers=[centre],
        constants=Constants(
            alpha=e2,  # between the envelopes u^e1 and u^e2 with slopes ~ u^(e2 - 1)
            beta=beta,
            M_a=M_a,  # the largest value of an explicit function of one variable, per coordinate
            M_b=scale * _largest_sum(errors, e2),
            mu_min=scale * _largest_sum(biases, e2),
            A=1.0,
            C0=packing_constant_of(count, e2, beta=beta, dim=dim, range_=M_a, length=1.0, literal=False),
            literal=False,
            measured=("M_b", "mu_min", "C0"),
        ),
        gap=_double_sine_gap(dim, scale, e1, e2),
        separable=True,
        centre=centre,
    )
