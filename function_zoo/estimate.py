"""Estimates of alpha, beta, M and mu_min, with intervals, for a function whose constants nobody knows."""

from __future__ import annotations

import itertools
from dataclasses import replace
from numbers import Integral

import numpy as np

from .cost import shown
from .measure import Target, cube_errors, extremes, minimiser_biases, power_law, worst_ratio
from .packing import packings
from .registry import InvalidChoice, check_number, check_seed

MOST_REPEATS = 1000
ALPHA_SPANS = ((0.45, 0.75), (0.6, 0.9), (0.6, 1.0), (0.7, 1.0))
BETA_SPANS = ((0.0, 0.3), (0.1, 0.4), (0.2, 0.5), (0.0, 0.5))
UNBOUNDED = (
    "unbounded: the mean over cubes at the minimiser grows like a^{:.2g}, slower than a^alpha (as where the minimiser "
    "lies on the boundary of the box)"
)


def estimate(f, lower, upper, *, margin: float = 0.0, vectorised: bool = False, seed: int = 0, repeats: int = 3):
    """Estimate the constants of Assumption 1 for f on the box [lower, upper].

    f takes a point as it does in `cost`, or an (n, d) array of points if `vectorised` (a Cost counts as such).  It is
    evaluated up to `margin` beyond the box; with margin 0 only cubes inside the box are seen.  Expect some ten million
    evaluations: a function that takes one point at a time takes minutes.

    A table: constant, estimate, low, high, note; its `constants` are for `cost(..., constants=...)`.  The suprema M_a,
    M_b, M and mu_min are lower estimates by nature: something as large was seen.  Their intervals allow for what
    independent searches missed and for the uncertainty of alpha; the intervals of the exponents span what different
    scales and searches say, with a margin.  They are systematic, not statistical: on the families of the zoo they hold
    the annotated values.
    """
    target = _target(f, lower, upper=upper, margin=margin, vectorised=vectorised)
    rng = np.random.default_rng(check_seed("estimate", seed))
    if not isinstance(repeats, Integral) or repeats > MOST_REPEATS:
        raise InvalidChoice(f"estimate: repeats = {shown(repeats)} must be a whole number, 2 to {MOST_REPEATS}")
    if repeats < 2:
        raise InvalidChoice(
            f"estimate: repeats = {shown(repeats)} shows no disagreement; the nearest valid choice is 2"
        )
    target, doubt = locate(target, rng)
    highest = [extremes(target, rng)[1].value - target.minimum for _ in range(repeats)]
    if not max(highest) > 0:
        raise InvalidChoice("estimate: the function is constant on the box; there is nothing to estimate")

    errors = [cube_errors(target, rng, starts=80) for _ in range(repeats)]
    biases = [minimiser_biases(target, rng) for _ in range(repeats)]
    alpha, alpha_low, alpha_high = _alpha(errors)
    growths = [power_law(b) for b in biases if len(b) > 8]
    growth = np.median([g for g in growths if not np.isnan(g)] or [alpha])  # none: small cubes are flat there

    M_a = _supremum(highest)
    M_b = _ratio(errors, alpha, alpha_low, alpha_high) if any(errors) else (0.0, 0.0, 0.0)
    mu = _ratio(biases, alpha, alpha_low, alpha_high)
    inside = "cubes inside the box only" if margin == 0 else f"cubes up to {margin:g} beyond the box"
    mu_note = f"at the estimated alpha; {inside}"
    if growth < alpha - 0.1:
        mu, mu_note = (*mu[:2], np.inf), UNBOUNDED.format(growth)
    scale = min(alpha, float(growth))
    unit = max(worst_ratio(b, scale).value for b in biases)
    packed = [packings(target, scale, unit=unit, bias=unit, rng=rng, floor=100 * doubt) for _ in range(repeats)]
    shortest = min((e[-1].a for e in errors if e), default=np.nan)

    M = tuple(np.maximum(M_a, M_b))
    rows = [
        ("alpha", alpha, alpha_low, alpha_high, f"lengths down to {shortest:.2g}; {inside}"),
        ("beta", *_beta(packed, target.dim, alpha_low)),
        ("M_a", *M_a, "a supremum seen"),
        ("M_b", *M_b, f"at the estimated alpha; {inside}"),
        ("M", *M, "max(M_a, M_b)"),
        ("mu_min", *mu, mu_note),
        ("minimum", target.minimum, target.minimum - 10 * doubt, target.minimum, _count(target)),
    ]
    from .estimates import Estimates

    table = Estimates.of("Estimated constants", rows, ["constant", "estimate", "low", "high", "note"])
    table.margin, table.dim = float(margin), target.dim
    return table


