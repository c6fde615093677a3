"""What `assert_rate` costs and catches: `python -m studies.benchmarks.asserting` tries sound algorithms and mistakes.

A sound algorithm is asserted with many seeds: how long it takes, how often it fails or cannot tell.  Each mistake
(mistakes.py) is asserted with a few seeds: how often it fails, how often the test cannot tell, how often it passes.
"""

from __future__ import annotations

import csv
import io
import statistics
import sys
import time
from collections.abc import Iterator
from pathlib import Path
from typing import NamedTuple

import ratecheck as rc
from ratecheck.check.assert_rate import Rules, agreeing, asserted
from ratecheck.engine.simulate import Job
from ratecheck.files import together
from ratecheck.testing import CannotTell, CurveChanged, RateRefuted
from studies.benchmarks.mistakes import Kind, kinds
from studies.shared.commands import guarded, parser_of, whole

TOLERANCE, FALSE_ALARMS, POWER = 0.1, 1e-3, 0.95  # the defaults of assert_rate
NONE, AGREEING = "none", ", with agreement"
EVERY = 50
PASSED, FAILED, OPEN = "passed", "failed", "cannot tell"


class Trial(NamedTuple):
    name: str
    seconds: float
    steps: int


def outcomes(job: Job, kind: Kind, rules: Rules, seconds: float, size: dict) -> dict[str, Trial]:
    """What becomes of one assertion, and with agreement=True, which looks at the same runs once more."""
    begun = time.process_time()
    claim = rc.Claim("the promise", "", "upper", kind.rate)
    try:
        name, found = PASSED, asserted(job, claim, rules=rules, seconds=seconds, **size)
    except RateRefuted as error:
        name, found = FAILED, error.found
    except CannotTell as error:
        name, found = OPEN, error.found
    steps = 0 if found is None else found.rung.horizons[-1]
    both = {"": Trial(name, time.process_time() - begun, steps)}
    if not kind.agreement:
        return both
    try:
        if name != FAILED and found is not None:
            agreeing(found)
    except CurveChanged:
        name = FAILED
    return both | {AGREEING: Trial(name, time.process_time() - begun, steps)}


COLUMNS = ("kind", "mistake", "held_out", "changes", "seeds", PASSED, FAILED, OPEN, "seconds", "T_max")  # medians


def row(kind: str, name: str, held_out: str, changes: str, found: list[Trial]) -> dict:
    counts = {n: sum(o.name == n for o in found) for n in (PASSED, FAILED, OPEN)}
    middle = f"{statistics.median(o.seconds for o in found):.2g}"
    last = statistics.median_low(o.steps for o in found)
    said = {"kind": kind, "mistake": name, "held_out": held_out, "changes": changes, "seeds": len(found)}
    return said | counts | {"seconds": middle, "T_max": last}


def measure(seeds: int, few: int, seconds: float, only: str = "") -> Iterator[dict]:
    """Rows of sound algorithms, then of mistakes; those of many seeds come several times, as far as they are."""
    rules = Rules(TOLERANCE, FALSE_ALARMS, POWER)
    chosen = {name: kind for name, kind in kinds().items() if only in name}

    def tried(name, kind, mistake, held_out, changes, job, count, size):
        found = []
        for seed in range(count):
            found.append(outcomes(job(seed), kind, rules, seconds, size))
            if len(found) % EVERY == 0 or len(found) == count:
                for how in found[0]:
                    yield row(name + how, mistake, held_out, changes, [each[how] for each in found])

    for name, kind in chosen.items():
        yield from tried(name, kind, NONE, "", "", kind.sound, seeds, {})
    for name, kind in chosen.items():
        for mistake, (job, changes, held_out) in kind.mistakes.items():
            yield from tried(name, kind, mistake, "yes" if held_out else "no", changes, job, few, kind.size)


def main(argv=None) -> int:
    parser = parser_of("benchmarks.asserting", __doc__)
    parser.add_argument("--seeds", type=whole(), default=200, help="of sound algorithms; 0: leave them out")
    parser.add_argument("--few", type=whole(), default=10, help="seeds of each mistake; 0: leave them out")
    parser.add_argument("--budget", type=float, default=20.0, help="seconds of one assertion")
    parser.add_argument("--only", default="", metavar="TEXT", help="kinds with this in their name")
    parser.add_argument("--out", type=Path, metavar="FILE", help="write the table there, too; its other rows stay")
    return guarded(_main, parser.parse_args(argv))


def _main(arguments) -> int:
    rows = {}
    if arguments.out is not None and arguments.out.is_file():
        with arguments.out.open(newline="") as file:
            rows = {(r["kind"], r["mistake"]): r for r in csv.DictReader(file)}
    print(_text([]), end="")
    for new in measure(arguments.seeds, arguments.few, arguments.budget, arguments.only):
        print(_text([new]).splitlines()[1], flush=True)
        rows[new["kind"], new["mistake"]] = new
        if arguments.out is not None:
            with together(arguments.out.parent) as drafts:
                drafts.write(arguments.out.name, _text(_in_order(rows)))
    return 0


def _in_order(rows: dict) -> list[dict]:
    order = [
        (name + how, mistake)
        for name, kind in kinds().items()
        for how in ("", AGREEING)
        for mistake in (NONE, *kind.mistakes)
    ]
    return [rows[key] for key in order if key in rows]


def _text(rows) -> str:
    out = io.StringIO()
    table = csv.DictWriter(out, COLUMNS, lineterminator="\n")
    table.writeheader()
    table.writerows(rows)
    return out.getvalue()


if __name__ == "__main__":
    sys.exit(main())
