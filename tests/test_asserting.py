"""Rates asserted in tests: what passes, what fails, what cannot be told; pinned curves; the pytest plugin."""

import json
import math
import re
import subprocess
import sys
from dataclasses import replace
from itertools import islice

import numpy as np
import pytest
from scipy.stats import binomtest

import function_zoo as zoo
import ratecheck as rc
from ratecheck.check.assert_rate import PATIENCE, Rules, _ladder, asserted
from ratecheck.check.budget import Planner
from ratecheck.check.meaning import as_claim
from ratecheck.check.pin import Pin, PinError, load_pin, write_pin
from ratecheck.engine.simulate import Job
from ratecheck.fit.log_means import LogMeans
from ratecheck.pytest_plugin import _seed_of
from ratecheck.testing import CannotTell, CurveChanged, RateRefuted, assert_rate
from studies.benchmarks.mistakes import kinds

pytest_plugins = "pytester"

SIZE = {"horizons": [8, 16, 32, 64, 128, 256], "replicates": 24}


def distance(x):
    return abs(float(x[0]))


COST = zoo.cost(distance, -1.0, 1.0, minimum=0.0)


class Nearer:
    """The mean distance to the minimiser is that by which t^(1/2) grows: R = T^(1/2)."""

    power = 0.5
    closer = 1.0

    def __init__(self, rng):
        self.rng, self.t = rng, 0

    def ask(self):
        self.t += 1
        grown = self.t ** (1 - self.power) - (self.t - 1) ** (1 - self.power)
        return self.closer * min(1.0, 0.2 * self.rng.exponential()) * grown

    def tell(self, x, y):
        pass


class Slower(Nearer):
    power = 0.2


class Halved(Nearer):
    closer = 0.5


def test_a_rate_that_holds_passes(any_seed):
    # its limits are ten standard errors away
    found = assert_rate(Nearer, COST, "T^0.5", **SIZE, seed=any_seed)
    assert found.passed
    assert found.passes == pytest.approx(0.6)
    assert 0.6 <= found.fails < 1
    again = assert_rate(Nearer, COST, "T^0.5", **SIZE, seed=any_seed, budget="1 h", workers=1)
    assert again.runs.frame.equals(found.runs.frame)


def test_a_rate_that_does_not_hold_fails(any_seed, tmp_path):
    with pytest.raises(RateRefuted) as caught:
        assert_rate(Slower, COST, "T^0.5", **SIZE, seed=any_seed, figures=tmp_path)
    said = str(caught.value)
    fit = caught.value.found.fit
    for words in (
        f"slope {fit.slope:.3f} [{fit.low:.3f}, {fit.high:.3f}]",
        "against 0.500",
        "would have passed",
        "T^0.5",
    ):
        assert words in said
    assert "replicates=24, seed=" in said
    figure = next(tmp_path.glob("*.png"))
    assert said.endswith(f"figure    {figure}")
    assert figure.read_bytes().startswith(b"\x89PNG")


def test_lower_bounds(any_seed):
    assert assert_rate(Nearer, COST, "T^0.5", "lower", **SIZE, seed=any_seed).passes == pytest.approx(0.4)
    with pytest.raises(RateRefuted, match="more slowly"):
        assert_rate(Nearer, COST, "T^0.8", "lower", **SIZE, seed=any_seed)


def test_too_few_runs_cannot_tell(any_seed):
    with pytest.raises(CannotTell, match="too few or too short"):
        assert_rate(Nearer, COST, "T^0.5", tolerance=0.001, **SIZE, seed=any_seed)


def test_a_promise_that_linear_growth_keeps_has_no_force():
    with pytest.raises(CannotTell, match="linear growth could pass"):
        assert_rate(Nearer, COST, "T^0.8 (ln T)^1", **SIZE)


def test_a_mean_that_one_run_carries_does_not_pass():
    class Rarely(Nearer):
        def __init__(self, rng, seed):
            super().__init__(rng)
            self.closer = 50.0 if seed % 24 == 0 else 1.0

        def ask(self):
            return min(1.0, super().ask())

    with pytest.raises((CannotTell, RateRefuted), match=r"carries|faster"):
        assert_rate(Rarely, COST, "T^0.5", **SIZE, seed=1)


def test_the_clock_ends_it_with_a_sentence():
    with pytest.raises(CannotTell, match=r"raise budget"):
        assert_rate(Nearer, COST, "T^0.5", tolerance=0.001, budget="0.5 s", seed=1)


