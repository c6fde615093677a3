"""An experiment: tables that it measures, verdicts on claims that it draws from them, figures and words about them."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass
from importlib import import_module
from pathlib import Path
from typing import TYPE_CHECKING, Any, ClassVar, NamedTuple

from ratecheck.study import Conclusion, Options
from studies.claims.ledger.finding import Finding

if TYPE_CHECKING:
    from matplotlib.figure import Figure
    from pandas import DataFrame

    from studies.claims.ledger.declaration import Ledger

PRESETS = ("quick", "standard")
Tables = Mapping[str, "DataFrame"]


@dataclass(frozen=True)
class Effort:
    """How much is measured, from which seed, on how many cores."""

    preset: str = "standard"
    seed: int = 0
    workers: int = 1

    def __post_init__(self):
        if self.preset not in PRESETS:
            raise ValueError(f"claims are tested with preset {' or '.join(PRESETS)}, not {self.preset}")

    def of(self, sizes: Mapping[str, Any]) -> Any:
        """What a declaration says for this preset: {"quick": 20, "standard": 100}."""
        return sizes[self.preset]


class Judgement(NamedTuple):
    """How a claim is decided: from which tables, and by which rule."""

    parts: tuple[str, ...]
    rule: Callable[[Tables], Finding]


class Picture(NamedTuple):
    """A figure of a report: its file's stem, what it shows, and how it is drawn."""

    stem: str
    title: str
    caption: str
    draw: Callable[[], Figure]


@dataclass(frozen=True)
class Experiment(ABC):
    """What is measured, as a declaration: subclasses add their settings as fields.

    `edition` is raised whenever the same settings give other tables than before; `ledger` is the module that declares
    the ledger whose claims it tests.
    """

    name: str
    title: str
    question: str
    edition: ClassVar[int] = 1
    ledger: ClassVar[str] = "studies.claims.study"

    @abstractmethod
    def parts(self, effort: Effort) -> dict[str, Callable[[], DataFrame]]:
        """The tables by name, each measured by itself."""

    @abstractmethod
    def judgements(self) -> dict[str, Judgement]:
        """The claims that it decides, by their numbers."""

    @abstractmethod
    def pictures(self, tables: Tables) -> Iterable[Picture]: ...

    @abstractmethod
    def words(self, tables: Tables) -> Iterable[str]:
        """Blocks of markdown: what was measured and what came out; every number from the tables."""

    def belongs_to(self) -> Ledger:
        return import_module(self.ledger).study

    def conduct(self, folder: Path | None, options: Options) -> Conclusion:
        """Measure what is missing, judge the claims that were asked for, and write the report."""
        from studies.claims.ledger.running import conduct_experiment  # which knows experiments, and imports more

        return conduct_experiment(self, folder, options)
