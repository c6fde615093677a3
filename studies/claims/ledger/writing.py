"""What a ledger and its experiments leave in their folders: reports, figures and the table of verdicts."""

from __future__ import annotations

import datetime
from pathlib import Path
from typing import TYPE_CHECKING

from ratecheck.claims import VERSION
from ratecheck.files import read_below, together
from studies.claims.ledger import history, pages
from studies.claims.ledger.experiment import Effort
from studies.claims.ledger.finding import Finding
from studies.claims.ledger.keeping import notes
from studies.claims.ledger.statement import Statement

if TYPE_CHECKING:
    from studies.claims.ledger.declaration import Ledger
    from studies.claims.ledger.running import Done

PAGE = "report.md"


def write_experiment(
    done: Done, folder: Path, *, statements: tuple[Statement, ...], command: str, figures: bool = True
) -> Path:
    """Its report and figures; without figures those that are there stay."""
    from studies.shared.figures import draw_all

    pictures = list(done.experiment.pictures(done.tables))
    with together(folder) as drafts:
        if figures:
            draw_all({picture.stem: picture.draw for picture in pictures}, drafts)
        drafts.write(PAGE, pages.experiment(done, statements, pictures, notes(folder), command))
    return folder / PAGE


def write_ledger(
    ledger: Ledger, found: dict[str, Finding], *, folder: Path, effort: Effort, command: str, figures: bool = True
) -> Path:
    """The table of all claims with what stands and what stood, and the graph."""
    from studies.claims.ledger.draw_graph import graph
    from studies.shared.figures import draw_all

    try:
        rows = history.parsed(read_below(folder, history.FILE).decode())
    except FileNotFoundError:
        rows = ()
    today = datetime.datetime.now(datetime.UTC).date().isoformat()
    for id, finding in found.items():
        how = {"preset": effort.preset, "seed": effort.seed, "semantics": VERSION, "measured": today}
        rows = history.entered(rows, history.Row.of(id, finding, **how))
    verdicts = {row.claim: row.verdict for row in rows if not row.superseded}
    with together(folder) as drafts:
        if figures:
            draw_all({"graph": lambda: graph(ledger.statements, verdicts)}, drafts)
        drafts.write(history.FILE, history.text(rows))
        drafts.write(PAGE, pages.ledger(ledger, rows, command))
    return folder / PAGE
