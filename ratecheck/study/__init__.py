"""Studies: a question, the runs that answer it, and the rules of judgement, fixed beforehand."""

from .declaration import Grid, Study, TooFast

__all__ = ["Grid", "Study", "TooFast"]
