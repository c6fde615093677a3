"""Theorems 1 to 3: rates by runs and by predicted curves, log powers, certified lower bounds, and what must be known.

A rate is judged twice: by runs (exponent, then log power at the promised exponent) and by the predicted curve, which
goes much further and has no noise.  The curve counts only as far as runs follow it.
"""

from __future__ import annotations

import inspect
import json
import math
from collections.abc import Callable, Iterable
from dataclasses import dataclass, replace
from functools import partial
from typing import ClassVar

import numpy as np
import pandas as pd

import function_zoo as zoo
from ratecheck import (
    AdaptiveBins,
    Agreement,
    Claim,
    Curve,
    Far,
    Gaussian,
    UniformBins,
    far,
    fit_rate,
    foretell,
    holm,
    lower_bound,
    predict,
    simulate,
)
from ratecheck.fit.fit import Fit
from ratecheck.lower_bound import ball
from ratecheck.papers import zhao_lai
from ratecheck.predict.far import LOG_MARGIN as FAR_LOG_MARGIN
from ratecheck.sampling import seeding
from ratecheck.verdict.agreement import compare, variance
from ratecheck.verdict.rules import LOG_MARGIN, MARGIN, Outcome, decide, decide_log_power
from ratecheck.verdict.rules import Verdict as Judged
from studies.claims.ledger.experiment import Effort, Experiment, Judgement, Picture, Tables
from studies.claims.ledger.finding import Finding, Verdict
from studies.lower_bound import second
from studies.lower_bound.sandwich import ORACLE, Measured, measure
from studies.shared.markdown import fixed, general, interval, listing, table, whole

KEYS = ["family", "dim", "mu"]
NO_MU = "-"  # of uniform bins
MUS = {"min": None, "theorem": "theorem"}
LATE = 2**40  # where widths are compared: they come in whole numbers of bins
FORGED = 1.01  # times a certified regret: what both verifiers must refuse
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


# What is measured


def _algorithm(mu):
    return UniformBins() if mu == NO_MU else AdaptiveBins(mu=MUS[mu])


def _runs(cases, horizons, replicates, effort) -> pd.DataFrame:
    """All runs, each with the regret predicted at its own partition and the share that theory leaves open."""
    found = []
    for family, dim, mu in cases:
        cost = zoo.get(family, dim)
        runs = simulate(_algorithm(mu), cost, horizons, replicates, effort.seed, workers=effort.workers).frame
        foretold = predict(_algorithm(mu), cost, horizons, replicates, effort.seed).frame
        foretold = foretold.rename(columns={"alignment": "replicate", "regret": "predicted", "noise": "noise_effect"})
        paired = runs.merge(foretold.drop(columns=["side", "cells"]), on=["replicate", "horizon"], validate="1:1")
        squared = variance(paired["noise"].iloc[0])
        paired["left_open"] = paired["noise_effect"] * squared + paired["within"] + paired["error"]
        names = ["replicate", "horizon", "regret", "predicted", "left_open", "anytime", "period"]
        found.append(paired[names].assign(family=family, dim=dim, mu=mu))
    return pd.concat(found)[[*KEYS, *names]]


def _curves(cases, first, cells, last, seed) -> pd.DataFrame:
    found = []
    for family, dim, mu in cases:
        cost = zoo.get(family, dim)
        curve = foretell(_algorithm(mu).settle(cost), cost, first, cells, seed=seed, last=last)
        columns = {"horizon": curve.horizons, "regret": curve.regret, "cells": curve.cells, "limit": curve.limit}
        found.append(pd.DataFrame(columns).assign(family=family, dim=dim, mu=mu))
    return pd.concat(found)[[*KEYS, "horizon", "regret", "cells", "limit"]]