def _alpha(errors):
    """alpha and its interval from the mean errors of several searches."""
    if not any(errors):  # affine, or so nearly that the errors drown: (b) holds with alpha = 2 and any M_b
        return 2.0, 2.0, 2.0
    slopes = [power_law(e, s) for e in errors for s in ALPHA_SPANS]
    return np.clip(_spread(slopes, 0.02, (0.0, 2.0)), 0.0, 2.0)


def _beta(packed, dim, alpha_low):
    """beta, its interval, and a note on what was seen."""
    betas = [p.beta(dim, s) for p in packed for s in BETA_SPANS]
    beta = np.maximum(_spread(betas, 0.02 * dim, (0.0, dim / max(alpha_low, 0.1))), 0.0)
    eps = np.min(np.concatenate([p.scaling(dim)[0][:1] for p in packed]), initial=np.inf)
    seen = "could not be measured" if np.isnan(betas).all() else f"sublevel sets down to {eps:.2g} above the minimum"
    return *beta, seen


def _count(target):
    n = len(target.minimisers)
    return "1 minimiser found" if n == 1 else f"{n} minimisers found"


def ends(name, values, where="estimate"):
    try:
        return np.atleast_1d(np.asarray(values, dtype=float)).ravel()
    except (TypeError, ValueError, OverflowError):
        raise InvalidChoice(f"{where}: {name} = {shown(values)} must be numbers, one per coordinate") from None


def _target(f, lower, *, upper, margin, vectorised):
    lower, upper = ends("lower", lower), ends("upper", upper)
    margin = check_number("estimate", "margin", margin)
    if lower.shape != upper.shape or not lower.size or not np.all(lower < upper):
        raise InvalidChoice(f"estimate: the box needs lower < upper in every coordinate, got {lower} and {upper}")
    if not np.all(np.isfinite([lower, upper])) or not 0 <= margin <= 1e100:
        raise InvalidChoice("estimate: the box and the margin must be finite, the margin not negative")
    if not callable(f):
        raise InvalidChoice(f"estimate: f = {shown(f)} is not a function")
    if hasattr(f, "many"):
        many = f.many
    elif vectorised:
        many = f
    else:
        many = _by_points(f, lower, upper)

    def checked(X):
        values = np.asarray(many(X))
        if values.shape != (len(X),):
            hint = "" if vectorised else "; does f take one point, or all of them (vectorised=True)?"
            raise InvalidChoice(
                f"estimate: f returned shape {values.shape} for {len(X)} points, expected ({len(X)},){hint}"
            )
        if not np.issubdtype(values.dtype, np.number) or np.iscomplexobj(values):
            raise InvalidChoice(f"estimate: f returned {values.dtype} values; real numbers are needed")
        if not np.all(np.isfinite(values)):
            x = X[np.argmin(np.isfinite(values))]
            raise InvalidChoice(f"estimate: f is not finite at x = {x}; shrink the box or the margin")
        return values.astype(float)

    try:
        checked(np.array([lower, upper]))
    except InvalidChoice:
        raise
    except Exception as error:
        kind = "an (n, d) array" if vectorised else "one point"
        raise InvalidChoice(
            f"estimate: f failed on {kind} ({type(error).__name__}: {error}); is vectorised = {vectorised} right?"
        ) from error
    side = float(np.max(upper - lower))
    return Target(
        checked,
        lower,
        upper,
        0.0,
        np.empty((0, len(lower))),
        margin,
        min(side, np.min(upper - lower) + 2 * margin),
    )


def _by_points(f, lower, upper):
    """f at many points, however it takes one."""
    from .own import recognised

    formula = recognised(f, lower, upper=upper, sign=1.0, where="estimate")
    return lambda X: formula(np.ascontiguousarray(X.T))


