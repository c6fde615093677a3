"""The console script `ratecheck`: one list of commands, each a module that is loaded when it is named."""

import sys
from dataclasses import dataclass
from importlib import import_module

from ..arguments import meant
from .parser import Parser, guarded, sentence

NOTE = """`check` imports the algorithm and the cost that it names, `study --study NAME` and
`verify --study PATH` execute the study.py that they name, and a Dask scheduler executes code here and there;
all other commands read what a folder or a table holds as data and execute nothing of it.
"""


@dataclass(frozen=True)
class Command:
    """What a command takes and does, and the module that holds its `make_parser(prog)` and `main(argv, prog)`."""

    takes: str
    does: str
    home: str

    def main(self, argv, prog) -> int:
        return import_module(self.home).main(argv, prog)

    def make_parser(self, prog) -> Parser:
        return import_module(self.home).make_parser(prog)


COMMANDS = {
    "check": Command("...", "run, fit and judge an algorithm of yours on a cost of yours", "ratecheck.cli.check"),
    "fit": Command("TABLE", "fit a rate to a table from anywhere, and judge one", "ratecheck.cli.fit"),
    "study": Command("...", "run a study and write its report", "ratecheck.cli.study"),
    "report": Command("DIR", "write the report of a study again, from its store alone", "ratecheck.cli.report"),
    "overview": Command("DIR", "one page and two figures about all studies below DIR", "ratecheck.cli.overview"),
    "export": Command("DIR", "the table of runs, as CSV or Parquet", "ratecheck.cli.export"),
    "pack": Command("DIR", "the store of a study as one compact file that travels", "ratecheck.cli.pack"),
    "verify": Command("DIR", "check every record of a store, and run some units again", "ratecheck.cli.verify"),
    "zoo": Command("...", "list, audit and draw the costs", "ratecheck.cli.zoo"),
    "completion": Command("SHELL", "a script for tab completion, for bash, zsh or fish", "ratecheck.cli.completion"),
}


def main(argv=None) -> int:
    argv = list(sys.argv[1:] if argv is None else argv)
    name, rest = (argv[0], argv[1:]) if argv else ("--help", [])
    if name in COMMANDS:
        from ..store import StoreError

        return guarded(COMMANDS[name].main, rest, f"ratecheck {name}", errors=(StoreError, ValueError, OSError))
    if name in ("-h", "--help"):
        return guarded(_print, usage())
    if name == "--version":
        return guarded(_print, version())
    what = "option" if name.startswith("-") else "command"
    near = meant(name, [*COMMANDS, "--help", "--version"])
    listed = f"commands: {', '.join(COMMANDS)}; --help says more"
    print(f"error: there is no {what} {sentence(repr(name))}{near} ({listed})", file=sys.stderr)
    return 2


def usage() -> str:
    heads = [f"{name} {command.takes}" for name, command in COMMANDS.items()]
    width = max(map(len, heads))
    lines = [f"  {head:{width}}  {command.does}" for head, command in zip(heads, COMMANDS.values(), strict=True)]
    listed = "\n".join(lines)
    return f"usage: ratecheck COMMAND ...\n\n{listed}\n\n`ratecheck COMMAND --help` says more.\n\n{NOTE}"


def version() -> str:
    from importlib.metadata import version

    return f"ratecheck {version('ratecheck')}\n"


def _print(text) -> int:
    print(text, end="")
    return 0


if __name__ == "__main__":
    sys.exit(main())
