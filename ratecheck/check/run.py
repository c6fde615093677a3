"""One call for an algorithm, a cost and a rate: run, fit, judge."""

from __future__ import annotations

import math
import re
import shutil
import sys
import textwrap
import time
import warnings
from collections.abc import Iterable
from dataclasses import dataclass, field, replace
from functools import cached_property
from numbers import Real
from typing import TYPE_CHECKING, NamedTuple

import numpy as np

import function_zoo as zoo
from function_zoo import Cost
from function_zoo.own import lowered, reached

from ..algorithms.asktell import AskTell
from ..algorithms.protocol import check_algorithm
from ..algorithms.registry import ENTRIES, named
from ..algorithms.run import LowerValue
from ..arguments import MOST_REPLICATES, MOST_WORKERS, available_cores, check_horizons, shown, whole
from ..claims import Claim, Theorem
from ..display import Speaking
from ..engine.simulate import STANDARD, Job, Limit, Overdue, Runs, begin, check_cost, ending, finished, gathered
from ..executors.progress import Progress, speak
from ..fit.fit import Fit, fit_rate
from ..fit.log_means import FitError
from ..rates import Rate
from ..sampling.noise import Gaussian, Noise, check_noise
from ..verdict.analyse import held_back, irrefutable, premature
from ..verdict.rules import LEVEL, MARGIN, RESOLUTION, Outcome, Verdict, check_rule, decide, verdict
from .budget import PILOT, Plan, Planner, duration, pilot, seconds_of

if TYPE_CHECKING:
    from pathlib import Path

    from ..verdict.agreement import Agreement

OVERRUN = 1.5  # times the budget: then nobody waits any more
LEAST = 0.5  # of the budget that runs get, whatever the pilot and the compiler took
ANEW = 3  # times at most that a search for the minimum goes on from a lower value
COMPARED = 32  # runs that are compared with the predicted curve
MOST_CELLS = 1e5  # of a prediction that takes a moment
REPEATED = 16  # steps that are made twice
MUCH = 0.1  # of a regret that a wrong minimum may make
SOME = 100  # steps of a run whose cells are looked at
WIDTH, NO_BREAK = 80, "\N{NO-BREAK SPACE}"


class Control(NamedTuple):
    """The same runs, had they grown like T^slope, and the verdict on them."""

    slope: float
    verdict: Verdict


