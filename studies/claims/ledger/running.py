"""A ledger or one of its experiments, from its declaration to its report."""

from __future__ import annotations

import datetime
from collections.abc import Callable
from pathlib import Path
from typing import NamedTuple

from ratecheck.claims import VERSION
from ratecheck.figures.base import STYLE, save
from ratecheck.files import read_below, together
from studies.claims.ledger import history, pages
from studies.claims.ledger.declaration import Ledger
from studies.claims.ledger.experiment import Effort, Experiment, Tables
from studies.claims.ledger.finding import Finding
from studies.claims.ledger.keeping import measured, notes
from studies.claims.ledger.statement import Statement

PAGE = "report.md"


class Done(NamedTuple):
    """What an experiment has measured, and what follows from it."""

    experiment: Experiment
    tables: Tables
    findings: dict[str, Finding]
    whole: bool  # all its parts, not only those that some claims need


def undertake(
    experiment: Experiment, effort: Effort, folder: Path, claims=None, fresh=False, say: Callable = print
) -> Done:
    """Measure what is missing, for these claims or for all of it, and judge."""
    judgements = experiment.judgements()
    for id in claims or ():
        if id not in judgements:
            raise ValueError(f"{experiment.name} decides claims {', '.join(judgements) or 'none'}, not {id}")
    chosen = {id: rule for id, rule in judgements.items() if claims is None or id in claims}
    only = None if claims is None else {name for judgement in chosen.values() for name in judgement.parts}
    folder.mkdir(parents=True, exist_ok=True)
    tables = measured(experiment, effort, folder, only, fresh, say)
    findings = {id: rule({name: tables[name] for name in parts}) for id, (parts, rule) in chosen.items()}
    return Done(experiment, tables, findings, claims is None)


def write_experiment(done: Done, folder: Path, statements: tuple[Statement, ...], command: str, figures=True) -> Path:
    """Its report and figures; without figures those that are there stay."""
    from matplotlib import rc_context

    drawn = list(done.experiment.pictures(done.tables))
    with together(folder) as drafts, rc_context(STYLE):
        if figures:
            for picture in drawn:
                save(picture.draw(), drafts, picture.stem, svg=False)
        drafts.write(PAGE, pages.experiment(done, statements, drawn, notes(folder), command))
    return folder / PAGE


def write_ledger(
    ledger: Ledger, found: dict[str, Finding], folder: Path, effort: Effort, command: str, figures=True
) -> Path:
    """The table of all claims with what stands and what stood, and the graph."""
    from matplotlib import rc_context

    from studies.claims.draw_graph import graph

    try:
        rows = history.parsed(read_below(folder, history.FILE).decode())
    except FileNotFoundError:
        rows = ()
    today = datetime.datetime.now(datetime.UTC).date().isoformat()
    for id, finding in found.items():
        how = {"preset": effort.preset, "seed": effort.seed, "semantics": VERSION, "measured": today}
        rows = history.entered(rows, history.Row.of(id, finding, **how))
    standing = {row.claim: row for row in rows if not row.superseded}
    with together(folder) as drafts, rc_context(STYLE):
        if figures:
            save(
                graph(ledger.statements, {id: row.verdict for id, row in standing.items()}), drafts, "graph", svg=False
            )
        drafts.write(history.FILE, history.text(rows))
        drafts.write(PAGE, pages.ledger(ledger, rows, command))
    return folder / PAGE