def _bounds(costs, horizons) -> pd.DataFrame:
    """Certified lower bounds; each certificate is read back and checked by two verifiers, and so is a forged one."""
    rows = []
    for family, dim in costs:
        for horizon in horizons:
            found = lower_bound(zoo.get(family, dim), horizon)
            content = json.loads(json.dumps(found.certificate))
            forged = content | {"regret": FORGED * content["regret"]}
            rows.append(
                {
                    "family": family,
                    "dim": dim,
                    "horizon": horizon,
                    "bound": found.regret,
                    "first": found.certified and _accepts(ball.verify, content),
                    "second": _accepts(second.verify, content),
                    "first_forged": _accepts(ball.verify, forged),
                    "second_forged": _accepts(second.verify, forged),
                }
            )
    return pd.DataFrame(rows)


def _accepts(verify, certificate) -> bool:
    try:
        verify(certificate)
    except (ValueError, second.Refused):
        return False
    return True


def _sandwich(costs, horizons, members, effort) -> pd.DataFrame:
    """Runs on members of the hard family of every horizon, beside the certified bound of that family."""
    done = measure(costs, horizons, members, effort.seed, effort.workers)
    if done.problems:
        raise ValueError(f"no hard family: {done.problems[0]}")
    return done.runs.merge(done.bounds[["family", "dim", "horizon", "bound"]], on=["family", "dim", "horizon"])


# What must be known


def _unknowns(costs, horizon, seed) -> pd.DataFrame:
    rows = [
        row | {"family": family, "dim": dim}
        for family, dim in costs
        for row in (
            *_adaptive_knows(zoo.get(family, dim), horizon, seed),
            *_uniform_knows(zoo.get(family, dim), horizon, seed),
        )
    ]
    return pd.DataFrame(rows)[["family", "dim", "algorithm", "check", "holds", "detail"]]


def _traced(algorithm, cost, horizon, seed, pauses=()):
    """The cells that a run to a horizon picks, and its regret; it may pause on the way."""
    settled = algorithm.settle(cost)
    trace = np.zeros(horizon, dtype=np.int64)
    length, offset = settled.length(cost, horizon, 0.0), [0.5] * cost.dim
    rng = seeding.stream(seed, str(cost), "what must be known")
    run = settled.start(cost, length, offset, rng, Gaussian(1.0), trace=trace, horizon=horizon)
    for until in (*pauses, horizon):
        run.advance(until)
    return trace, run.regret


def _annotated(cost, **constants):
    return replace(cost, constants=replace(cost.constants, **constants))


def _adaptive_knows(cost, horizon, seed):
    """Exact checks that Algorithm 2 uses neither T nor beta."""
    name = {"algorithm": "Algorithm 2"}
    taken = list(inspect.signature(AdaptiveBins).parameters)
    yield name | _row("its settings are α, μ and a0", taken == ["alpha", "mu", "a0"], ", ".join(taken))
    longer = 8 * horizon
    short, at_short = _traced(AdaptiveBins(), cost, horizon, seed)
    long, at_long = _traced(AdaptiveBins(), cost, longer, seed)
    same = int(np.sum(short == long[:horizon]))
    said = f"{same:,} of {horizon:,} picks of the run to T = {longer:,} are those of the run to T = {horizon:,}"
    yield name | _row("a longer run begins with the shorter one", same == horizon, said)
    _, paused = _traced(AdaptiveBins(), cost, longer, seed, pauses=(horizon,))
    yield name | _row("a run that paused at T ends the same", paused == at_long, f"R = {paused!r} and {at_long!r}")
    for beta in (0.0, 2 * cost.constants.beta + 1, None):
        picks, regret = _traced(AdaptiveBins(), _annotated(cost, beta=beta), horizon, seed)
        equal = bool(np.array_equal(picks, short)) and regret == at_short
        yield name | _row(f"the same run with β = {beta}", equal, f"R = {regret!r} and {at_short!r}")


