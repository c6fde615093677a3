"""Commands of the console script on a study's folder, a module each: `make_parser(prog)` and `main(argv, prog)`."""

import sys

from .parser import Parser, path

NOTHING = "It reads what the folder holds as data and executes nothing of it."


def folder_parser(prog, what, folder="a study's folder: it holds runs.sqlite or runs.jsonl.xz", note=NOTHING) -> Parser:
    parser = Parser(prog, what, note)
    parser.add_argument("folder", type=path, metavar="DIR", help=folder)
    return parser


def remark(store):
    """Say that other runs lie beside a store, if there are."""
    from ..store.pack import differs

    if differs(store):
        print(
            f"remark: {store.path} was read; the packed file beside it holds other runs.  `ratecheck pack` packs what "
            "was read; move runs.sqlite away to read the other",
            file=sys.stderr,
        )
