"""Does the statistics layer keep its promises?  `python -m ratecheck.calibration` measures it on synthetic runs.

A scenario makes regrets with known E R(T).  The layer sees the runs only.  Counted are the intervals that hold the
truth, the diagnostics that complain about true models, and the verdicts that are wrong.
"""

from __future__ import annotations

import argparse
import math
import os
import platform
import sys
import time
from collections.abc import Callable
from concurrent.futures import ProcessPoolExecutor
from dataclasses import dataclass, replace
from functools import lru_cache
from importlib.metadata import version
from pathlib import Path

import numpy as np

from .fit import LARGE_SHARE, Fit, fit_rate, slope_difference
from .means import LogMeans
from .rates import Rate
from .verdicts import MARGIN, Name, holm, log_power_verdict, tight, verdict

HORIZONS = 2.0 ** np.arange(8, 20)
CLAIM = Rate(0.5, 1.0)
OFF = (0.05, 0.1, 0.2)
BOOTSTRAP = 400
LOCKED = 0.04  # share of the runs that lock in
STARTS = (9, 11, 13, 14, 15, 16, 17)  # powers of two at which a linear start ends
FAMILY = 20  # claims judged at once


@dataclass(frozen=True)
class Scenario:
    """How runs scatter around E R(T), and how E R(T) departs from a pure rate."""

    name: str
    what: str
    scatter: Callable  # (rng, mean over horizons, N) -> (N, J) regrets with that mean
    anytime: bool = True
    shape: Callable = None  # horizons -> factor on the pure rate
    period: float | None = None
    pure: bool = True  # E R is a rate exactly, so its slope is known
    lock_in: bool = False

    def mean(self, rate: Rate):
        pure = 3.0 * rate.regret(HORIZONS)
        return pure if self.shape is None else pure * self.shape(HORIZONS)

    def data(self, rng, rate, n) -> LogMeans:
        R = self.scatter(rng, self.mean(rate), n)
        return LogMeans.of(HORIZONS, tuple(R.T.copy()), self.anytime)

    def fit(self, rng, rate, n) -> Fit:
        return fit_rate(self.data(rng, rate, n), CLAIM.log_power, None, self.period)

    def truth(self) -> Fit:
        """What the same fit gives on E R(T) itself."""
        data = LogMeans.of(HORIZONS, tuple(np.tile(self.mean(CLAIM), (3, 1)).T), True)
        return fit_rate(data, CLAIM.log_power, None, self.period)


def lognormal(rng, sigma, size):
    """Mean one."""
    return np.exp(sigma * rng.standard_normal(size) - sigma**2 / 2)


def blocks(rng, mean, n):
    """A run effect and independent block increments: an anytime algorithm seen at all horizons."""
    increments = np.diff(mean, prepend=0.0)
    noise = rng.gamma(4.0, 0.25, (n, len(mean)))
    return lognormal(rng, 0.4, (n, 1)) * np.cumsum(increments * noise, axis=1)


def random_slopes(rng, mean, n):
    x = np.log(HORIZONS / HORIZONS[0])
    tilt = 0.06 * rng.standard_normal((n, 1))
    return mean * np.exp(tilt * x - (0.06 * x) ** 2 / 2)


def locked(rng, mean, n):
    """Four per cent of the runs cost fifteen times as much."""
    factor = np.where(rng.random((n, 1)) < LOCKED, 15.0, 1.0) / (1 + 14 * LOCKED)
    return factor * blocks(rng, mean, n)


def stuck(rng, mean, n):
    """Four per cent of the runs also pay linearly; the whole is scaled back to the mean that was asked for."""
    linear = mean[0] * HORIZONS / HORIZONS[0]
    R = blocks(rng, mean, n) + np.where(rng.random((n, 1)) < LOCKED, linear, 0.0)
    return R * (mean / (mean + LOCKED * linear))


def locked_apart(rng, mean, n):
    factor = np.where(rng.random((n, len(mean))) < LOCKED, 15.0, 1.0) / (1 + 14 * LOCKED)
    return factor * mean * lognormal(rng, 0.5, (n, len(mean)))


