"""Who wins which panel of Figure 1, and where."""

from __future__ import annotations

import math

import numpy as np
from pandas import DataFrame
from scipy import special

from ratecheck.display import fixed, listing
from studies.claims.figure1.tables import ERROR, PANELS

LETTERS = {"quadratic": "f1", "twin_cone": "f2"}
EXCEPTION = ("twin_cone", 1)  # where the paper sees no advantage
ADAPTIVE, UNIFORM, OPEN = "adaptive", "uniform", "open"
REPRODUCES, CONTRADICTS = "reproduces", "contradicts"
SETTING = ["place", "mu", "a0"]
PER_RUN, GENERIC, FAVOURABLE = "per run", "generic", "favourable"
FAVOURED = ("0", 1.0)  # the mu and a0 for which a favourable c is looked for
NOTED_MUS = ("0", "M_b", "theorem")
MU_WORDS = {
    "0": "mu = 0",
    "M_b": "mu = M_b",
    "mu_min": "mu = mu_min",
    "smooth": "mu = (1 + 2^(d+α)) M_b",
    "theorem": "Theorem 2's mu",
}
MARKS = {ADAPTIVE: "A", UNIFORM: "U", OPEN: "·"}


def outcomes(data: DataFrame) -> DataFrame:
    """Who wins each panel of each setting."""
    import pandas as pd

    rows = [
        dict(zip([*SETTING, "family", "dim"], key, strict=True)) | {"who": winner(rows)}
        for key, rows in data.groupby([*SETTING, "family", "dim"], sort=False)
    ]
    return pd.DataFrame(rows)


def winner(rows) -> str:
    """Adaptive bins, if they beat every width; uniform bins, if one does, at a level that allows for the choice."""
    error = ERROR / len(PANELS)
    difference, se, df = (rows[name].to_numpy(float) for name in ("difference", "difference_se", "runs"))
    if np.all(difference > special.stdtrit(df - 1, 1 - error) * se):
        return ADAPTIVE
    if np.any(difference < -special.stdtrit(df - 1, 1 - error / len(rows)) * se):
        return UNIFORM
    return OPEN


def settings_of(who: DataFrame) -> DataFrame:
    """Whether each setting gives the figure as printed."""
    import pandas as pd

    rows = []
    for key, panels in who.groupby(SETTING, sort=False):
        won = {(r.family, r.dim): r.who for r in panels.itertuples()}
        exception = won.pop(EXCEPTION)
        if UNIFORM in won.values() or exception == ADAPTIVE:
            said = CONTRADICTS
        else:
            said = REPRODUCES if set(won.values()) == {ADAPTIVE} else OPEN
        rows.append(dict(zip(SETTING, key, strict=True)) | {"said": said})
    return pd.DataFrame(rows)


def ratios(data: DataFrame) -> DataFrame:
    """Adaptive over uniform R/T at the width that is predicted to be best, with a 95 % interval, and as predicted."""
    import pandas as pd

    rows = []
    for key, widths in data.groupby([*SETTING, "family", "dim"], sort=False):
        r = widths.loc[widths["uniform_foretold"].idxmin()]
        together = (r["uniform_se"] ** 2 + r["adaptive_se"] ** 2 - r["difference_se"] ** 2) / 2
        u, a = r["uniform"], r["adaptive"]
        variance = (r["uniform_se"] / u) ** 2 + (r["adaptive_se"] / a) ** 2 - 2 * together / (u * a)
        reach = special.stdtrit(r["runs"] - 1, 0.975) * math.sqrt(max(variance, 0.0))
        rows.append(
            dict(zip([*SETTING, "family", "dim"], key, strict=True))
            | {"ratio": a / u, "low": a / u * math.exp(-reach), "high": a / u * math.exp(reach)}
            | {"foretold": r["adaptive_foretold"] / r["uniform_foretold"]}
        )
    return pd.DataFrame(rows)


def place_words(what) -> str:
    places = what.query("said == @REPRODUCES")["place"].unique()
    return f" ({listing(places)})" if len(places) else ""


def is_near(then, now) -> bool:
    return abs(then / now - 1) < 0.1


def shares_of(who) -> str:
    total = len(who) // len(PANELS)
    return ", ".join(
        f"{panel_name(panel)} {sum((who['family'] == panel[0]) & (who['dim'] == panel[1]) & (who['who'] == ADAPTIVE))}"
        f"/{total}"
        for panel in PANELS
    )


def panel_name(panel) -> str:
    return f"{LETTERS[panel[0]]} d = {panel[1]}"


def explained(place) -> str:
    where = {
        PER_RUN: "c uniform in the box, another one for each run",
        GENERIC: "one c for all runs, no round number",
        FAVOURABLE: "one c for all runs: of those drawn at random the one for which the predicted regrets, at "
        f"{MU_WORDS[FAVOURED[0]]} and a0 = {FAVOURED[1]:g}, are most clearly as printed; no run was looked at",
    }
    text = where.get(place.centre, f"c = {place.centre} on every axis" if not isinstance(place.centre, str) else "")
    return text + (", and the partition shifted at random for each run" if place.alignment == "random" else "")


def win_rows(who):
    said = {tuple(row[:3]): row[3] for row in settings_of(who).itertuples(index=False)}
    for key, panels in who.groupby(SETTING, sort=False):
        won = {(r.family, r.dim): MARKS[r.who] for r in panels.itertuples()}
        as_printed = {REPRODUCES: "yes", CONTRADICTS: "no", OPEN: "open"}[said[key]]
        yield [key[0], key[1], f"{key[2]:g}", *(won[panel] for panel in PANELS), as_printed]


def foretold_rows(data, mus):
    panel = ["place", "family", "dim"]
    kinds = {"uniform bins": ("uniform", data.drop_duplicates([*panel, "bins"]))}
    kinds |= {MU_WORDS[mu]: ("adaptive", data[data["mu"] == mu].drop_duplicates([*panel, "a0"])) for mu in mus}
    for name, (kind, rows) in kinds.items():
        ratio = rows[kind] / rows[f"{kind}_foretold"]
        yield [name, len(ratio), *(fixed(q) for q in np.quantile(ratio, [0.05, 0.5, 0.95]))]


def won_by(centres) -> dict:
    """By mu, a0 and panel: for which c adaptive bins are predicted to win."""
    return {
        key: (rows["adaptive"] < rows["uniform"]).to_numpy()
        for key, rows in centres.sort_values("run", kind="stable").groupby(["mu", "a0", "family", "dim"], sort=False)
    }


def as_printed(centres: DataFrame) -> dict:
    """By mu and a0: the share of all choices of one c in each dimension that are predicted to give all as printed."""
    won, found = won_by(centres), {}
    for mu, a0 in dict.fromkeys(key[:2] for key in won):
        asked = {p: won[mu, a0, *p] != (p == EXCEPTION) for p in PANELS}
        found[mu, a0] = math.prod(float(np.mean(asked["quadratic", d] & asked["twin_cone", d])) for d in (1, 2, 3))
    return found


def tuned_rows(centres):
    won = won_by(centres)
    for (mu, a0), share in as_printed(centres).items():
        cells = [f"{won[mu, a0, *p].sum()} of {len(won[mu, a0, *p])}" for p in PANELS]
        yield [mu, f"{a0:g}", *cells, f"{100 * share:.1f} %"]
