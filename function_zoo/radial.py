"""Costs that depend on a Euclidean or sup-norm distance: powers, several cones, rings, plateaus, valleys.

Three facts carry most constants.  U is uniform on the unit cube, centred for M_b and [0, 1]^d for mu_min.

(i)   For 0 < p <= 2,  0 <= |v+u|^p + |v-u|^p - 2|v|^p <= 2|u|^p  when p >= 1, and the absolute value is bounded by
      2|u|^p when p < 1: by concavity of t^(p/2), |v+u|^p + |v-u|^p <= 2 (|v|^2 + |u|^2)^(p/2) <= 2|v|^p + 2|u|^p;
      for p <= 1 use | |v+u|^p - |v|^p | <= |u|^p.  Averaged over a cube this is M_b = scale E|U|^p, attained at v = 0.
(ii)  |U - s| is stochastically largest at s = 0 or 1 for U uniform on [0, 1] and s in [0, 1].  So if f grows with
      every |x_i - c_i|, the worst cube that contains c has c in a corner.
(iii) A sublevel set inside an open cube of side s holds at most ceil(s/a)^d points at sup-distance >= a.
"""

from __future__ import annotations

import itertools
import math

import numpy as np

from .cost import Constants, centred, on_box
from .cubes import generic, norm_moment, packing_constant, packing_constant_of
from .registry import POWER, SCALE, InvalidChoice, OneOf, Range, family, vector

SIDE = 2.0  # of the box [-1, 1]^d; also the margin A, so that a cell as long as the box may start anywhere


def inside(where, centre, *, dim, room=0.0, scale=0.75):
    """The centre as a tuple, strictly inside the box with `room` to spare."""
    centre = generic(dim, scale) if centre is None else vector(where, "centre", centre, dim)
    far = max(abs(c) for c in centre)
    if far + room >= 1:
        clipped = tuple(round(math.copysign(min(abs(c), 0.99 * (1 - room)), c), 4) for c in centre)
        raise InvalidChoice(
            f"{where}: centre = {centre} must stay {room:g} inside the box [-1, 1]; a valid choice near it is {clipped}"
        )
    return centre


def on_unit_box(dim, formula, minimisers, constants, **parameters):
    return on_box(
        dim, formula, lower=-1.0, upper=1.0, minimum=0.0, minimisers=minimisers, constants=constants, **parameters
    )


def farthest(centre):
    """The largest |x_i - c_i| on [-1, 1], per coordinate: at the far corner."""
    return np.array([1 + abs(c) for c in centre])


def directions(dim, count=24):
    """Unit vectors: both ends of each axis, the diagonals of the first three axes, and a spiral of generic ones."""
    if dim == 1:
        return np.array([[1.0], [-1.0]])
    axes = np.vstack([np.eye(dim), -np.eye(dim)])
    diagonals = np.array([signs + (1.0,) * (dim - 3) for signs in itertools.product((1.0, -1.0), repeat=min(dim, 3))])
    spiral = np.random.default_rng(dim).standard_normal((count, dim))
    every = np.vstack([axes, diagonals, spiral])
    return every / np.linalg.norm(every, axis=1, keepdims=True)


def _norm_power(where, dim, *, scale, centre, power, active=None):
    """scale |y|_2^power with y the first `active` coordinates of x - c (default: all)."""
    centre = inside(where, centre, dim=dim)
    active = dim if active is None else active
    flat = dim - active

    def about(centre):
        def formula(x):
            s = (x[0] - centre[0]) ** 2
            for i in range(1, active):
                s = s + (x[i] - centre[i]) ** 2
            if power == 2.0:
                return scale * s
            if power == 1.0:
                return scale * np.sqrt(s)
            return scale * s ** (power / 2)

        return formula

    minimisers = np.array([centre])
    if flat:  # the minimisers fill a slab; a few generic members
        minimisers = np.repeat(minimisers, 8, axis=0)
        minimisers[1:, active:] = np.random.default_rng(dim).uniform(-1, 1, (7, flat))
    moment = norm_moment(active, power)
    return on_unit_box(
        dim,
        about(centre),
        minimisers,
        Constants(
            alpha=power,  # fact (i); at the minimiser the mean error is exactly of this order
            beta=active / power,  # {f < e} is a ball of radius (e/scale)^(1/power), times the flat directions
            M_a=scale * float(np.linalg.norm(farthest(centre)[:active])) ** power,  # the far corner
            M_b=scale * 2**-power * moment,  # fact (i), attained at the minimiser
            mu_min=scale * moment,  # fact (ii), for every a
            A=SIDE,
            C0=packing_constant(
                active, 2 * scale ** (-1 / power), flat_dim=flat
            ),  # fact (iii) with s = 2 (e/scale)^(1/power)
            literal=not flat,
        ),
        gap=about((0.0,) * dim),
        separable=power == 2.0,
        centre=centre,
    )