def heavy(rng, mean, n):
    """Run effects with a tail like x^-3: no third moment."""
    effect = rng.pareto(3.0, (n, 1)) / 0.5
    return 0.5 * (1 + effect) * blocks(rng, mean, n)


def separate(sigma):
    def scatter(rng, mean, n):
        return mean * lognormal(rng, sigma, (n, len(mean)))

    return scatter


def separate_gamma(rng, mean, n):
    return mean * rng.gamma(0.7, 1 / 0.7, (n, len(mean)))


@lru_cache(maxsize=1)
def ucb_pool(size=6000):
    """Cumulative pseudo-regrets of UCB1 on three Gaussian arms at the horizons, capped at 2^13 steps."""
    rng = np.random.default_rng(20)
    gaps = np.array([0.0, 0.3, 0.6])
    stops = (HORIZONS / 2**6).astype(int)
    counts = np.ones((size, 3))
    sums = -gaps + rng.standard_normal((size, 3))
    regret = np.full(size, gaps.sum())
    everyone = np.arange(size)
    seen = []
    for t in range(1, stops[-1] + 1):
        if t > 3:
            arm = np.argmax(sums / counts + np.sqrt(2 * math.log(t) / counts), axis=1)
            regret = regret + gaps[arm]
            sums[everyone, arm] += -gaps[arm] + rng.standard_normal(size)
            counts[everyone, arm] += 1
        if t in stops:
            seen.append(regret)
    return np.column_stack(seen)


def resampled(rng, mean, n):
    pool = ucb_pool()
    return pool[rng.integers(len(pool), size=n)] * (mean / pool.mean(axis=0))


def resampled_apart(rng, mean, n):
    pool = ucb_pool()
    rows = rng.integers(len(pool), size=(n, pool.shape[1]))
    return np.take_along_axis(pool, rows, axis=0) * (mean / pool.mean(axis=0))


def waves(T):
    return 1 + 0.25 * np.sin(2 * np.pi * np.log(T) / np.log(16.0) + 1.0)


def slow(T):
    return 1 - 0.7 * T**-0.25


def linear_start(onset):
    def shape(T):
        """Linear in T below the onset, smoothly joined."""
        return (1 + (onset / T) ** 1.5) ** (-0.5 / 1.5)

    return shape


SCENARIOS = (
    Scenario("S1", "run effect and block increments", blocks),
    Scenario("S2", "random slopes", random_slopes),
    Scenario("S4", "4 % of runs lock in at 15 times the regret", locked, lock_in=True),
    Scenario("S4b", "4 % of runs lock in and pay linearly", stuck, lock_in=True),
    Scenario("S5", "resampled runs of UCB1", resampled),
    Scenario("S6", "heavy tails, no third moment", heavy),
    Scenario("S7", "log-periodic with factor 16", blocks, shape=waves, period=16.0),
    Scenario("S8", "slow correction 1 - 0.7 T^(-1/4)", blocks, shape=slow, pure=False),
    Scenario("S9", "linear start up to 2^9", blocks, shape=linear_start(2.0**9), pure=False),
    Scenario("S10", "linear start up to 2^13, half of the window", blocks, shape=linear_start(2.0**13), pure=False),
    Scenario("I1", "separate runs, lognormal 0.5", separate(0.5), anytime=False),
    Scenario("I2", "separate runs, lognormal 1", separate(1.0), anytime=False),
    Scenario("I4", "separate runs, 4 % lock in at 15 times", locked_apart, anytime=False, lock_in=True),
    Scenario("I5", "separate runs, gamma 0.7", separate_gamma, anytime=False),
    Scenario("I6", "separate runs of UCB1, resampled", resampled_apart, anytime=False),
)


def estimates(fit) -> dict:
    """Every interval for a single number, by the name of its column."""
    return {
        "jackknife": [fit.whole],
        "last half": [fit.last_half],
        "log power": [fit.log_power_at(CLAIM.slope)],
        "local": [e for _, e in fit.local_slopes()],
        "lag": [replace(fit, period=16.0).lag_slope()],
        "held out": [e for _, e in fit.held_out()],
    }


