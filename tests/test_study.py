"""Declarations and the plans that follow from them."""

import json
import math
import re
from dataclasses import replace
from pathlib import Path

import pytest

import function_zoo as zoo
from ratecheck import HOO, AdaptiveBins, AskTell, UniformBins
from ratecheck.claims import Case
from ratecheck.cli import study as command
from ratecheck.planning.expectations import expected, unjudged
from ratecheck.predict.far import BEYOND
from ratecheck.rates import Rate
from ratecheck.store import Store
from ratecheck.study import Grid, Study, declared
from ratecheck.study.conduct import conduct
from ratecheck.study.plan import cases, no_curve, workload
from ratecheck.study.run import units_of
from tests.strategies import ExploreThenCommit
from tests.study_cases import table_of

ROOT = Path(__file__).parents[1]


def test_horizons_of_the_standard_preset():
    for family in zoo.families():
        for dim in (1, 2, 3):
            try:
                cost = zoo.get(family, dim)
            except zoo.InvalidChoice:
                continue
            study = Study("s", "?", [cost], horizons=Grid())
            uniform, adaptive = (case for case, _, _ in cases(study, curves=no_curve))
            assert uniform.horizons[0] == adaptive.horizons[0] == 2**10
            ratios = [b / a for a, b in zip(adaptive.horizons, adaptive.horizons[1:], strict=False)]
            assert max(ratios) <= 2.01
            assert math.log(adaptive.period) / math.log(max(ratios)) >= 3.99
            beyond = adaptive.horizons[-1] / max(adaptive.onset, 2**10)
            enough = beyond >= adaptive.period**2.5 / max(ratios)
            capped = adaptive.horizons[-1] > 2**25 / 2.01
            hopeless = max(adaptive.onset, 2**10) * adaptive.period**2 > 2**25
            assert enough or capped or hopeless, (family, dim)
            assert adaptive.horizons[-1] >= 2**20 / 2.01
            assert adaptive.window[1] == adaptive.horizons[-1]


def test_onset_and_window_come_from_the_predicted_curve():
    """On garland the rate sets in far beyond the horizons, on a cone at once; HOO has no theory to foretell it."""
    study = Study("s", "?", [("garland", 1), ("cone", 1)], [AdaptiveBins(), HOO()], Grid(last=2**14, periods=None))
    garland, _, cone, hoo = (case for case, _, _ in cases(study))
    assert garland.onset > 1e5
    assert garland.window == (2**10, garland.horizons[-1])  # all of it: nothing is judged
    assert cone.onset == pytest.approx(2**10)
    assert cone.window == (2**10, cone.horizons[-1])
    assert 1 <= cone.curve.horizons[-1] / (BEYOND * 2**14) < 2**1.5  # some quarters of a period apart
    assert hoo.curve is None
    assert "will not be judged, since theory expects the slope 0.9" in unjudged(garland, 0.05)
    assert unjudged(cone, 0.05) == ""
    assert unjudged(replace(cone, horizons=cone.horizons[:5], window=(2**10, 2**12)), 0.05).endswith("would do")


def test_what_a_plan_expects_of_its_cases():
    rare = Study("s", "?", [("cone", 1)], [AdaptiveBins(mu="theorem")], [2**k for k in range(8, 15)])
    assert "its slope will not be judged, since 2.0 horizons per period" in expected(cases(rare)[0].case, 0.05)
    horizons = [round(2 ** (k / 2)) for k in range(16, 29)]
    study = Study("s", "?", [("cone", 1)], [AdaptiveBins(mu="theorem"), HOO()], horizons)
    first, second = (expected(plan.case, 0.05) for plan in cases(study))
    words = r"theory expects the slope 0\.\d+ in this window.*T\^0\.\d\d could pass for the promise"
    assert re.match(words, first)
    assert "no regret is predicted" in second or "will not be judged" in second


def test_cases_survive_json():
    study = Study(
        "s", "?", [("ring", 2)], algorithms=[UniformBins(), AdaptiveBins(mu="theorem"), AdaptiveBins(alpha=1.0)]
    )
    for case, _, _ in cases(study):
        assert Case.from_json(json.loads(json.dumps(case.to_json()))) == case
    labels = [case.algorithm for case, _, _ in cases(study)]
    assert labels == ["UniformBins", "AdaptiveBins(mu=theorem)", "AdaptiveBins(alpha=1)"]
    assert cases(study)[2][0].claims[0].theorem == "Theorem 2, α0 < α"


