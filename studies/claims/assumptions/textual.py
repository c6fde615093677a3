"""Costs that the paper describes in words, and costs that are rough where it says that this does not matter."""

from __future__ import annotations

import math

import numpy as np

import function_zoo as zoo

RIPPLED_FROM = 5.0  # the gap from which on a rippled bowl jumps
SPIKE = 1.0  # height of the spikes of a spiked bowl
SPIKES_APART = 2.0**-10
SCALE = 10.0  # of the bowls, as in the paper's f1


def generic(dim) -> tuple[float, ...]:
    """A centre at no round or dyadic place: that of the zoo's cones."""
    return tuple(zoo.get("cone", dim).minimisers[0].tolist())


def _known(dim, M_b, mu_min, A):
    return {"alpha": 2.0, "beta": dim / 2, "M_b": M_b, "mu_min": mu_min, "A": A}


def _made(name, f, dim, known):
    centre = generic(dim)
    return zoo.cost(f, -1.0, 1.0, 0.0, name, known, [centre], dim=dim)


def log_cosh_bowl(dim):
    """|t|² + sum of ln cosh t_i, t = x - x*: second derivatives between 2 and 3."""
    c = generic(dim)

    def f(x):
        s = 0.0 * x[0]
        for i in range(dim):
            t = x[i] - c[i]
            s = s + t**2 + np.log(np.cosh(t))
        return s

    return _made("log_cosh_bowl", f, dim, _known(dim, 3 * dim / 24, dim / 2, 1.0))


def skewed_bowl(dim=2):
    """2 t1² + 1.8 t1 t2 + t2²: strongly convex, its axes neither equal nor along the coordinates."""
    c = generic(2)

    def f(x):
        t, u = x[0] - c[0], x[1] - c[1]
        return 2 * t**2 + 1.8 * t * u + u**2

    return _made("skewed_bowl", f, 2, _known(2, 6 / 24, 2 / 3 + 1 / 3 + 1.8 / 4, 1.0))


def fourth_power_bowl(dim):
    """|t|² + |t|⁴."""
    c = generic(dim)

    def f(x):
        s = 0.0 * x[0]
        for i in range(dim):
            s = s + (x[i] - c[i]) ** 2
        return s + s**2

    farthest = sum((1.5 + abs(t)) ** 2 for t in c)  # cubes of length A reach 1/2 beyond the box
    second = sum(2 + 4 * farthest + 8 * (1.5 + abs(t)) ** 2 for t in c)
    return _made("fourth_power_bowl", f, dim, _known(dim, second / 24, second / 6, 1.0))


def cosine_bowl(dim):
    """The sum of 2 (1 - cos t_i) = t_i² - t_i⁴/12 + ..."""
    c = generic(dim)

    def f(x):
        s = 0.0 * x[0]
        for i in range(dim):
            s = s + 4 * np.sin((x[i] - c[i]) / 2) ** 2
        return s

    return _made("cosine_bowl", f, dim, _known(dim, dim / 12, dim / 3, 1.0))


def falling_bowl(dim):
    """The sum of t_i² - 0.3 t_i⁴: not convex, and lower again at the far end of the box."""
    c = generic(dim)

    def f(x):
        s = 0.0 * x[0]
        for i in range(dim):
            t = x[i] - c[i]
            s = s + t**2 - 0.3 * t**4
        return s

    reach = max(1.05 + abs(t) for t in c)
    second = dim * max(2.0, 3.6 * reach**2 - 2)
    return _made("falling_bowl", f, dim, _known(dim, second / 24, dim / 3, 0.1))


def wavering_bowl():
    """x² (1.5 + 0.5 sgn sin(1/x)), moved to x*: between x² and 2 x², with jumps that pile up at x*."""
    c = generic(1)[0]

    def f(x):
        t = x[0] - c
        apart = np.where(t == 0.0, 1.0, t)
        return t**2 * (1.5 + 0.5 * np.sign(np.sin(1 / apart)))

    return _made("wavering_bowl", f, 1, _known(1, 1.0, 2 / 3, 1.0))


def rough_bowls() -> dict:
    """A bowl in d = 1, and the same with (b) broken only where f - f* is large: by jumps, and by single points.

    One name for all three: runs with equal values of f then share their random numbers.
    """
    plain = zoo.get("quadratic", dim=1)
    c = float(plain.minimisers[0, 0])

    def bowl(x):
        return SCALE * (x[0] - c) ** 2

    def rippled(x):
        y = SCALE * (x[0] - c) ** 2
        return y + 0.5 * y * (y > RIPPLED_FROM) * (1 + np.sign(np.sin(200 * x[0])))

    def spiked(x):
        place = x[0] / SPIKES_APART
        return SCALE * (x[0] - c) ** 2 + SPIKE * (np.floor(place) == place)

    known = _known(1, SCALE / 12, SCALE / 3, 2.0)
    twice = known | {"M_b": 2 * known["M_b"], "mu_min": 2 * known["mu_min"]}  # no ripple exceeds twice the bowl
    made = {"plain": (bowl, known), "rippled": (rippled, twice), "spiked": (spiked, known)}
    return {
        label: zoo.cost(f, -1.0, 1.0, 0.0, "bowl", constants | {"M_a": 2 * SCALE * (1 + abs(c)) ** 2}, [[c]])
        for label, (f, constants) in made.items()
    }