def intervals(scenario, n, repeats, seed) -> dict:
    """How often intervals hold the truth and diagnostics reject the true model."""
    rng = np.random.default_rng([seed, n])
    truth = scenario.truth()
    true_values = {name: [e.value for e in row] for name, row in estimates(truth).items()}
    hits = {name: [] for name in (*true_values, "bootstrap", "joint", "curvature", "chi-square", "prediction")}
    share, flagged = [], []
    for r in range(repeats):
        fit = scenario.fit(rng, CLAIM, n)
        for name, row in estimates(fit).items():
            hits[name].append(np.mean([e.low <= v <= e.high for e, v in zip(row, true_values[name], strict=True)]))
        low, high = fit.bootstrap(BOOTSTRAP, seed=r)
        hits["bootstrap"].append(low <= truth.slope <= high)
        hits["joint"].append(fit.joint_region_holds(*truth.joint()[0]))
        hits["curvature"].append(fit.curvature_p() < 0.05)
        hits["chi-square"].append(fit.chi_square()[2] < 0.05)
        hits["prediction"].append(np.mean([not e.low <= 0 <= e.high for _, e in fit.held_out()]))
        share.append(fit.largest_share)
        flagged.append(fit.caution != "")
    covered, flagged = np.array(hits["jackknife"]), np.array(flagged)
    return {
        "scenario": scenario.name,
        "N": n,
        **{name: float(np.mean(values)) for name, values in hits.items()},
        "largest share": float(np.median(share)),
        "flagged": float(flagged.mean()),
        "jackknife, flagged": float(covered[flagged].mean()) if flagged.any() else math.nan,
        "jackknife, unflagged": float(covered[~flagged].mean()) if not flagged.all() else math.nan,
    }


def decisions(scenario, n, repeats, seed) -> dict:
    """How often each verdict falls, by how far the true rate lies from the claim."""
    rng = np.random.default_rng([seed, n, 1])

    def shares(truth, *judged):
        fits = [scenario.fit(rng, truth, n) for _ in range(repeats)]
        return [{name: sum(j(f).name == name for f in fits) / repeats for name in Name} for j in judged]

    row = {"scenario": scenario.name, "N": n}
    for off in (0.0, *OFF):
        [found] = shares(Rate(CLAIM.exponent - off, CLAIM.log_power), _upper)
        row |= {f"{name} +{off:g}": value for name, value in found.items()}
    for power, label in ((1.0, "log power right refuted"), (2.0, "log power 2 for 1 refuted")):
        [found] = shares(Rate(CLAIM.exponent, power), _log_power)
        row[label] = found[Name.REFUTED]
    lower, equal = shares(CLAIM, _lower, _tight)
    row["lower refuted though right"] = lower[Name.REFUTED]
    row["tight refuted though right"] = equal[Name.REFUTED]
    row["tight consistent though right"] = equal[Name.CONSISTENT]
    lower, equal = shares(Rate(CLAIM.exponent + 0.1, CLAIM.log_power), _lower, _tight)
    row["lower refuted, off by 0.1"] = lower[Name.REFUTED]
    row["tight consistent, off by 0.1"] = equal[Name.CONSISTENT]
    [hidden] = shares(Rate(1 / 3, 0.0), _upper)
    row["hidden consistent"] = hidden[Name.CONSISTENT]
    return row


def _upper(fit):
    return verdict(fit, CLAIM)


def _lower(fit):
    return verdict(fit, CLAIM, "lower")


def _tight(fit):
    return tight(fit, CLAIM)


def _log_power(fit):
    return log_power_verdict(fit, CLAIM)


def starts(power, n, repeats, seed) -> dict:
    """How often a claim is refuted when the regret starts linearly and becomes a rate at 2^power."""
    rng = np.random.default_rng([seed, n, power])
    scenario = Scenario("start", "", blocks, shape=linear_start(2.0**power))
    row = {"start": power, "N": n}
    for label, truth, judged in (
        ("exponent right", CLAIM, _upper),
        ("exponent off by 0.1", Rate(CLAIM.exponent - 0.1, CLAIM.log_power), _upper),
        ("log power right", CLAIM, _log_power),
        ("log power 2 for 1", Rate(CLAIM.exponent, 2.0), _log_power),
    ):
        refuted = [judged(scenario.fit(rng, truth, n)).name == Name.REFUTED for _ in range(repeats)]
        row[label] = float(np.mean(refuted))
    return row


