"""`ratecheck pack DIR`."""

from .folders import folder_parser
from .parser import Parser


def make_parser(prog) -> Parser:
    return folder_parser(
        prog,
        "write all that a store holds into one compact file beside it, runs.jsonl.xz, from which the commands report, "
        "export, verify and fit work as well, and with which a study goes on; a study writes it at its end by itself",
    )


def main(argv, prog="ratecheck pack") -> int:
    arguments = make_parser(prog).parse_args(argv)

    from ..files import check_way
    from ..store import PACKED, Store, pack_beside

    check_way(arguments.folder / PACKED, arguments.folder)
    with Store(arguments.folder) as store:
        page, aside = pack_beside(store)
        if aside:
            print(f"{page} held more runs than {store.path}, or none that can be read; it was set aside as {aside}")
        print(f"{page}: {len(store)} runs in {page.stat().st_size / 1000:.0f} kB")
    return 0
