"""`python -m studies.calibration`: measure, write the tables and the report beside them."""

import os
import sys
from dataclasses import fields

from ratecheck.files import together
from studies.calibration import __doc__ as purpose
from studies.calibration.assertions import FILE
from studies.calibration.measure import Tables, calibrate
from studies.calibration.report import report
from studies.calibration.timing import timing
from studies.shared.commands import folder, guarded, parser_of, whole

MOST_REPEATS, MOST_WORKERS = 10**6, 1024


def main(argv=None) -> int:
    parser = parser_of("calibration", purpose.splitlines()[0])
    parser.add_argument(
        "--repeats", type=whole(4, MOST_REPEATS), default=1000, help=f"at least 4, at most {MOST_REPEATS:,}"
    )
    parser.add_argument("--seed", type=whole(), default=0)
    parser.add_argument("--workers", type=whole(1, MOST_WORKERS), default=os.cpu_count())
    parser.add_argument("--out", type=folder, metavar="DIR", default="studies/calibration")
    parser.add_argument(
        "--part",
        choices=[field.name for field in fields(Tables)],
        action="append",
        help="measure this table only and take the others from DIR; may be repeated",
    )
    parser.add_argument(
        "--report", action="store_true", help="measure nothing; write the report anew from the tables in DIR"
    )
    parser.add_argument("--time", action="store_true", help="print the time of one fit, and write nothing")
    return guarded(_main, parser.parse_args(argv))


def _main(arguments) -> int:
    if arguments.time:
        print("\n".join(timing()))
        return 0
    parts = [] if arguments.report else arguments.part
    known = None if parts is None else _known(arguments.out, parts)
    arguments.out.mkdir(parents=True, exist_ok=True)  # before the minutes that it takes
    tables = calibrate(repeats=arguments.repeats, seed=arguments.seed, workers=arguments.workers, known=known)
    with together(arguments.out) as drafts:
        for name, table in vars(tables).items():
            drafts.write(f"{name}.csv", table.to_csv(index=False, lineterminator="\n"))
        drafts.write("report.md", report(tables, arguments.repeats, arguments.seed, _assertions(arguments.out)))
    print(arguments.out / "report.md")
    return 0


def _assertions(folder):
    """The table of `studies.benchmarks.asserting`, if it is there."""
    import pandas as pd

    return pd.read_csv(folder / FILE) if (folder / FILE).is_file() else None


def _known(folder, parts) -> dict:
    """The tables of an earlier calibration, but for some."""
    import pandas as pd

    names = [field.name for field in fields(Tables) if field.name not in parts]
    for name in names:
        if not (folder / f"{name}.csv").is_file():
            raise ValueError(f"{folder} holds no {name}.csv; measure everything once, without --part")
    return {name: pd.read_csv(folder / f"{name}.csv", keep_default_na=True) for name in names}


if __name__ == "__main__":
    sys.exit(main())
