"""A study from its declaration to its report: what is missing is run, the rest is read from the store."""

import hashlib
import json
import time
from contextlib import ExitStack
from dataclasses import replace
from functools import cache
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import NamedTuple

from ..claims import Planned
from ..display import counted, listing, one_line
from ..executors import place
from ..executors.progress import Progress, clock
from ..planning import forecast as estimate
from ..planning.expectations import expected, unjudged
from ..planning.forecast import COMPILE, Forecast
from ..report.terminal import summary
from ..store import Store, StoreError, holds_runs, pack_beside, set_aside, sole_writer
from ..verdict.analyse import Analysis
from . import hard, predictions
from .declare import PRESETS, Grid, Study
from .options import RERUN, RESULTS, Conclusion, Options
from .plan import cases, computed_curve, drafted, no_curve, workload
from .rendering import look, render
from .run import Aside, audit_of, check_costs, checked, run_units, surroundings, units_of

TAKEN = (*RERUN, "scheduler", "unit_timeout", "strict")  # settings that a study of rates understands
BYTES_PER_CELL, BASE_BYTES = 150, 250e6
MOST_PACKED = 10**6  # runs, which take about a minute
MOST_PREDICTED = 12  # cases that a dry run predicts, a second each
TOO_MANY = (
    f"what theory expects is shown for up to {MOST_PREDICTED} cases: name fewer families; these windows start at rough "
    "onsets, the study's own will follow from its predicted curves"
)


def concluded(study: Study, folder, options: Options) -> Conclusion:
    """Plan a study, or conduct it and say what came out."""
    asked = options.taken(*TAKEN)
    study = as_asked(study, options)
    folder = options.into(folder or options.home or RESULTS / study.name)
    if options.dry_run:
        return Conclusion(plan_text(study, folder, workers=options.cores, fresh=options.fresh, figures=options.figures))
    where = {"scheduler": asked.get("scheduler"), "unit_timeout": asked.get("unit_timeout"), "workers": options.workers}
    done = conduct(study, folder, fresh=options.fresh, figures=options.figures, say=options.say, **where)
    refuted = any(judged.name == "REFUTED" for result in done.analysis.results for judged in result.judged)
    return Conclusion(f"{summary(done.analysis)}\n\n{done.page}", done.given_up, refuted)


def as_asked(study: Study, options: Options) -> Study:
    """A study with the preset, replicates, seed and members that were asked for, and the command that reruns it."""
    asked = {name: value for name, value in options.settings.items() if name in RERUN}
    if preset := asked.pop("preset", None):
        grid, replicates = PRESETS[preset]
        asked = {"horizons": grid, "replicates": replicates} | asked
    return replace(study, **asked, command=study.command or options.command)


class Conducted(NamedTuple):
    """What a study came to: its analysis, the path of its report, and a sentence about every unit that was given up."""

    analysis: Analysis
    page: Path
    given_up: tuple[str, ...]


def conduct(
    study: Study, folder, *, scheduler=None, workers=None, fresh=False, figures=True, say=print, unit_timeout=None
) -> Conducted:
    """Run what the folder's store lacks, fit, judge and write the report."""
    folder = Path(folder)
    unit_timeout = checked(unit_timeout)
    drafts = drafted(study)  # what is wrong is said before anything is computed or written
    kernels = all(draft.algorithm.compiled for draft in drafts)
    kind, what = place(scheduler, workers, kernels=kernels, limited=unit_timeout is not None)
    check_costs(drafts)
    with ExitStack() as places:

        @cache
        def executor():
            made = kind(*what)
            places.callback(made.close)
            return made

        if "://" in (scheduler or "") and (fresh or not holds_runs(folder)):
            executor()  # where no scheduler answers, nothing is written
        folder.mkdir(parents=True, exist_ok=True)
        say(f"{study.name}: {study.question}")
        with sole_writer(folder):
            if fresh and (aside := set_aside(folder)):
                say(f"earlier runs were set aside as {aside}")
            with Store(folder, create=True) as store:
                planned = cases(study, _remembered(store), drafts)
                for sentence in filter(None, (unjudged(plan.case, study.margin) for plan in planned)):
                    say(sentence)
                _note_plan(store, described(study, planned))
                _run(study, planned, store=store, make_executor=executor, unit_timeout=unit_timeout)
                places.close()
                look(store, [plan.case for plan in planned])
                done = Conducted(*render(store, folder, figures), tuple(store.names("failed")))
                _pack(store, say)
                return done