def _uniform_knows(cost, horizon, seed):
    """Exact checks that Algorithm 1 uses T, alpha and beta."""
    name = {"algorithm": "Algorithm 1"}
    known, longer = cost.constants, 64 * horizon

    def width(annotated, T):
        return UniformBins().settle(annotated).length(annotated, T, 0.0)

    own = width(cost, LATE)
    others = {
        "T": width(cost, 2 * LATE),
        "α": width(_annotated(cost, alpha=known.alpha / 2), LATE),
        "β": width(_annotated(cost, beta=known.beta / 4), LATE),
    }
    for what, other in others.items():
        yield name | _row(f"another {what} gives another width", other != own, f"widths {own!r} and {other!r}")
    short, _ = _traced(UniformBins(), cost, horizon, seed)
    long, _ = _traced(UniformBins(), cost, longer, seed)
    same = int(np.sum(short == long[:horizon]))
    said = f"{same:,} of {horizon:,} picks of the run to T = {longer:,} are those of the run to T = {horizon:,}"
    yield name | _row("a longer run begins otherwise", same < horizon, said)
    try:
        UniformBins().settle(_annotated(cost, beta=None))
        yield name | _row("without β it refuses to start", False, "it started")
    except ValueError as error:
        yield name | _row("without β it refuses to start", True, str(error).splitlines()[0])


def _row(check, holds, detail) -> dict:
    return {"check": check, "holds": bool(holds), "detail": detail}


# A rate, by runs and by the curve


@dataclass(frozen=True)
class Case:
    """One cost and algorithm: what its theorem promises, what its runs say, what its curve says, how both agree."""

    family: str
    dim: int
    mu: str
    claim: Claim
    fit: Fit
    agreement: Agreement
    far: Far

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

    def by_runs(self, which) -> tuple[Judged, Judged]:
        """On the exponent, and on the log power at that exponent."""
        rate = self.rate(which)
        return decide(self.fit, self.claim.rate).alone, decide_log_power(self.fit, rate)

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
    algorithm = _algorithm(mu).settle(cost)
    claim = algorithm.claims(cost)[0]
    mine = curves[(curves[KEYS] == list(key)).all(axis=1)]
    curve = Curve(*(tuple(mine[name]) for name in ("horizon", "regret", "cells")), mine["limit"].iloc[0])
    shift = None if mu == NO_MU else algorithm.shift(cost)
    left_open = runs.groupby("horizon")["left_open"].mean().to_numpy()
    return Case(
        *key,
        claim,
        fit_rate(runs, claim.rate.log_power, window=(window, math.inf)),
        compare(runs, runs["predicted"].to_numpy(), left_open),
        far(curve, claim, algorithm.period(cost), shift, algorithm.onset(cost, curve.horizons[-1])),
    )


def together(runs: Outcome, curve: Outcome, agree: Outcome) -> Outcome:
    """What runs and curve say as one."""
    if Outcome.REFUTED in (runs, curve):
        against = Outcome.CONSISTENT in (runs, curve) and agree is not Outcome.REFUTED
        seen = runs is Outcome.REFUTED or agree is Outcome.CONSISTENT
        return Outcome.REFUTED if seen and not against else Outcome.INCONCLUSIVE
    if runs is Outcome.CONSISTENT or (curve is Outcome.CONSISTENT and agree is not Outcome.REFUTED):
        return Outcome.CONSISTENT
    return Outcome.INCONCLUSIVE


def said(found: list[Case], which) -> list[tuple[Outcome, Outcome]]:
    """Per case, on the exponent and on the log power; runs are judged as one family (Holm)."""
    judged = iter(holm([v for case in found for v in case.by_runs(which)]))
    answers = []
    for case in found:
        curves = case.by_curve(which)
        answers.append(tuple(together(next(judged).name, c.name, case.agreement.name) for c in curves))
    return answers


