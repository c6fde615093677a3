"""What a study prints at its end: 80 columns whatever is judged, and no bare slope of a case that could not be."""

from dataclasses import replace

import pytest

import function_zoo as zoo
from ratecheck.report.terminal import UNJUDGED, WIDTH, summary
from ratecheck.verdict.rules import Outcome
from tests.report_cases import analysis_of, planned

LONG = "MyOwnVeryLongAlgorithm(width=0.12345678901234567, patience=1000, schedule='geometric', restarts=True)"


def every_case():
    """Every family in its highest dimension."""
    costs = [(name, max(dim for dim in (1, 2, 3) if _exists(name, dim))) for name in zoo.families()]
    return planned(costs, horizons=(2**8, 2**10, 2**12, 2**14), replicates=4, members=0)


def _exists(name, dim) -> bool:
    try:
        zoo.get(name, dim)
    except ValueError:
        return False
    return True


@pytest.fixture(scope="module")
def small():
    return analysis_of(planned())


def table_of(text) -> list[str]:
    return text.partition("\n\n")[0].splitlines()


def test_every_study_of_the_zoo_fits_a_terminal(small):
    first = small.results[0]  # its numbers stand for all of them
    results = tuple(
        replace(first, case=case, judged=tuple(replace(first.judged[0], claim=claim) for claim in case.claims))
        for case in every_case()
    )
    analysis = replace(small, results=results)
    text = summary(analysis)
    assert max(map(len, text.splitlines())) <= WIDTH
    rows = table_of(text)
    assert len(rows) == 1 + len(analysis.results) + sum(len(r.judged) for r in analysis.results)
    assert not any("…" in row for row in rows)  # nothing of the zoo's own is cut


def test_long_names_are_cut_and_still_fit(small):
    claims = [replace(j, claim=replace(j.claim, theorem=LONG)) for j in small.results[0].judged]
    names = {"algorithm": LONG, "family": "a_family_of_somebody_else" * 3}
    case = replace(small.results[0].case, **names, claims=tuple(j.claim for j in claims))
    results = (replace(small.results[0], case=case, judged=tuple(claims)), *small.results[1:])
    text = summary(replace(small, results=results))
    assert max(map(len, text.splitlines())) <= WIDTH
    assert table_of(text)[1].startswith("a_family_of_somebody_else")
    assert table_of(text)[1].endswith("…")


def test_the_last_word_is_what_to_believe(small):
    text = summary(small).rpartition("\n\n")[2]
    assert text.startswith("What to believe. Only the runs speak in all 4 cases")
    assert "*" not in text


def test_slopes_stand_as_they_were_fitted(small):
    text = summary(small)
    for result in small.results:
        fit = result.fit.at(result.own.claim.rate.log_power)
        assert f"{fit.slope:.3f} [{fit.low:.3f}, {fit.high:.3f}]" in text
    assert UNJUDGED not in text


def test_a_case_that_could_not_be_judged_is_marked(small):
    first = replace(small.results[0], problem="too early")
    text = summary(replace(small, results=(first, *small.results[1:])))
    fit = first.fit.at(first.own.claim.rate.log_power)
    row = next(line for line in table_of(text) if f"({fit.slope:.3f})" in line)
    assert row.endswith(UNJUDGED)
    assert "[" not in row
    assert first.case.name in " ".join(text.rpartition(UNJUDGED)[2].split())


def test_a_letter_says_where_exponent_and_log_power_differ(small):
    result = small.results[0]
    own = result.own
    parts = replace(
        own.assessment,
        exponent=replace(own.assessment.exponent, name=Outcome.CONSISTENT),
        log_power=replace(own.assessment.log_power, name=Outcome.REFUTED),
    )
    judged = tuple(replace(j, assessment=parts) if j is own else j for j in result.judged)
    text = summary(replace(small, results=(replace(result, judged=judged),)))
    assert any(line.endswith("REFUTED a") for line in table_of(text))
    assert "\na: exponent CONSISTENT, printed log power REFUTED" in text
