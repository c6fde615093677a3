"""The report of a calibration; every number in it comes from the tables."""

from __future__ import annotations

import math
import platform
from importlib.metadata import version

import numpy as np

from ..fit import LARGE_SHARE
from ..verdicts import MARGIN
from .cells import grid, per_cent, same
from .measure import BOOTSTRAP, FAMILY, Tables
from .scenarios import CLAIM, HORIZONS, SCENARIOS, holds_one, named
from .targets import targets


def report(tables: Tables, repeats, seed) -> str:
    """The markdown report; every number comes from the tables."""
    sizes = "/".join(map(str, tables.intervals["N"].unique()))
    large = "/".join(map(str, tables.starts["N"].unique()))
    pages = [
        _introduction(tables, repeats, sizes),
        _targets_page(tables),
        _coverage_page(tables, sizes),
        _verdict_page(tables, sizes),
        _start_page(tables, large),
        _difference_page(tables, sizes),
        _family_page(tables, large),
        _how_to_rerun(repeats, seed),
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
    part = table[(table["N"] >= 50) & np.array([s.pure and not s.lock_in for s in scenarios])]
    if part.empty:
        return []

    def worst(column, index):
        row = part.loc[index(part[column])]
        return f"{column} {per_cent(row[column])} % ({row['scenario']}, N = {row['N']})"

    covered = ("bootstrap", "last half", "log power", "joint", "local", "lag", "held out")
    sizes = ("curvature", "chi-square", "prediction")
    return [
        "No target is set for the others.  Where the truth is a rate without lock-in, their worst at N >= 50: coverage "
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
        f"it exceeds {100 * LARGE_SHARE:.0f} % and four times an even share, 4/N.",
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
    heads = ("REFUTED +0", "CONSISTENT +0", "CONSISTENT +0.05", "CONSISTENT +0.1", "CONSISTENT +0.2")
    heads += ("REFUTED +0.05", "REFUTED +0.1", "REFUTED +0.2")
    others = {
        "log power right refuted": "log power: REFUTED though right",
        "log power 2 for 1 refuted": "REFUTED, 2 for 1",
        "lower refuted though right": "lower bound: REFUTED though right",
        "lower refuted, off by 0.1": "REFUTED, off by 0.1",
        "tight refuted though right": "tight: REFUTED though right",
        "tight consistent though right": "CONSISTENT, right",
        "tight consistent, off by 0.1": "CONSISTENT, off by 0.1",
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


def _start_page(tables, large):
    columns = ("exponent right", "exponent off by 0.1", "log power right", "log power 2 for 1")
    table = tables.starts.assign(**{"linear up to": [f"2^{power}" for power in tables.starts["start"]]})
    return [
        f"## How late may a linear start end?  REFUTED, N = {large}",
        "",
        f"Regret that is linear up to the given T and then the rate, on the same window, whose middle is "
        f"2^{np.log2(HORIZONS).mean():.1f}.  The further the start reaches, the less a wrong exponent differs from it, "
        "and the guard against falling excess turns refutations into INCONCLUSIVE.  Where the claim is right every "
        "refutation is false: with few runs a fall may be there without being significant.",
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
        "some error": "half right, half off by 0.1: some wrong verdict",
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


def _how_to_rerun(repeats, seed):
    versions = ", ".join(f"{name} {version(name)}" for name in ("numpy", "scipy", "pandas"))
    return [
        "Rerun with",
        "",
        "```sh",
        f"python -m ratecheck.calibration --repeats {repeats} --seed {seed}",
        "```",
        "",
        f"This report: Python {platform.python_version()}, {versions}, {platform.system()} on {platform.machine()}.  "
        "The tables behind it stand beside it as CSV files.",
    ]