@dataclass(frozen=True, repr=False)
class Check(Speaking):
    """What a check found: `print` it, or look at its parts.

    `verdict` is the answer; `fit`, `runs`, `rate`, `claim`, `cost` and `algorithm` are what it rests on; `plan` has
    horizons, replicates and the forecast; `control` is the negative control: the same runs, tilted to the smallest
    growth that should have been caught, must be REFUTED.  `agreement` compares runs with the predicted curve, where
    there is one.  `passed` is True for CONSISTENT alone.  See `check`.
    """

    verdict: Verdict
    claim: Claim
    algorithm: object
    cost: Cost
    runs: Runs | None
    fit: Fit | None
    plan: Plan
    control: Control | None
    agreement: Agreement | None
    seconds: float
    budget: float | None  # seconds, None where horizons and replicates were given
    cautions: tuple[str, ...] = field(default=())

    @property
    def rate(self) -> Rate:
        return self.claim.rate

    @property
    def passed(self) -> bool:
        return self.verdict.name == Outcome.CONSISTENT

    def __bool__(self):
        raise TypeError("a check has three answers: ask check.passed, or check.verdict.name for which")

    @property
    def forceful(self) -> bool:
        """Whether the negative control was refuted, so that the verdict could have come out otherwise."""
        return self.control is not None and self.control.verdict.name == Outcome.REFUTED

    def plot(self, background=None):
        """The means, the fitted line and the shape of the promised rate: a Matplotlib figure.

        `background`, the folder of a study, adds its mean curves in grey: those of the same cost, if it has them.
        """
        if self.fit is None:
            if self.runs is None:
                raise ValueError(f"there is nothing to draw: {self.verdict.reason}")
            return self.runs.plot()
        from ..figures.backdrop import backdrop_of

        behind = backdrop_of(background).behind(str(self.cost), self.cost.name, self.cost.dim)
        return self.fit.plot(self.rate, background=behind)

    def report(self, folder, background=None) -> Path:
        """Write report.md, figures and runs.csv into a folder, all of them or none; returns the page.

        `background` is that of `plot`.
        """
        from ..report.check_page import write_check

        return write_check(self, folder, background)

    # What it says

    @cached_property
    def headline(self) -> str:
        """The answer in one sentence."""
        grows = "at most" if self.claim.kind == "upper" else "at least"
        where = f"{self.cost.name}, d = {self.cost.dim},"
        claim = f"the regret of {self.algorithm.label} on {where} grows {grows} like {_shape(self.rate)}"
        if self.verdict.name != Outcome.INCONCLUSIVE and not self.forceful:
            return f"{self.verdict.name}, but without force: {claim}"
        return f"{self.verdict.name}: {claim}"

    def _title(self):
        return "Check"

    def _facts(self):
        facts = {"verdict": self.headline}
        if self.verdict.name != Outcome.INCONCLUSIVE and not self.forceful:
            facts["no force"] = f"{self._controlled()}, so that this verdict says little"
        facts["because"] = self.verdict.reason
        if self.fit is not None and self.rate.log_power:
            facts["slope"] = self._slope()
        if self.forceful:
            facts["control"] = self._controlled()
        if self.runs is not None:
            facts["runs"] = self._runs()
            facts["noise"] = self._noise()
        if self.agreement is not None:
            facts["theory"] = f"agreement with the predicted curve: {self.agreement}"
        facts["caution"] = "; ".join(self.cautions) or "none"
        facts["time"] = self._time()
        return facts

    def _slope(self) -> str:
        """What a slope is worth that does not hold the logarithm: nobody is to take it for the growth of R."""
        pure, log = self.fit.at(0.0), _shape(Rate.of_regret(0.0, self.rate.log_power)).removeprefix("T^0 ")
        return (
            f"is that of R / {log}, as the claim has it; R alone grows like "
            f"T^{pure.slope:.3f} [{pure.low:.3f}, {pure.high:.3f}] over these T"
        )

    def _controlled(self) -> str:
        if self.control is None:
            return "no growth of these runs would have been REFUTED"
        must = "as it must be" if self.forceful else "and should be REFUTED"
        shape = _shape(Rate.of_regret(round(self.control.slope, 3), self.rate.log_power))
        return f"the same runs, tilted to {shape}, come out {self.control.verdict.name}, {must}"

    def _runs(self) -> str:
        frame = self.runs.frame
        T = sorted(frame["horizon"].unique())
        window = ""
        if self.fit is not None and (used := self.fit.data.horizons)[0] > T[0]:
            window = f", fitted from {used[0]:.7g} on"
        once = "each seen at every horizon"
        if not self.algorithm.anytime:
            once = "new ones at every horizon, which it asks for"
        return f"{frame['replicate'].nunique()}, {once}: T = {T[0]} ... {T[-1]}, {len(T)} horizons{window}"

    def _noise(self) -> str:
        last = self.runs.frame[self.runs.frame["horizon"] == self.runs.frame["horizon"].max()]["regret"]
        scatter = f"{100 * last.std() / last.mean():.0f} %" if len(last) > 1 and last.mean() > 0 else "unknown"
        shared = self.runs.shared
        return f"{shared['noise']}, seed {shared['seed']}; single runs scatter by {scatter} at T_max"

    def _time(self) -> str:
        if self.budget is None:
            return duration(self.seconds)
        return f"{duration(self.seconds)} of {duration(self.budget)}; {duration(self.plan.seconds)} were forecast"

    def __str__(self):
        facts = self._facts()
        width = min(WIDTH, shutil.get_terminal_size((WIDTH, 24)).columns)
        lines = _wrapped(facts.pop("verdict"), width, "", "  ")
        for name, value in facts.items():
            if name != "caution" or value != "none":
                lines += _wrapped(str(value), width, f"{name:8}  ", " " * 10)
        return "\n".join(lines)

    def __repr__(self):
        return f"<Check {self.headline}>"


