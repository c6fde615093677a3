"""Rates as regression tests: both algorithms on costs with known rates, and algorithms broken on purpose.

Each is asserted by `assert_rate`: its regret keeps to the best known theorem within a tolerance, and its curve to the
one in `rates/`, measured with another seed; in one dimension it follows the predicted curve, too.

Horizons.  The adaptive method's regret repeats itself when T grows by 2^D, so its windows are whole periods, two at
least, with four horizons in each at least; uniform bins are seen about once per octave of the same window.

Number of runs.  With 32 runs the standard error of a slope is 0.002 to 0.007 (on quadratic and quartic, d = 1, some
get 64 or 128), so that an interval that errs once in a million, 6.1 standard errors, still lies within the margin of
the verdicts, 0.05; `check_size` holds every fit to that.  32 is a power of two: the lengths a0 then fill their octave
evenly.

Initial cells.  a0 = 1, half the side of the box.  With a0 = 2 the only query of a first cell can return 40 where
mu a0^alpha + ln T is 13 + 14 (quadratic, d = 1), and one or two of 256 runs did not come back to the minimiser: nearly
linear regret, 36 times the median at T = 2^22.  No number of runs that fits here averages that.  With a0 = 1 none of
6,000 runs on quadratic, d = 1, 2, 3, at T = 2^15 exceeded one and a half times the median.

Chance.  A rate fails, and a curve counts as changed, with a false-alarm rate of 1e-6 each.  A verdict is asserted, and
a tolerance taken, where 250 fits with one and a half times the noise of these runs around the pinned means all gave
it, that is, where it takes more than four and a half standard errors to change it.  `python -m tests.test_slopes`
measures the curves again, writes them and prints the table.
"""

import math
import sys
from dataclasses import replace
from pathlib import Path
from types import FunctionType

import numpy as np
import pytest
from numba import njit
from scipy import stats

import function_zoo as zoo
import ratecheck as rc
from ratecheck.algorithms import adaptive, uniform
from ratecheck.check.budget import Planner
from ratecheck.check.meaning import as_claim
from ratecheck.check.pin import Pin, load_pin, write_pin
from ratecheck.engine.simulate import Job
from ratecheck.fit.fit import Fit
from ratecheck.fit.log_means import within
from ratecheck.sampling.jit import Kernel
from ratecheck.testing import CannotTell, CurveChanged, RateRefuted, assert_rate
from ratecheck.verdict.rules import LEVEL, LOG_MARGIN, MARGIN, decide

pytestmark = pytest.mark.slow

RUNS = 32
PINNED_RUNS = 128
PINNED_SEED = 10**6  # any_seed is a small number
FALSE_ALARM = 1e-6
RATES = Path(__file__).parent / "rates"
EARLIEST, LATEST = 2**8, 2**18
ALGORITHMS = {"adaptive": rc.AdaptiveBins(a0=1.0), "uniform": rc.UniformBins()}
THEOREMS = {
    "adaptive": (rc.theorem2, rc.theorem2_sharper),
    "uniform": (rc.theorem1, rc.theorem1_corrected),
}
# The period of quartic in d = 3 is 45: it is still far from its rate in the first of two periods that end at 2^18.
LATEST_OF = {("quartic", 3): 2**20}
RUNS_OF = {("quadratic", 1, "uniform"): 128, ("quadratic", 1, "adaptive"): 64, ("quartic", 1, "adaptive"): 64}
# T^(2/3) (ln T)^2 and T^(3/4) (ln T)^2 are as steep as T in these windows: a rate that linear growth keeps is empty.
WITHOUT_FORCE = {("valley", 2, "uniform"), ("valley", 3, "uniform")}
# Theory: 0.1.  Both slopes are 0.59 up to T = 2^22, and what is left of the gap comes from the logarithms divided out.
UNRESOLVED = {("quadratic", 3)}

NAMES = {"C": {"CONSISTENT"}, "R": {"REFUTED"}, "I": {"INCONCLUSIVE"}}
NAMES |= {"c": NAMES["C"] | NAMES["I"], "r": NAMES["R"] | NAMES["I"], ".": NAMES["C"] | NAMES["I"] | NAMES["R"]}

