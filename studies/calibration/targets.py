"""The targets of the statistics layer, each beside the worst that was measured."""

from __future__ import annotations

import numpy as np

from studies.calibration.cells import per_cent
from studies.calibration.measure import FAMILY, SIZE, WRONG, Tables
from studies.calibration.scenarios import holds_one, named


def targets(tables: Tables) -> list[str]:
    """One line per target: what was promised, the worst that was measured, and where."""
    scenarios = [named(name) for name in tables.intervals["scenario"]]
    free = np.array([not s.lock_in for s in scenarios])
    pure = np.array([s.pure for s in scenarios])
    big = (tables.intervals["N"] >= SIZE) & free
    lines = []

    def line(text, table, column, mask, bound, most=True):
        part = table[mask]
        if part.empty:
            return
        row = part.loc[part[column].idxmax() if most else part[column].idxmin()]
        holds = row[column] <= bound if most else row[column] >= bound
        found = f"{per_cent(row[column])} % at worst ({_where(row)})" if row[column] else "none"
        sign = "at most" if most else "at least"
        lines.append(f"- {text} {sign} {per_cent(bound)} %: {found}, {'met' if holds else 'MISSED'}.")

    line("coverage of the default interval", tables.intervals, "jackknife", big, 0.92, most=False)
    line("coverage of the default interval", tables.intervals, "jackknife", big, 0.97)
    line("false REFUTED", tables.verdicts, "REFUTED +0", big, 0.02)
    line("false REFUTED (log power)", tables.verdicts, "log power right refuted", big, 0.02)
    line("false REFUTED (lower bound)", tables.verdicts, "lower refuted though right", big, 0.02)
    line("false REFUTED (tight)", tables.verdicts, "tight refuted though right", big, 0.02)
    bends, real = tables.bends, tables.real
    line("false REFUTED where the regret bends", bends, "REFUTED", bends["holds"], 0.02)
    line("the same for the worst bend", bends, "REFUTED", bends["holds"], 0.05)
    line("exponent blamed though right", bends, "exponent REFUTED", bends["exponent holds"], 0.02)
    line("false REFUTED, real algorithms", real, "REFUTED", real["holds"], 0.02)
    line(f"false CONSISTENT (exponent off by {WRONG:g})", tables.verdicts, f"CONSISTENT +{WRONG:g}", big, 0.05)
    line("false CONSISTENT just beyond `tolerates`", tables.force, "CONSISTENT beyond", tables.force["N"] > 0, 0.05)
    shown = ~bends["holds"] & bends["shown"]
    line("false CONSISTENT on bends that the window shows", bends, "CONSISTENT", shown, 0.1)
    line("false CONSISTENT, real algorithms", real, "CONSISTENT", ~real["holds"], 0.1)
    line(f"false CONSISTENT (tight, off by {WRONG:g})", tables.verdicts, f"tight consistent, off by {WRONG}", big, 0.05)
    power = f"power against 0.1 beyond the margin at N = {SIZE}"
    at = (tables.verdicts["N"] == SIZE) & pure & free
    line(f"{power}, on pure rates", tables.verdicts, f"REFUTED +{WRONG:g}", at, 0.85, most=False)
    for name in ("REFUTED", "CONSISTENT"):
        everything = tables.families["N"] > 0
        column = f"some {name}, Holm"
        line(f"some {name} among {FAMILY} claims at the margin, after Holm,", tables.families, column, everything, 0.05)
        looks = tables.looks.index >= 0
        line(f"{name} at some of ten looks, the truth at the margin,", tables.looks, f"{name}, spent", looks, 0.05)
    for size in tables.tables["N"].unique():
        some = tables.tables["N"] == size
        line(f"coverage, tables from elsewhere, N = {size}", tables.tables, "coverage", some, 0.92, most=False)
        line(f"coverage, tables from elsewhere, N = {size}", tables.tables, "coverage", some, 0.97)
    every = tables.tables.index >= 0
    line("false REFUTED, tables from elsewhere", tables.tables, "REFUTED, right", every, 0.02)
    line("false CONSISTENT, tables from elsewhere", tables.tables, "CONSISTENT, wrong", every, 0.05)
    every = tables.series.index >= 0
    line("coverage, deterministic series", tables.series, "coverage", every, 0.95, most=False)
    line("false REFUTED, deterministic series", tables.series, "REFUTED, right", every, 0.02)
    line("false CONSISTENT, order 0.5 too high", tables.series, "CONSISTENT, 0.5 too high", every, 0.05)
    return [*lines, *_advice_target(tables.advice), *_lock_in_target(tables.intervals)]


def _where(row) -> str:
    keys = ("scenario", "bend", "algorithm", "claim", "runs", "table", "series")
    names = [str(row[key]) for key in keys if key in row]
    if "points" in row:
        names.append(f"{row['points']} steps of ratio {row['ratio']:g}")
    if "N" in row:
        names.append(f"N = {row['N']:.0f}")
    return ", ".join(names)


def _advice_target(table) -> list[str]:
    """All advice together: single rows hold a handful of cases."""
    named, decided = table["named"].sum(), table["decided"].sum()
    if not named:
        return []
    share = decided / named
    return [
        f"- advice on N, followed, decides in at least 80 %: {per_cent(share)} % of {named} "
        f"({table['undecided'].sum()} verdicts were open), {'met' if share >= 0.8 else 'MISSED'}."
    ]


def _lock_in_target(table) -> list[str]:
    """Where lock-in spoils coverage, the samples that show it must be flagged."""
    lock_in = np.array([named(name).lock_in for name in table["scenario"]])
    spoilt = table[lock_in & (table["N"] >= 50) & (table["jackknife"] < 0.93)]
    if spoilt.empty:
        return []
    ratio = spoilt["flagged"] / holds_one(spoilt)
    row = spoilt.loc[ratio.idxmin()]
    return [
        f"- lock-in that spoils coverage (below 93 %, N >= 50) is flagged: {per_cent(row['flagged'])} % at worst "
        f"({row['scenario']}, N = {row['N']}), where {per_cent(holds_one(spoilt)[spoilt.index.get_loc(row.name)])} % "
        f"of the samples hold a lock-in run, {'met' if ratio.min() >= 0.95 else 'MISSED'}."
    ]
