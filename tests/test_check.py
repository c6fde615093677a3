"""rc.check: what is meant, what a time budget allows, and what a check says."""

import functools
import math
import signal
from dataclasses import replace

import numpy as np
import pytest

import function_zoo as zoo
import ratecheck as rc
from ratecheck.check import run as checking
from ratecheck.check.budget import ENOUGH, FEW, MOST, Pace, Planner, pilot, seconds_of
from ratecheck.check.meaning import as_algorithm, as_claim, as_cost
from ratecheck.claims import Claim
from ratecheck.engine import simulate as engine
from ratecheck.engine.simulate import Job, Limit, finished
from tests.strategies import ExploreThenCommit, RandomSearch

HORIZONS = [32, 64, 128, 256, 512]


class Search:
    """Uniform queries, without a horizon: its regret is linear."""

    def __init__(self, lower, upper, rng):
        self.lower, self.upper, self.rng = lower, upper, rng

    def ask(self):
        return self.rng.uniform(self.lower, self.upper)

    def tell(self, x, y):
        pass


def distance(x):
    return abs(x - 0.3)


@functools.cache
def checked(rate="sqrt(T)"):
    return rc.check(Search, distance, rate, box=(-1, 1), horizons=HORIZONS, replicates=16, quiet=True)


# The answer


def test_linear_regret_is_refuted_and_says_so():
    found = checked()
    assert found.verdict.name == "REFUTED"
    assert not found.passed
    assert found.forceful
    assert found.control.verdict.name == "REFUTED"
    assert found.algorithm.anytime
    lines = str(found).splitlines()
    assert lines[0].startswith("REFUTED: the regret of Search on distance, d = 1, grows at most like T^0.5")
    assert max(map(len, lines)) <= 80
    assert len(lines) <= 15
    assert "searched for" in str(found)
    html = found._repr_html_()
    assert html.startswith("<table")
    assert "REFUTED" in html
    with pytest.raises(TypeError, match="three answers"):
        bool(found)


def test_given_horizons_and_replicates_determine_everything():
    again = rc.check(Search, distance, "sqrt(T)", box=(-1, 1), horizons=HORIZONS, replicates=16, quiet=True, workers=1)
    assert again.runs.frame.equals(checked().runs.frame)
    assert again.verdict.reason == checked().verdict.reason
    simulated = rc.simulate(rc.AskTell(Search), checked().cost, HORIZONS, 16)
    assert simulated.frame.equals(again.runs.frame)


def test_the_true_rate_is_consistent():
    found = rc.check(
        Search, distance, "T", box=(-1, 1), horizons=[2**k for k in range(6, 12)], replicates=32, quiet=True
    )
    # the slope is 1 with a standard error below 0.01, and the margin 0.05: five of them
    assert found.passed, found


def test_a_report_is_written_as_a_whole(tmp_path):
    page = checked().report(tmp_path / "new")
    text = page.read_text()
    assert "REFUTED" in text
    assert "replicates=16" in text
    names = {path.name for path in page.parent.rglob("*") if path.is_file()}
    assert names == {"report.md", "runs.csv", "fit.png", "runs.png"}
    assert checked().plot().axes
    assert checked().report(tmp_path / "new") == page
    page.write_text("a page of somebody else")
    with pytest.raises(ValueError, match=r"no report of a check.*another folder"):
        checked().report(tmp_path / "new")
    assert page.read_text() == "a page of somebody else"


def test_built_in_algorithms_are_compared_with_their_curve():
    found = rc.check("uniform", "cone", dim=1, horizons=[2**k for k in range(8, 17)], replicates=8, quiet=True)
    assert found.claim.theorem == "Theorem 1"
    assert found.agreement is not None
    assert "predicted curve" in str(found)
    assert not found.algorithm.anytime


def test_a_plugin_that_is_not_deterministic_is_named():
    counted = iter(range(10**9))

    class Counting(Search):
        def ask(self):
            next(counted)
            return self.lower + (self.upper - self.lower) * (next(counted) % 997) / 997

    found = rc.check(Counting, distance, "T", box=(-1, 1), horizons=HORIZONS, replicates=4, quiet=True, workers=1)
    assert any("not deterministic" in caution for caution in found.cautions)


