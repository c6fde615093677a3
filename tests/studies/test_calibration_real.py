"""Pools of real runs: kernels against literal transcriptions, pools against theory."""

import math
from functools import cache

import numpy as np
import pytest
from scipy import stats

from ratecheck.sampling.generator import open_state
from studies.calibration import real
from studies.calibration.real import HORIZONS, REAL, SIZE, commitments, named, runs, sample
from tests.reference_random import Random

SHORT = np.array([7, 100, 1500])


def words(seed):
    return open_state(np.random.SeedSequence(seed))


# Literal transcriptions: each yields what step t = 1, 2, … costs.


def bandit(gaps, choose, reward):
    """`choose(t, rewards so far of each arm)` names the arm, t the pulls so far."""
    rewards = [[] for _ in gaps]
    t = 0
    while True:
        k = choose(t, rewards)
        rewards[k].append(reward(gaps[k]))
        t += 1
        yield k


def argmax(values):
    return values.index(max(values))


def mean(y):
    return sum(y) / len(y)


def after_one_each(choose):
    return lambda t, rewards: t if t < len(rewards) else choose(t, rewards)


def gamma(rng, a):
    d = a - 1.0 / 3.0
    while True:
        x = rng.standard_normal()
        v = 1.0 + 1.0 / math.sqrt(9.0 * d) * x
        if v > 0:
            v = v * v * v
            u = 1.0 - rng.random()
            if u < 1.0 - 0.0331 * x**4 or math.log(u) < 0.5 * x * x + d * (1.0 - v + math.log(v)):
                return d * v


def beta(rng, a, b):
    x = gamma(rng, a)
    return x / (x + gamma(rng, b))


def normal_reward(rng):
    return lambda gap: rng.standard_normal() - gap


def bernoulli_reward(rng):
    return lambda gap: 1.0 if rng.random() < 0.5 - gap else 0.0


def thompson_gaussian(rng, gaps):
    def choose(t, rewards):
        return argmax([mean(y) + rng.standard_normal() / math.sqrt(len(y)) for y in rewards])

    return bandit(gaps, after_one_each(choose), normal_reward(rng))


def thompson_beta(rng, gaps):
    def choose(t, rewards):
        return argmax([beta(rng, 1.0 + y.count(1.0), 1.0 + y.count(0.0)) for y in rewards])

    return bandit(gaps, choose, bernoulli_reward(rng))


def ucb1(rng, gaps):
    def choose(t, rewards):
        return argmax([mean(y) + math.sqrt(2.0 * math.log(t) / len(y)) for y in rewards])

    return bandit(gaps, after_one_each(choose), bernoulli_reward(rng))


def epsilon_greedy(rng, gaps, epsilon, power):
    def choose(t, rewards):
        if rng.random() < epsilon * t**-power:
            return int(rng.random() * len(gaps))
        return argmax([mean(y) for y in rewards])

    return bandit(gaps, after_one_each(choose), normal_reward(rng))


def sgd_quadratic(rng, c, x):
    t = 1
    while True:
        yield 0.5 * x * x
        x -= c / t * (x + rng.standard_normal())
        t += 1


def sgd_modulus(rng, x):
    edge, t = x, 1
    while True:
        yield abs(x)
        x = float(np.clip(x - (np.sign(x) + rng.standard_normal()) / math.sqrt(t), -edge, edge))
        t += 1


def monte_carlo(rng):
    values = []
    total = 0.0
    while True:
        values.append(math.exp(rng.random()))
        total += values[-1]
        yield abs(total / len(values) - (math.e - 1.0))


ARMS = [(0.0, 0.1), (0.3, 0.0, 0.1)]
BANDITS = {
    "thompson_gaussian": (thompson_gaussian, ()),
    "thompson_beta": (thompson_beta, ()),
    "ucb1": (ucb1, ()),
    "epsilon_greedy": (epsilon_greedy, (0.2, 0.0)),
    "epsilon_greedy, falling": (epsilon_greedy, (1.0, 1 / 3)),
}


@pytest.mark.parametrize("gaps", ARMS)
@pytest.mark.parametrize("name", BANDITS)
def test_bandits_against_a_literal_version(name, gaps, any_seed):
    literal, settings = BANDITS[name]
    seen = np.empty(len(SHORT))
    n, total = np.full(len(gaps), 5), np.full(len(gaps), 5.0)  # what an earlier run left
    getattr(real, literal.__name__)(words(any_seed), *settings, np.array(gaps), n, total, SHORT, seen)
    arms = literal(Random(words(any_seed)), gaps, *settings)
    pulled = [next(arms) for _ in range(SHORT[-1])]
    assert n.tolist() == [pulled.count(k) for k in range(len(gaps))]
    assert seen.tolist() == [sum(gap * pulled[:T].count(k) for k, gap in enumerate(gaps)) for T in SHORT]


