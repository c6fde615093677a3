"""The zoo at one glance: studies/README.md and two figures, from the tables of all studies."""

from __future__ import annotations

import os
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path
from urllib.parse import quote, unquote_to_bytes

import numpy as np
import pandas as pd

from ..claims import Outcome
from ..display import counted, escaped, estimate, fixed, fraction, listing, one_line, table
from ..files import read_below, together
from ..verdict.compare import SAME_EXPONENT
from ..verdict.sentences import AS_A_RATE, GUARDED, NOT_JUDGED
from .answer import unmet

PAGE, TITLE = "README.md", "# The zoo at one glance"
NOISE, ALIGNMENT = "Gaussian(sigma=1.0)", "random"  # other settings have reports of their own too
CASE = ["cost", "algorithm"]
LONGEST = 400  # letters of a question
NUMBERS = ["dim", "theory_slope", "slope", "low", "high", "replicates", "planned", "horizon_max", "alpha", "beta"]
NUMBERS += ["margin", "ratio", "predicted_slope", "far_horizon", "far_exponent"]
WORDS = ["family", *CASE, "theorem", "kind", "verdict", "exponent_verdict", "log_power_verdict", "control"]
WORDS += ["changed", "reason", "violated_names", "role", "agreement", "far_verdict", "far_printed", "far_corrected"]
FITS = [*NUMBERS, *WORDS, "noise", "alignment"]
GAP_NUMBERS = ["dim", "predicted", "gap", "low", "high"]
GAP_WORDS = ["family", "cost", "first", "second", "reason"]
GAPS = [*GAP_NUMBERS, *GAP_WORDS]


@dataclass(frozen=True)
class Zoo:
    """What the studies say: fits and gaps, each cost from one study, and the tables that could not be read.

    Algorithms have their default settings, and gaps are those of one pair; sweeps have reports of their own.
    """

    fits: pd.DataFrame
    gaps: pd.DataFrame
    skipped: list[str]

    @property
    def algorithms(self) -> list[str]:
        return list(dict.fromkeys(self.fits["algorithm"]))

    @property
    def pair(self) -> tuple[str, str] | None:
        return None if self.gaps.empty else (self.gaps["first"].iloc[0], self.gaps["second"].iloc[0])

    @property
    def own(self) -> pd.DataFrame:
        """What the algorithms claim themselves, as printed."""
        return self.fits[self.fits["role"] == "own"].drop_duplicates(CASE)

    @property
    def in_markdown(self) -> Zoo:
        """With all texts escaped: the tables may be a stranger's."""
        fits, gaps = (
            frame.assign(**{c: frame[c].map(escaped, na_action="ignore") for c in names if c in frame})
            for frame, names in ((self.fits, WORDS), (self.gaps, GAP_WORDS))
        )
        return Zoo(fits, gaps, [escaped(name) for name in self.skipped])


def write_overview(root) -> Path:
    """Write README.md and figures/ into the folder that holds the studies."""
    root = Path(root)
    with suppress(FileNotFoundError):
        if read_below(root, PAGE).partition(b"\n")[0].strip() != TITLE.encode():
            raise FileExistsError(f"{root / PAGE} was not written by ratecheck; move it away, or give another folder")
    found = collected(root)
    if found.fits.empty and found.skipped and (root / PAGE).exists():  # a page that says more than the new one would
        raise ValueError(
            f"no table below {root} is one of this version of ratecheck ({listing(found.skipped)}); start the studies "
            "again, stored runs will be used as they are"
        )
    with together(root) as drafts:
        if found.fits.empty:
            blocks = [TITLE, "There is no study here yet.", *_skipped(found.in_markdown)]
        else:
            from ..figures.base import lettered
            from ..figures.draw import draw_overview
            from ..figures.plane import Regimes

            words = Regimes(**regimes(found, lettered))
            drawn = draw_overview(drafts, found.fits, gaps=found.gaps, names=found.algorithms, regimes=words)
            blocks = _blocks(found.in_markdown, drawn)
        drafts.write(PAGE, "\n\n".join([*blocks, *_reports(root)]) + "\n")
    return root / PAGE


