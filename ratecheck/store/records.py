"""What the texts of a store must look like: each is checked in full before anything is made of it."""

import json
import math
from dataclasses import is_dataclass
from itertools import pairwise
from types import UnionType
from typing import get_args, get_origin, get_type_hints

from ..claims import Case, Claim, Control, Curve, Hard, Series
from ..rates import Rate
from .errors import shown

LONGEST = 100_000  # characters of a text
MOST = 100_000  # entries of a list
MOST_CASES, MOST_CLAIMS = 1000, 5000  # of a study: judging them takes its time
MOST_POINTS = 4096  # of a curve
LARGEST = 1e100  # of a number that is computed with
OWN = ("started", "units", "steps")  # of a session, which its details must not give


class Wrong(ValueError):
    """What was found, and what was expected."""


def parsed(text: str):
    try:
        return json.loads(text)
    except RecursionError:
        raise Wrong("it is nested too deeply") from None
    except ValueError as error:
        raise Wrong(f"it is no JSON ({shown(error)})") from None


# Checks of one value: each takes the value and its place, and returns nothing


def anything(*_):
    """No check."""


def expect(holds, value, place, expected):
    if holds:
        return
    if isinstance(value, list | dict):
        found = f"a {'list' if isinstance(value, list) else 'mapping'} of {len(value)}"
    else:
        found = "a huge number" if isinstance(value, int) and abs(value) >= 10**30 else repr(value)
    raise Wrong(f"{place} is {shown(found, 60)}, where {expected} is expected")


def text(value, place):
    expect(isinstance(value, str) and len(value) <= LONGEST, value, place, "a text")
    try:
        value.encode()
    except UnicodeEncodeError:
        raise Wrong(f"{place} is a text that cannot be written down") from None


def boolean(value, place):
    expect(isinstance(value, bool), value, place, "true or false")


def number(low=-LARGEST, high=LARGEST):
    def check(value, place):
        good = isinstance(value, int | float) and not isinstance(value, bool) and low <= value <= high
        expect(good, value, place, f"a number from {low:g} to {high:g}")

    return check


def whole(low=0, high=2**63 - 1):
    def check(value, place):
        good = isinstance(value, int) and not isinstance(value, bool) and low <= value <= high
        expect(good, value, place, f"a whole number from {low} to {high}")

    return check


def any_number(value, place):
    """Also one that is none: it is printed and nothing else."""
    if not (isinstance(value, float) and not math.isfinite(value)):
        number(-1e300, 1e300)(value, place)


def maybe(check):
    def checked(value, place):
        if value is not None:
            check(value, place)

    return checked


def one_of(*choices):
    def check(value, place):
        expect(isinstance(value, str) and value in choices, value, place, " or ".join(choices))

    return check


def scalar(value, place):
    if isinstance(value, str):
        text(value, place)
    elif value is not None and not isinstance(value, bool):
        any_number(value, place)


def listed(check, fewest=0, most=MOST):
    def checked(value, place):
        good = isinstance(value, list) and fewest <= len(value) <= most
        expect(good, value, place, f"a list of {fewest} to {most}")
        for i, entry in enumerate(value):
            check(entry, f"{place}[{i}]")

    return checked


def tuples(*checks):
    def checked(value, place):
        expect(isinstance(value, list) and len(value) == len(checks), value, place, f"a list of {len(checks)}")
        for i, (check, entry) in enumerate(zip(checks, value, strict=True)):
            check(entry, f"{place}[{i}]")

    return checked


def mapping(check):
    def checked(value, place):
        expect(isinstance(value, dict) and len(value) <= MOST, value, place, "a mapping")
        for key, entry in value.items():
            text(key, f"a key of {place}")
            check(entry, f"{place}.{shown(key, 40)}")

    return checked


