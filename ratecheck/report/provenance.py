"""Where the numbers come from, and how to get them again."""

from __future__ import annotations

from ..display import counted, fenced, fixed, listing, table, thousands
from .context import Context


def provenance(context: Context):
    info = context.info
    yield "## Provenance"
    yield "To run it again:"
    yield fenced(info.command, "sh")
    yield table(["setting", "value"], [[k, v] for k, v in info.settings.items()])
    if info.sessions:
        header = ["started", "seconds", "units", "steps", "workers", "where", "machine"]
        shown_as = {"seconds": lambda x: fixed(x, 1), "steps": thousands}
        rows = [[shown_as.get(h, str)(s[h]) if h in s else None for h in header] for s in info.sessions]
        yield table(header, rows)
        yield totals(context)
    yield f"Digest of the runs: `{info.digest}`."
    for title, lines in (("Units of work that failed", info.missing), ("Remarks of the engine", info.complaints)):
        if lines:
            yield f"{title}:"
            yield "\n".join(f"- {line}" for line in lines)
    if info.unused:
        yield f"The store also holds {counted(info.unused, 'run')} of other settings, which are not used here."
    tables = ["[fits.csv](fits.csv) (one line per case and theorem, printed and corrected apart)"]
    tables += ["[gaps.csv](gaps.csv)"] if context.analysis.gaps else []
    if context.tables.details:
        tables.append("[details.csv](details.csv) (local slopes, sensitivity, held-out errors)")
    yield f"All numbers: {listing(tables)}."


def totals(context: Context):
    sessions = context.info.sessions
    seconds, steps = (sum(s.get(key) or 0 for s in sessions) for key in ("seconds", "steps"))
    versions = {}
    for session in sessions:
        for package, version in (session.get("versions") or {}).items():
            versions.setdefault(package, []).append(str(version))
    used = ", ".join(f"{package} {' and '.join(dict.fromkeys(v))}" for package, v in versions.items())
    total = f"In all {fixed(seconds, 1)} s of wall time and {thousands(steps)} steps."
    return f"{total} Versions: {used}." if used else total
