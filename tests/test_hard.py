"""Hard families in studies: bounds and members in the store, verdicts on their means, and what happens without them."""

import re
import shutil
from dataclasses import replace
from functools import partial

import numpy as np
import pandas as pd
import pytest

import function_zoo as zoo
import ratecheck as rc
from ratecheck.cli import main as cli
from ratecheck.lower_bound import members as minimax
from ratecheck.lower_bound.hard_family import CERTAIN, Rung, Sandwich, rung
from ratecheck.papers.zhao_lai import theorem3
from ratecheck.store import FILE, Store, StoreError
from ratecheck.study import Grid, Study, hard
from ratecheck.study.conduct import conduct, plan_text
from ratecheck.study.plan import cases, no_curve
from ratecheck.study.rendering import render
from ratecheck.study.rerun import rerun
from ratecheck.verdict.analyse import NONE, fit_of, judge_bound
from ratecheck.verdict.rules import with_force
from ratecheck.verdict.sentences import BELOW_THE_CURVE
from studies.lower_bound.sandwich import Knowing
from tests.study_cases import table_of
from tests.test_alterations import alter

AUDIT = {"constant": "alpha", "annotated": 1.0, "measured": 1.0, "holds": True, "basis": "proved", "worst": "x = 0"}
SMALL = Study(
    name="small",
    question="Does it hold?",
    costs=[("cone", 1)],
    horizons=Grid(first=2**6, last=2**12, periods=None),
    replicates=4,
    members=4,
)
QUIET = {"scheduler": "threads", "workers": 2, "figures": False, "say": lambda _: None}


@pytest.fixture(scope="module", autouse=True)
def _without_audits():
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr("ratecheck.study.run.audit", lambda cost, stop=None: [AUDIT])
        yield


@pytest.fixture(scope="module")
def studied(tmp_path_factory):
    folder = tmp_path_factory.mktemp("studied")
    conduct(SMALL, folder, **QUIET)
    return folder


@pytest.fixture
def copied(studied, tmp_path):
    shutil.copy(studied / FILE, tmp_path / FILE)
    return tmp_path


def rendered(folder):
    with Store(folder) as store:
        return render(store, folder, figures=False)


def planned(**changes):
    return [plan.case for plan in cases(replace(SMALL, **changes), curves=no_curve)]


def bound_note(store):
    case = store.study()[1][0]
    return f"bound {case.hard.key} {case.hard.horizons[0]}"


# What a study does


def test_no_mean_lies_below_the_certified_bound(studied, tmp_path):
    # by chance one of eight means does once in 1e5 times at most, and they lie tens of standard errors above
    shutil.copy(studied / FILE, tmp_path / FILE)
    results = rendered(tmp_path)[0].results
    assert [r.case.algorithm for r in results] == ["UniformBins", "AdaptiveBins"]
    for result in results:
        rungs = result.sandwich.rungs
        assert [r.horizon for r in rungs] == list(result.case.hard.horizons) == [64, 256, 1024, 4096]
        assert all(len(r.regrets) == SMALL.members and not r.below and r.factor > 1 for r in rungs)
        assert result.sandwich.curve == tuple((r.horizon, r.bound) for r in rungs)
        bound = rc.lower_bound(zoo.get("cone", 1), 4096)
        assert rungs[-1].bound == bound.regret
    fits = pd.read_csv(studied / "fits.csv")
    rows = fits[fits["theorem"] == "Theorem 3"]
    assert list(rows["replicates"]) == [4, 4]
    assert list(rows["factor"]) == pytest.approx([r.sandwich.last.factor for r in results])
    assert list(rows["slope"]) == pytest.approx([r.sandwich_fit.slope for r in results])
    text = (studied / "report.md").read_text("utf-8")
    assert "**How far from the best possible?** On the hard families, at T = 4,096," in text
    for result in results:
        last = result.sandwich.last
        assert f"certified {last.bound:.4g} and the measured {last.mean:.4g} at T = 4,096: a factor of" in text


