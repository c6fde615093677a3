"""The paper's two algorithms and the tournament that makes them fast."""

from .adaptive import AdaptiveBins
from .uniform import UniformBins

__all__ = ["AdaptiveBins", "UniformBins"]
