"""`python -m ratecheck.study --family quadratic`: run a study, or go on with it, and write its report."""

import argparse
import math
import sys
from dataclasses import replace

import function_zoo as zoo
from function_zoo.registry import InvalidChoice, lookup

from ..algorithms.registry import NAMED
from ..display import one_line
from ..executors.progress import speak
from ..study.options import RERUN, Options, command_line
from .options import NOISES, SETTINGS, algorithms, horizons, noise, seconds
from .parser import (
    EXIT_REFUTED,
    EXIT_WRONG_INPUT,
    Parser,
    completing,
    folder,
    guarded,
    natural,
    sentence,
    some,
    whole_number,
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
FIXED = ("dims", "algorithms", "horizons", *SETTINGS, "alignment", "noise")  # by a declared study itself
TIMEOUT = (
    "end a unit of work that takes longer, in processes (then the default) or on Dask; it is tried three times, then "
    "given up (default: 20 times what finished units of its series took or what is estimated, 1000 times for a "
    "plug-in, at least 60)"
)
MEMBERS = (
    "of the hard family of a cost and horizon, on which Theorem 3 is judged, beside a certified lower bound (default "
    "6; 0: no bound, no family, and Theorem 3 is not judged)"
)
ANYWHERE = ("scheduler", "unit_timeout", "strict", "claim")  # settings of any study
EXIT_GIVEN_UP = 1  # also a full disk, a lost cluster and a plug-in that is not deterministic


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
    from ..engine.errors import ExecutorLost
    from ..engine.simulate import EngineError
    from ..executors import ExecutorError, place
    from ..store import StoreError, StoreFull, Unreadable
    from ..study.determinism import NotDeterministic

    def into(folder):
        known.append(writable(folder))
        return folder

    try:
        place(arguments.scheduler, arguments.workers, limited=arguments.unit_timeout is not None)  # or it means nothing
        study, options = ad_hoc(arguments) if arguments.study is None else declared_study(arguments)
        done = study.conduct(arguments.out, replace(options, into=into))
    except (StoreFull, Unreadable, ExecutorLost, NotDeterministic, EngineError) as error:
        return _complain(error, EXIT_GIVEN_UP)
    except (StoreError, ExecutorError) as error:
        return _complain(error, EXIT_WRONG_INPUT)
    return _conclude(done, arguments.strict)


def _conclude(done, strict) -> int:
    """Say what came out, and what did not."""
    print(done.said)
    if done.given_up:
        units = "a unit of work was" if len(done.given_up) == 1 else f"{len(done.given_up)} units of work were"
        reasons = "\n".join(f"  {one_line(reason)}" for reason in done.given_up)
        return _complain(f"{units} given up, and the same command tries again:\n{reasons}", EXIT_GIVEN_UP)
    return EXIT_REFUTED if strict and done.refuted else 0


def _complain(error, code) -> int:
    print(f"error: {sentence(error) if isinstance(error, Exception) else error}", file=sys.stderr)
    return code


def make_parser(prog) -> argparse.ArgumentParser:
    parser = Parser(prog, __doc__, CODE, formatter_class=argparse.RawDescriptionHelpFormatter)
    what = parser.add_argument_group("what to study")
    family = what.add_argument("--family", type=some, nargs="+", metavar="NAME", help="families of the zoo, or all")
    completing(family, [*zoo.families(), "all"])
    declared = "a declared study, which is executed: studies/NAME/study.py, or a folder"
    what.add_argument("--study", type=some, metavar="NAME", help=declared)
    what.add_argument("--claim", type=some, nargs="+", metavar="N", help="of a study of claims: these only")
    what.add_argument("--list", action="store_true", help="show families, algorithms, declared studies and presets")
    how = parser.add_argument_group("how (a declared study fixes this itself, apart from replicates, members and seed)")
    how.add_argument("--dims", type=whole_number, nargs="+", metavar="D", help="default: 1 2 3, where they exist")
    usual = [entry.name for entry in NAMED.values() if entry.default]
    how.add_argument("--algorithms", nargs="+", choices=tuple(NAMED), default=usual, help=f"default: {' '.join(usual)}")
    for option, (name, text) in SETTINGS.items():
        how.add_argument(f"--{option}", nargs="+", metavar=option.upper(), help=f"of {name}: {text}")
    how.add_argument("--preset", choices=("quick", "standard", "full"), help="of horizons and replicates")
    how.add_argument("--horizons", metavar="FROM:TO[:RATIO]", help="such as 2^10:2^20, 1e3:1e6:1.5 or 1000,2000,4000")
    how.add_argument("--replicates", type=whole_number, metavar="N")
    how.add_argument("--members", type=natural, metavar="N", help=MEMBERS)
    how.add_argument("--seed", type=natural, metavar="SEED", help="default 0")
    how.add_argument("--alignment", choices=("random", "fixed"), default="random")
    how.add_argument("--noise", default="gaussian", metavar="LAW[:SIGMA]", help=", ".join(NOISES))
    where = parser.add_argument_group("where")
    where.add_argument("--workers", type=workers, metavar="N", help="threads or processes (default: all cores)")
    places = "threads, processes, local:N or a Dask tcp://host:port"
    where.add_argument("--scheduler", type=some, metavar="ADDRESS", help=places)
    where.add_argument("--unit-timeout", type=seconds, metavar="SECONDS", help=TIMEOUT)
    where.add_argument("--out", type=folder, metavar="DIR", help="default: results/NAME, or the declared one's folder")
    where.add_argument("--fresh", action="store_true", help="set earlier runs of the folder aside and start anew")
    parser.add_argument("--no-figures", action="store_true")
    parser.add_argument("--dry-run", action="store_true", help="show the plan, with time and memory, and run nothing")
    parser.add_argument("--strict", action="store_true", help=f"exit code {EXIT_REFUTED} if a theorem is REFUTED")
    return parser


# From arguments to a study


def ad_hoc(arguments) -> tuple:
    """The study that --family asks for, and how to conduct it."""
    from ..study.declare import PRESETS, Study

    names = [name for n in arguments.family for name in (zoo.families() if n == "all" else [lookup(n).name])]
    names = list(dict.fromkeys(names))
    grid, replicates = PRESETS[arguments.preset or "standard"]
    if arguments.horizons is not None:
        grid = horizons(arguments.horizons)
    chosen = algorithms(arguments.algorithms, given(arguments, SETTINGS))
    study = Study(
        name="all" if names == list(zoo.families()) else "+".join(names),
        question=question(names, [algorithm.label for algorithm in chosen]),
        costs=costs(names, arguments.dims),
        algorithms=chosen,
        horizons=grid,
        replicates=replicates if arguments.replicates is None else arguments.replicates,
        seed=arguments.seed or 0,
        noise=noise(arguments.noise),
        alignment=arguments.alignment,
        command=command_line({"family": arguments.family} | given(arguments, (*FIXED, *RERUN))),
        **given(arguments, ("members",)),
    )
    return study, options(arguments, given(arguments, ANYWHERE))


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


def declared_study(arguments) -> tuple:
    """What a study.py declares, and how to conduct it."""
    from ..study.declared import declaration, home_of

    for name in given(arguments, FIXED):
        raise ValueError(f"--{name} belongs to --family; a declared study fixes it in its study.py")
    study = declaration(arguments.study)
    return study, options(arguments, given(arguments, (*RERUN, *ANYWHERE)), home_of(arguments.study))


def options(arguments, settings, home=None) -> Options:
    how = {"workers": arguments.workers, "fresh": arguments.fresh, "dry_run": arguments.dry_run}
    return Options(arguments.study or "", settings, home, figures=not arguments.no_figures, say=speak, **how)


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