@pytest.mark.parametrize("algorithm", [rc.AskTell(Nearer), rc.UniformBins()], ids=["ask/tell", "uniform"])
def test_rungs_have_twice_the_steps(algorithm):
    cost = zoo.get("cone", 1)
    job = Job(algorithm.settle(cost), cost)
    planner = Planner(job, as_claim("T^0.75", None, job.algorithm, cost))
    rungs = list(islice(_ladder(job, planner, None, None), PATIENCE + 2))
    made = [r.horizons[-1] if job.algorithm.anytime else sum(r.horizons) for r in rungs]
    steps = [rung.replicates * each for rung, each in zip(rungs, made, strict=True)]
    assert np.allclose(np.diff(np.log2(steps)), 1, atol=0.05)
    assert [rung.number for rung in rungs] == [1, 2, 3, 4, 5]
    assert rungs == list(islice(_ladder(job, planner, None, None), PATIENCE + 2))
    assert list(_ladder(job, planner, (8, 16, 32), 5)) == [(None, (8, 16, 32), 5)]


def test_agreement(any_seed):
    # The quadratic's runs follow their curve to a per cent or two; a mistake in the bonus changes them by a quarter.
    kind = kinds()["kernel, uniform"]
    size = {"horizons": (256, 512, 1024, 2048, 4096), "replicates": 16}
    rules = Rules(0.2, 1e-6, 0.95)
    claim = rc.Claim("the promise", "", "upper", rc.Rate.of_regret(0.5))
    found = asserted(kind.sound(any_seed), claim, rules=rules, seconds=60.0, **size, agreement=True)
    assert found.agreement.name != "REFUTED"
    with pytest.raises(CurveChanged, match="predicted curve"):
        asserted(
            kind.mistakes["half the bonus"].job(any_seed), claim, rules=rules, seconds=60.0, **size, agreement=True
        )


@pytest.mark.parametrize(
    ("arguments", "words"),
    [
        ({"tolerance": 0}, "tolerance = 0"),
        ({"tolerance": "0.1"}, "tolerance = '0.1'"),
        ({"false_alarms": 1}, "false_alarms = 1"),
        ({"power": 0.2}, "power = 0.2"),
        ({"budget": "soon"}, "budget = 'soon'"),
        ({"horizons": [10, 20]}, "three of them"),
        ({"replicates": 2}, "replicates = 2"),
        ({"agreement": True}, "no curve is predicted"),
        ({"rate": None}, "claims no rate"),
        ({"seed": -1}, "seed = -1"),
    ],
    ids=str,
)
def test_arguments(arguments, words):
    with pytest.raises(ValueError, match=r"^[^\n]*$") as caught:
        assert_rate(**{"algorithm": Nearer, "cost": COST, "rate": "T^0.5"} | arguments)
    assert words in str(caught.value)


def test_a_theorem_that_promises_nothing_here_is_refused():
    with pytest.raises(ValueError, match="nothing to assert: Theorem 2"):
        assert_rate(rc.AdaptiveBins(), zoo.get("cone", 2))


# Pinned curves


def pinned(algorithm, path, seed=0, **more):
    return assert_rate(algorithm, COST, "T^0.5", **SIZE, seed=seed, pinned=path, **more)


def test_an_unchanged_curve_is_identical_and_another_seed_is_no_change(tmp_path, monkeypatch, any_seed):
    monkeypatch.delenv("CI", raising=False)
    path = tmp_path / "rates" / "nearer.json"
    assert pinned(Nearer, path, any_seed).change is None
    text = path.read_text()
    assert str(tmp_path) not in text
    assert str(pinned(Nearer, path, any_seed).change) == "identical"
    # false alarms: one in a million seeds
    other = pinned(Nearer, path, any_seed + 10**6, false_alarms=1e-6).change
    assert "no significant change" in str(other)
    assert path.read_text() == text


def test_a_changed_curve_fails_and_may_be_pinned_anew(tmp_path, monkeypatch):
    monkeypatch.delenv("CI", raising=False)
    path = tmp_path / "nearer.json"
    pinned(Nearer, path)
    monkeypatch.setattr(Nearer, "closer", 0.5)
    with pytest.raises(CurveChanged, match=r"changed, better: -50 % on average.*significant at 6 of 6") as caught:
        pinned(Nearer, path, figures=tmp_path)
    assert "--ratecheck-pin" in str(caught.value)
    pinned(Nearer, path, pin=True)
    assert pinned(Nearer, path).change.identical


