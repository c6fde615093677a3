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

from .cost import Constants, Cost
from .cubes import generic, packing_constant, packing_constant_of
from .radial import SIDE, farthest, inside, on_unit_box
from .registry import POSITIVE, InvalidChoice, Range, family, vector


def _power_sum(where, dim, scale, centre, powers):
    """scale sum_i |x_i - c_i|^(p_i)."""
    centre = inside(where, centre, dim)
    alpha = min(2.0, min(powers))
    beta = sum(1 / p for p in powers)
    far = farthest(centre)

    def formula(x):
        s = np.abs(x[0] - centre[0]) ** powers[0]
        for i in range(1, dim):
            s = s + np.abs(x[i] - centre[i]) ** powers[i]
        return scale * s

    def worst_error(p, reach, a):
        """The largest mean error of |t|^p over |t| <= reach on intervals of length a."""
        if p <= 2:  # largest at t = 0: fact (i) of radial.py in d = 1
            return (a / 2) ** p / (p + 1)
        upper, lower = (
            reach + a / 2,
            reach - a / 2,
        )  # the second derivative grows with |t|: largest at the far end
        integral = upper ** (p + 1) - np.sign(lower) * np.abs(lower) ** (p + 1)
        return integral / (a * (p + 1)) - reach**p

    # Below a = 1e-4 the subtraction in worst_error loses digits, and the ratio has reached its limit.
    a = SIDE * np.geomspace(1e-4, 1, 400)
    M_b = scale * float(np.max(sum(worst_error(p, r, a) for p, r in zip(powers, far, strict=True)) / a**alpha))
    range_ = scale * float(sum(r**p for p, r in zip(powers, far, strict=True)))
    literal = len(set(powers)) == 1

    def count(eps, a):
        sides = [np.minimum(2 * (eps / scale) ** (1 / p), SIDE) for p in powers]
        return math.prod(np.floor(s / a) + 1 for s in sides)

    if literal:
        C0 = packing_constant(dim, 2 * scale ** (-1 / powers[0]))
    else:
        C0 = packing_constant_of(count, alpha, beta, dim, range_, SIDE, literal=False)
    return on_unit_box(
        dim,
        formula,
        [centre],
        Constants(
            alpha=alpha,  # the roughest coordinate; twice differentiable where p_i >= 2
            beta=beta,  # {f < e} has sides ~ e^(1/p_i)
            M_a=range_,  # the far corner
            M_b=M_b,  # all one-dimensional errors are >= 0 (convexity or p <= 1 at t = 0): their suprema add
            # fact (ii) of radial.py: mean of |t|^p over [0, a] is a^p/(p+1), and a^(p - alpha) is largest at a = A
            mu_min=scale * sum(SIDE ** (p - alpha) / (p + 1) for p in powers),
            A=SIDE,
            C0=C0,
            literal=literal,
            bounds=() if C0 == 1 else ("C0",),
        ),
        centre=centre,
    )


@family(scale=POSITIVE)
def quartic(dim, scale=10.0, centre=None):
    """f(x) = scale sum_i (x_i - c_i)⁴: flatter than a quadratic, alpha = 2 and beta = d/4."""
    return _power_sum("quartic", dim, scale, centre, (4.0,) * dim)


@family(scale=POSITIVE)
def mixed_powers(dim, scale=10.0, centre=None, powers=(1.0, 2.0, 3.0)):
    """f(x) = scale sum_i |x_i - c_i|^(p_i): alpha = min(2, p_i) and beta = sum_i 1/p_i under (c')."""
    where = f"mixed_powers(dim={dim})"
    if powers == (1.0, 2.0, 3.0):
        powers = tuple(powers[i % 3] for i in range(dim))
    powers = vector(where, "powers", powers, dim)
    if min(powers) <= 0 or max(powers) > 8:
        near = tuple(min(max(p, 0.5), 8.0) for p in powers)
        raise InvalidChoice(f"{where}: powers = {powers} must lie in (0, 8]; a valid choice near it is {near}")
    cost = _power_sum(where, dim, scale, centre, powers)
    cost.parameters["powers"] = powers
    return cost


TERMS = 28  # of the series of weierstrass: rough down to 3^-28, about 4e-14; below that it is smooth


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
    for a in np.array_split(np.geomspace(3.0 ** (4 - TERMS), 1, 40 * (TERMS - 4)), 24):
        phase = np.outer(a, 3.0**n)
        error = np.where(phase < 1e-3, (np.pi * phase) ** 2 / 6, 1 - np.sinc(phase))
        M_b = max(M_b, np.max(error @ weights / a**gamma))
        for v in np.linspace(0, 0.5, 65):
            wave = 2 * np.sin(np.pi * v * phase) ** 2
            mu = max(mu, np.max((wave + (1 - wave) * error) @ weights / a**gamma))
    return float(M_b), float(mu)