def test_a_lower_value_starts_the_search_anew(monkeypatch):
    real = zoo.cost

    def careless(*arguments, **options):
        return replace(real(*arguments, **options), minimum=0.2, minimisers=[[0.5]])

    monkeypatch.setattr(zoo, "cost", careless)
    found = rc.check(Search, distance, "T", box=(-1, 1), horizons=HORIZONS, replicates=4, quiet=True)
    assert found.cost.minimum == pytest.approx(0.0, abs=1e-9)
    assert "beyond the minimum that was searched for" in found.cautions[0]


def test_a_slope_without_its_logarithm_is_not_taken_for_the_growth_of_regret():
    said = " ".join(str(checked("sqrt(T) ln T")).split())
    # R itself grows like T, with a standard error of about 0.01; the claim's ln T is worth 0.2 of it
    pure = checked().fit.slope
    assert f"is that of R / (ln T)^1, as the claim has it; R alone grows like T^{pure:.3f}" in said
    control = checked("sqrt(T) ln T").control
    assert f"tilted to T^{round(control.slope, 3):.4g} (ln T)^1, come out {control.verdict.name}" in said
    assert "R alone" not in str(checked())
    assert not any(line.endswith(("(ln", " =")) for line in str(checked("sqrt(T) ln T")).splitlines())


@pytest.mark.parametrize("options", [{"minimum": -0.5}, {"maximise": True, "maximum": 2.0}])
def test_a_minimum_that_nothing_reaches_is_named(options):
    options = {"box": (-1, 1), "horizons": HORIZONS, "replicates": 3, "quiet": True} | options
    found = rc.check(Search, distance, "T", **options)
    assert any("a short search found nothing beyond" in caution for caution in found.cautions)
    right = {"minimum": 0.0} if "minimum" in options else {"maximum": 1.3}
    found = rc.check(Search, distance, "T", **options | right)
    assert not any("a short search" in caution for caution in found.cautions)


def test_compiled_algorithms_hear_rewards_and_have_no_partition():
    told = np.zeros(2)
    compiled = rc.Compiled(lambda dim, lower, upper, horizon, rng: np.zeros(2), middle, remember, anytime=True)
    for maximise in (False, True):
        cost = zoo.cost(distance, -1, 1, **{"maximum" if maximise else "minimum": 1.3 * maximise}, maximise=maximise)
        run, _ = engine.begin(compiled, cost, horizon=10, replicate=0, noise=rc.Gaussian(0.0))
        run.advance(10)
        told[int(maximise)] = run.memory[0]
    assert told.tolist() == pytest.approx([3.0, 3.0])  # ten times f(0) = 0.3, a cost and a reward
    found = rc.check(compiled, "cone", "T", dim=1, maximise=True, horizons=HORIZONS, replicates=3, quiet=True)
    assert found.cost.maximise
    found = rc.check(compiled, distance, "T", box=(-1, 1), horizons=HORIZONS, replicates=3, quiet=True)
    assert not any("partition" in caution for caution in found.cautions)


def middle(state, t, rng, x):
    x[0] = 0.0


def remember(state, t, x, y):
    state[0] += y


# What is meant


def test_algorithms_costs_and_rates_from_what_people_give():
    assert as_algorithm(Search).anytime
    assert not as_algorithm(ExploreThenCommit).anytime
    assert as_algorithm(rc.AskTell(Search), anytime=False).anytime is False
    assert as_algorithm("adaptive") == rc.AdaptiveBins()
    assert as_algorithm(rc.HOO) == rc.HOO()
    cost = as_cost(lambda x: abs(x[0]) + x[1] ** 2, [(-1, 1), (-2, 3)], minimum=0.0)
    assert cost.lower.tolist() == [-1, -2]
    assert cost.upper.tolist() == [1, 3]
    assert as_cost("cone", dim=3).dim == 3
    algorithm = as_algorithm(Search)
    mine = rc.Theorem.of("mine", "T^(2/3)")
    for rate in ("T^(2/3)", rc.Rate.of_regret(2 / 3), mine, lambda constants, dim: rc.Rate.of_regret(2 / 3)):
        assert as_claim(rate, None, algorithm, cost).rate.slope == pytest.approx(2 / 3)
    by_constants = rc.Theorem("mine", "upper", "it grows", lambda constants, dim: rc.Rate(constants.alpha / (2 + dim)))
    assert as_claim(by_constants, None, algorithm, as_cost("cone", dim=2)).rate.exponent == 0.25
    assert as_claim(None, None, rc.UniformBins(), as_cost("cone")).theorem == "Theorem 1"
    assert as_claim(rc.theorem3, None, algorithm, as_cost("cone")).kind == "lower"