def _wrapped(text, width, first, others) -> list[str]:
    """Lines of a text in which no formula is broken."""
    whole = re.sub(r"\(ln T\)|\S+ = \S+", lambda found: found[0].replace(" ", NO_BREAK), " ".join(text.split()))
    lines = textwrap.wrap(whole, width, initial_indent=first, subsequent_indent=others, break_long_words=False)
    return [line.replace(NO_BREAK, " ") for line in lines]


def check(
    algorithm,
    cost,
    rate=None,
    kind: str | None = None,
    *,
    budget: float | str | None = None,
    horizons=None,
    replicates: int | None = None,
    seed: int = 0,
    noise: Noise | float = STANDARD,
    anytime: bool | None = None,
    maximise: bool | None = None,
    workers: int | None = None,
    margin: float = MARGIN,
    resolution: float = RESOLUTION,
    box=None,
    dim: int | None = None,
    minimum: float | None = None,
    maximum: float | None = None,
    quiet: bool = False,
) -> Check:
    """Does this algorithm, on this cost, converge at this rate?  Run, fit and judge: a `Check`.

    algorithm   a class (or another factory) of objects with ask() -> x and tell(x, y), made with those of dim, lower,
                upper, horizon, rng, seed, sigma that its parameters name; an AskTell, which says more about them; a
                Compiled; or an algorithm of ratecheck ("adaptive", UniformBins(), ...).
    cost        a Cost, a family of the zoo ("cone", with `dim`), or a function with `box`: (low, high), then with `dim`
                unless it is 1, or such a pair for each coordinate.  A minimum that is not given is searched for.
    rate        a text ("T^(2/3) (ln T)^(1/3)"), a Rate, a Theorem, or a function of (constants, dim) that returns a
                Rate; None: what the algorithm claims itself.  `kind` "upper" (the default) or "lower".
    budget      "1 min" (the default), "30 s", 90, ...: horizons and replicates follow from a measured pilot, so that
                they tell as much as they can in that time.  They may be given instead, one of them or both; with both
                the result depends on nothing else.
    noise       a law, such as Gaussian(0.5), or a standard deviation.
    anytime     that one run serves all horizons; by default it does unless the class asks for `horizon`.
    maximise    tell is given rewards; a function that is given as the cost is one, and `maximum` its largest value.
    quiet       say nothing meanwhile.
    """
    begun = time.monotonic()
    job, claim, cautions = settled(
        algorithm, cost, rate, kind, anytime, maximise, box, dim, minimum, maximum, noise, seed
    )
    workers = available_cores() if workers is None else whole("workers", workers, 1, MOST_WORKERS)
    horizons = None if horizons is None else tuple(check_horizons(horizons))
    if horizons is not None and (len(horizons) < 3 or horizons[0] < 3):
        raise ValueError(f"horizons = {shown(list(horizons))}: a slope needs three of them, the first 3 or larger")
    replicates = None if replicates is None else whole("replicates", replicates, 3, MOST_REPLICATES)
    fixed = horizons is not None and replicates is not None
    if fixed and budget is not None:
        raise ValueError("budget, horizons and replicates are given; leave one of them out")
    seconds = None if fixed else seconds_of("1 min" if budget is None else budget)
    rules = {"margin": margin, "resolution": resolution}
    check_rule(claim.rate, claim.kind, margin, LEVEL, resolution, None)
    say = (lambda _: None) if quiet else speak
    for attempt in range(ANEW + 1):
        left = None if fixed else max(seconds - (time.monotonic() - begun), seconds / 2)
        try:
            plan, runs, remarks = _run(job, claim, margin, horizons, replicates, left, workers, say, quiet)
            break
        except LowerValue as found:
            if job.cost.searched is None or attempt == ANEW:
                raise
            job = replace(job, cost=lowered(job.cost, found.x, found.y))
            end, best = ("maximum", -job.cost.minimum) if job.cost.maximise else ("minimum", job.cost.minimum)
            cautions.append(f"a run went beyond the {end} that was searched for: it is taken for {best:.8g} now")
            say(cautions[-1] + "; starting anew")
    return _judged(job, claim, plan, runs, rules, seconds, begun, cautions + remarks)


