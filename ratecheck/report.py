"""What remains of a study: report.md with its tables and figures, written from fits and verdicts alone.

Every sentence follows from the analysis and from what the store says about the runs; nothing depends on when or where
the report is written.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from functools import cached_property
from pathlib import Path

from .analysis import WANDERING, Analysis, Result, details_of, parts_of, rows_of
from .answer import answer, caution, fallen_behind, hypotheses
from .files import write_whole
from .fit import LARGE_SHARE
from .markdown import (
    among,
    counted,
    estimate,
    fixed,
    formula,
    general,
    interval,
    listing,
    p_value,
    table,
    thousands,
    whole,
)
from .page import write_html
from .verdicts import Name

__all__ = ["Info", "write_html", "write_report"]

PARTS = {"exponent": "exponent", "log_power": "printed log power", "corrected_log_power": "corrected log power"}


@dataclass(frozen=True)
class Info:
    """What a report says beyond fits and verdicts; all of it comes from the store."""

    name: str
    question: str
    settings: dict
    command: str  # that runs the study again
    sessions: tuple[dict, ...]  # started, seconds, units, steps, workers, where, versions, machine
    digest: str  # of the store's runs
    missing: tuple[str, ...]  # units that failed, a sentence each
    complaints: tuple[str, ...]  # of the engine
    audits: dict[str, list[dict]]  # by str(cost): rows of zoo.audit
    unused: int = 0  # runs in the store that belong to other settings
    plans: int = 1  # different plans that the folder has seen


def write_report(folder, analysis: Analysis, info: Info, figures: bool = True, svg: bool = False) -> Path:
    """Write report.md, its tables and its figures into the folder; the same input gives the same bytes."""
    import pandas as pd

    folder = Path(folder)
    folder.mkdir(parents=True, exist_ok=True)
    drawn = {}
    if figures:
        from . import figures as drawing

        families = dict.fromkeys(family for family, _ in analysis.costs)
        drawn = {f: drawing.draw_study(folder / "figures", f, analysis, svg) for f in families}
    report = Report(analysis, info, drawn)
    tables = {
        "fits.csv": [row for rows in report.rows.values() for row in rows],
        "gaps.csv": [gap.row() for gap in analysis.gaps],
        "details.csv": [row for rows in report.details.values() for row in rows],
    }
    for name, rows in tables.items():
        if rows:
            write_whole(folder / name, pd.DataFrame(rows).to_csv(index=False, lineterminator="\n"))
        else:
            (folder / name).unlink(missing_ok=True)
    return write_whole(folder / "report.md", report.text())


@dataclass(frozen=True)
class Report:
    """The sections of a report, in their order."""

    analysis: Analysis
    info: Info
    drawn: dict  # family -> figures.Picture

    def text(self) -> str:
        sections = [
            self.opening(),
            self.verdicts(),
            self.figures(),
            self.foundations(),
            self.diagnostics(),
            self.local_slopes(),
            self.gap(),
            self.control(),
            self.open(),
            self.constants(),
            self.provenance(),
        ]
        return "\n\n".join(block for section in sections for block in section if block) + "\n"

    # Names of cases: the family is said only where there are several

    @property
    def families(self) -> list[str]:
        return list(dict.fromkeys(family for family, _ in self.analysis.costs))

    def case(self, result: Result) -> str:
        family = f"{result.case.family} " if len(self.families) > 1 else ""
        return f"{family}d = {result.case.dim} {result.case.algorithm}"

    def columns(self, *more) -> list[str]:
        return ["family"] * (len(self.families) > 1) + ["d", "algorithm", *more]

    def cells(self, names, *more) -> list:
        """The first cells of a row about a case (or anything with its names), and the others."""
        return [names.family] * (len(self.families) > 1) + [names.dim, names.algorithm, *more]

    # Sections: each a list of blocks

    def opening(self):
        info = self.info
        yield f"# {info.name}"
        yield f"**Question.** {info.question}"
        yield f"**Answer.** {answer(self.analysis, self.case)}"
        for title, text in (("Caution", caution(self.analysis)), ("Hypotheses", hypotheses(self.analysis))):
            if text:
                yield f"**{title}.** {text}"
        short = [self.case(r) for r in self.analysis.results if r.found < r.expected]
        lacks = [f"{counted(len(info.missing), 'unit')} of work failed (see Provenance)"] if info.missing else []
        lacks += [f"fewer runs than planned stand behind {listing(short)}"] if short else []
        if lacks:
            yield f"**Incomplete.** {sentence('; '.join(lacks))}"

    def verdicts(self):
        yield "## Verdicts"
        yield (
            "R is the cumulative regret. The slope is that of ln R against ln T after dividing out the power of ln T "
            "that theory stands by (the corrected one where there is one), the log power that of ln T with the "
            "theorem's exponent granted; intervals are at 95 %. R/T decays with the exponent 1 − slope. A rate as "
            "printed is CONSISTENT only if exponent and printed log power both are."
        )
        if len(self.families) > 1:
            yield from self.summary()
            return
        yield from self.claims(self.analysis.results)

    def summary(self):
        """One line per case, where the families have sections of their own."""
        header = self.columns("promised slope", "slope", "exponent", "printed log power", "corrected", "Theorem 3")
        yield table(header, [self.cells(r.case, *self.brief(r)) for r in self.analysis.results])
        if any(r.fit is not None and r.problem for r in self.analysis.results):
            yield BRACKETS

    def brief(self, result: Result):
        row = self.own_row(result)
        found, bound = result.own.assessment, [j for j in result.judged if not j.claim.per_cost]
        corrected = found.corrected_log_power
        return [
            fixed(row["theory_slope"]),
            self.slope(result, row),
            shown(found.exponent.name),
            shown(found.log_power.name),
            corrected and shown(corrected.name),
            shown(bound[0].name) if bound else None,
        ]

    def claims(self, results):
        """The table of all claims about some results, and a note on each."""
        rows, notes = [], []
        for result in results:
            for judged in result.judged:
                notes.append(self.note(result, judged))
                rows.append(self.cells(result.case, *self.claim(result, judged), len(notes)))
        header = self.columns(
            "theorem",
            "printed R",
            "corrected R",
            "fitted slope",
            "fitted log power",
            "exponent",
            "log power",
            "as printed",
            "note",
        )
        yield table(header, rows)
        if any(r.fit is not None and r.problem for r in results):
            yield BRACKETS
        yield "\n".join(f"{i}. {note}" for i, note in enumerate(notes, 1))

    def claim(self, result, judged):
        claim, row = judged.claim, self.row(result, judged)
        found = judged.assessment
        powers = None
        if claim.per_cost:
            powers = shown(found.log_power.name)
            if found.corrected_log_power is not None:
                powers = f"printed {powers}, corrected {shown(found.corrected_log_power.name)}"
        bound = r"$\ge$ " if claim.kind == "lower" else ""
        return [
            claim.theorem,
            bound + formula(claim.printed),
            claim.corrected and formula(claim.corrected),
            self.slope(result, row),
            estimate(*(row[f"fitted_log_power{end}"] for end in ENDS), digits=2) if claim.per_cost else None,
            shown(found.exponent.name),
            powers,
            shown(judged.name),
        ]

    def note(self, result, judged) -> str:
        parts = parts_of(judged)
        verdicts = [(PARTS[part], getattr(judged.assessment, part)) for part in parts]
        if len({v.reason for _, v in verdicts}) == 1:  # no fit, or one part only
            said = f"{sentence(verdicts[0][1].reason)}"
        else:
            said = " ".join(f"{sentence(part)[:-1]} {v.name}: {v.reason}." for part, v in verdicts)
        return f"{self.case(result)}, {judged.claim.theorem}: {said}"

    def row(self, result, judged) -> dict:
        """The line of fits.csv at the log power that theory stands by."""
        names = judged.claim.theorem, judged.claim.corrected_name
        return [row for row in self.rows[id(result)] if row["theorem"] in names][-1]

    def own_row(self, result) -> dict:
        return self.row(result, result.own)

    @cached_property
    def rows(self) -> dict[int, list[dict]]:
        """The lines of fits.csv, result by result."""
        return {id(r): [row for j in r.judged for row in rows_of(r, j, self.analysis)] for r in self.analysis.results}

    def slope(self, result, row):
        text = estimate(row["slope"], row["low"], row["high"])
        return f"({text})" if result.fit is not None and result.problem else text

    def figures(self):
        if len(self.families) > 1:
            yield from self.sections()
            return
        yield "## Figures"
        if not self.drawn:
            yield "This report was written without figures."
        for family, pictures in self.drawn.items():
            if not pictures:
                yield f"No case of {family} has enough horizons and runs for a figure."
            for picture in pictures:
                yield picture.link
                yield f"*{picture.title}, {family}.* {picture.caption}"

    def sections(self):
        """One per family, with its claims and figures."""
        captions = {p.title: p.caption for pictures in self.drawn.values() for p in pictures}
        if captions:
            yield "## How to read the figures"
            yield "\n".join(f"- *{title}.* {caption}" for title, caption in captions.items())
        for family in self.families:
            yield f"## {family}"
            alone = replace(self.analysis, results=tuple(self.analysis.of(family)))
            yield from replace(self, analysis=alone).claims(alone.results)
            for picture in self.drawn.get(family, []):
                yield picture.link

    def foundations(self):
        analysis = self.analysis
        yield "## What the verdicts rest on"
        header = self.columns("runs", "horizons", "window", "periods", "onset", "ln T is worth")
        yield table(header, [self.cells(r.case, *self.foundation(r)) for r in analysis.results])
        yield (
            f"{self.fixed_when()} {self.windows()} An exponent is CONSISTENT "
            f"if the one-sided 95 % limit of the excess slope stays below the margin {analysis.margin:g} on the whole "
            f"window and on its last half, REFUTED if it lies beyond the margin, also with the error that the points' "
            f"own scatter about the line gives it, and is not falling towards it; a log power likewise with the margin "
            f"{analysis.log_margin:g}. Nothing is refuted where at the start of the window a step still costs more "
            f"than {100 * WANDERING:.0f} % of what a random query costs. Everything else is INCONCLUSIVE."
        )
        yield (
            f"These are {counted(analysis.claims, 'verdict')} at once, so a decision counts only if it survives Holm's "
            "adjustment over all of them. The slope that one factor ln T is worth over a window (last column) is the "
            "limit of resolution: an exponent that is wrong by less cannot be told from a wrong log power, and only "
            "longer horizons help, not more runs."
        )
        yield from self.remarks()

    def fixed_when(self) -> str:
        changes = self.info.plans - 1
        if changes <= 0:
            return "Window, margins and log powers were fixed before the runs."
        often = "once" if changes == 1 else f"{changes} times"
        return (
            f"The plan of this folder was changed {often} after its first runs; window, margins and log powers are "
            "those of the last."
        )

    def windows(self) -> str:
        """Where the windows run, case by case."""
        usual, early, declared = [], [], []
        for result in self.analysis.results:
            case = result.case
            beyond = [h for h in case.horizons if h >= case.onset][:1]
            kind = early if case.window[0] < case.onset else declared
            (usual if [*case.window] == [*beyond, case.horizons[-1]] else kind).append(self.case(result))
        parts = []
        if usual:
            all_of_them = "The window runs" if not (early or declared) else f"In {cases(len(usual))} the window runs"
            parts.append(
                f"{all_of_them} from the onset that theory predicts, or from the first horizon where that is later, "
                "to the last horizon."
            )
        if early:
            parts.append(
                f"In {cases(len(early))} ({listing(early)}) the window starts before the onset that theory predicts, "
                "so that nothing is judged there."
            )
        if declared:
            parts.append(f"The study declares a window of its own in {cases(len(declared))} ({listing(declared)}).")
        return " ".join(parts)

    def foundation(self, result: Result):
        case, row = result.case, self.own_row(result)
        horizons = case.horizons
        return [
            f"{result.found} of {result.expected}",
            f"{len(horizons)}, {horizons[0]} to {horizons[-1]}",
            f"{whole(row['horizon_min'])} to {whole(row['horizon_max'])}",
            fixed(row.get("periods"), 2),
            general(row["onset"], 3),
            fixed(row.get("resolution")),
        ]

    def remarks(self):
        """Hypotheses that are not met, and bounds on the worst cost."""
        lines = [
            f"- {self.case(r)}: {remark}."
            for r in self.analysis.results
            for remark in dict.fromkeys(x for j in r.judged for x in j.claim.violated)
        ]
        if lines:
            yield (
                "Hypotheses that are not met (the theorem then promises nothing, and the verdict says whether its rate "
                "holds all the same):"
            )
            yield "\n".join(lines)
        weaker = {}
        for r in self.analysis.results:
            for remark in dict.fromkeys(x for j in r.judged for x in j.claim.remarks):
                weaker.setdefault(remark, {})[f"{r.case.family} d = {r.case.dim}"] = True
        for remark, costs in weaker.items():
            yield f"{remark}: {listing(list(costs), most=len(costs))}."
        worst = {j.claim.theorem for r in self.analysis.results for j in r.judged if not j.claim.per_cost}
        if worst:
            yield (
                f"{listing(sorted(worst))} bounds the worst cost near the one that was run. A single cost can agree "
                "with it but cannot refute it; where its slope lies below the bound the verdict is INCONCLUSIVE."
            )

    def diagnostics(self):
        usable = [r for r in self.analysis.results if r.fit is not None and not r.fit.problem]
        yield "## Diagnostics and sensitivity"
        if not usable:
            yield "No fit, so no diagnostics."
            return
        header = self.columns(
            "slope of R, raw",
            "last half",
            "curvature (p)",
            "χ² / expected (p)",
            "largest run",
            "jackknife",
            "bootstrap",
        )
        yield table(header, [self.cells(r.case, *self.diagnosis(r)) for r in usable])
        yield (
            "Raw: no log power divided out; all others at the log power that theory stands by. Curvature is the "
            "coefficient of (ln T)² beside the slope; χ² compares the residuals with what the jackknife covariance "
            "leads one to expect. Small p-values say that the window holds more than one rate and its harmonics; "
            "large ones say little, because both tests have low power. The largest run is the greatest share of a "
            "horizon's summed regret in a single run. Jackknife and studentised bootstrap are two 95 % intervals for "
            "the same slope."
        )
        yield self.lack_of_fit(usable)
        heavy = [self.case(r) for r in usable if r.fit.caution]
        if heavy:
            yield (
                f"Rare runs carry the mean in {listing(heavy)}: one run holds more than {100 * LARGE_SHARE:.0f} % of a "
                "mean regret, and no interval accounts for such runs that it has not seen."
            )
        yield from self.held_out()
        yield from self.sensitivity()

    def lack_of_fit(self, usable) -> str:
        """What the diagnostics say about all cases together."""
        rows = [self.own_row(r) for r in usable]
        moving = [row for row in rows if row["curvature_p"] < 0.05]
        rising = sum(row["curvature"] > 0 for row in moving)
        poor = sum(row["chi_square_p"] < 0.05 for row in rows)
        return (
            f"At the 5 % level (each case for itself) χ² finds more than noise around the fit "
            f"{among(poor, len(rows))}, and curvature a slope that rises with T in {rising} and one that falls in "
            f"{len(moving) - rising}. An interval holds the uncertainty of the runs, not that of the model; where the "
            "slope is rising, a longer window may give a larger one."
        )

    def diagnosis(self, result):
        row = self.own_row(result)
        chi = f"{fixed(row['chi_square'], 1)} / {fixed(row['chi_square_expected'], 1)} ({p_value(row['chi_square_p'])})"
        return [
            estimate(row["raw_slope"], row["raw_low"], row["raw_high"]),
            estimate(*(row[f"last_half{end}"] for end in ENDS)),
            f"{fixed(row['curvature'])} ({p_value(row['curvature_p'])})",
            chi,
            f"{100 * row['largest_share']:.0f} %",
            interval(row["low"], row["high"]),
            interval(row["bootstrap_low"], row["bootstrap_high"]),
        ]

    @cached_property
    def details(self) -> dict[int, list[dict]]:
        return {id(r): list(details_of(r)) for r in self.analysis.results if r.data is not None}

    def detail(self, result, what) -> list[dict]:
        return [row for row in self.details.get(id(result), []) if row["what"] == what]

    def held_out(self):
        rows = [
            self.cells(r.case, whole(row["horizon"]), estimate(row["value"], row["low"], row["high"]))
            for r in self.analysis.results
            for row in self.detail(r, "held out")
        ]
        if rows:
            yield (
                "Held out: the last two horizons, predicted from a fit without them. The error is that of ln R; an "
                "interval that holds 0 means that the prediction came true."
            )
            yield table(self.columns("T", "error"), rows)

    def sensitivity(self):
        if len(self.families) > 1:
            yield "The slopes under other choices than the study's are in [details.csv](details.csv)."
            return
        yield "Sensitivity: the slope under other choices than the study's, which decide nothing."
        yield from self.side_by_side("sensitivity", "choice", lambda row: row["choice"])

    def side_by_side(self, what, title, key):
        """A table with a line per dimension and key, and a column per algorithm."""
        algorithms = list(dict.fromkeys(r.case.algorithm for r in self.analysis.results))
        found = {}
        for result in self.analysis.results:
            for row in self.detail(result, what):
                line = found.setdefault((result.case.dim, result.case.cost, key(row)), {})
                line[result.case.algorithm] = estimate(row["value"], row["low"], row["high"])
        places = sorted(found, key=lambda place: place[:2]) if what == "sensitivity" else sorted(found)
        rows = [[place[0], self.label(place[-1]), *(found[place].get(a) for a in algorithms)] for place in places]
        yield table(["d", title, *algorithms], rows)

    @staticmethod
    def label(key):
        return key if isinstance(key, str) else whole(round(key))

    def local_slopes(self):
        yield "## Local slopes"
        if not any(self.detail(r, "local slope") for r in self.analysis.results):
            yield "No case has enough horizons and runs for local slopes."
            return
        yield (
            "Slopes of ln R between neighbouring horizons, nothing divided out, T the geometric middle of each pair. "
            "A regret that grows exactly as $T^s (\\ln T)^p$ has the local slope s + p / ln T, above s at every T if "
            "p > 0. On a cost that beats the bound, or where its growth has not set in yet, local slopes may lie on "
            "either side of s."
        )
        if len(self.families) > 1:
            yield "All of them are in [details.csv](details.csv)."
        else:
            yield from self.side_by_side("local slope", "T", lambda row: row["horizon"])

    def gap(self):
        gaps = self.analysis.gaps
        yield "## The gap between uniform and adaptive bins"
        if not gaps:
            yield "The study does not hold both algorithms on one cost, so there is no gap to measure."
            return
        yield (
            "The slope of uniform bins minus that of adaptive bins, nothing divided out, over their common window. "
            "Predicted is the difference of the promised exponents, then with what the theorems' log powers add over "
            "this window. Both theorems are upper bounds, so the measured gap may differ without contradicting them."
        )
        several = len({(g.uniform, g.adaptive) for g in gaps}) > 1
        header = ["family"] * (len(self.families) > 1) + ["d"] + ["adaptive"] * several
        header += ["window", "predicted", "with log powers", "measured gap", "R uniform / R adaptive at the last T"]
        yield table(header, [self.gap_cells(g, several) for g in gaps])
        summary = fallen_behind(gaps)
        if summary:
            yield f"{sentence(summary)} That is: the 95 % interval of the gap lies above 0, without Holm's adjustment."
        for title, unmeasured in (("Not measured:", True), ("In round brackets, and not counted:", False)):
            reasons = [g for g in gaps if g.reason and (g.measured is None) == unmeasured]
            if reasons:
                yield title
                yield "\n".join(f"- {self.gap_name(g, several)}: {g.reason}." for g in reasons)

    def gap_name(self, gap, several) -> str:
        family = f"{gap.family} " if len(self.families) > 1 else ""
        return f"{family}d = {gap.dim}" + (f", {gap.adaptive}" if several else "")

    def gap_cells(self, gap, several):
        row = gap.row()
        found = estimate(row["gap"], row["low"], row["high"])
        names = [gap.family] * (len(self.families) > 1) + [gap.dim] + [gap.adaptive] * several
        return [
            *names,
            gap.window and f"{whole(row['horizon_min'])} to {whole(row['horizon_max'])}",
            fixed(row["predicted"]),
            fixed(row["with_log_powers"]) if gap.measured else None,
            f"({found})" if gap.measured and gap.reason else found,
            fixed(row["last_ratio"], 2),
        ]

    def control(self):
        yield "## Negative control"
        yield (
            "A claim that is false by construction: the theorem's own rate with a larger exponent. It must come out "
            "REFUTED, or the same rules could not have refuted the theorem either. Controls are not part of Holm's "
            "adjustment."
        )
        rows, weak, unjudged = [], [], []
        for result in self.analysis.results:
            for control, verdict in result.controls:
                rows.append(self.cells(result.case, control.name, formula(control.rate), shown(verdict.name)))
                if verdict.name != Name.REFUTED and not result.problem:
                    weak.append(f"- {self.case(result)} ({control.name}): {verdict.reason}.")
            if result.problem:
                unjudged.append(f"- {self.case(result)}: {result.problem}.")
        yield table(self.columns("control", "claimed R", "verdict"), rows)
        if weak:
            yield "**Where the control was not refuted, the verdicts have no force:**"
            yield "\n".join(weak)
        elif len(unjudged) < len(self.analysis.results):
            yield f"Every control {'that was judged ' if unjudged else ''}was refuted."
        if unjudged:
            yield "Nothing was judged, neither a theorem nor its control, in"
            yield "\n".join(unjudged)

    def open(self):
        yield "## What would settle the inconclusive ones"
        lines = []
        for result in self.analysis.results:
            for judged in result.judged:
                said = {}
                for part in parts_of(judged):
                    v = getattr(judged.assessment, part)
                    if v.name == Name.INCONCLUSIVE:
                        said.setdefault(v.reason, []).append(PARTS[part])
                for reason, parts in said.items():
                    lines.append(f"- {self.case(result)}, {judged.claim.theorem}, {listing(parts)}: {reason}.")
        yield "\n".join(lines) if lines else "Nothing is left open: every claim was decided."

    def constants(self):
        yield "## The constants and their audit"
        yield (
            "Each constant of Assumption 1 as annotated, and in brackets what the audit measured; a constant is proved "
            "unless the cell says otherwise."
        )
        for family in self.families:
            if len(self.families) > 1:
                yield f"### {family}: constants"
            yield from self.audit(family)

    def audit(self, family):
        costs = {r.case.cost: r.case for r in self.analysis.of(family)}
        audits = {cost: {row["constant"]: row for row in self.info.audits.get(cost, [])} for cost in costs}
        names = list(dict.fromkeys(name for rows in audits.values() for name in rows))
        if not names:  # no audit: what the study was planned with
            names = [n for n, v in next(iter(costs.values())).constants.items() if isinstance(v, (int, float))]
            names = [n for n in names if n != "literal"]
        rows = [[labelled(n), *(constant(n, costs[cost], audits[cost].get(n)) for cost in costs)] for n in names]
        yield table(["constant", *(f"d = {case.dim}" for case in costs.values())], rows)
        wrong = [(costs[cost].dim, row) for cost, rows in audits.items() for row in rows.values() if not row["holds"]]
        lacking = [f"d = {costs[cost].dim}" for cost, rows in audits.items() if not rows]
        if wrong:
            yield "\n".join(
                f"- d = {dim}: {labelled(row['constant'])} **does not hold**: annotated {general(row['annotated'])}, "
                f"measured {general(row['measured'])} at {row['worst']}. The theorems' rates rest on it."
                for dim, row in wrong
            )
        if lacking:
            yield f"The store holds no audit of {family}, {listing(lacking)}; the numbers are the annotations."
        elif not wrong:
            yield "All of them hold."

    def provenance(self):
        info = self.info
        yield "## Provenance"
        yield "To run it again:"
        yield f"```sh\n{info.command}\n```"
        yield table(["setting", "value"], [[k, v] for k, v in info.settings.items()])
        if info.sessions:
            header = ["started", "seconds", "units", "steps", "workers", "where", "machine"]
            shown_as = {"seconds": lambda x: fixed(x, 1), "steps": thousands}
            rows = [[shown_as.get(h, str)(s[h]) if h in s else None for h in header] for s in info.sessions]
            yield table(header, rows)
            yield self.totals()
        yield f"Digest of the runs: `{info.digest}`."
        for title, lines in (("Units of work that failed", info.missing), ("Remarks of the engine", info.complaints)):
            if lines:
                yield f"{title}:"
                yield "\n".join(f"- {line}" for line in lines)
        if info.unused:
            yield f"The store also holds {counted(info.unused, 'run')} of other settings, which are not used here."
        tables = ["[fits.csv](fits.csv) (one line per case and theorem, printed and corrected apart)"]
        tables += ["[gaps.csv](gaps.csv)"] if self.analysis.gaps else []
        if any(self.details.values()):
            tables.append("[details.csv](details.csv) (local slopes, sensitivity, held-out errors)")
        yield f"All numbers: {listing(tables)}."

    def totals(self):
        sessions = self.info.sessions
        seconds, steps = (sum(s.get(key) or 0 for s in sessions) for key in ("seconds", "steps"))
        versions = {}
        for session in sessions:
            for package, version in (session.get("versions") or {}).items():
                versions.setdefault(package, []).append(str(version))
        used = ", ".join(f"{package} {' and '.join(dict.fromkeys(v))}" for package, v in versions.items())
        total = f"In all {fixed(seconds, 1)} s of wall time and {thousands(steps)} steps."
        return f"{total} Versions: {used}." if used else total


ENDS = ("", "_low", "_high")
LABELS = {"minimum": "lowest value of f", "minimisers": "f at its minimisers"}
BRACKETS = "A slope in round brackets comes from a window that allows no verdict."


def shown(name: Name) -> str:
    return f"**{name}**" if name == Name.REFUTED else str(name)


def sentence(text: str) -> str:
    return text[:1].upper() + text[1:] + "."


def cases(n) -> str:
    return "one case" if n == 1 else f"{n} cases"


def labelled(name) -> str:
    return LABELS.get(name, f"`{name}`")


def constant(name, case, row) -> str | None:
    if row is None:
        return general(case.constants.get(name))
    basis = "" if row["basis"] == "proved" else f", {row['basis']}"
    failed = "" if row["holds"] else " **does not hold**"
    return f"{general(row['annotated'])} ({general(row['measured'])}{basis}){failed}"