def locate(target: Target, rng, *, starts=32, width=48, rounds=50, points=None):
    """The target with its minimum and minimisers, found by independent searches; and the uncertainty of the minimum.

    Starts are those of the points (by default 40,000 random ones) that are low and far apart.  Every round samples at a
    scale that shrinks, which also suits rough functions, and moves single coordinates at random scales.  What a second
    search still gains is the uncertainty.
    """
    low, high, dim = target.lower, target.upper, target.dim
    points = rng.uniform(low, high, (40_000, dim)) if points is None else points
    values = target.many(points)
    order = np.argsort(values)
    chosen = [order[0]]
    gap = 0.05 * target.side
    for i in order[: -(-len(order) // 4)]:
        if len(chosen) == starts:
            break
        if np.min(np.max(np.abs(points[chosen] - points[i]), axis=1)) >= gap:
            chosen.append(i)
    x, best = points[chosen], values[chosen]
    gained = []
    for _ in range(2):
        before = best.min()
        scale = gap
        for _ in range(rounds):
            for _ in range(3):
                steps = scale * rng.uniform(-1, 1, (len(x), width, dim))
                lone = np.arange(width // 2)
                steps[:, lone] = 0.0
                reach = gap * 10.0 ** rng.uniform(-12, 0, (len(x), len(lone)))
                steps[:, lone, rng.integers(dim, size=len(lone))] = reach * rng.choice([-1, 1], reach.shape)
                trial = np.clip(x[:, None, :] + steps, low, high)
                value = target.many(trial.reshape(-1, dim)).reshape(len(x), width)
                j = value.argmin(axis=1)
                better = value[np.arange(len(x)), j] < best
                x = np.where(better[:, None], trial[np.arange(len(x)), j], x)
                best = np.where(better, value[np.arange(len(x)), j], best)
            scale *= 0.6
        gained.append(before - best.min())
    minimum = float(best.min())
    range_ = np.ptp(values)
    tied = x[best <= minimum + max(1e-9 * range_, 2 * gained[1])]
    if gained[1] > 1e-9 * range_:  # what counts as tied may be far from the best
        tied = np.vstack([x[best.argmin()], tied])
    tied = np.vstack([tied, *(_ends(target, y, 1e-13 * range_) for y in tied[:8])])
    distinct = [tied[0]]
    for y in tied[1:]:
        if min(np.max(np.abs(y - z)) for z in distinct) > 1e-3 * target.side:
            distinct.append(y)
    found = replace(target, minimum=minimum, minimisers=np.array(distinct))
    return found, float(gained[1])


def _ends(target, x, allowance):
    """Where the set of minimisers around x ends, along the axes and (up to six dimensions) the diagonals."""
    dim = target.dim
    ways = np.vstack([np.eye(dim), -np.eye(dim)])
    if dim <= 6:
        ways = np.vstack([ways, list(itertools.product((-1.0, 1.0), repeat=dim))])
    level = target.many(x[None])[0] + allowance
    near, far = np.zeros(len(ways)), np.full(len(ways), target.side)
    for _ in range(40):
        middle = 0.5 * (near + far)
        y = x + middle[:, None] * ways
        inside = np.all((y >= target.lower) & (y <= target.upper), axis=1)
        flat = inside & (target.many(np.clip(y, target.lower, target.upper)) <= level)
        near, far = np.where(flat, middle, near), np.where(flat, far, middle)
    return x + near[:, None] * ways


def _spread(values, least, otherwise):
    """The median, and the range of the values widened by half its length and by `least`; or all that is possible."""
    values = np.array(values)
    values = values[np.isfinite(values)]
    if not values.size:
        return np.mean(otherwise), *otherwise
    room = least + 0.5 * np.ptp(values)
    return float(np.median(values)), float(values.min() - room), float(values.max() + room)


def _supremum(values):
    """The largest value seen; independent searches that disagree by x have probably missed some x more."""
    best = max(values)
    return best, best, best * 1.01 + 2 * (best - min(values))


def _ratio(witnesses, alpha, low, high):
    """sup value / a^alpha over lengths within a factor 1000, where an error in alpha does little harm."""
    runs = [w[: max(1, len(w) // 2)] for w in witnesses if w]
    best, _, top = _supremum([worst_ratio(w, alpha).value for w in runs])
    ends = [max(worst_ratio(w, e).value for w in runs) for e in (low, high)]
    return best, min(best, *ends), max(top, *ends)