# What is meant


def settled(algorithm, cost, rate, kind, anytime, maximise, box, dim, minimum, maximum, noise, seed):
    """The job and the claim, and what to say about them."""
    if not (maximise is None or isinstance(maximise, bool)):
        raise ValueError(f"maximise = {shown(maximise)} must be True, False or None")
    cautions = []
    algorithm = as_algorithm(algorithm, anytime, None)
    cost = as_cost(cost, box, dim, minimum, maximum, bool(maximise))
    if maximise is not None and maximise != cost.maximise:
        if isinstance(algorithm, AskTell):
            algorithm = replace(algorithm, maximise=maximise)
        else:
            cost = replace(cost, maximise=maximise)
    if isinstance(noise, Real) and not isinstance(noise, bool):
        noise = Gaussian(noise)
    check_noise(noise)
    seed = whole("seed", seed, 0)
    algorithm = algorithm.settle(cost)
    claim = as_claim(rate, kind, algorithm, cost)
    job = Job(algorithm, cost, seed, noise, _alignment(algorithm, cost))
    if job.alignment == "fixed":
        cautions.append("the partition starts at the corner of the box, beyond which the cost is not known")
    if claim.violated:
        cautions.append(f"{claim.theorem} promises nothing here: {'; '.join(map(str, claim.violated))}")
    return job, claim, cautions


def _alignment(algorithm, cost) -> str:
    """Random, unless the algorithm has cells that would leave the region where the cost is known."""
    if algorithm.length(cost, SOME, 0.0) and not cost.margin:
        return "fixed"
    return "random"


def as_algorithm(given, anytime=None, maximise=None):
    """An algorithm from what people give for one."""
    if isinstance(given, str):
        given = named(given).load()()
    if isinstance(given, type) and given.__name__ in {entry.cls for entry in ENTRIES} and hasattr(given, "claims"):
        try:
            given = given()
        except TypeError as error:
            raise ValueError(
                f"algorithm = {given.__name__} is a class of ratecheck's that lacks what it is made of "
                f"({error}); give {given.__name__}(...)"
            ) from None
    if isinstance(given, AskTell):
        options = {"anytime": anytime, "maximise": maximise}
        return replace(given, **{name: value for name, value in options.items() if value is not None})
    if hasattr(given, "settle") and not isinstance(given, type):
        check_algorithm(given)
        if anytime is not None and anytime != given.anytime:
            raise ValueError(f"anytime = {anytime}, but {given.label} is {'' if given.anytime else 'not '}anytime")
        return given
    if not isinstance(given, type) and hasattr(given, "ask") and hasattr(given, "tell"):
        raise ValueError(
            f"algorithm = {shown(given)} is an object that has begun; give its class, so that every run gets a new one"
        )
    if isinstance(given, type) and not (hasattr(given, "ask") and hasattr(given, "tell")):
        lacks = " and ".join(name for name in ("ask", "tell") if not hasattr(given, name))
        raise ValueError(f"algorithm = {given.__name__} has no {lacks}; a class needs ask() -> x and tell(x, y)")
    if not callable(given):
        known = ", ".join(entry.name for entry in ENTRIES if entry.name)
        raise ValueError(f"algorithm = {shown(given)} is none; give a class with ask and tell, or one of {known}")
    return AskTell(given, anytime, None, maximise)


