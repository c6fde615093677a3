"""The answer of a report and what qualifies it: true to the verdicts whatever their mixture."""

import re
from dataclasses import replace

import pandas as pd
import pytest

from ratecheck import AdaptiveBins, UniformBins
from ratecheck.claims import Violation
from ratecheck.report.answer import answer, caution, hypotheses
from tests.report_cases import C, I, R, analysed, analysis_of, bent_runs, judged_as, planned, report, section


def short(result):
    return f"{result.case.algorithm}{result.case.dim}"


MIXTURES = [
    ({"exponent": C}, ["no faster than the promised exponent allows in all 4 cases", "is consistent in all 4 cases"]),
    (
        {"exponent": C, "log_power": lambda i: R if i == 1 else C},
        [
            "no faster than the promised exponent allows in all 4",
            "refuted in 1 of 4 cases (AdaptiveBins1); the corrected one is consistent there; the printed one is",
        ],
    ),
    ({"exponent": I}, ["cannot decide about the exponent in all 4 cases", "is undecided in all 4 cases"]),
    ({"exponent": R}, ["faster than the promised exponent allows in all 4 cases", "is refuted in all 4 cases"]),
    (
        {"exponent": lambda i: [C, R, I, C][i]},
        [
            "grows faster than the promised exponent allows in 1 of 4 cases (AdaptiveBins1)",
            "it grows no faster than that in 2 of 4 cases",
            "cannot decide about the exponent in 1 of 4 cases (UniformBins3)",
        ],
    ),
    (
        {"exponent": C, "control": lambda i: I if i == 2 else R},
        ["the negative control was not refuted for UniformBins3, so the verdict there has no force"],
    ),
]


@pytest.mark.parametrize(("verdicts", "words"), MIXTURES)
def test_answer_is_two_sentences_true_to_the_verdicts(small, verdicts, words):
    text = answer(judged_as(small, **verdicts), short)
    assert len(re.findall(r"\.(?: |$)", text)) == 2, text
    for word in words:
        assert word in text, text


def test_a_control_that_is_not_refuted_takes_the_force_of_the_verdicts(small, tmp_path):
    analysis = judged_as(small, exponent=C, control=I)
    text = report(tmp_path, analysis)
    fits = pd.read_csv(tmp_path / "fits.csv")
    assert set(fits["control"][fits["role"] != "bound"]) == {"INCONCLUSIVE"}
    assert "have no force" in section(text, "Negative control")
    first = "**The runs alone.** With a margin of 0.05, the negative control was not refuted for "
    assert first in text  # before anything that the runs say
    assert "Every control was refuted" not in text
    assert "Every control was refuted" in report(tmp_path, judged_as(small, exponent=C))


def test_theorems_that_promise_nothing_are_said_at_the_top(small, tmp_path):
    text = report(tmp_path, small)
    top = text[: text.index("## Verdicts")]
    said = "Theorem 2 asks for another mu in both cases: the verdicts there are on its rate, not on the theorem."
    assert said in top
    large = analysis_of(planned(algorithms=(UniformBins(), AdaptiveBins(mu=1e4))))
    assert "asks for" not in report(tmp_path, large)
    limit = analysis_of(planned(algorithms=(AdaptiveBins(mu="theorem"),)))
    assert "asks for" not in report(tmp_path, limit)  # its own mu is what it asks for
    other = [
        replace(r, judged=tuple(broken(j, Violation("beta", "beta = 3")) for j in r.judged)) for r in small.results
    ]
    text = hypotheses(replace(small, results=tuple(other[:1])))
    assert text.startswith("Theorem 1 asks for another beta in the one case: the verdicts there")


def broken(judged, *reasons):
    return replace(judged, claim=replace(judged.claim, violated=reasons))


def test_diagnostics_that_speak_are_said_beside_the_answer(small, tmp_path):
    assert caution(small) == ""
    assert "**Caution.**" not in report(tmp_path, small)
    plan = [r.case for r in small.results]
    bent = [bent_runs(case, [0.01, -0.01, 0.0, 0.0][i]) for i, case in enumerate(plan)]
    analysis = analysed(plan, pd.concat(bent))
    text = caution(analysis)
    assert text.startswith("In 2 of 4 cases curvature or the held-out horizons reject the fitted line (at the 1 %")
    assert "of this window and not of T to infinity; in 1 of 4 cases the slope is still rising" in text
    assert f"**Caution.** {text}\n" in report(tmp_path, analysis)


def test_caution_counts_only_what_was_judged(small):
    plan = [r.case for r in small.results]
    plan[0] = replace(plan[0], onset=1e6)
    analysis = analysed(plan, pd.concat([bent_runs(case, 0.01) for case in plan]))
    assert caution(analysis).startswith("In all 3 cases with a verdict curvature")
