"""A ledger as a declaration: the claims of a paper, and the experiments that test them."""

from __future__ import annotations

from dataclasses import dataclass

from studies.claims.ledger.statement import Statement, check


@dataclass(frozen=True)
class Ledger:
    """All claims of a paper.  Experiments are declared in folders below the ledger's, by the names in `experiments`."""

    name: str
    title: str
    question: str
    paper: str
    statements: tuple[Statement, ...]
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