def as_cost(given, box=None, dim=None, minimum=None, maximum=None, maximise=False) -> Cost:
    """A cost from what people give for one."""
    if isinstance(given, str | Cost):
        for name, value in (("box", box), ("minimum", minimum), ("maximum", maximum)):
            if value is not None:
                raise ValueError(f"{name} is given, but {shown(str(given))} has its own")
        if isinstance(given, str):
            return zoo.get(given, dim)
        if dim is not None and dim != given.dim:
            raise ValueError(f"dim = {shown(dim)}, but {given} has {given.dim}")
        return given
    if not callable(given):
        raise ValueError(f"cost = {shown(given)} is none; give a Cost, the name of a family of the zoo, or a function")
    if box is None:
        raise ValueError(
            "cost is a function: give box=(low, high), with dim=... unless it is 1, or such a pair for each coordinate"
        )
    lower, upper = _ends(box)
    return zoo.cost(given, lower, upper, minimum, dim=dim, maximum=maximum, maximise=maximise)


def _ends(box):
    """The lower and the upper ends of a box that is a pair, or a list of pairs."""
    try:
        pairs = np.asarray(box, dtype=float)
    except (TypeError, ValueError):
        pairs = np.empty(0)
    if pairs.shape == (2,):
        return float(pairs[0]), float(pairs[1])
    if pairs.ndim != 2 or pairs.shape[1] != 2 or not len(pairs):
        raise ValueError(f"box = {shown(box)} must be a pair (low, high), or such a pair for each coordinate")
    return pairs[:, 0], pairs[:, 1]


def as_claim(rate, kind, algorithm, cost) -> Claim:
    """What is to be judged, from what people give for a rate."""
    if kind not in (None, "upper", "lower"):
        raise ValueError(f"kind = {shown(kind)} must be 'upper' or 'lower'")
    if rate is None:
        claims = [claim for claim in algorithm.claims(cost) if claim.per_cost]
        if not claims:
            raise ValueError(f"{algorithm.label} claims no rate on {cost}; give rate='T^(2/3) (ln T)^(1/3)', say")
        claim = claims[0]
    elif isinstance(rate, Theorem):
        claim = rate.claim(cost.constants, cost.dim, **algorithm.settings(cost))
    else:
        claim = Claim("the promise", "", kind or "upper", _rate(rate, cost))
    if kind is not None and kind != claim.kind:
        raise ValueError(f"kind = {kind!r}, but {claim.theorem} is a bound of the kind {claim.kind!r}; leave it out")
    return claim


def _rate(given, cost) -> Rate:
    if isinstance(given, str):
        given = Rate.parse(given)
    if callable(given) and not isinstance(given, Rate):
        try:
            given = given(cost.constants, cost.dim)
        except Exception as error:
            cost.constants.need("the rate, a function of (constants, dim),", "alpha", "beta")
            raise ValueError(
                f"rate is a function, which takes no (constants, dim) of {cost} ({type(error).__name__}: {error})"
            ) from error
        given = Rate.parse(given) if isinstance(given, str) else given
    if not isinstance(given, Rate):
        hint = f"; Rate.of_regret({given:g}) is R = T^{given:g}" if isinstance(given, Real) else ""
        raise ValueError(
            f"rate = {shown(given)} must be a text such as 'T^(2/3) (ln T)^(1/3)', a Rate, a Theorem or a function of "
            f"(constants, dim){hint}"
        )
    return given


def _shape(rate: Rate) -> str:
    return str(rate).removeprefix("R = ")


# Running


