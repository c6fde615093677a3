"""Pure exploration: how good the point is that one would name after T queries, by several rules."""

from __future__ import annotations

import math
from collections.abc import Mapping
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass

import numpy as np
import pandas as pd

import function_zoo as zoo
import ratecheck as rc
from ratecheck.algorithms.adaptive import TOTAL
from ratecheck.display import counted, estimate, fixed, interval, listing, table
from ratecheck.engine.simulate import begin
from ratecheck.sampling import seeding
from ratecheck.study import stream
from studies.claims.ledger.experiment import Effort, Experiment, Judgement, Picture
from studies.claims.ledger.finding import Finding, Verdict
from studies.claims.shared import ratio_of_means

LEVEL = 0.95  # of all intervals of a claim together
SURE = 0.9995  # one-sided, before an identity is said to fail
ADAPTIVE, UNIFORM = "adaptive", "uniform"
RULES = {
    "average": "R/T",
    "random": "a random past query",
    "last": "the last query",
    "most": "the most queried cell",
    "mean": "the lowest mean",
    "upper": "the lowest upper bound",
    "deepest": "the most queried of the deepest cells",
    "deep_mean": "the lowest mean among the deepest",
}


@dataclass(frozen=True)
class Exploration(Experiment):
    """`costs` are (family, dimension, multiple of mu_min).

    Horizons must divide a period of the regret evenly, for cones by steps of sqrt 2; uniform bins, which have none and
    start anew for each, are run to every other horizon.
    """

    costs: tuple[tuple[str, int, float], ...] = ()
    horizons: Mapping[str, tuple[int, ...]] = None
    replicates: Mapping[str, int] = None
    window: tuple[int, float] = (2**10, math.inf)  # of the fits

    def parts(self, effort: Effort):
        return {
            ADAPTIVE: lambda: self._runs(effort, 1, lambda cost, mu: rc.AdaptiveBins(mu=mu * cost.constants.mu_min)),
            UNIFORM: lambda: self._runs(effort, 2, lambda cost, mu: rc.UniformBins()),
        }

    def _runs(self, effort, every, algorithm):
        parts = []
        for family, dim, mu in self.costs:
            cost = zoo.get(family, dim)
            settled = algorithm(cost, mu).settle(cost)
            horizons, replicates = effort.of(self.horizons)[::every], range(effort.of(self.replicates))
            with ThreadPoolExecutor(effort.workers) as pool:
                rows = pool.map(lambda r: errors(settled, cost, horizons, r, effort.seed), replicates)  # noqa: B023
                frame = pd.DataFrame([row for found in rows for row in found])
            frame.insert(0, "cost", f"{family} d = {dim}")
            rate = rc.theorem2.rate(cost.constants, dim)
            period = settled.period(cost)
            known = {"exponent": rate.exponent, "log_power": rate.log_power, "period": period}
            parts.append(frame.assign(**known))
        return pd.concat(parts, ignore_index=True)

    def judgements(self):
        return {"26": Judgement((ADAPTIVE,), self.explores)}

    def explores(self, tables) -> Finding:
        return explores(tables[ADAPTIVE], self.window)

    def pictures(self, tables):
        from studies.claims.exploration import draw as draw

        for name in (ADAPTIVE, UNIFORM):
            yield Picture(
                f"error-{name}",
                f"Error of the recommended point, {name} bins",
                "Mean of f - f* at the point that each rule recommends, against T, beside R/T, which is the "
                "expectation of a random past query, and the rate T^(-α/D) through the first point of R/T in the "
                "window: only its slope means something.",
                lambda name=name: draw.errors(tables[name], self.window),
            )

    def words(self, tables):
        yield (
            "A random past query has the error R/T in expectation, exactly: it is the mean over the T queries. One "
            "such query is drawn in each run and at each horizon, so that the identity is also seen. The other rules "
            "name the last query, or the centre of a cell: the most queried one, the one with the lowest mean, or with "
            "the lowest upper bound mean + μ a^α + τ n^(-1/2), τ = ln t (for uniform bins √(8 ln t), and no bias), and "
            "among the cells of the deepest level that have queries, the most queried and the lowest mean. Exponents "
            f"are those of the decay, fitted from T = {self.window[0]} on, without dividing by a logarithm."
        )
        yield _identity(tables[ADAPTIVE])
        for name in (ADAPTIVE, UNIFORM):
            found = fits(tables[name], self.window)
            yield f"## {name.capitalize()} bins"
            header = ["cost", "α/D", *(RULES[rule] for rule in found["rule"].unique())]
            yield f"Exponents of the decay, with 95 % intervals:\n\n{table(header, list(_exponents(found)))}"
            yield f"Error at the last T as a multiple of R/T:\n\n{table(header[:1] + header[3:], list(_ratios(found)))}"
        yield better(fits(tables[ADAPTIVE], self.window))


