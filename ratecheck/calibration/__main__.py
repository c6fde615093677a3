"""`python -m ratecheck.calibration`: measure, write the tables and the report beside them."""

import argparse
import os
import sys
from pathlib import Path

from ..files import together
from . import __doc__ as purpose
from .measure import calibrate
from .report import report
from .timing import timing


def main(argv=None) -> int:
    parser = argparse.ArgumentParser(prog="python -m ratecheck.calibration", description=purpose.splitlines()[0])
    parser.add_argument("--repeats", type=int, default=1000, help="at least 4")
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument("--workers", type=int, default=os.cpu_count())
    parser.add_argument("--out", type=Path, default=Path("studies/calibration"))
    parser.add_argument("--time", action="store_true", help="print the time of one fit, and write nothing")
    arguments = parser.parse_args(argv)
    if arguments.repeats < 4:
        parser.error(f"--repeats {arguments.repeats} is too few; the nearest valid choice is 4")
    if arguments.time:
        print("\n".join(timing()))
        return 0
    tables = calibrate(repeats=arguments.repeats, seed=arguments.seed, workers=arguments.workers)
    arguments.out.mkdir(parents=True, exist_ok=True)
    with together(arguments.out) as drafts:
        for name, table in vars(tables).items():
            drafts.write(f"{name}.csv", table.to_csv(index=False, lineterminator="\n"))
        drafts.write("report.md", report(tables, arguments.repeats, arguments.seed))
    print(arguments.out / "report.md")
    return 0


if __name__ == "__main__":
    sys.exit(main())