def collected(root) -> Zoo:
    """One study per cost: of those with most algorithms the one that looked furthest, then that with more runs."""
    skipped = []
    folders = sorted(p.parent for p in root.glob("*/fits.csv") if p.is_file())
    fits = _read([f / "fits.csv" for f in folders], FITS, NUMBERS, skipped)
    gaps = _read([f / "gaps.csv" for f in folders if (f / "gaps.csv").is_file()], GAPS, GAP_NUMBERS, skipped)
    swept = fits["algorithm"].astype(str).str.contains("(", regex=False)
    fits = fits[~swept & fits["noise"].eq(NOISE) & fits["alignment"].eq(ALIGNMENT)]
    gaps = gaps[gaps["first"].isin(fits["algorithm"]) & gaps["second"].isin(fits["algorithm"])]
    if len(gaps):
        first, second = gaps[["first", "second"]].value_counts().index[0]
        gaps = gaps[gaps["first"].eq(first) & gaps["second"].eq(second)]
    by_study = (
        fits[fits["role"] != "bound"]
        .groupby(["cost", "study"], as_index=False)
        .agg(algorithms=("algorithm", "nunique"), horizon=("horizon_max", "max"), runs=("replicates", "min"))
    )
    order = ["algorithms", "horizon", "runs"]
    best = by_study.sort_values(order, ascending=False, kind="stable").drop_duplicates("cost")[["cost", "study"]]
    fits, gaps = (part.merge(best, on=["cost", "study"]) for part in (fits, gaps))
    names = fits.drop_duplicates("cost")  # costs that go by one name in different studies get their full names
    shared = set(names[names.duplicated(["family", "dim"], keep=False)]["cost"])
    fits, gaps = (p.assign(family=p["family"].where(~p["cost"].isin(shared), p["cost"])) for p in (fits, gaps))
    return Zoo(fits.sort_values(["family", "dim"], kind="stable").reset_index(drop=True), gaps, skipped)


def _read(paths, columns, numbers, skipped) -> pd.DataFrame:
    """All tables with these columns, one below the other; the others are named in `skipped`."""
    tables = [pd.DataFrame(columns=[*columns, "study"])]
    for path in paths:
        try:
            read = pd.read_csv(path, dtype={c: str for c in columns if c not in numbers})
            trouble = _trouble(read, columns, numbers)
        except ValueError:  # nothing in it, or no table
            read, trouble = (), "no table"
        if trouble:
            skipped.append(f"{one_line(f'{path.parent.name}/{path.name}')} ({trouble})")
        elif len(read):
            tables.append(read.assign(study=_address(path.parent)))
    return pd.concat(tables[1:] or tables, ignore_index=True)


def _trouble(read, columns, numbers) -> str:
    """Why a table is none of ours; empty if it is."""
    missing = [c for c in columns if c not in read]
    if missing:
        return f"no column {missing[0]}"
    if not all(pd.api.types.is_numeric_dtype(read[c]) for c in numbers) or np.isinf(read[numbers]).any(axis=None):
        return "words where numbers should be"
    if len(read) and not (pd.api.types.is_integer_dtype(read["dim"]) and (read["dim"] > 0).all()):
        return "dimensions that are none"
    if "exponent_verdict" in columns and not read["exponent_verdict"].isin(list(Outcome)).all():
        return "verdicts that are none"
    return ""


def regimes(found: Zoo, name=str) -> dict[str, str]:
    """What theory promises the compared algorithms in the parts of the plane of costs, as far as the tables agree."""
    if found.pair is None:
        return {"above": "β > 1", "on": "β = d/α", "below": "β < 1", "bar": "no gap was measured"}
    first, second = map(name, found.pair)
    costs = found.fits.drop_duplicates("cost")[["cost", "alpha", "beta"]]
    gaps = found.gaps.merge(costs, on="cost")
    worse, same = gaps["predicted"] > SAME_EXPONENT, gaps["predicted"].abs() <= SAME_EXPONENT
    own = found.own[found.own["algorithm"] == found.pair[1]]
    critical = own[(own["alpha"] * own["beta"] / own["dim"] - 1).abs() < 1e-9]
    slopes = set(critical["theory_slope"].round(9))
    above = f": {first} is promised a worse exponent" if _all(worse[gaps["beta"] > 1 + 1e-9]) else ""
    on = f": {second} is promised $T^{{{fraction(slopes.pop())}}}$" if len(slopes) == 1 else ""
    below = f": {first} is promised the exponent of {second}" if _all(same[gaps["beta"] <= 1 + 1e-9]) else ""
    bar = f"measured gap: slope of {first} − slope of {second}"
    return {"above": f"β > 1{above}", "on": f"β = d/α{on}", "below": f"β < 1{below}", "bar": bar}


