"""The audit: every annotated constant of a cost against what the instruments find."""

from __future__ import annotations

from dataclasses import replace

import numpy as np

from .cost import Cost, shown
from .measure import (
    Target,
    Witness,
    cube_errors,
    extremes,
    minimiser_biases,
    power_law,
    worst_ratio,
)
from .packing import packings
from .registry import InvalidChoice, check_seed

# How far a measurement may stay from a true annotation.  A search can only miss, so it ends below the true supremum;
# the quadrature errs by less than OVER.
OVER = 0.005
UNDER = 0.03
FOUND = 0.03  # above an annotation that was itself measured
ALPHA = 0.04
BETA = 0.05  # times max(1, beta)


def audit(cost: Cost, seed: int = 0):
    """Measure every constant of a cost.  A table: constant, annotated, measured, holds, basis, worst.

        print(zoo.audit(zoo.get("cone", dim=1)))

    An exponent holds if the measured one agrees; a beta that is a bound, if it is not larger.  M_a, M_b and mu_min
    hold if nothing larger was found and, in the zoo and unless they are annotated as bounds, something nearly as large
    was; elsewhere a constant that is larger than needed is "not the smallest", which is no failure.  C0 holds if no
    packing asks for a larger one.  `worst` says where.  Constants that are not known are left out.
    """
    if not isinstance(cost, Cost):
        raise InvalidChoice(f"audit: cost = {shown(cost)} is no cost; make one with function_zoo.get or Cost(...)")
    rows = list(_rows(cost, check_seed("audit", seed)))
    from .table import Table  # with pandas, which takes longer to load than all of the zoo

    return Table.of(f"Audit of {cost}", rows, ["constant", "annotated", "measured", "holds", "basis", "worst"])


def _suprema(target, constants, rng):
    alpha, beta, dim = constants.alpha, constants.beta, target.dim
    errors = cube_errors(target, rng)
    unit = worst_ratio(errors, alpha)
    bias = worst_ratio(minimiser_biases(target, rng), alpha)
    packed = packings(target, alpha, unit=unit.value, bias=bias.value, rng=rng)
    literal, weak = packed.constant(beta, dim), packed.constant(beta, dim, alpha)
    return {
        "errors": errors,
        "packed": packed,
        "M_b": unit,
        "mu_min": bias,
        "C0": literal if constants.literal else weak,
        "C0 of the other condition": weak if constants.literal else literal,
    }


def _rows(cost, seed):
    c = cost.constants
    rng = np.random.default_rng(seed)
    target = Target.of(cost)
    tolerance = 1e-9 * max(c.M_a or 0.0, abs(cost.minimum), 1e-300)
    basis = "proved" if cost.registered else cost.minimum_basis

    with np.errstate(all="ignore"):
        lowest, highest = extremes(target, rng)
        values = target.many(target.minimisers)
    found_it = abs(lowest.value - cost.minimum) <= tolerance
    if not len(values):  # nobody knows where: the search may end above it
        found_it = lowest.value >= cost.minimum - max(tolerance, cost.rounding)
    yield "minimum", cost.minimum, lowest.value, bool(found_it), basis, str(lowest)
    if len(values):
        worst = int(np.argmax(values))
        outside = np.max(np.maximum(target.lower - target.minimisers, target.minimisers - target.upper))
        attained = abs(values[worst] - cost.minimum) <= tolerance and outside <= 0
        place = str(Witness(0.0, target.minimisers[worst]))
        yield "minimisers", cost.minimum, float(values[worst]), bool(attained), basis, place
    reach = 0.0
    if c.A is not None:
        reach, witness = _margin(target, tolerance, rng)
        yield "A", c.A, reach, bool(0 < c.A <= reach), c.basis("A"), str(witness)
    if np.isnan(lowest.value):  # not defined on the box: nothing else can be measured
        return
    inside = float(np.min(target.upper - target.lower))
    longest = inside if c.A is None else min(c.A, inside + 2 * reach)
    target = replace(target, margin=reach, longest=longest)
    top = Witness(highest.value - cost.minimum, highest.x)
    if c.lacking("alpha", "beta") or not len(values):  # the others are measured at these exponents, around minimisers
        yield from [_supremum(cost, "M_a", top)] * (c.M_a is not None)
        return
    yield from (row for row in _measured(cost, target, top, rng) if row[1] is not None)


def _measured(cost, target, top, rng):
    """The rows of exponents and suprema, also of those that are not known."""
    c = cost.constants
    found = _suprema(target, c, rng)
    alpha = power_law(found["errors"])
    smallest = found["errors"][-1]
    holds = alpha >= c.alpha - ALPHA if "alpha" in c.bounds else abs(alpha - c.alpha) <= ALPHA
    yield "alpha", c.alpha, alpha, bool(holds), c.basis("alpha"), str(smallest)
    beta = found["packed"].beta(target.dim)
    eps = np.append(found["packed"].scaling(target.dim)[0], np.inf)[0]
    tolerance = BETA * max(1.0, c.beta)
    holds = beta >= c.beta - tolerance if "beta" in c.bounds else abs(beta - c.beta) <= tolerance
    yield "beta", c.beta, beta, bool(holds), c.basis("beta"), f"down to ε = {eps:.2g}"
    yield _supremum(cost, "M_a", top)
    yield _supremum(cost, "M_b", found["M_b"])
    yield _supremum(cost, "mu_min", found["mu_min"])
    other = "under (c′)" if c.literal else "for all a, not under (c′) alone,"
    note = f"; {other} {found['C0 of the other condition'].value:.4g}"
    yield _supremum(cost, "C0", found["C0"], note)


def _supremum(cost, name, witness, note=""):
    constants = cost.constants
    annotated = getattr(constants, name)
    basis = constants.basis(name)
    if annotated is None:
        return name, None, witness.value, False, basis, ""
    most = 1 + (FOUND if basis == "measured" else OVER)
    larger = witness.value < annotated * (1 - UNDER) and name != "C0"
    claimed = cost.registered and name not in constants.bounds  # to be the smallest
    if larger and not cost.registered:
        note = f"; not the smallest{note}"
    holds = witness.value <= annotated * most and not (larger and claimed)
    return name, annotated, witness.value, bool(holds), basis, str(witness) + note


def _margin(target, tolerance, rng):
    """How far beyond the box, up to the annotated margin, f is finite and not below its minimum; and where not."""
    reached = 0.0
    for share in (0.0, 0.125, 0.25, 0.5, 0.75, 1.0):
        probe = replace(target, margin=share * target.margin)
        with np.errstate(all="ignore"):
            lowest, _ = extremes(probe, rng, extended=True, size=20_000)
        if not lowest.value >= target.minimum - tolerance:
            return reached, lowest
        reached = share * target.margin
    return reached, Witness(0.0, target.upper + target.margin)
