"""The report of an experiment, and that of a ledger: a table of claims, then what each verdict rests on."""

from __future__ import annotations

from collections import Counter
from typing import TYPE_CHECKING

from ratecheck.display import fenced, fixed, table
from studies.claims.ledger.finding import MARKS, Finding, Verdict
from studies.claims.ledger.history import Row
from studies.claims.ledger.statement import Proof, Statement, reach

if TYPE_CHECKING:
    from studies.claims.ledger.declaration import Ledger

MEANING = {
    Verdict.CONFIRMED: "exactly, or with a certificate",
    Verdict.CONSISTENT: "within what the line says it tolerates",
    Verdict.REFUTED: "by a counter-example or an interval",
    Verdict.INCONCLUSIVE: "the measurement cannot tell",
    Verdict.NOT_TESTABLE: "for the reason given",
}


def experiment(done, statements: tuple[Statement, ...], pictures, notes: dict, command: str) -> str:
    """Everything that one experiment found."""
    blocks = [f"# {done.experiment.title}", done.experiment.question]
    known = {s.id: s for s in statements}
    if done.findings:
        header = ["claim", "what it says", "verdict", "evidence"]
        rows = [[id, known[id].text if id in known else "", said(f), f.evidence] for id, f in done.findings.items()]
        blocks.append(table(header, rows))
        blocks += [line for id, f in done.findings.items() if (line := leaves_open(id, f))]
    blocks += done.experiment.words(done.tables)
    for picture in pictures:
        blocks += [f"![{picture.title}](figures/{picture.stem}.png)", f"*{picture.title}.* {picture.caption}"]
    return "\n\n".join([*blocks, *_provenance(notes, command)]) + "\n"


def said(finding: Finding) -> str:
    return f"{MARKS[finding.verdict]} {finding.verdict}"


def leaves_open(id, finding: Finding) -> str:
    """What a verdict tolerates and leaves out, and where it contradicts what was foretold."""
    parts = [
        ("tolerates", finding.tolerates),
        ("caveat", finding.caveat),
        ("foretold otherwise", finding.foretold),
    ]
    said = "; ".join(f"{name}: {text}" for name, text in parts if text)
    return f"- Claim {id}, {said}." if said else ""


def _provenance(notes, command):
    yield "## Provenance"
    yield "To measure it again:"
    yield fenced(command, "sh")
    rows = [[f"[{name}.csv]({name}.csv)", fixed(part["seconds"], 1)] for name, part in notes["parts"].items()]
    yield table(["table", "seconds"], rows)
    versions = ", ".join(f"{name} {number}" for name, number in notes.get("versions", {}).items())
    yield f"Preset {notes['preset']}, seed {notes['seed']}. Versions: {versions}."


def ledger(ledger: Ledger, rows: tuple[Row, ...], command: str) -> str:
    """All claims, what stands, what stood before, and how far each erratum reaches."""
    standing = {row.claim: row for row in rows if not row.superseded}
    counts = Counter(row.verdict for row in standing.values())
    blocks = [f"# {ledger.title}", ledger.question, f"The paper: {ledger.paper}"]
    tally = ", ".join(f"{MARKS[v]} {counts[v]} {v} ({MEANING[v]})" for v in Verdict if counts[v])
    missing = [s.id for s in ledger.statements if s.id not in standing]
    blocks.append(f"{len(ledger.statements)} statements: {tally}.")
    if missing:
        blocks.append(f"Not tested yet: {', '.join(missing)}.")
    remark = f" {ledger.remark}" if ledger.remark else ""
    blocks.append(f"A number with a c is the corrected form of the claim before it.{remark}")
    blocks.append(
        table(["claim", "what", "in the paper", "verdict", "evidence", "study"], list(_lines(ledger, standing)))
    )
    blocks += ["## How far an erratum reaches", *_graph(ledger)]
    blocks += ["## The claims, one by one", *_each(ledger, standing)]
    blocks += _superseded(rows)
    blocks += ["## Run it again", fenced(command, "sh"), "One claim alone:", fenced(f"{command} --claim 16", "sh")]
    blocks.append("All verdicts, those of before included: [claims.csv](claims.csv).")
    return "\n\n".join(blocks) + "\n"


def _lines(ledger, standing):
    for s in ledger.statements:
        row = standing.get(s.id)
        said = (f"{MARKS[Verdict(row.verdict)]} **{row.verdict}**", row.evidence) if row else (None, None)
        yield [s.id, s.title, s.place, *said, f"[{s.study}]({s.study}/report.md)"]


def _superseded(rows):
    """What stood before; it stays, marked."""
    old = [row for row in rows if row.superseded]
    if old:
        yield "## Verdicts that are superseded"
        lines = [[row.claim, f"~~{row.verdict}~~", f"seed {row.seed}", row.superseded, row.evidence] for row in old]
        yield table(["claim", "verdict", "measured with", "superseded by", "evidence"], lines)


def _graph(ledger):
    yield "![Which claim rests on which](figures/graph.png)"
    yield (
        "*Which claim rests on which.* An arrow leads from a claim to what is proved with it. The border shows the "
        "verdict on the statement, the fill what became of its proof."
    )
    errata = sorted({e for s in ledger.statements for e in s.errata}, key=lambda e: (len(e), e))
    rows = []
    for erratum in errata:
        touched, reached = reach(ledger.statements, erratum)
        rows.append([erratum, ledger.errata[erratum], ", ".join(touched), ", ".join(reached) or None])
    yield table(["erratum", "what is wrong", "touches claims", "and claims that rest on these"], rows)


def _each(ledger, standing):
    for s in ledger.statements:
        proof = f"Proof: {s.proof}" + (f" ({s.remark})" if s.remark else "")
        rests = f" It rests on {', '.join(s.needs)}." if s.needs else ""
        errata = f" Errata: {', '.join(s.errata)}." if s.errata else ""
        yield f"### {s.id}. {s.title}"
        yield f"{s.place}: {s.text}"
        yield f"{proof}.{rests}{errata}" if s.proof is not Proof.MEASURED else f"A measurement of the paper.{rests}"
        row = standing.get(s.id)
        if row is None:
            continue
        yield f"**{MARKS[Verdict(row.verdict)]} {row.verdict}**: {row.evidence}"
        rest = [("Tolerates", row.tolerates), ("Caveat", row.caveat), ("Foretold otherwise", row.foretold)]
        if any(text for _, text in rest):
            yield " ".join(f"{name}: {text}." for name, text in rest if text)
