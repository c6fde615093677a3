"""The console script `ratecheck`: studies, reports, tables of runs, and the zoo."""

from __future__ import annotations

import sys
from pathlib import Path

USAGE = """usage: ratecheck COMMAND ...

  study ...     run a study and write its report (ratecheck study --help)
  report DIR    write the report of a study again, from its store alone
  overview DIR  one page and two figures about all studies below DIR
  export DIR    the table of runs, as CSV or Parquet
  zoo ...       list, audit and draw the costs (ratecheck zoo --help)
"""


def main(argv=None) -> int:
    argv = list(sys.argv[1:] if argv is None else argv)
    command, rest = (argv[0], argv[1:]) if argv else ("--help", [])
    if command == "study":
        from .study.__main__ import main as study

        return study(rest, "ratecheck study")
    if command == "zoo":
        from function_zoo.__main__ import main as zoo

        return zoo(rest, "ratecheck zoo")
    if command in COMMANDS:
        return COMMANDS[command](rest)
    if command in ("-h", "--help"):
        print(USAGE, end="")
        return 0
    print(f"error: there is no command {command!r}; take study, report, overview, export or zoo", file=sys.stderr)
    return 2


def report(argv) -> int:
    parser = _parser("report", "write the report of a study again, from its store alone")
    parser.add_argument("--html", action="store_true", help="also one self-contained page, report.html")
    parser.add_argument("--svg", action="store_true", help="figures as SVG too")
    parser.add_argument("--no-figures", action="store_true")
    arguments = parser.parse_args(argv)

    def write(store):
        from .report import write_html
        from .study.conduct import render

        _, page = render(store, arguments.folder, not arguments.no_figures, arguments.svg)
        print(page)
        if arguments.html:
            print(write_html(arguments.folder))

    return _with_store(arguments.folder, write)


def export(argv) -> int:
    parser = _parser("export", "the table of runs: a row per replicate and horizon, with all that determines it")
    form = parser.add_mutually_exclusive_group(required=True)
    form.add_argument("--csv", type=Path, nargs="?", const=Path(), metavar="FILE", help="default: runs.csv in DIR")
    form.add_argument(
        "--parquet", type=Path, nargs="?", const=Path(), metavar="FILE", help="default: runs.parquet in DIR"
    )
    arguments = parser.parse_args(argv)

    def write(store):
        table = store.table()
        if arguments.csv is not None:
            path = arguments.csv if arguments.csv != Path() else arguments.folder / "runs.csv"
            table.to_csv(path, index=False)
        else:
            path = arguments.parquet if arguments.parquet != Path() else arguments.folder / "runs.parquet"
            try:
                table.to_parquet(path, index=False)
            except ImportError:
                raise ValueError("Parquet needs pyarrow: pip install 'ratecheck[parquet]', or take --csv") from None
        print(f"{path}: {len(table)} rows")

    return _with_store(arguments.folder, write)


def overview(argv) -> int:
    parser = _parser("overview", "one page and two figures about all studies below a folder", "holds studies' folders")
    arguments = parser.parse_args(argv)
    from .overview import write_overview

    if not list(arguments.folder.glob("*/fits.csv")):
        print(f"error: no folder in {arguments.folder} holds a fits.csv; run a study first", file=sys.stderr)
        return 2
    print(write_overview(arguments.folder))
    return 0


COMMANDS = {"report": report, "overview": overview, "export": export}


def _parser(command, what, folder="a study's folder: it holds runs.sqlite"):
    from function_zoo.__main__ import Parser

    parser = Parser(prog=f"ratecheck {command}", description=what)
    parser.add_argument("folder", type=Path, metavar="DIR", help=folder)
    return parser


def _with_store(folder, action) -> int:
    from .store import Store, StoreError

    try:
        with Store(folder) as store:
            action(store)
    except (StoreError, ValueError, OSError) as error:
        print(f"error: {error}", file=sys.stderr)
        return 2
    return 0


if __name__ == "__main__":
    sys.exit(main())
