"""The report of a calibration; every number in it comes from the tables."""

from __future__ import annotations

import math
import platform
from importlib.metadata import version

import numpy as np

from ratecheck.verdict.rules import MARGIN
from studies.calibration.assertions import FILE, assertion_page
from studies.calibration.cells import grid, per_cent, same
from studies.calibration.measure import BOOTSTRAP, FAMILY, OFF, SIZE, WRONG, Tables
from studies.calibration.real import REAL
from studies.calibration.rules import FIRST, LOOKS
from studies.calibration.scenarios import CLAIM, HORIZONS, SCENARIOS, holds_one, named
from studies.calibration.tables import GRIDS, ORDERS, SIGMA, SLOPE
from studies.calibration.tables import OFF as TABLE_OFF
from studies.calibration.targets import targets


def report(tables: Tables, repeats, seed, assertions=None) -> str:
    """The markdown report; every number comes from the tables; that of assertions is measured elsewhere, or not."""
    sizes = "/".join(map(str, tables.intervals["N"].unique()))
    large = "/".join(map(str, tables.starts["N"].unique()))
    pages = [
        _introduction(tables, repeats, sizes),
        _targets_page(tables),
        _coverage_page(tables, sizes),
        _verdict_page(tables, sizes),
        _bend_page(tables),
        _real_page(tables),
        _force_page(tables),
        _look_page(tables),
        _advice_page(tables),
        _start_page(tables, large),
        _difference_page(tables, sizes),
        _family_page(tables, large),
        _table_page(tables),
        _series_page(tables),
        *([] if assertions is None else [assertion_page(assertions)]),
        _how_to_rerun(repeats, seed, assertions is not None),
    ]
    return "\n".join(line for page in pages for line in (*page, ""))


def _introduction(tables, repeats, sizes):
    known = set(tables.intervals["scenario"])
    return [
        "# Calibration of the statistics layer",
        "",
        f"Synthetic runs with known E R(T), claim {CLAIM}, {len(HORIZONS)} horizons from {HORIZONS[0]:.0f} to "
        f"{HORIZONS[-1]:.0f}, {repeats} repetitions of everything: the Monte Carlo error (one standard deviation) is "
        f"{100 * math.sqrt(0.05 * 0.95 / repeats):.1f} points at 5 or 95 %, and "
        f"{100 * math.sqrt(0.25 / repeats):.1f} points at 50 %.  All figures are per cent; a cell holds those for "
        f"N = {sizes} runs.",
        "",
        "| scenario | runs |",
        "|---|---|",
        *(f"| {s.name} | {s.what} |" for s in SCENARIOS if s.name in known),
    ]


def _targets_page(tables):
    return ["## Against the targets", "", *targets(tables), "", *_worst_of_the_others(tables.intervals)]


def _worst_of_the_others(table):
    """What has no target of its own still has a worst case."""
    scenarios = [named(name) for name in table["scenario"]]
    part = table[(table["N"] >= SIZE) & np.array([s.pure and not s.lock_in for s in scenarios])]
    if part.empty:
        return []

    def worst(column, index):
        row = part.loc[index(part[column])]
        return f"{column} {per_cent(row[column])} % ({row['scenario']}, N = {row['N']})"

    covered = ("bootstrap", "last half", "log power", "joint", "local", "lag", "held out")
    sizes = ("curvature", "chi-square", "prediction")
    return [
        "No target is set for the others.  Where the truth is a rate without lock-in, their worst at N >= 64: coverage "
        + "; ".join(worst(column, lambda values: values.idxmin()) for column in covered)
        + ".  Size at 5 %: "
        + "; ".join(worst(column, lambda values: values.idxmax()) for column in sizes)
        + "."
    ]