# Rules


def recommendations(run) -> dict[str, np.ndarray]:
    """By rule, the point that a run would name now."""
    adaptive = hasattr(run, "cell")
    m = run.cells
    n = run.n[:m]
    total = run.cell[:m, TOTAL] if adaptive else run.total[:m]
    level = run.level[:m] if adaptive else np.zeros(m, dtype=int)
    tried = n > 0
    mean = np.where(tried, total / np.maximum(n, 1), np.inf)
    tau = math.log(run.t) if adaptive else math.sqrt(8 * math.log(run.t))
    upper = mean + (run.bias[level] if adaptive else 0.0) + tau / np.sqrt(np.maximum(n, 1))
    chosen = {"most": np.argmax(n), "mean": np.argmin(mean), "upper": np.argmin(upper)}
    if adaptive:
        deep = tried & (level == level[tried].max())
        chosen["deepest"] = np.argmax(np.where(deep, n, -1))
        chosen["deep_mean"] = np.argmin(np.where(deep, mean, np.inf))
    return {rule: run.centre(int(i)) for rule, i in chosen.items()}


def errors(algorithm, cost, horizons, replicate, seed) -> list[dict]:
    """One replicate: R/T and the errors of all rules at each horizon."""
    blocks = [horizons] if algorithm.anytime else [(T,) for T in horizons]
    return [row for block in blocks for row in _along(algorithm, cost, block, replicate, seed)]


def _along(algorithm, cost, horizons, replicate, seed):
    run, _ = begin(algorithm, cost, horizon=horizons[-1], replicate=replicate, seed=seed)
    names = seeding.names_of(algorithm, cost, horizons[-1])
    draws = stream(seed, *names, replicate, "recommended")
    past = {T: int(draws.integers(1, T, endpoint=True)) for T in horizons}
    queried = {}
    for t in sorted({*horizons, *past.values()}):
        before = run.regret if run.t == t - 1 else None
        if run.t < t - 1:
            run.advance(t - 1)
            before = run.regret
        run.advance(t)
        queried[t] = run.regret - before  # f - f* at the t-th query
        if t in past:
            regret, points = run.regret, recommendations(run)
            found = cost.many(np.array(list(points.values()))) - cost.minimum
            row = {"replicate": replicate, "horizon": t, "average": regret / t, "random": queried[past[t]]}
            row |= {"last": queried[t]} | dict(zip(points, found.tolist(), strict=True))
            yield {name: _short(value) if isinstance(value, float) else value for name, value in row.items()}


def _short(x):
    return float(f"{x:.6g}")


# Fits and verdicts


def rules_of(frame):
    return [rule for rule in RULES if rule in frame]


def fit_of(part, rule, window, log_power=0.0):
    """Of error times T, which grows like R if the error falls like R/T."""
    table = pd.DataFrame({"replicate": part["replicate"], "horizon": part["horizon"]})
    table["regret"] = part[rule] * part["horizon"]
    anytime = bool((part["period"] > 0).all())
    period = float(part["period"].iloc[0]) if anytime else None
    last = min(window[1], float(part["horizon"].max()))
    return rc.fit_rate(table.assign(anytime=anytime), log_power, (window[0], last), period)


def fits(frame, window) -> pd.DataFrame:
    """By cost and rule: the exponent of the decay, and the error at the last T as a multiple of R/T."""
    rows = []
    for name, part in frame.groupby("cost", sort=False):
        last = part[part["horizon"] == part["horizon"].max()]
        for rule in rules_of(frame):
            whole = fit_of(part, rule, window).whole
            row = {"cost": name, "rule": rule, "promised": part["exponent"].iloc[0], "exponent": 1 - whole.value}
            ratio = ratio_of_means(last[rule].to_numpy(), last["average"].to_numpy())
            rows.append(row | {"low": 1 - whole.high, "high": 1 - whole.low, "ratio": ratio})
    return pd.DataFrame(rows)


