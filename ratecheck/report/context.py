"""What every section of a report needs: the analysis, its tables and pictures, names of cases, words and cells."""

from __future__ import annotations

from dataclasses import dataclass, fields, is_dataclass, replace
from enum import Enum
from functools import cached_property

from ..claims import Outcome
from ..display import MARKS, among, escaped, listing, one_line
from ..fit.fit import Estimate, Fit
from ..fit.log_means import LogMeans
from ..verdict.analyse import Analysis, Judged, Result
from ..verdict.evidence import Evidence
from .tables import Tables

NUMBERS = (LogMeans, Fit, Evidence, Estimate)  # large, without a word of a stranger's in them


@dataclass(frozen=True)
class Info:
    """What a report says beyond fits and verdicts; all of it comes from the store."""

    name: str
    question: str
    settings: dict
    command: str  # that runs the study again
    sessions: tuple[dict, ...]  # started, seconds, units, steps, workers, where, versions, machine
    digest: str  # of the store's runs
    missing: tuple[str, ...]  # units that failed, a sentence each
    complaints: tuple[str, ...]  # of the engine
    audits: dict[str, list[dict]]  # by str(cost): rows of zoo.audit
    unused: int = 0  # runs in the store that belong to other settings
    plans: int = 1  # different plans that the folder has seen


def cleaned(thing, clean):
    """The same with every text in it clean, for where it is put: a store may be a stranger's, and no section has to
    remember that."""
    if isinstance(thing, str):
        return thing if isinstance(thing, Enum) else clean(thing)
    if isinstance(thing, dict):
        return {cleaned(key, clean): cleaned(value, clean) for key, value in thing.items()}
    if isinstance(thing, (list, tuple)):
        parts = [cleaned(part, clean) for part in thing]
        return type(thing)(*parts) if hasattr(thing, "_fields") else type(thing)(parts)
    if is_dataclass(thing) and not isinstance(thing, NUMBERS):
        given = {field.name: cleaned(getattr(thing, field.name), clean) for field in fields(thing)}
        copy = replace(thing, **given)
        computed = {name: value for name, value in vars(thing).items() if name not in given}
        vars(copy).update(cleaned(computed, clean))  # what took long is not computed again
        return copy
    return thing


@dataclass(frozen=True)
class Context:
    """A report before it is written out.  A section is a function that takes it and yields blocks of text."""

    analysis: Analysis
    info: Info | None
    drawn: dict  # family -> its figures.WrittenFigure, in their order; empty without figures
    tables: Tables | None
    emphasis: str = "**"  # around what is to be seen first; nothing in a terminal

    @classmethod
    def in_markdown(cls, analysis: Analysis, info: Info, drawn: dict, tables: Tables) -> Context:
        """With all texts escaped; the command stands in a block of code, where every letter is itself."""
        pictures = {escaped(f): [replace(p, title=escaped(p.title)) for p in found] for f, found in drawn.items()}
        info = replace(cleaned(info, escaped), command=info.command)
        return cls(cleaned(analysis, escaped), info, pictures, cleaned(tables, escaped))

    @classmethod
    def in_terminal(cls, analysis: Analysis) -> Context:
        return cls(cleaned(analysis, one_line), None, {}, None, emphasis="")

    def of(self, family) -> Context:
        return replace(self, analysis=replace(self.analysis, results=tuple(self.analysis.of(family))))

    # Names of cases: the family is said only where there are several

    @cached_property
    def families(self) -> list[str]:
        return list(dict.fromkeys(family for family, _ in self.analysis.costs))

    @property
    def several_families(self) -> bool:
        return len(self.families) > 1

    def case(self, result: Result) -> str:
        family = f"{result.case.family} " if self.several_families else ""
        return f"{family}d = {result.case.dim} {result.case.algorithm}"

    def where(self, results, total) -> str:
        return where([self.case(r) for r in results], total)

    def columns(self, *more) -> list[str]:
        return ["family"] * self.several_families + ["d", "algorithm", *more]

    def cells(self, names, *more) -> list:
        """The first cells of a row about a case (or anything with its names), and the others."""
        return [names.family] * self.several_families + [names.dim, names.algorithm, *more]

    # Rows of the tables

    def row(self, result: Result, judged: Judged) -> dict:
        """The line of fits.csv at the log power that theory stands by."""
        names = judged.claim.theorem, judged.claim.corrected_name
        rows = self._fits[_place(result)]
        return [row for row in rows if row["theorem"] in names and row["kind"] == judged.claim.kind][-1]

    def own_row(self, result: Result) -> dict:
        return self.row(result, result.own)

    def detail(self, result: Result, what: str) -> list[dict]:
        """The lines of details.csv of one kind: local slope, sensitivity or held out."""
        return [row for row in self._details.get(_place(result), []) if row["what"] == what]

    @cached_property
    def _fits(self):
        return _by_place(self.tables.fits)

    @cached_property
    def _details(self):
        return _by_place(self.tables.details)


def _place(result: Result) -> tuple:
    """What tells the cases of a study apart, and stands in every row about one."""
    return result.case.family, result.case.dim, result.case.algorithm


def _by_place(rows) -> dict[tuple, list[dict]]:
    return grouped(((row["family"], row["dim"], row["algorithm"]), row) for row in rows)


def grouped(pairs) -> dict:
    found = {}
    for key, value in pairs:
        found.setdefault(key, []).append(value)
    return found


ENDS = ("", "_low", "_high")  # of the columns that hold an estimate
PARTS = {"exponent": "exponent", "log_power": "printed log power", "corrected_log_power": "corrected log power"}


def shown(name: Outcome) -> str:
    return f"**{name}**" if name == Outcome.REFUTED else str(name)


def marked(name: Outcome) -> str:
    """A verdict with a sign that is seen at once."""
    return f"{MARKS[name]} {shown(name)}"


def where(names, total) -> str:
    """In how many of the cases, and in which unless it is all of them."""
    return among(len(names), total) + (f" ({listing(names, most=4)})" if len(names) < total else "")


def sentence(text: str) -> str:
    return text[:1].upper() + text[1:] + "."
