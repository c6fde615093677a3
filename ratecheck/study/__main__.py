"""`python -m ratecheck.study --family quadratic`: run a study, or go on with it, and write its report."""

from __future__ import annotations

import argparse
import errno
import importlib
import importlib.util
import math
import re
import shlex
import sys
from pathlib import Path

import function_zoo as zoo
from function_zoo.commandline import Parser, guarded, natural, whole
from function_zoo.registry import InvalidChoice, lookup

DIMS = (1, 2, 3)
ALGORITHMS = ("uniform", "adaptive")
NOISES = {"gaussian": "Gaussian", "uniform": "Uniform", "rademacher": "Rademacher", "student": "StudentT"}
DECLARED = Path("studies")
RESULTS = Path("results")
FIXED = ("dims", "algorithms", "horizons", "mu", "alignment", "noise")  # by the declaration of a declared study
REFUTED = 3
STOPPED = 130


def main(argv=None, prog="python -m ratecheck.study") -> int:
    parser = make_parser(prog)
    arguments = parser.parse_args(argv)
    if not arguments.list and (arguments.family is None) == (arguments.study is None):
        parser.error("name what to study: --family NAME ... (or all), or --study NAME; --list shows both")
    return guarded(_main, arguments)


def _main(arguments) -> int:
    if arguments.list:
        print(listing())
        return 0
    from ..engine import available_cores
    from ..executors import ExecutorError, ExecutorLost
    from ..store import StoreError, StoreFull
    from .conduct import conduct, plan_text
    from .progress import speak

    study = declared(arguments) if arguments.study else ad_hoc(arguments)
    folder = arguments.out or (DECLARED / study.name if arguments.study else RESULTS / study.name)
    try:
        if arguments.dry_run:
            print(plan_text(study, folder, arguments.workers or available_cores(), arguments.fresh))
            return 0
        speak(f"{study.name}: {study.question}")
        where = (arguments.scheduler, arguments.workers)
        analysis, page = conduct(study, folder, *where, arguments.fresh, not arguments.no_figures, say=speak)
    except (StoreFull, ExecutorLost) as error:
        return _complain(error, 1)
    except (StoreError, ExecutorError) as error:
        return _complain(error, 2)
    except OSError as error:
        full = error.errno in (errno.ENOSPC, errno.EDQUOT)
        return _complain(f"{error}; finished units are kept" if full else error, 1 if full else 2)
    except KeyboardInterrupt:
        speak(f"stopped; finished units are in {folder}, and the same command goes on from there")
        return STOPPED
    print(summary(analysis))
    print(f"\n{page}")
    refuted = any(judged.name == "REFUTED" for result in analysis.results for judged in result.judged)
    return REFUTED if arguments.strict and refuted else 0


def _complain(error, code) -> int:
    print(f"error: {error}", file=sys.stderr)
    return code