@family(scale=POSITIVE, exponent=Range(0.0, 2.0, open_low=True, open_high=True))
def weierstrass(dim, scale=4.0, centre=None, exponent=1.0):
    """f(x) = scale sum_i sum_n 3^(-γn) (1 - cos(π 3ⁿ (x_i - c_i))): rough everywhere, alpha = γ and beta = d/γ."""
    centre = inside("weierstrass", centre, dim)
    ratio = 3.0**-exponent

    def formula(x):
        total = 0.0 * x[0]
        for i in range(dim):
            # s_n = 1 - cos(pi 3^n t) obeys s_(n+1) = s_n (3 - 2 s_n)^2, the triple-angle formula: one sine is enough.
            s = 2 * np.sin(0.5 * np.pi * (x[i] - centre[i])) ** 2
            weight = scale
            for _ in range(TERMS):
                total = total + weight * s
                s = np.minimum(2.0, s * (3 - 2 * s) ** 2)  # 2 repels: rounding errors above it would grow ninefold
                weight = weight * ratio
        return total

    period = 2.0
    M_b, bias = _weierstrass_constants(exponent)
    peak = 2 * scale * (1 - ratio**TERMS) / (1 - ratio)  # half a period from c every cosine is -1
    spare = min(1 - abs(c) for c in centre)

    def count(eps, a):
        # For 1/6 <= 3^n |y| <= 1/2 the n-th term is 3^(-gamma n) (1 - cos(pi/3)) or more: W(y) >= (2|y|)^gamma / 2
        width = np.minimum(period * (2 * eps / scale) ** (1 / exponent), SIDE)
        wrapped = width / 2 > spare  # then the sublevel set of a neighbouring period enters the box
        return (np.floor(width / a) + 1 + wrapped) ** dim

    beta = dim / exponent
    return on_unit_box(
        dim,
        formula,
        [centre],
        Constants(
            alpha=exponent,
            beta=beta,  # W(y) lies between two multiples of |y|^gamma
            M_a=peak * dim,  # the box is a whole period long
            M_b=scale * dim * M_b / period**exponent,
            mu_min=scale * dim * bias / period**exponent,
            A=SIDE,
            C0=packing_constant_of(count, exponent, beta, dim, peak * dim, SIDE, literal=True),
            bounds=("C0",),
        ),
        centre=centre,
    )


def _product_constant(dim, measured):
    """C0 of a sum of equal profiles: measured up to d = 3, beyond by (C (1+y))^d <= C^d 2^(d-1) (1 + y^d)."""
    return measured[dim - 1] if dim <= len(measured) else measured[0] ** dim * 2 ** (dim - 1)


def _same_profile(dim, formula, lower, upper, minimum, minimisers, constants, **parameters):
    """A sum over coordinates on the cube [lower, upper]^d."""
    return Cost(
        name="",
        dim=dim,
        formula=formula,
        lower=np.full(dim, lower),
        upper=np.full(dim, upper),
        minimum=minimum,
        minimisers=minimisers,
        constants=constants,
        parameters=parameters,
    )


@family(scale=POSITIVE)
def sine(dim, scale=1.0):
    """f(x) = scale sum_i sin x_i on [2, 2 + 2π]^d: one minimiser, 3π/2, alpha = 2 and beta = d/2."""

    def formula(x):
        s = np.sin(x[0])
        for i in range(1, dim):
            s = s + np.sin(x[i])
        return scale * s

    return _same_profile(
        dim,
        formula,
        2.0,
        2.0 + 2 * math.pi,
        -dim * scale,
        [[1.5 * math.pi] * dim],
        Constants(
            alpha=2.0,
            beta=dim / 2,  # f - f* = sum 1 - cos t_i, a quadratic near t = 0
            M_a=2.0 * dim * scale,  # sin = 1 at 5 pi/2
            M_b=scale * dim / 24,  # mean error = sin x (sinc - 1), and 1 - sin(a/2)/(a/2) <= a^2/24, sharp as a -> 0
            mu_min=scale * dim / 6,  # 1 - cos t <= t^2/2, whose mean over [0, a] is a^2/6, sharp as a -> 0
            A=2 * math.pi,
            C0=_product_constant(dim, SINE_C0) * max(1.0, scale ** (-dim / 2)),
            measured=("C0",),
        ),
    )


SINE_C0 = (4.384, 11.15, 29.57)


