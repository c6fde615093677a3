"""Verdicts against the truth."""

import re
from dataclasses import replace

import numpy as np
import pandas as pd
import pytest
from scipy import stats

from ratecheck.claims import Outcome
from ratecheck.fit.fit import fit_rate
from ratecheck.fit.log_means import LogMeans
from ratecheck.rates import Rate
from ratecheck.verdict.rules import (
    Verdict,
    decide,
    judge,
    log_power_verdict,
    log_worth,
    looks_cost,
    tight,
    verdict,
)
from ratecheck.verdict.several import Assessment, adjusted_among, assess, holm, step_down
from studies.calibration.measure import STARTS
from studies.calibration.scenarios import CLAIM, HORIZONS, Scenario, blocks, linear_start, named, separate
from tests.synthetic import exact, runs, table


@pytest.mark.parametrize("kind", ["upper", "lower"])
def test_verdicts_on_noiseless_rates(kind):
    worse = -1 if kind == "upper" else 1  # of the true exponent
    claim = Rate(0.6, 1.0)
    for off, name in ((0.0, Outcome.CONSISTENT), (0.2, Outcome.REFUTED), (-0.2, Outcome.CONSISTENT)):
        v = verdict(fit_rate(exact(Rate(0.6 + worse * off, 1.0))), claim, kind)
        assert v.name == name, str(v)
        assert v.excess.value == pytest.approx(off, abs=1e-9)
        assert f"{claim.slope:.3f}" in v.reason
        assert v.tolerates < v.catches
        passed = f"T^{claim.slope - worse * v.tolerates:.3f} could have passed too"
        assert (passed if v.tolerates >= 0 else f"no T^{claim.slope:.3f} could have passed") in v.reason
        assert f", T^{claim.slope - worse * v.catches:.3f} " in v.reason
        assert "would have been caught" in v.reason


def test_exponent_consistent_and_printed_log_power_refuted():
    # What Theorem 1 at beta = 1 should give: T^0.5 (ln T)^2 where (ln T)^1 is printed.
    noise = runs(named("S1"), Rate(0.5, 2.0), n=200)
    fit = fit_rate(noise)
    assert log_power_verdict(fit, Rate(0.5, 1.0)).name == Outcome.REFUTED
    assert log_power_verdict(fit, Rate(0.5, 2.0)).name == Outcome.CONSISTENT
    assert verdict(fit, Rate(0.5, 2.0)).name == Outcome.CONSISTENT
    assert "log power" in log_power_verdict(fit, Rate(0.5, 1.0)).reason
    assessed = assess(fit, Rate(0.5, 1.0), Rate(0.5, 2.0))
    assert assessed.name == Outcome.REFUTED
    assert str(assessed).startswith(
        "exponent CONSISTENT, printed log power REFUTED, corrected log power CONSISTENT: exponent: slope 0.5"
    )


def test_an_assessment_judges_the_printed_claim():
    fit = fit_rate(exact(CLAIM))
    right, steep = assess(fit, CLAIM), assess(fit, Rate(0.7, 1.0))
    assert (right.name, steep.name) == (Outcome.CONSISTENT, Outcome.REFUTED)
    assert right.corrected_log_power is None
    assert "corrected" not in str(right)
    # A correction that changes nothing is none, a sharper one may fail where the printed power holds.
    assert assess(fit, CLAIM, CLAIM) == right
    sharper = assess(fit, Rate(0.5, 2.0), Rate(0.5, 0.0))
    assert (sharper.log_power.name, sharper.corrected_log_power.name) == (Outcome.CONSISTENT, Outcome.REFUTED)
    short = assess(fit_rate(exact(CLAIM), window=(2**10, 2**15), period=16.0), CLAIM)
    assert short.name == Outcome.INCONCLUSIVE
    assert "T_max" in str(short)
    doubtful = Assessment(right.exponent, Verdict(Outcome.INCONCLUSIVE, "too few runs"))
    assert doubtful.name == Outcome.INCONCLUSIVE
    with pytest.raises(ValueError, match="must keep the exponent"):
        assess(fit, CLAIM, Rate(0.4, 2.0))


def test_tight_is_two_sided():
    assert tight(fit_rate(exact(CLAIM)), CLAIM).name == Outcome.CONSISTENT
    for off in (-0.2, 0.2):
        assert tight(fit_rate(exact(Rate(0.5 + off, 1.0))), CLAIM).name == Outcome.REFUTED
    assert verdict(fit_rate(exact(Rate(0.7, 1.0))), CLAIM).name == Outcome.CONSISTENT
    noisy = runs(Scenario("I", "", separate(2.0), anytime=False), n=5)
    assert tight(fit_rate(noisy), CLAIM).name == Outcome.INCONCLUSIVE