def identity(frame) -> rc.Estimate:
    """The mean over runs and horizons of (random past query - R/T) / (mean R/T), runs being the clusters."""
    scale = frame.groupby(["cost", "horizon"])["average"].transform("mean")
    by_run = ((frame["random"] - frame["average"]) / scale).groupby([frame["cost"], frame["replicate"]]).mean()
    return rc.Estimate(by_run.mean(), by_run.sem(), len(by_run) - 1)


def explores(frame, window) -> Finding:
    """Claim 26 is that of Theorem 2 for a random past query; other rules may do worse or better."""
    found, spare = {}, []
    for name, part in frame.groupby("cost", sort=False):
        rate = rc.Rate(part["exponent"].iloc[0], part["log_power"].iloc[0])
        level = 1 - (1 - LEVEL) / frame["cost"].nunique()
        v = rc.verdict(fit_of(part, "average", window), rate, "upper", level=level)
        found[name] = v
        spare.append(v.tolerates if v.tolerates is not None else math.nan)
    drawn = identity(frame)
    all_fits = fits(frame, window)
    multiples = [r.value for r in all_fits[all_fits["rule"] == "most"]["ratio"]]
    low, high = all_fits["promised"].min(), all_fits["promised"].max()
    evidence = (
        f"R/T, which a random past query has as its expected error (measured difference {drawn.value:+.1%} "
        f"[{drawn.low:+.1%}, {drawn.high:+.1%}]), is {_tally(found)} with Theorem 2; its exponents are "
        f"{_range(all_fits, 'average')} for {low:.3f} to {high:.3f} promised before logarithms; the centre "
        f"of the most queried cell has {_range(all_fits, 'most')} and "
        f"{min(multiples):.2g} to {max(multiples):.2g} times R/T at the last T"
    )
    caveat = "that no strategy explores faster is not tested here; a lower bound for regret is none for exploration"
    if not drawn.lower_limit(SURE) <= 0 <= drawn.upper_limit(SURE):
        return Finding(Verdict.REFUTED, f"the identity fails: {evidence}")
    names = {v.name for v in found.values()}
    if rc.Outcome.REFUTED in names:
        return Finding(Verdict.REFUTED, evidence, caveat=caveat)
    if names != {rc.Outcome.CONSISTENT}:
        rest = [name for name, v in found.items() if v.name != rc.Outcome.CONSISTENT]
        return Finding(Verdict.INCONCLUSIVE, evidence, caveat=f"open on {listing(rest)}; {caveat}")
    return Finding(
        Verdict.CONSISTENT, evidence, f"an error that is T^{max(spare):.3f} larger would have passed", caveat
    )


def _tally(found):
    consistent = [name for name, v in found.items() if v.name == rc.Outcome.CONSISTENT]
    return f"CONSISTENT on {len(consistent)} of {counted(len(found), 'cost')}"


def _range(all_fits, rule):
    part = all_fits[all_fits["rule"] == rule]
    return f"{part['exponent'].min():.3f} to {part['exponent'].max():.3f}"


# Words


def _identity(frame):
    e = identity(frame)
    return f"Random past queries exceed R/T by {e.value:+.2%} {_percent(e)} in the mean over all runs and horizons."


def _percent(e):
    return f"[{e.low:+.2%}, {e.high:+.2%}]"


def _exponents(found):
    for name, part in found.groupby("cost", sort=False):
        cells = [estimate(row.exponent, row.low, row.high) for row in part.itertuples()]
        yield [name, fixed(part["promised"].iloc[0]), *cells]


def _ratios(found):
    for name, part in found.groupby("cost", sort=False):
        rows = part[part["rule"] != "average"]
        yield [name, *(f"{r.value:.3g} {interval(r.low, r.high, 2)}" for r in rows["ratio"])]


def better(found) -> str:
    """Which rules do better or worse than R/T at the last T on all costs, by their intervals."""
    rules = [rule for rule in found["rule"].unique() if rule not in ("average", "random")]
    below = {rule: all(r.high < 1 for r in found[found["rule"] == rule]["ratio"]) for rule in rules}
    above = {rule: all(r.low > 1 for r in found[found["rule"] == rule]["ratio"]) for rule in rules}
    good, bad = ([RULES[rule] for rule in rules if side[rule]] for side in (below, above))
    mixed = [RULES[rule] for rule in rules if not below[rule] and not above[rule]]
    named = {
        "Better than R/T at the last T, on every cost and by its interval": good,
        "Worse on every cost": bad,
        "Not the same on all costs, or not to be told": mixed,
    }
    return " ".join(f"{what}: {listing(which)}." for what, which in named.items() if which)