def make_parser(prog) -> argparse.ArgumentParser:
    parser = Parser(prog=prog, description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    what = parser.add_argument_group("what to study")
    what.add_argument("--family", nargs="+", metavar="NAME", help="families of the zoo, or all")
    what.add_argument("--study", metavar="NAME", help="a declared study: studies/NAME/study.py, or a folder")
    what.add_argument("--list", action="store_true", help="show families, declared studies and presets")
    how = parser.add_argument_group("how (a declared study fixes this itself, apart from replicates and seed)")
    how.add_argument("--dims", type=whole, nargs="+", metavar="D", help="dimensions (default: 1 2 3, where they exist)")
    how.add_argument("--algorithms", nargs="+", choices=ALGORITHMS, default=list(ALGORITHMS))
    how.add_argument(
        "--preset", choices=("quick", "standard", "full"), help="horizons and replicates (default: standard)"
    )
    how.add_argument("--horizons", metavar="FROM:TO[:RATIO]", help="such as 2^10:2^20, 1e3:1e6:1.5 or 1000,2000,4000")
    how.add_argument("--replicates", type=whole, metavar="N")
    how.add_argument("--seed", type=natural, metavar="SEED", help="default 0")
    how.add_argument("--mu", nargs="+", default=["min"], metavar="MU", help="of adaptive bins: min, theorem, numbers")
    how.add_argument("--alignment", choices=("random", "fixed"), default="random")
    how.add_argument("--noise", default="gaussian", metavar="LAW[:SIGMA]", help=", ".join(NOISES))
    where = parser.add_argument_group("where")
    where.add_argument("--workers", type=whole, metavar="N", help="threads or processes (default: all cores)")
    where.add_argument("--scheduler", metavar="ADDRESS", help="threads, processes, local:N or a Dask tcp://host:port")
    where.add_argument("--out", type=Path, metavar="DIR", help="default: results/NAME, or the declared study's folder")
    again = where.add_mutually_exclusive_group()
    again.add_argument("--resume", action="store_true", help="go on with what the folder holds (the default)")
    again.add_argument("--fresh", action="store_true", help="set earlier runs of the folder aside and start anew")
    parser.add_argument("--no-figures", action="store_true")
    parser.add_argument("--dry-run", action="store_true", help="show the plan, with time and memory, and run nothing")
    parser.add_argument("--strict", action="store_true", help=f"exit code {REFUTED} if a theorem is REFUTED")
    return parser


# From arguments to a study


def ad_hoc(arguments):
    from .declaration import PRESETS, Study

    names = [name for n in arguments.family for name in (zoo.families() if n == "all" else [lookup(n).name])]
    names = list(dict.fromkeys(names))
    grid, replicates = PRESETS[arguments.preset or "standard"]
    if arguments.horizons:
        grid = horizons(arguments.horizons)
    return Study(
        name="all" if names == list(zoo.families()) else "+".join(names),
        question=question(names, arguments.algorithms),
        costs=costs(names, arguments.dims),
        algorithms=algorithms(arguments),
        horizons=grid,
        replicates=replicates if arguments.replicates is None else arguments.replicates,
        seed=arguments.seed or 0,
        noise=noise(arguments.noise),
        alignment=arguments.alignment,
        command=command(arguments),
    )


def question(names, algorithms) -> str:
    which = names[0] if len(names) == 1 else f"{', '.join(names[:-1])} and {names[-1]}"
    whose = " and of ".join(f"{name} bins" for name in ALGORITHMS if name in algorithms)
    return f"On {which}, does the regret of {whose} grow as Theorems 1 to 3 say?"


def costs(names, dims) -> tuple:
    if dims is not None and (len(names) == 1 or min(dims) < 1):
        return tuple(zoo.get(name, dim) for name in names for dim in dict.fromkeys(dims))
    found = tuple(zoo.get(name, d) for name in names for d in dims or DIMS if d in lookup(name).dims)
    if not found:
        raise InvalidChoice(f"none of these families exists in dimension {' or '.join(map(str, dims))}")
    return found


def algorithms(arguments) -> tuple:
    from ..algorithms import AdaptiveBins, UniformBins

    chosen = [UniformBins()] if "uniform" in arguments.algorithms else []
    if "adaptive" in arguments.algorithms:
        chosen += [AdaptiveBins(mu=mu(text)) for text in arguments.mu]
    return tuple(chosen)


def mu(text):
    if text in ("min", "theorem"):
        return None if text == "min" else text
    try:
        return number(text)
    except ValueError:
        raise ValueError(f"--mu {text} must be min, theorem or a number") from None


def number(text) -> float:
    """1000, 1e6, 1_000, 2^10 or 2**10."""
    base, power, exponent = re.sub(r"\*\*", "^", text).partition("^")
    try:
        value = float(base) ** float(exponent) if power else float(base)
    except (ArithmeticError, TypeError):
        value = math.nan
    if isinstance(value, complex) or not math.isfinite(value):
        raise ValueError(f"{text} is no finite number")
    return value


def horizons(text):
    """FROM:TO, FROM:TO:RATIO, or a list with commas."""
    from .declaration import Grid

    try:
        if "," in text:
            return tuple(round(number(part)) for part in text.split(","))
        parts = [number(part.lstrip("x×")) for part in text.replace("..", ":").split(":")]
    except ValueError:
        parts = []
    if len(parts) not in (2, 3):
        raise ValueError(f"--horizons {text}: write FROM:TO such as 2^10:2^20, FROM:TO:RATIO, or a list with commas")
    return Grid(round(parts[0]), round(parts[1]), parts[2] if len(parts) == 3 else None, periods=None)


def noise(text):
    from .. import noise as laws

    name, _, numbers = text.partition(":")
    if name not in NOISES:
        raise ValueError(f"--noise {text}: the laws are {', '.join(NOISES)}, with an optional :SIGMA")
    try:
        values = [number(part) for part in numbers.split(":") if part]
        return getattr(laws, NOISES[name])(*values)
    except TypeError:
        raise ValueError(f"--noise {text}: too many numbers") from None
    except ValueError as error:
        raise ValueError(f"--noise {text}: {error}") from None


def command(arguments) -> str:
    """What gives the same runs and verdicts, wherever it runs."""
    words = ["python -m ratecheck.study"]
    if arguments.study:
        words.append(f"--study {shlex.quote(arguments.study)}")
    else:
        words.append("--family " + " ".join(arguments.family))
    for name, value in given(arguments, (*FIXED, "preset", "replicates", "seed")).items():
        values = value if isinstance(value, list) else [value]
        words.append(f"--{name} " + " ".join(shlex.quote(str(v)) for v in values))
    return " ".join(words)


def given(arguments, names) -> dict:
    """Those of the options that were not left at their default."""
    defaults = vars(make_parser("").parse_args([]))
    return {name: getattr(arguments, name) for name in names if getattr(arguments, name) != defaults[name]}


# Declared studies


def declared(arguments):
    from dataclasses import replace

    from .declaration import Study, with_preset

    for name in given(arguments, FIXED):
        raise ValueError(f"--{name} belongs to --family; a declared study fixes it in its study.py")
    path = declaration_of(arguments.study)
    study = getattr(load(path), "study", None)
    if not isinstance(study, Study):
        raise ValueError(f"{path} declares no study; it must set study = Study(...)")
    if arguments.preset is not None:
        study = with_preset(study, arguments.preset)
    return replace(study, **given(arguments, ("replicates", "seed")), command=command(arguments))


def declaration_of(name) -> Path:
    for folder in (DECLARED / name, Path(name)):
        if (folder / "study.py").is_file():
            return folder / "study.py"
    there = ", ".join(known_studies()) or "none here; run it in the folder that holds studies/"
    raise ValueError(f"there is no studies/{name}/study.py (declared studies: {there})")


def known_studies() -> list[str]:
    return sorted(path.parent.name for path in DECLARED.glob("*/study.py"))


def load(path):
    """The module of a declaration, under a name by which other processes find it too."""
    folder = path.absolute().parent
    if str(folder.parent) not in sys.path:
        sys.path.append(str(folder.parent))
    try:
        module = importlib.import_module(f"{folder.name}.study")
        if Path(module.__file__) == folder / "study.py":
            return module
    except ImportError as error:
        if error.name not in (folder.name, f"{folder.name}.study"):
            raise ValueError(f"{path} cannot be loaded ({type(error).__name__}: {error})") from None
    except Exception as error:
        raise ValueError(f"{path} cannot be loaded ({type(error).__name__}: {error})") from None
    return _load_file(path, folder)


def _load_file(path, folder):
    """Where another module already has that name."""
    spec = importlib.util.spec_from_file_location(f"study_{folder.name}", path)
    module = importlib.util.module_from_spec(spec)
    sys.modules[spec.name] = module
    try:
        spec.loader.exec_module(module)
    except Exception as error:
        raise ValueError(f"{path} cannot be loaded ({type(error).__name__}: {error})") from None
    return module


# What is printed


def listing() -> str:
    from .declaration import PRESETS

    lines = ["families: " + ", ".join(zoo.families())]
    lines += ["declared studies: " + (", ".join(known_studies()) or "none here (they live in studies/*/study.py)")]
    for name, (grid, replicates) in PRESETS.items():
        span = (
            f"T = 2^{math.log2(grid.first):g} to 2^{math.log2(grid.last):g}, adaptive bins to 2^{math.log2(grid.cap):g}"
        )
        lines.append(f"preset {name}: {span} where their period and onset ask for it, {replicates} replicates")
    return "\n".join(lines)


def summary(analysis) -> str:
    """A line per case and theorem."""
    rows = []
    for result in analysis.results:
        for judged in result.judged:
            claim, rate, case, parts = judged.claim, judged.claim.rate, result.case, judged.assessment
            fit = result.fit and result.fit.at(rate.log_power)
            slope = f"{fit.slope:.3f} [{fit.low:.3f}, {fit.high:.3f}]" if fit else "-"
            powers = dict.fromkeys(f"{r.log_power:.3g}" for r in (claim.printed, rate))
            theory = f"{'<=' if claim.kind == 'upper' else '>='} {rate.slope:.3f}  {' -> '.join(powers)}"
            note = f"{judged.name}"
            if claim.per_cost and parts.exponent.name != judged.name:
                note += f" (exponent {parts.exponent.name}, printed log power {parts.log_power.name})"
            mark = "*" if claim.violated else ""
            rows.append((case.family, str(case.dim), case.algorithm, claim.theorem + mark, theory, slope, note))
    heads = ("family", "d", "algorithm", "theorem", "slope, ln T power", "slope [95 %]", "verdict")
    widths = [max(len(row[i]) for row in [heads, *rows]) for i in range(len(heads))]
    lines = ["  ".join(cell.ljust(width) for cell, width in zip(row, widths, strict=True)) for row in [heads, *rows]]
    lines.append("\nprinted -> corrected powers of ln T; slopes are fitted at the last of them")
    if any(judged.claim.violated for result in analysis.results for judged in result.judged):
        lines.append("* mu is below what the theorem asks for: the verdict is on its rate")
    judged = [(r.case.name, v.name == "REFUTED") for r in analysis.results if not r.problem for _, v in r.controls]
    lines.append(f"negative controls: {sum(caught for _, caught in judged)} of {len(judged)} refuted")
    missed = list(dict.fromkeys(name for name, caught in judged if not caught))
    if missed:
        lines.append(f"not refuted, so the verdict has no force: {'; '.join(missed)}")
    unjudged = [r.case.name for r in analysis.results if r.problem]
    if unjudged:
        lines.append(f"not judged (the report says why): {'; '.join(unjudged)}")
    return "\n".join(line.rstrip() for line in lines)


if __name__ == "__main__":
    sys.exit(main())
