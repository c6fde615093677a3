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

from importlib import import_module

TYPE_CHECKING = False  # type checkers take it for True; importing it would double the time of this import
if TYPE_CHECKING:  # so that editors follow what is imported on first use
    from . import testing as testing
    from .algorithms import HOO as HOO
    from .algorithms import AdaptiveBins as AdaptiveBins
    from .algorithms import AskTell as AskTell
    from .algorithms import Compiled as Compiled
    from .algorithms import UniformBins as UniformBins
    from .checking import Check as Check
    from .checking import check as check
    from .claims import Claim as Claim
    from .claims import Curve as Curve
    from .claims import Theorem as Theorem
    from .claims import Violation as Violation
    from .curve import Far as Far
    from .curve import far as far
    from .engine import EngineError as EngineError
    from .engine import Runs as Runs
    from .engine import simulate as simulate
    from .fit import fit_rate as fit_rate
    from .fit import slope_difference as slope_difference
    from .means import FitError as FitError
    from .minimax import HardFamily as HardFamily
    from .minimax import LowerBound as LowerBound
    from .minimax import lower_bound as lower_bound
    from .noise import Gaussian as Gaussian
    from .noise import Rademacher as Rademacher
    from .noise import StudentT as StudentT
    from .noise import Uniform as Uniform
    from .pairing import Agreement as Agreement
    from .pairing import agreement as agreement
    from .papers.zhao_lai import theorem1 as theorem1
    from .papers.zhao_lai import theorem1_corrected as theorem1_corrected
    from .papers.zhao_lai import theorem2 as theorem2
    from .papers.zhao_lai import theorem2_sharper as theorem2_sharper
    from .papers.zhao_lai import theorem3 as theorem3
    from .prediction import Prediction as Prediction
    from .prediction import foretell as foretell
    from .prediction import predict as predict
    from .rates import Rate as Rate
    from .verdicts import assess as assess
    from .verdicts import holm as holm
    from .verdicts import judge as judge
    from .verdicts import log_power_verdict as log_power_verdict
    from .verdicts import tight as tight
    from .verdicts import verdict as verdict

_HOMES = {
    "pairing": ["Agreement", "agreement"],
    "checking": ["Check", "check"],
    "claims": ["Claim", "Curve", "Theorem", "Violation"],
    "curve": ["Far", "far"],
    "engine": ["EngineError", "Runs", "simulate"],
    "fit": ["fit_rate", "slope_difference"],
    "means": ["FitError"],
    "minimax": ["HardFamily", "LowerBound", "lower_bound"],
    "noise": ["Gaussian", "Rademacher", "StudentT", "Uniform"],
    "papers.zhao_lai": ["theorem1", "theorem1_corrected", "theorem2", "theorem2_sharper", "theorem3"],
    "prediction": ["Prediction", "foretell", "predict"],
    "rates": ["Rate"],
    "verdicts": ["assess", "holm", "judge", "log_power_verdict", "tight", "verdict"],
}
_HOME_OF = {name: home for home, names in _HOMES.items() for name in names}
_MODULES = ("testing",)


def _names() -> list[str]:
    return sorted([*_HOME_OF, *_MODULES, *import_module(".algorithms", __name__).__all__])


def __getattr__(name):
    # on first use, so that `import ratecheck` waits neither for the compiler nor for the list of algorithms
    if name == "__all__":
        return _names()
    if name in _MODULES:
        return import_module(f".{name}", __name__)
    if name not in _HOME_OF and (name.startswith("_") or name not in _names()):
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    value = getattr(import_module(f".{_HOME_OF.get(name, 'algorithms')}", __name__), name)
    globals()[name] = value
    return value


def __dir__():
    return _names()
