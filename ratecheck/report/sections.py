"""The sections of a report, in their order, and its figures; of several families each has a section of its own."""

from .answer import answers
from .context import Context
from .diagnostics import diagnostics, gap, local_slopes
from .foundations import constants, foundations, glossary, provenance
from .opening import opening
from .sandwich import sandwich
from .theory import theory
from .verdicts import claims, control, inconclusive, verdicts


def figures(context: Context):
    if context.several_families:
        yield from family_sections(context)
        return
    yield "## Figures"
    if not context.drawn:
        yield "This report was written without figures."
    for family, pictures in context.drawn.items():
        if not pictures:
            yield f"No case of {family} has enough horizons and runs for a figure."
        for picture in pictures:
            yield picture.link
            yield f"*{picture.title}, {family}.* {picture.caption}"


def family_sections(context: Context):
    captions = {p.title: p.caption for pictures in context.drawn.values() for p in pictures}
    if captions:
        yield "## How to read the figures"
        yield "\n".join(f"- *{title}.* {caption}" for title, caption in captions.items())
    for family in context.families:
        yield f"## {family}"
        yield from claims(context.of(family))
        for picture in context.drawn.get(family, []):
            yield picture.link


SECTIONS = (opening, answers, verdicts, theory, sandwich, figures, foundations)
SECTIONS += (diagnostics, local_slopes, gap, control, inconclusive, constants, provenance, glossary)


def written_out(context: Context) -> str:
    """The text of report.md: all blocks of all sections."""
    return "\n\n".join(block for section in SECTIONS for block in section(context) if block) + "\n"
