"""`python -m studies.limits`: the limits of all predicted curves beside what Theorems 1 and 2 promise.

Finished curves are kept in curves.jsonl, so that the same command goes on where it was stopped; the limits are asked
for anew each time.
"""

import json
import math
import os
import sys
import time
from concurrent.futures import ProcessPoolExecutor, as_completed
from dataclasses import asdict

import function_zoo as zoo
import ratecheck as rc
from ratecheck.files import together
from studies.prediction.study import study
from studies.shared.commands import folder, guarded, parser_of, whole

PURPOSE = "Compute every predicted curve of the zoo, and the limit of its slopes."
KEPT = "curves.jsonl"
FIRST = 2**10
COLUMNS = ["family", "dim", "algorithm", "promised", "last_T", "limit", "low", "high", "settled", "reason"]
COLUMNS += ["printed", "log_power", "log_low", "log_high", "attained", "error", "cells", "seconds", "ended"]


def main(argv=None) -> int:
    parser = parser_of("limits", PURPOSE)
    parser.add_argument("--family", help="one family only, in all its dimensions")
    parser.add_argument("--last", type=float, default=1e60, help="horizon at which curves end")
    parser.add_argument("--error", type=float, default=0.005, help="of a curve, as a share of it")
    parser.add_argument("--workers", type=whole(1, 1024), default=os.cpu_count(), help="processes")
    parser.add_argument("--out", type=folder, metavar="DIR", default="studies/limits")
    return guarded(_main, parser.parse_args(argv))


def _main(arguments) -> int:
    wanted = [(family, dim, i) for family, dim in pairs(arguments.family) for i in range(len(study.algorithms))]
    arguments.out.mkdir(parents=True, exist_ok=True)
    how = {"last": arguments.last, "error": arguments.error}
    kept = _curves(arguments.out / KEPT, wanted, how, arguments.workers)
    rows = [row(*key, *kept[key]) for key in wanted]
    with together(arguments.out) as drafts:
        drafts.write("limits.csv", _csv(rows))
        drafts.write("report.md", report(rows))
    print(arguments.out / "report.md")
    return 0


def pairs(family) -> list[tuple[str, int]]:
    """The costs of the study of predictions, or those of one family."""
    found = [(cost.name, cost.dim) for cost in study.costs]
    name = family and zoo.get(family).name
    if name and name not in dict(found):
        raise ValueError(f"{name} is none of the costs of this study: {', '.join(dict(found))}")
    return [(f, dim) for f, dim in found if name in (None, f)]


def _curves(path, wanted, how, workers) -> dict:
    """The curves that are kept, and those that were missing, each with the seconds that it took."""
    lines = path.read_text("utf-8").splitlines() if path.exists() else []
    kept = {}
    for line in lines:
        try:
            record = json.loads(line)
        except ValueError:  # the last line of a study that was stopped while it wrote
            continue
        if record["how"] == how:
            kept[tuple(record["key"])] = restored(record["curve"]), record["seconds"]
    missing = [key for key in wanted if key not in kept]
    with ProcessPoolExecutor(workers) as processes, path.open("a", encoding="utf-8") as file:
        file.write("\n" if lines else "")
        try:
            for done in as_completed([processes.submit(computed, *key, how) for key in missing]):
                key, curve, seconds = done.result()
                kept[key] = restored(curve), seconds
                record = {"key": key, "how": how, "curve": curve, "seconds": seconds}
                print(json.dumps(record), file=file, flush=True)
                print(f"\r{len(kept)} curves", end="", file=sys.stderr, flush=True)
        except BaseException:
            processes.shutdown(cancel_futures=True)
            raise
    return kept


def computed(family, dim, i, how):
    """One curve as a dictionary, and the seconds of processor time that it took."""
    cost = zoo.get(family, dim)
    begun = time.process_time()
    curve = rc.predicted_curve(study.algorithms[i], cost, first=FIRST, **how)
    return (family, dim, i), asdict(curve), round(time.process_time() - begun, 1)


def restored(fields) -> rc.Curve:
    """A curve from its fields, as they come out of a file."""
    return rc.Curve(**{name: tuple(value) if isinstance(value, list) else value for name, value in fields.items()})


def row(family, dim, i, curve, seconds) -> dict:
    """What one curve says."""
    cost = zoo.get(family, dim)
    algorithm = study.algorithms[i].settle(cost)
    claim = algorithm.claims(cost)[0]
    found = rc.far(curve, claim, period=algorithm.period(cost), shift=algorithm.shift(cost))
    limit, power = found.exponent, found.shifted or found.power  # of ln T + shift, which is seen earlier
    nothing = (math.nan, math.nan, math.nan)
    value, low, high = (limit.value, limit.low, limit.high) if limit else nothing
    log_power, log_low, log_high = (power.value, power.low, power.high) if power else nothing
    values = [family, dim, study.algorithms[i].label, claim.rate.slope, curve.horizons[-1], value, low, high]
    values += [found.settled, found.reason]
    values += [claim.printed.log_power, log_power, log_low, log_high, found.on_printed.attained]
    values += [max(curve.error), max(curve.cells), seconds, curve.limit]
    return dict(zip(COLUMNS, values, strict=True))


def _csv(rows) -> str:
    import pandas as pd

    return pd.DataFrame(rows, columns=COLUMNS).to_csv(index=False, float_format="%.6g", lineterminator="\n")


def report(rows) -> str:
    """A table with a row for each cost, and what stays open."""
    settled, names = [r for r in rows if r["settled"]], [a.label for a in study.algorithms]
    text = "# Limits\n\nTo which slope does each predicted curve of ln R against ln T tend, and what does its theorem "
    text += "promise? These are statements about the curve, without runs: about the level that theory predicts, with "
    text += "means in the place of what is drawn. `python -m studies.limits` computes them again; limits.csv holds all "
    text += f"columns.\n\n{len(settled)} of {len(rows)} limits are settled.\n\n| cost | d | {' | '.join(names)} |\n"
    text += "| --- | --- |" + " --- |" * len(names) + "\n"
    for family, dim in dict.fromkeys((r["family"], r["dim"]) for r in rows):
        cells = [_cell(r) for r in rows if (r["family"], r["dim"]) == (family, dim)]
        text += f"| {family} | {dim} | {' | '.join(cells)} |\n"
    text += "\nA cell says: the limit and its interval, the promised slope, the last T; ? is a limit that is open.\n"
    open_ = [f"- {r['family']} d = {r['dim']}, {r['algorithm']}: {r['reason']}\n" for r in rows if not r["settled"]]
    return text + ("\n## What stays open\n\n" + "".join(open_) if open_ else "")


def _cell(r) -> str:
    mark = "" if r["settled"] else "? "
    return f"{mark}{r['limit']:.3f} [{r['low']:.3f}, {r['high']:.3f}], {r['promised']:.3f}, {r['last_T']:.0e}"


if __name__ == "__main__":
    sys.exit(main())
