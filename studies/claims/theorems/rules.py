"""Verdicts on the theorems.

A rate is judged twice: by runs (exponent, then log power at the promised exponent) and by the predicted curve, which
goes much further and has no noise.  The curve counts only as far as runs follow it.
"""

from __future__ import annotations

import math
from dataclasses import dataclass, replace

import numpy as np
import pandas as pd

import function_zoo as zoo
import ratecheck as rc
from ratecheck.display import fixed, general, interval, listing
from ratecheck.verdict.agreement import compare
from ratecheck.verdict.rules import MARGIN, decide
from studies.claims.ledger.experiment import Tables
from studies.claims.ledger.finding import Finding, Verdict
from studies.claims.shared import FAR_LOG_MARGIN
from studies.claims.theorems.tables import BEGINS_ALIKE, KEYS, NO_MU, algorithm_of
from studies.lower_bound.sandwich import ORACLE, Measured

LOG_MARGIN = 0.5  # of a log power that runs are judged by
PRINTED, CORRECTED = "printed", "corrected"
RULE = (
    "Margins and tests are those of the library and older than these runs. How runs and curves are put together, and "
    "that more than half of the costs suffice, was settled after trial runs of the same costs and seed: another "
    "seed is the fairer test. Runs refute or support a rate by the library's verdicts on the exponent (margin "
    f"{MARGIN:g}) and on the log power with the exponent fixed (margin {LOG_MARGIN:g}), after Holm over all of a "
    f"claim; the predicted curve does so by its limits far out (margins {MARGIN:g} and {FAR_LOG_MARGIN:g}). A curve "
    "supports where runs do not contradict it, and refutes only where they agree with it within 2 %; where runs and "
    "curve contradict each other nothing is decided. A claim is REFUTED by one cost that meets its hypotheses, and "
    "CONSISTENT if none does and more than half of the costs support it."
)


# A rate, by runs and by the curve


@dataclass(frozen=True)
class Case:
    """One cost and algorithm: what its theorem promises, what its runs say, what its curve says, how both agree."""

    family: str
    dim: int
    mu: str
    claim: rc.Claim
    fit: rc.Fit
    agreement: rc.Agreement
    far: rc.Far

    def __str__(self):
        return (
            f"{self.family} d = {self.dim}" + {NO_MU: "", "min": " (μ_min)", "theorem": " (the theorem's μ)"}[self.mu]
        )

    @property
    def cost(self) -> str:
        return f"{self.family} d = {self.dim}"

    @property
    def beta(self) -> float:
        return zoo.get(self.family, self.dim).constants.beta

    @property
    def promised(self) -> bool:
        """Whether the theorem's hypotheses are met."""
        return not self.claim.violated

    def rate(self, which):
        return self.claim.printed if which == PRINTED else self.claim.rate

    def by_runs(self, which) -> tuple[rc.Verdict, rc.Verdict]:
        """On the exponent, and on the log power at that exponent."""
        rate = self.rate(which)
        return decide(self.fit, self.claim.rate).alone, decide(self.fit, rate, log_power=True)

    def by_curve(self, which) -> tuple:
        corrected = which == CORRECTED and self.far.on_corrected
        return self.far.on_exponent, corrected or self.far.on_printed

    def power(self):
        return self.fit.log_power_at(self.claim.rate.slope)


def cases(runs: pd.DataFrame, curves: pd.DataFrame, window) -> list[Case]:
    return [_case(key, part, curves, window) for key, part in runs.groupby(KEYS, sort=False)]