def fields(others=None, optional=(), **checks):
    """A mapping with these keys; further ones must pass `others`, or may not be there."""

    def checked(value, place):
        expect(isinstance(value, dict) and len(value) <= MOST, value, place, "a mapping")
        for key in checks:
            if key not in value and key not in optional:
                raise Wrong(f"{place} lacks {key}")
        for key, entry in value.items():
            inside = f"{place}.{shown(key, 40)}"
            if key in checks:
                checks[key](entry, inside)
            elif others is None:
                raise Wrong(f"{inside} is unknown")
            else:
                text(key, f"a key of {place}")
                others(entry, inside)

    return checked


def record(kind, /, optional=(), **narrower):
    """A dataclass as its own annotations have it; for some fields another check."""
    checks = {name: _as_annotated(part) for name, part in get_type_hints(kind).items()} | narrower
    return fields(optional=optional, **checks)


def _as_annotated(kind):
    inner = get_args(kind)
    if isinstance(kind, UnionType):  # of something and None
        return maybe(_as_annotated(inner[0]))
    if get_origin(kind) is tuple:
        return listed(_as_annotated(inner[0])) if inner[-1] is ... else tuples(*map(_as_annotated, inner))
    if get_origin(kind) is dict:
        return mapping(_as_annotated(inner[1]))
    if hasattr(kind, "_fields"):
        return tuples(*map(_as_annotated, get_type_hints(kind).values()))
    return record(kind) if is_dataclass(kind) else {str: text, bool: boolean, int: whole(), float: number()}[kind]


# What a store holds


def rising(check, fewest=0, most=MOST):
    def checked(value, place):
        listed(check, fewest, most)(value, place)
        expect(all(a < b for a, b in pairwise(value)), value, place, "a rising list")

    return checked


def claim(value, place):
    """A correction has a name, keeps the exponent and changes the log power."""
    CLAIM(value, place)
    printed, corrected = value["printed"], value["corrected"]
    expect((corrected is None) == (value["corrected_name"] is None), corrected, place, "a corrected rate with its name")
    if corrected is not None:
        kept = math.isclose(corrected["exponent"], printed["exponent"])
        expect(kept and corrected != printed, corrected, place, "a corrected rate with another log power alone")


def curve(value, place):
    """Each horizon has its regret, its cells and its error, or none has an error."""
    CURVE(value, place)
    for name in ("regret", "cells", "error")[: 3 if value.get("error") else 2]:
        expect(len(value[name]) == len(value["horizons"]), value[name], f"{place}.{name}", "a list as long as horizons")


def hard(value, place):
    """Horizons with runs have a bound."""
    HARD(value, place)
    bounded = set(value["horizons"]) <= set(value["bounds"])
    expect(bounded, value["horizons"], f"{place}.horizons", "some of the bounds")
    expect(not value["horizons"] or value["members"] > 1, value["members"], f"{place}.members", "2 or more")


def case(value, place):
    """The window rises, and a claim is about a single cost."""
    CASE(value, place)
    window, claims = value["window"], value["claims"]
    expect(window[0] <= window[1], window, f"{place}.window", "a rising pair")
    expect(any(claim["per_cost"] for claim in claims), claims, f"{place}.claims", "one about a single cost")
    for name in ("alpha", "beta"):
        maybe(number())(value["constants"].get(name), f"{place}.constants.{name}")


def session(value, place):
    SESSION(value, place)
    for name in OWN:
        expect(name not in value, value.get(name), f"{place}.{name}", "nothing")


def prediction(value, place):
    """The predicted regret of some replicates at some horizons, or why there is none."""
    PREDICTION(value, place)
    horizons = value["horizons"]
    if not value["problem"]:
        expect(len(value["left_open"]) == len(horizons), value["left_open"], "left_open", "a list as long as horizons")
        expect(bool(value["regret"]), value["regret"], "regret", "a list of replicates")
        for i, row in enumerate(value["regret"]):
            expect(len(row) == len(horizons), row, f"regret[{i}]", "a list as long as horizons")


