"""The predicted curve over the whole zoo: whether runs follow it, and what it says far beyond them."""

from ratecheck import AdaptiveBins, UniformBins
from ratecheck.study import Grid, Study

IN_ANY_DIMENSION = [
    *("ackley", "cone", "cusp", "double_sine", "garland", "griewank", "mixed_powers", "plateau", "power", "quadratic"),
    *("quartic", "rastrigin", "ring", "ring_cone", "sine", "twin_cone", "weierstrass"),
]
study = Study(
    name="prediction",
    question=(
        "Does finite-horizon theory foretell the regret of both algorithms on every cost, and what does its curve say "
        "about Theorems 1 and 2 at horizons that nobody can run?"
    ),
    costs=[
        *((family, 1) for family in IN_ANY_DIMENSION),
        *((family, 2) for family in [*IN_ANY_DIMENSION, "branin", "himmelblau", "six_hump_camel", "valley"]),
        *((family, 3) for family in [*IN_ANY_DIMENSION, "valley"]),
    ],
    algorithms=[UniformBins(), AdaptiveBins(), AdaptiveBins(mu="theorem")],
    compare=[],
    horizons=Grid(first=2**10, last=2**18, ratio=2.0, periods=None),
    replicates=32,
    members=0,  # the question is about Theorems 1 and 2
    seed=0,
    margin=0.05,
)
