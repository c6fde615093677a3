"""Algorithms of other libraries in our harness: PyXAB, cma, nevergrad and optuna, as factories for `rc.AskTell`.

A library is imported when a run needs it (the extra `peers`).  `python -m studies.peers` measures them beside ours.
"""

from .cma import CMA
from .nevergrad import Nevergrad
from .optuna import Optuna
from .pyxab import ALGORITHMS, PyXAB, from_pyxab

__all__ = ["ALGORITHMS", "CMA", "Nevergrad", "Optuna", "PyXAB", "from_pyxab"]
