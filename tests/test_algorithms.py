"""The contract of ratecheck/testing.py, run over every algorithm: ours, those of other papers, those of others.

A new algorithm joins by its registration alone.
"""

from dataclasses import replace

import numpy as np
import pytest

import function_zoo as zoo
import ratecheck as rc
from ratecheck.algorithms.registry import ENTRIES, NAMED, defaults, named
from ratecheck.claims import Claim
from ratecheck.engine import simulate as engine
from ratecheck.engine.simulate import Job, begin, simulate
from ratecheck.rates import Rate
from ratecheck.testing import CLAUSES
from studies.benchmarks.compiled import EXAMPLES
from tests.strategies import ExploreThenCommit, RandomSearch
from tests.test_zoo import every_cost

REGISTERED = {entry.name: entry.load()() for entry in NAMED.values()}
PLUGGED_IN = {
    "ask/tell": rc.AskTell(ExploreThenCommit, promise=Rate(1 / 3, 1.0)),
    "ask/tell, anytime": rc.AskTell(RandomSearch, anytime=True, promise=Rate(0.0)),
    **{f"compiled {name}": replace(example.algorithm(2), promise=Rate(0.0)) for name, example in EXAMPLES.items()},
}
ALL = REGISTERED | PLUGGED_IN
SETTINGS = [rc.AdaptiveBins(mu="min"), rc.AdaptiveBins(mu="theorem"), rc.HOO(nu="min")]
COST = zoo.get("cone", 2)
HORIZONS = [20, 60, 200]

every_algorithm = pytest.mark.parametrize("algorithm", ALL.values(), ids=ALL)


def table(algorithm, **changes):
    runs = simulate(algorithm, **{"cost": COST, "horizons": HORIZONS, "replicates": 3, "workers": 1} | changes)
    return runs.frame


@every_algorithm
def test_it_keeps_to_the_contract(algorithm):
    rc.testing.check_algorithm(algorithm, [COST], elsewhere=not algorithm.compiled)


@every_algorithm
def test_names_tell_settings_apart(algorithm):
    others = [other for other in (*ALL.values(), *SETTINGS) if other != algorithm]
    assert algorithm.label not in [other.label for other in others]


@every_algorithm
def test_another_seed_gives_another_run(algorithm):
    assert not table(algorithm)["regret"].equals(table(algorithm, seed=1)["regret"])


@every_algorithm
def test_streams_belong_to_runs(algorithm):
    streams = table(algorithm).groupby("replicate")["stream"].nunique()
    assert set(streams) == {1 if algorithm.anytime else len(HORIZONS)}


@every_algorithm
def test_a_level_rule_foretells_the_same_partitions(algorithm):
    if not hasattr(algorithm, "level_rule"):
        return
    found = rc.predict(algorithm, COST, HORIZONS, alignments=3)
    assert np.all(np.diff(found.regret) > 0)
    assert found.frame["side"].tolist() == table(algorithm).sort_values(["horizon", "replicate"])["side"].tolist()


@every_algorithm
def test_regret_is_what_the_queries_cost(algorithm):
    """Between the best and the worst value of the cost on the box and its margin, at every step."""
    settled = algorithm.settle(COST)
    run, _ = begin(settled, COST, horizon=60, replicate=0)
    before = 0.0
    for t in range(1, 61):
        run.advance(t)
        step, before = run.regret - before, run.regret
        assert -1e-9 <= step <= 2 * COST.constants.M_a


@every_cost
@every_algorithm
def test_claims_for_every_cost_of_the_zoo(algorithm, name, dim):
    cost = zoo.get(name, dim)
    CLAUSES["claims"](algorithm, cost)
    claims = algorithm.settle(cost).claims(cost)
    assert any(claim.per_cost for claim in claims)
    for claim in claims:
        assert len({violation.name for violation in claim.violated}) == len(claim.violated)
        assert Claim.from_json({**vars(claim), "printed": vars(claim.printed), "corrected": _plain(claim)}) == claim


def _plain(claim):
    return claim.corrected and vars(claim.corrected)


@every_cost
@every_algorithm
def test_what_theory_says_beforehand_is_a_number(algorithm, name, dim):
    cost = zoo.get(name, dim)
    CLAUSES["what theory says beforehand is a number"](algorithm, cost)
    assert algorithm.settle(cost).seconds_per_step(cost, 2**20) < 1e-3


@pytest.mark.parametrize("algorithm", REGISTERED.values(), ids=REGISTERED)
def test_diagnostics_name_a_point(algorithm):
    frame = simulate(algorithm, COST, HORIZONS, replicates=2, diagnostics=True).frame
    assert set(frame) >= {"exceeded", "error", "x0", "x1"}


@every_algorithm
@pytest.mark.parametrize(
    "changes",
    [{"horizons": [0]}, {"replicates": 0}, {"noise": 1.0}, {"alignment": "left"}, {"cost": "cone"}, {"seed": -1}],
    ids=lambda changes: next(iter(changes)),
)
def test_refusals_come_before_any_work(algorithm, changes, monkeypatch):
    monkeypatch.setattr(engine.Job, "run", lambda *_, **__: pytest.fail("work was started"))
    with pytest.raises(ValueError, match=r"\S") as error:
        table(algorithm, **changes)
    assert "\n" not in str(error.value)


@pytest.mark.parametrize("algorithm", REGISTERED.values(), ids=REGISTERED)
def test_partitions_that_leave_the_margin_are_refused_before_any_work(algorithm, monkeypatch):
    monkeypatch.setattr(engine.Job, "run", lambda *_, **__: pytest.fail("work was started"))
    narrow = replace(COST, registered=False, constants=replace(COST.constants, A=1e-4))
    with pytest.raises(ValueError, match="beyond the box"):
        table(algorithm, cost=narrow, horizons=[3])


@every_algorithm
def test_costs_and_settings_make_another_series(algorithm):
    def digest(algorithm, cost=COST, noise=1.0):
        return Job(algorithm.settle(cost), cost, noise=rc.Gaussian(noise)).series.digest

    digests = {digest(algorithm), digest(algorithm, noise=2.0), digest(algorithm, zoo.get("cone", 2, scale=3))}
    assert len(digests) == 3
    assert all(digest(other) not in digests for other in (*ALL.values(), *SETTINGS) if other != algorithm)


def test_every_algorithm_is_found_by_its_name():
    for name, entry in NAMED.items():
        assert named(name) is entry
        assert entry.load()().kind == name
        assert getattr(rc, entry.cls) is entry.load()
        for option in entry.options:
            assert option in entry.load().__dataclass_fields__
    assert len({entry.cls for entry in ENTRIES}) == len(ENTRIES)
    assert {type(algorithm).__name__ for algorithm in defaults()} == {e.cls for e in ENTRIES if e.default}
    with pytest.raises(ValueError, match="did you mean adaptive"):
        named("adptive")
