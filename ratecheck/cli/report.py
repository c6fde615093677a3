"""`ratecheck report DIR`."""

from .folders import folder_parser, remark
from .parser import Parser, path


def make_parser(prog) -> Parser:
    parser = folder_parser(prog, "write the report of a study again, from its store alone")
    parser.add_argument("--html", action="store_true", help="also one self-contained page, report.html")
    parser.add_argument("--svg", action="store_true", help="figures as SVG too")
    parser.add_argument("--pdf-figures", action="store_true", help="figures as PDF too, with the study's parameters in")
    parser.add_argument("--latex", action="store_true", help="also verdicts.tex, a table that needs booktabs")
    parser.add_argument("--no-figures", action="store_true")
    elsewhere = "write it into this folder (default: DIR), as for a folder that cannot be written to"
    parser.add_argument("--out", type=path, metavar="OTHER", help=elsewhere)
    return parser


def main(argv, prog="ratecheck report") -> int:
    arguments = make_parser(prog).parse_args(argv)

    from ..report import VERDICTS_TEX, write_html
    from ..store import Store
    from ..study.rendering import render

    out = arguments.out or arguments.folder
    with Store(arguments.folder) as store:
        how = {"svg": arguments.svg, "pdf": arguments.pdf_figures, "latex": arguments.latex}
        _, page = render(store, out, not arguments.no_figures, **how)
        remark(store)
    print(page)
    if arguments.latex:
        print(out / VERDICTS_TEX)
    if arguments.html:
        print(write_html(out))
    return 0