def differences(anytime, n, repeats, seed) -> dict:
    """Coverage and half-width of a difference of slopes, for two algorithms with and without common streams."""
    rng = np.random.default_rng([seed, n, 2])
    slow, fast = (3.0 * Rate(exponent, 1.0).regret(HORIZONS) for exponent in (0.4, 0.5))
    scatter = blocks if anytime else separate(0.5)
    names = tuple(tuple(f"{0 if anytime else j} {i}" for i in range(n)) for j in range(len(HORIZONS)))
    found = {"common, named": [], "common, not named": [], "independent": []}
    for _ in range(repeats):
        first = scatter(rng, fast, n)
        second = first * (slow / fast) * lognormal(rng, 0.1, first.shape)
        other = scatter(rng, slow, n)
        for label, R, streams in (
            ("common, named", second, names),
            ("common, not named", second, None),
            ("independent", other, None),
        ):
            a, b = (fit_rate(LogMeans.of(HORIZONS, tuple(S.T), anytime, streams=streams), 1.0) for S in (R, first))
            e = slope_difference(a, b)
            found[label].append((e.low <= 0.1 <= e.high, (e.high - e.low) / 2))
    row = {"runs": "same at all horizons" if anytime else "separate per horizon", "N": n}
    for label, values in found.items():
        row[label], row[f"{label}, half-width"] = map(float, np.mean(values, axis=0))
    return row


