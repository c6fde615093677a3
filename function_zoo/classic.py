"""Test functions of global optimisation, on the boxes the literature gives them.

Sources: Molga and Smutnicki, "Test functions for optimization needs" (2005); Surjanovic and Bingham, "Virtual
library of simulation experiments" (2013).  Where the literature puts the minimiser at 0, a generic centre c moves it.
Every measured C0 belongs to scale 1 and the default centre; it is large where the box is wide against the wells.
"""

from __future__ import annotations

import math

import numpy as np

from .cost import Constants, centred, on_box
from .cubes import generic
from .registry import SCALE, centre_within, family


@family(dims=(2,), scale=SCALE)
def branin(dim, scale=1.0):
    """f(x) = scale ((x2 - b x1² + c x1 - 6)² + 10 (1 - t) cos x1 + 10) on [-5, 10]×[0, 15]:
    three minimisers, alpha = 2 and beta = 1."""
    b, c, t = 5.1 / (4 * math.pi**2), 5 / math.pi, 1 / (8 * math.pi)

    def formula(x):
        return scale * ((x[1] - b * x[0] ** 2 + c * x[0] - 6) ** 2 + 10 * (1 - t) * np.cos(x[0]) + 10)

    def gap(z):
        odd = 2 * z[2] - 1  # the minimiser has x1 = odd pi
        line = z[1] + (c - 2 * b * math.pi * odd) * z[0] - b * z[0] ** 2
        return scale * (line**2 + 20 * (1 - t) * np.sin(z[0] / 2) ** 2)

    # The square vanishes and the cosine is -1.
    minimisers = [(z, b * z**2 - c * z + 6) for z in (-math.pi, math.pi, 3 * math.pi)]
    return on_box(
        dim,
        formula,
        lower=(-5.0, 0.0),
        upper=(10.0, 15.0),
        minimum=10 * t * scale,
        minimisers=minimisers,
        constants=Constants(
            alpha=2.0,
            beta=1.0,  # positive definite Hessian at all three minimisers
            M_a=float(formula(np.array([-5.0, 0.0]))) - 10 * t * scale,  # found in this corner
            M_b=scale * 1.2609,  # near (-3.56, 0), as a -> 0
            mu_min=scale * 7.2263,  # a = 15, to the left of the first minimiser
            A=15.0,
            C0=4.376 * max(1.0, 1 / scale),
            measured=("M_a", "M_b", "mu_min", "C0"),
        ),
        gap=gap,
        anchored=True,
    )


@family(dims=(2,), scale=SCALE)
def himmelblau(dim, scale=1.0):
    """f(x) = scale ((x1² + x2 - 11)² + (x1 + x2² - 7)²) on [-5, 5]²: four minimisers, alpha = 2 and beta = 1."""

    def formula(x):
        return scale * ((x[0] ** 2 + x[1] - 11) ** 2 + (x[0] + x[1] ** 2 - 7) ** 2)

    minimisers = (
        (3.0, 2.0),
        (-2.8051180869527448, 3.1313125182505730),
        (-3.7793102533777469, -3.2831859912861694),
        (3.5844283403304917, -1.8481265269644034),
    )

    def gap(z):  # both brackets vanish at the minimiser (x, y)
        x = 0.0 * z[2]
        y = 0.0 * z[2]
        for k in range(4):
            x = x + (z[2] == k) * minimisers[k][0]
            y = y + (z[2] == k) * minimisers[k][1]
        return scale * ((2 * x * z[0] + z[0] ** 2 + z[1]) ** 2 + (z[0] + 2 * y * z[1] + z[1] ** 2) ** 2)

    return on_box(
        dim,
        formula,
        lower=-5.0,
        upper=5.0,
        minimum=0.0,
        minimisers=minimisers,
        constants=Constants(
            alpha=2.0,
            beta=1.0,  # positive definite Hessian at all four minimisers
            M_a=scale * 890.0,  # at (5, 5), where both brackets are largest: 19² + 23²
            # The mean error is a^2 Laplacian/24 + a^4/40; the Laplacian 12 |x|^2 + 4 (x1 + x2) - 68 is 572 at (5, 5).
            M_b=scale * (572 / 24 + 100 / 40),
            mu_min=scale * 130.979,  # a = 10, beyond the third minimiser
            A=10.0,
            C0=4.0 * max(1.0, 1 / scale),
            measured=("mu_min", "C0"),
        ),
        gap=gap,
        anchored=True,
    )


