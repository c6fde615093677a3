"""A cost with a dent: another cost, lowered near one place.  Such are the functions of Theorem 3.

The dent psi has value 1 at the place and 0 outside the cube of length 1 around it.  For a smoothness alpha:

    alpha <= 1   psi(u) = 1 - (2 max_i |u_i|)^alpha
    alpha > 1    psi(u) = prod_i phi(u_i);  phi = 1 - v^alpha/2 for v = 4 |u_i| <= 1, (2 - v)^alpha/2 for v <= 2

It is as sharp at the place as (b) allows: |mean of psi over a cube of length a - psi| <= K a^alpha.  In the first case
K = d/(d + alpha), attained at the place (as for `cusp`).  In the second the mean of the product is the product of the
means, and all factors lie in [0, 1], so the errors of the coordinates add at most; each is at most that at the place,
2^(alpha-1)/(alpha+1) a^alpha.
"""

from __future__ import annotations

import ast
from dataclasses import replace

import numpy as np

from .cost import Cost, shown
from .measure import Target, minimiser_biases, worst_ratio
from .registry import InvalidChoice, Range, family, get, vector

STARTS = 3  # of searches for the lowest point of a dent, beside its place
ROUNDS, SHRINK, AROUND = 40, 0.8, 16  # of such a search: AROUND points per dimension in cubes that shrink
LEAST_GROWTH = 1e-3  # less is flat: a sublevel set of the dent would be far wider than (c) allows


def mean_error(alpha: float, dim: int) -> float:
    """K: of psi, as (b) measures it."""
    return dim / (dim + alpha) if alpha <= 1 else dim * 2 ** (alpha - 1) / (alpha + 1)


def dent(alpha: float, place, length: float):
    """psi((x - place)/length) as a formula."""
    place, dim = tuple(map(float, place)), len(place)
    double, fourfold = 2 / length, 4 / length

    def sharp(x):
        s = np.abs(x[0] - place[0])
        for i in range(1, dim):
            s = np.maximum(s, np.abs(x[i] - place[i]))
        return 1.0 - np.minimum(1.0, double * s) ** alpha

    def smooth(x):
        product = 1.0
        for i in range(dim):
            v = fourfold * np.abs(x[i] - place[i])
            inner = np.minimum(v, 1.0) ** alpha
            outer = np.minimum(1.0, np.maximum(0.0, 2.0 - v)) ** alpha
            product = product * (0.5 - 0.5 * inner + 0.5 * outer)
        return product

    return sharp if alpha <= 1 else smooth


def with_dent(cost: Cost, place, depth: float, length: float) -> Cost:
    """The cost f(x) - depth psi((x - place)/length), whose minimum lies in the dent.

    M_a and M_b are bounds by the triangle inequality; the minimum is searched for and mu_min measured.  C0 adds to
    that of f what the dent may hold: if the dented f exceeds its minimum by h |2 (x - x*)/length|^alpha in the dent,
    h = growth * depth, the part of {f < minimum + e} in it lies in a cube of length (e/h)^(1/alpha) times the dent's;
    (e/h)^(d/alpha) <= (e/h)^beta below e = h, and above it the dent is all there is.
    """
    made, steep = lowered(cost, place, depth, length)
    c = cost.constants
    if not steep > LEAST_GROWTH:
        raise InvalidChoice(
            f"a dent in {cost}: its bottom is flat (f grows by {steep:.2g} of what a dent does), so (c) would fail; "
            f"make it deeper or shorter: f is steeper there than depth/length^alpha = {depth / length**c.alpha:.4g}"
        )
    held = length**cost.dim * (steep * depth) ** -c.beta
    biases = minimiser_biases(Target.of(made), np.random.default_rng(0))
    known = replace(
        made.constants,
        C0=c.C0 + 2**cost.dim * max(1.0, held),
        mu_min=max(c.mu_min, worst_ratio(biases, c.alpha).value),
    )
    return replace(made, constants=known)


def lowered(cost: Cost, place, depth: float, length: float) -> tuple[Cost, float]:
    """The same before mu_min and C0 are known, and the growth of the dent."""
    c, where = cost.constants, f"a dent in {cost}"
    place = np.asarray(vector(where, "place", place, cost.dim))
    if np.any(place < cost.lower) or np.any(place > cost.upper):
        near = np.clip(place, cost.lower, cost.upper).tolist()
        raise InvalidChoice(f"{where}: place = {place.tolist()} lies outside the box; the nearest choice is {near}")
    gap = cost(place) - cost.minimum
    if not depth > gap:
        raise InvalidChoice(
            f"{where}: depth = {depth:g} must exceed f(place) - minimum = {gap:.6g}, so that the dent has the minimum"
        )
    plain, shape = cost.formula, dent(c.alpha, place, length)

    def formula(x):
        return plain(x) - depth * shape(x)

    lowest = _lowest(formula, place, length, cost)
    minimum = float(formula(lowest))
    tighter = {"beta"} if c.beta < cost.dim / c.alpha * (1 - 1e-9) else set()  # low in the dent sets shrink faster
    known = replace(
        c,
        M_a=c.M_a + cost.minimum - minimum,
        M_b=c.M_b + mean_error(c.alpha, cost.dim) * depth / length**c.alpha,
        bounds=tuple(sorted({*c.bounds, *tighter, "M_a", "M_b", "C0"})),
        measured=tuple(sorted({*c.measured, "mu_min"})),
    )
    made = Cost("dented", cost.dim, formula, cost.lower, cost.upper, minimum, lowest[None], known, {"base": str(cost)})
    return made, growth(made, length, depth)


