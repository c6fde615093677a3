"""All figures; nothing else imports a plotting library, and this package none before a figure is drawn (`draw`).

Figures of one's own look like those of the reports within `matplotlib.rc_context(STYLE)`, with the colours, markers,
panels and axes that `__all__` names: INK for what is measured, PREDICTED and CERTIFIED for curves of theory, SHADE for
a window.
"""

from importlib import import_module

__all__ = ["CERTIFIED", "INK", "MARKERS", "PREDICTED", "SHADE", "STYLE"]
__all__ += ["colour_of", "number", "panels", "ticks", "towards_infinity"]


def __getattr__(name):
    if name not in __all__:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    return getattr(import_module(".base", __name__), name)
