"""`ratecheck overview DIR`."""

from .folders import folder_parser
from .parser import Parser


def make_parser(prog) -> Parser:
    parser = folder_parser(prog, "one page and two figures about all studies below a folder", "holds studies' folders")
    pages = "also self-contained pages that link to each other: index.html, and report.html beside every report.md"
    parser.add_argument("--html", action="store_true", help=pages)
    return parser


def main(argv, prog="ratecheck overview") -> int:
    arguments = make_parser(prog).parse_args(argv)
    from ..report.overview import write_overview
    from ..report.page import write_pages

    if not list(arguments.folder.glob("*/fits.csv")):
        raise ValueError(f"no folder in {arguments.folder} holds a fits.csv; run a study first")
    print(write_overview(arguments.folder))
    if arguments.html:
        print(*write_pages(arguments.folder), sep="\n")
    return 0