def _case(key, runs, curves, window) -> Case:
    family, dim, mu = key
    cost = zoo.get(family, dim)
    algorithm = algorithm_of(mu).settle(cost)
    claim = algorithm.claims(cost)[0]
    mine = curves[(curves[KEYS] == list(key)).all(axis=1)]
    curve = rc.Curve(*(tuple(mine[name]) for name in ("horizon", "regret", "cells")), mine["limit"].iloc[0])
    shift = None if mu == NO_MU else algorithm.shift(cost)
    left_open = runs.groupby("horizon")["left_open"].mean().to_numpy()
    return Case(
        *key,
        claim,
        rc.fit_rate(runs, claim.rate.log_power, window=(window, math.inf)),
        compare(runs, runs["predicted"].to_numpy(), left_open=left_open),
        rc.far(
            curve,
            claim,
            log_margin=FAR_LOG_MARGIN,
            period=algorithm.period(cost),
            shift=shift,
            onset=algorithm.onset(cost, curve.horizons[-1]),
        ),
    )


def together(runs: rc.Outcome, curve: rc.Outcome, agree: rc.Outcome) -> rc.Outcome:
    """What runs and curve say as one."""
    if rc.Outcome.REFUTED in (runs, curve):
        against = rc.Outcome.CONSISTENT in (runs, curve) and agree is not rc.Outcome.REFUTED
        seen = runs is rc.Outcome.REFUTED or agree is rc.Outcome.CONSISTENT
        return rc.Outcome.REFUTED if seen and not against else rc.Outcome.INCONCLUSIVE
    if runs is rc.Outcome.CONSISTENT or (curve is rc.Outcome.CONSISTENT and agree is not rc.Outcome.REFUTED):
        return rc.Outcome.CONSISTENT
    return rc.Outcome.INCONCLUSIVE


def said(found: list[Case], which) -> list[tuple[rc.Outcome, rc.Outcome]]:
    """Per case, on the exponent and on the log power; runs are judged as one family (Holm)."""
    judged = iter(rc.holm([v for case in found for v in case.by_runs(which)]))
    answers = []
    for case in found:
        curves = case.by_curve(which)
        answers.append(tuple(together(next(judged).name, c.name, case.agreement.name) for c in curves))
    return answers


def overall(parts: tuple[rc.Outcome, rc.Outcome]) -> rc.Outcome:
    if rc.Outcome.REFUTED in parts:
        return rc.Outcome.REFUTED
    return rc.Outcome.CONSISTENT if set(parts) == {rc.Outcome.CONSISTENT} else rc.Outcome.INCONCLUSIVE


def rate_rule(found: list[Case], which, foretold="") -> Finding:
    """The verdict on a rate over all costs."""
    answers = [overall(parts) for parts in said(found, which)]
    against = [c for c, a in zip(found, answers, strict=True) if a is rc.Outcome.REFUTED and c.promised]
    if against:
        shown = listing([f"{c}: {numbers(c, which)}" for c in against])
        rest = listing(
            [str(c) for c, a in zip(found, answers, strict=True) if a is rc.Outcome.CONSISTENT] or ["none"], 9
        )
        return Finding(Verdict.REFUTED, shown, caveat=f"it holds on {rest}", foretold=foretold)
    costs = list(dict.fromkeys(c.cost for c in found))
    holding = {c.cost: c for c, a in zip(found, answers, strict=True) if a is rc.Outcome.CONSISTENT}
    evidence = f"supported on {len(holding)} of {len(costs)} costs{_spans(list(holding.values()), which)}"
    undecided = [cost for cost in costs if cost not in holding]
    caveat = f"undecided on {listing(undecided)}" if undecided else ""
    if 2 * len(holding) <= len(costs):
        return Finding(Verdict.INCONCLUSIVE, evidence, caveat=caveat or "no cost was tested", foretold=foretold)
    excess = max(c.by_runs(which)[0].tolerates or 0.0 for c in holding.values())
    tolerates = (
        f"R of an exponent larger by {MARGIN:g} on the curves, by {excess:.2f} on runs alone; of a log power larger by "
        f"{FAR_LOG_MARGIN:g} on the curves, by {LOG_MARGIN:g} on runs"
    )
    return Finding(Verdict.CONSISTENT, evidence, tolerates, caveat, foretold)


