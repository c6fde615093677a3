"""Adaptive bins where beta = d/alpha, dimension by dimension."""

from studies.claims.dimension.experiment import Dimension

study = Dimension(
    name="dimension",
    title="The square root in every dimension",
    question="At β = d/α, is the regret about √T in every dimension, and is this best for strongly convex costs?",
    families=("quadratic", "cone"),
    dims=(1, 2, 3, 4, 5),
    octaves={"quick": (10, 17), "standard": (10, 21)},
    replicates={"quick": 12, "standard": 32},
    curve_error={"quick": 0.1, "standard": 0.03},
    bounds={"quick": (1e3, 1e5, 1e7), "standard": (1e3, 1e4, 1e5, 1e6, 1e8, 1e10)},
)