STRONGLY_CONVEX, NEARLY_QUADRATIC, CONES, SINE = "5", "7", "6", "8"


def examples(dims) -> list[tuple[str, str, zoo.Cost]]:
    """(claim, label, cost): what the paper says has known exponents."""
    found = []
    for d in dims:
        found += [(STRONGLY_CONVEX, "quadratic", zoo.get("quadratic", dim=d))]
        found += [(STRONGLY_CONVEX, "log_cosh_bowl", log_cosh_bowl(d))]
        found += [(CONES, name, zoo.get(name, dim=d)) for name in ("cone", "twin_cone")]
        found += [(NEARLY_QUADRATIC, make.__name__, make(d)) for make in (fourth_power_bowl, cosine_bowl, falling_bowl)]
        if d == 2:
            found += [(STRONGLY_CONVEX, "skewed_bowl", skewed_bowl())]
    return [*found, (SINE, "sine", zoo.get("sine", dim=1))]


# Bounds on M_b in closed form


def lipschitz(cost) -> float | None:
    """A Lipschitz constant in the Euclidean norm, valid everywhere."""
    scale = cost.parameters.get("scale", 1.0)
    power = cost.parameters.get("power", 1.0)
    if cost.name in ("cone", "twin_cone", "ring_cone") or (cost.name in ("plateau", "valley") and power == 1.0):
        return scale
    if cost.name == "ackley":  # slopes of 20 (1 - exp(-r/5)), r = |t|/sqrt(d), and of e - exp(mean of cosines)
        return scale * (4 + 2 * math.pi * math.e) / math.sqrt(cost.dim)
    return None


def second_derivatives(cost) -> tuple[float, np.ndarray, np.ndarray] | None:
    """The sum over i of sup |∂ii f| on the box and A/2 beyond; points of the box, and ∂ii f there, both (n, d)."""
    make = _SECOND.get(cost.name)
    if make is None:
        return None
    scale = cost.parameters.get("scale", 1.0)
    points = np.random.default_rng(0).uniform(cost.lower, cost.upper, (4096, cost.dim))
    corners = np.stack(np.meshgrid(*zip(cost.lower, cost.upper, strict=True), indexing="ij"), -1).reshape(-1, cost.dim)
    points = np.vstack([points, corners, cost.minimisers])
    total, at = make(cost, cost.margin / 2)
    return scale * total, points, scale * at(points)


def _quadratic(cost, beyond):
    return 2.0 * cost.dim, lambda X: np.full_like(X, 2.0)


def _quartic(cost, beyond):
    c = cost.minimisers[0]
    return 12 * float(np.sum((1 + beyond + np.abs(c)) ** 2)), lambda X: 12 * (X - c) ** 2


def _sine(cost, beyond):
    return float(cost.dim), lambda X: -np.sin(X)


def _rastrigin(cost, beyond):
    c = cost.minimisers[0]
    return cost.dim * (2 + 40 * math.pi**2), lambda X: 2 + 40 * math.pi**2 * np.cos(2 * math.pi * (X - c))


def _griewank(cost, beyond):
    c, i = cost.minimisers[0], np.arange(1, cost.dim + 1)

    def at(X):
        return 1 / 2000 + np.prod(np.cos((X - c) / np.sqrt(i)), axis=1, keepdims=True) / i

    return float(np.sum(1 / 2000 + 1 / i)), at


def _himmelblau(cost, beyond):
    r = 5 + beyond

    def at(X):
        x, y = X.T
        return np.stack([12 * x**2 + 4 * y - 42, 12 * y**2 + 4 * x - 26], axis=1)

    return (12 * r**2 + 4 * r - 42) + (12 * r**2 + 4 * r - 26), at


def _camel(cost, beyond):
    p, q = (3 + beyond) ** 2, (2 + beyond) ** 2

    def at(X):
        x, y = X.T
        return np.stack([8 - 25.2 * x**2 + 10 * x**4, 48 * y**2 - 8], axis=1)

    return (10 * p**2 - 25.2 * p + 8) + (48 * q - 8), at  # p and q are beyond the turning points 1.26 and 0


def _ring(cost, beyond):
    c, r = np.asarray(cost.parameters["centre"]), cost.parameters["radius"]
    far = (1 + beyond + np.abs(c)) ** 2

    def at(X):
        t = (X - c) ** 2
        return 8 * t + 4 * (t.sum(axis=1, keepdims=True) - r**2)

    return float(np.sum(np.maximum(8 * far + 4 * (far.sum() - r**2), 4 * r**2))), at


_SECOND = {
    "quadratic": _quadratic,
    "quartic": _quartic,
    "sine": _sine,
    "rastrigin": _rastrigin,
    "griewank": _griewank,
    "himmelblau": _himmelblau,
    "six_hump_camel": _camel,
    "ring": _ring,
}
