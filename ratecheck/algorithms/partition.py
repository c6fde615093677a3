"""The initial partition, a grid of cubes of one length that covers the box with its origin anywhere; and its limits."""

import math

import numpy as np

MAX_GIGABYTES = 8
NUMBERS_PER_SIDE = 256  # even the deepest cells hold this many floating-point numbers along each axis
SLACK = 1e-9  # of a cell: side / (side / m) may round up to a little more than m


def counts(cost, length, offset):
    """Cells along each axis.  The grid starts `offset` (a fraction of a cell per axis) below the box."""
    return [
        max(1, math.ceil((high - (low - u * length)) / length - SLACK))
        for low, high, u in zip(cost.lower.tolist(), cost.upper.tolist(), offset, strict=True)
    ]


def check(cost, length, shifted, what):
    """Refuse a partition that is too fine to hold, or that leaves the region where the cost is defined."""
    worst = [1.0 if shifted else 0.0] * cost.dim
    cells = math.prod(counts(cost, length, worst))
    gigabytes = cells * (100 + 8 * cost.dim) / 1e9
    if gigabytes > MAX_GIGABYTES:
        raise ValueError(
            f"{what} makes up to {cells:.2g} cells in dimension {cost.dim}, about {gigabytes:.2g} GB; "
            + ("take longer cells, or alignment='fixed'" if shifted else "take longer cells")
        )
    beyond = length
    if not shifted:
        sides = cost.upper - cost.lower
        beyond = max(m * length - side for m, side in zip(counts(cost, length, worst), sides.tolist(), strict=True))
    if beyond > cost.margin * (1 + SLACK) + SLACK * length:
        known = f"defined only up to A = {cost.margin:g} beyond it; take shorter cells"
        if not cost.margin:
            fixed = "alignment='fixed', " if shifted else ""
            known = f"known on it alone; take {fixed}another length, or function_zoo.cost(..., margin=...)"
        raise ValueError(f"{what} makes cells that may reach {beyond:g} beyond the box, but {cost} is {known}")


def grid(cost, length, offset):
    """The lower corners of the cells, (m, d), last axis fastest; every cell touches the box."""
    axes = [
        (low - u * length) + length * np.arange(m)
        for low, u, m in zip(cost.lower.tolist(), offset, counts(cost, length, offset), strict=True)
    ]
    return np.stack(np.meshgrid(*axes, indexing="ij"), axis=-1).reshape(-1, cost.dim)


def deepest_level(cost, length) -> int:
    """The last level at which coordinates tell the points of a cell apart; its cells do not split."""
    reach = float(np.max(np.abs([cost.lower, cost.upper]))) + cost.margin
    return max(0, math.floor(math.log2(length / (NUMBERS_PER_SIDE * math.ulp(reach)))))
