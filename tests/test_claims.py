"""What is claimed for whom: theory meets the settings it speaks of, comparisons the algorithms that were declared."""

import pytest

import function_zoo as zoo
import ratecheck as rc
from ratecheck.study import Study, command
from ratecheck.study.conduct import conduct
from ratecheck.study.plan import cases
from ratecheck.study.summary import summary
from tests.strategies import RandomSearch

HORIZONS = [2**k for k in range(4, 12)]


def study_of(*algorithms, costs=(("cone", 1),), **options):
    return Study("claims", "?", costs, algorithms=algorithms, horizons=HORIZONS, replicates=6, **options)


def violations(algorithm, cost):
    """The sentences about hypotheses of the algorithm's own theorem that are not met."""
    ((case, _, _),) = cases(study_of(algorithm, costs=[cost]))
    return [str(violation) for violation in case.claims[0].violated]


def no_audit(cost, stop=None):
    return []


@pytest.fixture
def analysed(tmp_path, monkeypatch):
    monkeypatch.setattr("ratecheck.study.runner.audit", no_audit)

    def run(*algorithms, **options):
        return conduct(study_of(*algorithms, **options), tmp_path, figures=False)[0]

    return run


def test_a_given_width_is_not_theorem_1s(analysed):
    (said,) = violations(rc.UniformBins(width=0.5), ("cone", 1))
    assert "width = 0.5" in said
    analysis = analysed(rc.UniformBins(width=1.9))  # a bin or two: nothing to choose from, linear regret
    assert [judged.name for judged in analysis.results[0].judged if judged.claim.theorem == "Theorem 1"] != ["REFUTED"]


def test_printed_and_corrected_width_are_settings_that_the_hypotheses_see():
    assert violations(rc.UniformBins(), ("cone", 3)) == []
    assert rc.UniformBins(width="corrected") == rc.UniformBins()
    (said,) = violations(rc.UniformBins(width="printed"), ("cone", 3))
    assert "beta = 3" in said
    assert violations(rc.UniformBins(width="printed"), ("cone", 1)) == []


def test_an_alpha_above_the_costs_is_a_violated_hypothesis():
    said = violations(rc.AdaptiveBins(alpha=2, mu="theorem"), ("cone", 1))
    assert len(said) == 1
    assert "alpha = 2" in said[0]


def test_the_summary_names_the_hypothesis_that_is_not_met(analysed):
    text = summary(analysed(rc.AdaptiveBins(alpha=2, mu="theorem")))
    assert "alpha = 2" in text
    assert "mu is below" not in text


class AdaptiveBinsMine(RandomSearch):
    pass


class Other(RandomSearch):
    pass


def test_comparisons_go_by_what_was_declared(analysed):
    plain = [rc.AskTell(factory, promise=rc.Rate(0.0)) for factory in (AdaptiveBinsMine, Other)]
    analysis = analysed(rc.UniformBins(width=0.1), rc.AdaptiveBins(), *plain, compare=[("uniform", "adaptive")])
    assert [(gap.first, gap.second) for gap in analysis.gaps] == [("UniformBins(width=0.1)", "AdaptiveBins")]


def own_cost():
    return zoo.Cost("mine", 1, lambda x: 3 * abs(x[0] - 0.3), [-1], [1], 0.0, [[0.3]], zoo.get("cone", 1).constants)


def test_an_own_cost_travels_to_processes(analysed):
    (result,) = analysed(rc.AskTell(Other, promise=rc.Rate(0.0)), costs=[own_cost()]).results
    assert result.found == 6


class Broken(RandomSearch):
    def ask(self):
        raise ArithmeticError("it does not work")


def test_units_that_were_given_up_give_exit_code_1(tmp_path, monkeypatch, capsys):
    folder = tmp_path / "broken_units"
    folder.mkdir()
    (folder / "study.py").write_text(
        "from ratecheck import AskTell, Rate\n"
        "from ratecheck.study import Study\n"
        "from tests.test_claims import Broken\n"
        "study = Study('broken_units', 'Does it run?', [('cone', 1)], horizons=[8, 64, 512], replicates=4,\n"
        "              algorithms=[AskTell(Broken, anytime=True, promise=Rate(0.0))])\n"
    )
    assert command.main(["--study", str(folder), "--no-figures", "--workers", "1", "--out", str(tmp_path / "out")]) == 1
    said = capsys.readouterr().err
    assert "cone d = 1, Broken, replicates" in said
    assert "it does not work" in said