@pytest.mark.parametrize(
    ("change", "words"),
    [
        ({"name": "a b"}, "no name for a study"),
        ({"costs": []}, "at least one cost"),
        ({"margin": 0}, "between 0 and 1"),
        ({"noise": 1.0}, "no noise law"),
        ({"costs": [("cone", 1), ("cone", 1)]}, "names a cost twice"),
        ({"horizons": [2, 4, 8]}, "3 or larger"),
        ({"algorithms": [UniformBins(), UniformBins()]}, "same algorithm twice"),
    ],
)
def test_bad_declarations(change, words):
    with pytest.raises(ValueError, match=words):
        Study(**({"name": "s", "question": "?", "costs": [("cone", 1)]} | change))


def test_an_algorithm_may_live_in_the_declaration(tmp_path, capsys):
    folder = tmp_path / "own_strategy"
    folder.mkdir()
    (folder / "study.py").write_text(
        "from ratecheck import AskTell, Rate\n"
        "from ratecheck.study import Study\n"
        "from tests.strategies import RandomSearch\n"
        "class Lazy(RandomSearch):\n    pass\n"
        "study = Study('own_strategy', 'Is it linear?', [('cone', 1)], algorithms=[AskTell(Lazy, promise=Rate(0.0))],\n"
        "              horizons=[8, 64, 512], replicates=4)\n"
    )
    assert command.main(["--study", str(folder), "--no-figures", "--workers", "1", "--out", str(tmp_path / "out")]) == 0
    with Store(tmp_path / "out") as store:
        assert len(table_of(store)) == 12
        assert store.sessions()[0]["where"] == "processes"


@pytest.mark.usefixtures("no_audits")
def test_a_plain_python_algorithm_is_studied_on_processes(tmp_path):
    study = Study(
        name="commit",
        question="?",
        costs=[("cone", 1)],
        algorithms=[AskTell(ExploreThenCommit, promise=Rate(1 / 3, 1.0))],
        horizons=[64, 256, 1024, 4096],
        replicates=12,
    )
    analysis, page, given_up = conduct(study, tmp_path, workers=2, figures=False)
    assert given_up == ()
    (result,) = analysis.results
    assert result.found == 12
    assert result.own.claim.theorem == "its promise"
    assert "ExploreThenCommit" in page.read_text()
    with Store(tmp_path) as store:
        assert store.sessions()[0]["where"] == "processes"
    with pytest.raises(ValueError, match="promises nothing"):
        cases(Study("s", "?", [("cone", 1)], algorithms=[AskTell(ExploreThenCommit)]))


OF_RATES = [p for p in sorted((ROOT / "studies").glob("*/study.py")) if "Study(" in p.read_text("utf-8")]


@pytest.mark.parametrize("path", OF_RATES, ids=lambda p: p.parent.name)
def test_declared_studies(path, monkeypatch):
    monkeypatch.chdir(ROOT)
    study = declared.load(path).study
    assert study.name == path.parent.name
    assert study.question.endswith("?")
    assert study.replicates >= 32
    for case, _, _ in cases(study, curves=no_curve):
        assert case.controls
        assert case.claims[0].per_cost
    assert not any(line.startswith(("def ", "class ", "if ", "for ")) for line in path.read_text().splitlines())


def test_every_family_belongs_to_a_declared_study():
    studied = {cost.name for p in OF_RATES for cost in declared.load(p).study.costs}
    assert studied == set(zoo.families()) - {"dented"}  # of which each is made for one horizon


@pytest.mark.parametrize("known", [(), (0,), (0, 1, 2), (1, 3), range(4), range(5)])
def test_a_plan_is_counted_as_its_units_would_be(known):
    study = Study("s", "?", [("cone", 1), ("quadratic", 2)], horizons=[2**10, 2**14, 2**18], replicates=4)
    planned = cases(study)

    class Stored:
        def known(self, digest):
            return ((r, set(study.horizons[: 3 - (r == 2)])) for r in known)

        def speeds(self):
            return {}

    units, work = units_of(planned, Stored(), study.noise, 2), workload(planned, Stored(), 2)
    assert work.steps == sum(unit.steps for unit in units)
    assert work.seconds == pytest.approx(sum(unit.seconds for unit in units))
    assert len(units) / 2 <= work.units <= len(units)
