"""What people mean who give a class, a function and a text for an algorithm, a cost and a rate."""

from collections.abc import Callable
from dataclasses import replace
from numbers import Real

import numpy as np

import function_zoo as zoo
from function_zoo import Cost
from function_zoo.own import lowered

from ..algorithms.asktell import AskTell
from ..algorithms.protocol import check_algorithm
from ..algorithms.registry import ENTRIES, named
from ..algorithms.run import LowerValue
from ..arguments import MOST_REPLICATES, check_horizons, check_whole, shown
from ..claims import Claim, Theorem
from ..engine.simulate import Job
from ..rates import Rate
from ..sampling.noise import Gaussian, check_noise
from ..verdict.judging import irrefutable

SOME = 100  # steps of a run whose cells are looked at
RESTARTS = 3  # times at most that a search for the minimum goes on from a lower value


def settled(algorithm, cost, *, rate, kind, anytime, maximise, box, dim, minimum, maximum, noise, seed):
    """The job and the claim, and what to say about them."""
    if not (maximise is None or isinstance(maximise, bool)):
        raise ValueError(f"maximise = {shown(maximise)} must be True, False or None")
    cautions = []
    algorithm = as_algorithm(algorithm, anytime)
    cost = as_cost(cost, box, dim=dim, minimum=minimum, maximum=maximum, maximise=bool(maximise))
    if maximise is not None and maximise != cost.maximise:
        if isinstance(algorithm, AskTell):
            algorithm = replace(algorithm, maximise=maximise)
        else:
            cost = replace(cost, maximise=maximise)
    if isinstance(noise, Real) and not isinstance(noise, bool):
        noise = Gaussian(noise)
    check_noise(noise)
    seed = check_whole("seed", seed, 0)
    algorithm = algorithm.settle(cost)
    claim = as_claim(rate, kind, algorithm, cost)
    leaves = algorithm.length(cost, SOME, 0.0) and not cost.margin  # cells beyond where the cost is known
    job = Job(algorithm, cost, seed, noise, "fixed" if leaves else "random")
    if job.alignment == "fixed":
        cautions.append("the partition starts at the corner of the box, beyond which the cost is not known")
    if why := irrefutable(claim):
        cautions.append(why)
    return job, claim, cautions


def as_algorithm(given, anytime=None):
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
        return given if anytime is None else replace(given, anytime=anytime)
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
    return AskTell(given, anytime)


def as_cost(given, box=None, *, dim=None, minimum=None, maximum=None, maximise=False) -> Cost:
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


def size_of(horizons, replicates) -> tuple[tuple[int, ...] | None, int | None]:
    """Horizons and replicates as they are given, each of them or None."""
    horizons = None if horizons is None else tuple(check_horizons(horizons))
    if horizons is not None and (len(horizons) < 3 or horizons[0] < 3):
        raise ValueError(f"horizons = {shown(list(horizons))}: a slope needs three of them, the first 3 or larger")
    return horizons, None if replicates is None else check_whole("replicates", replicates, 3, MOST_REPLICATES)


def with_lowest(job: Job, work: Callable, said: Callable = lambda job: None):
    """The job and what `work(job)` gives; it begins anew where a run goes below a minimum that was searched for."""
    for restarts in range(RESTARTS + 1):
        try:
            return job, work(job)
        except LowerValue as found:
            if job.cost.searched is None or restarts == RESTARTS:
                raise
            job = replace(job, cost=lowered(job.cost, found.x, found.y))
            said(job)