def test_a_pin_is_not_made_where_ci_is_set(tmp_path, monkeypatch):
    monkeypatch.setenv("CI", "true")
    with pytest.raises(PinError, match="does not exist"):
        pinned(Nearer, tmp_path / "none.json")
    assert not list(tmp_path.iterdir())


def test_a_pin_of_something_else_is_refused(tmp_path, monkeypatch):
    monkeypatch.delenv("CI", raising=False)
    path = tmp_path / "nearer.json"
    pinned(Nearer, path)
    with pytest.raises(PinError, match="algorithm = 'Nearer'"):
        pinned(Halved, path)
    with pytest.raises(PinError, match="noise"):
        pinned(Nearer, path, noise=0.5)
    with pytest.raises(ValueError, match="horizons are given"):
        assert_rate(Nearer, COST, "T^0.5", horizons=[8, 16, 32], pinned=path)


@pytest.fixture
def a_pin(tmp_path):
    runs = rc.simulate(rc.AskTell(Nearer), COST, SIZE["horizons"], 5)
    return write_pin(tmp_path / "pin.json", Pin.of(runs))


@pytest.mark.parametrize(
    "spoilt",
    [
        {"format": "other"},
        {"horizons": [16, 32]},
        {"horizons": "16"},
        {"log_mean": [1.0]},
        {"log_mean": ["x"] * 6},
        {"covariance": [math.nan] * 21},
        {"covariance": [-1.0] * 21},
        {"replicates": 1e400},
        {"replicates": True},
        {"anytime": 1},
        {"algorithm": ["Nearer"]},
        {"seed": -3},
    ],
    ids=str,
)
def test_spoilt_pins_are_refused_in_a_sentence(a_pin, spoilt):
    assert load_pin(a_pin).horizons == tuple(SIZE["horizons"])
    a_pin.write_text(json.dumps(json.loads(a_pin.read_text()) | spoilt))
    with pytest.raises(PinError, match=r"^[^\n]*holds no curve of an earlier version[^\n]*$"):
        load_pin(a_pin)


@pytest.mark.parametrize("text", [b"", b"\xff\xfe", b"[" * 100_000, b"null", b'{"format": "ratecheck curve 1"}'])
def test_garbage_is_refused_in_a_sentence(a_pin, text):
    a_pin.write_bytes(text)
    with pytest.raises(PinError, match=r"^[^\n]*holds no curve of an earlier version[^\n]*$"):
        load_pin(a_pin)
    with pytest.raises(PinError):
        load_pin(a_pin.parent)


@pytest.mark.parametrize("anytime", [True, False])
def test_pinned_curves_keep_their_error(anytime):
    """Two curves of the same law differ significantly at 5 % in no more than 5 % of the cases."""
    rng, T = np.random.default_rng(5), np.array([16, 32, 64, 128, 256, 512])
    alarms, trials = 0, 600
    for _ in range(trials):
        first, second = (pin_of(T, regrets(rng, T, anytime), anytime) for _ in range(2))
        alarms += first.change(second, "", 0.05).significant
    assert binomtest(alarms, trials, 0.05, "greater").pvalue > 1e-6
    worse = replace(second, log_mean=tuple(y + 1.5 for y in second.log_mean))
    assert first.change(worse, "", 1e-6).significant


def regrets(rng, T, anytime, runs=16):
    steps = np.diff(np.sqrt(T), prepend=0.0) * rng.gamma(2.0, 0.5, (runs, len(T)))
    if anytime:
        return np.cumsum(steps, axis=1) * rng.lognormal(0.0, 0.3, (runs, 1))
    return np.sqrt(T) * rng.lognormal(0.0, 0.4, (runs, len(T)))


def pin_of(T, R, anytime):
    data = LogMeans.of(T, tuple(R.T), anytime)
    upper = tuple(data.covariance[np.triu_indices(len(T))])
    names = ("a", "c", "n", "random", anytime, 0, len(R))
    return Pin(*names, tuple(T.tolist()), tuple(data.y), upper)


# The plugin

SUITE = """
import os
import pytest
from tests.test_asserting import COST, SIZE, Nearer, Slower

def test_passes(assert_rate):
    found = assert_rate(Nearer, COST, "T^0.5", **SIZE)
    print("seed", found.runs.shared["seed"])

def test_fails(assert_rate):
    assert_rate(Slower, COST, "T^0.5", **SIZE)

def test_cannot_tell(assert_rate):
    assert_rate(Nearer, COST, "T^0.5", **SIZE, tolerance=0.001)

def test_pinned(assert_rate):
    found = assert_rate(Nearer, COST, "T^0.5", **SIZE, pinned="rates/nearer.json")
    print("pinned", found.change)
"""


