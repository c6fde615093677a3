"""Does this algorithm, on this cost, converge at the rate its theorem promises?

    import function_zoo as zoo
    import ratecheck as rc

    cost = zoo.get("cone", dim=1)
    runs = rc.simulate(rc.AdaptiveBins(), cost, horizons=[2**k for k in range(8, 17)], replicates=32)
    fit = rc.fit_rate(runs, log_power=1.5)                  # the exponent of R, the cumulative regret, with an interval
    print(rc.verdict(fit, rc.Rate.parse("T^0.5 (ln T)^1.5")))
    print(rc.verdict(fit, rc.theorem2.rate(cost.constants, cost.dim)))

`simulate` makes a table of runs, `fit_rate` a fit of any such table; `verdict`, `assess` and `tight` judge it,
`predict` and `agreement` compare it with the curve that theory foretells, `lower_bound` says what no strategy can beat.
Algorithms of one's own come in by `AskTell`, theorems by `Theorem`, rates as people write them by `Rate.parse`.
What is called a slope or an exponent is one of R, but `Rate(exponent)` is that of the decay of R / T.
On the command line: `ratecheck --help`.
"""

import re
import sys
from importlib import import_module
from pathlib import Path
from types import ModuleType

# `__init__.pyi` is the list of public names and their homes: type checkers read it, and so does this module.
_STUB = Path(__file__).with_suffix(".pyi").read_text(encoding="utf-8")
_LISTED = re.findall(r"^from (\.[\w.]*) import (\w+) as \2$", _STUB, re.M)
_HOME_OF = {name: home for home, name in _LISTED}
__all__ = sorted(_HOME_OF)


class _Package(ModuleType):
    """A package whose functions `check`, `predict`, `verdict` ... are not hidden by subpackages of these names."""

    def __setattr__(self, name, value):
        if not (isinstance(value, ModuleType) and _HOME_OF.get(name, ".") != "."):
            super().__setattr__(name, value)

    def __reduce__(self):
        return import_module, (self.__name__,)  # functions that name it are sent to other processes


sys.modules[__name__].__class__ = _Package


def __getattr__(name):
    # on first use, so that `import ratecheck` waits neither for the compiler nor for the list of algorithms
    if name not in _HOME_OF:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    home = _HOME_OF[name]
    value = import_module(f".{name}", __name__) if home == "." else getattr(import_module(home, __name__), name)
    globals()[name] = value
    return value


def __dir__():
    return __all__