def _pack(store, say):
    """The runs as a file that travels, unless that takes minutes."""
    if len(store) > MOST_PACKED:
        say(f"{store.path} is large and was not packed; `ratecheck pack {store.path.parent}` does it")
        return
    page, aside = pack_beside(store)
    if aside:
        say(f"{page} held more runs than {store.path}, or none that can be read; it was set aside as {aside}")


def _remembered(store):
    """Predicted curves: those of the folder's last plan, the others computed."""
    try:
        known = store.study()[1]
    except StoreError:
        return computed_curve
    found = {(case.series.digest, case.curve.horizons[0]): case.curve for case in known if case.curve}

    def curve(job, span, steps):
        known = found.get((job.series.digest, span[0]))
        return known if known and known.horizons[-1] >= span[1] else computed_curve(job, span, steps)

    return curve


def _note_plan(store, plan):
    """Remember the plan, and how many different ones this folder has seen since its first runs."""
    fixed = ("series", "horizons", "replicates", "window", "claims", "controls", "hard")
    rules = [plan[key] for key in ("margin", "resolution", "comparisons")]
    judged = [*rules, [{key: case[key] for key in fixed} for case in plan["cases"]]]
    digest = hashlib.sha256(json.dumps(judged, sort_keys=True).encode()).hexdigest()[:16]
    plans = store.names("plans") if len(store) else []
    if digest not in plans[-1:]:
        plans.append(digest)
    store.note("plans", plans)
    store.note("study", plan)
    store.study()  # what no report could be written about is refused before it runs


def _run(study, planned, *, store, make_executor, unit_timeout):
    asides = [*_about_cases(study, planned, store), *hard.lacking(planned, study, store)]
    to_run = [*planned, *hard.unfinished(planned, study, store)]
    executor = make_executor() if asides or units_of(to_run, store, study.noise, 1) else None
    store.note("failed", [])
    if executor is None:
        return
    start = time.monotonic()
    details = surroundings(executor)
    session = store.begin_session(details)
    progress = Progress([])
    try:
        units = units_of(to_run, store, study.noise, executor.slots)
        progress = Progress(units, asides=asides, slots=executor.slots)
        how = {"executor": executor, "session": session, "unit_timeout": unit_timeout}
        store.note("failed", run_units(units, store, progress=progress, asides=asides, **how).failed)
    finally:
        progress.close()
        store.end_session(session, details | {"seconds": round(time.monotonic() - start, 1)})


def _about_cases(study, planned, store) -> list[Aside]:
    known, asides = store.audits(), []
    for name, cost in {str(p.cost): p.cost for p in planned}.items():
        found = [(r["annotated"], getattr(cost.constants, r["constant"], r["annotated"])) for r in known.get(name, [])]
        if name not in known or any(then != today for then, today in found):  # the zoo annotates other constants
            asides.append(audit_of(cost))
    return [*asides, *predictions.lacking(planned, store)]


def described(study: Study, planned: list[Planned]) -> dict:
    grid = study.horizons
    horizons = f"{grid.first} to {grid.last}" if isinstance(grid, Grid) else ", ".join(map(str, grid))
    if isinstance(grid, Grid) and grid.periods is not None:
        horizons += (
            f", where the regret is log-periodic further until {grid.periods:g} periods lie beyond the onset (at most "
            f"{grid.cap})"
        )
    return {
        "name": study.name,
        "question": study.question,
        "margin": study.margin,
        "resolution": study.resolution,
        "command": study.command,
        "settings": {
            "seed": study.seed,
            "replicates": study.replicates,
            "noise": repr(study.noise),
            "alignment": study.alignment,
            "horizons": horizons,
            "hard families": _families(planned),
        },
        "cases": [p.case.to_json() for p in planned],
        "comparisons": study.comparisons(),
    }