def overall(parts: tuple[Outcome, Outcome]) -> Outcome:
    if Outcome.REFUTED in parts:
        return Outcome.REFUTED
    return Outcome.CONSISTENT if set(parts) == {Outcome.CONSISTENT} else Outcome.INCONCLUSIVE


def rate_rule(found: list[Case], which, foretold="") -> Finding:
    """The verdict on a rate over all costs."""
    answers = [overall(parts) for parts in said(found, which)]
    against = [c for c, a in zip(found, answers, strict=True) if a is Outcome.REFUTED and c.promised]
    if against:
        shown = listing([f"{c}: {_numbers(c, which)}" for c in against])
        rest = listing([str(c) for c, a in zip(found, answers, strict=True) if a is Outcome.CONSISTENT] or ["none"], 9)
        return Finding(Verdict.REFUTED, shown, caveat=f"it holds on {rest}", foretold=foretold)
    costs = list(dict.fromkeys(c.cost for c in found))
    holding = {c.cost: c for c, a in zip(found, answers, strict=True) if a is Outcome.CONSISTENT}
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


def _numbers(case: Case, which) -> str:
    rate, power = case.rate(which), case.power()
    measured = f"slope {fixed(case.fit.at(rate.log_power).slope)} after (ln T)^{general(rate.log_power, 3)} against "
    measured += f"{fixed(rate.slope)}, log power {fixed(power.value, 2)} {interval(power.low, power.high, 2)}"
    if case.far.power is None:
        return measured
    return f"{measured} and {fixed(case.far.power.value, 2)} on the curve to T = {case.far.last:.0e}"


def sharper_rule(found: list[Case]) -> Finding:
    """The sharper log power, with what the curves say of the printed one: is it needed?"""
    finding = rate_rule(found, CORRECTED)
    alone = {c.cost for c in found if c.by_curve(CORRECTED)[1].name is Outcome.CONSISTENT}
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
    runs = _flat(tables["sandwich"])
    verdicts, texts = [], []
    for (family, dim), part in runs.groupby(["family", "dim"], sort=False):
        rate = zhao_lai.uniform_rate(1.0, 0.0, dim)
        fit = fit_rate(part.assign(anytime=False), rate.log_power, run="replicate")
        verdicts += [decide(fit, rate), decide_log_power(fit, rate)]
        power = fit.log_power_at(rate.slope)
        texts.append(
            f"{family} d = {dim}: slope {fixed(fit.slope)} {interval(fit.low, fit.high)} after (ln T)^0.5 against "
            f"{fixed(rate.slope)}, log power {fixed(power.value, 2)} {interval(power.low, power.high, 2)}"
        )
    names = {v.name for v in holm(verdicts)}
    caveat = "members of the hard family at each T: flat costs themselves are easier, uniform bins hit the flat at once"
    evidence = "mean over members, " + "; ".join(texts)
    if Outcome.REFUTED in names:
        return Finding(Verdict.REFUTED, evidence, caveat=caveat)
    if names != {Outcome.CONSISTENT}:
        return Finding(Verdict.INCONCLUSIVE, evidence, caveat=caveat)
    excess = max(v.tolerates for v in verdicts[::2])
    return Finding(
        Verdict.CONSISTENT,
        evidence,
        f"R of an exponent larger by {excess:.2f}, or of a log power larger by {LOG_MARGIN:g}",
        caveat,
    )


def _flat(runs):
    flat = [zoo.get(f, d).constants.beta == 0 for f, d in zip(runs["family"], runs["dim"], strict=True)]
    return runs[np.array(flat) & (runs["algorithm"] == "uniform bins")]


