"""Studies: a question, the runs that answer it, and the rules of judgement, fixed beforehand."""

__all__ = ["Grid", "Study"]


def __getattr__(name):
    # on first use, so that `python -m ratecheck.study --help` does not wait for the compiler
    if name not in __all__:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    from . import declare as declaration

    return getattr(declaration, name)