@pytest.mark.parametrize(
    ("literal", "settings"), [(sgd_quadratic, (0.75, 10.0)), (sgd_modulus, (5.0,)), (monte_carlo, ())]
)
def test_sums_against_a_literal_version(literal, settings, any_seed):
    seen = np.empty(len(SHORT))
    getattr(real, literal.__name__)(words(any_seed), *settings, SHORT, seen)
    steps = literal(Random(words(any_seed)), *settings)
    costs = [next(steps) for _ in range(SHORT[-1])]
    assert seen.tolist() == np.cumsum(costs)[SHORT - 1].tolist()


@pytest.mark.parametrize("gaps", ARMS)
def test_commitments_against_a_literal_version(gaps, any_seed):
    m, T = 40, 1000
    found = real.explore_then_commit(words(any_seed), m, T, np.array(gaps), np.full(len(gaps), 5.0))
    rng = Random(words(any_seed))
    best = argmax([sum(rng.standard_normal() - gap for _ in range(m)) for gap in gaps])
    assert found == sum(m * gap for gap in gaps) + (T - len(gaps) * m) * gaps[best]


@pytest.mark.parametrize("a", [1.0, 2.5, 1000.0])
def test_gammas_follow_their_law(a, any_seed):
    rng = Random(words(any_seed))
    assert stats.kstest([gamma(rng, a) for _ in range(2000)], stats.gamma(a).cdf).pvalue > 1e-6


# Pools


def test_a_run_depends_on_its_name_alone():
    few, more = (runs(real.sgd_quadratic, 0.75, 3.0, size=size) for size in (3, 5))
    assert few.tolist() == more[:3].tolist()
    assert runs.__wrapped__(real.sgd_quadratic, 0.75, 3.0, size=5).tolist() == more.tolist()
    assert len(np.unique(more)) == more.size
    few, more = (commitments((0.0, 0.1), size) for size in (3, 5))
    assert few.tolist() == more[:3].tolist()


def test_a_pool_is_made_once_and_stays_as_it_is():
    pool = named("commit").pool()
    assert named("commit").pool() is pool
    assert pool.shape == (8 * SIZE, len(HORIZONS))
    with pytest.raises(ValueError, match="read-only"):
        pool[0, 0] = 1.0


def test_names_and_bounds_are_sound():
    assert len({r.name for r in REAL}) == len(REAL)
    T = np.array([1e100, 1e200])
    for r in REAL:
        assert r.truth in r.right
        for rate in r.right:
            assert np.all(np.diff(np.log(rate.regret(T)) - np.log(r.truth.regret(T))) >= 0), (r.name, str(rate))
        for rate in r.wrong:
            assert np.all(np.diff(np.log(rate.regret(T)) - np.log(r.truth.regret(T))) < 0), (r.name, str(rate))


@pytest.mark.parametrize("anytime", [True, False])
def test_samples_keep_runs_together_if_they_are_runs(anytime):
    pool = np.arange(1.0, 1.0 + 40 * len(HORIZONS)).reshape(40, -1)
    data = sample(real.Real("", "", lambda: pool, None, (), (), anytime), np.random.default_rng(0), 30)
    assert data.anytime == anytime
    assert data.horizons.tolist() == HORIZONS.tolist()
    rows, columns = np.divmod(np.column_stack(data.samples).astype(int) - 1, len(HORIZONS))
    assert rows.shape == (30, len(HORIZONS))
    assert np.all(columns == np.arange(len(HORIZONS)))
    assert np.all(rows == rows[:, :1]) == anytime
    assert len(np.unique(rows[:, 0])) > 10


# Pools against theory: what the mean gains from 2^16 to 2^19, and the mean's slope over these doublings.  Tolerances
# are relative for the gain, absolute for the slope, which is held against that of the true rate.

FROM, TO = 2**16, 2**19


def lai_robbins(gap, information):
    """gap ln T / information; second-order terms are negative and still count."""
    return gap / information * math.log(TO / FROM)