def _run(job, claim, margin, horizons, replicates, seconds, workers, say, quiet):
    """The plan, the runs that are complete, and what to say about them."""
    begun = time.monotonic()

    def left():
        """Seconds of the budget; half of it at least, for what is compiled once must not leave nothing for runs."""
        return max(seconds - (time.monotonic() - begun), LEAST * seconds)

    if seconds is not None:
        compiling = "; what must be compiled, once, comes on top" if job.algorithm.compiled else ""
        say(f"a pilot of {job.algorithm.label} on {job.cost}, to see what {duration(seconds)} allow{compiling}")
    planner = Planner(job, claim, margin)
    try:
        with ending(job, seconds):
            remark = _tried(job, horizons or ())
            pace = pilot(job, 0.0, 1) if seconds is None else pilot(job, PILOT * seconds, workers)
    except Overdue:
        raise ValueError(
            f"{job.algorithm.label} did not come to the end of its first short runs in {duration(seconds)}: it hangs, "
            "or it needs a larger budget"
        ) from None
    if seconds is None:
        forecast = replicates * planner.each(pace, horizons) / workers
        plan = planner.plan(horizons, replicates, seconds=forecast, workers=workers)
        limit = Limit()
    else:
        plan = planner.within(pace, left(), workers, horizons, replicates, seconds)
        prepared = time.monotonic() - begun
        plan = replace(plan, seconds=plan.seconds + prepared)
        if job.algorithm.compiled and prepared > LEAST * seconds:
            remark.append(f"{duration(prepared)} went by before the first run, most of them to compile, which is kept")
        limit = Limit(left(), left() + (OVERRUN - 1) * seconds)
    say(f"plan: {plan}")
    found = _collected(job, job.units(plan.horizons, range(plan.replicates)), plan.workers, limit, pace, quiet)
    complete = [units for r in range(plan.replicates) if found.keys() >= set(units := job.units(plan.horizons, [r]))]
    if not complete:
        raise ValueError(
            f"no run up to T = {plan.horizons[-1]} was complete after {duration(time.monotonic() - begun)}; give a "
            "larger budget, or shorter horizons"
        )
    cut = []
    if len(complete) < plan.replicates:
        cut = [f"{len(complete)} of {plan.replicates} planned runs were complete when the time was up"]
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", RuntimeWarning)
        return plan, gathered(job, [found[unit] for units in complete for unit in units]), [*cut, *remark]


def _tried(job, horizons) -> list[str]:
    """Whether cost and algorithm work at all, and with the same bits when a short run is made again."""
    check_cost(job.cost, job.algorithm.compiled)
    for horizon in horizons:
        job.algorithm.check(job.cost, horizon, job.alignment == "random")
    horizon = min([REPEATED, *horizons])
    runs = [begin(job.algorithm, job.cost, horizon, 0, job.seed, job.noise, job.alignment)[0] for _ in range(2)]
    for run in runs:
        run.advance(horizon)
    if runs[0].regret == runs[1].regret:
        return []
    return ["it is not deterministic: let it draw from the rng that it is given alone, or nobody can repeat this"]


class _Weight(NamedTuple):
    """What a bar of progress asks of a run."""

    seconds: float
    steps: int