@family(scale=SCALE)
def quadratic(dim, scale=10.0, centre=None):
    """f(x) = scale |x - c|², the paper's f1: strongly convex, alpha = 2 and beta = d/2."""
    return _norm_power("quadratic", dim, scale=scale, centre=centre, power=2.0)


@family(scale=SCALE)
def cone(dim, scale=10.0, centre=None):
    """f(x) = scale |x - c|: alpha = 1 and beta = d."""
    return _norm_power("cone", dim, scale=scale, centre=centre, power=1.0)


@family(scale=SCALE, power=POWER)
def power(dim, scale=10.0, centre=None, power=1.5):
    """f(x) = scale |x - c|^p, 0.1 <= p <= 2: alpha = p and beta = d/p, between the cone and the quadratic."""
    return _norm_power("power", dim, scale=scale, centre=centre, power=power)


@family(dims=range(2, 17), scale=SCALE, power=POWER, active=Range(1, whole=True))
def valley(dim, scale=10.0, centre=None, power=1.0, active=1):
    """f(x) = scale |(x - c)_1..s|^p: flat in d - s coordinates, alpha = p and beta = s/p under (c')."""
    if active >= dim:
        raise InvalidChoice(
            f"valley(dim={dim}): active = {active} leaves no flat direction; the nearest valid choice is {dim - 1}"
        )
    return _norm_power("valley", dim, scale=scale, centre=centre, power=power, active=active)


@family(scale=SCALE, power=Range(0.1, 1.0))
def cusp(dim, scale=10.0, centre=None, power=0.5):
    """f(x) = scale max_i |x_i - c_i|^p, 0.1 <= p <= 1: alpha = p (rough at c) and beta = d/p."""
    centre = inside("cusp", centre, dim=dim)

    def about(centre):
        def formula(x):
            s = np.abs(x[0] - centre[0])
            for i in range(1, dim):
                s = np.maximum(s, np.abs(x[i] - centre[i]))
            if power == 0.5:
                return scale * np.sqrt(s)
            return scale * s**power

        return formula

    # max_i U_i has density d m^(d-1) on [0, 1], so E max_i U_i^p = d / (d + p)
    moment = dim / (dim + power)
    constants = Constants(
        alpha=power,  # | |v+u|^p - |v|^p | <= |u|^p in the sup norm too
        beta=dim / power,  # {f < e} is a cube of half-side (e/scale)^(1/p)
        M_a=scale * float(farthest(centre).max()) ** power,
        M_b=scale * 2**-power * moment,  # attained at c
        mu_min=scale * moment,  # fact (ii)
        A=SIDE,
        C0=packing_constant(dim, 2 * scale ** (-1 / power)),  # fact (iii) with equality
    )
    return centred(centre, 1.0, about, constants)


@family(scale=SCALE)
def twin_cone(dim, scale=10.0, centre=None):
    """f(x) = scale min(|x - c|, |x + c|), the paper's f2: two minimisers, alpha = 1 and beta = d."""
    centre = inside("twin_cone", centre, dim=dim)
    if not any(centre):
        raise InvalidChoice(
            "twin_cone: centre = 0 leaves one cone, not two; the nearest valid choice is a small nonzero centre"
        )

    def formula(x):
        s = (x[0] - centre[0]) ** 2
        t = (x[0] + centre[0]) ** 2
        for i in range(1, dim):
            s = s + (x[i] - centre[i]) ** 2
            t = t + (x[i] + centre[i]) ** 2
        return scale * np.sqrt(np.minimum(s, t))

    def gap(z):
        side = 2 - 4 * z[dim]  # from -c to c, or back, in units of c
        s = z[0] ** 2
        t = (z[0] + side * centre[0]) ** 2
        for i in range(1, dim):
            s = s + z[i] ** 2
            t = t + (z[i] + side * centre[i]) ** 2
        return scale * np.sqrt(np.minimum(s, t))

    moment = norm_moment(dim, 1.0)
    return on_unit_box(
        dim,
        formula,
        [centre, [-c for c in centre]],
        Constants(
            alpha=1.0,  # |f(x+u) - f(x)| <= scale |u|
            beta=float(dim),  # {f < e} is two balls of radius e/scale
            M_a=scale * _twin_range(centre),
            M_b=scale * moment / 2,  # |f(x+u) - f(x)| <= scale |u|, attained at c by small cubes
            mu_min=scale * moment,  # f <= scale |x - c|, with equality near c, and fact (ii)
            A=SIDE,
            C0=packing_constant(dim, 2 / scale, count=2),
        ),
        gap=gap,
        anchored=True,
        centre=centre,
    )


