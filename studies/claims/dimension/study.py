"""Adaptive bins where beta = d/alpha, dimension by dimension."""

from studies.claims.dimension.experiment import Dimension

QUICK = {1: (2**10, 4), 2: (2**12, 4), 3: (2**14, 2), 4: (2**14, 1)}
STANDARD = {1: (2**12, 8), 2: (2**15, 8), 3: (2**17, 4), 4: (2**17, 2)}

study = Dimension(
    name="dimension",
    title="The square root in every dimension",
    question="At β = d/α, is the regret about √T in every dimension, and is this best for strongly convex costs?",
    families=("quadratic", "cone"),
    dims=(1, 2, 3, 4, 5),
    octaves={"quick": (10, 17), "standard": (10, 21)},
    replicates={"quick": 12, "standard": 32},
    far={
        "quick": {"quadratic": QUICK, "cone": QUICK},
        "standard": {"quadratic": STANDARD | {5: (2**13, 1)}, "cone": STANDARD},
    },
    bounds={"quick": (1e3, 1e5, 1e7), "standard": (1e3, 1e4, 1e5, 1e6, 1e8, 1e10)},
)
