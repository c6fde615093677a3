"""What remains of a study: report.md with its tables and figures, written from fits and verdicts alone.

Every sentence follows from the analysis and from what the store says about the runs; nothing depends on when or where
the report is written.
"""

from pathlib import Path

from ..files import together
from ..verdict.analyse import Analysis
from .context import Context, Info
from .latex import FILE as VERDICTS_TEX
from .latex import parameters, verdicts_tex
from .page import write_html
from .sections import written_out
from .tables import tabulated, write_tables

__all__ = ["VERDICTS_TEX", "Info", "write_html", "write_report"]


def write_report(folder, analysis: Analysis, info: Info, *, figures=True, svg=False, pdf=False, latex=False) -> Path:
    """Write report.md, its tables and its figures into the folder; the same input gives the same bytes."""
    folder = Path(folder)
    folder.mkdir(parents=True, exist_ok=True)
    drawn = {}
    with together(folder) as drafts:
        if figures:
            from ..figures.draw import draw_study

            families = dict.fromkeys(family for family, _ in analysis.costs)
            known = parameters(info) if pdf else None
            drawn = {f: draw_study(drafts, f, analysis=analysis, svg=svg, parameters=known) for f in families}
        tables = tabulated(analysis)
        write_tables(drafts, tables)
        drafts.write("report.md", written_out(Context.in_markdown(analysis, info, drawn, tables)))
        if latex:
            drafts.write(VERDICTS_TEX, verdicts_tex(Context(analysis, info, drawn, tables)))
    return folder / "report.md"