def _coverage_page(tables, sizes):
    lock_in = tables.intervals["scenario"].isin([s.name for s in SCENARIOS if s.lock_in])
    columns = ("jackknife", "bootstrap", "last half", "log power", "joint", "local", "lag", "held out")
    locked = {"jackknife": "coverage", "flagged": "flagged", "holds one": "samples with a lock-in run"}
    locked |= {"jackknife, flagged": "coverage, flagged", "jackknife, unflagged": "coverage, unflagged"}
    return [
        f"## Coverage of nominal 95 % intervals, N = {sizes}",
        "",
        "The truth is what the same fit gives on E R(T) itself; where E R(T) is a rate that is the rate.  jackknife: "
        f"the default interval of the slope; bootstrap: its cross-check, with {BOOTSTRAP} resamples; joint: the region "
        "for slope and log power; local: slopes between neighbouring horizons; lag: the mean slope over a factor 16 in "
        "T; held out: the error in predicting the last two horizons.",
        "",
        *grid(tables.intervals, "scenario", same(*columns)),
        "",
        "## Size of the diagnostics at 5 %, and the share of the mean in one run",
        "",
        "Rejections of a true model by the curvature, by the expected chi-square, and by predictions of the last two "
        "horizons that miss them.  S8, S9 and S10 are no pure rates: there a rejection is right.  The largest share is "
        "the median over repetitions of the largest part of a horizon's regret in a single run; a fit is flagged where "
        "it exceeds 10 % and four times an even share, 4/N.",
        "",
        *grid(tables.intervals, "scenario", same("curvature", "chi-square", "prediction", "largest share", "flagged")),
        "",
        "## Lock-in: what the flag can and cannot say",
        "",
        "The default interval's coverage among flagged and unflagged fits.  A sample without a single lock-in run "
        "looks like one from an algorithm that has none, and no statistic of it can tell.  Where lock-in changes the "
        "slope (S4b) its interval is wrong by what it has not seen; where lock-in multiplies the regret at all "
        "horizons alike (S4, I4) it is not.",
        "",
        *grid(tables.intervals[lock_in].assign(**{"holds one": holds_one}), "scenario", locked),
    ]


def _verdict_page(tables, sizes):
    heads = ("REFUTED +0", "CONSISTENT +0", *(f"{name} +{off:g}" for name in ("CONSISTENT", "REFUTED") for off in OFF))
    others = {
        "log power right refuted": "log power: REFUTED though right",
        "log power 2 for 1 refuted": "REFUTED, 2 for 1",
        "lower refuted though right": "lower bound: REFUTED though right",
        f"lower refuted, off by {WRONG}": f"REFUTED, off by {WRONG}",
        "tight refuted though right": "tight: REFUTED though right",
        "tight consistent though right": "CONSISTENT, right",
        f"tight consistent, off by {WRONG}": f"CONSISTENT, off by {WRONG}",
    }
    return [
        f"## Verdicts on the upper bound {CLAIM}, margin {MARGIN:g}, N = {sizes}",
        "",
        "The true slope exceeds the claim by the amount in the heading (0: the claim is true; 0.05: at the margin, "
        "where either decision may fall with its nominal 5 %).  `hidden` is CONSISTENT for R = T^(2/3), a wrong "
        "exponent that the claim's logarithm can hide.  In S8, S9 and S10 the slope over the window exceeds the slope "
        "for T to infinity, so that REFUTED at +0.05 is not wrong about the window; for the same reason lower bounds "
        "and tight rates, in the table after this one, are hard to decide there.",
        "",
        *grid(tables.verdicts, "scenario", {**same(*heads), "hidden consistent": "hidden"}),
        "",
        f"## Verdicts on log powers (exponent granted), lower bounds and tight rates, N = {sizes}",
        "",
        *grid(tables.verdicts, "scenario", others),
    ]


def _bend_page(tables):
    """Every bend, one cell for each kind of runs."""
    kinds = list(tables.bends["runs"].unique())
    columns = {"holds": "claim", "REFUTED": "REFUTED", "exponent REFUTED": "exponent REFUTED"}
    columns |= {"CONSISTENT": "CONSISTENT", "best": "best possible power"}
    lines = [f"| regret | {' | '.join(columns.values())} |", "|---" * (len(columns) + 1) + "|"]
    for name, part in tables.bends.groupby("bend", sort=False):
        cells = ["/".join(map(per_cent, part[column])) for column in columns if column not in ("holds", "best")]
        best = "–" if part["best"].isna().all() else "/".join(map(per_cent, part["best"]))
        lines.append(f"| {name} | {_claim(part.iloc[0])} | {' | '.join([*cells, best])} |")
    return [
        f"## Regrets that bend, N = {SIZE}",
        "",
        f"E R over eleven doublings, 2^9 to 2^19; a cell holds the figures for {' / '.join(kinds)} runs.  Where the "
        "claim is true every REFUTED is false, where it is false every CONSISTENT is; `not shown` are violations that "
        "stay within the margin as long as the window lasts.  REFUTED is on the rate; a refutation of the exponent is "
        "one that no other power of ln T explains.",
        "",
        "The best possible power is that of the likelihood ratio (Neyman and Pearson) between the wrong rate and the "
        "one true regret that is nearest to it among linear starts that bend into the claim, at 2 % false refutations: "
        "no rule that spares those can have more.  Over ten doublings noisy runs do not tell T^.65 from such a start.",
        "",
        *lines,
    ]


