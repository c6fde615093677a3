"""The zoo at one glance: studies/README.md and two figures, from the tables of all studies."""

from __future__ import annotations

from pathlib import Path

import pandas as pd

from .markdown import counted, estimate, fixed, fraction, table

ALGORITHMS = ("UniformBins", "AdaptiveBins")  # with their default settings; sweeps have reports of their own
CASE = ["family", "dim", "algorithm"]


def write_overview(root) -> Path:
    """Write README.md and figures/ into the folder that holds the studies."""
    root = Path(root)
    fits, gaps = collected(root)
    path = root / "README.md"
    if fits.empty:
        path.write_text("# The zoo at one glance\n\nThere is no study here yet.\n", encoding="utf-8")
        return path
    from . import figures

    drawn = figures.draw_overview(root / "figures", fits, gaps)
    path.write_text("\n\n".join(_blocks(fits, gaps, drawn)) + "\n", encoding="utf-8")
    return path


def collected(root) -> tuple[pd.DataFrame, pd.DataFrame]:
    """One fit per cost, algorithm and theorem, and one gap per cost: from the study that looked furthest.

    Of equally long windows the one with more runs counts, then the first by name.
    """
    folders = sorted(p.parent for p in root.glob("*/fits.csv"))
    fits = _read(folders, "fits.csv")
    if fits.empty:
        return fits, fits
    fits = fits[fits["algorithm"].isin(ALGORITHMS)]
    order = ["horizon_max", "replicates"]
    best = fits.sort_values(order, ascending=False, kind="stable").drop_duplicates(CASE)
    fits = fits.merge(best[[*CASE, "study"]], on=[*CASE, "study"])
    gaps = _read([f for f in folders if (f / "gaps.csv").exists()], "gaps.csv")
    if gaps.empty:
        gaps = pd.DataFrame(columns=["family", "dim", "gap", "low", "high", "predicted", "study"])
    else:
        gaps = gaps[gaps["adaptive"].eq("AdaptiveBins") & gaps["uniform"].eq("UniformBins")]
        gaps = gaps.sort_values("horizon_max", ascending=False, kind="stable").drop_duplicates(["family", "dim"])
    return fits.sort_values(["family", "dim"], kind="stable").reset_index(drop=True), gaps


def _read(folders, name) -> pd.DataFrame:
    tables = [pd.read_csv(folder / name).assign(study=folder.name) for folder in folders]
    return pd.concat(tables, ignore_index=True) if tables else pd.DataFrame()


def _blocks(fits, gaps, drawn):
    yield "# The zoo at one glance"
    own = fits[fits["kind"] == "upper"].drop_duplicates(CASE)
    costs = fits[["family", "dim"]].drop_duplicates()
    counts = {name: int((own["exponent_verdict"] == name).sum()) for name in ("CONSISTENT", "REFUTED", "INCONCLUSIVE")}
    printed = int((own["log_power_verdict"] == "REFUTED").sum())
    yield (
        f"{counted(len(costs), 'cost')} (family and dimension) in {counted(fits['study'].nunique(), 'report')}. Of "
        f"{counted(len(own), 'exponent')} that Theorems 1 and 2 promise, {counts['CONSISTENT']} are CONSISTENT with "
        f"the runs, {counts['REFUTED']} REFUTED and {counts['INCONCLUSIVE']} INCONCLUSIVE; the printed log power is "
        f"REFUTED in {counted(printed, 'case')}."
    )
    for picture in drawn:
        yield picture.link
        yield f"*{picture.title}.* {picture.caption}"
    yield "## Verdicts"
    yield (
        "Exponent / printed log power / corrected log power, where theory corrects it: C is CONSISTENT, **R** REFUTED, "
        "? INCONCLUSIVE. Theorem 3 bounds the worst cost near each of these, which a single cost cannot refute; its "
        "two letters are for uniform and adaptive bins. The gap is the slope of uniform minus that of adaptive bins "
        "with its 95 % interval. Where several studies hold a case, the one with the longest horizon counts."
    )
    header = [
        "family",
        "d",
        "α",
        "β",
        "Theorem 1",
        "Theorem 2",
        "Theorem 3",
        "predicted gap",
        "measured gap",
        "studies",
    ]
    yield table(header, [_row(family, dim, fits, gaps) for family, dim in costs.itertuples(index=False)])


def _row(family, dim, fits, gaps):
    here = fits[(fits["family"] == family) & (fits["dim"] == dim)]
    gap = gaps[(gaps["family"] == family) & (gaps["dim"] == dim)]
    studies = list(dict.fromkeys(here["study"]))
    bounds = here[here["kind"] == "lower"].set_index("algorithm")["verdict"]
    predicted = measured = None
    if len(gap):
        first = gap.iloc[0]
        predicted, measured = fixed(first["predicted"]), estimate(first["gap"], first["low"], first["high"])
    return [
        family,
        dim,
        fraction(here["alpha"].iloc[0]),
        fraction(here["beta"].iloc[0]),
        *(_parts(here[(here["algorithm"] == a) & (here["kind"] == "upper")]) for a in ALGORITHMS),
        " ".join(_letter(bounds[a]) for a in ALGORITHMS if a in bounds) or None,
        predicted,
        measured,
        ", ".join(f"[{s}]({s}/report.md)" for s in studies),
    ]


def _parts(rows) -> str | None:
    """The verdicts on an exponent and its log powers, printed first."""
    if rows.empty:
        return None
    return " / ".join(_letter(v) for v in [rows["exponent_verdict"].iloc[0], *rows["log_power_verdict"]])


def _letter(verdict) -> str:
    return {"CONSISTENT": "C", "REFUTED": "**R**"}.get(verdict, "?")
