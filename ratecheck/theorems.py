"""The theorems of Zhao and Lai as data: each a rate, a direction, and hypotheses to check.

D = d + 2 alpha - alpha beta throughout.  Where a printed rate can be corrected or sharpened, the second rate is a
theorem of its own, so that reports show both.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass

from .rates import Rate

NEVER = ()


@dataclass(frozen=True)
class Theorem:
    """A claim about an algorithm's regret, for costs with given constants.

    `rate(constants, dim)` is what it promises; `kind` says whether R grows at most ("upper") or at least ("lower") so
    fast; `violated(constants, dim)` names the hypotheses that a cost or a setting does not meet and without which
    nothing is promised; `remarks(constants, dim)` names those that are printed but that no proof needs.
    """

    name: str
    kind: str
    statement: str
    formula: Callable
    hypotheses: Callable
    algorithm: str | None = None  # None: any strategy
    per_cost: bool = True  # False: it speaks of a supremum over costs, so that no single cost refutes it
    corrected: Theorem | None = None  # the same claim with the log power that theory puts in place of the printed one

    def rate(self, constants, dim: int, **settings) -> Rate:
        return self.formula(constants.alpha, constants.beta, dim, **settings)

    def violated(self, constants, dim: int, **settings) -> tuple[str, ...]:
        return tuple(_assumption(constants, dim)) + tuple(self.hypotheses(constants, dim, **settings))

    def remarks(self, constants, dim: int) -> tuple[str, ...]:
        return tuple(_stronger_than_needed(constants))


def _assumption(c, dim):
    if not 0 < c.alpha <= 2:
        yield f"alpha = {c.alpha:g} lies outside (0, 2]"
    if c.beta > dim / c.alpha * (1 + 1e-9):
        yield f"beta = {c.beta:g} exceeds d/alpha = {dim / c.alpha:g} (Proposition 1)"


def _stronger_than_needed(c):
    if not c.literal:
        yield "Assumption 1 (c) is printed for all a and holds as (c'), for a^alpha <= epsilon; the proofs use no more"


# Rates


def uniform_rate(alpha, beta, dim):
    """Theorem 1: R/T = O(T^(-alpha/(d + 2 alpha - alpha b)) (ln T)^(1/(2-b))), b = min{beta, 1}."""
    b = min(beta, 1.0)
    return Rate(alpha / (dim + 2 * alpha - alpha * b), 1 / (2 - b))


def corrected_uniform_rate(alpha, beta, dim):
    """At beta = 1 the sum over bins of ln T / gap is a^-d ln T ln(1/a): a second logarithm."""
    printed = uniform_rate(alpha, beta, dim)
    return Rate(printed.exponent, 2.0) if math.isclose(beta, 1.0) else printed


def adaptive_rate(alpha, beta, dim):
    """Theorem 2: R/T = O(T^(-alpha/D) (ln T)^(beta + 1))."""
    return Rate(alpha / (dim + 2 * alpha - alpha * beta), beta + 1)


def sharper_adaptive_rate(alpha, beta, dim):
    """The sum over levels is geometric; the best cut-off leaves (ln T)^(1 + alpha beta/D)."""
    D = dim + 2 * alpha - alpha * beta
    return Rate(alpha / D, 1 + alpha * beta / D)


def minimax_rate(alpha, beta, dim):
    """Theorem 3: sup over functions near f0 of R/T = Omega(T^(-alpha/D))."""
    return Rate(alpha / (dim + 2 * alpha - alpha * beta), 0.0)


def critical_rate(alpha, beta, dim):
    """beta = d/alpha: R/T = O(T^(-1/2) (ln T)^(d/alpha + 1)) in every dimension."""
    return Rate(0.5, dim / alpha + 1)


def misspecified_rate(alpha, beta, dim, alpha0=None):
    """Algorithm 2 run with alpha0 <= alpha: the rate that alpha0 alone would give."""
    return adaptive_rate(alpha if alpha0 is None else alpha0, beta, dim)


def sharper_misspecified_rate(alpha, beta, dim, alpha0=None):
    """A cost that satisfies Assumption 1 with alpha satisfies it with alpha0, so the sharper power carries over."""
    return sharper_adaptive_rate(alpha if alpha0 is None else alpha0, beta, dim)


# What a finite horizon does


def onset(constants, dim, mu, a0, side, horizon):
    """An upper estimate of the T at which pruning starts; below it the adaptive method explores uniformly.

    Cells of level k are pruned once the largest gap exceeds about 2^(-alpha k) (mu a0^alpha + ln T).
    """
    alpha = constants.alpha
    levels = max(1.0, (mu * a0**alpha + math.log(horizon)) / constants.M_a)
    return (side / a0) ** dim * levels ** ((dim + 2 * alpha) / alpha)


def uniform_onset(constants, dim, horizon):
    """The T at which the bonus of evenly queried bins falls below the largest gap: where Algorithm 1 starts to choose.

    With T / m queries in each of m = T^(d/D1) bins, D1 the D of Theorem 1, the bonus is sqrt(8 ln T m / T).
    """
    alpha, b = constants.alpha, min(constants.beta, 1.0)
    needed = 8 * math.log(horizon) / constants.M_a**2
    return max(1.0, needed) ** ((dim + 2 * alpha - alpha * b) / (2 * alpha - alpha * b))


# Hypotheses beyond Assumption 1


def _any_width(c, dim):
    return NEVER


def _printed_width(c, dim, width="corrected"):
    if width == "printed" and c.beta > 1:
        yield f"the printed width T^(-1/D) makes too many bins at beta = {c.beta:g} > 1; it must use min{{beta, 1}}"


def _large_mu(c, dim, mu=None):
    least = (1 + 2 ** (dim + c.alpha)) * c.M
    if mu is not None and mu < least * (1 - 1e-12):  # the theorem asks for more than that, by however little
        yield f"mu = {mu:g} is below (1 + 2^(d + alpha)) M = {least:.4g}"


def _critical(c, dim, mu=None):
    yield from _large_mu(c, dim, mu)
    if not math.isclose(c.beta, dim / c.alpha):
        yield f"beta = {c.beta:g} is not d/alpha = {dim / c.alpha:g}"


def _strongly_convex(c, dim, mu=None):
    yield from _critical(c, dim, mu)
    if c.alpha != 2:
        yield f"alpha = {c.alpha:g} is not 2: no bounded positive Hessian"


def _smaller_alpha(c, dim, alpha0=None, mu=None):
    yield from _large_mu(c, dim, mu)
    if alpha0 is not None and alpha0 > c.alpha:
        yield f"alpha0 = {alpha0:g} exceeds alpha = {c.alpha:g}"


# A correction stands before the theorem that it corrects.

theorem1_corrected = Theorem(
    "Theorem 1, corrected",
    "upper",
    "as Theorem 1, but (ln T)^2 at β = 1",
    corrected_uniform_rate,
    _printed_width,
    "UniformBins",
)
theorem1 = Theorem(
    "Theorem 1",
    "upper",
    "uniform bins: R/T = O(T^(-α/(d+2α-α min{β,1})) (ln T)^(1/(2-min{β,1})))",
    uniform_rate,
    _printed_width,
    "UniformBins",
    corrected=theorem1_corrected,
)
theorem2_sharper = Theorem(
    "Theorem 2, sharper",
    "upper",
    "as Theorem 2, but (ln T)^(1+αβ/D)",
    sharper_adaptive_rate,
    _large_mu,
    "AdaptiveBins",
)
theorem2 = Theorem(
    "Theorem 2",
    "upper",
    "adaptive bins: R/T = O(T^(-α/D) (ln T)^(β+1)), D = d+2α-αβ",
    adaptive_rate,
    _large_mu,
    "AdaptiveBins",
    corrected=theorem2_sharper,
)
theorem3 = Theorem(
    "Theorem 3",
    "lower",
    "any strategy, supremum over functions near f0: R/T = Ω(T^(-α/D))",
    minimax_rate,
    _any_width,
    per_cost=False,
)
critical = Theorem(
    "Theorem 2 at β = d/α",
    "upper",
    "adaptive bins: R/T = O(T^(-1/2) (ln T)^(d/α+1)) in every dimension",
    critical_rate,
    _critical,
    "AdaptiveBins",
    corrected=theorem2_sharper,
)
strongly_convex = Theorem(
    "Theorem 2, strongly convex",
    "upper",
    "adaptive bins on strongly convex costs: R/T = Õ(T^(-1/2))",
    critical_rate,
    _strongly_convex,
    "AdaptiveBins",
    corrected=theorem2_sharper,
)
misspecified_sharper = Theorem(
    "Theorem 2, α0 < α, sharper",
    "upper",
    "as Theorem 2, sharper, at α0",
    sharper_misspecified_rate,
    _smaller_alpha,
    "AdaptiveBins",
)
misspecified = Theorem(
    "Theorem 2, α0 < α",
    "upper",
    "adaptive bins run with α0 < α: the rate of α0",
    misspecified_rate,
    _smaller_alpha,
    "AdaptiveBins",
    corrected=misspecified_sharper,
)
PRINTED = (theorem1, theorem2, theorem3, critical, strongly_convex, misspecified)
ALL = (*PRINTED, theorem1_corrected, theorem2_sharper, misspecified_sharper)
