"""A study of rates as a command line asks for it."""

from __future__ import annotations

from dataclasses import replace

from ..report.terminal import summary
from .conduct import conduct, plan_text
from .declare import Study, with_preset
from .options import RERUN, RESULTS, Conclusion, Options

TAKEN = (*RERUN, "scheduler", "unit_timeout", "strict")


def concluded(study: Study, folder, options: Options) -> Conclusion:
    """Plan a study, or conduct it and say what came out."""
    asked = options.taken(*TAKEN)
    study = as_asked(study, options)
    folder = options.into(folder or options.home or RESULTS / study.name)
    if options.dry_run:
        return Conclusion(plan_text(study, folder, workers=options.cores, fresh=options.fresh, figures=options.figures))
    done = conduct(
        study,
        folder,
        scheduler=asked.get("scheduler"),
        workers=options.workers,
        fresh=options.fresh,
        figures=options.figures,
        say=options.say,
        unit_timeout=asked.get("unit_timeout"),
    )
    refuted = any(judged.name == "REFUTED" for result in done.analysis.results for judged in result.judged)
    return Conclusion(f"{summary(done.analysis)}\n\n{done.page}", done.given_up, refuted)


def as_asked(study: Study, options: Options) -> Study:
    """A study with the preset, replicates, seed and members that were asked for, and the command that reruns it."""
    asked = {name: value for name, value in options.settings.items() if name in RERUN}
    preset = asked.pop("preset", None)
    study = study if preset is None else with_preset(study, preset)
    return replace(study, **asked, command=study.command or options.command)
