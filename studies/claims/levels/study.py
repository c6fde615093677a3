"""Regret and cells by level, against the proof of Theorem 2."""

from studies.claims.levels.experiment import Levels

study = Levels(
    name="levels",
    title="By level",
    question="How many cells remain at each level, what do they cost, where is the peak, and how deep can cells be?",
    cases=(
        ("quadratic", 1, 2, 1e40),
        ("quadratic", 1, "theorem", 1e40),
        ("quadratic", 2, 2, 1e30),
        ("cone", 1, 2, 1e30),
        ("cone", 1, "theorem", 1e30),
        ("cone", 2, 2, 1e16),
        ("quartic", 1, 2, 1e24),
        ("quartic", 1, "theorem", 1e24),
        ("valley", 2, 2, 1e9),
    ),
    horizons={
        "quick": tuple(2**k for k in range(10, 18)),
        "standard": tuple(2**k for k in range(10, 23)),
    },
    replicates={"quick": 12, "standard": 48},
    alignments={"quick": 4, "standard": 8},
    depth={1: 24, 2: 12},
    alphas=("1/4", "1/2", "2/3", "1", "3/2", "2"),
    steep=(("cone", 1, 1e9), ("cone", 2, 1e9), ("quadratic", 1, 1e12)),
    steepest={"quick": 2**16, "standard": 2**20},
)