# For every seed: the verdicts that these runs give, and the tolerance within which they pass the best known theorem.
# Verdicts: exponent and log power of the printed theorem, those of the corrected or sharper one, two controls.
# C CONSISTENT, R REFUTED, I INCONCLUSIVE, c not REFUTED, r not CONSISTENT, . any.  Where a limit of the rules is nearer
# than five standard errors, some seed may be INCONCLUSIVE, and the letter is a small one.
EXPECTED = {
    ("quadratic", 1): {"adaptive": ("ccccRR", 0.15), "uniform": ("ccccRR", 0.35)},
    ("quadratic", 2): {"adaptive": ("CCcCRR", 0.1), "uniform": ("ccccRR", 0.2)},
    ("quadratic", 3): {"adaptive": ("CCcCRR", 0.1), "uniform": ("ccccRR", 0.25)},
    ("cone", 1): {"adaptive": ("cCcCRR", 0.1), "uniform": ("rrccRR", 0.15)},
    ("cone", 2): {"adaptive": ("ICcCRR", 0.1), "uniform": ("cCcCRR", 0.1)},
    ("cone", 3): {"adaptive": ("ICcCRR", 0.1), "uniform": ("CCCCRR", 0.1)},
    ("twin_cone", 1): {"adaptive": ("CCCCRR", 0.1), "uniform": ("RRccRR", 0.15)},
    ("twin_cone", 2): {"adaptive": ("ICCCRR", 0.1), "uniform": ("ccccRR", 0.15)},
    ("twin_cone", 3): {"adaptive": ("ICCCRR", 0.1), "uniform": ("cCcCRR", 0.1)},
    ("quartic", 1): {"adaptive": ("ccccRR", 0.2), "uniform": ("ccccRR", 0.2)},
    ("quartic", 2): {"adaptive": ("IcIcRR", 0.2), "uniform": ("ccccRR", 0.2)},
    ("quartic", 3): {"adaptive": ("cCIcRR", 0.2), "uniform": ("CCCCRR", 0.1)},
    ("valley", 2): {"adaptive": ("CCcCRR", 0.1), "uniform": ("IIccRR", 0.2)},
    ("valley", 3): {"adaptive": ("CCccRR", 0.1), "uniform": ("IIccRR", 0.2)},
    ("weierstrass", 1): {"adaptive": ("CCcCRR", 0.2), "uniform": ("ccccRR", 0.2)},
    ("cusp", 1): {"adaptive": ("ICCCRR", 0.1), "uniform": ("CCCCRR", 0.1)},
}


# Measuring


def horizons(cost, name):
    """Whole periods that end at the latest horizon and start after the earliest, two at least."""
    last = math.log2(LATEST_OF.get((cost.name, cost.dim), LATEST))
    octaves = math.log2(rc.AdaptiveBins().settle(cost).period(cost))
    per_period = max(4, math.ceil(octaves))
    count = per_period * max(2, math.floor((last - math.log2(EARLIEST)) / octaves))
    length = (count - 1) * octaves / per_period
    if name == "uniform":  # one run per horizon
        count = round(length) + 1
    return [round(2**k) for k in np.linspace(last - length, last, count)]


def runs_of(cost, name):
    return RUNS_OF.get((cost.name, cost.dim, name), RUNS)


def rate_of(cost, name):
    """Of the best known theorem."""
    return THEOREMS[name][1].rate(cost.constants, cost.dim)


def path_of(cost, name):
    return RATES / f"{cost.name}-{cost.dim}-{name}.json"


def asserted(cost, name, seed):
    return assert_rate(
        ALGORITHMS[name],
        cost,
        rate_of(cost, name),
        horizons=horizons(cost, name),
        replicates=runs_of(cost, name),
        seed=seed,
        tolerance=EXPECTED[cost.name, cost.dim][name][1],
        false_alarms=FALSE_ALARM,
        agreement=cost.dim == 1,
        pinned=path_of(cost, name),
    )


def runs_that_pass(cost, name, seed):
    """What was asserted of them; where their rate has no force, that their curve is the pinned one."""
    if (cost.name, cost.dim, name) not in WITHOUT_FORCE:
        return asserted(cost, name, seed).runs
    with pytest.raises(CannotTell, match="linear growth could pass") as caught:
        asserted(cost, name, seed)
    assert not caught.value.found.change.significant
    return caught.value.found.runs


# Checks


def check_size(fit):
    """Tight enough to tell the margin, and no run that carries the mean."""
    assert fit.problem == ""
    assert fit.caution == ""
    assert reach(fit.whole.se, fit.whole.df) < MARGIN, f"slope {fit.whole}: more runs are needed"


def check_verdicts(fit, cost, name):
    for letter, (claim, found) in zip(EXPECTED[cost.name, cost.dim][name][0], verdicts(fit, cost, name), strict=True):
        assert found.name in NAMES[letter], f"{claim}: {found}"