def _spans(found: list[Case], which) -> str:
    """Slopes against the promise, and what powers the curves need of those that are promised."""
    if not found:
        return ""
    off = [c.fit.at(c.rate(which).log_power).slope - c.rate(which).slope for c in found]
    known = [c for c in found if c.far.power is not None]
    powers = ", ".join(f"{c.far.power.value:.2f} of {c.rate(which).log_power:.3g}" for c in known)
    span = " to ".join(dict.fromkeys(f"{end(off):+.3f}" for end in (min, max)))
    return f": slopes in runs {span} off the promise; powers of ln T on the far curves {powers}"


def numbers(case: Case, which) -> str:
    rate, power = case.rate(which), case.power()
    measured = f"slope {fixed(case.fit.at(rate.log_power).slope)} after (ln T)^{general(rate.log_power, 3)} against "
    measured += f"{fixed(rate.slope)}, log power {fixed(power.value, 2)} {interval(power.low, power.high, 2)}"
    if case.far.power is None:
        return measured
    return f"{measured} and {fixed(case.far.power.value, 2)} on the curve to T = {case.far.last:.0e}"


def sharper_rule(found: list[Case]) -> Finding:
    """The sharper log power, with what the curves say of the printed one: is it needed?"""
    finding = rate_rule(found, CORRECTED)
    alone = {c.cost for c in found if c.by_curve(CORRECTED)[1].name is rc.Outcome.CONSISTENT}
    spare = [str(c) for c in found if c.far.on_printed.attained is False]
    notes = [
        finding.caveat,
        f"the power by curves alone: on {listing(sorted(alone) or ['no cost'])}, elsewhere by runs",
    ]
    if spare:
        notes.append(f"the curve does not need the printed power on {listing(spare)}, which refutes no upper bound")
    return replace(finding, caveat="; ".join(filter(None, notes)))


# Theorem 3


def lipschitz_rule(tables: Tables) -> Finding:
    """Claim 11: mean regret of uniform bins over members of hard families with alpha = 1, beta = 0."""
    runs = flat(tables["sandwich"])
    verdicts, texts = [], []
    for (family, dim), part in runs.groupby(["family", "dim"], sort=False):
        rate = rc.Rate(1 / (dim + 2), 0.5)  # Theorem 1 at α = 1, β = 0
        fit = rc.fit_rate(part.assign(anytime=False), rate.log_power, run="replicate")
        verdicts += [decide(fit, rate), decide(fit, rate, log_power=True)]
        power = fit.log_power_at(rate.slope)
        texts.append(
            f"{family} d = {dim}: slope {fixed(fit.slope)} {interval(fit.low, fit.high)} after (ln T)^0.5 against "
            f"{fixed(rate.slope)}, log power {fixed(power.value, 2)} {interval(power.low, power.high, 2)}"
        )
    names = {v.name for v in rc.holm(verdicts)}
    caveat = "members of the hard family at each T: flat costs themselves are easier, uniform bins hit the flat at once"
    evidence = "mean over members, " + "; ".join(texts)
    if rc.Outcome.REFUTED in names:
        return Finding(Verdict.REFUTED, evidence, caveat=caveat)
    if names != {rc.Outcome.CONSISTENT}:
        return Finding(Verdict.INCONCLUSIVE, evidence, caveat=caveat)
    excess = max(v.tolerates for v in verdicts[::2])
    return Finding(
        Verdict.CONSISTENT,
        evidence,
        f"R of an exponent larger by {excess:.2f}, or of a log power larger by {LOG_MARGIN:g}",
        caveat,
    )


def flat(runs):
    flat = [zoo.get(f, d).constants.beta == 0 for f, d in zip(runs["family"], runs["dim"], strict=True)]
    return runs[np.array(flat) & (runs["algorithm"] == "uniform bins")]


