"""Noise of other laws and sizes than the paper's: whether rates stay, and when confidence bounds fail."""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import dataclass
from functools import cache, partial

import numpy as np
import pandas as pd

import function_zoo as zoo
import ratecheck as rc
from ratecheck.display import fixed, general, table
from ratecheck.verdict.rules import MARGIN
from studies.claims.ledger.experiment import Effort, Experiment, Judgement, Picture
from studies.claims.ledger.finding import Finding, Verdict

PROVED = 4 / 3  # Algorithm 1's proof needs sigma^2 below it: t^(-4/sigma^2) is summed over t and over n <= t, times T
PLACE = -0.5  # of the minimum where two bins of length 1 make a bandit with two arms


@dataclass(frozen=True)
class NoiseLaws(Experiment):
    """`laws` are judged, `stress` is shown; adaptive bins run with so many times the least mu.

    At the least mu itself some runs lock in whatever the noise, for f varies within cells; that is not the question.
    """

    costs: tuple[tuple[str, int], ...]
    laws: tuple
    stress: tuple
    octaves: Mapping[str, tuple[int, int]]
    replicates: Mapping[str, int]
    arms: Mapping[str, tuple[int, int]]  # octaves of T for two bins alone
    arm_replicates: Mapping[str, int]
    mu_factor: float = 2.0

    def parts(self, effort):
        tried = cache(lambda: list(self._tried(effort)))  # both tables are about the same runs
        return {
            "fits": lambda: self._fits(tried()),
            "means": lambda: self._means(tried(), effort),
            "scaled": partial(self._scaled, effort),
            "arms": partial(self._arms, effort),
        }

    # What is run

    def _algorithms(self, cost):
        return rc.UniformBins(), rc.AdaptiveBins(mu=self.mu_factor * cost.constants.mu_min)

    def _horizons(self, effort):
        first, last = effort.of(self.octaves)
        return [2**k for k in range(first, last + 1)]

    def _tried(self, effort):
        """(names, cost, algorithm, runs) of every law."""
        for family, dim in self.costs:
            cost = zoo.get(family, dim)
            for algorithm in self._algorithms(cost):
                for law in (rc.Gaussian(1.0), *(law for law in self._all if law != rc.Gaussian(1.0))):
                    names = {"family": family, "dim": dim, "algorithm": algorithm.kind} | self._law(law)
                    yield names, cost, algorithm, self._run(algorithm, cost, law, effort)

    @property
    def _all(self):
        return (*self.laws, *self.stress)

    def _run(self, algorithm, cost, law, effort):
        sizes = self._horizons(effort), effort.of(self.replicates), effort.seed
        return rc.simulate(algorithm, cost, *sizes, law, workers=effort.workers, diagnostics=True)

    def _law(self, law):
        shape = f"t, {law.dof:g} degrees" if isinstance(law, rc.StudentT) else type(law).__name__
        return {"law": shape, "sigma": float(law.sigma), "judged": law in self.laws}

    def _fits(self, tried) -> pd.DataFrame:
        """Slopes, the theorems' verdicts, and slopes less those under the paper's own noise."""
        rows, standard = [], {}
        for names, cost, algorithm, runs in tried:
            theorem = rc.theorem2 if algorithm.anytime else rc.theorem1_corrected
            rate = theorem.rate(cost.constants, cost.dim)
            raw = rc.fit_rate(runs)
            fit, verdict = raw.at(rate.log_power), rc.verdict(raw, rate)
            jointly = rc.fit_rate(runs, level=1 - 0.05 / (len(self.costs) * 2 * len(self.laws)))
            if names["law"] == "Gaussian" and names["sigma"] == 1:
                standard[str(cost), algorithm.kind] = jointly
            rows.append(
                names
                | {"promised": rate.slope, "raw": raw.slope}
                | {"slope": fit.slope, "low": fit.low, "high": fit.high, "verdict": str(verdict.name)}
                | _steeper(jointly, standard[str(cost), algorithm.kind])
            )
        return pd.DataFrame(rows)

    def _means(self, tried, effort: Effort) -> pd.DataFrame:
        """Mean regrets, what the prediction without noise is off by, and how often bounds were invalid."""
        rows, foretold = [], {}
        for names, cost, algorithm, runs in tried:
            key = (str(cost), algorithm.kind)
            if key not in foretold:
                alignments = effort.of(self.replicates)
                foretold[key] = rc.predict(
                    algorithm, cost, self._horizons(effort), alignments=alignments, seed=effort.seed
                ).frame
            rows += [names | row for row in _compared(runs.frame, foretold[key])]
        return pd.DataFrame(rows)

    def _scaled(self, effort: Effort) -> pd.DataFrame:
        """Regrets with every bonus multiplied by sigma, on the first cost.

        That algorithm is the printed one on f / sigma with noise 1, its regret multiplied by sigma.
        """
        family, dim = self.costs[0]
        plain, rows = zoo.get(family, dim), []
        for sigma in [law.sigma for law in self.laws if isinstance(law, rc.Gaussian)]:
            cost = zoo.get(family, dim, scale=plain.parameters["scale"] / sigma)
            for algorithm in self._algorithms(cost):
                runs = self._run(algorithm, cost, rc.Gaussian(1.0), effort)
                foretold = rc.predict(
                    algorithm, cost, self._horizons(effort), alignments=effort.of(self.replicates), seed=effort.seed
                ).frame
                for row in _compared(runs.frame, foretold):
                    row |= {name: sigma * row[name] for name in ("regret", "error", "predicted")}
                    rows.append({"algorithm": algorithm.kind, "sigma": sigma} | row)
        return pd.DataFrame(rows)

    def _arms(self, effort: Effort) -> pd.DataFrame:
        """Algorithm 1 with two bins, one of which is queried at the minimum: a bandit with two arms, 1 apart."""
        cost, rows = zoo.get("cone", 1, scale=1.0, centre=PLACE), []
        first, last = effort.of(self.arms)
        for sigma in [law.sigma for law in self.laws if isinstance(law, rc.Gaussian)]:
            runs = rc.simulate(
                rc.UniformBins(width=1.0),
                cost,
                [2**k for k in range(first, last + 1)],
                effort.of(self.arm_replicates),
                effort.seed,
                rc.Gaussian(sigma),
                alignment="fixed",
                workers=effort.workers,
                diagnostics=True,
            )
            for T, part in runs.frame.groupby("horizon"):
                regret = part["regret"]
                rows.append(
                    {"sigma": sigma, "horizon": T, "runs": len(regret), "regret": regret.mean(), "error": regret.sem()}
                    | {"locked": int((regret > T / 2).sum()), "invalid": part["exceeded"].mean() / T}
                )
        return pd.DataFrame(rows)

    # What is made of it

    def judgements(self):
        return {"28": Judgement(("fits", "means", "arms"), subgaussian)}

    def pictures(self, tables):
        from studies.claims.noise.draw import invalid_bounds, regrets

        yield Picture(
            "regret",
            "Regret against σ at the last horizon",
            "Mean regrets with 95 % intervals. The level line is the prediction, which knows no noise; the dashed one "
            "that for bonuses multiplied by σ, hollow points its runs.",
            lambda: regrets(tables["means"], tables["scaled"]),
        )
        yield Picture(
            "invalid",
            "Steps with an invalid lower confidence bound at the minimum",
            "Share of all steps up to T (uniform), of those between T/2 and T (adaptive), under Gaussian noise. Right: "
            "the regret with two bins alone, where a failed bound has no neighbour to go to, and T^(1 - 4/σ²) for "
            "σ > 2, dashed.",
            lambda: invalid_bounds(tables["means"], tables["arms"]),
        )

    def words(self, tables):
        fits, means = tables["fits"], tables["means"]
        last = means[means["horizon"] == means["horizon"].max()]
        yield (
            f"Both algorithms to T = {last['horizon'].max():,}, {last['runs'].max()} runs each; μ is "
            f"{self.mu_factor:g} times the least. Slopes are those after the theorem's logarithm was divided out. "
            "*Invalid* is the share of all steps after which the lower confidence bound of the cell with x* lay "
            "above f* (with Algorithm 1 the cost at a bin's centre may do so by itself); *against the prediction* "
            "the mean ratio to the predicted regret of the same alignment."
        )
        keys = ["family", "dim", "algorithm", "law", "sigma"]
        joined = fits.merge(last, on=keys, suffixes=("", "_last"))
        header = ["cost", "algorithm", "law", "σ", "promised", "slope", "verdict", "less that at N(0, 1)"]
        header += ["against the prediction", "invalid"]
        yield table(header, [_line(row) for row in joined.itertuples()])
        yield "## Bonuses multiplied by σ"
        yield (
            "The printed constants belong to σ = 1. With every bonus multiplied by σ confidence bounds hold as they do "
            "for σ = 1; this is what it costs, or saves."
        )
        yield _scaling(last, tables["scaled"])
        yield "## What ln t absorbs"
        yield _absorbed(means)
        yield "## Two bins alone"
        yield from _two_arms(tables["arms"])


