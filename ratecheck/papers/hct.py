"""M. G. Azar, A. Lazaric and E. Brunskill, "Online stochastic optimization under correlated bandit feedback" (2014).

HCT expands a cell once it was queried often enough for its depth.  It keeps the rate of HOO with far fewer cells, its
confidence bounds being c sqrt(ln(1/delta) / N) with c = 2 sqrt(1 / (1 - rho)) for rewards in [0, 1].
"""

import math

from ..claims import Theorem, Violation
from . import hoo


def least_c(rho: float) -> float:
    """The c with which the proof's confidence bounds hold."""
    return 2 * math.sqrt(1 / (1 - rho))


def hypotheses(constants, dim, *, nu=None, rho=None, side=None, c=None):
    """`nu`, `rho` and `c` are those that the algorithm runs with, `nu` in units of the cost."""
    yield from hoo.hypotheses(constants, dim, nu=nu, rho=rho, side=side)
    if None not in (c, rho) and c < least_c(rho) * (1 - 1e-12):
        yield Violation("c", f"c = {c:g} is below 2 sqrt(1 / (1 - rho)) = {least_c(rho):.3g}, on which its proof rests")


theorem = Theorem(
    "HCT's theorem",
    "upper",
    "HCT: R = O(T^((d'+1)/(d'+2)) (ln T)^(1/(d'+2))), d' = d/α-β",
    hoo.regret_bound,
    hypotheses,
)