def certified_slopes(bounds: pd.DataFrame) -> pd.DataFrame:
    """Per cost: the promised slope, that of the certified curve over all of its horizons and over the last half."""
    rows = []
    for (family, dim), part in bounds.groupby(["family", "dim"], sort=False):
        x, y = np.log(part["horizon"].to_numpy(float)), np.log(part["bound"].to_numpy())
        late = x >= (x[0] + x[-1]) / 2
        late[-2:] = True
        promised = zhao_lai.theorem3.rate(zoo.get(family, dim).constants, dim).slope
        slopes = (float(np.polyfit(x[part], y[part], 1)[0]) for part in (slice(None), late))
        rows.append((family, dim, promised, *slopes))
    return pd.DataFrame(rows, columns=["family", "dim", "promised", "slope", "late"])


def lower_rule(tables: Tables) -> Finding:
    """Claim 25: certificates that two verifiers accept, of the promised slope, that no honest algorithm undercuts."""
    bounds, slopes = tables["bounds"], certified_slopes(tables["bounds"])
    factors = _measured(tables["sandwich"]).factors
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


def _measured(sandwich: pd.DataFrame) -> Measured:
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
    same = checks[checks["check"].str.startswith("a longer run begins")]
    example = same[same["algorithm"] == "Algorithm 2"]["detail"].iloc[0]
    costs = len(checks[["family", "dim"]].drop_duplicates())
    return Finding(
        Verdict.CONFIRMED,
        f"{len(checks)} exact checks on {costs} costs: {example}, whatever β "
        "the cost is said to have; Algorithm 1's width changes with α, β and T",
        caveat="of the algorithms as written: restarts at doubled horizons would do without T, at a price",
    )