def _steeper(fit, standard):
    """The slope less that under standard Gaussian noise, with the same random numbers."""
    if fit is standard:
        return {"steeper": 0.0, "steeper_low": 0.0, "steeper_high": 0.0}
    difference = rc.slope_difference(fit, standard)
    return {"steeper": difference.value, "steeper_low": difference.low, "steeper_high": difference.high}


def _compared(frame, foretold):
    """By horizon: the mean regret, its ratio to the prediction of the same alignment, and invalid bounds."""
    both = frame.merge(
        foretold[["horizon", "alignment", "regret"]].rename(columns={"alignment": "replicate", "regret": "predicted"}),
        on=["horizon", "replicate"],
    )
    spent, before = 0.0, 0
    for T, part in both.groupby("horizon"):
        ratio, exceeded = part["regret"] / part["predicted"], part["exceeded"].mean()
        # what lies between two horizons is known where one run sees both; else a share of all steps stands for it
        anew = (exceeded - spent) / (T - before) if part["anytime"].all() else exceeded / T
        yield {
            "horizon": T,
            "runs": len(part),
            "regret": part["regret"].mean(),
            "error": part["regret"].sem(),
            "predicted": part["predicted"].mean(),
            "ratio": ratio.mean(),
            "ratio_error": ratio.sem(),
            "largest": part["regret"].max() / part["regret"].mean(),
            "invalid": exceeded / T,
            "lately": anew,
            "touched": int((part["exceeded"] > 0).sum()),
        }
        spent, before = exceeded, T