def _twin_range(centre):
    """max over the box of min(|x - c|, |x + c|).

    By symmetry x.c >= 0, where the nearer minimiser is c.  |x - c| is convex, so its maximum over that half of the
    box is at a vertex: a corner of the box, or the point where an edge of the box crosses the plane x.c = 0.
    """
    c = np.asarray(centre)
    dim = len(c)
    corners = np.array(list(itertools.product((-1.0, 1.0), repeat=dim)))
    vertices = [corners[corners @ c >= 0]]
    for i in np.flatnonzero(c):
        crossing = corners[corners[:, i] > 0].copy()
        crossing[:, i] = -(crossing @ c - crossing[:, i] * c[i]) / c[i]
        vertices.append(crossing[np.abs(crossing[:, i]) <= 1])
    return float(max(np.linalg.norm(v - c, axis=1).max() for v in vertices if len(v)))


def _shell_constant(dim, radii, *, alpha, beta, scale_range):
    """C0 for shells r_in(e) < |x| < r_out(e): under (c') for d >= 2, for the two intervals of d = 1 under (c).

    Cubes of side a around the packing points are disjoint and reach at most a sqrt(d)/2 out of the shell, and at
    most a/2 out of the box: compare volumes.
    """
    unit_ball = math.pi ** (dim / 2) / math.gamma(dim / 2 + 1)

    def count(eps, a):
        r_in, r_out = radii(eps)
        if dim == 1:  # two intervals, or one where they meet
            return np.minimum(2 * ((r_out - r_in) / a + 1), SIDE / a + 1)
        reach = a * math.sqrt(dim) / 2
        shell = unit_ball * ((r_out + reach) ** dim - np.maximum(r_in - reach, 0) ** dim)
        return np.minimum(shell, (SIDE + a) ** dim) / a**dim

    return packing_constant_of(
        count, alpha, beta=beta, dim=dim, range_=scale_range, length=SIDE, literal=dim == 1, least=2 if dim == 1 else 1
    )


RADIUS = Range(0.05, 0.95)


@family(scale=SCALE, radius=RADIUS)
def ring(dim, scale=10.0, centre=None, radius=0.6180339887):
    """f(x) = scale (|x - c|² - r²)²: smooth, minimal on a sphere, alpha = 2 and beta = 1/2 under (c')."""
    centre = inside("ring", centre, dim=dim, room=radius, scale=0.2)

    def formula(x):
        s = (x[0] - centre[0]) ** 2
        for i in range(1, dim):
            s = s + (x[i] - centre[i]) ** 2
        return scale * (s - radius**2) ** 2

    def gap(z):
        w = (1 - 2 * z[1]) * z[0]  # outwards from c + r or c - r
        return scale * (w * (2 * radius + w)) ** 2

    # With S = |x - c|^2 and u uniform on the centred cube of length a, E u_i^2 = a^2/12 and E u_i^4 = a^4/80, so
    # mean error = scale a^2 e(S, a) with e = ((d+2) S - d r^2)/6 + a^2 q, where q = d/80 + d(d-1)/144.
    q = dim / 80 + dim * (dim - 1) / 144
    S_far = float(np.sum(farthest(centre) ** 2))
    range_ = scale * max(radius**4, (S_far - radius**2) ** 2)
    # Farthest from the sphere: the cube starts at c + r (1, ..., 1)/sqrt(d) and points outwards.  S is then largest,
    # and f(centre of the cube) and e(S, a) both grow with S and a.
    S_cube = (radius + SIDE * math.sqrt(dim) / 2) ** 2

    def radii(eps):
        w = np.sqrt(eps / scale)
        return np.sqrt(np.maximum(radius**2 - w, 0)), np.sqrt(radius**2 + w)

    return on_unit_box(
        dim,
        formula,
        np.array(centre) + radius * directions(dim),
        Constants(
            alpha=2.0,  # a polynomial
            beta=0.5,  # {f < e} is a shell of width ~ e^(1/2)
            M_a=range_,  # the far corner or the centre
            M_b=scale * max(((dim + 2) * S_far - dim * radius**2) / 6 + SIDE**2 * q, dim * radius**2 / 6),
            mu_min=scale
            * ((S_cube - radius**2) ** 2 / SIDE**2 + ((dim + 2) * S_cube - dim * radius**2) / 6 + SIDE**2 * q),
            A=SIDE,
            C0=_shell_constant(dim, radii, alpha=2.0, beta=0.5, scale_range=range_),
            literal=dim == 1,
        ),
        gap=gap if dim == 1 else None,  # on a sphere no few minimisers are near all others
        anchored=dim == 1,
        centre=centre,
    )


