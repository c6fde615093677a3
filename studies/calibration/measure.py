"""How often, in many repetitions of a scenario, intervals hold the truth and verdicts are wrong."""

from __future__ import annotations

import math
from concurrent.futures import ProcessPoolExecutor
from dataclasses import dataclass, replace

import numpy as np
from scipy import special

import ratecheck as rc
from ratecheck.verdict.rules import MARGIN, decide
from studies.calibration.bends import BENDS
from studies.calibration.real import REAL
from studies.calibration.rules import SCATTERED, advised, bent, forceful, looked, real
from studies.calibration.scenarios import (
    CLAIM,
    HORIZONS,
    SCENARIOS,
    Scenario,
    blocks,
    linear_start,
    lognormal,
    means,
    named,
    separate,
)
from studies.calibration.tables import RUNS, SERIES, TABLES, serial, tabled

OFF = (0.05, 0.15, 0.2)  # the second is 0.1 beyond the margin
WRONG = OFF[1]
SIZE = 64  # runs, for which targets are set
BOOTSTRAP = 400
STARTS = (9, 11, 13, 14, 15, 16, 17)  # powers of two at which a linear start ends
FAMILY = 20  # claims judged at once
LOG_MARGIN = 0.5  # of a log power, as rc.log_power_verdict has it


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


def joint(fit):
    """Slope and log power together: the pair, its covariance, and the squared radius of the confidence region."""
    weights = fit._weights(fit.x, fit.log_x)[1:3]
    n = fit.data.freedom + 1
    radius = 2 * (n - 1) / (n - 2) * float(special.fdtri(2, n - 2, fit.level))  # Hotelling
    return weights @ fit.data.y, weights @ fit.data.covariance @ weights.T, radius


def joint_region_holds(fit, slope: float, log_power: float) -> bool:
    pair, covariance, radius = joint(fit)
    gap = pair - [slope, log_power]
    return bool(gap @ np.linalg.pinv(covariance) @ gap <= radius)


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
        hits["joint"].append(joint_region_holds(fit, *joint(truth)[0]))
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
        found = [[j(f).name for f in fits] for j in judged]
        return [{name: names.count(name) / repeats for name in rc.Outcome} for names in found]

    row = {"scenario": scenario.name, "N": n}
    for off in (0.0, *OFF):
        [found] = shares(rc.Rate(CLAIM.exponent - off, CLAIM.log_power), _upper)
        row |= {f"{name} +{off:g}": value for name, value in found.items()}
    for power, label in ((1.0, "log power right refuted"), (2.0, "log power 2 for 1 refuted")):
        [found] = shares(rc.Rate(CLAIM.exponent, power), _log_power)
        row[label] = found[rc.Outcome.REFUTED]
    lower, equal = shares(CLAIM, _lower, _tight)
    row["lower refuted though right"] = lower[rc.Outcome.REFUTED]
    row["tight refuted though right"] = equal[rc.Outcome.REFUTED]
    row["tight consistent though right"] = equal[rc.Outcome.CONSISTENT]
    lower, equal = shares(rc.Rate(CLAIM.exponent + WRONG, CLAIM.log_power), _lower, _tight)
    row[f"lower refuted, off by {WRONG}"] = lower[rc.Outcome.REFUTED]
    row[f"tight consistent, off by {WRONG}"] = equal[rc.Outcome.CONSISTENT]
    [hidden] = shares(rc.Rate(1 / 3, 0.0), _upper)
    row["hidden consistent"] = hidden[rc.Outcome.CONSISTENT]
    return row


def _upper(fit):
    return decide(fit, CLAIM, words=False)


def _lower(fit):
    return decide(fit, CLAIM, kind="lower", words=False)


def _tight(fit):
    return rc.tight(fit, CLAIM)


def _log_power(fit):
    return decide(fit, CLAIM, log_power=True, words=False)


def starts(power, n, repeats, seed) -> dict:
    """How often a claim is refuted when the regret starts linearly and becomes a rate at 2^power."""
    rng = np.random.default_rng([seed, n, power])
    scenario = Scenario("start", "", blocks, shape=linear_start(2.0**power))
    row = {"start": power, "N": n}
    for label, truth, judged in (
        ("exponent right", CLAIM, _upper),
        (f"exponent off by {WRONG}", rc.Rate(CLAIM.exponent - WRONG, CLAIM.log_power), _upper),
        ("log power right", CLAIM, _log_power),
        ("log power 2 for 1", rc.Rate(CLAIM.exponent, 2.0), _log_power),
    ):
        refuted = [judged(scenario.fit(rng, truth, n)).name == rc.Outcome.REFUTED for _ in range(repeats)]
        row[label] = float(np.mean(refuted))
    return row