@dataclass(frozen=True)
class Theorems(Experiment):
    """Costs as pairs (family, dim); horizons as powers of two; `far` are cells and last horizons of the curves."""

    edition: ClassVar[int] = 2
    uniform: tuple[tuple[str, int], ...] = ()
    adaptive: dict | None = None
    first: int = 8
    window: dict | None = None
    last: dict | None = None
    replicates: dict | None = None
    uniform_cells: dict | None = None
    adaptive_cells: dict | None = None
    farthest: float = 1e299
    bounded: dict | None = None
    bound_horizons: dict | None = None
    families: dict | None = None
    family_horizons: dict | None = None
    members: dict | None = None
    unknown: tuple[tuple[str, int], ...] = ()
    unknown_horizon: int = 2**12

    def parts(self, effort: Effort) -> dict[str, Callable]:
        last, replicates, seed = effort.of(self.last), effort.of(self.replicates), effort.seed
        octaves = [2**k for k in range(self.first, last + 1)]
        halves = [round(2 ** (k / 2)) for k in range(2 * self.first, 2 * last + 1)]
        one = [(*cost, NO_MU) for cost in self.uniform]
        two = [(*cost, mu) for cost in effort.of(self.adaptive) for mu in MUS]
        start = float(2**self.first)
        return {
            "uniform_runs": partial(_runs, one, octaves, replicates, effort),
            "uniform_curves": partial(_curves, one, start, effort.of(self.uniform_cells), 1e60, seed),
            "adaptive_runs": partial(_runs, two, halves, replicates, effort),
            "adaptive_curves": partial(_curves, two, start, effort.of(self.adaptive_cells), self.farthest, seed),
            "bounds": partial(_bounds, effort.of(self.bounded), effort.of(self.bound_horizons)),
            "sandwich": partial(
                _sandwich, effort.of(self.families), effort.of(self.family_horizons), effort.of(self.members), effort
            ),
            "unknowns": partial(_unknowns, self.unknown, self.unknown_horizon, seed),
        }

    def _uniform(self, tables) -> list[Case]:
        return cases(tables["uniform_runs"], tables["uniform_curves"], self._window(tables["uniform_runs"]))

    def _adaptive(self, tables) -> list[Case]:
        return cases(tables["adaptive_runs"], tables["adaptive_curves"], self._window(tables["adaptive_runs"]))

    def _window(self, runs) -> float:
        """The first horizon that is judged: the one declared for the preset that has these runs."""
        for preset, last in self.last.items():
            if runs["horizon"].max() == 2**last:
                return 2.0 ** self.window[preset]
        return float(runs["horizon"].min())

    def judgements(self) -> dict[str, Judgement]:
        one, two = ("uniform_runs", "uniform_curves"), ("adaptive_runs", "adaptive_curves")
        return {
            "10": Judgement(one, lambda tables: rate_rule(self._uniform(tables), PRINTED)),
            "10c": Judgement(one, lambda tables: rate_rule(self._uniform(tables), CORRECTED)),
            "11": Judgement(("sandwich",), lipschitz_rule),
            "13": Judgement(two, lambda tables: rate_rule(self._adaptive(tables), PRINTED)),
            "13c": Judgement(two, lambda tables: sharper_rule(self._adaptive(tables))),
            "25": Judgement(("bounds", "sandwich"), lower_rule),
            "27": Judgement(("unknowns",), known_rule),
        }

    def pictures(self, tables: Tables) -> Iterable[Picture]:
        from studies.claims.theorems import draw as draw

        both = [
            ("uniform", "Theorem 1", self._uniform(tables), tables["uniform_curves"]),
            ("adaptive", "Theorem 2", self._adaptive(tables), tables["adaptive_curves"]),
        ]
        for stem, name, found, curves in both:
            yield Picture(
                f"{stem}-compensated",
                f"{name}: regret over the promised rate",
                "Means of runs with 95 % intervals and the predicted curve, divided by the rate with the printed "
                "(crosses, dashed) and with the corrected or sharper log power (points, solid), scaled to 1 at the "
                "start of the window. What rises to the end is too fast for the bound; what falls leaves room.",
                partial(draw.compensated, found, curves),
            )
        yield Picture(
            "log-power",
            "The power of ln T far out",
            "The slope of ln(R / T^s) against ln ln T of predicted curves, s promised, over the stretch from T^(2/3) "
            "to T, and what is printed (dashed) and corrected or sharper (solid line). Waves of the partition remain. "
            "The dotted curve of adaptive bins takes ln T + μ a0^α for ln T.",
            partial(draw.powers, [*both[0][2], *(c for c in both[1][2] if c.mu == "min")], both[0][3], both[1][3]),
        )
        yield Picture(
            "sandwich",
            "Certified lower bounds and algorithms",
            "Mean regret over members of the hard family of each T with standard errors, what theory predicts for some "
            "of the members, and the certified bound that no strategy stays below. An oracle that knows the member "
            "has regret 0, below every bound.",
            partial(draw.sandwich, tables["bounds"], _measured(tables["sandwich"]).factors),
        )

    def words(self, tables: Tables) -> Iterable[str]:
        yield "## How it was judged"
        yield RULE
        for title, found, better in (
            ("## Theorem 1: uniform bins at the corrected width", self._uniform(tables), "corrected"),
            ("## Theorem 2: adaptive bins", self._adaptive(tables), "sharper"),
        ):
            yield title
            yield _rates_table(found, better)
            yield _agreement_words(found)
        yield "## Lipschitz costs with no more structure"
        yield (
            "A cost that is flat around its minimum has α = 1 and β = 0, but is easy: a bin on the flat part has no "
            "regret. So uniform bins ran on members of the hard family around it, a new family for each T, drawn as "
            "the certified bound draws them."
        )
        yield _members_table(_measured(tables["sandwich"]).factors)
        yield "## Theorem 3: certified lower bounds"
        yield (
            f"Each certificate was written, read back and checked by the two verifiers. Both refuse the same "
            f"certificate with a regret raised by {100 * (FORGED - 1):.0f} %, so that their consent means something."
        )
        yield _bounds_table(tables["bounds"])
        yield "## What must be known"
        checks = tables["unknowns"]
        example = checks[(checks["family"] == checks["family"].iloc[0]) & (checks["dim"] == checks["dim"].iloc[0])]
        rows = [[r.algorithm, r.check, "yes" if r.holds else "NO", r.detail] for r in example.itertuples()]
        costs = checks[["family", "dim"]].drop_duplicates()
        names = listing([f"{r.family} d = {r.dim}" for r in costs.itertuples()])
        yield f"To the last bit, on {names}; here the first of them."
        yield table(["algorithm", "what", "holds", "numbers"], rows)


