"""claims.csv: every verdict that was ever reached on a claim; the last one stands, earlier ones stay, marked."""

from __future__ import annotations

import csv
import io
from dataclasses import dataclass, fields, replace

from studies.claims.ledger.experiment import PRESETS
from studies.claims.ledger.finding import Finding, Verdict

FILE = "claims.csv"


@dataclass(frozen=True)
class Row:
    """A finding with its circumstances; `superseded` says by what, where a later or stronger one stands."""

    claim: str
    verdict: str
    evidence: str
    tolerates: str
    caveat: str
    foretold: str
    preset: str
    seed: int
    semantics: int
    measured: str  # the day
    superseded: str = ""

    @classmethod
    def of(cls, claim: str, finding: Finding, **circumstances) -> Row:
        texts = {name: getattr(finding, name) for name in ("evidence", "tolerates", "caveat", "foretold")}
        return cls(claim, str(finding.verdict), **texts, **circumstances)

    @property
    def says(self) -> tuple:
        """All but the day and whether it stands."""
        return tuple(getattr(self, f.name) for f in fields(self) if f.name not in ("measured", "superseded"))


def entered(rows: tuple[Row, ...], new: Row) -> tuple[Row, ...]:
    """The rows with a new one: it stands unless the same, or one with more effort and the same engine, stands."""
    standing = next((row for row in rows if row.claim == new.claim and not row.superseded), None)
    if standing is not None and standing.says == new.says:
        return rows
    if standing is not None and _stronger(standing, new):
        if any(row.says == new.says for row in rows):
            return rows
        return (*rows, _marked(new, standing))
    return (*(_marked(row, new) if row is standing else row for row in rows), new)


def _stronger(standing: Row, new: Row) -> bool:
    return PRESETS.index(standing.preset) > PRESETS.index(new.preset) and standing.semantics == new.semantics


def _marked(row, new):
    return replace(row, superseded=f"preset {new.preset}, seed {new.seed}, of {new.measured}")


def text(rows: tuple[Row, ...]) -> str:
    file = io.StringIO()
    writer = csv.writer(file, lineterminator="\n")
    names = [f.name for f in fields(Row)]
    writer.writerow(names)
    writer.writerows([getattr(row, name) for name in names] for row in rows)
    return file.getvalue()


def parsed(text: str) -> tuple[Row, ...]:
    """The rows of a file; whatever is no such file is refused."""
    found = []
    for number, record in enumerate(csv.DictReader(io.StringIO(text)), 2):
        try:
            Verdict(record["verdict"])
            PRESETS.index(record["preset"])
            found.append(Row(**{**record, "seed": int(record["seed"]), "semantics": int(record["semantics"])}))
        except (KeyError, TypeError, ValueError) as error:
            raise ValueError(f"line {number} of {FILE} is no verdict on a claim ({error}); move it away") from None
    return tuple(found)