def families(n, repeats, seed) -> dict:
    """Twenty claims at once: wrong decisions in a family, and right ones, each claim alone and after Holm."""
    rng = np.random.default_rng([seed, n, 3])
    plain = [s for s in SCENARIOS if s.pure and not s.lock_in]
    row = {"N": n}
    for offs, label in (((0.05,) * FAMILY, "margin"), ((0.0, 0.1) * (FAMILY // 2), "mixed")):
        alone, together = [], []
        for _ in range(repeats):
            scenarios = [plain[k] for k in rng.integers(len(plain), size=FAMILY)]
            truths = [Rate(CLAIM.exponent - off, CLAIM.log_power) for off in offs]
            verdicts = [_upper(s.fit(rng, truth, n)) for s, truth in zip(scenarios, truths, strict=True)]
            alone.append([v.name for v in verdicts])
            together.append([v.name for v in holm(verdicts)])
        for how, names in (("alone", np.array(alone)), ("Holm", np.array(together))):
            if label == "margin":
                row[f"some REFUTED, {how}"] = np.mean((names == Name.REFUTED).any(axis=1))
                row[f"some CONSISTENT, {how}"] = np.mean((names == Name.CONSISTENT).any(axis=1))
            else:
                right, wrong = names[:, ::2], names[:, 1::2]
                errors = (right == Name.REFUTED).any(axis=1) | (wrong == Name.CONSISTENT).any(axis=1)
                row[f"some error, {how}"] = np.mean(errors)
                row[f"right CONSISTENT, {how}"] = np.mean(right == Name.CONSISTENT)
                row[f"wrong REFUTED, {how}"] = np.mean(wrong == Name.REFUTED)
    return row


@dataclass(frozen=True)
class Tables:
    """What a calibration measured, each a pandas table."""

    intervals: object
    verdicts: object
    starts: object
    differences: object
    families: object


def calibrate(scenarios=SCENARIOS, sizes=(20, 50, 200), repeats=1000, seed=0, workers=1) -> Tables:
    import pandas as pd

    several = sizes[-2:]
    jobs = {
        "intervals": [(intervals, s.name, n) for s in scenarios for n in sizes],
        "verdicts": [(decisions, s.name, n) for s in scenarios for n in sizes],
        "starts": [(starts, power, n) for power in STARTS for n in several],
        "differences": [(differences, anytime, n) for anytime in (True, False) for n in sizes],
        "families": [(families, None, n) for n in several],
    }
    flat = [(*job, repeats, seed) for part in jobs.values() for job in part]
    if workers == 1:
        results = iter(list(map(_job, flat)))
    else:
        with ProcessPoolExecutor(workers) as pool:
            results = iter(list(pool.map(_job, flat)))
    return Tables(**{name: pd.DataFrame([next(results) for _ in part]) for name, part in jobs.items()})


def _job(job):
    measure, what, n, repeats, seed = job
    if what is None:
        return measure(n, repeats, seed)
    if isinstance(what, str):
        what = next(s for s in SCENARIOS if s.name == what)
    return measure(what, n, repeats, seed)


# The report


def per_cent(value) -> str:
    return "–" if math.isnan(value) else f"{100 * value:.1f}".removesuffix(".0")


def grid(table, key, columns, form=per_cent) -> list[str]:
    """A markdown table: a row per key, in each cell the values for the numbers of runs, smallest first."""
    lines = [f"| {key} | " + " | ".join(columns.values()) + " |", "|---" * (len(columns) + 1) + "|"]
    for name, part in table.groupby(key, sort=False):
        cells = ["/".join(form(v) for v in part[column]) for column in columns]
        lines.append(f"| {name} | " + " | ".join(cells) + " |")
    return lines


def same(*names) -> dict:
    return {name: name for name in names}


def report(tables: Tables, repeats, seed) -> str:
    """The markdown report; every number comes from the tables."""
    sizes = "/".join(map(str, tables.intervals["N"].unique()))
    large = "/".join(map(str, tables.starts["N"].unique()))
    pages = [
        _introduction(tables, repeats, sizes),
        _targets_page(tables),
        _coverage_page(tables, sizes),
        _verdict_page(tables, sizes),
        _start_page(tables, large),
        _difference_page(tables, sizes),
        _family_page(tables, large),
        _how_to_rerun(repeats, seed),
    ]
    return "\n".join(line for page in pages for line in (*page, ""))


def _introduction(tables, repeats, sizes):
    known = set(tables.intervals["scenario"])
    return [
        "# Calibration of the statistics layer",
        "",
        f"Synthetic runs with known E R(T), claim {CLAIM}, {len(HORIZONS)} horizons from {HORIZONS[0]:.0f} to "
        f"{HORIZONS[-1]:.0f}, {repeats} repetitions of everything: the Monte Carlo error (one standard deviation) is "
        f"{100 * math.sqrt(0.05 * 0.95 / repeats):.1f} points at 5 or 95 %, and "
        f"{100 * math.sqrt(0.25 / repeats):.1f} points at 50 %.  All figures are per cent; a cell holds those for "
        f"N = {sizes} runs.",
        "",
        "| scenario | runs |",
        "|---|---|",
        *(f"| {s.name} | {s.what} |" for s in SCENARIOS if s.name in known),
    ]


def _targets_page(tables):
    return ["## Against the targets", "", *targets(tables), "", *_worst_of_the_others(tables.intervals)]


def _worst_of_the_others(table):
    """What has no target of its own still has a worst case."""
    scenarios = [_named(name) for name in table["scenario"]]
    part = table[(table["N"] >= 50) & np.array([s.pure and not s.lock_in for s in scenarios])]
    if part.empty:
        return []

    def worst(column, index):
        row = part.loc[index(part[column])]
        return f"{column} {per_cent(row[column])} % ({row['scenario']}, N = {row['N']})"

    covered = ("bootstrap", "last half", "log power", "joint", "local", "lag", "held out")
    sizes = ("curvature", "chi-square", "prediction")
    return [
        "No target is set for the others.  Where the truth is a rate without lock-in, their worst at N >= 50: coverage "
        + "; ".join(worst(column, lambda values: values.idxmin()) for column in covered)
        + ".  Size at 5 %: "
        + "; ".join(worst(column, lambda values: values.idxmax()) for column in sizes)
        + "."
    ]


def _coverage_page(tables, sizes):
    lock_in = tables.intervals["scenario"].isin([s.name for s in SCENARIOS if s.lock_in])
    columns = ("jackknife", "bootstrap", "last half", "log power", "joint", "local", "lag", "held out")
    locked = {"jackknife": "coverage", "flagged": "flagged", "holds one": "samples with a lock-in run"}
    locked |= {"jackknife, flagged": "coverage, flagged", "jackknife, unflagged": "coverage, unflagged"}
    return [
        f"## Coverage of nominal 95 % intervals, N = {sizes}",
        "",
        "The truth is what the same fit gives on E R(T) itself; where E R(T) is a rate that is the rate.  jackknife: "
        f"the default interval of the slope; bootstrap: its cross-check, with {BOOTSTRAP} resamples; joint: the region "
        "for slope and log power; local: slopes between neighbouring horizons; lag: the mean slope over a factor 16 in "
        "T; held out: the error in predicting the last two horizons.",
        "",
        *grid(tables.intervals, "scenario", same(*columns)),
        "",
        "## Size of the diagnostics at 5 %, and the share of the mean in one run",
        "",
        "Rejections of a true model by the curvature, by the expected chi-square, and by predictions of the last two "
        "horizons that miss them.  S8, S9 and S10 are no pure rates: there a rejection is right.  The largest share is "
        "the median over repetitions of the largest part of a horizon's regret in a single run; a fit is flagged where "
        f"it exceeds {100 * LARGE_SHARE:.0f} % and four times an even share, 4/N.",
        "",
        *grid(tables.intervals, "scenario", same("curvature", "chi-square", "prediction", "largest share", "flagged")),
        "",
        "## Lock-in: what the flag can and cannot say",
        "",
        "The default interval's coverage among flagged and unflagged fits.  A sample without a single lock-in run "
        "looks like one from an algorithm that has none, and no statistic of it can tell.  Where lock-in changes the "
        "slope (S4b) its interval is wrong by what it has not seen; where lock-in multiplies the regret at all "
        "horizons alike (S4, I4) it is not.",
        "",
        *grid(tables.intervals[lock_in].assign(**{"holds one": _holds_one}), "scenario", locked),
    ]


def _holds_one(table):
    """The chance that a sample holds a run that locks in (at a horizon, where horizons have their own runs)."""
    pairs = zip(table["N"], map(_named, table["scenario"]), strict=True)
    draws = [n * (1 if s.anytime else len(HORIZONS)) for n, s in pairs]
    return 1 - (1 - LOCKED) ** np.array(draws)


def _named(name):
    return next(s for s in SCENARIOS if s.name == name)


def _verdict_page(tables, sizes):
    heads = ("REFUTED +0", "CONSISTENT +0", "CONSISTENT +0.05", "CONSISTENT +0.1", "CONSISTENT +0.2")
    heads += ("REFUTED +0.05", "REFUTED +0.1", "REFUTED +0.2")
    others = {
        "log power right refuted": "log power: REFUTED though right",
        "log power 2 for 1 refuted": "REFUTED, 2 for 1",
        "lower refuted though right": "lower bound: REFUTED though right",
        "lower refuted, off by 0.1": "REFUTED, off by 0.1",
        "tight refuted though right": "tight: REFUTED though right",
        "tight consistent though right": "CONSISTENT, right",
        "tight consistent, off by 0.1": "CONSISTENT, off by 0.1",
    }
    return [
        f"## Verdicts on the upper bound {CLAIM}, margin {MARGIN:g}, N = {sizes}",
        "",
        "The true slope exceeds the claim by the amount in the heading (0: the claim is true; 0.05: at the margin, "
        "where either decision may fall with its nominal 5 %).  `hidden` is CONSISTENT for R = T^(2/3), a wrong "
        "exponent that the claim's logarithm can hide.  In S8, S9 and S10 the slope over the window exceeds the slope "
        "for T to infinity, so that REFUTED at +0.05 is not wrong about the window; for the same reason lower bounds "
        "and tight rates, in the table after this one, are hard to decide there.",
        "",
        *grid(tables.verdicts, "scenario", {**same(*heads), "hidden consistent": "hidden"}),
        "",
        f"## Verdicts on log powers (exponent granted), lower bounds and tight rates, N = {sizes}",
        "",
        *grid(tables.verdicts, "scenario", others),
    ]


def _start_page(tables, large):
    columns = ("exponent right", "exponent off by 0.1", "log power right", "log power 2 for 1")
    table = tables.starts.assign(**{"linear up to": [f"2^{power}" for power in tables.starts["start"]]})
    return [
        f"## How late may a linear start end?  REFUTED, N = {large}",
        "",
        f"Regret that is linear up to the given T and then the rate, on the same window, whose middle is "
        f"2^{np.log2(HORIZONS).mean():.1f}.  The further the start reaches, the less a wrong exponent differs from it, "
        "and the guard against falling excess turns refutations into INCONCLUSIVE.  Where the claim is right every "
        "refutation is false: with few runs a fall may be there without being significant.",
        "",
        *grid(table, "linear up to", same(*columns)),
    ]


def _difference_page(tables, sizes):
    labels = ("common, named", "common, not named", "independent")
    widths = {f"{label}, half-width": label for label in labels}
    return [
        f"## Differences of two slopes, N = {sizes}",
        "",
        "Coverage, and below it the mean half-width of the interval.  Common: the second algorithm's runs are the "
        "first's times independent noise, with the common streams named in the tables or not.",
        "",
        *grid(tables.differences, "runs", same(*labels)),
        "",
        *grid(tables.differences, "runs", widths, lambda v: f"{v:.3f}"),
    ]


def _family_page(tables, large):
    row = tables.families
    what = {
        "some REFUTED": "all at the margin: some claim REFUTED",
        "some CONSISTENT": "all at the margin: some claim CONSISTENT",
        "some error": "half right, half off by 0.1: some wrong verdict",
        "right CONSISTENT": "the same: right claims CONSISTENT",
        "wrong REFUTED": "the same: wrong claims REFUTED",
    }
    lines = [
        f"## {FAMILY} claims at once, N = {large}",
        "",
        "Families of claims on random scenarios among those whose truth is a rate and that have no lock-in.",
        "",
        "| | each alone | after Holm |",
        "|---|---|---|",
    ]
    for name, text in what.items():
        cells = ["/".join(per_cent(v) for v in row[f"{name}, {how}"]) for how in ("alone", "Holm")]
        lines.append(f"| {text} | " + " | ".join(cells) + " |")
    return lines


def _how_to_rerun(repeats, seed):
    versions = ", ".join(f"{name} {version(name)}" for name in ("numpy", "scipy", "statsmodels", "pandas"))
    return [
        "Rerun with",
        "",
        "```sh",
        f"python -m ratecheck.calibration --repeats {repeats} --seed {seed}",
        "```",
        "",
        f"This report: Python {platform.python_version()}, {versions}, {platform.system()} on {platform.machine()}.  "
        "The tables behind it stand beside it as CSV files.",
    ]


def targets(tables: Tables) -> list[str]:
    """One line per target: what was promised, the worst that was measured, and where."""
    scenarios = [_named(name) for name in tables.intervals["scenario"]]
    free = np.array([not s.lock_in for s in scenarios])
    pure = np.array([s.pure for s in scenarios])
    big = (tables.intervals["N"] >= 50) & free
    many = (tables.intervals["N"] >= 200) & free
    lines = []

    def line(text, table, column, mask, bound, most=True):
        part = table[mask]
        if part.empty:
            return
        row = part.loc[part[column].idxmax() if most else part[column].idxmin()]
        holds = row[column] <= bound if most else row[column] >= bound
        where = f"{row['scenario']}, N = {row['N']}" if "scenario" in row else f"N = {row['N']:.0f}"
        found = f"{per_cent(row[column])} % at worst ({where})" if row[column] else "none"
        sign = "at most" if most else "at least"
        lines.append(f"- {text} {sign} {per_cent(bound)} %: {found}, {'met' if holds else 'MISSED'}.")

    line("coverage of the default interval", tables.intervals, "jackknife", big, 0.93, most=False)
    line("coverage of the default interval", tables.intervals, "jackknife", big, 0.97)
    line("false REFUTED", tables.verdicts, "REFUTED +0", big, 0.01)
    line("false REFUTED (log power)", tables.verdicts, "log power right refuted", big, 0.01)
    line("false REFUTED (lower bound)", tables.verdicts, "lower refuted though right", big, 0.01)
    line("false REFUTED (tight)", tables.verdicts, "tight refuted though right", big, 0.01)
    for off in OFF[1:]:
        line(f"false CONSISTENT (exponent off by {off:g})", tables.verdicts, f"CONSISTENT +{off:g}", big, 0.05)
    line("false CONSISTENT (T^(2/3) behind the logarithm)", tables.verdicts, "hidden consistent", big, 0.05)
    line("false CONSISTENT (tight, off by 0.1)", tables.verdicts, "tight consistent, off by 0.1", big, 0.05)
    line("power against 0.1 at N = 200", tables.verdicts, "REFUTED +0.1", many & pure, 0.9, most=False)
    line(
        "the same where the window is no pure rate (S8, S9, S10)",
        tables.verdicts,
        "REFUTED +0.1",
        many & ~pure,
        0.9,
        False,
    )
    everything = tables.families["N"] > 0
    for name in ("REFUTED", "CONSISTENT"):
        column = f"some {name}, Holm"
        line(f"some {name} among {FAMILY} claims at the margin, after Holm,", tables.families, column, everything, 0.05)
    return [*lines, *_lock_in_target(tables.intervals)]


def _lock_in_target(table) -> list[str]:
    """Where lock-in spoils coverage, the samples that show it must be flagged."""
    lock_in = np.array([_named(name).lock_in for name in table["scenario"]])
    spoilt = table[lock_in & (table["N"] >= 50) & (table["jackknife"] < 0.93)]
    if spoilt.empty:
        return []
    ratio = spoilt["flagged"] / _holds_one(spoilt)
    row = spoilt.loc[ratio.idxmin()]
    return [
        f"- lock-in that spoils coverage (below 93 %, N >= 50) is flagged: {per_cent(row['flagged'])} % at worst "
        f"({row['scenario']}, N = {row['N']}), where {per_cent(_holds_one(spoilt)[spoilt.index.get_loc(row.name)])} % "
        f"of the samples hold a lock-in run, {'met' if ratio.min() >= 0.95 else 'MISSED'}."
    ]


# The time of a fit


def timing(repeats=20) -> list[str]:
    """One line per design: the median time of a fit with all its numbers and 2,000 bootstrap replicates."""
    lines = []
    for name in ("S1", "I1"):
        scenario = _named(name)
        data = scenario.data(np.random.default_rng(0), CLAIM, 200)
        seconds = []
        for seed in range(repeats + 1):  # the first one warms up
            begin = time.perf_counter()
            fit = fit_rate(LogMeans.of(HORIZONS, data.samples, scenario.anytime), CLAIM.log_power)
            estimates(fit), fit.joint(), fit.chi_square(), fit.curvature(), fit.sensitivity(1000, 5.0), _upper(fit)
            fit.bootstrap(2000, seed)
            seconds.append(time.perf_counter() - begin)
        lines.append(
            f"{scenario.what}: N = 200, J = {len(HORIZONS)}, 2,000 bootstrap replicates: "
            f"{np.median(seconds[1:]):.3f} s (promised: 0.3 s)"
        )
    return lines


def main(argv=None) -> int:
    parser = argparse.ArgumentParser(prog="python -m ratecheck.calibration", description=__doc__.splitlines()[0])
    parser.add_argument("--repeats", type=int, default=1000, help="at least 4")
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument("--workers", type=int, default=os.cpu_count())
    parser.add_argument("--out", type=Path, default=Path("studies/calibration"))
    parser.add_argument("--time", action="store_true", help="print the time of one fit, and write nothing")
    arguments = parser.parse_args(argv)
    if arguments.repeats < 4:
        parser.error(f"--repeats {arguments.repeats} is too few; the nearest valid choice is 4")
    if arguments.time:
        print("\n".join(timing()))
        return 0
    tables = calibrate(repeats=arguments.repeats, seed=arguments.seed, workers=arguments.workers)
    arguments.out.mkdir(parents=True, exist_ok=True)
    for name, table in vars(tables).items():
        table.to_csv(arguments.out / f"{name}.csv", index=False)
    page = arguments.out / "report.md"
    page.write_text(report(tables, arguments.repeats, arguments.seed), encoding="utf-8")
    print(page)
    return 0


if __name__ == "__main__":
    sys.exit(main())
