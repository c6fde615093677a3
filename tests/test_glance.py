"""The top of a report: a line per case whose numbers are those of the table, and a paragraph that is true to them."""

from dataclasses import replace
from types import SimpleNamespace

import pandas as pd
import pytest

from ratecheck.report.belief import ALONE, IMPLEMENTED, OPEN, REFUTED, SETTLED, STRAYS, belief, kind_of
from ratecheck.report.context import Context, where
from ratecheck.report.foundations import WORDS
from ratecheck.report.opening import follows, glance, verdict
from ratecheck.report.tables import tabulated
from ratecheck.verdict.findings import Overruled, Rule
from ratecheck.verdict.sentences import overruled
from tests.report_cases import C, I, R, judged_as, report

ORDER = {REFUTED: "**Do not believe", STRAYS: "Be wary", SETTLED: "Believe the promised exponent in"}
ORDER |= {IMPLEMENTED: "does what theory says", ALONE: "Only the runs speak", OPEN: "It stays open"}


def context_of(analysis) -> Context:
    return Context(analysis, None, {}, tabulated(analysis))


def rows_of(text):
    lines = [line for line in text.splitlines() if line.startswith("|")]
    return [[cell.strip() for cell in line.strip("|").split("|")] for line in lines]


def test_numbers_are_those_of_the_table(small, tmp_path):
    text = report(tmp_path, small)
    fits = pd.read_csv(tmp_path / "fits.csv")
    head, _, *rows = rows_of(text.split("## ")[0])
    assert len(rows) == len(small.results)
    for row in rows:
        found = dict(zip(head, row, strict=True))
        mine = fits[fits["dim"].eq(int(found["d"])) & fits["algorithm"].eq(found["algorithm"]) & fits["role"].eq("own")]
        last = mine.iloc[-1]  # at the log power that theory stands by
        assert found["promised"] == f"{last.theory_slope:.3f}"
        assert found["slope as seen"] == f"{last.raw_slope:.3f} [{last.raw_low:.3f}, {last.raw_high:.3f}]"
        assert found["after the logarithms"] == f"{last.slope:.3f} [{last.low:.3f}, {last.high:.3f}]"
        passes, caught = found["passes / caught"].split(" / ")
        assert float(passes) == pytest.approx(last.theory_slope + last.tolerates, abs=0.006)
        if last.theory_slope + last.catches > 1:  # no regret grows so fast
            assert caught == "none"
        else:
            assert float(caught.split("–")[0]) == pytest.approx(last.theory_slope + last.catches, abs=0.006)
        weak = " (no force)" * (last.control != "REFUTED" and last.exponent_verdict != "INCONCLUSIVE")
        assert found["exponent"].endswith(f"{last.exponent_verdict}{weak}")


def about(results):
    return SimpleNamespace(
        analysis=SimpleNamespace(results=results, gaps=()),
        case=lambda r: r.case.algorithm,
        where=lambda found, total: where([r.case.algorithm for r in found], total),
        emphasis="**",
    )


def seen(runs, curve, far):
    """A case with these three verdicts, None where there is none."""
    own = SimpleNamespace(assessment=SimpleNamespace(exponent=SimpleNamespace(name=runs, limits=(0.6, None))))
    agreement = curve and SimpleNamespace(name=curve, ratio=(1.0, 0.9, 1.1), locks_in=False)
    on = far and SimpleNamespace(on_exponent=SimpleNamespace(name=far))
    case = SimpleNamespace(family="cone", dim=1, algorithm=f"{runs}{curve}{far}")
    return SimpleNamespace(own=own, agreement=agreement, far=on, case=case, problem="none", forceful=True)


@pytest.mark.parametrize(
    ("verdicts", "kind"),
    [
        ((C, C, C), SETTLED),
        ((I, C, C), SETTLED),
        ((C, C, I), IMPLEMENTED),
        ((I, C, None), IMPLEMENTED),
        ((C, R, C), STRAYS),
        ((R, C, C), REFUTED),
        ((I, C, R), REFUTED),
        ((C, None, None), ALONE),
        ((C, I, C), ALONE),
        ((I, None, None), OPEN),
        ((I, I, C), OPEN),
    ],
)
def test_what_is_believed(verdicts, kind):
    assert kind_of(seen(*verdicts)) == kind


def test_every_case_is_counted_once():
    results = [seen(a, b, c) for a in (C, R, I) for b in (C, R, I, None) for c in (C, R, I, None)]
    context = about(results)
    text = belief(context)
    counts = {kind: sum(kind_of(r) == kind for r in results) for kind in ORDER}
    assert sum(counts.values()) == len(results)
    for kind, words in ORDER.items():
        place = text.index(words)
        assert f"in {counts[kind]} of {len(results)} cases" in text[place : place + 120]


def test_what_is_kept_without_force_counts_for_nothing():
    weak = replace_namespace(seen(C, None, None), forceful=False)
    assert kind_of(weak) == OPEN
    assert kind_of(replace_namespace(seen(R, None, None), forceful=False)) == REFUTED


def replace_namespace(thing, **changes):
    return SimpleNamespace(**vars(thing) | changes)


def test_runs_that_lock_in_are_no_other_algorithm():
    locked = replace_namespace(seen(C, R, C), agreement=None)
    locked.agreement = SimpleNamespace(name=R, ratio=(1.007, 1.0, 1.01), locks_in=True, lock_in=(0.3, 0.2, 0.4))
    context = about([locked])
    assert belief(context).startswith(
        "In the one case 30 % of the runs lock in, which theory does not describe; measured / predicted of the others "
        "is 1.007."
    )
    assert follows(locked) == "✘ 30 % lock in"


def test_a_rule_that_changed_a_verdict_is_named_at_the_verdict(small):
    def altered(**changes):
        result = judged_as(small, exponent=I).results[0]
        first, *others = result.judged
        exponent = replace(first.assessment.exponent, **changes)
        assessment = replace(first.assessment, exponent=exponent)
        return replace(result, judged=(replace(first, assessment=assessment), *others))

    assert verdict(altered()) == "? INCONCLUSIVE"
    holm = verdict(altered(clauses=(Overruled(Rule.HOLM, C, claims=30),)))
    assert holm == "? INCONCLUSIVE (CONSISTENT alone, not among 30 claims)"
    assert verdict(replace(altered(), problem="too few runs")) == "? not judged"


def test_holm_says_what_it_changed(small):
    """Every INCONCLUSIVE verdict that was another one before carries that."""
    for result in small.results:
        for judged in result.judged:
            v = judged.assessment.exponent
            assert (v.overruled is not None) <= (v.name == I)
    from ratecheck.verdict.several import holm

    weak = replace(small.results[0].own.assessment.exponent, p_value=0.04)
    changed = holm([weak, *[replace(weak, p_value=0.9)] * 3])
    assert overruled(changed[0].overruled) == "CONSISTENT alone, not among 4 claims"


def test_columns_of_the_curve_only_where_there_is_one(small):
    assert "runs / curve" not in next(iter(glance(context_of(small))))


def test_ten_words():
    assert len(WORDS) == 10
    assert all(meaning.endswith(".") for meaning in WORDS.values())
