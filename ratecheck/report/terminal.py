"""What a study prints when it is done: a line per case and theorem, and what qualifies them."""

from ..claims import Outcome
from ..display import WIDTH, listing, wrapped
from ..verdict.analyse import Analysis
from .belief import belief
from .context import Context, grouped

HEADS = ("theorem", "slope, ln T power", "slope [95 %]", "force", "verdict")
WIDTHS = (11, 19, 20, 9, 14)  # of the columns, over indented rows: fewer columns than a terminal has
UNJUDGED = "NOT JUDGED"


def summary(analysis: Analysis) -> str:
    """A table of all verdicts in 80 columns, and sentences below it."""
    context = Context.in_terminal(analysis)  # which obeys what a name may hold
    analysis = context.analysis
    marks = {}  # what a letter behind a verdict stands for
    lines = [row(HEADS)]
    for result in analysis.results:
        lines.append(shortened(result.case.name, WIDTH))
        lines += [row(cells(result, judged, marks)) for judged in result.judged]
    lines.append("")
    said = [f"{letter}: exponent {e}, printed log power {power}" for (e, power), letter in marks.items()]
    said.append("slopes are exponents of R, the cumulative regret: R = T^slope (ln T)^power")
    said.append("force: the worst pure power that could have been CONSISTENT / the best that is surely not")
    if any(judged.claim.corrected for result in analysis.results for judged in result.judged):
        said.append("printed->corrected powers of ln T; slopes are fitted at the last of them")
    said += [*unmet(analysis), *controls(analysis)]
    said += bounds(analysis)
    unjudged = [r.case.name for r in analysis.results if r.problem]
    if unjudged:
        said.append(f"{UNJUDGED}, slopes in brackets (the report says why): {'; '.join(unjudged)}")
    lines += [line for sentence in said for line in wrapped(sentence, others="  ", cut=True)]
    lines += ["", *wrapped(f"What to believe. {belief(context)}", cut=True)]
    return "\n".join(line.rstrip() for line in lines)


def row(texts) -> str:
    return "  " + " ".join(shortened(text, width).ljust(width) for text, width in zip(texts, WIDTHS, strict=True))


def shortened(text: str, width: int) -> str:
    return text if len(text) <= width else f"{text[: width - 1]}…"


def cells(result, judged, marks) -> tuple[str, ...]:
    claim, rate = judged.claim, judged.claim.rate
    fit = result.fit_for(claim)
    fit = fit and fit.at(rate.log_power)
    powers = dict.fromkeys(f"{r.log_power:.3g}" for r in (claim.printed, rate))
    theory = f"{'<=' if claim.kind == 'upper' else '>='}{rate.slope:.3f}, {'->'.join(powers)}"
    theorem = shortened(claim.theorem, WIDTHS[0] - 1) + "*" * bool(claim.violated)
    if fit is None or (claim.per_cost and result.problem):
        return theorem, theory, f"({fit.slope:.3f})" if fit else "-", "-", UNJUDGED
    slope = f"{fit.slope:.3f} [{fit.low:.3f}, {fit.high:.3f}]"
    return theorem, theory, slope, "/".join(limits(judged.assessment.exponent)), verdict(judged, marks)


def verdict(judged, marks: dict) -> str:
    """In a word; a letter behind it says where exponent and log power fare differently."""
    parts = judged.assessment
    if not judged.claim.per_cost or parts.exponent.name == judged.name:
        return f"{judged.name}"
    names = parts.exponent.name, parts.log_power.name
    return f"{judged.name} {marks.setdefault(names, chr(ord('a') + len(marks)))}"


def limits(v) -> tuple[str, str]:
    passes, caught = v.limits
    if passes is None:
        return "-", "-"
    return f"{passes:.2f}", "none" if v.catches_nothing else f"{caught:.2f}"


def unmet(analysis: Analysis):
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
    found = [r for r in analysis.results if r.sandwich.rungs]
    if found:
        factors = [r.sandwich.last.factor for r in found]
        span = f"{min(factors):.3g}" if len(found) == 1 else f"{min(factors):.3g} to {max(factors):.3g}"
        yield f"mean regret over hard families, at their last T: {span} times the certified lower bound"
    without = [r for r in analysis.results if not r.sandwich.rungs and any(not j.claim.per_cost for j in r.judged)]
    reasons = ((" and ".join(r.sandwich.problems) or "none was run", r.case.name) for r in without)
    for why, names in grouped(reasons).items():
        yield f"no hard family for {listing(names, most=3)}: {why}"


def controls(analysis: Analysis):
    known = [(r, control, v) for r in analysis.results if not r.problem for control, v in r.controls]
    judged = [(r, control, v.name == Outcome.REFUTED) for r, control, v in known]
    if judged:
        count = sum(caught for *_, caught in judged)
        tilts = [control.slope(result.case.own) for result, control, _ in judged]  # exponents of R of tilted runs
        tilted = " to ".join(dict.fromkeys(f"{end(tilts):.2f}" for end in (min, max)))
        yield f"negative controls: {count} of {len(judged)} refuted (the promised exponent of R, tilted to {tilted})"
    missed = list(dict.fromkeys(result.case.name for result, _, caught in judged if not caught))
    if missed:
        yield f"not refuted, so the verdict has no force: {'; '.join(missed)}"
