"""Units of a store, run again from what the store says about them, and compared to the last bit."""

import ast
import random
from dataclasses import dataclass, replace
from functools import partial

import function_zoo as zoo

from ..algorithms.registry import NAMED
from ..claims import Series
from ..engine.simulate import Job, Limit
from ..sampling import noise as laws
from ..store import Store, difference
from .run import perform

MOST_STEPS = 10**10  # of one unit
PATIENCE = 60.0  # seconds for one unit: a study makes units of a few
HINT = "--study PATH names the declaration that it comes from"
LAWS = (laws.Gaussian, laws.Uniform, laws.Rademacher, laws.StudentT)


class Unknown(ValueError):
    """A unit cannot be run again; the message says why."""


@dataclass(frozen=True)
class Rerun:
    """A unit that was drawn: its name, what differs from the store, or why it could not run."""

    unit: str
    differs: str = ""
    unable: str = ""


def rerun(store: Store, count: int, *, seed: int, study=None, seconds: float = PATIENCE):
    """Run some units again, chosen at random; a declared study knows algorithms and costs that have no name."""
    units = store.units()
    for unit in sorted(random.Random(seed).sample(units, min(count, len(units)))):
        name, series, rows = store.unit(unit)
        try:
            yield Rerun(name, differs=_difference(series, rows, study, seconds))
        except Unknown as error:
            yield Rerun(name, unable=str(error))
        except Exception as error:  # whatever a stored setting or a plug-in may raise
            yield Rerun(name, unable=f"{type(error).__name__}: {error}")


def _difference(series: Series, rows: list[tuple], study, seconds) -> str:
    """The first run that comes out otherwise; rows as the store has them."""
    cost, algorithm, noise = _from_study(series, study) or _from_names(series)
    runs = _runs(rows, algorithm.anytime)
    if sum(horizons[-1] for _, horizons in runs) > MOST_STEPS:
        raise Unknown(f"it takes more than {MOST_STEPS:.0e} steps")
    Job(algorithm, cost, alignment=series.alignment).check({horizon for _, found in runs for horizon in found})
    again = perform(runs, cost, algorithm, series.seed, noise, series.alignment, Limit(at_most=seconds))
    if again is None:
        raise Unknown(f"it takes more than {seconds:g} seconds; --unit-timeout gives it more")
    for old, new in zip(rows, Store.plain(again[0]), strict=True):
        if found := difference(old, new):
            name, before, after = found
            return f"replicate {old[0]} at T = {old[1]} is stored with {name} = {before}, and came out with {after}"
    return ""


def _runs(rows, anytime) -> list[tuple[int, tuple[int, ...]]]:
    """(replicate, horizons) as a unit has them."""
    if not anytime:
        return [(row[0], (row[1],)) for row in rows]
    horizons = {}
    for row in rows:
        horizons.setdefault(row[0], []).append(row[1])
    return [(replicate, tuple(found)) for replicate, found in horizons.items()]


def _from_study(series: Series, study):
    from .plan import cases, no_curve

    if study is None:
        return None
    planned = cases(replace(study, seed=series.seed), curves=no_curve)
    found = next(((p.cost, p.algorithm, study.noise) for p in planned if p.case.series == series), None)
    return found or _member(series, study)


def _member(series: Series, study):
    """A member of a hard family by its name, and the algorithm of the study that ran on it; None if there is none."""
    try:
        cost = _called(series.cost, {"dented": partial(zoo.get, "dented")})
    except Unknown:
        return None
    for algorithm in study.algorithms:
        settled = algorithm.settle(cost)
        if Job(settled, cost, series.seed, study.noise, study.alignment).series == series:
            return cost, settled, study.noise
    return None


def _from_names(series: Series):
    """What the names of a series stand for; nothing is imported or executed for their sake."""
    cost = _called(series.cost, {name: partial(zoo.get, name) for name in zoo.families()})
    known = {entry.cls: lambda entry=entry, **given: entry.load()(**given) for entry in NAMED.values()}
    algorithm = _called(series.algorithm, known).settle(cost)
    noise = _called(series.noise, {law.__name__: law for law in LAWS})
    if Job(algorithm, cost, series.seed, noise, series.alignment).series != series:
        raise Unknown(f"its names mean something else today; {HINT}")
    return cost, algorithm, noise


def _called(text: str, known: dict):
    """name(key=literal, ...), for a known name; another cost as a value is a text that stands there without quotes."""
    try:
        call = ast.parse(text, mode="eval").body
        name, names = call.func.id, ast.Name | ast.Call
        given = {
            w.arg: ast.get_source_segment(text, w.value) if isinstance(w.value, names) else ast.literal_eval(w.value)
            for w in call.keywords
        }
    except (SyntaxError, ValueError, TypeError, AttributeError, MemoryError, RecursionError):
        raise Unknown(f"{text[:80]} cannot be made from its name; {HINT}") from None
    if name not in known or call.args or None in given:
        raise Unknown(f"{text[:80]} is none of ratecheck's own; {HINT}")
    try:
        return known[name](**given)
    except (TypeError, ValueError) as error:
        raise Unknown(f"{text[:80]} cannot be made again ({error}); {HINT}") from None
