"""What a study prints when it is done: a line per case and theorem, and what qualifies them."""

from __future__ import annotations

from ..analysis import Analysis
from ..markdown import listing, one_line
from ..report.context import harmless


def summary(analysis: Analysis) -> str:
    analysis = harmless(analysis, one_line)  # a terminal obeys what a name may hold
    heads = ("family", "d", "algorithm", "theorem", "slope, ln T power", "slope [95 %]", "passes", "caught", "verdict")
    rows = [row_of(result, judged) for result in analysis.results for judged in result.judged]
    widths = [max(len(row[i]) for row in [heads, *rows]) for i in range(len(heads))]
    lines = ["  ".join(cell.ljust(width) for cell, width in zip(row, widths, strict=True)) for row in [heads, *rows]]
    lines.append("")
    lines.append("slopes are exponents of R, the cumulative regret: R = T^slope (ln T)^power")
    lines.append("passes: the worst pure power that could have been CONSISTENT; caught: the best that is surely not")
    if any(judged.claim.corrected for result in analysis.results for judged in result.judged):
        lines.append("printed -> corrected powers of ln T; slopes are fitted at the last of them")
    lines += [*unmet(analysis), *controls(analysis)]
    lines += bounds(analysis)
    unjudged = [r.case.name for r in analysis.results if r.problem]
    if unjudged:
        lines.append(f"not judged (the report says why): {'; '.join(unjudged)}")
    return "\n".join(line.rstrip() for line in lines)


def row_of(result, judged) -> tuple[str, ...]:
    claim, rate, case, parts = judged.claim, judged.claim.rate, result.case, judged.assessment
    fit = result.fit_for(claim)
    fit = fit and fit.at(rate.log_power)
    slope = f"{fit.slope:.3f} [{fit.low:.3f}, {fit.high:.3f}]" if fit else "-"
    powers = dict.fromkeys(f"{r.log_power:.3g}" for r in (claim.printed, rate))
    theory = f"{'<=' if claim.kind == 'upper' else '>='} {rate.slope:.3f}  {' -> '.join(powers)}"
    passes, caught = limits(parts.exponent)
    note = f"{judged.name}"
    if claim.per_cost and parts.exponent.name != judged.name:
        note += f" (exponent {parts.exponent.name}, printed log power {parts.log_power.name})"
    mark = "*" if claim.violated else ""
    return case.family, str(case.dim), case.algorithm, claim.theorem + mark, theory, slope, passes, caught, note


def limits(v) -> tuple[str, str]:
    """The slopes that could have passed, and those that would have been caught."""
    passes, caught = v.limits
    if passes is None:
        return "-", "-"
    return f"{passes:.2f}", "none" if caught is None else f"{caught:.2f}"


def unmet(analysis: Analysis):
    """A line per hypothesis that is not met somewhere: where, and the sentence about the first such case."""
    found = {}
    for result in analysis.results:
        for judged in result.judged:
            for violation in judged.claim.violated:
                place = found.setdefault((judged.claim.theorem, violation.name), (violation.sentence, []))
                place[1].append(result.case.name)
    if found:
        yield "* a hypothesis is not met, so that the theorem promises nothing: the verdict is on its rate"
    for (theorem, _), (sentence, names) in found.items():
        more = "" if len(names) == 1 else f", and likewise for {listing(names[1:], most=3)}"
        yield f"  {theorem}: {sentence} ({names[0]}{more})"


def bounds(analysis: Analysis):
    """How far the algorithms are from what no strategy beats, in a line; where there is no family, why."""
    found = [r for r in analysis.results if r.sandwich.rungs]
    if found:
        factors = [r.sandwich.last.factor for r in found]
        span = f"{min(factors):.3g}" if len(found) == 1 else f"{min(factors):.3g} to {max(factors):.3g}"
        yield f"mean regret over hard families, at their last T: {span} times the certified lower bound"
    without = [r for r in analysis.results if not r.sandwich.rungs and any(not j.claim.per_cost for j in r.judged)]
    for why, names in grouped((" and ".join(r.sandwich.problems) or "none was run", r.case.name) for r in without):
        yield f"no hard family for {listing(names, most=3)}: {why}"


def grouped(pairs):
    """(key, all that come with it), in their order."""
    found = {}
    for key, value in pairs:
        found.setdefault(key, []).append(value)
    return found.items()


def controls(analysis: Analysis):
    judged = [(r, control, v.name == "REFUTED") for r in analysis.results if not r.problem for control, v in r.controls]
    if judged:
        count = sum(caught for *_, caught in judged)
        tilted = " to ".join(dict.fromkeys(f"{end(tilts(judged)):.2f}" for end in (min, max)))
        yield f"negative controls: {count} of {len(judged)} refuted (the promised exponent of R, tilted to {tilted})"
    missed = list(dict.fromkeys(result.case.name for result, _, caught in judged if not caught))
    if missed:
        yield f"not refuted, so the verdict has no force: {'; '.join(missed)}"


def tilts(judged) -> list[float]:
    """The exponents of R of runs that have the promised rate and are tilted as a control tilts them."""
    return [control.slope(result.case.own) for result, control, _ in judged]