def certified_slopes(bounds: pd.DataFrame) -> pd.DataFrame:
    """Per cost: the promised slope, that of the certified curve over all of its horizons and over the last half."""
    rows = []
    for (family, dim), part in bounds.groupby(["family", "dim"], sort=False):
        x, y = np.log(part["horizon"].to_numpy(float)), np.log(part["bound"].to_numpy())
        late = x >= (x[0] + x[-1]) / 2
        late[-2:] = True
        promised = rc.theorem3.rate(zoo.get(family, dim).constants, dim).slope
        slopes = (float(np.polyfit(x[part], y[part], 1)[0]) for part in (slice(None), late))
        rows.append((family, dim, promised, *slopes))
    return pd.DataFrame(rows, columns=["family", "dim", "promised", "slope", "late"])


def lower_rule(tables: Tables) -> Finding:
    """Claim 25: certificates that two verifiers accept, of the promised slope, that no honest algorithm undercuts."""
    bounds, slopes = tables["bounds"], certified_slopes(tables["bounds"])
    factors = measured(tables["sandwich"]).factors
    honest, told = factors[factors["algorithm"] != ORACLE], factors[factors["algorithm"] == ORACLE]
    beaten = honest[honest["below"]]
    if len(beaten):
        row = beaten.iloc[0]
        return Finding(
            Verdict.REFUTED,
            f"{row['algorithm']} on {row['family']} d = {row['dim']} at T = {row['horizon']:,}: mean {row['mean']:.4g} "
            f"below the certified {row['bound']:.4g}",
        )
    checks = {
        "a verifier refuses a certificate": bounds[["first", "second"]].to_numpy().all(),
        "a verifier accepts a forged certificate": not bounds[["first_forged", "second_forged"]].to_numpy().any(),
        "the oracle does not fall below the bound": len(told) > 0 and bool(told["below"].all()),
        f"a certified curve is flatter than promised by more than {MARGIN:g}": bool(
            (slopes[["slope", "late"]].min(axis=1) > slopes["promised"] - MARGIN).all()
        ),
    }
    failed = [what for what, holds in checks.items() if not holds]
    off = (slopes["late"] - slopes["promised"]).to_numpy()
    evidence = (
        f"{len(bounds)} certificates on {len(slopes)} costs, T = {bounds['horizon'].min():.0e} to "
        f"{bounds['horizon'].max():.0e}, accepted by two verifiers; slopes within {np.abs(off).max():.3f} of the "
        f"promised; all algorithms' means {honest['factor'].min():.1f} to {honest['factor'].max():.0f} times above, "
        "an oracle that knows the member below"
    )
    caveat = "proved at these T for these costs, if M_a and M_b are as annotated; that it goes on is extrapolation"
    if failed:
        return Finding(Verdict.INCONCLUSIVE, f"{listing(failed)}; {evidence}", caveat=caveat)
    return Finding(Verdict.CONSISTENT, evidence, f"a bound that grows more slowly by {MARGIN:g}", caveat)


def measured(sandwich: pd.DataFrame) -> Measured:
    names = ["family", "dim", "horizon", "bound"]
    return Measured(sandwich.drop(columns="bound"), sandwich[names].drop_duplicates().assign(problem=""))


def known_rule(tables: Tables) -> Finding:
    """Claim 27, exactly: every check on every cost."""
    checks = tables["unknowns"]
    failed = checks[~checks["holds"].astype(bool)]
    if len(failed):
        row = failed.iloc[0]
        return Finding(
            Verdict.REFUTED,
            f"{row['algorithm']} on {row['family']} d = {row['dim']}: not so that {row['check']} ({row['detail']})",
        )
    example = checks[checks["check"] == BEGINS_ALIKE]["detail"].iloc[0]
    costs = len(checks[["family", "dim"]].drop_duplicates())
    return Finding(
        Verdict.CONFIRMED,
        f"{len(checks)} exact checks on {costs} costs: {example}, whatever β "
        "the cost is said to have; Algorithm 1's width changes with α, β and T",
        caveat="of the algorithms as written: restarts at doubled horizons would do without T, at a price",
    )
