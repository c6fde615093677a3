"""`ratecheck export DIR`."""

from .folders import folder_parser, remark
from .parser import Parser, path


def make_parser(prog) -> Parser:
    parser = folder_parser(prog, "the table of runs: a row per replicate and horizon, with all that determines it")
    form = parser.add_mutually_exclusive_group(required=True)
    for kind in ("csv", "parquet"):
        default = f"default: runs.{kind} in DIR"
        form.add_argument(f"--{kind}", type=path, nargs="?", const=False, metavar="FILE", help=default)
    return parser


def main(argv, prog="ratecheck export") -> int:
    arguments = make_parser(prog).parse_args(argv)

    from ..store import Store
    from ..store.export import export

    form, given = ("csv", arguments.csv) if arguments.csv is not None else ("parquet", arguments.parquet)
    target = given or arguments.folder / f"runs.{form}"
    with Store(arguments.folder) as store:
        count = export(store, target, form)
        remark(store)
    print(f"{target}: {count} rows")
    return 0