def _all(series) -> bool:
    """Of no case at all nothing is said."""
    return len(series) > 0 and bool(series.all())


def _blocks(found: Zoo, drawn):
    fits, own = found.fits, found.own
    yield TITLE
    costs = fits.drop_duplicates("cost")
    verdicts, weak = own["exponent_verdict"], own["control"].ne("REFUTED")
    counts = {name: int((verdicts == name).sum()) for name in ("REFUTED", "INCONCLUSIVE")}
    good, vain = (int(((verdicts == "CONSISTENT") & part).sum()) for part in (~weak, weak))
    unjudged = int((own["changed"] == NOT_JUDGED).sum())
    weakly = f" ({vain} more, but without force: not even the control was refuted)" if vain else ""
    printed = int((own["log_power_verdict"] == "REFUTED").sum())
    yield (
        f"{counted(len(costs), 'cost')} (family and dimension) in {counted(fits['study'].nunique(), 'report')}. Of "
        f"{counted(len(own), 'promised exponent')} ({listing(list(dict.fromkeys(own['theorem'])))}) "
        f"{good} are CONSISTENT with the runs{weakly}, {counts['REFUTED']} REFUTED and {counts['INCONCLUSIVE']} "
        f"INCONCLUSIVE, {unjudged} of these not judged at all; the printed log power is REFUTED in "
        f"{counted(printed, 'case')}."
    )
    yield from _qualified(own)
    yield from _force(own)
    yield from _foretold(own)
    yield from _bounded(fits[fits["role"] == "bound"])
    yield from _skipped(found)
    for picture in drawn:
        yield picture.link
        yield f"*{picture.title}.* {picture.caption}"
    yield from _verdicts(found, costs)
    yield from _undecided(own)


def _verdicts(found: Zoo, costs):
    fits, gaps = found.fits, found.gaps
    bounding = fits[fits["role"] == "bound"]
    bounds = list(dict.fromkeys(bounding["theorem"]))
    said = [
        "Three answers for each algorithm. Runs alone: exponent / printed log power / corrected log power, where "
        "theory corrects it; C is CONSISTENT, **R** REFUTED, ? INCONCLUSIVE. Runs / curve: whether the runs follow the "
        "predicted curve, and the mean of measured / predicted. Curve / theorem: what the predicted curve says about "
        "the same exponent and powers, and the T up to which it was computed. "
        "In round brackets: verdicts without force, because the negative control was not refuted; † "
        "marks fewer runs than planned."
    ]
    if bounds:
        said.append(
            f"{listing(bounds)} is judged on the hard family of each cost, on which it bounds the mean regret; the "
            "number beside a letter is that mean over the certified bound, at the family's last horizon, and the "
            f"letters there are for {listing([a for a in found.algorithms if (bounding['algorithm'] == a).any()])}."
        )
    if found.pair:
        said.append(
            f"The gap is the slope of {found.pair[0]} minus that of {found.pair[1]} with its 95 % interval, in round "
            "brackets where its window starts before the onset of a rate."
        )
    said.append(
        f"All runs have the noise {NOISE} and {ALIGNMENT} alignment. Where several studies hold a cost, one counts: of "
        "those with most algorithms the one with the longest horizon."
    )
    yield "## Verdicts"
    yield " ".join(said)
    theorems = [" or ".join(dict.fromkeys(found.own[found.own["algorithm"] == a]["theorem"])) for a in found.algorithms]
    heads = [f"{a}, {theorem}" for a, theorem in zip(found.algorithms, theorems, strict=True)]
    three = []
    for name, head in zip(found.algorithms, heads, strict=True):
        three += [f"{head}: runs alone", f"{name}: runs / curve", f"{name}: curve / theorem"]
    header = ["family", "d", "α", "β", *three, *bounds, "promised gap", "measured gap", "study"]
    parts = [(fits[fits["cost"] == cost], gaps[gaps["cost"] == cost]) for cost in costs["cost"]]
    yield table(header, [_row(here, gap, found.algorithms, bounds) for here, gap in parts])