@pytest.mark.parametrize(
    ("arguments", "options", "words"),
    [
        ((Search([0], [1], None), distance, "T"), {}, "give its class"),
        ((object, distance, "T"), {}, "has no ask and tell"),
        (("adaptve", distance, "T"), {}, "did you mean adaptive"),
        ((3, distance, "T"), {}, "class with ask and tell"),
        ((rc.Compiled, distance, "T"), {}, r"give Compiled\(\.\.\.\)"),
        ((rc.AskTell, distance, "T"), {}, r"give AskTell\(\.\.\.\)"),
        ((Search, "cne", "T"), {"box": None}, "did you mean 'cone'"),
        ((Search, distance, "T"), {"box": None}, "give box="),
        ((Search, distance, "T"), {"box": (1, 2, 3)}, "must be a pair"),
        ((Search, "cone", "T"), {}, "has its own"),
        ((Search, distance), {}, "claims no rate"),
        ((Search, distance, 0.5), {}, r"Rate\.of_regret\(0\.5\)"),
        ((Search, distance, "T^"), {}, "exponent is expected"),
        ((Search, distance, rc.theorem1), {}, "needs alpha and beta"),
        ((Search, distance, "T", "both"), {}, "'upper' or 'lower'"),
        ((Search, distance, "T"), {"budget": "soon"}, "must be a time"),
        ((Search, distance, "T"), {"horizons": [1, 2, 3]}, "first 3 or larger"),
        ((Search, distance, "T"), {"horizons": [8, 16, 32], "replicates": 4, "budget": 3}, "leave one of them out"),
        ((rc.AdaptiveBins(alpha=1, mu=1), distance, "T"), {"anytime": False}, "is anytime"),
        ((Search, distance, "T"), {"margin": -1}, "must not be negative"),
    ],
)
def test_mistakes_get_a_sentence_before_anything_runs(arguments, options, words):
    with pytest.raises(ValueError, match=words) as caught:
        rc.check(*arguments, **{"box": (-1, 1), "quiet": True} | options)
    assert "\n" not in str(caught.value)


# Time


@pytest.mark.parametrize(
    ("given", "seconds"),
    [("2 min", 120), ("30 s", 30), (90, 90), ("1h", 3600), ("1h 30min", 5400), ("1.5 minutes", 90)],
)
def test_durations(given, seconds):
    assert seconds_of(given) == seconds


def clocked(per_step, power):
    """A job whose run to T takes per_step T^power seconds of a clock, and that clock."""
    clock = [0.0]

    class Timed(Search):
        t = 0

        def ask(self):
            self.t += 1
            clock[0] += per_step * (self.t**power - (self.t - 1) ** power)
            return super().ask()

    cost = zoo.cost(distance, -1, 1, minimum=0.0)
    return Job(rc.AskTell(Timed), cost), lambda: clock[0]


@pytest.mark.parametrize(("power", "each"), [(1.0, 1e-3), (2.0, 1e-4), (3.0, 1e-6), (3.0, 1e-3)])
def test_the_pilot_finds_how_time_grows(power, each):
    job, clock = clocked(each, power)
    pace = pilot(job, 3.0, 1, clock)
    assert pace.power == pytest.approx(power, abs=0.01)
    assert pace.seconds[-1] <= 3.0
    for horizon in (50, 10 * pace.horizons[-1]):
        assert pace(horizon) == pytest.approx(each * horizon**power, rel=0.1)


def planner(algorithm=Search):
    cost = zoo.cost(distance, -1, 1, minimum=0.0)
    job = Job(rc.AskTell(algorithm), cost)
    return Planner(job, Claim("mine", "", "upper", rc.Rate.of_regret(2 / 3)))


@pytest.mark.parametrize("algorithm", [Search, ExploreThenCommit])
def test_a_larger_budget_tells_more_and_no_plan_exceeds_its_own(algorithm):
    plans, pace = planner(algorithm), Pace((32, 64, 128), (32e-4, 64e-4, 128e-4))
    found = [plans.within(pace, seconds, workers=2) for seconds in (10, 60, 600)]
    for plan, seconds in zip(found, (10, 60, 600), strict=True):
        assert ENOUGH <= plan.replicates <= MOST
        assert plan.seconds <= seconds
        assert plan.seconds >= seconds / 4
    assert [plan.horizons[-1] for plan in found] == sorted({plan.horizons[-1] for plan in found})
    assert found[-1].worth < found[0].worth
    assert "would be caught" in str(found[-1])