def balanced(gap):
    """UCB1's pulls n of the worse arm make both indices equal: sqrt(2 ln T / n) = gap + sqrt(2 ln T / (T - n))."""

    def regret(T):
        n = 0.0
        for _ in range(100):
            n = 2 * math.log(T) / (gap + math.sqrt(2 * math.log(T) / (T - n))) ** 2
        return gap * n

    return regret(TO) - regret(FROM)


def exploring(gap, epsilon, power):
    """Half of the explorations go to the worse arm."""
    return gap / 2 * epsilon * (TO ** (1 - power) - FROM ** (1 - power)) / (1 - power)


def kl(p, q):
    return p * math.log(p / q) + (1 - p) * math.log((1 - p) / (1 - q))


SD_EXP = math.sqrt((math.e**2 - 1) / 2 - (math.e - 1) ** 2)
ROOTS = 2 * (math.sqrt(TO) - math.sqrt(FROM))
THEORY = {  # gain, its tolerance; tolerance of the slope
    "thompson": (lai_robbins(0.1, 0.1**2 / 2), 0.4, 0.1),
    "thompson-small": (lai_robbins(0.05, 0.05**2 / 2), 0.4, 0.1),
    "thompson-beta": (lai_robbins(0.05, kl(0.45, 0.5)), 0.3, 0.1),
    "ucb1": (balanced(0.1), 0.1, 0.15),
    "ucb1-small": (balanced(0.05), 0.1, 0.2),
    "greedy-fixed": (exploring(0.5, 0.01, 0.0), 0.02, 0.2),
    "greedy-falling": (exploring(0.2, 1.0, 1 / 3), 0.02, 0.04),
    "sgd-far": (0.75**2 / (2 * 0.75 - 1) / 2 * math.log(TO / FROM), 0.2, 0.1),
    "sgd-near": (0.75**2 / (2 * 0.75 - 1) / 2 * math.log(TO / FROM), 0.2, 0.1),
    "sgd-modulus": (ROOTS, 0.02, 0.02),  # E x^2 keeps its size: 2 eta E |x| = eta^2 (1 + 1)
    "monte-carlo": (SD_EXP * math.sqrt(2 / math.pi) * ROOTS, 0.1, 0.05),
}


@pytest.mark.slow
@pytest.mark.parametrize("name", THEORY)
def test_pools_against_theory(name):
    gain, gain_tolerance, slope_tolerance = THEORY[name]
    pool = named(name).pool(size=SIZE // 2)  # the first half of the pool
    assert pool.shape == (SIZE // 2, len(HORIZONS))
    assert np.all(np.diff(pool, prepend=0.0) >= 0)
    means = dict(zip(HORIZONS.tolist(), pool.mean(axis=0), strict=True))
    assert means[TO] - means[FROM] == pytest.approx(gain, rel=gain_tolerance)
    truth = np.diff(np.log(named(name).truth.regret([FROM, TO])))[0]
    slope = math.log(means[TO] / means[FROM])
    assert abs(slope - truth) / math.log(TO / FROM) < slope_tolerance


def test_commitments_err_as_often_as_they_should():
    """Right or wrong at T, wrong with the probability that a normal exceeds gap sqrt(m / 2)."""
    gap = 0.1
    for T, regrets in zip(HORIZONS, named("commit").pool().T, strict=True):
        m = round(T ** (2 / 3))
        wrong = regrets > gap * m * 1.5
        np.testing.assert_allclose(regrets, np.where(wrong, gap * (T - m), gap * m))
        assert stats.binomtest(int(wrong.sum()), len(regrets), stats.norm.sf(gap * math.sqrt(m / 2))).pvalue > 1e-6


@cache
def expected_sgd(c, x):
    """E x_{t+1}^2 = (1 - c / t)^2 E x_t^2 + c^2 / t^2, summed."""
    square, total, sums = x * x, 0.0, []
    for t in range(1, TO + 1):
        total += square / 2
        square = (1 - c / t) ** 2 * square + (c / t) ** 2
        sums.append(total)
    return np.array(sums)[HORIZONS - 1]


@pytest.mark.slow
@pytest.mark.parametrize(("name", "x"), [("sgd-far", 10.0), ("sgd-near", 3.0)])
def test_sums_on_a_quadratic_have_their_exact_means(name, x):
    pool = named(name).pool()
    error = pool.std(axis=0, ddof=1) / math.sqrt(len(pool))
    assert np.all(np.abs(pool.mean(axis=0) - expected_sgd(0.75, x)) < 5 * error)
