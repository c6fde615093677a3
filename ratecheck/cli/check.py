"""`ratecheck check`: an algorithm and a cost of one's own against a rate."""

import argparse
import re
import sys
from pathlib import Path

import function_zoo as zoo

from ..algorithms.registry import NAMED
from ..arguments import meant
from ..study.load import CannotLoad, module_at, module_named
from .options import NOISES, horizons, noise
from .parser import EXIT_REFUTED, Mistake, Parser, completing, folder, natural, real_number, some, whole_number, workers

EXIT_FAILED = 1
EXAMPLES = """A class has ask() -> x and tell(x, y), and is made with those of dim, lower, upper, horizon, rng, seed
and sigma that its parameters name.  ask() may also return an (m, d) array; then tell is given m values.

It imports the modules that --algorithm, --cost and --rate name, which executes their code, and no code but
that and this project's own; modules of the current folder are found, and a file may be named by its path.

  ratecheck check --algorithm my_module:MyBandit --cost my_module:f --box -1 1 --rate "T^(2/3) (ln T)^(1/3)"
  ratecheck check --algorithm ./bandits.py:MyBandit --cost cone --dim 2 --rate "sqrt(T) ln T" --budget "5 min"
  ratecheck check --algorithm adaptive --cost ./costs.py:f --box -1 1 -2 2 --report results/adaptive

Exit code 0 says that it ran, 2 that the input was wrong, 1 that the algorithm or the cost failed, 130 that it was
stopped, and with --strict 3 that the rate was REFUTED.
"""


def make_parser(prog) -> Parser:
    does = "Does an algorithm, on a cost, converge at a rate?  Run, fit and judge within a time budget."
    parser = Parser(prog, does, EXAMPLES, formatter_class=argparse.RawDescriptionHelpFormatter)
    what = parser.add_argument_group("what")
    code = {"type": some, "required": True, "metavar": "MODULE:NAME"}
    which = f"a class with ask and tell, or one of {', '.join(NAMED)}"
    completing(what.add_argument("--algorithm", help=which, **code), NAMED)
    which = "a function of x, a Cost, or a family of the zoo"
    completing(what.add_argument("--cost", help=which, **code), zoo.families())
    ends = "of a function: low and high, for all coordinates or for each"
    what.add_argument("--box", type=real_number, nargs="+", metavar="END", help=ends)
    what.add_argument("--dim", type=whole_number, metavar="D", help="default: as many as --box has pairs")
    claim = "such as 'T^(2/3) (ln T)^(1/3)', or MODULE:NAME; default: its own claim"
    what.add_argument("--rate", type=some, metavar="RATE", help=claim)
    what.add_argument("--kind", choices=("upper", "lower"), help="of the bound (default: upper)")
    what.add_argument("--minimum", type=real_number, metavar="F", help="of a function (default: it is searched for)")
    what.add_argument("--maximum", type=real_number, metavar="F", help="of a reward, with --maximise")
    what.add_argument("--maximise", action="store_true", help="the function is a reward, and tell is given rewards")
    how = parser.add_argument_group("how")
    how.add_argument("--budget", type=some, metavar="TIME", help="such as '2 min', '30 s' or 1h (default: 1 min)")
    how.add_argument("--horizons", type=some, metavar="LIST", help="such as 2^8:2^16, 1e3:1e6:2 or 1000,2000,4000")
    how.add_argument("--replicates", type=whole_number, metavar="N")
    how.add_argument("--noise", default="gaussian", metavar="LAW[:SIGMA]", help=f"{', '.join(NOISES)}, or a number")
    how.add_argument("--seed", type=natural, default=0, metavar="SEED", help="default 0")
    how.add_argument("--anytime", action="store_true", default=None, help="one run serves all horizons")
    how.add_argument("--workers", type=workers, metavar="N", help="threads or processes (default: all cores)")
    how.add_argument("--margin", type=real_number, metavar="M", help="of the slope (default: 0.05)")
    parser.add_argument("--report", type=folder, metavar="DIR", help="write report.md, figures and runs.csv there")
    parser.add_argument("--quiet", action="store_true", help="say nothing meanwhile")
    parser.add_argument("--strict", action="store_true", help=f"exit code {EXIT_REFUTED} if the rate is REFUTED")
    return parser


