"""The console script `ratecheck`: studies, reports, tables of runs, and the zoo."""

from __future__ import annotations

import sys
from pathlib import Path

from function_zoo.commandline import Parser, guarded, natural, path, sentence

from .store import Altered, Store, StoreError

USAGE = """usage: ratecheck COMMAND ...

  study ...     run a study and write its report (ratecheck study --help)
  report DIR    write the report of a study again, from its store alone
  overview DIR  one page and two figures about all studies below DIR
  export DIR    the table of runs, as CSV or Parquet
  verify DIR    check every record of a store, and run some units again
  zoo ...       list, audit and draw the costs (ratecheck zoo --help)

`study --study NAME` and `verify --study PATH` execute the study.py that they name, and a Dask scheduler executes code
here and there; all other commands read what a folder holds as data and execute nothing of it.
"""
NOTHING = "It reads what the folder holds as data and executes nothing of it."


def main(argv=None) -> int:
    argv = list(sys.argv[1:] if argv is None else argv)
    command, rest = (argv[0], argv[1:]) if argv else ("--help", [])
    if command in COMMANDS:
        return guarded(COMMANDS[command], rest, errors=(StoreError, ValueError, OSError))
    if command in ("-h", "--help"):
        return guarded(usage)
    print(f"error: there is no command {sentence(repr(command))}; take {', '.join(COMMANDS)}", file=sys.stderr)
    return 2


def usage() -> int:
    print(USAGE, end="")
    return 0


def study(argv) -> int:
    from .study.command import main

    return main(argv, "ratecheck study")


def zoo(argv) -> int:
    from function_zoo.cli import main

    return main(argv, "ratecheck zoo")


def report(argv) -> int:
    parser = _parser("report", "write the report of a study again, from its store alone")
    parser.add_argument("--html", action="store_true", help="also one self-contained page, report.html")
    parser.add_argument("--svg", action="store_true", help="figures as SVG too")
    parser.add_argument("--no-figures", action="store_true")
    parser.add_argument(
        "--out",
        type=path,
        metavar="OTHER",
        help="write it into this folder (default: DIR), as for a folder that cannot be written to",
    )
    arguments = parser.parse_args(argv)

    from .report import write_html
    from .study.rendering import render

    out = arguments.out or arguments.folder
    with Store(arguments.folder) as store:
        _, page = render(store, out, not arguments.no_figures, arguments.svg)
        _remark(store)
    print(page)
    if arguments.html:
        print(write_html(out))
    return 0


def _remark(store):
    if not store.sealed:
        print(
            f"remark: {store.path} was written by an earlier version of ratecheck, and its runs carry no checksums; a "
            "study that goes on adds them",
            file=sys.stderr,
        )


def export(argv) -> int:
    parser = _parser("export", "the table of runs: a row per replicate and horizon, with all that determines it")
    form = parser.add_mutually_exclusive_group(required=True)
    form.add_argument("--csv", type=path, nargs="?", const=Path(), metavar="FILE", help="default: runs.csv in DIR")
    form.add_argument(
        "--parquet", type=path, nargs="?", const=Path(), metavar="FILE", help="default: runs.parquet in DIR"
    )
    arguments = parser.parse_args(argv)

    from .store.export import export

    form, given = ("csv", arguments.csv) if arguments.csv is not None else ("parquet", arguments.parquet)
    target = given if given != Path() else arguments.folder / f"runs.{form}"
    with Store(arguments.folder) as store:
        count = export(store, target, form)
        _remark(store)
    print(f"{target}: {count} rows")
    return 0


def overview(argv) -> int:
    parser = _parser("overview", "one page and two figures about all studies below a folder", "holds studies' folders")
    arguments = parser.parse_args(argv)
    from .report.overview import write_overview

    if not list(arguments.folder.glob("*/fits.csv")):
        raise ValueError(f"no folder in {arguments.folder} holds a fits.csv; run a study first")
    print(write_overview(arguments.folder))
    return 0


def verify(argv) -> int:
    parser = _parser(
        "verify",
        "check every record of a store against its checksum, and run some units again",
        note="With --study it executes that study.py, without it no code but ratecheck's own.  Checksums find "
        "accidents and careless editing, not a forger who computes them anew; units run again find what he changed.",
    )
    parser.add_argument("--rerun", type=natural, default=1, metavar="N", help="how many units run again (default: 1)")
    parser.add_argument("--seed", type=natural, metavar="SEED", help="of the choice of units (default: a new one)")
    parser.add_argument(
        "--study", metavar="PATH", help="the declaration of its costs and algorithms, which is executed (default: none)"
    )
    arguments = parser.parse_args(argv)
    from .study.progress import speak
    from .study.signals import until_stopped

    return until_stopped(lambda: speak("stopped; nothing was changed"), _verify, arguments)


def _verify(arguments) -> int:
    from .study.verify import verified

    try:
        with Store(arguments.folder) as store:
            return verified(store, arguments.rerun, arguments.seed, arguments.study)
    except Altered as error:
        print(f"error: {error}", file=sys.stderr)
        return 1


COMMANDS = {
    "study": study,
    "report": report,
    "overview": overview,
    "export": export,
    "verify": verify,
    "zoo": zoo,
}


def _parser(command, what, folder="a study's folder: it holds runs.sqlite", note=NOTHING):
    parser = Parser(prog=f"ratecheck {command}", description=what, epilog=note)
    parser.add_argument("folder", type=path, metavar="DIR", help=folder)
    return parser


if __name__ == "__main__":
    sys.exit(main())
