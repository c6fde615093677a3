"""`python -m studies.levels`: run, predict and compare, and write the tables and the page about them."""

from __future__ import annotations

import platform
from concurrent.futures import ProcessPoolExecutor
from importlib.metadata import version

import pandas as pd

from ratecheck.files import together
from studies.levels import __doc__ as purpose
from studies.levels.measure import HORIZONS, LOCKED, RUNS, cases
from studies.shared.commands import folder, guarded, parser_of, whole

NEAR, FAR = 0.02, 0.05  # of measured / predicted
TABLES = ("cases", "noise", "locked")


def main(argv=None) -> int:
    parser = parser_of("levels", purpose)
    parser.add_argument("--out", type=folder, metavar="DIR", default="studies/levels")
    parser.add_argument("--workers", type=whole(1, 64), default=2, metavar="N", help="processes (default: 2)")
    parser.add_argument("--keep", action="store_true", help="write the page anew from the tables that DIR holds")
    return guarded(_main, parser.parse_args(argv))


def _main(arguments) -> int:
    out = arguments.out
    out.mkdir(parents=True, exist_ok=True)
    tables = {name: pd.read_csv(out / f"{name}.csv") for name in TABLES} if arguments.keep else made(arguments.workers)
    with together(out) as drafts:
        for name, table in tables.items():
            drafts.write(f"{name}.csv", table.to_csv(index=False, lineterminator="\n", float_format="%.6g"))
        drafts.write("report.md", "\n".join(page(tables)) + "\n")
    print(out / "report.md")
    return 0


def made(workers) -> dict[str, pd.DataFrame]:
    """All tables."""
    names, jobs = zip(*cases(), strict=True)
    with ProcessPoolExecutor(workers) as processes:
        rows = list(processes.map(call, jobs))
    return {name: pd.DataFrame([row for of, row in zip(names, rows, strict=True) if of == name]) for name in TABLES}


def call(job):
    return job()


def within(table, margin) -> int:
    """In how many rows measured / predicted lies, at every horizon, within the margin and two standard errors of 1."""
    return int((table["surely_off"] <= margin).sum())


def near(ratios, margin) -> int:
    """How many ratios lie within a margin of 1."""
    return int((abs(ratios - 1) <= margin).sum())


def page(tables) -> list[str]:
    found, loud, locked = (tables[name] for name in TABLES)
    of, of_loud, level = len(found), len(loud), found["level_ratio"]
    sure, loudly = ([within(table, margin) for margin in (NEAR, FAR)] for table in (found, loud))
    cost = found["prediction_seconds"].sum() / found["runs_seconds"].sum()
    return [
        "# Runs against predictions without a free parameter",
        "",
        f"{RUNS} runs of each case, T = {HORIZONS[0]:,} to {HORIZONS[-1]:,}, against the prediction at their",
        "partitions.  Points and noise are drawn in every cell; where the first eight draws all come within .5 % of",
        "the deterministic level, that is taken.  What is counted below is measured / predicted.",
        "",
        f"- Averaged over the horizons it lies within 2 % of 1 in {near(found['ratio'], NEAR)} of {of}, within",
        f"  5 % in {near(found['ratio'], FAR)}; of the deterministic level in {near(level, NEAR)}, {near(level, FAR)}.",
        f"- At every single horizon, two standard errors allowed, it lies within 2 % in {sure[0]} cases",
        f"  and within 5 % in {sure[1]}.",
        f"- With other noise, of {of_loud} cases: within 2 % on average in {near(loud['ratio'], NEAR)} and within",
        f"  5 % in {near(loud['ratio'], FAR)}; at every horizon, errors allowed, in {loudly[0]} and {loudly[1]}.",
        f"- The predictions took {cost:.2g} times the computing time of the runs.",
        "",
        "## The zoo",
        "",
        *listed(found.sort_values("ratio", key=lambda r: -abs(r - 1)), "algorithm"),
        "",
        "## Other noise, AdaptiveBins at mu_min",
        "",
        *listed(loud, "noise"),
        "",
        "## Runs that lock in",
        "",
        f"A run counts if its regret exceeds {LOCKED:g} times that at the deterministic level of its partition.",
        "",
        "| cost | mu | runs that lock in | draws that do | measured / predicted |",
        "|---|---|---|---|---|",
        *(
            f"| {r.family} d = {r.dim} | {r.mu} | {r.locked} of {r.runs} ({r.locked / r.runs:.1%}) | "
            f"{r.drawn_locked} of {r.draws} ({r.drawn_locked / r.draws:.1%}) | {r.ratio:.3f} |"
            for r in locked.itertuples()
        ),
        "",
        "Rerun with",
        "",
        "```sh",
        "python -m studies.levels",
        "```",
        "",
        f"This report: Python {platform.python_version()}, numpy {version('numpy')}, numba {version('numba')}.",
    ]


def listed(table, column) -> list[str]:
    """A row per case."""
    return [
        f"| cost | {column} | measured / predicted | measured / deterministic | farthest horizon | largest error |",
        "|---|---|---|---|---|---|",
        *(
            f"| {r.family} d = {r.dim} | {getattr(r, column)} | {r.ratio:.4f} | {r.level_ratio:.4f} | "
            f"{r.farthest:.3f} | {r.error:.3f} |"
            for r in table.itertuples()
        ),
    ]


if __name__ == "__main__":
    raise SystemExit(main())