@family(scale=SCALE, radius=RADIUS)
def ring_cone(dim, scale=10.0, centre=None, radius=0.6180339887):
    """f(x) = scale | |x - c| - r |: a gutter along a sphere, alpha = 1 and beta = 1 under (c')."""
    centre = inside("ring_cone", centre, dim=dim, room=radius, scale=0.2)

    def formula(x):
        s = (x[0] - centre[0]) ** 2
        for i in range(1, dim):
            s = s + (x[i] - centre[i]) ** 2
        return scale * np.abs(np.sqrt(s) - radius)

    def gap(z):
        w = (1 - 2 * z[1]) * z[0]  # outwards from c + r or c - r
        return scale * np.minimum(np.abs(w), np.abs(w + 2 * radius))

    moment = norm_moment(dim, 1.0)
    range_ = scale * max(radius, float(np.linalg.norm(farthest(centre))) - radius)

    def radii(eps):
        return np.maximum(radius - eps / scale, 0), radius + eps / scale

    return on_unit_box(
        dim,
        formula,
        np.array(centre) + radius * directions(dim),
        Constants(
            alpha=1.0,  # |f(x+u) - f(x)| <= scale |u|
            beta=1.0,  # {f < e} is a shell of width 2 e/scale
            M_a=range_,
            M_b=scale * moment / 2,  # |f(x+u) - f(x)| <= scale |u|, attained at c by small cubes
            mu_min=scale * moment,  # f(x) <= scale |x - x*| for every minimiser x*, and fact (ii); d = 1: equality
            A=SIDE,
            C0=_shell_constant(dim, radii, alpha=1.0, beta=1.0, scale_range=range_),
            literal=dim == 1,
            bounds=() if dim == 1 else ("mu_min",),
        ),
        gap=gap if dim == 1 else None,
        anchored=dim == 1,
        centre=centre,
    )


@family(scale=SCALE, radius=RADIUS, power=OneOf((1.0, 2.0)))
def plateau(dim, scale=10.0, centre=None, radius=0.4142135624, power=1.0):
    """f(x) = scale max(0, |x - c| - r)^p, p = 1 or 2: flat on a ball, alpha = p and beta = 0."""
    centre = inside("plateau", centre, dim=dim, room=radius, scale=0.2)

    def formula(x):
        s = (x[0] - centre[0]) ** 2
        for i in range(1, dim):
            s = s + (x[i] - centre[i]) ** 2
        excess = np.maximum(0.0, np.sqrt(s) - radius)
        if power == 1.0:
            return scale * excess
        return scale * excess**2

    moment = norm_moment(dim, power)
    ball = np.vstack([np.zeros((1, dim)), directions(dim)])
    return on_unit_box(
        dim,
        formula,
        np.array(centre) + radius * (1 - 1e-9) * ball,
        Constants(
            # dist(x, ball)^p.  p = 1: 1-Lipschitz.  p = 2: every second derivative is at most 2.
            alpha=power,
            beta=0.0,  # {f < e} keeps the volume of the ball as e -> 0
            M_a=scale * (float(np.linalg.norm(farthest(centre))) - radius) ** power,
            M_b=scale * 2**-power * moment,  # p = 1: scale E|U|; p = 2: scale 2d/24, the same formula
            mu_min=scale * moment,  # f(x) <= scale |x - x*|^p for every minimiser x*, and fact (ii)
            A=SIDE,
            # For e > M_a the set is the box, with (floor(2/a) + 1)^d points.
            C0=packing_constant(0, 1.0, flat_dim=dim),
            bounds=("M_b",) if dim == 1 else ("M_b", "mu_min"),
        ),
        centre=centre,
    )
