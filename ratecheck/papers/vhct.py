"""W. Li, C.-H. Wang, Q. Song and G. Cheng, "Optimum-statistical collaboration towards general and efficient black-box
optimization" (2023).

VHCT is HCT with confidence bounds that follow the variance that was seen (Bernstein's inequality): the same rate, with
a constant that shrinks with the variance.  Rewards are bounded.
"""

from ..claims import Theorem, Violation
from . import hoo

LEAST_C = 1.0  # the bonus is Bernstein's for c = 1


def hypotheses(constants, dim, *, nu=None, rho=None, side=None, c=None):
    """`nu`, `rho` and `c` are those that the algorithm runs with, `nu` in units of the cost."""
    yield from hoo.hypotheses(constants, dim, nu=nu, rho=rho, side=side)
    if c is not None and c < LEAST_C:
        yield Violation("c", f"c = {c:g} is below {LEAST_C:g}, with which its bonus is that of Bernstein's inequality")


theorem = Theorem(
    "VHCT's theorem",
    "upper",
    "VHCT: R = O(T^((d'+1)/(d'+2)) (ln T)^(1/(d'+2))), d' = d/α-β",
    hoo.regret_bound,
    hypotheses,
)
