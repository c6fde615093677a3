"""`python -m ratecheck.study --family quadratic`: run a study, or go on with it, and write its report."""

from __future__ import annotations

import argparse
import math
import shlex
import sys
from pathlib import Path

import function_zoo as zoo
from function_zoo.registry import InvalidChoice, lookup

from ..algorithms.registry import NAMED
from ..display import one_line
from ..executors.progress import speak
from .options import NOISES, SETTINGS, algorithms, check_answers, horizons, noise, scheduler, seconds
from .parser import (
    EXIT_WRONG_INPUT,
    Parser,
    completing,
    folder,
    guarded,
    natural,
    sentence,
    some,
    whole,
    workers,
    writable,
)
from .signals import until_stopped

DIMS = (1, 2, 3)
CODE = """what executes code:
  --study executes the study.py that it names, with all that it imports, as you; plug-in algorithms and costs come with
  it.  A Dask scheduler and its workers exchange code and pickles with this process: name only those that you trust.
  --family, --list and the store of a folder execute no code but ratecheck's own; --dry-run still executes a study.py.
"""
RESULTS = Path("results")
FIXED = ("dims", "algorithms", "horizons", *SETTINGS, "alignment", "noise")  # by a declared study itself
TIMEOUT = (
    "end a unit of work that takes longer, in processes (then the default) or on Dask; it is tried three times, then "
    "given up (default: 20 times what finished units of its series took or what is estimated, 1000 times for a "
    "plug-in, at least 60)"
)
NOT_OF_CLAIMS = (
    *FIXED,
    "replicates",
    "members",
    "scheduler",
    "unit_timeout",
    "tls_ca",
    "tls_cert",
    "tls_key",
    "strict",
)
TLS = {"ca": "who is trusted (PEM)", "cert": "our certificate", "key": "our private key"}
EXIT_GIVEN_UP = 1  # also a full disk, a lost cluster and a plug-in that is not deterministic
EXIT_IF_REFUTED = 3


def main(argv=None, prog="python -m ratecheck.study") -> int:
    parser = make_parser(prog)
    arguments = parser.parse_args(argv)
    if not arguments.list and (arguments.family is None) == (arguments.study is None):
        parser.error("name what to study: --family NAME ... (or all), or --study NAME; --list shows both")
    return guarded(_study, arguments)


def _study(arguments) -> int:
    folder = []  # as soon as it is known

    def farewell():
        kept = f"finished units are in {folder[0]}, and " if folder else ""
        speak(f"stopped; {kept}the same command goes on from there")

    return until_stopped(farewell, _main, arguments, folder)


def _main(arguments, known) -> int:
    if arguments.list:
        print(listing())
        return 0
    from ..engine.simulate import EngineError, available_cores
    from ..executors import ExecutorError, ExecutorLost, place, tls_files
    from ..store import StoreError, StoreFull, Unreadable, holds_runs
    from ..study.conduct import conduct, plan_text
    from ..study.declare import Study
    from ..study.declared import declaration, home_of
    from ..study.determinism import NotDeterministic

    if arguments.study is not None and not isinstance(other := declaration(arguments.study), Study):
        return _undertake(other, arguments, known)
    if arguments.claim is not None:
        raise ValueError("--claim belongs to a ledger of claims, such as --study claims")
    study = ad_hoc(arguments) if arguments.study is None else declared_study(arguments)
    home = None if arguments.study is None else home_of(arguments.study)
    folder = arguments.out or writable(home or RESULTS / study.name)
    known.append(folder)
    try:
        tls = [getattr(arguments, f"tls_{name}") for name in TLS]
        where = (arguments.scheduler, arguments.workers)
        place(*where, tls=tls_files(*tls), limited=arguments.unit_timeout is not None)  # or it means nothing
        if arguments.dry_run:
            workers = arguments.workers or available_cores()
            print(plan_text(study, folder, workers, arguments.fresh, not arguments.no_figures))
            return 0
        if "://" in (arguments.scheduler or "") and (arguments.fresh or not holds_runs(folder)):
            check_answers(arguments.scheduler, tls_files(*tls))
        how = {"unit_timeout": arguments.unit_timeout, "tls": tls}
        done = conduct(study, folder, *where, arguments.fresh, not arguments.no_figures, speak, **how)
    except (StoreFull, Unreadable, ExecutorLost, NotDeterministic, EngineError) as error:
        return _complain(error, EXIT_GIVEN_UP)
    except (StoreError, ExecutorError) as error:
        return _complain(error, EXIT_WRONG_INPUT)
    return _conclude(done, arguments.strict)