def _lowest(formula, place, length, cost):
    """The lowest point of the dent: its place, unless f is steeper there than the dent, or has dents of its own.

    A cube around the place and around each of the lowest of many points shrinks and follows the lowest point that it
    has held; a simplex polishes the lowest of them.
    """
    from scipy.optimize import minimize

    low, high = np.maximum(cost.lower, place - length / 2), np.minimum(cost.upper, place + length / 2)
    rng = np.random.default_rng(0)

    def values(points):
        return formula(np.ascontiguousarray(points.reshape(-1, cost.dim).T)).reshape(points.shape[:-1])

    tried = rng.uniform(low, high, (3000, cost.dim))
    centres = np.vstack([place, tried[np.argsort(values(tried))[:STARTS]]])
    radius = np.full((len(centres), 1, 1), length / 64)
    radius[0] = length / 8
    for _ in range(ROUNDS):
        around = rng.uniform(-1, 1, (len(centres), AROUND * cost.dim, cost.dim)) * radius + centres[:, None]
        around = np.concatenate([centres[:, None], np.clip(around, low, high)], axis=1)
        best = np.argmin(values(around), axis=1)
        centres = around[np.arange(len(centres)), best]
        radius = radius * SHRINK
    start = centres[np.argmin(values(centres))]
    simplex = np.vstack([start, start + float(radius[0, 0, 0]) * np.eye(cost.dim)])
    options = {"initial_simplex": simplex, "xatol": 1e-14 * length, "fatol": 0.0, "maxiter": 400 * cost.dim}
    polished = minimize(formula, start, method="Nelder-Mead", options=options).x
    found = [place, start, np.clip(polished, low, high)]
    return min(found, key=formula)  # the place, if nothing is lower


def growth(cost: Cost, length: float, depth: float) -> float:
    """The least (f - minimum)/(depth |2 (x - x*)/length|^alpha) that was seen in the dent, x* the minimiser."""
    rng = np.random.default_rng(0)
    directions = rng.uniform(-1, 1, (4000, cost.dim))
    directions[: 2 * cost.dim] = np.vstack([np.eye(cost.dim), -np.eye(cost.dim)])
    directions /= np.max(np.abs(directions), axis=1, keepdims=True)
    share = 10.0 ** rng.uniform(-3, 0, (4000, 1))
    x = cost.minimisers[0] + length / 2 * share * directions
    return float(np.min((cost.many(x) - cost.minimum) / (depth * share[:, 0] ** cost.constants.alpha)))


def named(text: str, dim: int | None = None) -> Cost:
    """The cost that a text such as "valley" or "valley(scale=5.0)" names; str(cost) is such a text, with its dim."""
    try:
        call = ast.parse(text, mode="eval").body
        name, keywords = (call.func.id, call.keywords) if isinstance(call, ast.Call) else (call.id, [])
        parameters = {keyword.arg: ast.literal_eval(keyword.value) for keyword in keywords}
        if isinstance(call, ast.Call) and call.args:
            raise ValueError
    except (SyntaxError, AttributeError, ValueError, TypeError):
        raise InvalidChoice(f"base = {shown(text)} names no cost; write a family, or family(parameter=value)") from None
    if name == "dented":
        raise InvalidChoice("base = 'dented': a cost has one dent only")
    return get(name, **({} if dim is None else {"dim": dim}) | parameters)


def text_of(cost: Cost) -> str:
    """The text that `named` understands, of a cost of the zoo."""
    plain = get(cost.name, cost.dim).parameters
    changed = ", ".join(f"{k}={v!r}" for k, v in cost.parameters.items() if v != plain[k])
    return f"{cost.name}({changed})" if changed else cost.name


@family(depth=Range(1e-15, 1e18), length=Range(1e-15, 1e6))
def dented(dim, base="quadratic", place=None, depth=10.0, length=0.4):
    """f(x) = base(x) - depth psi((x - place)/length): another cost with a dent, alpha and beta as it has them."""
    cost = named(base, dim)
    if place is None:
        place = cost.minimisers[0] + 0.02 * cost.side * np.cos(np.arange(dim))
    made = with_dent(cost, place, depth, length)
    return replace(made, parameters={"place": vector("dented", "place", place, dim)})
