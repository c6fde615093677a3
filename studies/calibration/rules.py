"""How often the rules of judgement err: on bends, on real algorithms, at repeated looks, and in their advice."""

from __future__ import annotations

import numpy as np

import ratecheck as rc
from ratecheck.verdict.rules import MARGIN, decide
from studies.calibration.bends import HORIZONS, RUNS, bend_named, best_power
from studies.calibration.real import REAL, sample
from studies.calibration.scenarios import blocks, means, separate

LOOKS = tuple(range(20, 201, 20))  # runs at each of ten looks
FIRST = 32  # runs from which advice starts
MOST = 4096  # runs that advice may cost here
BEYOND = 0.005  # a growth just beyond what a verdict tolerates


def shares(verdicts) -> dict:
    """Of each verdict, and of the refutations that blame the exponent alone."""
    verdicts = list(verdicts)
    found = {str(name): sum(v.name == name for v in verdicts) / len(verdicts) for name in rc.Outcome}
    return found | {"exponent REFUTED": sum(v.alone.name == rc.Outcome.REFUTED for v in verdicts) / len(verdicts)}


def bent(name, n, repeats, seed) -> list[dict]:
    """The verdicts on one bend, for each kind of runs."""
    bend = bend_named(name)
    rows = []
    for i, runs in enumerate(RUNS):
        rng = np.random.default_rng([seed, n, 10 + i])
        found = shares(decide(bend.fit(rng, runs, n), bend.claim, kind=bend.kind, words=False) for _ in range(repeats))
        row = {"bend": name, "runs": runs, "N": n, "holds": bend.holds, "exponent holds": bend.exponent}
        wrong = not bend.holds and not bend.exponent and bend.kind == "upper"
        rows.append(row | {"shown": bend.shown, **found, "best": best_power(bend, runs, n) if wrong else np.nan})
    return rows


def real(name, n, repeats, seed) -> list[dict]:
    """The verdicts on true and false claims about a real algorithm."""
    algorithm = next(r for r in REAL if r.name == name)
    rng = np.random.default_rng([seed, n, 20])
    fits = [rc.fit_rate(sample(algorithm, rng, n)) for _ in range(repeats)]
    return [
        {"algorithm": name, "claim": str(claim)[4:], "N": n, "holds": holds}
        | shares(decide(fit, claim, words=False) for fit in fits)
        for holds, claims in ((True, algorithm.right), (False, algorithm.wrong))
        for claim in claims
    ]


SCATTERED = {"anytime": (blocks, True), "separate": (separate(0.5), False)}


def looked(runs, _, repeats, seed) -> list[dict]:
    """Ten looks at growing data whose truth is at the margin: how often one of them decides."""
    scatter, anytime = SCATTERED[runs]
    rng = np.random.default_rng([seed, 30, int(anytime)])
    mean = rc.Rate.of_regret(0.5 + MARGIN).regret(HORIZONS)
    found = {"naive": [], "spent": [], "once": []}
    for _ in range(repeats):
        R = scatter(rng, mean, LOOKS[-1])
        fits = [rc.fit_rate(means(HORIZONS, R[:n], anytime)) for n in LOOKS]
        claim = rc.Rate.of_regret(0.5)
        naive = [decide(fit, claim, words=False) for fit in fits]
        found["naive"].append(first_decision(v.name for v in naive))
        found["once"].append(first_decision([naive[-1].name]))
        found["spent"].append(
            first_decision(decide(fit, claim, look=k, words=False).name for k, fit in enumerate(fits, 1))
        )
    row = {"runs": runs}
    for how, names in found.items():
        for name in (rc.Outcome.REFUTED, rc.Outcome.CONSISTENT):
            row[f"{name}, {how}"] = names.count(name) / repeats
    return [row]


def first_decision(names) -> rc.Outcome:
    return next((name for name in names if name != rc.Outcome.INCONCLUSIVE), rc.Outcome.INCONCLUSIVE)


def advised(runs, _, repeats, seed) -> list[dict]:
    """Advice on N, followed: how often it decides, by how far the true slope lies from the claim."""
    scatter, anytime = SCATTERED[runs]
    claim, rows = rc.Rate.of_regret(0.5), []
    for off in (-0.1, 0.0, 0.02, 0.1, 0.15):
        rng = np.random.default_rng([seed, 40, int(anytime), round(1000 * abs(off)), int(off > 0)])
        mean = rc.Rate.of_regret(0.5 + off).regret(HORIZONS)
        undecided = named = decided = 0
        for _ in range(repeats):
            R = scatter(rng, mean, FIRST)
            v = decide(rc.fit_rate(means(HORIZONS, R, anytime)), claim)
            undecided += v.name == rc.Outcome.INCONCLUSIVE
            asked = v.advice.runs if v.advice is not None else 0
            if v.name != rc.Outcome.INCONCLUSIVE or not 0 < asked <= MOST:
                continue
            named += 1
            R = np.concatenate([R, scatter(rng, mean, asked - FIRST)])
            again = decide(rc.fit_rate(means(HORIZONS, R, anytime)), claim, words=False)
            decided += again.name != rc.Outcome.INCONCLUSIVE
        rows.append({"runs": runs, "off": off, "undecided": undecided, "named": named, "decided": decided})
    return rows


def forceful(runs, n, repeats, seed) -> list[dict]:
    """Pure powers just beyond what verdicts tolerate, and at what they catch."""
    scatter, anytime = SCATTERED[runs]
    rows = []
    for log_power in (0.0, 1.0, 2.0):
        claim = rc.Rate.of_regret(0.5, log_power)
        rng = np.random.default_rng([seed, n, 50, int(anytime), round(log_power)])

        def fit(mean, rng=rng):
            return rc.fit_rate(means(HORIZONS, scatter(rng, mean, n), anytime))

        typical = decide(fit(claim.regret(HORIZONS)), claim, words=False)
        passes, caught = typical.tolerates, typical.catches
        row = {"runs": runs, "claim": str(claim)[4:], "N": n, "tolerates": passes, "catches": caught}
        beyond = rc.Rate.of_regret(0.5 + passes + BEYOND).regret(HORIZONS)
        row |= {
            "CONSISTENT beyond": shares(decide(fit(beyond), claim, words=False) for _ in range(repeats))["CONSISTENT"]
        }
        if caught is not None:
            there = rc.Rate.of_regret(0.5 + caught).regret(HORIZONS)
            row["REFUTED there"] = shares(decide(fit(there), claim, words=False) for _ in range(repeats))["REFUTED"]
        rows.append(row)
    return rows