def check_second_logarithm(fit, cost):
    """Theorem 1 prints (ln T)^1 at beta = 1; the power is larger by more than the margin, on both windows.

    The verdict says REFUTED for most seeds.  It says INCONCLUSIVE where the slope left over seems to fall, which one
    seed in a hundred shows by chance, so for every seed only the limits can be asserted.
    """
    rate = rc.theorem1.rate(cost.constants, cost.dim)
    assert rate.log_power == 1
    late = fit._estimate(fit._late_weights(fit.log_x), fit.data.y - rate.slope * fit.x)
    for power in (fit.log_power_at(rate.slope), late):
        assert power.lower_limit(LEVEL) > rate.log_power + LOG_MARGIN, f"log power {power}"
    assert rc.log_power_verdict(fit, rc.theorem1_corrected.rate(cost.constants, cost.dim)).name == "CONSISTENT"


def check_gap(fits, cost):
    """Uniform bins lose a power of T if beta > 1 and none otherwise."""
    found = gap(cost, fits)
    if cost.constants.beta <= 1:
        assert found.value < MARGIN, f"gap {found}"
    elif (cost.name, cost.dim) in UNRESOLVED:
        assert found.lower_limit(1 - FALSE_ALARM) > 0, f"gap {found}"
    else:
        assert found.value > 2 * MARGIN, f"gap {found}"
        raw = rc.slope_difference(fits["uniform"], fits["adaptive"])
        assert raw.lower_limit(1 - FALSE_ALARM) > 0, f"gap without correction {raw}"


def verdicts(fit, cost, name):
    for theorem in THEOREMS[name]:
        rate = theorem.rate(cost.constants, cost.dim)
        yield f"exponent of {theorem.name}", decide(fit, rate)
        yield f"log power of {theorem.name}", decide(fit, rate, log_power=True)
    for rate in controls(cost, name):
        yield f"negative control {rate}", decide(fit, rate)


def controls(cost, name):
    """Two rates that are too fast: a quarter more in the exponent, and a regret that does not grow."""
    printed = THEOREMS[name][0].rate(cost.constants, cost.dim)
    return rc.Rate(printed.exponent + 0.25), rc.Rate(1.0)


def gap(cost, fits):
    """How much faster the regret of uniform bins grows, the logarithms of the best known theorems divided out."""
    powers = {name: THEOREMS[name][1].rate(cost.constants, cost.dim).log_power for name in fits}
    return rc.slope_difference(*(fits[name].at(powers[name]) for name in ("uniform", "adaptive")))


def reach(se, df):
    """Half the width of an interval that errs once in a million."""
    return float(stats.t.isf(FALSE_ALARM / 2, df)) * se


# Tests


@pytest.mark.parametrize(("family", "dim"), EXPECTED)
def test_slopes(family, dim, any_seed):
    cost = zoo.get(family, dim=dim)
    fits = {name: rc.fit_rate(runs_that_pass(cost, name, any_seed)) for name in ALGORITHMS}
    for name, fit in fits.items():
        check_size(fit)
        check_verdicts(fit, cost, name)
    if (family, dim) in (("cone", 1), ("twin_cone", 1)):
        longer = rc.simulate(ALGORITHMS["uniform"], cost, [2**k for k in range(10, 21)], 64, any_seed)
        check_second_logarithm(rc.fit_rate(longer), cost)
    check_gap(fits, cost)


CONE = zoo.get("cone", dim=1)


def without_bonus(kernel, **parts):
    """A copy of a kernel in which tau, the factor of the bonus n^(-1/2), is always 0."""
    f = kernel.function if isinstance(kernel, Kernel) else kernel.py_func
    own = FunctionType(f.__code__, f.__globals__ | parts, f.__name__, f.__defaults__, f.__closure__)
    changed = njit(nogil=True, error_model="numpy")(own)  # not on disk, where it would be taken for the kernel itself
    if not isinstance(kernel, Kernel):
        return changed
    copy = Kernel(f)
    copy.general = changed
    return copy


@njit(nogil=True)
def nothing(t):
    return 0.0


def fails(cost, name, seed):
    with pytest.raises((CurveChanged, RateRefuted)):
        asserted(cost, name, seed)


def test_half_the_capacity_is_noticed(any_seed, monkeypatch):
    monkeypatch.setattr(adaptive, "capacity", lambda alpha, k: math.ceil(2.0 ** (alpha * min(k, 61 / alpha))))
    fails(CONE, "adaptive", any_seed)


def test_adaptive_bins_without_bonus_are_noticed(any_seed, monkeypatch):
    monkeypatch.setattr(adaptive, "adaptive_kernel", without_bonus(adaptive.adaptive_kernel, ln=nothing))
    monkeypatch.setattr(adaptive, "ln", nothing)
    fails(CONE, "adaptive", any_seed)


