"""How dents on a lattice overlap: bounds of the sums of psi and of psi^2 over all dents, at any place.

The lattice has m points per length of a dent.

alpha > 1: psi is a product over coordinates, and so are the sums; phi(u) + phi(1/2 - u) = 1, so with even m the sum of
phi is m/2.

alpha <= 1: if n_i lattice points are nearer than rho in coordinate i, prod n_i dents exceed 1 - (2 rho)^alpha.  By
Hölder's inequality the sum is largest where all coordinates are alike, and then it is a sum over j, the j-th nearest
lattice point on a line counting j^d - (j - 1)^d times.
"""

import numpy as np

STEPS = 256  # of the place between two lattice points: every term is monotone in it, so pieces bound the supremum


def overlap(alpha: float, dim: int, per_length: int, power: int) -> float:
    """The largest sum of psi^power over dents on a lattice, or slightly more."""
    if alpha > 1:
        return (per_length / 2 if power == 1 else _squares(alpha, per_length)) ** dim
    near = np.linspace(0, 0.5 / per_length, STEPS + 1)
    k = np.arange(per_length + 2)[:, None]
    nearest = np.sort(np.concatenate([k / per_length + near[:-1], (k + 1) / per_length - near[1:]]), axis=0)
    j = np.arange(1, len(nearest) + 1)[:, None]
    return float(np.max(np.sum((j**dim - (j - 1) ** dim) * np.maximum(0, 1 - (2 * nearest) ** alpha) ** power, axis=0)))


def _squares(alpha, per_length):
    if per_length == 2:
        return 1.0  # p^2 + (1 - p)^2
    v = np.linspace(0, 0.5, STEPS + 1)  # 4 points: p^2 + (1 - p)^2 + q^2 + (1 - q)^2, p = 1 - v^alpha/2
    low, high = v[:-1], v[1:]
    return float(np.max(2 - low**alpha - (1 - high) ** alpha + (high ** (2 * alpha) + (1 - low) ** (2 * alpha)) / 2))
