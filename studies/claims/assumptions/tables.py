"""Tables of the experiment on Assumption 1."""

from __future__ import annotations

import math
from fractions import Fraction

import numpy as np

import function_zoo as zoo
from function_zoo.cubes import norm_moment
from studies.claims import exact
from studies.claims.assumptions import boxes, textual

PI = Fraction(314159265358979323846264338327, 10**29)  # from below; ULP above it is from above
ULP = Fraction(1, 10**29)
HALVINGS = 24  # of a, at every jump of the counter-example


def _zoo(dims):
    """Every family in these dimensions, where it exists."""
    for name in zoo.families():
        for dim in dims:
            try:
                yield name, zoo.get(name, dim=dim)
            except zoo.InvalidChoice:
                continue


def own_examples(dims):
    """The examples that are no families of the zoo."""
    for _, label, cost in textual.examples(dims):
        if not cost.registered:
            yield label, cost


def box_table(dims, budget, seed):
    import pandas as pd

    costs = [*_zoo(dims), *own_examples(dims), ("wavering_bowl", textual.wavering_bowl())]
    return pd.DataFrame([row for label, cost in costs for row in boxes.box_counts(label, cost, budget, seed)])


def smoothness_table(dims, seed):
    import pandas as pd

    costs = [*_zoo(dims), *own_examples(dims)]
    return pd.DataFrame([row for label, cost in costs for row in boxes.cube_error_rows(label, cost, seed)])


def bound_table(dims):
    import pandas as pd

    rows = []
    for label, cost in _zoo(dims):
        known = {"cost": label, "dim": cost.dim, "M_b": cost.constants.M_b, "basis": cost.constants.basis("M_b")}
        if (L := textual.lipschitz(cost)) is not None:
            rows.append(known | {"kind": "slope", "low": None, "bound": L * norm_moment(cost.dim, 1.0) / 2})
        if (second := textual.second_derivatives(cost)) is not None:
            total, _, at = second
            low = float(np.abs(at.sum(axis=1)).max()) / 24
            rows.append(known | {"kind": "second derivatives", "low": low, "bound": total / 24})
    return pd.DataFrame(rows)


def _harmonic():
    yield "x1² - x2²", 2, exact.complex_power(2)[0]
    yield "2 x1 x2", 2, exact.complex_power(2)[1]
    for n in range(3, 9):
        real, imaginary = exact.complex_power(n)
        yield f"Re (x1 + i x2)^{n}", 2, real
        yield f"Im (x1 + i x2)^{n}", 2, imaginary
    yield "x1 x2 x3", 3, exact.polynomial({(1, 1, 1): 1})
    yield "2 x3² - x1² - x2²", 3, exact.polynomial({(0, 0, 2): 2, (2, 0, 0): -1, (0, 2, 0): -1})


def _row_of(name, dim, p):
    error = exact.deviation(p)
    power = exact.smoothness(p)
    leading = error.get(power, {})
    constant = leading.get((0,) * dim) if len(leading) == 1 else None
    return {
        "polynomial": name,
        "dim": dim,
        "degree": exact.degree(p),
        "harmonic": not exact.laplacian(p),
        "linear": exact.degree(p) <= 1,
        "exponent": power,
        "leading": str(constant) if constant is not None else "depends on x" if leading else None,
        "second_order_is_laplacian": error.get(2, {}) == exact.scaled(exact.laplacian(p), Fraction(1, 24)),
    }


def harmonic_table():
    import pandas as pd

    rows = [_row_of(*one) | {"lowest_inside": exact.lowest_inside(one[2], one[1])} for one in _harmonic()]
    return pd.DataFrame(rows)


def polynomial_table(count, seed):
    """Random polynomials with whole coefficients, and in d = 2 random combinations of harmonic ones, as many."""
    import pandas as pd

    rng = np.random.default_rng(seed)
    harmonic = [part for n in range(1, 9) for part in exact.complex_power(n)]
    rows = []
    for dim in (1, 2, 3):
        for i in range(count):
            powers = rng.integers(0, 4, (6, dim)).tolist()
            p = exact.added(*(exact.polynomial({tuple(e): int(rng.integers(-3, 4))}) for e in powers))
            rows.append(_row_of(f"random {i}", dim, p))
    for i in range(count):
        p = exact.added(*(exact.scaled(q, int(rng.integers(-2, 3))) for q in harmonic))
        rows.append(_row_of(f"harmonic {i}", 2, p))
    return pd.DataFrame(rows).drop(columns="leading")


def envelope_table():
    """At jumps of x² (1.5 + 0.5 sgn sin(1/x)): certified lower bounds on |mean over B(x, a) - f(x)|.

    x lies a quarter of a length beyond the jump z = 1/(nπ), where f is c_right x²; a quarter of the cube lies before
    it, where f is c_left x².  z is known from below and from above.
    """
    import pandas as pd

    rows = []
    for n in (1, 2, 3, 5, 8, 13, 21, 34):
        low, high = 1 / (n * (PI + ULP)), 1 / (n * PI)
        right, left = (2, 1) if n % 2 else (1, 2)  # just beyond 1/(nπ) the sine is positive for odd n
        gap = 1 / (n * PI) - 1 / ((n + 1) * PI)  # to the next jump towards 0
        for halving in range(1, HALVINGS + 1):
            a = Fraction(math.floor(gap * 10**12), 10**12) / 2**halving
            rows.append({"n": n, "jump": float(low), "a": float(a)} | _deviation(low, high, a, left, right))
    return pd.DataFrame(rows)


def _deviation(low, high, a, left, right):
    x = (low + high) / 2 + a / 4
    start, end = x - a / 2, x + a / 2
    ends = []
    for z in (low, high):
        mean = (left * (z**3 - start**3) + right * (end**3 - z**3)) / (3 * a)
        ends.append(mean - right * x**2)
    least = min(abs(e) for e in ends) if ends[0] * ends[1] > 0 else Fraction(0)
    return {"deviation": float(least), "ratio": float(least / a**2)}