def _claim(row) -> str:
    if row["holds"]:
        return "true"
    return ("its exponent is true" if row["exponent holds"] else "false") + ("" if row["shown"] else ", not shown")


def _real_page(tables):
    columns = ("REFUTED", "exponent REFUTED", "CONSISTENT")
    lines = ["| algorithm | claim | | " + " | ".join(columns) + " |", "|---" * 6 + "|"]
    for row in tables.real.to_dict("records"):
        holds = "true" if row["holds"] else "false"
        cells = " | ".join(per_cent(row[column]) for column in columns)
        lines.append(f"| {row['algorithm']} | {row['claim']} | {holds} | {cells} |")
    known = set(tables.real["algorithm"])
    return [
        f"## Real algorithms, N = {SIZE}",
        "",
        "Runs made here, resampled: " + "; ".join(f"{r.name}: {r.what}" for r in REAL if r.name in known) + ".  "
        "Regret that approaches ln T slowly must not be refuted, and a linear part that shows late must not pass.  SGD "
        "from far away grows by one per cent per doubling, which is less than T^0.05: no rule with that margin can "
        "tell it from a constant.",
        "",
        *lines,
    ]


def _force_page(tables):
    lines = ["| runs | claim | tolerates | CONSISTENT just beyond | catches | REFUTED there |", "|---" * 6 + "|"]
    for row in tables.force.to_dict("records"):
        numbers = [f"{row['tolerates']:.3f}", per_cent(row["CONSISTENT beyond"])]
        caught = [f"{row['catches']:.3f}", per_cent(row["REFUTED there"])] if row["catches"] else ["–", "–"]
        lines.append(f"| {row['runs']} | {row['claim']} | {' | '.join(numbers + caught)} |")
    return [
        f"## Force, N = {SIZE}",
        "",
        "What a verdict says it tolerates and catches, and what becomes of pure powers T^(0.5 + that).",
        "",
        *lines,
    ]


def _look_page(tables):
    hows = {"once": f"once, at N = {LOOKS[-1]}", "naive": "at each look with 5 %", "spent": "with the error spent"}
    lines = [f"| runs | {' | '.join(hows.values())} |", "|---" * 4 + "|"]
    for row in tables.looks.to_dict("records"):
        cells = ["/".join(per_cent(row[f"{name}, {how}"]) for name in ("REFUTED", "CONSISTENT")) for how in hows]
        lines.append(f"| {row['runs']} | {' | '.join(cells)} |")
    return [
        "## Ten looks",
        "",
        f"Growing data, judged at N = {LOOKS[0]}, {LOOKS[1]}, ... {LOOKS[-1]} until something is decided; the truth is "
        "T^0.55 against the claim T^0.5, at the margin, where both decisions are errors: REFUTED/CONSISTENT.",
        "",
        *lines,
    ]


def _advice_page(tables):
    lines = ["| runs | true slope less claim | open | an N was named | it decided |", "|---" * 5 + "|"]
    for row in tables.advice.to_dict("records"):
        cells = [row["runs"], f"{row['off']:+g}", row["undecided"], row["named"], row["decided"]]
        lines.append(f"| {' | '.join(map(str, cells))} |")
    return [
        "## Advice, followed",
        "",
        f"Claim T^0.5, {FIRST} runs at first.  Where the verdict is open and names a number of runs, so many are made.",
        "",
        *lines,
    ]


def _start_page(tables, large):
    columns = ("exponent right", f"exponent off by {WRONG}", "log power right", "log power 2 for 1")
    table = tables.starts.assign(**{"linear up to": [f"2^{power}" for power in tables.starts["start"]]})
    return [
        f"## How late may a linear start end?  REFUTED, N = {large}",
        "",
        f"Regret that is linear up to the given T and then the rate, on the same window, whose middle is "
        f"2^{np.log2(HORIZONS).mean():.1f}.  The further the start reaches, the less a wrong exponent differs from it, "
        "and the start explains the runs.  Where the claim is right every refutation is false.",
        "",
        *grid(table, "linear up to", same(*columns)),
    ]


