"""P. Zhao and L. Lai, "Optimal Stochastic Nonconvex Optimization with Bandit Feedback": Theorems 1 to 3 as data.

Where a printed rate can be corrected or sharpened, the second rate is a theorem of its own, so that reports show both.
"""

from __future__ import annotations

import math
from dataclasses import replace
from typing import TYPE_CHECKING

from ..claims import Theorem, Violation
from ..rates import Rate

if TYPE_CHECKING:
    from function_zoo import Constants


def D(alpha: float, beta: float, dim: int) -> float:
    """The dimension that governs adaptive bins and the lower bound."""
    return dim + 2 * alpha - alpha * beta


def D1(alpha: float, beta: float, dim: int) -> float:
    """The dimension that governs uniform bins, which gain nothing from a beta beyond 1."""
    return D(alpha, min(beta, 1.0), dim)


def least_mu(constants: Constants, dim: int, alpha: float | None = None) -> float:
    """The limit that mu must exceed in Theorem 2, run with the cost's alpha or with a given one."""
    alpha = constants.alpha if alpha is None else alpha
    return (1 + 2 ** (dim + alpha)) * constants.weakened(alpha).M


# Rates


def uniform_rate(alpha, beta, dim):
    """Theorem 1: R/T = O(T^(-alpha/D1) (ln T)^(1/(2-b))), b = min{beta, 1}."""
    return Rate(alpha / D1(alpha, beta, dim), 1 / (2 - min(beta, 1.0)))


def corrected_uniform_rate(alpha, beta, dim):
    """At beta = 1 the sum over bins of ln T / gap is a^-d ln T ln(1/a): a second logarithm."""
    printed = uniform_rate(alpha, beta, dim)
    return Rate(printed.exponent, 2.0) if math.isclose(beta, 1.0) else printed


def adaptive_rate(alpha, beta, dim):
    """Theorem 2: R/T = O(T^(-alpha/D) (ln T)^(beta + 1))."""
    return Rate(alpha / D(alpha, beta, dim), beta + 1)


def sharper_adaptive_rate(alpha, beta, dim):
    """The sum over levels is geometric; the best cut-off leaves (ln T)^(1 + alpha beta/D)."""
    return Rate(alpha / D(alpha, beta, dim), 1 + alpha * beta / D(alpha, beta, dim))


def minimax_rate(alpha, beta, dim):
    """Theorem 3: sup over functions near f0 of R/T = Omega(T^(-alpha/D))."""
    return Rate(alpha / D(alpha, beta, dim), 0.0)


def critical_rate(alpha, beta, dim):
    """beta = d/alpha: R/T = O(T^(-1/2) (ln T)^(d/alpha + 1)) in every dimension."""
    return Rate(0.5, dim / alpha + 1)


# Hypotheses


def assumption(c, dim):
    """Assumption 1, which all theorems make."""
    if not 0 < c.alpha <= 2:
        yield Violation("alpha", f"alpha = {c.alpha:g} lies outside (0, 2]")
    if c.beta > dim / c.alpha * (1 + 1e-9):
        yield Violation("beta", f"beta = {c.beta:g} exceeds d/alpha = {dim / c.alpha:g} (Proposition 1)")


def stronger_than_needed(c, dim):
    if not c.literal:
        yield "Assumption 1 (c) is printed for all a and holds as (c'), for a^alpha <= epsilon; the proofs use no more"


def theorem_width(c, dim, width="corrected"):
    """`width` is "corrected" (with min{beta, 1}), "printed" (with beta) or a given length."""
    yield from assumption(c, dim)
    if width == "printed":
        if c.beta > 1:
            yield Violation(
                "width",
                f"the printed width T^(-1/D) makes too many bins at beta = {c.beta:g} > 1; it must use min{{beta, 1}}",
            )
    elif width != "corrected":
        yield Violation("width", f"width = {width:g} is given, where the theorem's shrinks with T")


