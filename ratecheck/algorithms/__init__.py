"""Algorithms: each a file of its own behind the interface in protocol.py, and any other with ask and tell."""

from typing import TYPE_CHECKING

from .registry import ENTRIES

if TYPE_CHECKING:
    from .adaptive import AdaptiveBins as AdaptiveBins
    from .asktell import AskTell as AskTell
    from .compiled import Compiled as Compiled
    from .hoo import HOO as HOO
    from .uniform import UniformBins as UniformBins

_ENTRIES = {entry.cls: entry for entry in ENTRIES}
__all__ = sorted(_ENTRIES)


def __getattr__(name):
    # on first use, so that nobody waits for a compiler who does not run anything
    if name not in _ENTRIES:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    globals()[name] = value = _ENTRIES[name].load()
    return value


def __dir__():
    return __all__