def _reports(root):
    """Every report below the folder, with its title and, where it has one, its question."""
    rows = []
    for path in sorted(root.glob("*/report.md")):
        try:
            text = read_below(root, f"{path.parent.name}/report.md").decode("utf-8", "replace")
        except OSError:  # a link, or not an ordinary file
            continue
        title, _, rest = text.partition("\n")
        asked = rest.strip().partition("\n")[0].removeprefix("**Question.**").strip()
        asked = asked[:LONGEST] if asked.endswith("?") else ""
        words = [escaped(part) for part in (title.removeprefix("#").strip(), asked) if part]
        rows.append([_linked(_address(path.parent)), " – ".join(dict.fromkeys(words))])
    if rows:
        yield "## All reports"
        yield table(["report", "about"], rows)
        yield "`python -m ratecheck.study --study NAME` runs a declared study again; each report ends with its command."


def _undecided(own):
    unknown = own[own["exponent_verdict"] == "INCONCLUSIVE"]
    if unknown.empty:
        return
    yield "## Why a question mark"
    yield (
        "For each exponent that the runs alone leave open. The same runs may be CONSISTENT in one study and left open "
        "in another: among more claims a verdict needs more (Holm's rule)."
    )
    why = unknown["changed"].fillna("").where(unknown["changed"].fillna("") != "", "too few or too short runs")
    rows = []
    for reason, part in unknown.assign(why=why).groupby("why", sort=False):
        names = [f"{r.family} d = {r.dim} {r.algorithm}" for r in part.itertuples()]
        rows.append([MEANING.get(reason, reason), len(part), listing(names, most=12)])
    yield table(["why", "cases", "which"], sorted(rows, key=lambda row: -row[1]))


MEANING = {
    NOT_JUDGED: "not judged: the window starts before theory expects the rate, or allows no fit",
    AS_A_RATE: "too steep for the rate, but a larger power of ln T explains it as well",
    GUARDED: "too steep, but the theorem promises nothing here",
    "too few or too short runs": "the interval is too wide, the regret bends, or a rate far off could have passed",
}


def _force(own):
    good = own[own["exponent_verdict"].eq("CONSISTENT") & own["control"].eq("REFUTED")].dropna(subset=["tolerates"])
    if len(good):
        caught = good["catches"][good["theory_slope"] + good["catches"] <= 1]
        surely = f"one by {caught.median():.2f} ({caught.max():.2f} at most) would have been caught" * bool(len(caught))
        none = len(good) - len(caught)
        vain = f"nothing up to a linear regret would have been caught in {counted(none, 'case')}" * bool(none)
        yield (
            f"The force of the {counted(len(good), 'CONSISTENT exponent')}: a pure power of T that grows faster than "
            f"promised by {good['tolerates'].median():.2f} in the median ({good['tolerates'].max():.2f} at most) could "
            f"have passed too; {'; '.join(filter(None, (surely, vain)))}."
        )


def _foretold(own):
    compared, computed = own.dropna(subset=["agreement"]), own.dropna(subset=["far_verdict"])
    if len(compared):
        follow, leave = (int((compared["agreement"] == name).sum()) for name in ("CONSISTENT", "REFUTED"))
        near = int((compared["ratio"].sub(1).abs() <= 0.03).sum())
        yield (
            f"Of {counted(len(compared), 'case')} with a predicted curve the runs follow it in {follow}, do not in "
            f"{leave}, and leave it open in {len(compared) - follow - leave}; measured / predicted lies within 3 % of "
            f"1 in {near} of all these cases, with a median of {compared['ratio'].median():.3f}."
        )
    if len(computed):
        obey, break_ = (int((computed["far_verdict"] == name).sum()) for name in ("CONSISTENT", "REFUTED"))
        printed = int((computed["far_printed"] == "REFUTED").sum())
        yield (
            f"Of {counted(len(computed), 'predicted curve')} {obey} tend to an exponent that the theorem allows, "
            f"{break_} to a larger one; the limit of the others is not settled, for they cannot be computed far enough "
            f"or its estimates differ. The printed log power is REFUTED by {printed} of them."
        )


