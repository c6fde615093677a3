"""The answers of a study in full: sentences, true to its verdicts whatever their mixture, and what qualifies them."""

from collections import Counter
from dataclasses import replace

from ..claims import Outcome
from ..display import among, listing
from ..verdict.analyse import CAUTION_LEVEL, Analysis
from .context import Context, sentence, where
from .sandwich import distance
from .theory import follows, obeys


def answers(context: Context):
    yield "## The answers in full"
    yield f"**The runs alone.** {answer(context.analysis, context.case)}"
    qualified = {
        "Do the runs follow the predicted curve?": follows(context),
        "Does the predicted curve obey the theorem?": obeys(context),
        "How far from the best possible?": distance(context),
        "Caution.": caution(context.analysis),
        "Hypotheses.": hypotheses(context.analysis),
    }
    yield from (f"**{title}** {text}" for title, text in qualified.items() if text)


def answer(analysis: Analysis, name) -> str:
    """One sentence on exponents, one on log powers and lower bounds; `name(result)` names a case."""
    return f"{_exponents(analysis, name)} {_log_powers(analysis, name)}"


def hypotheses(analysis: Analysis) -> str:
    return unmet((j.claim.theorem, [v.name for v in j.claim.violated]) for r in analysis.results for j in r.judged)


def unmet(claims) -> str:
    """Where theorems are judged that promise nothing there, from pairs of one and its hypotheses that are not met."""
    claims = list(claims)
    total = Counter(theorem for theorem, _ in claims)
    found = Counter((theorem, tuple(dict.fromkeys(names))) for theorem, names in claims if names)
    return " ".join(
        f"{theorem} asks for another {listing(names)} {among(n, total[theorem])}: the verdicts there are on its rate, "
        "not on the theorem."
        for (theorem, names), n in found.items()
    )


def caution(analysis: Analysis) -> str:
    """What the diagnostics have against the slopes that were judged; empty if nothing."""
    fits = [r.fit.at(r.own.claim.rate.log_power) for r in analysis.results if not r.problem]
    crooked = sum(r.bent for r in analysis.results if not r.problem)
    rising = sum(f.change().above(0.0) < CAUTION_LEVEL for f in fits)
    judged = "with a verdict" if len(fits) < len(analysis.results) else ""
    said = []
    if crooked:
        said.append(
            f"{among(crooked, len(fits), judged)} curvature or the held-out horizons reject the fitted line (at the "
            f"{100 * CAUTION_LEVEL:.0f} % level, each case for itself), so the slopes there are those of this window "
            "and not of T to infinity"
        )
    if rising:
        said.append(
            f"{among(rising, len(fits), judged)} the slope is still rising: it is higher over the last half of the "
            "window than over the whole"
        )
    return sentence("; ".join(said)) if said else ""


def _split(analysis, name, verdict_of):
    return [[name(r) for r in analysis.results if verdict_of(r) == outcome] for outcome in Outcome]


WORDS = {
    "upper": ("grows faster than", "grows no faster than", "the promised exponent allows"),
    "lower": ("grows more slowly than", "grows no more slowly than", "the promised exponent asks for"),
}


def _exponents(analysis, name) -> str:
    kinds = list(dict.fromkeys(r.own.claim.kind for r in analysis.results))
    parts = [part for kind in kinds for part in _exponents_of(kind, analysis, name)]
    decided = [r for r in analysis.results if r.own.assessment.exponent.name != Outcome.INCONCLUSIVE]
    weak = [name(r) for r in decided if not r.forceful]
    if weak:
        parts.insert(0, f"the negative control was not refuted for {listing(weak)}, so the verdict there has no force")
    margin = f"with a margin of {analysis.margin:g}, " if decided else ""
    return sentence(margin + "; ".join(parts))


def _exponents_of(kind, analysis, name):
    here = replace(analysis, results=tuple(r for r in analysis.results if r.own.claim.kind == kind))
    good, bad, undecided = _split(here, name, lambda r: r.own.assessment.exponent.name)
    beyond, within, promise = WORDS[kind]
    total = len(here.results)
    if bad:
        yield f"the regret {beyond} {promise} {where(bad, total)}"
    if good:
        grows = f"it {within} that" if bad else f"the regret {within} {promise}"
        yield f"{grows} {among(len(good), total)}"
    if undecided:
        yield f"the runs cannot decide about the exponent {where(undecided, total)}"


def _log_powers(analysis, name) -> str:
    total = len(analysis.results)
    good, bad, undecided = _split(analysis, name, lambda r: r.own.assessment.log_power.name)
    parts = []
    if bad:
        parts.append(f"with the exponent granted, the printed power of ln T is refuted {where(bad, total)}")
        parts += _corrected(analysis, name)
    if good:
        power = "the printed one" if bad else "the printed power of ln T"
        parts.append(f"{power} is consistent {among(len(good), total)}")
    if undecided:
        power = "the printed one" if bad else "it" if good else "the printed power of ln T"
        parts.append(f"{power} is undecided {where(undecided, total)}")
    return sentence("; ".join([*parts, *_others(analysis, name)]))


def fallen_behind(gaps, first, second) -> str:
    """Where the first algorithm's slope is the larger, apart by whether theory promises it a worse exponent."""
    parts = []
    for word, promised in (("with", True), ("without", False)):
        known = [g for g in gaps if (g.first, g.second) == (first, second) and g.promised == promised and g.counts]
        if known:
            positive = sum(g.measured.low > 0 for g in known)
            parts.append(among(positive, len(known), f"{word} {'one' if parts else 'a worse promised exponent'}"))
    return f"the raw slope of {first} exceeds that of {second} {' and '.join(parts)}" if parts else ""


def _corrected(analysis, name):
    """What became of the corrected log power where the printed one is refuted."""
    refuted = [r for r in analysis.results if r.own.assessment.log_power.name == Outcome.REFUTED]
    known = [r for r in refuted if r.own.assessment.corrected_log_power is not None]
    for verdict, said in (
        (Outcome.CONSISTENT, "consistent"),
        (Outcome.REFUTED, "refuted too"),
        (Outcome.INCONCLUSIVE, "undecided"),
    ):
        names = [name(r) for r in known if r.own.assessment.corrected_log_power.name == verdict]
        if names:
            place = "there" if names == [name(r) for r in refuted] else f"for {listing(names, most=4)}"
            yield f"the corrected one is {said} {place}"


def _others(analysis, name):
    """Theorems that the study adds, and bounds on the worst cost, judged on hard families."""
    claims = [j.claim for r in analysis.results for j in r.judged if j.claim != r.case.own]
    kinds = {c.theorem: c.kind for c in sorted(claims, key=lambda claim: not claim.per_cost)}
    bounds = {c.theorem for c in claims if not c.per_cost}
    for theorem, kind in kinds.items():

        def verdict_on(result, theorem=theorem):
            return next((j.name for j in result.judged if j.claim.theorem == theorem), None)

        good, bad, undecided = _split(analysis, name, verdict_on)
        total = len(good) + len(bad) + len(undecided)
        subject = f"the {kind} bound of {theorem}" if theorem in bounds else theorem
        if bad and theorem in bounds:
            yield f"**{subject} is broken, which no strategy can, {where(bad, total)}**"
        elif bad:
            yield f"{subject} is refuted {where(bad, total)}"
        if good:
            yield f"{subject} is consistent {among(len(good), total)}"
        if undecided and theorem in bounds:
            yield f"{'it' if good else subject} is undecided {where(undecided, total)}"
        elif undecided:
            yield f"{subject} is undecided {among(len(undecided), total)}"
