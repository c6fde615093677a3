"""The figures with their captions; of several families each in a section of its own, with its claims."""

from __future__ import annotations

from .context import Context
from .verdicts import claims


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
    """One per family, with its claims and figures."""
    captions = {p.title: p.caption for pictures in context.drawn.values() for p in pictures}
    if captions:
        yield "## How to read the figures"
        yield "\n".join(f"- *{title}.* {caption}" for title, caption in captions.items())
    for family in context.families:
        yield f"## {family}"
        yield from claims(context.of(family))
        for picture in context.drawn.get(family, []):
            yield picture.link