def subgaussian(tables) -> Finding:
    """Claim 28: under every subgaussian law R grows no faster than under the paper's own noise, and as promised.

    Theorems 1 and 2 are other claims; this one is that the law makes no difference to them.  So the slope may exceed
    that under N(0, 1) by no more than MARGIN, jointly with 95 %, and no law may refute a theorem.
    """
    fits = tables["fits"][tables["fits"]["judged"]]
    means, arms = tables["means"], tables["arms"]
    last = means[means["judged"] & (means["horizon"] == means["horizon"].max())]
    loudest = last[last["sigma"] == last["sigma"].max()]
    shares = ", ".join(
        f"{share:.2g} ({kind})" for kind, share in loudest.groupby("algorithm", sort=False)["invalid"].max().items()
    )
    caveat = (
        f"Algorithm 1's proof needs σ² < 4/3; at σ = {loudest['sigma'].max():g} bounds are invalid in a share of up "
        f"to {shares} of the steps, and with two bins alone {_locked(arms)}; as upper bounds the theorems' rates "
        f"themselves are CONSISTENT in {(fits['verdict'] == 'CONSISTENT').sum()} of {len(fits)} cases"
    )
    others = fits[(fits["law"] != "Gaussian") | (fits["sigma"] != 1)]
    told = f"{len(others)} cases, σ from {fits['sigma'].min():g} to {fits['sigma'].max():g}"
    refuted = fits[(fits["verdict"] == "REFUTED") | (fits["steeper_low"] > MARGIN)]
    if len(refuted):
        return Finding(Verdict.REFUTED, f"{told}: refuted on {'; '.join(_cases(refuted))}", caveat=caveat)
    measured = (
        f"{told}: slopes exceed those under N(0, 1) by {others['steeper'].min():+.3f} to "
        f"{others['steeper'].max():+.3f}; regrets at the end are {last['ratio'].min():.2f} to "
        f"{last['ratio'].max():.2f} times those predicted without noise"
    )
    unclear = others[~(others["steeper_high"] < MARGIN)]
    if len(unclear):
        told = f"{measured}; not decided on {'; '.join(_cases(unclear))}"
        return Finding(Verdict.INCONCLUSIVE, told, caveat=caveat, foretold=_contradicted(loudest))
    return Finding(
        Verdict.CONSISTENT,
        measured,
        tolerates=f"an exponent of R larger than under N(0, 1) by {max(others['steeper_high'].max(), 0.0):.3f}",
        caveat=caveat,
        foretold=_contradicted(loudest),
    )


def _contradicted(loudest) -> str:
    uniform = loudest[loudest["algorithm"] == "uniform"]
    if uniform.empty or uniform["sigma"].max() ** 2 <= PROVED or uniform["invalid"].max() <= 0:
        return ""
    return (
        f"√(8 ln t) covers only σ² < 4/3; measured at σ = {uniform['sigma'].max():g}, bounds do fail, but a "
        f"neighbouring bin is nearly as good, and the regret is {uniform['ratio'].min():.2f} to "
        f"{uniform['ratio'].max():.2f} times that predicted"
    )


