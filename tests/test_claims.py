"""What is claimed for whom: theory meets the settings it speaks of, comparisons the algorithms that were declared."""

from dataclasses import replace

import numpy as np
import pandas as pd
import pytest

import function_zoo as zoo
import ratecheck as rc
from ratecheck.cli import study as command
from ratecheck.report.answer import answer
from ratecheck.report.terminal import summary
from ratecheck.study import Study
from ratecheck.study.conduct import conduct
from ratecheck.study.plan import cases, no_curve
from ratecheck.verdict.analyse import Judged, judge_parts
from ratecheck.verdict.several import Assessment
from tests.strategies import RandomSearch

HORIZONS = [2**k for k in range(4, 12)]


def study_of(*algorithms, costs=(("cone", 1),), **options):
    options = {"horizons": HORIZONS, "replicates": 6} | options
    return Study("claims", "?", costs, algorithms=algorithms, **{"members": 0} | options)


def violations(algorithm, cost):
    """The sentences about hypotheses of the algorithm's own theorem that are not met."""
    ((case, _, _),) = cases(study_of(algorithm, costs=[cost]), curves=no_curve)
    return [str(violation) for violation in case.claims[0].violated]


def no_audit(cost, stop=None):
    return []


@pytest.fixture
def analysed(tmp_path, monkeypatch):
    monkeypatch.setattr("ratecheck.study.run.audit", no_audit)

    def run(*algorithms, **options):
        return conduct(study_of(*algorithms, **options), tmp_path, figures=False)[0]

    return run


def test_a_given_width_is_not_theorem_1s(analysed):
    (said,) = violations(rc.UniformBins(width=0.5), ("cone", 1))
    assert "width = 0.5" in said
    # a bin or two: nothing to choose from, linear regret, which would refute any theorem
    (result,) = analysed(rc.UniformBins(width=1.9), horizons=[2**k for k in range(6, 15)]).results
    assert result.own.name == "INCONCLUSIVE"
    assert (
        "in this window, promised 0.5: the predicted one has not come within 0.05 of the promise" in result.own.reason
    )


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


# Theorems that a study adds, and promises


def claimed(*algorithms, cost=("cone", 1), **options):
    """By label: the theorems that are claimed, with the names of the hypotheses that are not met."""
    planned = cases(study_of(*algorithms, costs=[cost], **options), curves=no_curve)
    return {p.case.algorithm: {c.theorem: [v.name for v in c.violated] for c in p.case.claims} for p in planned}


def linear(alpha, beta, dim):
    return rc.Rate(0.0)


MINE = rc.Theorem("mine", "upper", "linear at most", linear)


def test_added_theorems_see_the_settings():
    found = claimed(rc.UniformBins(width=1.9), rc.AdaptiveBins(mu=0.0), theorems=[rc.theorem1, rc.theorem2, MINE])
    # each theorem once, and Theorem 1 knows nothing of mu
    assert found["UniformBins(width=1.9)"] == {"Theorem 1": ["width"], "Theorem 3": [], "Theorem 2": [], "mine": []}
    assert found["AdaptiveBins(mu=0)"] == {"Theorem 2": ["mu"], "Theorem 3": [], "Theorem 1": [], "mine": []}
    # run with another alpha, Theorem 2 for the cost's own promises nothing
    (found,) = claimed(rc.AdaptiveBins(alpha=0.5, mu="theorem"), theorems=[rc.theorem2]).values()
    assert found == {"Theorem 2, α0 < α": [], "Theorem 3": [], "Theorem 2": ["mu", "alpha"]}


@pytest.mark.parametrize("whose", ["uniform", "UniformBins", rc.UniformBins()], ids=str)
def test_theorems_may_be_added_for_one_algorithm(whose):
    found = claimed(rc.UniformBins(), rc.AdaptiveBins(), theorems=[(whose, MINE)])
    assert "mine" in found["UniformBins"]
    assert "mine" not in found["AdaptiveBins"]


def by_constants(constants, dim):
    return rc.Rate(constants.alpha / (dim + 2))


def test_a_promise_is_a_rate_a_theorem_or_a_function():
    def own(promise, cost=("cusp", 2)):
        (planned,) = cases(study_of(rc.AskTell(Other, promise=promise), costs=[cost]), curves=no_curve)
        return planned.case.own

    assert own(rc.Rate(0.1, 2.0)).rate == rc.Rate(0.1, 2.0)
    assert own(by_constants).rate == rc.Rate(0.5 / 4)
    assert own(lambda constants, dim: rc.Rate(1 / dim)).rate == rc.Rate(0.5)
    assert own(rc.theorem1).theorem == "Theorem 1"
    assert own(MINE).statement == "linear at most"
    with pytest.raises(ValueError, match="must return a Rate"):
        own(lambda constants, dim: 0.5)
    with pytest.raises(ValueError, match="must be a Rate, a Theorem or a function"):
        rc.AskTell(Other, promise=0.5)


