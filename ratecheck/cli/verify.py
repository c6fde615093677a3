"""`ratecheck verify DIR`."""

import secrets
import sys

from .folders import folder_parser
from .options import seconds
from .parser import Parser, natural

EXIT_DIFFERENT = 1


def make_parser(prog) -> Parser:
    parser = folder_parser(
        prog,
        "check every record of a store against its checksum, and run some units again",
        note="With --study it executes that study.py, without it no code but ratecheck's own.  Checksums find "
        "accidents and careless editing, not a forger who computes them anew; units run again find what he changed.",
    )
    parser.add_argument("--rerun", type=natural, default=1, metavar="N", help="how many units run again (default: 1)")
    parser.add_argument("--seed", type=natural, metavar="SEED", help="of the choice of units (default: a new one)")
    parser.add_argument("--study", metavar="PATH", help="the study.py of its costs and algorithms, which is executed")
    limit = {"type": seconds, "default": 60.0, "metavar": "SECONDS"}
    parser.add_argument("--unit-timeout", help="leave a unit that takes longer (default: 60)", **limit)
    return parser


def main(argv, prog="ratecheck verify") -> int:
    arguments = make_parser(prog).parse_args(argv)
    from ..executors.progress import speak
    from .signals import until_stopped

    return until_stopped(lambda: speak("stopped; nothing was changed"), _verify, arguments)


def _verify(arguments) -> int:
    from ..store import Altered, Store

    try:
        with Store(arguments.folder) as store:
            return _verified(store, arguments)
    except Altered as error:
        print(f"error: {error}", file=sys.stderr)
        return EXIT_DIFFERENT


def _verified(store, arguments) -> int:
    """Print what was checked when the store was opened, and run some units again."""
    from ..display import counted

    units = counted(len(store.units()), "unit")
    print(f"{store.path}: {units}, every record matches its checksum, digest of the runs {store.digest()}")
    if not arguments.rerun:
        return 0
    from ..study.declared import declared
    from ..study.rerun import rerun

    seed = secrets.randbelow(2**32) if arguments.seed is None else arguments.seed
    print(f"run again, chosen at random (--seed {seed}):")
    study = None if arguments.study is None else declared(arguments.study)
    different = 0
    for found in rerun(store, arguments.rerun, seed=seed, study=study, seconds=arguments.unit_timeout):
        verdict = found.differs or (f"cannot be run again: {found.unable}" if found.unable else "the same bits")
        different += bool(found.differs)
        print(f"  {found.unit}: {verdict}")
    return EXIT_DIFFERENT if different else 0