def _bounded(bounding):
    known = bounding.dropna(subset=["factor"])
    if known.empty:
        return
    good, broken = (int((known["verdict"] == name).sum()) for name in ("CONSISTENT", "REFUTED"))
    below = f"**{broken} of them below the certified lower bound, where no strategy can be**, " if broken else ""
    factors = known["factor"]
    yield (
        f"On the hard families of {counted(known['cost'].nunique(), 'cost')} the mean regret is {below}"
        f"{factors.min():.3g} to {factors.max():.3g} times the certified lower bound, {factors.median():.3g} "
        f"times in the median of {counted(len(known), 'case')}; {good} of their slopes are CONSISTENT with that of "
        f"{listing(list(dict.fromkeys(known['theorem'])))}."
    )


def _qualified(own):
    short = int((own["replicates"] < own["planned"]).sum())
    names = [found.split("; ") if isinstance(found, str) else [] for found in own["violated_names"]]
    said = [unmet(zip(own["theorem"], names, strict=True))]
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


def _row(here, gap, algorithms, bounds):
    first = here.iloc[0]
    predicted = measured = None
    if len(gap):
        found = gap.iloc[0]
        predicted, measured = fixed(found["predicted"]), estimate(found["gap"], found["low"], found["high"])
        if pd.notna(found["gap"]) and pd.notna(found["reason"]):
            measured = f"({measured})"
    return [
        first["family"],
        first["dim"],
        fraction(first["alpha"]),
        fraction(first["beta"]),
        *(cell for a in algorithms for cell in _three(here[(here["algorithm"] == a) & (here["role"] == "own")])),
        *(_bound(here[here["theorem"] == theorem], algorithms) for theorem in bounds),
        predicted,
        measured,
        _linked(first["study"]),
    ]


def _address(folder) -> str:
    """Of a study, as a link names it: letters that are safe, whatever the folder's name is made of."""
    return quote(os.fsencode(folder.name), safe="=,+")


def _linked(address) -> str:
    return f"[{escaped(os.fsdecode(unquote_to_bytes(address)))}]({address}/report.md)"


def _bound(rows, algorithms) -> str | None:
    found = []
    for row in (row for a in algorithms for _, row in rows[rows["algorithm"] == a].iterrows()):
        factor = f" {row['factor']:.3g}" if pd.notna(row["factor"]) else ""
        found.append(_letter(row["verdict"]) + factor + "†" * bool(0 < row["replicates"] < row["planned"]))
    return ", ".join(found) or None


def _three(rows) -> tuple[str | None, ...]:
    if rows.empty:
        return None, None, None
    row = rows.iloc[0]
    follows = obeys = None
    if pd.notna(row["agreement"]):
        follows = f"{_letter(row['agreement'])} {fixed(row['ratio'])}"
    if pd.notna(row["far_verdict"]):
        powers = [row[name] for name in ("far_verdict", "far_printed", "far_corrected") if pd.notna(row[name])]
        obeys = f"{' / '.join(map(_letter, powers))}, {row['far_horizon']:.0e}"
    verdicts = [row["exponent_verdict"], *rows["log_power_verdict"]]
    alone = " / ".join(map(_letter, verdicts))
    if row["control"] != "REFUTED" and set(verdicts) != {"INCONCLUSIVE"}:
        alone = f"({alone})"
    return alone + "†" * bool(row["replicates"] < row["planned"]), follows, obeys


def _letter(verdict) -> str:
    return {"CONSISTENT": "C", "REFUTED": "**R**"}.get(verdict, "?")
