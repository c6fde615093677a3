"""`python -m studies.lower_bound`: certified lower bounds against real algorithms: tables, figures, a report."""

import os
import sys

import function_zoo as zoo
import ratecheck as rc
from ratecheck.files import together
from studies.shared.commands import folder, guarded, parser_of, whole

PURPOSE = "Measure every algorithm on hard families, against the certified lower bound."
MOST_MEMBERS, MOST_WORKERS = 10**4, 1024
COSTS = [(name, dim) for dim in (1, 2) for name in zoo.families() if name != "dented"]
COSTS += [(name, 3) for name in ("cone", "plateau", "quadratic", "quartic", "valley")]


def main(argv=None) -> int:
    parser = parser_of("lower_bound", PURPOSE)
    parser.add_argument("--family", help="one family only, in the dimensions of the study")
    parser.add_argument(
        "--members",
        type=whole(2, MOST_MEMBERS),
        default=8,
        help=f"of each family, at least 2, at most {MOST_MEMBERS:,}",
    )
    parser.add_argument("--seed", type=whole(), default=0)
    parser.add_argument("--workers", type=whole(1, MOST_WORKERS), default=os.cpu_count())
    parser.add_argument("--out", type=folder, metavar="DIR", default="studies/lower_bound")
    parser.add_argument("--report", action="store_true", help="write the report again from the tables, run nothing")
    return guarded(_main, parser.parse_args(argv))


def exists(name, dim) -> bool:
    """Whether the zoo has the family in this dimension."""
    try:
        return bool(zoo.get(name, dim))
    except zoo.InvalidChoice:
        return False


def _main(arguments) -> int:
    from studies.lower_bound.draw import draw_sandwiches
    from studies.lower_bound.pages import report
    from studies.lower_bound.sandwich import ORACLE, measure, read

    costs = [pair for pair in COSTS if exists(*pair)]
    if arguments.family:
        costs = [(name, dim) for name, dim in costs if name == zoo.get(arguments.family).name]
    arguments.out.mkdir(parents=True, exist_ok=True)  # before the minutes that it takes

    def progress(done, of):
        print(f"\r{done} of {of} families and horizons", end="" if done < of else "\n", file=sys.stderr, flush=True)

    if arguments.report:
        found = read(arguments.out)
        costs = list(dict.fromkeys(zip(found.every_bound["family"], found.every_bound["dim"], strict=True)))
    else:
        how = {"members": arguments.members, "seed": arguments.seed, "workers": arguments.workers}
        found = measure(costs, **how, report=progress)
    factors = found.factors
    real = factors[factors["algorithm"] != ORACLE]
    slopes = {pair: rc.theorem3.rate(zoo.get(*pair).constants, pair[1]).slope for pair in costs}
    pictures = []
    with together(arguments.out) as drafts:
        for dim in sorted({dim for _, dim in costs}):
            theory = {family: slope for (family, d), slope in slopes.items() if d == dim}
            pictures.append((draw_sandwiches(drafts, real, theory, dim), f"Bounds and regrets in dimension {dim}"))
        for name, table in _tables(found):
            drafts.write(f"{name}.csv", table.to_csv(index=False, lineterminator="\n"))
        drafts.write("report.md", report(found, pictures))
    print(arguments.out / "report.md")
    return int(bool(real["below"].any()))


def _tables(found):
    """By name; the first two are all that a report needs."""
    return ("runs", found.runs), ("bounds", found.every_bound), ("factors", found.factors), ("slopes", found.slopes)


if __name__ == "__main__":
    sys.exit(main())