def test_uniform_bins_without_bonus_are_noticed(any_seed, monkeypatch):
    # On quadratic: a run that settles on a wrong bin pays most where few bins are near the minimiser.  On cone, d = 2,
    # the slope hardly changes.
    monkeypatch.setattr(uniform, "uniform_kernel", without_bonus(uniform.uniform_kernel, tau_of=nothing))
    monkeypatch.setattr(uniform, "tau_of", nothing)
    fails(zoo.get("quadratic", dim=1), "uniform", any_seed)


@pytest.mark.parametrize("when", [0.0, 0.5, 1.0], ids=["first", "middle", "last"])
def test_a_fixed_width_is_noticed(when, any_seed):
    """Theorem 1's width for one of the horizons, taken for all of them."""
    seen = horizons(CONE, "uniform")
    width = rc.UniformBins().length(CONE, seen[round(when * (len(seen) - 1))], 0.0)
    runs = rc.simulate(rc.UniformBins(width), CONE, seen, RUNS, any_seed)
    found = replace(Pin.of(runs), algorithm="UniformBins")  # as if it were the same
    path = path_of(CONE, "uniform")
    assert load_pin(path).change(found, path, FALSE_ALARM).significant


# Measuring the curves and the table: python -m tests.test_slopes

COSTS = [(family, dim) for family in ("quadratic", "cone", "twin_cone", "quartic") for dim in (1, 2, 3)]
COSTS += [("valley", 2), ("valley", 3), ("weierstrass", 1), ("cusp", 1)]


def letter(names):
    """The strongest statement that holds for all these verdicts."""
    return next(key for key in "CRIcr." if names <= NAMES[key])


def draws_of(data, cost, name, draws=250, inflation=1.5):
    """What a test's runs may be: the pinned means with half as much noise again."""
    runs = runs_of(cost, name)
    covariance = data.covariance * data.replicates / runs
    noise = np.random.default_rng(0).multivariate_normal(np.zeros(len(data.x)), covariance, draws, method="eigh")
    alike = tuple(np.ones((len(data.x), runs)))  # no run carries the mean
    whole = replace(data, covariance=covariance, replicates=runs, samples=alike)
    return [replace(whole, y=y) for y in data.y + inflation * noise]


def sure_verdicts(data, cost, name, period):
    seen = [set() for _ in range(6)]
    for drawn in draws_of(data, cost, name):
        for names, (_, judged) in zip(seen, verdicts(Fit(drawn, 0.0, period), cost, name), strict=True):
            names.add(str(judged.name))
    return "".join(map(letter, seen))


def sure_tolerance(data, cost, name, period):
    """The smallest of some tolerances within which all draws pass."""
    rate = rate_of(cost, name)
    job = Job(ALGORITHMS[name].settle(cost), cost, PINNED_SEED)
    for tolerance in (0.1, 0.15, 0.2, 0.25, 0.3, 0.35):
        planner = Planner(job, as_claim(rate, None, job.algorithm, cost), tolerance)
        seen = horizons(cost, name)
        case = planner.plan(seen, RUNS, curve=planner.curve(seen[-1])).case
        if case.window[0] < case.onset:
            continue
        rules = {"margin": tolerance, "resolution": math.inf}
        inside = within(data.horizons, case.window)
        fits = (Fit(drawn.cut(inside), rate.log_power, period) for drawn in draws_of(data, cost, name))
        if all(decide(fit, rate, **rules).name == "CONSISTENT" for fit in fits):
            return tolerance
    return None


def print_row(cost):
    rows = []
    for name in ALGORITHMS:
        data = load_pin(path_of(cost, name)).data
        period = ALGORITHMS[name].settle(cost).period(cost)
        period = None if math.isnan(period) else period
        rows.append((sure_verdicts(data, cost, name, period), sure_tolerance(data, cost, name, period)))
    said = ", ".join(f'"{name}": {row}' for name, row in zip(ALGORITHMS, rows, strict=True))
    print(f'    ("{cost.name}", {cost.dim}): {{{said}}},', flush=True)


if __name__ == "__main__":
    for family, dim in COSTS:
        if sys.argv[1:] in ([], [family]):
            cost = zoo.get(family, dim=dim)
            for name in ALGORITHMS:
                runs = rc.simulate(ALGORITHMS[name], cost, horizons(cost, name), PINNED_RUNS, PINNED_SEED)
                write_pin(path_of(cost, name), Pin.of(runs))
            print_row(cost)
