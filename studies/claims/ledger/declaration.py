"""A ledger as a declaration: the claims of a paper, and the experiments that test them."""

from __future__ import annotations

from dataclasses import dataclass
from importlib import import_module
from pathlib import Path

from ratecheck.study import Conclusion, Options
from studies.claims.ledger.experiment import Experiment
from studies.claims.ledger.running import conduct_ledger
from studies.claims.ledger.statement import Statement, check


@dataclass(frozen=True)
class Ledger:
    """All claims of a paper.

    Its experiments are declared below `package`, by the names in `experiments`: each in a `study.py` of its own.
    """

    name: str
    title: str
    question: str
    paper: str
    statements: tuple[Statement, ...]
    package: str
    experiments: tuple[str, ...]
    errata: dict[str, str]  # what is wrong, by the names that statements use
    remark: str = ""  # on how it was measured
    seed: int = 0  # with which it is measured unless another one is given

    def __post_init__(self):
        object.__setattr__(self, "statements", check(self.statements))
        object.__setattr__(self, "experiments", tuple(self.experiments))
        for erratum in {e for s in self.statements for e in s.errata} - set(self.errata):
            raise ValueError(f"claims speak of erratum {erratum}, which is not there")
        for statement in self.statements:
            if statement.study not in self.experiments:
                raise ValueError(
                    f"claim {statement.id} is tested by {statement.study!r}, none of {', '.join(self.experiments)}"
                )

    def chosen(self, ids) -> tuple[Statement, ...]:
        """The claims of these numbers, or all."""
        known = [s.id for s in self.statements]
        for id in ids or ():
            if id not in known:
                raise ValueError(f"there is no claim {id} (claims: {', '.join(known)})")
        return tuple(s for s in self.statements if not ids or s.id in ids)

    def declared(self) -> dict[str, Experiment]:
        """Its experiments, each of which decides the claims that it is said to decide."""
        found = {name: import_module(f"{self.package}.{name}.study").study for name in self.experiments}
        decided = {id: name for name, experiment in found.items() for id in experiment.judgements()}
        for s in self.statements:
            if decided.get(s.id) != s.study:
                raise ValueError(f"claim {s.id} is to be decided by {s.study!r}, which does not")
        return found

    def conduct(self, folder: Path | None, options: Options) -> Conclusion:
        """Measure what is missing, judge the claims that were asked for, and write all reports."""
        return conduct_ledger(self, folder, options)