@family(scale=POSITIVE)
def rastrigin(dim, scale=1.0, centre=None):
    """f(x) = scale sum_i (t_i² + 10 - 10 cos 2πt_i), t = x - c, on [-5.12, 5.12]^d:
    many local minima, alpha = 2 and beta = d/2."""
    half = 5.12
    centre = generic(dim, 1.5) if centre is None else vector("rastrigin", "centre", centre, dim)
    if max(abs(c) for c in centre) > 4:
        near = tuple(min(max(c, -4.0), 4.0) for c in centre)
        raise InvalidChoice(f"rastrigin: centre = {centre} must lie in [-4, 4]; the nearest valid choice is {near}")

    def formula(x):
        s = 0.0 * x[0]
        for i in range(dim):
            t = x[i] - centre[i]
            s = s + t**2 + 20 * np.sin(np.pi * t) ** 2  # 10 - 10 cos 2 pi t, without cancellation near t = 0
        return scale * s

    reach = half + np.abs(centre)
    t = np.linspace(reach - 1, reach, 20001)  # t^2 grows: the maximum lies in the last period
    M_a = scale * float(np.max(t**2 + 20 * np.sin(np.pi * t) ** 2, axis=0).sum())
    return _same_profile(
        dim,
        formula,
        -half,
        half,
        0.0,
        [centre],
        Constants(
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
        ),
        centre=centre,
    )


RASTRIGIN_C0 = (1.579, 2.151, 3.146)


@family(scale=POSITIVE)
def garland(dim, scale=1.0):
    """f(x) = -scale sum_i x_i (1 - x_i) (4 - sqrt|sin 60 x_i|) on [0, 1]^d: many cusps, alpha = 1/2 and beta = 2d."""
    best = math.pi / 6

    def formula(x):
        s = 0.0 * x[0]
        for i in range(dim):
            s = s - x[i] * (1 - x[i]) * (4 - np.sqrt(np.abs(np.sin(60 * x[i]))))
        return scale * s

    minimum = -4 * best * (1 - best)  # sin 60 x = 0 there: the cusp outweighs the slope of x (1 - x)
    return _same_profile(
        dim,
        formula,
        0.0,
        1.0,
        float(formula(np.full(dim, best))),
        [[best] * dim],
        Constants(
            alpha=0.5,  # sqrt|sin| is Hoelder 1/2
            beta=2.0 * dim,  # f - f* ~ |t|^(1/2) at the best cusp; the runner-up is 0.0011 higher
            M_a=-minimum * dim * scale,  # f = 0 at the ends and f <= 0 between
            M_b=GARLAND_M_b * dim * scale,
            mu_min=GARLAND_mu * dim * scale,
            A=1.0,
            C0=_product_constant(dim, GARLAND_C0) * max(1.0, scale ** (-2.0 * dim)),
            measured=("M_b", "mu_min", "C0"),
        ),
    )


GARLAND_M_b = 0.9108  # at x* as a -> 0, where it is x* (1 - x*) sqrt(60) E|U|^(1/2)
GARLAND_mu = 1.3474  # the interval [x*, x* + 1]
GARLAND_C0 = (3.945, 12.80, 42.7)


RHO = Range(0.0, 1.0, open_low=True, open_high=True)


@family(scale=POSITIVE, rho1=RHO, rho2=Range(0.25, 1.0, open_high=True))
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

    def formula(x):
        total = 0.0 * x[0]
        for i in range(dim):
            u = np.maximum(2 * np.abs(x[i] - centre[i]), 1e-300)
            s = 0.5 + 0.5 * np.sin(np.pi * np.log2(u))
            total = total + u**e2 * (1 - s) + u**e1 * s
        return scale * total

    # Per coordinate, {g < e} reaches out to u ~ e^(1/e1), where 1 - s must stay below e u^(-e2).  Since 1 - s is
    # quadratic at its zeros, the widest piece has length u sqrt(e u^(-e2)) there: e^(1/e1 + (1 - e2/e1)/2) in all.
    # Pieces narrower than a are log(1/e) many, so (c) fails by a logarithm for large a, and (c') holds.
    beta = dim * (1 / e1 + (1 - e2 / e1) / 2)
    u = 2 * np.linspace(np.zeros(dim), np.maximum(centre, 1 - np.array(centre)), 200_001)[1:]
    swing = 0.5 + 0.5 * np.sin(np.pi * np.log2(u))
    M_a = scale * float(np.max(u**e2 * (1 - swing) + u**e1 * swing, axis=0).sum())
    cost = _same_profile(
        dim,
        formula,
        0.0,
        1.0,
        float(formula(np.array(centre))),  # not 0 but below 1e-200, where the logarithm is cut off
        [centre],
        Constants(
            alpha=e2,  # between the envelopes u^e1 and u^e2 with slopes ~ u^(e2 - 1)
            beta=beta,
            M_a=M_a,  # the largest value of an explicit function of one variable, per coordinate
            M_b=0.7026 * dim * scale,
            mu_min=1.2888 * dim * scale,  # the interval [c, c + 1]
            A=1.0,
            C0=_product_constant(dim, DOUBLE_SINE_C0) * max(1.0, scale**-beta),
            literal=False,
            measured=("M_b", "mu_min", "C0"),
        ),
        centre=centre,
    )
    if (rho1, rho2) == (0.25, 0.5):
        return cost
    from .audit import remeasured

    return remeasured(cost, ("M_b", "mu_min", "C0"))  # the literals above belong to the default rates


DOUBLE_SINE_C0 = (1.459, 1.538, 1.493)