@pytest.fixture
def suite(pytester, monkeypatch):
    monkeypatch.delenv("CI", raising=False)
    monkeypatch.delenv("PYTEST_XDIST_WORKER", raising=False)
    pytester.makepyfile(test_rates=SUITE)

    def run(*options):
        return pytester.runpytest_inprocess("-p", "no:cacheprovider", "-p", "no:xdist", "-rA", *options)

    return run


def test_the_fixture(suite, pytester):
    first = suite()
    first.assert_outcomes(passed=2, failed=2)
    first.stdout.fnmatch_lines(["*RateRefuted: *Slower*grows faster than T^0.5*", "*figure * *.png"])
    first.stdout.fnmatch_lines(["*CannotTell: cannot tell whether*"])
    assert not re.search(r"check/\w+\.py", first.stdout.str())  # its insides are not shown
    assert (pytester.path / "rates" / "nearer.json").exists()
    again = suite("-k", "passes or pinned")
    again.assert_outcomes(passed=2)
    again.stdout.fnmatch_lines(["pinned identical"])
    seeds = [line for line in (first.outlines + again.outlines) if line.startswith("seed")]
    assert len(seeds) == 2
    assert len(set(seeds)) == 1


def test_options(suite, pytester):
    suite("--ratecheck-budget", "5 s", "-k", "passes or fails").assert_outcomes(passed=1, failed=1)
    pin = pytester.path / "rates" / "nearer.json"
    pin.parent.mkdir()
    pin.write_text("no curve")
    suite("-k", "pinned").assert_outcomes(failed=1)
    suite("-k", "pinned", "--ratecheck-pin").assert_outcomes(passed=1)
    assert load_pin(pin).replicates == SIZE["replicates"]


def test_a_bad_option_is_refused(suite):
    found = suite("--ratecheck-budget=soon")
    assert found.ret == pytest.ExitCode.USAGE_ERROR
    found.stderr.fnmatch_lines(["*--ratecheck-budget*"])


def test_on_two_workers(suite, pytester):
    """The same seed as on none; the pin goes where it would."""
    options = ("-n", "2", "-k", "fails or pinned")
    found = pytester.runpytest_inprocess("-p", "no:cacheprovider", "-p", "no:hypothesispytest", *options)
    found.assert_outcomes(passed=1, failed=1)
    seed = _seed_of("test_rates.py::test_fails")
    found.stdout.fnmatch_lines(["*gw*", "*RateRefuted: *Slower*grows faster than T^0.5*", f"*again *seed={seed}"])
    assert load_pin(pytester.path / "rates" / "nearer.json").replicates == SIZE["replicates"]


def test_the_plugin_imports_nothing():
    code = "import sys, ratecheck.pytest_plugin; print(*sorted({'numpy', 'numba', 'pandas'} & set(sys.modules)))"
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert done.stdout.strip() == ""


def test_an_unrelated_suite_pays_nothing(tmp_path):
    (tmp_path / "test_other.py").write_text("def test_nothing():\n    pass\n")
    code = (
        "import sys, pytest; status = pytest.main(['--co', '-q', '-p', 'no:cacheprovider']);"
        "loaded = {'numpy', 'numba', 'pandas', 'scipy', 'matplotlib', 'function_zoo'} & set(sys.modules);"
        "print('loaded', 'ratecheck.pytest_plugin' in sys.modules, *sorted(loaded)); sys.exit(status)"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True, cwd=tmp_path)
    assert done.stdout.splitlines()[-1] == "loaded True"


def test_a_rate_is_judged_against_the_predicted_curve_where_there_is_one(monkeypatch):
    from ratecheck.verdict import judging

    judged = []

    def premature(case, *others):
        judged.append(case)
        return ""

    monkeypatch.setattr(judging, "premature", premature)
    horizons = [2**k for k in range(8, 14)]
    assert_rate(rc.UniformBins(), zoo.get("cone", dim=1), horizons=horizons, replicates=32, tolerance=0.2)
    curve = judged[-1].curve
    assert curve is not None, "the predicted curve was computed and thrown away"
    assert curve.horizons[0] <= horizons[0]
    assert curve.horizons[-1] >= horizons[-1]
