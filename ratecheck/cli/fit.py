"""`ratecheck fit TABLE`: the rate in a table from anywhere, and a verdict on a promised one."""

import json
import math
import sys
import warnings
from contextlib import suppress

from ..display import wrapped
from .parser import EXIT_REFUTED, EXIT_WRONG_INPUT, Mistake, Parser, path, real_number, sentence, some

NOTE = (
    "Columns with usual names are found: T, n, N, horizon, steps, samples, h, dt ... for x; regret, error, loss, mse "
    "... for y; run, seed, replicate ... for runs; se, stderr, sd ... for errors of means.  TABLE is CSV, TSV, columns "
    "apart by spaces or semicolons, or a table of markdown or LaTeX; - is standard input; a "
    "study's folder is the table of its runs (--by case).  It executes nothing of it.  Exit codes: 0; 2 wrong input; "
    "3 with --strict if a rate is REFUTED."
)


def make_parser(prog) -> Parser:
    parser = Parser(prog, "fit a rate to a table from anywhere, and judge one", NOTE)
    files = "a file of runs, of means or of one series; or a study's folder"
    parser.add_argument("table", type=some, metavar="TABLE", help=files)
    claim = parser.add_argument_group("the claim")
    claim.add_argument("--rate", type=some, metavar="RATE", help='such as "N^-0.5", "sqrt(T) ln T" or "h^2"')
    claim.add_argument("--kind", choices=["upper", "lower", "tight"], default="upper", help="of bound (default: upper)")
    claim.add_argument("--margin", type=real_number, default=0.05, metavar="M", help="of the exponent (default: 0.05)")
    claim.add_argument("--log-power", type=real_number, metavar="P", help="of ln x, divided out (default: RATE's)")
    claim.add_argument("--strict", action="store_true", help="end with code 3 if the rate is REFUTED")
    columns = parser.add_argument_group("columns, by name")
    for name, what in (
        ("x", "what grows: T, n ...; or the size of a step"),
        ("y", "what is fitted: regret, error ..."),
        ("run", "names the runs"),
        ("error", "standard errors, where y are means"),
        ("sd", "standard deviations, where y are means; they need --count"),
        ("half-width", "half the widths of 95 %% intervals, where y are means; or LOW,HIGH, their ends"),
        ("count", "of the runs behind each mean: a column or a number"),
    ):
        columns.add_argument(f"--{name}", type=some, metavar="COLUMN", help=what)
    _add_rows_and_model(parser)
    output = parser.add_argument_group("output")
    output.add_argument("--plot", type=path, metavar="FILE", help="also a figure, .png or .svg")
    output.add_argument("--json", action="store_true", help="print an object per fit instead, on a line each")
    return parser


def _add_rows_and_model(parser):
    rows = parser.add_argument_group("rows")
    picked = {"type": some, "action": "append", "default": [], "metavar": "COLUMN=VALUE"}
    rows.add_argument("--where", help="only these rows; may be repeated", **picked)
    rows.add_argument("--by", type=some, metavar="COLUMN", help="fit each value of a column in turn")
    rows.add_argument("--window", type=window, metavar="LO:HI", help="only these x; either end may be left out")
    yes, no = ({"action": "store_const", "const": answer} for answer in (True, False))
    shared = rows.add_mutually_exclusive_group()
    shared.add_argument("--anytime", dest="anytime", help="the rows of a run come from one run", **yes)
    shared.add_argument("--separate", dest="anytime", help="every row is a run of its own", **no)
    model = parser.add_argument_group("the model")
    model.add_argument("--floor", type=floor, metavar="E", help="y = E + A x^s: a number, LO:HI, or fit")
    step = model.add_mutually_exclusive_group()
    step.add_argument("--step", dest="step", help="x is the size of a step", **yes)
    step.add_argument("--no-step", dest="step", help="x is none, though it looks like one", **no)
    model.add_argument("--values", action="store_true", help="y has an unknown limit: fit its differences")
    model.add_argument("--level", type=real_number, default=0.95, metavar="L", help="of intervals (default: 0.95)")


def main(argv, prog="ratecheck fit") -> int:
    parser = make_parser(prog)
    arguments = parser.parse_args(argv)

    from ..fit.columns import brief, groups
    from ..fit.log_means import FitError
    from ..fit.read import table_of
    from ..rates import Rate

    rate = None
    if arguments.rate is not None:
        with warnings.catch_warnings(record=True) as caught:
            warnings.simplefilter("always")
            rate = Rate.parse(arguments.rate)
        for warning in caught:
            print(f"remark: {sentence(warning.message)}", file=sys.stderr)
    if arguments.plot is not None and (arguments.by or arguments.plot.suffix.lower() not in (".png", ".svg")):
        parser.error("--plot takes one FILE.png or FILE.svg, and one curve: no --by")
    where = dict(pair(text) for text in arguments.where)
    table = table_of(sys.stdin.buffer if arguments.table == "-" else arguments.table)
    if arguments.by is None:
        return _exit(arguments, [_one(arguments, table, rate, where)])
    found = []
    for value in groups(table, arguments.by):
        if not arguments.json:
            print(f"{chr(10) if found else ''}{arguments.by} = {sentence(brief(value))}")
        try:
            found.append(_one(arguments, table, rate, where | {arguments.by: brief(value)}))
        except FitError as error:  # of one curve; the others may do
            print(f"error: {sentence(error)}", file=sys.stderr)
            found.append(None)
    return EXIT_WRONG_INPUT if None in found else _exit(arguments, found)