def test_members_are_ordinary_runs_of_the_settled_algorithm(studied):
    with Store(studied) as store:
        table = table_of(store)
        assert all(not again.differs and not again.unable for again in rerun(store, 10**6, seed=0))
        assert store.strangers({s for c in store.study()[1] for s in [c.series.digest]}) > 0
    dented = table[table["cost"].str.startswith("dented(")]
    assert len(dented) == 2 * 4 * SMALL.members
    adaptive = dented[dented["algorithm"].str.startswith("Adaptive")]
    cost, algorithm = adaptive[["cost", "algorithm"]].iloc[0]
    member = minimax.cost_of(zoo.get("cone", 1), _dent(cost))
    assert str(member) == cost
    assert algorithm == str(rc.AdaptiveBins().settle(member)) != str(rc.AdaptiveBins().settle(zoo.get("cone", 1)))
    assert "runs of other settings" not in (studied / "report.md").read_text("utf-8")


def _dent(name):
    place, depth, length = re.search(r"place=\((.*),\), depth=(.*), length=(.*)\)", name).groups()
    return {"place": [float(place)], "depth": float(depth), "length": float(length)}


def test_a_report_from_the_store_alone_is_the_same(studied, copied):
    rendered(copied)
    for name in ("report.md", "fits.csv"):
        assert (copied / name).read_bytes() == (studied / name).read_bytes()


@pytest.mark.parametrize("after", [3, 20])
def test_a_study_that_was_killed_goes_on_to_the_same_bits(studied, tmp_path, monkeypatch, after):
    left, add = [after], Store.add

    def killed(store, *unit, **rest):
        if not left[0]:
            raise KeyboardInterrupt
        left[0] -= 1
        add(store, *unit, **rest)

    monkeypatch.setattr(Store, "add", killed)
    with pytest.raises(KeyboardInterrupt):
        conduct(SMALL, tmp_path, **QUIET)
    monkeypatch.setattr(Store, "add", add)
    conduct(SMALL, tmp_path, **QUIET)
    assert (tmp_path / "fits.csv").read_bytes() == (studied / "fits.csv").read_bytes()
    with Store(tmp_path) as one, Store(studied) as other:
        assert one.digest() == other.digest()


def test_what_is_there_is_neither_bounded_nor_made_again(copied, monkeypatch):
    monkeypatch.setattr(hard, "cost_of", None)
    monkeypatch.setattr(hard, "bounded", None)
    conduct(SMALL, copied, **QUIET)


def test_more_members_use_the_runs_that_are_there(copied):
    before = dict(_regrets(copied))
    conduct(replace(SMALL, members=5), copied, **QUIET)
    after = dict(_regrets(copied))
    assert len(after) == len(before) + 2 * 4
    assert before.items() <= after.items()
    result = rendered(copied)[0].results[0]
    assert [len(r.regrets) for r in result.sandwich.rungs] == [5] * 4
    assert result.sandwich.look == 2


def _regrets(folder):
    with Store(folder) as store:
        table = table_of(store)
    return zip(zip(table["series"], table["replicate"], table["horizon"], strict=True), table["regret"], strict=True)


def test_a_dry_run_counts_bounds_and_members(studied, tmp_path):
    text = plan_text(SMALL, tmp_path, workers=2)
    assert "lower bounds: 4 to certify, and 32 runs on members of their hard families" in text
    assert "lower bounds: none to compute" in plan_text(SMALL, studied, workers=2)
    assert "(members = 0)" in plan_text(replace(SMALL, members=0), tmp_path, workers=2)


# An oracle


class Told(rc.AskTell):
    """A mutant: whoever settles it tells it where the minimum is."""

    def settle(self, cost):
        return rc.AskTell(partial(Knowing, tuple(cost.minimisers[0])), promise=self.promise)


def test_an_oracle_that_knows_the_member_breaks_the_bound(tmp_path, capsys):
    told = Told(Knowing, promise=rc.Rate(0.5))
    study = replace(SMALL, algorithms=[told], horizons=[64, 128, 256, 512], replicates=20, members=3, compare=[])
    done = conduct(study, tmp_path, **QUIET)
    (bound,) = [j for j in done.analysis.results[0].judged if not j.claim.per_cost]
    assert bound.name == "REFUTED"
    assert bound.reason.startswith("ENGINE ERROR: at T = ")
    text = (tmp_path / "report.md").read_text("utf-8")
    assert "**ENGINE ERROR: d = 1 Knowing below the certified bound, where no strategy can be**" in text
    assert "the lower bound of Theorem 3 is broken, which no strategy can" in text
    fits = pd.read_csv(tmp_path / "fits.csv")
    assert list(fits[fits["theorem"] == "Theorem 3"]["verdict"]) == ["REFUTED"]


# No family