def test_a_number_of_runs_that_is_named_decides(any_seed):
    asked = settled = 0
    for seed in range(60):
        start, more = (1000 * any_seed + seed, 10**6 + 1000 * any_seed + seed)
        few = runs(named("S1"), n=16, seed=start)
        v = decide(fit_rate(few), CLAIM)
        if v.name == Outcome.INCONCLUSIVE and v.advice is not None and v.advice.runs:
            asked += 1
            assert f"N = {v.advice.runs} runs would do" in v.reason
            rest = runs(named("S1"), n=v.advice.runs - 16, seed=more)
            rest["replicate"] += 16
            settled += decide(fit_rate(pd.concat([few, rest])), CLAIM, words=False).name != Outcome.INCONCLUSIVE
    assert asked >= 5
    assert stats.binomtest(settled, asked, 0.8, "less").pvalue > 1e-6


WAYS_OUT = (
    r"N = \d+ runs would do|more runs may tell \(.* decide with a chance of \d+ %\)|"
    r"T_max = [\d.e+]+ would (show|tell) more"
)


@pytest.mark.parametrize("name", ["S1", "S4b", "S7", "S10", "I2"])
@pytest.mark.parametrize("n", [4, 15, 60])
def test_every_inconclusive_verdict_says_what_would_settle_it(name, n, any_seed):
    rng = np.random.default_rng(any_seed)
    for _ in range(4):
        fit = named(name).fit(rng, Rate(0.43, 1.5), n)
        assessed = assess(fit, CLAIM, Rate(0.5, 2.0))
        verdicts = [assessed.exponent, assessed.log_power, assessed.corrected_log_power, tight(fit, CLAIM)]
        verdicts += [verdict(fit, CLAIM, "lower"), log_power_verdict(fit, CLAIM, "lower")]
        for v in verdicts + holm(verdicts):
            if v.name == Outcome.INCONCLUSIVE and v.blames == "":
                assert re.search(WAYS_OUT, v.reason), v.reason


@pytest.mark.parametrize("end", STARTS)
def test_a_linear_start_is_not_refuted(end):
    scenario = Scenario("start", "", blocks, shape=linear_start(2.0**end))
    data = LogMeans.of(HORIZONS, tuple((scenario.mean(CLAIM) * np.linspace(0.99, 1.01, 50)[:, None]).T), True)
    assert verdict(fit_rate(data), CLAIM).name != Outcome.REFUTED
    assert log_power_verdict(fit_rate(data), CLAIM).name != Outcome.REFUTED


def test_a_claim_far_off_is_refuted_although_the_slope_drifts():
    # T^0.3 (ln T)^2 without noise: its slope falls for ever, but not to 0, and no logarithm is a power.
    data = exact(Rate(0.7, 2.0))
    v = verdict(fit_rate(data), Rate(1.0))
    assert (v.name, v.blames, v.alone.name) == (Outcome.REFUTED, "exponent", Outcome.REFUTED)
    assert verdict(fit_rate(data), Rate(0.7, 2.0)).name == Outcome.CONSISTENT


def test_points_off_the_line_hold_a_refutation_back():
    # No noise at all, but steps: whole numbers of bins do that.  The slope exceeds the claim by 0.1.
    steps = np.exp(0.5 * np.sign(np.sin(2.5 * np.arange(len(HORIZONS)))))
    rate = Rate(0.4, 1.0)
    R = np.linspace(0.99, 1.01, 50)[:, None] * rate.regret(HORIZONS)
    assert verdict(fit_rate(table(R)), CLAIM).name == Outcome.REFUTED
    held = verdict(fit_rate(table(R * steps)), CLAIM)
    assert held.name == Outcome.INCONCLUSIVE
    assert "scatter about the line" in held.reason or "explains slope and bend as well" in held.reason


def test_lock_in_is_flagged(any_seed):
    R = blocks(np.random.default_rng(any_seed), CLAIM.regret(HORIZONS), 60)
    assert fit_rate(table(R)).caution == ""
    R[3] *= 40
    fit = fit_rate(table(R))
    assert "% of a mean regret" in fit.caution
    assert "N >= 200" in verdict(fit, CLAIM).reason


