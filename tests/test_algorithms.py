"""The contract of algorithms/protocol.py, run over every algorithm: ours, those of other papers, one with ask and tell.

A new algorithm joins by its registration alone.
"""

import math
import pickle
import threading
from dataclasses import replace

import numpy as np
import pytest

import function_zoo as zoo
import ratecheck as rc
from ratecheck import engine
from ratecheck.algorithms.protocol import ATTRIBUTES, check_algorithm
from ratecheck.algorithms.registry import ENTRIES, NAMED, defaults, named
from ratecheck.claims import Claim
from ratecheck.engine import begin, run_replicate, series_of, simulate
from ratecheck.rates import Rate
from tests.strategies import ExploreThenCommit, RandomSearch
from tests.test_zoo import every_cost

REGISTERED = {entry.name: entry.load()() for entry in NAMED.values()}
PLUGGED_IN = {
    "ask/tell": rc.AskTell(ExploreThenCommit, promise=Rate(1 / 3, 1.0)),
    "ask/tell, anytime": rc.AskTell(RandomSearch, anytime=True, promise=Rate(0.0)),
}
ALL = REGISTERED | PLUGGED_IN
SETTINGS = [
    entry.load()(**settings) for entry in NAMED.values() if entry.promised for settings in entry.promised.settings
]
COST = zoo.get("cone", 2)
HORIZONS = [20, 60, 200]

every_algorithm = pytest.mark.parametrize("algorithm", ALL.values(), ids=ALL)


def table(algorithm, **changes):
    runs = simulate(algorithm, **{"cost": COST, "horizons": HORIZONS, "replicates": 3, "workers": 1} | changes)
    return runs.frame


@every_algorithm
def test_it_keeps_to_the_interface(algorithm):
    check_algorithm(algorithm)
    settled = algorithm.settle(COST)
    assert settled.settle(COST) == settled
    assert all(hasattr(settled, name) for name in ATTRIBUTES)
    assert type(settled) is type(algorithm)
    assert settled.kind == algorithm.kind
    assert settled.anytime == algorithm.anytime
    hash(algorithm)  # frozen
    assert pickle.loads(pickle.dumps(settled)) == settled


@every_algorithm
def test_names_are_readable_and_tell_settings_apart(algorithm):
    assert "\n" not in algorithm.label
    assert 0 < len(algorithm.label) < 60
    assert str(algorithm.settle(COST)) == str(algorithm.settle(zoo.get("cone", 2)))
    others = [other for other in (*ALL.values(), *SETTINGS) if other != algorithm]
    assert algorithm.label not in [other.label for other in others]


@every_algorithm
def test_the_same_stream_gives_the_same_run(algorithm):
    assert table(algorithm).equals(table(algorithm))
    assert not table(algorithm)["regret"].equals(table(algorithm, seed=1)["regret"])


@every_algorithm
def test_any_order_any_company_and_any_workers(algorithm):
    whole = table(algorithm, replicates=6)
    assert table(algorithm, replicates=6, workers=3).equals(whole)
    backwards = table(algorithm, replicates=[5, 3, 1])
    for replicate in (1, 3, 5):
        alone = whole[whole["replicate"] == replicate].reset_index(drop=True)
        assert backwards[backwards["replicate"] == replicate].reset_index(drop=True).equals(alone)
        assert table(algorithm, replicates=[replicate]).equals(alone)


@every_algorithm
def test_a_run_may_be_interrupted_anywhere(algorithm):
    settled = algorithm.settle(COST)
    at_once, _ = begin(settled, COST, 150, 0)
    at_once.advance(150)
    bit_by_bit, _ = begin(settled, COST, 150, 0)
    for until in (1, 2, 3, 50, 50, 51, 150):
        bit_by_bit.advance(until)
        assert bit_by_bit.t == until
    assert bit_by_bit.regret == at_once.regret
    assert bit_by_bit.cells == at_once.cells


@every_algorithm
def test_anytime_means_that_horizons_are_seen_and_not_known(algorithm):
    frame = table(algorithm)
    assert set(frame["anytime"]) == {algorithm.anytime}
    per_replicate = frame.groupby("replicate")
    if algorithm.anytime:  # one stream, and the horizons that follow change nothing
        assert (per_replicate["stream"].nunique() == 1).all()
        assert np.all(per_replicate["regret"].apply(lambda regret: np.diff(regret).min()) >= 0)
        shorter = table(algorithm, horizons=HORIZONS[:2])
        assert shorter.equals(frame[frame["horizon"] <= HORIZONS[1]].reset_index(drop=True))
    else:  # a stream for each, and a horizon alone gives the same run
        assert frame["stream"].nunique() == len(frame)
        alone = table(algorithm, horizons=[HORIZONS[1]])
        assert alone["regret"].tolist() == frame[frame["horizon"] == HORIZONS[1]]["regret"].tolist()


