"""Experiments of a ledger as the command asks for them: planned, or measured, judged and reported."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, NamedTuple

from ratecheck.store import sole_writer
from ratecheck.study import RESULTS, Conclusion, Options
from studies.claims.ledger.experiment import Effort, Experiment, Tables
from studies.claims.ledger.finding import Finding, Verdict
from studies.claims.ledger.keeping import complete, measured
from studies.claims.ledger.writing import PAGE, write_experiment, write_ledger

if TYPE_CHECKING:
    from studies.claims.ledger.declaration import Ledger

TAKEN = ("preset", "seed", "claim")
STANDARD = "standard"


class Task(NamedTuple):
    """An experiment to be done: under which name the command knows it, in which folder, and for which claims."""

    experiment: Experiment
    name: str
    folder: Path
    claims: list[str] | None  # None: all that it decides, and the tables that no claim needs


class Done(NamedTuple):
    """What an experiment has measured, and what follows from it."""

    experiment: Experiment
    tables: Tables
    findings: dict[str, Finding]
    whole: bool  # all its parts, not only those that some claims need


def conduct_ledger(ledger: Ledger, folder: Path | None, options: Options) -> Conclusion:
    """The experiments that decide the claims that were asked for, and the table of all claims."""
    ids = options.taken(*TAKEN).get("claim")
    chosen, experiments = ledger.chosen(ids), ledger.declared()
    folder = options.into(folder or default_folder(options, ledger.name))
    tasks = []
    for name, experiment in experiments.items():
        mine = [s.id for s in chosen if s.study == name]
        if mine:
            tasks.append(Task(experiment, f"{options.name}/{name}", folder / name, mine if ids else None))
    effort = effort_of(options, ledger)
    if options.dry_run:
        return Conclusion(plan(tasks, effort, folder=folder, fresh=options.fresh))
    found = perform(tasks, effort, ledger=ledger, options=options)
    with sole_writer(folder):
        how = {"command": options.command, "figures": options.figures}
        page = write_ledger(ledger, found, folder=folder, effort=effort, **how)
    return Conclusion(said(ledger, found, page))


def conduct_experiment(experiment: Experiment, folder: Path | None, options: Options) -> Conclusion:
    """One experiment, for the claims that were asked for or for all that it decides."""
    ids, ledger, known = options.taken(*TAKEN).get("claim"), experiment.belongs_to(), experiment.judgements()
    for id in ids or ():
        if id not in known:
            raise ValueError(f"{experiment.name} decides no claim {id} (claims: {', '.join(known)})")
    folder = options.into(folder or default_folder(options, f"{ledger.name}/{experiment.name}"))
    tasks, effort = [Task(experiment, options.name, folder, ids)], effort_of(options, ledger)
    if options.dry_run:
        return Conclusion(plan(tasks, effort, folder=folder, fresh=options.fresh))
    found = perform(tasks, effort, ledger=ledger, options=options)
    return Conclusion(said(ledger, found, folder / PAGE))


def effort_of(options: Options, ledger: Ledger) -> Effort:
    settings = options.settings
    return Effort(settings.get("preset", STANDARD), settings.get("seed", ledger.seed), options.cores)


def default_folder(options: Options, name: str) -> Path:
    """A lesser preset goes elsewhere, so that the standard results of a declared study stay."""
    preset = options.settings.get("preset", STANDARD)
    if preset == STANDARD:
        return options.home or RESULTS / name
    return RESULTS / f"{name}-{preset}"


def perform(tasks: list[Task], effort: Effort, *, ledger: Ledger, options: Options) -> dict[str, Finding]:
    """Measure what is missing, judge, and write the reports of whole experiments: the findings by claim."""
    found = {}
    for experiment, name, folder, claims in tasks:
        folder.mkdir(parents=True, exist_ok=True)
        with sole_writer(folder):
            done = undertake(experiment, effort, folder=folder, claims=claims, fresh=options.fresh, say=options.say)
            if done.whole:
                how = {"command": replace(options, name=name).command, "figures": options.figures}
                write_experiment(done, folder, statements=ledger.statements, **how)
        found |= done.findings
        for id, finding in done.findings.items():
            options.say(f"claim {id}: {finding.verdict}")
    return found


def undertake(
    experiment: Experiment, effort: Effort, *, folder: Path, claims=None, fresh=False, say: Callable = print
) -> Done:
    """Measure what is missing, for these claims or for all that an experiment measures, and judge."""
    chosen = {id: rule for id, rule in experiment.judgements().items() if claims is None or id in claims}
    parts = needed(experiment, effort, claims)
    tables = measured(experiment, effort, folder=folder, parts=parts, fresh=fresh, say=say)
    findings = {id: rule({name: tables[name] for name in parts}) for id, (parts, rule) in chosen.items()}
    return Done(experiment, tables, findings, claims is None)


def needed(experiment: Experiment, effort: Effort, claims) -> list[str]:
    """The names of the tables that claims need, or of all."""
    judgements = experiment.judgements()
    names = None if claims is None else {name for id in claims for name in judgements[id].parts}
    return [name for name in experiment.parts(effort) if names is None or name in names]


def plan(tasks: list[Task], effort: Effort, *, folder: Path, fresh: bool) -> str:
    """What would be measured, and what is kept."""
    lines = []
    for experiment, _, place, claims in tasks:
        kept = not fresh and complete(experiment, effort, place)
        parts = ", ".join(needed(experiment, effort, claims))
        lines.append(f"{experiment.name}: {f'kept in {place}' if kept else parts}")
    return "\n".join([*lines, f"preset {effort.preset}, on {effort.workers} workers, into {folder}"])


def said(ledger: Ledger, found: dict[str, Finding], page: Path) -> str:
    """The verdicts in the order of the paper, how many of each, and where to read more."""
    lines = [f"{s.id:>4}  {found[s.id].verdict!s:<13} {s.title}" for s in ledger.statements if s.id in found]
    counts = Counter(finding.verdict for finding in found.values())
    tally = ", ".join(f"{counts[v]} {v}" for v in Verdict if counts[v])
    return "\n".join([*lines, "", tally, "", str(page)])
