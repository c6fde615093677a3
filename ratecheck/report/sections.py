"""The sections of a report, in their order."""

from __future__ import annotations

from .constants import constants
from .context import Context
from .control import control
from .diagnostics import diagnostics
from .figures import figures
from .foundations import foundations
from .gap import gap
from .glossary import glossary
from .inconclusive import inconclusive
from .local_slopes import local_slopes
from .opening import answers, opening
from .provenance import provenance
from .sandwich import sandwich
from .theory import theory
from .verdicts import verdicts

SECTIONS = (
    opening,
    answers,
    verdicts,
    theory,
    sandwich,
    figures,
    foundations,
    diagnostics,
    local_slopes,
    gap,
    control,
    inconclusive,
    constants,
    provenance,
    glossary,
)


def written_out(context: Context) -> str:
    """The text of report.md: all blocks of all sections."""
    return "\n\n".join(block for section in SECTIONS for block in section(context) if block) + "\n"