def differences(anytime, n, repeats, seed) -> dict:
    """Coverage and half-width of a difference of slopes, for two algorithms with and without common streams."""
    rng = np.random.default_rng([seed, n, 2])
    slow, fast = (3.0 * rc.Rate(exponent, 1.0).regret(HORIZONS) for exponent in (0.4, 0.5))
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
            a, b = (rc.fit_rate(means(HORIZONS, S, anytime, streams), 1.0) for S in (R, first))
            e = rc.slope_difference(a, b)
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
    for offs, label in (((MARGIN,) * FAMILY, "margin"), ((0.0, WRONG) * (FAMILY // 2), "mixed")):
        alone, together = [], []
        for _ in range(repeats):
            scenarios = [plain[k] for k in rng.integers(len(plain), size=FAMILY)]
            truths = [rc.Rate(CLAIM.exponent - off, CLAIM.log_power) for off in offs]
            verdicts = [_upper(s.fit(rng, truth, n)) for s, truth in zip(scenarios, truths, strict=True)]
            alone.append([v.name for v in verdicts])
            together.append([v.name for v in rc.holm(verdicts)])
        for how, names in (("alone", np.array(alone)), ("Holm", np.array(together))):
            if label == "margin":
                row[f"some REFUTED, {how}"] = np.mean((names == rc.Outcome.REFUTED).any(axis=1))
                row[f"some CONSISTENT, {how}"] = np.mean((names == rc.Outcome.CONSISTENT).any(axis=1))
            else:
                right, wrong = names[:, ::2], names[:, 1::2]
                errors = (right == rc.Outcome.REFUTED).any(axis=1) | (wrong == rc.Outcome.CONSISTENT).any(axis=1)
                row[f"some error, {how}"] = np.mean(errors)
                row[f"right CONSISTENT, {how}"] = np.mean(right == rc.Outcome.CONSISTENT)
                row[f"wrong REFUTED, {how}"] = np.mean(wrong == rc.Outcome.REFUTED)
    return row


@dataclass(frozen=True)
class Tables:
    """What a calibration measured, each a pandas table."""

    intervals: object
    verdicts: object
    starts: object
    differences: object
    families: object
    bends: object
    real: object
    looks: object
    advice: object
    force: object
    tables: object
    series: object


def calibrate(
    scenarios=SCENARIOS,
    sizes=(20, SIZE, 200),
    repeats=1000,
    seed=0,
    workers=1,
    bends=BENDS,
    algorithms=REAL,
    tables=TABLES,
    series=SERIES,
    known=None,
) -> Tables:
    """Measure everything, but for the parts that are known: pandas tables by their names."""
    import pandas as pd

    several = sizes[-2:]
    jobs = {
        "intervals": [(intervals, s.name, n) for s in scenarios for n in sizes],
        "verdicts": [(decisions, s.name, n) for s in scenarios for n in sizes],
        "starts": [(starts, power, n) for power in STARTS for n in several],
        "differences": [(differences, anytime, n) for anytime in (True, False) for n in sizes],
        "families": [(families, None, n) for n in several],
        "bends": [(bent, bend.name, SIZE) for bend in bends],
        "real": [(real, algorithm.name, SIZE) for algorithm in algorithms],
        "looks": [(looked, runs, None) for runs in SCATTERED],
        "advice": [(advised, runs, None) for runs in SCATTERED],
        "force": [(forceful, runs, SIZE) for runs in SCATTERED],
        "tables": [(tabled, table.name, n) for table in tables for n in RUNS],
        "series": [(serial, one.name, None) for one in series],
    }
    known = known or {}
    jobs = {name: part for name, part in jobs.items() if name not in known}
    flat = [(*job, repeats, seed) for part in jobs.values() for job in part]
    if workers == 1:
        results = iter(list(map(_job, flat)))
    else:
        with ProcessPoolExecutor(workers) as pool:
            results = iter(list(pool.map(_job, flat)))
    measured = {name: pd.DataFrame([row for _ in part for row in next(results)]) for name, part in jobs.items()}
    return Tables(**known, **measured)


def _job(job) -> list[dict]:
    """The rows that one measurement gives."""
    measure, what, n, repeats, seed = job
    if what is None:
        return [measure(n, repeats, seed)]
    if measure in (intervals, decisions):
        what = named(what)
    found = measure(what, n, repeats, seed)
    return found if isinstance(found, list) else [found]