def test_holm_against_statsmodels():
    from statsmodels.stats.multitest import multipletests

    p = [0.001, 0.04, 0.03, 0.2, 0.012]
    verdicts = [Verdict(Outcome.REFUTED, "r", p_value=v) for v in p[:3]] + [
        Verdict(Outcome.INCONCLUSIVE, "i", p_value=1.0),
        Verdict(Outcome.CONSISTENT, "c", p_value=p[4]),
    ]
    keep, adjusted, _, _ = multipletests([0.001, 0.04, 0.03, 1.0, 0.012], 0.05, "holm")
    after = holm(verdicts)
    for i in (0, 1, 2, 4):
        assert (after[i].name != Outcome.INCONCLUSIVE) == keep[i]
        assert after[i].p_value == pytest.approx(adjusted[i])
    assert "Holm" in after[1].reason
    assert "N = " not in after[1].reason  # nothing is known of the data behind a bare p-value
    assert after[3] == verdicts[3]
    assert holm([]) == []


def test_the_step_down_against_statsmodels(any_seed):
    from statsmodels.stats.multitest import multipletests

    rng = np.random.default_rng(any_seed)
    for count in (1, 2, 5, 40):
        p = np.round(rng.uniform(0, 1, count) ** 4, 3)  # some of them equal
        p[rng.uniform(size=count) < 0.2] = 1.0
        keep, adjusted, _, _ = multipletests(p, 0.05, "holm")
        assert step_down(p.tolist(), 0.05) == (adjusted.tolist(), keep.tolist())


def test_a_control_is_adjusted_in_the_place_of_its_claim():
    claims = [Verdict(Outcome.REFUTED, "r", p_value=p) for p in (0.001, 0.012, 0.013)]
    control = Verdict(Outcome.REFUTED, "c", p_value=0.02)
    # third of three: Holm leaves 0.05 to the last alone, and less to the others
    assert adjusted_among(control, claims, 2).p_value == pytest.approx(0.024)  # no smaller than that of 0.012
    assert adjusted_among(control, claims, 0).name == Outcome.REFUTED
    late = adjusted_among(replace(control, p_value=0.04), [*claims[:1], *[Verdict(Outcome.INCONCLUSIVE, "")] * 3], 1)
    assert late.name == Outcome.INCONCLUSIVE
    assert "not among 4 claims" in late.reason


def test_what_holm_takes_back_more_runs_bring_again(any_seed):
    demoted = brought = 0
    others = [Verdict(Outcome.INCONCLUSIVE, "")] * 19
    for seed in range(60):
        few = runs(named("I1"), Rate(0.62, 0.0), n=40, seed=1000 * any_seed + seed)
        claim = Rate(0.75)
        v = holm([decide(fit_rate(few), claim), *others])[0]
        asked = re.search(r"but not among 20 claims .*; N = (\d+) runs would do", v.reason)
        if asked:
            demoted += 1
            n = int(asked.group(1))
            fit = fit_rate(runs(named("I1"), Rate(0.62, 0.0), n=n, seed=10**6 + 1000 * any_seed + seed))
            brought += holm([decide(fit, claim, words=False), *others])[0].name == Outcome.REFUTED
    assert demoted >= 3
    assert stats.binomtest(brought, demoted, 0.6, "less").pvalue > 1e-6


def test_holm_keeps_the_family_wise_error(any_seed):
    # Twenty claims, the truth of each at the margin: some are refuted by chance, after Holm in 5 % of families at most.
    rng = np.random.default_rng(any_seed)
    at_margin = Rate(CLAIM.exponent - 0.05, CLAIM.log_power)
    errors = 0
    for _ in range(60):
        fits = [fit_rate(named("S1").data(rng, at_margin, 50), 1.0) for _ in range(20)]
        errors += any(v.name == Outcome.REFUTED for v in holm([decide(f, CLAIM, words=False) for f in fits]))
    assert stats.binomtest(errors, 60, 0.05, "greater").pvalue > 1e-6


def test_resolution_limit_is_the_slope_that_a_fit_gives_to_one_logarithm():
    for horizons in (2.0 ** np.arange(7, 17), 2.0 ** np.arange(10, 21)):
        x = np.log(horizons)
        assert log_worth(horizons) == pytest.approx(np.polyfit(x, np.log(x), 1)[0])
    assert log_worth(2.0 ** np.arange(10, 21)) == pytest.approx(0.1, abs=0.005)  # what the README says


# Force


@pytest.mark.parametrize("log_power", [0.0, 1.0, 2.0])
def test_what_lies_beyond_tolerates_hardly_passes(log_power, any_seed):
    claim = Rate(0.5, log_power)
    rng = np.random.default_rng(any_seed)
    tolerates = decide(named("I1").fit(rng, claim, 64), claim, words=False).tolerates
    beyond = Rate(0.5 - tolerates - 0.005)
    passed = sum(
        decide(named("I1").fit(rng, beyond, 64), claim, words=False).name == Outcome.CONSISTENT for _ in range(200)
    )
    assert stats.binomtest(passed, 200, 0.05, "greater").pvalue > 1e-6


