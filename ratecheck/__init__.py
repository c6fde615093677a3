"""Does this algorithm, on this cost, converge at the rate its theorem promises?"""

from importlib import import_module

_HOMES = {
    "AdaptiveBins": "algorithms",
    "AskTell": "algorithms",
    "UniformBins": "algorithms",
    "simulate": "engine",
    "Runs": "engine",
    "Gaussian": "noise",
    "Uniform": "noise",
    "Rademacher": "noise",
    "StudentT": "noise",
    "Rate": "rates",
    "theorem1": "theorems",
    "theorem1_corrected": "theorems",
    "theorem2": "theorems",
    "theorem2_sharper": "theorems",
    "theorem3": "theorems",
    "fit_rate": "fit",
    "slope_difference": "fit",
    "FitError": "means",
    "verdict": "verdicts",
    "log_power_verdict": "verdicts",
    "tight": "verdicts",
    "assess": "verdicts",
    "judge": "verdicts",
    "holm": "verdicts",
}

__all__ = sorted(_HOMES)


def __getattr__(name):
    # on first use, so that `import ratecheck` does not wait for the compiler
    if name not in _HOMES:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    value = getattr(import_module(f".{_HOMES[name]}", __name__), name)
    globals()[name] = value
    return value


def __dir__():
    return __all__