def _families(planned) -> str:
    plans = [plan.case.hard for plan in planned]
    with_runs = [plan.horizons for plan in plans if plan.horizons]
    if not with_runs:
        return listing(list(dict.fromkeys(plan.reason for plan in plans)))
    steps = max(with_runs, key=len)
    return f"{plans[0].members} members at T = {listing([f'{h:,}' for h in steps], most=9)}, where a cost has one"


def _grids(planned):
    names = [one_line(p.case.name) for p in planned]
    wide = max(map(len, names))
    row = f"{{:{wide}}}{{:>6}}{{:>10}}{{:>8}}{{:>11}}{{:>13}}{{:>9}}{{:>10}}".format
    yield row("case", "runs", "horizons", "from", "to", "window from", "periods", "steps")
    for name, (case, _, _) in zip(names, planned, strict=True):
        first, last = case.horizons[0], case.horizons[-1]
        periods = f"{case.periods:.1f}" if case.period else "-"
        start = round(case.window[0])
        yield row(name, case.replicates, len(case.horizons), first, last, start, periods, f"{case.steps:.2g}")


def plan_text(study: Study, folder, *, workers: int, fresh: bool = False, figures: bool = True) -> str:
    """What would run, what theory expects of it, and an estimate of time and memory."""
    drafts = drafted(study)  # what is wrong is said at once
    few = len(drafts) <= MOST_PREDICTED
    with ExitStack() as stack:
        stored = holds_runs(folder) and not fresh
        nothing = {} if stored else {"folder": stack.enter_context(TemporaryDirectory()), "create": True}
        store = stack.enter_context(Store(**{"folder": folder} | nothing))
        curves = _remembered(store) if stored else computed_curve
        planned = cases(study, curves if few else no_curve, drafts)
        work, extra = workload(planned, store, workers), hard.workload(planned, store)
        beside = sum(aside.seconds for aside in _about_cases(study, planned, store))
    here, families = estimate.machine(), {plan.case.family for plan in planned}
    report = estimate.report(len(planned), len(families), figures)
    python = estimate.START + estimate.PLANNED * len(planned) * (not stored) + beside + extra.work.python + report
    runs, whole = Forecast(work.seconds), Forecast(work.seconds + extra.work.kernels, python)
    expectations = (f"{one_line(plan.case.name)}: {expected(plan.case, study.margin)}" for plan in planned)
    lines = [*_grids(planned), "", *(expectations if few else [TOO_MANY])]
    cells = sorted((p.algorithm.cells(p.cost, p.case.horizons[-1]) for p in planned), reverse=True)[:workers]
    memory = (BASE_BYTES + BYTES_PER_CELL * sum(cells)) / 1e9
    quiet = clock(whole.on(here._replace(load=1.0), workers))
    busy = f"; this machine is busy, on a quiet one {quiet}" if here.load > 1.5 else ""
    lines += [
        "",
        f"about {work.units} units to run, {work.steps:.2g} steps: about {clock(runs.on(here, workers))} on "
        f"{counted(workers, 'worker')}, about {memory:.2g} GB of memory",
        f"lower bounds: {extra.bounds} to certify, and {extra.runs} runs on members of their hard families, "
        f"{extra.steps:.2g} steps: about {clock(extra.work.on(here, workers))}"
        if extra.bounds or extra.runs
        else f"lower bounds: none to compute, no member of a hard family to run ({_families(planned)})",
        f"in all about {clock(whole.on(here, workers))}, audits, predictions and report included, and {COMPILE:.0f} s "
        f"to compile, once on a machine{busy}",
        f"into {folder}",
    ]
    return "\n".join(lines)