def main(argv=None, prog="ratecheck check") -> int:
    arguments = make_parser(prog).parse_args(argv)
    from ..executors.progress import speak
    from .signals import until_stopped

    return until_stopped(lambda: speak("stopped; nothing was judged"), _checked, arguments)


def _checked(arguments) -> int:
    if arguments.report is not None:
        from ..report.check_page import check_folder

        check_folder(arguments.report)
    if str(Path.cwd()) not in sys.path:
        sys.path.insert(0, str(Path.cwd()))
    algorithm, cost, rate = arguments.algorithm, arguments.cost, arguments.rate
    if algorithm not in NAMED:
        algorithm = found("--algorithm", algorithm, NAMED)
    if cost not in zoo.families():
        cost = found("--cost", cost, zoo.families())
    if rate is not None and re.fullmatch(r"[\w./\\-]+:[\w.]+", rate):
        rate = found("--rate", rate, ())
    from ..algorithms.asktell import AlgorithmError
    from ..check.run import check
    from ..planning.grid import horizons_of

    same = ("kind", "budget", "replicates", "seed", "anytime", "workers", "minimum", "maximum", "dim", "quiet")
    options = {name: getattr(arguments, name) for name in same}
    options |= {"margin": arguments.margin} if arguments.margin is not None else {}
    if arguments.horizons is not None:
        options["horizons"] = horizons_of(horizons(arguments.horizons), 2.0**4, 1.0, None)
    options |= {"maximise": arguments.maximise or None, "box": _box(arguments.box), "noise": _noise(arguments.noise)}
    try:
        done = check(algorithm, cost, rate, **options)
    except AlgorithmError as error:
        return _failed(error)
    print(done, flush=True)
    if not _written(done, arguments.report):
        return EXIT_FAILED
    return EXIT_REFUTED if arguments.strict and done.verdict.name == "REFUTED" else 0


def _written(done, folder) -> bool:
    """Whether the report could be written; what was found is said either way."""
    try:
        if folder is not None:
            print(done.report(folder))
    except BrokenPipeError:
        raise
    except OSError as error:
        lost = f"{folder} cannot be written ({error.strerror or error})"
        print(f"error: {lost}; the verdict is the one above", file=sys.stderr)
        return False
    return True


def _failed(error) -> int:
    import traceback

    cause = error.__cause__
    text = getattr(cause, "text", None) or "".join(traceback.format_exception(cause))
    print(f"{text.rstrip()}\nerror: {error}", file=sys.stderr)
    return EXIT_FAILED


def _box(ends):
    if ends is None:
        return None
    if len(ends) % 2:
        raise ValueError(f"--box has {len(ends)} numbers; give low and high, once or for each coordinate")
    pairs = list(zip(ends[::2], ends[1::2], strict=True))
    return pairs[0] if len(pairs) == 1 else pairs


def _noise(text):
    try:
        return real_number(text)
    except Mistake:
        return noise(text)


def found(option, text, known):
    """The object that MODULE:NAME or PATH.py:NAME names; importing it executes code."""
    source, _, names = text.rpartition(":")
    if not (source and names):
        listed = f"{meant(text, known)} ({', '.join(known)})" if known else ""
        raise ValueError(f"{option} {text}: nothing has this name{listed}; code of yours is written MODULE:NAME")
    thing = _module(option, source)
    for name in names.split("."):
        if not hasattr(thing, name):
            public = [other for other in dir(thing) if not other.startswith("_")]
            raise ValueError(f"{option} {text}: {source} has no {name}{meant(name, public)}")
        thing = getattr(thing, name)
    return thing


def _module(option, source):
    by_path = source.endswith(".py") or "/" in source
    try:
        if not by_path:
            return module_named(source)
        if Path(source).is_file():
            return module_at(source)
    except CannotLoad as error:
        raise ValueError(f"{option}: {error}") from error
    except ModuleNotFoundError:
        pass
    near = sorted(Path(source).parent.glob("*.py") if by_path else Path.cwd().glob("*.py"))
    near = [str(path) if by_path else path.stem for path in near]
    what = "file" if by_path else "module"
    raise ValueError(f"{option}: there is no {what} {source}{meant(source.removeprefix('./'), near)}")
