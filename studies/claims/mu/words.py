"""Rows and sentences about mu."""

from __future__ import annotations

import math

import numpy as np
from pandas import DataFrame
from scipy import special

from ratecheck.display import fixed, fraction, general, interval, table
from studies.claims.mu.tables import CASE

# Said


def named(family, dim) -> str:
    return f"{family} d = {dim}"


def times(factor) -> str:
    return fraction(factor) if factor < 1 else general(factor, 3)


def shown_share(value, se) -> str:
    return f"{value:.2g} ± {se:.1g}" if value else "0"


def shown_count(row, name) -> str:
    low, high = (100 * getattr(row, f"{name}_{end}") for end in ("low", "high"))
    return f"{getattr(row, name)} of {row.runs} ({low:.2f} to {high:.2f} %)"


def rate_rows(rates, needed):
    for r in rates.itertuples():
        reach = special.stdtrit(r.apart_df, 0.975) * r.apart_se
        yield [
            named(r.family, r.dim),
            times(r.factor),
            f"{fixed(r.slope)} {interval(r.slope_low, r.slope_high)}",
            fixed(r.slope_foretold),
            None if r.factor == needed else f"{fixed(r.apart)} ± {fixed(reach)}",
            None if r.factor == needed else fixed(r.apart_foretold),
            shown_horizon(r.onset_foretold),
            f"{fixed(r.ratio)} {interval(r.ratio_low, r.ratio_high)}",
            f"{fixed(r.drift, 4)} ± {fixed(special.stdtrit(r.drift_df, 0.975) * r.drift_se, 4)}",
            r.follows,
            f"{r.locked} of {r.runs}",
        ]


def shown_horizon(onset) -> str:
    """An onset, as far as the horizons show it."""
    return {0.0: "before", math.inf: "beyond"}.get(onset) or f"{onset:,.0f}"


def seen(onsets: DataFrame) -> DataFrame:
    """Where the onset lies among the horizons, in the runs and as predicted."""
    both = onsets[["onset", "onset_foretold"]]
    return onsets[((both > 0) & np.isfinite(both)).all(axis=1)]


def onset_powers(onsets: DataFrame) -> DataFrame:
    """How fast the onset moves: its power of mu, and of mu a0^α + ln T, by least squares; measured and predicted."""
    import pandas as pd

    rows = []
    for (family, dim), mine in seen(onsets).groupby(CASE, sort=False):
        if len(mine) < 2:
            continue
        row = {"family": family, "dim": dim, "count": len(mine), "exponent": mine["exponent"].iloc[0]}
        for name in ("onset", "onset_foretold"):
            T = np.log(mine[name].to_numpy())
            row[f"{name}_mu"] = np.polyfit(np.log(mine["mu"]), T, 1)[0]
            row[f"{name}_key"] = np.polyfit(np.log(mine["key"] + T), T, 1)[0]
        rows.append(row)
    return pd.DataFrame(rows)


def onset_words(onsets):
    yield (
        "For a large mu all cells are queried alike at first, level after level, each with 2^(d+2α) times the queries "
        "of the one before. The onset is the T at which the slope over such a factor falls below the middle between 1 "
        f"and the promised exponent for good; {onsets['runs'].max()} runs for each mu, and the predicted curve at "
        "their partitions."
    )
    yield table(
        ["cost", "mu/mu_min", "onset", "predicted"],
        [
            [named(r.family, r.dim), times(r.factor), shown_horizon(r.onset), shown_horizon(r.onset_foretold)]
            for r in onsets.itertuples()
        ],
    )
    yield (
        "Theory: the onset grows like (mu a0^α + ln T)^((d + 2α)/α), so like that power of mu once mu a0^α is much "
        "larger than ln T, in steps of 2^α in mu. Powers by least squares over the mu whose onset lies among the "
        "horizons, few as they are:"
    )
    yield table(
        ["cost", "mu", "power of mu", "predicted curve", "power of mu a0^α + ln T", "predicted curve", "(d + 2α)/α"],
        [
            [named(r.family, r.dim), r.count, fixed(r.onset_mu, 2), fixed(r.onset_foretold_mu, 2)]
            + [fixed(v, 2) for v in (r.onset_key, r.onset_foretold_key, r.exponent)]
            for r in onset_powers(onsets).itertuples()
        ],
    )


def far_rows(there):
    for r in there.itertuples():
        yield [
            named(r.family, r.dim),
            times(r.factor),
            f"{r.last:.0e}",
            None if math.isnan(r.visible) else general(r.visible, 2),
            fixed(r.slope),
            f"{fixed(r.limit)} {interval(r.limit_low, r.limit_high)}",
            fixed(r.promised),
            r.on_exponent,
            f"{fixed(r.power, 2)} {interval(r.power_low, r.power_high, 2)}",
            f"{fixed(r.shifted, 2)} {interval(r.shifted_low, r.shifted_high, 2)}",
            fixed(r.printed_power, 2),
            fixed(r.sharper_power, 2),
        ]
