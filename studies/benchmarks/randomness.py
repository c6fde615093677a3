"""Whether draws are independent and of their law: p-values from a stream of blocks, however long.

Kolmogorov-Smirnov and Anderson-Darling compare the counts below 2^16 quantiles with their expectation.  Between two
quantiles a Brownian bridge moves by 0.004, so the p-values are those of the exact statistics but for a hundredth part.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass

import numpy as np
from scipy import stats
from scipy.special import kolmogorov, ndtr

from ratecheck.kernels import compiled, generator

BLOCK = 2**17
BINS = 2**16
ORDERS = range(1, 9)
LAGS = 32


@dataclass(frozen=True)
class Law:
    """Blocks of draws with mean 0 and variance 1, their distribution function and what theory knows of them."""

    fill: Callable
    standardised: Callable
    cdf: Callable  # of the draws as they come
    moment: Callable
    beyond: tuple[float, ...] = ()


def normal_moment(k):
    return 0.0 if k % 2 else float(math.prod(range(k - 1, 0, -2)))


def uniform_moment(k):
    return 0.0 if k % 2 else 3.0 ** (k // 2) / (k + 1)


@compiled
def fill_normal(state, out):
    """Normals from a state, which moves on."""
    s0, s1, s2, s3 = state[0], state[1], state[2], state[3]
    for k in range(out.size):
        out[k], s0, s1, s2, s3 = generator.normal(s0, s1, s2, s3)
    state[0], state[1], state[2], state[3] = s0, s1, s2, s3


LAWS = {
    "uniform": Law(generator.fill, lambda u: (u - 0.5) * math.sqrt(12.0), lambda u: u, uniform_moment),
    "normal": Law(fill_normal, lambda z: z, ndtr, normal_moment, beyond=(4.0, 5.0, 6.0)),
}


def examine(law: Law, state, draws: int) -> list[tuple[str, float, float]]:
    """Rows of (what, statistic, p-value) for this many draws, rounded up to whole blocks."""
    powers, counts = np.zeros(len(ORDERS)), np.zeros(BINS)
    products, of_squares = np.zeros((2, LAGS))
    beyond = np.zeros(len(law.beyond))
    spread = math.sqrt(law.moment(4) - 1.0)
    block = np.empty(BLOCK)
    blocks = -(-draws // BLOCK)
    for _ in range(blocks):
        law.fill(state, block)
        counts += np.bincount(np.minimum(law.cdf(block) * BINS, BINS - 1).astype(np.intp), minlength=BINS)
        x = law.standardised(block)
        squares = (x * x - 1.0) / spread
        add_products(x, products)
        add_products(squares, of_squares)
        beyond += [np.count_nonzero(abs(x) > sigmas) for sigmas in law.beyond]
        power = np.ones(BLOCK)
        for k in ORDERS:
            power *= x
            powers[k - 1] += power.sum()
    n = blocks * BLOCK
    root_pairs = math.sqrt(blocks * (BLOCK - LAGS))
    return [
        *(moment_row(law, k, powers[k - 1] / n, n) for k in ORDERS),
        *distribution_rows(counts),
        *(tail_row(sigmas, count, n) for sigmas, count in zip(law.beyond, beyond, strict=True)),
        chi_square_row(f"correlation, lags 1 to {LAGS}", products / root_pairs),
        chi_square_row(f"correlation of squares, lags 1 to {LAGS}", of_squares / root_pairs),
    ]


@compiled
def add_products(x, sums):
    """Add x[t] x[t + k] to sums[k - 1] for all t: lags inside, which the processor takes several at a time."""
    for t in range(x.size - sums.size):
        for k in range(sums.size):
            sums[k] += x[t] * x[t + 1 + k]


def moment_row(law, k, mean, n):
    error = math.sqrt((law.moment(2 * k) - law.moment(k) ** 2) / n)
    z = (mean - law.moment(k)) / error
    return f"moment {k}, in standard errors", z, 2 * stats.norm.sf(abs(z))


def distribution_rows(counts):
    n = counts.sum()
    quantile = np.arange(1, BINS) / BINS
    bridge = (np.cumsum(counts)[:-1] - n * quantile) / math.sqrt(n)
    largest = abs(bridge).max()
    squares = (bridge**2 / (quantile * (1 - quantile))).sum() / BINS
    return [
        ("Kolmogorov-Smirnov, √n D", largest, kolmogorov(largest)),
        ("Anderson-Darling, A²", squares, anderson_darling(squares)),
    ]


def tail_row(sigmas, count, n):
    share = 2 * stats.norm.sf(sigmas)
    found = stats.binomtest(int(count), n, share)
    return f"beyond {sigmas:g} σ, {share * n:.4g} expected", count, found.pvalue


def chi_square_row(what, z):
    return f"{what}: χ²({z.size})", (z**2).sum(), stats.chi2.sf((z**2).sum(), z.size)


def across_streams(law: Law, seed: int, streams: int, draws: int) -> list[tuple[str, float, float]]:
    """Rows for the correlations between streams of neighbouring seeds, at the same time and a draw apart."""
    block = np.empty((streams, draws))
    for k in range(streams):
        law.fill(generator.open_state(np.random.SeedSequence(seed + k)), block[k])
    x = law.standardised(block)
    now = (x @ x.T)[np.triu_indices(streams, 1)] / math.sqrt(draws)
    later = (x[:, :-1] @ x[:, 1:].T).ravel() / math.sqrt(draws - 1)
    return [
        chi_square_row(f"correlation of {streams} streams", now),
        chi_square_row(f"correlation of {streams} streams, a draw apart", later),
    ]


def anderson_darling(statistic: float) -> float:
    """P(A² > statistic) for many draws from a known law.

    A² is then the sum of Z_j² / (j (j + 1)) (Anderson and Darling 1952), whose tail is Smirnov's alternating sum of
    integrals of exp(-u A² / 2) / (u sqrt |D(u)|) over (2k - 1) 2k < u < 2k (2k + 1), here with D(u) =
    -cos(π/2 sqrt(1 + 4 u)) / (π u) and sqrt(1 + 4 u) = 4 k + sin t, which leaves nothing singular.
    """
    nodes, weights = np.polynomial.legendre.leggauss(64)
    t = nodes * math.pi / 2
    k = np.arange(1, 101)[:, None]
    root = 4 * k + np.sin(t)
    u = (root**2 - 1) / 4
    smooth = np.cos(t) / np.sqrt(np.cos(math.pi / 2 * np.sin(t)))
    integrals = (np.exp(-statistic * u / 2) * np.sqrt(math.pi / u) * root / 2 * smooth) @ weights * math.pi / 2
    return float(np.clip(((-1.0) ** (k.ravel() + 1) * integrals).sum() / math.pi, 0.0, 1.0))