def test_every_case_without_a_family_says_why():
    plain = rc.AskTell(partial(Knowing, (0.0,)), promise=rc.Rate(0.5))
    for changes, words in [
        ({"members": 0}, "leaves out lower bounds"),
        ({"noise": rc.Uniform(1.0)}, "known for Gaussian noise, not for Uniform(sigma=1.0)"),
        ({"noise": rc.Gaussian(0.0)}, "known for Gaussian noise, not for Gaussian(sigma=0.0)"),
        ({"algorithms": [plain], "replicates": 1}, "plain Python is slow"),
        ({"algorithms": [rc.HOO()]}, "nothing is claimed here about the worst cost"),
    ]:
        for case in planned(**changes):
            assert words in case.hard.reason
            assert case.hard.horizons == ()
    assert planned(algorithms=[rc.HOO()])[0].hard.bounds == (64, 256, 1024, 4096)  # for the figure


def test_a_plain_algorithm_runs_as_far_as_it_can_afford():
    steps = (64, 256, 1024, 4096)
    assert hard.affordable(steps, 4, 16 * sum(steps)) == steps
    assert hard.affordable(steps, 4, 16 * sum(steps) - 1) == steps[:3]
    assert hard.affordable(steps, 4, 16 * sum(steps[:3]) - 1) == ()


@pytest.mark.parametrize(
    ("given", "expected"),
    [
        (Grid(2**10, 2**20), (2**10, 10321, 104032, 2**20)),
        (Grid(2**10, 2**30), (2**10, 10321, 104032, 2**20)),
        (Grid(2**20, 2**30), (2**20, 2**22, 2**24, 2**26)),
        ((100, 150), (100,)),
        ((100, 200, 400), (100, 200, 400)),
    ],
)
def test_the_horizons_of_families(given, expected):
    assert hard.ladder(replace(SMALL, horizons=given)) == expected


def test_a_setting_that_is_given_differs_from_the_same_that_follows():
    cost = zoo.get("cone", 1)
    follows, given = planned(algorithms=[rc.AdaptiveBins(), rc.AdaptiveBins(mu=cost.constants.mu_min)])
    assert follows.series == given.series
    assert follows.hard.runs != given.hard.runs


def _stranger(x):
    return 5 * abs(float(x[0]) - 0.3)  # no formula that could be traced


@pytest.mark.parametrize(
    ("cost", "words"),
    [
        (zoo.Cost("dent", 1, _stranger, [-1], [1], 0.0, [[0.3]], zoo.get("cone", 1).constants), "formula"),
        (zoo.get("quadratic", 9), "in up to 8 dimensions, not in 9"),
        (zoo.get("dented", 1), "one dent only"),
    ],
)
def test_a_cost_without_a_family_says_why(cost, words):
    record = minimax.bounded(cost, 1024, members=3)
    assert words in record["problem"]
    assert not record["certified"]
    assert not record["drawn"]


def test_without_python_flint_nothing_is_certified_and_nothing_run(tmp_path, monkeypatch):
    for place in (minimax, hard):
        monkeypatch.setattr(place, "find_spec", lambda name: None)
    result = conduct(SMALL, tmp_path, **QUIET).analysis.results[0]
    assert result.judged[1].name == "INCONCLUSIVE"
    assert result.judged[1].reason == f"no family: {minimax.UNCERTIFIED}"
    assert minimax.UNCERTIFIED[:30] in (tmp_path / "report.md").read_text("utf-8")
    assert pd.read_csv(tmp_path / "fits.csv")["factor"].isna().all()
    monkeypatch.undo()
    monkeypatch.setattr("ratecheck.study.run.audit", lambda cost, stop=None: [AUDIT])
    assert conduct(SMALL, tmp_path, **QUIET).analysis.results[0].sandwich.rungs  # once it can be


def test_too_few_members_and_other_mistakes(tmp_path, capsys):
    for members in (1, 2, -1, 10**4, 2.5, "many"):
        with pytest.raises(ValueError, match="members"):
            replace(SMALL, members=members)
    assert cli.main(["study", "--family", "cone", "--dry-run", "--members", "2", "--out", str(tmp_path)]) == 2
    assert "take 3 or more, or 0 for none" in capsys.readouterr().err


# What a stranger may write


