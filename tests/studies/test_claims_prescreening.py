"""Prescreening: the rule as printed never excludes anything, and bounds on its failures hold."""

import numpy as np
import pytest
from scipy.stats import binomtest

from studies.claims.ledger import Effort, Verdict
from studies.claims.prescreening.experiment import Bowl, Prescreening, constant, corrected, logarithmic, printed

SMALL = Bowl(centre=(2.366025,), scale=0.25, half=10.0, per_axis=10, width=1.0, M=25.0)
FLAT = Bowl(centre=(2.4, -3.2), scale=0.25, half=10.0, per_axis=4, width=4.0, M=70.0)


@pytest.fixture(scope="module")
def tables():
    experiment = Prescreening(
        name="prescreening",
        title="?",
        question="?",
        bowls=(SMALL,),
        queries={1: (5, 40)},
        bands={"quick": 200},
        horizons={"quick": (10**3,)},
        replicates={"quick": 3},
    )
    return {name: part() for name, part in experiment.parts(Effort("quick")).items()}


def literal_band(bowl, X, Y):
    """One cell after the other."""
    lower, upper = [], []
    for corner in bowl.corners:
        inside = np.all((corner <= X) & (corner + bowl.side > X), axis=1)
        lower.append(Y[inside].mean() - bowl.width if inside.any() else -np.inf)
        upper.append(Y[inside].mean() + bowl.width if inside.any() else np.inf)
    return lower, upper


@pytest.mark.parametrize("bowl", [SMALL, FLAT])
def test_bands_against_one_cell_after_the_other(bowl, any_seed):
    X = np.random.default_rng(any_seed).uniform(-bowl.half, bowl.half, (1, 30, bowl.dim))
    rng = np.random.default_rng(any_seed)
    lower, upper, spent = bowl.screened(30, 1, rng)
    again = np.random.default_rng(any_seed)
    again.uniform(-bowl.half, bowl.half, (1, 30, bowl.dim))
    gaps = bowl.scale * ((X[0] - np.array(bowl.centre)) ** 2).sum(axis=1)
    expected = literal_band(bowl, X[0], gaps + again.standard_normal((1, 30))[0])
    np.testing.assert_allclose([lower[0], upper[0]], expected)
    assert spent[0] == pytest.approx(gaps.sum())


@pytest.mark.parametrize("bowl", [SMALL, FLAT])
def test_cells_against_many_points(bowl):
    u = np.random.default_rng(0).random((40_000, bowl.dim))
    values = np.array([bowl.gaps(corner + bowl.side * u) for corner in bowl.corners])
    assert bowl.means == pytest.approx(values.mean(axis=1), rel=0.05, abs=0.02)  # five standard errors and more
    assert np.all(values.min(axis=1) >= bowl.least - 1e-9)
    assert np.all(values.max(axis=1) <= bowl.most + 1e-9)
    assert bowl.least[bowl.star] == 0
    assert bowl.least[bowl.star] < np.delete(bowl.least, bowl.star).min()


def test_the_printed_rule_excludes_nothing_whatever_the_band(any_seed):
    rng = np.random.default_rng(any_seed)
    lower = rng.standard_cauchy((500, 8))
    upper = lower + rng.exponential(size=(500, 8))
    assert printed(lower, upper).all()
    assert not corrected(lower, upper).all()
    assert corrected(lower, upper)[np.arange(500), upper.argmin(axis=1)].all()


def test_failures_lie_between_their_bounds(any_seed):
    n, runs = 40, 4000
    lower, upper, _ = SMALL.screened(n, runs, np.random.default_rng(any_seed))
    kept = corrected(lower, upper)
    failed = int((~kept[:, SMALL.star] | kept[:, SMALL.most > SMALL.M].any(axis=1)).sum())
    assert binomtest(failed, runs, SMALL.bound(n), alternative="greater").pvalue > 1e-6
    assert binomtest(failed, runs, SMALL.floor(n), alternative="less").pvalue > 1e-6


def test_enough_queries_are_the_fewest_that_the_bound_allows():
    for T in (1e2, 1e6):
        n = SMALL.enough(T)
        assert SMALL.bound(n) <= 1 / T < SMALL.bound(n - 1)
        assert SMALL.floor(SMALL.needed(T)) <= 1 / T < SMALL.floor(SMALL.needed(T) - 1)
        assert SMALL.needed(T) <= n


def test_a_band_that_proves_nothing_is_refused():
    with pytest.raises(ValueError, match="half-width 9"):
        Bowl((2.4,), 0.25, 10.0, 10, 9.0, 25.0).rates()


def test_verdicts(tables):
    assert constant(tables).verdict is Verdict.REFUTED
    assert logarithmic(tables).verdict is Verdict.CONFIRMED
    assert (tables["totals"]["total"] > tables["totals"]["spent"]).all()


def test_a_rule_that_excludes_at_a_constant_cost_is_not_refuted(tables):
    bands = tables["bands"].assign(fewest_printed=3)
    assert constant({"bands": bands, "sizes": tables["sizes"]}).caveat  # still refuted, for its cost
    sizes = tables["sizes"].assign(needed=40)
    assert constant({"bands": bands, "sizes": sizes}).verdict is Verdict.INCONCLUSIVE


def test_failures_beyond_the_bound_and_queries_beyond_a_logarithm_refute(tables):
    bands, sizes = tables["bands"], tables["sizes"]
    often = bands.assign(failed=bands["runs"] - 1, bound=0.5)
    assert logarithmic({"bands": often, "sizes": sizes}).verdict is Verdict.REFUTED
    many = sizes.assign(enough=sizes["horizon"])
    assert logarithmic({"bands": bands, "sizes": many}).verdict is Verdict.REFUTED
