"""The paper's two algorithms, the tournament that makes them fast, and any other with ask and tell."""

from .adaptive import AdaptiveBins
from .asktell import AskTell
from .uniform import UniformBins

__all__ = ["AdaptiveBins", "AskTell", "UniformBins"]