def large_mu(c, dim, mu=None, alpha=None):
    """`mu` and `alpha` are those that the algorithm runs with."""
    yield from assumption(c, dim)
    if mu is not None and mu < least_mu(c, dim) * (1 - 1e-12):  # the theorem asks for more, by however little
        yield Violation("mu", f"mu = {mu:g} is below (1 + 2^(d + alpha)) M = {least_mu(c, dim):.4g}")
    if alpha is not None and not math.isclose(alpha, c.alpha):
        higher = ("exceeds", "the largest for which (b) is known to hold")
        side, why = higher if alpha > c.alpha else ("is below", "and sets the rate")
        yield Violation("alpha", f"alpha = {alpha:g} {side} the cost's alpha = {c.alpha:g}, {why}")


def at_the_critical_beta(c, dim, **settings):
    yield from large_mu(c, dim, **settings)
    if not math.isclose(c.beta, dim / c.alpha):
        yield Violation("beta", f"beta = {c.beta:g} is not d/alpha = {dim / c.alpha:g}")


# The theorems; a correction stands before the theorem that it corrects

theorem1_corrected = Theorem(
    "Theorem 1, corrected",
    "upper",
    "as Theorem 1, but (ln T)^2 at β = 1",
    corrected_uniform_rate,
    theorem_width,
    stronger_than_needed,
)
theorem1 = Theorem(
    "Theorem 1",
    "upper",
    "uniform bins: R/T = O(T^(-α/(d+2α-α min{β,1})) (ln T)^(1/(2-min{β,1})))",
    uniform_rate,
    theorem_width,
    stronger_than_needed,
    corrected=theorem1_corrected,
)
theorem2_sharper = Theorem(
    "Theorem 2, sharper",
    "upper",
    "as Theorem 2, but (ln T)^(1+αβ/D)",
    sharper_adaptive_rate,
    large_mu,
    stronger_than_needed,
)
theorem2 = Theorem(
    "Theorem 2",
    "upper",
    "adaptive bins: R/T = O(T^(-α/D) (ln T)^(β+1)), D = d+2α-αβ",
    adaptive_rate,
    large_mu,
    stronger_than_needed,
    corrected=theorem2_sharper,
)
theorem3 = Theorem(
    "Theorem 3",
    "lower",
    "any strategy, supremum over functions near f0: R/T = Ω(T^(-α/D))",
    minimax_rate,
    assumption,
    stronger_than_needed,
    per_cost=False,
)
critical = replace(
    theorem2,
    name="Theorem 2 at β = d/α",
    statement="adaptive bins: R/T = O(T^(-1/2) (ln T)^(d/α+1)) in every dimension",
    formula=critical_rate,
    hypotheses=at_the_critical_beta,
)
# Run with alpha0 < alpha: Theorem 2 for the constants that Constants.weakened gives.
misspecified = replace(
    theorem2,
    name="Theorem 2, α0 < α",
    statement="adaptive bins run with α0 < α: the rate of α0",
    corrected=replace(theorem2_sharper, name="Theorem 2, α0 < α, sharper", statement="as Theorem 2, sharper, at α0"),
)


# What a finite horizon does


def period(alpha: float, beta: float, dim: int) -> float:
    """Cells halve and capacities grow by 2^(2 alpha) per level: the regret repeats itself when T grows by 2^D."""
    return 2.0 ** D(alpha, beta, dim)


def onset(constants: Constants, dim, *, mu, a0, side, horizon) -> float:
    """An upper estimate of the T at which pruning starts; below it the adaptive method explores uniformly.

    Cells of level k are pruned once the largest gap exceeds about 2^(-alpha k) (mu a0^alpha + ln T).
    """
    alpha = constants.alpha
    levels = max(1.0, (mu * a0**alpha + math.log(horizon)) / constants.M_a)
    return (side / a0) ** dim * levels ** ((dim + 2 * alpha) / alpha)


def queries_per_bin(constants: Constants, horizon) -> float:
    """From so many queries on, the bonus sqrt(8 ln T / n) is below the largest gap."""
    return 8 * math.log(horizon) / constants.M_a**2


def uniform_onset(constants: Constants, dim, needed) -> float:
    """The T at which each of T^(d/D1) bins has the queries that it needs: where Algorithm 1 starts to choose."""
    exponent, without_bins = (D1(constants.alpha, constants.beta, d) for d in (dim, 0))
    return max(1.0, needed) ** (exponent / without_bins)
