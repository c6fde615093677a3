"""The zoo at one glance: studies/README.md and two figures, from the tables of all studies."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path

import pandas as pd

from ..files import write_whole
from ..markdown import counted, estimate, fixed, fraction, listing, table
from .answer import unmet

TITLE = "# The zoo at one glance"
ALGORITHMS = ("UniformBins", "AdaptiveBins")  # with their default settings; sweeps have reports of their own
NOISE, ALIGNMENT = "Gaussian(sigma=1.0)", "random"  # other settings have reports of their own too
CASE = ["cost", "algorithm"]
NUMBERS = ["dim", "theory_slope", "slope", "low", "high", "replicates", "planned", "horizon_max", "alpha", "beta"]
WORDS = ["family", *CASE, "theorem", "kind", "verdict", "exponent_verdict", "log_power_verdict", "control", "violated"]
FITS = [*NUMBERS, *WORDS, "margin", "noise", "alignment"]
GAPS = ["family", "dim", "cost", "uniform", "adaptive", "predicted", "gap", "low", "high", "reason"]


@dataclass(frozen=True)
class Zoo:
    """What the studies say: fits and gaps, each cost from one study, and the tables that could not be read."""

    fits: pd.DataFrame
    gaps: pd.DataFrame
    skipped: list[str]


def write_overview(root) -> Path:
    """Write README.md and figures/ into the folder that holds the studies."""
    root = Path(root)
    path = root / "README.md"
    if path.exists() and path.read_text(encoding="utf-8", errors="replace").split("\n", 1)[0].strip() != TITLE:
        raise FileExistsError(f"{path} was not written by ratecheck; move it away, or give another folder")
    found = collected(root)
    if found.fits.empty:
        blocks = [TITLE, "There is no study here yet.", *_skipped(found)]
    else:
        from .. import figures

        drawn = figures.draw_overview(root / "figures", found.fits, found.gaps)
        blocks = _blocks(found, drawn)
    return write_whole(path, "\n\n".join(blocks) + "\n")


def collected(root) -> Zoo:
    """One study per cost, for its fits and its gap: of those with both algorithms the one that looked furthest.

    Of equally long windows the one with more runs counts, then the first by name.
    """
    skipped = []
    folders = sorted(p.parent for p in root.glob("*/fits.csv"))
    fits = _read([f / "fits.csv" for f in folders], FITS, NUMBERS, skipped)
    gaps = _read([f / "gaps.csv" for f in folders if (f / "gaps.csv").exists()], GAPS, ["gap"], skipped)
    fits = fits[fits["algorithm"].isin(ALGORITHMS) & fits["noise"].eq(NOISE) & fits["alignment"].eq(ALIGNMENT)]
    gaps = gaps[gaps["adaptive"].eq("AdaptiveBins") & gaps["uniform"].eq("UniformBins")]
    by_study = fits.groupby(["cost", "study"], as_index=False).agg(
        algorithms=("algorithm", "nunique"), horizon=("horizon_max", "max"), runs=("replicates", "min")
    )
    order = ["algorithms", "horizon", "runs"]
    best = by_study.sort_values(order, ascending=False, kind="stable").drop_duplicates("cost")[["cost", "study"]]
    fits, gaps = (_named_apart(part.merge(best, on=["cost", "study"]), fits, best) for part in (fits, gaps))
    return Zoo(fits.sort_values(["family", "dim"], kind="stable").reset_index(drop=True), gaps, skipped)


def _named_apart(part, fits, best):
    """Costs that go by one name in different studies get their full names."""
    names = fits.merge(best, on=["cost", "study"]).drop_duplicates("cost")
    shared = set(names[names.duplicated(["family", "dim"], keep=False)]["cost"])
    return part.assign(family=part["family"].where(~part["cost"].isin(shared), part["cost"]))


def _read(paths, columns, numbers, skipped) -> pd.DataFrame:
    """All tables with these columns, one below the other; the others are named in `skipped`."""
    tables = [pd.DataFrame(columns=[*columns, "study"])]
    for path in paths:
        name = f"{path.parent.name}/{path.name}"
        try:
            read = pd.read_csv(path)
        except ValueError:  # nothing in it, or no table
            skipped.append(f"{name} (no table)")
            continue
        missing = [c for c in columns if c not in read]
        if missing:
            skipped.append(f"{name} (no column {missing[0]})")
        elif not all(pd.api.types.is_numeric_dtype(read[c]) for c in numbers):
            skipped.append(f"{name} (words where numbers should be)")
        elif len(read):
            tables.append(read.assign(study=path.parent.name))
    return pd.concat(tables[1:] or tables, ignore_index=True)


def _blocks(found: Zoo, drawn):
    fits, gaps = found.fits, found.gaps
    yield TITLE
    own = fits[fits["kind"] == "upper"].drop_duplicates(CASE)
    costs = fits.drop_duplicates("cost")
    counts = {name: int((own["exponent_verdict"] == name).sum()) for name in ("CONSISTENT", "REFUTED", "INCONCLUSIVE")}
    printed = int((own["log_power_verdict"] == "REFUTED").sum())
    yield (
        f"{counted(len(costs), 'cost')} (family and dimension) in {counted(fits['study'].nunique(), 'report')}. Of "
        f"{counted(len(own), 'exponent')} that Theorems 1 and 2 promise, {counts['CONSISTENT']} are CONSISTENT with "
        f"the runs, {counts['REFUTED']} REFUTED and {counts['INCONCLUSIVE']} INCONCLUSIVE; the printed log power is "
        f"REFUTED in {counted(printed, 'case')}."
    )
    yield from _qualified(own)
    yield from _skipped(found)
    for picture in drawn:
        yield picture.link
        yield f"*{picture.title}.* {picture.caption}"
    yield "## Verdicts"
    yield (
        "Exponent / printed log power / corrected log power, where theory corrects it: C is CONSISTENT, **R** REFUTED, "
        "? INCONCLUSIVE. In round brackets: verdicts without force, because the negative control was not refuted; † "
        "marks fewer runs than planned. Theorem 3 bounds the worst cost near each of these, which a single cost cannot "
        "refute; its two letters are for uniform and adaptive bins. The gap is the slope of uniform minus that of "
        "adaptive bins with its 95 % interval, in round brackets where its window starts before the onset of a rate. "
        f"All runs have the noise {NOISE} and {ALIGNMENT} alignment. Where several studies hold a cost, one counts: of "
        "those with both algorithms the one with the longest horizon."
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
        "study",
    ]
    yield table(header, [_row(fits[fits["cost"] == cost], gaps[gaps["cost"] == cost]) for cost in costs["cost"]])


def _qualified(own):
    """What the counts of verdicts leave unsaid."""
    weak = int((own["control"].ne("REFUTED") & own["exponent_verdict"].ne("INCONCLUSIVE")).sum())
    short = int((own["replicates"] < own["planned"]).sum())
    said = [unmet((r.theorem, r.violated.split("; ")) for r in own.dropna(subset=["violated"]).itertuples())]
    if weak:
        said.append(f"In {counted(weak, 'case')} the exponent's verdict has no force: the control was not refuted.")
    if short:
        said.append(f"In {counted(short, 'case')} fewer runs than planned have finished.")
    if any(said):
        yield " ".join(filter(None, said))


def _skipped(found: Zoo):
    if found.skipped:
        yield (
            f"Left out, because they are not tables of this version of ratecheck: {listing(found.skipped)}; "
            "`ratecheck report` writes the tables of a study again."
        )


def _row(here, gap):
    first = here.iloc[0]
    predicted = measured = None
    if len(gap):
        found = gap.iloc[0]
        predicted, measured = fixed(found["predicted"]), estimate(found["gap"], found["low"], found["high"])
        if pd.notna(found["gap"]) and pd.notna(found["reason"]):
            measured = f"({measured})"
    bounds = here[here["kind"] == "lower"]
    return [
        first["family"],
        first["dim"],
        fraction(first["alpha"]),
        fraction(first["beta"]),
        *(_parts(here[(here["algorithm"] == a) & (here["kind"] == "upper")]) for a in ALGORITHMS),
        " ".join(_marked([r["verdict"]], r) for a in ALGORITHMS for _, r in bounds[bounds["algorithm"] == a].iterrows())
        or None,
        predicted,
        measured,
        f"[{first['study']}]({first['study']}/report.md)",
    ]


def _parts(rows) -> str | None:
    """The verdicts on an exponent and its log powers, printed first."""
    if rows.empty:
        return None
    return _marked([rows["exponent_verdict"].iloc[0], *rows["log_power_verdict"]], rows.iloc[0])


def _marked(verdicts, row) -> str:
    """Letters, in brackets where they have no force, and a dagger where runs are missing."""
    text = " / ".join({"CONSISTENT": "C", "REFUTED": "**R**"}.get(v, "?") for v in verdicts)
    if row["control"] != "REFUTED" and set(verdicts) != {"INCONCLUSIVE"}:
        text = f"({text})"
    return text + "†" * bool(row["replicates"] < row["planned"])
