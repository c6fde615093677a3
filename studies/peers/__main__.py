"""`python -m studies.peers`: other libraries beside ours, as tables, figures and a report.

Every finished pair of a cost and a contestant is kept in its folder, so that the same command goes on where it was
stopped, and renders the report anew where nothing is missing.
"""

import json
import sys

from ratecheck.files import together
from studies.shared.commands import folder, guarded, parser_of, whole

PURPOSE = "Measure algorithms of PyXAB, cma, nevergrad and optuna beside ours."
LIBRARIES = ("PyXAB", "cma", "nevergrad", "optuna")
MOST_SECONDS = 3600


def main(argv=None) -> int:
    parser = parser_of("peers", PURPOSE)
    parser.add_argument("--family", help="one cost only, in the dimensions of the study")
    parser.add_argument("--replicates", type=whole(3, 1000), default=8, help="at least 3")
    parser.add_argument(
        "--budget", type=whole(1, MOST_SECONDS), default=3, help="seconds of processor time for a cost and a contestant"
    )
    parser.add_argument("--seed", type=whole(), default=0)
    parser.add_argument("--fresh", action="store_true", help="forget the runs that are kept there")
    parser.add_argument("--out", type=folder, metavar="DIR", default="studies/peers")
    return guarded(_main, parser.parse_args(argv))


def _main(arguments) -> int:
    import function_zoo as zoo
    from studies.peers.contest import COSTS

    costs = list(COSTS)
    if arguments.family:
        name = zoo.get(arguments.family).name
        costs = [pair for pair in COSTS if pair[0] == name]
        if not costs:
            known = ", ".join(dict.fromkeys(family for family, _ in COSTS))
            raise ValueError(f"{name} is none of the costs of this study: {known}")
    settings = {"replicates": arguments.replicates, "budget": arguments.budget, "seed": arguments.seed}
    arguments.out.mkdir(parents=True, exist_ok=True)
    contest = _contested(arguments.out, costs, settings, arguments.fresh)
    _rendered(arguments.out, contest)
    print(arguments.out / "report.md")
    return 0


def _contested(out, costs, settings, fresh):
    """The runs that are kept, and those that were missing."""
    import pandas as pd

    import function_zoo as zoo
    from studies.peers.contest import Contest, contestants, measure

    kept = _kept(out, settings, fresh)
    pairs = [(pair, contestant) for pair in costs for contestant in contestants(zoo.get(*pair))]
    done = {key for key, _ in kept.ends.groupby(["family", "dim", "algorithm"])} if len(kept.ends) else set()
    missing = [(pair, c) for pair, c in pairs if (*pair, c.name) not in done]
    if missing:
        kept = Contest(kept.runs, kept.ends, settings | _versions())
    for i, (pair, contestant) in enumerate(missing, 1):
        rows, end = measure(zoo.get(*pair), contestant, settings["replicates"], settings["seed"], settings["budget"])
        who = {"family": pair[0], "dim": pair[1], "algorithm": contestant.name}
        runs = pd.concat([kept.runs, pd.DataFrame([who | row for row in rows])], ignore_index=True)
        ends = pd.concat([kept.ends, pd.DataFrame([who | {"end": end}])], ignore_index=True)
        kept = Contest(runs, ends, kept.settings)
        _keep(out, kept)
        print(f"{i} of {len(missing)}: {pair[0]} d = {pair[1]}, {contestant.name} {end}", file=sys.stderr, flush=True)
    return kept


def _kept(out, settings, fresh):
    import pandas as pd

    from studies.peers.contest import Contest

    if fresh or not (out / "settings.json").exists():
        return Contest(pd.DataFrame(), pd.DataFrame(), settings)
    try:
        known = json.loads((out / "settings.json").read_text(encoding="utf-8"))
        runs, ends = (pd.read_csv(out / f"{name}.csv") for name in ("runs", "ends"))
        other = [f"{name} = {known[name]}" for name, value in settings.items() if known[name] != value]
    except (ValueError, KeyError, TypeError, FileNotFoundError) as error:
        raise ValueError(f"the runs in {out} cannot be read ({error}); take --fresh, or another --out") from None
    if other:
        raise ValueError(f"{out} keeps runs with {', '.join(other)}; take the same, --fresh, or another --out")
    return Contest(runs, ends, known)


def _keep(out, contest):
    with together(out) as drafts:
        for name, table in (("runs", contest.runs), ("ends", contest.ends)):
            drafts.write(f"{name}.csv", table.to_csv(index=False, lineterminator="\n", float_format="%.8g"))
        drafts.write("settings.json", json.dumps(contest.settings, indent=2) + "\n")


def _versions() -> dict:
    import platform
    from importlib.metadata import PackageNotFoundError, version

    found = {"Python": platform.python_version()}
    for name in (*LIBRARIES, "numpy", "numba"):
        try:
            found[name] = version(name)
        except PackageNotFoundError:  # its contestants will say what to do
            found[name] = "not installed"
    return found


def _rendered(out, contest):
    from matplotlib import rc_context

    from ratecheck.figures import STYLE
    from studies.peers.draw import regrets, times
    from studies.peers.pages import FIGURES, report
    from studies.shared.figures import save

    with together(out) as drafts, rc_context(STYLE):
        pictures = []
        for stem, title, kind, names, references in FIGURES:
            draw = {"regret": regrets, "time": times}[kind]
            pictures.append((save(draw(contest.means, names, references), drafts, stem, svg=False), title, kind))
        table = contest.fits.round(6)
        drafts.write("slopes.csv", table.to_csv(index=False, lineterminator="\n"))
        drafts.write("report.md", report(contest, pictures))


if __name__ == "__main__":
    sys.exit(main())
