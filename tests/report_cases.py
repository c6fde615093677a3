"""Studies for the tests of reports: plans, runs made without a random number generator, verdicts at will."""

import re
from dataclasses import replace
from itertools import combinations

import numpy as np
import pandas as pd
from scipy.special import ndtri

import function_zoo as zoo
from ratecheck.lower_bound.hard_family import Rung, Sandwich
from ratecheck.report import Info, write_report
from ratecheck.study import Grid, Study
from ratecheck.study.plan import cases, no_curve
from ratecheck.verdict.analyse import Analysis, analyse
from ratecheck.verdict.rules import Outcome

C, R, I = Outcome.CONSISTENT, Outcome.REFUTED, Outcome.INCONCLUSIVE  # noqa: E741
QUADRATIC = (("quadratic", 1), ("quadratic", 3))
AUDIT = [
    {"constant": "alpha", "annotated": 2.0, "measured": 1.99999, "holds": True, "basis": "proved", "worst": "x = 0"},
    {"constant": "M_b", "annotated": 0.8, "measured": 0.8333, "holds": False, "basis": "bound", "worst": "x = 1"},
]
AUDITS = {str(zoo.get("quadratic", dim=1)): AUDIT}


def planned(costs=QUADRATIC, **settings):
    settings = {"horizons": Grid(first=2**8, last=2**15, periods=2.0, cap=2**16), "replicates": 24} | settings
    return [
        case
        for case, _, _ in cases(Study(name="small", question="Does it hold?", costs=costs, **settings), curves=no_curve)
    ]


def runs_of(case, growth=None, noise=0.1, replicates=None):
    """Runs whose mean follows the case's own theorem, or `growth`, without a random number generator."""
    rate = growth or case.claims[0].rate
    rows = []
    for i in range(replicates or case.replicates):
        for j, horizon in enumerate(case.horizons):
            uniform = (0.618034 * (i + 1) + 0.414214 * (j + 1) * (i + 3)) % 1.0
            rows.append((i, horizon, rate.regret(horizon) * np.exp(noise * ndtri(0.02 + 0.96 * uniform))))
    frame = pd.DataFrame(rows, columns=["replicate", "horizon", "regret"])
    return frame.assign(series=case.series.digest, anytime=case.anytime)


def bent_runs(case, curvature):
    """Runs whose slope rises by 2 curvature per e-fold."""
    runs = runs_of(case, noise=0.02)
    x = np.log(runs["horizon"])
    return runs.assign(regret=runs["regret"] * np.exp(curvature * (x - x.mean()) ** 2))


def sandwich_of(case, noise=0.1, growth=0.1, factor=10.0) -> Sandwich:
    """Runs on a hard family: their mean lies so many times above a bound with Theorem 3's slope, and grows faster."""
    slope = case.claims[-1].rate.slope
    rungs, members = [], case.hard.members
    for j, horizon in enumerate(case.hard.horizons):
        uniform = [(0.618034 * (i + 1) + 0.414214 * (j + 1) * (i + 3)) % 1.0 for i in range(members)]
        scatter = [np.exp(noise * ndtri(0.02 + 0.96 * u)) for u in uniform]
        bound = 3.0 * horizon**slope
        rungs.append(Rung(horizon, bound, tuple(factor * bound * horizon**growth * s for s in scatter)))
    return Sandwich(tuple(rungs), tuple((r.horizon, r.bound) for r in rungs), (), members)


def analysed(plan, table, noise=0.1) -> Analysis:
    """Judged by the usual margin; every two algorithms of different classes are compared."""
    labels = dict.fromkeys(case.algorithm for case in plan)
    pairs = [(a, b) for a, b in combinations(labels, 2) if a.partition("(")[0] != b.partition("(")[0]]
    return analyse(plan, table, margin=0.05, comparisons=pairs, sandwich=lambda case: sandwich_of(case, noise))


def analysis_of(plan, **options) -> Analysis:
    return analysed(plan, pd.concat([runs_of(case, **options) for case in plan]), options.get("noise", 0.1))


def judged_as(analysis, exponent, log_power=None, corrected=None, control=Outcome.REFUTED):
    """The analysis with other verdicts: a function of the result's place for each part."""

    def name(part, i, verdict):
        chosen = part(i) if callable(part) else part
        return verdict if verdict is None or chosen is None else replace(verdict, name=chosen)

    results = []
    for i, result in enumerate(analysis.results):
        found = result.own.assessment
        found = replace(
            found,
            exponent=name(exponent, i, found.exponent),
            log_power=name(log_power or exponent, i, found.log_power),
            corrected_log_power=name(corrected or exponent, i, found.corrected_log_power),
        )
        own = replace(result.own, assessment=found)
        controls = tuple((c, name(control, i, v)) for c, v in result.controls)
        results.append(replace(result, judged=(own, *result.judged[1:]), controls=controls))
    return replace(analysis, results=tuple(results))


def info_of(**changes) -> Info:
    session = {"started": "2026-01-02T03:04:05Z", "seconds": 12.34, "units": 8, "steps": 123456, "workers": 2}
    session |= {"where": "threads", "machine": "a machine", "versions": {"numpy": "2.0", "ratecheck": "0.1"}}
    plain = Info(
        name="small",
        question="Does it hold?",
        settings={"seed": 0, "noise": "Gaussian(sigma=1.0)"},
        command="python -m ratecheck.study --family quadratic --out studies/small",
        sessions=(session, session | {"started": "2026-01-03T03:04:05Z", "seconds": 1.0, "steps": 44}),
        digest="0123456789abcdef",
        missing=(),
        complaints=(),
        audits={},
    )
    return replace(plain, **changes)


def report(folder, analysis, info=None, **options):
    return write_report(folder, analysis, info or info_of(), **{"figures": False} | options).read_text("utf-8")


def section(text, title):
    return re.search(rf"^## {re.escape(title)}\n(.*?)(?=^## |\Z)", text, re.MULTILINE | re.DOTALL).group(1)


def the_table(text, column):
    return next(rows for header, rows in tables_of(text) if column in [h.strip() for h in header])


def tables_of(text):
    """Every table of a markdown text, as a list of dictionaries."""
    blocks = re.findall(r"(?:^\|.*\n?)+", text, re.MULTILINE)
    for block in blocks:
        header, _, *rows = [[c.strip() for c in line.strip("|").split(" | ")] for line in block.strip().splitlines()]
        yield header, [dict(zip((h.strip() for h in header), row, strict=True)) for row in rows]