def _difference_page(tables, sizes):
    labels = ("common, named", "common, not named", "independent")
    widths = {f"{label}, half-width": label for label in labels}
    return [
        f"## Differences of two slopes, N = {sizes}",
        "",
        "Coverage, and below it the mean half-width of the interval.  Common: the second algorithm's runs are the "
        "first's times independent noise, with the common streams named in the tables or not.",
        "",
        *grid(tables.differences, "runs", same(*labels)),
        "",
        *grid(tables.differences, "runs", widths, lambda v: f"{v:.3f}"),
    ]


def _family_page(tables, large):
    row = tables.families
    what = {
        "some REFUTED": "all at the margin: some claim REFUTED",
        "some CONSISTENT": "all at the margin: some claim CONSISTENT",
        "some error": f"half right, half off by {WRONG}: some wrong verdict",
        "right CONSISTENT": "the same: right claims CONSISTENT",
        "wrong REFUTED": "the same: wrong claims REFUTED",
    }
    lines = [
        f"## {FAMILY} claims at once, N = {large}",
        "",
        "Families of claims on random scenarios among those whose truth is a rate and that have no lock-in.",
        "",
        "| | each alone | after Holm |",
        "|---|---|---|",
    ]
    for name, text in what.items():
        cells = ["/".join(per_cent(v) for v in row[f"{name}, {how}"]) for how in ("alone", "Holm")]
        lines.append(f"| {text} | " + " | ".join(cells) + " |")
    return lines


def _table_page(tables):
    heads = {"coverage": "coverage", "refused": "refused", "REFUTED, right": "REFUTED though right"}
    heads |= {"CONSISTENT, right": "CONSISTENT, right", "CONSISTENT, wrong": f"CONSISTENT, off by {TABLE_OFF}"}
    heads |= {"REFUTED, wrong": f"REFUTED, off by {TABLE_OFF}"}
    sizes = "/".join(map(str, tables.tables["N"].unique()))
    return [
        f"## Tables from elsewhere, N = {sizes} runs",
        "",
        f"loss = E + x^{SLOPE:g} at ten x from 2^6 to 2^15, runs that scatter by {100 * SIGMA:.0f} %, E a multiple of "
        "the last signal: given, known to lie between 0 and twice its value, or fitted.  1/T with noise that does not "
        "shrink and that the last means meet.  Means and standard errors alone, with and without the "
        "number of runs behind them.  Refused: no fit, or no verdict because the data end at the floor.  Below: the "
        "median half-width of the interval.",
        "",
        *grid(tables.tables, "table", heads),
        "",
        *grid(tables.tables, "table", {"half-width": "half-width"}, lambda v: f"{v:.3f}"),
    ]


def _series_page(tables):
    heads = {name: name for name in ("coverage", "REFUTED, right", "CONSISTENT, right", "CONSISTENT, 0.5 too high")}
    heads |= {name: name for name in ("REFUTED, 0.5 too high", "REFUTED, 1 too high")}
    grids = ", ".join(f"{count} steps of ratio {ratio:g}" for count, ratio in GRIDS)
    return [
        "## Deterministic series",
        "",
        f"Errors h^p (1 + c h^q), p among {', '.join(f'{p:g}' for p in ORDERS)}, h from 1/10 down; a cell holds the "
        f"figures for {grids}.  The interval is meant for p, the order for h to 0.  No chance is involved without "
        "scatter but that of p and c: coverage is to be 95 % or more, and 100 % is no fault.",
        "",
        *grid(tables.series, "series", heads),
        "",
        *grid(tables.series, "series", {"half-width": "half-width"}, lambda v: f"{v:.3f}"),
    ]


def _how_to_rerun(repeats, seed, with_assertions):
    versions = ", ".join(f"{name} {version(name)}" for name in ("numpy", "scipy", "pandas"))
    return [
        "Rerun with",
        "",
        "```sh",
        *([f"python -m studies.benchmarks.asserting --out studies/calibration/{FILE}"] if with_assertions else []),
        f"python -m studies.calibration --repeats {repeats} --seed {seed}",
        "```",
        "",
        f"This report: Python {platform.python_version()}, {versions}, {platform.system()} on {platform.machine()}.  "
        "The tables behind it stand beside it as CSV files.",
    ]
