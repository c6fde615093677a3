"""`ratecheck verify DIR`."""

from __future__ import annotations

import sys

from .folders import folder_parser
from .options import seconds
from .parser import Parser, natural


def make_parser(prog) -> Parser:
    parser = folder_parser(
        prog,
        "check every record of a store against its checksum, and run some units again",
        note="With --study it executes that study.py, without it no code but ratecheck's own.  Checksums find "
        "accidents and careless editing, not a forger who computes them anew; units run again find what he changed.",
    )
    parser.add_argument("--rerun", type=natural, default=1, metavar="N", help="how many units run again (default: 1)")
    parser.add_argument("--seed", type=natural, metavar="SEED", help="of the choice of units (default: a new one)")
    parser.add_argument(
        "--study", metavar="PATH", help="the declaration of its costs and algorithms, which is executed (default: none)"
    )
    parser.add_argument(
        "--unit-timeout", type=seconds, metavar="SECONDS", help="leave a unit that takes longer (default: 60)"
    )
    return parser


def main(argv, prog="ratecheck verify") -> int:
    arguments = make_parser(prog).parse_args(argv)
    from ..executors.progress import speak
    from .signals import until_stopped

    return until_stopped(lambda: speak("stopped; nothing was changed"), _verify, arguments)


def _verify(arguments) -> int:
    from ..store import Altered, Store
    from ..study.verify import verified

    try:
        with Store(arguments.folder) as store:
            return verified(
                store, arguments.rerun, seed=arguments.seed, study=arguments.study, seconds=arguments.unit_timeout
            )
    except Altered as error:
        print(f"error: {error}", file=sys.stderr)
        return 1