def _undertake(study, arguments, known) -> int:
    """Run a ledger of claims, or one of its experiments."""
    from studies.claims.ledger.undertaking import default_folder, plan, run

    from ..store import StoreError, StoreFull
    from ..study.declared import home_of

    for name in given(arguments, NOT_OF_CLAIMS):
        raise ValueError(f"--{name.replace('_', '-')} belongs to studies of rates, not to claims")
    folder = arguments.out or default_folder(home_of(arguments.study), arguments.study, arguments, RESULTS)
    if arguments.dry_run:
        print(plan(study, arguments, folder))
        return 0
    known.append(writable(folder))
    try:
        print(run(study, arguments, folder, command(arguments), speak))
    except StoreFull as error:
        return _complain(error, EXIT_GIVEN_UP)
    except StoreError as error:
        return _complain(error, EXIT_WRONG_INPUT)
    return 0


def _conclude(done, strict) -> int:
    """Say what came out, and what did not."""
    from ..report.terminal import summary

    print(summary(done.analysis))
    print(f"\n{done.page}")
    if done.given_up:
        units = "a unit of work was" if len(done.given_up) == 1 else f"{len(done.given_up)} units of work were"
        reasons = "\n".join(f"  {one_line(reason)}" for reason in done.given_up)
        return _complain(f"{units} given up, and the same command tries again:\n{reasons}", EXIT_GIVEN_UP)
    refuted = any(judged.name == "REFUTED" for result in done.analysis.results for judged in result.judged)
    return EXIT_IF_REFUTED if strict and refuted else 0


def _complain(error, code) -> int:
    print(f"error: {sentence(error) if isinstance(error, Exception) else error}", file=sys.stderr)
    return code


def make_parser(prog) -> argparse.ArgumentParser:
    parser = Parser(prog=prog, description=__doc__, epilog=CODE, formatter_class=argparse.RawDescriptionHelpFormatter)
    what = parser.add_argument_group("what to study")
    family = what.add_argument("--family", type=some, nargs="+", metavar="NAME", help="families of the zoo, or all")
    completing(family, [*zoo.families(), "all"])
    study = what.add_argument(
        "--study",
        type=some,
        metavar="NAME",
        help="a declared study, which is executed: studies/NAME/study.py, or a folder",
    )
    completing(study, "studies")
    what.add_argument(
        "--claim", type=some, nargs="+", metavar="N", help="of a ledger such as --study claims: these claims only"
    )
    what.add_argument("--list", action="store_true", help="show families, algorithms, declared studies and presets")
    how = parser.add_argument_group("how (a declared study fixes this itself, apart from replicates, members and seed)")
    how.add_argument("--dims", type=whole, nargs="+", metavar="D", help="dimensions (default: 1 2 3, where they exist)")
    usual = [entry.name for entry in NAMED.values() if entry.default]
    how.add_argument("--algorithms", nargs="+", choices=tuple(NAMED), default=usual, help=f"default: {' '.join(usual)}")
    for option, (name, text) in SETTINGS.items():
        how.add_argument(f"--{option}", nargs="+", metavar=option.upper(), help=f"of {name}: {text}")
    how.add_argument(
        "--preset", choices=("quick", "standard", "full"), help="horizons and replicates (default: standard)"
    )
    how.add_argument("--horizons", metavar="FROM:TO[:RATIO]", help="such as 2^10:2^20, 1e3:1e6:1.5 or 1000,2000,4000")
    how.add_argument("--replicates", type=whole, metavar="N")
    how.add_argument(
        "--members",
        type=natural,
        metavar="N",
        help="of the hard family of a cost and horizon, on which Theorem 3 is judged, beside a certified lower bound "
        "(default 6; 0: no bound, no family, and Theorem 3 is not judged)",
    )
    how.add_argument("--seed", type=natural, metavar="SEED", help="default 0")
    how.add_argument("--alignment", choices=("random", "fixed"), default="random")
    completing(how.add_argument("--noise", default="gaussian", metavar="LAW[:SIGMA]", help=", ".join(NOISES)), NOISES)
    _where(parser.add_argument_group("where"))
    parser.add_argument("--no-figures", action="store_true")
    parser.add_argument("--dry-run", action="store_true", help="show the plan, with time and memory, and run nothing")
    parser.add_argument("--strict", action="store_true", help=f"exit code {EXIT_IF_REFUTED} if a theorem is REFUTED")
    return parser


