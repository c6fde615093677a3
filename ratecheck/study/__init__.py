"""Studies: a question, the runs that answer it, and the rules of judgement, fixed beforehand."""

from importlib import import_module

HOMES = {"Grid": "declare", "Study": "declare", "stream": ".sampling.seeding"}
HOMES |= dict.fromkeys(("RESULTS", "Conclusion", "Options"), "options")
__all__ = sorted(HOMES)


def __getattr__(name):
    # on first use, so that `python -m ratecheck.study --help` does not wait for the compiler
    if name not in HOMES:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    return getattr(import_module(f".{HOMES[name]}", __name__), name)
