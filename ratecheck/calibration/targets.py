"""The targets of the statistics layer, each beside the worst that was measured."""

from __future__ import annotations

import numpy as np

from .cells import per_cent
from .measure import FAMILY, OFF, Tables
from .scenarios import holds_one, named


def targets(tables: Tables) -> list[str]:
    """One line per target: what was promised, the worst that was measured, and where."""
    scenarios = [named(name) for name in tables.intervals["scenario"]]
    free = np.array([not s.lock_in for s in scenarios])
    pure = np.array([s.pure for s in scenarios])
    big = (tables.intervals["N"] >= 50) & free
    many = (tables.intervals["N"] >= 200) & free
    lines = []

    def line(text, table, column, mask, bound, most=True):
        part = table[mask]
        if part.empty:
            return
        row = part.loc[part[column].idxmax() if most else part[column].idxmin()]
        holds = row[column] <= bound if most else row[column] >= bound
        where = f"{row['scenario']}, N = {row['N']}" if "scenario" in row else f"N = {row['N']:.0f}"
        found = f"{per_cent(row[column])} % at worst ({where})" if row[column] else "none"
        sign = "at most" if most else "at least"
        lines.append(f"- {text} {sign} {per_cent(bound)} %: {found}, {'met' if holds else 'MISSED'}.")

    line("coverage of the default interval", tables.intervals, "jackknife", big, 0.93, most=False)
    line("coverage of the default interval", tables.intervals, "jackknife", big, 0.97)
    line("false REFUTED", tables.verdicts, "REFUTED +0", big, 0.01)
    line("false REFUTED (log power)", tables.verdicts, "log power right refuted", big, 0.01)
    line("false REFUTED (lower bound)", tables.verdicts, "lower refuted though right", big, 0.01)
    line("false REFUTED (tight)", tables.verdicts, "tight refuted though right", big, 0.01)
    for off in OFF[1:]:
        line(f"false CONSISTENT (exponent off by {off:g})", tables.verdicts, f"CONSISTENT +{off:g}", big, 0.05)
    line("false CONSISTENT (T^(2/3) behind the logarithm)", tables.verdicts, "hidden consistent", big, 0.05)
    line("false CONSISTENT (tight, off by 0.1)", tables.verdicts, "tight consistent, off by 0.1", big, 0.05)
    line("power against 0.1 at N = 200", tables.verdicts, "REFUTED +0.1", many & pure, 0.9, most=False)
    line(
        "the same where the window is no pure rate (S8, S9, S10)",
        tables.verdicts,
        "REFUTED +0.1",
        many & ~pure,
        0.9,
        False,
    )
    everything = tables.families["N"] > 0
    for name in ("REFUTED", "CONSISTENT"):
        column = f"some {name}, Holm"
        line(f"some {name} among {FAMILY} claims at the margin, after Holm,", tables.families, column, everything, 0.05)
    return [*lines, *_lock_in_target(tables.intervals)]


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