@pytest.mark.parametrize("name", ["S1", "I1"])
def test_what_is_said_to_be_caught_is_caught(name, any_seed):
    claim = Rate(0.6)
    rng = np.random.default_rng(any_seed)
    catches = decide(named(name).fit(rng, claim, 64), claim, words=False).catches
    there = [decide(named(name).fit(rng, Rate(0.6 - catches), 64), claim, words=False) for _ in range(150)]
    assert stats.binomtest(sum(v.name == Outcome.REFUTED for v in there), 150, 0.75, "less").pvalue > 1e-6


def test_a_verdict_that_tolerates_more_than_the_resolution_decides_nothing():
    lax = Rate(0.5, 4.0)  # four powers of ln T over eleven doublings are worth more than a quarter of an exponent
    fit = fit_rate(exact(Rate(0.5, 3.0)))
    v = verdict(fit, lax)
    assert v.name == Outcome.INCONCLUSIVE
    assert v.tolerates > 0.25
    needed = float(re.search(r"T_max = ([\d.e+]+) would do", v.reason).group(1))
    assert needed > HORIZONS[-1]
    assert verdict(fit, lax, resolution=0.5).name == Outcome.CONSISTENT
    x = np.arange(8, np.log2(needed) + 1)
    longer = pd.DataFrame(
        [(i, 2.0**k, (1 + i / 10) * Rate(0.5, 3.0).regret(2.0**k), True) for i in range(5) for k in x],
        columns=["replicate", "horizon", "regret", "anytime"],
    )
    assert verdict(fit_rate(longer), lax).name == Outcome.CONSISTENT


def test_the_force_of_a_lower_bound_points_down():
    v = verdict(fit_rate(exact(Rate(0.4))), Rate(0.4), "lower")
    assert v.name == Outcome.CONSISTENT
    assert v.tolerates == pytest.approx(0.05, abs=1e-6)
    assert f"T^0.550 could have passed too, T^{0.6 - v.catches:.3f} would have been caught" in v.reason


# Exponent or logarithm


@pytest.mark.parametrize("power", [2.0, 3.0])
def test_an_exponent_is_not_refuted_where_a_logarithm_explains_the_runs(power, any_seed):
    rng = np.random.default_rng(any_seed)
    blamed = sum(
        decide(named("S1").fit(rng, Rate(0.5, power), 64), CLAIM, words=False).alone.name == Outcome.REFUTED
        for _ in range(100)
    )
    assert stats.binomtest(blamed, 100, 0.02, "greater").pvalue > 1e-6
    v = verdict(fit_rate(exact(Rate(0.5, 2.5))), Rate(0.5))
    assert (v.name, v.blames, v.alone.name) == (Outcome.REFUTED, "exponent or logarithm", Outcome.INCONCLUSIVE)
    assert "T^0.55 (ln T)^2.1 explains slope and bend as well: the exponent alone is not refuted" in v.reason
    assert assess(fit_rate(exact(Rate(0.5, 2.5))), Rate(0.5)).exponent.name == Outcome.INCONCLUSIVE


def test_a_power_is_no_logarithm():
    v = verdict(fit_rate(exact(Rate(0.2))), Rate(0.6))
    assert (v.name, v.blames) == (Outcome.REFUTED, "exponent")


# Looks


def test_looks_spend_the_error():
    assert looks_cost(None) == 1
    assert sum(1 / looks_cost(k) for k in range(1, 10**5)) == pytest.approx(1, abs=1e-4)
    fit = fit_rate(runs(named("I1"), Rate(0.5), n=64))
    alone, tenth = verdict(fit, Rate(0.5)), verdict(fit, Rate(0.5), look=10)
    assert tenth.error == pytest.approx(alone.error / 110)
    assert tenth.catches > alone.catches
    assert judge(runs(named("S1"), n=64), CLAIM, look=1).error == pytest.approx(0.025)
    with pytest.raises(ValueError, match="look"):
        verdict(fit, CLAIM, look=0)


def test_tight_needs_a_straight_line():
    # T^0.5 ln T is T^0.6 on average over this window, but its slope falls from 0.68 to 0.58
    data = exact(Rate(0.5, 1.0), n=20)
    v = tight(fit_rate(data), Rate(0.4))
    assert v.name == Outcome.INCONCLUSIVE
    assert "the line is bent" in v.reason


def test_bad_arguments():
    t = runs(named("S1"), n=5)
    with pytest.raises(ValueError, match="must be a Rate"):
        verdict(fit_rate(t), 0.5)
    with pytest.raises(ValueError, match="must not be negative"):
        verdict(fit_rate(t), CLAIM, margin=-1)
    with pytest.raises(ValueError, match="'upper' or 'lower'"):
        verdict(fit_rate(t), CLAIM, kind="exact")