def _rates_table(found: list[Case], better) -> str:
    header = [
        "cost",
        "β",
        "slope of R, promised",
        "slope by runs",
        "its limit on the curve",
        "curve to T",
        "printed power",
    ]
    header += [f"{better} power", "power by runs", "power by curve", "printed rate", f"{better} rate"]
    printed, corrected = (map(overall, said(found, which)) for which in (PRINTED, CORRECTED))
    rows = []
    for case, one, two in zip(found, printed, corrected, strict=True):
        power, limit, curve = case.power(), case.far.exponent, case.far.power
        rows.append(
            [
                str(case),
                general(case.beta, 3),
                fixed(case.claim.rate.slope),
                f"{fixed(case.fit.slope)} {interval(case.fit.low, case.fit.high)}",
                f"{fixed(limit.value)} {interval(limit.low, limit.high)}" if limit else fixed(None),
                f"{case.far.last:.0e}",
                general(case.claim.printed.log_power, 3),
                general(case.claim.rate.log_power, 3),
                f"{fixed(power.value, 2)} {interval(power.low, power.high, 2)}",
                f"{fixed(curve.value, 2)} {interval(curve.low, curve.high, 2)}" if curve else fixed(None),
                str(one),
                str(two),
            ]
        )
    return table(header, rows)


def _agreement_words(found: list[Case]) -> str:
    ratios = [case.agreement.ratio[0] for case in found]
    names = [case.agreement.name for case in found]
    locked = sum(len(case.agreement.locked) for case in found)
    runs = sum(case.agreement.replicates for case in found)
    text = (
        f"Slopes are those of R after division by the {'stronger' if found[0].mu == NO_MU else 'sharper'} logarithm, "
        f"from T = {whole(found[0].fit.data.horizons[0])} on. Measured over predicted regret, each run at its own "
        f"partition, is {fixed(min(ratios))} to {fixed(max(ratios))}: "
        f"CONSISTENT {names.count(Outcome.CONSISTENT)} times, "
        f"INCONCLUSIVE {names.count(Outcome.INCONCLUSIVE)}, REFUTED {names.count(Outcome.REFUTED)}."
    )
    return text + (f" {locked} of {runs} runs locked in." if locked else "")


def _members_table(factors) -> str:
    flat = factors[(factors["algorithm"] == "uniform bins")]
    flat = flat[[zoo.get(f, d).constants.beta == 0 for f, d in zip(flat["family"], flat["dim"], strict=True)]]
    rows = [
        [
            f"{r.family} d = {r.dim}",
            *(whole(r.horizon), general(r.bound), general(r.mean), general(r.error, 2)),
            *(general(r.predicted), general(r.factor, 3)),
        ]
        for r in flat.itertuples()
    ]
    return table(["cost", "T", "certified bound", "mean R", "its error", "predicted", "mean / bound"], rows)


def _bounds_table(bounds) -> str:
    rows = []
    for row in certified_slopes(bounds).itertuples():
        part = bounds[(bounds["family"] == row.family) & (bounds["dim"] == row.dim)]
        ends = [f"{part['bound'].iloc[i]:.4g} at T = {part['horizon'].iloc[i]:.0e}" for i in (0, -1)]
        count = f"{int((part['first'] & part['second']).sum())} of {len(part)}"
        rows.append(
            [f"{row.family} d = {row.dim}", *ends, fixed(row.promised), fixed(row.slope), fixed(row.late), count]
        )
    header = ["cost", "first bound", "last bound", "slope of R, promised", "slope", "last half", "accepted by both"]
    return table(header, rows)