@every_algorithm
def test_a_level_rule_makes_sense_if_it_has_one(algorithm):
    if not hasattr(algorithm, "level_rule"):
        return
    rule = algorithm.settle(COST).level_rule(COST, 2.0)
    assert 0 < rule.bonus(2.0) < rule.bonus(1e6) < rule.bonus(1e300) < math.inf
    levels = range(30)
    assert all(1 <= rule.capacity(k) <= rule.capacity(k + 1) for k in levels)
    assert all(0 <= rule.bias(k + 1) <= rule.bias(k) for k in levels)
    found = rc.predict(algorithm, COST, HORIZONS, alignments=3)
    assert np.all(np.diff(found.regret) > 0)
    assert found.frame["side"].tolist() == table(algorithm).sort_values(["horizon", "replicate"])["side"].tolist()


@every_algorithm
def test_regret_is_what_the_queries_cost(algorithm):
    """Between the best and the worst value of the cost on the box and its margin, at every step."""
    settled = algorithm.settle(COST)
    run, _ = begin(settled, COST, 60, 0)
    before = 0.0
    for t in range(1, 61):
        run.advance(t)
        step, before = run.regret - before, run.regret
        assert -1e-9 <= step <= 2 * COST.constants.M_a


@every_algorithm
def test_a_stopped_run_returns_what_it_has(algorithm):
    stop = threading.Event()
    stop.set()
    settled = algorithm.settle(COST)
    block = HORIZONS if settled.anytime else HORIZONS[:1]
    rows, _, _ = run_replicate(settled, COST, block, 0, 0, rc.Gaussian(1.0), "random", False, stop)
    assert rows == []


@every_cost
@every_algorithm
def test_claims_for_every_cost_of_the_zoo(algorithm, name, dim):
    cost = zoo.get(name, dim)
    settled = algorithm.settle(cost)
    claims = settled.claims(cost)
    assert all(isinstance(claim, Claim) for claim in claims)
    own = [claim for claim in claims if claim.per_cost]
    assert own
    for claim in claims:
        assert claim.kind in ("upper", "lower")
        assert 0 <= claim.rate.slope <= 1
        assert claim.rate.log_power >= 0
        assert claim.corrected is None or math.isclose(claim.corrected.exponent, claim.printed.exponent)
        assert len({violation.name for violation in claim.violated}) == len(claim.violated)
        assert all("\n" not in violation.sentence for violation in claim.violated)
        assert Claim.from_json({**vars(claim), "printed": vars(claim.printed), "corrected": _plain(claim)}) == claim


def _plain(claim):
    return claim.corrected and vars(claim.corrected)


@every_cost
@every_algorithm
def test_what_theory_says_beforehand_is_a_number(algorithm, name, dim):
    cost = zoo.get(name, dim)
    settled = algorithm.settle(cost)
    assert 1 <= settled.onset(cost, 2**20) < math.inf
    assert settled.shift(cost) is None or settled.shift(cost) >= 0
    for factor in (settled.period(cost), settled.scale(cost)):
        assert math.isnan(factor) or factor > 1
    assert settled.cells(cost, 2**20) >= 0
    assert 0 < settled.seconds_per_step(cost, 2**20) < 1e-3
    assert settled.length(cost, 2**20, 0.5) >= 0


@pytest.mark.parametrize("algorithm", REGISTERED.values(), ids=REGISTERED)
def test_diagnostics_add_up_and_change_nothing(algorithm):
    plain = simulate(algorithm, COST, HORIZONS, replicates=2)
    full = simulate(algorithm, COST, HORIZONS, replicates=2, diagnostics=True)
    assert plain.frame.equals(full.frame[plain.frame.columns])
    by_run = full.levels.groupby(["replicate", "horizon"])[["pulls", "cells", "regret"]].sum()
    assert by_run["pulls"].tolist() == HORIZONS * 2
    assert by_run["cells"].tolist() == full.frame["cells"].tolist()
    np.testing.assert_allclose(by_run["regret"], full.frame["regret"], rtol=1e-12)
    assert set(full.frame) >= {"exceeded", "error", "x0", "x1"}


@every_algorithm
@pytest.mark.parametrize(
    "changes",
    [{"horizons": [0]}, {"replicates": 0}, {"noise": 1.0}, {"alignment": "left"}, {"cost": "cone"}, {"seed": -1}],
    ids=lambda changes: next(iter(changes)),
)
def test_refusals_come_before_any_work(algorithm, changes, monkeypatch):
    monkeypatch.setattr(engine, "run_replicate", lambda *_: pytest.fail("work was started"))
    with pytest.raises(ValueError, match=r"\S") as error:
        table(algorithm, **changes)
    assert "\n" not in str(error.value)


@pytest.mark.parametrize("algorithm", REGISTERED.values(), ids=REGISTERED)
def test_partitions_that_leave_the_margin_are_refused_before_any_work(algorithm, monkeypatch):
    monkeypatch.setattr(engine, "run_replicate", lambda *_: pytest.fail("work was started"))
    narrow = replace(COST, registered=False, constants=replace(COST.constants, A=1e-4))
    with pytest.raises(ValueError, match="beyond the box"):
        table(algorithm, cost=narrow, horizons=[3])


@every_algorithm
def test_costs_and_settings_make_another_series(algorithm):
    def digest(algorithm, cost=COST, noise=1.0):
        return series_of(algorithm.settle(cost), cost, 0, rc.Gaussian(noise), "random").digest

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
    with pytest.raises(ValueError, match="did you mean 'adaptive'"):
        named("adptive")
