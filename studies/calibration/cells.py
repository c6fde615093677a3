"""Shares in per cent, and tables of them in markdown."""

import math


def per_cent(value) -> str:
    return "–" if math.isnan(value) else f"{100 * value:.1f}".removesuffix(".0")


def grid(table, key, columns, form=per_cent) -> list[str]:
    """A markdown table: a row per key, in each cell the values for the numbers of runs, smallest first."""
    lines = [f"| {key} | " + " | ".join(columns.values()) + " |", "|---" * (len(columns) + 1) + "|"]
    for name, part in table.groupby(key, sort=False):
        cells = ["/".join(form(v) for v in part[column]) for column in columns]
        lines.append(f"| {name} | " + " | ".join(cells) + " |")
    return lines


def same(*names) -> dict:
    return {name: name for name in names}