def _locked(arms):
    loud = arms[arms["sigma"] == arms["sigma"].max()]
    end = loud[loud["horizon"] == loud["horizon"].max()].iloc[0]
    slope = _slope(_last_half(loud))
    return f"{end['locked']:.0f} of {end['runs']:.0f} runs lock in, R ~ T^{slope:.2f}"


def _last_half(rows):
    return rows[rows["horizon"] >= np.sqrt(rows["horizon"].min() * rows["horizon"].max())]


def _slope(rows):
    return float(np.polyfit(np.log(rows["horizon"]), np.log(rows["regret"]), 1)[0])


def _cases(rows):
    return [
        f"{r.family} d = {r.dim}, {r.algorithm}, {r.law} σ = {r.sigma:g} ({r.steeper:+.3f})" for r in rows.itertuples()
    ]


def _line(row):
    return [
        f"{row.family} d = {row.dim}",
        row.algorithm,
        row.law if row.judged else f"{row.law} (stress)",
        general(row.sigma),
        fixed(row.promised),
        f"{fixed(row.slope)} [{fixed(row.low)}, {fixed(row.high)}]",
        row.verdict,
        f"{row.steeper:+.3f} [{row.steeper_low:+.3f}, {row.steeper_high:+.3f}]",
        f"{fixed(row.ratio)} ± {fixed(row.ratio_error)}",
        general(row.invalid, 2),
    ]


def _scaling(last, scaled):
    end = scaled[scaled["horizon"] == scaled["horizon"].max()]
    first = last[(last["law"] == "Gaussian") & (last["family"] == last["family"].iloc[0])]
    joined = first.merge(end, on=["algorithm", "sigma"], suffixes=("", "_scaled"))
    header = [
        "algorithm",
        "σ",
        "R, printed",
        "R, bonus times σ",
        "predicted",
        "invalid, printed",
        "invalid, bonus times σ",
    ]
    rows = [
        [
            row.algorithm,
            general(row.sigma),
            f"{row.regret:.0f} ± {row.error:.0f}",
            f"{row.regret_scaled:.0f} ± {row.error_scaled:.0f}",
            f"{row.predicted_scaled:.0f}",
            general(row.invalid, 2),
            general(row.invalid_scaled, 2),
        ]
        for row in joined.itertuples()
    ]
    return table(header, rows)


def _absorbed(means) -> str:
    """When Algorithm 2's bonus has outgrown the noise: a bound fails with probability t^(-ln t / (2 sigma^2))."""
    gauss = means[(means["algorithm"] == "adaptive") & (means["law"] == "Gaussian")]
    first = gauss[gauss["family"] == gauss["family"].iloc[0]]
    loud = first[first["sigma"] == first["sigma"].max()].sort_values("horizon")
    sigma = loud["sigma"].iloc[0]
    begin, end = loud.iloc[0], loud.iloc[-1]
    return (
        "Algorithm 2's bonus grows like ln t, the noise of a mean like σ √(ln t). A single bound fails with a "
        f"probability below t^-2 once ln t exceeds 4σ²: for σ = 1 at t = {math.exp(4):.0f}, for σ = {sigma:g} at t = "
        f"{math.exp(4 * sigma**2):.0e}. So every σ is absorbed, a large one late. At σ = {sigma:g} on "
        f"{loud['family'].iloc[0]} the share of invalid bounds is {begin['lately']:.2g} up to T = "
        f"{begin['horizon']:,} and {end['lately']:.2g} over the last half of the steps to T = {end['horizon']:,}."
    )


def _two_arms(arms):
    end = arms[arms["horizon"] == arms["horizon"].max()]
    yield (
        "Algorithm 1 with two bins, queried at points whose costs are 1 apart, is UCB on two arms. The first query "
        "of the better arm fails with a probability of about T^(-4/σ²), and then the arm is not queried again: for σ "
        "> 2 the regret grows like T^(1 - 4/σ²), not like ln T. Costs that vary continuously have other bins nearby, "
        "and lose little."
    )
    header = ["σ", "T", "R", "runs with R > T/2", "invalid", "slope of R", "1 - 4/σ²"]
    lines = []
    for row in end.itertuples():
        mine = arms[arms["sigma"] == row.sigma]
        late = _last_half(mine)
        expected = fixed(1 - 4 / row.sigma**2) if row.sigma > 2 else "0, R ~ ln T"
        regret = f"{general(row.regret)} ± {general(row.error, 2)}"
        rest = [f"{row.locked} of {row.runs}", general(row.invalid, 2), fixed(_slope(late), 2), expected]
        lines.append([general(row.sigma), f"{row.horizon:,}", regret, *rest])
    yield table(header, lines)