def test_what_is_given_is_kept_and_what_is_impossible_refused():
    plans, pace = planner(), Pace((32, 64, 128), (3.2, 6.4, 12.8))  # a tenth of a second per step
    with pytest.raises(ValueError, match=r"a budget of 60 s is too short: .* budget = '.*' allows 32 runs"):
        plans.within(pace, 60, workers=2)
    assert plans.within(pace, 7200, workers=2).replicates >= FEW
    fast = Pace((32, 64, 128), (32e-5, 64e-5, 128e-5))
    assert plans.within(fast, 60, workers=2, replicates=50).replicates == 50
    assert plans.within(fast, 60, workers=2, horizons=(64, 128, 256)).horizons == (64, 128, 256)
    assert plans.within(fast, 60, workers=2).workers == 2
    assert plans.within(replace(fast, load=10.0), 20, workers=2).workers == 1  # processes would take longer to start
    assert plans.gain(fast, 4) == 4
    assert plans.gain(replace(fast, load=3.0), 4) == 2  # what others leave of three more cores


def test_when_the_time_is_up_no_further_run_begins(monkeypatch):
    now = [0.0]
    monkeypatch.setattr(engine.time, "monotonic", lambda: now[0])

    class Slow(Search):
        def ask(self):
            now[0] += 0.1  # seconds
            return super().ask()

    job = Job(rc.AskTell(Slow), zoo.cost(distance, -1, 1, minimum=0.0))
    units = job.units([10, 20], range(100))
    assert len(dict(finished(job, units, workers=1, limit=Limit(11.0, 50.0)))) == 6  # two seconds each
    now[0] = 0.0
    assert len(dict(finished(job, units, workers=1, limit=Limit(11.0, 9.0)))) == 4  # and nobody waits for the fifth
    assert math.isinf(Limit().seconds)


class Hanging(Search):
    """For ever, as far as anybody waits."""

    def ask(self):
        while True:
            try:
                sum(range(1000))
            except Exception:  # swallowed, as careless code does
                continue


@pytest.mark.skipif(not hasattr(signal, "setitimer"), reason="there are no timers here")
def test_what_hangs_is_ended():
    before = signal.getsignal(signal.SIGALRM)
    with pytest.raises(ValueError, match=r"Hanging did not come to the end of its first short runs in .* it hangs"):
        rc.check(Hanging, distance, "T", box=(-1, 1), minimum=0.0, budget=0.1, quiet=True)
    job = Job(rc.AskTell(Hanging), zoo.cost(distance, -1, 1, minimum=0.0))
    assert not dict(finished(job, job.units([10], range(3)), workers=1, limit=Limit(0.1, 0.1)))
    assert signal.getsignal(signal.SIGALRM) == before
    assert signal.getitimer(signal.ITIMER_REAL)[0] == 0.0


def test_a_compiler_leaves_half_of_the_budget_to_runs(monkeypatch, capsys):
    """However long it takes until the pilot ends: there are runs, and where the time went is said."""
    late = [0.0]
    clock = engine.time.monotonic
    monkeypatch.setattr(engine.time, "monotonic", lambda: clock() + late[0])

    def slowly(*arguments):
        late[0] += 1000.0
        return pilot(*arguments)

    monkeypatch.setattr(checking, "pilot", slowly)
    found = rc.check(rc.UniformBins(), "cone", dim=1, budget=30, horizons=HORIZONS)
    assert "what must be compiled, once, comes on top" in capsys.readouterr().err
    assert found.runs.frame["replicate"].nunique() >= FEW
    assert any("to compile, which is kept" in caution for caution in found.cautions)


def test_processes_give_the_same_bits(monkeypatch):
    monkeypatch.setattr(engine, "ALONE", 0.0)  # at once
    algorithm, cost = rc.AskTell(RandomSearch), zoo.cost(lambda x: abs(x - 0.3), -1, 1, minimum=0.0)
    two, one = (rc.simulate(algorithm, cost, [50, 100], 6, workers=workers).frame for workers in (2, 1))
    assert two.equals(one)