def bound(value, place):
    """A lower bound at one horizon and the members that were drawn for it, or why there is none."""
    BOUND(value, place)
    if not value["problem"]:
        expect(value["regret"] > 0, value["regret"], "regret", "a number above 0")


def study(data) -> list[Case]:
    STUDY(data, "study")
    claims = [claim for plan in data["cases"] for claim in (*plan["claims"], *plan["controls"])]
    expect(len(claims) <= MOST_CLAIMS, claims, "study.cases", f"at most {MOST_CLAIMS} claims and controls")
    found = [Case.from_json(plan) for plan in data["cases"]]
    expect(len({(case.cost, case.algorithm) for case in found}) == len(found), found, "study.cases", "each case once")
    return found


HORIZON = whole(1, 2**53)
RATE = record(Rate, exponent=number(-100, 100), log_power=number(-100, 100))
CLAIM = record(Claim, kind=one_of("upper", "lower"), printed=RATE, corrected=maybe(RATE))
CURVE = record(
    Curve,
    optional=("error",),  # older packs have none
    horizons=rising(number(1, 1e300), 2, MOST_POINTS),
    regret=listed(number(1e-300, 1e300), 2, MOST_POINTS),
    cells=listed(number(0, 1e300), 2, MOST_POINTS),
    error=listed(number(0), 0, MOST_POINTS),
)
HARD = record(Hard, bounds=rising(HORIZON, 0, 100), horizons=rising(HORIZON, 0, 100), members=whole(0, 1000))
CASE = record(
    Case,
    constants=mapping(scalar),
    series=record(Series, dim=whole(1, 10**6), period=maybe(number(1 + 1e-9, 1e50))),
    horizons=rising(HORIZON, fewest=1),
    replicates=whole(1, 10**9),
    window=tuples(number(1, 2**53), number(1, 2**53)),
    shift=maybe(number(0)),
    claims=listed(claim, fewest=1),
    controls=listed(record(Control, by=number(1e-6, 100)), fewest=1),
    curve=maybe(curve),
    hard=hard,
)
STUDY = fields(
    resolution=number(1e-6, 100),
    name=text,
    question=text,
    margin=number(1e-6, 1 - 1e-6),
    command=text,
    settings=mapping(scalar),
    cases=listed(case, 1, MOST_CASES),
    comparisons=listed(tuples(text, text), 0, MOST_CASES),
)
SESSION = fields(
    others=scalar,
    optional=("workers", "where", "versions", "machine", "seconds"),
    workers=whole(),
    where=text,
    versions=mapping(text),
    machine=text,
    seconds=number(0),
)
AUDIT = listed(
    fields(
        others=scalar,
        constant=text,
        annotated=maybe(any_number),
        measured=maybe(any_number),
        holds=boolean,
        basis=text,
        worst=text,
    )
)

PREDICTION = fields(
    optional=("error", "cells", "locked"),  # older packs have cells, of the largest tree, in place of the others
    error=number(0, 1),
    cells=whole(),
    curve=maybe(curve),
    beyond=maybe(curve),
    horizons=rising(HORIZON, fewest=1),
    problem=text,
    regret=listed(listed(number(1e-300))),
    left_open=listed(tuples(number(), number(), number())),
    locked=tuples(whole(), whole()),
)
DENT = fields(place=listed(number(), 1, 100), depth=number(1e-300), length=number(1e-300))
BOUND = fields(
    problem=text,
    certified=boolean,
    regret=number(0),
    functions=one_of("many", "two"),
    members=number(0, 1e300),
    figures=mapping(any_number),
    drawn=listed(maybe(DENT), 0, 2000),
)
MEMBERS = fields(  # the runs of a case on members: series, replicate, whether it is the dented function
    members=whole(0, 1000),
    problem=text,
    series=listed(tuples(text, whole(0, 10**9), boolean), 0, 2000),
)
NAMES = listed(text)  # plans that a folder has seen, or units that failed