def _exit(arguments, found) -> int:
    refuted = any(v is not None and v.name == "REFUTED" for _, v in found)
    return EXIT_REFUTED if arguments.strict and refuted else 0


def _one(arguments, table, rate, where):
    from ..fit.fit import fit_rate
    from ..verdict.rules import tight, verdict

    log_power = arguments.log_power
    if log_power is None:
        log_power = rate.log_power if rate is not None else 0.0
    same = ("window", "level", "x", "y", "run", "error", "sd", "anytime", "step", "values", "floor")
    options = {name: getattr(arguments, name) for name in same}
    ends = arguments.half_width
    if ends is not None and ends not in table.frame.columns:
        ends = ends.split(",")
    count = arguments.count
    with suppress(TypeError, ValueError):  # a column
        count = float(count)
    fit = fit_rate(table, log_power, half_width=ends, count=count, where=where or None, **options)
    judged = None
    if rate is not None:
        check_variable(arguments.rate, fit.data.words)
        if arguments.kind == "tight":
            judged = tight(fit, rate, arguments.margin, arguments.level)
        else:
            judged = verdict(fit, rate, arguments.kind, margin=arguments.margin, level=arguments.level)
    if arguments.plot is not None:
        figure = fit.plot(rate)
        figure.savefig(arguments.plot, bbox_inches="tight")
    if arguments.json:
        print(json.dumps(as_record(fit, judged, where), allow_nan=False))
    else:
        print("\n".join(page(fit, judged)))
    return fit, judged


def check_variable(text, words):
    """A power of a step is promised to a table of steps, and a power of what grows to one of what grows."""
    from ..fit.columns import STEP_SIZES, plain
    from ..notation import read

    said = read(text)
    name = plain(said.variable)
    if not (said.power or said.log_power) or name in (plain(words.x), "x") or (name in STEP_SIZES) == words.inverse:
        return
    kinds = ("a size of steps", "something that grows")
    promised, found = kinds if not words.inverse else kinds[::-1]
    power = f"{words.x}^{-float(said.power):g}"
    raise ValueError(
        f"--rate {text!r} is a power of {said.variable}, {promised}, but x is {words.x!r}, {found}; write the rate in "
        f"{words.x} (is it {power}?), or name the column of {said.variable} with --x"
    )


def page(fit, judged) -> list[str]:
    facts = [line.partition("  ")[::2] for line in str(fit).splitlines()]
    facts += diagnostics(fit).items()
    facts += [("" if i else "found", text) for i, text in enumerate(fit.remarks)]
    lines = [line for name, value in facts for line in wrapped(value, first=f"{name:9}  ", others=" " * 11)]
    return lines if judged is None else [*lines, "", *wrapped(str(judged))]


def diagnostics(fit) -> dict[str, str]:
    """Whether the line is one: the last half, the curvature and, of a series, the orders of neighbours."""
    words, late = fit.data.words, fit.last_half
    found = {"last half": f"slope {words.slope(late.value):.4f} ± {late.high - late.value:.2g}"}
    if fit.data.source == "series":
        orders = [words.slope(e.value) for _, e in fit.local_slopes()]
        found["orders"] = ", ".join(f"{o:.3f}" for o in orders) + " between neighbours, the last at " + words.end
    elif fit.data.profile is None:
        p = fit.curvature_p()
        found["curvature"] = f"p = {p:.2g}" + ("; the line is bent" if p < 1 - fit.level else "; no bend is seen")
    return found


def as_record(fit, judged, where) -> dict:
    """The numbers, for programs; None where a number is not finite."""

    def finite(value):
        return float(value) if value is not None and math.isfinite(value) else None

    words = fit.data.words
    record = {
        "where": {str(k): str(v) for k, v in where.items()},
        "x": words.x,
        "y": words.y,
        "slope": finite(fit.slope),
        "low": finite(fit.low),
        "high": finite(fit.high),
        "level": fit.level,
        "log_power": fit.log_power,
        "source": fit.data.source,
        "runs": fit.data.replicates or None,
        "window": sorted(float(words.place(fit.data.horizons[end])) for end in (0, -1)),
        "points": len(fit.data.horizons),
        "problem": fit.problem,
        "caution": fit.caution,
        "remarks": list(fit.remarks),
    }
    if judged is None:
        return record
    passed, caught = judged.limits
    verdict = {"verdict": str(judged.name), "reason": judged.reason, "p_value": finite(judged.p_value)}
    return record | verdict | {"tolerates": finite(passed), "catches": finite(caught)}


# Values of options


def _ends(text, missing):
    parts = text.split(":")
    if len(parts) != 2:
        raise Mistake(f"{text!r} must be LO:HI")
    from ..fit.read import number as read

    ends = [m if not part.strip() else read(part) for part, m in zip(parts, missing, strict=True)]
    if None in ends or ends[0] > ends[1]:
        raise Mistake(f"{text!r} must be LO:HI, two numbers from low to high")
    return ends[0], ends[1]


def window(text):
    return _ends(text, (0.0, math.inf))


def floor(text):
    if text.strip().lower() == "fit":
        return "fit"
    return _ends(text, (-math.inf, math.inf)) if ":" in text else real_number(text)


def pair(text) -> tuple[str, str]:
    column, sign, value = text.partition("=")
    if not sign or not column.strip():
        raise ValueError(f"--where {text!r} must be COLUMN=VALUE")
    return column.strip(), value.strip()
