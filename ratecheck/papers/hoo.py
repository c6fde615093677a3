"""S. Bubeck, R. Munos, G. Stoltz and C. Szepesvári, "X-armed bandits" (2011): the regret of (truncated) HOO as data.

Its cells are halved along one axis after another, so those of depth h have no side longer than s 2^((d-1-h)/d), s the
longest side of the box.  The dissimilarity is l(x, y) = L |x - y|^alpha in the sup norm.

Assumption 1 (b) of the zoo's costs makes them weakly Lipschitz.  Let g = f - f*, r = |x - y|, a = lam r.  The cube of
length a around y lies in that of length a + 2r around x, and g >= 0, so

    g(y)  <=  mean over B(y, a) + M_b a^alpha
          <=  (1 + 2/lam)^d (g(x) + M_b ((lam + 2) r)^alpha) + M_b (lam r)^alpha.

With lam such that (1 + 2/lam)^d = 1 + eta < 2 this is g(y) <= g(x) + eta g(x) + (1 - eta) l(x, y), hence at most
g(x) + max(g(x), l(x, y)), for L = M_b ((1 + eta) (lam + 2)^alpha + lam^alpha) / (1 - eta).  Where (lam + 2) r exceeds
A, l(x, y) >= M_a does.  This is for points of the box; where cells reach beyond it (random alignment), the zoo promises
no more than f >= f*.
"""

from __future__ import annotations

import math
from typing import TYPE_CHECKING

from ..claims import Theorem, Violation
from ..rates import Rate

if TYPE_CHECKING:
    from function_zoo import Constants

ETA = 0.5
LATEST = 600.0  # ln of an onset that nobody reaches


def near_optimality_dimension(alpha: float, beta: float, dim: int) -> float:
    """d' = d/alpha - beta: {g < e} is covered by e^-d' sets of diameter e, up to a constant."""
    return dim / alpha - beta


def regret_bound(alpha, beta, dim):
    """R = O(T^((d'+1)/(d'+2)) (ln T)^(1/(d'+2)))."""
    d = near_optimality_dimension(alpha, beta, dim)
    return Rate.of_regret((d + 1) / (d + 2), 1 / (d + 2))


# nu and rho


def least_rho(alpha: float, dim: int) -> float:
    """Cells shrink by this factor from one depth to the next, measured by the dissimilarity."""
    return 2.0 ** (-alpha / dim)


def alpha_of(rho: float, dim: int) -> float:
    """The alpha of the dissimilarity by which cells shrink like rho^h."""
    return dim * math.log2(1 / rho)


def constants_for(rho: float, constants: Constants, dim: int) -> Constants:
    """Those that the cost has with the alpha of rho, or with its own where rho asks for a larger one."""
    alpha = alpha_of(rho, dim)
    return constants if math.isclose(alpha, constants.alpha) else constants.weakened(alpha)


def largest_cell(alpha: float, dim: int, side: float) -> float:
    """The alpha-th power of the longest side of a cell of depth h is at most this times least_rho^h."""
    return side**alpha * 2.0 ** (alpha * (dim - 1) / dim)


def least_nu(constants: Constants, dim: int, side: float) -> float:
    """The nu with which cells of depth h have a diameter of at most nu rho^h and the cost is weakly Lipschitz."""
    alpha = constants.alpha
    lam = 2 / ((1 + ETA) ** (1 / dim) - 1)
    near = constants.M_b * ((1 + ETA) * (lam + 2) ** alpha + lam**alpha) / (1 - ETA)
    far = constants.M_a * ((lam + 2) / constants.A) ** alpha
    return max(near, far) * largest_cell(alpha, dim, side)


def hypotheses(c, dim, *, nu=None, rho=None, side=None):
    """`nu` and `rho` are those that the algorithm runs with, `side` is the longest of the box."""
    if near_optimality_dimension(c.alpha, c.beta, dim) < -1e-9:
        yield Violation("beta", f"beta = {c.beta:g} exceeds d/alpha = {dim / c.alpha:g}: no such cost exists")
    if None not in (nu, side) and nu < least_nu(c, dim, side) * (1 - 1e-12):
        yield Violation(
            "nu", f"nu = {nu:.4g} is below {least_nu(c, dim, side):.4g}, from which on the cost is weakly Lipschitz"
        )
    if rho is not None and rho < least_rho(c.alpha, dim) * (1 - 1e-12):
        yield Violation(
            "rho", f"rho = {rho:.6g} is below 2^(-alpha/d) = {least_rho(c.alpha, dim):.6g}, by which cells shrink"
        )


theorem = Theorem(
    "HOO's theorem",
    "upper",
    "truncated HOO: R = O(T^((d'+1)/(d'+2)) (ln T)^(1/(d'+2))), d' = d/α-β",
    regret_bound,
    hypotheses,
)


# What a finite horizon does


def scale(alpha: float, beta: float, dim: int) -> float:
    """d depths halve every side: cells need 2^(2 alpha) times the queries, and 2^(alpha d') times as many matter."""
    return 2.0 ** (alpha * (near_optimality_dimension(alpha, beta, dim) + 2))


def onset(constants: Constants, dim, *, nu, sigma, horizon) -> float:
    """An upper estimate of the T at which cells with a quarter of the largest gap are passed over.

    Below it HOO explores uniformly.  It takes cells with nu rho^h below half of that gap, and in each of them so many
    queries that the bonus is below the other half.
    """
    half = constants.M_a / 8
    log_cells = dim / constants.alpha * math.log(max(1.0, nu / half))
    log_queries = math.log(max(1.0, 8 * sigma**2 * math.log(horizon) / half**2))
    return math.exp(min(log_cells + log_queries, LATEST))
