"""A declared ledger of claims, or one of its experiments, as the command runs it."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable
from contextlib import ExitStack
from pathlib import Path

from ratecheck.arguments import available_cores, meant
from ratecheck.store import sole_writer
from ratecheck.study.declared import declaration
from studies.claims.ledger import Effort, Experiment, Ledger, Verdict
from studies.claims.ledger.keeping import complete
from studies.claims.ledger.running import undertake, write_experiment, write_ledger

STANDARD = "standard"
LEDGER = "claims"  # whose statements an experiment's report shows


def effort_of(arguments) -> Effort:
    seed = _ledger().seed if arguments.seed is None else arguments.seed
    return Effort(arguments.preset or STANDARD, seed, arguments.workers or available_cores())


def default_folder(home: Path | None, name: str, arguments, results: Path) -> Path:
    """A lesser preset goes elsewhere, so that the standard results of a declared study stay."""
    if home is not None and effort_of(arguments).preset == STANDARD:
        return home
    return results / (name if effort_of(arguments).preset == STANDARD else f"{name}-{effort_of(arguments).preset}")


def experiments_of(ledger: Ledger, name: str) -> dict[str, Experiment]:
    """Its experiments, as declared in the folders below its own."""
    found = {}
    for experiment in ledger.experiments:
        found[experiment] = declaration(f"{name}/{experiment}")
        if not isinstance(found[experiment], Experiment):
            raise ValueError(f"studies/{name}/{experiment}/study.py declares no Experiment")
    decided = {id: name for name, experiment in found.items() for id in experiment.judgements()}
    for s in ledger.statements:
        if decided.get(s.id) != s.study:
            raise ValueError(f"claim {s.id} is to be decided by {s.study!r}, which does not")
    return found


def plan(study: Ledger | Experiment, arguments, folder: Path) -> str:
    """What would be measured, and what is kept."""
    effort, lines = effort_of(arguments), []
    for experiment, place, claims in _work(study, arguments, folder):
        done = not arguments.fresh and complete(experiment, effort, place)
        parts = ", ".join(_parts(experiment, effort, claims))
        lines.append(f"{experiment.name}: {'kept in ' + str(place) if done else parts}")
    return "\n".join([*lines, f"preset {effort.preset}, on {effort.workers} workers, into {folder}"])


def _parts(experiment, effort, claims) -> list[str]:
    judgements = experiment.judgements()
    needed = None if claims is None else {name for id in claims for name in judgements[id].parts}
    return [name for name in experiment.parts(effort) if needed is None or name in needed]


def _work(study, arguments, folder) -> list[tuple[Experiment, Path, list[str] | None]]:
    """Experiments, their folders and the claims they are asked about, None for all of it."""
    ids = arguments.claim
    if isinstance(study, Experiment):
        known = study.judgements()
        for id in ids or ():
            if id not in known:
                raise ValueError(f"{study.name} decides no claim {id}{meant(id, known)} (claims: {', '.join(known)})")
        return [(study, folder, ids)]
    chosen = study.chosen(ids)
    work = []
    for name, experiment in experiments_of(study, arguments.study).items():
        mine = [s.id for s in chosen if s.study == name]
        if mine:
            work.append((experiment, folder / name, mine if ids else None))
    return work


def run(study: Ledger | Experiment, arguments, folder: Path, command: str, say: Callable) -> str:
    """Measure what is missing, judge, write the reports; what to print at the end."""
    effort, found = effort_of(arguments), {}
    ledger = study if isinstance(study, Ledger) else _ledger()
    folder.mkdir(parents=True, exist_ok=True)
    for experiment, place, claims in _work(study, arguments, folder):
        with ExitStack() as stack:
            place.mkdir(parents=True, exist_ok=True)
            stack.enter_context(sole_writer(place))
            done = undertake(experiment, effort, place, claims, arguments.fresh, say)
            if done.whole:
                mine = (
                    command
                    if study is experiment
                    else command.replace(study.name, f"{study.name}/{experiment.name}", 1)
                )
                write_experiment(done, place, ledger.statements, mine, not arguments.no_figures)
        found |= done.findings
        for id, finding in done.findings.items():
            say(f"claim {id}: {finding.verdict}")
    page = folder / "report.md"
    if isinstance(study, Ledger):
        with sole_writer(folder):
            page = write_ledger(study, found, folder, effort, command, not arguments.no_figures)
    return "\n".join([*_lines(ledger, found), "", _tally(found), "", str(page)])


def _ledger() -> Ledger:
    return declaration(LEDGER)


def _lines(ledger, found):
    """In the order of the paper."""
    titles = {s.id: s.title for s in ledger.statements}
    for id in sorted(found, key=list(titles).index):
        yield f"{id:>4}  {found[id].verdict!s:<13} {titles[id]}"


def _tally(found) -> str:
    counts = Counter(finding.verdict for finding in found.values())
    return ", ".join(f"{counts[v]} {v}" for v in Verdict if counts[v])
