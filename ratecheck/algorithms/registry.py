"""The one list of algorithms that go by a name: on the command line, in comparisons, in benchmarks.

It is read before anything is compiled, so that help and mistakes do not wait for the compiler.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from importlib import import_module


@dataclass(frozen=True)
class Promised:
    """What a benchmark holds an algorithm to, in units of the sampling that it cannot avoid."""

    settings: tuple[Mapping, ...]  # that are measured
    queries_points: bool  # the floor draws points and evaluates the cost; else it draws noise only
    median: float
    worst: tuple[tuple[float, float, float], ...]  # (from cells, to cells, at most)
    longest: int = 10**7  # horizon that is measured


@dataclass(frozen=True)
class Entry:
    name: str | None  # None: it has no meaning without an object of the user's
    cls: str
    module: str
    default: bool = False  # part of a study that names no algorithms
    options: Mapping[str, str] = field(default_factory=dict)  # settings that the command line may vary: a word of help
    promised: Promised | None = None

    def load(self) -> type:
        return getattr(import_module(f".{self.module}", __package__), self.cls)


ENTRIES = (
    Entry(
        "uniform",
        "UniformBins",
        "uniform",
        default=True,
        options={"width": "corrected, printed, lengths"},
        promised=Promised(({},), queries_points=False, median=6.0, worst=((1, 1e6, 20.0),)),
    ),
    Entry(
        "adaptive",
        "AdaptiveBins",
        "adaptive",
        default=True,
        options={"mu": "min, theorem, numbers"},
        promised=Promised(
            ({"mu": "min"}, {"mu": "theorem"}),
            queries_points=True,
            median=3.0,
            worst=((1, 1e3, 6.0), (1e3, 1e6, 25.0)),
        ),
    ),
    Entry(
        "hoo",
        "HOO",
        "hoo",
        options={"nu": "min, theorem, numbers"},
        promised=Promised(({"nu": "min"},), queries_points=True, median=40.0, worst=((1, 1e7, 80.0),), longest=10**6),
    ),
    Entry(None, "AskTell", "asktell"),
    Entry(None, "Compiled", "compiled"),
)
NAMED = {entry.name: entry for entry in ENTRIES if entry.name is not None}


def named(name: str) -> Entry:
    if name in NAMED:
        return NAMED[name]
    import difflib

    near = difflib.get_close_matches(str(name).lower(), NAMED, n=1, cutoff=0.0)
    raise ValueError(f"unknown algorithm {name!r}; did you mean {near[0]!r}? (algorithms: {', '.join(NAMED)})")


def defaults() -> tuple:
    """The algorithms of a study that names none, with their default settings."""
    return tuple(entry.load()() for entry in ENTRIES if entry.default)
