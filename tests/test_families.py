"""Studies of several families, or of several settings of one: every cost keeps a name of its own."""

import re
from dataclasses import replace

import function_zoo as zoo
from ratecheck import AdaptiveBins, UniformBins
from tests.report_cases import analysis_of, planned, report, the_table

CUSPS = ((1, 0.5, 1.0), (1, 0.7, 1.0), (2, 0.5, 1.0), (2, 0.5, 2.0))


def test_several_families_and_settings_have_sections_of_their_own(tmp_path):
    costs = (("cone", 1), zoo.get("cusp", dim=1), zoo.get("cusp", dim=1, power=0.7))
    algorithms = (UniformBins(), AdaptiveBins(), AdaptiveBins(mu=30.0))
    text = report(tmp_path, analysis_of(planned(costs, algorithms=algorithms)))
    titles = re.findall(r"^## (.*)$", text, re.MULTILINE)
    assert [t for t in titles if t.startswith("c")] == ["cone", "cusp(power=0.5)", "cusp(power=0.7)"]
    assert {row["second"] for row in the_table(text, "measured gap")} == {"AdaptiveBins", "AdaptiveBins(mu=30)"}
    assert len(the_table(text, "promised slope")) == 9


def test_costs_that_differ_in_another_dimension_stay_apart():
    """Power in one dimension, scale in the other: both are named in both, and no gap mixes two costs."""
    cusp = {(dim, p, s): zoo.get("cusp", dim=dim, power=p, scale=s) for dim, p, s in CUSPS}
    analysis = analysis_of(planned(tuple(cusp.values())))
    cases = [r.case for r in analysis.results]
    names = {case.cost: (case.family, case.dim) for case in cases}
    assert len(set(names.values())) == len(CUSPS)
    for (dim, p, s), cost in cusp.items():
        family, _ = names[str(cost)]
        assert f"power={p}" in family, (dim, family)
        assert f"scale={s}" in family, (dim, family)
    assert [g.cost for g in analysis.gaps] == [str(c) for c in cusp.values()]
    for gap in analysis.gaps:
        first, second = (r for r in analysis.results if r.case.cost == gap.cost)
        assert gap.predicted == first.own.claim.rate.slope - second.own.claim.rate.slope
        assert names[gap.cost] == (gap.family, gap.dim)


def test_gaps_pair_runs_of_one_cost_whatever_its_name(tmp_path):
    plan = planned((zoo.get("cusp", dim=1), zoo.get("cusp", dim=1, power=0.7)))
    assert len(analysis_of([replace(case, family="cusp") for case in plan]).gaps) == 2
