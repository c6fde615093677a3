"""The figures of a study and of all studies, drawn and written.

A figure of a study is a file here and an entry of STUDY: something with a stem, a caption and
`draw(family, analysis)`, which returns a title and a figure, or None.  See grid.Kind.
"""

from matplotlib import rc_context

from . import diagonal, plane
from .base import STYLE, WrittenFigure, save, save_pdf, slug
from .compensated import COMPENSATED
from .gap import GAP
from .pairs import PAIRS
from .regret import REGRET
from .residuals import RESIDUALS
from .slopes import SLOPES

STUDY = (REGRET, COMPENSATED, SLOPES, PAIRS, GAP, RESIDUALS)  # in the order of a report


def draw_study(drafts, family, *, analysis, svg=False, parameters=None) -> list[WrittenFigure]:
    """The figures of one family; with `parameters`, lines of text, also as PDF files that carry them."""
    drawn = []
    for kind in STUDY:
        with rc_context(STYLE):
            found = kind.draw(family, analysis)
            if found is not None:
                title, figure = found
                stem = f"{slug(family)}-{kind.stem}"
                drawn.append(WrittenFigure(save(figure, drafts, stem, svg), title, kind.caption))
                if parameters is not None:
                    save_pdf(figure, drafts, name=stem, title=title, parameters=parameters)
    return drawn


def draw_overview(drafts, fits, *, gaps, names, regimes: plane.Regimes) -> list[WrittenFigure]:
    """Fitted against promised slopes of the algorithms with these names, and the plane of costs."""
    with rc_context(STYLE):
        slopes = save(diagonal.diagonal_figure(fits, names), drafts, "fitted-against-promised", svg=False)
        costs = save(plane.plane_figure(fits, gaps, regimes), drafts, "plane", svg=False)
    return [WrittenFigure(slopes, diagonal.TITLE, diagonal.CAPTION), WrittenFigure(costs, plane.TITLE, plane.CAPTION)]