@family(dims=(2,), scale=SCALE)
def six_hump_camel(dim, scale=1.0):
    """f(x) = scale ((4 - 2.1 x1² + x1⁴/3) x1² + x1 x2 + 4 (x2² - 1) x2²) on [-3, 3]×[-2, 2]:
    two minimisers, alpha = 2 and beta = 1."""

    def formula(x):
        p = x[0] ** 2
        q = x[1] ** 2
        return scale * ((4 - 2.1 * p + p**2 / 3) * p + x[0] * x[1] + 4 * (q - 1) * q)

    best = (0.08984201310031806, -0.7126564030207396)
    x, y = best
    # Taylor's polynomial at the first minimiser, where the gradient is 0; f is even, so the second is its mirror image.
    x2, x3, x4 = 4 - 12.6 * x**2 + 5 * x**4, -8.4 * x + 20 * x**3 / 3, -2.1 + 5 * x**2
    y2, y3 = 24 * y**2 - 4, 16 * y

    def gap(z):
        u = (1 - 2 * z[2]) * z[0]
        v = (1 - 2 * z[2]) * z[1]
        along = u**2 * (x2 + u * (x3 + u * (x4 + u * (2 * x + u / 3))))
        return scale * (along + u * v + v**2 * (y2 + v * (y3 + 4 * v)))

    # The product x1 x2 has no mean error; with E u^2 = a^2/12, E u^4 = a^4/80, E u^6 = a^6/448 the rest is a^2 times
    # 1/3 - 2.1 (p/2 + a^2/80) + (5 p^2/12 + p a^2/16 + a^4/1344) - 1/3 + 2 q + a^2/20,  largest at p = 9, q = 4, a = 6.
    M_b = -2.1 * (9 / 2 + 36 / 80) + 5 * 81 / 12 + 9 * 36 / 16 + 36**2 / 1344 + 8 + 36 / 20
    minimum = float(formula(np.array(best))) / scale
    return on_box(
        dim,
        formula,
        lower=(-3.0, -2.0),
        upper=(3.0, 2.0),
        minimum=minimum * scale,
        minimisers=[best, (-best[0], -best[1])],
        constants=Constants(
            alpha=2.0,
            beta=1.0,  # positive definite Hessian at both minimisers
            M_a=scale * (162.9 - minimum),  # at (3, 2) and (-3, -2): every part is largest there
            M_b=scale * M_b,
            mu_min=scale * 101.912,  # a = 6, beyond either minimiser
            A=6.0,
            C0=2.406 * max(1.0, 1 / scale),
            measured=("mu_min", "C0"),
        ),
        gap=gap,
        anchored=True,
    )


@family(dims=(1, 2, 3), scale=SCALE)
def griewank(dim, scale=1.0, centre=None):
    """f(x) = scale (1 + |t|²/4000 - prod_i cos(t_i/√i)), t = x - c, on [-10, 10]^d:
    near-ties, alpha = 2 and beta = d/2."""
    half = 10.0
    centre = centre_within("griewank", centre, dim=dim, half=5.0, default=generic(dim, 3.0))
    roots = tuple(math.sqrt(i + 1) for i in range(dim))

    def formula(x):
        s = (x[0] - centre[0]) ** 2
        product = np.cos(x[0] - centre[0])
        for i in range(1, dim):
            s = s + (x[i] - centre[i]) ** 2
            product = product * np.cos((x[i] - centre[i]) / roots[i])
        return scale * (1 + s / 4000 - product)

    def gap(z):
        s = 0.0 * z[0]
        fall = 0.0 * z[0]  # 1 - the product so far, without cancellation near 0
        for i in range(dim):
            one = 2 * np.sin(z[i] / (2 * roots[i])) ** 2
            s = s + z[i] ** 2
            fall = fall + one - fall * one
        return scale * (s / 4000 + fall)

    shares = sum(1 / i for i in range(1, dim + 1))
    constants = Constants(
        alpha=2.0,
        beta=dim / 2,  # quadratic at c
        M_a=scale * (2 + sum((half + abs(c)) ** 2 for c in centre) / 4000),
        # mean error = d a^2/48000 + prod cos (1 - prod sinc); 1 - prod sinc <= sum (1 - sinc) <= a^2 sum 1/(24 i)
        M_b=scale * (dim / 48000 + shares / 24),
        # 1 - prod cos y_i <= sum (1 - cos y_i) <= sum y_i^2/2, whose mean over [0, a] is a sixth; sharp as a -> 0
        mu_min=scale * (dim / 12000 + shares / 6),
        A=2 * half,
        C0=(13.38, 215.5, 2756.0)[dim - 1] * max(1.0, scale ** (-dim / 2)),
        bounds=("M_a",),
        measured=("C0",),
    )
    return on_box(
        dim,
        formula,
        lower=-half,
        upper=half,
        minimum=0.0,
        minimisers=[centre],
        constants=constants,
        gap=gap,
        centre=centre,
    )


@family(dims=(1, 2, 3), scale=SCALE)
def ackley(dim, scale=1.0, centre=None):
    """f(x) = scale (20 + e - 20 exp(-|t|/(5√d)) - exp(mean cos 2πt_i)), t = x - c, on
    [-32.768, 32.768]^d: a cone at c, alpha = 1 and beta = d."""
    half = 32.768
    centre = centre_within("ackley", centre, dim=dim, half=16.0, default=generic(dim, 9.6))
    root = math.sqrt(dim)

    def about(centre):
        def formula(x):
            s = 0.0 * x[0]
            waves = 0.0 * x[0]
            for i in range(dim):
                t = x[i] - centre[i]
                s = s + t**2
                waves = waves - 2 * np.sin(np.pi * t) ** 2  # cos 2 pi t - 1, without cancellation near t = 0
            return scale * (-20 * np.expm1(-0.2 * np.sqrt(s) / root) - math.e * np.expm1(waves / dim))

        return formula

    slope = (2.5390, 2.7473, 2.8188)[dim - 1]
    far = math.sqrt(sum((half + abs(c)) ** 2 for c in centre)) / root
    constants = Constants(
        alpha=1.0,  # Lipschitz, and like a cone of slope 4/sqrt(d) at c
        beta=float(dim),  # f >= 20 (1 - exp(-|t|/(5 sqrt d))) grows linearly at c
        M_a=scale * (20 * (1 - math.exp(-0.2 * far)) + math.e - 1 / math.e),
        M_b=scale * slope,  # at c, for a about 0.7: cone and wave together
        mu_min=2 * scale * slope,  # f is even in every t_i: [0, a]^d has the mean of the centred cube of length 2 a
        A=2 * half,
        C0=(2.951, 10.07, 37.46)[dim - 1] * max(1.0, scale**-dim),
        bounds=("M_a",),
        measured=("M_b", "mu_min", "C0"),
    )
    return centred(centre, half, about, constants)