def _collected(job, units, workers, limit, pace, quiet) -> dict:
    """What became of the runs that ended in time."""
    weights = {unit: _Weight(pace(unit[1][-1]), unit[1][-1]) for unit in units}
    progress = Progress([] if quiet else list(weights.values()), None if quiet else sys.stderr)
    typical = max(weights.values()).seconds
    together = max(1, min(len(units) // (4 * workers), int(0.5 / max(typical, 1e-6))))
    found = {}
    try:
        for unit, result in finished(job, units, workers, limit, together):
            if len(result[0]) == len(unit[1]):
                found[unit] = result
                progress.add(weights[unit])
            progress.show()
    finally:
        progress.close()
    return found


# Judging


def _judged(job, claim, plan, runs, rules, seconds, begun, cautions) -> Check:
    fit = None
    try:
        fit = fit_rate(runs, claim.rate.log_power, window=plan.case.window)
        problem = premature(plan.case, fit.at(0.0), rules["margin"]) or fit.problem
    except FitError as error:
        problem = str(error)
    if problem:
        judged, control = Verdict(Outcome.INCONCLUSIVE, problem, margin=rules["margin"]), None
    else:
        judged = verdict(fit, claim.rate, claim.kind, **rules)
        if why := irrefutable(claim):
            judged = held_back(judged, why)
        control = _control(fit, claim, judged, rules)
    if fit is not None:
        cautions = [*cautions, *_of_fit(fit, judged, problem)]
    cautions += _of_minimum(job.cost, runs)
    agreement = _agreement(job, runs)
    spent = time.monotonic() - begun
    return Check(
        judged, claim, job.algorithm, job.cost, runs, fit, plan, control, agreement, spent, seconds, tuple(cautions)
    )


def _control(fit, claim, judged, rules) -> Control | None:
    """The same runs, tilted by the smallest power of T with which they should be caught."""
    by = judged.evidence.catches(judged.error, of=judged.evidence.value)
    if by is None:
        return None
    at = fit.at(claim.rate.log_power)
    tilted = at.tilted(by if claim.kind == "upper" else -by)
    return Control(tilted.slope, decide(tilted, claim.rate, claim.kind, **rules))


def _of_fit(fit, judged, problem) -> Iterable[str]:
    if fit.caution:
        yield fit.caution
    share, slope = fit.unseen()
    if not fit.caution and abs(slope) > MARGIN:
        yield f"up to {100 * share:.0f} % of all runs may lock in unseen, which would move the slope by {slope:+.2f}"
    if judged.kind == "upper" and judged.catches is not None and judged.promised.slope < 1 < judged.limits[1]:
        yield "a regret that is linear throughout would not surely have been REFUTED: longer runs would tell more"
    if not problem and fit.curvature_p() < 0.05:
        first, last = (end.value for end in fit.straight()[2:])
        yield f"the line is bent: its slope is {first:.2f} at the first horizon and {last:.2f} at the last"


def _of_minimum(cost, runs) -> list[str]:
    """What a minimum may do to the regret that was searched for, or that nobody has seen."""
    last = runs.frame[runs.frame["horizon"] == runs.frame["horizon"].max()]
    mean = float(last["regret"].mean())
    sign, end = (-1, "maximum") if cost.maximise else (1, "minimum")
    if cost.searched is None:
        lowest = None if len(cost.minimisers) else reached(cost)
        if lowest is None or (lowest - cost.minimum) * last["horizon"].iloc[0] < MUCH * mean:
            return []
        return [
            f"the {end} {sign * cost.minimum:.8g} was given, but a short search found nothing beyond "
            f"{sign * lowest:.8g}: if there is nothing, the difference adds a linear regret"
        ]
    part = float(last["horizon"].iloc[0]) * cost.searched / mean if mean > 0 else math.inf
    best = sign * cost.minimum
    effect = f" (its doubt is {100 * part:.2g} % of the regret at T_max)" if 1e-3 < part < math.inf else ""
    return [f"the {end} {best:.8g} was searched for, not given{effect}; a lower one would add a linear regret"]


def _agreement(job, runs) -> Agreement | None:
    """How the first runs compare with the predicted curve, where there is one and it takes a moment."""
    last = int(runs.frame["horizon"].max())
    if not hasattr(job.algorithm, "level_rule") or job.algorithm.cells(job.cost, last) > MOST_CELLS or job.plain:
        return None
    from ..verdict.agreement import agreement

    rows = [row for row in runs.rows if row["replicate"] < COMPARED]
    try:
        return agreement(replace(runs, rows=rows))
    except ValueError:  # no theory for this, or too few runs
        return None
