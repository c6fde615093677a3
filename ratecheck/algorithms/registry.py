"""The one list of algorithms that go by a name: on the command line and in comparisons.

It is read before anything is compiled, so that help and mistakes do not wait for the compiler.
"""

from collections.abc import Mapping
from dataclasses import dataclass, field
from importlib import import_module

from ..arguments import meant, shown


@dataclass(frozen=True)
class Entry:
    name: str | None  # None: it has no meaning without an object of the user's
    cls: str
    module: str
    default: bool = False  # part of a study that names no algorithms
    options: Mapping[str, str] = field(default_factory=dict)  # settings that the command line may vary: a word of help

    def load(self) -> type:
        return getattr(import_module(f".{self.module}", __package__), self.cls)


ENTRIES = (
    Entry("uniform", "UniformBins", "uniform", default=True, options={"width": "corrected, printed, lengths"}),
    Entry("adaptive", "AdaptiveBins", "adaptive", default=True, options={"mu": "min, theorem, numbers"}),
    Entry("hoo", "HOO", "hoo", options={"nu": "min, theorem, numbers"}),
    Entry(None, "AskTell", "asktell"),
    Entry(None, "Compiled", "compiled"),
)
NAMED = {entry.name: entry for entry in ENTRIES if entry.name is not None}


def named(name: str) -> Entry:
    if name in NAMED:
        return NAMED[name]
    raise ValueError(f"unknown algorithm {shown(name)}{meant(name, NAMED)} (algorithms: {', '.join(NAMED)})")


def defaults() -> tuple:
    """The algorithms of a study that names none, with their default settings."""
    return tuple(entry.load()() for entry in ENTRIES if entry.default)