def _where(group):
    group.add_argument("--workers", type=workers, metavar="N", help="threads or processes (default: all cores)")
    where = group.add_argument(
        "--scheduler", type=scheduler, metavar="ADDRESS", help="threads, processes, local:N or a Dask tcp://host:port"
    )
    completing(where, ["threads", "processes", "local:"])
    for name, text in TLS.items():
        group.add_argument(f"--tls-{name}", type=Path, metavar="FILE", help=f"for a Dask tls://host:port: {text}")
    group.add_argument("--unit-timeout", type=seconds, metavar="SECONDS", help=TIMEOUT)
    group.add_argument(
        "--out", type=folder, metavar="DIR", help="default: results/NAME, or the declared study's folder"
    )
    again = group.add_mutually_exclusive_group()
    again.add_argument("--resume", action="store_true", help="go on with what the folder holds (the default)")
    again.add_argument("--fresh", action="store_true", help="set earlier runs of the folder aside and start anew")


# From arguments to a study


def ad_hoc(arguments):
    from ..study.declare import PRESETS, Study

    names = [name for n in arguments.family for name in (zoo.families() if n == "all" else [lookup(n).name])]
    names = list(dict.fromkeys(names))
    grid, replicates = PRESETS[arguments.preset or "standard"]
    if arguments.horizons is not None:
        grid = horizons(arguments.horizons)
    chosen = algorithms(arguments.algorithms, given(arguments, SETTINGS))
    return Study(
        name="all" if names == list(zoo.families()) else "+".join(names),
        question=question(names, [algorithm.label for algorithm in chosen]),
        costs=costs(names, arguments.dims),
        algorithms=chosen,
        horizons=grid,
        replicates=replicates if arguments.replicates is None else arguments.replicates,
        seed=arguments.seed or 0,
        noise=noise(arguments.noise),
        alignment=arguments.alignment,
        command=command(arguments),
        **given(arguments, ("members",)),
    )


def question(names, labels) -> str:
    which, whose = (" and ".join(filter(None, [", ".join(x[:-1]), x[-1]])) for x in (names, labels))
    return f"On {which}, does the regret of {whose} grow as theory says?"


def costs(names, dims) -> tuple:
    dims = dims and tuple(dict.fromkeys(dims))
    if dims is not None and (len(names) == 1 or min(dims) < 1):
        return tuple(zoo.get(name, dim) for name in names for dim in dims)
    found = tuple(zoo.get(name, d) for name in names for d in dims or DIMS if d in lookup(name).dims)
    if not found:
        raise InvalidChoice(f"none of these families exists in dimension {' or '.join(map(str, dims))}")
    return found


def declared_study(arguments):
    from dataclasses import replace

    from ..study.declare import with_preset
    from ..study.declared import declared

    for name in given(arguments, FIXED):
        raise ValueError(f"--{name} belongs to --family; a declared study fixes it in its study.py")
    study = declared(arguments.study)
    if arguments.preset is not None:
        study = with_preset(study, arguments.preset)
    return replace(study, **given(arguments, ("replicates", "seed", "members")), command=command(arguments))


def command(arguments) -> str:
    """What gives the same runs and verdicts, wherever it runs."""
    words = ["python -m ratecheck.study"]
    if arguments.study is not None:
        words.append(f"--study {shlex.quote(arguments.study)}")
    else:
        words.append("--family " + " ".join(arguments.family))
    for name, value in given(arguments, (*FIXED, "preset", "replicates", "seed", "members")).items():
        values = value if isinstance(value, list) else [value]
        words.append(f"--{name} " + " ".join(shlex.quote(str(v)) for v in values))
    return " ".join(words)


def given(arguments, names) -> dict:
    """Those of the options that were not left at their default."""
    defaults = vars(make_parser("").parse_args([]))
    return {name: getattr(arguments, name) for name in names if getattr(arguments, name) != defaults[name]}


def listing() -> str:
    from ..study.declare import PRESETS
    from ..study.declared import known_studies

    lines = ["families: " + ", ".join(zoo.families()), "algorithms: " + ", ".join(NAMED)]
    lines += ["declared studies: " + ", ".join(known_studies())]
    for name, (grid, replicates) in PRESETS.items():
        first, last, cap = (f"2^{math.log2(number):g}" for number in (grid.first, grid.last, grid.cap))
        lines.append(
            f"preset {name}: T = {first} to {last}, further to {cap} where a period and an onset ask for it, "
            f"{replicates} replicates"
        )
    return "\n".join(lines)