def test_an_altered_bound_is_refused(copied):
    with Store(copied) as store:
        key = bound_note(store)
    changed = """replace(value, '"certified": true', '"certified": false')"""
    alter(copied, f"UPDATE notes SET value = {changed} WHERE key = '{key}'")
    with pytest.raises(StoreError, match="untouched"):
        Store(copied)


@pytest.mark.parametrize(
    "change",
    [
        {"regret": 0.0},
        {"regret": -1.0},
        {"regret": "much"},
        {"regret": float("inf")},
        {"certified": "yes"},
        {"functions": "three"},
        {"drawn": [{"place": [], "depth": 1.0, "length": 1.0}]},
        {"drawn": [{"place": [0.0], "depth": -1.0, "length": 1.0}]},
        {"drawn": [None] * 5000},
        {"more": 1},
    ],
)
def test_a_forged_bound_is_refused(copied, change):
    with Store(copied, create=True) as store:
        key = bound_note(store)
        store.note(key, store.noted(key) | change)
    with pytest.raises(StoreError, match=r"the note 'bound .* 64' cannot be used"):
        rendered(copied)


@pytest.mark.parametrize("change", [{"series": [["x", -1, True]]}, {"series": "all"}, {"members": None}])
def test_a_forged_list_of_runs_is_refused(copied, change):
    with Store(copied, create=True) as store:
        hard_plan = store.study()[1][0].hard
        record = store.members(hard_plan.runs, 64)
        store.put_members(hard_plan.runs, 64, record | change)
    with pytest.raises(StoreError, match=r"the note 'members .* 64' cannot be used"):
        rendered(copied)


def test_runs_that_are_missing_are_no_rung(copied):
    with Store(copied, create=True) as store:
        hard_plan = store.study()[1][0].hard
        record = store.members(hard_plan.runs, 64)
        strangers = [["nobody", i, True] for i in range(4)]
        store.put_members(hard_plan.runs, 64, record | {"series": strangers})
    sandwich = rendered(copied)[0].results[0].sandwich
    assert [r.horizon for r in sandwich.rungs] == [256, 1024, 4096]
    assert sandwich.problems == ("at T = 64: fewer than 3 runs on its hard family have finished",)


# Rungs


def test_a_rung_is_below_only_where_chance_is_no_excuse(any_seed):
    # false alarms: of 2000 means whose expectation is the bound itself, one in a million each is called an error
    rng = np.random.default_rng(any_seed)
    runs = rng.normal(10.0, 1.0, (2000, 6))
    assert not any(Rung(100, 10.0, tuple(row)).below for row in runs)
    assert Rung(100, 10.0, (0.0,) * 6).below
    assert not Rung(100, 10.0, (10.0,) * 6).below
    assert not Rung(100, 10.0, (1.0,)).below
    close = Rung(100, 10.0, (9.0, 9.001, 8.999, 9.0))
    assert close.below
    assert 0 < close.p_value < CERTAIN


def test_of_two_functions_the_worse_counts():
    assert rung(100, 5.0, [[1.0, 2.0, 3.0], [7.0, 8.0, 9.0]]).mean == 8.0
    record = minimax.bounded(zoo.get("rastrigin", 1), 4096, members=3)
    assert record["functions"] == "two"
    assert [dent is None for dent in record["drawn"]] == [True] * 3 + [False] * 3
    assert [i for _, i in minimax.numbered(record["drawn"])] == [0, 1, 2] * 2
    assert len(minimax.chosen(record["drawn"], 2)) == 4


def judged_with(sandwich):
    fit, trouble = fit_of(sandwich)
    return {"fit": fit, "trouble": trouble, "margin": 0.05, "resolution": 0.25, "look": None}


def test_a_small_slope_above_the_curve_refutes_nothing():
    steps = [2**k for k in range(8, 18, 2)]
    flat = [Rung(T, 0.1, tuple(100.0 * T**0.1 * (1 + 0.001 * i) for i in range(6))) for T in steps]
    between, claim = Sandwich(tuple(flat), members=6), theorem3.claim(zoo.get("cone", 1).constants, 1)
    found = judge_bound(claim, between, **judged_with(between))
    assert found.name == "INCONCLUSIVE"
    assert "cannot last" in found.reason
    assert found.assessment.exponent.catches is None
    assert BELOW_THE_CURVE in with_force(found.assessment.exponent).reason
    none = judge_bound(claim, NONE, **judged_with(NONE))
    assert (none.name, none.reason) == ("INCONCLUSIVE", "no family: none was run")