def test_promises_and_factories_travel_whatever_they_are(analysed):
    class Local(RandomSearch):
        pass

    plain = [rc.AskTell(Local, promise=lambda constants, dim: rc.Rate(0.0))]
    (result,) = analysed(*plain).results
    assert result.found == 6


def test_a_lower_bound_may_be_promised(analysed):
    slow = rc.Theorem("at least", "lower", "linear at least", linear)
    (result,) = analysed(rc.AskTell(Other, promise=slow), horizons=[2**k for k in range(6, 13)]).results
    assert result.own.claim.kind == "lower"
    assert result.own.assessment.exponent.name == "CONSISTENT"
    ((control, verdict),) = result.controls
    assert 0 < control.by < 2
    assert verdict.excess.value == pytest.approx(result.own.assessment.exponent.excess.value + control.by)
    assert verdict.name == "REFUTED"


# What holds a refutation back


def test_a_theorem_that_promises_nothing_is_not_refuted():
    horizons = 2.0 ** np.arange(8, 16)
    rng = np.random.default_rng(0)
    runs = pd.DataFrame(
        [(i, T, T**0.9 * rng.gamma(50, 1 / 50), False) for i in range(20) for T in horizons],
        columns=["replicate", "horizon", "regret", "anytime"],
    )
    fit = rc.fit_rate(runs)
    met = rc.Claim("A theorem", "?", "upper", rc.Rate(0.5))
    unmet = replace(met, violated=(rc.Violation("mu", "mu = 0 is too small"),))

    def judged(claim, margin):
        return Judged(claim, Assessment(*judge_parts(fit, claim, margin=margin)))

    assert judged(met, 0.05).name == "REFUTED"
    held = judged(unmet, 0.05)
    assert held.name == held.assessment.log_power.name == "INCONCLUSIVE"
    assert held.reason.count("but A theorem promises nothing here: mu = 0 is too small") == 2
    true = replace(unmet, printed=rc.Rate(0.1))
    assert judged(true, 0.08).assessment.exponent.name == "CONSISTENT"


def test_settings_of_one_algorithm_are_not_compared_unless_declared():
    pair = (rc.AdaptiveBins(mu=0.0), rc.AdaptiveBins())
    assert study_of(*pair).comparisons() == ()
    assert study_of(rc.UniformBins(), *pair).comparisons() == tuple(("UniformBins", a.label) for a in pair)
    assert study_of(*pair, compare=[pair]).comparisons() == (("AdaptiveBins(mu=0)", "AdaptiveBins"),)
    assert study_of(*pair, compare=[]).comparisons() == ()
    with pytest.raises(ValueError, match="has no algorithm 'uniform'"):
        study_of(*pair, compare=[("uniform", "adaptive")])
    assert study_of(*pair, compare=[("adaptive", "adaptive")]).comparisons() == (
        ("AdaptiveBins(mu=0)", "AdaptiveBins"),
    )
    with pytest.raises(ValueError, match="with itself alone"):
        study_of(*pair, compare=[("AdaptiveBins", "AdaptiveBins")])


def test_a_promised_lower_bound_is_answered_in_its_own_words(analysed):
    slow = rc.Theorem("at least", "lower", "linear at least", linear)
    analysis = analysed(
        rc.AskTell(Other, promise=slow),
        rc.AskTell(AdaptiveBinsMine, promise=rc.Rate(0.0)),
        horizons=[2**k for k in range(6, 13)],
    )
    text = answer(analysis, lambda result: result.case.algorithm)
    assert "the regret grows no more slowly than the promised exponent asks for in the one case" in text
    assert "the regret grows no faster than the promised exponent allows in the one case" in text


def test_verdicts_on_added_theorems_are_part_of_the_answer(analysed):
    folly = rc.Theorem("Folly", "upper", "no regret at all", lambda alpha, beta, dim: rc.Rate(1.0))
    mine = rc.AskTell(Other, promise=rc.Rate(0.0))
    analysis = analysed(mine, theorems=[folly], horizons=[2**k for k in range(6, 13)], replicates=12)
    assert "Folly is refuted in the one case" in answer(analysis, lambda result: result.case.algorithm)


@pytest.mark.parametrize(
    ("change", "words"),
    [
        ({"formula": lambda alpha, beta, dim: 0.3}, "returned 0.3, where it must return a Rate"),
        ({"hypotheses": lambda c, dim: ["mu is small"]}, "'mu is small', which is no Violation"),
    ],
)
def test_theorems_that_are_none_are_refused_when_the_study_is_planned(change, words):
    with pytest.raises(ValueError, match=words):
        claimed(rc.UniformBins(), theorems=[replace(MINE, **change)])
    silent = replace(MINE, hypotheses=lambda c, dim: None)
    assert claimed(rc.UniformBins(), theorems=[silent, MINE])["UniformBins"]["mine"] == []
