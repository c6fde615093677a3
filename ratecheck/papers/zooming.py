"""R. Kleinberg, A. Slivkins and E. Upfal, "Multi-armed bandits in metric spaces" (2008): the zooming algorithm.

Its rate is that of HOO, with the zooming dimension in place of d'; for the zoo's costs both are d/alpha - beta.  It
needs a metric by which the cost is Lipschitz, and |x - y|^alpha is none for alpha > 1.
"""

from ..claims import Theorem, Violation
from . import hoo


def hypotheses(constants, dim, *, nu=None, rho=None, side=None):
    """`nu` and `rho` are those that the algorithm runs with, `nu` in units of the cost."""
    yield from hoo.hypotheses(constants, dim, nu=nu, rho=rho, side=side)
    if constants.alpha > 1:
        yield Violation("alpha", f"|x - y|^alpha is no metric for alpha = {constants.alpha:g}")


theorem = Theorem(
    "Zooming's theorem",
    "upper",
    "zooming: R = O(T^((d'+1)/(d'+2)) (ln T)^(1/(d'+2))), d' = d/α-β",
    hoo.regret_bound,
    hypotheses,
)
